//! What a TLS endpoint offers: versions, suites, and the certificate that it shows.
//!
//! Versions are what the server said to a hello of each version; nothing is inferred. Not seen: revocation, the strength of
//! its Diffie-Hellman groups, known faults of its software.

use super::reach::{PlainHttp, Unreached};
use super::{Judged, Security, list};
use crate::finding::{Finding, Verdict};
use crate::security::Strength;
use jiff::Timestamp;
use lessee_model::Msg;
use serde::Serialize;

const DAY_S: i64 = 86_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum TlsVersion {
    #[serde(rename = "SSL 3.0")]
    Ssl3,
    #[serde(rename = "TLS 1.0")]
    Tls10,
    #[serde(rename = "TLS 1.1")]
    Tls11,
    #[serde(rename = "TLS 1.2")]
    Tls12,
    #[serde(rename = "TLS 1.3")]
    Tls13,
}

impl TlsVersion {
    pub const ALL: [TlsVersion; 5] = [
        TlsVersion::Ssl3,
        TlsVersion::Tls10,
        TlsVersion::Tls11,
        TlsVersion::Tls12,
        TlsVersion::Tls13,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TlsVersion::Ssl3 => "SSL 3.0",
            TlsVersion::Tls10 => "TLS 1.0",
            TlsVersion::Tls11 => "TLS 1.1",
            TlsVersion::Tls12 => "TLS 1.2",
            TlsVersion::Tls13 => "TLS 1.3",
        }
    }

    /// Forbidden by RFC 7568 and RFC 8996.
    pub fn is_old(self) -> bool {
        self < TlsVersion::Tls12
    }
}

/// What a server says to one hello.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", content = "detail", rename_all = "snake_case")]
pub enum Offer {
    /// It goes on, with the suite of this number.
    Accepted(u16),
    /// An alert, or it closes the connection.
    Refused(String),
    /// It answers with something else, or not in time.
    Unclear(String),
}

/// One certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CertFacts {
    /// Of the whole certificate, lower-case hexadecimal.
    pub sha256: String,
    pub subject: String,
    pub issuer: String,
    /// Seconds since 1970.
    pub not_before: i64,
    pub not_after: i64,
    /// `RSA`, `EC`, `Ed25519`, or an object identifier.
    pub key: String,
    /// Object identifier of the curve.
    pub curve: Option<String>,
    /// Of an RSA modulus.
    pub key_bits: Option<u32>,
    /// Object identifier; of RSASSA-PSS a slash and that of its hash follow.
    pub signature: String,
    /// Names and addresses that it is for.
    pub names: Vec<String>,
}

impl CertFacts {
    fn self_issued(&self) -> bool {
        self.subject == self.issuer
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "match", content = "detail", rename_all = "snake_case")]
pub enum NameMatch {
    Matches,
    Differs,
    NotChecked(String),
}

/// Whether the chain leads to a root that this machine knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "trust", content = "detail", rename_all = "snake_case")]
pub enum Trust {
    Known,
    SelfSigned,
    UnknownIssuer,
    /// The chain itself is at fault.
    Bad(String),
    NotChecked(String),
}

/// An endpoint, looked at.
#[derive(Clone, Debug, Serialize)]
pub struct TlsFacts {
    pub host: String,
    /// In the order of [`TlsVersion::ALL`].
    pub versions: Vec<(TlsVersion, Offer)>,
    /// To a hello of TLS 1.2 with nothing but suites that are broken, and with nothing but weak ones.
    pub broken: Offer,
    pub weak: Offer,
    /// The server's own first.
    pub chain: Vec<CertFacts>,
    /// A certificate that cannot be read.
    pub chain_fault: Option<String>,
    pub name: NameMatch,
    pub trust: Trust,
    pub plain: Vec<PlainHttp>,
}

