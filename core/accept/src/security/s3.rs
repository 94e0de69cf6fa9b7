//! What a bucket and a metadata service show.

use super::reach::{PlainAnswer, PlainHttp, Unreached};
use super::{Judged, Security};
use crate::finding::{Finding, Verdict};
use lessee_model::Msg;
use serde::Serialize;

/// A bucket, asked.
#[derive(Clone, Debug, Serialize)]
pub struct S3Facts {
    pub endpoint: String,
    /// The endpoint was given as `http://`.
    pub plain_endpoint: bool,
    pub encryption: S3Encryption,
    pub policy: S3Policy,
    /// A request without encryption and signature for the bucket itself.
    pub plain: Option<PlainHttp>,
}

/// The answer to GetBucketEncryption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", content = "detail", rename_all = "snake_case")]
pub enum S3Encryption {
    /// `AES256`, `aws:kms`, ...
    Default(String),
    /// The service says that there is none.
    None,
    /// No such bucket.
    NoBucket,
    /// Refused, with the service's code.
    Denied(String),
    /// There are no credentials to ask with.
    NoCredentials,
    /// The service does not know the question, or answers with something else.
    Unclear(String),
}

/// Whether a policy of the bucket denies requests without encryption (`aws:SecureTransport` = false).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum S3Policy {
    DeniesPlain,
    /// There is a policy, and it does not; or there is none.
    AllowsPlain,
    NotSeen,
}

/// Judges a bucket.
pub fn s3(book: &Security, subject: &str, facts: &Result<S3Facts, Unreached>) -> Vec<Finding> {
    let mut judged = Judged::new(book, subject);
    match facts {
        Ok(facts) => {
            at_rest(&mut judged, &facts.encryption);
            transport(&mut judged, facts);
        }
        Err(why) => judged.unreached(why),
    }
    judged.findings
}

fn at_rest(judged: &mut Judged<'_>, encryption: &S3Encryption) {
    let rule = "s3-encryption";
    let ask = || Msg::new("accept-ask-s3-encryption");
    let unknown = |judged: &mut Judged<'_>, msg: Msg| {
        judged.ask(rule, Verdict::Unknown, msg, ask());
    };
    match encryption {
        S3Encryption::Default(algorithm) => {
            let msg = Msg::new("accept-s3-encrypted").arg("algorithm", algorithm.as_str());
            judged.say(rule, Verdict::Pass, msg);
        }
        S3Encryption::None => {
            judged.ask(rule, Verdict::Fail, Msg::new("accept-s3-clear"), ask());
        }
        S3Encryption::NoBucket => unknown(judged, Msg::new("accept-s3-no-bucket")),
        S3Encryption::Denied(code) => {
            unknown(
                judged,
                Msg::new("accept-s3-denied").arg("code", code.as_str()),
            );
        }
        S3Encryption::NoCredentials => unknown(judged, Msg::new("accept-s3-no-credentials")),
        S3Encryption::Unclear(detail) => {
            unknown(
                judged,
                Msg::new("accept-s3-unclear").arg("detail", detail.as_str()),
            );
        }
    }
}

fn transport(judged: &mut Judged<'_>, facts: &S3Facts) {
    let rule = "s3-transport";
    let ask = || Msg::new("accept-ask-s3-transport");
    let plain = |id: &'static str| Msg::new(id).arg("endpoint", facts.endpoint.as_str());
    if facts.policy == S3Policy::DeniesPlain {
        judged.say(rule, Verdict::Pass, Msg::new("accept-s3-policy"));
        return;
    }
    let answer = facts.plain.as_ref().map(|p| &p.answer);
    match answer {
        // no HTTP is spoken there at all
        Some(PlainAnswer::Refused(_)) => {
            judged.say(rule, Verdict::Pass, Msg::new("accept-s3-plain-refused"));
        }
        // what is sent on without a signature may be answered with one
        Some(PlainAnswer::Redirects(_)) => {
            let msg = plain("accept-s3-plain-redirects");
            judged.ask(rule, Verdict::Unknown, msg, ask());
        }
        Some(PlainAnswer::Answers(200..=299)) => {
            judged.ask(rule, Verdict::Fail, plain("accept-s3-plain"), ask());
        }
        // it takes the request and denies it for want of a signature: the transport is open
        Some(PlainAnswer::Answers(403)) if facts.policy == S3Policy::AllowsPlain => {
            judged.ask(rule, Verdict::Fail, plain("accept-s3-plain"), ask());
        }
        Some(PlainAnswer::Answers(_)) if facts.plain_endpoint => {
            judged.ask(rule, Verdict::Fail, plain("accept-s3-plain"), ask());
        }
        Some(PlainAnswer::Answers(_)) => {
            judged.ask(
                rule,
                Verdict::Unknown,
                plain("accept-s3-plain-denied"),
                ask(),
            );
        }
        Some(PlainAnswer::Unclear(detail)) => {
            let msg = Msg::new("accept-s3-unclear").arg("detail", detail.as_str());
            judged.ask(rule, Verdict::Unknown, msg, ask());
        }
        None => {
            judged.ask(
                rule,
                Verdict::Unknown,
                Msg::new("accept-s3-not-tried"),
                ask(),
            );
        }
    }
}

/// The metadata service of a machine, asked without a token.
#[derive(Clone, Debug, Serialize)]
pub struct ImdsFacts {
    pub url: String,
    pub answer: Imds,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", content = "detail", rename_all = "snake_case")]
pub enum Imds {
    /// Its own refusal, with this status.
    NeedsToken(u16),
    /// Answered.
    Open(u16),
    /// Nothing is there: the connection is refused, or no way leads there.
    Absent(String),
    Unclear(String),
}

/// Judges the metadata service.
pub fn imds(book: &Security, facts: &ImdsFacts) -> Vec<Finding> {
    let mut judged = Judged::new(book, &facts.url);
    let rule = "imds";
    let ask = || Msg::new("accept-ask-imds");
    match &facts.answer {
        Imds::NeedsToken(status) => {
            let msg = Msg::new("accept-imds-token").arg("status", status.to_string());
            judged.say(rule, Verdict::Pass, msg);
        }
        Imds::Open(status) => {
            let msg = Msg::new("accept-imds-open").arg("status", status.to_string());
            judged.ask(rule, Verdict::Warn, msg, ask());
        }
        Imds::Absent(_) => judged.say(rule, Verdict::Pass, Msg::new("accept-imds-absent")),
        Imds::Unclear(detail) => {
            let msg = Msg::new("accept-imds-unclear").arg("detail", detail.as_str());
            judged.ask(rule, Verdict::Unknown, msg, ask());
        }
    }
    judged.findings
}
