//! Screening: every offer x number of machines x way to pay becomes a duration and a total, or a reason
//! why not. Speed is predicted once per machine and number of nodes, tariffs are picked once per place;
//! what remains per candidate is the arithmetic of one bill.

use crate::derived::{Derived, derive};
use crate::feasible::{Reject, Wanted, machine_ok};
use crate::measured;
use crate::outlier::SpotMedians;
use crate::rules::Rules;
use crate::spot::{Replay, SpotRecords};
use jiff::civil::Date;
use lessee_cost::{
    Run, calendar, expected_run, piece_seconds, resolve_tariff, source_egress, spot_risk,
};
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::{Job, Trial, Workload};
use lessee_model::{
    AsOf, Catalog, GpuTable, Machine, Money, Msg, Offer, Prediction, Price, ProbeReport, Purchase,
    Tariff, TariffBook,
};
use lessee_perf::{PerfContext, PerfTables, predict};
use std::collections::{HashMap, HashSet};
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
    /// Records of spot markets; where one speaks for an offer it is replayed.
    pub spot: Option<SpotRecords<'a>>,
    /// Decides which prices are stale.
    pub today: Date,
    pub rules: Rules,
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
    /// Older than its market allows.
    pub stale: bool,
    /// Days since the price was read; 0 where nothing dates it.
    pub age_days: f64,
    /// Set of records that speak for it.
    pub records: Option<u32>,
    /// What came of replaying it.
    pub replay: Option<u32>,
}

/// Shown, not ranked.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub candidate: Candidate,
    pub code: &'static str,
    /// One sum per currency.
    pub totals: Vec<Money>,
}

impl Shown {
    /// The total, if all of it is in this currency.
    pub(crate) fn total(&self, currency: lessee_model::Currency) -> Option<Money> {
        match self.totals.as_slice() {
            [one] if one.currency == currency => Some(*one),
            _ => None,
        }
    }
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
    pub(crate) wanted: Wanted,
    fits: Vec<Option<Result<Vec<Fit>, Reject>>>,
    /// Different tariffs; places with the same rules share one.
    tariffs: Vec<Tariff>,
    tariff_at: HashMap<(Arc<str>, Arc<str>, u32), u32>,
    tariff_texts: HashMap<String, u32>,
    /// Providers with published interruption figures.
    advised: HashSet<Arc<str>>,
    /// By offer; true = assumed, because nobody publishes it.
    risks: HashMap<OfferName, (SpotRisk, bool)>,
    derived: Derived,
    ages: Vec<(AsOf, i32)>,
    pub(crate) spot_medians: SpotMedians,
    /// Different sets of records that speak for an offer together, by index.
    pub(crate) record_sets: Vec<Vec<u32>>,
    record_set_of: HashMap<OfferName, Option<u32>>,
    pub(crate) replays: Vec<Result<Replay, Msg>>,
}

impl<'a> Screening<'a> {
    pub(crate) fn new(input: PlanInput<'a>) -> Screening<'a> {
        Screening {
            input,
            wanted: Wanted::new(&input),
            fits: (0..input.catalog.machines.len()).map(|_| None).collect(),
            tariffs: Vec::new(),
            tariff_at: HashMap::new(),
            tariff_texts: HashMap::new(),
            risks: HashMap::new(),
            advised: input
                .tariffs
                .advisor
                .iter()
                .map(|row| row.provider.clone())
                .collect(),
            derived: derive(input.catalog, input.tariffs),
            ages: Vec::new(),
            spot_medians: SpotMedians::default(),
            record_sets: Vec::new(),
            record_set_of: HashMap::new(),
            replays: Vec::new(),
        }
    }

    pub(crate) fn price(&self, offer: u32, at: PriceAt) -> &Price {
        match at {
            PriceAt::Own(i) => &self.input.catalog.offers[offer as usize].prices[i as usize],
            PriceAt::Extra(i) => &self.derived.prices[i as usize],
        }
    }

    /// All prices of an offer, own ones first.
    pub(crate) fn prices(&self, offer: u32) -> Vec<PriceAt> {
        let own = self.input.catalog.offers[offer as usize].prices.len() as u32;
        let extra = self
            .derived
            .of_offer
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
            .find(|report| measured::speaks_for(report, machine, offer, self.input.gpus));
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
                .and_then(|()| self.predict_nodes(machine, self.context(machine, None, false)));
            self.fits[machine_index] = Some(result);
        }
        // just filled
        self.fits[machine_index]
            .as_ref()
            .unwrap_or(&Err(Reject::NeverFinishes))
    }

