//! Spot options on recorded markets: what their replay changes.
//!
//! Which record speaks for which offer is in `records.rs`. What has no record keeps its rate of interruption, with the range
//! of that rate. Only finalists are replayed (`rank.rs`). Not here: the replay (`core/spot`), its bill (`core/cost`).

use crate::evaluate::{Candidate, Screening};
use crate::modelled::ModelledMarkets;
use crate::refused::{because, said};
use crate::rules::Rules;
use crate::saving::{SaveAdvice, SaveTerms, advice};
use lessee_cost::{Case, Percentile, Replayed, Run, Spent, screen};
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::{Job, Workload};
use lessee_model::{Basis, Fixed, Machine, Money, Msg, Purchase};
use lessee_spot::fleet::{self, FleetForecast, Rates, capacity_of};
use lessee_spot::forecast::{Forecast, Parts};
use lessee_spot::policy::lessee::Params;
use lessee_spot::trace::Series;
use lessee_spot::{
    Asked, Grid, Job as SpotJob, JobError, Market, Note, PolicyName, Several, job, market_of,
};

/// Records of availability and the beliefs of the policies.
///
/// A record speaks for an offer if it names the offer's provider, its region (or the region is that zone), and its
/// instance type, or as `GPU:COUNT` its GPU and the number of them. One that does not say all three speaks for none.
#[derive(Clone, Copy, Debug)]
pub struct SpotRecords<'a> {
    pub series: &'a [Series],
    /// So many of the first were asked for. Where one of them speaks for an offer, the others do not.
    pub given: usize,
    pub policy: &'a Params,
}

/// Name of what a service follows ([`lessee_spot::fleet::SpotHedge`]).
const SPOT_HEDGE: &str = "spot-hedge";

/// How spot was judged, for one option.
#[derive(Clone, Debug)]
pub struct SpotAnswer {
    /// Measured: replayed on a record. Else the basis of the rate of interruption.
    pub basis: Basis,
    /// What to follow; `None`: without a record none can be recommended.
    pub policy: Option<&'static str>,
    /// Start times replayed; of a service the parts of the record that were looked at.
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
    /// How often to save; `None`: the work saves nothing, or is never interrupted.
    pub saves: Option<SaveAdvice>,
    /// Files and zones, or who publishes the rate.
    pub source: String,
    /// Share of the replayed time that nobody measured.
    pub unknown_share: f64,
    /// Filled in by `modelled.rs`.
    pub modelled: Option<ModelledMarkets>,
    /// Of a service: how many replicas are kept where.
    pub hedge: Option<Hedge>,
    /// Why a record that speaks for the offer could not be replayed.
    pub refused: Option<Msg>,
    /// What has to be known of the records.
    pub notes: Vec<Msg>,
}

/// Machines of a service that runs on spot with on-demand behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hedge {
    /// Needed for the peak.
    pub target: u32,
    /// Spot machines beyond them.
    pub spare: u32,
    /// On demand all the time.
    pub floor: u32,
    /// Paid for on average.
    pub spot_mean: f64,
    pub on_demand_mean: f64,
    /// Share of the time in which all that are needed answered.
    pub ready_share: f64,
    /// Hours of the record, and the parts it was cut into.
    pub record_hours: f64,
}

/// A replay, kept for the bill.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    found: Found,
    source: String,
    /// What has to be known of the records.
    notes: Vec<Msg>,
}

/// What was replayed.
#[derive(Clone, Debug)]
enum Found {
    /// Work that ends.
    Job {
        forecast: Forecast,
        deadline_s: f64,
        /// Machines that work on their own: figures are those of one.
        machines: f64,
    },
    /// A service: replicas that answer.
    Service {
        forecast: FleetForecast,
        machines: f64,
    },
}

impl Replay {
    /// Whether spot is clearly cheaper than on demand on the record.
    pub(crate) fn pays(&self) -> bool {
        match &self.found {
            Found::Job { forecast, .. } => forecast.recommended().policy != PolicyName::OnDemand,
            Found::Service { forecast, .. } => forecast.pays,
        }
    }

    /// The run of what is recommended, from the run without interruptions.
    pub(crate) fn run(&self, calm: Run) -> Run {
        match &self.found {
            Found::Job {
                forecast, machines, ..
            } => run_of_job(forecast, *machines, calm),
            Found::Service { forecast, machines } => run_of_service(forecast, *machines, calm),
        }
    }
}

