//! Reading a prompt on llama.cpp: tokens per second, all layers on GPUs.
//!
//! ```text
//! builds with matrix kernels of their own (2025 and later), batches u of at most 512 tokens:
//!   t(I) = I/u x ((products^3 + weights^3)^(1/3) + t_layer L x 1.7 GHz / clock) + attention
//!   products  = 2 P (u + u0) / F          weights = bytes / (0.85 BW)
//!   attention = 2 L (heads x width) I^2 k / F
//!   F = power mean of -4 of  operations per cycle x multiprocessors x clock  and  e(arch) (TDP - board)
//! builds before, through the vendor's matrix library:
//!   t(I) = I x (2 P / (a F16) + 2 P b / rate) + L heads I^2/2 x c / rate
//! tokens/s = I / t(I) x s^(p (2/n)^d), s = m n / (m + n - 1) with m = min(I/512, 4) batches on their way over n GPUs
//! ```
//!
//! Quantised weights are multiplied by kernels whose speed follows multiprocessors and clock, not the data sheet's
//! matrix rate; a few parts have wider units (compute capability 8.0, and 9 on). The library path unpacks
//! weights to 16 bit first and runs at the full rate of 16-bit accumulation. Several GPUs work on batches in turn.
//!
//! Own formula and fit. A wide range is in order: kernels changed every few months, and several hosts of the older
//! table were broken. Not to be trusted for other vendors (factor assumed) and for prompts of a few tokens.

use super::decode_llamacpp::{Gpu, smallest};
use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Builds of 2025 and later.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Operations a cycle of a multiprocessor: without matrix units, with, and factor for the wider ones.
    pub(crate) plain: f64,
    pub(crate) matrix: f64,
    pub(crate) wide: f64,
    pub(crate) other_vendor: f64,
    pub(crate) tflops_per_watt: f64,
    pub(crate) board_watt: f64,
    /// Architecture -> worth of a watt, `other` for the rest.
    pub(crate) watt_worth: BTreeMap<String, f64>,
    /// Tokens by which a batch is too small.
    pub(crate) ramp: f64,
    pub(crate) layer_us: f64,
    pub(crate) attention: f64,
    /// Factor on attention before compute capability 7.5.
    pub(crate) old_attention: f64,
    pub(crate) pipeline: f64,
    /// Power by which more than two GPUs lose it.
    pub(crate) crowding: f64,
    pub(crate) weight_share: f64,
    pub(crate) clock: f64,
}

/// Builds before 2025.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LibraryCoefficients {
    /// Share of the 16-bit matrix rate.
    pub(crate) mfu: f64,
    /// Bytes moved per parameter and token in thousandths, quantised; and factor for 16-bit weights.
    pub(crate) unpack: f64,
    pub(crate) plain_unpack: f64,
    /// Bytes of scores per head, layer, and pair of tokens.
    pub(crate) score_bytes: f64,
    pub(crate) pipeline: f64,
    pub(crate) share: f64,
    pub(crate) cycle_bytes: f64,
    pub(crate) other_vendor: f64,
}

/// What a GPU is beside [`Gpu`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Units {
    pub(crate) matrix: bool,
    /// The wider kind.
    pub(crate) wide: bool,
    /// Attention in one pass (compute capability 7.5 and later).
    pub(crate) one_pass: bool,
    pub(crate) watt: Option<f64>,
    /// 16-bit FLOP/s with 16-bit accumulation.
    pub(crate) half: f64,
}

/// One prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) gpu: Gpu,
    pub(crate) units: Units,
    pub(crate) gpus: f64,
    pub(crate) bytes: f64,
    pub(crate) quantised: bool,
    pub(crate) params: f64,
    pub(crate) layers: f64,
    pub(crate) heads: f64,
    /// Heads times their width.
    pub(crate) head_width: f64,
    /// Tokens.
    pub(crate) prompt: f64,
    /// Built before 2025.
    pub(crate) library: bool,
}

/// Tokens of one batch, the engine's default; and batches under way together.
const BATCH: f64 = 512.0;
const BATCHES: f64 = 4.0;

impl Query {
    fn overlap(&self) -> f64 {
        let m = (self.prompt / BATCH).clamp(1.0, BATCHES);
        m * self.gpus / (m + self.gpus - 1.0)
    }

    /// Tokens per second.
    pub(crate) fn speed(&self, c: &Coefficients) -> f64 {
        let cycles = self.gpu.cycles.unwrap_or(self.units.half / c.matrix);
        let per_cycle = match (self.gpu.nvidia, self.units.matrix, self.units.wide) {
            (false, ..) => c.matrix * c.other_vendor,
            (true, false, _) => c.plain,
            (true, true, false) => c.matrix,
            (true, true, true) => c.matrix * c.wide,
        };
        let worth = c
            .watt_worth
            .get(&*self.gpu.arch)
            .or_else(|| c.watt_worth.get("other"));
        let by_power = self.units.watt.map(|watt| {
            let left = (watt - c.board_watt).max(0.2 * watt);
            c.tflops_per_watt * 1e12 * worth.copied().unwrap_or(1.0) * left
        });
        let flops = smallest([Some(per_cycle * cycles), by_power].into_iter().flatten());
        let batch = self.prompt.min(BATCH);
        let products = 2.0 * self.params * (batch + c.ramp) / flops;
        let weights = self.bytes / (c.weight_share * self.gpu.bandwidth);
        let launches = c.layer_us * 1e-6 * self.layers * self.gpu.slowness(c.clock);
        let one = (products.powi(3) + weights.powi(3)).cbrt() + launches;
        let old = if self.units.one_pass {
            1.0
        } else {
            c.old_attention
        };
        let attention =
            2.0 * self.layers * self.head_width * self.prompt * self.prompt * c.attention * old
                / flops;
        let time = (self.prompt / BATCH).ceil() * one + attention;
        let exponent = c.pipeline * (2.0 / self.gpus).powf(c.crowding);
        self.prompt / time * self.overlap().powf(exponent)
    }

