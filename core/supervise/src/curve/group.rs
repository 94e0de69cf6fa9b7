//! The GPUs of a machine side by side. Alone, a rank that waits looks like a hang; beside the others it shows
//! whether one is late or all wait for each other.

use super::Rules;
use super::clean::{Curve, Point};
use super::clock;
use super::idle::{self, Hang};
use super::state::State;
use std::sync::Arc;

/// What the others tell of one GPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    pub(super) hang: Option<Hang>,
    /// GPUs that hang at the end, this one included.
    pub(super) hung: usize,
    /// There is more than one GPU.
    pub(super) several: bool,
    pub(super) late: Vec<Late>,
    /// Highest clock under load of another GPU, MHz.
    pub(super) clock_mhz: Option<f64>,
}

/// A time in which some GPUs wait for others.
#[derive(Clone, Debug)]
pub(super) struct Late {
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    /// This GPU is one of those that the others wait for.
    pub(super) late: bool,
    /// The late ones, as people name them.
    pub(super) names: Arc<str>,
    pub(super) waiting: usize,
    /// Power or memory traffic say so, and the late one stands still after work.
    pub(super) sure: bool,
    /// It lasts to the end of the series.
    pub(super) ongoing: bool,
}

pub(super) fn look(curves: &[Curve], rules: &Rules) -> Vec<Together> {
    let mut out: Vec<Together> = curves
        .iter()
        .map(|c| Together {
            hang: idle::hang(c, rules),
            several: curves.len() > 1,
            ..Together::default()
        })
        .collect();
    if curves.len() < 2 {
        out.iter_mut()
            .for_each(|t| t.hung = usize::from(t.hang.is_some()));
        return out;
    }
    let hung = out.iter().filter(|t| t.hang.is_some()).count();
    let clocks: Vec<Option<f64>> = curves.iter().map(|c| clock::plateau(c, rules)).collect();
    let best = highest(&clocks, None);
    // the best of the others differs from the best of all only for the best itself
    let second = highest(&clocks, best.map(|(i, _)| i));
    for (i, t) in out.iter_mut().enumerate() {
        t.hung = hung;
        let of_others = if best.is_some_and(|(b, _)| b == i) {
            second
        } else {
            best
        };
        t.clock_mhz = of_others.map(|(_, mhz)| mhz);
    }
    let part = in_job(curves);
    for time in late_times(curves, &part, rules) {
        tell(curves, &part, &time, rules, &mut out);
    }
    out
}

