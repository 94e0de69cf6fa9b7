//! A record as ticks: one sample each, and holes where nobody looked.

use super::{TICK_BY_CHANGE_S, aligned::rounded};
use crate::market::Cell;
use crate::trace::Series;

/// One tick and the sample that speaks for it.
pub(crate) struct Tick {
    pub cell: Cell,
    pub(super) sample: Option<usize>,
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
