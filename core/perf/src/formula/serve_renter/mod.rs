//! A language model served on a rented machine with an engine's default settings: output tokens per second, time
//! per output token, time to the first one.
//!
//! ```text
//! step(B) = (engine^3 + host^3)^(1/3)                                          (seconds, B requests together)
//!   engine   = sqrt((weights + cache)^2 + products^2) + prompts + links + t_step
//!   weights  = touched weight bytes / (n share BW)        cache = B (I + O/2) KV bytes / (shards BW)
//!   products = 2 P_active B / (n F)                       prompts = B / O x prompt(I)
//!   prompt   = I 2 P_active / (n F) + I^2/2 attention FLOPs k / (n F16)
//!   links    = [n > 1] 2 L t_reduce + (B + B I / O) x 2 (n-1)/n 2 H x 2 L / bus
//!   host     = t_sequence B
//!   F        = the smaller (power mean of -8) of mfu x reachable dense rate and e(arch) (TDP - board)
//! tokens/s = B / step(B), B = the concurrency, at most what the cache holds
//! TPOT     = the step with the prompts of the other B - 1 requests
//! TTFT     = t_first + sqrt((k_p prompt(I))^2 + step(1)^2 + (t_token I)^2) + waiting x (step(B) - step(1)) + queue
//! ```
//!
//! What decides beside the roofline: all requests have answers of one length, so prompts come in waves and do not
//! hide behind steps that read weights; boards that draw little power (L4, T4, H100 NVL) do not hold their clock
//! in matrix products, so FLOP/s follow the watts left above what memory and board take, at a worth per watt that
//! grows by generation (ratios from the best matrix products per watt of published boards); attention over a long
//! context costs `attention` times its operations where the engine has no kernel for the generation's
//! asynchronous copies (everything but compute capability 9 and 10); GPUs up to Ampere read a smaller share of
//! their bandwidth; one process sends all tokens out, so small models and many GPUs are bound by the host.
//!
//! Fitted on one engine, 16 bit, 128 to 512 output tokens, concurrency 7 to 190 (own formula and fit). Models below
//! [`SMALL`] have coefficients of their own: launches and the host decide there. Eight and four bits have no row:
//! their factors are set from tuned servers. Not to be trusted for: tensor parallel over PCIe, where the host's
//! wiring decides; time to the first token under load; mixtures of experts.

#[cfg(test)]
mod tests;

use super::serve_tuned::{Replica, Width};
use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parameters below which launches and the host decide.
pub(crate) const SMALL: f64 = 4e9;

/// Of large models and of small ones; and again of the time per token.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    pub(crate) bandwidth_share: f64,
    /// Factor on it up to Ampere.
    pub(crate) older_bandwidth: f64,
    /// Factor on it for four-bit weights.
    pub(crate) four_bit_bandwidth: f64,
    /// Share of the reachable dense rate.
    pub(crate) mfu: f64,
    pub(crate) mfu_eight_bit: f64,
    pub(crate) mfu_four_bit: f64,
    /// 16-bit TFLOP/s per watt above `board_watt`, at a worth of 1.
    pub(crate) tflops_per_watt: f64,
    /// Memory, regulators and leakage, W.
    pub(crate) board_watt: f64,
    /// Architecture -> worth of a watt; `other` for those not listed.
    pub(crate) watt_worth: BTreeMap<String, f64>,
    /// Cost of attention operations of prompts without the newer kernels.
    pub(crate) attention: f64,
    pub(crate) step_ms: f64,
    pub(crate) sequence_us: f64,
    pub(crate) reduce_us_linked: f64,
    pub(crate) reduce_us_pcie: f64,
    /// Share of one direction of the link that an all-reduce reaches.
    pub(crate) link_share: f64,
    /// The same of a PCIe slot.
    pub(crate) pcie_share: f64,
}

/// Time to the first token, beside the step of the same load.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FirstCoefficients {
    pub(crate) first_ms: f64,
    /// Factor on the prompt's time, which a prompt alone does not pay in full: it is spared what waves cost.
    pub(crate) prompt: f64,
    /// Microseconds of the host per token of the prompt.
    pub(crate) token_us: f64,
    /// Steps of the others that a new request waits for.
    pub(crate) waiting: f64,
}

/// What the data sheet says beside [`super::serve_tuned::Chip`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Board {
    pub(crate) arch: Arc<str>,
    pub(crate) watt: Option<f64>,
    /// Ampere or before.
    pub(crate) older: bool,
    /// The engine has attention kernels made for this generation.
    pub(crate) newer_attention: bool,
    /// The GPUs of a replica are linked, not only by PCIe.
    pub(crate) linked: bool,
}

