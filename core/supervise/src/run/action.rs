//! What is to be done.

use super::{Exited, Signal};

/// Each is carried out in the order in which they come; what comes of it is an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Take the lease.
    Claim,
    /// Bring the newest valid checkpoint to the local disk.
    Restore,
    Start,
    Signal(Signal),
    Kill,
    /// Upload a checkpoint that was found; one at a time.
    Publish(String),
    /// Look for checkpoints once more now, for the program has ended; `Found` for each, then `Rescanned`.
    Rescan,
    /// Run the test for the end of the work.
    Test,
    /// Give the lease back, with what was spent.
    Release,
    /// Tell somebody.
    Tell(Alarm),
    /// The end; nothing follows.
    End(End),
}

/// What people should know now.
#[derive(Clone, Debug, PartialEq)]
pub enum Alarm {
    /// A share of the budget is spent.
    Spent {
        share: f64,
    },
    /// The newest checkpoint in the store is older than it should be.
    Behind {
        reason: String,
    },
    /// The program failed and is started again.
    Again {
        exited: Exited,
        failures: u32,
        wait_ms: u64,
    },
    Stuck,
    /// There is no time to save: what is finished is uploaded.
    NoTimeToSave {
        need_ms: u64,
        left_ms: u64,
    },
    /// The program does not catch the signal that would make it save.
    NotCaught(Signal),
    /// The newest checkpoint did not reach the store.
    NotFlushed {
        id: String,
    },
    Unreachable {
        reason: String,
    },
}

/// How a run ended here.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Done,
    /// The machine goes or somebody asked: to be resumed elsewhere.
    Interrupted,
    Asked,
    /// By the program's own fault, too often.
    Failed(Exited),
    /// It cannot be started.
    NoStart {
        reason: String,
    },
    Stuck,
    Budget,
    /// Somebody else has the run.
    Fenced,
    /// The store cannot be reached.
    Unreachable {
        reason: String,
    },
    LedgerBroken {
        reason: String,
    },
}
