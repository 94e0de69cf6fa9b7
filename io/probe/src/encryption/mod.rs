//! Encryption at rest as far as a machine shows it: what lies under its mounted file systems and its swap, what LUKS headers
//! say, what NVMe controllers can erase.
//!
//! The machine is this one, or a folder with what was recorded of another: its `/proc` and `/sys`, a mounted root, or the
//! output of `lsblk -J` and `nvme id-ctrl -o json`. Only tables of the kernel and headers are read, never a block of data.
//! Start at [`live`], [`recorded`] and [`luks::read`]. What it is worth: `core/accept`.

mod lsblk;
pub mod luks;
mod mounts;
mod nvme;
mod tree;

pub use lsblk::parse as parse_lsblk;
pub use nvme::parse as parse_nvme;

use lessee_accept::security::{HostFacts, LayerKind, MountFacts};
use std::io::Read;
use std::path::{Path, PathBuf};
use tree::Tree;

/// Tables and listings are far below.
const TEXT_MAX: u64 = 8 << 20;
const MOST_FILES: usize = 200;

/// This machine.
pub fn live() -> HostFacts {
    let mut facts = of_tree(Path::new("/"));
    for nvme in &mut facts.nvme {
        nvme::ask(nvme);
    }
    facts
}

/// A machine of which a folder was recorded, or a file with the output of `lsblk -J`.
///
/// # Errors
/// The folder or file cannot be read at all.
pub fn recorded(path: &Path) -> std::io::Result<HostFacts> {
    if path.is_file() {
        let mut facts = HostFacts::default();
        listing(&mut facts, &text(path)?, &path.display().to_string());
        return Ok(facts);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)?
        .take(MOST_FILES)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|p| p.is_file() && p.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    let mut facts = of_tree(path);
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match text(&file) {
            Ok(text) => listing(&mut facts, &text, &name),
            Err(e) => facts.missing.push(format!("{name}: {e}")),
        }
    }
    Ok(facts)
}

/// A listing in JSON, whichever it is. The kernel's own tables, where they are there, come first.
fn listing(facts: &mut HostFacts, text: &str, name: &str) {
    if let Some(found) = lsblk::parse(text) {
        if facts.mounts.is_empty() {
            facts.mounts = found.mounts;
        }
        if facts.swaps.is_none() {
            facts.swaps = found.swaps;
        }
    } else if let Some(mut found) = nvme::parse(text) {
        found.name = name.strip_suffix(".json").unwrap_or(name).to_owned();
        match facts
            .nvme
            .iter_mut()
            .find(|n| found.name.ends_with(&n.name))
        {
            Some(known) => *known = found,
            None => facts.nvme.push(found),
        }
    } else {
        facts
            .missing
            .push(format!("{name}: neither lsblk nor nvme"));
    }
}

fn of_tree(root: &Path) -> HostFacts {
    let mut facts = HostFacts::default();
    let Some(tree) = Tree::at(root) else {
        facts.missing.push(root.display().to_string());
        return facts;
    };
    match mounts::table(&tree) {
        Some(table) => {
            facts.container = table.container;
            facts.mounts = table.mounts;
        }
        None => facts
            .missing
            .push("/proc/self/mountinfo, /proc/mounts".to_owned()),
    }
    match mounts::swaps(&tree) {
        Some(swaps) => facts.swaps = Some(swaps),
        None => facts.missing.push("/proc/swaps".to_owned()),
    }
    if facts.mounts.is_empty() && !facts.container {
        mounts::from_etc(&tree, &mut facts);
    }
    facts.nvme = nvme::controllers(&tree);
    facts
}

/// Of two ways down from a file system to a disk the one without encryption decides.
fn worse(
    a: Vec<lessee_accept::security::Layer>,
    b: Vec<lessee_accept::security::Layer>,
) -> Vec<lessee_accept::security::Layer> {
    let crypt = |layers: &[lessee_accept::security::Layer]| {
        layers.iter().any(|l| matches!(l.kind, LayerKind::Crypt(_)))
    };
    match crypt(&a) && !crypt(&b) && !b.is_empty() {
        true => b,
        false => a,
    }
}

/// Kernel and memory file systems, and places that hold no data of the user.
fn keeps_data(mount: &MountFacts) -> bool {
    const IN_MEMORY: &[&str] = &[
        "autofs",
        "bdev",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fusectl",
        "hugetlbfs",
        "iso9660",
        "mqueue",
        "none",
        "nsfs",
        "proc",
        "pstore",
        "ramfs",
        "rootfs",
        "rpc_pipefs",
        "securityfs",
        "selinuxfs",
        "squashfs",
        "swap",
        "sysfs",
        "tmpfs",
        "tracefs",
    ];
    const OF_THE_SYSTEM: &[&str] = &["/boot", "/efi", "/snap"];
    let below = |top: &&&str| {
        let rest = mount.target.strip_prefix(**top);
        rest.is_some_and(|r| r.is_empty() || r.starts_with('/'))
    };
    let service = mount.kind.starts_with("fuse.lxcfs") || mount.kind.starts_with("fuse.gvfs");
    !IN_MEMORY.contains(&mount.kind.as_str())
        && !service
        && OF_THE_SYSTEM.iter().find(below).is_none()
}

fn text(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let file = crate::open_regular(path)?;
    file.take(TEXT_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
