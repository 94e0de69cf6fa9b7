//! Encryption and compliance: what endpoints, disks and buckets show, and the checklist that goes beyond what a program can see.
//!
//! Facts come in as plain data ([`TlsFacts`], [`SshFacts`], [`HostFacts`], [`LuksRead`], [`S3Facts`], [`ImdsFacts`]), findings go
//! out; each family of rules is one file. [`checklist`] lets the findings answer the items of a profile. Not here: sockets and
//! parsers (`io/endpoints`, `io/probe`), words (`app/report`). Which algorithm is weak and which limit holds is data:
//! [`Security`], read from `data/accept`; a row that is no more than general knowledge decides nothing.

mod checklist;
mod disk;
mod luks;
mod reach;
mod s3;
mod ssh;
mod tables;
mod tls;

pub use checklist::{Item, Profile, Seen, checklist, claims};
pub use disk::{HostFacts, Layer, LayerKind, MountFacts, NvmeFacts, SwapFacts, host};
pub use luks::{LuksFacts, LuksRead, LuksSlot, luks};
pub use reach::{PlainAnswer, PlainHttp, Unreached, plain_http};
pub use s3::{Imds, ImdsFacts, S3Encryption, S3Facts, S3Policy, imds, s3};
pub use ssh::{SshFacts, ssh};
pub use tables::{HttpSign, HttpSigns, Security, SecuritySources, Strength};
pub use tls::{CertFacts, NameMatch, Offer, TlsFacts, TlsVersion, Trust, tls};

use crate::finding::{Check, Finding, Verdict};
use lessee_model::Msg;

/// Findings on one subject, each with the source of its rule.
struct Judged<'a> {
    book: &'a Security,
    subject: String,
    findings: Vec<Finding>,
}

impl<'a> Judged<'a> {
    fn new(book: &'a Security, subject: &str) -> Judged<'a> {
        Judged {
            book,
            subject: subject.to_owned(),
            findings: Vec::new(),
        }
    }

    fn say(&mut self, rule: &'static str, verdict: Verdict, reason: Msg) {
        self.check(Check::new(rule, verdict, reason));
    }

    fn ask(&mut self, rule: &'static str, verdict: Verdict, reason: Msg, ask: Msg) {
        self.check(Check::new(rule, verdict, reason).asking(ask));
    }

    fn check(&mut self, check: Check) {
        let check = match (self.book.rule(check.rule), check.origin.is_some()) {
            (Some(rule), false) => check.from(&rule.origin),
            _ => check,
        };
        let finding = match check.origin.as_ref().is_none_or(|o| o.decides()) {
            true => check.finding(self.subject.clone()),
            false => undecided(check).finding(self.subject.clone()),
        };
        self.findings.push(finding);
    }
}

/// What rests on a fact that may not decide is a question.
fn undecided(check: Check) -> Check {
    Check {
        verdict: Verdict::Unknown,
        ask: check.ask.or(Some(Msg::new("accept-ask-rule"))),
        reason: Msg::new("accept-rule-undecided").arg("reason", check.reason),
        ..check
    }
}

/// `a, b, c`; of long lists the first twenty.
fn list<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    const MOST: usize = 20;
    let mut out = String::new();
    let mut n = 0;
    for name in names {
        n += 1;
        if n > MOST {
            continue;
        }
        if n > 1 {
            out.push_str(", ");
        }
        out.push_str(name.as_ref());
    }
    if n > MOST {
        out.push_str(", ...");
    }
    out
}
