//! Why a machine cannot do a job. Not an error of the program: the planner counts and shows these.

use lessee_model::{Exit, Explain, Msg};
use std::fmt;

/// The machine cannot do the job, or nothing can be said about it.
///
/// Codes: `does_not_fit`, `no_spec` (the GPU is not in the table), `no_rate` (its data sheet lacks a
/// rate that the job needs), `not_a_gpu`, `unsupported` (too old for current software), `too_few_gpus`, `tpot_unreachable`, `ttft_unreachable`,
/// `context_too_long`, `model_unsuitable` (kind or dimensions of the model).
#[derive(Clone, Debug, PartialEq)]
pub struct NoFit {
    /// Stable key for counting.
    pub code: &'static str,
    pub msg: Msg,
    /// Memory needed on one GPU, bytes (`does_not_fit` only).
    pub needed_bytes: Option<f64>,
    /// Memory that one GPU offers to the job, bytes.
    pub available_bytes: Option<f64>,
}

impl NoFit {
    pub(crate) fn new(code: &'static str, msg: Msg) -> NoFit {
        NoFit {
            code,
            msg,
            needed_bytes: None,
            available_bytes: None,
        }
    }

    /// `needed` and `available` are bytes on one GPU.
    pub(crate) fn memory(needed: f64, available: f64) -> NoFit {
        NoFit {
            code: "does_not_fit",
            msg: Msg::new("perf-does-not-fit")
                .bytes("needed", needed)
                .bytes("available", available),
            needed_bytes: Some(needed),
            available_bytes: Some(available),
        }
    }

    /// A rate of the data sheet is blank: the prediction is refused, not guessed.
    pub(crate) fn no_rate(gpu: &str, what: &'static str) -> NoFit {
        NoFit::new(
            "no_rate",
            Msg::new("perf-no-rate").arg("gpu", gpu).arg("what", what),
        )
    }
}

impl fmt::Display for NoFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl std::error::Error for NoFit {}

impl Explain for NoFit {
    fn msg(&self) -> Msg {
        self.msg.clone()
    }
    fn exit(&self) -> Exit {
        Exit::No
    }
}
