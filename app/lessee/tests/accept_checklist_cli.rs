//! The checklists of `accept security`, through the real binary: every item a question until evidence is seen.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Home, Run};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn security(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["accept", "security"], args, &["-o", "json"]].concat())
}

fn items(doc: &Value) -> Vec<&Value> {
    let findings = doc["findings"].as_array().unwrap();
    findings
        .iter()
        .filter(|f| f["rule"] == "checklist")
        .collect()
}

#[track_caller]
fn item<'a>(doc: &'a Value, id: &str) -> &'a Value {
    let all = items(doc);
    let found = all.into_iter().find(|f| f["subject"] == id);
    found.unwrap_or_else(|| panic!("no item {id}"))
}

#[test]
fn every_item_of_every_profile_asks_in_both_languages_and_none_passes_by_itself() {
    let home = Home::new();
    let all = "gdpr,mlps2,mlps3,iso27001,soc2,hipaa,cn-export,tpn";
    let english = security(&home, &["--profile", all]).exits(7).json();
    let chinese = security(&home, &["--profile", all, "--lang", "zh-CN"])
        .exits(7)
        .json();
    assert!(items(&english).len() > 100);
    for (en, zh) in items(&english).into_iter().zip(items(&chinese)) {
        assert_eq!(en["subject"], zh["subject"]);
        assert_eq!(en["verdict"], "unknown", "{en}");
        assert!(en["source"].is_string() && en["as_of"].is_string(), "{en}");
        for (one, is_chinese) in [(en, false), (zh, true)] {
            for key in ["reason", "ask"] {
                let text = one[key].as_str().unwrap();
                // a text that is missing shows as [its identifier]
                assert!(!text.contains("[accept-"), "{text}");
                let han = text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
                assert_eq!(han, is_chinese, "{text}");
            }
        }
    }
    for doc in [&english, &chinese] {
        let notice = doc["notices"][0].as_str().unwrap();
        assert!(notice.contains("Not legal advice") || notice.contains("不构成法律意见"));
        assert!(!doc.to_string().contains("is compliant"));
    }
}

#[test]
fn levels_2_and_3_ask_for_different_things_and_doubtful_numbers_are_marked() {
    let home = Home::new();
    let level = |name: &str| security(&home, &["--profile", name]).exits(7).json();
    let (two, three) = (level("mlps2"), level("mlps3"));
    let has = |doc: &Value, id: &str| items(doc).iter().any(|f| f["subject"] == id);
    // encryption in transit and at rest, two factors, real-time backup elsewhere: level 3 alone
    for id in [
        "mlps.conf.a",
        "mlps.conf.b",
        "mlps.id.d",
        "mlps.bk.b",
        "mlps.cloud.kms",
    ] {
        assert!(!has(&two, id) && has(&three, id), "{id}");
    }
    assert!(has(&two, "mlps.bk.l2") && !has(&three, "mlps.bk.l2"));
    for id in [
        "mlps.cloud.loc",
        "mlps.cloud.res",
        "mlps.cloud.bk.a",
        "mlps.cloud.ops",
    ] {
        assert!(has(&two, id) && has(&three, id), "{id}");
    }
    let said = |doc: &Value, id: &str| item(doc, id)["reason"].as_str().unwrap().to_owned();
    assert!(said(&three, "mlps.conf.a").contains("8.1.4.8 a) (clause number from a copy"));
    assert!(said(&three, "mlps.net.a").contains("8.1.2.1 (clause number not verified)"));
    assert!(said(&two, "mlps.id.a").contains("7.1.4.1 a)"));
    assert!(said(&two, "mlps.id.b").contains("not verified for level 2"));
    let gdpr = level("gdpr");
    for one in items(&gdpr) {
        let text = one["reason"].as_str().unwrap();
        assert!(
            !text.contains("Art.") || text.contains("not verified"),
            "{text}"
        );
    }
}