impl TlsFacts {
    fn accepted(&self, old: bool) -> Vec<&'static str> {
        self.versions
            .iter()
            .filter(|(v, offer)| v.is_old() == old && matches!(offer, Offer::Accepted(_)))
            .map(|(v, _)| v.as_str())
            .collect()
    }

    fn unclear(&self, old: bool) -> Option<&str> {
        self.versions
            .iter()
            .filter(|(v, _)| v.is_old() == old)
            .find_map(|(_, offer)| match offer {
                Offer::Unclear(detail) => Some(detail.as_str()),
                Offer::Accepted(_) | Offer::Refused(_) => None,
            })
    }
}

/// Judges an endpoint at `now`.
///
/// `pinned` = the client refuses what no known root signed, as tools for object storage do: then such a chain is a failure and
/// no limit.
pub fn tls(
    book: &Security,
    subject: &str,
    facts: &Result<TlsFacts, Unreached>,
    now: Timestamp,
    pinned: bool,
) -> Vec<Finding> {
    let mut judged = Judged::new(book, subject);
    match facts {
        Ok(facts) => {
            versions(&mut judged, facts);
            // they were asked for with a hello of TLS 1.2; who knows only older versions is told so above
            if !facts.accepted(false).is_empty() {
                suites(&mut judged, facts);
            }
            certificate(&mut judged, facts, now, pinned);
            for plain in &facts.plain {
                judged.plain(plain);
            }
        }
        Err(why) => judged.unreached(why),
    }
    judged.findings
}

fn versions(judged: &mut Judged<'_>, facts: &TlsFacts) {
    let (old, new) = (facts.accepted(true), facts.accepted(false));
    if !old.is_empty() {
        let msg = Msg::new("accept-tls-old").arg("list", list(&old));
        judged.ask("tls-old", Verdict::Fail, msg, Msg::new("accept-ask-tls"));
    } else if let Some(detail) = facts.unclear(true) {
        let msg = Msg::new("accept-tls-old-unclear").arg("detail", detail);
        judged.ask("tls-old", Verdict::Unknown, msg, Msg::new("accept-ask-tls"));
    } else {
        judged.say("tls-old", Verdict::Pass, Msg::new("accept-tls-old-refused"));
    }
    let rule = "tls-version";
    if !new.is_empty() {
        let msg = Msg::new("accept-tls-version").arg("list", list(&new));
        judged.say(rule, Verdict::Pass, msg);
    } else if let Some(detail) = facts.unclear(false) {
        let msg = Msg::new("accept-tls-unclear").arg("detail", detail);
        judged.ask(rule, Verdict::Unknown, msg, Msg::new("accept-ask-reach"));
    } else {
        let msg = Msg::new("accept-tls-none");
        judged.ask(rule, Verdict::Fail, msg, Msg::new("accept-ask-tls"));
    }
}

fn suites(judged: &mut Judged<'_>, facts: &TlsFacts) {
    let rule = "tls-suite";
    let book = judged.book;
    let named = |id: &'static str, suite: u16| {
        let code = format!("{suite:04x}");
        Msg::new(id).arg("suite", book.name("tls-suite", &code))
    };
    let ask = || Msg::new("accept-ask-tls");
    match (&facts.broken, &facts.weak) {
        (Offer::Accepted(suite), _) => {
            let msg = named("accept-tls-suite-broken", *suite);
            judged.ask(rule, Verdict::Fail, msg, ask());
        }
        (Offer::Unclear(detail), _) | (_, Offer::Unclear(detail)) => {
            let msg = Msg::new("accept-tls-suite-unclear").arg("detail", detail.as_str());
            judged.ask(rule, Verdict::Unknown, msg, ask());
        }
        (_, Offer::Accepted(suite)) => {
            let msg = named("accept-tls-suite-weak", *suite);
            judged.ask(rule, Verdict::Warn, msg, ask());
        }
        (Offer::Refused(_), Offer::Refused(_)) => {
            judged.say(rule, Verdict::Pass, Msg::new("accept-tls-suite-good"));
        }
    }
}

