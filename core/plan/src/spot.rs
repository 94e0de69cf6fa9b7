//! Spot options on recorded markets: which record speaks for which offer, and what its replay changes.
//!
//! The rule of matching is strict ([`SpotRecords`]): the same provider, the same region or zone, and the same machine
//! by name or the same GPU in the same number. What has no record keeps its rate of interruption, with the range
//! of that rate. Only finalists are replayed (`rank.rs`). Not here: the replay (`core/spot`), its bill (`core/cost`).

use crate::evaluate::{Candidate, Screening};
use crate::modelled::ModelledMarkets;
use crate::rules::Rules;
use lessee_cost::{Case, Percentile, Replayed, Run, Spent, screen};
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::{Job, Workload};
use lessee_model::{Basis, Catalog, Fixed, GpuTable, Machine, Money, Msg, Offer, Purchase};
use lessee_spot::forecast::{Forecast, Parts};
use lessee_spot::interval::Saving;
use lessee_spot::policy::lessee::Params;
use lessee_spot::trace::Series;
use lessee_spot::{Asked, GridError, Job as SpotJob, Market, PolicyName, job, market_of};

/// Records of availability and the beliefs of the policies.
///
/// A record speaks for an offer if it names the offer's provider, its region (or the region is that zone), and its
/// instance type, or as `GPU:COUNT` its GPU and the number of them. One that does not say all three speaks for none.
#[derive(Clone, Copy, Debug)]
pub struct SpotRecords<'a> {
    pub series: &'a [Series],
    pub policy: &'a Params,
}

/// How spot was judged, for one option.
#[derive(Clone, Debug)]
pub struct SpotAnswer {
    /// Measured: replayed on a record. Else the basis of the rate of interruption.
    pub basis: Basis,
    /// What to follow; `None`: without a record none can be recommended.
    pub policy: Option<PolicyName>,
    /// Start times replayed.
    pub starts: usize,
    /// How many deadlines the record holds one after the other.
    pub independent: f64,
    /// Share of the starts that kept the deadline.
    pub meets_deadline_share: Option<f64>,
    /// The deadline of the replay.
    pub deadline_s: Option<f64>,
    /// The workload sets none.
    pub deadline_assumed: bool,
    pub interruptions: f64,
    pub lost_s: f64,
    pub waiting_s: f64,
    pub on_demand_s: f64,
    /// Of the whole bill, at the ends of the range of the rate. `high` is `None` also where it may never finish.
    pub low: Option<Money>,
    pub high: Option<Money>,
    /// Work between two saves that loses least.
    pub save_every_s: Option<f64>,
    /// Files and zones, or who publishes the rate.
    pub source: String,
    /// Share of the replayed time that nobody measured.
    pub unknown_share: f64,
    /// Filled in by `modelled.rs`.
    pub modelled: Option<ModelledMarkets>,
    /// Why a record that speaks for the offer could not be replayed.
    pub refused: Option<Msg>,
}

/// A replay, kept for the bill.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    forecast: Forecast,
    deadline_s: f64,
    /// Machines that work on their own: figures are those of one.
    machines: f64,
    source: String,
}

impl Replay {
    /// Whether spot is clearly cheaper than on demand on the record.
    pub(crate) fn pays(&self) -> bool {
        self.forecast.recommended().policy != PolicyName::OnDemand
    }

    /// The run of the recommended policy, from the run without interruptions.
    pub(crate) fn run(&self, calm: Run) -> Run {
        let best = self.forecast.recommended();
        let spent = |p: &Parts, longer: f64| Spent {
            lost_s: p.lost * 3600.0 * longer,
            waiting_s: p.waiting * 3600.0 * longer,
            on_demand_s: p.on_demand * 3600.0 * longer,
        };
        // a slower machine needs as much more of everything
        let longer = (calm.work_p90_s / calm.work_s).max(1.0);
        Run {
            interruptions: best.mean.interruptions * self.machines,
            interruptions_p90: best.p90.interruptions * self.machines * longer,
            replayed: Some(Replayed {
                mean: spent(&best.mean, 1.0),
                p90: spent(&best.p90, longer),
            }),
            ..calm
        }
    }
}

/// Whether a record speaks for an offer.
pub(crate) fn speaks_for(
    series: &Series,
    offer: &Offer,
    machine: &Machine,
    gpus: &GpuTable,
) -> bool {
    let about = &series.about;
    let provider = about
        .provider
        .as_deref()
        .is_some_and(|p| p.eq_ignore_ascii_case(&offer.provider));
    let place = about.region.as_deref() == Some(&*offer.region) || *about.zone == *offer.region;
    let named = |name: &str| {
        name.eq_ignore_ascii_case(&offer.instance_type)
            || name.split_once(':').is_some_and(|(gpu, count)| {
                count.parse() == Ok(machine.gpu_count)
                    && machine.gpu_fraction > 0.999
                    && gpus.resolve(gpu).is_some_and(|g| {
                        g.model == machine.gpu.model
                            && same(g.form, machine.gpu.form)
                            && same(g.memory_gb, machine.gpu.memory_gb)
                    })
            })
    };
    provider && place && about.machine.as_deref().is_some_and(named)
}

