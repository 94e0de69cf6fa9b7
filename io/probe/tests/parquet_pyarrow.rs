//! Parquet files as pyarrow writes them, which is how Hugging Face's datasets come: each sample must arrive byte for byte,
//! whatever the shape. `testkit/peers.sh files` installs pyarrow.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests stop at the first surprise, and say what they skip"
)]

use lessee_probe_io::feed::{self, FeedOptions, FeedReport};
use lessee_probe_io::step::Conduct;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// A folder a shape, each with one file of pictures; samples are given as JPEG files in the folder `pictures`.
const WRITE: &str = r#"
import sys, pathlib
import pyarrow as pa, pyarrow.parquet as pq

root = pathlib.Path(sys.argv[1])
pictures = [p.read_bytes() for p in sorted((root / "pictures").iterdir())]
paths = [f"{i}.jpg" for i in range(len(pictures))]
text = ["a caption that is longer than any of the pictures are " * 40] * len(pictures)
struct = pa.array([{"bytes": b, "path": p} for b, p in zip(pictures, paths)],
                  pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
plain = pa.table({"caption": text, "image": pa.array(pictures, pa.binary()), "label": list(range(len(pictures)))})
nested = pa.table({"image": struct, "caption": text})
holes = pa.table({"image": pa.array([None if i % 3 == 1 else p for i, p in enumerate(pictures)], pa.binary())})
required = pa.table({"jpg": pa.array(pictures, pa.binary())},
                    pa.schema([pa.field("jpg", pa.binary(), nullable=False)]))
large = pa.table({"bytes": pa.array(pictures, pa.large_binary())})

def write(name, table, **how):
    how = {"compression": "none", "use_dictionary": False, **how}
    (root / name).mkdir()
    pq.write_table(table, root / name / "part-0.parquet", **how)

write("plain", plain)
write("dictionary", plain, use_dictionary=True)
for codec in ["snappy", "zstd", "gzip", "lz4"]:
    write(codec, plain, compression=codec)
write("nested", nested, compression="snappy", use_dictionary=True)
write("groups", nested, row_group_size=7)
write("pages", plain, data_page_size=1, write_batch_size=2, row_group_size=13)
write("v2", nested, data_page_version="2.0", compression="zstd")
write("v2_dictionary", plain, data_page_version="2.0", use_dictionary=True, compression="snappy", row_group_size=9)
write("delta", plain, column_encoding={"image": "DELTA_LENGTH_BYTE_ARRAY"})
write("required", required)
write("large", large, compression="snappy")
write("holes", holes, use_dictionary=True, data_page_version="2.0", data_page_size=1, write_batch_size=3)
write("statistics", plain, write_statistics=True, write_page_index=True, store_schema=True)
write("brotli", plain, compression="brotli")
write("numbers", pa.table({"x": [1.0, 2.0]}))
write("lists", pa.table({"images": [pictures]}))
write("text", pa.table({"id": ["a"] * 500, "text": [f"sentence {i} " * 30 for i in range(500)]}), use_dictionary=True)
"#;

const PICTURES: u64 = 40;

fn written() -> Option<tempfile::TempDir> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let told = Command::new(repository.join("testkit/peers.sh"))
        .arg("where")
        .output()
        .unwrap();
    let python = repository.join(String::from_utf8_lossy(&told.stdout).trim());
    let candidates = [python, PathBuf::from("python3")];
    let has = |p: &&PathBuf| {
        let run = Command::new(p)
            .args(["-c", "import pyarrow.parquet"])
            .output();
        run.is_ok_and(|o| o.status.success())
    };
    let Some(python) = candidates.iter().find(has) else {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true" || v == "1");
        assert!(!ci, "pyarrow is missing: testkit/peers.sh files");
        eprintln!("skipped: pyarrow is not here, testkit/peers.sh files installs it");
        return None;
    };
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("pictures")).unwrap();
    for i in 0..PICTURES {
        let path = root.path().join(format!("pictures/{i:03}.jpg"));
        std::fs::write(path, feed::jpeg(16 + i as u16, 12, i)).unwrap();
    }
    let run = Command::new(python)
        .args(["-c", WRITE])
        .arg(root.path())
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    Some(root)
}

