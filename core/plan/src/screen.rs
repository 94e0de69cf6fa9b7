//! The hot part of screening: which prices have to be looked at, and what each comes to.
//!
//! A catalog of a hundred thousand rows holds few different questions: the same machine of the same seller,
//! paid in the same way under the same tariff, costs more exactly where its hour costs more (a property that
//! `lessee-cost` tests). So only the cheapest hour of each such group is screened; the others can do the
//! job too, but for more.

use crate::evaluate::{Candidate, PriceAt, Screening, Shown};
use crate::feasible::{Reject, is_stale, offer_ok, purchase_ok, unranked_because};
use lessee_cost::{Case, Percentile, screen};
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::{Job, Location, Workload};
use lessee_model::{
    Basis, Currency, Fixed, Machine, MachineId, Market, Money, Offer, Price, Purchase, TaxNote,
};
use std::collections::HashMap;

/// What makes two prices comparable by their hour alone.
#[derive(PartialEq, Eq, Hash)]
struct Group<'a> {
    provider: &'a str,
    instance_type: &'a str,
    machine: MachineId,
    purchase: Purchase,
    currency: Currency,
    market: Market,
    tax: TaxNote,
    tariff: u32,
    /// Interruptions per hour, as bits.
    hazard: u64,
    records: Option<u32>,
    /// Whether the data lie in this very region.
    at_home: bool,
    unranked: Option<&'static str>,
    modelled: bool,
    stale: bool,
}

/// One price that passed the cheap checks.
#[derive(Clone, Copy)]
struct Entry {
    offer: u32,
    price: PriceAt,
    tariff: u32,
    risk: Option<SpotRisk>,
    records: Option<u32>,
    unranked: Option<&'static str>,
    modelled: bool,
    stale: bool,
    age_days: f64,
}

/// Screens the whole catalog. `rejected` is called once for each offer that can neither be ranked nor shown,
/// with the reason and whether its price could have been ranked.
pub(crate) fn screen_all(
    s: &mut Screening<'_>,
    ranked: &mut Vec<Candidate>,
    shown: &mut Vec<Shown>,
    mut rejected: impl FnMut(&Reject, bool),
) {
    let input = s.input;
    let mut best: Vec<Entry> = Vec::new();
    // hour and region of each; between equal hours the first region by name, so that order decides nothing
    let mut leaders: Vec<(Fixed, &str)> = Vec::new();
    let mut groups: HashMap<Group<'_>, u32> = HashMap::new();
    // consecutive (offer, group) pairs, so that each offer's fate can be told afterwards
    let mut members: Vec<(u32, u32)> = Vec::new();
    for (index, offer) in input.catalog.offers.iter().enumerate() {
        let before = members.len();
        let reason = entries(s, index as u32, |entry, price| {
            let group = groups
                .entry(group(&entry, price, offer, input.workload))
                .or_insert_with(|| {
                    best.push(entry);
                    leaders.push((price.per_hour.amount, &offer.region));
                    best.len() as u32 - 1
                });
            let this = (price.per_hour.amount, &*offer.region);
            if this < leaders[*group as usize] {
                leaders[*group as usize] = this;
                best[*group as usize] = entry;
            }
            members.push((index as u32, *group));
        });
        if members.len() == before {
            rejected(&reason.err().unwrap_or(Reject::PriceMissing), false);
        }
    }
    let outcomes: Vec<Result<(), Reject>> = best
        .iter()
        .map(|entry| evaluate(s, entry, ranked, shown))
        .collect();
    for offer in members.chunk_by(|a, b| a.0 == b.0) {
        let outcome = |member: &(u32, u32)| &outcomes[member.1 as usize];
        let rankable = |m: &(u32, u32)| {
            let entry = &best[m.1 as usize];
            entry.unranked.is_none() && !entry.modelled
        };
        let reasons: Vec<(&Reject, bool)> = offer
            .iter()
            .filter_map(|m| Some((outcome(m).as_ref().err()?, rankable(m))))
            .collect();
        if reasons.len() == offer.len()
            && let Some((reason, rankable)) = reasons
                .into_iter()
                .max_by_key(|(r, rankable)| (r.weight(), *rankable))
        {
            rejected(reason, rankable);
        }
    }
    if matches!(input.workload.job, Job::Serve(_)) {
        for index in 0..input.catalog.offers.len() as u32 {
            mix(s, index, ranked);
        }
    }
}