/// Whether a record speaks for any offer of a catalog.
pub fn record_speaks(series: &Series, catalog: &Catalog, gpus: &GpuTable) -> bool {
    let mut offers = catalog.offers.iter();
    offers.any(|o| speaks_for(series, o, catalog.machine(o), gpus))
}

/// Nothing said is nothing against it.
fn same<T: PartialEq>(said: Option<T>, known: Option<T>) -> bool {
    match (said, known) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Replays a candidate on the records of set `set`.
///
/// # Errors
/// Why it cannot be: the reader is told.
pub(crate) fn replay(
    s: &mut Screening<'_>,
    candidate: &Candidate,
    set: &[u32],
) -> Result<Replay, Msg> {
    let input = s.input;
    let w = input.workload;
    let refuse = |id: &'static str| Msg::new(id);
    let Some(records) = input.spot else {
        return Err(refuse("spot-refused-none"));
    };
    let offer = &input.catalog.offers[candidate.offer as usize];
    let machine = input.catalog.machine(offer);
    let spot = s.price(candidate.offer, candidate.price).per_hour;
    let on_demand = offer
        .price(Purchase::OnDemand)
        .filter(|p| p.per_hour.currency == spot.currency && p.per_hour.amount > Fixed::ZERO)
        .ok_or_else(|| refuse("spot-refused-no-on-demand"))?
        .per_hour;
    let tariff = s.tariff_index(offer, machine);
    let boot_s = s.boot_s(tariff);
    let (calm, piece_s) = s
        .calm(offer, machine, candidate.nodes)
        .ok_or_else(|| refuse("spot-refused-deadline"))?;
    let gang = stops_together(&w.job);
    if matches!(w.job, Job::Serve(_)) {
        return Err(refuse("spot-refused-serve"));
    }
    let series: Vec<&Series> = set.iter().map(|i| &records.series[*i as usize]).collect();
    let markets = markets(
        &series,
        candidate.nodes,
        gang,
        spot.amount.to_f64(),
        on_demand.amount.to_f64(),
    )?;
    let gap_ms = markets.first().map_or(1, |m| m.gap_ms);
    let (job, deadline_s) = job_of(w, &input.rules, calm.work_s, piece_s, boot_s)
        .filter(|(job, _)| job.check_feasible(gap_ms).is_ok())
        .ok_or_else(|| refuse("spot-refused-deadline"))?;
    let starts = input.rules.spot_starts;
    let forecast = lessee_spot::forecast(&job, &markets, records.policy, starts)
        .map_err(|e| refused_because(&e))?;
    let mut source: Vec<&str> = series.iter().map(|s| s.about.source.as_str()).collect();
    source.dedup();
    Ok(Replay {
        forecast,
        deadline_s,
        machines: if gang {
            1.0
        } else {
            f64::from(candidate.nodes)
        },
        source: source.join(", "),
    })
}

/// The job of a workload whose fleet works so long, loses so much with one machine, and boots so long; and its
/// deadline in seconds.
pub(crate) fn job_of(
    w: &Workload,
    rules: &Rules,
    work_s: f64,
    piece_s: f64,
    boot_s: f64,
) -> Option<(SpotJob, f64)> {
    let overhead_s = boot_s + w.setup.restart.0;
    let deadline_s = match w.constraints.deadline {
        Some(d) => d.0 - w.setup.machine.0,
        None => rules.spot_slack * (work_s + overhead_s),
    };
    let [work, deadline, overhead] = [work_s, deadline_s, overhead_s].map(|s| s / 3600.0);
    let mut job = SpotJob::new(work, deadline, overhead).ok()?;
    job.saves = Some(lessee_spot::job::Saves {
        every_ms: job::hours_to_ms(piece_s.min(work_s) / 3600.0).max(1),
        // the time of a save is not counted for on-demand either
        block_ms: 0,
    });
    Some((job, deadline_s))
}

fn refused_because(why: &GridError) -> Msg {
    match why {
        GridError::TooShort {
            have, need, gap_s, ..
        } => {
            let time = |ticks: &usize| (*ticks as i64 * gap_s) as f64;
            Msg::new("spot-refused-short")
                .seconds("have", time(have))
                .seconds("need", time(need))
        }
        GridError::Gang { zone, gang, asked } => Msg::new("spot-refused-gang")
            .arg("zone", zone.clone())
            .arg("gang", *gang)
            .arg("asked", *asked),
        other => Msg::new("spot-refused-other").arg("why", other.to_string()),
    }
}

/// Levels of a fleet that are replayed one by one; more are sampled.
const LEVELS: u32 = 4;

/// The market of a gang; or for machines on their own one market for each (at most [`LEVELS`]): the k-th has work while
/// k can be had. All prices are those of one machine: the bill multiplies.
fn markets(
    series: &[&Series],
    nodes: u32,
    gang: bool,
    spot: f64,
    on_demand: f64,
) -> Result<Vec<Market>, Msg> {
    let levels: Vec<u32> = if gang {
        vec![nodes]
    } else {
        let n = nodes.min(LEVELS);
        (1..=n).map(|i| (nodes * i).div_ceil(n)).collect()
    };
    let one = |machines: u32| {
        let share = f64::from(machines.max(1));
        let asked = Asked {
            gang: machines,
            spot_price: Some(spot / share),
            on_demand_price: Some(on_demand / share),
        };
        market_of(series, &[], asked)
            .map(|grid| grid.market)
            .map_err(|e| refused_because(&e))
    };
    levels.into_iter().map(one).collect()
}

/// What the reader is told of a replayed option.
pub(crate) fn answer_of_replay(
    replay: &Replay,
    w: &Workload,
    machine: &Machine,
    save_gb_s: f64,
    nodes: u32,
) -> SpotAnswer {
    let best = replay.forecast.recommended();
    // of the gang, or of one machine where each works on its own
    let between_s = replay.forecast.hours_between_losses().map(|h| h * 3600.0);
    SpotAnswer {
        basis: Basis::Measured,
        policy: Some(best.policy),
        starts: replay.forecast.starts,
        independent: replay.forecast.independent,
        meets_deadline_share: Some(best.on_time),
        deadline_s: Some(replay.deadline_s),
        deadline_assumed: w.constraints.deadline.is_none(),
        interruptions: best.mean.interruptions * replay.machines,
        lost_s: best.mean.lost * 3600.0,
        waiting_s: best.mean.waiting * 3600.0,
        on_demand_s: best.mean.on_demand * 3600.0,
        low: None,
        high: None,
        save_every_s: between_s.and_then(|m| save_interval(w, machine, nodes, m, save_gb_s)),
        source: replay.source.clone(),
        unknown_share: replay.forecast.unknown,
        modelled: None,
        refused: None,
    }
}

/// What the reader is told of an option without a replay: the range of its rate, as a range of the bill. `case` with
/// another run gives the bill's total by the code that ranks.
pub(crate) fn answer_of_rate(
    case: &Case<'_>,
    risk: &SpotRisk,
    assumed: bool,
    runs: [Option<Run>; 2],
    save_gb_s: f64,
    refused: Option<Msg>,
) -> SpotAnswer {
    let w = case.workload;
    let total = |run: Option<Run>| {
        let run = run?;
        let case = Case {
            run: &run,
            percentile: Percentile::P50,
            ..*case
        };
        screen(&case).total(w.money.currency)
    };
    let [low, high] = runs.map(total);
    let nodes = case.nodes;
    let per_hour = risk.hazard_per_hour * f64::from(if stops_together(&w.job) { nodes } else { 1 });
    SpotAnswer {
        basis: if assumed {
            Basis::Assumed
        } else {
            Basis::Modelled
        },
        policy: None,
        starts: 0,
        independent: 0.0,
        meets_deadline_share: None,
        deadline_s: None,
        deadline_assumed: false,
        interruptions: case.run.interruptions,
        lost_s: case.run.interruptions * case.run.lost_s,
        waiting_s: 0.0,
        on_demand_s: 0.0,
        low,
        high,
        save_every_s: (per_hour > 0.0)
            .then(|| save_interval(w, case.machine, nodes, 3600.0 / per_hour, save_gb_s))
            .flatten(),
        source: if assumed {
            "spot.hazard_per_hour".to_owned()
        } else {
            format!("{} spot advisor", case.offer.provider)
        },
        unknown_share: 0.0,
        modelled: None,
        refused,
    }
}

/// Whether all machines stop when one is lost: training does; trials and frames are lost one by one.
pub(crate) fn stops_together(job: &Job) -> bool {
    matches!(job, Job::Train(_) | Job::Hours(_))
}

/// Work between two saves for losses every `between_s` seconds; `None` for work that saves nothing. The machines
/// share the checkpoint and write it at the least of their network and `gb_s` each.
fn save_interval(
    w: &Workload,
    machine: &Machine,
    nodes: u32,
    between_s: f64,
    gb_s: f64,
) -> Option<f64> {
    let size_gb = w.checkpoint.as_ref()?.size.0 / 1e9;
    let each = machine
        .network_gbps
        .map_or(gb_s, |gbit| gb_s.min(f64::from(gbit) / 8.0));
    let writers = if stops_together(&w.job) {
        f64::from(nodes.max(1))
    } else {
        1.0
    };
    let save_s = size_gb / (each * writers);
    let interval_h = Saving::blocking(save_s / 3600.0).interval_h(between_s / 3600.0);
    // a checkpoint of nothing needs no interval; figures that are none give none
    (size_gb > 0.0).then_some(interval_h.ok()? * 3600.0)
}
