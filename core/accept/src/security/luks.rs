//! What a LUKS header says: the cipher, and what guards the key.

use super::tables::Strength;
use super::{Judged, Security, list};
use crate::finding::{Finding, Verdict};
use lessee_model::Msg;
use serde::Serialize;

/// What was read of a file or device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "read", content = "content", rename_all = "snake_case")]
pub enum LuksRead {
    Header(LuksFacts),
    /// No header at its place.
    NotLuks,
    /// It begins like one and cannot be read to its end.
    Broken(String),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LuksFacts {
    pub version: u16,
    pub uuid: String,
    /// As the kernel writes it, `aes-xts-plain64`; of several segments each once.
    pub ciphers: Vec<String>,
    /// Of the volume key; of XTS both halves.
    pub key_bits: Option<u32>,
    pub slots: Vec<LuksSlot>,
    /// Whether the header's own checksum is right; LUKS1 has none.
    pub checksum: Option<bool>,
    /// The first copy is damaged, this is the second.
    pub second_copy: bool,
    /// Names of unfinished work: `offline-reencrypt`, `online-reencrypt-v2`.
    pub requirements: Vec<String>,
    /// What opens the volume without a passphrase: `systemd-tpm2`, `clevis`, ...
    pub tokens: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LuksSlot {
    pub number: u32,
    /// `pbkdf2`, `argon2i`, `argon2id`
    pub kdf: String,
    /// Iterations of PBKDF2, passes of Argon2.
    pub iterations: u64,
    pub memory_kib: Option<u64>,
}

/// Judges a header.
pub fn luks(book: &Security, subject: &str, read: &LuksRead) -> Vec<Finding> {
    let mut judged = Judged::new(book, subject);
    let ask = || Msg::new("accept-ask-luks");
    match read {
        LuksRead::Header(facts) => header(&mut judged, facts),
        LuksRead::NotLuks => {
            let msg = Msg::new("accept-luks-not");
            judged.ask("luks-header", Verdict::Unknown, msg, ask());
        }
        LuksRead::Broken(detail) => {
            let msg = Msg::new("accept-luks-broken").arg("detail", detail.as_str());
            judged.ask("luks-header", Verdict::Unknown, msg, ask());
        }
    }
    judged.findings
}

fn header(judged: &mut Judged<'_>, facts: &LuksFacts) {
    let rule = "luks-header";
    let version = facts.version.to_string();
    let msg = |id: &'static str| {
        Msg::new(id)
            .arg("version", version.as_str())
            .arg("uuid", facts.uuid.as_str())
    };
    let ask = || Msg::new("accept-ask-luks");
    if facts.checksum == Some(false) {
        let msg = msg("accept-luks-checksum");
        judged.ask(rule, Verdict::Unknown, msg, ask());
    } else if !facts.requirements.is_empty() {
        let msg = msg("accept-luks-unfinished").arg("list", list(&facts.requirements));
        judged.ask(rule, Verdict::Warn, msg, ask());
    } else if facts.second_copy {
        let msg = msg("accept-luks-second");
        judged.ask(rule, Verdict::Warn, msg, ask());
    } else {
        judged.say(rule, Verdict::Pass, msg("accept-luks-header"));
    }
    cipher(judged, facts);
    slots(judged, facts);
    derivation(judged, facts);
}

fn cipher(judged: &mut Judged<'_>, facts: &LuksFacts) {
    let rule = "luks-cipher";
    let book = judged.book;
    let bits = facts
        .key_bits
        .map_or_else(|| "-".to_owned(), |b| b.to_string());
    let msg = |id: &'static str| {
        Msg::new(id)
            .arg("list", list(&facts.ciphers))
            .arg("bits", bits.as_str())
    };
    let ask = || Msg::new("accept-ask-luks");
    let all: Vec<_> = facts
        .ciphers
        .iter()
        .map(|c| book.strength("disk-cipher", c))
        .collect();
    // XTS takes two keys: 256 bits are AES-128
    let short = facts
        .key_bits
        .is_some_and(|b| f64::from(b) < book.limit(rule));
    if all.contains(&Some(Strength::Broken)) || short {
        judged.ask(rule, Verdict::Fail, msg("accept-luks-cipher-broken"), ask());
    } else if all.is_empty() || all.contains(&None) {
        let msg = msg("accept-luks-cipher-strange");
        judged.ask(rule, Verdict::Unknown, msg, ask());
    } else if all.contains(&Some(Strength::Weak)) {
        judged.ask(rule, Verdict::Warn, msg("accept-luks-cipher-weak"), ask());
    } else {
        judged.say(rule, Verdict::Pass, msg("accept-luks-cipher"));
    }
}

