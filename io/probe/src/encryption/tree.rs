//! A root folder, and block devices as its `/sys` lists them. What a link leads to outside of the root is not there: a recorded
//! tree says nothing of the machine that reads it.

use super::worse;
use lessee_accept::security::{Layer, LayerKind};
use std::path::{Path, PathBuf};

/// Layers on layers are a handful; a tree that loops ends here.
const DEEPEST: usize = 16;
const MOST_VISITS: usize = 256;
const MOST_DEVICES: usize = 4096;

pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(super) fn at(root: &Path) -> Option<Tree> {
        let root = root.canonicalize().ok()?;
        Some(Tree { root })
    }

    /// The place of a path of the machine, if it is there and within the root.
    pub(super) fn find(&self, path: &str) -> Option<PathBuf> {
        let place = self.root.join(path.trim_start_matches('/'));
        let place = place.canonicalize().ok()?;
        place.starts_with(&self.root).then_some(place)
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        super::text(&self.find(path)?).ok()
    }

    /// A file of one line.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.chars().take(200).collect())
    }

    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let Some(place) = self.find(path) else {
            return Vec::new();
        };
        let entries = std::fs::read_dir(place).into_iter().flatten();
        let mut names: Vec<String> = entries
            .flatten()
            .take(MOST_DEVICES)
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn attribute(&self, device: &str, name: &str) -> Option<String> {
        self.line(&format!("sys/class/block/{device}/{name}"))
    }

    /// The block device of a number `8:1`, or of a source as mount tables name it.
    pub(super) fn device(&self, number: Option<&str>, source: &str) -> Option<String> {
        let all = || self.names("sys/class/block");
        let numbered = number.filter(|n| !n.starts_with("0:")).and_then(|n| {
            all()
                .into_iter()
                .find(|d| self.attribute(d, "dev").as_deref() == Some(n))
        });
        numbered.or_else(|| {
            let name = source.strip_prefix("/dev/")?;
            let mapped = name.strip_prefix("mapper/").unwrap_or(name);
            all()
                .into_iter()
                .find(|d| d == name || self.attribute(d, "dm/name").as_deref() == Some(mapped))
        })
    }

    /// From a device down to its disk; where there are several ways, one without encryption if there is one.
    pub(super) fn layers(&self, device: &str) -> Vec<Layer> {
        let mut visits = 0;
        self.down(device, 0, &mut visits)
    }

    /// As [`Tree::layers`] over all devices of the btrfs that one belongs to; empty where its members are not listed, or one of
    /// them is not to be seen.
    pub(super) fn of_btrfs(&self, device: &str) -> Vec<Layer> {
        let members = |uuid: &String| self.names(&format!("sys/fs/btrfs/{uuid}/devices"));
        let all = self.names("sys/fs/btrfs").into_iter();
        let mine = all
            .map(|u| members(&u))
            .find(|m| m.iter().any(|d| d == device));
        let ways: Vec<Vec<Layer>> = mine.iter().flatten().map(|d| self.layers(d)).collect();
        if ways.iter().any(|w| !self.seen(w)) {
            return Vec::new();
        }
        ways.into_iter().reduce(worse).unwrap_or_default()
    }

    /// Whether the first of the layers is a device of this tree.
    fn seen(&self, layers: &[Layer]) -> bool {
        let known = |name: &str| {
            let mut all = self.names("sys/class/block").into_iter();
            all.any(|d| d == name || self.attribute(&d, "dm/name").as_deref() == Some(name))
        };
        layers.first().is_some_and(|l| known(&l.name))
    }

    fn down(&self, device: &str, depth: usize, visits: &mut usize) -> Vec<Layer> {
        *visits += 1;
        if depth > DEEPEST || *visits > MOST_VISITS {
            return Vec::new();
        }
        let own = Layer {
            name: self
                .attribute(device, "dm/name")
                .unwrap_or_else(|| device.to_owned()),
            kind: self.kind(device),
            model: self.attribute(device, "device/model"),
        };
        let mut below: Option<Vec<Layer>> = None;
        for slave in self.names(&format!("sys/class/block/{device}/slaves")) {
            let way = self.down(&slave, depth + 1, visits);
            below = Some(match below {
                Some(known) => worse(known, way),
                None => way,
            });
        }
        if below.is_none()
            && own.kind == LayerKind::Partition
            && let Some(disk) = self.disk_of(device)
        {
            below = Some(self.down(&disk, depth + 1, visits));
        }
        let mut layers = vec![own];
        layers.extend(below.unwrap_or_default());
        layers
    }

    fn kind(&self, device: &str) -> LayerKind {
        if let Some(uuid) = self.attribute(device, "dm/uuid") {
            return match uuid.split('-').collect::<Vec<_>>()[..] {
                ["CRYPT", format, ..] => LayerKind::Crypt(format.to_owned()),
                ["LVM", ..] => LayerKind::Lvm,
                [part, ..] if part.starts_with("part") => LayerKind::Partition,
                [other, ..] => LayerKind::Other(other.to_owned()),
                [] => LayerKind::Other(String::new()),
            };
        }
        if self.attribute(device, "partition").is_some() {
            return LayerKind::Partition;
        }
        match device {
            d if d.starts_with("loop") => LayerKind::Loop,
            d if d.starts_with("zram") => LayerKind::Zram,
            d if d.starts_with("md") => LayerKind::Raid,
            _ => LayerKind::Disk,
        }
    }

    /// The disk of a partition: the folder above it, or, of a tree whose links were followed when it was copied, its name
    /// without the number.
    fn disk_of(&self, partition: &str) -> Option<String> {
        let place = self.find(&format!("sys/class/block/{partition}"))?;
        let above = place.parent()?.file_name()?.to_str()?.to_owned();
        let all = self.names("sys/class/block");
        if all.contains(&above) {
            return Some(above);
        }
        let bare = partition.trim_end_matches(|c: char| c.is_ascii_digit());
        let bare = match bare.strip_suffix('p') {
            Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
            _ => bare,
        };
        all.into_iter().find(|d| d == bare && d != partition)
    }
}
