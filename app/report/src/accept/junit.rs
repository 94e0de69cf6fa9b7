//! An acceptance as JUnit XML, as CI servers read it: a check is a suite, a finding a test case. `fail` is a failure, `unknown`
//! an error (it could not be judged), `warn` and `pass` pass; a warning says so in `system-out`.

use super::{AcceptanceDoc, FindingDoc};
use lessee_accept::Verdict;
use std::fmt::Write as _;

/// The whole file.
pub fn junit(doc: &AcceptanceDoc) -> String {
    let count = |of: &[&FindingDoc], v: Verdict| of.iter().filter(|f| f.verdict == v).count();
    let all: Vec<&FindingDoc> = doc.findings.iter().collect();
    let mut checks: Vec<&str> = Vec::new();
    for finding in &all {
        if !checks.contains(&finding.check.as_str()) {
            checks.push(&finding.check);
        }
    }
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        text(doc.name.as_deref().unwrap_or("acceptance")),
        all.len(),
        count(&all, Verdict::Fail),
        count(&all, Verdict::Unknown),
    );
    for check in checks {
        let of: Vec<&FindingDoc> = all.iter().copied().filter(|f| f.check == check).collect();
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" timestamp=\"{}\">",
            text(check),
            of.len(),
            count(&of, Verdict::Fail),
            count(&of, Verdict::Unknown),
            text(&doc.generated_at),
        );
        of.iter().for_each(|f| case(f, &mut xml));
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn case(f: &FindingDoc, xml: &mut String) {
    let _ = write!(
        xml,
        "    <testcase classname=\"{}.{}\" name=\"{}\"",
        text(&f.check),
        text(&f.rule),
        text(&f.subject)
    );
    let mut body = f.reason.clone();
    for more in [&f.ask, &f.install, &f.source].into_iter().flatten() {
        body.push('\n');
        body.push_str(more);
    }
    let (reason, body) = (text(&f.reason), text(&body));
    let _ = match f.verdict {
        Verdict::Pass => writeln!(xml, "/>"),
        Verdict::Warn => writeln!(
            xml,
            ">\n      <system-out>{body}</system-out>\n    </testcase>"
        ),
        Verdict::Unknown => writeln!(
            xml,
            ">\n      <error type=\"{}\" message=\"{reason}\">{body}</error>\n    </testcase>",
            text(&f.code)
        ),
        Verdict::Fail => writeln!(
            xml,
            ">\n      <failure type=\"{}\" message=\"{reason}\">{body}</failure>\n    </testcase>",
            text(&f.code)
        ),
    };
}

/// Escaped; characters that XML 1.0 does not have at all become U+FFFD.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