fn run_of_job(forecast: &Forecast, machines: f64, calm: Run) -> Run {
    let best = forecast.recommended();
    let spent = |p: &Parts, longer: f64| Spent {
        lost_s: p.lost * 3600.0 * longer,
        waiting_s: p.waiting * 3600.0 * longer,
        on_demand_s: p.on_demand * 3600.0 * longer,
    };
    // a slower machine needs as much more of everything
    let longer = (calm.work_p90_s / calm.work_s).max(1.0);
    Run {
        interruptions: best.mean.interruptions * machines,
        interruptions_p90: best.p90.interruptions * machines * longer,
        replayed: Some(Replayed {
            mean: spent(&best.mean, 1.0),
            p90: spent(&best.p90, longer),
        }),
        ..calm
    }
}

/// A service's replicas beyond those that are needed, and those that start, are paid without more work being done: for the
/// bill they are time lost. Where spot was away and fewer ran than needed, the bill still has all of them.
fn run_of_service(forecast: &FleetForecast, machines: f64, calm: Run) -> Run {
    let spent = |rates: &Rates, work_s: f64| Spent {
        lost_s: ((rates.spot + rates.on_demand) / machines - 1.0).max(0.0) * work_s,
        waiting_s: 0.0,
        on_demand_s: rates.on_demand / machines * work_s,
    };
    let (mean, p90) = (&forecast.mean, &forecast.p90);
    Run {
        interruptions: mean.lost_per_h * calm.work_s / 3600.0,
        interruptions_p90: p90.lost_per_h * calm.work_p90_s / 3600.0,
        replayed: Some(Replayed {
            mean: spent(mean, calm.work_s),
            p90: spent(p90, calm.work_p90_s),
        }),
        ..calm
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
    let series: Vec<&Series> = set.iter().map(|i| &records.series[*i as usize]).collect();
    let mut source: Vec<&str> = series.iter().map(|s| s.about.source.as_str()).collect();
    source.sort_unstable();
    source.dedup();
    let source = source.join(", ");
    let machines = f64::from(candidate.nodes);
    if matches!(w.job, Job::Serve(_)) {
        let most = candidate.nodes.saturating_add(input.rules.spot_serve_spare);
        let (capacity, notes) =
            capacity_of(&series, most).map_err(|e| because(&e, candidate.nodes))?;
        let cold_start_ms = job::hours_to_ms((boot_s + w.setup.restart.0) / 3600.0);
        let forecast = fleet::forecast(
            &capacity,
            candidate.nodes,
            cold_start_ms,
            input.rules.spot_serve_spare,
            input.rules.spot_serve_ready,
            [spot.amount.to_f64(), on_demand.amount.to_f64()],
        )
        .ok_or_else(|| refuse("spot-refused-brief"))?;
        let found = Found::Service { forecast, machines };
        let notes = said(&notes);
        return Ok(Replay {
            found,
            source,
            notes,
        });
    }
    let (markets, notes) = markets(
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
    let forecast = lessee_spot::forecast(&job, &markets, Several::Levels, records.policy, starts)
        .map_err(|e| because(&e, candidate.nodes))?;
    let found = Found::Job {
        forecast,
        deadline_s,
        machines: if gang { 1.0 } else { machines },
    };
    let notes = said(&notes);
    Ok(Replay {
        found,
        source,
        notes,
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
    let job = spot_job(work_s, piece_s, overhead_s, deadline_s).ok()?;
    Some((job, deadline_s))
}

/// A fleet's work as a job for replays, in seconds: its work, the work that one loss takes with it at most, what each start
/// costs, and the deadline. Set-up is done once, before it begins.
///
/// # Errors
/// A figure is out of range.
pub fn spot_job(
    work_s: f64,
    piece_s: f64,
    start_s: f64,
    deadline_s: f64,
) -> Result<SpotJob, JobError> {
    let [work, deadline, overhead] = [work_s, deadline_s, start_s].map(|s| s / 3600.0);
    let mut job = SpotJob::new(work, deadline, overhead)?;
    job.saves = Some(lessee_spot::job::Saves {
        every_ms: job::hours_to_ms(piece_s.min(work_s) / 3600.0).max(1),
        // the time of a save is not counted for on-demand either
        block_ms: 0,
    });
    Ok(job)
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
) -> Result<(Vec<Market>, Vec<Note>), Msg> {
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
        market_of(series, &[], asked).map_err(|e| because(&e, nodes))
    };
    let grids: Vec<Grid> = levels.into_iter().map(one).collect::<Result<_, _>>()?;
    // the same records on each level
    let notes = grids.first().map(|g| g.notes.clone()).unwrap_or_default();
    Ok((grids.into_iter().map(|g| g.market).collect(), notes))
}

fn nothing_known(basis: Basis, source: String) -> SpotAnswer {
    SpotAnswer {
        basis,
        policy: None,
        starts: 0,
        independent: 0.0,
        meets_deadline_share: None,
        deadline_s: None,
        deadline_assumed: false,
        interruptions: 0.0,
        lost_s: 0.0,
        waiting_s: 0.0,
        on_demand_s: 0.0,
        low: None,
        high: None,
        saves: None,
        source,
        unknown_share: 0.0,
        modelled: None,
        hedge: None,
        refused: None,
        notes: Vec::new(),
    }
}

/// What the reader is told of a replayed option. `work_s` is its time of useful work.
pub(crate) fn answer_of_replay(
    replay: &Replay,
    w: &Workload,
    machine: &Machine,
    terms: SaveTerms,
    nodes: u32,
    work_s: f64,
) -> SpotAnswer {
    let answer = SpotAnswer {
        notes: replay.notes.clone(),
        ..nothing_known(Basis::Measured, replay.source.clone())
    };
    let (forecast, deadline_s, machines) = match &replay.found {
        Found::Job {
            forecast,
            deadline_s,
            machines,
        } => (forecast, *deadline_s, *machines),
        Found::Service { forecast, machines } => {
            return answer_of_service(answer, forecast, *machines, work_s);
        }
    };
    let best = forecast.recommended();
    // of the gang, or of one machine where each works on its own
    let between_s = forecast.hours_between_losses().map(|h| h * 3600.0);
    SpotAnswer {
        policy: Some(best.policy.as_str()),
        starts: forecast.starts,
        independent: forecast.independent,
        meets_deadline_share: Some(best.on_time),
        deadline_s: Some(deadline_s),
        deadline_assumed: w.constraints.deadline.is_none(),
        interruptions: best.mean.interruptions * machines,
        lost_s: best.mean.lost * 3600.0,
        waiting_s: best.mean.waiting * 3600.0,
        on_demand_s: best.mean.on_demand * 3600.0,
        saves: between_s.and_then(|m| advice(w, machine, nodes, m, terms)),
        unknown_share: forecast.unknown,
        ..answer
    }
}

fn answer_of_service(
    answer: SpotAnswer,
    forecast: &FleetForecast,
    machines: f64,
    work_s: f64,
) -> SpotAnswer {
    let (fleet, mean) = (forecast.fleet, forecast.mean);
    SpotAnswer {
        policy: Some(SPOT_HEDGE),
        starts: forecast.parts,
        independent: forecast.parts as f64,
        interruptions: mean.lost_per_h * work_s / 3600.0,
        on_demand_s: mean.on_demand / machines * work_s,
        unknown_share: forecast.unknown,
        hedge: Some(Hedge {
            target: fleet.target,
            spare: fleet.spare,
            floor: fleet.floor,
            spot_mean: mean.spot,
            on_demand_mean: mean.on_demand,
            ready_share: mean.ready,
            record_hours: forecast.hours,
        }),
        ..answer
    }
}

/// What the reader is told of an option without a replay: the range of its rate, as a range of the bill. `case` with
/// another run gives the bill's total by the code that ranks.
pub(crate) fn answer_of_rate(
    case: &Case<'_>,
    risk: &SpotRisk,
    assumed: bool,
    runs: [Option<Run>; 2],
    terms: SaveTerms,
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
    let (basis, source) = if assumed {
        (Basis::Assumed, "spot.hazard_per_hour".to_owned())
    } else {
        let source = format!("{} spot advisor", case.offer.provider);
        (Basis::Modelled, source)
    };
    SpotAnswer {
        interruptions: case.run.interruptions,
        lost_s: case.run.interruptions * case.run.lost_s,
        low,
        high,
        saves: (per_hour > 0.0)
            .then(|| advice(w, case.machine, nodes, 3600.0 / per_hour, terms))
            .flatten(),
        refused,
        ..nothing_known(basis, source)
    }
}

/// Whether all machines stop when one is lost: training does; trials and frames are lost one by one.
pub(crate) fn stops_together(job: &Job) -> bool {
    matches!(job, Job::Train(_) | Job::Hours(_))
}
