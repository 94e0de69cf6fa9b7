//! Lays records on the ticks of a replay: raw series become a [`Market`], with what has to be known of it.
//!
//! Start with [`market_of`], then [`check_window`] for each start. Holes stay holes: a tick that nobody measured is
//! [`Cell::Unknown`], never filled from its neighbours. Not here: reading files, figures (`stats/`).

mod aligned;
mod ticks;

pub(crate) use aligned::aligned;
pub(crate) use ticks::samples;

use crate::grid_error::{GridError, Note};
use crate::job::Job;
use crate::market::{Cell, Market, Zone};
use crate::trace::{PricePath, Series};
use aligned::name_of;

/// Length of a tick in seconds for records by change, which have no distance of their own. Ours: fine beside the
/// 195 to 600 s of the published probes.
pub const TICK_BY_CHANGE_S: u32 = 300;

/// How to read the records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// Machines wanted at once; 0 counts as 1.
    pub gang: u32,
    /// Spot price in USD an hour of one machine, for every zone and tick; else that of the records.
    pub spot_price: Option<f64>,
    /// On-demand price in USD an hour of one machine, for every zone; else that of the records.
    pub on_demand_price: Option<f64>,
}

impl Asked {
    fn gang(&self) -> u32 {
        self.gang.max(1)
    }
}

/// A market and what has to be known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The market; a price that nobody knows is NaN in ticks where the zone can be had.
    pub market: Market,
    /// Unix time of tick 0; `None`: a record names no date.
    pub start: Option<i64>,
    /// What has to be known before a figure is trusted.
    pub notes: Vec<Note>,
}

/// The zones of one job, side by side. `paths` are prices by change that are joined where a series has none.
///
/// # Errors
/// There is no series, the distances of samples differ, a gang is larger than what was asked for, prices are
/// missing or are those of another machine.
pub fn market_of(
    series: &[&Series],
    paths: &[&PricePath],
    asked: Asked,
) -> Result<Grid, GridError> {
    let mut notes = Vec::new();
    let side_by_side = aligned(series, &mut notes)?;
    let kept: Vec<&Series> = side_by_side.zones.iter().map(|(s, _)| *s).collect();
    let mut zones = Vec::with_capacity(kept.len());
    for &(s, skip) in &side_by_side.zones {
        let zone = zone_of(s, paths, asked, skip, name_of(s, &kept), &mut notes)?;
        zones.push(zone);
    }
    let ticks = zones.iter().map(|z| z.cells.len()).min().unwrap_or(0);
    if ticks == 0 {
        return Err(side_by_side.apart());
    }
    for zone in &zones {
        spot_above(zone, ticks, &mut notes);
    }
    let n = zones.len();
    Ok(Grid {
        market: Market {
            gap_ms: i64::from(side_by_side.gap_s) * 1000,
            zones,
            egress: vec![0.0; n * n],
            transfer_ms_per_gb: vec![0.0; n * n],
        },
        start: side_by_side.origin,
        notes,
    })
}

/// A window of a job that may be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Ticks until the deadline.
    pub ticks: usize,
    /// Ticks among them that nobody measured in at least one zone.
    pub unknown: usize,
}

/// Whether `job` can be replayed from market tick `start`.
///
/// # Errors
/// The record ends before the deadline, or a price is missing where the zone can be had.
pub fn check_window(market: &Market, start: usize, job: &Job) -> Result<Window, GridError> {
    let ticks = job.deadline_ms.div_euclid(market.gap_ms).max(0) as usize;
    let have = market.ticks();
    if start.checked_add(ticks).is_none_or(|end| end > have) {
        return Err(GridError::TooShort {
            start,
            have,
            need: ticks,
            gap_s: market.gap_ms / 1000,
        });
    }
    let window = start..start + ticks;
    // a job that is late goes on for a start's time
    let late = (job.overhead_ms / market.gap_ms + 2) as usize;
    for zone in &market.zones {
        for tick in window.start..(window.end + late).min(have) {
            if zone.cells[tick] == Cell::Up && zone.spot[tick].is_nan() {
                return Err(GridError::NoPriceAt {
                    zone: zone.name.clone(),
                    tick,
                    gap_s: market.gap_ms / 1000,
                });
            }
        }
    }
    let hole = |t: &usize| market.zones.iter().any(|z| z.cells[*t] == Cell::Unknown);
    Ok(Window {
        ticks,
        unknown: window.filter(hole).count(),
    })
}

