//! All candidates -> the few that people look at: the cheapest place for each machine, the best ten, the
//! Pareto front, what can only be shown, and how many were dropped for which reason.

use crate::detail::{PlanOption, option};
use crate::evaluate::{Candidate, PlanInput, Screening, Shown};
use crate::feasible::Reject;
use crate::pareto::front;
use crate::screen::{replayed, screen_all};
use lessee_model::{Bill, Fixed, Money, Msg, Purchase, Quantified};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The answer.
#[derive(Clone, Debug)]
pub struct Plan {
    /// By total, best first, ranks from 1: the best `top` machines and the Pareto front.
    pub options: Vec<PlanOption>,
    /// Cannot be ranked, and why.
    pub unranked: Vec<Unranked>,
    pub rejected: Rejected,
    /// Ranks of options that nothing beats in cost, time and risk at once.
    pub pareto: Vec<u32>,
    pub warnings: Vec<Msg>,
}

#[derive(Clone, Debug)]
pub struct Unranked {
    /// Offer key.
    pub key: String,
    pub purchase: Purchase,
    pub nodes: u32,
    pub total: Option<Money>,
    /// One sum per currency.
    pub totals: Vec<Money>,
    pub code: &'static str,
}

#[derive(Clone, Debug, Default)]
pub struct Rejected {
    pub count: u64,
    /// Code -> offers dropped for it.
    pub by_reason: BTreeMap<&'static str, u64>,
}

/// Runs all steps. `top` = how many machines to list besides the Pareto front.
pub fn plan(input: PlanInput<'_>, top: usize) -> Plan {
    let mut screening = Screening::new(input);
    let mut ranked: Vec<Candidate> = Vec::new();
    let mut shown: Vec<Shown> = Vec::new();
    let mut rejected = Rejected::default();
    let mut nearest: Option<Money> = None;
    let mut soonest: Option<f64> = None;
    screen_all(
        &mut screening,
        &mut ranked,
        &mut shown,
        |reason, rankable| {
            match reason {
                _ if !rankable => {}
                Reject::Budget { total, .. } if nearest.is_none_or(|n| total.amount < n.amount) => {
                    nearest = Some(*total)
                }
                Reject::Deadline { seconds, .. } if soonest.is_none_or(|s| *seconds < s) => {
                    soonest = Some(*seconds)
                }
                _ => {}
            }
            rejected.count += 1;
            *rejected.by_reason.entry(reason.code()).or_default() += 1;
        },
    );
    let mut best = cheapest_places(&input, ranked);
    replay_finalists(&mut screening, &mut best, &mut shown, top, &mut rejected);
    if best.iter().all(|c| c.modelled) {
        // a modelled price is never first: alone it can only be shown
        let lonely = best.drain(..).map(|candidate| Shown {
            candidate,
            code: "price_modelled",
            totals: vec![],
        });
        shown.extend(lonely);
    }
    let on_front = front(
        &best
            .iter()
            .map(|c| [c.total, c.wall_s, c.risk])
            .collect::<Vec<_>>(),
    );
    let mut chosen = choose(&input, &best, &on_front, top);
    if let Some(leader) = leader(&mut screening, &best) {
        chosen.retain(|i| *i != leader);
        chosen.insert(0, leader);
    }
    let mut options: Vec<PlanOption> = Vec::with_capacity(chosen.len());
    let mut pareto = Vec::new();
    for index in chosen {
        let Some(found) = option(&mut screening, &best[index]) else {
            continue;
        };
        let rank = options.len() as u32 + 1;
        if on_front.contains(&index) {
            pareto.push(rank);
        }
        options.push(PlanOption { rank, ..found });
    }
    let shown = show(&input, shown);
    let mut unranked = ask_for_quotes(&input, &options, &shown);
    unranked.extend(shown);
    let mut warnings = warnings(&input);
    if options.is_empty() {
        warnings.extend(nearest.map(|total| Msg::new("warn-nearest-budget").arg("total", total)));
        warnings.extend(soonest.map(|s| Msg::new("warn-nearest-deadline").seconds("time", s)));
    }
    Plan {
        options,
        unranked,
        rejected,
        pareto,
        warnings,
    }
}

