//! What the host does meanwhile: the busiest core, which tells a starved loader, and what is written to disks, which tells
//! a checkpoint. From `/proc`, below a root that the caller names.
//!
//! In a container the kernel's tables are those of the whole machine, neighbours included, so nothing is taken from them;
//! likewise the cores where a quota says that they are shared.

use crate::cpu::{Roots, grant};
use crate::gpu::look::container_signs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Bytes of a sector in `/proc/diskstats`, whatever the disk's own are (kernel: Documentation/admin-guide/iostats).
const SECTOR_BYTES: f64 = 512.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct HostFigures {
    pub(super) cpu_busiest_core_pct: Option<f64>,
    /// 1e6 byte/s.
    pub(super) disk_write_mb_s: Option<f64>,
}

pub(super) struct HostMeter {
    root: PathBuf,
    cores: bool,
    disks: bool,
    before: Option<Counters>,
}

struct Counters {
    at: Instant,
    /// Busy and all jiffies of each core.
    cores: BTreeMap<String, (u64, u64)>,
    sectors_written: Option<u64>,
}

impl HostMeter {
    pub(super) fn new(root: &Path) -> HostMeter {
        let own = container_signs(root).is_empty();
        let (proc, sys) = (root.join("proc"), root.join("sys"));
        let granted = grant(Roots {
            proc: &proc,
            sys: &sys,
        });
        HostMeter {
            root: root.to_owned(),
            cores: own && granted.quota.is_none() && granted.affinity >= granted.seen,
            disks: own,
            before: None,
        }
    }

    /// Since the last call; the first one has nothing to compare with.
    pub(super) fn read(&mut self) -> HostFigures {
        let now = Counters {
            at: Instant::now(),
            cores: match self.cores {
                true => cores(&self.text("proc/stat")),
                false => BTreeMap::new(),
            },
            sectors_written: match self.disks {
                true => written(&self.text("proc/diskstats")),
                false => None,
            },
        };
        let figures = self
            .before
            .as_ref()
            .map(|before| between(before, &now))
            .unwrap_or_default();
        self.before = Some(now);
        figures
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap_or_default()
    }
}

fn between(before: &Counters, now: &Counters) -> HostFigures {
    let seconds = (now.at - before.at).as_secs_f64();
    let share = |(core, (busy, all)): (&String, &(u64, u64))| {
        let (busy_then, all_then) = before.cores.get(core)?;
        let all = all.checked_sub(*all_then).filter(|n| *n > 0)?;
        Some(busy.checked_sub(*busy_then)? as f64 * 100.0 / all as f64)
    };
    let written = now.sectors_written.zip(before.sectors_written);
    let written = written.and_then(|(n, b)| n.checked_sub(b));
    HostFigures {
        cpu_busiest_core_pct: now.cores.iter().filter_map(share).reduce(f64::max),
        disk_write_mb_s: written
            .filter(|_| seconds > 0.0)
            .map(|n| n as f64 * SECTOR_BYTES / seconds / 1e6),
    }
}

/// `cpu3 user nice system idle iowait irq softirq steal ...`; waiting for a disk is not being busy.
fn cores(stat: &str) -> BTreeMap<String, (u64, u64)> {
    let mut out = BTreeMap::new();
    for line in stat.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next().filter(|n| n.starts_with("cpu") && n.len() > 3) else {
            continue;
        };
        // guests are counted in user as well
        let times: Option<Vec<u64>> = words.take(8).map(|w| w.parse().ok()).collect();
        if let Some([_, _, _, idle, iowait, ..]) = times.as_deref() {
            let all: u64 = times.iter().flatten().sum();
            out.insert(name.to_owned(), (all - idle - iowait, all));
        }
    }
    out
}

/// Sectors written to whole disks: partitions, and what lies on top of disks, would count twice.
fn written(diskstats: &str) -> Option<u64> {
    let mut disks: Vec<(&str, u64)> = Vec::new();
    for line in diskstats.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(name), Some(sectors)) = (words.get(2), words.get(9)) else {
            continue;
        };
        const ABOVE: [&str; 7] = ["loop", "ram", "zram", "dm-", "md", "sr", "fd"];
        if ABOVE.iter().any(|a| name.starts_with(a)) {
            continue;
        }
        // a partition stands behind its disk: sda1, nvme0n1p1
        let part = disks.iter().any(|(disk, _)| {
            let rest = name.strip_prefix(disk).unwrap_or("");
            let digits = rest.strip_prefix('p').unwrap_or(rest);
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        });
        if let (false, Ok(sectors)) = (part, sectors.parse()) {
            disks.push((name, sectors));
        }
    }
    (!disks.is_empty()).then(|| disks.iter().map(|(_, n)| *n).fold(0, u64::wrapping_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_and_disks_are_read_as_the_kernel_writes_them() {
        let stat = "cpu  30 0 10 60 0 0 0 0 0 0\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu1 20 0 10 40 30 0 0 0 5 0\nintr 1\n";
        let cores = cores(stat);
        assert_eq!(cores.len(), 2);
        assert_eq!(cores["cpu1"], (30, 100));
        let disks = " 259 0 nvme0n1 1 0 8 0 2 0 100 0 0 0 0\n 259 1 nvme0n1p1 1 0 8 0 2 0 90 0 0 0 0\n   8 0 sda 1 0 8 0 2 0 7 0 0 0 0\n   8 1 sda1 1 0 8 0 2 0 7 0 0 0 0\n 253 0 dm-0 1 0 8 0 2 0 50 0 0 0 0\n";
        assert_eq!(written(disks), Some(107));
        assert_eq!(written(""), None);
    }

    #[test]
    fn a_container_shows_its_neighbours_so_nothing_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/stat", "cpu0 10 0 0 90 0 0 0 0\n");
        write("proc/diskstats", " 8 0 sda 1 0 8 0 2 0 7 0 0 0 0\n");
        let mut bare = HostMeter::new(root.path());
        assert_eq!(
            bare.read(),
            HostFigures::default(),
            "nothing to compare with yet"
        );
        write("proc/stat", "cpu0 100 0 0 100 0 0 0 0\n");
        assert_eq!(bare.read().cpu_busiest_core_pct, Some(90.0));
        write(".dockerenv", "");
        let mut inside = HostMeter::new(root.path());
        inside.read();
        assert_eq!(inside.read(), HostFigures::default());
    }
}
