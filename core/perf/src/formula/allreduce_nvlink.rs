//! All-reduce over NVLink and its kin inside one machine: time by message size and number of GPUs.
//!
//! time = latency n^ranks + switch x^2 / (1 + x^2) + transfer, with transfer = 2 (n-1)/n bytes / bus,
//! bus = eff (1 - ring_loss / n) x one-way link, x = transfer / switch_at.
//!
//! Short messages cost a latency that grows with the ranks. Once the transfer takes some ten microseconds the
//! library leaves its low-latency protocol for one that fills the link but starts later: the second term. The
//! share of the link grows with the ranks, because in a ring of two every byte is both reduced and copied at
//! each step and pipelining hides less of it. The latency by architecture follows no column of a data sheet; for
//! an architecture without a row the geometric mean of the known ones stands in.
//!
//! What it is: an own formula, fitted on NCCL 2.23 to 2.29 of A100, H100, B200 and GB200 with 64 KiB to 512 MiB.
//! Versions of the library differ by less than the formula's error, so all of them count. What it is not: a model
//! of reduction inside the switch (NVLS), which lets eight H100 reach a quarter more on messages above 128 MiB but
//! did not help to predict one GPU from the others; nor of several machines, nor of links shared with others.
//! Below 64 KiB it is extrapolated. Start at [`Link::seconds`].

use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Architecture -> microseconds that a reduction costs before any byte, for one rank.
    pub(crate) by_arch: BTreeMap<String, f64>,
    /// Exponent of the number of GPUs in the latency.
    pub(crate) ranks: f64,
    /// Microseconds that the bandwidth protocol starts later.
    pub(crate) switch_us: f64,
    /// Microseconds of transfer at which half of the switch has happened.
    pub(crate) switch_at_us: f64,
    /// Share of the one-way link that very many ranks reach.
    pub(crate) eff: f64,
    /// Share of that which one rank would lose; n ranks lose 1/n of it.
    pub(crate) ring_loss: f64,
}

impl Coefficients {
    /// Seconds; architectures that the fit did not see get the geometric mean.
    fn latency(&self, arch: &str) -> f64 {
        let us = self.by_arch.get(arch).copied().unwrap_or_else(|| {
            let n = self.by_arch.len().max(1) as f64;
            (self.by_arch.values().map(|x| x.ln()).sum::<f64>() / n).exp()
        });
        us * 1e-6
    }

    /// Bus bandwidth of very large messages, byte/s, from that of the link in one direction.
    pub(crate) fn bus(&self, one_way: f64, n: f64) -> f64 {
        self.eff * (1.0 - self.ring_loss / n.max(2.0)) * one_way
    }

    /// What stays when the bandwidth is known otherwise.
    pub(crate) fn start(&self, arch: &str) -> Start {
        Start {
            latency: self.latency(arch),
            ranks: self.ranks,
            switch: self.switch_us * 1e-6,
            switch_at: self.switch_at_us * 1e-6,
        }
    }
}

/// Time of a reduction apart from its bytes, seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    latency: f64,
    ranks: f64,
    switch: f64,
    switch_at: f64,
}

impl Start {
    /// Seconds to all-reduce `bytes` over `n` GPUs at `bus` byte/s; 0 for one GPU or nothing to send.
    pub(crate) fn seconds(&self, bytes: f64, n: f64, bus: f64) -> f64 {
        if n <= 1.0 || bytes <= 0.0 {
            return 0.0;
        }
        let transfer = 2.0 * (n - 1.0) / n * bytes / bus;
        let ratio = transfer / self.switch_at.max(1e-9);
        // 1 / (1 + 1/x^2) stays finite where x^2 would not
        self.latency * n.powf(self.ranks) + self.switch / (1.0 + ratio.powi(-2)) + transfer
    }
}

/// One all-reduce.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Message, bytes.
    pub(crate) bytes: f64,
    pub(crate) gpus: f64,
    /// One direction of all links of one GPU, byte/s.
    pub(crate) one_way: f64,
    pub(crate) arch: String,
}

/// Messages below this wait rather than travel: their errors are those of the latency.
const LONG: f64 = 4.0 * 1024.0 * 1024.0;

impl Question for Query {
    fn family(&self) -> &'static str {
        "allreduce_nvlink"
    }

    fn class(&self) -> &'static str {
        if self.bytes < LONG { "short" } else { "long" }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    /// Milliseconds.
    fn answer(&self, calibration: &Calibration) -> f64 {
        let c = &calibration.allreduce_nvlink.coefficients;
        let bus = c.bus(self.one_way, self.gpus);
        c.start(&self.arch).seconds(self.bytes, self.gpus, bus) * 1e3
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::Coefficients;

    pub(crate) fn coefficients() -> Coefficients {
        Coefficients {
            by_arch: [("Ampere".to_owned(), 8.0), ("Hopper".to_owned(), 2.0)].into(),
            ranks: 0.5,
            switch_us: 20.0,
            switch_at_us: 10.0,
            eff: 0.8,
            ring_loss: 0.5,
        }
    }

    fn us(bytes: f64, n: f64, arch: &str) -> f64 {
        let c = coefficients();
        c.start(arch).seconds(bytes, n, c.bus(300e9, n)) * 1e6
    }

    #[test]
    fn two_hand_computed_times() {
        // 4 GPUs: bus 0.8 x 0.875 x 300 = 210 GB/s; 1.4 MB x 1.5 / 210 GB/s = 10 us = switch_at
        assert!((us(1.4e6, 4.0, "Ampere") - (16.0 + 10.0 + 10.0)).abs() < 1e-9);
        // 2 GPUs: bus 180 GB/s; 1.8 GB / 180 GB/s = 10 ms, the switch is complete
        let long = us(1.8e9, 2.0, "Ampere");
        assert!(
            (long - (8.0 * 2f64.sqrt() + 20.0 + 10_000.0)).abs() < 1e-3,
            "{long}"
        );
    }

    #[test]
    fn longer_and_wider_takes_longer() {
        let sizes = [1.0, 1e3, 1e5, 1e6, 1e7, 1e9, 1e12];
        for pair in sizes.windows(2) {
            assert!(us(pair[0], 8.0, "Ampere") < us(pair[1], 8.0, "Ampere"));
        }
        for pair in [2.0, 4.0, 8.0, 72.0].windows(2) {
            assert!(us(1e4, pair[0], "Ampere") < us(1e4, pair[1], "Ampere"));
        }
        assert_eq!(us(1e9, 1.0, "Ampere"), 0.0);
        assert_eq!(us(0.0, 8.0, "Ampere"), 0.0);
    }

    #[test]
    fn an_unseen_architecture_waits_like_the_mean_of_the_known() {
        let unseen = us(1.0, 4.0, "Blackwell Ultra");
        assert!(
            (unseen - 8.0).abs() < 1e-3,
            "sqrt(8 x 2) x sqrt(4): {unseen}"
        );
    }
}
