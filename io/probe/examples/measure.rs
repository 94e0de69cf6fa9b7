//! One measuring step from the command line, its report as JSON: for `benches/` and for trying things out.
//!
//!     measure feed [WORKERS [STEP_S [CAP_S [SAMPLES]]]]
//!     measure disk FOLDER [CAP_S]
//!     measure random FILE DEPTH SECONDS
//!     measure stream FILE THREADS SECONDS
//!     measure small FOLDER THREADS SECONDS
//!     measure cpu
//!     measure net HOST:PORT

#![allow(clippy::print_stdout, clippy::print_stderr)]

use lessee_probe_io::step::Conduct;
use lessee_probe_io::{cpu, disk, feed, net};
use serde::Serialize;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

fn show(report: &impl Serialize) -> Result<(), Box<dyn Error>> {
    println!("{}", serde_json::to_string_pretty(report)?);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let stop = AtomicBool::new(false);
    let conduct = Conduct::new(&stop, &|_| {});
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize| args.get(i).map(String::as_str);
    let number = |i: usize, otherwise: f64| arg(i).map_or(Ok(otherwise), str::parse::<f64>);
    let folder = PathBuf::from(arg(1).unwrap_or("."));
    match arg(0) {
        Some("feed") => {
            let mut o = feed::FeedOptions::new(std::env::temp_dir(), number(1, 2.0)? as usize);
            o.step_s = Some(number(2, 0.1)?);
            o.cap_s = number(3, 20.0)?;
            o.samples = arg(4).map(PathBuf::from);
            o.generated = 400;
            o.batch = 16;
            show(&feed::run(&o, &conduct)?)
        }
        Some("disk") => {
            let mut o = disk::DiskOptions::new(folder);
            o.cap_s = number(2, 30.0)?;
            show(&disk::run(&o, &conduct)?)
        }
        Some(kind @ ("random" | "stream" | "small")) => {
            let parent = folder.parent().unwrap_or(Path::new("."));
            let mut o = disk::DiskOptions::new(parent.to_owned());
            let threads = number(2, 1.0)? as usize;
            let seconds = number(3, 5.0)?;
            (o.depths, o.streams) = (Vec::new(), Vec::new());
            (o.checkpoint_bytes, o.small_files) = (0, 0);
            // the shares of the cap that these parts have
            match kind {
                "random" => (o.depths, o.cap_s) = (vec![threads], seconds / 0.3),
                "stream" => (o.streams, o.cap_s) = (vec![threads], seconds / 0.2),
                _ => o.cap_s = seconds / 0.15,
            }
            if kind == "small" {
                (o.samples, o.small_threads) = (Some(folder), threads);
                o.file_bytes = 1 << 20;
            } else {
                o.existing = Some(folder);
            }
            show(&disk::run(&o, &conduct)?)
        }
        Some("cpu") => {
            let roots = cpu::Roots {
                proc: Path::new("/proc"),
                sys: Path::new("/sys"),
            };
            show(&cpu::run(&cpu::CpuOptions::default(), roots, &conduct))
        }
        Some("net") => {
            let mut o = net::NetOptions::new(arg(1).unwrap_or("127.0.0.1:22").to_owned());
            o.for_s = 5.0;
            show(&net::connect(&o, &conduct)?)
        }
        _ => {
            eprintln!("measure feed|disk|random|stream|small|cpu|net ...");
            std::process::exit(2)
        }
    }
}
