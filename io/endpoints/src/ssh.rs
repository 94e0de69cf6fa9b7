//! The opening of an SSH server (RFC 4253 sections 4.2 and 7.1): its banner and the lists of its first packet. Our side sends
//! its own banner and nothing else; nobody logs in.

use crate::conn::{Conn, Limits, closed, resolve};
use lessee_accept::security::{SshFacts, Unreached};
use std::io::Write;

/// Lines before the banner, which RFC 4253 allows.
const PREAMBLE_MAX: usize = 8 << 10;
const BANNER_MAX: usize = 255;
/// RFC 4253 section 6.1 demands at least this of everybody; a first packet is far below.
const PACKET_MAX: usize = 35_000;
const MOST_NAMES: usize = 500;
const LONGEST_NAME: usize = 128;
const KEXINIT: u8 = 20;

const OWN_BANNER: &[u8] = b"SSH-2.0-lessee\r\n";

/// What bytes from a server are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Facts(SshFacts),
    /// More must come; the banner, if it is there.
    Part(Option<String>),
    /// Not SSH, or not as the standard has it: what is wrong.
    Wrong(&'static str),
}

/// Looks at a server.
///
/// # Errors
/// It cannot be reached, or it does not speak SSH.
pub fn look(host: &str, port: u16, limits: Limits) -> Result<SshFacts, Unreached> {
    let addresses = resolve(host, port, limits)?;
    let mut conn = Conn::open(&addresses, limits)?;
    // servers may wait for the banner of the client before they say more than theirs
    if let Err(e) = conn.write_all(OWN_BANNER) {
        return Err(Unreached::Other(e.to_string()));
    }
    let most = PREAMBLE_MAX + BANNER_MAX + PACKET_MAX + 4;
    let (bytes, end) = conn.read_until(most, |b| !matches!(parse(b), Answer::Part(_)));
    match (parse(&bytes), end) {
        (Answer::Facts(facts), _) => Ok(facts),
        (Answer::Wrong(what), _) => Err(Unreached::OtherProtocol(what.to_owned())),
        // protocol 1 ends here, and its banner is all there is to know
        (Answer::Part(Some(banner)), _) if !banner.starts_with("SSH-2.0-") => Ok(SshFacts {
            banner,
            ..SshFacts::default()
        }),
        (Answer::Part(_), Err(e)) if !closed(&e) => match e.kind() {
            std::io::ErrorKind::TimedOut => Err(Unreached::TimedOut),
            _ => Err(Unreached::Other(e.to_string())),
        },
        (Answer::Part(_), _) => {
            let what = "it closes before its lists of algorithms";
            Err(Unreached::OtherProtocol(what.to_owned()))
        }
    }
}

/// Reads a banner and the first packet.
pub fn parse(bytes: &[u8]) -> Answer {
    let (banner, rest) = match banner(bytes) {
        Ok(Some(found)) => found,
        Ok(None) => return Answer::Part(None),
        Err(what) => return Answer::Wrong(what),
    };
    if banner.starts_with("SSH-1.") && !banner.starts_with("SSH-1.99-") {
        return Answer::Part(Some(banner));
    }
    match packet(rest) {
        Ok(Some(payload)) => match lists(payload) {
            Some(facts) => Answer::Facts(SshFacts { banner, ..facts }),
            None => Answer::Wrong("its first packet is not a list of algorithms"),
        },
        Ok(None) => Answer::Part(Some(banner)),
        Err(what) => Answer::Wrong(what),
    }
}

/// The banner and what follows it.
fn banner(bytes: &[u8]) -> Result<Option<(String, &[u8])>, &'static str> {
    let mut rest = bytes;
    loop {
        let Some(end) = rest.iter().position(|b| *b == b'\n') else {
            let passed = bytes.len() - rest.len();
            return match rest.len() > BANNER_MAX || passed > PREAMBLE_MAX {
                true => Err("no banner of SSH"),
                false => Ok(None),
            };
        };
        let (line, after) = rest.split_at(end);
        rest = after.get(1..).unwrap_or(&[]);
        if line.starts_with(b"SSH-") {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() > BANNER_MAX {
                return Err("its banner is too long");
            }
            // the banner may say anything; what is no printable ASCII is not shown
            let shown = line.iter().map(|b| match b {
                b' '..=b'~' => char::from(*b),
                _ => '?',
            });
            return Ok(Some((shown.collect(), rest)));
        }
        if line.len() > BANNER_MAX || bytes.len() - rest.len() > PREAMBLE_MAX {
            return Err("no banner of SSH");
        }
    }
}