#[test]
fn evidence_that_the_user_holds_is_kept_by_its_hash() {
    let home = Home::new();
    let file = home.file("contract.pdf", "the agreement");
    let seen = format!("gdpr.28.3={file}");
    let doc = security(&home, &["--profile", "gdpr", "--seen", &seen])
        .exits(7)
        .json();
    let finding = item(&doc, "gdpr.28.3");
    assert_eq!(finding["verdict"], "pass");
    assert!(
        finding["reason"]
            .as_str()
            .unwrap()
            .contains("was not judged"),
        "{finding}"
    );
    let hash: String = Sha256::digest(b"the agreement")
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(finding["evidence"][0], hash.as_str());
    let kept = doc["evidence"].as_array().unwrap();
    assert!(
        kept.iter()
            .any(|e| e["sha256"] == hash.as_str() && e["kind"] == "document")
    );
    assert_eq!(item(&doc, "gdpr.28.1")["verdict"], "unknown");

    let run =
        |args: &[&str]| home.run(&[&["accept", "security", "--profile", "gdpr"], args].concat());
    run(&["--seen", "gdpr.28.33=x"]).says(2, &["gdpr.28.33", "Did you mean"]);
    run(&["--seen", "nothing"]).says(2, &["ITEM=FILE"]);
    run(&["--seen", "gdpr.28.3=/no/such/file"]).says(2, &["/no/such/file"]);
    let empty = home.file("empty", "");
    run(&["--seen", &format!("gdpr.28.3={empty}")]).says(2, &["is empty"]);
    // an item of a checklist that was not chosen
    run(&["--seen", &format!("tpn.enc={file}")]).says(2, &["no item of the checklists"]);
    home.run(&["accept", "security", "--profile", "gdrp"])
        .says(2, &["gdrp", "Did you mean `gdpr`"]);
}

#[test]
fn machine_evidence_answers_what_it_can_and_what_speaks_against_it_is_named() {
    let home = Home::new();
    let encrypted = r#"{"blockdevices":[{"name":"sda","type":"disk","mountpoints":[null],"children":[{"name":"c","type":"crypt","fstype":"ext4","mountpoints":["/"]},{"name":"s","type":"crypt","fstype":"swap","mountpoints":["[SWAP]"]}]}]}"#;
    let file = home.file("good.json", encrypted);
    let doc = security(&home, &["--profile", "mlps3,gdpr", "--machine", &file])
        .exits(7)
        .json();
    let stored = item(&doc, "mlps.conf.b");
    assert_eq!(stored["verdict"], "pass", "{stored}");
    assert_eq!(stored["evidence"][0], doc["evidence"][0]["sha256"]);
    assert!(
        stored["reason"]
            .as_str()
            .unwrap()
            .contains("disk-encryption")
    );
    // at rest is seen, on the way is not: both are asked for
    assert_eq!(item(&doc, "gdpr.32.enc")["verdict"], "unknown");
    assert_eq!(item(&doc, "mlps.conf.a")["verdict"], "unknown");

    let plain = home.file("plain.json", encrypted.replace("crypt", "part"));
    let doc = security(&home, &["--profile", "mlps3", "--machine", &plain])
        .exits(7)
        .json();
    let stored = item(&doc, "mlps.conf.b");
    assert_eq!(stored["verdict"], "unknown");
    let said = stored["reason"].as_str().unwrap();
    assert!(
        said.contains("speak against it") && said.contains("disk-encryption"),
        "{said}"
    );
}

#[test]
fn a_bucket_that_was_not_reached_speaks_against_storage() {
    let home = Home::new();
    let listing = r#"{"blockdevices":[{"name":"c","type":"crypt","fstype":"ext4","mountpoints":["/"]},{"name":"s","type":"crypt","fstype":"swap","mountpoints":["[SWAP]"]}]}"#;
    let file = home.file("good.json", listing);
    let look = |more: &[&str]| {
        let args = ["--profile", "mlps3", "--machine", &file];
        let doc = security(&home, &[&args, more].concat()).exits(7).json();
        item(&doc, "mlps.conf.b")["verdict"].clone()
    };
    assert_eq!(look(&[]), "pass");
    let bucket = ["--endpoint", "s3://bucket", "--s3-endpoint", "ftp://a"];
    assert_eq!(look(&bucket), "unknown");
    // a web server that was not says nothing of storage
    assert_eq!(look(&["--endpoint", "http://127.0.0.1:1"]), "pass");
}

#[test]
fn what_a_provider_claims_is_a_question() {
    let home = Home::new();
    let doc = security(&home, &["--provider", "RunPod"]).exits(7).json();
    let findings = doc["findings"].as_array().unwrap();
    assert!(findings.len() >= 2);
    for finding in findings {
        assert_eq!(
            (&finding["rule"], &finding["verdict"]),
            (&"claim".into(), &"unknown".into())
        );
        let said = finding["reason"].as_str().unwrap();
        assert!(
            said.contains("Claimed by") && said.contains("2026-08-20"),
            "{said}"
        );
        assert!(finding["ask"].as_str().unwrap().contains("certificate"));
    }
    let doc = security(&home, &["--provider", "coreweave", "--profile", "soc2"])
        .exits(7)
        .json();
    let findings = doc["findings"].as_array().unwrap();
    assert!(findings.iter().any(|f| f["rule"] == "claim"));
    // nobody saw any: said, and asked for
    let doc = security(&home, &["--provider", "阿里云"]).exits(7).json();
    assert_eq!(doc["findings"][0]["code"], "claim_none");
    home.run(&["accept", "security", "--provider", "nobody"])
        .says(2, &["nobody"]);
}
