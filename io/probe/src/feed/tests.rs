//! The whole feed test on small folders: what is counted, what limits, what is left behind. Never how fast.

use super::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn options(samples: &Path) -> FeedOptions {
    FeedOptions {
        samples: Some(samples.to_owned()),
        batch: 4,
        cap_s: 2.0,
        side: 32,
        ..FeedOptions::new(std::env::temp_dir(), 1)
    }
}

fn go(options: &FeedOptions, delay_ms: u64) -> Result<FeedReport, FeedError> {
    let stop = AtomicBool::new(false);
    let conduct = Conduct::new(&stop, &|_| {});
    run_slowed(options, None, &conduct, Duration::from_millis(delay_ms))
}

fn pictures(count: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..count {
        std::fs::write(dir.path().join(format!("{i}.jpg")), jpeg(40, 30, i)).unwrap();
    }
    dir
}

#[test]
fn a_slow_consumer_is_fed_and_a_slow_disk_is_named() {
    let dir = pictures(20);
    let mut o = options(dir.path());
    // long steps: a busy machine wakes the consumer late
    o.step_s = Some(0.2);
    o.cap_s = 7.0;
    let fed = go(&o, 0).unwrap();
    assert_eq!(fed.limited_by, Some(Limit::Gpu), "{:?}", fed.why);
    assert_eq!(fed.delivers, Some(true));
    assert_eq!(
        fed.reading(String::new()).limited_by.as_deref(),
        Some("gpu")
    );

    let starved = go(&o, 120).unwrap();
    assert_eq!(starved.limited_by, Some(Limit::Disk), "{:?}", starved.why);
    assert_eq!(starved.delivers, Some(false));
    assert!(
        !starved.passes[0].stalls.is_empty(),
        "480 ms for a step of 200"
    );
}

#[test]
fn a_fast_model_on_one_worker_is_limited_by_decoding() {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..4 {
        std::fs::write(dir.path().join(format!("{i}.jpg")), jpeg(120, 90, i)).unwrap();
    }
    let mut o = options(dir.path());
    o.step_s = Some(0.0001);
    o.cap_s = 6.0;
    o.batch = 2;
    let report = go(&o, 0).unwrap();
    assert_eq!(report.limited_by, Some(Limit::Decode), "{:?}", report.why);
    assert!(report.cpu_s_per_sample.measured().is_some());
    assert!(report.gpus_fed.measured().unwrap() < 1.0);
}

#[test]
fn a_slow_copy_is_named() {
    let dir = pictures(8);
    let mut o = options(dir.path());
    o.step_s = Some(0.002);
    // 49 KB a batch: 50 ms
    o.consumer = Consumer::Timed {
        copy_gbs: Some(0.001),
        why: None,
    };
    assert_eq!(go(&o, 0).unwrap().limited_by, Some(Limit::Copy));
}

