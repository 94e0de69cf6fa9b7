//! The output of `lsblk -J`, with whatever columns it was asked for; `-o NAME,TYPE,FSTYPE,MOUNTPOINTS,MODEL` is enough.

use super::{keeps_data, worse};
use lessee_accept::security::{HostFacts, Layer, LayerKind, MountFacts, SwapFacts};
use serde_json::Value;

const DEEPEST: usize = 16;
const MOST_MOUNTS: usize = 200;

/// `None`: not such an output.
pub fn parse(text: &str) -> Option<HostFacts> {
    let doc: Value = serde_json::from_str(text).ok()?;
    let devices = doc.get("blockdevices")?.as_array()?;
    let mut facts = HostFacts::default();
    let mut swaps = Vec::new();
    for device in devices {
        node(device, &[], &mut facts.mounts, &mut swaps);
    }
    // swap files are not listed, so none that is shown does not mean none
    if !swaps.is_empty() {
        facts.swaps = Some(swaps);
    }
    // of a btrfs on several devices the mount stands under one of them alone
    let btrfs = |m: &&mut MountFacts| m.kind == "btrfs";
    let members: usize = devices.iter().map(|d| count(d, 0)).sum();
    if members > facts.mounts.iter_mut().filter(btrfs).count() {
        facts
            .mounts
            .iter_mut()
            .filter(btrfs)
            .for_each(|m| m.layers.clear());
    }
    Some(facts)
}

/// Devices with btrfs on them.
fn count(value: &Value, depth: usize) -> usize {
    if depth > DEEPEST {
        return 0;
    }
    let own = value.get("fstype").and_then(Value::as_str) == Some("btrfs");
    let below = value.get("children").and_then(Value::as_array);
    let below = below.into_iter().flatten().map(|c| count(c, depth + 1));
    usize::from(own) + below.sum::<usize>()
}

fn node(value: &Value, above: &[Layer], mounts: &mut Vec<MountFacts>, swaps: &mut Vec<SwapFacts>) {
    if above.len() > DEEPEST || mounts.len() > MOST_MOUNTS {
        return;
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::trim);
    let name = text("name").unwrap_or("?").to_owned();
    let kind = match text("type").unwrap_or("") {
        // whether LUKS1 or LUKS2 is not told
        "crypt" => LayerKind::Crypt("dm-crypt".to_owned()),
        "lvm" => LayerKind::Lvm,
        "part" => LayerKind::Partition,
        "loop" => LayerKind::Loop,
        "disk" if name.starts_with("zram") => LayerKind::Zram,
        "disk" => LayerKind::Disk,
        raid if raid.starts_with("raid") || raid.starts_with("md") => LayerKind::Raid,
        other => LayerKind::Other(other.to_owned()),
    };
    let own = Layer {
        name: name.clone(),
        kind,
        model: text("model").filter(|m| !m.is_empty()).map(str::to_owned),
    };
    let layers: Vec<Layer> = std::iter::once(own).chain(above.iter().cloned()).collect();
    let points = value.get("mountpoints").and_then(Value::as_array);
    let several = points.into_iter().flatten().filter_map(Value::as_str);
    let mut points: Vec<&str> = several.chain(text("mountpoint")).collect();
    points.sort_by_key(|p| p.len());
    if points.contains(&"[SWAP]") {
        swaps.push(SwapFacts {
            name: name.clone(),
            layers: layers.clone(),
        });
    } else if let Some(target) = points.first() {
        // a device on several others stands once under each
        match mounts.iter_mut().find(|m| m.target == *target) {
            Some(known) => {
                known.layers = worse(std::mem::take(&mut known.layers), layers.clone());
            }
            None => {
                let mount = MountFacts {
                    target: (*target).to_owned(),
                    kind: text("fstype").unwrap_or("").to_owned(),
                    source: name,
                    options: String::new(),
                    layers: layers.clone(),
                };
                if keeps_data(&mount) {
                    mounts.push(mount);
                }
            }
        }
    }
    for child in value
        .get("children")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        node(child, &layers, mounts, swaps);
    }
}