/// Whoever holds one of the key slots reads the volume, so more than one is a question to whoever made it.
fn slots(judged: &mut Judged<'_>, facts: &LuksFacts) {
    let rule = "luks-slots";
    let n = facts.slots.len();
    let tokens = match facts.tokens.is_empty() {
        true => "-".to_owned(),
        false => list(&facts.tokens),
    };
    let msg = |id: &'static str| Msg::new(id).arg("n", n).arg("tokens", tokens.as_str());
    let ask = || Msg::new("accept-ask-luks-slots");
    match (n, facts.tokens.is_empty()) {
        (0, _) => judged.ask(rule, Verdict::Unknown, msg("accept-luks-no-slot"), ask()),
        (1, true) => judged.say(rule, Verdict::Pass, msg("accept-luks-slot")),
        _ => judged.ask(rule, Verdict::Warn, msg("accept-luks-slots"), ask()),
    }
}

fn derivation(judged: &mut Judged<'_>, facts: &LuksFacts) {
    let rule = "luks-kdf";
    let book = judged.book;
    let least = book.limit(rule);
    let argon = |slot: &LuksSlot| {
        let Some(memory) = slot.memory_kib.map(|m| m as f64) else {
            return Verdict::Unknown;
        };
        let few = (slot.iterations as f64) < book.limit("luks-argon-passes");
        if memory < book.limit("luks-argon-least") {
            Verdict::Fail
        } else if few || memory < book.limit("luks-argon-memory") {
            Verdict::Warn
        } else {
            Verdict::Pass
        }
    };
    let ask = || Msg::new("accept-ask-luks");
    let mut worst: Option<(Verdict, &LuksSlot)> = None;
    for slot in &facts.slots {
        let verdict = match book.strength("kdf", &slot.kdf) {
            Some(Strength::Good) => argon(slot),
            Some(Strength::Weak) if (slot.iterations as f64) < least => Verdict::Fail,
            Some(Strength::Weak) => Verdict::Warn,
            Some(Strength::Broken) => Verdict::Fail,
            Some(Strength::Marker) | None => Verdict::Unknown,
        };
        if worst.is_none_or(|(known, _)| verdict > known) {
            worst = Some((verdict, slot));
        }
    }
    let Some((verdict, slot)) = worst else {
        return; // no slot: said above
    };
    let memory = match slot.memory_kib {
        Some(kib) => kib.to_string(),
        None => "-".to_owned(),
    };
    let msg = |id: &'static str| {
        Msg::new(id)
            .arg("slot", slot.number.to_string())
            .arg("kdf", slot.kdf.as_str())
            .arg("iterations", slot.iterations as f64)
            .arg("memory", memory.as_str())
    };
    match verdict {
        Verdict::Pass => judged.say(rule, verdict, msg("accept-luks-kdf")),
        Verdict::Warn if slot.memory_kib.is_some() => {
            judged.ask(rule, verdict, msg("accept-luks-argon-low"), ask());
        }
        Verdict::Warn => judged.ask(rule, verdict, msg("accept-luks-kdf-weak"), ask()),
        Verdict::Fail if slot.memory_kib.is_some() => {
            judged.ask(rule, verdict, msg("accept-luks-argon-short"), ask());
        }
        Verdict::Fail => judged.ask(rule, verdict, msg("accept-luks-kdf-short"), ask()),
        Verdict::Unknown => judged.ask(rule, verdict, msg("accept-luks-kdf-strange"), ask()),
    }
}
