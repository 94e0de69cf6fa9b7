//! NVMe controllers: those that `/sys` lists, and what `nvme id-ctrl -o json` says of one.

use super::tree::Tree;
use crate::program;
use lessee_accept::security::NvmeFacts;
use serde_json::Value;
use std::time::Duration;

const MOST_CONTROLLERS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(5);
const OUTPUT_MAX: u64 = 1 << 20;

pub(super) fn controllers(tree: &Tree) -> Vec<NvmeFacts> {
    let names = tree.names("sys/class/nvme").into_iter();
    names
        .take(MOST_CONTROLLERS)
        .map(|name| NvmeFacts {
            model: tree.line(&format!("sys/class/nvme/{name}/model")),
            name,
            ..NvmeFacts::default()
        })
        .collect()
}

/// `None`: not such an output.
pub fn parse(text: &str) -> Option<NvmeFacts> {
    let doc: Value = serde_json::from_str(text).ok()?;
    let number = |key: &str| doc.get(key).and_then(Value::as_u64);
    // no other listing has both
    number("oacs").and(number("fna"))?;
    Some(NvmeFacts {
        name: String::new(),
        model: doc
            .get("mn")
            .and_then(Value::as_str)
            .map(|m| m.trim().chars().take(80).collect()),
        sanicap: number("sanicap").and_then(|n| u32::try_from(n).ok()),
        fna: number("fna").and_then(|n| u8::try_from(n).ok()),
        oacs: number("oacs").and_then(|n| u16::try_from(n).ok()),
    })
}

/// Asks the program `nvme` of this machine, if it is there and may; else nothing is added.
pub(super) fn ask(facts: &mut NvmeFacts) {
    let device = format!("/dev/{}", facts.name);
    let args = ["id-ctrl", "-o", "json", device.as_str()];
    let Ok(bytes) = program::output("nvme", &args, PATIENCE, OUTPUT_MAX) else {
        return;
    };
    let text = String::from_utf8(bytes).ok();
    if let Some(found) = text.as_deref().and_then(parse) {
        *facts = NvmeFacts {
            name: facts.name.clone(),
            model: found.model.or(facts.model.take()),
            ..found
        };
    }
}