fn highest(clocks: &[Option<f64>], but: Option<usize>) -> Option<(usize, f64)> {
    let known = clocks
        .iter()
        .enumerate()
        .filter_map(|(i, c)| Some((i, (*c)?)));
    known
        .filter(|(i, _)| Some(*i) != but)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

struct Time {
    from_s: f64,
    to_s: f64,
    ongoing: bool,
}

/// A GPU that never did anything while others worked is not part of the job.
fn in_job(curves: &[Curve]) -> Vec<bool> {
    let busy = |c: &Curve| c.points.iter().any(|p| p.util.is_some_and(|u| u >= 50.0));
    let worked = |c: &&Curve| c.points.iter().filter(|p| p.state == State::Work).count() >= 5;
    let someone = curves.iter().any(|c| worked(&c));
    curves.iter().map(|c| busy(c) || !someone).collect()
}

/// Times in which most GPUs wait and some do not. The samples of all GPUs are put into cells of one sampling
/// step; each GPU keeps its state until its next sample.
fn late_times(curves: &[Curve], part: &[bool], rules: &Rules) -> Vec<Time> {
    let active = part.iter().filter(|p| **p).count();
    if active < 2 {
        return Vec::new();
    }
    let step = curves.iter().map(|c| c.step_s).fold(0.0, f64::max);
    let start = curves
        .iter()
        .map(Curve::start_s)
        .fold(f64::INFINITY, f64::min);
    let mut events: Vec<(i64, usize, State)> = Vec::new();
    for (i, curve) in curves.iter().enumerate().filter(|(i, _)| part[*i]) {
        let cell = |p: &Point| ((p.s.t_s - start) / step).round() as i64;
        events.extend(curve.points.iter().map(|p| (cell(p), i, p.state)));
    }
    events.sort_by_key(|(cell, gpu, _)| (*cell, *gpu));
    let need = if active == 2 {
        1
    } else {
        (rules.waiting_share * active as f64).ceil() as usize
    };
    let mut state = vec![State::Blind; curves.len()];
    let (mut waiting, mut blind) = (0_usize, active);
    let mut runs: Vec<(i64, i64)> = Vec::new();
    let mut at = 0;
    while at < events.len() {
        let cell = events[at].0;
        while at < events.len() && events[at].0 == cell {
            let (_, gpu, now) = events[at];
            let old = std::mem::replace(&mut state[gpu], now);
            waiting = waiting + usize::from(now.waits()) - usize::from(old.waits());
            blind = blind + usize::from(now == State::Blind) - usize::from(old == State::Blind);
            at += 1;
        }
        if waiting >= need && waiting + blind < active {
            match runs.last_mut() {
                // two cells of something else are a flicker
                Some((_, to)) if cell - *to <= 2 => *to = cell + 1,
                _ => runs.push((cell, cell + 1)),
            }
        }
    }
    let end = events.last().map_or(0, |e| e.0) + 1;
    let time = |cell: i64| start + cell as f64 * step;
    let long = runs.into_iter().filter(|(from, to)| {
        let cells = to - from;
        cells >= rules.straggler_samples as i64 && cells as f64 * step >= rules.straggler_s
    });
    let mut longest: f64 = 0.0;
    let mut out = Vec::new();
    for (from, to) in long.take(rules.max_spans) {
        let length = (to - from) as f64;
        // as long as those before: it will pass as they did
        let ongoing = end - to <= 2 && length >= rules.recovered_factor * longest;
        longest = longest.max(length);
        out.push(Time {
            from_s: time(from),
            to_s: time(to),
            ongoing,
        });
    }
    out
}

/// Tells each GPU of a time what it did in it: late, or waiting.
fn tell(curves: &[Curve], part: &[bool], time: &Time, rules: &Rules, out: &mut [Together]) {
    #[derive(PartialEq)]
    enum Role {
        None,
        Waits,
        Late,
    }
    let mut strong = 0;
    let mut roles = Vec::with_capacity(curves.len());
    let mut stopped = true;
    for (i, curve) in curves.iter().enumerate() {
        let points = &curve.points;
        let half = curve.step_s / 2.0;
        let from = points.partition_point(|p| p.s.t_s < time.from_s - half);
        let to = points.partition_point(|p| p.s.t_s < time.to_s - half);
        let inside = &points[from..to.max(from)];
        let share = |f: &dyn Fn(&Point) -> bool| {
            inside.iter().filter(|p| f(p)).count() as f64 / inside.len().max(1) as f64
        };
        let waits = share(&|p| p.state.waits());
        if !part[i] || inside.is_empty() || share(&|p| p.state == State::Blind) > 0.5 {
            roles.push(Role::None);
        } else if waits >= 0.5 {
            strong += usize::from(share(&|p| p.state == State::Spin) >= 0.5);
            roles.push(Role::Waits);
        } else {
            let off = share(&|p| p.state == State::Off) >= 0.5;
            let worked = points[..from]
                .iter()
                .any(|p| p.util.is_some_and(|u| u >= 50.0));
            stopped &= off && worked;
            roles.push(Role::Late);
        }
    }
    let waiting = roles.iter().filter(|r| **r == Role::Waits).count();
    let late: Vec<String> = roles
        .iter()
        .zip(curves)
        .filter(|(r, _)| **r == Role::Late)
        .map(|(_, c)| c.gpu.to_string())
        .take(16)
        .collect();
    let shown = strong * 2 > waiting;
    // waiting on nothing but 100 % is believed only where the late one stopped after work
    if late.is_empty() || waiting == 0 || !(shown || stopped) {
        return;
    }
    let names: Arc<str> = late.join(", ").into();
    let sure = shown && stopped && waiting >= 2 && time.to_s - time.from_s >= rules.sure_s / 2.0;
    for (t, role) in out.iter_mut().zip(roles).filter(|(_, r)| *r != Role::None) {
        t.late.push(Late {
            from_s: time.from_s,
            to_s: time.to_s,
            late: role == Role::Late,
            names: names.clone(),
            waiting,
            sure,
            ongoing: time.ongoing,
        });
    }
}
