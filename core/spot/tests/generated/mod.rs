//! Markets and jobs that never were: random and adversarial.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use lessee_spot::job::Saves;
use lessee_spot::policy::lessee::Params;
use lessee_spot::random::Random;
use lessee_spot::{Cell, Job, Market, Zone};
use proptest::prelude::*;

/// `data/spot.toml`.
pub fn params() -> Params {
    Params::from_toml(include_str!("../../../../data/spot.toml")).unwrap()
}

/// A job that on-demand alone can finish in time, and where it starts.
#[derive(Clone, Debug)]
pub struct Case {
    pub job: Job,
    pub market: Market,
    pub start: usize,
}

/// What cases are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// Prices of spot cross those of on-demand often.
    pub dear: bool,
    /// Lengths with nothing in common.
    pub odd: bool,
    /// With periodic saves, sometimes.
    pub saves: bool,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            dear: false,
            odd: false,
            saves: true,
        }
    }
}

/// How a zone comes and goes.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Up,
    Down,
    /// Up in one tick, down in the next.
    Alternating,
    /// Up for so many ticks after so many down: until just started.
    Teasing(usize, usize),
    /// Up until this tick, then never again.
    Until(usize),
    /// Flips with this chance a tick.
    Flips(f64),
    /// Each tick by itself.
    Coin(f64),
}

impl Pattern {
    fn cells(self, ticks: usize, seed: u64, holes: bool) -> Vec<Cell> {
        let mut random = Random(seed);
        let mut up = random.unit() < 0.5;
        let mut one = |t: usize| {
            let chance = random.unit();
            up = match self {
                Pattern::Up => true,
                Pattern::Down => false,
                Pattern::Alternating => t.is_multiple_of(2),
                Pattern::Teasing(on, off) => t % (on + off) >= off,
                Pattern::Until(end) => t < end,
                Pattern::Flips(rate) => (chance < rate) != up,
                Pattern::Coin(share) => chance < share,
            };
            match up {
                _ if holes && random.unit() < 0.1 => Cell::Unknown,
                true => Cell::Up,
                false => Cell::Down,
            }
        };
        (0..ticks).map(&mut one).collect()
    }
}

#[derive(Clone, Copy, Debug)]
struct ZoneOf {
    pattern: Pattern,
    seed: u64,
    holes: bool,
    region: usize,
    on_demand: f64,
    /// Spot relative to on-demand, and how far it swings.
    price: (f64, f64),
}

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        1 => Just(Pattern::Down),
        1 => Just(Pattern::Up),
        2 => Just(Pattern::Alternating),
        3 => (1usize..6, 1usize..8).prop_map(|(on, off)| Pattern::Teasing(on, off)),
        2 => (0usize..40).prop_map(Pattern::Until),
        4 => (0.02f64..0.5).prop_map(Pattern::Flips),
        2 => (0.05f64..0.95).prop_map(Pattern::Coin),
    ]
}

fn zone(dear: bool) -> impl Strategy<Value = ZoneOf> {
    let price = if dear {
        prop_oneof![(0.7f64..1.3, 0.0f64..0.5), (Just(1.0), Just(0.0))].boxed()
    } else {
        prop_oneof![
            3 => (0.1f64..0.7, Just(0.0)),
            3 => (0.1f64..0.9, 0.0f64..0.5),
            1 => (0.9f64..1.3, 0.0f64..0.5),
        ]
        .boxed()
    };
    let paid = prop_oneof![Just(3.0), 1.0f64..5.0];
    (
        pattern(),
        any::<u64>(),
        prop::bool::weighted(0.2),
        0usize..3,
        paid,
        price,
    )
        .prop_map(|(pattern, seed, holes, region, on_demand, price)| ZoneOf {
            pattern,
            seed,
            holes,
            region,
            on_demand,
            price,
        })
}

/// Lengths in units of time.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    /// One unit, ms.
    unit: i64,
    /// Units of half a tick.
    half: i64,
    work: i64,
    overhead: i64,
    /// Ticks beyond what on-demand needs.
    slack: i64,
    /// Part of a tick that the deadline is beyond a whole one.
    beyond: f64,
    /// Units of a move between regions.
    transfer: i64,
    saves: Option<(i64, i64)>,
    /// Units of a billing increment; 0: none.
    billing: i64,
    start: usize,
    /// Ticks of the record that are missing at its end.
    short: usize,
}

