//! What kind of disk it is, how much room there is, and a checkpoint as a trainer writes it.

use super::file::TestFile;
use super::{DiskError, DiskOptions};
use crate::scratch;
use crate::step::{self, Noise, Part};
use lessee_model::probe::Reading;
use rustix::fs::{statfs, statvfs};
use serde::Serialize;
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
        notes: &mut Vec<String>,
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
            notes.push(format!(
                "{} MiB instead of {} MiB: a quarter of the free space",
                most >> 20,
                options.file_bytes >> 20
            ));
        }
        Ok(options.file_bytes.min(most) >> 20 << 20)
    }

    /// What must be said of the figures because of the file and where it lies.
    pub(super) fn note(&self, file: &TestFile, notes: &mut Vec<String>) {
        if let Some(why) = &file.refused {
            notes.push(format!(
                "O_DIRECT was refused ({why}): read through the page cache, which was told to forget the file first"
            ));
        }
        match self.file_system().as_str() {
            "tmpfs" => notes.push("this is tmpfs: memory, not a disk".to_owned()),
            "overlay" => notes.push(
                "this is the container's overlay, which is not where data sets usually lie"
                    .to_owned(),
            ),
            "nfs" | "lustre" | "ceph" | "fuse" | "9p" | "cifs" => notes.push(format!(
                "{} over a network or another program: its own caches may answer",
                self.file_system()
            )),
            _ => {}
        }
        if let Some(memory) = memory_total()
            && file.len < memory
        {
            notes.push(format!(
                "the file ({} MiB) is smaller than memory ({} MiB); {}",
                file.len >> 20,
                memory >> 20,
                match file.refused {
                    None =>
                        "O_DIRECT keeps it out of this machine's cache, not out of caches below",
                    Some(_) => "without O_DIRECT later reads may come from memory",
                }
            ));
        }
    }
}

/// Written through the page cache, as trainers do, and then made safe.
#[derive(Clone, Debug, Serialize)]
pub struct Checkpoint {
    pub bytes: u64,
    pub write_s: f64,
    /// `fsync` of the file and of its folder.
    pub fsync_s: f64,
    /// Over both, GB/s (1e9).
    pub gbs: Reading,
}

pub(super) fn checkpoint(options: &DiskOptions, place: &Place, part: &Part<'_>) -> Checkpoint {
    let wanted = options.checkpoint_bytes.min(place.free / 4);
    let mut result = Checkpoint {
        bytes: 0,
        write_s: 0.0,
        fsync_s: 0.0,
        gbs: step::unknown("no space or no time for it"),
    };
    match write(&options.dir, wanted, part, &mut result) {
        Err(e) => result.gbs = step::failed(e.to_string()),
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