/// One candidate for each machine type, way to pay and number of machines: the cheapest region.
fn cheapest_places(input: &PlanInput<'_>, ranked: Vec<Candidate>) -> Vec<Candidate> {
    let offers = &input.catalog.offers;
    let mut best: HashMap<(&str, &str, Purchase, u32, Option<u32>), Candidate> = HashMap::new();
    for candidate in ranked {
        let offer = &offers[candidate.offer as usize];
        let key = (
            &*offer.provider,
            &*offer.instance_type,
            candidate.purchase,
            candidate.nodes,
            // a place with a record is judged by it, and apart from places without one
            candidate.records,
        );
        best.entry(key)
            .and_modify(|kept| {
                let worse = (
                    kept.modelled,
                    kept.total,
                    kept.wall_s,
                    &*offers[kept.offer as usize].region,
                );
                let new = (
                    candidate.modelled,
                    candidate.total,
                    candidate.wall_s,
                    &*offer.region,
                );
                if new.partial_cmp(&worse) == Some(std::cmp::Ordering::Less) {
                    *kept = candidate;
                }
            })
            .or_insert(candidate);
    }
    let mut out: Vec<Candidate> = best.into_values().collect();
    sort(input, &mut out);
    out
}

fn sort(input: &PlanInput<'_>, candidates: &mut [Candidate]) {
    let offers = &input.catalog.offers;
    candidates.sort_by(|a, b| {
        let name = |c: &Candidate| {
            let o = &offers[c.offer as usize];
            let place = (&*o.provider, &*o.instance_type, &*o.region);
            (place, c.purchase, c.nodes)
        };
        a.total
            .total_cmp(&b.total)
            .then(a.wall_s.total_cmp(&b.wall_s))
            .then_with(|| name(a).cmp(&name(b)))
    });
}

/// On its record spot is not clearly cheaper than on demand, which is an option of its own.
pub(crate) const SPOT_DOES_NOT_PAY: &str = "spot_does_not_pay";

/// It has a record that nobody looked at: what a rate says in its place would be better than what the record says of others.
const SPOT_NOT_REPLAYED: &str = "spot_not_replayed";

/// Replays spot options with a record until those that people look at have been, or the limit is reached; a
/// replay moves an option, and others may come up in its place.
fn replay_finalists(
    s: &mut Screening<'_>,
    best: &mut Vec<Candidate>,
    shown: &mut Vec<Shown>,
    top: usize,
    rejected: &mut Rejected,
) {
    let input = s.input;
    let seen = top.max(input.rules.lead_candidates);
    let open = |c: &Candidate| c.records.is_some() && c.replay.is_none();
    for _ in 0..input.rules.spot_replayed {
        let Some(index) = best.iter().take(seen).position(open) else {
            break;
        };
        match replayed(s, &best[index]) {
            Ok(candidate) if s.pays(&candidate) => best[index] = candidate,
            Ok(candidate) => {
                best.remove(index);
                let currency = input.workload.money.currency;
                let total = Fixed::from_f64(candidate.total).map(|t| Money::new(t, currency));
                shown.push(Shown {
                    candidate,
                    code: SPOT_DOES_NOT_PAY,
                    totals: total.into_iter().collect(),
                });
            }
            Err(reason) => {
                best.remove(index);
                rejected.count += 1;
                *rejected.by_reason.entry(reason.code()).or_default() += 1;
            }
        }
        sort(&input, best);
    }
    let mut place = 0;
    best.retain(|candidate| {
        let looked_at = !open(candidate);
        if !looked_at && place < seen {
            shown.push(Shown {
                candidate: *candidate,
                code: SPOT_NOT_REPLAYED,
                totals: Vec::new(),
            });
        }
        place += 1;
        looked_at
    });
}