/// Screens one offer with all its prices: for the question why it is not in the plan.
pub(crate) fn screen_one(
    s: &mut Screening<'_>,
    index: u32,
    ranked: &mut Vec<Candidate>,
    shown: &mut Vec<Shown>,
) -> Result<(), Reject> {
    let mut passed = Vec::new();
    let mut last = entries(s, index, |entry, _| passed.push(entry));
    let before = ranked.len() + shown.len();
    for entry in &passed {
        if let Err(reason) = evaluate(s, entry, ranked, shown) {
            last = Err(heavier(last.err(), reason));
        }
    }
    mix(s, index, ranked);
    if ranked.len() + shown.len() > before {
        Ok(())
    } else {
        Err(last.err().unwrap_or(Reject::PriceMissing))
    }
}

/// Hands over the prices of an offer that pass the cheap checks; `Err` is the last reason why one did not.
fn entries<'a>(
    s: &mut Screening<'a>,
    index: u32,
    mut put: impl FnMut(Entry, &Price),
) -> Result<(), Reject> {
    let input = s.input;
    let offer: &'a Offer = &input.catalog.offers[index as usize];
    let c = &input.workload.constraints;
    offer_ok(offer, c)?;
    let machine: &'a Machine = input.catalog.machine(offer);
    if let Err(reason) = s.fits(offer.machine.0 as usize) {
        return Err(reason.clone());
    }
    let tariff = s.tariff_index(offer, machine);
    let mut last: Result<(), Reject> = Ok(());
    for at in s.prices(index) {
        let price = s.price(index, at).clone();
        if let Err(reason) = price_ok(&price, input.workload) {
            last = Err(heavier(last.err(), reason));
            continue;
        }
        let age = price.why.as_of.map(|date| s.age_days(date));
        let entry = Entry {
            offer: index,
            price: at,
            tariff,
            risk: (price.purchase == Purchase::Spot).then(|| s.risk(offer).0),
            records: match price.purchase {
                Purchase::Spot => s.records(offer, machine),
                _ => None,
            },
            unranked: unranked_because(offer, machine, &price, age, &input),
            modelled: price.why.basis == Basis::Modelled,
            stale: is_stale(offer, age, &input.rules),
            age_days: f64::from(age.unwrap_or(0).max(0)),
        };
        put(entry, &price);
    }
    last
}

/// Of two misses the nearer one; else the one that tells more.
fn nearer(kept: Reject, new: Reject) -> Reject {
    let closer = match (&kept, &new) {
        (Reject::Budget { total: a, .. }, Reject::Budget { total: b, .. }) => b.amount < a.amount,
        (Reject::Deadline { seconds: a, .. }, Reject::Deadline { seconds: b, .. }) => b < a,
        _ => new.weight() > kept.weight(),
    };
    if closer { new } else { kept }
}

/// Of two reasons the one that tells more.
fn heavier(a: Option<Reject>, b: Reject) -> Reject {
    match a {
        Some(a) if a.weight() >= b.weight() => a,
        _ => b,
    }
}

fn price_ok(price: &Price, w: &Workload) -> Result<(), Reject> {
    purchase_ok(price.purchase, &w.constraints)?;
    if price.per_hour.amount <= Fixed::ZERO {
        return Err(Reject::PriceMissing);
    }
    if let Some(cap) = w.constraints.max_price
        && let Ok(converted) = w.money.fx.convert(price.per_hour, cap.currency)
        && converted.amount > cap.amount
    {
        return Err(Reject::PriceCap);
    }
    Ok(())
}

