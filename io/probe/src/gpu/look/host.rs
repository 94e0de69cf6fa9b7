//! The box around the GPUs: container, virtual machine, cores that may really be used, shared memory, kernel log.
//!
//! All of it is read below a root, so that tests can play a machine from a folder.

use crate::gpu::Seen;
use lessee_model::probe::BlockDevice;
pub use lessee_model::probe::CpuQuota;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// What shows that this is a container; empty where nothing does.
    pub container_signs: Vec<String>,
    /// What shows that this is a virtual machine.
    pub vm_signs: Vec<String>,
    /// Logical processors that the kernel shows.
    pub cpus_shown: Seen<u32>,
    pub cpu_quota: Seen<CpuQuota>,
    pub memory_total_mib: Seen<u64>,
    pub shm_mib: Seen<u64>,
    pub kernel_log: KernelLog,
    /// Those that the kernel shows.
    pub block_devices: Vec<BlockDevice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelLog {
    Visible,
    /// Errors of GPUs that happened before cannot be seen.
    Closed,
}

pub(super) fn host(root: &Path) -> Host {
    let memory = memory_total_kib(root);
    Host {
        container_signs: container_signs(root),
        vm_signs: vm_signs(root),
        cpus_shown: cpus_shown(root),
        cpu_quota: cpu_quota(root),
        memory_total_mib: match memory {
            Some(kib) => Seen::Claimed { value: kib / 1024 },
            None => Seen::unknown("not_shown", "/proc/meminfo"),
        },
        shm_mib: shm_mib(root, memory),
        kernel_log: kernel_log(root),
        block_devices: block_devices(root),
    }
}

fn text(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

/// What shows that this is a container; empty where nothing does.
pub(crate) fn container_signs(root: &Path) -> Vec<String> {
    let mut signs = Vec::new();
    for file in [".dockerenv", "run/.containerenv"] {
        if root.join(file).exists() {
            signs.push(format!("/{file}"));
        }
    }
    let cgroup = text(root, "proc/1/cgroup").unwrap_or_default();
    for word in ["docker", "kubepods", "containerd", "libpod", "lxc"] {
        if cgroup.contains(word) {
            signs.push(format!("/proc/1/cgroup: {word}"));
        }
    }
    let mounts = text(root, "proc/self/mounts").unwrap_or_default();
    let overlay = mounts.lines().any(|line| {
        let mut words = line.split(' ').skip(1);
        words.next() == Some("/") && words.next() == Some("overlay")
    });
    if overlay {
        signs.push("/ is an overlay".to_owned());
    }
    signs
}

fn vm_signs(root: &Path) -> Vec<String> {
    let mut signs = Vec::new();
    let cpuinfo = text(root, "proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags"));
    if flags.is_some_and(|l| l.split_whitespace().any(|w| w == "hypervisor")) {
        signs.push("/proc/cpuinfo: hypervisor".to_owned());
    }
    // names of makers and products only: the files beside them hold serial numbers
    const VIRTUAL: [&str; 10] = [
        "qemu",
        "kvm",
        "amazon ec2",
        "google",
        "microsoft",
        "vmware",
        "xen",
        "openstack",
        "alibaba cloud",
        "virtual",
    ];
    for file in ["sys_vendor", "product_name"] {
        let value = text(root, &format!("sys/class/dmi/id/{file}")).unwrap_or_default();
        let value = value.trim();
        let lower = value.to_ascii_lowercase();
        if VIRTUAL.iter().any(|word| lower.contains(word)) {
            signs.push(format!("{file}: {value}"));
        }
    }
    signs
}

fn cpus_shown(root: &Path) -> Seen<u32> {
    let cpuinfo = text(root, "proc/cpuinfo").unwrap_or_default();
    let n = cpuinfo
        .lines()
        .filter(|l| l.starts_with("processor"))
        .count();
    match u32::try_from(n) {
        Ok(n) if n > 0 => Seen::Claimed { value: n },
        _ => Seen::unknown("not_shown", "/proc/cpuinfo"),
    }
}