/// The payload of a packet in the clear: length, padding's length, payload, padding.
fn packet(bytes: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    let Some((head, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*head) as usize;
    if !(2..=PACKET_MAX).contains(&length) {
        return Err("the length of its first packet is impossible");
    }
    let Some(packet) = rest.get(..length) else {
        return Ok(None);
    };
    let padding = usize::from(packet[0]);
    match packet.get(1..length.saturating_sub(padding)) {
        Some(payload) if !payload.is_empty() => Ok(Some(payload)),
        _ => Err("the padding of its first packet is impossible"),
    }
}

/// `SSH_MSG_KEXINIT`: a cookie of 16 bytes, then ten lists of names.
fn lists(payload: &[u8]) -> Option<SshFacts> {
    if *payload.first()? != KEXINIT {
        return None;
    }
    let mut rest = payload.get(17..)?;
    let mut all: Vec<Vec<String>> = Vec::new();
    for _ in 0..10 {
        let (head, after) = rest.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*head) as usize;
        let text = after.get(..length)?;
        rest = &after[length..];
        all.push(names(text)?);
    }
    let both = |a: usize, b: usize| {
        let mut out = all[a].clone();
        for name in &all[b] {
            if !out.contains(name) {
                out.push(name.clone());
            }
        }
        out
    };
    Some(SshFacts {
        banner: String::new(),
        kex: all[0].clone(),
        host_keys: all[1].clone(),
        ciphers: both(2, 3),
        macs: both(4, 5),
    })
}

fn names(text: &[u8]) -> Option<Vec<String>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut out: Vec<String> = Vec::new();
    for name in text.split(|b| *b == b',').take(MOST_NAMES) {
        let fits = !name.is_empty() && name.len() <= LONGEST_NAME;
        if !fits || !name.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        if !out.contains(&name) {
            out.push(name);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(lists: [&str; 10]) -> Vec<u8> {
        let mut payload = vec![KEXINIT];
        payload.extend([7; 16]);
        for list in lists {
            payload.extend((list.len() as u32).to_be_bytes());
            payload.extend(list.as_bytes());
        }
        payload.extend([0; 5]);
        let padding = 8;
        let mut bytes = b"hello\r\nSSH-2.0-Some_1.0 x\r\n".to_vec();
        bytes.extend(((payload.len() + padding + 1) as u32).to_be_bytes());
        bytes.push(padding as u8);
        bytes.extend(payload);
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn every_cut_of_an_opening_is_a_part_and_the_whole_is_read() {
        let bytes = opening(["a,b", "k", "c,d", "d,e", "m", "m", "", "", "", ""]);
        for end in 0..bytes.len() {
            assert!(matches!(parse(&bytes[..end]), Answer::Part(_)), "{end}");
        }
        let Answer::Facts(facts) = parse(&bytes) else {
            panic!("not read");
        };
        assert_eq!(facts.banner, "SSH-2.0-Some_1.0 x");
        assert_eq!(facts.kex, ["a", "b"]);
        assert_eq!(facts.ciphers, ["c", "d", "e"]);
    }

    #[test]
    fn impossible_openings_are_wrong() {
        let mut long = b"SSH-2.0-x\r\n".to_vec();
        long.extend(u32::MAX.to_be_bytes());
        for bytes in [
            long.clone(),
            b"HTTP/1.1 400 Bad Request\r\n".repeat(400),
            vec![b'x'; 300],
            [b"SSH-2.0-x\r\n\0\0\0\x02\xff\x14".to_vec(), vec![0; 9]].concat(),
        ] {
            assert!(matches!(parse(&bytes), Answer::Wrong(_)), "{bytes:?}");
        }
        assert_eq!(
            parse(b"SSH-1.5-old\n"),
            Answer::Part(Some("SSH-1.5-old".to_owned()))
        );
    }
}
