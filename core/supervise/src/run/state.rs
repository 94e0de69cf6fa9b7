//! What a run knows of itself.

use super::{Action, Exited, Found, Meter, Notices, Pace, Signals, Spec, Totals};
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
    pub(super) spec: Spec,
    pub(super) phase: Phase,
    pub(super) why: Option<Why>,
    /// The stop signal was sent to this program.
    pub(super) signalled: bool,
    pub(super) attempt: u32,
    pub(super) totals: Totals,
    pub(super) meter: Option<Meter>,
    pub(super) told: usize,
    pub(super) notices: Notices,
    pub(super) catches: Signals,
    pub(super) pace: Pace,
    /// Found and not yet in the store, oldest first.
    pub(super) waiting: VecDeque<Found>,
    pub(super) uploading: Option<Found>,
    /// Of the newest checkpoint in the store.
    pub(super) published: Option<Option<u64>>,
    pub(super) exited: Option<Exited>,
    /// A notice was answered by an upload alone.
    pub(super) warned: bool,
}

pub(super) type Actions = Vec<Action>;

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
}
