//! What the readers of TOML and JSON say of a wrong value, in messages of our own: what is expected, and
//! what stands there. The readers speak in English fragments with the names of Rust types in them.
//!
//! Not here: where the value stands; the callers know that.

use crate::{Arg, Msg, did_you_mean};

/// The problem, and how to mend it where that can be said.
pub fn wording(message: &str) -> (Msg, Option<Msg>) {
    let what = message.lines().next().unwrap_or(message).trim();
    let first = || quoted(what).into_iter().next().unwrap_or_default();
    if let Some((word, known)) = unknown(what) {
        let id = match what.starts_with("unknown variant") {
            true => "workload-unknown-word",
            false => "workload-unknown-field",
        };
        return (Msg::new(id).arg("field", word), suggestion(word, &known));
    }
    if what.starts_with("missing field") {
        return (Msg::new("value-field-missing").arg("field", first()), None);
    }
    if what.starts_with("duplicate") {
        return (Msg::new("value-twice"), None);
    }
    if let Some(mismatch) = mismatch(what) {
        return (mismatch, None);
    }
    if let Some((id, text)) = own_words(what) {
        return (Msg::new(id).arg("text", text), None);
    }
    match syntax(what) {
        Some(id) => (Msg::new(id), Some(Msg::new("toml-hint"))),
        None => (
            Msg::new("workload-bad-value").arg("detail", Arg::Text(what.to_owned())),
            None,
        ),
    }
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// "unknown field `x`, expected one of `a`, `b`" (or "expected `a`", or "there are no fields").
fn unknown(what: &str) -> Option<(&str, Vec<&str>)> {
    let words = ["unknown field ", "unknown variant "];
    words.iter().find(|w| what.starts_with(**w))?;
    let mut words = quoted(what).into_iter();
    Some((words.next()?, words.collect()))
}

fn suggestion(word: &str, known: &[&str]) -> Option<Msg> {
    match did_you_mean(word, known.iter().copied()) {
        Some(best) => Some(Msg::new("hint-did-you-mean").arg("word", best)),
        None if known.is_empty() => None,
        None => Some(Msg::new("hint-known-words").arg("words", known.join(", "))),
    }
}

/// "invalid type: string "abc", expected f64".
fn mismatch(what: &str) -> Option<Msg> {
    if what.starts_with("data did not match any variant") {
        return Some(Msg::new("value-share-expected"));
    }
    let kinds = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = kinds.iter().find_map(|k| what.strip_prefix(k))?;
    let (found, expected) = rest.rsplit_once(", expected ")?;
    let found: Arg = match found.split(' ').next()? {
        "sequence" => Msg::new("value-list").into(),
        "map" => Msg::new("value-section").into(),
        "null" | "unit" => Msg::new("value-nothing").into(),
        // string "abc", integer `5`, floating point `1.5`, boolean `true`
        _ => found
            .trim_start_matches(|c| c != '"' && c != '`')
            .trim_matches(['`', '"'])
            .into(),
    };
    Some(
        Msg::new("value-wrong-kind")
            .arg("expected", expected_thing(expected))
            .arg("found", found),
    )
}

/// The readers' word for what they expect -> ours.
fn expected_thing(expected: &str) -> Msg {
    let starts = |words: &[&str]| words.iter().any(|w| expected.starts_with(w));
    Msg::new(if starts(&["a size"]) {
        "value-size"
    } else if starts(&["a duration"]) {
        "value-duration"
    } else if starts(&["a time"]) {
        "value-time"
    } else if starts(&["a count", "u8", "u16", "u32", "u64", "usize", "i32", "i64"]) {
        "value-count"
    } else if starts(&["an amount"]) {
        "value-amount"
    } else if starts(&["f32", "f64"]) {
        "value-number"
    } else if starts(&["a boolean"]) {
        "value-yes-no"
    } else if starts(&["an array of length", "a tuple of size"]) {
        "value-pair"
    } else if starts(&["a sequence", "a tuple"]) {
        "value-list"
    } else if starts(&["struct", "a map"]) {
        "value-section"
    } else {
        "value-text"
    })
}

/// The sentences of our own types, which reach the readers' errors as text: "`x` is not a size: write it ...".
fn own_words(what: &str) -> Option<(&'static str, &str)> {
    let rest = what.strip_prefix('`')?;
    [
        ("` is not a size", "value-not-a-size"),
        ("` is not a duration", "value-not-a-duration"),
        ("` is not a count", "value-not-a-count"),
        ("` is not a share", "value-not-a-share"),
        ("` is negative", "value-negative"),
        ("` is not a currency", "value-not-a-currency"),
        ("` is not an amount", "value-not-an-amount"),
        ("` is too large for an amount", "value-amount-too-large"),
        ("` is not a range", "value-not-a-range"),
        ("` is not a date", "value-not-a-date"),
        ("` names no GPU", "value-names-no-gpu"),
    ]
    .into_iter()
    .find_map(|(words, id)| rest.find(words).map(|end| (id, &rest[..end])))
}

/// What is wrong with the shape of TOML text.
fn syntax(what: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|w| what.contains(w));
    if has(&["must be quoted", "invalid unquoted key"]) {
        Some("toml-unquoted")
    } else if has(&[
        "unclosed",
        "opening",
        "table open",
        "invalid basic string",
        "invalid literal",
    ]) {
        Some("toml-unclosed")
    } else if has(&[
        "leading zero",
        "radix",
        "sign",
        "overflowed",
        "may only go between",
    ]) {
        Some("toml-number")
    } else if has(&["value", "key", "assignment", "extra `=`"]) {
        Some("toml-pair")
    } else if has(&[
        "unexpected",
        "comma",
        "comment",
        "carriage",
        "escape",
        "unicode",
        "recurse",
    ]) {
        Some("toml-other")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::parse_workload;

    fn id(text: &str) -> (String, Option<(usize, usize)>) {
        let e = parse_workload(text, "w").expect_err("wrong");
        (e.problem.id.to_string(), e.line)
    }

    #[test]
    fn no_word_of_the_readers_gets_out() {
        for (text, wanted, line) in [
            ("[serve]\nrate = \"abc\"", "value-wrong-kind", 2),
            ("[serve]\nrate = [1]", "value-wrong-kind", 2),
            ("[constraints]\nspot = 1", "value-wrong-kind", 2),
            ("[constraints]\ngpus = \"H100\"", "value-wrong-kind", 2),
            ("name = 5", "value-wrong-kind", 1),
            ("serve = 5", "value-wrong-kind", 1),
            ("[data]\nsize = true", "value-wrong-kind", 2),
            ("[data]\nsize = \"12 parsecs\"", "value-not-a-size", 2),
            ("[constraints]\nbudget = \"much\"", "value-not-an-amount", 2),
            (
                "[constraints]\nbudget = \"1e300 USD\"",
                "value-amount-too-large",
                2,
            ),
            (
                "[money]\nrates = [{from=\"USD\", to=\"CNY\", rate=7.0}]",
                "value-field-missing",
                2,
            ),
            ("kind = serve", "toml-unquoted", 1),
            ("kind = \"serve", "toml-unclosed", 1),
            ("[serve\nrate = 1", "toml-unclosed", 1),
            ("a = 1\nkind", "toml-pair", 2),
            ("name = \"a\"\nname = \"b\"", "value-twice", 2),
            ("[serve]\nrate = 01", "toml-number", 2),
        ] {
            let (found, at) = id(text);
            assert_eq!(
                (found.as_str(), at.map(|a| a.0)),
                (wanted, Some(line)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_expected_and_what_is_there_are_told() {
        let e = parse_workload("[serve]\nrate = \"abc\"", "w").expect_err("wrong");
        let expected = Msg::new("value-wrong-kind")
            .arg("expected", Msg::new("value-number"))
            .arg("found", "abc");
        assert_eq!(e.problem, expected);
    }
}