    /// Tokens per second of a build before 2025.
    pub(crate) fn speed_by_library(&self, c: &LibraryCoefficients) -> f64 {
        let vendor = if self.gpu.nvidia { 1.0 } else { c.other_vendor };
        let drawn = self.gpu.cycles.map(|x| c.cycle_bytes * x);
        let rate = vendor
            * smallest(
                [Some(c.share * self.gpu.bandwidth), drawn]
                    .into_iter()
                    .flatten(),
            );
        let unpack = if self.quantised {
            c.unpack
        } else {
            c.unpack * c.plain_unpack
        };
        let products = 2.0 * self.params / (c.mfu * vendor * self.units.half);
        let moved = 2.0 * self.params * unpack * 1e-3 / rate;
        let scores = self.layers * self.heads * self.prompt / 2.0 * c.score_bytes / rate;
        self.overlap().powf(c.pipeline) / (products + moved + scores)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        if self.library {
            "prefill_llamacpp_2024"
        } else {
            "prefill_llamacpp"
        }
    }

    fn class(&self) -> &'static str {
        match (self.params > 2e9, self.prompt < BATCH, self.gpus > 1.0) {
            (false, ..) => "small",
            (true, true, _) => "short",
            (true, false, false) => "one",
            (true, false, true) => "split",
        }
    }

    fn arch(&self) -> &str {
        &self.gpu.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        if self.library {
            self.speed_by_library(&calibration.prefill_llamacpp_2024.coefficients)
        } else {
            self.speed(&calibration.prefill_llamacpp.coefficients)
        }
    }

    /// Models that people serve, prompts that people write.
    fn weight(&self) -> f64 {
        if self.params > 2e9 && self.prompt >= 64.0 {
            1.0
        } else {
            0.3
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode_llamacpp::tests::gpu;
    use super::*;

    fn coefficients() -> Coefficients {
        Coefficients {
            plain: 100.0,
            matrix: 400.0,
            wide: 1.5,
            other_vendor: 0.5,
            tflops_per_watt: 1.0,
            board_watt: 40.0,
            watt_worth: [("other".to_owned(), 1.0)].into(),
            ramp: 20.0,
            layer_us: 100.0,
            attention: 1.0,
            old_attention: 3.0,
            pipeline: 1.0,
            crowding: 0.0,
            weight_share: 0.85,
            clock: 1.7e9,
        }
    }

    fn query() -> Query {
        Query {
            gpu: gpu(),
            units: Units {
                matrix: true,
                wide: false,
                one_pass: true,
                watt: None,
                half: 150e12,
            },
            gpus: 1.0,
            bytes: 5e9,
            quantised: true,
            params: 8e9,
            layers: 32.0,
            heads: 32.0,
            head_width: 4096.0,
            prompt: 512.0,
            library: false,
        }
    }

    #[test]
    fn a_prompt_by_hand() {
        // 400 x 170e9 = 68 TFLOP/s; products 16e9 x 532 / 68e12 = 125.18 ms, weights 6.54 ms hidden to 125.18,
        // launches 3.2 ms, attention 2 x 32 x 4096 x 512^2 / 68e12 = 1.01 ms: 512 / 129.39 ms
        let speed = query().speed(&coefficients());
        assert!((speed - 3957.0).abs() < 5.0, "{speed}");
    }

    #[test]
    fn little_power_slows_down_and_wide_units_speed_up() {
        let c = coefficients();
        let base = query().speed(&c);
        let capped = Query {
            units: Units {
                watt: Some(72.0),
                ..query().units
            },
            ..query()
        };
        let wide = Query {
            units: Units {
                wide: true,
                ..query().units
            },
            ..query()
        };
        assert!(capped.speed(&c) < 0.5 * base);
        assert!(wide.speed(&c) > 1.3 * base);
    }

    #[test]
    fn batches_travel_over_two_gpus() {
        let c = coefficients();
        let long = |gpus| {
            Query {
                gpus,
                prompt: 4096.0,
                ..query()
            }
            .speed(&c)
        };
        assert!((long(2.0) / long(1.0) - 1.6).abs() < 1e-9);
        let short = |gpus| Query { gpus, ..query() }.speed(&c);
        assert_eq!(short(2.0), short(1.0));
    }

    #[test]
    fn the_library_path_by_hand() {
        let c = LibraryCoefficients {
            mfu: 0.5,
            unpack: 5.0,
            plain_unpack: 0.5,
            score_bytes: 20.0,
            pipeline: 1.0,
            share: 1.0,
            cycle_bytes: 1e9,
            other_vendor: 0.5,
        };
        // per token: 16e9 / 75e12 = 0.2133 ms; 80e6 B / 900e9 = 0.0889 ms; 1024 x 256 x 20 / 900e9 = 0.0058 ms
        let speed = query().speed_by_library(&c);
        assert!((speed - 1e3 / 0.30804).abs() < 2.0, "{speed}");
        assert!(
            Query {
                quantised: false,
                ..query()
            }
            .speed_by_library(&c)
                > speed
        );
    }
}
