//! The checklist of a profile: what a standard or a law asks of a rented machine, item by item.
//!
//! The answer to an item is "seen" or "not seen, ask for this", never "compliant": a finding passes only where a machine check
//! of this run showed it, or where the user holds the evidence ([`Seen`]). Not legal advice. The words of the items are texts
//! of `app/report`; [`Item`] is the row behind them.

use super::list;
use super::tables::Security;
use crate::finding::{Check, Finding, Verdict};
use crate::table::{Origin, Row};
use lessee_model::{Confidence, Msg};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A set of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    Gdpr,
    /// GB/T 22239-2019, level 2.
    Mlps2,
    Mlps3,
    Iso27001,
    Soc2,
    Hipaa,
    /// China's rules on sending data abroad, and what else is asked there of who rents.
    CnExport,
    /// The film industry's content security.
    Tpn,
}

impl Profile {
    pub const ALL: [Profile; 8] = [
        Profile::Gdpr,
        Profile::Mlps2,
        Profile::Mlps3,
        Profile::Iso27001,
        Profile::Soc2,
        Profile::Hipaa,
        Profile::CnExport,
        Profile::Tpn,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Gdpr => "gdpr",
            Profile::Mlps2 => "mlps2",
            Profile::Mlps3 => "mlps3",
            Profile::Iso27001 => "iso27001",
            Profile::Soc2 => "soc2",
            Profile::Hipaa => "hipaa",
            Profile::CnExport => "cn-export",
            Profile::Tpn => "tpn",
        }
    }
}

impl FromStr for Profile {
    type Err = String;
    fn from_str(text: &str) -> Result<Profile, String> {
        let all = Profile::ALL.into_iter();
        all.into_iter()
            .find(|p| p.as_str().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| text.to_owned())
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a machine check can show of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Encrypted on the way.
    Transit,
    /// Encrypted where it lies.
    Rest,
    /// Logins over SSH without weak algorithms.
    Ssh,
}

impl FromStr for Class {
    type Err = ();
    fn from_str(text: &str) -> Result<Class, ()> {
        Ok(match text {
            "transit" => Class::Transit,
            "rest" => Class::Rest,
            "ssh" => Class::Ssh,
            _ => return Err(()),
        })
    }
}

impl Class {
    /// Rules whose warning speaks against an item all the same: who cannot be told apart from an impostor, and what goes in the
    /// clear. Any other limit is no obstacle.
    const LIMITS: [&'static str; 3] = ["cert-trust", "net-mount", "plain-http"];

    /// Rules of which at least one must have passed.
    fn proof(self) -> &'static [&'static str] {
        match self {
            Class::Transit => &["tls-version", "ssh-cipher"],
            Class::Rest => &["disk-encryption", "s3-encryption", "luks-cipher"],
            Class::Ssh => &["ssh-cipher"],
        }
    }

    /// Rules that may not speak against it, by the start of their name.
    fn rules(self) -> &'static [&'static str] {
        match self {
            Class::Transit => &[
                "endpoint-reach",
                "tls-",
                "cert-",
                "ssh-",
                "plain-http",
                "s3-transport",
                "net-mount",
            ],
            Class::Rest => &[
                "disk-encryption",
                "swap-encryption",
                "s3-encryption",
                "luks-",
                "endpoint-reach",
            ],
            Class::Ssh => &["ssh-", "endpoint-reach"],
        }
    }

    fn holds(self, finding: &Finding) -> bool {
        // a web server that cannot be reached says nothing of logins, nor of what lies in a bucket
        let of_it = match self {
            Class::Ssh => finding.subject.starts_with("ssh://"),
            Class::Rest if finding.rule == "endpoint-reach" => finding.subject.starts_with("s3://"),
            Class::Rest | Class::Transit => true,
        };
        of_it && self.rules().iter().any(|r| finding.rule.starts_with(r))
    }
}

/// A row of the checklist.
#[derive(Clone, Debug)]
pub struct Item {
    /// `gdpr.28.3g`; its texts are `accept-item-gdpr-28-3g` and `accept-item-ask-gdpr-28-3g`.
    pub id: String,
    pub profiles: Vec<Profile>,
    framework: String,
    clause: String,
    /// Its number in the text for level 2, where that is another.
    clause_level2: String,
    clause_confidence: Confidence,
    /// `provider`, `tenant`, `both`
    who: String,
    /// `high`, `medium`, `low`
    severity: String,
    machine: Vec<Class>,
    origin: Origin,
}

