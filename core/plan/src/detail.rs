//! A finalist in full: prediction with its terms, itemised bill at the median and the 90th percentile,
//! cost per useful unit, and what the reader should be warned of.

use crate::evaluate::{Candidate, Screening, place_tariff, trains};
use crate::saving::SaveTerms;
use crate::spot::{SpotAnswer, answer_of_rate, answer_of_replay};
use lessee_cost::{Case, Percentile, Run, bill, expected_run, wall_seconds};
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::Job;
use lessee_model::{
    Arg, Basis, Bill, Calendar, Confidence, Fixed, Money, Msg, Prediction, Price, Purchase,
    Quantified,
};
use lessee_perf::predict;
use std::sync::Arc;

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
    /// The total by which it was ranked, in the workload's currency: the bill's, to the last digit.
    pub screened_total: f64,
    pub prediction: Prediction,
    pub run: Run,
    pub bill: Bill,
    pub bill_p90: Bill,
    pub months: Months,
    pub duration_s: f64,
    pub duration_p90_s: f64,
    pub cost_per_unit: CostPerUnit,
    /// Of spot options: how the market was judged.
    pub spot: Option<SpotAnswer>,
    pub warnings: Vec<Msg>,
}

/// What a month of the bill was.
#[derive(Clone, Debug)]
pub struct Months {
    /// Hours of a month where no calendar counts.
    pub hours: u32,
    /// The provider's billing months, if the start of the job is known.
    pub calendar: Option<Arc<Calendar>>,
}

#[derive(Clone, Debug)]
pub struct CostPerUnit {
    /// `run`, `1M tokens`, `frame`, `trial`, `gpu_hour`
    pub unit: &'static str,
    pub amount: Option<Money>,
}

/// The rank is given later, when all finalists are known.
pub(crate) fn option(screening: &mut Screening<'_>, candidate: &Candidate) -> Option<PlanOption> {
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
    // screening already predicted this machine: an error here would be a bug, and a fallen finalist is no option
    let prediction = prediction.ok()?;
    let run_at =
        |risk: Option<&SpotRisk>| expected_run(w, &prediction, candidate.nodes, risk, boot_s);
    let tried = candidate
        .replay
        .and_then(|i| screening.replays.get(i as usize));
    let replay = tried.and_then(|r| r.as_ref().ok());
    let run = match replay {
        Some(replay) => replay.run(run_at(None)?),
        None => run_at(spot.then_some(&risk))?,
    };
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

    let saves = SaveTerms::of(
        input.rules.spot_save_gb_s,
        risk.notice_s,
        &tariff,
        price.per_hour,
        candidate.nodes,
    );
    let spot_answer = spot.then(|| match replay {
        Some(replay) => answer_of_replay(replay, w, machine, saves, candidate.nodes, run.work_s),
        None => {
            let ends = [risk.hazard_low, risk.hazard_high].map(|hazard_per_hour| {
                run_at(Some(&SpotRisk {
                    hazard_per_hour,
                    ..risk
                }))
            });
            let refused = tried.and_then(|r| r.as_ref().err().cloned());
            answer_of_rate(&median, &risk, assumed_risk, ends, saves, refused)
        }
    });

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
    if let Some(answer) = &spot_answer {
        warnings.extend(spot_warnings(answer));
    }
    if spot && assumed_risk && replay.is_none() {
        warnings
            .push(Msg::new("warn-spot-risk-assumed").arg("per_hour", risk.hazard_per_hour * 100.0));
    }
    if spot {
        warnings.extend(screening.spot_medians.warning(&input, machine, &price));
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
    let doubtful = |l: &&lessee_model::BillLine| {
        matches!(l.amount, Quantified::Known(_)) && l.why.confidence == Confidence::Unverified
    };
    if bill_median.lines.iter().any(|l| doubtful(&l)) {
        warnings.push(Msg::new("warn-line-unverified"));
    }

    Some(PlanOption {
        rank: 0,
        offer: index,
        nodes: candidate.nodes,
        base_nodes: candidate.base_nodes,
        purchase: candidate.purchase,
        price,
        screened_total: candidate.total,
        prediction,
        run,
        bill: bill_median,
        bill_p90,
        months: Months {
            hours: tariff.month_hours,
            calendar: tariff.calendar.clone(),
        },
        duration_s,
        duration_p90_s,
        cost_per_unit,
        spot: spot_answer,
        warnings,
    })
}

fn spot_warnings(answer: &SpotAnswer) -> Vec<Msg> {
    let mut out = Vec::new();
    if let Some(why) = &answer.refused {
        out.push(Msg::new("warn-spot-not-replayed").arg("why", Arg::Msg(Box::new(why.clone()))));
    }
    if answer.policy.is_some() && answer.independent < FEW_DEADLINES {
        out.push(Msg::new("warn-spot-short-record").arg("times", answer.independent));
    }
    out.extend(answer.notes.iter().cloned());
    if answer.unknown_share > 0.0 {
        out.push(Msg::new("warn-spot-holes").arg("percent", answer.unknown_share * 100.0));
    }
    out
}

/// A record that holds the deadline fewer times says little.
const FEW_DEADLINES: f64 = 3.0;

/// What one useful unit costs: the whole run, a million output tokens, a frame, a trial, a GPU-hour.
fn cost_per_unit(job: &Job, total: Option<Money>) -> CostPerUnit {
    let (unit, count) = match job {
        Job::Train(_) => ("run", 1.0),
        Job::Serve(_) => ("1M tokens", job.units() / 1e6),
        Job::Render(_) => ("frame", job.units()),
        Job::Sweep(_) => ("trial", job.units()),
        Job::Hours(_) => ("gpu_hour", job.units()),
    };
    let amount = total.and_then(|t| {
        Some(Money::new(
            t.amount.over(Fixed::from_f64(count)?)?,
            t.currency,
        ))
    });
    CostPerUnit { unit, amount }
}
