//! Other histories that could have been: stretches of the record in another order (circular block bootstrap; Politis,
//! Romano 1992). Zones resampled with the same blocks keep failing together.

use crate::random::Random;
use crate::trace::Series;

/// Positions of samples for a new history of `samples`, from a record of `length`, in blocks of `block`. The same seed
/// gives the same blocks. Empty where there is nothing to draw from.
pub fn blocks(length: usize, samples: usize, block: usize, seed: u64) -> Vec<usize> {
    let mut out = Vec::new();
    if length == 0 || block == 0 {
        return out;
    }
    out.reserve_exact(samples);
    let mut random = Random(seed);
    while out.len() < samples {
        let first = random.below(length as u64) as usize;
        let left = (samples - out.len()).min(block);
        out.extend((0..left).map(|i| (first + i) % length));
    }
    out
}

/// The series with its samples in the order of `positions`, at even distances. Unknown samples stay unknown; times of
/// the day are those of no day, so there is no start.
pub fn resampled(series: &Series, positions: &[usize]) -> Series {
    let gap = i64::from(series.gap_s.max(1));
    let at = |i: &usize| series.up.get(*i).copied().flatten();
    let price = |i: &usize| series.price.get(*i).copied().flatten();
    Series {
        start: None,
        gap_s: series.gap_s.max(1),
        at_s: (0..positions.len() as i64).map(|i| i * gap).collect(),
        up: positions.iter().map(at).collect(),
        price: match series.price.is_empty() {
            true => Vec::new(),
            false => positions.iter().map(price).collect(),
        },
        ..series.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::spans::tests::series;
    use super::*;

    #[test]
    fn blocks_are_the_seeds_and_keep_their_order() {
        let a = blocks(100, 1000, 10, 7);
        assert_eq!(a, blocks(100, 1000, 10, 7));
        assert_ne!(a, blocks(100, 1000, 10, 8));
        assert!(
            a.chunks(10)
                .all(|b| b.windows(2).all(|w| w[1] == (w[0] + 1) % 100))
        );
        assert!(blocks(0, 10, 5, 1).is_empty() && blocks(10, 10, 0, 1).is_empty());
    }

    #[test]
    fn the_share_stays_about_the_same() {
        let samples: Vec<(i64, Option<u32>)> = (0..500)
            .map(|i| (600 * i, Some(u32::from(i % 50 < 20))))
            .collect();
        let s = series(600, &samples);
        let new = resampled(&s, &blocks(500, 20_000, 40, 3));
        let share = new.up.iter().flatten().sum::<u32>() as f64 / 20_000.0;
        assert!((share - 0.4).abs() < 0.03, "{share}");
        assert_eq!(new.at_s[1], 600);
    }
}
