//! The bookkeeping of a run: which steps are wanted, what became of each, and all findings, each once.

use super::progress::Teller;
use lessee_model::probe::{Severity, StepRecord, StepStatus};
use lessee_probe_io::Finding;
use lessee_probe_io::budget::{Budget, Step};
use lessee_probe_io::step::Conduct;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub(super) struct Run<'a> {
    wanted: BTreeSet<Step>,
    budget: &'a Budget,
    pub(super) quick: bool,
    stop: &'static AtomicBool,
    teller: &'a Teller<'a>,
    records: Vec<StepRecord>,
    findings: Vec<Finding>,
}

/// What became of a step that was made.
pub(super) enum Outcome {
    Done,
    Cut,
    /// There is nothing to do it on, with the code of the reason.
    Nothing(&'static str),
    /// Why it came to nothing.
    Failed(String),
}

impl<'a> Run<'a> {
    pub(super) fn new(
        wanted: BTreeSet<Step>,
        budget: &'a Budget,
        quick: bool,
        stop: &'static AtomicBool,
        teller: &'a Teller<'a>,
    ) -> Run<'a> {
        Run {
            wanted,
            budget,
            quick,
            stop,
            teller,
            records: Vec::new(),
            findings: Vec::new(),
        }
    }

    pub(super) fn cap_s(&self, step: Step) -> f64 {
        self.budget.cap_s(step, self.quick)
    }

    /// The code of the reason for which a step was left out.
    pub(super) fn why_not(&self, step: Step) -> Option<&str> {
        let record = self.records.iter().find(|r| r.step == step.as_str())?;
        let skipped = record.status == StepStatus::Skipped;
        record.reason.as_deref().filter(|_| skipped)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Makes a step if it is wanted and nobody has stopped the run, and notes what became of it. `None`: not made.
    pub(super) fn step<T>(
        &mut self,
        step: Step,
        make: impl FnOnce(&Conduct<'_>, f64) -> (T, Outcome, Vec<Finding>),
    ) -> Option<T> {
        let cap_s = self.cap_s(step);
        let record = |status, reason: Option<String>, seconds| StepRecord {
            step: step.as_str().to_owned(),
            status,
            reason,
            seconds,
            cap_s,
        };
        if !self.wanted.contains(&step) {
            let why = Some("not_wanted".to_owned());
            self.records.push(record(StepStatus::Skipped, why, 0.0));
            return None;
        }
        if self.stopped() {
            self.records.push(record(StepStatus::Stopped, None, 0.0));
            return None;
        }
        let start = Instant::now();
        let tell = |progress| self.teller.part(progress);
        let (made, outcome, found) = make(&Conduct::new(self.stop, &tell), cap_s);
        let seconds = start.elapsed().as_secs_f64();
        let (status, reason) = match outcome {
            Outcome::Nothing(why) => (StepStatus::Skipped, Some(why.to_owned())),
            _ if self.stopped() => (StepStatus::Stopped, None),
            Outcome::Failed(why) => (StepStatus::Failed, Some(why)),
            Outcome::Cut => (StepStatus::Cut, Some("out_of_time".to_owned())),
            Outcome::Done => (StepStatus::Done, None),
        };
        self.teller.ended(step, status, seconds);
        self.records.push(record(status, reason, seconds));
        self.findings.extend(found);
        Some(made)
    }

    /// Records in the order of steps, and findings: worst first, each code once a subject.
    pub(super) fn end(mut self) -> (Vec<StepRecord>, Vec<Finding>) {
        if self.stopped() {
            // that the user stopped a step is why it came to nothing
            self.findings.retain(|f| f.code != "step_not_done");
            self.findings.push(Finding::stopped());
        }
        let weight = |f: &Finding| std::cmp::Reverse::<Severity>(f.severity);
        self.findings.sort_by_key(weight);
        let mut seen = BTreeSet::new();
        self.findings
            .retain(|f| seen.insert((f.code, f.subject.clone())));
        (self.records, self.findings)
    }
}