fn certificate(judged: &mut Judged<'_>, facts: &TlsFacts, now: Timestamp, pinned: bool) {
    let Some(own) = facts.chain.first() else {
        let detail = facts.chain_fault.as_deref().unwrap_or("-");
        let msg = Msg::new("accept-cert-unread").arg("detail", detail);
        let ask = Msg::new("accept-ask-reach");
        judged.ask("cert-dates", Verdict::Unknown, msg, ask);
        return;
    };
    dates(judged, &facts.chain, now);
    name(judged, own, facts);
    trust(judged, own, facts, pinned);
    key(judged, &facts.chain);
    signature(judged, &facts.chain);
}

fn day(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        Ok(at) => at.strftime("%Y-%m-%d").to_string(),
        // beyond the calendar: a certificate may say anything
        Err(_) => "9999-12-31".to_owned(),
    }
}

/// Of the chain the certificate that ends first decides: with it the whole chain ends. Roots that a server sends along are not
/// part of what clients check.
fn dates(judged: &mut Judged<'_>, chain: &[CertFacts], now: Timestamp) {
    let rule = "cert-dates";
    let now = now.as_second();
    let checked = chain
        .iter()
        .enumerate()
        .filter(|(i, c)| *i == 0 || !c.self_issued())
        .map(|(_, c)| c);
    let first_to_end = checked.clone().min_by_key(|c| c.not_after);
    let last_to_begin = checked.max_by_key(|c| c.not_before);
    let (Some(ends), Some(begins)) = (first_to_end, last_to_begin) else {
        return;
    };
    let ask = || Msg::new("accept-ask-cert-dates");
    let warn_days = judged.book.limit(rule);
    if ends.not_after < now {
        let msg = Msg::new("accept-cert-expired")
            .arg("subject", ends.subject.as_str())
            .arg("date", day(ends.not_after));
        judged.ask(rule, Verdict::Fail, msg, ask());
    } else if begins.not_before > now {
        let msg = Msg::new("accept-cert-early")
            .arg("subject", begins.subject.as_str())
            .arg("date", day(begins.not_before));
        judged.ask(rule, Verdict::Fail, msg, ask());
    } else {
        let days = ends.not_after.saturating_sub(now) / DAY_S;
        let msg = |id: &'static str| {
            Msg::new(id)
                .arg("date", day(ends.not_after))
                .arg("days", days as f64)
        };
        if (days as f64) < warn_days {
            let msg = msg("accept-cert-ends-soon");
            judged.ask(rule, Verdict::Warn, msg, ask());
        } else {
            judged.say(rule, Verdict::Pass, msg("accept-cert-valid"));
        }
    }
}

fn name(judged: &mut Judged<'_>, own: &CertFacts, facts: &TlsFacts) {
    let rule = "cert-name";
    let names = || match own.names.is_empty() {
        true => "-".to_owned(),
        false => list(&own.names),
    };
    match &facts.name {
        NameMatch::Matches => {
            let msg = Msg::new("accept-cert-name").arg("host", facts.host.as_str());
            judged.say(rule, Verdict::Pass, msg);
        }
        NameMatch::Differs => {
            let msg = Msg::new("accept-cert-name-differs")
                .arg("host", facts.host.as_str())
                .arg("names", names());
            let ask = Msg::new("accept-ask-cert-name").arg("host", facts.host.as_str());
            judged.ask(rule, Verdict::Fail, msg, ask);
        }
        NameMatch::NotChecked(detail) => {
            let msg = Msg::new("accept-cert-unread").arg("detail", detail.as_str());
            judged.say(rule, Verdict::Unknown, msg);
        }
    }
}