fn lengths(wishes: Wishes) -> impl Strategy<Value = Lengths> {
    let unit = if wishes.odd {
        Just(1i64).boxed()
    } else {
        prop_oneof![Just(30_000i64), Just(60_000), Just(90_000), Just(7_001)].boxed()
    };
    // ticks of a minute to an hour
    let tick = unit.prop_flat_map(|unit| {
        let half =
            (30_000 / unit).max(1)..=(1_800_000 / unit).min(if unit == 1 { 1_800_000 } else { 24 });
        (Just(unit), half)
    });
    let saves = if wishes.saves { 0.3 } else { 0.0 };
    tick.prop_flat_map(move |(unit, half)| {
        let tick = 2 * half;
        let overhead = prop_oneof![
            2 => 0..=tick / 2,
            2 => 0..=4 * tick,
            1 => Just(tick),
            1 => Just(0),
        ];
        let saved = prop::option::weighted(saves, (1..=6 * tick, 0..=tick));
        let billing = prop_oneof![3 => Just(0), 1 => 1..=8 * tick];
        let transfer = prop_oneof![2 => Just(0), 1 => 1..=4 * tick];
        let work = 1..=40 * tick;
        let slack = prop_oneof![0i64..3, 0i64..40];
        let short = prop_oneof![4 => Just(0usize), 1 => 0usize..20];
        (
            work,
            overhead,
            slack,
            0.0f64..1.0,
            transfer,
            saved,
            billing,
            0usize..4,
            short,
        )
            .prop_map(
                move |(work, overhead, slack, beyond, transfer, saves, billing, start, short)| {
                    Lengths {
                        unit,
                        half,
                        work,
                        overhead,
                        slack,
                        beyond,
                        transfer,
                        saves,
                        billing,
                        start,
                        short,
                    }
                },
            )
    })
}

/// Any case.
pub fn case(wishes: Wishes) -> impl Strategy<Value = Case> {
    let zones = prop_oneof![
        1 => prop::collection::vec(zone(wishes.dear), 1),
        1 => prop::collection::vec(zone(wishes.dear), 2..5),
    ];
    let egress = prop_oneof![Just(0.0), 0.001f64..2.0];
    (lengths(wishes), zones, egress).prop_map(|(l, zones, egress)| build(l, &zones, egress))
}

fn build(l: Lengths, zones: &[ZoneOf], egress: f64) -> Case {
    let gap_ms = 2 * l.half * l.unit;
    let mut job = Job {
        work_ms: l.work * l.unit,
        deadline_ms: 0,
        overhead_ms: l.overhead * l.unit,
        checkpoint_gb: 1.0,
        saves: l.saves.map(|(every, block)| Saves {
            every_ms: every * l.unit,
            block_ms: block * l.unit,
        }),
        billing_ms: l.billing * l.unit,
    };
    // what on-demand alone needs: the save after the last work is not waited for
    let saving = job
        .saves
        .map_or(0, |s| (job.work_ms - 1) / s.every_ms * s.block_ms);
    let needed = (job.work_ms + saving + job.overhead_ms + gap_ms - 1) / gap_ms;
    job.deadline_ms = (needed + l.slack) * gap_ms + (l.beyond * gap_ms as f64) as i64;
    let ticks = (l.start as i64 + needed + l.slack + 2) as usize;
    let ticks = ticks.saturating_sub(l.short).max(l.start + 1);
    let made = |(i, z): (usize, &ZoneOf)| {
        let mut random = Random(z.seed ^ 0x5eed);
        let cells = z.pattern.cells(ticks, z.seed, z.holes);
        let mut swing = || (random.unit() - 0.5) * 2.0 * z.price.1;
        let spot = |_| (z.on_demand * (z.price.0 + swing())).max(0.01);
        Zone {
            name: format!("zone-{i}"),
            region: format!("region-{}", z.region),
            spot: (0..ticks).map(spot).collect(),
            cells,
            on_demand: z.on_demand,
        }
    };
    let zones: Vec<Zone> = zones.iter().enumerate().map(made).collect();
    let n = zones.len();
    let mut market = Market {
        gap_ms,
        zones,
        egress: Vec::new(),
        transfer_ms_per_gb: Vec::new(),
    }
    .with_transfer(egress, 0.0);
    let away = |i: usize| market.zones[i / n].region != market.zones[i % n].region;
    let transfer = (l.transfer * l.unit) as f64;
    let times = (0..n * n).map(|i| if away(i) { transfer } else { 0.0 });
    market.transfer_ms_per_gb = times.collect();
    Case {
        job,
        market,
        start: l.start,
    }
}

/// The same case with other cells: `change(cell, zone, tick)`.
pub fn with_cells(case: &Case, change: impl Fn(Cell, usize, usize) -> Cell) -> Case {
    let mut changed = case.clone();
    for (z, zone) in changed.market.zones.iter_mut().enumerate() {
        for (t, cell) in zone.cells.iter_mut().enumerate() {
            *cell = change(*cell, z, t);
        }
    }
    changed
}