/// What joins the GPUs of a replica.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Links {
    /// Bus bandwidth of large all-reduces, byte/s.
    pub(crate) bus: f64,
    /// Seconds of an all-reduce of nothing.
    pub(crate) reduce: f64,
}

/// Requests in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load {
    pub(crate) batch: f64,
    /// Requests whose prompts are read among the steps of one answer.
    pub(crate) prompts: f64,
    /// Tokens.
    pub(crate) prompt: f64,
    pub(crate) output: f64,
}

/// Seconds of one step by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) memory: f64,
    pub(crate) products: f64,
    pub(crate) prompts: f64,
    pub(crate) links: f64,
    pub(crate) fixed: f64,
    pub(crate) host: f64,
    pub(crate) total: f64,
}

impl Coefficients {
    /// The links of a replica whose GPUs have `one_way` byte/s to each other by data sheet.
    pub(crate) fn links(&self, linked: bool, one_way: f64) -> Links {
        let (share, us) = if linked {
            (self.link_share, self.reduce_us_linked)
        } else {
            (self.pcie_share, self.reduce_us_pcie)
        };
        Links {
            bus: share * one_way,
            reduce: us * 1e-6,
        }
    }

    /// FLOP/s of one GPU in products of the weights' format, and in 16 bit.
    fn rates(&self, on: &Replica, board: &Board) -> (f64, f64) {
        let (narrow, energy) = match on.width {
            Width::Sixteen => (1.0, 1.0),
            Width::Eight => (self.mfu_eight_bit, 2.0),
            Width::Four => (self.mfu_four_bit, 4.0),
        };
        let worth = self
            .watt_worth
            .get(&*board.arch)
            .or_else(|| self.watt_worth.get("other"));
        let held = |reach: f64, per_operation: f64| match board.watt {
            Some(watt) => {
                // what is left is never nothing: the smallest boards still compute
                let left = (watt - self.board_watt).max(0.2 * watt);
                let by_power = self.tflops_per_watt
                    * 1e12
                    * worth.copied().unwrap_or(1.0)
                    * per_operation
                    * left;
                let (low, high) = (reach.min(by_power), reach.max(by_power));
                low * (1.0 + (low / high).powi(8)).powf(-0.125)
            }
            None => reach,
        };
        (
            held(self.mfu * narrow * on.chip.flops, energy),
            held(self.mfu * on.chip.flops_16, 1.0),
        )
    }

    /// Seconds in which the GPUs together read one prompt, nothing else running.
    pub(crate) fn prompt(&self, on: &Replica, board: &Board, links: Links, tokens: f64) -> f64 {
        let (flops, flops_16) = self.rates(on, board);
        let kernel = if board.newer_attention {
            1.0
        } else {
            self.attention
        };
        let products = tokens * 2.0 * on.network.active_params() / (flops * on.gpus);
        let attention =
            tokens * tokens / 2.0 * on.network.attention_flops * kernel / (flops_16 * on.gpus);
        products + attention + tokens * on.link_bytes() / links.bus
    }

    /// One step that gives every request one token.
    pub(crate) fn step(&self, on: &Replica, board: &Board, links: Links, load: Load) -> Step {
        let net = &on.network;
        let share = self.bandwidth_share
            * if board.older {
                self.older_bandwidth
            } else {
                1.0
            }
            * if on.weight_bytes < 1.0 {
                self.four_bit_bandwidth
            } else {
                1.0
            };
        let touched =
            net.expert_params * (1.0 - (1.0 - net.expert_share).max(0.0).powf(load.batch));
        let weights =
            (net.dense_params + touched) * on.weight_bytes / (on.gpus * share * on.chip.bandwidth);
        let context = load.prompt + load.output / 2.0;
        let cache =
            load.batch * context * net.kv_values * on.kv_bytes / (on.shards() * on.chip.bandwidth);
        let memory = weights + cache;
        let (flops, _) = self.rates(on, board);
        let products = 2.0 * net.active_params() * load.batch / (flops * on.gpus);
        let prompts =
            load.prompts / load.output.max(1.0) * self.prompt(on, board, links, load.prompt);
        let link_time = if on.gpus > 1.0 {
            2.0 * net.layers * links.reduce + load.batch * on.link_bytes() / links.bus
        } else {
            0.0
        };
        let fixed = self.step_ms * 1e-3;
        let engine = memory.hypot(products) + prompts + link_time + fixed;
        let host = self.sequence_us * 1e-6 * load.batch;
        let (long, short) = (engine.max(host), engine.min(host));
        let total = long * (1.0 + (short / long).powi(3)).cbrt();
        Step {
            memory,
            products,
            prompts,
            links: link_time,
            fixed,
            host,
            total,
        }
    }
}

