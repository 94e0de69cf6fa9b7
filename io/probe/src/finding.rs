//! What follows from what was seen: a stable code, how much it weighs, the subject, and the evidence.
//!
//! Codes of GPUs and of what a look tells are in `gpu/finding.rs`; here are those of processor, disk, feed and network.
//! Not here: when a finding is made (beside what it follows from).

use lessee_model::probe::{ProbeFinding, Verdict};
use lessee_model::{Arg, Exit, Msg};
use serde::Serialize;

pub use lessee_model::probe::Severity;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Stable, snake_case, shared with the problems of captures (`docs/contributing/adding-a-capture-kind.md`).
    pub code: &'static str,
    pub severity: Severity,
    /// `machine`, `driver`, `gpu 3`, `gpu 0 - gpu 5`
    pub subject: String,
    /// Evidence: what was met, in the driver's or the kernel's words and in figures.
    pub detail: String,
    /// The evidence in words of each language, where it has them.
    #[serde(skip)]
    words: Option<Msg>,
}

impl Finding {
    pub(crate) fn new(
        severity: Severity,
        code: &'static str,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) -> Finding {
        Finding {
            code,
            severity,
            subject: subject.into(),
            detail: detail.into(),
            words: None,
        }
    }

    /// A step that came to nothing, or was stopped: what it would have shown is not known.
    pub fn not_done(step: &'static str, detail: impl Into<String>, words: Msg) -> Finding {
        Finding::new(Severity::Unknown, "step_not_done", step, detail).words(words)
    }

    /// The user stopped the run: what was not measured is not known.
    pub fn stopped() -> Finding {
        Finding::new(Severity::Unknown, "run_stopped", "run", "")
    }

    #[must_use]
    pub(crate) fn words(mut self, words: Msg) -> Finding {
        self.words = Some(words);
        self
    }

    /// The sentence for people, which takes the subject and the evidence.
    pub fn msg(&self) -> Msg {
        let mut all = CODES.iter().chain(crate::gpu::CODES);
        let sentence = all.find(|(code, _)| *code == self.code);
        // a code that is not in the table is a bug that the tests find; people still get the code
        let id = sentence.map_or(self.code, |(_, id)| *id);
        let detail = match &self.words {
            Some(words) => Arg::from(words.clone()),
            None => Arg::from(self.detail.clone()),
        };
        Msg::new(id)
            .arg("subject", self.subject.clone())
            .arg("detail", detail)
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

/// The exit status of all findings: fail over unknown over the rest.
pub fn verdict(findings: &[Finding]) -> Exit {
    Verdict::of(findings.iter().map(|f| f.severity)).exit()
}

/// Codes of processor, disk, feed, network and of the run itself, with the sentence that says each to people.
pub const CODES: &[(&str, &str)] = &[
    ("cache_not_told", "probe-found-cache-not-told"),
    ("compute_wrong", "probe-found-compute-wrong"),
    ("cpu_steal", "probe-found-cpu-steal"),
    ("disk_cached", "probe-found-disk-cached"),
    ("disk_error", "probe-found-disk-error"),
    ("disk_file_cut", "probe-found-disk-file-cut"),
    ("disk_file_small", "probe-found-disk-file-small"),
    ("disk_is_memory", "probe-found-disk-is-memory"),
    ("disk_network", "probe-found-disk-network"),
    ("disk_overlay", "probe-found-disk-overlay"),
    ("disk_part_failed", "probe-found-disk-part-failed"),
    ("disk_wrong_data", "probe-found-disk-wrong-data"),
    ("feed_gpu_slow", "probe-found-feed-gpu-slow"),
    ("feed_not_measured", "probe-found-feed-not-measured"),
    ("feed_not_paced", "probe-found-feed-not-paced"),
    ("feed_starved", "probe-found-feed-starved"),
    ("memory_pass_partial", "probe-found-memory-pass-partial"),
    ("net_loss", "probe-found-net-loss"),
    ("net_unreachable", "probe-found-net-unreachable"),
    ("run_stopped", "probe-found-run-stopped"),
    ("s3_left_behind", "probe-found-s3-left-behind"),
    ("s3_not_measured", "probe-found-s3-not-measured"),
    ("samples_cached", "probe-found-samples-cached"),
    ("samples_damaged", "probe-found-samples-damaged"),
    ("samples_few", "probe-found-samples-few"),
    ("samples_left_out", "probe-found-samples-left-out"),
    ("samples_made_few", "probe-found-samples-made-few"),
    ("ssh_proxy", "probe-found-ssh-proxy"),
    ("step_not_done", "probe-found-step-not-done"),
    ("stream_cached", "probe-found-stream-cached"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decides() {
        let of = |severity| Finding::new(severity, "gpu_lost", "gpu 0", "");
        assert_eq!(verdict(&[]), Exit::Done);
        assert_eq!(verdict(&[of(Severity::Warn)]), Exit::Done);
        assert_eq!(
            verdict(&[of(Severity::Unknown), of(Severity::Warn)]),
            Exit::CannotTell
        );
        assert_eq!(
            verdict(&[of(Severity::Unknown), of(Severity::Fail)]),
            Exit::No
        );
    }

    #[test]
    fn every_code_has_a_sentence_in_both_languages() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../app/report/locales");
        for lang in ["en", "zh-CN"] {
            let families = [
                (CODES, "probe", "measure"),
                (crate::gpu::CODES, "gpu", "probe"),
            ];
            for (codes, family, file) in families {
                let path = format!("{folder}/{lang}/{file}.ftl");
                let text = std::fs::read_to_string(path).unwrap();
                for (code, id) in codes {
                    assert_eq!(*id, format!("{family}-found-{}", code.replace('_', "-")));
                    assert!(text.contains(&format!("\n{id} = ")), "{lang}: {code}");
                }
            }
        }
    }
}
