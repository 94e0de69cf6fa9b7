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
                _ => policy(store.setting("policy").await),
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

fn policy(answer: Result<String, ObjectError>) -> S3Policy {
    match answer {
        Ok(json) => match denies_plain(&json) {
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

/// Whether a statement denies everybody everything that does not come encrypted; `None`: no policy.
fn denies_plain(json: &str) -> Option<bool> {
    let doc: Value = serde_json::from_str(json).ok()?;
    let statements = list(doc.get("Statement")?);
    let one = |value: Option<&Value>, wanted: &[&str]| {
        let texts = value.map(list).unwrap_or_default();
        texts.iter().any(|v| match v {
            Value::String(text) => wanted.iter().any(|w| text.eq_ignore_ascii_case(w)),
            Value::Bool(b) => wanted.contains(&b.to_string().as_str()),
            _ => false,
        })
    };
    let key = |value: &Value, name: &str| -> Option<Value> {
        let object = value.as_object()?;
        let found = object.iter().find(|(k, _)| k.eq_ignore_ascii_case(name));
        found.map(|(_, v)| v.clone())
    };
    Some(statements.iter().any(|s| {
        let everybody = one(s.get("Principal"), &["*"])
            || s.get("Principal")
                .is_some_and(|p| one(p.get("AWS"), &["*"]));
        let secure = s
            .pointer("/Condition/Bool")
            .and_then(|c| key(c, "aws:SecureTransport"));
        // a second condition narrows the first
        let conditions = s.get("Condition").and_then(Value::as_object);
        let alone = conditions.is_some_and(|c| c.len() == 1)
            && s.pointer("/Condition/Bool")
                .and_then(Value::as_object)
                .is_some_and(|b| b.len() == 1);
        one(s.get("Effect"), &["Deny"])
            && everybody
            && alone
            && one(s.get("Action"), &["s3:*", "*"])
            && one(secure.as_ref(), &["false"])
    }))
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
            denies_plain(&format!(
                r#"{{"Version":"2012-10-17","Statement":{statement}}}"#
            ))
        };
        let secure = r#"{"Bool":{"aws:SecureTransport":"false"}}"#;
        let full = format!(
            r#"[{{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["x","x/*"],"Condition":{secure}}}]"#
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
        assert_eq!(denies_plain("<html>"), None);
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
