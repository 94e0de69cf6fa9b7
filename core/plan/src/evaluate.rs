//! Screening: every offer x number of machines x way to pay becomes a duration and a total, or a reason
//! why not. Speed is predicted once per machine and number of nodes, tariffs are picked once per place;
//! what remains per candidate is the arithmetic of one bill.

use crate::feasible::{
    Reject, Wanted, is_stale, machine_ok, offer_ok, purchase_ok, unranked_because,
};
use jiff::civil::Date;
use lessee_cost::{
    Case, Percentile, Run, commitment_discount, expected_run, resolve_tariff, screen,
    source_egress, spot_risk,
};
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::{Defaults, Job, Trial, Workload};
use lessee_model::{
    Basis, Catalog, Confidence, Fixed, GpuTable, Machine, Money, Offer, Prediction, Price,
    ProbeReport, Provenance, Purchase, Tariff, TariffBook, TaxNote,
};
use lessee_perf::{PerfContext, PerfTables, predict};
use std::collections::HashMap;
use std::sync::Arc;

/// Everything that a plan depends on.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    pub catalog: &'a Catalog,
    pub gpus: &'a GpuTable,
    pub perf: &'a PerfTables,
    pub tariffs: &'a TariffBook,
    pub workload: &'a Workload,
    /// Probes of machines: each replaces table values for the offers it speaks for.
    pub measured: &'a [ProbeReport],
    /// Decides which prices are stale.
    pub today: Date,
    pub rules: Rules,
}

/// Rules of ranking, from `data/defaults.toml`.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub unranked_after_days_list: f64,
    pub unranked_after_days_gpu_cloud: f64,
    pub unranked_after_days_marketplace: f64,
    pub unranked_after_days_quote: f64,
    /// Used where nobody publishes interruptions.
    pub spot_fallback: SpotRisk,
}

impl Rules {
    pub fn from_defaults(d: &Defaults) -> Rules {
        Rules {
            unranked_after_days_list: d.get("plan.unranked_after_days_list"),
            unranked_after_days_gpu_cloud: d.get("plan.unranked_after_days_gpu_cloud"),
            unranked_after_days_marketplace: d.get("plan.unranked_after_days_marketplace"),
            unranked_after_days_quote: d.get("plan.unranked_after_days_quote"),
            spot_fallback: SpotRisk {
                hazard_per_hour: d.get("spot.hazard_per_hour"),
                hazard_low: d.get("spot.hazard_low"),
                hazard_high: d.get("spot.hazard_high"),
                notice_s: 0.0,
            },
        }
    }
}

/// Where a candidate's price stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriceAt {
    Own(u32),
    /// Derived by a model or a published discount.
    Extra(u32),
}

/// One screened possibility.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub offer: u32,
    pub price: PriceAt,
    pub purchase: Purchase,
    pub nodes: u32,
    /// Mix only: machines under commitment.
    pub base_nodes: u32,
    /// In the workload's currency.
    pub total: f64,
    pub wall_s: f64,
    /// Expected interruptions.
    pub risk: f64,
    /// Derived by a model: never first.
    pub modelled: bool,
    /// Older than its market allows: never first while something fresh exists.
    pub stale: bool,
}

/// Shown, not ranked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub candidate: Candidate,
    pub code: &'static str,
    pub total: Option<Money>,
}

/// Speed of one machine type on a number of nodes.
pub(crate) struct Fit {
    pub nodes: u32,
    pub prediction: Prediction,
}

/// Provider, region, instance type.
type OfferName = (Arc<str>, Arc<str>, Arc<str>);

/// Caches that live for one plan.
pub(crate) struct Screening<'a> {
    pub input: PlanInput<'a>,
    wanted: Wanted,
    fits: Vec<Option<Result<Vec<Fit>, Reject>>>,
    tariffs: HashMap<(Arc<str>, Arc<str>, u32), Tariff>,
    /// By offer; true = assumed, because nobody publishes it.
    risks: HashMap<OfferName, (SpotRisk, bool)>,
    pub extras: Vec<Price>,
    extra_of: HashMap<u32, Vec<u32>>,
}