#[test]
fn damaged_samples_are_counted_once_and_named() {
    let dir = pictures(6);
    let put = |name: &str, data: &[u8]| std::fs::write(dir.path().join(name), data).unwrap();
    let whole = jpeg(64, 64, 1);
    put("cut.jpg", &whole[..whole.len() / 2]);
    put("text.jpg", b"not a picture");
    let mut huge = whole.clone();
    let frame = huge.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    huge[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    put("huge.jpg", &huge);
    let mut png_header = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    png_header.extend([
        0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 8, 2, 0, 0, 0,
    ]);
    png_header.extend([0; 4]);
    put("huge.png", &png_header);
    put(
        "webp.webp",
        b"RIFF\xff\xff\xff\xffWEBPVP8 \xff\xff\xff\xff\0\0",
    );
    put("a.npy", b"\x93NUMPY\x01\x00\x05\x00{'a'}");
    let report = go(&options(dir.path()), 0).unwrap();
    assert_eq!(report.damaged.count, 6, "{:?}", report.damaged);
    let named = |name: &str| {
        report
            .damaged
            .named
            .iter()
            .find(|d| d.name == name)
            .unwrap()
    };
    assert!(named("cut.jpg").reason.contains("cut off"));
    assert!(named("text.jpg").reason.contains("neither"));
    assert!(!named("huge.jpg").reason.is_empty());
    assert!(report.samples_per_second.measured().is_some());
}

#[test]
fn a_folder_of_damage_alone_is_an_error_and_not_a_hang() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.png"), b"x").unwrap();
    std::fs::write(dir.path().join("b.png"), b"y").unwrap();
    match go(&options(dir.path()), 0) {
        Err(FeedError::NoneUsable { tried, first, .. }) => {
            assert_eq!(tried, 2);
            assert!(first.contains("neither"), "{first}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn arrays_shards_and_plain_bytes_are_fed() {
    let dir = tempfile::tempdir().unwrap();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.bytes());
    npy.extend([0; 16]);
    std::fs::write(dir.path().join("x.npy"), npy).unwrap();
    let (a, b) = (jpeg(20, 20, 1), jpeg(20, 20, 2));
    let shard = tar::tar_of(&[("a.jpg", &a), ("a.json", b"{}"), ("b.jpg", &b)]);
    std::fs::write(dir.path().join("s.tar"), shard).unwrap();
    let report = go(&options(dir.path()), 0).unwrap();
    assert_eq!((report.set.samples, report.damaged.count), (3, 0));

    let bytes = tempfile::tempdir().unwrap();
    std::fs::write(bytes.path().join("tokens.bin"), [7; 5000]).unwrap();
    let report = go(&options(bytes.path()), 0).unwrap();
    assert_eq!((report.set.samples, report.damaged.count), (1, 0));
}

#[test]
fn png_and_webp_decode_in_every_colour() {
    let dir = tempfile::tempdir().unwrap();
    use png::{BitDepth, ColorType};
    for (i, (colour, depth, channels)) in [
        (ColorType::Grayscale, BitDepth::Eight, 1),
        (ColorType::GrayscaleAlpha, BitDepth::Eight, 2),
        (ColorType::Rgb, BitDepth::Sixteen, 6),
        (ColorType::Rgba, BitDepth::Eight, 4),
    ]
    .into_iter()
    .enumerate()
    {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, 9, 7);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&vec![9; 9 * 7 * channels]).unwrap();
        writer.finish().unwrap();
        std::fs::write(dir.path().join(format!("{i}.png")), out).unwrap();
    }
    for (name, colour, channels) in [
        ("rgb", image_webp::ColorType::Rgb8, 3),
        ("rgba", image_webp::ColorType::Rgba8, 4),
    ] {
        let mut out = Vec::new();
        image_webp::WebPEncoder::new(&mut out)
            .encode(&vec![9; 9 * 7 * channels], 9, 7, colour)
            .unwrap();
        std::fs::write(dir.path().join(format!("{name}.webp")), out).unwrap();
    }
    let report = go(&options(dir.path()), 0).unwrap();
    assert_eq!(report.damaged.named, []);
    assert_eq!(report.set.samples, 6);
}

#[test]
fn generated_samples_are_deleted_also_when_stopped() {
    let scratch = tempfile::tempdir().unwrap();
    let mut o = FeedOptions::new(scratch.path().to_owned(), 2);
    o.generated = 4;
    o.batch = 2;
    o.cap_s = 30.0;
    o.step_s = Some(0.05);
    let stop = AtomicBool::new(false);
    // Ctrl-C at the first step
    let tell = |p: step::Progress| {
        if p.done > 0.0 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let report = run(&o, &Conduct::new(&stop, &tell)).unwrap();
    assert!(report.generated);
    let not_measured = |f: &Finding| f.code == "feed_not_measured";
    assert!(report.findings.iter().any(not_measured));
    assert!(matches!(report.au, Reading::Unknown { .. }));
    assert_eq!(report.delivers, None, "cannot tell");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn options_without_sense_are_refused() {
    let dir = pictures(1);
    let refuse = |change: &dyn Fn(&mut FeedOptions)| {
        let mut o = options(dir.path());
        change(&mut o);
        assert!(go(&o, 0).is_err());
    };
    refuse(&|o| o.batch = 0);
    refuse(&|o| o.workers = 0);
    refuse(&|o| o.step_s = Some(f64::NAN));
    refuse(&|o| {
        o.consumer = Consumer::Timed {
            copy_gbs: Some(0.0),
            why: None,
        }
    });
    refuse(&|o| (o.side, o.batch) = (4096, 65536));
}

#[test]
fn without_a_step_time_only_the_supply_is_known() {
    let dir = pictures(5);
    let report = go(&options(dir.path()), 0).unwrap();
    assert!(matches!(report.au, Reading::Unknown { .. }));
    assert!(matches!(report.gpus_fed, Reading::Unknown { .. }));
    assert_eq!(report.limited_by, None);
    assert!(report.samples_per_second.measured().is_some());
}
