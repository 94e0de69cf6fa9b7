//! The state of a GPU in one sample, and stretches of one state.

use super::Rules;
use super::clean::Point;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No counter says what the GPU did.
    Blind,
    Off,
    /// A kernel runs all the time and nothing moves, by two signals: a stuck kernel, or a rank that waits.
    Spin,
    /// The same as far as can be seen, but without a second signal.
    Flat,
    Work,
}

impl State {
    pub(super) fn waits(self) -> bool {
        matches!(self, State::Spin | State::Flat)
    }

    fn same(self, other: State) -> bool {
        self == other || (self.waits() && other.waits())
    }
}

pub(super) fn of(p: &Point, work_w: Option<f64>, rules: &Rules) -> State {
    let Some(util) = p.util else {
        return State::Blind;
    };
    if util < rules.off_pct {
        let video = p.video().unwrap_or(0.0);
        return if video < 5.0 { State::Off } else { State::Work };
    }
    if util < rules.spin_util_pct {
        return State::Work;
    }
    if let (Some(tensor), Some(dram)) = (p.s.tensor_active_pct, p.s.dram_active_pct) {
        let still = tensor < rules.active_pct && dram < rules.active_pct;
        // a loop in registers moves nothing either, but it draws power
        let powered = power_low(p, work_w, rules) == Some(false);
        return if still && !powered {
            State::Spin
        } else {
            State::Work
        };
    }
    let flat = util >= rules.hung_util_pct;
    match (p.traffic, power_low(p, work_w, rules)) {
        (Some(traffic), Some(true)) if traffic <= rules.spin_traffic_pct => State::Spin,
        (Some(traffic), None) if traffic <= rules.hung_traffic_pct && flat => State::Flat,
        (None, Some(true)) if flat => State::Flat,
        (None, None) if flat => State::Flat,
        _ => State::Work,
    }
}

/// Is this the power of a card that gets nowhere? `None` without a power or anything to hold it against.
pub(super) fn power_low(p: &Point, work_w: Option<f64>, rules: &Rules) -> Option<bool> {
    let power = p.s.power_w?;
    let of_limit = p.s.power_limit_w.map(|limit| power / limit);
    let of_work = work_w.map(|work| power / work);
    if of_limit.is_none() && of_work.is_none() {
        return None;
    }
    let below = of_limit.is_some_and(|r| r < rules.spin_power_ratio);
    // a rank that waits draws more the larger the card; against its own work it shows
    let fell = of_work.is_some_and(|r| r < rules.spin_power_of_work);
    Some(below || fell)
}

/// Points `from..to` of one state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) state: State,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Run {
    pub(super) fn of<'a>(&self, points: &'a [Point]) -> &'a [Point] {
        &points[self.from..self.to]
    }

    pub(super) fn len(&self) -> usize {
        self.to - self.from
    }
}

/// From its first sample to the end of its last, seconds.
pub(super) fn time_of(points: &[Point]) -> f64 {
    points.iter().map(|p| p.hold_s).sum()
}

/// The stretches of one state, in order. A sample or two in a long wait that differ are taken for a flicker of the
/// counter, if there are few; work in a silence is work. A stretch of waiting is [`State::Spin`] if most of it is.
pub(super) fn runs(points: &[Point]) -> Vec<Run> {
    let mut raw: Vec<Run> = Vec::new();
    for (i, p) in points.iter().enumerate() {
        match raw.last_mut() {
            Some(run) if run.state.same(p.state) => run.to = i + 1,
            _ => raw.push(Run {
                state: p.state,
                from: i,
                to: i + 1,
            }),
        }
    }
    let mut out: Vec<Run> = Vec::with_capacity(raw.len());
    // samples of the last run of `out` that were taken for flicker
    let mut flickers = 0;
    let mut i = 0;
    while i < raw.len() {
        let run = raw[i];
        if let (Some(last), Some(next)) = (out.last_mut(), raw.get(i + 1)) {
            let waits = last.state.waits() && next.state.waits();
            let total = next.to - last.from;
            if waits && run.len() <= 2 && (flickers + run.len()) * 10 <= total {
                flickers += run.len();
                last.to = next.to;
                i += 2;
                continue;
            }
        }
        out.push(run);
        flickers = 0;
        i += 1;
    }
    for run in &mut out {
        if run.state.waits() {
            let sure = run.of(points).iter().filter(|p| p.state == State::Spin);
            let most = sure.count() * 2 > run.len();
            run.state = if most { State::Spin } else { State::Flat };
        }
    }
    out
}