fn group<'a>(entry: &Entry, price: &Price, offer: &'a Offer, w: &Workload) -> Group<'a> {
    let at_home = match &w.data.location {
        Location::Provider {
            region: Some(region),
            ..
        } => **region == *offer.region,
        _ => false,
    };
    Group {
        provider: &offer.provider,
        instance_type: &offer.instance_type,
        machine: offer.machine,
        purchase: price.purchase,
        currency: price.per_hour.currency,
        market: offer.market,
        tax: price.tax,
        tariff: entry.tariff,
        hazard: entry.risk.map_or(0, |r| r.hazard_per_hour.to_bits()),
        records: entry.records,
        at_home,
        unranked: entry.unranked,
        modelled: entry.modelled,
        stale: entry.stale,
    }
}

/// Durations and totals of one price for each number of machines.
fn evaluate(
    s: &mut Screening<'_>,
    entry: &Entry,
    ranked: &mut Vec<Candidate>,
    shown: &mut Vec<Shown>,
) -> Result<(), Reject> {
    let input = s.input;
    let w = input.workload;
    let offer = &input.catalog.offers[entry.offer as usize];
    let machine = input.catalog.machine(offer);
    let price = s.price(entry.offer, entry.price).clone();
    let runs = s.runs(offer, machine, entry.tariff, entry.risk.as_ref())?;
    let mut outcome = Err(Reject::NeverFinishes);
    for (nodes, run) in runs {
        let screened = screen(&Case {
            workload: w,
            offer,
            machine,
            price: &price,
            purchase: price.purchase,
            nodes,
            run: &run,
            tariff: s.tariff(entry.tariff),
            percentile: Percentile::P50,
            base_nodes: 0,
            base_price: None,
        });
        let total = screened.total(w.money.currency);
        if let Err(reason) = limits(w, screened.wall_s, total) {
            outcome = outcome.map_err(|kept| nearer(kept, reason));
            continue;
        }
        outcome = Ok(());
        let candidate = Candidate {
            offer: entry.offer,
            price: entry.price,
            purchase: price.purchase,
            nodes,
            base_nodes: 0,
            total: total.map_or(f64::NAN, |t| t.amount.to_f64()),
            wall_s: screened.wall_s,
            risk: run.interruptions,
            modelled: entry.modelled,
            stale: entry.stale,
            age_days: entry.age_days,
            records: entry.records,
            replay: None,
        };
        match (entry.unranked, total) {
            (None, Some(_)) => ranked.push(candidate),
            (code, _) => shown.push(Shown {
                candidate,
                code: code.unwrap_or("no_exchange_rate"),
                totals: screened.totals.iter().collect(),
            }),
        }
    }
    outcome
}

/// Serving: the average load under a commitment, the rest on demand.
fn mix(s: &mut Screening<'_>, index: u32, ranked: &mut Vec<Candidate>) {
    let input = s.input;
    let w = input.workload;
    let Job::Serve(serve) = &w.job else { return };
    if purchase_ok(Purchase::Mix, &w.constraints).is_err() || serve.peak_rate <= serve.rate {
        return;
    }
    let offer = &input.catalog.offers[index as usize];
    let at = |purchase| offer.prices.iter().position(|p| p.purchase == purchase);
    let Some(peak_at) = at(Purchase::OnDemand) else {
        return;
    };
    let Some(base_at) = at(Purchase::Year1).or_else(|| at(Purchase::Month)) else {
        return;
    };
    let machine = input.catalog.machine(offer);
    let (peak, base) = (&offer.prices[peak_at], &offer.prices[base_at]);
    let ages = [peak, base].map(|p| p.why.as_of.map(|date| s.age_days(date)));
    let usable = |p: &Price, age| {
        p.per_hour.amount > Fixed::ZERO
            && unranked_because(offer, machine, p, age, &input).is_none()
    };
    let capped = |p: &Price| matches!(price_ok(p, w), Err(Reject::PriceCap));
    if offer_ok(offer, &w.constraints).is_err()
        || capped(peak)
        || capped(base)
        || !usable(peak, ages[0])
        || !usable(base, ages[1])
    {
        return;
    }
    let tariff = s.tariff_index(offer, machine);
    let Ok(runs) = s.runs(offer, machine, tariff, None) else {
        return;
    };
    for (nodes, run) in runs {
        let base_nodes =
            ((f64::from(nodes) * serve.rate / serve.peak_rate).ceil() as u32).clamp(1, nodes);
        let screened = screen(&Case {
            workload: w,
            offer,
            machine,
            price: peak,
            purchase: Purchase::Mix,
            nodes,
            run: &run,
            tariff: s.tariff(tariff),
            percentile: Percentile::P50,
            base_nodes,
            base_price: Some(base),
        });
        if let Some(total) = screened.total(w.money.currency)
            && limits(w, screened.wall_s, Some(total)).is_ok()
        {
            ranked.push(Candidate {
                offer: index,
                price: PriceAt::Own(peak_at as u32),
                purchase: Purchase::Mix,
                nodes,
                base_nodes,
                total: total.amount.to_f64(),
                wall_s: screened.wall_s,
                risk: 0.0,
                modelled: false,
                stale: ages
                    .into_iter()
                    .any(|age| is_stale(offer, age, &input.rules)),
                age_days: f64::from(ages.into_iter().flatten().max().unwrap_or(0).max(0)),
                records: None,
                replay: None,
            });
        }
    }
}

