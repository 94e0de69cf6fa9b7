//! The JSON document of `simulate`.

use super::timeline::{TimelineDoc, timeline_doc};
use crate::Texts;
use crate::chart::rfc3339;
use crate::figures::{mean, quantile};
use lessee_model::{Currency, Fixed, Money, Msg};
use lessee_spot::{Grid, Job, Note, Outcome, PolicyName, replay::Step};
use schemars::JsonSchema;
use serde::Serialize;

const HOUR_MS: f64 = 3_600_000.0;

/// `simulate -o json`; with `-o jsonl` each line is one of `jobs`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SimulationDoc {
    /// `lessee/simulate/v1`
    pub schema: String,
    pub job: JobDoc,
    pub markets: Vec<MarketDoc>,
    /// One entry a policy, over all jobs.
    pub policies: Vec<PolicyDoc>,
    /// One entry a market, start and policy.
    pub jobs: Vec<ReplayDoc>,
    /// What has to be known before a figure is trusted.
    pub notes: Vec<NoteDoc>,
    /// One job tick by tick; null without `--explain`.
    pub timeline: Option<TimelineDoc>,
}

/// What was replayed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobDoc {
    /// Useful work.
    pub work_hours: f64,
    /// From the start until it must be done.
    pub deadline_hours: f64,
    /// What each start costs before useful work goes on.
    pub overhead_hours: f64,
    /// Work between two saves: up to this a loss takes with it; null: nothing is lost but the overhead.
    pub save_every_hours: Option<f64>,
    /// Time for which a save stops work.
    pub save_seconds: f64,
    /// GB (10^9 bytes) moved when it goes to another region.
    pub checkpoint_gb: f64,
    /// Price of moving one GB to another region.
    pub transfer_price_per_gb: Money,
    /// Time for moving one GB to another region, before work goes on there.
    pub transfer_seconds_per_gb: f64,
    /// Each machine is billed in whole multiples of it, from its start to its end; null: by ticks.
    pub billing_seconds: Option<f64>,
    /// Machines at once.
    pub gang: u32,
}

/// A market on its ticks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MarketDoc {
    /// As `trace` of the jobs on it.
    pub trace: String,
    pub zones: Vec<ZoneDoc>,
    pub tick_seconds: f64,
    pub ticks: u64,
    /// RFC 3339, UTC, of tick 0; null: the record names no date.
    pub start: Option<String>,
    pub starts: u64,
    /// Ticks from start to start; null: they were given.
    pub stride: Option<u64>,
}

/// One zone of a market.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ZoneDoc {
    pub zone: String,
    /// Zones of one region exchange checkpoints free of charge.
    pub region: String,
    /// Share of ticks in which all machines could be had, of those that were measured.
    pub available_share: Option<f64>,
    /// Ticks that nobody measured; a replay counts them as not available.
    pub unknown_ticks: u64,
    /// Of all machines and one hour, on average over time.
    pub spot_price: Money,
    /// Of all machines and one hour.
    pub on_demand_price: Money,
}

/// One policy over all jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicyDoc {
    pub policy: String,
    pub jobs: u64,
    pub cost_median: Money,
    pub cost_mean: Money,
    pub cost_p5: Money,
    pub cost_p95: Money,
    /// Share of the cost of on-demand alone that is saved, over all jobs; negative: it costs more.
    pub saving: f64,
    /// Jobs that ended after the deadline.
    pub late: u64,
    /// Means of a job.
    pub interruptions_mean: f64,
    pub wasted_hours_mean: f64,
    pub moves_mean: f64,
    pub spot_hours_mean: f64,
    pub on_demand_hours_mean: f64,
    /// From the start until the work was done.
    pub finish_hours_mean: f64,
}

/// One job under one policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReplayDoc {
    pub policy: String,
    pub trace: String,
    /// Tick of the record at which it started, counted from 0.
    pub start_tick: u64,
    /// Sum of its parts; not rounded.
    pub cost: Money,
    pub cost_parts: CostPartsDoc,
    /// Billed time.
    pub on_demand_hours: f64,
    /// Billed time.
    pub spot_hours: f64,
    /// Billed time without progress that lasted; part of the spot and on-demand hours.
    pub wasted_hours: f64,
    /// Times that spot was taken away.
    pub interruptions: u32,
    /// Starts in another zone than the one before.
    pub moves: u32,
    /// From the start until the work was done.
    pub finish_hours: f64,
    /// Ended after the deadline.
    pub late: bool,
    /// Time of the run that nobody measured in at least one zone; counted as not available.
    pub unknown_hours: f64,
}

