//! What happened to one offer: what removed it, or how far behind the best it is. Same code as the plan.

use crate::evaluate::{Candidate, PlanInput, Screening, Shown};
use crate::feasible::Reject;
use crate::rank::Plan;
use crate::rank::SPOT_DOES_NOT_PAY;
use crate::screen::{replayed, screen_one};
use lessee_model::{Money, Purchase, glob_match};

#[derive(Clone, Debug)]
pub struct WhyNot {
    /// Offer key.
    pub key: String,
    pub verdict: Verdict,
}

#[derive(Clone, Debug)]
pub enum Verdict {
    Rejected(Reject),
    /// Could do the job, cannot be ranked.
    Unranked {
        code: &'static str,
        purchase: Purchase,
        total: Option<Money>,
    },
    /// Can do the job, for so much more than the best.
    Behind {
        purchase: Purchase,
        nodes: u32,
        total: f64,
        best_total: f64,
        wall_s: f64,
        best_wall_s: f64,
    },
    /// It is in the plan.
    Ranked {
        rank: u32,
        purchase: Purchase,
        nodes: u32,
        total: f64,
        best_total: f64,
    },
}

/// Verdicts for the offers that `wanted` names: `provider/instance_type`, with or without `@region`; `*`
/// matches. Empty if nothing in the catalog has that name.
pub fn why_not(input: PlanInput<'_>, plan: &Plan, wanted: &str) -> Vec<WhyNot> {
    let mut screening = Screening::new(input);
    let wanted = wanted.trim();
    let best = plan.options.first();
    let best_total = best
        .and_then(|o| o.bill.total())
        .map_or(f64::NAN, |t| t.amount.to_f64());
    let best_wall_s = best.map_or(f64::NAN, |o| o.duration_s);
    let mut out = Vec::new();
    for (index, offer) in input.catalog.offers.iter().enumerate() {
        let key = offer.key();
        let without_region = key.split('@').next().unwrap_or(&key);
        let hit = if wanted.contains('@') {
            glob_match(wanted, &key)
        } else {
            glob_match(wanted, without_region)
        };
        if !hit {
            continue;
        }
        let (mut ranked, mut shown): (Vec<Candidate>, Vec<Shown>) = (Vec::new(), Vec::new());
        let screened = screen_one(&mut screening, index as u32, &mut ranked, &mut shown);
        let judged: Vec<Candidate> = ranked
            .iter()
            .filter_map(|c| replayed(&mut screening, c).ok())
            .collect();
        let (ranked, not_worth): (Vec<Candidate>, Vec<Candidate>) =
            judged.into_iter().partition(|c| screening.pays(c));
        shown.extend(not_worth.into_iter().map(|candidate| Shown {
            candidate,
            code: SPOT_DOES_NOT_PAY,
            totals: Vec::new(),
        }));
        let verdict = match screened {
            Err(reason) => Verdict::Rejected(reason),
            Ok(()) => match ranked.iter().min_by(|a, b| a.total.total_cmp(&b.total)) {
                Some(c) => {
                    let listed = plan.options.iter().find(|o| {
                        o.offer == index && o.purchase == c.purchase && o.nodes == c.nodes
                    });
                    match listed {
                        Some(o) => Verdict::Ranked {
                            rank: o.rank,
                            purchase: c.purchase,
                            nodes: c.nodes,
                            total: c.total,
                            best_total,
                        },
                        None => Verdict::Behind {
                            purchase: c.purchase,
                            nodes: c.nodes,
                            total: c.total,
                            best_total,
                            wall_s: c.wall_s,
                            best_wall_s,
                        },
                    }
                }
                None => match shown.first() {
                    Some(s) => Verdict::Unranked {
                        code: s.code,
                        purchase: s.candidate.purchase,
                        total: s.total(input.workload.money.currency),
                    },
                    None => Verdict::Rejected(Reject::PriceMissing),
                },
            },
        };
        out.push(WhyNot { key, verdict });
    }
    out
}
