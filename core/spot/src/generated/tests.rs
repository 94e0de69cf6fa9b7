use super::*;
use crate::forecast::tests::params;
use crate::runner::PolicyName;

const PRICES: Prices = Prices {
    spot: 1.0,
    on_demand: 3.0,
};

#[test]
fn lives_last_as_long_as_the_rate_says() {
    for lives in [Lives::Memoryless, Lives::AsRecorded] {
        let m = market(0.2, lives, PRICES, (400_000, 300_000), &params(), 7);
        let cells = &m.zones[0].cells;
        let up = cells.iter().filter(|c| **c == Cell::Up).count() as f64;
        let ends = cells
            .windows(2)
            .filter(|w| *w == [Cell::Up, Cell::Down])
            .count() as f64;
        let mean_h = up / ends / 12.0;
        assert!((mean_h - 5.0).abs() < 0.4, "{lives:?}: {mean_h}");
        assert_eq!(
            m,
            market(0.2, lives, PRICES, (400_000, 300_000), &params(), 7)
        );
        assert_ne!(
            m,
            market(0.2, lives, PRICES, (400_000, 300_000), &params(), 8)
        );
    }
}

#[test]
fn lives_as_recorded_are_short_more_often() {
    let short = |lives| {
        let m = market(0.1, lives, PRICES, (400_000, 300_000), &params(), 7);
        let mut spells = (0, 0);
        for spell in m.zones[0].cells.chunk_by(|a, b| a == b) {
            if spell[0] == Cell::Up {
                spells.0 += usize::from(spell.len() <= 24);
                spells.1 += 1;
            }
        }
        f64::from(spells.0 as u32) / f64::from(spells.1 as u32)
    };
    assert!(short(Lives::AsRecorded) > short(Lives::Memoryless) + 0.1);
}

#[test]
fn a_range_of_rates_is_a_range_of_costs_and_keeps_the_deadline() {
    let job = Job::new(20.0, 30.0, 0.2).expect("job");
    let hazards = Hazards {
        low: 0.0005,
        middle: 0.01,
        high: 0.5,
    };
    let m = modelled(&job, PRICES, hazards, &params(), 40, 1).expect("modelled");
    let middle = m.middle.recommended();
    assert!(m.cost_mean.0 <= middle.cost.mean && middle.cost.mean <= m.cost_mean.1);
    assert!(m.cost_mean.1 > m.cost_mean.0 * 1.1, "{:?}", m.cost_mean);
    assert_eq!(m.on_time_least, 1.0);
    assert_ne!(middle.policy, PolicyName::OnDemand);
    assert_eq!(
        m,
        modelled(&job, PRICES, hazards, &params(), 40, 1).expect("again")
    );
}
