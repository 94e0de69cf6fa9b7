//! Copies inside the memory of one GPU: the plainest measure of its bandwidth.
//!
//! copy = share x nominal bandwidth / 2, each byte counted once though it is read and written.
//!
//! What it is: one share for all, fitted on nvbandwidth runs of rented machines (P4 to B200). Neither the kind of
//! memory nor the architecture told the shares apart: 0.73 of a T4 with error correction, 0.76 and 0.88 of the
//! same L40S in two clouds, 0.91 of a V100. What it is not: a share of a slice; time-sliced virtual GPUs copy at
//! anything below. Start at [`Query`].

use super::{Calibration, Question};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Memory traffic of a copy over nominal bandwidth.
    pub(crate) share: f64,
}

/// A copy from one place of a GPU's memory to another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Nominal, byte/s.
    pub(crate) bandwidth: f64,
    pub(crate) arch: String,
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "device_copy"
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    /// GB/s, each byte counted once.
    fn answer(&self, calibration: &Calibration) -> f64 {
        calibration.device_copy.coefficients.share * self.bandwidth / 2.0 / 1e9
    }
}
