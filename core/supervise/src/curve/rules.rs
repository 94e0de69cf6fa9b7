//! The thresholds, as data.

use serde::Deserialize;

/// The section `[rules]` of `data/curve.toml`; each field is explained there, with where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rules {
    pub off_pct: f64,
    pub spin_util_pct: f64,
    pub spin_traffic_pct: f64,
    pub hung_traffic_pct: f64,
    pub hung_traffic_sure_pct: f64,
    pub hung_util_pct: f64,
    pub spin_power_ratio: f64,
    pub spin_power_of_work: f64,
    pub active_pct: f64,
    pub hung_s: f64,
    pub hung_samples: usize,
    pub sure_s: f64,
    pub recovered_factor: f64,
    pub hole_factor: f64,
    pub idle_mean_pct: f64,
    pub held_mib: f64,
    pub idle_tail_s: f64,
    pub idle_tail_samples: usize,
    pub under_mean_pct: f64,
    pub full_peak_pct: f64,
    pub burst_off_share: f64,
    pub burst_count: usize,
    pub under_level_pct: f64,
    pub healthy_level_pct: f64,
    pub stall_mean_pct: f64,
    pub encoder_pct: f64,
    pub encoder_factor: f64,
    pub memory_bound_pct: f64,
    pub memory_bound_spread: f64,
    pub compute_bound_pct: f64,
    pub dip_share: f64,
    pub regular: f64,
    pub regular_count: usize,
    pub step_s: f64,
    pub dip_time_share: f64,
    pub duty_work: f64,
    pub checkpoint_mb_s: f64,
    pub checkpoint_factor: f64,
    pub core_pct: f64,
    pub starved_rx_mb_s: f64,
    pub step_spread: f64,
    pub clock_ratio: f64,
    pub clock_plateau: f64,
    pub capped_ratio: f64,
    pub clock_util_pct: f64,
    pub clock_s: f64,
    pub clock_samples: usize,
    pub clock_gap_s: f64,
    pub clock_share: f64,
    pub waiting_share: f64,
    pub straggler_s: f64,
    pub straggler_samples: usize,
    pub straggler_share: f64,
    pub max_spans: usize,
}

impl Rules {
    /// Reads `data/curve.toml`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn from_toml(text: &str) -> Result<Rules, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            rules: Rules,
        }
        let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
        Ok(file.rules)
    }
}
