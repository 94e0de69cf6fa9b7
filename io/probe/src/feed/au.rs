//! Accelerator utilisation as MLPerf Storage defines it, from the raw times of steps: compute time over total time, the first
//! step left out. Also the curve over time and the stalls. Pure arithmetic; `benches/feed_au.py` computes the same apart.

use lessee_model::probe::{CurvePoint, Stall, StepTime};

/// Points of the curve, whatever the length of the run.
const POINTS: usize = 60;
const STALLS_MAX: usize = 200;

/// `None` where there are fewer than two steps after the first, or no time to divide by.
pub fn utilisation(steps: &[StepTime]) -> Option<f64> {
    let (first, rest) = steps.split_first()?;
    let total = rest.last()?.end_s - first.end_s;
    let compute: f64 = rest.iter().map(|s| s.compute_s).sum();
    (rest.len() >= 2 && total > 0.0 && compute > 0.0).then(|| (compute / total).min(1.0))
}

pub(super) fn curve(steps: &[StepTime]) -> Vec<CurvePoint> {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return Vec::new();
    };
    // an interval shorter than a few steps shows the steps, not the feed
    let points = (steps.len() / 4).clamp(1, POINTS);
    let start = first.asked_s;
    let width = (last.end_s - start) / points as f64;
    if width <= 0.0 {
        return Vec::new();
    }
    let mut busy = vec![0.0; points];
    for step in steps {
        let (from, to) = (
            step.got_s + step.copy_s,
            step.got_s + step.copy_s + step.compute_s,
        );
        let first = ((from - start) / width) as usize;
        for (i, busy) in busy.iter_mut().enumerate().skip(first) {
            let (left, right) = (start + width * i as f64, start + width * (i + 1) as f64);
            if left >= to {
                break;
            }
            *busy += (to.min(right) - from.max(left)).max(0.0);
        }
    }
    let point = |(i, busy): (usize, f64)| CurvePoint {
        at_s: start + width * i as f64,
        utilisation: (busy / width).min(1.0),
    };
    busy.into_iter().enumerate().map(point).collect()
}

/// The first [`STALLS_MAX`]; the first step, which always waits, is left out.
pub(super) fn stalls(steps: &[StepTime], step_s: f64) -> Vec<Stall> {
    let waited = |s: &&StepTime| step_s > 0.0 && s.got_s - s.asked_s > step_s;
    let stall = |s: &StepTime| Stall {
        from_s: s.asked_s,
        to_s: s.got_s,
    };
    let all = steps.iter().skip(1).filter(waited).map(stall);
    all.take(STALLS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(waits: &[f64], compute: f64) -> Vec<StepTime> {
        let mut now = 0.0;
        let step = |wait: &f64| {
            let asked_s = now;
            now += wait + compute;
            StepTime {
                asked_s,
                got_s: asked_s + wait,
                end_s: now,
                copy_s: 0.0,
                compute_s: compute,
                kernel_s: None,
            }
        };
        waits.iter().map(step).collect()
    }

    #[test]
    fn the_first_step_is_left_out() {
        let s = steps(&[100.0, 0.0, 1.0, 0.0], 1.0);
        assert!((utilisation(&s).unwrap() - 0.75).abs() < 1e-9);
        assert_eq!(utilisation(&s[..2]), None, "one step says nothing");
        assert_eq!(utilisation(&[]), None);
        assert_eq!(
            utilisation(&steps(&[1.0; 4], 0.0)),
            None,
            "an unpaced pass has none"
        );
    }

    #[test]
    fn the_curve_holds_all_compute_time_and_stalls_are_where_it_falls() {
        let mut waits = [0.0; 40];
        waits[20] = 10.0;
        let s = steps(&waits, 1.0);
        let curve = curve(&s);
        assert_eq!(curve.len(), 10);
        let mean: f64 = curve.iter().map(|p| p.utilisation).sum::<f64>() / 10.0;
        assert!((mean - 0.8).abs() < 1e-9);
        assert_eq!(
            stalls(&s, 1.0),
            [Stall {
                from_s: 20.0,
                to_s: 30.0
            }]
        );
        assert!(curve.iter().any(|p| p.utilisation < 0.1));
    }
}
