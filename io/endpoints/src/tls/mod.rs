//! A TLS endpoint, asked once for each version, twice for suites that it should not take, and once for its certificates.
//!
//! Versions are asked for by hand-made hellos ([`hello`]), so that a refusal is the server's own and not that of our library;
//! the answers are read by [`parse`]. Not sent: anything after the first message of the handshake by hand.

mod answer;
mod cert;
mod chain;
mod hello;

pub use answer::{Answer, ServerHello, parse};
pub use cert::facts as certificate_facts;
pub use chain::{AnyCertificate, Trusted};
pub use hello::Suites;

use crate::conn::{Conn, Limits, closed, resolve};
use crate::http;
use lessee_accept::security::{
    HttpSigns, NameMatch, Offer, TlsFacts, TlsVersion, Trust, Unreached,
};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;

/// Longer answers are read only so far: a hello with its certificates.
const ANSWER_MAX: usize = 160 << 10;

/// Looks at an endpoint; `now` in seconds since 1970.
///
/// # Errors
/// It cannot be reached, or nothing that it says is TLS.
pub fn look(
    host: &str,
    port: u16,
    suites: &Suites,
    trusted: &Trusted,
    signs: &HttpSigns,
    now: u64,
    limits: Limits,
) -> Result<TlsFacts, Unreached> {
    let addresses = resolve(host, port, limits)?;
    let Ok(name) = ServerName::try_from(host.to_owned()) else {
        return Err(Unreached::Name(
            "no name that a certificate could have".to_owned(),
        ));
    };
    let asked = Asked {
        addresses: &addresses,
        // addresses are not sent: RFC 6066
        name: matches!(name, ServerName::DnsName(_)).then_some(host),
        limits,
    };
    let all = [&suites.good[..], &suites.weak, &suites.broken].concat();
    let old = [&suites.weak[..], &suites.broken].concat();
    let tls13 = |n: &&u16| (0x1300..0x1400).contains(*n);
    let newest: Vec<u16> = all.iter().filter(tls13).copied().collect();
    let until12: Vec<u16> = all.iter().filter(|n| !tls13(n)).copied().collect();
    let mut said: Vec<(TlsVersion, Said)> = Vec::new();
    // the newest first: who says nothing to both of today's versions is not waited for five times
    for version in TlsVersion::ALL.into_iter().rev() {
        let suites = match version {
            TlsVersion::Tls13 => &newest,
            TlsVersion::Tls12 => &until12,
            _ => &old,
        };
        said.insert(0, (version, asked.ask(version, suites)?));
        if said.len() == 2 && said.iter().all(|(_, s)| s.is_silent()) {
            return Err(Unreached::TimedOut);
        }
    }
    if !said.iter().any(|(_, s)| s.is_tls()) {
        return Err(not_tls(&said));
    }
    let broken = asked.ask(TlsVersion::Tls12, &suites.broken)?;
    let weak = asked.ask(TlsVersion::Tls12, &suites.weak)?;

    let (mut chain, fault) = chain::shown(&mut Conn::open(&addresses, limits)?, &name);
    if chain.is_empty() {
        // a server of old versions alone shows its certificates to a hello by hand
        let mut hellos = said.iter().rev();
        let by_hand = hellos.find_map(|(_, s)| match &s.answer {
            Answer::Hello(hello) => hello.certificates.clone().filter(|c| !c.is_empty()),
            _ => None,
        });
        let by_hand = by_hand.unwrap_or_default();
        chain = by_hand.into_iter().map(CertificateDer::from).collect();
    }
    let mut certificates = Vec::new();
    let mut chain_fault = match chain.is_empty() {
        true => fault,
        false => None,
    };
    for der in &chain {
        match certificate_facts(der) {
            Ok(facts) => certificates.push(facts),
            Err(e) => {
                chain_fault = Some(e);
                break;
            }
        }
    }
    let (name, trust) = match chain.first() {
        Some(own) => (
            chain::matches(own, &name),
            chain::trust(&chain, &certificates, trusted, now),
        ),
        None => (
            NameMatch::NotChecked("no certificate".to_owned()),
            Trust::NotChecked("no certificate".to_owned()),
        ),
    };
    let mut plain = vec![http::plain_beside(host, port, "/", signs, limits)];
    if port == 443 {
        plain.push(http::plain_beside(host, 80, "/", signs, limits));
    }
    Ok(TlsFacts {
        host: host.to_owned(),
        versions: said.iter().map(|(v, s)| (*v, s.offer(*v))).collect(),
        broken: broken.offer(TlsVersion::Tls12),
        weak: weak.offer(TlsVersion::Tls12),
        chain: certificates,
        chain_fault,
        name,
        trust,
        plain,
    })
}

