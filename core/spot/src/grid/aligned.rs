//! Records side by side: which of them are zones of their own, from when on, and how far apart their samples are.

use super::TICK_BY_CHANGE_S;
use crate::grid_error::{GridError, Note};
use crate::stats::duplicates;
use crate::trace::Series;

/// More ticks than this are no record of a market but a broken time: a century of 300 s is half of it.
const MAX_TICKS: i64 = 20_000_000;
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

pub(super) fn rounded(seconds: i64, gap_s: u32) -> usize {
    let gap = i64::from(gap_s);
    (seconds.max(0).saturating_add(gap / 2) / gap) as usize
}

/// The zone, or where two records have one name the whole source.
pub(super) fn name_of(series: &Series, all: &[&Series]) -> String {
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
