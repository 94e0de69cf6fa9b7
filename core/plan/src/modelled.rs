//! A spot option without a record, on markets generated from the range of its rate of interruption: a model, and called
//! one. Not here: the generator (`core/spot/src/generated.rs`), options with a record (`spot.rs`).

use crate::detail::PlanOption;
use crate::evaluate::{PlanInput, Screening, place_tariff};
use crate::spot::{job_of, stops_together};
use lessee_cost::piece_seconds;
use lessee_model::workload::Job;
use lessee_model::{Fixed, Money, Purchase};
use lessee_spot::PolicyName;
use lessee_spot::generated::{Hazards, Prices, modelled};

/// What markets generated from the range of a rate say of an option without a record.
#[derive(Clone, Debug)]
pub struct ModelledMarkets {
    /// Recommended at the middle rate.
    pub policy: PolicyName,
    /// Mean cost of machine time at the ends of the range.
    pub low: Money,
    pub high: Money,
    /// The least share of starts in time, at any end.
    pub meets_deadline_share: f64,
    pub deadline_s: f64,
    pub deadline_assumed: bool,
}

/// Starts on generated markets: few, because the range of the rate is far wider than their noise.
const GENERATED_STARTS: usize = 40;
/// Of the generator: a plan is the same each time.
const SEED: u64 = 1;

/// Replays one option without a record on markets generated from the range of its rate. Slow beside the plan itself, so
/// for the one option that is asked about. `None`: it is not spot, has a record, or cannot be replayed.
pub fn model_spot(input: PlanInput<'_>, option: &PlanOption) -> Option<ModelledMarkets> {
    let records = input.spot?;
    let unrecorded = option.spot.as_ref().is_some_and(|s| s.policy.is_none());
    let w = input.workload;
    if !unrecorded || matches!(w.job, Job::Serve(_)) {
        return None;
    }
    let offer = &input.catalog.offers[option.offer];
    let machine = input.catalog.machine(offer);
    let spot = option.price.per_hour;
    let on_demand = offer
        .price(Purchase::OnDemand)
        .filter(|p| p.per_hour.currency == spot.currency)?
        .per_hour;
    let tariff = place_tariff(&input, offer, machine);
    let boot_s = tariff.boot.as_ref().map_or(0.0, |b| b.value.p50_s);
    let work_s = option.run.work_s;
    let piece_s = piece_seconds(w, &option.prediction, option.nodes, work_s);
    let (job, deadline_s) = job_of(w, &input.rules, work_s, piece_s, boot_s)?;
    let mut screening = Screening::new(input);
    let risk = screening.risk(offer).0;
    // a gang stops with each of its machines; machines on their own are all alike
    let together = f64::from(if stops_together(&w.job) {
        option.nodes
    } else {
        1
    });
    let hazards = Hazards {
        low: risk.hazard_low * together,
        middle: risk.hazard_per_hour * together,
        high: risk.hazard_high * together,
    };
    let nodes = f64::from(option.nodes);
    let prices = Prices {
        spot: spot.amount.to_f64() * nodes,
        on_demand: on_demand.amount.to_f64() * nodes,
    };
    let policy = records.policy;
    let found = modelled(&job, prices, hazards, policy, GENERATED_STARTS, SEED).ok()?;
    let money = |x: f64| Fixed::from_f64(x).map(|amount| Money::new(amount, spot.currency));
    Some(ModelledMarkets {
        policy: found.middle.recommended().policy,
        low: money(found.cost_mean.0)?,
        high: money(found.cost_mean.1)?,
        meets_deadline_share: found.on_time_least,
        deadline_s,
        deadline_assumed: w.constraints.deadline.is_none(),
    })
}