/// What a job was paid for; not rounded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CostPartsDoc {
    pub spot: Money,
    pub on_demand: Money,
    /// Checkpoints moved to another region.
    pub transfer: Money,
    /// Probes of zones.
    pub probes: Money,
}

/// Something that has to be known before a figure is trusted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NoteDoc {
    /// `starts_chosen`, `window_touches_hole`, `holes`, `identical_zones`, `spot_at_or_above_on_demand`, ...
    pub code: String,
    /// Empty: of all.
    pub trace: String,
    /// Empty: of all.
    pub zone: String,
    pub text: String,
}

/// A market and the ticks at which its jobs start.
#[derive(Clone, Debug)]
pub struct SimulatedMarket {
    pub trace: String,
    pub grid: Grid,
    pub starts: Vec<usize>,
    /// Ticks from start to start where none were asked for.
    pub stride: Option<usize>,
}

/// One start on one market under every policy.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Which of the markets.
    pub market: usize,
    pub start: usize,
    /// USD of on-demand alone, against which savings are measured.
    pub on_demand_cost: f64,
    /// In the order of [`Simulation::policies`].
    pub outcomes: Vec<Outcome>,
}

/// All that the answer is made of.
pub struct Simulation<'a> {
    pub job: &'a Job,
    pub gang: u32,
    pub transfer_usd_per_gb: f64,
    pub transfer_seconds_per_gb: f64,
    pub markets: &'a [SimulatedMarket],
    pub policies: &'a [PolicyName],
    pub replays: &'a [Replayed],
    pub notes: Vec<NoteDoc>,
    /// Policy, start on the first market, outcome and every tick.
    pub timeline: Option<(PolicyName, usize, Outcome, Vec<Step>)>,
}

/// USD, exact to the twelfth decimal.
pub(super) fn usd(x: f64) -> Money {
    Money::new(Fixed::from_f64(x).unwrap_or(Fixed::MAX), Currency::USD)
}

/// Replays as a document.
pub fn simulation_doc(s: Simulation<'_>) -> SimulationDoc {
    let jobs = s
        .replays
        .iter()
        .flat_map(|r| {
            let rows = s.policies.iter().zip(&r.outcomes);
            rows.map(|(policy, outcome)| {
                replay_doc(*policy, &s.markets[r.market], r.start, outcome)
            })
        })
        .collect();
    let policies = s.policies.iter().enumerate();
    let policies = policies.map(|(i, p)| policy_doc(*p, i, &s)).collect();
    let timeline = s.timeline.and_then(|(policy, start, outcome, steps)| {
        let market = s.markets.first()?;
        Some(timeline_doc(policy, market, start, &outcome, &steps))
    });
    SimulationDoc {
        schema: "lessee/simulate/v1".to_owned(),
        job: JobDoc {
            work_hours: s.job.work_ms as f64 / HOUR_MS,
            deadline_hours: s.job.deadline_ms as f64 / HOUR_MS,
            overhead_hours: s.job.overhead_ms as f64 / HOUR_MS,
            save_every_hours: s.job.saves.map(|s| s.every_ms as f64 / HOUR_MS),
            save_seconds: s.job.saves.map_or(0.0, |s| s.block_ms as f64 / 1000.0),
            checkpoint_gb: s.job.checkpoint_gb,
            transfer_price_per_gb: usd(s.transfer_usd_per_gb),
            transfer_seconds_per_gb: s.transfer_seconds_per_gb,
            billing_seconds: (s.job.billing_ms > 0).then(|| s.job.billing_ms as f64 / 1000.0),
            gang: s.gang,
        },
        markets: s.markets.iter().map(market_doc).collect(),
        policies,
        jobs,
        notes: s.notes,
        timeline,
    }
}

fn market_doc(m: &SimulatedMarket) -> MarketDoc {
    let market = &m.grid.market;
    let ticks = market.ticks();
    let zone = |z: &lessee_spot::Zone| {
        let cells = &z.cells[..ticks];
        let count = |cell| cells.iter().filter(|c| **c == cell).count();
        let (up, unknown) = (
            count(lessee_spot::Cell::Up),
            count(lessee_spot::Cell::Unknown),
        );
        let prices: Vec<f64> = z.spot[..ticks]
            .iter()
            .copied()
            .filter(|p| p.is_finite())
            .collect();
        ZoneDoc {
            zone: z.name.clone(),
            region: z.region.clone(),
            available_share: (ticks > unknown).then(|| up as f64 / (ticks - unknown) as f64),
            unknown_ticks: unknown as u64,
            spot_price: usd(mean(&prices)),
            on_demand_price: usd(z.on_demand),
        }
    };
    MarketDoc {
        trace: m.trace.clone(),
        zones: market.zones.iter().map(zone).collect(),
        tick_seconds: market.gap_ms as f64 / 1000.0,
        ticks: ticks as u64,
        start: m.grid.start.map(rfc3339),
        starts: m.starts.len() as u64,
        stride: m.stride.map(|s| s as u64),
    }
}

