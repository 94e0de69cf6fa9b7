//! A series made fit for judging: in order of time, impossible values taken out, each sample with the time it
//! stands for and the state of the GPU.

use super::state::{self, Run, State};
use super::{GpuId, Rules, Sample, Series};

/// A sample as the rules see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) s: Sample,
    /// Share of time with a kernel running, 0 to 100, by the best counter there is.
    pub(super) util: Option<f64>,
    /// Share of time with memory traffic, 0 to 100, by the best counter there is.
    pub(super) traffic: Option<f64>,
    /// Seconds that this sample stands for; a hole counts no more than three steps.
    pub(super) hold_s: f64,
    pub(super) state: State,
}

impl Point {
    pub(super) fn end_s(&self) -> f64 {
        self.s.t_s + self.hold_s
    }

    /// The busier of the video engines.
    pub(super) fn video(&self) -> Option<f64> {
        larger(self.s.enc_pct, self.s.dec_pct)
    }
}

pub(super) struct Curve {
    pub(super) gpu: GpuId,
    pub(super) points: Vec<Point>,
    pub(super) runs: Vec<Run>,
    /// Typical distance of samples, seconds.
    pub(super) step_s: f64,
    /// Power of the job's own work, W, where it was seen.
    pub(super) work_w: Option<f64>,
    /// Times stand still, or leave out far more than they hold: nothing is sure.
    pub(super) doubtful: bool,
}

impl Curve {
    pub(super) fn new(series: &Series, rules: &Rules) -> Curve {
        let mut points: Vec<Point> = series
            .samples
            .iter()
            // beyond this a step of a second is lost in rounding: no clock counts that far
            .filter(|s| s.t_s.is_finite() && s.t_s.abs() < 1e12)
            .map(|s| Point::of(*s))
            .collect();
        if !points.is_sorted_by(|a, b| a.s.t_s <= b.s.t_s) {
            points.sort_by(|a, b| a.s.t_s.total_cmp(&b.s.t_s));
        }
        let steps = points.windows(2).map(|p| p[1].s.t_s - p[0].s.t_s);
        let step_s = quantile(steps.filter(|d| *d > 0.0), 0.5).unwrap_or(1.0);
        for i in 0..points.len() {
            let next = points.get(i + 1).map(|p| p.s.t_s - points[i].s.t_s);
            points[i].hold_s = next.map_or(step_s, |d| d.min(3.0 * step_s));
        }
        let steps = points.windows(2).map(|p| p[1].s.t_s - p[0].s.t_s);
        let (still, all) = (steps.clone().filter(|d| *d <= 0.0).count(), steps.len());
        let held: f64 = points.iter().map(|p| p.hold_s).sum();
        let span = points.last().zip(points.first());
        let span = span.map_or(0.0, |(last, first)| last.s.t_s - first.s.t_s);
        let doubtful = (all > 0 && 2 * still > all) || span > rules.hole_factor * held;
        let curve = Curve::of(series.gpu.clone(), points, step_s, rules);
        Curve { doubtful, ..curve }
    }

    fn of(gpu: GpuId, mut points: Vec<Point>, step_s: f64, rules: &Rules) -> Curve {
        let work_w = work_power(&points, rules);
        for p in &mut points {
            p.state = state::of(p, work_w, rules);
        }
        let runs = state::runs(&points);
        Curve {
            gpu,
            points,
            runs,
            step_s,
            work_w,
            doubtful: false,
        }
    }

    /// The curve without the silence before its first work, where that is no pause as others are: fetching data and
    /// loading a model say nothing of how the job runs.
    pub(super) fn after_set_up(&self, rules: &Rules) -> Option<Curve> {
        let (first, rest) = self.runs.split_first()?;
        let pauses = rest.iter().filter(|r| r.state == State::Off);
        let time = |r: &Run| state::time_of(r.of(&self.points));
        let longest = pauses.map(time).fold(0.0, f64::max);
        let set_up = first.state == State::Off
            && !rest.is_empty()
            && time(first) > rules.recovered_factor * longest;
        let points = self.points[first.to..].to_vec();
        set_up.then(|| Curve {
            doubtful: self.doubtful,
            ..Curve::of(self.gpu.clone(), points, self.step_s, rules)
        })
    }

