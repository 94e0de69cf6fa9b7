//! Lays records on the ticks of a replay: raw series become a [`Market`], with what has to be known of it.
//!
//! Start with [`market_of`], then [`check_window`] for each start. Holes stay holes: a tick that nobody measured is
//! [`Cell::Unknown`], never filled from its neighbours. Not here: reading files, figures (`stats/`).

use crate::grid_error::{GridError, Note};
use crate::job::Job;
use crate::market::{Cell, Market, Zone};
use crate::stats::duplicates;
use crate::trace::{PricePath, Series};

/// Length of a tick in seconds for records by change, which have no distance of their own. Ours: fine beside the
/// 195 to 600 s of the published probes.
pub const TICK_BY_CHANGE_S: u32 = 300;

/// More ticks than this are no record of a market but a broken time: a century of 300 s is half of it.
const MAX_TICKS: i64 = 20_000_000;

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

/// Records of one distance, from the latest start on.
pub(crate) struct Aligned<'a> {
    /// Seconds of a tick.
    pub gap_s: u32,
    /// Unix time of tick 0; `None`: a record names no date.
    pub origin: Option<i64>,
    /// Each with the ticks to leave out at its start.
    pub zones: Vec<(&'a Series, usize)>,
}

impl Aligned<'_> {
    /// They never meet.
    pub(crate) fn apart(&self) -> GridError {
        let all: Vec<&Series> = self.zones.iter().map(|(s, _)| *s).collect();
        GridError::NoCommonTime {
            zones: all.iter().map(|s| name_of(s, &all)).collect(),
        }
    }
}

/// The common part of some records, copies left out.
pub(crate) fn aligned<'a>(
    series: &[&'a Series],
    notes: &mut Vec<Note>,
) -> Result<Aligned<'a>, GridError> {
    let kept = one_a_zone(without_copies(series, notes), notes);
    let first = kept.first().ok_or(GridError::NoSeries)?;
    let gap_s = gap_of(first);
    if let Some(other) = kept.iter().find(|s| gap_of(s) != gap_s) {
        return Err(GridError::Gaps {
            zone: name_of(first, &kept),
            gap_s,
            other: name_of(other, &kept),
            other_gap_s: gap_of(other),
        });
    }
    let starts: Option<Vec<i64>> = kept.iter().map(|s| begins(s)).collect();
    let origin = starts.as_ref().and_then(|s| s.iter().max().copied());
    if kept.len() > 1 && origin.is_none() {
        notes.push(Note::AlignedByIndex);
    }
    let mut zones = Vec::with_capacity(kept.len());
    for s in &kept {
        let (first, last) = (s.at_s.first(), s.at_s.last().copied().unwrap_or(0));
        // records by change are laid out from second 0, others from their first sample
        let length = last.saturating_sub(first.map_or(0, |first| *first.min(&0)));
        let ticks = length / i64::from(gap_s);
        if ticks > MAX_TICKS {
            return Err(GridError::TooLong {
                zone: name_of(s, &kept),
                ticks,
            });
        }
        let skip = match (origin, begins(s)) {
            (Some(origin), Some(start)) => rounded(origin.saturating_sub(start), gap_s),
            _ => 0,
        };
        zones.push((*s, skip));
    }
    Ok(Aligned {
        gap_s,
        origin,
        zones,
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

/// Unix time of its tick 0; `None`: it names no date.
fn begins(series: &Series) -> Option<i64> {
    let first = match series.gap_s {
        0 => 0,
        _ => series.at_s.first().copied().unwrap_or(0),
    };
    Some(series.start?.saturating_add(first))
}

fn gap_of(series: &Series) -> u32 {
    match series.gap_s {
        0 => TICK_BY_CHANGE_S,
        gap => gap,
    }
}

fn rounded(seconds: i64, gap_s: u32) -> usize {
    let gap = i64::from(gap_s);
    (seconds.max(0).saturating_add(gap / 2) / gap) as usize
}

/// The zone, or where two records have one name the whole source.
fn name_of(series: &Series, all: &[&Series]) -> String {
    let about = &series.about;
    let same = all.iter().filter(|s| s.about.zone == about.zone).count();
    if same > 1 {
        about.source.clone()
    } else {
        about.zone.clone()
    }
}

/// One recording under several names is one zone.
fn without_copies<'a>(series: &[&'a Series], notes: &mut Vec<Note>) -> Vec<&'a Series> {
    let mut copies = Vec::new();
    for group in duplicates(series) {
        notes.push(Note::Identical {
            zones: group
                .iter()
                .map(|i| series[*i].about.source.clone())
                .collect(),
        });
        copies.extend_from_slice(&group[1..]);
    }
    let kept = series
        .iter()
        .enumerate()
        .filter(|(i, _)| !copies.contains(i));
    kept.map(|(_, s)| *s).collect()
}

