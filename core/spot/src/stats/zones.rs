//! Zones beside each other: do they fail together, and are they really different recordings?

use super::spans::{Span, State, spans};
use crate::trace::Series;

/// Pearson's correlation of two zones' availability over the time that both know, -1..1, for a gang of `need`.
///
/// `None`: no common time, one of them never changes in it, or only one of them has dates.
pub fn correlation(a: &Series, b: &Series, need: u32) -> Option<f64> {
    let shift = match (a.start, b.start) {
        (Some(a), Some(b)) => b.checked_sub(a)?,
        (None, None) => 0,
        _ => return None,
    };
    let (left, right) = (spans(a, need), spans(b, need));
    // seconds with each pair of states: both spans run through time side by side
    let mut t = [[0i64; 2]; 2];
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (left.get(i), right.get(j)) {
        let moved = Span {
            from_s: y.from_s.checked_add(shift)?,
            to_s: y.to_s.checked_add(shift)?,
            ..*y
        };
        let common = x.to_s.min(moved.to_s) - x.from_s.max(moved.from_s);
        if common > 0 && x.state != State::Unknown && moved.state != State::Unknown {
            t[usize::from(x.state == State::Up)][usize::from(moved.state == State::Up)] += common;
        }
        if x.to_s <= moved.to_s {
            i += 1;
        } else {
            j += 1;
        }
    }
    let n = t.iter().flatten().sum::<i64>() as f64;
    let (up_a, up_b) = (
        (t[1][0] + t[1][1]) as f64 / n,
        (t[0][1] + t[1][1]) as f64 / n,
    );
    let spread = (up_a * (1.0 - up_a) * up_b * (1.0 - up_b)).sqrt();
    let r = (t[1][1] as f64 / n - up_a * up_b) / spread;
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Changes that two series must share before their agreement is no chance.
const TELLING: usize = 4;

/// Groups of series that are the same recording under several names, as positions in the list. Series that change
/// less than four times may agree by chance and are left out.
pub fn duplicates(all: &[&Series]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let varies = |s: &Series| {
        s.up.windows(2)
            .filter(|w| w[0] != w[1])
            .nth(TELLING - 1)
            .is_some()
    };
    let same = |a: &Series, b: &Series| a.up == b.up && a.at_s == b.at_s;
    for (i, series) in all.iter().enumerate().filter(|(_, s)| varies(s)) {
        match groups.iter_mut().find(|g| same(all[g[0]], series)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups.retain(|g| g.len() > 1);
    groups
}

#[cfg(test)]
mod tests {
    use super::super::spans::tests::series;
    use super::*;

    #[test]
    fn together_against_each_other_and_not_comparable() {
        let of = |ups: &[u32]| {
            let samples: Vec<(i64, Option<u32>)> = ups
                .iter()
                .enumerate()
                .map(|(i, u)| (10 * i as i64, Some(*u)))
                .collect();
            series(10, &samples)
        };
        let (a, b, flat) = (
            of(&[1, 0, 1, 0, 1, 0]),
            of(&[0, 1, 0, 1, 0, 1]),
            of(&[1, 1, 1, 1, 1, 1]),
        );
        let near = |r: Option<f64>, x: f64| r.is_some_and(|r| (r - x).abs() < 1e-9);
        assert!(near(correlation(&a, &a, 1), 1.0));
        assert!(near(correlation(&a, &b, 1), -1.0));
        assert_eq!(correlation(&a, &flat, 1), None);
        let dated = Series {
            start: Some(0),
            ..a.clone()
        };
        assert_eq!(correlation(&a, &dated, 1), None);
        let later = Series {
            start: Some(10),
            ..b.clone()
        };
        assert!(near(correlation(&dated, &later, 1), 1.0));
        assert_eq!(
            duplicates(&[&a, &flat, &b, &a.clone(), &flat]),
            [vec![0, 3]]
        );
    }
}
