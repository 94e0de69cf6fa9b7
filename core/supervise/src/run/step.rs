//! The state machine.

use super::{
    Action, Alarm, End, Event, Exited, Found, Kind, Meter, Notices, Now, Pace, Signals, Spec,
    Totals,
};
use std::collections::VecDeque;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Claiming,
    Restoring,
    /// Between a failure and the next start.
    Waiting {
        until_ms: u64,
    },
    Running,
    /// The program was asked to end, or is let run only until this.
    Stopping {
        kill_at_ms: u64,
        killed: bool,
    },
    /// The program is gone; the newest checkpoint goes to the store, once the disk was looked through for it.
    Flushing {
        until_ms: u64,
        looked: bool,
    },
    /// The test for the end of the work runs.
    Testing,
    Ended,
}

/// Why a run is brought to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Notice,
    Asked,
    Budget,
    Stuck,
    Fenced,
    Ledger(String),
}

/// A run, decided step by step. Everything it does is in the actions that it gives.
#[derive(Clone, Debug)]
pub struct Run {
    spec: Spec,
    phase: Phase,
    why: Option<Why>,
    /// The stop signal was sent to this program.
    signalled: bool,
    attempt: u32,
    totals: Totals,
    meter: Option<Meter>,
    told: usize,
    notices: Notices,
    catches: Signals,
    pace: Pace,
    /// Found and not yet in the store, oldest first.
    waiting: VecDeque<Found>,
    uploading: Option<Found>,
    /// Of the newest checkpoint in the store.
    published: Option<Option<u64>>,
    exited: Option<Exited>,
    /// A notice was answered by an upload alone.
    warned: bool,
}

type Actions = Vec<Action>;

