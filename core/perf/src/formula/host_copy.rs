//! Copies between the memory of the host and that of a GPU, pinned and large.
//!
//! bandwidth = share(generation) x lane rate x 2^(generation - 3) x lanes.
//!
//! What it is: the share of the theoretical rate that the copy engine reaches, by PCIe generation, fitted on
//! nvbandwidth runs of 23 GPU types on rented machines. A generation newer than all of those takes the newest
//! one's share. What it is not: a guess at the wiring. Clouds wire the same card with half its lanes or an older
//! generation, and then the card's own slot is wrong by a factor of two: take the link from the machine. A label
//! can lie too: the A100 machines of one cloud report generation 4 and move bytes like generation 3. Several
//! GPUs behind one switch share it; unpinned memory and small copies are slower. Start at [`bandwidth`].

use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// GB/s of one lane of generation 3 in one direction, encoding taken off; doubles with each generation.
    pub(crate) lane_gbs: f64,
    /// Generation, as a word -> share of the rate that a copy reaches.
    pub(crate) share: BTreeMap<String, f64>,
}

impl Coefficients {
    /// Byte/s that a slot carries in one direction.
    pub(crate) fn one_way(&self, generation: u8, lanes: u8) -> f64 {
        let doublings = f64::from(generation) - 3.0;
        self.lane_gbs * 1e9 * doublings.exp2() * f64::from(lanes)
    }

    /// Share of it that a copy reaches; the nearest known generation's where there is none of its own.
    pub(crate) fn share(&self, generation: u8) -> f64 {
        let near = |key: &&String| {
            key.parse::<u8>()
                .map_or(u8::MAX, |g| g.abs_diff(generation))
        };
        let nearest = self.share.keys().min_by_key(near);
        nearest
            .and_then(|key| self.share.get(key))
            .copied()
            .unwrap_or(f64::NAN)
    }
}

/// Byte/s of a copy over a slot.
pub(crate) fn bandwidth(calibration: &Calibration, generation: u8, lanes: u8) -> f64 {
    let c = &calibration.host_copy.coefficients;
    c.share(generation) * c.one_way(generation, lanes)
}

/// One direction of a slot in use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// PCIe generation and lanes as wired.
    pub(crate) generation: u8,
    pub(crate) lanes: u8,
    /// The machine says so; otherwise the card's own slot stands in.
    pub(crate) wired: bool,
    pub(crate) arch: String,
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "host_copy"
    }

    fn class(&self) -> &'static str {
        if self.wired { "wired" } else { "card" }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    /// GB/s.
    fn answer(&self, calibration: &Calibration) -> f64 {
        bandwidth(calibration, self.generation, self.lanes) / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::Coefficients;

    fn coefficients() -> Coefficients {
        Coefficients {
            lane_gbs: 1.0,
            share: [("3".to_owned(), 0.7), ("5".to_owned(), 0.9)].into(),
        }
    }

    #[test]
    fn a_generation_doubles_the_slot_and_lanes_add_up() {
        let c = coefficients();
        assert_eq!(c.one_way(3, 16), 16e9);
        assert_eq!(c.one_way(5, 8), 32e9);
        assert_eq!(c.one_way(2, 4), 2e9);
    }

    #[test]
    fn an_unknown_generation_takes_the_nearest_share() {
        let c = coefficients();
        assert_eq!(c.share(3), 0.7);
        assert_eq!(c.share(6), 0.9);
        assert_eq!(c.share(1), 0.7);
    }
}
