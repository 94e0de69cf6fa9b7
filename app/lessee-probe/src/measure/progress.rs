//! How far a run is, on stderr: a line that is drawn over on a terminal, else one line when a step is over.

use crate::Screen;
use lessee_model::Msg;
use lessee_model::probe::StepStatus;
use lessee_probe_io::budget::Step;
use lessee_probe_io::step::Progress;
use lessee_report::Texts;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const BAR: usize = 20;
/// Drawn at most so often.
const EVERY: Duration = Duration::from_millis(100);

pub(super) struct Teller<'a> {
    screen: Screen<'a>,
    texts: &'a Texts,
    start: Instant,
    drawn: Mutex<Option<Instant>>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(screen: Screen<'a>, texts: &'a Texts) -> Teller<'a> {
        Teller {
            screen,
            texts,
            start: Instant::now(),
            drawn: Mutex::new(None),
        }
    }

    /// May be called from any thread and as often as it likes.
    pub(super) fn part(&self, progress: Progress) {
        if self.screen.quiet || !self.screen.live {
            return;
        }
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.is_some_and(|d| d.elapsed() < EVERY) {
            return;
        }
        *drawn = Some(Instant::now());
        let full = (progress.done * BAR as f64).round() as usize;
        let bar = format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full.min(BAR)));
        let part = self
            .texts
            .term("probe-part", &progress.step.replace('.', "_"));
        let spent = self
            .texts
            .seconds(self.start.elapsed().as_secs_f64().round());
        let line = format!("{bar} {:>3.0} %  {spent}  {part}", progress.done * 100.0);
        let line = fitting(&line, self.screen.width.saturating_sub(1));
        (self.screen.write)(&format!("\r\x1b[K{line}"));
    }

    pub(super) fn ended(&self, step: Step, status: StepStatus, seconds: f64) {
        if self.screen.quiet || status == StepStatus::Skipped {
            return;
        }
        let clear = if self.screen.live { "\r\x1b[K" } else { "" };
        let line = Msg::new("probe-step-ended")
            .arg("step", self.texts.term("probe-step", step.as_str()))
            .arg("status", self.texts.term("probe-status", status.as_str()))
            .seconds("seconds", seconds);
        (self.screen.write)(&format!("{clear}{}\n", self.texts.msg(&line)));
    }
}

/// What fits in so many columns: a line that wraps could not be drawn over. Ideographs take two.
fn fitting(line: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in line.char_indices() {
        used += if c >= '\u{2E80}' { 2 } else { 1 };
        if used > columns {
            return &line[..at];
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_the_screen_ends() {
        assert_eq!(fitting("abc", 3), "abc");
        assert_eq!(fitting("abc", 2), "ab");
        assert_eq!(fitting("磁盘", 3), "磁");
        assert_eq!(fitting("", 0), "");
    }
}
