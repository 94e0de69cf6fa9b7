//! Where a pass takes its samples from: the disk, with the page cache told to forget them, or memory.
//!
//! `posix_fadvise` needs no root and touches the user's samples only. Whether it worked is asked of the kernel: a read that
//! may not wait (`RWF_NOWAIT`) succeeds only from the cache. Nothing is written.

use super::decode::Bounds;
use super::parquet::{Rows, Table};
use super::samples::{Sample, Samples};
use lessee_model::probe::CacheCheck;
use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::IoSliceMut;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub(super) enum Source {
    Disk {
        /// Slows each read: how tests make a slow disk.
        delay: Duration,
    },
    /// The first samples of the list.
    Memory(Vec<Vec<u8>>),
}

/// A worker's open shard, and the range that it read last.
#[derive(Default)]
pub(super) struct Reader {
    open: Option<(usize, File)>,
    last: Option<(u64, u64)>,
    rows: Rows,
    /// Unpacking rows out of tables, which is no reading.
    unpack: Duration,
}

impl Source {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Source::Disk { .. } => "disk",
            Source::Memory(_) => "memory",
        }
    }

    pub(super) fn count(&self, samples: &Samples) -> usize {
        match self {
            Source::Disk { .. } => samples.list.len(),
            Source::Memory(held) => held.len(),
        }
    }

    /// Reads into `out`; true if the sample's name promises an image or an array.
    pub(super) fn read(
        &self,
        samples: &Samples,
        at: usize,
        bounds: &Bounds,
        reader: &mut Reader,
        out: &mut Vec<u8>,
    ) -> Result<bool, String> {
        let sample = samples.list.get(at).ok_or("no such sample")?;
        match self {
            Source::Disk { delay } => {
                if !delay.is_zero() {
                    std::thread::sleep(*delay);
                }
                reader.read(samples, sample, bounds, out)?;
            }
            Source::Memory(held) => {
                out.clear();
                out.extend_from_slice(held.get(at).ok_or("no such sample")?);
            }
        }
        Ok(samples.promises(sample))
    }

    /// Holds as many samples as fit; those that cannot be read stay empty and are found damaged.
    pub(super) fn memory(
        samples: &Samples,
        limit: u64,
        bounds: &Bounds,
        over: &dyn Fn() -> bool,
    ) -> Source {
        let mut held = Vec::new();
        let mut room = limit;
        let mut reader = Reader::default();
        for sample in &samples.list {
            // one at least, or there would be no pass
            if !held.is_empty() && (sample.len > room || over()) {
                break;
            }
            let mut bytes = Vec::new();
            if reader.read(samples, sample, bounds, &mut bytes).is_err() {
                bytes.clear();
            }
            room = room.saturating_sub(bytes.len() as u64);
            held.push(bytes);
        }
        Source::Memory(held)
    }
}

impl Reader {
    fn read(
        &mut self,
        samples: &Samples,
        sample: &Sample,
        bounds: &Bounds,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if let Some(table) = samples.table(sample) {
            return self.read_row(samples, sample, table, bounds, out);
        }
        if sample.len > bounds.sample_bytes {
            return Err(format!(
                "{} bytes are over the bound of {}",
                sample.len, bounds.sample_bytes
            ));
        }
        self.last = None;
        // a single file is opened each time, as a loader does; a shard stays open
        let keep = sample.member.is_some();
        if !(keep && self.open.as_ref().is_some_and(|(f, _)| *f == sample.file)) {
            let file = File::open(samples.path(sample)).map_err(|e| e.to_string())?;
            self.open = Some((sample.file, file));
        }
        let Some((_, file)) = &self.open else {
            return Err("not open".to_owned());
        };
        self.rows.forget();
        out.resize(sample.len as usize, 0);
        file.read_exact_at(out, sample.offset)
            .map_err(|e| format!("{e} (of {} bytes when it was listed)", sample.len))?;
        self.last = Some((sample.offset, sample.len));
        Ok(())
    }

    /// The next row of a table that stays open, or any other one.
    fn read_row(
        &mut self,
        samples: &Samples,
        sample: &Sample,
        table: &Table,
        bounds: &Bounds,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        self.last = None;
        if self.open.as_ref().is_none_or(|(f, _)| *f != sample.file) {
            self.rows.forget();
            let file = File::open(samples.path(sample)).map_err(|e| e.to_string())?;
            self.open = Some((sample.file, file));
        }
        let Some((_, file)) = &self.open else {
            return Err("not open".to_owned());
        };
        let (rows, page) = (&mut self.rows, bounds.page_bytes());
        // codecs are other people's, and files anybody's
        let read = catch_unwind(AssertUnwindSafe(|| {
            let read = rows.read(table, file, sample.offset, page, out);
            (read, rows.taken(), rows.unpacked())
        }));
        let Ok((read, taken, unpack)) = read else {
            self.rows = Rows::default();
            return Err("the decoder gave up on it".to_owned());
        };
        self.last = taken;
        self.unpack += unpack;
        read
    }

    /// How long unpacking took since this was asked.
    pub(super) fn unpacked(&mut self) -> Duration {
        std::mem::take(&mut self.unpack)
    }

    /// Drops what was just read from the page cache, so that a second round reads the disk again.
    pub(super) fn forget(&mut self) {
        if let (Some((_, file)), Some((offset, len))) = (&self.open, self.last.take()) {
            let _ = fadvise(file, offset, NonZeroU64::new(len), Advice::DontNeed);
        }
    }
}

/// Tells the page cache to forget all samples, then asks of some whether it did.
pub(super) fn drop_cache(samples: &Samples, over: &dyn Fn() -> bool) -> CacheCheck {
    for path in &samples.files {
        if over() {
            break;
        }
        if let Ok(file) = File::open(path) {
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
    }
    let every = (samples.list.len() / 64).max(1);
    let mut check = CacheCheck {
        asked: 0,
        cached: 0,
        cannot_tell: 0,
    };
    for sample in samples.list.iter().step_by(every) {
        let Ok(file) = File::open(samples.path(sample)) else {
            continue;
        };
        check.asked += 1;
        let mut byte = [0u8];
        let mut slices = [IoSliceMut::new(&mut byte)];
        let middle = samples.position(sample);
        match preadv2(&file, &mut slices, middle, ReadWriteFlags::NOWAIT) {
            Ok(_) => check.cached += 1,
            Err(Errno::AGAIN) => {}
            Err(_) => check.cannot_tell += 1,
        }
    }
    check
}
