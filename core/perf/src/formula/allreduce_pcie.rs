//! All-reduce over PCIe inside one machine: a middle and a wide range, never a promise.
//!
//! time = as over NVLink (same latency), with bus = share of the slot x (2 / n)^crowding in the middle.
//! The range reaches from a host whose slots meet in one switch and lose nothing (`best`) down to one that is
//! nearly unusable: worst (2 / n)^worst_crowding of the slot's rate.
//!
//! What it is: an interpolation between two facts, both measured with NCCL: a pair of L40S in good slots reaches
//! the same share of PCIe 4 x16 as a pair does of NVLink, and eight L40S on a bad host reach a fourteenth of it. The
//! card tells nothing about which of the two one rents. What it is not: fitted to several GPU types, for there was
//! one; errors are therefore of left-out message sizes and say nothing about other hosts. Start at [`bus`].

use super::{Calibration, Question};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Bus bandwidth falls with the GPUs as (2 / n)^crowding, on a host between good and bad.
    pub(crate) crowding: f64,
    /// The best host's bus over what a pair reaches in the middle.
    pub(crate) best: f64,
    /// The worst host's bus of a pair over the same: no access from card to card.
    pub(crate) worst: f64,
    /// Exponent of 2 / n on the worst host.
    pub(crate) worst_crowding: f64,
    /// Factor up and down for all that is not the bus, such as slower starts.
    pub(crate) spread: f64,
}

/// Bus bandwidth of large messages, byte/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bus {
    pub(crate) low: f64,
    pub(crate) mid: f64,
    pub(crate) high: f64,
}

/// Bus bandwidth over `n` GPUs whose slots carry `one_way` byte/s.
pub(crate) fn bus(calibration: &Calibration, one_way: f64, n: f64) -> Bus {
    let c = &calibration.allreduce_pcie.coefficients;
    // a pair reaches the same share of a slot as of an NVLink
    let pair = calibration.allreduce_nvlink.coefficients.bus(one_way, 2.0);
    let crowd = 2.0 / n.max(2.0);
    let mid = pair * crowd.powf(c.crowding);
    Bus {
        low: (pair * c.worst * crowd.powf(c.worst_crowding)).min(mid),
        mid,
        high: (pair * c.best).max(mid),
    }
}

/// One all-reduce.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Message, bytes.
    pub(crate) bytes: f64,
    pub(crate) gpus: f64,
    /// One direction of a card's slot, byte/s.
    pub(crate) one_way: f64,
    pub(crate) arch: String,
}

impl Query {
    fn seconds(&self, calibration: &Calibration, bus: f64) -> f64 {
        let link = &calibration.allreduce_nvlink.coefficients;
        link.start(&self.arch).seconds(self.bytes, self.gpus, bus)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "allreduce_pcie"
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    /// Milliseconds.
    fn answer(&self, calibration: &Calibration) -> f64 {
        let bus = bus(calibration, self.one_way, self.gpus);
        self.seconds(calibration, bus.mid) * 1e3
    }

    /// From the best host to the worst, whatever the residuals of the one measured host are.
    fn range(&self, calibration: &Calibration) -> Option<[f64; 2]> {
        let bus = bus(calibration, self.one_way, self.gpus);
        let mid = self.seconds(calibration, bus.mid);
        let low = self.seconds(calibration, bus.high) / mid;
        let high = self.seconds(calibration, bus.low) / mid;
        let spread = calibration.allreduce_pcie.coefficients.spread.max(1.0);
        Some([low / spread, high * spread])
    }
}

#[cfg(test)]
mod tests {
    use super::{Coefficients, Query, bus};
    use crate::formula::{Calibration, Fitted, Question, allreduce_nvlink};

    fn calibration() -> Calibration {
        let text = include_str!("../../../../data/calibration.toml");
        let mut calibration = Calibration::from_toml(text).expect("calibration.toml");
        calibration.allreduce_nvlink.coefficients = allreduce_nvlink::tests::coefficients();
        calibration.allreduce_pcie = Fitted {
            coefficients: Coefficients {
                crowding: 1.0,
                best: 1.2,
                worst: 0.5,
                worst_crowding: 2.0,
                spread: 1.5,
            },
            anchors: [].into(),
        };
        calibration
    }

    #[test]
    fn crowding_slows_the_middle_and_the_worst_host_but_not_the_best() {
        let c = calibration();
        // a pair: 0.8 x (1 - 0.5/2) = 0.6 of 32 GB/s
        let pair = bus(&c, 32e9, 2.0);
        assert!((pair.mid - 19.2e9).abs() < 1.0 && (pair.low - 9.6e9).abs() < 1.0);
        let eight = bus(&c, 32e9, 8.0);
        assert!((eight.mid - 4.8e9).abs() < 1.0);
        assert!((eight.low - 0.6e9).abs() < 1.0, "0.5 / 16 of a pair");
        assert!((eight.high - pair.high).abs() < 1.0);
    }

    #[test]
    fn the_range_is_wide_for_long_messages_and_holds_the_middle() {
        let c = calibration();
        let query = |bytes| Query {
            bytes,
            gpus: 8.0,
            one_way: 32e9,
            arch: "Ada".into(),
        };
        for bytes in [64e3, 1e6, 512e6] {
            let asked = query(bytes);
            let [low, high] = asked.range(&c).expect("a range of its own");
            assert!(
                asked.answer(&c) > 0.0 && low < 1.0 && 1.0 < high,
                "{low} {high}"
            );
        }
        let width = |bytes| query(bytes).range(&c).map(|[low, high]| high / low);
        assert!(width(64e3) < width(512e6));
    }
}
