//! An offer against what a probe saw of the machine, and the text of a quote against what a contract must say.
//!
//! A quote that is silent on a field is never a pass: silence becomes a question. Words are looked for, sentences are not
//! understood, so each finding shows the line that it rests upon; a word counts within its clause, and a negation before it turns it. Fields: `data/accept/contract_fields.csv`.

use crate::finding::{Check, Finding, Verdict};
use crate::table::{Origin, Row, TableError, read};
use lessee_model::probe::{Kept, ProbeFinding, Severity};
use lessee_model::{Arg, Msg, ProbeReport};

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
    let clauses: Vec<Clause<'_>> = text
        .lines()
        .enumerate()
        .flat_map(|(at, line)| clauses(at + 1, line.trim()))
        .collect();
    fields.iter().map(|field| one(field, &clauses)).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Bad,
    Good,
    Seen,
}

/// What stands between commas and stops, in small letters, and the line that it is of.
struct Clause<'a> {
    at: usize,
    line: &'a str,
    low: String,
}

fn clauses(at: usize, line: &str) -> impl Iterator<Item = Clause<'_>> {
    const STOPS: [char; 7] = ['，', '；', '。', '、', ';', '!', '！'];
    // a point or a comma within a number is none
    let ends = |text: &str| {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = Vec::new();
        for (i, c) in text.char_indices() {
            let alone =
                matches!(c, '.' | ',') && bytes.get(i + 1).is_none_or(u8::is_ascii_whitespace);
            if STOPS.contains(&c) || alone {
                cuts.push(i + c.len_utf8());
            }
        }
        cuts.push(text.len());
        cuts
    };
    let low = line.to_lowercase();
    let mut from = 0;
    let parts: Vec<Clause<'_>> = ends(&low)
        .into_iter()
        .map(|to| {
            let part = low[from..to].to_owned();
            from = to;
            Clause {
                at,
                line,
                low: part,
            }
        })
        .collect();
    parts.into_iter()
}

/// Words of one side that stand in a clause, by their places.
struct Hit {
    side: Side,
    spans: Vec<(usize, usize)>,
}

impl Hit {
    fn length(&self) -> usize {
        self.spans.iter().map(|(from, to)| to - from).sum()
    }

    /// All of it stands within longer words: "deposit" in "no deposit", "tax" in "excluding tax".
    fn within(&self, other: &Hit) -> bool {
        let inside =
            |(from, to): &(usize, usize)| other.spans.iter().any(|(a, b)| a <= from && to <= b);
        other.length() > self.length() && self.spans.iter().all(inside)
    }
}

impl ContractField {
    fn side(&self, clause: &str) -> Option<Side> {
        let mut hits: Vec<Hit> = Vec::new();
        for (side, words) in [
            (Side::Bad, &self.bad),
            (Side::Good, &self.good),
            (Side::Seen, &self.seen),
        ] {
            let of = words.iter().filter_map(|word| spans(clause, word));
            hits.extend(of.map(|spans| Hit { side, spans }));
        }
        let free = |hit: &&Hit| !hits.iter().any(|other| hit.within(other));
        let turned = |hit: &Hit| match hit.side {
            Side::Good if is_denied(clause, hit) => Side::Bad,
            side => side,
        };
        let sides: Vec<Side> = hits.iter().filter(free).map(turned).collect();
        let order = [Side::Bad, Side::Good, Side::Seen];
        order.into_iter().find(|side| sides.contains(side))
    }
}

/// Whether a negation stands just before: 不包含税, "not including VAT", "do not replace".
fn is_denied(clause: &str, hit: &Hit) -> bool {
    let first = hit.spans.iter().map(|(from, _)| *from).min().unwrap_or(0);
    let before = &clause[..first];
    let near: Vec<char> = before.chars().rev().take(4).collect();
    let words: Vec<&str> = before
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '\'')
        .filter(|w| !w.is_empty())
        .rev()
        .take(2)
        .collect();
    near.iter().any(|c| "不非无未没".contains(*c))
        || words.iter().any(|w| {
            matches!(
                *w,
                "not" | "no" | "non" | "never" | "without" | "excluding" | "excl" | "cannot"
            ) || w.ends_with("n't")
        })
}

