//! A finalist in full: prediction with its terms, itemised bill at the median and the 90th percentile,
//! cost per useful unit, and what the reader should be warned of.

use crate::evaluate::{Candidate, Screening, job_units, place_tariff, trains};
use lessee_cost::{Case, Percentile, Run, bill, expected_run, wall_seconds};
use lessee_model::workload::Job;
use lessee_model::{Basis, Bill, Confidence, Fixed, Money, Msg, Prediction, Price, Purchase};
use lessee_perf::predict;

/// One way to do the job.
#[derive(Clone, Debug)]
pub struct PlanOption {
    pub rank: u32,
    /// Index into the catalog's offers.
    pub offer: usize,
    pub nodes: u32,
    pub base_nodes: u32,
    pub purchase: Purchase,
    pub price: Price,
    pub prediction: Prediction,
    pub run: Run,
    pub bill: Bill,
    pub bill_p90: Bill,
    pub duration_s: f64,
    pub duration_p90_s: f64,
    pub cost_per_unit: CostPerUnit,
    pub warnings: Vec<Msg>,
}

#[derive(Clone, Debug)]
pub struct CostPerUnit {
    /// `run`, `1M tokens`, `frame`, `trial`, `gpu_hour`
    pub unit: &'static str,
    pub amount: Option<Money>,
}

/// The rank is given later, when all finalists are known.
pub(crate) fn option(screening: &mut Screening<'_>, candidate: &Candidate) -> PlanOption {
    let rank = 0;
    let input = screening.input;
    let w = input.workload;
    let index = candidate.offer as usize;
    let offer = &input.catalog.offers[index];
    let machine = input.catalog.machine(offer);
    let price = screening.price(candidate.offer, candidate.price).clone();
    let spot = candidate.purchase == Purchase::Spot;
    let (risk, assumed_risk) = screening.risk(offer);
    let tariff = place_tariff(&input, offer, machine);
    let boot_s = tariff.boot.as_ref().map_or(0.0, |b| b.value.p50_s);
    let prediction = predict(
        &w.job,
        &w.data,
        machine,
        candidate.nodes,
        screening.context(machine, Some(offer), true),
    );
    // screening already predicted this machine, so an error here cannot happen; an empty answer is safer than a panic
    let prediction = match prediction {
        Ok(p) => p,
        Err(e) => return unexpected(candidate, rank, price, w.money.currency, e.msg),
    };
    let run = expected_run(
        w,
        &prediction,
        candidate.nodes,
        spot.then_some(&risk),
        boot_s,
    )
    .unwrap_or_default();
    let base_price = offer
        .price(Purchase::Year1)
        .or_else(|| offer.price(Purchase::Month));
    let case = |percentile| Case {
        workload: w,
        offer,
        machine,
        price: &price,
        purchase: candidate.purchase,
        nodes: candidate.nodes,
        run: &run,
        tariff: &tariff,
        percentile,
        base_nodes: candidate.base_nodes,
        base_price: if candidate.purchase == Purchase::Mix {
            base_price
        } else {
            None
        },
    };
    let (median, p90) = (case(Percentile::P50), case(Percentile::P90));
    let (bill_median, bill_p90) = (bill(&median), bill(&p90));
    let (duration_s, duration_p90_s) = (wall_seconds(&median), wall_seconds(&p90));
    let cost_per_unit = cost_per_unit(&w.job, bill_median.total());

    let mut warnings = prediction.notes.clone();
    if candidate.modelled {
        warnings.push(Msg::new("warn-price-modelled").arg("source", &*price.why.source));
    }
    if candidate.stale {
        let date = price.why.as_of.map(|d| d.to_string()).unwrap_or_default();
        warnings.push(Msg::new("warn-price-stale").arg("date", date));
    }
    if price.why.confidence != Confidence::Verified && price.why.basis == Basis::Published {
        warnings.push(Msg::new("warn-price-unverified").arg("source", &*price.why.source));
    }
    if machine.confidence > Confidence::Secondary {
        warnings.push(Msg::new("warn-machine-unverified"));
    }
    if spot && assumed_risk {
        warnings
            .push(Msg::new("warn-spot-risk-assumed").arg("per_hour", risk.hazard_per_hour * 100.0));
    }
    if spot && w.checkpoint.is_none() && trains(&w.job) {
        warnings.push(Msg::new("warn-spot-without-checkpoint"));
    }
    if let Some(deadline) = w.constraints.deadline
        && duration_p90_s > deadline.0
        && !matches!(w.job, Job::Serve(_))
    {
        warnings.push(
            Msg::new("warn-deadline-risk")
                .seconds("p90", duration_p90_s)
                .seconds("allowed", deadline.0),
        );
    }
    if let (Some(budget), Some(total)) = (w.constraints.budget, bill_p90.total())
        && w.money
            .fx
            .convert(total, budget.currency)
            .is_ok_and(|t| t.amount > budget.amount)
    {
        warnings.push(
            Msg::new("warn-budget-risk")
                .arg("p90", total)
                .arg("allowed", budget),
        );
    }
    if w.constraints.cpus_per_gpu > 0.0 && machine.vcpus.is_none() {
        warnings.push(Msg::new("warn-cpus-unknown"));
    }
    if w.constraints.ram_per_gpu.0 > 0.0 && machine.memory_gib.is_none() {
        warnings.push(Msg::new("warn-ram-unknown"));
    }
    if candidate.purchase.term_months() > 0 {
        warnings.push(Msg::new("warn-commitment").arg("months", candidate.purchase.term_months()));
    }
    if let Ok(rule) = &tariff.billing
        && rule.value.stopped_compute != lessee_model::tariff::Stopped::Free
        && w.setup.stopped.0 > 0.0
    {
        warnings.push(Msg::new("warn-stopped-is-billed"));
    }
    if bill_median.at_least {
        warnings.push(Msg::new("warn-at-least"));
    }

    PlanOption {
        rank,
        offer: index,
        nodes: candidate.nodes,
        base_nodes: candidate.base_nodes,
        purchase: candidate.purchase,
        price,
        prediction,
        run,
        bill: bill_median,
        bill_p90,
        duration_s,
        duration_p90_s,
        cost_per_unit,
        warnings,
    }
}