fn trust(judged: &mut Judged<'_>, own: &CertFacts, facts: &TlsFacts, pinned: bool) {
    let rule = "cert-trust";
    // works for who compares the fingerprint, as with the notebook of a rented machine
    let limited = match pinned {
        true => Verdict::Fail,
        false => Verdict::Warn,
    };
    let ask = || Msg::new("accept-ask-cert-trust").arg("sha256", own.sha256.as_str());
    match &facts.trust {
        Trust::Known => {
            let msg = Msg::new("accept-cert-trust").arg("issuer", own.issuer.as_str());
            judged.say(rule, Verdict::Pass, msg);
        }
        Trust::SelfSigned => {
            let msg = Msg::new("accept-cert-self-signed").arg("sha256", own.sha256.as_str());
            judged.ask(rule, limited, msg, ask());
        }
        Trust::UnknownIssuer => {
            let msg = Msg::new("accept-cert-unknown-issuer")
                .arg("issuer", own.issuer.as_str())
                .arg("sha256", own.sha256.as_str());
            judged.ask(rule, limited, msg, ask());
        }
        Trust::Bad(detail) => {
            let msg = Msg::new("accept-cert-chain-bad").arg("detail", detail.as_str());
            judged.ask(rule, Verdict::Fail, msg, ask());
        }
        Trust::NotChecked(detail) => {
            let msg = Msg::new("accept-cert-trust-unchecked").arg("detail", detail.as_str());
            judged.say(rule, Verdict::Unknown, msg);
        }
    }
}

fn key(judged: &mut Judged<'_>, chain: &[CertFacts]) {
    let rule = "cert-key";
    let book = judged.book;
    let least = book.limit(rule);
    let described = |c: &CertFacts| match (&c.curve, c.key_bits) {
        (Some(curve), _) => format!("{} {}", c.key, book.name("curve", curve)),
        (None, Some(bits)) => format!("{} {bits}", c.key),
        (None, None) => c.key.clone(),
    };
    // None = cannot be told
    let worth = |c: &CertFacts| match (c.key.as_str(), c.key_bits, &c.curve) {
        ("RSA", Some(bits), _) => Some(f64::from(bits) >= least),
        (_, _, Some(curve)) => {
            let strength = book.strength("curve", curve)?;
            Some(strength == Strength::Good)
        }
        ("Ed25519", ..) => Some(true),
        _ => None,
    };
    let msg = |id: &'static str, c: &CertFacts| {
        Msg::new(id)
            .arg("key", described(c))
            .arg("subject", c.subject.as_str())
    };
    let ask = || Msg::new("accept-ask-cert-key");
    if let Some(weak) = chain.iter().find(|c| worth(c) == Some(false)) {
        let msg = msg("accept-cert-key-weak", weak);
        judged.ask(rule, Verdict::Fail, msg, ask());
    } else if let Some(strange) = chain.iter().find(|c| worth(c).is_none()) {
        let msg = msg("accept-cert-key-strange", strange);
        judged.ask(rule, Verdict::Unknown, msg, ask());
    } else if let Some(own) = chain.first() {
        judged.say(rule, Verdict::Pass, msg("accept-cert-key", own));
    }
}

/// The signature of a root counts for nothing: it is trusted for being in the list. A certificate that signs itself and is the
/// server's own is judged, as it is what the client sees.
fn signature(judged: &mut Judged<'_>, chain: &[CertFacts]) {
    let rule = "cert-signature";
    let book = judged.book;
    let signed = || {
        let all = chain.iter().enumerate();
        all.filter(|(i, c)| *i == 0 || !c.self_issued())
            .map(|(_, c)| c)
    };
    let worth = |c: &CertFacts| book.strength("signature", &c.signature);
    let msg = |id: &'static str, c: &CertFacts| {
        Msg::new(id)
            .arg("signature", book.name("signature", &c.signature))
            .arg("subject", c.subject.as_str())
    };
    let ask = || Msg::new("accept-ask-cert-key");
    let weak = signed().find(|c| matches!(worth(c), Some(Strength::Weak | Strength::Broken)));
    if let Some(weak) = weak {
        let msg = msg("accept-cert-signature-weak", weak);
        judged.ask(rule, Verdict::Fail, msg, ask());
    } else if let Some(strange) = signed().find(|c| worth(c).is_none()) {
        let msg = msg("accept-cert-signature-strange", strange);
        judged.ask(rule, Verdict::Unknown, msg, ask());
    } else if let Some(own) = chain.first() {
        judged.say(rule, Verdict::Pass, msg("accept-cert-signature", own));
    }
}
