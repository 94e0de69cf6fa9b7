//! The fastest matrix product that can be found on a GPU, over all shapes.
//!
//! share of the dense rate = base x (W per TFLOP/s)^watt x vendor x eight (8-bit formats)
//!
//! Large products run into the power limit: a part with fewer watts for each nominal TFLOP/s holds a smaller share of
//! its clocks. What remains is how well the library fits the part, one factor a vendor. Never more than `most`.
//!
//! Fitted on the maximum achievable matmul table of stas00/ml-engineering (CC BY-SA 4.0), data-centre parts from the
//! A100 on. Do not trust it for boards of 75 W and less, nor for parts whose vendor has no row.

use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    pub(crate) base: f64,
    pub(crate) watt: f64,
    /// 8-bit over 16-bit formats.
    pub(crate) eight: f64,
    /// Fixed.
    pub(crate) most: f64,
    /// Vendor -> factor; 1 for others.
    pub(crate) by_vendor: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Nominal dense rate of the format, TFLOP/s.
    pub tflops: f64,
    /// Nominal dense rate in 16 bit, TFLOP/s.
    pub half_tflops: f64,
    /// Power limit, W.
    pub watt: f64,
    pub eight_bit: bool,
    pub vendor: String,
    pub arch: String,
}

impl Query {
    /// Share of the nominal rate.
    pub(crate) fn share(&self, c: &Coefficients) -> f64 {
        let vendor = c.by_vendor.get(&self.vendor).copied().unwrap_or(1.0);
        let eight = if self.eight_bit { c.eight } else { 1.0 };
        let watt = (self.watt / self.half_tflops).powf(c.watt);
        (c.base * watt * vendor * eight).min(c.most)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "matmul"
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    /// TFLOP/s.
    fn answer(&self, calibration: &Calibration) -> f64 {
        self.tflops * self.share(&calibration.matmul.coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_watts_for_each_tflop_leave_a_smaller_share() {
        let c = Coefficients {
            base: 0.8,
            watt: 0.25,
            eight: 0.9,
            most: 0.95,
            by_vendor: BTreeMap::from([("AMD".to_owned(), 0.75)]),
        };
        let ask = |watt: f64, eight_bit, vendor: &str| Query {
            tflops: 100.0,
            half_tflops: 100.0,
            watt,
            eight_bit,
            vendor: vendor.into(),
            arch: "Hopper".into(),
        };
        assert!((ask(100.0, false, "NVIDIA").share(&c) - 0.8).abs() < 1e-12);
        assert!((ask(100.0, true, "NVIDIA").share(&c) - 0.72).abs() < 1e-12);
        assert!((ask(100.0, false, "AMD").share(&c) - 0.6).abs() < 1e-12);
        // a sixteenth of the power: half the share; plenty of it: no more than the limit
        assert!((ask(6.25, false, "NVIDIA").share(&c) - 0.4).abs() < 1e-12);
        assert_eq!(ask(1600.0, false, "NVIDIA").share(&c), 0.95);
    }
}
