//! Cores that are there, against cores that may be used: affinity and the quota of the cgroups, versions 1 and 2. And what the
//! tables say, which under a hypervisor is only a claim.
//!
//! `/proc` and `/sys` are arguments, so that any machine can be played from a folder.

use lessee_model::probe::{Claims, Grant};
use std::path::Path;

/// Where the system's files are.
#[derive(Clone, Copy, Debug)]
pub struct Roots<'a> {
    pub proc: &'a Path,
    pub sys: &'a Path,
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

pub fn grant(roots: Roots<'_>) -> Grant {
    let cpuinfo = text(&roots.proc.join("cpuinfo")).unwrap_or_default();
    let is_processor = |l: &&str| key(l) == Some("processor");
    let seen = Some(cpuinfo.lines().filter(is_processor).count()).filter(|n| *n > 0);
    let status = text(&roots.proc.join("self/status")).unwrap_or_default();
    let affinity = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
        .and_then(count_list);
    let (quota, quota_from) = quota(roots).unzip();
    let all = [seen.map(|n| n as f64), affinity.map(|n| n as f64), quota];
    Grant {
        seen,
        affinity,
        quota,
        quota_from,
        granted: all.into_iter().flatten().reduce(f64::min),
    }
}

/// The least quota on the way from our group up to the top; each level limits those below.
fn quota(roots: Roots<'_>) -> Option<(f64, String)> {
    let groups = text(&roots.proc.join("self/cgroup")).unwrap_or_default();
    let mut least: Option<(f64, String)> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
            continue;
        };
        let top = roots.sys.join("fs/cgroup");
        let tops = match controllers {
            // a hybrid machine has version 2 beside version 1
            "" => vec![top.clone(), top.join("unified")],
            c if c.split(',').any(|c| c == "cpu") => vec![top.join("cpu"), top.join(c)],
            _ => continue,
        };
        for top in tops {
            // in a container the path is the host's and may not exist here: its own group is then the top
            let below: &Path = Path::new(group.trim_start_matches('/'));
            let ours = below.ancestors().filter(|p| !p.starts_with(".."));
            for level in ours {
                let level = top.join(level);
                if let Some(found) = limit(&level)
                    && least.as_ref().is_none_or(|l| found.0 < l.0)
                {
                    least = Some(found);
                }
            }
        }
    }
    least
}

fn limit(level: &Path) -> Option<(f64, String)> {
    let path = level.join("cpu.max");
    if let Some(max) = text(&path) {
        let mut words = max.split_whitespace();
        let quota: f64 = words.next()?.parse().ok()?;
        let period: f64 = words.next().map_or(Some(100_000.0), |p| p.parse().ok())?;
        return positive(quota / period).map(|q| (q, path.display().to_string()));
    }
    let path = level.join("cpu.cfs_quota_us");
    let number = |p: &Path| text(p)?.trim().parse::<f64>().ok();
    let quota = number(&path)?;
    let period = number(&level.join("cpu.cfs_period_us"))?;
    // -1: no limit
    positive(quota / period).map(|q| (q, path.display().to_string()))
}

fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

/// `0-3,8` is 5.
fn count_list(list: &str) -> Option<usize> {
    list.trim().split(',').try_fold(0usize, |sum, range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        sum.checked_add(to.checked_sub(from)?.checked_add(1)?)
    })
}

fn key(line: &str) -> Option<&str> {
    line.split_once(':').map(|(key, _)| key.trim())
}

pub fn claims(roots: Roots<'_>) -> Claims {
    let cpuinfo = text(&roots.proc.join("cpuinfo")).unwrap_or_default();
    let values = |name: &'static str| {
        let of = move |l: &'_ str| {
            l.split_once(':')
                .map(|(k, v)| (k.trim() == name, v.trim().to_owned()))
        };
        cpuinfo.lines().filter_map(of).filter(|v| v.0).map(|v| v.1)
    };
    let mut sockets: Vec<String> = values("physical id").collect();
    sockets.sort();
    sockets.dedup();
    Claims {
        model: values("model name").next(),
        mhz: values("cpu MHz").next().and_then(|v| v.parse().ok()),
        sockets: Some(sockets.len()).filter(|n| *n > 0),
        last_level_cache_bytes: last_level_cache(roots.sys),
        virtual_machine: values("flags")
            .next()
            .is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor")),
    }
}