fn unexpected(
    candidate: &Candidate,
    rank: u32,
    price: Price,
    currency: lessee_model::Currency,
    msg: Msg,
) -> PlanOption {
    let empty = Bill {
        currency,
        lines: Vec::new(),
        totals: Vec::new(),
        at_least: true,
    };
    PlanOption {
        rank,
        offer: candidate.offer as usize,
        nodes: candidate.nodes,
        base_nodes: candidate.base_nodes,
        purchase: candidate.purchase,
        price,
        prediction: Prediction {
            unit: lessee_model::WorkUnit::GpuHour,
            per_second: 0.0,
            low: 0.0,
            high: 0.0,
            bound_by: lessee_model::BoundBy::Compute,
            memory: Default::default(),
            layout: Default::default(),
            terms: Vec::new(),
            notes: Vec::new(),
            basis: Basis::Modelled,
            seconds_per_output_token: None,
        },
        run: Run::default(),
        bill: empty.clone(),
        bill_p90: empty,
        duration_s: candidate.wall_s,
        duration_p90_s: candidate.wall_s,
        cost_per_unit: CostPerUnit {
            unit: "run",
            amount: None,
        },
        warnings: vec![msg],
    }
}

/// What one useful unit costs: the whole run, a million output tokens, a frame, a trial, a GPU-hour.
fn cost_per_unit(job: &Job, total: Option<Money>) -> CostPerUnit {
    let (unit, count) = match job {
        Job::Train(_) => ("run", 1.0),
        Job::Serve(_) => ("1M tokens", job_units(job) / 1e6),
        Job::Render(_) => ("frame", job_units(job)),
        Job::Sweep(_) => ("trial", job_units(job)),
        Job::Hours(_) => ("gpu_hour", job_units(job)),
    };
    let amount = total.and_then(|t| {
        Some(Money::new(
            t.amount.over(Fixed::from_f64(count)?)?,
            t.currency,
        ))
    });
    CostPerUnit { unit, amount }
}
