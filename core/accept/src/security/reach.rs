//! An endpoint that could not be reached, and one that answers without encryption.

use super::{Judged, Security};
use crate::finding::{Finding, Verdict};
use lessee_model::Msg;
use serde::Serialize;

/// Why there are no facts of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", content = "detail", rename_all = "snake_case")]
pub enum Unreached {
    /// The name has no address.
    Name(String),
    Refused,
    TimedOut,
    /// No way leads to the address (`EHOSTUNREACH`).
    NoRoute,
    /// Reached, but it speaks something else, or breaks the rules of its protocol.
    OtherProtocol(String),
    Other(String),
}

impl Unreached {
    fn msg(&self) -> Msg {
        match self {
            Unreached::Name(detail) => Msg::new("accept-reach-name").arg("detail", detail.as_str()),
            Unreached::Refused => Msg::new("accept-reach-refused"),
            Unreached::TimedOut => Msg::new("accept-reach-timed-out"),
            Unreached::NoRoute => Msg::new("accept-reach-no-route"),
            Unreached::OtherProtocol(detail) => {
                Msg::new("accept-reach-protocol").arg("detail", detail.as_str())
            }
            Unreached::Other(detail) => {
                Msg::new("accept-reach-other").arg("detail", detail.as_str())
            }
        }
    }
}

impl Judged<'_> {
    pub(super) fn unreached(&mut self, why: &Unreached) {
        let ask = Msg::new("accept-ask-reach");
        self.ask("endpoint-reach", Verdict::Unknown, why.msg(), ask);
    }
}

/// What a plain HTTP request to a port came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlainHttp {
    pub port: u16,
    pub answer: PlainAnswer,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", content = "detail", rename_all = "snake_case")]
pub enum PlainAnswer {
    /// Nothing listens, it closes without a word, or it says that it takes HTTPS alone.
    Refused(String),
    /// Sends on to HTTPS.
    Redirects(u16),
    /// Answers the request with this status.
    Answers(u16),
    Unclear(String),
}

impl Judged<'_> {
    /// Whether plain HTTP is refused.
    pub(super) fn plain(&mut self, plain: &PlainHttp) {
        let rule = "plain-http";
        let with = |id: &'static str, status: u16| {
            Msg::new(id)
                .arg("status", status.to_string())
                .arg("port", plain.port.to_string())
        };
        match &plain.answer {
            PlainAnswer::Refused(_) => {
                let msg = Msg::new("accept-plain-refused").arg("port", plain.port.to_string());
                self.say(rule, Verdict::Pass, msg);
            }
            PlainAnswer::Redirects(status) => {
                self.say(rule, Verdict::Pass, with("accept-plain-redirects", *status));
            }
            PlainAnswer::Answers(status @ 200..=399) => {
                let ask = Msg::new("accept-ask-plain");
                let msg = with("accept-plain-served", *status);
                self.ask(rule, Verdict::Fail, msg, ask);
            }
            // credentials would be sent in the clear
            PlainAnswer::Answers(status @ (401 | 403 | 407)) => {
                let ask = Msg::new("accept-ask-plain");
                let msg = with("accept-plain-login", *status);
                self.ask(rule, Verdict::Warn, msg, ask);
            }
            PlainAnswer::Answers(status) => {
                // another path may be served all the same
                let msg = with("accept-plain-error", *status);
                self.ask(rule, Verdict::Unknown, msg, Msg::new("accept-ask-plain"));
            }
            PlainAnswer::Unclear(detail) => {
                let msg = Msg::new("accept-plain-unclear")
                    .arg("port", plain.port.to_string())
                    .arg("detail", detail.as_str());
                self.ask(rule, Verdict::Unknown, msg, Msg::new("accept-ask-plain"));
            }
        }
    }
}

/// An endpoint that was given as `http://`: it should refuse or send on to HTTPS.
pub fn plain_http(
    book: &Security,
    subject: &str,
    facts: &Result<PlainHttp, Unreached>,
) -> Vec<Finding> {
    let mut judged = Judged::new(book, subject);
    match facts {
        Ok(plain) => judged.plain(plain),
        Err(why) => judged.unreached(why),
    }
    judged.findings
}