struct Asked<'a> {
    addresses: &'a [SocketAddr],
    name: Option<&'a str>,
    limits: Limits,
}

/// An answer, and how the connection ended.
struct Said {
    answer: Answer,
    /// `None`: not by an error.
    end: Option<std::io::Error>,
    bytes: usize,
}

impl Asked<'_> {
    fn ask(&self, version: TlsVersion, suites: &[u16]) -> Result<Said, Unreached> {
        let mut conn = Conn::open(self.addresses, self.limits)?;
        let mut random = [0; 32];
        // these bytes protect nothing: should there be no randomness, zeros ask as well
        let _ = ring::default_provider().secure_random.fill(&mut random);
        let hello = hello::client_hello(version, suites, self.name, random);
        if let Err(e) = conn.write_all(&hello) {
            return Ok(Said {
                answer: Answer::Part,
                end: Some(e),
                bytes: 0,
            });
        }
        let enough = |bytes: &[u8]| match parse(bytes) {
            Answer::Part => false,
            Answer::Hello(hello) => hello.complete,
            Answer::Alert(_) | Answer::Http | Answer::Wrong(_) => true,
        };
        let (bytes, end) = conn.read_until(ANSWER_MAX, enough);
        Ok(Said {
            answer: parse(&bytes),
            end: end.err(),
            bytes: bytes.len(),
        })
    }
}

impl Said {
    fn is_tls(&self) -> bool {
        matches!(self.answer, Answer::Hello(_) | Answer::Alert(_))
    }

    /// It took the connection and says nothing.
    fn is_silent(&self) -> bool {
        let end = self.end.as_ref();
        self.bytes == 0 && end.is_some_and(|e| e.kind() == ErrorKind::TimedOut)
    }

    fn offer(&self, version: TlsVersion) -> Offer {
        match &self.answer {
            Answer::Hello(hello) => match hello::version(hello.version) {
                Some(chosen) if chosen == version => Offer::Accepted(hello.suite),
                Some(chosen) if chosen < version => {
                    Offer::Refused(format!("it chooses {}", chosen.as_str()))
                }
                _ => Offer::Unclear(format!("it chooses version {:04x}", hello.version)),
            },
            Answer::Alert(description) => match answer::refusal(*description) {
                Some(name) => Offer::Refused(format!("alert {name}")),
                None => Offer::Unclear(format!("alert {description}")),
            },
            Answer::Http => Offer::Unclear("it speaks HTTP without TLS".to_owned()),
            Answer::Wrong(what) => Offer::Unclear((*what).to_owned()),
            Answer::Part => match &self.end {
                Some(e) if !closed(e) => Offer::Unclear(words(e)),
                _ if self.bytes > 0 => Offer::Unclear("its answer breaks off".to_owned()),
                _ => Offer::Refused("it closes".to_owned()),
            },
        }
    }
}

fn words(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => error.to_string(),
    }
}

/// Nothing that came was TLS: what it was.
fn not_tls(said: &[(TlsVersion, Said)]) -> Unreached {
    let of = |wanted: &dyn Fn(&Said) -> bool| said.iter().any(|(_, s)| wanted(s));
    if of(&|s| s.answer == Answer::Http) {
        return Unreached::OtherProtocol("HTTP without TLS".to_owned());
    }
    let wrong = said.iter().find_map(|(_, s)| match s.answer {
        Answer::Wrong(what) => Some(what),
        _ => None,
    });
    if let Some(what) = wrong {
        return Unreached::OtherProtocol(what.to_owned());
    }
    match of(&Said::is_silent) {
        true => Unreached::TimedOut,
        false => Unreached::OtherProtocol("it closes every connection".to_owned()),
    }
}
