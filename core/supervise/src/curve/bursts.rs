//! The shape of a curve: its level, its dips and whether they come at regular distances, its bursts.

use super::Rules;
use super::clean::{Curve, Point, mean, quantile};
use super::state::{State, time_of};

/// Points `from..to` below a share of the busy level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dip {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) disk: Option<f64>,
    pub(super) core: Option<f64>,
    pub(super) rx: Option<f64>,
}

pub(super) struct Shape {
    pub(super) mean: f64,
    /// Level that the best tenth of the samples reaches.
    pub(super) level: f64,
    pub(super) median: f64,
    pub(super) peak: f64,
    /// Share of the time at about 0.
    pub(super) off: f64,
    pub(super) bursts: usize,
    pub(super) dips: Vec<Dip>,
    /// Share of the time outside dips.
    pub(super) duty: f64,
    /// Deviation of the busy samples over their mean.
    pub(super) spread: f64,
    /// Share of the samples neither at the busy level nor at about 0.
    pub(super) between: f64,
    /// Disk writes outside dips, MB/s.
    pub(super) disk_outside: Option<f64>,
}

/// Does a sample belong to a dip of a curve with this busy level?
fn low(p: &Point, level: f64, rules: &Rules) -> bool {
    p.util.is_some_and(|u| u < rules.dip_share * level)
}

/// The samples in which a rank only waits: it gets nowhere either, whatever its utilisation. Light kernels look alike
/// for a sample or two, so that only stretches without traffic count.
fn still(curve: &Curve, rules: &Rules) -> Vec<bool> {
    let mut out = vec![false; curve.points.len()];
    for run in curve.runs.iter().filter(|r| r.state == State::Spin) {
        let inside = run.of(&curve.points);
        let traffic = mean(inside, |p| p.traffic);
        if run.len() >= 3 && traffic.is_none_or(|t| t <= rules.hung_traffic_sure_pct) {
            out[run.from..run.to].fill(true);
        }
    }
    out
}

pub(super) fn shape(curve: &Curve, rules: &Rules) -> Shape {
    let points = &curve.points;
    let utils = || points.iter().filter_map(|p| p.util);
    let level = quantile(utils(), 0.9).unwrap_or(0.0);
    let still = still(curve, rules);
    let mut dips: Vec<Dip> = Vec::new();
    let mut open: Option<usize> = None;
    let mut bursts = 0;
    let mut bursting = false;
    for (i, p) in points.iter().enumerate() {
        if let Some(u) = p.util {
            let now = u >= rules.off_pct;
            bursts += usize::from(now && !bursting);
            bursting = now;
        }
        match (still[i] || low(p, level, rules), open) {
            (true, None) => open = Some(i),
            (false, Some(from)) if p.util.is_some() => {
                dips.push(dip(points, from, i));
                open = None;
            }
            _ => {}
        }
    }
    dips.extend(open.map(|from| dip(points, from, points.len())));
    let time = curve.time_s();
    let in_dips: f64 = dips.iter().map(|d| time_of(&points[d.from..d.to])).sum();
    let share = |f: &dyn Fn(f64) -> bool| {
        let hit = points.iter().filter(|p| p.util.is_some_and(f));
        let all: f64 = points
            .iter()
            .filter(|p| p.util.is_some())
            .map(|p| p.hold_s)
            .sum();
        let hit: f64 = hit.map(|p| p.hold_s).sum();
        if all > 0.0 { hit / all } else { 0.0 }
    };
    let busy: Vec<f64> = utils().filter(|u| *u >= rules.dip_share * level).collect();
    let outside = points
        .iter()
        .zip(&still)
        .filter(|(p, still)| !**still && !low(p, level, rules))
        .map(|(p, _)| p);
    Shape {
        mean: mean(points, |p| p.util).unwrap_or(0.0),
        level,
        median: quantile(utils(), 0.5).unwrap_or(0.0),
        peak: quantile(utils(), 0.99).unwrap_or(0.0),
        off: share(&|u| u < rules.off_pct),
        bursts,
        duty: if time > 0.0 {
            1.0 - in_dips / time
        } else {
            1.0
        },
        spread: spread(&busy),
        between: share(&|u| u >= rules.off_pct && u < rules.dip_share * level),
        disk_outside: quantile(outside.filter_map(|p| p.s.disk_write_mb_s), 0.5),
        dips,
    }
}

fn dip(points: &[Point], from: usize, to: usize) -> Dip {
    let inside = &points[from..to];
    Dip {
        from,
        to,
        disk: mean(inside, |p| p.s.disk_write_mb_s),
        core: mean(inside, |p| p.s.cpu_busiest_core_pct),
        rx: mean(inside, |p| p.s.pcie_rx_mb_s),
    }
}

/// Standard deviation over mean.
pub(super) fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 || mean <= 0.0 {
        return 0.0;
    }
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    square.sqrt() / mean
}

impl Shape {
    /// The distance of dips, seconds, if they are regular: most distances of their beginnings near the median. A
    /// dip that the series begins with has no beginning. Distances of less than four samples look regular
    /// whatever they are.
    pub(super) fn period(curve: &Curve, dips: &[Dip], rules: &Rules) -> Option<f64> {
        let starts: Vec<f64> = dips
            .iter()
            .filter(|d| d.from > 0)
            .map(|d| curve.points[d.from].s.t_s)
            .collect();
        if starts.len() < rules.regular_count {
            return None;
        }
        let gaps: Vec<f64> = starts.windows(2).map(|s| s[1] - s[0]).collect();
        let period = quantile(gaps.iter().copied(), 0.5)?;
        let slack = (rules.regular * period).max(1.5 * curve.step_s);
        let near = gaps
            .iter()
            .filter(|g| (**g - period).abs() <= slack)
            .count();
        (near * 10 >= gaps.len() * 7 && period >= 4.0 * curve.step_s).then_some(period)
    }

    /// Mean over dips of one of their figures, by time.
    pub(super) fn in_dips(&self, curve: &Curve, what: impl Fn(&Dip) -> Option<f64>) -> Option<f64> {
        let (mut sum, mut time) = (0.0, 0.0);
        for d in &self.dips {
            if let Some(x) = what(d) {
                let t = time_of(&curve.points[d.from..d.to]).max(1e-9);
                sum += x * t;
                time += t;
            }
        }
        (time > 0.0).then(|| sum / time)
    }
}
