//! The disk step on small files: what is counted, what is refused, what is left behind. Never how fast.

use super::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn options(dir: &Path) -> DiskOptions {
    DiskOptions {
        file_bytes: 8 << 20,
        checkpoint_bytes: 5 << 20,
        depths: vec![1, 3],
        small_files: 20,
        small_bytes: 5000,
        cap_s: 2.0,
        ..DiskOptions::new(dir.to_owned())
    }
}

fn go(options: &DiskOptions) -> Result<DiskReport, DiskError> {
    let stop = AtomicBool::new(false);
    run(options, &Conduct::new(&stop, &|_| {}))
}

fn left(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

#[test]
fn everything_is_measured_in_order_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let report = go(&options(dir.path())).unwrap();
    assert_eq!(report.random.len(), 2);
    for random in &report.random {
        let l = random.latency.as_ref().unwrap();
        assert!(l.p50_us <= l.p90_us && l.p90_us <= l.p99_us && l.p99_us <= l.max_us);
        assert!(random.iops.measured().is_some() && random.mean_iops > 0.0);
    }
    assert_eq!(
        report.read.iter().map(|s| s.threads).collect::<Vec<_>>(),
        [1, 4]
    );
    assert_eq!(report.write.as_ref().unwrap().threads, 4);
    let checkpoint = report.checkpoint.as_ref().unwrap();
    assert_eq!(checkpoint.bytes, 5 << 20);
    let small = report.small.as_ref().unwrap();
    assert_eq!((small.files, small.bytes, small.failed), (20, 100_000, 0));
    assert!(report.findings.iter().any(|f| f.code == "disk_file_small"));
    let reading = report.reading();
    assert!(reading.random_read_iops.unwrap().measured().is_some());
    assert!(reading.write_gbs.unwrap().measured().is_some());
    assert_eq!(left(dir.path()), 0);
}

#[test]
fn memory_posing_as_a_disk_is_named() {
    let shm = Path::new("/dev/shm");
    let Ok(dir) = tempfile::tempdir_in(shm) else {
        eprintln!("skipped: {} cannot be written", shm.display());
        return;
    };
    let report = go(&options(dir.path())).unwrap();
    if report.file_system == "tmpfs" {
        assert!(report.findings.iter().any(|f| f.code == "disk_is_memory"));
    }
    assert_eq!(left(dir.path()), 0);
}

#[test]
fn a_users_file_is_read_and_stays_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine");
    std::fs::write(&path, vec![7; 3 << 20]).unwrap();
    let mut o = options(dir.path());
    o.existing = Some(path.clone());
    (o.small_files, o.checkpoint_bytes) = (0, 0);
    let report = go(&o).unwrap();
    assert!(report.write.is_none() && report.small.is_none() && report.checkpoint.is_none());
    assert!(report.random[0].latency.is_some());
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 3 << 20]);
    assert_eq!(left(dir.path()), 1);
}

#[test]
fn a_stop_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut o = options(dir.path());
    o.cap_s = 60.0;
    let stop = AtomicBool::new(false);
    let tell = |p: crate::step::Progress| {
        if p.step == "disk.random_read" {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let report = run(&o, &Conduct::new(&stop, &tell)).unwrap();
    assert!(matches!(report.random[1].iops, Reading::Unknown { .. }));
    assert!(report.small.is_none());
    assert_eq!(left(dir.path()), 0);
}

#[test]
fn what_cannot_work_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let gone = go(&options(&dir.path().join("gone"))).unwrap_err();
    assert!(matches!(gone, DiskError::File { .. }), "{gone}");
    let refuse = |change: &dyn Fn(&mut DiskOptions)| {
        let mut o = options(dir.path());
        change(&mut o);
        assert!(matches!(go(&o), Err(DiskError::Option { .. })));
    };
    refuse(&|o| o.depths = vec![0]);
    refuse(&|o| o.streams = vec![9999]);
    refuse(&|o| o.cap_s = f64::NAN);
    refuse(&|o| o.small_bytes = 0);
}

#[test]
fn a_users_sample_folder_is_only_read() {
    let dir = tempfile::tempdir().unwrap();
    let samples = tempfile::tempdir().unwrap();
    std::fs::write(samples.path().join("a"), b"12345").unwrap();
    let mut o = options(dir.path());
    o.samples = Some(samples.path().to_owned());
    let small = go(&o).unwrap().small.unwrap();
    assert_eq!((small.files, small.bytes), (1, 5));
    assert_eq!(left(samples.path()), 1);
    o.samples = Some(dir.path().join("gone"));
    let small = go(&o).unwrap().small.unwrap();
    assert!(matches!(small.per_second, Reading::Failed { .. }));
}
