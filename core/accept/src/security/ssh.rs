//! What an SSH server offers before anybody logs in: its banner and the lists of its first packet (RFC 4253).
//!
//! Not seen: the host key itself, so its length; which ways to log in there are.

use super::reach::Unreached;
use super::tables::Strength;
use super::{Judged, Security, list};
use crate::finding::{Finding, Verdict};
use lessee_model::Msg;
use serde::Serialize;

/// As the server offers, in its order; of both directions each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SshFacts {
    /// `SSH-2.0-OpenSSH_9.2p1 Debian-2`
    pub banner: String,
    pub kex: Vec<String>,
    pub host_keys: Vec<String>,
    pub ciphers: Vec<String>,
    pub macs: Vec<String>,
}

/// Judges what a server offers.
pub fn ssh(book: &Security, subject: &str, facts: &Result<SshFacts, Unreached>) -> Vec<Finding> {
    let mut judged = Judged::new(book, subject);
    match facts {
        Ok(facts) => offered(&mut judged, facts),
        Err(why) => judged.unreached(why),
    }
    judged.findings
}

fn offered(judged: &mut Judged<'_>, facts: &SshFacts) {
    let banner = |id: &'static str| Msg::new(id).arg("banner", facts.banner.as_str());
    if facts.banner.starts_with("SSH-2.0-") {
        let msg = banner("accept-ssh-protocol");
        judged.say("ssh-protocol", Verdict::Pass, msg);
    } else {
        let msg = banner("accept-ssh-protocol-old");
        judged.ask(
            "ssh-protocol",
            Verdict::Fail,
            msg,
            Msg::new("accept-ask-ssh"),
        );
    }
    worth(judged, "ssh-kex", &facts.kex);
    worth(judged, "ssh-host-key", &facts.host_keys);
    worth(judged, "ssh-cipher", &facts.ciphers);
    // an AEAD cipher brings its own integrity, so a server may name no MAC at all
    if !facts.macs.is_empty() {
        worth(judged, "ssh-mac", &facts.macs);
    }
    prefix_truncation(judged, facts);
}

/// One list, by the table; the rule's name is also the kind of the algorithms.
fn worth(judged: &mut Judged<'_>, rule: &'static str, names: &[String]) {
    let book = judged.book;
    let of = |wanted: Option<Strength>| {
        let those = names.iter().filter(|n| book.strength(rule, n) == wanted);
        those.collect::<Vec<_>>()
    };
    let (broken, weak, strange) = (
        of(Some(Strength::Broken)),
        of(Some(Strength::Weak)),
        of(None),
    );
    let with = |id: &'static str, names: &[&String]| Msg::new(id).arg("list", list(names));
    let ask = || Msg::new("accept-ask-ssh");
    if !broken.is_empty() {
        let mut all = broken;
        all.extend(weak);
        judged.ask(rule, Verdict::Fail, with("accept-ssh-broken", &all), ask());
    } else if !strange.is_empty() {
        let msg = with("accept-ssh-strange", &strange);
        judged.ask(rule, Verdict::Unknown, msg, ask());
    } else if !weak.is_empty() {
        judged.ask(rule, Verdict::Warn, with("accept-ssh-weak", &weak), ask());
    } else {
        let good = of(Some(Strength::Good));
        if good.is_empty() {
            judged.ask(rule, Verdict::Unknown, Msg::new("accept-ssh-none"), ask());
        } else {
            judged.say(rule, Verdict::Pass, with("accept-ssh-good", &good));
        }
    }
}

/// "Terrapin" (CVE-2023-48795): some ciphers let packets be cut out at the start unless both sides know the strict exchange.
fn prefix_truncation(judged: &mut Judged<'_>, facts: &SshFacts) {
    let has = |list: &[String], what: &dyn Fn(&str) -> bool| list.iter().any(|n| what(n));
    let chacha = has(&facts.ciphers, &|n| n.starts_with("chacha20-poly1305"));
    let cbc = has(&facts.ciphers, &|n| n.contains("-cbc"));
    let etm = has(&facts.macs, &|n| n.contains("-etm"));
    let strict = has(&facts.kex, &|n| n.starts_with("kex-strict-s-v00"));
    let rule = "ssh-prefix-truncation";
    if facts.kex.is_empty() || facts.ciphers.is_empty() {
        let ask = Msg::new("accept-ask-ssh");
        judged.ask(rule, Verdict::Unknown, Msg::new("accept-ssh-none"), ask);
    } else if strict || !(chacha || cbc && etm) {
        judged.say(rule, Verdict::Pass, Msg::new("accept-ssh-strict"));
    } else {
        let msg = Msg::new("accept-ssh-truncation");
        judged.ask(rule, Verdict::Warn, msg, Msg::new("accept-ask-ssh-update"));
    }
}
