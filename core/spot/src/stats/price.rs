//! A path of prices in figures.

use super::spans::{State, spans};
use crate::trace::{PricePath, Series};

/// Two prices within this share of each other are one: lists round.
const SAME: f64 = 0.002;

/// What a path did, USD an hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceFigures {
    /// Least.
    pub min: f64,
    /// Mean over known time.
    pub mean: f64,
    /// Greatest.
    pub max: f64,
    /// How often it moved.
    pub changes: usize,
    /// Share of time at the least price seen, 0..1.
    pub at_floor: f64,
    /// Share of time at or above on-demand, 0..1; `None`: the on-demand price is not known.
    pub at_on_demand: Option<f64>,
    /// Seconds with a known price.
    pub known_s: i64,
}

/// Figures of the prices of a series; `None`: it has none. `on_demand` beats the series' own.
pub fn of_series(series: &Series, on_demand: Option<f64>) -> Option<PriceFigures> {
    // the same rule as for availability: a sample holds until the next, not across a hole
    let known = spans(
        &Series {
            up: vec![Some(1); series.at_s.len()],
            ..bare(series)
        },
        1,
    );
    let end = known.iter().rfind(|s| s.state != State::Unknown)?.to_s;
    let mut pieces = Vec::new();
    let mut hole = known
        .iter()
        .filter(|s| s.state == State::Unknown)
        .peekable();
    for (i, (at, price)) in series.at_s.iter().zip(&series.price).enumerate() {
        while hole.peek().is_some_and(|h| h.to_s <= *at) {
            hole.next();
        }
        let next = series.at_s.get(i + 1).copied().unwrap_or(end);
        let to = hole.peek().map_or(next, |h| next.min(h.from_s));
        if let Some(price) = price {
            pieces.push((to.saturating_sub(*at), *price));
        }
    }
    figures(&pieces, on_demand.or(series.on_demand))
}

/// Times without samples: what `spans` needs.
fn bare(series: &Series) -> Series {
    Series {
        about: crate::trace::About::default(),
        seen: series.seen,
        asked: 1,
        gap_s: series.gap_s,
        start: None,
        at_s: series.at_s.clone(),
        up: Vec::new(),
        price: Vec::new(),
        on_demand: None,
        priced_for: None,
    }
}

/// Figures of a path by change; `None`: it is empty or has no length.
pub fn of_path(path: &PricePath, on_demand: Option<f64>) -> Option<PriceFigures> {
    let steps = path.steps().into_iter();
    let pieces: Vec<(i64, f64)> = steps
        .filter_map(|(from, to, price)| Some((to.saturating_sub(from), price?)))
        .collect();
    figures(&pieces, on_demand)
}

fn figures(pieces: &[(i64, f64)], on_demand: Option<f64>) -> Option<PriceFigures> {
    let seconds = |pieces: &mut dyn Iterator<Item = &(i64, f64)>| {
        pieces.map(|p| i128::from(p.0)).sum::<i128>()
    };
    let known_s = i64::try_from(seconds(&mut pieces.iter())).unwrap_or(i64::MAX);
    if known_s <= 0 {
        return None;
    }
    let total = seconds(&mut pieces.iter()) as f64;
    let min = pieces.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let share = |which: &dyn Fn(f64) -> bool| {
        seconds(&mut pieces.iter().filter(|p| which(p.1))) as f64 / total
    };
    Some(PriceFigures {
        min,
        mean: pieces
            .iter()
            .map(|(s, price)| *s as f64 * price)
            .sum::<f64>()
            / total,
        max: pieces.iter().map(|p| p.1).fold(0.0, f64::max),
        changes: pieces.windows(2).filter(|w| w[0].1 != w[1].1).count(),
        at_floor: share(&|p| p <= min * (1.0 + SAME)),
        at_on_demand: on_demand.map(|od| share(&|p| p >= od * (1.0 - SAME))),
        known_s,
    })
}

#[cfg(test)]
mod tests {
    use super::super::spans::tests::series;
    use super::*;

    #[test]
    fn time_counts_not_rows_and_holes_count_nothing() {
        let mut s = series(
            10,
            &[(0, Some(1)), (10, Some(1)), (20, Some(1)), (100, Some(1))],
        );
        s.price = vec![Some(1.0), Some(2.0), Some(2.0), None];
        let f = of_series(&s, Some(2.0)).expect("figures");
        assert_eq!((f.known_s, f.changes, f.min, f.max), (30, 1, 1.0, 2.0));
        assert!((f.mean - 5.0 / 3.0).abs() < 1e-12);
        assert!(
            (f.at_floor - 1.0 / 3.0).abs() < 1e-12
                && (f.at_on_demand.unwrap() - 2.0 / 3.0).abs() < 1e-12
        );
        s.price = Vec::new();
        assert_eq!(of_series(&s, None), None);
        // times that nobody has do not overflow
        let far = PricePath {
            changes: vec![(i64::MIN, 1.0), (0, 2.0), (i64::MAX - 1, 3.0)],
            rows: 3,
            until: i64::MAX,
            product: None,
            holes: Vec::new(),
            about: crate::trace::About::default(),
        };
        let f = of_path(&far, None).expect("figures");
        assert!((f.mean - 1.5).abs() < 1e-6, "{f:?}");
        // what nobody knows counts nothing, also across a change
        let holed = PricePath {
            changes: vec![(0, 1.0), (40, 3.0)],
            until: 60,
            holes: vec![(10, 20), (30, 50)],
            ..far
        };
        let known = [(0, 10, 1.0), (20, 30, 1.0), (50, 60, 3.0)];
        let told = holed
            .steps()
            .into_iter()
            .filter_map(|(a, b, p)| Some((a, b, p?)));
        assert_eq!(told.collect::<Vec<_>>(), known);
        let f = of_path(&holed, None).expect("figures");
        assert_eq!((f.known_s, f.changes), (30, 1));
    }
}
