//! What follows from a comparison: the codes, each with its sentence.

use lessee_model::Msg;
use lessee_model::probe::{ProbeFinding, Severity};

/// As a finding of the probe, before it is put into words.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub code: &'static str,
    pub severity: Severity,
    /// `machine`, `gpu 3`, `gpu 0 - gpu 5`, `disk`
    pub subject: String,
    /// Evidence in figures.
    pub detail: String,
    /// What the sentence takes besides.
    args: Vec<(&'static str, String)>,
}

/// The evidence of a breach, by which its row is found again.
pub(crate) fn breach(promised: &str, seen: &str) -> String {
    format!("promised {promised}, seen {seen}")
}

impl Found {
    pub(crate) fn new(
        severity: Severity,
        code: &'static str,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) -> Found {
        Found {
            code,
            severity,
            subject: subject.into(),
            detail: detail.into(),
            args: Vec::new(),
        }
    }

    /// That something else was promised than is there.
    pub(crate) fn broken(
        severity: Severity,
        code: &'static str,
        subject: impl Into<String>,
        promised: &str,
        seen: &str,
    ) -> Found {
        let detail = breach(promised, seen);
        let mut found = Found::new(severity, code, subject, detail);
        found.args = vec![("promised", promised.to_owned()), ("seen", seen.to_owned())];
        found
    }

    /// An offer that was taken out of several.
    pub fn offer_chosen(offer: &str) -> Found {
        Found::new(Severity::Note, "offer_chosen", "offer", offer)
    }

    /// Lines of a quote that were not read as an offer.
    pub fn offer_unread(lines: u64) -> Found {
        Found::new(Severity::Warn, "offer_unread", "offer", lines.to_string())
    }

    /// Which of several offers is meant cannot be told.
    pub fn offer_ambiguous(offers: &str) -> Found {
        Found::new(Severity::Unknown, "offer_ambiguous", "offer", offers)
    }

    /// The sentence for people.
    pub fn msg(&self) -> Msg {
        let known = CODES.iter().find(|(code, _)| *code == self.code);
        // a code that is not in the table is a bug that the tests find; people still get the code
        let mut msg = Msg::new(known.map_or(self.code, |(_, id)| *id))
            .arg("subject", self.subject.clone())
            .arg("detail", self.detail.clone());
        for (name, value) in &self.args {
            msg = msg.arg(name, value.clone());
        }
        msg
    }

    /// As it stands in a report, with its sentence in words.
    pub fn said(&self, text: String) -> ProbeFinding {
        ProbeFinding {
            code: self.code.to_owned(),
            severity: self.severity,
            subject: self.subject.clone(),
            detail: self.detail.clone(),
            text: text.trim_end().to_owned(),
        }
    }
}

/// Whether a finding of a report came from here.
pub fn is_code(code: &str) -> bool {
    CODES.iter().any(|(known, _)| *known == code)
}

/// Every code, with the sentence that says it to people.
pub const CODES: &[(&str, &str)] = &[
    ("below_expected", "judge-found-below-expected"),
    ("below_usual", "judge-found-below-usual"),
    ("figure_failed", "judge-found-figure-failed"),
    ("figure_impossible", "judge-found-figure-impossible"),
    ("disk_short", "judge-found-disk-short"),
    ("gpu_count_more", "judge-found-gpu-count-more"),
    ("gpu_count_short", "judge-found-gpu-count-short"),
    ("gpu_form_differs", "judge-found-gpu-form-differs"),
    ("gpu_link_weaker", "judge-found-gpu-link-weaker"),
    ("gpu_memory_reserved", "judge-found-gpu-memory-reserved"),
    ("gpu_memory_short", "judge-found-gpu-memory-short"),
    ("gpu_model_differs", "judge-found-gpu-model-differs"),
    ("memory_short", "judge-found-memory-short"),
    ("no_expectation", "judge-found-no-expectation"),
    ("nothing_measured", "judge-found-nothing-measured"),
    ("offer_ambiguous", "judge-found-offer-ambiguous"),
    ("offer_chosen", "judge-found-offer-chosen"),
    ("offer_unread", "judge-found-offer-unread"),
    ("promise_not_measured", "judge-found-promise-not-measured"),
    ("promise_not_seen", "judge-found-promise-not-seen"),
    ("vcpus_short", "judge-found-vcpus-short"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence_in_both_languages() {
        for (lang, text) in [
            (
                "en",
                include_str!("../../../../app/report/locales/en/judge.ftl"),
            ),
            (
                "zh-CN",
                include_str!("../../../../app/report/locales/zh-CN/judge.ftl"),
            ),
        ] {
            for (code, id) in CODES {
                assert_eq!(*id, format!("judge-found-{}", code.replace('_', "-")));
                assert!(text.contains(&format!("\n{id} = ")), "{lang}: {code}");
            }
        }
    }
}
