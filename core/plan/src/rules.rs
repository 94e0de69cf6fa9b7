//! The figures by which a plan ranks and what it looks at. Not here: the rules themselves (`rank.rs`, `spot.rs`).

use lessee_model::StaleAfter;
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::Defaults;

/// Rules of ranking, from `data/defaults.toml`.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub unranked_after_days_list: f64,
    pub unranked_after_days_gpu_cloud: f64,
    pub unranked_after_days_marketplace: f64,
    pub unranked_after_days_quote: f64,
    /// A further option of the front must save this share of the time against the one before.
    pub front_time_step: f64,
    /// Options of the front listed beyond the best ones.
    pub front_extras: usize,
    /// How many of the cheapest compete for the first rank.
    pub lead_candidates: usize,
    /// By how much a price may have moved per month, as a share; from price lists read twice.
    pub price_drift_per_month: f64,
    pub stale: StaleAfter,
    /// A spot price below this share of the median of its GPU is warned of.
    pub spot_outlier_share: f64,
    /// Prices without which there is no such median.
    pub spot_outlier_prices: usize,
    /// Used where nobody publishes interruptions.
    pub spot_fallback: SpotRisk,
    /// Start times of a replay.
    pub spot_starts: usize,
    /// Deadline of a replay as a multiple of the time on demand, where the workload sets none.
    pub spot_slack: f64,
    /// At most so many options are replayed.
    pub spot_replayed: usize,
    /// Share of the time in which all replicas of a service must answer.
    pub spot_serve_ready: f64,
    /// At most so many spot replicas beyond those that are needed.
    pub spot_serve_spare: u32,
    /// GB per second at which a machine writes a checkpoint.
    pub spot_save_gb_s: f64,
}

impl Rules {
    pub fn from_defaults(d: &Defaults) -> Rules {
        Rules {
            unranked_after_days_list: d.get("plan.unranked_after_days_list"),
            unranked_after_days_gpu_cloud: d.get("plan.unranked_after_days_gpu_cloud"),
            unranked_after_days_marketplace: d.get("plan.unranked_after_days_marketplace"),
            unranked_after_days_quote: d.get("plan.unranked_after_days_quote"),
            front_time_step: d.get("plan.front_time_step"),
            front_extras: d.get("plan.front_extras") as usize,
            lead_candidates: d.get("plan.lead_candidates") as usize,
            price_drift_per_month: d.get("plan.price_drift_per_month"),
            stale: StaleAfter::from_defaults(d),
            spot_outlier_share: d.get("plan.spot_outlier_share"),
            spot_outlier_prices: d.get("plan.spot_outlier_prices") as usize,
            spot_fallback: SpotRisk {
                hazard_per_hour: d.get("spot.hazard_per_hour"),
                hazard_low: d.get("spot.hazard_low"),
                hazard_high: d.get("spot.hazard_high"),
                notice_s: 0.0,
            },
            spot_starts: d.get("spot.replay_starts") as usize,
            spot_slack: d.get("spot.slack_without_deadline"),
            spot_replayed: d.get("plan.spot_replayed") as usize,
            spot_serve_ready: d.get("spot.serve_ready_share"),
            spot_serve_spare: d.get("spot.serve_spare") as u32,
            spot_save_gb_s: d.get("spot.save_gb_per_second"),
        }
    }
}