    /// Seconds that the samples stand for.
    pub(super) fn time_s(&self) -> f64 {
        self.points.iter().map(|p| p.hold_s).sum()
    }

    pub(super) fn start_s(&self) -> f64 {
        self.points.first().map_or(0.0, |p| p.s.t_s)
    }

    pub(super) fn end_s(&self) -> f64 {
        self.points.last().map_or(0.0, Point::end_s)
    }
}

impl Point {
    fn of(s: Sample) -> Point {
        let s = Sample {
            t_s: s.t_s,
            util_gpu_pct: percent(s.util_gpu_pct),
            util_mem_pct: percent(s.util_mem_pct),
            enc_pct: percent(s.enc_pct),
            dec_pct: percent(s.dec_pct),
            power_w: within(s.power_w, 1e4),
            power_limit_w: within(s.power_limit_w, 1e4).filter(|w| *w > 0.0),
            sm_clock_mhz: within(s.sm_clock_mhz, 1e5),
            mem_used_mib: within(s.mem_used_mib, 1e9),
            temp_c: within(s.temp_c, 1e3),
            pcie_rx_mb_s: within(s.pcie_rx_mb_s, 1e7),
            cpu_busiest_core_pct: percent(s.cpu_busiest_core_pct),
            disk_write_mb_s: within(s.disk_write_mb_s, 1e7),
            gr_active_pct: percent(s.gr_active_pct),
            tensor_active_pct: percent(s.tensor_active_pct),
            dram_active_pct: percent(s.dram_active_pct),
            slowed: s.slowed,
        };
        Point {
            util: s.util_gpu_pct.or(s.gr_active_pct),
            traffic: s.dram_active_pct.or(s.util_mem_pct),
            s,
            hold_s: 0.0,
            state: State::Blind,
        }
    }
}

/// Rounding lets a counter end a little outside its range; what lies further off is damage.
fn percent(x: Option<f64>) -> Option<f64> {
    x.filter(|x| (-1.0..=105.0).contains(x))
        .map(|x| x.clamp(0.0, 100.0))
}

fn within(x: Option<f64>, most: f64) -> Option<f64> {
    x.filter(|x| (0.0..=most).contains(x))
}

/// The power at which this job works. Without a memory counter the upper end is taken, since a kernel that spins
/// may fill most of the series.
fn work_power(points: &[Point], rules: &Rules) -> Option<f64> {
    let busy = |p: &&Point| p.util.is_some_and(|u| u >= rules.under_level_pct);
    let moving = points
        .iter()
        .filter(busy)
        .filter(|p| p.traffic.is_some_and(|t| t > rules.spin_traffic_pct));
    let power: Vec<f64> = moving.filter_map(|p| p.s.power_w).collect();
    if power.len() >= 3 {
        return quantile(power.into_iter(), 0.5);
    }
    let blind = points.iter().filter(busy).filter(|p| p.traffic.is_none());
    let power: Vec<f64> = blind.filter_map(|p| p.s.power_w).collect();
    if power.len() < 3 {
        return None;
    }
    quantile(power.into_iter(), 0.9)
}

pub(super) fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// The value below which the share `q` of the values lies.
pub(super) fn quantile(values: impl Iterator<Item = f64>, q: f64) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return None;
    }
    let at = ((values.len() - 1) as f64 * q).round() as usize;
    let (_, value, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    Some(*value)
}

/// Mean over time of what is known; `None` where less than half of the time is.
pub(super) fn mean(points: &[Point], what: impl Fn(&Point) -> Option<f64>) -> Option<f64> {
    let (mut sum, mut known, mut all) = (0.0, 0.0, 0.0);
    for p in points {
        // samples of one instant still count a little, so that a mean exists
        let weight = p.hold_s.max(1e-9);
        all += weight;
        if let Some(x) = what(p) {
            sum += x * weight;
            known += weight;
        }
    }
    (known > 0.0 && known >= 0.5 * all).then(|| sum / known)
}
