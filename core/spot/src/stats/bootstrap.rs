//! Other histories that could have been: stretches of the record in another order (circular block bootstrap; Politis,
//! Romano 1992). Zones resampled with the same blocks keep failing together.

use crate::market::{Market, Zone};
use crate::random::Random;

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

/// So many histories of `ticks` ticks, one after the other, each drawn anew from what the market recorded in blocks of `block`
/// ticks. Zones keep failing together; unknown ticks stay unknown. Empty where there is nothing to draw from.
pub fn resampled(
    market: &Market,
    histories: usize,
    ticks: usize,
    block: usize,
    seed: u64,
) -> Market {
    let length = market.ticks();
    let mut seeds = Random(seed);
    let drawn = (0..histories).flat_map(|_| blocks(length, ticks, block, seeds.below(u64::MAX)));
    let positions: Vec<usize> = drawn.collect();
    let zones = market.zones.iter().map(|zone| Zone {
        cells: positions.iter().map(|i| zone.cells[*i]).collect(),
        spot: positions.iter().map(|i| zone.spot[*i]).collect(),
        ..zone.clone()
    });
    Market {
        zones: zones.collect(),
        ..market.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::Cell;

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
    fn histories_are_drawn_anew_and_zones_stay_together() {
        let cell = |i: usize| if i % 50 < 20 { Cell::Up } else { Cell::Down };
        let zone = |name: &str| Zone {
            name: name.to_owned(),
            region: name.to_owned(),
            cells: (0..500).map(cell).collect(),
            spot: (0..500).map(|i| i as f64).collect(),
            on_demand: 3.0,
        };
        let market = Market {
            gap_ms: 600_000,
            zones: vec![zone("a"), zone("b")],
            egress: vec![0.0; 4],
            transfer_ms_per_gb: vec![0.0; 4],
        };
        let new = resampled(&market, 100, 200, 40, 3);
        assert_eq!(new.ticks(), 20_000);
        let [a, b] = &new.zones[..] else { panic!() };
        assert!(a.cells == b.cells && a.spot == b.spot);
        assert!((0..new.ticks()).all(|i| a.cells[i] == cell(a.spot[i] as usize)));
        let up = a.cells.iter().filter(|c| **c == Cell::Up).count() as f64 / 20_000.0;
        assert!((up - 0.4).abs() < 0.03, "{up}");
        let first: Vec<f64> = a.spot.chunks(200).map(|history| history[0]).collect();
        assert!(first.windows(2).filter(|w| w[0] != w[1]).count() > 90);
        assert_eq!(resampled(&market, 100, 200, 40, 3), new);
        assert_eq!(resampled(&market, 3, 200, 0, 3).ticks(), 0);
    }
}