/// One round over all rows and more.
fn fed(folder: &Path) -> Result<FeedReport, String> {
    let stop = AtomicBool::new(false);
    let mut o = FeedOptions::new(std::env::temp_dir(), 1);
    (o.samples, o.batch, o.side, o.cap_s) = (Some(folder.to_owned()), 8, 8, 2.0);
    feed::run(&o, &Conduct::new(&stop, &|_| {})).map_err(|e| e.to_string())
}

#[test]
fn every_shape_of_pyarrow_is_fed() {
    let Some(root) = written() else {
        return;
    };
    let good = [
        ("plain", "image"),
        ("dictionary", "image"),
        ("snappy", "image"),
        ("zstd", "image"),
        ("gzip", "image"),
        ("lz4", "image"),
        ("nested", "image.bytes"),
        ("groups", "image.bytes"),
        ("pages", "image"),
        ("v2", "image.bytes"),
        ("v2_dictionary", "image"),
        ("delta", "image"),
        ("required", "jpg"),
        ("large", "bytes"),
        ("statistics", "image"),
    ];
    for (shape, column) in good {
        let report = fed(&root.path().join(shape)).unwrap_or_else(|e| panic!("{shape}: {e}"));
        // a row that did not arrive whole is no picture, and so damaged
        assert_eq!(report.damaged.named, [], "{shape}");
        assert_eq!(
            (report.set.samples, report.set.files),
            (PICTURES as usize, 1),
            "{shape}"
        );
        assert_eq!(report.set.parquet[0].column, column, "{shape}");
        assert_eq!(report.set.notes, [""; 0], "{shape}");
        let stages = report.passes[0].stages;
        assert!(
            stages.samples >= PICTURES,
            "{shape}: all rows at least once, {}",
            stages.samples
        );
    }
}

#[test]
fn what_cannot_be_read_is_told_and_never_silent() {
    let Some(root) = written() else {
        return;
    };
    let holes = fed(&root.path().join("holes")).unwrap();
    assert_eq!(holes.damaged.count, 13, "every third row has no picture");
    assert!(holes.damaged.named[0].reason.contains("no value"));
    assert!(holes.damaged.named[0].name.starts_with("part-0.parquet:"));
    let brotli = fed(&root.path().join("brotli")).unwrap_err();
    assert!(brotli.contains("Brotli"), "{brotli}");
    for (shape, why) in [
        ("numbers", "no column of bytes"),
        ("lists", "no column of bytes"),
    ] {
        // beside something that can be used
        let folder = root.path().join(shape);
        std::fs::write(folder.join("a.jpg"), feed::jpeg(16, 16, 1)).unwrap();
        let report = fed(&folder).unwrap();
        assert_eq!(report.set.samples, 1);
        assert!(report.set.notes[0].contains(why), "{:?}", report.set.notes);
        assert!(report.findings.iter().any(|f| f.code == "samples_left_out"));
    }
    // no picture in it: the column with the most bytes, as it is
    let text = fed(&root.path().join("text")).unwrap();
    assert_eq!(
        (text.set.parquet[0].column.as_str(), text.damaged.count),
        ("text", 0)
    );
    assert_eq!(text.set.samples, 500);
    // a file that was cut while it was copied
    let whole = std::fs::read(root.path().join("snappy/part-0.parquet")).unwrap();
    let cut = root.path().join("cut");
    std::fs::create_dir(&cut).unwrap();
    std::fs::write(cut.join("part-0.parquet"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(cut.join("a.jpg"), feed::jpeg(16, 16, 1)).unwrap();
    let report = fed(&cut).unwrap();
    assert!(
        report.set.notes[0].contains("does not end in PAR1"),
        "{:?}",
        report.set.notes
    );
}