impl<'a> Screening<'a> {
    pub(crate) fn new(input: PlanInput<'a>) -> Screening<'a> {
        let mut screening = Screening {
            input,
            wanted: Wanted::new(&input),
            fits: (0..input.catalog.machines.len()).map(|_| None).collect(),
            tariffs: HashMap::new(),
            risks: HashMap::new(),
            extras: Vec::new(),
            extra_of: HashMap::new(),
        };
        screening.derive_prices();
        screening
    }

    /// Spot prices modelled from the advisor's savings, and commitments whose discount is published for GPUs.
    fn derive_prices(&mut self) {
        let advisor: HashMap<(&str, &str, &str), &lessee_model::tariff::AdvisorRow> = self
            .input
            .tariffs
            .advisor
            .iter()
            .map(|row| ((&*row.provider, &*row.region, &*row.instance_type), row))
            .collect();
        let committed: Vec<&str> = self
            .input
            .tariffs
            .commitments
            .iter()
            .filter(|r| r.gpu_specific && r.discount.is_some())
            .map(|r| &*r.provider)
            .collect();
        for (index, offer) in self.input.catalog.offers.iter().enumerate() {
            let Some(on_demand) = offer.price(Purchase::OnDemand) else {
                continue;
            };
            let mut extras = Vec::new();
            if offer.price(Purchase::Spot).is_none()
                && let Some(row) =
                    advisor.get(&(&*offer.provider, &*offer.region, &*offer.instance_type))
                && let Some(rest) = Fixed::from_f64(1.0 - row.savings_pct / 100.0)
            {
                let source = format!("{} % below on demand: {}", row.savings_pct, row.why.source);
                extras.push(Price {
                    purchase: Purchase::Spot,
                    per_hour: on_demand.per_hour.times(rest),
                    why: Arc::new(Provenance::new(
                        Basis::Modelled,
                        Confidence::Secondary,
                        source,
                        row.why.as_of,
                    )),
                    ..on_demand.clone()
                });
            }
            if committed.contains(&&*offer.provider) {
                for purchase in [Purchase::Month, Purchase::Year1, Purchase::Year3] {
                    if offer.price(purchase).is_some() {
                        continue;
                    }
                    if let Some(discount) =
                        commitment_discount(self.input.tariffs, &offer.provider, purchase)
                        && let Some(rest) = Fixed::from_f64(1.0 - discount.value)
                    {
                        extras.push(Price {
                            purchase,
                            per_hour: on_demand.per_hour.times(rest),
                            upfront: Some(1.0),
                            high: None,
                            tax: TaxNote::Unknown,
                            why: Arc::new(Provenance {
                                basis: Basis::Modelled,
                                ..discount.why
                            }),
                        });
                    }
                }
            }
            for price in extras {
                self.extra_of
                    .entry(index as u32)
                    .or_default()
                    .push(self.extras.len() as u32);
                self.extras.push(price);
            }
        }
    }

    pub(crate) fn price(&self, candidate: &Candidate) -> &Price {
        match candidate.price {
            PriceAt::Own(i) => {
                &self.input.catalog.offers[candidate.offer as usize].prices[i as usize]
            }
            PriceAt::Extra(i) => &self.extras[i as usize],
        }
    }

    /// All prices of an offer, own ones first.
    fn prices(&self, offer: u32) -> Vec<PriceAt> {
        let own = self.input.catalog.offers[offer as usize].prices.len() as u32;
        let extra = self
            .extra_of
            .get(&offer)
            .into_iter()
            .flatten()
            .map(|i| PriceAt::Extra(*i));
        (0..own).map(PriceAt::Own).chain(extra).collect()
    }

    pub(crate) fn context(
        &self,
        machine: &Machine,
        offer: Option<&Offer>,
        detail: bool,
    ) -> PerfContext<'a> {
        let measured = self
            .input
            .measured
            .iter()
            .find(|report| speaks_for(report, machine, offer, self.input.gpus));
        PerfContext {
            gpus: self.input.gpus,
            tables: self.input.perf,
            measured,
            detail,
        }
    }

    pub(crate) fn fits(&mut self, machine_index: usize) -> &Result<Vec<Fit>, Reject> {
        if self.fits[machine_index].is_none() {
            let machine = &self.input.catalog.machines[machine_index];
            let result = machine_ok(machine, &self.wanted, &self.input.workload.constraints)
                .and_then(|()| self.predict_nodes(machine));
            self.fits[machine_index] = Some(result);
        }
        // just filled
        self.fits[machine_index]
            .as_ref()
            .unwrap_or(&Err(Reject::NeverFinishes))
    }

