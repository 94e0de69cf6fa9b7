//! How often a spot machine is taken back, from an advisor's bucket.
//!
//! The bucket is a share of machines interrupted within 30 days, not a rate. If machines are interrupted at a
//! constant rate h per hour, the share after 720 hours is 1 - exp(-720 h), hence h = -ln(1 - share) / 720:
//! a model, and marked as one. Not here: what an interruption costs (`interruption.rs`, `bill/`).

use lessee_model::tariff::SpotRisk;
use lessee_model::{Basis, Known, Msg, Provenance, Sourced, TariffBook, Unknown};

/// The hours of the advisor's window of 30 days.
const WINDOW_H: f64 = 720.0;

fn hazard(share: f64) -> f64 {
    -(1.0 - share.clamp(0.0, 0.999)).ln() / WINDOW_H
}

/// Interruptions per hour and machine for one type in one region. The centre is the middle of the bucket; an
/// open bucket (`> 20 %`) is taken to end halfway between its lower bound and certainty.
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
    let low = row.interrupt_low_pct / 100.0;
    let high = row
        .interrupt_high_pct
        .map_or((low + 1.0) / 2.0, |pct| pct / 100.0)
        .max(low);
    Ok(Sourced::new(
        SpotRisk {
            hazard_per_hour: hazard((low + high) / 2.0),
            hazard_low: hazard(low),
            hazard_high: hazard(high),
            // a notice that nobody states is none
            notice_s: terms.and_then(|t| t.notice_s).unwrap_or(0.0),
        },
        Provenance {
            basis: Basis::Modelled,
            ..row.why.clone()
        },
    ))
}
