//! What a bucket says of its own encryption: the default for new objects, and whether a policy denies requests that are not
//! encrypted. Two questions, signed, nothing changed.

use crate::{Credentials, ObjectError, Store, Target};
use lessee_accept::security::{S3Encryption, S3Policy};
use serde_json::Value;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// Asks a bucket; `roots` (DER) are trusted beside those of the system.
pub fn ask(
    target: &Target,
    credentials: &Credentials,
    roots: &[Vec<u8>],
) -> (S3Encryption, S3Policy) {
    let unclear = |detail: String| (S3Encryption::Unclear(detail), S3Policy::NotSeen);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(e) => return unclear(e.to_string()),
    };
    let store = match Store::trusting(target, credentials, roots) {
        Ok(store) => store,
        Err(e) => return unclear(e.to_string()),
    };
    runtime.block_on(async {
        let both = async {
            let encryption = encryption(store.setting("encryption").await);
            let policy = match encryption {
                // who may not ask the first will not be told the second
                S3Encryption::NoBucket | S3Encryption::Denied(_) => S3Policy::NotSeen,
                _ => policy(store.setting("policy").await, target.bucket()),
            };
            (encryption, policy)
        };
        match tokio::time::timeout(PATIENCE, both).await {
            Ok(answers) => answers,
            Err(_) => unclear("no answer in time".to_owned()),
        }
    })
}

fn encryption(answer: Result<String, ObjectError>) -> S3Encryption {
    match answer {
        Ok(xml) => match algorithm(&xml) {
            Some(algorithm) => S3Encryption::Default(algorithm),
            None => S3Encryption::Unclear("an answer without an algorithm".to_owned()),
        },
        Err(ObjectError::Status { detail, .. })
            if detail.starts_with("ServerSideEncryptionConfigurationNotFound") =>
        {
            S3Encryption::None
        }
        Err(ObjectError::NoBucket { .. }) => S3Encryption::NoBucket,
        Err(ObjectError::Denied { detail, .. }) => S3Encryption::Denied(detail),
        Err(e) => S3Encryption::Unclear(e.to_string()),
    }
}

/// The text of the first `SSEAlgorithm`.
fn algorithm(xml: &str) -> Option<String> {
    let (_, rest) = xml.split_once("SSEAlgorithm>")?;
    let (name, _) = rest.split_once('<')?;
    let name = name.trim();
    (!name.is_empty() && name.len() < 40).then(|| name.to_owned())
}

fn policy(answer: Result<String, ObjectError>, bucket: &str) -> S3Policy {
    match answer {
        Ok(json) => match denies_plain(&json, bucket) {
            Some(true) => S3Policy::DeniesPlain,
            Some(false) => S3Policy::AllowsPlain,
            None => S3Policy::NotSeen,
        },
        Err(ObjectError::Status { detail, .. }) if detail.starts_with("NoSuchBucketPolicy") => {
            S3Policy::AllowsPlain
        }
        Err(_) => S3Policy::NotSeen,
    }
}

/// Whether the statements deny everybody everything that does not come encrypted, of the bucket and of each of its objects;
/// `None`: no policy.
fn denies_plain(json: &str, bucket: &str) -> Option<bool> {
    let doc: Value = serde_json::from_str(json).ok()?;
    let statements = list(doc.get("Statement")?);
    let denying: Vec<&Value> = statements.into_iter().filter(|s| denies_all(s)).collect();
    let covered = |whole: &dyn Fn(&str) -> bool| {
        let resources = denying.iter().filter_map(|s| s.get("Resource"));
        let mut all = resources.flat_map(list).filter_map(Value::as_str);
        all.any(|r| resource(r).is_some_and(whole))
    };
    // the start of a name, where a star follows
    let start = |pattern: &str| {
        let start = pattern.strip_suffix('*')?;
        (!start.contains(['*', '?', '$'])).then(|| start.to_owned())
    };
    let itself = |p: &str| p == bucket || start(p).is_some_and(|s| bucket.starts_with(&s));
    let objects = |p: &str| start(p).is_some_and(|s| format!("{bucket}/").starts_with(&s));
    Some(covered(&itself) && covered(&objects))
}

/// The part of a resource that names a bucket or objects: `*`, or what follows `arn:aws:s3:::`.
fn resource(text: &str) -> Option<&str> {
    if text == "*" {
        return Some(text);
    }
    let (head, name) = text.split_once(":::")?;
    let partition = head.strip_prefix("arn:")?.strip_suffix(":s3")?;
    partition.starts_with("aws").then_some(name)
}

