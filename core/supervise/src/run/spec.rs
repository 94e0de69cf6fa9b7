//! What is known before a job starts.

use super::Budget;
use serde::{Deserialize, Serialize};

/// A signal that a program may be asked to end or to save with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Signal {
    Term,
    Int,
    Hup,
    Usr1,
    Usr2,
}

impl Signal {
    /// Its number on Linux, x86-64 and aarch64 (signal(7)).
    pub fn number(self) -> u8 {
        match self {
            Signal::Hup => 1,
            Signal::Int => 2,
            Signal::Usr1 => 10,
            Signal::Usr2 => 12,
            Signal::Term => 15,
        }
    }
}

/// Signals that a process catches: `SigCgt` of `/proc/PID/status`, bit n - 1 for signal n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals(pub u64);

impl Signals {
    pub fn has(self, signal: Signal) -> bool {
        self.0 >> (signal.number() - 1) & 1 == 1
    }
}

/// How fast the job goes; assumed until it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// One step of the program, which has to end before it can save.
    pub step_ms: u64,
    /// Writing one checkpoint to the local disk.
    pub save_ms: u64,
    /// To the store.
    pub bytes_per_s: f64,
    /// Bytes of one checkpoint.
    pub bytes: u64,
}

impl Pace {
    /// Time for so many bytes to reach the store; rounded up.
    pub fn upload_ms(&self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let ms = bytes as f64 / self.bytes_per_s.max(1.0) * 1000.0;
        ms.ceil().min(u64::MAX as f64) as u64
    }

    /// From the signal until the checkpoint is safe, without a margin.
    pub fn way_out_ms(&self) -> u64 {
        self.step_ms
            .saturating_add(self.save_ms)
            .saturating_add(self.upload_ms(self.bytes))
    }
}

/// What a run is held to.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Makes the program save and end, or only save and go on until it is killed; `None`: nothing does.
    pub stop: Option<Signal>,
    /// Something can tell whether the work is finished; else exit status 0 does, where no stop was asked for.
    pub has_test: bool,
    /// Ends of the program by its own fault, after which it is given up.
    pub failures_max: u32,
    /// Waiting before it is started again after the first failure; doubled each time.
    pub backoff_ms: u64,
    pub backoff_max_ms: u64,
    pub budget: Option<Budget>,
    /// When the machine began to be billed, on the clock that never jumps; negative where that was before it began.
    pub billed_from_ms: i64,
    pub pace: Pace,
    /// Added to what is measured.
    pub margin_ms: u64,
    /// Longest wait for a program that was asked to end, where nothing else limits it.
    pub grace_ms: u64,
    /// Longest wait for the last upload after the program has ended, where nothing else limits it.
    pub flush_ms: u64,
    /// End a program that is stuck, instead of only saying so.
    pub kill_stuck: bool,
}
