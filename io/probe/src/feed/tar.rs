//! Where the members of a tar shard (WebDataset) lie: names, offsets and lengths, so that samples are read by range.
//!
//! Reads headers only: ustar, GNU long names (`L`), pax paths (`x`), base-256 sizes. Not an unpacker: nothing is ever
//! written, and links, devices and sparse files are passed over. A header that does not add up ends the shard there, with
//! the reason; what was found before stays.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const BLOCK: u64 = 512;
/// Long names and pax headers above this are not names.
const NAME_MAX: u64 = 64 * 1024;

#[derive(Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// All regular members, at most `limit`, and why the shard ended early, if it did.
pub(super) fn members(file: &File, limit: usize) -> io::Result<(Vec<Member>, Option<String>)> {
    let end = file.metadata()?.len();
    let mut found = Vec::new();
    let mut at = 0u64;
    let mut long_name: Option<String> = None;
    let mut block = [0u8; BLOCK as usize];
    while at + BLOCK <= end && found.len() < limit {
        file.read_exact_at(&mut block, at)?;
        if block.iter().all(|b| *b == 0) {
            return Ok((found, None));
        }
        if !checksum_fits(&block) {
            return Ok((found, Some(format!("no tar header at byte {at}"))));
        }
        let Some(len) = number(&block[124..136]) else {
            return Ok((found, Some(format!("no size in the header at byte {at}"))));
        };
        let data = at + BLOCK;
        let Some(next) = len
            .checked_next_multiple_of(BLOCK)
            .and_then(|padded| padded.checked_add(data))
        else {
            return Ok((found, Some(format!("size {len} at byte {at}"))));
        };
        if data.saturating_add(len) > end {
            return Ok((found, Some(format!("cut off in the member at byte {at}"))));
        }
        match block[156] {
            kind @ (b'L' | b'x') if len <= NAME_MAX => {
                let mut text = vec![0; len as usize];
                file.read_exact_at(&mut text, data)?;
                long_name = if kind == b'L' {
                    Some(until_nul(&text))
                } else {
                    pax_path(&text).or(long_name)
                };
            }
            b'0' | 0 | b'7' => {
                let name = long_name.take().unwrap_or_else(|| plain_name(&block));
                found.push(Member {
                    name,
                    offset: data,
                    len,
                });
            }
            _ => long_name = None,
        }
        at = next;
    }
    Ok((found, None))
}

/// The sum of all bytes with the checksum field as blanks; some old writers summed signed bytes.
fn checksum_fits(block: &[u8; 512]) -> bool {
    let Some(stated) = number(&block[148..156]) else {
        return false;
    };
    let summed = |signed: bool| -> i64 {
        let value = |(i, b): (usize, &u8)| match (148..156).contains(&i) {
            true => i64::from(b' '),
            false if signed => i64::from(*b as i8),
            false => i64::from(*b),
        };
        block.iter().enumerate().map(value).sum()
    };
    i64::try_from(stated).is_ok_and(|s| s == summed(false) || s == summed(true))
}

/// Octal, ended by NUL or blank; or base 256 when the first bit is set.
fn number(field: &[u8]) -> Option<u64> {
    if field.first()? & 0x80 != 0 {
        let mut value = u64::from(field[0] & 0x7f);
        for byte in &field[1..] {
            value = value.checked_mul(256)?.checked_add(u64::from(*byte))?;
        }
        return Some(value);
    }
    let text = std::str::from_utf8(field).ok()?;
    let text = text.trim_matches(|c| c == ' ' || c == '\0');
    match text {
        "" => Some(0),
        _ => u64::from_str_radix(text, 8).ok(),
    }
}

fn plain_name(block: &[u8; 512]) -> String {
    let name = until_nul(&block[..100]);
    let prefix = match block[257..].starts_with(b"ustar\0") {
        true => until_nul(&block[345..500]),
        false => String::new(),
    };
    match prefix.is_empty() {
        true => name,
        false => format!("{prefix}/{name}"),
    }
}

fn until_nul(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// `LEN path=NAME\n` among pax records.
fn pax_path(text: &[u8]) -> Option<String> {
    String::from_utf8_lossy(text)
        .lines()
        .find_map(|line| Some(line.split_once(' ')?.1.strip_prefix("path=")?.to_owned()))
}

/// A tar of these members, for tests and generated shards.
#[cfg(test)]
pub(super) fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, data) in members {
        let mut block = [0u8; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
        block[148..156].fill(b' ');
        block[156] = b'0';
        block[257..263].copy_from_slice(b"ustar\0");
        let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        out.extend_from_slice(&block);
        out.extend_from_slice(data);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn found(bytes: &[u8]) -> (Vec<Member>, Option<String>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        members(&file, 100).unwrap()
    }

    #[test]
    fn members_are_found_by_range() {
        let tar = tar_of(&[("a.jpg", b"abc"), ("a.cls", b"7")]);
        let (members, ended) = found(&tar);
        assert_eq!(ended, None);
        let told: Vec<_> = members.iter().map(|m| (m.name.as_str(), m.len)).collect();
        assert_eq!(told, [("a.jpg", 3), ("a.cls", 1)]);
        assert_eq!(
            &tar[members[0].offset as usize..][..3],
            b"abc",
            "the range is the member"
        );
    }

    #[test]
    fn a_cut_or_broken_shard_keeps_what_was_found() {
        let tar = tar_of(&[("a.jpg", b"abc"), ("b.jpg", &[1; 2000])]);
        let (members, ended) = found(&tar[..2048]);
        assert_eq!(members.len(), 1);
        assert!(ended.unwrap().contains("cut off"));
        let mut broken = tar.clone();
        broken[1024 + 3] ^= 1;
        let (members, ended) = found(&broken);
        assert_eq!((members.len(), ended.is_some()), (1, true));
        assert_eq!(found(b"").0.len(), 0);
        assert!(found(&[b'x'; 5000]).1.is_some());
    }

    #[test]
    fn sizes_beyond_the_end_of_numbers_are_refused() {
        assert_eq!(number(&[0xff; 12]), None);
        assert_eq!(number(b"0000017\0"), Some(15));
        assert_eq!(number(b"9\0"), None);
        assert_eq!(number(&[0x80, 0, 0, 1, 0]), Some(256));
        assert_eq!(pax_path(b"20 path=long/name\n"), Some("long/name".into()));
    }
}
