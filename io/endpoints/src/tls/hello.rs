//! A ClientHello of any version, made by hand: TLS libraries no longer offer what a server should refuse.

use lessee_accept::security::TlsVersion;

/// The signalling suite of RFC 5746: a server that insists on safe renegotiation must not refuse for its lack.
const SAFE_RENEGOTIATION: u16 = 0x00ff;

/// Numbers of suites.
#[derive(Clone, Debug, Default)]
pub struct Suites {
    pub good: Vec<u16>,
    pub weak: Vec<u16>,
    pub broken: Vec<u16>,
}

fn code(version: TlsVersion) -> u16 {
    match version {
        TlsVersion::Ssl3 => 0x0300,
        TlsVersion::Tls10 => 0x0301,
        TlsVersion::Tls11 => 0x0302,
        TlsVersion::Tls12 => 0x0303,
        TlsVersion::Tls13 => 0x0304,
    }
}

/// The version of a number on the wire.
pub(super) fn version(code: u16) -> Option<TlsVersion> {
    TlsVersion::ALL.into_iter().find(|v| self::code(*v) == code)
}

/// The record with the hello. `name` = a DNS name, for the server that holds several.
pub(super) fn client_hello(
    version: TlsVersion,
    suites: &[u16],
    name: Option<&str>,
    random: [u8; 32],
) -> Vec<u8> {
    // TLS 1.3 looks like 1.2 and says the truth in an extension
    let in_body = code(version).min(0x0303);
    let mut body = in_body.to_be_bytes().to_vec();
    body.extend(random);
    body.push(0); // no session
    let suites = suites.iter().copied();
    let suites: Vec<u8> = suites
        .chain([SAFE_RENEGOTIATION])
        .flat_map(u16::to_be_bytes)
        .collect();
    body.extend(sized(&suites));
    body.extend([1, 0]); // no compression
    if version != TlsVersion::Ssl3 {
        body.extend(sized(&extensions(version, name)));
    }
    let length = (body.len() as u32).to_be_bytes();
    let mut message = vec![1, length[1], length[2], length[3]];
    message.extend(body);
    let mut record = vec![22];
    record.extend(code(version).min(0x0301).to_be_bytes());
    record.extend(sized(&message));
    record
}

fn extensions(version: TlsVersion, name: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut add = |number: u16, content: &[u8]| {
        out.extend(number.to_be_bytes());
        out.extend(sized(content));
    };
    if let Some(name) = name {
        let entry = [&[0][..], &sized(name.as_bytes())].concat();
        add(0, &sized(&entry));
    }
    // x25519, the curves of NIST, ffdhe2048
    let groups = words(&[0x001d, 0x0017, 0x0018, 0x0019, 0x0100]);
    add(10, &sized(&groups));
    add(11, &[1, 0]);
    if version >= TlsVersion::Tls12 {
        let schemes = [
            0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0804, 0x0805, 0x0806, 0x0809, 0x080a, 0x080b,
            0x0401, 0x0501, 0x0601, 0x0203, 0x0201, 0x0202,
        ];
        add(13, &sized(&words(&schemes)));
    }
    if version == TlsVersion::Tls13 {
        add(43, &[2, 3, 4]);
        // no share: the server then asks for one and so shows that it would go on
        add(51, &[0, 0]);
    }
    out
}

fn words(all: &[u16]) -> Vec<u8> {
    all.iter().flat_map(|w| w.to_be_bytes()).collect()
}

/// With its length before it, in two bytes. All contents here are our own and short.
fn sized(content: &[u8]) -> Vec<u8> {
    let mut out = (content.len() as u16).to_be_bytes().to_vec();
    out.extend(content);
    out
}
