//! How many machines each zone could have given, tick by tick, from records of availability.

use crate::grid::{aligned, samples};
use crate::grid_error::{GridError, Note};
use crate::market::Cell;
use crate::trace::Series;

/// Machines that could be had at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// Length of a tick in ms.
    pub gap_ms: i64,
    /// A zone a row, a tick a column; `None`: nobody measured.
    pub zones: Vec<Vec<Option<u32>>>,
}

impl Capacity {
    /// Ticks that every zone covers.
    pub fn ticks(&self) -> usize {
        self.zones.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Share of the ticks that nobody measured in at least one zone.
    pub fn unknown(&self) -> f64 {
        let ticks = self.ticks();
        let hole = |t: &usize| self.zones.iter().any(|z| z[*t].is_none());
        (0..ticks).filter(hole).count() as f64 / ticks.max(1) as f64
    }
}

/// The zones side by side, with no more than `most` machines in each. A record that asked for one machine says nothing
/// of a second: its zone holds one.
///
/// # Errors
/// As [`market_of`](crate::market_of), but for prices: none are needed.
pub fn capacity_of(series: &[&Series], most: u32) -> Result<(Capacity, Vec<Note>), GridError> {
    let mut notes = Vec::new();
    let grid = aligned(series, &mut notes)?;
    let zone = |s: &Series, skip: usize| {
        let mut can: Vec<Option<u32>> = Vec::new();
        for gang in 1..=most.min(s.asked.max(1)) {
            for (i, tick) in samples(s, gang).iter().skip(skip).enumerate() {
                if gang == 1 {
                    can.push((tick.cell != Cell::Unknown).then_some(0));
                }
                if tick.cell == Cell::Up {
                    can[i] = Some(gang);
                }
            }
        }
        can
    };
    let zones: Vec<Vec<Option<u32>>> = grid.zones.iter().map(|(s, skip)| zone(s, *skip)).collect();
    let capacity = Capacity {
        gap_ms: i64::from(grid.gap_s) * 1000,
        zones,
    };
    if capacity.ticks() == 0 {
        return Err(grid.apart());
    }
    Ok((capacity, notes))
}
