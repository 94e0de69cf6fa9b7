//! Ends that do not move on: a hang that reaches the end of the series, idleness after work.

use super::Rules;
use super::clean::{Curve, Point, larger, mean, quantile};
use super::state::{self, Run, State, time_of};

/// A GPU that spins until the end of the series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hang {
    pub(super) from: usize,
    pub(super) time_s: f64,
    pub(super) samples: usize,
    /// The job worked before, in this series.
    pub(super) worked: bool,
    /// A second signal says so in most samples.
    pub(super) strong: bool,
    /// Independent signals that agree.
    pub(super) signals: usize,
    pub(super) util: f64,
    pub(super) traffic: Option<f64>,
    /// Power over the limit, or over the power of work.
    pub(super) power: Option<f64>,
}

/// The stretch that counts as the end: a last sample or two may already be something else.
fn last_run(curve: &Curve, wanted: impl Fn(&Run) -> bool) -> Option<usize> {
    let runs = &curve.runs;
    let last = runs.len().checked_sub(1)?;
    if wanted(&runs[last]) {
        return Some(last);
    }
    let before = last.checked_sub(1)?;
    (runs[last].len() <= 2 && runs[before].len() >= 10 && wanted(&runs[before])).then_some(before)
}

pub(super) fn hang(curve: &Curve, rules: &Rules) -> Option<Hang> {
    let at = last_run(curve, |r| r.state.waits())?;
    let run = curve.runs[at];
    let inside = run.of(&curve.points);
    let time_s = time_of(inside);
    if run.len() < rules.hung_samples || time_s < rules.hung_s {
        return None;
    }
    let earlier = curve.runs[..at].iter().filter(|r| r.state.waits());
    let recovered = earlier
        .map(|r| time_of(r.of(&curve.points)))
        .fold(0.0, f64::max);
    if time_s < rules.recovered_factor * recovered {
        return None;
    }
    let util = mean(inside, |p| p.util)?;
    let traffic = mean(inside, |p| p.traffic);
    let strong = run.state == State::Spin;
    let low = |p: &Point| state::power_low(p, curve.work_w, rules);
    let power_low = inside.iter().filter(|p| low(p) == Some(true)).count() * 2 > run.len();
    let watts: Vec<f64> = inside.iter().filter_map(|p| p.s.power_w).collect();
    let steady = watts.len() >= rules.hung_samples && super::bursts::spread(&watts) < 0.03;
    let most = if strong && steady {
        rules.hung_traffic_sure_pct
    } else {
        rules.hung_traffic_pct
    };
    if util < rules.hung_util_pct || traffic.is_some_and(|t| t > most) {
        return None;
    }
    // without a memory counter only a fall of the power speaks; without a yardstick for the power a card that draws
    // much is taken to compute
    let typical_w = quantile(watts.iter().copied(), 0.5);
    if !power_low && !strong && (traffic.is_none() || typical_w.is_some_and(|w| w > 200.0)) {
        return None;
    }
    let rx = mean(inside, |p| p.s.pcie_rx_mb_s);
    if traffic.is_none() && rx.is_none_or(|mb| mb > 2.0) && curve.work_w.is_none() {
        return None;
    }
    let tensor = mean(inside, |p| p.s.tensor_active_pct);
    let still = tensor.is_some_and(|t| t < rules.active_pct) && traffic.is_some();
    let signals = 1
        + usize::from(traffic.is_some())
        + usize::from(power_low)
        + usize::from(rx.is_some_and(|mb| mb <= 2.0))
        + usize::from(still)
        + usize::from(steady);
    let ratio = |p: &Point| Some(p.s.power_w? / p.s.power_limit_w.or(curve.work_w)?);
    let worked = curve.points[..run.from]
        .iter()
        .filter(|p| p.state == State::Work);
    Some(Hang {
        from: run.from,
        time_s,
        samples: run.len(),
        worked: worked.count() >= 5,
        strong,
        signals,
        util,
        traffic,
        power: mean(inside, ratio),
    })
}

/// Silence at the end of a series that worked before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    pub(super) from: usize,
    pub(super) time_s: f64,
    /// The power or the clock fell too, and it lasts.
    pub(super) sure: bool,
}

/// Longer than the silences from which this job came back; a job that writes to the disk all the while is saving.
pub(super) fn tail(curve: &Curve, rules: &Rules) -> Option<Tail> {
    let at = last_run(curve, |r| r.state == State::Off)?;
    let run = curve.runs[at];
    let inside = run.of(&curve.points);
    let time_s = time_of(inside);
    if run.len() < rules.idle_tail_samples || time_s < rules.idle_tail_s {
        return None;
    }
    let before = &curve.points[..run.from];
    let work: Vec<f64> = before
        .iter()
        .filter(|p| matches!(p.state, State::Work | State::Spin | State::Flat))
        .filter_map(|p| larger(p.util, p.video()))
        .collect();
    let level = work.iter().sum::<f64>() / work.len().max(1) as f64;
    if work.len() < 3 || level < rules.under_mean_pct {
        return None;
    }
    // silence before the first work is no pause of the job
    let pauses = curve.runs[..at]
        .iter()
        .skip(1)
        .filter(|r| r.state == State::Off);
    let longest = pauses
        .map(|r| time_of(r.of(&curve.points)))
        .fold(0.0, f64::max);
    if time_s < rules.recovered_factor * longest {
        return None;
    }
    let saving = mean(inside, |p| p.s.disk_write_mb_s);
    if saving.is_some_and(|mb| mb >= rules.checkpoint_mb_s) {
        return None;
    }
    let fell = |what: fn(&Point) -> Option<f64>| {
        let then = quantile(
            before
                .iter()
                .filter(|p| p.state == State::Work)
                .filter_map(what),
            0.5,
        );
        mean(inside, what)
            .zip(then)
            .is_some_and(|(now, then)| now < 0.6 * then)
    };
    let second = fell(|p| p.s.power_w) || fell(|p| p.s.sm_clock_mhz) || fell(|p| p.s.mem_used_mib);
    let longest_work = curve.runs[..at].iter().filter(|r| r.state == State::Work);
    let worked_s = longest_work
        .map(|r| time_of(r.of(&curve.points)))
        .fold(0.0, f64::max);
    Some(Tail {
        from: run.from,
        time_s,
        sure: second && (time_s >= rules.sure_s || time_s >= worked_s),
    })
}

/// Stretches of waiting that are over, long enough to be told: from, to (points).
pub(super) fn waits(curve: &Curve, rules: &Rules) -> Vec<(usize, usize)> {
    let over = curve.runs.iter().filter(|r| r.state == State::Spin);
    let long = over
        .filter(|r| r.len() >= rules.hung_samples && time_of(r.of(&curve.points)) >= rules.sure_s);
    long.map(|r| (r.from, r.to)).collect()
}
