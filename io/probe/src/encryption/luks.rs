//! The header of a LUKS volume, versions 1 and 2, as the on-disk format specifications of cryptsetup have them. Key material
//! is not read.

use lessee_accept::security::{LuksFacts, LuksRead, LuksSlot};
use serde_json::Value;
use sha2::{Digest, Sha256, Sha512};
use std::io::Read;
use std::path::Path;

/// A header of version 2 is at most 4 MiB, and there are two of them.
pub const READ_MAX: u64 = 8 << 20;

const MAGIC: &[u8; 6] = b"LUKS\xba\xbe";
const SECOND_MAGIC: &[u8; 6] = b"SKUL\xba\xbe";
const V1_SIZE: usize = 592;
const V1_ACTIVE: u32 = 0x00ac_71f3;
const V2_BINARY: usize = 4096;
/// Where a second header may begin: the sizes that the specification allows for the first.
const V2_SIZES: [usize; 9] = [
    0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000,
];
const MOST_SLOTS: usize = 64;
const LONGEST: usize = 100;

/// Reads the header of a file or device.
///
/// # Errors
/// It is neither a regular file nor a block device, or cannot be read.
pub fn read(path: &Path) -> std::io::Result<LuksRead> {
    let mut bytes = Vec::new();
    crate::regular::open(path, true)?
        .take(READ_MAX)
        .read_to_end(&mut bytes)?;
    Ok(parse(&bytes))
}

/// Reads the header that bytes begin with.
pub fn parse(bytes: &[u8]) -> LuksRead {
    let first = match header(bytes, MAGIC) {
        Some(Ok(facts)) if facts.checksum != Some(false) => return LuksRead::Header(facts),
        other => other,
    };
    // the first copy is damaged: the second may not be
    for at in V2_SIZES {
        let copy = bytes.get(at..).and_then(|b| header(b, SECOND_MAGIC));
        if let Some(Ok(facts)) = copy
            && facts.checksum == Some(true)
        {
            return LuksRead::Header(LuksFacts {
                second_copy: true,
                ..facts
            });
        }
    }
    match first {
        Some(Ok(facts)) => LuksRead::Header(facts),
        Some(Err(what)) => LuksRead::Broken(what.to_owned()),
        None => LuksRead::NotLuks,
    }
}

fn header(bytes: &[u8], magic: &[u8; 6]) -> Option<Result<LuksFacts, &'static str>> {
    let rest = bytes.strip_prefix(magic)?;
    Some(
        match rest.first_chunk::<2>().map(|v| u16::from_be_bytes(*v)) {
            Some(1) => first_version(bytes).ok_or("the header ends early"),
            Some(2) => second_version(bytes),
            Some(_) => Err("a version of LUKS that is not known"),
            None => Err("the header ends early"),
        },
    )
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*four))
}

/// A text that zeros fill up.
fn text_at(bytes: &[u8], at: usize, length: usize) -> Option<String> {
    let field = bytes.get(at..at.checked_add(length)?)?;
    let end = field.iter().position(|b| *b == 0).unwrap_or(length);
    let printable = |b: &u8| match b {
        b' '..=b'~' => char::from(*b),
        _ => '?',
    };
    Some(field[..end].iter().map(printable).collect())
}

fn first_version(bytes: &[u8]) -> Option<LuksFacts> {
    let bytes = bytes.get(..V1_SIZE)?;
    let mut slots = Vec::new();
    for number in 0..8 {
        let at = 208 + 48 * number as usize;
        if u32_at(bytes, at)? == V1_ACTIVE {
            slots.push(LuksSlot {
                number,
                kdf: "pbkdf2".to_owned(),
                iterations: u64::from(u32_at(bytes, at + 4)?),
                memory_kib: None,
            });
        }
    }
    let (cipher, mode) = (text_at(bytes, 8, 32)?, text_at(bytes, 40, 32)?);
    Some(LuksFacts {
        version: 1,
        uuid: text_at(bytes, 168, 40)?,
        ciphers: vec![format!("{cipher}-{mode}")],
        key_bits: u32_at(bytes, 108)?.checked_mul(8),
        slots,
        ..LuksFacts::default()
    })
}