    /// Predictions for each number of machines worth considering.
    fn predict_nodes(&self, machine: &Machine) -> Result<Vec<Fit>, Reject> {
        let w = self.input.workload;
        let cx = self.context(machine, None, false);
        let run = |nodes: u32| {
            predict(&w.job, &w.data, machine, nodes, cx)
                .map_err(|e| Reject::Perf(e.code, Box::new(e.msg)))
        };
        let (min, max) = (w.constraints.min_nodes, w.constraints.max_nodes);
        if let Job::Serve(serve) = &w.job {
            let one = run(1)?;
            let per_machine = one.per_second;
            let needed = (serve.peak_rate * serve.output_tokens / per_machine)
                .ceil()
                .max(1.0);
            let replicas_each = f64::from(one.layout.data_parallel.max(1));
            let for_replicas = (f64::from(serve.min_replicas) / replicas_each).ceil();
            let nodes = needed.max(for_replicas).max(f64::from(min));
            if nodes > f64::from(max) {
                return Err(Reject::TooManyNodes {
                    needed: nodes.min(1e9) as u32,
                    allowed: max,
                });
            }
            let nodes = nodes as u32;
            return Ok(vec![Fit {
                nodes,
                prediction: run(nodes)?,
            }]);
        }
        let useful = useful_nodes(&w.job, machine).clamp(1, max);
        let mut counts: Vec<u32> = Vec::new();
        let mut nodes = min;
        while nodes < useful {
            counts.push(nodes);
            nodes *= 2;
        }
        counts.push(useful.max(min));
        counts.dedup();
        let mut out = Vec::with_capacity(counts.len());
        let mut first_error = None;
        for nodes in counts {
            match run(nodes) {
                Ok(prediction) => out.push(Fit { nodes, prediction }),
                Err(e) => first_error = first_error.or(Some(e)),
            }
        }
        match (out.is_empty(), first_error) {
            (true, Some(e)) => Err(e),
            _ => Ok(out),
        }
    }

    fn tariff(&mut self, offer: &Offer, machine: &Machine) -> &Tariff {
        // sizes matter to billing minima only below five cores
        let size = machine.vcpus.map_or(9, |v| v.clamp(0.0, 8.0).ceil() as u32);
        let key = (offer.provider.clone(), offer.region.clone(), size);
        let input = self.input;
        self.tariffs
            .entry(key)
            .or_insert_with(|| place_tariff(&input, offer, machine))
    }

    /// Interruption rate of a spot offer, and whether it is a mere assumption.
    pub(crate) fn risk(&mut self, offer: &Offer) -> (SpotRisk, bool) {
        let key = (
            offer.provider.clone(),
            offer.region.clone(),
            offer.instance_type.clone(),
        );
        let (book, fallback) = (self.input.tariffs, self.input.rules.spot_fallback);
        *self.risks.entry(key).or_insert_with(|| {
            match spot_risk(book, &offer.provider, &offer.region, &offer.instance_type) {
                Ok(known) => (known.value, false),
                Err(_) => (fallback, true),
            }
        })
    }

    /// Screens one offer. Pushes what can be ranked and what can only be shown; if neither, says why.
    pub(crate) fn offer(
        &mut self,
        index: u32,
        ranked: &mut Vec<Candidate>,
        shown: &mut Vec<Shown>,
    ) -> Result<(), Reject> {
        let input = self.input;
        let offer = &input.catalog.offers[index as usize];
        let c = &input.workload.constraints;
        offer_ok(offer, c)?;
        let machine_index = offer.machine.0 as usize;
        let machine = &input.catalog.machines[machine_index];
        if let Err(reason) = self.fits(machine_index) {
            return Err(reason.clone());
        }
        let before = ranked.len() + shown.len();
        let mut reason = Reject::PriceMissing;
        for at in self.prices(index) {
            if let Err(e) = self.price_of(index, machine, at, ranked, shown) {
                reason = e;
            }
        }
        self.mix(index, machine, ranked);
        if ranked.len() + shown.len() == before {
            Err(reason)
        } else {
            Ok(())
        }
    }