/// Version 2 first, then version 1; of a group and those above it the tightest counts.
fn cpu_quota(root: &Path) -> Seen<CpuQuota> {
    let groups = text(root, "proc/self/cgroup").unwrap_or_default();
    let mut quotas = Vec::new();
    let mut known = false;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let one = match controllers {
            "" => &["sys/fs/cgroup"][..],
            list if list.split(',').any(|c| c == "cpu") => {
                &["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"][..]
            }
            _ => continue,
        };
        for mount in one {
            for folder in upwards(&root.join(mount), path) {
                match if controllers.is_empty() {
                    quota_v2(&folder)
                } else {
                    quota_v1(&folder)
                } {
                    Some(CpuQuota::Cores { cores }) => quotas.push(cores),
                    Some(CpuQuota::Unlimited) => known = true,
                    None => {}
                }
            }
        }
    }
    match quotas.into_iter().reduce(f64::min) {
        Some(cores) => Seen::Claimed {
            value: CpuQuota::Cores { cores },
        },
        // the root group has no file of quotas: where no group above says anything, none limits
        None if known || !groups.is_empty() => Seen::Claimed {
            value: CpuQuota::Unlimited,
        },
        None => Seen::unknown("not_shown", "/proc/self/cgroup"),
    }
}

/// The folder of a group and of those above it, up to the mount. In a container the path is often that of the host and
/// leads nowhere; the mount itself is then the container's own group.
fn upwards(mount: &Path, path: &str) -> Vec<PathBuf> {
    let mut folders = vec![mount.to_path_buf()];
    let mut folder = mount.to_path_buf();
    for part in path
        .split('/')
        .filter(|p| !p.is_empty() && *p != "..")
        .take(64)
    {
        folder.push(part);
        folders.push(folder.clone());
    }
    folders
}

fn quota_v2(folder: &Path) -> Option<CpuQuota> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let mut words = text.split_whitespace();
    match words.next()? {
        "max" => Some(CpuQuota::Unlimited),
        quota => cores(quota.parse().ok()?, words.next()?.parse().ok()?),
    }
}

fn quota_v1(folder: &Path) -> Option<CpuQuota> {
    let number = |file: &str| -> Option<f64> {
        let text = fs::read_to_string(folder.join(file)).ok()?;
        text.trim().parse().ok()
    };
    match number("cpu.cfs_quota_us")? {
        quota if quota < 0.0 => Some(CpuQuota::Unlimited),
        quota => cores(quota, number("cpu.cfs_period_us")?),
    }
}

fn cores(quota: f64, period: f64) -> Option<CpuQuota> {
    let cores = quota / period;
    (cores.is_finite() && cores > 0.0).then_some(CpuQuota::Cores { cores })
}

fn memory_total_kib(root: &Path) -> Option<u64> {
    let text = text(root, "proc/meminfo")?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// From the options of the mount. A tmpfs without a size is half the memory, which is the kernel's default.
fn shm_mib(root: &Path, memory_kib: Option<u64>) -> Seen<u64> {
    let mounts = text(root, "proc/self/mounts").unwrap_or_default();
    // the last mount over a place is the one that is seen
    let options = mounts.lines().rev().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        (words.len() >= 4 && words[1] == "/dev/shm").then(|| words[3].to_owned())
    });
    let Some(options) = options else {
        return Seen::unknown("not_mounted", "/dev/shm");
    };
    let Some(size) = options.split(',').find_map(|o| o.strip_prefix("size=")) else {
        return match memory_kib {
            Some(kib) => Seen::Claimed { value: kib / 2048 },
            None => Seen::unknown("not_shown", "/proc/meminfo"),
        };
    };
    match size_kib(size, memory_kib) {
        Some(kib) => Seen::Claimed { value: kib / 1024 },
        None => Seen::unknown("not_understood", format!("size={size}")),
    }
}

fn size_kib(size: &str, memory_kib: Option<u64>) -> Option<u64> {
    let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
    let n: u64 = digits.parse().ok()?;
    match &size[digits.len()..] {
        "" => Some(n / 1024),
        "k" | "K" => Some(n),
        "m" | "M" => n.checked_mul(1 << 10),
        "g" | "G" => n.checked_mul(1 << 20),
        "%" => Some(memory_kib?.checked_mul(n)? / 100),
        _ => None,
    }
}

/// Whether the log can be opened; a file that is there and refuses is closed as well. Without the file there is the
/// system call, which an unprivileged reader may use where `dmesg_restrict` is 0.
fn kernel_log(root: &Path) -> KernelLog {
    if fs::File::open(root.join("dev/kmsg")).is_ok() {
        return KernelLog::Visible;
    }
    let restricted = text(root, "proc/sys/kernel/dmesg_restrict");
    match restricted.as_deref().map(str::trim) {
        Some("0") => KernelLog::Visible,
        _ => KernelLog::Closed,
    }
}