fn second_version(bytes: &[u8]) -> Result<LuksFacts, &'static str> {
    let early = "the header ends early";
    let size = bytes.get(8..).and_then(|b| b.first_chunk::<8>());
    let size = u64::from_be_bytes(*size.ok_or(early)?);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if !V2_SIZES.contains(&size) {
        return Err("a header of impossible size");
    }
    let whole = bytes.get(..size).ok_or(early)?;
    let json = &whole[V2_BINARY..];
    let end = json.iter().position(|b| *b == 0).unwrap_or(json.len());
    let wrong = "its JSON cannot be read";
    let doc: Value = serde_json::from_slice(&json[..end]).map_err(|_| wrong)?;
    let mut facts = metadata(&doc).ok_or(wrong)?;
    facts.version = 2;
    facts.uuid = text_at(whole, 168, 40).ok_or(early)?;
    facts.checksum = checksum(whole);
    Ok(facts)
}

/// Over the whole header with the checksum's own place zeroed; `None` for an algorithm that is not known here.
fn checksum(whole: &[u8]) -> Option<bool> {
    let algorithm = text_at(whole, 72, 32)?;
    let stated = whole.get(448..512)?;
    let mut zeroed = whole.to_vec();
    zeroed.get_mut(448..512)?.fill(0);
    let computed = match algorithm.as_str() {
        "sha256" => Sha256::digest(&zeroed).to_vec(),
        "sha512" => Sha512::digest(&zeroed).to_vec(),
        _ => return None,
    };
    Some(stated.starts_with(&computed))
}

fn short(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?;
    Some(text.chars().take(LONGEST).collect())
}

fn metadata(doc: &Value) -> Option<LuksFacts> {
    let object = |key: &str| doc.get(key).and_then(Value::as_object);
    let mut facts = LuksFacts::default();
    let add = |list: &mut Vec<String>, text: String| {
        if !list.contains(&text) && list.len() < MOST_SLOTS {
            list.push(text);
        }
    };
    for segment in object("segments")?.values() {
        let flags = segment.get("flags").and_then(Value::as_array);
        let flag = |f: &Value| f.as_str().is_some_and(|f| f.starts_with("backup-"));
        if flags.is_some_and(|f| f.iter().any(flag)) {
            continue;
        }
        // `linear` is a part that is not encrypted (yet)
        let cipher = short(segment.get("encryption")).or_else(|| short(segment.get("type")));
        add(&mut facts.ciphers, cipher.unwrap_or_default());
    }
    // a slot that no digest binds to a segment opens nothing
    let bound: Vec<&str> = object("digests")
        .into_iter()
        .flat_map(|d| d.values())
        .filter(|d| {
            let segments = d.get("segments").and_then(Value::as_array);
            segments.is_some_and(|s| !s.is_empty())
        })
        .filter_map(|d| d.get("keyslots").and_then(Value::as_array))
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (number, slot) in object("keyslots")? {
        let of_volume = slot.get("type").and_then(Value::as_str) == Some("luks2");
        if !of_volume || !bound.contains(&number.as_str()) || facts.slots.len() >= MOST_SLOTS {
            continue;
        }
        let kdf = slot.get("kdf");
        let figure = |key: &str| kdf.and_then(|k| k.get(key)).and_then(Value::as_u64);
        facts.slots.push(LuksSlot {
            number: number.parse().unwrap_or(u32::MAX),
            kdf: short(kdf.and_then(|k| k.get("type"))).unwrap_or_default(),
            iterations: figure("iterations").or(figure("time")).unwrap_or(0),
            memory_kib: figure("memory"),
        });
        let bits = slot.get("key_size").and_then(Value::as_u64);
        let bits = bits.and_then(|b| u32::try_from(b.checked_mul(8)?).ok());
        facts.key_bits = match (facts.key_bits, bits) {
            (Some(known), Some(bits)) => Some(known.min(bits)),
            (known, bits) => known.or(bits),
        };
    }
    facts.slots.sort_by_key(|s| s.number);
    for token in object("tokens").into_iter().flat_map(|t| t.values()) {
        add(
            &mut facts.tokens,
            short(token.get("type")).unwrap_or_default(),
        );
    }
    let needed = doc.pointer("/config/requirements/mandatory");
    for name in needed.and_then(Value::as_array).into_iter().flatten() {
        add(
            &mut facts.requirements,
            short(Some(name)).unwrap_or_default(),
        );
    }
    Some(facts)
}
