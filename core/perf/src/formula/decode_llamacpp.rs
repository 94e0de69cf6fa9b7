//! One stream on llama.cpp: tokens per second of generation, all layers on GPUs.
//!
//! ```text
//! t    = bytes / rate + KV bytes x context / (share_kv rate) + (t0 + t_layer L) x 1.7 GHz / clock + t_hop (n - 1)
//! rate = power mean of -4 (close to the smallest) of  share x [narrow] x BW,
//!                                                     bytes per cycle x multiprocessors x clock,
//!        and of quantised weights without 4-way integer products  FP32 rate / operations per byte
//! ```
//!
//! One stream keeps few bytes in flight: a multiprocessor draws some 8 bytes a cycle, whatever stands behind it.
//! That holds back parts with much bandwidth and few, slow multiprocessors (A100 reads half of its bandwidth, H100
//! PCIe two thirds) and leaves GDDR boards at nine tenths. Layers are split over several GPUs, so one works at a
//! time: all bytes pass at the rate of one GPU. The fixed part is launches, which follow the clock.
//!
//! Fitted on two tables of rented machines, 4-bit and 16-bit weights, 135M to 70B, eleven architectures (own formula
//! and fit). AMD and Intel have no row: a factor is assumed. Not to be trusted for: row split over GPUs, layers on
//! the CPU, boards below 75 W, which throttle.

use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Share of nominal bandwidth.
    pub(crate) share: f64,
    /// Factor on it for quantised weights.
    pub(crate) narrow: f64,
    pub(crate) cycle_bytes: f64,
    /// FP32 operations per byte of quantised weights where four-way integer products are missing.
    pub(crate) unpack_flops: f64,
    pub(crate) kv_share: f64,
    pub(crate) fixed_ms: f64,
    pub(crate) layer_us: f64,
    pub(crate) hop_ms: f64,
    /// Clock at which the fixed part is given, Hz.
    pub(crate) clock: f64,
    /// Factor on the rate of other vendors' GPUs.
    pub(crate) other_vendor: f64,
    /// Weight format, lower case -> bytes per parameter.
    pub(crate) weight_bytes: BTreeMap<String, f64>,
}

/// One GPU in numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gpu {
    pub(crate) arch: Arc<str>,
    /// byte/s
    pub(crate) bandwidth: f64,
    /// Cycles per second of all multiprocessors together, and of one.
    pub(crate) cycles: Option<f64>,
    pub(crate) clock: Option<f64>,
    /// FLOP/s
    pub(crate) fp32: Option<f64>,
    /// Four-way integer products (compute capability 6.1 and later).
    pub(crate) dot4: bool,
    pub(crate) nvidia: bool,
}

/// Close to the smallest of the limits.
pub(crate) fn smallest(limits: impl IntoIterator<Item = f64>) -> f64 {
    limits
        .into_iter()
        .map(|x| x.powi(-4))
        .sum::<f64>()
        .powf(-0.25)
}

impl Gpu {
    /// Byte/s at which one stream reads weights.
    pub(crate) fn rate(&self, quantised: bool, c: &Coefficients) -> f64 {
        let narrow = if quantised { c.narrow } else { 1.0 };
        let memory = c.share * narrow * self.bandwidth;
        let drawn = self.cycles.map(|x| c.cycle_bytes * x);
        let unpacked = self
            .fp32
            .filter(|_| quantised && !self.dot4)
            .map(|x| x / c.unpack_flops);
        let vendor = if self.nvidia { 1.0 } else { c.other_vendor };
        vendor * smallest([Some(memory), drawn, unpacked].into_iter().flatten())
    }

    /// How much longer a launch takes than at the clock of reference.
    pub(crate) fn slowness(&self, reference: f64) -> f64 {
        self.clock.map_or(1.0, |clock| reference / clock)
    }
}

