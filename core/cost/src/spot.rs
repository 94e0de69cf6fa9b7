//! How often a spot machine is taken back, from an advisor's bucket.
//!
//! The bucket is a share of machines interrupted within 30 days, not a rate, and nobody says how long they ran: the rate is a
//! wide range ([`hazard_of`]), a model, and marked as one. Not here: what an interruption costs (`interruption.rs`, `bill/`).

use lessee_model::tariff::SpotRisk;
use lessee_model::{Basis, Known, Msg, Provenance, Sourced, TariffBook, Unknown};
use lessee_spot::stats::hazard_of;
use lessee_spot::trace::{About, Bucket};

/// The hours of the advisor's window of 30 days.
const WINDOW_H: f64 = 720.0;

/// Interruptions per hour and machine for one type in one region, with the range that its bucket leaves open.
///
/// # Errors
/// The provider publishes no such figure for this type and region.
pub fn spot_risk(
    book: &TariffBook,
    provider: &str,
    region: &str,
    instance_type: &str,
) -> Known<SpotRisk> {
    let terms = book.spot_terms.iter().find(|r| *r.provider == *provider);
    let row = book.advisor.iter().find(|r| {
        *r.provider == *provider && *r.region == *region && *r.instance_type == *instance_type
    });
    let Some(row) = row else {
        return Err(Unknown::because(
            Msg::new("cost-unknown-spot-risk").arg("provider", provider),
        ));
    };
    let range = hazard_of(&Bucket {
        about: About::default(),
        low: row.interrupt_low_pct / 100.0,
        high: row.interrupt_high_pct.map(|pct| pct / 100.0),
        per_h: WINDOW_H,
        saving: None,
    });
    Ok(Sourced::new(
        SpotRisk {
            hazard_per_hour: range.middle_per_h,
            hazard_low: range.low_per_h,
            hazard_high: range.high_per_h,
            // a notice that nobody states is none
            notice_s: terms.and_then(|t| t.notice_s).unwrap_or(0.0),
        },
        Provenance {
            basis: Basis::Modelled,
            ..row.why.clone()
        },
    ))
}