fn replay_doc(policy: PolicyName, m: &SimulatedMarket, start: usize, o: &Outcome) -> ReplayDoc {
    let tick_h = m.grid.market.gap_ms as f64 / HOUR_MS;
    ReplayDoc {
        policy: policy.as_str().to_owned(),
        trace: m.trace.clone(),
        start_tick: start as u64,
        cost: usd(o.cost),
        cost_parts: CostPartsDoc {
            spot: usd(o.spot_cost),
            on_demand: usd(o.on_demand_cost),
            transfer: usd(o.transfer_cost),
            probes: usd(o.probe_cost),
        },
        on_demand_hours: o.on_demand_ticks as f64 * tick_h,
        spot_hours: o.spot_ticks as f64 * tick_h,
        wasted_hours: o.wasted_ms as f64 / HOUR_MS,
        interruptions: o.interruptions,
        moves: o.moves,
        finish_hours: o.finish_tick as f64 * tick_h,
        late: o.late,
        unknown_hours: o.unknown_ticks as f64 * tick_h,
    }
}

fn policy_doc(policy: PolicyName, index: usize, s: &Simulation<'_>) -> PolicyDoc {
    let of = |figure: &dyn Fn(&Outcome, f64) -> f64| -> Vec<f64> {
        let each = s.replays.iter().map(|r| {
            let tick_h = s.markets[r.market].grid.market.gap_ms as f64 / HOUR_MS;
            figure(&r.outcomes[index], tick_h)
        });
        each.collect()
    };
    let mut costs = of(&|o, _| o.cost);
    costs.sort_by(f64::total_cmp);
    let on_demand: f64 = s.replays.iter().map(|r| r.on_demand_cost).sum();
    PolicyDoc {
        policy: policy.as_str().to_owned(),
        jobs: costs.len() as u64,
        cost_median: usd(quantile(&costs, 0.5)),
        cost_mean: usd(mean(&costs)),
        cost_p5: usd(quantile(&costs, 0.05)),
        cost_p95: usd(quantile(&costs, 0.95)),
        saving: if on_demand > 0.0 {
            1.0 - costs.iter().sum::<f64>() / on_demand
        } else {
            0.0
        },
        late: of(&|o, _| f64::from(u8::from(o.late))).iter().sum::<f64>() as u64,
        interruptions_mean: mean(&of(&|o, _| f64::from(o.interruptions))),
        wasted_hours_mean: mean(&of(&|o, _| o.wasted_ms as f64 / HOUR_MS)),
        moves_mean: mean(&of(&|o, _| f64::from(o.moves))),
        spot_hours_mean: mean(&of(&|o, tick_h| o.spot_ticks as f64 * tick_h)),
        on_demand_hours_mean: mean(&of(&|o, tick_h| o.on_demand_ticks as f64 * tick_h)),
        finish_hours_mean: mean(&of(&|o, tick_h| o.finish_tick as f64 * tick_h)),
    }
}

/// What has to be known of a market, in words.
pub fn grid_note(note: &Note, trace: &str, texts: &Texts) -> NoteDoc {
    let (code, zone, msg) = match note {
        Note::Identical { zones } => (
            "identical_zones",
            "",
            Msg::new("simulate-identical").arg("zones", zones.join(", ")),
        ),
        Note::AlignedByIndex => ("aligned_by_index", "", Msg::new("simulate-by-index")),
        Note::Holes { zone, ticks } => (
            "holes",
            zone.as_str(),
            Msg::new("simulate-holes").arg("n", *ticks),
        ),
        Note::JoinedPrices {
            zone,
            machine,
            product,
        } => {
            let of: Vec<&str> = machine.iter().chain(product).map(String::as_str).collect();
            let msg = match of.is_empty() {
                true => Msg::new("simulate-joined-prices-unsaid"),
                false => Msg::new("simulate-joined-prices").arg("of", of.join(", ")),
            };
            ("joined_prices", zone.as_str(), msg)
        }
        Note::SpotAtOrAbove { zone, share } => (
            "spot_at_or_above_on_demand",
            zone.as_str(),
            Msg::new("simulate-spot-above").arg("share", share * 100.0),
        ),
    };
    NoteDoc {
        code: code.to_owned(),
        trace: trace.to_owned(),
        zone: zone.to_owned(),
        text: texts.msg(&msg),
    }
}