    fn price_of(
        &mut self,
        index: u32,
        machine: &'a Machine,
        at: PriceAt,
        ranked: &mut Vec<Candidate>,
        shown: &mut Vec<Shown>,
    ) -> Result<(), Reject> {
        let input = self.input;
        let offer = &input.catalog.offers[index as usize];
        let w = input.workload;
        let probe = Candidate {
            offer: index,
            price: at,
            purchase: Purchase::OnDemand,
            nodes: 0,
            base_nodes: 0,
            total: 0.0,
            wall_s: 0.0,
            risk: 0.0,
            modelled: false,
            stale: false,
        };
        let price = self.price(&probe).clone();
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
        let unranked = unranked_because(offer, machine, &price, &input);
        let risk = (price.purchase == Purchase::Spot).then(|| self.risk(offer).0);
        let modelled = price.why.basis == Basis::Modelled;
        let stale = is_stale(offer, &price, input.today);
        let nodes: Vec<(u32, Run)> = self.runs(offer, machine, risk.as_ref())?;
        let mut last = Ok(());
        let mut added = false;
        for (nodes, run) in nodes {
            let tariff = self.tariff(offer, machine);
            let case = Case {
                workload: w,
                offer,
                machine,
                price: &price,
                purchase: price.purchase,
                nodes,
                run: &run,
                tariff,
                percentile: Percentile::P50,
                base_nodes: 0,
                base_price: None,
            };
            let screened = screen(&case);
            let candidate = Candidate {
                purchase: price.purchase,
                nodes,
                wall_s: screened.wall_s,
                risk: run.interruptions,
                modelled,
                stale,
                ..probe
            };
            let total = screened.total(w.money.currency);
            if let Err(e) = limits(w, screened.wall_s, total) {
                last = Err(e);
                continue;
            }
            added = true;
            match (unranked, total) {
                (None, Some(total)) => ranked.push(Candidate {
                    total: total.amount.to_f64(),
                    ..candidate
                }),
                (code, total) => shown.push(Shown {
                    candidate,
                    code: code.unwrap_or("no_exchange_rate"),
                    total,
                }),
            }
        }
        if added { Ok(()) } else { last }
    }

    /// Durations for each number of machines.
    pub(crate) fn runs(
        &mut self,
        offer: &Offer,
        machine: &Machine,
        risk: Option<&SpotRisk>,
    ) -> Result<Vec<(u32, Run)>, Reject> {
        let w = self.input.workload;
        let boot_s = self
            .tariff(offer, machine)
            .boot
            .as_ref()
            .map_or(0.0, |b| b.value.p50_s);
        let speaks = self.input.measured.iter().any(|m| m.offer.is_some());
        let own: Option<Result<Vec<Fit>, Reject>> = speaks.then(|| {
            // a probe that names an offer speaks for it alone, so its speed cannot come from the shared cache
            let cx = self.context(machine, Some(offer), false);
            if cx.measured.is_none() {
                return Err(Reject::NeverFinishes);
            }
            let counts: Vec<u32> = match &self.fits[offer.machine.0 as usize] {
                Some(Ok(fits)) => fits.iter().map(|f| f.nodes).collect(),
                _ => Vec::new(),
            };
            Ok(counts
                .into_iter()
                .filter_map(|nodes| {
                    predict(&w.job, &w.data, machine, nodes, cx)
                        .ok()
                        .map(|prediction| Fit { nodes, prediction })
                })
                .collect())
        });
        let shared = self.fits(offer.machine.0 as usize);
        let fits = match (&own, shared) {
            (Some(Ok(own)), _) => own,
            (_, Ok(shared)) => shared,
            (_, Err(e)) => return Err(e.clone()),
        };
        let runs: Vec<(u32, Run)> = fits
            .iter()
            .filter_map(|fit| {
                expected_run(w, &fit.prediction, fit.nodes, risk, boot_s)
                    .map(|run| (fit.nodes, run))
            })
            .collect();
        if runs.is_empty() {
            Err(Reject::NeverFinishes)
        } else {
            Ok(runs)
        }
    }

