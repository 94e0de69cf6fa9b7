//! The two variants of SkyNomad that its artifact (NSDI 2027) measured.

use super::Value;

/// Longest life that is believed in the H100 sweeps, h.
const CAP_H: f64 = 2.0;

/// Which SkyNomad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How an hour of work is valued.
    pub value: Value,
    /// Longest life that is believed, h; infinite: none.
    pub cap_h: f64,
    /// Whether the open run of a zone counts as a sample, and what launches and probes say of a zone is kept as
    /// runs of its own.
    pub virtual_availability: bool,
}

impl Settings {
    /// The published H100 sweeps.
    pub const PLANNED_COST: Settings = Settings {
        value: Value::PlannedCost,
        cap_h: CAP_H,
        virtual_availability: false,
    };
    /// The published V100 jobs.
    pub const RATE_RATIO: Settings = Settings {
        value: Value::RateRatio,
        cap_h: f64::INFINITY,
        virtual_availability: true,
    };
}