/// A statement that denies everybody every action without encryption, whatever it is about.
fn denies_all(statement: &Value) -> bool {
    let one = |value: Option<&Value>, wanted: &[&str]| {
        let texts = value.map(list).unwrap_or_default();
        texts.iter().any(|v| match v {
            Value::String(text) => wanted.iter().any(|w| text.eq_ignore_ascii_case(w)),
            Value::Bool(b) => wanted.contains(&b.to_string().as_str()),
            _ => false,
        })
    };
    let principal = statement.get("Principal");
    let everybody = one(principal, &["*"]) || one(principal.and_then(|p| p.get("AWS")), &["*"]);
    let excepted = ["NotPrincipal", "NotAction", "NotResource"];
    // a second condition, or another operator, narrows the first
    let alone = |value: Option<&Value>| -> Option<(String, Value)> {
        let mut all = value?.as_object()?.iter();
        match (all.next(), all.next()) {
            (Some((key, value)), None) => Some((key.to_ascii_lowercase(), value.clone())),
            _ => None,
        }
    };
    let operator = alone(statement.get("Condition")).filter(|(name, _)| name == "bool");
    let condition = operator.and_then(|(_, keys)| alone(Some(&keys)));
    let plain = condition
        .is_some_and(|(key, value)| key == "aws:securetransport" && one(Some(&value), &["false"]));
    statement.get("Effect").and_then(Value::as_str) == Some("Deny")
        && everybody
        && excepted.iter().all(|key| statement.get(key).is_none())
        && one(statement.get("Action"), &["s3:*", "*"])
        && plain
}

/// The members of a list, or the one value that stands without it.
fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(all) => all.iter().collect(),
        other => vec![other],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_denial_for_everybody_and_everything_counts() {
        let policy = |statement: &str| {
            let json = format!(r#"{{"Version":"2012-10-17","Statement":{statement}}}"#);
            denies_plain(&json, "b")
        };
        let secure = r#"{"Bool":{"aws:SecureTransport":"false"}}"#;
        let full = format!(
            r#"[{{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"],"Condition":{secure}}}]"#
        );
        assert_eq!(policy(&full), Some(true));
        let single = full.trim_matches(['[', ']']);
        assert_eq!(policy(single), Some(true), "a statement without a list");
        for (from, to) in [
            ("Deny", "Allow"),
            (
                r#""Principal":"*""#,
                r#""Principal":{"AWS":"arn:aws:iam::1:root"}"#,
            ),
            ("s3:*", "s3:GetObject"),
            (r#""false""#, r#""true""#),
            (
                secure,
                r#"{"Bool":{"aws:SecureTransport":"false"},"StringEquals":{"a":"b"}}"#,
            ),
        ] {
            assert_eq!(policy(&full.replace(from, to)), Some(false), "{to}");
        }
        let of = |resource: &str| {
            let resources = r#"["arn:aws:s3:::b","arn:aws:s3:::b/*"]"#;
            policy(&full.replace(resources, resource))
        };
        for (resource, covered) in [
            (r#""*""#, true),
            (r#""arn:aws:s3:::*""#, true),
            (r#""arn:aws-cn:s3:::b*""#, true),
            (r#""arn:aws:s3:::b""#, false),
            (r#""arn:aws:s3:::b/*""#, false),
            (r#"["arn:aws:s3:::b","arn:aws:s3:::b/public/*"]"#, false),
            (r#"["arn:aws:s3:::c","arn:aws:s3:::c/*"]"#, false),
            (r#"["arn:aws:s3:::b","arn:aws:s3:::b/*.txt"]"#, false),
            (r#"["arn:aws:sqs:::b","arn:aws:sqs:::b/*"]"#, false),
        ] {
            assert_eq!(of(resource), Some(covered), "{resource}");
        }
        // two statements together
        let half = |r: &str| {
            let list = r#"["arn:aws:s3:::b","arn:aws:s3:::b/*"]"#;
            single.replace(list, r)
        };
        let both = format!(
            "[{},{}]",
            half(r#""arn:aws:s3:::b""#),
            half(r#""arn:aws:s3:::b/*""#)
        );
        assert_eq!(policy(&both), Some(true));
        for (from, to) in [
            (r#""Action":"s3:*""#, r#""NotAction":"s3:GetObject""#),
            (r#""Principal":"*""#, r#""NotPrincipal":{"AWS":"x"}"#),
            (r#""Resource":"#, r#""NotResource":"#),
            ("Bool", "BoolIfExists"),
            ("Bool", "StringEquals"),
        ] {
            assert_eq!(policy(&full.replace(from, to)), Some(false), "{to}");
        }
        assert_eq!(denies_plain("<html>", "b"), None);
    }

    #[test]
    fn the_algorithm_is_read_with_and_without_a_prefix() {
        let of = |xml: &str| algorithm(xml);
        assert_eq!(
            of("<a><SSEAlgorithm>AES256</SSEAlgorithm></a>").as_deref(),
            Some("AES256")
        );
        assert_eq!(
            of("<s3:SSEAlgorithm> aws:kms </s3:SSEAlgorithm>").as_deref(),
            Some("aws:kms")
        );
        assert_eq!(of("<SSEAlgorithm></SSEAlgorithm>"), None);
        assert_eq!(of("SSEAlgorithm>"), None);
    }
}