    /// Serving: the average load under a commitment, the rest on demand.
    fn mix(&mut self, index: u32, machine: &'a Machine, ranked: &mut Vec<Candidate>) {
        let input = self.input;
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
        let (peak, base) = (&offer.prices[peak_at], &offer.prices[base_at]);
        let usable = |p: &Price| {
            p.per_hour.amount > Fixed::ZERO && unranked_because(offer, machine, p, &input).is_none()
        };
        if !usable(peak) || !usable(base) {
            return;
        }
        let Ok(runs) = self.runs(offer, machine, None) else {
            return;
        };
        for (nodes, run) in runs {
            let base_nodes =
                ((f64::from(nodes) * serve.rate / serve.peak_rate).ceil() as u32).clamp(1, nodes);
            let case = Case {
                workload: w,
                offer,
                machine,
                price: peak,
                purchase: Purchase::Mix,
                nodes,
                run: &run,
                tariff: self.tariff(offer, machine),
                percentile: Percentile::P50,
                base_nodes,
                base_price: Some(base),
            };
            let screened = screen(&case);
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
                    stale: is_stale(offer, peak, input.today) || is_stale(offer, base, input.today),
                });
            }
        }
    }
}

/// The tariff of an offer's place, and what the place where the data are now charges for letting them go.
pub(crate) fn place_tariff(input: &PlanInput<'_>, offer: &Offer, machine: &Machine) -> Tariff {
    Tariff {
        source_egress: source_egress(
            input.tariffs,
            &input.workload.data.location,
            &offer.provider,
        ),
        ..resolve_tariff(input.tariffs, &offer.provider, &offer.region, machine.vcpus)
    }
}

/// Deadline and budget. A service has no deadline: it runs as long as it was asked to.
fn limits(w: &Workload, wall_s: f64, total: Option<Money>) -> Result<(), Reject> {
    if !wall_s.is_finite() {
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
            total: spent.amount.to_f64(),
            allowed: budget.amount.to_f64(),
        });
    }
    Ok(())
}

/// Machines beyond which more of them cannot help.
fn useful_nodes(job: &Job, machine: &Machine) -> u32 {
    let gpus = f64::from(machine.gpu_count.max(1));
    let wanted = match job {
        Job::Hours(hours) => f64::from(hours.gpus),
        Job::Render(render) => render.frames,
        Job::Sweep(sweep) => {
            f64::from(sweep.parallel.unwrap_or(sweep.trials).min(sweep.trials))
                * f64::from(sweep.gpus_per_trial)
        }
        Job::Train(train) => train.global_batch.unwrap_or(f64::MAX),
        Job::Serve(_) => f64::MAX,
    };
    (wanted / gpus).ceil().clamp(1.0, 65_536.0) as u32
}

/// Whether a probe's figures hold for this machine: the offer it names, else the same GPU in the same number.
fn speaks_for(
    report: &ProbeReport,
    machine: &Machine,
    offer: Option<&Offer>,
    gpus: &GpuTable,
) -> bool {
    match (&report.offer, offer) {
        (Some(named), Some(offer)) => {
            let key = offer.key();
            *named == key || *named == format!("{}/{}", offer.provider, offer.instance_type)
        }
        (Some(_), None) => false,
        (None, _) => {
            report.gpus.len() == usize::from(machine.gpu_count)
                && report
                    .gpus
                    .first()
                    .and_then(|g| gpus.resolve(&g.name))
                    .is_some_and(|gpu| {
                        gpu.model == machine.gpu.model
                            && gpu
                                .form
                                .is_none_or(|f| machine.gpu.form.is_none_or(|m| m == f))
                    })
        }
    }
}

/// Work units of the whole job.
pub(crate) fn job_units(job: &Job) -> f64 {
    match job {
        Job::Train(t) => t.units,
        Job::Sweep(s) => f64::from(s.trials),
        Job::Serve(s) => s.rate * s.output_tokens * s.duration.0,
        Job::Render(r) => r.frames,
        Job::Hours(h) => h.gpu_hours,
    }
}

/// Whether one trial of a sweep is itself a training job.
pub(crate) fn trains(job: &Job) -> bool {
    matches!(job, Job::Train(_))
        || matches!(job, Job::Sweep(s) if matches!(s.trial, Trial::Train(_)))
}
