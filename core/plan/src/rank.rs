//! All candidates -> the few that people look at: the cheapest place for each machine, the best ten, the
//! Pareto front, what can only be shown, and how many were dropped for which reason.

use crate::detail::{PlanOption, option};
use crate::evaluate::{Candidate, PlanInput, Screening, Shown};
use crate::pareto::front;
use lessee_model::{Money, Msg, Purchase};
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
    for index in 0..input.catalog.offers.len() as u32 {
        if let Err(reason) = screening.offer(index, &mut ranked, &mut shown) {
            rejected.count += 1;
            *rejected.by_reason.entry(reason.code()).or_default() += 1;
        }
    }
    let mut best = cheapest_places(&input, ranked);
    if best.iter().all(|c| c.modelled) {
        // a modelled price is never first: alone it can only be shown
        let lonely = best.drain(..).map(|candidate| Shown { candidate, code: "price_modelled", total: None });
        shown.extend(lonely);
    }
    let on_front = front(&best.iter().map(|c| [c.total, c.wall_s, c.risk]).collect::<Vec<_>>());
    let chosen = choose(&input, &best, &on_front, top);
    let options: Vec<PlanOption> = chosen
        .iter()
        .enumerate()
        .map(|(i, index)| option(&mut screening, &best[*index], i as u32 + 1))
        .collect();
    let front_set: HashSet<usize> = on_front.into_iter().collect();
    let pareto = chosen.iter().enumerate().filter(|(_, i)| front_set.contains(i)).map(|(rank, _)| rank as u32 + 1).collect();
    let mut unranked = ask_for_quotes(&input, &options);
    unranked.extend(show(&input, shown));
    let warnings = warnings(&input);
    Plan { options, unranked, rejected, pareto, warnings }
}

/// One candidate for each machine type, way to pay and number of machines: the cheapest region.
fn cheapest_places(input: &PlanInput<'_>, ranked: Vec<Candidate>) -> Vec<Candidate> {
    let offers = &input.catalog.offers;
    let mut best: HashMap<(&str, &str, Purchase, u32), Candidate> = HashMap::new();
    for candidate in ranked {
        let offer = &offers[candidate.offer as usize];
        let key = (&*offer.provider, &*offer.instance_type, candidate.purchase, candidate.nodes);
        best.entry(key)
            .and_modify(|kept| {
                let worse = (kept.modelled, kept.total, kept.wall_s, &*offers[kept.offer as usize].region);
                let new = (candidate.modelled, candidate.total, candidate.wall_s, &*offer.region);
                if new.partial_cmp(&worse) == Some(std::cmp::Ordering::Less) {
                    *kept = candidate;
                }
            })
            .or_insert(candidate);
    }
    let mut out: Vec<Candidate> = best.into_values().collect();
    out.sort_by(|a, b| {
        let name = |c: &Candidate| {
            let o = &offers[c.offer as usize];
            (&*o.provider, &*o.instance_type, c.purchase, c.nodes)
        };
        a.total.total_cmp(&b.total).then(a.wall_s.total_cmp(&b.wall_s)).then_with(|| name(a).cmp(&name(b)))
    });
    out
}

/// Indices into `best`: the `top` cheapest different machines and the front (at most 20 of it), in order
/// of total; a modelled or stale price is moved behind the first that is neither.
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
    chosen.extend(on_front.iter().take(20));
    chosen.sort_unstable();
    chosen.dedup();
    let sound = |i: &usize| !best[*i].modelled && !best[*i].stale;
    let fresh = chosen.iter().position(sound).or_else(|| chosen.iter().position(|i| !best[*i].modelled));
    match fresh {
        Some(position) => {
            let first = chosen.remove(position);
            chosen.insert(0, first);
        }
        None => {
            // none of the cheapest may lead: fetch the cheapest that may
            if let Some(leader) = (0..best.len()).find(|i| sound(i)).or_else(|| (0..best.len()).find(|i| !best[*i].modelled)) {
                chosen.insert(0, leader);
            }
        }
    }
    chosen
}

/// Ways to pay that the best machines are likely sold by but nobody publishes a price for.
fn ask_for_quotes(input: &PlanInput<'_>, options: &[PlanOption]) -> Vec<Unranked> {
    let c = &input.workload.constraints;
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for option in options.iter().take(10) {
        let offer = &input.catalog.offers[option.offer];
        for purchase in [Purchase::Spot, Purchase::Month, Purchase::Year1, Purchase::Year3] {
            let allowed = (c.purchases.is_empty() || c.purchases.contains(&purchase)) && (purchase != Purchase::Spot || c.spot);
            let priced = options.iter().any(|o| {
                let other = &input.catalog.offers[o.offer];
                other.provider == offer.provider && other.instance_type == offer.instance_type && o.purchase == purchase
            });
            if allowed && !priced && offer.price(purchase).is_none() && seen.insert((offer.key(), purchase)) {
                out.push(Unranked { key: offer.key(), purchase, nodes: option.nodes, total: None, code: "ask_for_quote" });
            }
        }
    }
    out
}

/// The cheapest of each machine, way to pay and reason.
fn show(input: &PlanInput<'_>, mut shown: Vec<Shown>) -> Vec<Unranked> {
    shown.sort_by(|a, b| {
        let amount = |s: &Shown| s.total.map_or(f64::MAX, |t| t.amount.to_f64());
        a.code.cmp(b.code).then(amount(a).total_cmp(&amount(b))).then(a.candidate.offer.cmp(&b.candidate.offer))
    });
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for s in shown {
        let offer = &input.catalog.offers[s.candidate.offer as usize];
        if seen.insert((offer.provider.clone(), offer.instance_type.clone(), s.candidate.purchase, s.code)) {
            out.push(Unranked {
                key: offer.key(),
                purchase: s.candidate.purchase,
                nodes: s.candidate.nodes,
                total: s.total,
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