/// Records of one zone and machine from the same time are one zone, also where they differ here and there: the longest
/// speaks, of equals the first.
fn one_a_zone<'a>(series: Vec<&'a Series>, notes: &mut Vec<Note>) -> Vec<&'a Series> {
    let span = |s: &Series| {
        let (from, to) = (s.at_s.first().copied(), s.at_s.last().copied());
        let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
        (from, to.saturating_add(i64::from(gap_of(s))))
    };
    let dated = series.iter().all(|s| s.start.is_some());
    let length = |s: &Series| span(s).1.saturating_sub(span(s).0);
    let same = |a: &Series, b: &Series| {
        let (a_of, b_of) = (&a.about, &b.about);
        // without dates they are laid side by side by index
        let starts = a.start.zip(b.start).filter(|_| dated);
        let (a_start, b_start) = starts.unwrap_or((0, 0));
        let [a_at, b_at] = [(span(a), a_start), (span(b), b_start)]
            .map(|((from, to), start)| (from.saturating_add(start), to.saturating_add(start)));
        a_of.zone == b_of.zone
            && a_of.machine == b_of.machine
            && a_of.provider == b_of.provider
            && a_at.0 < b_at.1
            && b_at.0 < a_at.1
    };
    let mut longest: Vec<usize> = (0..series.len()).collect();
    longest.sort_by_key(|i| std::cmp::Reverse(length(series[*i])));
    // the place of each record that speaks, and of those that it speaks for
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for i in longest {
        match groups.iter_mut().find(|g| same(series[g.0], series[i])) {
            Some(group) => group.1.push(i),
            None => groups.push((i, Vec::new())),
        }
    }
    groups.sort_by_key(|g| g.0);
    for (kept, left_out) in &groups {
        if !left_out.is_empty() {
            let all = std::iter::once(kept).chain(left_out);
            notes.push(Note::Identical {
                zones: all.map(|i| series[*i].about.source.clone()).collect(),
            });
        }
    }
    groups.into_iter().map(|(i, _)| series[i]).collect()
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

/// One tick and the sample that speaks for it.
pub(crate) struct Tick {
    pub cell: Cell,
    sample: Option<usize>,
}

/// One sample a tick. A distance that rounds to two gaps or more is a hole; of records by change a tick is
/// available when every value that held in it was.
pub(crate) fn samples(series: &Series, gang: u32) -> Vec<Tick> {
    let cell = |up: Option<u32>| match up {
        None => Cell::Unknown,
        Some(n) if n >= gang => Cell::Up,
        Some(_) => Cell::Down,
    };
    let mut out: Vec<Tick> = Vec::with_capacity(series.up.len());
    if series.gap_s == 0 {
        let gap = i64::from(TICK_BY_CHANGE_S);
        let end = series.at_s.last().copied().unwrap_or(0);
        let mut next = 0;
        let mut held: Option<usize> = None;
        for tick in 0..(end / gap).max(0) {
            // the value that holds at its start, then those that come within it
            while series.at_s.get(next).is_some_and(|at| *at <= tick * gap) {
                held = Some(next);
                next += 1;
            }
            let mut state = held.map_or(Cell::Unknown, |i| cell(series.up[i]));
            let within = series.at_s[next..]
                .iter()
                .take_while(|at| **at < (tick + 1) * gap)
                .count();
            for up in &series.up[next..next + within] {
                state = match (state, cell(*up)) {
                    (Cell::Up, other) => other,
                    (Cell::Unknown, Cell::Down) => Cell::Down,
                    (state, _) => state,
                };
            }
            out.push(Tick {
                cell: state,
                sample: held,
            });
        }
        return out;
    }
    let mut before: Option<i64> = None;
    for (i, (at, up)) in series.at_s.iter().zip(&series.up).enumerate() {
        let hole = before.map_or(0, |b| rounded(at - b, series.gap_s).saturating_sub(1));
        out.extend((0..hole).map(|_| Tick {
            cell: Cell::Unknown,
            sample: None,
        }));
        out.push(Tick {
            cell: cell(*up),
            sample: Some(i),
        });
        before = Some(*at);
    }
    out
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
