//! What a machine shows of encryption at rest: what lies under its mounted file systems, its swap, its network mounts, and what
//! its NVMe controllers can do to erase themselves.
//!
//! The encryption of a cloud's volumes is done below the guest and cannot be seen there: where no layer of encryption is seen,
//! the answer is a question, never a failure. No block is read: what former tenants left is none of our business.

use super::{Judged, Security};
use crate::finding::{Check, Finding, Verdict};
use lessee_model::Msg;
use serde::Serialize;

/// A machine as far as it shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostFacts {
    /// Mounted file systems that keep data; those in memory and of the kernel left out.
    pub mounts: Vec<MountFacts>,
    /// `None`: the list of swaps is not there.
    pub swaps: Option<Vec<SwapFacts>>,
    pub nvme: Vec<NvmeFacts>,
    /// The root is that of a container.
    pub container: bool,
    /// What could not be read.
    pub missing: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MountFacts {
    pub target: String,
    pub kind: String,
    /// Device or share.
    pub source: String,
    pub options: String,
    /// From the file system down to the disk; empty where the device is not to be seen.
    pub layers: Vec<Layer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    pub name: String,
    #[serde(flatten)]
    pub kind: LayerKind,
    pub model: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "format", rename_all = "snake_case")]
pub enum LayerKind {
    /// dm-crypt: `LUKS1`, `LUKS2`, `PLAIN`, `BITLK`, ...
    Crypt(String),
    Lvm,
    Raid,
    Partition,
    Loop,
    Zram,
    Disk,
    Other(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SwapFacts {
    pub name: String,
    /// Under it; of a file the layers of its file system.
    pub layers: Vec<Layer>,
}

/// What a controller says it can do (NVMe base specification, Identify Controller).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NvmeFacts {
    pub name: String,
    pub model: Option<String>,
    /// Sanitize Capabilities: bit 0 crypto erase, bit 1 block erase, bit 2 overwrite.
    pub sanicap: Option<u32>,
    /// Format NVM Attributes: bit 2 crypto erase by format.
    pub fna: Option<u8>,
    /// Optional Admin Command Support: bit 0 security send and receive, which Opal needs.
    pub oacs: Option<u16>,
}

/// Judges what a machine shows.
pub fn host(book: &Security, subject: &str, facts: &HostFacts) -> Vec<Finding> {
    let mut judged = Judged::new(book, subject);
    if facts.container {
        let msg = Msg::new("accept-disk-container");
        let ask = Msg::new("accept-ask-at-rest");
        judged.ask("disk-encryption", Verdict::Unknown, msg, ask);
    }
    let disks: Vec<&MountFacts> = facts
        .mounts
        .iter()
        .filter(|m| !is_network(book, m))
        .collect();
    if disks.is_empty() && !facts.container {
        let missing = match facts.missing.is_empty() {
            true => "-".to_owned(),
            false => super::list(&facts.missing),
        };
        let msg = Msg::new("accept-disk-none").arg("missing", missing);
        let ask = Msg::new("accept-ask-lsblk");
        judged.ask("disk-encryption", Verdict::Unknown, msg, ask);
    }
    for mount in &disks {
        judged.subject = format!("{subject} {}", mount.target);
        at_rest(&mut judged, mount);
    }
    for mount in facts.mounts.iter().filter(|m| is_network(book, m)) {
        judged.subject = format!("{subject} {}", mount.target);
        at_rest(&mut judged, mount);
        over_network(&mut judged, mount);
    }
    judged.subject = format!("{subject} swap");
    swap(&mut judged, facts, &disks);
    // to throw away the key of dm-crypt erases as well as the controller could
    let own_key = !disks.is_empty() && disks.iter().all(|m| crypt(&m.layers).is_some());
    for nvme in &facts.nvme {
        judged.subject = format!("{subject} {}", nvme.name);
        erase(&mut judged, nvme, own_key);
    }
    judged.findings
}

fn is_network(book: &Security, mount: &MountFacts) -> bool {
    book.network(&mount.kind).is_some()
}

fn crypt(layers: &[Layer]) -> Option<(&str, &str)> {
    layers.iter().find_map(|l| match &l.kind {
        LayerKind::Crypt(format) => Some((l.name.as_str(), format.as_str())),
        _ => None,
    })
}

fn at_rest(judged: &mut Judged<'_>, mount: &MountFacts) {
    let rule = "disk-encryption";
    if let Some((name, format)) = crypt(&mount.layers) {
        let msg = Msg::new("accept-disk-crypt")
            .arg("name", name)
            .arg("format", format);
        judged.say(rule, Verdict::Pass, msg);
        return;
    }
    let ask = Msg::new("accept-ask-at-rest");
    let msg = match mount.layers.last() {
        None => Msg::new("accept-disk-unseen")
            .arg("source", mount.source.as_str())
            .arg("kind", mount.kind.as_str()),
        Some(disk) => {
            let model = disk.model.as_deref().unwrap_or("-");
            Msg::new("accept-disk-plain")
                .arg("disk", disk.name.as_str())
                .arg("model", model)
        }
    };
    judged.ask(rule, Verdict::Unknown, msg, ask);
}

fn over_network(judged: &mut Judged<'_>, mount: &MountFacts) {
    let Some(known) = judged.book.network(&mount.kind) else {
        return;
    };
    let has = |options: &[String]| {
        let mut given = mount.options.split(',');
        options.iter().any(|o| o == "*") || given.any(|g| options.iter().any(|o| o == g))
    };
    let (verdict, id) = match () {
        () if has(&known.broken_by) => (Verdict::Fail, "accept-net-broken"),
        () if has(&known.encrypted_by) => (Verdict::Pass, "accept-net-encrypted"),
        () if known.plain => (Verdict::Warn, "accept-net-plain"),
        () => (Verdict::Unknown, "accept-net-unseen"),
    };
    let msg = Msg::new(id)
        .arg("kind", mount.kind.as_str())
        .arg("source", mount.source.as_str());
    let check = Check::new("net-mount", verdict, msg).from(&known.origin);
    judged.check(match verdict {
        Verdict::Pass => check,
        _ => check.asking(Msg::new("accept-ask-net-mount")),
    });
}

fn swap(judged: &mut Judged<'_>, facts: &HostFacts, disks: &[&MountFacts]) {
    let rule = "swap-encryption";
    let Some(swaps) = &facts.swaps else {
        // where nothing is mounted the tables are not there at all, and that is said with the disks
        if !disks.is_empty() || facts.container {
            let ask = Msg::new("accept-ask-swap-list");
            judged.ask(rule, Verdict::Unknown, Msg::new("accept-swap-unseen"), ask);
        }
        return;
    };
    if swaps.is_empty() {
        judged.say(rule, Verdict::Pass, Msg::new("accept-swap-none"));
        return;
    }
    let safe = |s: &SwapFacts| {
        let memory = s.layers.iter().any(|l| l.kind == LayerKind::Zram);
        memory || crypt(&s.layers).is_some()
    };
    let Some(plain) = swaps.iter().find(|s| !safe(s)) else {
        judged.say(rule, Verdict::Pass, Msg::new("accept-swap-crypt"));
        return;
    };
    let name = plain.name.as_str();
    // who encrypts the data himself does not want it, nor its key, on a disk in the clear
    if disks.iter().any(|m| crypt(&m.layers).is_some()) {
        let msg = Msg::new("accept-swap-leak").arg("name", name);
        let ask = Msg::new("accept-ask-swap");
        judged.ask(rule, Verdict::Fail, msg, ask);
    } else {
        let msg = Msg::new("accept-swap-plain").arg("name", name);
        let ask = Msg::new("accept-ask-at-rest");
        judged.ask(rule, Verdict::Unknown, msg, ask);
    }
}

fn erase(judged: &mut Judged<'_>, nvme: &NvmeFacts, own_key: bool) {
    let rule = "disk-erase";
    let model = nvme.model.as_deref().unwrap_or("-");
    let msg = |id: &'static str| Msg::new(id).arg("model", model);
    let bit = |bits: u32, n: u32| bits >> n & 1 == 1;
    let ask = || Msg::new("accept-ask-erase");
    let crypto =
        nvme.sanicap.is_some_and(|b| bit(b, 0)) || nvme.fna.is_some_and(|b| bit(u32::from(b), 2));
    match (nvme.sanicap, nvme.fna) {
        _ if crypto => judged.ask(rule, Verdict::Pass, msg("accept-nvme-crypto"), ask()),
        (Some(b), _) if bit(b, 1) || bit(b, 2) => {
            judged.ask(rule, Verdict::Pass, msg("accept-nvme-sanitize"), ask());
        }
        _ if own_key => judged.say(rule, Verdict::Pass, msg("accept-nvme-own-key")),
        (None, None) => judged.ask(rule, Verdict::Unknown, msg("accept-nvme-unseen"), ask()),
        _ => judged.ask(rule, Verdict::Unknown, msg("accept-nvme-none"), ask()),
    }
    // a capability and no more: whether a key is set is not to be seen from here
    if nvme.oacs.is_some_and(|b| bit(u32::from(b), 0)) {
        judged.say("disk-opal", Verdict::Pass, msg("accept-nvme-opal"));
    }
}
