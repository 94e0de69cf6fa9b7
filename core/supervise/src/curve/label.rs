//! The answer: a label, how sure it is, why, and the stretches of time it speaks of.

use super::GpuId;
use lessee_model::Msg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a curve shows. The spellings are a public contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Label {
    HealthyTraining,
    HealthyComputeBound,
    HealthyMemoryBound,
    HealthyBurstyServing,
    /// A part of the GPU is used: a smaller or a shared one may do.
    PartiallyUtilised,
    Underutilised,
    UnderutilisedBurstyServing,
    /// The SMs are nearly unused, the video engines are not.
    EncoderOnly,
    Idle,
    /// Worked, and then stopped.
    IdleAfterLoad,
    IdleHoldingMemory,
    /// Waits for its input.
    StarvedCpu,
    /// One rank is late and the others wait for it.
    Straggler,
    PeriodicDipCheckpoint,
    Throttled,
    /// A kernel that spins and gets nowhere.
    HungBusySpin,
    /// Ranks that wait for each other and get nowhere.
    HungCollective,
    /// Cannot tell: the counters are not there, as in MIG mode.
    UnknownMig,
}

impl Label {
    /// The spelling in files and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Label::HealthyTraining => "HEALTHY_TRAINING",
            Label::HealthyComputeBound => "HEALTHY_COMPUTE_BOUND",
            Label::HealthyMemoryBound => "HEALTHY_MEMORY_BOUND",
            Label::HealthyBurstyServing => "HEALTHY_BURSTY_SERVING",
            Label::PartiallyUtilised => "PARTIALLY_UTILISED",
            Label::Underutilised => "UNDERUTILISED",
            Label::UnderutilisedBurstyServing => "UNDERUTILISED_BURSTY_SERVING",
            Label::EncoderOnly => "ENCODER_ONLY",
            Label::Idle => "IDLE",
            Label::IdleAfterLoad => "IDLE_AFTER_LOAD",
            Label::IdleHoldingMemory => "IDLE_HOLDING_MEMORY",
            Label::StarvedCpu => "STARVED_CPU",
            Label::Straggler => "STRAGGLER",
            Label::PeriodicDipCheckpoint => "PERIODIC_DIP_CHECKPOINT",
            Label::Throttled => "THROTTLED",
            Label::HungBusySpin => "HUNG_BUSY_SPIN",
            Label::HungCollective => "HUNG_COLLECTIVE",
            Label::UnknownMig => "UNKNOWN_MIG",
        }
    }
}

/// How far a reading may be trusted. Nobody should act on less than `High`, and on `High` only with a second
/// witness: a checkpoint, the log, the job's own step count.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// A guess: too few samples, or nothing but one weak signal.
    Low,
    /// Fits, but one signal alone says so, or not for long.
    Possible,
    /// Two or more independent signals agree.
    High,
}

/// A stretch of the series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    pub label: Label,
    /// Seconds, on the clock of the samples.
    pub from_s: f64,
    pub to_s: f64,
    /// The probable cause.
    pub cause: Msg,
}

/// The reading of one GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    pub gpu: GpuId,
    pub label: Label,
    pub confidence: Confidence,
    pub why: Msg,
    /// In order of time; empty where the whole series is in order.
    pub spans: Vec<Span>,
}
