//! `data/calibration.toml` as types. The file is written by `cargo xtask calibrate` and read here; what each
//! coefficient means stands with the formula that reads it.

use super::Question;
use serde::Deserialize;
use std::collections::BTreeMap;

macro_rules! families {
    ($($name:ident: $coefficients:ty,)+) => {
        /// All fitted families: one field each, named as [`Question::family`].
        #[derive(Clone, Debug, Deserialize)]
        pub struct Calibration {
            $(pub(crate) $name: Fitted<$coefficients>,)+
            #[serde(skip)]
            fits: BTreeMap<String, Fit>,
        }

        impl Calibration {
            /// Puts another trial's coefficients and anchors in place of a family's.
            ///
            /// # Errors
            /// No such family, or a coefficient is missing; the text names it.
            pub fn set(&mut self, family: &str, value: toml::Value) -> Result<(), String> {
                let said = |e: toml::de::Error| format!("{family}: {}", e.message());
                match family {
                    $(stringify!($name) => self.$name = value.try_into().map_err(said)?,)+
                    _ => return Err(format!("{family}: no such family")),
                }
                Ok(())
            }
        }
    };
}

// one line a family, in alphabetical order
families! {
    allreduce_nvlink: super::allreduce_nvlink::Coefficients,
    allreduce_pcie: super::allreduce_pcie::Coefficients,
    decode_engine: super::decode_engine::Coefficients,
    decode_llamacpp: super::decode_llamacpp::Coefficients,
    device_copy: super::device_copy::Coefficients,
    diffusion_crowd: super::diffusion_crowd::Coefficients,
    host_copy: super::host_copy::Coefficients,
    matmul: super::matmul::Coefficients,
    prefill_llamacpp: super::prefill_llamacpp::Coefficients,
    prefill_llamacpp_2024: super::prefill_llamacpp::LibraryCoefficients,
    prefill_tuned: super::serve_static_tuned::Coefficients,
    render_score: super::render_score::Coefficients,
    serve_decode_moe_tuned: super::serve_decode_tuned::Coefficients,
    serve_decode_rack_tuned: super::serve_decode_tuned::RackCoefficients,
    serve_decode_tuned: super::serve_decode_tuned::Coefficients,
    serve_latency_tuned: super::serve_offline_tuned::LatencyCoefficients,
    serve_offline_tuned: super::serve_offline_tuned::Coefficients,
    serve_renter: super::serve_renter::Coefficients,
    serve_small_renter: super::serve_renter::Coefficients,
    serve_static_tuned: super::serve_static_tuned::Coefficients,
    tpot_renter: super::serve_renter::Coefficients,
    tpot_small_renter: super::serve_renter::Coefficients,
    train_converge: super::train_converge::Coefficients,
    train_converge_bert: super::train_converge::Coefficients,
    train_llm: super::train_llm::Coefficients,
    train_llm_moe: super::train_llm::MoeCoefficients,
    ttft_renter: super::serve_renter::FirstCoefficients,
    ttft_tuned: super::ttft_tuned::Coefficients,
    vision_infer_tuned: super::vision_infer_tuned::Coefficients,
    vision_latency_tuned: super::vision_infer_tuned::LatencyCoefficients,
    vision_train_many_tuned: super::vision_train_tuned::Coefficients,
    vision_train_renter: super::vision_train_renter::Coefficients,
    vision_train_tuned: super::vision_train_tuned::Coefficients,
}

/// One family: coefficients, and constants of known workloads.
#[derive(Clone, Debug, Deserialize)]
pub struct Fitted<C> {
    pub coefficients: C,
    /// Workload -> factor, see [`Question::anchor`].
    #[serde(default)]
    pub anchors: BTreeMap<String, f64>,
}

impl<C> Fitted<C> {
    /// The workload's constant; NaN where the calibration never saw it.
    pub fn anchor(&self, key: &str) -> f64 {
        self.anchors.get(key).copied().unwrap_or(f64::NAN)
    }
}

/// What a fit was made of and how far its held-out predictions were off.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Fit {
    /// Values behind the coefficients.
    pub rows: usize,
    /// What was left out in turn for the errors: `gpu`, `model` or `size`.
    pub held_out: String,
    /// Median of |predicted / measured - 1| over held-out rows.
    pub error_median: f64,
    /// 90th percentile of the same.
    pub error_p90: f64,
    /// Architectures among the rows.
    pub architectures: Vec<String>,
    /// Class -> factors on the prediction between which 80 % of the held-out measured values lie.
    pub range: BTreeMap<String, [f64; 2]>,
    pub source: String,
}

impl Calibration {
    /// Reads `calibration.toml`.
    ///
    /// # Errors
    /// Not TOML, or a family or a coefficient is missing; the text names it.
    pub fn from_toml(text: &str) -> Result<Calibration, String> {
        let table: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        Calibration::from_table(table)
    }

    /// The same from a parsed file: what the fit calls with each trial.
    ///
    /// # Errors
    /// As [`Calibration::from_toml`].
    pub fn from_table(table: toml::Table) -> Result<Calibration, String> {
        let mut fits = BTreeMap::new();
        for (family, value) in &table {
            if let Some(fit) = value.get("fit") {
                let fit: Fit = fit
                    .clone()
                    .try_into()
                    .map_err(|e: toml::de::Error| format!("{family}.fit: {}", e.message()))?;
                fits.insert(family.clone(), fit);
            }
        }
        let read: Calibration = toml::Value::Table(table)
            .try_into()
            .map_err(|e: toml::de::Error| e.to_string())?;
        Ok(Calibration { fits, ..read })
    }

    /// How a family fitted; `None` for a name that the file lacks.
    pub fn fit(&self, family: &str) -> Option<&Fit> {
        self.fits.get(family)
    }

    /// Factors on the prediction for its low and high end. `unseen`: exponent that widens them for an
    /// architecture of which the fit had no row.
    pub(crate) fn range(&self, asked: &dyn Question, unseen: f64) -> [f64; 2] {
        if let Some(own) = asked.range(self) {
            return own;
        }
        self.range_of(asked.family(), asked.class(), asked.arch(), unseen)
    }

    /// The same without a question: for jobs.
    pub(crate) fn range_of(&self, family: &str, class: &str, arch: &str, unseen: f64) -> [f64; 2] {
        let Some(fit) = self.fit(family) else {
            return [0.5, 2.0];
        };
        let of = |class: &str| fit.range.get(class).copied();
        let [low, high] = of(class).or(of("all")).unwrap_or([0.5, 2.0]);
        let wider = if fit.architectures.iter().any(|a| a == arch) {
            1.0
        } else {
            unseen.max(1.0)
        };
        [low.min(1.0).powf(wider), high.max(1.0).powf(wider)]
    }
}
