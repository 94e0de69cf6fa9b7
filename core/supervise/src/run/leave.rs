//! How a run is brought to its end: when it has to leave, how much time that leaves, and how its program is asked.

use super::state::{Actions, Phase, Run, Why};
use super::{Action, Alarm, End, Kind, Now};

impl Run {
    pub(super) fn stopping(&self) -> bool {
        matches!(
            self.phase,
            Phase::Stopping { .. } | Phase::Flushing { .. } | Phase::Testing | Phase::Ended
        )
    }

    /// Whether the money lasts so much longer.
    pub(super) fn allows(&self, now: Now, ms: u64) -> bool {
        let until_ms = now.mono_ms.saturating_add(ms);
        self.meter.as_ref().is_none_or(|m| m.allows(until_ms, 0))
    }

    pub(super) fn way_out_ms(&self) -> u64 {
        self.pace.way_out_ms().saturating_add(self.spec.margin_ms)
    }

    /// The cap would be passed if the way out were begun any later than now.
    pub(super) fn must_leave(&self, now: Now) -> bool {
        let end = now.mono_ms.saturating_add(self.way_out_ms());
        self.meter
            .as_ref()
            .is_some_and(|m| !m.allows(end, self.pace.bytes))
    }

    pub(super) fn tell_spending(&mut self, now: Now, out: &mut Actions) {
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

    pub(super) fn noticed(
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

    pub(super) fn withdrawn(&mut self, source: &str) {
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
    pub(super) fn stop(&mut self, now: Now, why: Why, until_ms: u64, out: &mut Actions) {
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
    pub(super) fn ask(&mut self, now: Now, out: &mut Actions) {
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

    pub(super) fn kill(&mut self, now: Now, out: &mut Actions) {
        self.phase = Phase::Stopping {
            kill_at_ms: now.mono_ms,
            killed: true,
        };
        out.push(Action::Kill);
    }

    /// A long notice is used for work: until twice the way out is left, or two minutes.
    pub(super) fn is_soon(&self, now: Now, at_ms: u64) -> bool {
        let lead = self.way_out_ms().saturating_mul(2).max(120_000);
        now.mono_ms.saturating_add(lead) >= at_ms
    }

    pub(super) fn flush_until(&self, now: Now) -> u64 {
        let most = now.mono_ms.saturating_add(self.spec.flush_ms);
        match self.notices.deadline() {
            Some((at_ms, _)) => most.min(at_ms),
            None => most,
        }
    }
}

/// The end that a reason leads to.
pub(super) fn end_of(why: &Why) -> End {
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
