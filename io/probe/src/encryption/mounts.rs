//! The mount tables and the list of swaps of the kernel; of a mounted root that has none, what its `/etc` says.

use super::keeps_data;
use super::tree::Tree;
use lessee_accept::security::{HostFacts, Layer, LayerKind, MountFacts, SwapFacts};

const MOST_MOUNTS: usize = 200;

pub(super) struct Table {
    pub mounts: Vec<MountFacts>,
    /// The root is layers on layers of a container.
    pub container: bool,
}

/// The file systems that keep data, each once, by the shortest of its places.
pub(super) fn table(tree: &Tree) -> Option<Table> {
    let rows = match tree.text("proc/self/mountinfo") {
        Some(text) => text.lines().filter_map(mountinfo).collect(),
        None => {
            let table = tree.text("proc/mounts")?;
            table.lines().filter_map(plain).collect::<Vec<_>>()
        }
    };
    let mut out = Table {
        mounts: Vec::new(),
        container: false,
    };
    let mut seen: Vec<String> = Vec::new();
    let mut rows: Vec<(Option<String>, MountFacts)> = rows;
    rows.sort_by_key(|(_, m)| m.target.len());
    for (number, mut mount) in rows {
        if mount.kind == "overlay" {
            out.container |= mount.target == "/";
            continue;
        }
        let key = match &number {
            Some(number) if !number.starts_with("0:") => number.clone(),
            _ => mount.source.clone(),
        };
        if !keeps_data(&mount) || seen.contains(&key) || out.mounts.len() >= MOST_MOUNTS {
            continue;
        }
        seen.push(key);
        if let Some(device) = tree.device(number.as_deref(), &mount.source) {
            mount.layers = match mount.kind.as_str() {
                "btrfs" => tree.of_btrfs(&device),
                _ => tree.layers(&device),
            };
        }
        out.mounts.push(mount);
    }
    Some(out)
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn mountinfo(line: &str) -> Option<(Option<String>, MountFacts)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ');
    let number = before.nth(2)?.to_owned();
    let target = unescape(before.nth(1)?);
    let mut after = after.split(' ');
    let mount = MountFacts {
        target,
        kind: after.next()?.to_owned(),
        source: unescape(after.next()?),
        options: after.next().unwrap_or("").to_owned(),
        layers: Vec::new(),
    };
    Some((Some(number), mount))
}

/// `/dev/sda1 / ext4 rw,relatime 0 0`
fn plain(line: &str) -> Option<(Option<String>, MountFacts)> {
    let mut cells = line.split_whitespace();
    let source = unescape(cells.next()?);
    let target = unescape(cells.next()?);
    let mount = MountFacts {
        target,
        source,
        kind: cells.next()?.to_owned(),
        options: cells.next().unwrap_or("").to_owned(),
        layers: Vec::new(),
    };
    Some((None, mount))
}

/// Blanks stand as `\040`.
fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = match (first, after.get(..3)) {
            (b'\\', Some(digits)) => std::str::from_utf8(digits)
                .ok()
                .and_then(|d| u8::from_str_radix(d, 8).ok()),
            _ => None,
        };
        match code {
            Some(code) => {
                out.push(code);
                rest = &after[3..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The first line is a heading, which the kernel writes where there is no swap too: a file without it is not the list.
pub(super) fn swaps(tree: &Tree) -> Option<Vec<SwapFacts>> {
    let text = tree.text("proc/swaps")?;
    if !text.starts_with("Filename") {
        return None;
    }
    let one = |line: &str| {
        let mut cells = line.split_whitespace();
        let name = unescape(cells.next()?);
        let layers = match cells.next()? {
            "partition" => tree.device(None, &name).map(|d| tree.layers(&d)),
            _ => None,
        };
        Some(SwapFacts {
            layers: layers.unwrap_or_else(|| below_file(tree, &name)),
            name,
        })
    };
    Some(text.lines().skip(1).filter_map(one).collect())
}

/// The layers of the file system that a swap file lies in.
fn below_file(tree: &Tree, file: &str) -> Vec<Layer> {
    let mounts = table(tree).map(|t| t.mounts).unwrap_or_default();
    let within = |m: &&MountFacts| {
        let rest = file.strip_prefix(m.target.trim_end_matches('/'));
        rest.is_some_and(|r| r.starts_with('/'))
    };
    let found = mounts.iter().filter(within).max_by_key(|m| m.target.len());
    found.map(|m| m.layers.clone()).unwrap_or_default()
}

/// What a root that does not run will mount, and which of it its `crypttab` opens.
pub(super) fn from_etc(tree: &Tree, facts: &mut HostFacts) {
    let Some(fstab) = tree.text("etc/fstab") else {
        return;
    };
    let crypttab = tree.text("etc/crypttab").unwrap_or_default();
    let lines = |text: &str| -> Vec<String> {
        let kept = text.lines().map(str::trim);
        kept.filter(|l| !l.is_empty() && !l.starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    let opened: Vec<String> = lines(&crypttab)
        .iter()
        .filter_map(|l| Some(l.split_whitespace().next()?.to_owned()))
        .collect();
    let layers = |source: &str| -> Vec<Layer> {
        let name = source.strip_prefix("/dev/mapper/").unwrap_or("");
        let crypt = opened.iter().find(|o| *o == name);
        crypt
            .map(|name| Layer {
                name: name.clone(),
                kind: LayerKind::Crypt("crypttab".to_owned()),
                model: None,
            })
            .into_iter()
            .collect()
    };
    let mut swaps = Vec::new();
    for line in lines(&fstab).iter().take(MOST_MOUNTS) {
        let Some((_, mut mount)) = plain(line) else {
            continue;
        };
        // a btrfs may have more devices than the one that is named
        if mount.kind != "btrfs" {
            mount.layers = layers(&mount.source);
        }
        if mount.kind == "swap" {
            swaps.push(SwapFacts {
                layers: mount.layers,
                name: mount.source,
            });
        } else if keeps_data(&mount) {
            facts.mounts.push(mount);
        }
    }
    // swap may be turned on without standing there
    if facts.swaps.is_none() && !swaps.is_empty() {
        facts.swaps = Some(swaps);
    }
}