    /// Predictions for each number of machines worth considering.
    fn predict_nodes(&self, machine: &Machine, cx: PerfContext<'_>) -> Result<Vec<Fit>, Reject> {
        let w = self.input.workload;
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

    /// Index of the tariff of an offer's place.
    pub(crate) fn tariff_index(&mut self, offer: &Offer, machine: &Machine) -> u32 {
        // sizes matter to billing minima only below five cores
        let size = machine.vcpus.map_or(9, |v| v.clamp(0.0, 8.0).ceil() as u32);
        let key = (offer.provider.clone(), offer.region.clone(), size);
        if let Some(index) = self.tariff_at.get(&key) {
            return *index;
        }
        let tariff = place_tariff(&self.input, offer, machine);
        let next = self.tariffs.len() as u32;
        let index = *self
            .tariff_texts
            .entry(format!("{tariff:?}"))
            .or_insert(next);
        if index == next {
            self.tariffs.push(tariff);
        }
        self.tariff_at.insert(key, index);
        index
    }

    pub(crate) fn tariff(&self, index: u32) -> &Tariff {
        &self.tariffs[index as usize]
    }

    /// Days since the latest day that a date can mean. Few dates occur, so they are remembered.
    pub(crate) fn age_days(&mut self, date: AsOf) -> i32 {
        if let Some((_, age)) = self.ages.iter().find(|(d, _)| *d == date) {
            return *age;
        }
        let age = AsOf::from_date(date.latest()).age_days(self.input.today);
        self.ages.push((date, age));
        age
    }

    /// Interruption rate of a spot offer, and whether it is a mere assumption.
    pub(crate) fn risk(&mut self, offer: &Offer) -> (SpotRisk, bool) {
        if !self.advised.contains(&offer.provider) {
            return (self.input.rules.spot_fallback, true);
        }
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

    /// The records that speak for an offer, if there are any.
    pub(crate) fn records(&mut self, offer: &Offer, machine: &Machine) -> Option<u32> {
        let records = self.input.spot.filter(|r| !r.series.is_empty())?;
        let key = (
            offer.provider.clone(),
            offer.region.clone(),
            offer.instance_type.clone(),
        );
        if let Some(known) = self.record_set_of.get(&key) {
            return *known;
        }
        let gpus = self.input.gpus;
        let set = crate::records::speaking(&records, offer, machine, gpus);
        let found = (!set.is_empty()).then(|| {
            let index = self.record_sets.iter().position(|s| *s == set);
            index.unwrap_or_else(|| {
                self.record_sets.push(set);
                self.record_sets.len() - 1
            }) as u32
        });
        self.record_set_of.insert(key, found);
        found
    }

    /// False where a replay found that spot is not clearly cheaper than on demand.
    pub(crate) fn pays(&self, candidate: &Candidate) -> bool {
        let replay = candidate.replay.and_then(|i| self.replays.get(i as usize));
        !matches!(replay, Some(Ok(replay)) if !replay.pays())
    }

    /// Time until a machine is up, in the middle.
    pub(crate) fn boot_s(&self, tariff: u32) -> f64 {
        let boot = self.tariff(tariff).boot.as_ref();
        boot.map_or(0.0, |b| b.value.p50_s)
    }

    /// The run without interruptions, and the work that one interruption can lose.
    pub(crate) fn calm(
        &mut self,
        offer: &Offer,
        machine: &Machine,
        nodes: u32,
    ) -> Option<(Run, f64)> {
        let w = self.input.workload;
        let runs = self.each_fit(offer, machine, |fit| {
            let run = expected_run(w, &fit.prediction, fit.nodes, None, 0.0)?;
            let piece_s = piece_seconds(w, &fit.prediction, fit.nodes, run.work_s);
            (fit.nodes == nodes).then_some((run, piece_s))
        });
        runs.ok()?.into_iter().next()
    }

    /// Durations for each number of machines.
    pub(crate) fn runs(
        &mut self,
        offer: &Offer,
        machine: &Machine,
        tariff: u32,
        risk: Option<&SpotRisk>,
    ) -> Result<Vec<(u32, Run)>, Reject> {
        let w = self.input.workload;
        let boot_s = self.boot_s(tariff);
        self.each_fit(offer, machine, |fit| {
            expected_run(w, &fit.prediction, fit.nodes, risk, boot_s).map(|run| (fit.nodes, run))
        })
    }

    /// What `of` makes of each number of machines; an error where it makes nothing of any.
    fn each_fit<T>(
        &mut self,
        offer: &Offer,
        machine: &Machine,
        of: impl FnMut(&Fit) -> Option<T>,
    ) -> Result<Vec<T>, Reject> {
        let speaks = self.input.measured.iter().any(|m| m.offer.is_some());
        // a probe that names an offer speaks for it alone, so its speed cannot come from the shared cache
        let own = if speaks {
            let cx = self.context(machine, Some(offer), false);
            cx.measured
                .map(|_| self.predict_nodes(machine, cx))
                .transpose()?
        } else {
            None
        };
        let fits = match &own {
            Some(own) => own,
            None => match self.fits(offer.machine.0 as usize) {
                Ok(shared) => shared,
                Err(e) => return Err(e.clone()),
            },
        };
        let runs: Vec<T> = fits.iter().filter_map(of).collect();
        if runs.is_empty() {
            Err(Reject::NeverFinishes)
        } else {
            Ok(runs)
        }
    }
}

/// The tariff of an offer's place, and what the place where the data are now charges for letting them go.
pub(crate) fn place_tariff(input: &PlanInput<'_>, offer: &Offer, machine: &Machine) -> Tariff {
    let start = input.workload.start;
    Tariff {
        source_egress: source_egress(
            input.tariffs,
            &input.workload.data.location,
            &offer.provider,
        ),
        calendar: start
            .and_then(|start| calendar(input.tariffs, &offer.provider, start))
            .map(Arc::new),
        ..resolve_tariff(input.tariffs, &offer.provider, &offer.region, machine.vcpus)
    }
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

/// Whether one trial of a sweep is itself a training job.
pub(crate) fn trains(job: &Job) -> bool {
    matches!(job, Job::Train(_))
        || matches!(job, Job::Sweep(s) if matches!(s.trial, Trial::Train(_)))
}