/// Indices into `best`: the `top` cheapest different machines and what the front offers besides, in order of
/// total.
fn choose(input: &PlanInput<'_>, best: &[Candidate], on_front: &[usize], top: usize) -> Vec<usize> {
    let mut seen: HashSet<(&str, &str, Purchase)> = HashSet::new();
    let mut chosen: Vec<usize> = Vec::new();
    for (index, candidate) in best.iter().enumerate() {
        if chosen.len() == top {
            break;
        }
        let offer = &input.catalog.offers[candidate.offer as usize];
        if seen.insert((&offer.provider, &offer.instance_type, candidate.purchase)) {
            chosen.push(index);
        }
    }
    // of the front only what saves time worth telling against the one before: people choose among few
    let mut last_s = f64::INFINITY;
    for index in on_front {
        if best[*index].wall_s < input.rules.front_time_step * last_s
            && chosen.len() < top.saturating_add(input.rules.front_extras)
        {
            chosen.push(*index);
            last_s = best[*index].wall_s;
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Which may be first. A modelled price never is. For the lead a stale price counts as much more as it may
/// have risen since it was read, and what is not published counts with the upper end of its range: an old
/// list or a gap in it wins nothing. How many options are listed plays no part.
fn leader(screening: &mut Screening<'_>, best: &[Candidate]) -> Option<usize> {
    let rules = screening.input.rules;
    let sound = |i: &usize| !best[*i].modelled;
    let contenders: Vec<usize> = (0..best.len())
        .filter(sound)
        .take(rules.lead_candidates)
        .collect();
    let mut first: Option<(f64, usize)> = None;
    for index in contenders {
        let c = &best[index];
        let months = if c.stale {
            c.age_days / DAYS_PER_MONTH
        } else {
            0.0
        };
        let known = c.total * (1.0 + rules.price_drift_per_month).powf(months);
        if first.is_some_and(|(least, _)| known >= least) {
            continue;
        }
        let Some(found) = option(screening, c) else {
            continue;
        };
        let upper = known + unpublished(&found.bill);
        if first.is_none_or(|(least, _)| upper < least) {
            first = Some((upper, index));
        }
    }
    first.map(|(_, index)| index)
}

/// 365.25 / 12.
const DAYS_PER_MONTH: f64 = 30.4375;

/// Upper end of what the unknown lines may cost; infinite where nothing can be said.
fn unpublished(bill: &Bill) -> f64 {
    let high = |line: &lessee_model::BillLine| match &line.amount {
        Quantified::Known(_) => 0.0,
        Quantified::Unknown {
            high: Some(high), ..
        } => high.amount.to_f64(),
        Quantified::Unknown { high: None, .. } => f64::INFINITY,
    };
    bill.lines.iter().map(high).sum()
}

/// Ways to pay that the best machines are likely sold by but nobody publishes a price for.
fn ask_for_quotes(
    input: &PlanInput<'_>,
    options: &[PlanOption],
    shown: &[Unranked],
) -> Vec<Unranked> {
    let c = &input.workload.constraints;
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for option in options.iter().take(10) {
        let offer = &input.catalog.offers[option.offer];
        for purchase in [
            Purchase::Spot,
            Purchase::Month,
            Purchase::Year1,
            Purchase::Year3,
        ] {
            let allowed = (c.purchases.is_empty() || c.purchases.contains(&purchase))
                && (purchase != Purchase::Spot || c.spot);
            let priced = options.iter().any(|o| {
                let other = &input.catalog.offers[o.offer];
                other.provider == offer.provider
                    && other.instance_type == offer.instance_type
                    && o.purchase == purchase
            });
            if allowed
                && !priced
                && offer.price(purchase).is_none()
                // derived, and shown with its own reason
                && !shown.iter().any(|u| u.key == offer.key() && u.purchase == purchase)
                && seen.insert((offer.key(), purchase))
            {
                out.push(Unranked {
                    key: offer.key(),
                    purchase,
                    nodes: option.nodes,
                    total: None,
                    totals: Vec::new(),
                    code: "ask_for_quote",
                });
            }
        }
    }
    out
}

/// The cheapest of each machine, way to pay and reason.
fn show(input: &PlanInput<'_>, mut shown: Vec<Shown>) -> Vec<Unranked> {
    shown.sort_by(|a, b| {
        let amount = |s: &Shown| s.totals.first().map_or(f64::MAX, |t| t.amount.to_f64());
        a.code
            .cmp(b.code)
            .then(amount(a).total_cmp(&amount(b)))
            .then(a.candidate.offer.cmp(&b.candidate.offer))
    });
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for s in shown {
        let offer = &input.catalog.offers[s.candidate.offer as usize];
        if seen.insert((
            offer.provider.clone(),
            offer.instance_type.clone(),
            s.candidate.purchase,
            s.code,
        )) {
            out.push(Unranked {
                key: offer.key(),
                purchase: s.candidate.purchase,
                nodes: s.candidate.nodes,
                total: s.total(input.workload.money.currency),
                totals: s.totals,
                code: s.code,
            });
        }
    }
    out
}

/// What holds for the whole plan.
fn warnings(input: &PlanInput<'_>) -> Vec<Msg> {
    let w = input.workload;
    let mut out = Vec::new();
    if !w.constraints.compliance.is_empty() {
        out.push(Msg::new("warn-compliance-ask").arg("words", w.constraints.compliance.join(", ")));
    }
    if w.money.labour_rate.is_none() {
        out.push(Msg::new("warn-labour-not-counted"));
    }
    if input.measured.iter().any(|m| m.gpus.is_empty()) {
        out.push(Msg::new("warn-probe-empty"));
    }
    out
}
