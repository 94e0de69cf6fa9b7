//! What kind of disk it is, how much room there is, and a checkpoint as a trainer writes it.

use super::file::TestFile;
use super::{DiskError, DiskOptions};
use crate::finding::{Finding, Severity};
use crate::scratch;
use crate::step::{self, Noise, Part, Why};
use lessee_model::probe::{Checkpoint, Reading};
use rustix::fs::{statfs, statvfs};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Below this nothing sensible can be measured.
const FILE_MIN: u64 = 64 << 20;
const PIECE: usize = 4 << 20;

/// Magic numbers of `statfs(2)`.
const FILE_SYSTEMS: &[(u64, &str)] = &[
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlay"),
    (0x6969, "nfs"),
    (0x6573_5546, "fuse"),
    (0x2fc1_2fc1, "zfs"),
    (0x0bd0_0bd0, "lustre"),
    (0x00c3_6400, "ceph"),
    (0x0102_1997, "9p"),
    (0xff53_4d42, "cifs"),
];

pub(super) struct Place {
    dir: PathBuf,
    free: u64,
    magic: u64,
}

impl Place {
    pub(super) fn of(dir: &Path) -> Result<Place, DiskError> {
        let fail = |e: rustix::io::Errno| DiskError::File {
            what: "looking at",
            path: dir.to_owned(),
            source: e.into(),
        };
        let space = statvfs(dir).map_err(fail)?;
        Ok(Place {
            dir: dir.to_owned(),
            free: space.f_bavail.saturating_mul(space.f_frsize),
            magic: statfs(dir).map_err(fail)?.f_type as u64 & 0xffff_ffff,
        })
    }

    pub(super) fn file_system(&self) -> String {
        FILE_SYSTEMS
            .iter()
            .find(|(magic, _)| *magic == self.magic)
            .map_or_else(
                || format!("{:#x}", self.magic),
                |(_, name)| (*name).to_owned(),
            )
    }

    /// Never more than a quarter of what is free: the disk is the user's.
    pub(super) fn file_bytes(
        &self,
        options: &DiskOptions,
        findings: &mut Vec<Finding>,
    ) -> Result<u64, DiskError> {
        let most = self.free / 4;
        if most < FILE_MIN.min(options.file_bytes) {
            return Err(DiskError::NoSpace {
                path: self.dir.clone(),
                free_mib: self.free >> 20,
                needed_mib: FILE_MIN >> 18,
            });
        }
        if most < options.file_bytes {
            let detail = cut(most, options.file_bytes);
            findings.push(Finding::new(
                Severity::Note,
                "disk_file_cut",
                "disk",
                detail,
            ));
        }
        Ok(options.file_bytes.min(most) >> 20 << 20)
    }

    /// What must be said of the figures because of the file and where it lies.
    pub(super) fn note(&self, file: &TestFile, findings: &mut Vec<Finding>) {
        let mut push = |severity, code, detail: String| {
            findings.push(Finding::new(severity, code, "disk", detail));
        };
        if let Some(why) = &file.refused {
            push(Severity::Warn, "disk_cached", why.clone());
        }
        let kind = self.file_system();
        match kind.as_str() {
            "tmpfs" => push(Severity::Warn, "disk_is_memory", kind),
            "overlay" => push(Severity::Note, "disk_overlay", kind),
            "nfs" | "lustre" | "ceph" | "fuse" | "9p" | "cifs" => {
                push(Severity::Note, "disk_network", kind);
            }
            _ => {}
        }
        if let Some(memory) = memory_total()
            && file.len < memory
        {
            let detail = format!("{} MiB < {} MiB", file.len >> 20, memory >> 20);
            // past the cache only those of the device and of the hypervisor are left
            let severity = match file.refused {
                None => Severity::Note,
                Some(_) => Severity::Warn,
            };
            push(severity, "disk_file_small", detail);
        }
    }
}

/// Less than was wanted, both in bytes.
pub(super) fn cut(got: u64, wanted: u64) -> String {
    format!("{} / {} MiB", got >> 20, wanted >> 20)
}

pub(super) fn checkpoint(options: &DiskOptions, place: &Place, part: &Part<'_>) -> Checkpoint {
    let wanted = options.checkpoint_bytes.min(place.free / 4);
    let mut result = Checkpoint {
        bytes: 0,
        write_s: 0.0,
        fsync_s: 0.0,
        gbs: step::unknown(Why::OutOfTime, ""),
    };
    match write(&options.dir, wanted, part, &mut result) {
        Err(e) => result.gbs = step::io_failed(&e),
        Ok(()) if result.bytes > 0 => {
            let seconds = (result.write_s + result.fsync_s).max(1e-9);
            result.gbs = Reading::Measured {
                value: result.bytes as f64 / seconds / 1e9,
                samples: Vec::new(),
            };
        }
        Ok(()) => {}
    }
    result
}

fn write(dir: &Path, wanted: u64, part: &Part<'_>, result: &mut Checkpoint) -> io::Result<()> {
    let path = dir.join(scratch::unique());
    let mut how = OpenOptions::new();
    let mut file = how.write(true).create_new(true).open(&path)?;
    // as our other file: without a name, so that it goes with us
    std::fs::remove_file(&path)?;
    let mut noise = Noise::new(21);
    let mut piece = vec![0; PIECE];
    noise.fill(&mut piece);
    let start = Instant::now();
    while result.bytes < wanted && !part.over() {
        let len = (wanted - result.bytes).min(PIECE as u64) as usize;
        let stamp = noise.next().to_le_bytes();
        piece[..8].copy_from_slice(&stamp);
        file.write_all(&piece[..len])?;
        result.bytes += len as u64;
        part.tick();
    }
    result.write_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    file.sync_all()?;
    File::open(dir)?.sync_all()?;
    result.fsync_s = start.elapsed().as_secs_f64();
    Ok(())
}

fn memory_total() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