fn zone_of(
    series: &Series,
    paths: &[&PricePath],
    asked: Asked,
    skip: usize,
    name: String,
    notes: &mut Vec<Note>,
) -> Result<Zone, GridError> {
    let gang = asked.gang();
    if gang > series.asked.max(1) {
        return Err(GridError::Gang {
            zone: name,
            gang,
            asked: series.asked.max(1),
        });
    }
    let scale = f64::from(gang);
    let samples = samples(series, gang);
    let own_price = asked.spot_price.is_none() && series.price.iter().any(Option::is_some);
    let own_on_demand = asked.on_demand_price.is_none() && series.on_demand.is_some();
    if (own_price || own_on_demand)
        && let Some(of) = &series.priced_for
        && series.about.machine.as_ref().is_some_and(|m| m != of)
    {
        return Err(GridError::PriceOfOther {
            zone: name,
            of: of.clone(),
            machine: series.about.machine.clone().unwrap_or_default(),
        });
    }
    let on_demand = asked.on_demand_price.or(series.on_demand);
    let Some(on_demand) = on_demand else {
        return Err(GridError::NoOnDemand { zone: name });
    };
    let joined = match asked.spot_price.is_some() || own_price {
        true => Vec::new(),
        false => prices_of(series, paths, &name)?,
    };
    let price_at = |sample: usize| match (asked.spot_price, own_price) {
        (Some(price), _) => Some(price),
        (None, true) => series.price.get(sample).copied().flatten(),
        (None, false) => {
            let unix = series.start?.saturating_add(series.at_s[sample]);
            joined.iter().find_map(|path| at(path, unix))
        }
    };
    if let Some(path) = joined.first() {
        notes.push(Note::JoinedPrices {
            zone: name.clone(),
            machine: path.about.machine.clone(),
            product: path.product.clone(),
        });
    }
    let (mut cells, mut spot) = (Vec::new(), Vec::new());
    let mut unknown = 0;
    let mut last = None;
    for cell in samples.iter().skip(skip) {
        let price = cell.sample.and_then(price_at);
        last = price.or(last);
        unknown += usize::from(cell.cell == Cell::Unknown);
        cells.push(cell.cell);
        // where nothing can be had its price is only looked at
        let shown = match cell.cell {
            Cell::Up => price,
            _ => last,
        };
        spot.push(shown.map_or(f64::NAN, |p| p * scale));
    }
    // before the first known price
    let first = spot.iter().copied().find(|p| p.is_finite());
    for (price, cell) in spot.iter_mut().zip(&cells) {
        if price.is_nan() && *cell != Cell::Up {
            *price = first.unwrap_or(on_demand * scale);
        }
    }
    if unknown > 0 {
        notes.push(Note::Holes {
            zone: name.clone(),
            ticks: unknown,
        });
    }
    let region = series
        .about
        .region
        .clone()
        .unwrap_or_else(|| series.about.zone.clone());
    Ok(Zone {
        name,
        region,
        cells,
        spot,
        on_demand: on_demand * scale,
    })
}

/// Prices of the same zone and machine; where one of both names no machine, those of the zone if they are all of one machine
/// and product: never the first of several.
fn prices_of<'a>(
    series: &Series,
    paths: &[&'a PricePath],
    name: &str,
) -> Result<Vec<&'a PricePath>, GridError> {
    let here = |p: &&&PricePath| p.about.zone == series.about.zone && series.start.is_some();
    let here: Vec<&PricePath> = paths.iter().filter(here).copied().collect();
    let kind = |p: &PricePath| (p.about.machine.clone(), p.product.clone());
    let own =
        |p: &&&PricePath| series.about.machine.is_some() && p.about.machine == series.about.machine;
    if let Some(first) = here.iter().find(own).map(|p| kind(p)) {
        return Ok(here.into_iter().filter(|p| kind(p) == first).collect());
    }
    let unsaid = |p: &&PricePath| p.about.machine.is_none() || series.about.machine.is_none();
    match here.first() {
        Some(first) if here.iter().any(unsaid) && here.iter().all(|p| kind(p) == kind(first)) => {
            Ok(here)
        }
        _ => Err(GridError::NoPrice {
            zone: name.to_owned(),
        }),
    }
}

/// The price that held at a moment; `None` before the first row, after the last and in a hole.
fn at(path: &PricePath, unix: i64) -> Option<f64> {
    let hole = path.holes.partition_point(|(from, _)| *from <= unix);
    let in_hole = hole.checked_sub(1).is_some_and(|i| unix < path.holes[i].1);
    if unix > path.until || in_hole {
        return None;
    }
    let after = path.changes.partition_point(|(t, _)| *t <= unix);
    after.checked_sub(1).map(|i| path.changes[i].1)
}

fn spot_above(zone: &Zone, ticks: usize, notes: &mut Vec<Note>) {
    let dear = zone.spot[..ticks]
        .iter()
        .filter(|p| **p >= zone.on_demand)
        .count();
    if dear > 0 {
        notes.push(Note::SpotAtOrAbove {
            zone: zone.name.clone(),
            share: dear as f64 / ticks as f64,
        });
    }
}

#[cfg(test)]
mod tests;