/// One stream of answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) gpu: Gpu,
    /// GPUs over which layers are split.
    pub(crate) gpus: f64,
    /// All weights, bytes.
    pub(crate) bytes: f64,
    pub(crate) quantised: bool,
    pub(crate) layers: f64,
    /// Cache of one token, bytes.
    pub(crate) kv_bytes: f64,
    /// Tokens in the middle of the answer.
    pub(crate) context: f64,
}

impl Query {
    /// Seconds per token.
    pub(crate) fn token_time(&self, c: &Coefficients) -> f64 {
        let rate = self.gpu.rate(self.quantised, c);
        let fixed = c.fixed_ms * 1e-3 + c.layer_us * 1e-6 * self.layers;
        self.bytes / rate
            + self.kv_bytes * self.context / (c.kv_share * rate)
            + fixed * self.gpu.slowness(c.clock)
            + c.hop_ms * 1e-3 * (self.gpus - 1.0).max(0.0)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "decode_llamacpp"
    }

    fn class(&self) -> &'static str {
        match (self.bytes > 2e9, self.gpus > 1.0) {
            (false, _) => "small",
            (true, false) => "one",
            (true, true) => "split",
        }
    }

    fn arch(&self) -> &str {
        &self.gpu.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        1.0 / self.token_time(&calibration.decode_llamacpp.coefficients)
    }

    /// Models that people serve count more than toys.
    fn weight(&self) -> f64 {
        if self.bytes > 2e9 { 1.0 } else { 0.3 }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn coefficients() -> Coefficients {
        Coefficients {
            share: 0.9,
            narrow: 0.9,
            cycle_bytes: 8.0,
            unpack_flops: 40.0,
            kv_share: 0.5,
            fixed_ms: 1.0,
            layer_us: 50.0,
            hop_ms: 0.1,
            clock: 1.7e9,
            other_vendor: 0.8,
            weight_bytes: BTreeMap::new(),
        }
    }

    /// 900 GB/s, 100 multiprocessors at 1.7 GHz.
    pub(crate) fn gpu() -> Gpu {
        Gpu {
            arch: "Ada".into(),
            bandwidth: 900e9,
            cycles: Some(170e9),
            clock: Some(1.7e9),
            fp32: Some(40e12),
            dot4: true,
            nvidia: true,
        }
    }

    fn query() -> Query {
        Query {
            gpu: gpu(),
            gpus: 1.0,
            bytes: 5e9,
            quantised: true,
            layers: 32.0,
            kv_bytes: 131_072.0,
            context: 256.0,
        }
    }

    #[test]
    fn a_token_by_hand() {
        // limits 729 and 1360 GB/s: (729^-4 + 1360^-4)^(-1/4) = 715.0 GB/s; 5 GB take 6.993 ms, the cache
        // 33.6 MB at half the rate 0.0939 ms, launches 1 + 1.6 ms
        let t = query().token_time(&coefficients());
        assert!((t - 9.687e-3).abs() < 5e-6, "{t}");
    }

    #[test]
    fn few_slow_multiprocessors_hold_back_much_bandwidth() {
        let c = coefficients();
        let starved = Gpu {
            bandwidth: 2000e9,
            cycles: Some(100e9),
            ..gpu()
        };
        let share = starved.rate(false, &c) / starved.bandwidth;
        assert!(share < 0.42, "{share}");
        assert!(gpu().rate(false, &c) / 900e9 > 0.85);
    }

    #[test]
    fn splitting_layers_does_not_speed_up_and_longer_contexts_slow_down() {
        let c = coefficients();
        let one = query().token_time(&c);
        assert!(
            Query {
                gpus: 4.0,
                ..query()
            }
            .token_time(&c)
                > one
        );
        assert!(
            Query {
                context: 4096.0,
                ..query()
            }
            .token_time(&c)
                > one
        );
        let old = Gpu {
            dot4: false,
            fp32: Some(9e12),
            ..gpu()
        };
        assert!(
            Query {
                gpu: old,
                ..query()
            }
            .token_time(&c)
                > 2.0 * one
        );
    }
}
