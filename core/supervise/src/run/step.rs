//! The state machine: what happened becomes what is to be done. How it leaves is in `leave`, what it sends in `publish`.

use super::leave::end_of;
use super::state::{Actions, Phase, Run, Why};
use super::{Action, Alarm, End, Event, Exited, Meter, Now, Signals, Totals};

impl Run {
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
            Event::StopAsked => self.stop(
                now,
                Why::Asked,
                now.mono_ms.saturating_add(self.spec.grace_ms),
                out,
            ),
            Event::Step { ms } => self.pace.step_ms = ms,
            Event::Paid(money) => {
                if let Some(meter) = &mut self.meter {
                    meter.add(money);
                }
            }
            Event::LedgerBroken { reason } => {
                let until = now.mono_ms.saturating_add(self.spec.grace_ms);
                self.stop(now, Why::Ledger(reason), until, out);
            }
            Event::Stuck { signs } => {
                // one sign alone may be a wait
                if signs >= 2 && self.phase == Phase::Running {
                    out.push(Action::Tell(Alarm::Stuck));
                    if self.spec.kill_stuck {
                        let until = now.mono_ms.saturating_add(self.spec.grace_ms);
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
            let until = now.mono_ms.saturating_add(self.way_out_ms());
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

    /// Gives the lease back, and ends.
    pub(super) fn give_back(&mut self, end: End, out: &mut Actions) {
        out.push(Action::Release);
        self.end(end, out);
    }

    fn end(&mut self, end: End, out: &mut Actions) {
        self.phase = Phase::Ended;
        out.push(Action::End(end));
    }
}
