//! Markets where nobody recorded one: spells of availability and of absence drawn from rates, by seed.
//!
//! Only the mean time between losses is known, and that within a wide range, so the answer is one too
//! ([`modelled`]): each rate with lives that know no age, and with lives as recorded elsewhere (many short, a few
//! long). Nothing here is a measurement.

use crate::forecast::{Forecast, Several, forecast};
use crate::grid_error::GridError;
use crate::job::Job;
use crate::market::{Cell, Market, Zone};
use crate::policy::lessee::{Params, Spells};
use crate::random::Random;

/// Length of a tick of a generated market, in ms; longer where a deadline would hold more than [`TICKS`].
const TICK_MS: i64 = 300_000;
/// Ticks in a deadline: a rate known within a factor of ten deserves no finer ones, and tables grow as their square.
const TICKS: i64 = 120;

/// How long an instance lives, given the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lives {
    /// The same rate at every age.
    Memoryless,
    /// The pooled rates by age, all times one factor.
    AsRecorded,
}

/// Prices of the whole gang, an hour.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Prices {
    pub spot: f64,
    pub on_demand: f64,
}

/// Least, middle and greatest rate of interruption.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Hazards {
    pub low: f64,
    pub middle: f64,
    pub high: f64,
}

/// What a rate that is only known within a range comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Modelled {
    /// The middle rate, lives of both kinds.
    pub middle: Forecast,
    /// Of the recommended policy at the ends of the range: the least and the greatest mean cost.
    pub cost_mean: (f64, f64),
    /// The least share of starts in time, at any end.
    pub on_time_least: f64,
}

/// One zone for so many ticks of so many ms: losses at `per_hour` for the gang, back at the pooled rates.
pub fn market(
    per_hour: f64,
    lives: Lives,
    prices: Prices,
    (ticks, gap_ms): (usize, i64),
    params: &Params,
    seed: u64,
) -> Market {
    let mut random = Random(seed);
    let per_hour = per_hour.clamp(1e-6, 60.0);
    let (ups, downs) = (
        lasting(params, 1.0 / per_hour),
        Spells::new(params, false, 1.0),
    );
    let tick_h = gap_ms as f64 / crate::job::HOUR_MS;
    let mut cells = Vec::with_capacity(ticks);
    let mut up = true;
    while cells.len() < ticks {
        let hours = match (up, lives) {
            (true, Lives::Memoryless) => random.exponential() / per_hour,
            (true, Lives::AsRecorded) => ups.life(random.exponential()),
            (false, _) => downs.life(random.exponential()),
        };
        let spell = ((hours / tick_h).round() as usize).clamp(1, ticks);
        let cell = if up { Cell::Up } else { Cell::Down };
        cells.extend((0..spell.min(ticks - cells.len())).map(|_| cell));
        up = !up;
    }
    Market {
        gap_ms,
        zones: vec![Zone {
            name: "generated".to_owned(),
            region: "generated".to_owned(),
            spot: vec![prices.spot; ticks],
            on_demand: prices.on_demand,
            cells,
        }],
        egress: vec![0.0],
        transfer_ms_per_gb: vec![0.0],
    }
}

/// Replays `job` on generated markets at the three rates, `starts` starts each.
///
/// # Errors
/// The job has no deadline that a market could cover.
pub fn modelled(
    job: &Job,
    prices: Prices,
    hazards: Hazards,
    params: &Params,
    starts: usize,
    seed: u64,
) -> Result<Modelled, GridError> {
    let gap_ms = (job.deadline_ms / TICKS).max(TICK_MS);
    let need = (job.deadline_ms / gap_ms).max(1) as usize;
    let at = |per_hour: f64| {
        let histories = [Lives::Memoryless, Lives::AsRecorded].map(|lives| {
            let ticks = need.saturating_mul(starts.max(2) / 2);
            market(per_hour, lives, prices, (ticks, gap_ms), params, seed)
        });
        forecast(job, &histories, Several::Histories, params, starts)
    };
    let (low, middle, high) = (at(hazards.low)?, at(hazards.middle)?, at(hazards.high)?);
    let all = [&low, &middle, &high].map(|f| *f.recommended());
    let costs = all.map(|s| s.cost.mean);
    Ok(Modelled {
        middle,
        cost_mean: (
            costs.iter().copied().fold(f64::INFINITY, f64::min),
            costs.iter().copied().fold(0.0, f64::max),
        ),
        on_time_least: all.iter().map(|s| s.on_time).fold(1.0, f64::min),
    })
}

/// The pooled rates of loss, times the factor at which a life lasts `mean` hours on average.
fn lasting(params: &Params, mean: f64) -> Spells {
    let (mut low, mut high) = (-40.0f64, 40.0f64);
    for _ in 0..60 {
        let mid = (low + high) / 2.0;
        if Spells::new(params, true, mid.exp2()).mean() > mean {
            low = mid;
        } else {
            high = mid;
        }
    }
    Spells::new(params, true, ((low + high) / 2.0).exp2())
}

#[cfg(test)]
#[path = "generated/tests.rs"]
mod tests;
