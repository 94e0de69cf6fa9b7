//! The security rules on tables of a test's own: what a row may decide, and what speaks against an item of a checklist.

#![allow(clippy::unwrap_used)]

use lessee_accept::security::{PlainAnswer, PlainHttp, Unreached, checklist, plain_http, ssh};
use lessee_accept::security::{Profile, Security, SecuritySources, SshFacts};
use lessee_accept::{Finding, Verdict};

const ITEMS: &str = "\
id,profiles,framework,clause,clause_level2,confidence_clause,responsibility,severity,machine,source,as_of,confidence
x.transit,gdpr,F,1,,,both,high,transit,s,2026,verified
x.ssh,gdpr,F,2,,,both,high,ssh,s,2026,verified
";

fn book(rules: &'static str, algorithms: &'static str) -> Security {
    let head = "provider,profiles,claim,text,stated_at,source,as_of,confidence\n";
    Security::read(&SecuritySources {
        rules,
        algorithms,
        checklist: ITEMS,
        claims: head,
        http_answers: "question,status,text,reading,source,as_of,confidence\n",
        network_mounts: "kind,encrypted_by,broken_by,otherwise,source,as_of,confidence\n",
    })
    .unwrap()
}

fn facts() -> SshFacts {
    let list = |name: &str| vec![name.to_owned()];
    SshFacts {
        banner: "SSH-2.0-x".to_owned(),
        kex: list("k"),
        host_keys: list("h"),
        ciphers: list("c"),
        macs: list("m"),
    }
}

fn of<'a>(findings: &'a [Finding], rule: &str) -> &'a Finding {
    findings.iter().find(|f| f.rule == rule).unwrap()
}

const RULES: &str = "\
rule,limit,text,source,as_of,confidence
ssh-protocol,,t,s,2026,general
ssh-kex,,t,s,2026,verified
ssh-host-key,,t,s,2026,unverified
ssh-cipher,,t,s,2026,secondary
ssh-mac,,t,s,2026,verified
";

const ALGORITHMS: &str = "\
kind,code,name,strength,source,as_of,confidence
ssh-kex,k,,good,s,2026,secondary
ssh-host-key,h,,broken,s,2026,verified
ssh-cipher,c,,broken,s,2026,general
ssh-mac,m,,broken,s,2026,verified
tls-suite,0001,N,broken,s,2026,general
tls-suite,0002,N,broken,s,2026,verified
";

#[test]
fn a_row_that_is_general_knowledge_neither_passes_nor_fails_anything() {
    let book = book(RULES, ALGORITHMS);
    let found = ssh(&book, "ssh://h:22", &Ok(facts()));
    for (rule, verdict) in [
        // the rule itself
        ("ssh-protocol", Verdict::Unknown),
        ("ssh-host-key", Verdict::Unknown),
        // the algorithm
        ("ssh-cipher", Verdict::Unknown),
        ("ssh-kex", Verdict::Pass),
        ("ssh-mac", Verdict::Fail),
    ] {
        let finding = of(&found, rule);
        assert_eq!(finding.verdict, verdict, "{rule}");
        assert_eq!(finding.ask.is_some(), verdict != Verdict::Pass, "{rule}");
    }
    let broken = book.suites(lessee_accept::security::Strength::Broken);
    assert_eq!(broken, [2]);
}

const SURE: &str = "\
rule,limit,text,source,as_of,confidence
ssh-cipher,,t,s,2026,verified
";

const GOOD: &str = "\
kind,code,name,strength,source,as_of,confidence
ssh-kex,k,,good,s,2026,verified
ssh-host-key,h,,good,s,2026,verified
ssh-cipher,c,,good,s,2026,verified
ssh-mac,m,,good,s,2026,verified
";

#[test]
fn what_cannot_be_reached_and_a_login_in_the_clear_speak_against_encryption_on_the_way() {
    let book = book(SURE, GOOD);
    let good = ssh(&book, "ssh://h:22", &Ok(facts()));
    let answers = |more: Vec<Finding>| {
        let found = [good.clone(), more].concat();
        let items = checklist(&book, &[Profile::Gdpr], &found, &[]);
        (items[0].verdict, items[1].verdict)
    };
    assert_eq!(answers(Vec::new()), (Verdict::Pass, Verdict::Pass));
    let login = PlainHttp {
        port: 80,
        answer: PlainAnswer::Answers(401),
    };
    let login = plain_http(&book, "http://h:80", &Ok(login));
    assert_eq!(login[0].verdict, Verdict::Warn);
    assert_eq!(answers(login), (Verdict::Unknown, Verdict::Pass));
    let web = plain_http(&book, "http://h:80", &Err(Unreached::TimedOut));
    assert_eq!(answers(web), (Verdict::Unknown, Verdict::Pass));
    let node = ssh(&book, "ssh://other:22", &Err(Unreached::Refused));
    assert_eq!(answers(node), (Verdict::Unknown, Verdict::Unknown));
}
