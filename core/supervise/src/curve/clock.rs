//! Throttled: busy as before, at a lower clock.
//!
//! A card at its power limit lowers its clock by design: that is no throttling. What is looked for is a clock that
//! falls *with* the power, which heat, a power brake or a clock lock do, or a driver that says so itself.

use super::Rules;
use super::clean::{Curve, Point, quantile};
use super::state::{State, time_of};

/// Points `from..to` at a lowered clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slow {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The driver gave the reason.
    pub(super) driver: bool,
    /// The power fell with the clock.
    pub(super) with_power: bool,
    pub(super) clock_mhz: f64,
}

fn busy(p: &Point, rules: &Rules) -> bool {
    p.state == State::Work && p.util.is_some_and(|u| u >= rules.clock_util_pct)
}

/// The clock that the card holds when nothing slows it: nearly the highest seen under load, so that a short good
/// time is enough.
pub(super) fn plateau(curve: &Curve, rules: &Rules) -> Option<f64> {
    let points = curve.points.iter().filter(|p| busy(p, rules));
    quantile(points.filter_map(|p| p.s.sm_clock_mhz), 0.98).filter(|mhz| *mhz > 0.0)
}

/// The stretches at a lowered clock; `plateau` may come from the cards beside this one.
pub(super) fn slow(curve: &Curve, plateau: f64, rules: &Rules) -> Vec<Slow> {
    let points = &curve.points;
    let near = |p: &&Point| {
        busy(p, rules)
            && p.s
                .sm_clock_mhz
                .is_some_and(|c| c >= rules.clock_plateau * plateau)
    };
    let full_w = quantile(points.iter().filter(near).filter_map(|p| p.s.power_w), 0.5);
    // power over the power at the plateau, if both are known
    let fell = |p: &Point| Some(p.s.power_w? / full_w?).map(|r| r < rules.capped_ratio);
    // the highest limit: one that somebody lowers slows the card too
    let limit = points
        .iter()
        .filter_map(|p| p.s.power_limit_w)
        .fold(0.0, f64::max);
    let capped =
        |p: &Point| limit > 0.0 && p.s.power_w.is_some_and(|w| w >= rules.capped_ratio * limit);
    let lowered = |p: &Point| {
        p.s.slowed == Some(true)
            || p.s
                .sm_clock_mhz
                .is_some_and(|c| c < rules.clock_ratio * plateau)
                && !capped(p)
                && fell(p) != Some(false)
    };
    let mut out = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let (mut good, mut good_s) = (0, 0.0);
    for (i, p) in points.iter().enumerate() {
        // what is not busy says nothing about the clock under load
        if !busy(p, rules) {
            continue;
        }
        if lowered(p) {
            let from = open.map_or(i, |(from, _)| from);
            open = Some((from, i + 1));
            (good, good_s) = (0, 0.0);
        } else if let Some(run) = open {
            good += 1;
            good_s += p.hold_s;
            // a hot card swings between its clocks: that is one stretch
            if good > 2 && good_s > rules.clock_gap_s {
                out.push(run);
                open = None;
            }
        }
    }
    out.extend(open);
    let describe = |(from, to): (usize, usize)| {
        let before = points[..from].iter().rev().take_while(|p| {
            busy(p, rules)
                && p.s
                    .sm_clock_mhz
                    .is_some_and(|c| c < rules.clock_plateau * plateau)
        });
        let start = from - before.count();
        let inside = || points[from..to].iter().filter(|p| busy(p, rules));
        let count = inside().count();
        let with = |f: &dyn Fn(&Point) -> bool| {
            let low = || inside().filter(|p| lowered(p));
            low().filter(|p| f(p)).count() * 2 > low().count()
        };
        let low = inside().filter(|p| lowered(p)).count();
        let long = low >= rules.clock_samples
            && low * 4 >= count
            && time_of(&points[from..to]) >= rules.clock_s;
        long.then(|| Slow {
            from: start,
            to,
            driver: with(&|p| p.s.slowed == Some(true)),
            with_power: with(&|p| fell(p) == Some(true)),
            clock_mhz: quantile(
                inside()
                    .filter(|p| lowered(p))
                    .filter_map(|p| p.s.sm_clock_mhz),
                0.5,
            )
            .unwrap_or(0.0),
        })
    };
    out.into_iter().filter_map(describe).collect()
}

/// Share of the busy time that is slow.
pub(super) fn share(curve: &Curve, slow: &[Slow], rules: &Rules) -> f64 {
    let time = |points: &[Point]| -> f64 {
        let busy = points.iter().filter(|p| busy(p, rules));
        busy.map(|p| p.hold_s).sum()
    };
    let all = time(&curve.points);
    let lost: f64 = slow.iter().map(|s| time(&curve.points[s.from..s.to])).sum();
    if all > 0.0 { lost / all } else { 0.0 }
}
