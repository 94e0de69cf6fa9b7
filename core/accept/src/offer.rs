//! An offer against what a probe saw of the machine, and the text of a quote against what a contract must say.
//!
//! A quote that is silent on a field is never a pass: silence becomes a question. Words are looked for, sentences are not
//! understood, so each finding shows the line that it rests upon. Fields: `data/accept/contract_fields.csv`.

use crate::finding::{Check, Finding, Verdict};
use crate::table::{Origin, Row, TableError, read};
use lessee_model::probe::{Kept, Severity};
use lessee_model::{Msg, ProbeReport};

/// A field that a contract must speak of, and the words by which it does.
#[derive(Clone, Debug)]
pub struct ContractField {
    pub field: String,
    pub label_en: String,
    pub label_zh: String,
    /// Silence on it leaves the offer undecided; on others it is a warning.
    must: bool,
    why_en: String,
    why_zh: String,
    /// In the renter's favour.
    good: Vec<String>,
    /// Against the renter.
    bad: Vec<String>,
    /// Spoken of, without a side.
    seen: Vec<String>,
    origin: Origin,
}

/// Reads `data/accept/contract_fields.csv`.
///
/// # Errors
/// A row without source, date or confidence, or without any word to look for.
pub fn contract_fields(text: &str) -> Result<Vec<ContractField>, TableError> {
    read("accept/contract_fields.csv", text, |r| {
        let field = ContractField {
            field: r.need("field")?,
            label_en: r.need("label_en")?,
            label_zh: r.need("label_zh")?,
            why_en: r.need("why_en")?,
            why_zh: r.need("why_zh")?,
            must: match r.get("weight")? {
                "must" => true,
                "ask" => false,
                other => return Err(format!("weight: `{other}`")),
            },
            good: words(r, "good")?,
            bad: words(r, "bad")?,
            seen: words(r, "seen")?,
            origin: r.origin()?,
        };
        match field.good.is_empty() && field.bad.is_empty() {
            true => Err("neither good nor bad words".to_owned()),
            false => Ok(field),
        }
    })
}

fn words(r: &Row<'_>, column: &str) -> Result<Vec<String>, String> {
    let cell = r.get(column)?.to_lowercase();
    let parts = cell.split('|').map(str::trim).filter(|w| !w.is_empty());
    Ok(parts.map(str::to_owned).collect())
}

/// What the text of a quote says of each field.
pub fn contract(text: &str, fields: &[ContractField]) -> Vec<Finding> {
    let lines: Vec<(usize, &str, String)> = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim(), line.to_lowercase()))
        .collect();
    fields.iter().map(|field| one(field, &lines)).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Bad,
    Good,
    Seen,
}

fn one(field: &ContractField, lines: &[(usize, &str, String)]) -> Finding {
    // of the words on a line the longest speaks: "no deposit" is not "deposit", "excluding tax" is not "tax"
    let side = |low: &str| {
        let longest = |words: &[String]| {
            let found = words.iter().filter(|w| has(low, w));
            found.map(String::len).max().unwrap_or(0)
        };
        let (bad, good, seen) = (
            longest(&field.bad),
            longest(&field.good),
            longest(&field.seen),
        );
        let most = bad.max(good).max(seen);
        match most {
            0 => None,
            _ if bad == most => Some(Side::Bad),
            _ if good == most => Some(Side::Good),
            _ => Some(Side::Seen),
        }
    };
    let find = |wanted: Side| {
        lines
            .iter()
            .find(|(_, _, low)| side(low) == Some(wanted))
            .map(|(at, line, _)| (*at, *line))
    };
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("label-en", field.label_en.as_str())
            .arg("label-zh", field.label_zh.as_str())
            .arg("why-en", field.why_en.as_str())
            .arg("why-zh", field.why_zh.as_str())
    };
    let at = |id: &'static str, (line, text): (usize, &str)| {
        say(id).arg("line", line).arg("text", short(text))
    };
    let ask = || say("accept-ask-contract");
    let silent = match field.must {
        true => Verdict::Unknown,
        false => Verdict::Warn,
    };
    let check = if let Some(place) = find(Side::Bad) {
        Check::new("contract", Verdict::Warn, at("accept-contract-bad", place)).asking(ask())
    } else if let Some(place) = find(Side::Good) {
        Check::new("contract", Verdict::Pass, at("accept-contract-good", place))
    } else if let Some(place) = find(Side::Seen) {
        Check::new(
            "contract",
            Verdict::Unknown,
            at("accept-contract-seen", place),
        )
        .asking(ask())
    } else {
        Check::new("contract", silent, say("accept-contract-silent")).asking(ask())
    };
    check.from(&field.origin).finding(&field.field)
}

/// Whether a line has a word. One that begins or ends with a Latin letter must not be a part of a longer word there: `tax`
/// is not in `syntax`.
fn has(line: &str, word: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let open = letter(word.chars().next()) && letter(before);
        // a stem such as "terminat" may go on; a number may not
        let close = word.ends_with(|c: char| c.is_ascii_digit())
            && after.is_some_and(|c| c.is_ascii_digit());
        let whole = word.len() <= 4 && letter(word.chars().next_back()) && letter(after);
        !(open || close || whole)
    })
}

/// As much of a line as people read.
fn short(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// What a judged report says of the promises, and what it found wrong besides.
pub fn kept(report: &ProbeReport) -> Vec<Finding> {
    let mut out = Vec::new();
    let promised = report.judged.as_ref().and_then(|j| j.promised.as_ref());
    for row in promised.iter().flat_map(|p| &p.rows) {
        let (verdict, id) = match row.outcome {
            Kept::Kept => (Verdict::Pass, "accept-promise-kept"),
            Kept::Broken => (Verdict::Fail, "accept-promise-broken"),
            Kept::NotSeen => (Verdict::Unknown, "accept-promise-not-seen"),
            Kept::NotAsked => (Verdict::Unknown, "accept-promise-not-asked"),
            Kept::NotMeasured => (Verdict::Unknown, "accept-promise-not-measured"),
        };
        let reason = Msg::new(id)
            .arg("promised", row.promised.as_str())
            .arg("seen", row.seen.as_deref().unwrap_or("-"));
        let check = Check::new("promise", verdict, reason);
        let check = match verdict {
            Verdict::Pass => check,
            _ => {
                check.asking(Msg::new("accept-ask-promise").arg("promised", row.promised.as_str()))
            }
        };
        out.push(check.finding(&row.what));
    }
    for found in &report.findings {
        let verdict = match found.severity {
            Severity::Note => continue,
            Severity::Warn => Verdict::Warn,
            Severity::Unknown => Verdict::Unknown,
            Severity::Fail => Verdict::Fail,
        };
        let reason = Msg::new("accept-probe-says")
            .arg("text", found.text.as_str())
            .arg("detail", found.detail.as_str());
        let check = Check::new("probe", verdict, reason).asking(Msg::new("accept-ask-probe"));
        out.push(check.finding(&found.subject));
    }
    out
}

/// Why an offer could not be held against anything.
pub fn offer_unseen(reason: Msg, ask: Msg) -> Finding {
    Check::new("offer", Verdict::Unknown, reason)
        .asking(ask)
        .finding("offer")
}