impl Item {
    pub(super) fn read(row: &Row<'_>) -> Result<Item, String> {
        let word = |column: &str, known: &[&str]| {
            let text = row.get(column)?;
            match known.contains(&text) {
                true => Ok(text.to_owned()),
                false => Err(format!("{column}: `{text}`")),
            }
        };
        let item = Item {
            id: row.need("id")?,
            profiles: row.list("profiles")?,
            framework: row.need("framework")?,
            clause: row.get("clause")?.to_owned(),
            clause_level2: row.get("clause_level2")?.to_owned(),
            clause_confidence: row.confidence("confidence_clause")?,
            who: word("responsibility", &["provider", "tenant", "both"])?,
            severity: word("severity", &["high", "medium", "low"])?,
            machine: row.list("machine")?,
            origin: row.origin()?,
        };
        if item.profiles.is_empty() {
            return Err("no profile".to_owned());
        }
        Ok(item)
    }

    /// The end of the identifiers of its texts.
    pub fn text_key(&self) -> String {
        let plain = |c: char| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_lowercase(),
            false => '-',
        };
        self.id.chars().map(plain).collect()
    }

    fn place(&self, profiles: &[Profile]) -> Msg {
        let level2 = profiles.contains(&Profile::Mlps2) && !profiles.contains(&Profile::Mlps3);
        let of_level3 = level2 && self.profiles.contains(&Profile::Mlps3);
        let (clause, id) = match (self.clause.as_str(), self.clause_level2.as_str()) {
            ("", _) => {
                return Msg::new("accept-item-place").arg("framework", self.framework.as_str());
            }
            (_, number) if of_level3 && !number.is_empty() => (number, self.sureness()),
            (number, _) if of_level3 => (number, "accept-item-clause-level3"),
            (number, _) => (number, self.sureness()),
        };
        Msg {
            id: Cow::Borrowed(id),
            args: Vec::new(),
        }
        .arg("framework", self.framework.as_str())
        .arg("clause", clause)
    }

    fn sureness(&self) -> &'static str {
        match self.clause_confidence {
            Confidence::Verified => "accept-item-clause",
            Confidence::Secondary => "accept-item-clause-copy",
            Confidence::General | Confidence::Unverified => "accept-item-clause-unverified",
        }
    }

    fn text(&self, family: &str) -> Msg {
        Msg {
            id: Cow::Owned(format!("{family}-{}", self.text_key())),
            args: Vec::new(),
        }
    }
}

/// Evidence of an item that the user holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub id: String,
    pub file: String,
    pub sha256: String,
}

/// Each item of the profiles as a finding, in the order of the table; `found` = what the machine checks of this run said.
pub fn checklist(
    book: &Security,
    profiles: &[Profile],
    found: &[Finding],
    seen: &[Seen],
) -> Vec<Finding> {
    let wanted = |item: &&Item| item.profiles.iter().any(|p| profiles.contains(p));
    book.items
        .iter()
        .filter(wanted)
        .map(|item| judge(item, profiles, found, seen))
        .collect()
}

fn judge(item: &Item, profiles: &[Profile], found: &[Finding], seen: &[Seen]) -> Finding {
    let files: Vec<&Seen> = seen.iter().filter(|s| s.id == item.id).collect();
    let shown = shown(&item.machine, found);
    let mut evidence: Vec<String> = files.iter().map(|s| s.sha256.clone()).collect();
    let (verdict, state) = match (&shown, files.is_empty()) {
        (_, false) => {
            let names = list(files.iter().map(|s| s.file.as_str()));
            let msg = Msg::new("accept-item-file").arg("files", names);
            (Verdict::Pass, msg)
        }
        (Shown::Yes(rules, hashes), true) => {
            evidence.extend(hashes.iter().cloned());
            let msg = Msg::new("accept-item-machine").arg("rules", list(rules));
            (Verdict::Pass, msg)
        }
        (Shown::Against(rules), true) => {
            let msg = Msg::new("accept-item-against").arg("rules", list(rules));
            (Verdict::Unknown, msg)
        }
        (Shown::No, true) => (Verdict::Unknown, Msg::new("accept-item-not-seen")),
    };
    let who = match item.who.as_str() {
        "provider" => "accept-item-who-provider",
        "tenant" => "accept-item-who-tenant",
        _ => "accept-item-who-both",
    };
    let severity = match item.severity.as_str() {
        "high" => "accept-item-severity-high",
        "medium" => "accept-item-severity-medium",
        _ => "accept-item-severity-low",
    };
    let reason = Msg::new("accept-item")
        .arg("place", item.place(profiles))
        .arg("text", item.text("accept-item"))
        .arg("who", Msg::new(who))
        .arg("severity", Msg::new(severity))
        .arg("state", state);
    let mut check = Check::new("checklist", verdict, reason).from(&item.origin);
    if verdict != Verdict::Pass {
        check = check.asking(item.text("accept-item-ask"));
    }
    let mut finding = check.finding(item.id.clone());
    finding.evidence = evidence;
    finding
}