/// The candidate after its replay on the records that speak for it: another duration, another total, by the same bill.
/// Where they cannot be replayed it stays as it was, with the reason.
pub(crate) fn replayed(s: &mut Screening<'_>, candidate: &Candidate) -> Result<Candidate, Reject> {
    let set = candidate
        .records
        .and_then(|i| s.record_sets.get(i as usize));
    let Some(set) = set.cloned() else {
        return Ok(*candidate);
    };
    let found = crate::spot::replay(s, candidate, &set);
    let index = s.replays.len() as u32;
    s.replays.push(found);
    let kept = Candidate {
        replay: Some(index),
        ..*candidate
    };
    let input = s.input;
    let w = input.workload;
    let offer = &input.catalog.offers[candidate.offer as usize];
    let machine = input.catalog.machine(offer);
    let price = s.price(candidate.offer, candidate.price).clone();
    let tariff = s.tariff_index(offer, machine);
    let Some((calm, _)) = s.calm(offer, machine, candidate.nodes) else {
        return Ok(kept);
    };
    let Ok(replay) = &s.replays[index as usize] else {
        return Ok(kept);
    };
    let run = replay.run(calm);
    let screened = screen(&Case {
        workload: w,
        offer,
        machine,
        price: &price,
        purchase: price.purchase,
        nodes: candidate.nodes,
        run: &run,
        tariff: s.tariff(tariff),
        percentile: Percentile::P50,
        base_nodes: 0,
        base_price: None,
    });
    let total = screened.total(w.money.currency);
    limits(w, screened.wall_s, total)?;
    Ok(Candidate {
        total: total.map_or(f64::NAN, |t| t.amount.to_f64()),
        wall_s: screened.wall_s,
        risk: run.interruptions,
        ..kept
    })
}

const A_CENTURY_S: f64 = 3.156e9;
/// More than all the money there is, in any currency.
const ABSURD_TOTAL: f64 = 1e18;

/// Deadline and budget. A service has no deadline: it runs as long as it was asked to.
fn limits(w: &Workload, wall_s: f64, total: Option<Money>) -> Result<(), Reject> {
    // beyond a century, or beyond any sum of money, arithmetic saturates and means nothing
    let absurd = |t: Money| t.amount.to_f64() >= ABSURD_TOTAL;
    if !wall_s.is_finite() || wall_s > A_CENTURY_S || total.is_some_and(absurd) {
        return Err(Reject::NeverFinishes);
    }
    if let Some(deadline) = w.constraints.deadline
        && !matches!(w.job, Job::Serve(_))
        && wall_s > deadline.0
    {
        return Err(Reject::Deadline {
            seconds: wall_s,
            allowed: deadline.0,
        });
    }
    if let (Some(budget), Some(total)) = (w.constraints.budget, total)
        && let Ok(spent) = w.money.fx.convert(total, budget.currency)
        && spent.amount > budget.amount
    {
        return Err(Reject::Budget {
            total: spent,
            allowed: budget,
        });
    }
    Ok(())
}
