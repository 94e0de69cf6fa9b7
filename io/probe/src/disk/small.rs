//! Many small files, opened, read and closed by several threads: the user's own samples (read only), or a set of ours.

use super::engine::on_threads;
use crate::files;
use crate::scratch::ScratchDir;
use crate::step::{self, Noise, Part, Why, nanos_since};
use lessee_model::probe::{Reading, SmallFiles};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const FILES_MAX: usize = 50_000;
/// Of a larger file only the beginning is read: it is not a small one.
const READ_MAX: u64 = 4 << 20;

/// Files of about the size of a photograph, which nobody can compress.
pub(super) fn generate(
    parent: &Path,
    count: usize,
    bytes: usize,
    part: &Part<'_>,
) -> io::Result<ScratchDir> {
    let dir = ScratchDir::create(parent)?;
    dir.room_for(count as u64 * bytes as u64)?;
    let mut noise = Noise::new(5);
    let mut data = vec![0; bytes];
    for i in 0..count {
        if part.over() {
            break;
        }
        noise.fill(&mut data);
        std::fs::write(dir.path().join(format!("{i:06}.bin")), &data)?;
    }
    dir.sync()?;
    Ok(dir)
}

/// Fills the buffer, whose size is that of the file when it was listed, in as few reads as the system allows; fewer bytes
/// where the file became shorter. Growing steps, as `read_to_end` makes them, would cost four reads more a file.
fn whole(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

pub(super) fn read(folder: &Path, threads: usize, part: &Part<'_>) -> SmallFiles {
    let mut result = SmallFiles {
        threads,
        files: 0,
        bytes: 0,
        seconds: 0.0,
        per_second: step::unknown(Why::NoFiles, ""),
        latency: None,
        failed: 0,
        notes: Vec::new(),
    };
    let mut found = Vec::new();
    if let Err(e) = files::walk(folder, FILES_MAX, &mut found, &mut result.notes) {
        result.per_second = step::io_failed(&e);
        return result;
    }
    let mut paths: Vec<(PathBuf, usize)> = found
        .into_iter()
        .map(|(path, len)| (path, len.min(READ_MAX) as usize))
        .collect();
    paths.sort();
    for (path, _) in &paths {
        if let Ok(file) = File::open(path) {
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
    }
    // a training run does not read in the order in which files were written
    let mut noise = Noise::new(9);
    paths.sort_by_cached_key(|_| noise.next());

    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let work = |_: usize| -> io::Result<(Vec<u32>, u64, usize)> {
        let (mut nanos, mut bytes, mut failed) = (Vec::new(), 0, 0);
        let mut buffer = Vec::new();
        while !part.over() {
            let Some((path, len)) = paths.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            buffer.resize(buffer.len().max(*len), 0);
            let one = Instant::now();
            let read = File::open(path).and_then(|f| whole(&f, &mut buffer[..*len]));
            match read {
                Ok(n) => {
                    nanos.push(nanos_since(one));
                    bytes += n as u64;
                }
                Err(_) => failed += 1,
            }
        }
        Ok((nanos, bytes, failed))
    };
    let mut nanos = Vec::new();
    for (n, bytes, failed) in on_threads(threads, &work).into_iter().flatten() {
        nanos.extend(n);
        result.bytes += bytes;
        result.failed += failed;
    }
    result.seconds = start.elapsed().as_secs_f64();
    result.files = nanos.len();
    result.latency = step::latency(&mut nanos);
    if result.files > 0 {
        result.per_second = Reading::Measured {
            value: result.files as f64 / result.seconds.max(1e-9),
            samples: Vec::new(),
        };
    } else if result.failed > 0 {
        result.per_second = step::failed(Why::NoneReadable, result.failed.to_string());
    }
    result
}