/// What the machine checks show of an item.
enum Shown {
    /// By these rules, resting on this evidence.
    Yes(Vec<&'static str>, Vec<String>),
    /// These rules speak against it.
    Against(Vec<&'static str>),
    No,
}

fn shown(classes: &[Class], found: &[Finding]) -> Shown {
    let mut rules = Vec::new();
    let mut hashes: Vec<String> = Vec::new();
    let mut against = Vec::new();
    let mut missing = classes.is_empty();
    for class in classes {
        let of_class = found.iter().filter(|f| class.holds(f));
        let mut proven = false;
        for finding in of_class {
            let good = match finding.verdict {
                Verdict::Pass => true,
                Verdict::Warn => !Class::LIMITS.contains(&finding.rule),
                Verdict::Unknown | Verdict::Fail => false,
            };
            if !good {
                if !against.contains(&finding.rule) {
                    against.push(finding.rule);
                }
                continue;
            }
            if finding.verdict == Verdict::Pass && class.proof().contains(&finding.rule) {
                proven = true;
                if !rules.contains(&finding.rule) {
                    rules.push(finding.rule);
                }
                for hash in &finding.evidence {
                    if !hashes.contains(hash) {
                        hashes.push(hash.clone());
                    }
                }
            }
        }
        missing |= !proven;
    }
    if !against.is_empty() {
        Shown::Against(against)
    } else if missing {
        Shown::No
    } else {
        Shown::Yes(rules, hashes)
    }
}

/// What a provider says of itself; never more than a question.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    provider: String,
    profiles: Vec<Profile>,
    /// Names of certificates and laws, which have no translation; blank where `text` speaks.
    claim: String,
    /// `accept-claim-...`
    text: Option<String>,
    stated_at: String,
    origin: Origin,
}

impl Claim {
    pub(super) fn read(row: &Row<'_>) -> Result<Claim, String> {
        let claim = Claim {
            provider: row.need("provider")?,
            profiles: row.list("profiles")?,
            claim: row.get("claim")?.to_owned(),
            text: row.opt("text")?,
            stated_at: row.get("stated_at")?.to_owned(),
            origin: row.origin()?,
        };
        if claim.claim.is_empty() == claim.text.is_none() {
            return Err("either claim or text".to_owned());
        }
        if !crate::table::decides(claim.origin.confidence) {
            return Err("a claim that nobody saw".to_owned());
        }
        Ok(claim)
    }
}

/// What `provider` claims, of the profiles or of all where none is named: each a question, none a pass.
pub fn claims(book: &Security, provider: &str, profiles: &[Profile]) -> Vec<Finding> {
    let of_provider = book.claims.iter().filter(|c| c.provider == provider);
    let wanted = |c: &&Claim| {
        profiles.is_empty()
            || c.profiles.is_empty()
            || c.profiles.iter().any(|p| profiles.contains(p))
    };
    let mut findings: Vec<Finding> = of_provider
        .filter(wanted)
        .map(|claim| {
            let what = match &claim.text {
                Some(id) => lessee_model::Arg::from(Msg {
                    id: Cow::Owned(id.clone()),
                    args: Vec::new(),
                }),
                None => lessee_model::Arg::from(claim.claim.as_str()),
            };
            let reason = Msg::new("accept-claim")
                .arg("provider", provider)
                .arg("claim", what)
                .arg("place", claim.stated_at.as_str())
                .arg("date", claim.origin.as_of.to_string());
            Check::new("claim", Verdict::Unknown, reason)
                .from(&claim.origin)
                .asking(Msg::new("accept-ask-claim"))
                .finding(provider)
        })
        .collect();
    if findings.is_empty() {
        let reason = Msg::new("accept-claim-none").arg("provider", provider);
        let check =
            Check::new("claim", Verdict::Unknown, reason).asking(Msg::new("accept-ask-claim"));
        findings.push(check.finding(provider));
    }
    findings
}