/// The highest level of the first processor.
fn last_level_cache(sys: &Path) -> Option<u64> {
    let size = |index: usize| {
        let path = sys.join(format!("devices/system/cpu/cpu0/cache/index{index}/size"));
        let text = text(&path)?;
        let text = text.trim();
        let (number, unit) = match text.as_bytes().last()? {
            b'K' => (&text[..text.len() - 1], 1024),
            b'M' => (&text[..text.len() - 1], 1 << 20),
            _ => (text, 1),
        };
        number.parse::<u64>().ok()?.checked_mul(unit)
    };
    (0..8).filter_map(size).max()
}

/// Ticks of all processors: all, and those that the hypervisor gave to others.
pub(super) fn ticks(proc: &Path) -> Option<(u64, u64)> {
    let stat = text(&proc.join("stat"))?;
    let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
    let fields: Option<Vec<u64>> = line.split_whitespace().map(|f| f.parse().ok()).collect();
    let fields = fields?;
    // guest time, after steal, is already in user time
    let all = fields.iter().take(8).sum();
    Some((all, *fields.get(7)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn granted(files: &[(&str, &str)]) -> Grant {
        let dir = machine(files);
        grant(Roots {
            proc: &dir.path().join("proc"),
            sys: &dir.path().join("sys"),
        })
    }

    const SIXTEEN: &str = "processor\t: 0\nprocessor\t: 1\nprocessor\t: 2\nprocessor\t: 3\n";

    #[test]
    fn version_2_takes_the_least_of_all_levels() {
        let g = granted(&[
            ("proc/cpuinfo", SIXTEEN),
            ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-2,5\n"),
            ("proc/self/cgroup", "0::/pod/box\n"),
            ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n"),
        ]);
        assert_eq!((g.seen, g.affinity), (Some(4), Some(4)));
        assert_eq!((g.quota, g.granted), (Some(1.5), Some(1.5)));
        assert!(g.quota_from.unwrap().ends_with("pod/cpu.max"));
    }

    #[test]
    fn version_1_in_a_container_whose_path_is_the_hosts() {
        let g = granted(&[
            ("proc/cpuinfo", SIXTEEN),
            (
                "proc/self/cgroup",
                "4:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n",
            ),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!((g.quota, g.granted), (Some(2.5), Some(2.5)));
    }

    #[test]
    fn no_limit_is_none_and_nothing_known_is_nothing() {
        let g = granted(&[
            ("proc/cpuinfo", SIXTEEN),
            ("proc/self/cgroup", "4:cpu:/\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!((g.quota, g.granted), (None, Some(4.0)));
        assert_eq!(granted(&[]), Grant::default());
    }

    #[test]
    fn lists_and_ticks_and_claims() {
        assert_eq!(count_list("0-3,8"), Some(5));
        assert_eq!(count_list("3-0"), None);
        assert_eq!(count_list(""), None);
        let dir = machine(&[
            ("stat", "cpu  1 2 3 4 5 6 7 8 100 100\ncpu0 1\n"),
            (
                "cpuinfo",
                "model name : X\nflags : fpu hypervisor\nphysical id : 0\nphysical id : 1\n",
            ),
            ("devices/system/cpu/cpu0/cache/index3/size", "32768K\n"),
        ]);
        assert_eq!(ticks(dir.path()), Some((36, 8)));
        let c = claims(Roots {
            proc: dir.path(),
            sys: dir.path(),
        });
        assert!(c.virtual_machine);
        assert_eq!((c.sockets, c.mhz), (Some(2), None));
        assert_eq!(c.last_level_cache_bytes, Some(32 << 20));
    }
}
