//! The parsers of what a server says take any bytes: they end, they do not panic, and more bytes never turn an answer that was
//! complete into another one.

use lessee_accept::security::Unreached;
use lessee_endpoints::{Endpoint, http, ssh, tls};
use proptest::prelude::*;

/// Bytes that look like a protocol for a while.
fn nearly(starts: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let start = proptest::sample::select(starts);
    (start, proptest::collection::vec(any::<u8>(), 0..600)).prop_map(|(mut start, rest)| {
        start.extend(rest);
        start
    })
}

fn hello() -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([9; 32]);
    body.push(0);
    body.extend([0xc0, 0x2f, 0]);
    let mut message = vec![2, 0, 0, body.len() as u8];
    message.extend(&body);
    // one certificate of five bytes
    message.extend([11, 0, 0, 11, 0, 0, 8, 0, 0, 5, 1, 2, 3, 4, 5]);
    let mut record = vec![22, 3, 3, 0, message.len() as u8];
    record.extend(message);
    record
}

#[test]
fn a_hello_with_its_certificate_is_read_whole_and_in_parts() {
    let bytes = hello();
    let tls::Answer::Hello(whole) = tls::parse(&bytes) else {
        panic!("not read");
    };
    assert_eq!((whole.version, whole.suite), (0x0303, 0xc02f));
    assert_eq!(whole.certificates, Some(vec![vec![1, 2, 3, 4, 5]]));
    assert!(whole.complete);
    for end in 0..bytes.len() {
        assert_eq!(tls::parse(&bytes[..end]), tls::Answer::Part, "{end}");
    }
    // the same in records of one byte each
    let mut split = Vec::new();
    for byte in &bytes[5..] {
        split.extend([22, 3, 3, 0, 1, *byte]);
    }
    assert_eq!(tls::parse(&split), tls::Answer::Hello(whole));
}

proptest! {
    #[test]
    fn tls_answers(bytes in nearly(vec![
        vec![], hello(), vec![22, 3, 3, 0, 50, 2, 0, 0, 46, 3, 3], vec![21, 3, 1, 0, 2],
        b"HTTP/1.1 400".to_vec(), vec![22, 3, 3, 0x40, 0], vec![22, 3, 3, 0, 4, 11, 0, 0, 0],
    ])) {
        let whole = tls::parse(&bytes);
        for end in 0..bytes.len() {
            match tls::parse(&bytes[..end]) {
                tls::Answer::Part | tls::Answer::Hello(_) => {}
                // wrong stays wrong; what is found first may differ
                tls::Answer::Wrong(_) => prop_assert!(matches!(whole, tls::Answer::Wrong(_))),
                done => prop_assert_eq!(&done, &whole, "at {}", end),
            }
        }
    }

    #[test]
    fn a_hello_whose_bytes_were_changed(at in 0usize..64, byte: u8) {
        let mut bytes = hello();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = tls::parse(&bytes);
    }

    #[test]
    fn ssh_openings(bytes in nearly(vec![
        vec![], b"SSH-2.0-x\r\n".to_vec(), b"SSH-2.0-x\n\x00\x00\x01\x00\x04\x14".to_vec(),
        b"hello\nSSH-1.99-x\n\x00\x00\x00\x40\x04\x14".to_vec(), b"SSH-1.5-x\n".to_vec(),
    ])) {
        let whole = ssh::parse(&bytes);
        for end in 0..bytes.len() {
            match ssh::parse(&bytes[..end]) {
                ssh::Answer::Part(_) => {}
                ssh::Answer::Wrong(_) => prop_assert!(matches!(whole, ssh::Answer::Wrong(_))),
                done => prop_assert_eq!(&done, &whole, "at {}", end),
            }
        }
        if let ssh::Answer::Facts(facts) = whole {
            let all = [facts.kex, facts.host_keys, facts.ciphers, facts.macs].concat();
            prop_assert!(all.iter().all(|n| !n.is_empty() && n.is_ascii()));
            prop_assert!(!facts.banner.chars().any(char::is_control));
        }
    }

    #[test]
    fn heads_of_http(bytes in nearly(vec![vec![], b"HTTP/1.1 200 OK\r\nLocation: x\r\n".to_vec()])) {
        let _ = http::parse_head(&bytes);
    }

    #[test]
    fn certificates(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = tls::certificate_facts(&bytes);
        let mut sequence = vec![0x30, 0x82, 1, 0];
        sequence.extend(&bytes);
        let _ = tls::certificate_facts(&sequence);
    }

    #[test]
    fn endpoints(text in "\\PC{0,60}", scheme in "(https|ssh|s3|http)://") {
        let _ = Endpoint::parse(&text);
        if let Ok(read) = Endpoint::parse(&format!("{scheme}{text}")) {
            // what is shown is read again as the same
            prop_assert_eq!(Endpoint::parse(&read.to_string()), Ok(read));
        }
    }
}

#[test]
fn a_name_that_does_not_exist_is_told_as_such() {
    let looked = ssh::look(
        "no-such-host.invalid",
        22,
        lessee_endpoints::Limits::default(),
    );
    assert!(
        matches!(looked, Err(Unreached::Name(_) | Unreached::TimedOut)),
        "{looked:?}"
    );
}