fn one(field: &ContractField, clauses: &[Clause<'_>]) -> Finding {
    let sides: Vec<Option<Side>> = clauses.iter().map(|c| field.side(&c.low)).collect();
    let find = |wanted: Side| {
        let at = sides.iter().position(|side| *side == Some(wanted))?;
        clauses.get(at).map(|c| (c.at, c.line))
    };
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("label", both(&field.label_en, &field.label_zh))
            .arg("why", both(&field.why_en, &field.why_zh))
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

fn both(en: &str, zh: &str) -> Arg {
    Arg::Both {
        en: en.to_owned(),
        zh: zh.to_owned(),
    }
}

/// Where the parts of a word stand, all of them in this clause; parts are joined by `&`. One that begins or ends with a Latin
/// letter must not be a part of a longer word there: `tax` is not in `syntax`.
fn spans(clause: &str, word: &str) -> Option<Vec<(usize, usize)>> {
    word.split('&').map(|part| span(clause, part)).collect()
}

fn span(clause: &str, word: &str) -> Option<(usize, usize)> {
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let found = clause.match_indices(word).find(|(at, _)| {
        let before = clause[..*at].chars().next_back();
        let after = clause[at + word.len()..].chars().next();
        let first = word.chars().next();
        let open = match first.is_some_and(|c| c.is_ascii_digit()) {
            // nor the end of a longer number
            true => before.is_some_and(|c| c.is_ascii_digit() || c == '.'),
            false => letter(first) && letter(before),
        };
        // a stem such as "terminat" may go on; a number may not
        let close = word.ends_with(|c: char| c.is_ascii_digit())
            && after.is_some_and(|c| c.is_ascii_digit());
        let whole = word.len() <= 4 && letter(word.chars().next_back()) && letter(after);
        !(open || close || whole)
    });
    found.map(|(at, _)| (at, at + word.len()))
}

/// As much of a line as people read.
fn short(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

fn weight(severity: Severity) -> Verdict {
    match severity {
        Severity::Note => Verdict::Pass,
        Severity::Warn => Verdict::Warn,
        Severity::Unknown => Verdict::Unknown,
        Severity::Fail => Verdict::Fail,
    }
}

/// What a judged report says of the promises, and what it found wrong besides: a breach is said once.
pub fn kept(report: &ProbeReport) -> Vec<Finding> {
    let mut out = Vec::new();
    let promised = report.judged.as_ref().and_then(|j| j.promised.as_ref());
    let mut said: Vec<&ProbeFinding> = Vec::new();
    for row in promised.iter().flat_map(|p| &p.rows) {
        let seen = row.seen.as_deref().unwrap_or("-");
        let detail = crate::report::breach(&row.promised, seen);
        let breach = report.findings.iter().find(|f| f.detail == detail);
        said.extend(breach);
        let (verdict, id) = match row.outcome {
            Kept::Kept => (Verdict::Pass, "accept-promise-kept"),
            // of what nobody has verified it is a warning
            Kept::Broken => (
                breach.map_or(Verdict::Fail, |f| weight(f.severity)),
                "accept-promise-broken",
            ),
            Kept::NotSeen => (Verdict::Unknown, "accept-promise-not-seen"),
            Kept::NotAsked => (Verdict::Unknown, "accept-promise-not-asked"),
            Kept::NotMeasured => (Verdict::Unknown, "accept-promise-not-measured"),
        };
        let reason = Msg::new(id)
            .arg("promised", row.promised.as_str())
            .arg("seen", seen);
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
        let verdict = weight(found.severity);
        let of_rows =
            said.iter().any(|s| std::ptr::eq(*s, found)) || found.code == "promise_not_seen";
        if verdict == Verdict::Pass || of_rows {
            continue;
        }
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
