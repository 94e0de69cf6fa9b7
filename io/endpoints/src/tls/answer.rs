//! What a server answers to a hello: its own hello and, up to TLS 1.2, its certificates, or an alert, or something else
//! altogether. Reads any bytes; allocates no more than they are.

/// What bytes from a server are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// More must come.
    Part,
    Hello(ServerHello),
    /// The description of an alert (RFC 8446 section 6).
    Alert(u8),
    /// It speaks HTTP without TLS.
    Http,
    /// No TLS, or not as the standard has it: what is wrong.
    Wrong(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerHello {
    /// As on the wire: 0x0303 = TLS 1.2.
    pub version: u16,
    pub suite: u16,
    /// DER, the server's own first. `None`: not come (yet), or hidden as from TLS 1.3 on.
    pub certificates: Option<Vec<Vec<u8>>>,
    /// Nothing more of use will come.
    pub complete: bool,
}

const RECORD_MAX: usize = (16 << 10) + 2048;
const HANDSHAKE_MAX: usize = 128 << 10;
const MOST_CERTIFICATES: usize = 16;
const TLS13: u16 = 0x0304;

/// Reads what has come so far.
pub fn parse(bytes: &[u8]) -> Answer {
    if !bytes.is_empty() && b"HTTP/".starts_with(&bytes[..bytes.len().min(5)]) {
        return match bytes.len() >= 5 {
            true => Answer::Http,
            false => Answer::Part,
        };
    }
    let mut handshake = Vec::new();
    let mut alert = None;
    let mut rest = bytes;
    loop {
        let Some((head, after)) = rest.split_first_chunk::<5>() else {
            if let Some(first) = rest.first()
                && !(20..=24).contains(first)
            {
                return Answer::Wrong("it does not speak TLS");
            }
            break;
        };
        let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
        if !(20..=24).contains(&head[0]) || head[1] != 3 {
            return Answer::Wrong("it does not speak TLS");
        }
        if length > RECORD_MAX {
            return Answer::Wrong("a record of impossible length");
        }
        let Some(content) = after.get(..length) else {
            break;
        };
        rest = &after[length..];
        match head[0] {
            21 => {
                alert = content.get(1).copied();
                if alert.is_none() {
                    return Answer::Wrong("an alert without content");
                }
                break;
            }
            22 => handshake.extend_from_slice(content),
            // from TLS 1.3 on all the rest is encrypted
            _ => break,
        }
        if handshake.len() > HANDSHAKE_MAX {
            return Answer::Wrong("a handshake without end");
        }
    }
    match (messages(&handshake), alert) {
        (Ok(Some(mut hello)), alert) => {
            hello.complete |= alert.is_some();
            Answer::Hello(hello)
        }
        (Ok(None), Some(description)) => Answer::Alert(description),
        (Ok(None), None) => Answer::Part,
        (Err(what), _) => Answer::Wrong(what),
    }
}

/// The messages of a handshake, as far as they are whole.
fn messages(mut rest: &[u8]) -> Result<Option<ServerHello>, &'static str> {
    let mut hello: Option<ServerHello> = None;
    while let Some((head, after)) = rest.split_first_chunk::<4>() {
        let length = usize::from(head[1]) << 16 | usize::from(head[2]) << 8 | usize::from(head[3]);
        if length > HANDSHAKE_MAX {
            return Err("a message of impossible length");
        }
        let Some(body) = after.get(..length) else {
            break;
        };
        rest = &after[length..];
        match (head[0], &mut hello) {
            (2, None) => {
                hello = Some(server_hello(body).ok_or("a hello that cannot be read")?);
            }
            (11, Some(hello)) => {
                let certificates = certificates(body).ok_or("certificates that cannot be read")?;
                hello.certificates = Some(certificates);
                hello.complete = true;
            }
            // suites without certificates go on at once
            (12 | 14, Some(hello)) => hello.complete = true,
            (_, None) => return Err("it does not begin with a hello"),
            _ => {}
        }
    }
    Ok(hello)
}

fn server_hello(body: &[u8]) -> Option<ServerHello> {
    let (version, rest) = body.split_first_chunk::<2>()?;
    let rest = rest.get(32..)?;
    let (session, rest) = rest.split_first()?;
    let rest = rest.get(usize::from(*session)..)?;
    let (suite, rest) = rest.split_first_chunk::<2>()?;
    let rest = rest.get(1..)?;
    let mut version = u16::from_be_bytes(*version);
    if let Some((length, rest)) = rest.split_first_chunk::<2>() {
        let mut rest = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
        while let Some((head, after)) = rest.split_first_chunk::<4>() {
            let content = after.get(..usize::from(u16::from_be_bytes([head[2], head[3]])))?;
            rest = &after[content.len()..];
            if let ([0, 43], Ok(chosen)) = (&head[..2], <[u8; 2]>::try_from(content)) {
                version = u16::from_be_bytes(chosen);
            }
        }
    }
    Some(ServerHello {
        version,
        suite: u16::from_be_bytes(*suite),
        certificates: None,
        complete: version >= TLS13,
    })
}

fn certificates(body: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = sized(body)?.0;
    let mut out = Vec::new();
    while !rest.is_empty() && out.len() < MOST_CERTIFICATES {
        let (one, after) = sized(rest)?;
        out.push(one.to_vec());
        rest = after;
    }
    Some(out)
}

/// A content with its length before it, in three bytes, and what follows.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<3>()?;
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    rest.split_at_checked(length)
}

/// The name of an alert that says "not like this"; `None` for one that says something else.
pub(super) fn refusal(description: u8) -> Option<&'static str> {
    Some(match description {
        10 => "unexpected_message",
        40 => "handshake_failure",
        47 => "illegal_parameter",
        50 => "decode_error",
        70 => "protocol_version",
        71 => "insufficient_security",
        86 => "inappropriate_fallback",
        109 => "missing_extension",
        _ => return None,
    })
}