/// Which of its numbers the row asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Output tokens per second of the replica.
    Throughput,
    /// Milliseconds per output token.
    Tpot,
    /// Milliseconds to the first token.
    Ttft,
}

/// One replica under steady load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) asked: Asked,
    pub(crate) replica: Replica,
    pub(crate) board: Board,
    /// Memory for the cache, all GPUs together, bytes.
    pub(crate) room: f64,
    /// Requests that clients keep in flight.
    pub(crate) concurrency: f64,
    /// Tokens of a prompt and of an answer.
    pub(crate) prompt: f64,
    pub(crate) output: f64,
}

/// Of an answer that is being written, the share of its tokens that is in the cache when memory is short: requests
/// are admitted before all their room is there.
const WRITTEN: f64 = 0.75;

impl Query {
    /// Requests that the cache holds, at least one.
    pub(crate) fn fits(&self) -> f64 {
        let copies = self.replica.gpus / self.replica.shards();
        let each = self.replica.network.kv_values
            * self.replica.kv_bytes
            * copies
            * (self.prompt + WRITTEN * self.output);
        (self.room / each).max(1.0)
    }

    fn load(&self, prompts: impl Fn(f64) -> f64) -> Load {
        let batch = self.concurrency.min(self.fits());
        Load {
            batch,
            prompts: prompts(batch),
            prompt: self.prompt,
            output: self.output,
        }
    }

    fn small(&self) -> bool {
        self.replica.network.params() < SMALL
    }

    fn loaded<'a>(&self, calibration: &'a Calibration) -> &'a Coefficients {
        if self.small() {
            &calibration.serve_small_renter.coefficients
        } else {
            &calibration.serve_renter.coefficients
        }
    }

    fn step(&self, c: &Coefficients, prompts: impl Fn(f64) -> f64) -> (f64, Step) {
        let load = self.load(prompts);
        let links = c.links(self.board.linked, self.replica.chip.link);
        (load.batch, c.step(&self.replica, &self.board, links, load))
    }

    /// Output tokens per second.
    pub(crate) fn throughput(&self, c: &Coefficients) -> f64 {
        let (batch, step) = self.step(c, |b| b);
        batch / step.total
    }

    /// Seconds per output token.
    pub(crate) fn token_time(&self, c: &Coefficients) -> f64 {
        self.step(c, |b| (b - 1.0).max(0.0)).1.total
    }

    /// Seconds to the first token.
    pub(crate) fn first_token(&self, c: &Coefficients, first: &FirstCoefficients) -> f64 {
        let links = c.links(self.board.linked, self.replica.chip.link);
        let prompt = first.prompt * c.prompt(&self.replica, &self.board, links, self.prompt);
        let alone = Query {
            concurrency: 1.0,
            ..self.clone()
        }
        .token_time(c);
        let host = first.token_us * 1e-6 * self.prompt;
        let (batch, step) = self.step(c, |b| b);
        let waiting = first.waiting * (self.token_time(c) - alone).max(0.0);
        // those who found no room come in turn: the admitted ones leave after O steps each
        let queue = (self.concurrency - batch).max(0.0) / batch * self.output * step.total;
        first.first_ms * 1e-3 + prompt.hypot(alone).hypot(host) + waiting + queue
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        match (self.asked, self.small()) {
            (Asked::Throughput, false) => "serve_renter",
            (Asked::Throughput, true) => "serve_small_renter",
            (Asked::Tpot, false) => "tpot_renter",
            (Asked::Tpot, true) => "tpot_small_renter",
            (Asked::Ttft, _) => "ttft_renter",
        }
    }

    fn class(&self) -> &'static str {
        if self.replica.gpus <= 1.0 {
            "one"
        } else if self.board.linked {
            "linked"
        } else {
            "pcie"
        }
    }

    fn arch(&self) -> &str {
        &self.board.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        match (self.asked, self.small()) {
            (Asked::Throughput, _) => self.throughput(self.loaded(calibration)),
            (Asked::Tpot, false) => 1e3 * self.token_time(&calibration.tpot_renter.coefficients),
            (Asked::Tpot, true) => {
                1e3 * self.token_time(&calibration.tpot_small_renter.coefficients)
            }
            (Asked::Ttft, _) => {
                let first = &calibration.ttft_renter.coefficients;
                1e3 * self.first_token(self.loaded(calibration), first)
            }
        }
    }
}