/// Disks of their own: neither parts of one nor what is put together from several or lives in memory.
fn block_devices(root: &Path) -> Vec<BlockDevice> {
    const NOT_DISKS: [&str; 9] = [
        "loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd", "drbd",
    ];
    let Ok(entries) = fs::read_dir(root.join("sys/block")) else {
        return Vec::new();
    };
    let mut disks: Vec<BlockDevice> = entries
        .take(4096)
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            if NOT_DISKS.iter().any(|kind| name.starts_with(kind)) {
                return None;
            }
            let value = |file: &str| text(root, &format!("sys/block/{name}/{file}"));
            // counted in 512 bytes whatever the disk's own blocks are
            let sectors: u64 = value("size")?.trim().parse().ok()?;
            let model = value("device/model").map(|m| m.trim().to_owned());
            Some(BlockDevice {
                bytes: sectors.checked_mul(512).filter(|b| *b > 0)?,
                model: model.filter(|m| !m.is_empty()),
                name,
            })
        })
        .collect();
    disks.sort_by(|a, b| a.name.cmp(&b.name));
    disks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn a_container_with_dockers_defaults() {
        let dir = machine(&[
            (".dockerenv", ""),
            ("proc/1/cgroup", "0::/\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cpu.max", "650000 100000\n"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nflags\t\t: fpu hypervisor\nprocessor\t: 1\nflags\t\t: fpu hypervisor\n",
            ),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "p4d.24xlarge\n"),
            (
                "proc/self/mounts",
                "overlay / overlay rw 0 0\nshm /dev/shm tmpfs rw,nosuid,size=65536k 0 0\n",
            ),
            ("proc/sys/kernel/dmesg_restrict", "1\n"),
            ("proc/meminfo", "MemTotal:       1048576 kB\n"),
        ]);
        let host = host(dir.path());
        assert_eq!(host.container_signs, ["/.dockerenv", "/ is an overlay"]);
        assert_eq!(
            host.vm_signs,
            ["/proc/cpuinfo: hypervisor", "sys_vendor: Amazon EC2"]
        );
        assert_eq!(host.cpus_shown.get(), Some(2));
        assert_eq!(host.cpu_quota.get(), Some(CpuQuota::Cores { cores: 6.5 }));
        assert_eq!(host.shm_mib.get(), Some(64));
        assert_eq!(host.kernel_log, KernelLog::Closed);
    }

    #[test]
    fn version_1_groups_and_the_tightest_of_those_above() {
        let dir = machine(&[
            (
                "proc/self/cgroup",
                "4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n",
            ),
            ("sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "400000\n"),
            ("sys/fs/cgroup/cpu/docker/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(
            cpu_quota(dir.path()).get(),
            Some(CpuQuota::Cores { cores: 4.0 })
        );
        assert!(matches!(
            cpu_quota(Path::new("/nonexistent")),
            Seen::Unknown { .. }
        ));
    }

    #[test]
    fn disks_of_their_own() {
        let dir = machine(&[
            ("sys/block/nvme1n1/size", "7812500\n"),
            (
                "sys/block/nvme1n1/device/model",
                "Amazon EC2 NVMe Instance Storage        \n",
            ),
            ("sys/block/loop0/size", "800\n"),
            ("sys/block/vda/size", "0\n"),
        ]);
        let disks = host(dir.path()).block_devices;
        assert_eq!(disks.len(), 1);
        assert_eq!(disks[0].bytes, 4_000_000_000);
        let model = disks[0].model.as_deref();
        assert_eq!(model, Some("Amazon EC2 NVMe Instance Storage"));
    }

    #[test]
    fn sizes_of_shared_memory() {
        assert_eq!(size_kib("65536k", None), Some(65536));
        assert_eq!(size_kib("8g", None), Some(8 << 20));
        assert_eq!(size_kib("1048576", None), Some(1024));
        assert_eq!(size_kib("50%", Some(1000)), Some(500));
        assert_eq!(size_kib("50%", None), None);
        assert_eq!(size_kib("big", None), None);
        let dir = machine(&[
            ("proc/self/mounts", "tmpfs /dev/shm tmpfs rw,nosuid 0 0\n"),
            ("proc/meminfo", "MemTotal:       2097152 kB\n"),
        ]);
        assert_eq!(host(dir.path()).shm_mib.get(), Some(1024));
    }

    #[test]
    fn a_bare_machine_shows_no_signs() {
        let dir = machine(&[("dev/kmsg", ""), ("proc/self/cgroup", "0::/user.slice\n")]);
        let host = host(dir.path());
        assert!(host.container_signs.is_empty() && host.vm_signs.is_empty());
        assert_eq!(host.kernel_log, KernelLog::Visible);
        assert_eq!(host.cpu_quota.get(), Some(CpuQuota::Unlimited));
    }
}
