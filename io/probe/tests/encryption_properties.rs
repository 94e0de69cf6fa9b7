//! The readers of headers and listings take any bytes: they end, they do not panic, and a damaged header never reads as whole.

use lessee_accept::security::LuksRead;
use lessee_probe_io::encryption::{luks, parse_lsblk, parse_nvme};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// A header of version 2, as small as it may be.
fn second_version(json: &str) -> Vec<u8> {
    let mut bytes = vec![0; 0x4000];
    bytes[..6].copy_from_slice(b"LUKS\xba\xbe");
    bytes[7] = 2;
    bytes[8..16].copy_from_slice(&0x4000u64.to_be_bytes());
    bytes[72..78].copy_from_slice(b"sha256");
    bytes[168..172].copy_from_slice(b"uuid");
    bytes[4096..4096 + json.len()].copy_from_slice(json.as_bytes());
    let sum = Sha256::digest(&bytes);
    bytes[448..480].copy_from_slice(&sum);
    bytes
}

const JSON: &str = r#"{"keyslots":{"0":{"type":"luks2","key_size":64,"kdf":{"type":"argon2id","time":4,"memory":32768,"cpus":1}},"1":{"type":"luks2","key_size":64,"kdf":{"type":"pbkdf2","iterations":1000}}},"segments":{"0":{"type":"crypt","encryption":"aes-xts-plain64"},"1":{"type":"crypt","encryption":"aes-ecb","flags":["backup-final"]}},"digests":{"0":{"keyslots":["0"],"segments":["0"]}},"tokens":{"0":{"type":"systemd-tpm2"}},"config":{"requirements":{"mandatory":["online-reencrypt"]}}}"#;

#[test]
fn a_header_is_read_and_slots_that_open_nothing_do_not_count() {
    let LuksRead::Header(facts) = luks::parse(&second_version(JSON)) else {
        panic!("not read");
    };
    assert_eq!(facts.checksum, Some(true));
    assert_eq!(facts.ciphers, ["aes-xts-plain64"]);
    assert_eq!(facts.key_bits, Some(512));
    assert_eq!(facts.slots.len(), 1);
    assert_eq!(facts.tokens, ["systemd-tpm2"]);
    assert_eq!(facts.requirements, ["online-reencrypt"]);
}

#[test]
fn json_without_end_and_numbers_without_bound() {
    let deep = "[".repeat(10_000);
    let large = JSON.replace("64,", "18446744073709551615,");
    for json in [
        &deep,
        &large,
        "",
        "{}",
        "[]",
        r#"{"segments":[],"keyslots":3}"#,
    ] {
        match luks::parse(&second_version(json)) {
            LuksRead::Broken(_) => {}
            LuksRead::Header(facts) => assert_eq!(facts.key_bits, None, "{json}"),
            LuksRead::NotLuks => panic!("{json}"),
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..6000), version in 0u8..4) {
        let _ = luks::parse(&bytes);
        let mut header = b"LUKS\xba\xbe\0".to_vec();
        header.push(version);
        header.extend(&bytes);
        let _ = luks::parse(&header);
    }

    #[test]
    fn a_changed_header_never_has_a_right_checksum(at in 0usize..0x4000, bit in 0u32..8) {
        let mut bytes = second_version(JSON);
        bytes[at] ^= 1 << bit;
        match luks::parse(&bytes) {
            // beyond the sum itself its place is padding
            LuksRead::Header(facts) if !(480..512).contains(&at) => {
                prop_assert_ne!(facts.checksum, Some(true), "byte {}", at);
            }
            _ => {}
        }
    }

    #[test]
    fn a_cut_header_is_none(end in 0usize..0x4000) {
        let bytes = second_version(JSON);
        let read = luks::parse(&bytes[..end]);
        prop_assert!(!matches!(read, LuksRead::Header(_)), "{:?}", read);
    }

    #[test]
    fn listings(text in "\\PC{0,200}", inner in "[\\[\\]{}\",:a-z0-9]{0,80}") {
        let _ = parse_lsblk(&text);
        let _ = parse_nvme(&text);
        let _ = parse_lsblk(&format!("{{\"blockdevices\":[{inner}]}}"));
    }
}
