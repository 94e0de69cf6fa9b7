//! What happens to a run.

use super::{Kind, Signals, Source};
use lessee_model::Money;
use serde::{Deserialize, Serialize};

/// Two clocks: one that never jumps, for durations, and one that people and providers name, for deadlines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    pub mono_ms: u64,
    /// Milliseconds since 1970, UTC.
    pub wall_ms: i64,
}

impl Now {
    /// The moment that a provider names, on the clock that never jumps.
    pub fn mono_of(self, wall_ms: i64) -> u64 {
        let ahead = wall_ms.saturating_sub(self.wall_ms);
        self.mono_ms.saturating_add_signed(ahead)
    }
}

/// What earlier attempts did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    pub interruptions: u32,
    pub failures: u32,
    /// Of failures, those since the last checkpoint that was published.
    pub failures_in_a_row: u32,
    pub spent: Option<Money>,
}

/// Who else has the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub owner: String,
    pub attempt: u32,
}

/// A checkpoint on the local disk that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where, and which state of it; another state of the same place is another one.
    pub id: String,
    pub step: Option<u64>,
    pub bytes: u64,
    /// Time that writing it took, where it was seen from the start.
    pub save_ms: Option<u64>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exited {
    Code(u8),
    Signal(u8),
    /// Killed because its memory ran out (`oom_kill` of its cgroup).
    OutOfMemory,
}

impl Exited {
    /// As a shell tells it: 128 + n for signal n.
    pub fn status(self) -> u8 {
        match self {
            Exited::Code(code) => code,
            Exited::Signal(n) => 128u8.saturating_add(n),
            Exited::OutOfMemory => 137,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The lease is ours.
    Claimed {
        attempt: u32,
        before: Totals,
    },
    ClaimRefused(Holder),
    /// The store could not be reached for the lease.
    ClaimFailed {
        reason: String,
    },
    /// What was published is on the local disk again, or there was nothing: `step` of what will be resumed.
    Restored {
        step: Option<u64>,
        found: bool,
    },
    /// It could not be told or fetched; not the same as nothing.
    RestoreFailed {
        reason: String,
    },
    Started,
    /// It could not be started at all.
    StartFailed {
        reason: String,
    },
    Catches(Signals),
    Exited(Exited),
    Found(Found),
    /// All that [`Action::Rescan`](super::Action::Rescan) found was told.
    Rescanned,
    /// It went away before it was uploaded.
    Lost {
        id: String,
    },
    Published {
        id: String,
        bytes: u64,
        ms: u64,
    },
    PublishFailed {
        id: String,
        reason: String,
    },
    /// A higher attempt writes.
    Fenced {
        attempt: u32,
    },
    /// The machine goes at `at_wall_ms`, or soon.
    Notice {
        source: Source,
        kind: Kind,
        at_wall_ms: Option<i64>,
    },
    Withdrawn {
        source: Source,
    },
    /// `run stop`, Ctrl-C.
    StopAsked,
    /// Time of one step of the program.
    Step {
        ms: u64,
    },
    /// Traffic or requests were paid.
    Paid(Money),
    /// The ledger cannot be written any more.
    LedgerBroken {
        reason: String,
    },
    /// The program does not go on; so many independent signs agree.
    Stuck {
        signs: u8,
    },
    /// Whether the work is finished.
    Tested {
        done: bool,
    },
    /// Time went by; comes at least each second.
    Tick,
}