impl Run {
    /// A run that has not begun; the first action is to claim it.
    pub fn new(spec: Spec) -> (Run, Actions) {
        let pace = spec.pace;
        let run = Run {
            spec,
            phase: Phase::Claiming,
            why: None,
            signalled: false,
            attempt: 0,
            totals: Totals {
                interruptions: 0,
                failures: 0,
                failures_in_a_row: 0,
                spent: None,
            },
            meter: None,
            told: 0,
            notices: Notices::default(),
            catches: Signals::default(),
            pace,
            waiting: VecDeque::new(),
            uploading: None,
            published: None,
            exited: None,
            warned: false,
        };
        (run, vec![Action::Claim])
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// What was measured of the job, or is still assumed.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// What was spent until then, all attempts together.
    pub fn spent(&self, mono_ms: u64) -> Option<lessee_model::Money> {
        self.meter.as_ref().map(|m| m.at(mono_ms))
    }

    /// Step of the newest checkpoint in the store.
    pub fn latest_step(&self) -> Option<u64> {
        self.published.flatten()
    }

    /// What happened, and when; what is to be done. After `Action::End` nothing follows.
    pub fn step(&mut self, now: Now, event: Event) -> Actions {
        let mut out = Actions::new();
        if self.phase == Phase::Ended {
            return out;
        }
        self.take(now, event, &mut out);
        self.watch(now, &mut out);
        out
    }

    fn take(&mut self, now: Now, event: Event, out: &mut Actions) {
        match event {
            Event::Claimed { attempt, before } => self.claimed(now, attempt, before, out),
            Event::ClaimRefused(_) => self.end(End::Fenced, out),
            Event::ClaimFailed { reason } => self.end(End::Unreachable { reason }, out),
            Event::Restored { step, found } => {
                if found {
                    self.published = Some(step);
                }
                if self.phase == Phase::Restoring {
                    self.start_or_end(out);
                }
            }
            // what cannot be read is not the same as nothing: never from the beginning again
            Event::RestoreFailed { reason } => self.give_back(End::Unreachable { reason }, out),
            // what it catches is told next
            Event::Started => {}
            Event::StartFailed { reason } => self.give_back(End::NoStart { reason }, out),
            Event::Catches(signals) => {
                let gained = self.catches != signals;
                self.catches = signals;
                if gained && self.stopping() && !self.signalled {
                    self.ask(now, out);
                }
            }
            Event::Exited(exited) => self.exited(now, exited, out),
            Event::Found(found) => self.found(found, out),
            Event::Rescanned => {
                if let Phase::Flushing { until_ms, .. } = self.phase {
                    self.phase = Phase::Flushing {
                        until_ms,
                        looked: true,
                    };
                }
            }
            Event::Lost { id } => {
                self.waiting.retain(|f| f.id != id);
                if self.uploading.as_ref().is_some_and(|f| f.id == id) {
                    self.uploading = None;
                    self.publish_next(out);
                }
            }
            Event::Published { id, bytes, ms } => self.sent(&id, bytes, ms, out),
            Event::PublishFailed { id, reason } => self.publish_failed(&id, reason, out),
            Event::Fenced { .. } => {
                self.why = Some(Why::Fenced);
                self.uploading = None;
                self.waiting.clear();
                match self.phase {
                    Phase::Running | Phase::Stopping { .. } => self.kill(now, out),
                    _ => self.end(End::Fenced, out),
                }
            }
            Event::Notice {
                source,
                kind,
                at_wall_ms,
            } => self.noticed(now, &source, kind, at_wall_ms, out),
            Event::Withdrawn { source } => self.withdrawn(&source),
            Event::StopAsked => self.stop(now, Why::Asked, now.mono_ms + self.spec.grace_ms, out),
            Event::Step { ms } => self.pace.step_ms = ms,
            Event::Paid(money) => {
                if let Some(meter) = &mut self.meter {
                    meter.add(money);
                }
            }
            Event::LedgerBroken { reason } => {
                let until = now.mono_ms + self.spec.grace_ms;
                self.stop(now, Why::Ledger(reason), until, out);
            }
            Event::Stuck { signs } => {
                // one sign alone may be a wait
                if signs >= 2 && self.phase == Phase::Running {
                    out.push(Action::Tell(Alarm::Stuck));
                    if self.spec.kill_stuck {
                        let until = now.mono_ms + self.spec.grace_ms;
                        self.stop(now, Why::Stuck, until, out);
                    }
                }
            }
            Event::Tested { done } => self.tested(now, done, out),
            Event::Tick => {}
        }
    }

    /// What time alone brings.
    fn watch(&mut self, now: Now, out: &mut Actions) {
        if self.phase == Phase::Ended {
            return;
        }
        self.tell_spending(now, out);
        if self.must_leave(now) && !self.stopping() {
            let until = now.mono_ms + self.way_out_ms();
            self.stop(now, Why::Budget, until, out);
        }
        match self.phase {
            Phase::Running => {
                if let Some((at_ms, _)) = self.notices.deadline()
                    && self.is_soon(now, at_ms)
                {
                    self.stop(now, Why::Notice, at_ms, out);
                }
            }
            Phase::Stopping { kill_at_ms, killed } => {
                // whoever asked for the end, the money ends it sooner
                let upload_ms = self.pace.upload_ms(self.pace.bytes);
                let broke = !self.allows(now, upload_ms.saturating_add(self.spec.margin_ms));
                if !killed && (now.mono_ms >= kill_at_ms || broke) {
                    self.kill(now, out);
                }
            }
            Phase::Flushing { until_ms, looked } => {
                let nothing_left = looked && self.uploading.is_none() && self.waiting.is_empty();
                let over = now.mono_ms >= until_ms || !self.allows(now, self.spec.margin_ms);
                if nothing_left || over {
                    if let Some(left) = self.uploading.take().or(self.waiting.pop_back()) {
                        out.push(Action::Tell(Alarm::NotFlushed { id: left.id }));
                    }
                    self.flushed(now, out);
                }
            }
            Phase::Waiting { until_ms } if now.mono_ms >= until_ms => {
                self.phase = Phase::Restoring;
                out.push(Action::Restore);
            }
            _ => {}
        }
    }

    fn claimed(&mut self, now: Now, attempt: u32, before: Totals, out: &mut Actions) {
        self.attempt = attempt;
        self.totals = before;
        if let Some(budget) = self.spec.budget.clone() {
            let zero = lessee_model::Money::zero(budget.cap.currency);
            let spent = before.spent.unwrap_or(zero);
            self.meter = Some(Meter::new(budget, spent, self.spec.billed_from_ms));
        }
        if self.must_leave(now) {
            return self.give_back(End::Budget, out);
        }
        self.phase = Phase::Restoring;
        out.push(Action::Restore);
    }

    /// After the restore: begin, unless the end has come meanwhile.
    fn start_or_end(&mut self, out: &mut Actions) {
        match self.why.clone() {
            Some(why) => self.give_back(end_of(&why), out),
            None => {
                self.phase = Phase::Running;
                self.exited = None;
                // of the program before it
                self.catches = Signals::default();
                self.signalled = false;
                self.warned = false;
                out.push(Action::Start);
            }
        }
    }

    fn stopping(&self) -> bool {
        matches!(
            self.phase,
            Phase::Stopping { .. } | Phase::Flushing { .. } | Phase::Testing | Phase::Ended
        )
    }

    /// Whether the money lasts so much longer.
    fn allows(&self, now: Now, ms: u64) -> bool {
        let until_ms = now.mono_ms.saturating_add(ms);
        self.meter.as_ref().is_none_or(|m| m.allows(until_ms, 0))
    }

    fn way_out_ms(&self) -> u64 {
        self.pace.way_out_ms().saturating_add(self.spec.margin_ms)
    }

    /// The cap would be passed if the way out were begun any later than now.
    fn must_leave(&self, now: Now) -> bool {
        let end = now.mono_ms.saturating_add(self.way_out_ms());
        self.meter
            .as_ref()
            .is_some_and(|m| !m.allows(end, self.pace.bytes))
    }

    fn tell_spending(&mut self, now: Now, out: &mut Actions) {
        let Some(meter) = &self.meter else {
            return;
        };
        let reached = meter.reached(now.mono_ms);
        if reached > self.told {
            let share = meter.budget().tell_at.get(reached - 1).copied();
            self.told = reached;
            out.extend(share.map(|share| Action::Tell(Alarm::Spent { share })));
        }
    }

    fn noticed(
        &mut self,
        now: Now,
        source: &str,
        kind: Kind,
        at_wall_ms: Option<i64>,
        out: &mut Actions,
    ) {
        if kind == Kind::AtRisk {
            // save early, and go on
            return self.publish_next(out);
        }
        // an end without a time comes at once
        let at_ms = at_wall_ms.map_or(now.mono_ms, |at| now.mono_of(at));
        self.notices.heard(source, at_ms.max(now.mono_ms));
        self.publish_next(out);
        if let Phase::Stopping { kill_at_ms, killed } = self.phase
            && !killed
            && let Some((at_ms, _)) = self.notices.deadline()
        {
            let kill_at_ms = kill_at_ms.min(self.last_moment(at_ms));
            self.phase = Phase::Stopping { kill_at_ms, killed };
        }
    }

    fn withdrawn(&mut self, source: &str) {
        let was = self.notices.withdrawn(source);
        // nobody was asked to end yet: back to work
        let only_waits = matches!(self.phase, Phase::Stopping { killed: false, .. })
            && !self.signalled
            && self.why == Some(Why::Notice);
        if was && only_waits && self.notices.deadline().is_none() {
            self.phase = Phase::Running;
            self.why = None;
            self.warned = false;
        }
    }

    /// When the program has to be gone, so that its last checkpoint can still be sent and the lease given back.
    fn last_moment(&self, at_ms: u64) -> u64 {
        at_ms.saturating_sub(self.spec.margin_ms)
    }

    /// Brings the run to its end; the program has until `until_ms`.
    fn stop(&mut self, now: Now, why: Why, until_ms: u64, out: &mut Actions) {
        if self.why.is_none() {
            self.why = Some(why);
        }
        match self.phase {
            Phase::Running => {
                self.phase = Phase::Stopping {
                    kill_at_ms: self.last_moment(until_ms).max(now.mono_ms),
                    killed: false,
                };
                self.ask(now, out);
                self.publish_next(out);
            }
            Phase::Waiting { .. } => {
                let end = self.why.as_ref().map(end_of);
                self.give_back(end.unwrap_or(End::Interrupted), out);
            }
            // the others end by themselves, and then look at `why`
            _ => {}
        }
    }

    /// Sends the signal that makes the program save, if it catches it and there is time.
    fn ask(&mut self, now: Now, out: &mut Actions) {
        let Phase::Stopping { kill_at_ms, .. } = self.phase else {
            return;
        };
        let Some(signal) = self.spec.stop else {
            return;
        };
        if self.signalled {
            return;
        }
        let left_ms = kill_at_ms.saturating_sub(now.mono_ms);
        if !self.catches.has(signal) {
            // it would die of it, and have saved nothing
            if !self.warned {
                out.push(Action::Tell(Alarm::NotCaught(signal)));
            }
            self.warned = true;
            return;
        }
        let need_ms = self.way_out_ms();
        if need_ms > left_ms && !self.begins_by_asking() {
            if !self.warned {
                out.push(Action::Tell(Alarm::NoTimeToSave { need_ms, left_ms }));
            }
            self.warned = true;
            return;
        }
        self.signalled = true;
        out.push(Action::Signal(signal));
    }

    /// Where nothing but the user or the ledger ends it there is no time to run out of.
    fn begins_by_asking(&self) -> bool {
        matches!(self.why, Some(Why::Asked | Why::Ledger(_) | Why::Stuck))
    }

    fn kill(&mut self, now: Now, out: &mut Actions) {
        self.phase = Phase::Stopping {
            kill_at_ms: now.mono_ms,
            killed: true,
        };
        out.push(Action::Kill);
    }

    fn exited(&mut self, now: Now, exited: Exited, out: &mut Actions) {
        if !matches!(self.phase, Phase::Running | Phase::Stopping { .. }) {
            return;
        }
        self.exited = Some(exited);
        if self.why == Some(Why::Fenced) {
            return self.end(End::Fenced, out);
        }
        // what a notice announces and what somebody else signals is an interruption, not a failure
        let soon = self
            .notices
            .deadline()
            .is_some_and(|(at_ms, _)| self.is_soon(now, at_ms));
        let from_outside = matches!(exited, Exited::Signal(1 | 15));
        if self.why.is_none() && (from_outside || (soon && exited != Exited::Code(0))) {
            self.why = Some(Why::Notice);
        }
        let until_ms = self.flush_until(now);
        self.phase = Phase::Flushing {
            until_ms,
            looked: false,
        };
        out.push(Action::Rescan);
        self.publish_next(out);
    }

    /// A long notice is used for work: until twice the way out is left, or two minutes.
    fn is_soon(&self, now: Now, at_ms: u64) -> bool {
        let lead = self.way_out_ms().saturating_mul(2).max(120_000);
        now.mono_ms.saturating_add(lead) >= at_ms
    }

    fn flush_until(&self, now: Now) -> u64 {
        let most = now.mono_ms.saturating_add(self.spec.flush_ms);
        match self.notices.deadline() {
            Some((at_ms, _)) => most.min(at_ms),
            None => most,
        }
    }

    /// All that can be safe is safe.
    fn flushed(&mut self, now: Now, out: &mut Actions) {
        let finished = self.exited == Some(Exited::Code(0));
        match (&self.why, finished) {
            // a stop may end with 0 too: only a test tells
            (Some(_), true) | (None, true) if self.spec.has_test => {
                self.phase = Phase::Testing;
                out.push(Action::Test);
            }
            (None, true) => self.give_back(End::Done, out),
            (Some(why), _) => {
                let end = end_of(why);
                self.totals.interruptions += u32::from(end == End::Interrupted);
                self.give_back(end, out);
            }
            // by its own fault
            (None, false) => self.failed(now, out),
        }
    }

    fn tested(&mut self, now: Now, done: bool, out: &mut Actions) {
        if self.phase != Phase::Testing {
            return;
        }
        match (done, self.why.clone()) {
            (true, _) => self.give_back(End::Done, out),
            (false, Some(why)) => {
                let end = end_of(&why);
                self.totals.interruptions += u32::from(end == End::Interrupted);
                self.give_back(end, out);
            }
            // it says that it is through, and the test says that it is not
            (false, None) => self.failed(now, out),
        }
    }

    fn failed(&mut self, now: Now, out: &mut Actions) {
        self.totals.failures += 1;
        self.totals.failures_in_a_row += 1;
        let exited = self.exited.unwrap_or(Exited::Code(1));
        if self.totals.failures_in_a_row > self.spec.failures_max {
            return self.give_back(End::Failed(exited), out);
        }
        let doubled = self.totals.failures_in_a_row.saturating_sub(1).min(20);
        let wait_ms = self
            .spec
            .backoff_ms
            .saturating_mul(1 << doubled)
            .min(self.spec.backoff_max_ms);
        out.push(Action::Tell(Alarm::Again {
            exited,
            failures: self.totals.failures,
            wait_ms,
        }));
        let until_ms = now.mono_ms.saturating_add(wait_ms);
        self.phase = Phase::Waiting { until_ms };
    }

    fn found(&mut self, found: Found, out: &mut Actions) {
        if self.why == Some(Why::Fenced) {
            return;
        }
        if let Some(ms) = found.save_ms {
            self.pace.save_ms = ms;
        }
        self.pace.bytes = found.bytes;
        let known = |f: &Found| f.id == found.id;
        if self.uploading.as_ref().is_some_and(known) || self.waiting.iter().any(known) {
            return;
        }
        self.waiting.push_back(found);
        self.publish_next(out);
    }

    /// One upload at a time, the newest first: an older one that waits is of no use once a newer is safe.
    fn publish_next(&mut self, out: &mut Actions) {
        if self.uploading.is_some() {
            return;
        }
        if let Some(next) = self.waiting.pop_back() {
            out.push(Action::Publish(next.id.clone()));
            self.uploading = Some(next);
        }
    }

    fn sent(&mut self, id: &str, bytes: u64, ms: u64, out: &mut Actions) {
        let Some(found) = self.uploading.take_if(|f| f.id == id) else {
            return;
        };
        if ms > 0 && bytes > 0 {
            self.pace.bytes_per_s = bytes as f64 * 1000.0 / ms as f64;
        }
        self.published = Some(found.step);
        self.totals.failures_in_a_row = 0;
        // what is older than it need not be sent any more
        let newer = |f: &Found| f.step.is_none() || f.step > found.step;
        self.waiting.retain(newer);
        self.publish_next(out);
    }

    fn publish_failed(&mut self, id: &str, reason: String, out: &mut Actions) {
        if self.uploading.take_if(|f| f.id == id).is_none() {
            return;
        }
        out.push(Action::Tell(Alarm::Behind { reason }));
        self.publish_next(out);
    }

    /// Gives the lease back, and ends.
    fn give_back(&mut self, end: End, out: &mut Actions) {
        out.push(Action::Release);
        self.end(end, out);
    }

    fn end(&mut self, end: End, out: &mut Actions) {
        self.phase = Phase::Ended;
        out.push(Action::End(end));
    }
}

/// The end that a reason leads to.
fn end_of(why: &Why) -> End {
    match why {
        Why::Notice => End::Interrupted,
        Why::Asked => End::Asked,
        Why::Budget => End::Budget,
        Why::Stuck => End::Stuck,
        Why::Fenced => End::Fenced,
        Why::Ledger(reason) => End::LedgerBroken {
            reason: reason.clone(),
        },
    }
}
