//! From a predicted speed and a rate of interruption to the run that has to be paid for.
//!
//! The model: interruptions strike each machine at a constant rate (Poisson). Work in lockstep (training) stops
//! on every machine when one is lost and goes on from the last checkpoint; independent work (trials, frames,
//! requests) loses only the piece that was on the lost machine. On average half of what lies between two
//! checkpoints is lost. Not here: replaying recorded traces, and prices.

use crate::bill::Run;
use lessee_model::Prediction;
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::{Job, Workload};

/// Interruptions of a whole job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Seconds until the work is done, repeated work included.
    pub wall_s: f64,
    /// Expected number over the whole fleet.
    pub interruptions: f64,
}

/// Solves T = W + T x rate x lost, i.e. T = W / (1 - rate x lost): while lost work is repeated, the machine can
/// be lost again. `work_s` is the time without interruption, `rate_per_hour` counts interruptions that stop
/// this work, `lost_s` is what each costs in wall seconds. `None`: it never finishes, because each
/// interruption costs more than what is done between two.
pub fn expected_interruptions(work_s: f64, rate_per_hour: f64, lost_s: f64) -> Option<Expected> {
    let rate = rate_per_hour.max(0.0) / 3600.0;
    let progress = 1.0 - rate * lost_s.max(0.0);
    let wall_s = work_s / progress;
    (progress > 0.0 && wall_s.is_finite()).then_some(Expected {
        wall_s,
        interruptions: wall_s * rate,
    })
}

/// The 90th percentile of a Poisson count: the smallest k with P(X <= k) >= 0.9. Above a mean of 200 the
/// normal approximation `m + 1.2816 sqrt(m)`, rounded up.
pub fn poisson_p90(mean: f64) -> f64 {
    if mean.is_nan() || mean <= 0.0 {
        return 0.0;
    }
    if mean > 200.0 {
        return (mean + 1.2816 * mean.sqrt()).ceil();
    }
    let mut term = (-mean).exp();
    let mut sum = term;
    let mut k = 0.0;
    while sum < 0.9 && k < 1000.0 {
        k += 1.0;
        term *= mean / k;
        sum += term;
    }
    k
}

/// What is lost with one machine.
struct Loss {
    /// Whether all machines stop with it.
    gang: bool,
    /// Seconds of work between two safe points on one machine.
    piece_s: f64,
}

/// The run of a workload at a predicted speed on `nodes` machines: the median from `per_second`, the 90th
/// percentile from `low`. `risk` is the rate of interruption (`None` = not interruptible), `boot_s` the
/// time until a replacement is up. `None`: the speed is zero, or it never finishes at this rate.
pub fn expected_run(
    workload: &Workload,
    prediction: &Prediction,
    nodes: u32,
    risk: Option<&SpotRisk>,
    boot_s: f64,
) -> Option<Run> {
    let (work_s, work_p90_s) = durations(workload, prediction)?;
    let machines = f64::from(nodes.max(1));
    let layout = &prediction.layout;
    let gpus = [
        layout.data_parallel,
        layout.tensor_parallel,
        layout.pipeline_parallel,
    ]
    .into_iter()
    .fold(1u32, |n, x| n.saturating_mul(x.max(1)));
    let checkpoints = checkpoints(workload, work_s, machines.max(f64::from(gpus)));
    let calm = Run {
        work_s,
        work_p90_s,
        checkpoints,
        gpus,
        ..Run::default()
    };
    let hazard = risk.map_or(0.0, |r| r.hazard_per_hour);
    if hazard.is_nan() || hazard <= 0.0 {
        return Some(calm);
    }
    let serving = matches!(workload.job, Job::Serve(_));
    let again = workload.setup.restart.0 + boot_s.max(0.0);
    let loss = loss(workload, prediction, machines, work_s);
    let one_machine = loss.piece_s.min(work_s) / 2.0 + again;
    let all = hazard * machines;
    // the time by which the whole fleet falls behind: all of it in lockstep, else its share of one machine's
    let lost_s = if loss.gang {
        one_machine
    } else {
        one_machine / machines
    };
    let repeated = if serving { 0.0 } else { lost_s };
    let median = expected_interruptions(work_s, all, repeated)?;
    let slow = expected_interruptions(work_p90_s, all, repeated)?;
    Some(Run {
        interruptions: median.interruptions,
        interruptions_p90: poisson_p90(slow.interruptions).max(median.interruptions),
        lost_s,
        ..calm
    })
}

fn durations(workload: &Workload, prediction: &Prediction) -> Option<(f64, f64)> {
    let units = match &workload.job {
        Job::Serve(serve) => return Some((serve.duration.0, serve.duration.0)),
        Job::Train(train) => train.units,
        Job::Sweep(sweep) => f64::from(sweep.trials),
        Job::Render(render) => render.frames,
        Job::Hours(hours) => hours.gpu_hours,
    };
    let fast = prediction.per_second;
    let slow = if prediction.low > 0.0 {
        prediction.low.min(fast)
    } else {
        fast
    };
    let (median, p90) = (units / fast, units / slow);
    (fast > 0.0 && median.is_finite() && p90.is_finite()).then_some((median, p90))
}

/// Seconds of work between two safe points: of the whole fleet in lockstep, of one machine where pieces are
/// independent.
pub fn piece_seconds(workload: &Workload, prediction: &Prediction, nodes: u32, work_s: f64) -> f64 {
    loss(workload, prediction, f64::from(nodes.max(1)), work_s).piece_s
}

fn loss(workload: &Workload, prediction: &Prediction, machines: f64, work_s: f64) -> Loss {
    let every = workload.checkpoint.as_ref().map(|c| c.every.0);
    // one unit takes as long on one machine as the fleet needs for as many units as it has machines
    let unit_s = machines / prediction.per_second;
    let (gang, piece_s) = match &workload.job {
        // without checkpoints all of the work so far is lost
        Job::Train(_) | Job::Hours(_) => (true, every.unwrap_or(work_s)),
        Job::Sweep(_) => (false, every.unwrap_or(unit_s).min(unit_s)),
        Job::Render(_) => (false, unit_s),
        Job::Serve(_) => (false, 0.0),
    };
    Loss { gang, piece_s }
}

/// Checkpoints written over the job. Parallel trials each write their own.
fn checkpoints(workload: &Workload, work_s: f64, gpus: f64) -> f64 {
    let Some(checkpoint) = &workload.checkpoint else {
        return 0.0;
    };
    let count = work_s / checkpoint.every.0.max(1.0);
    match &workload.job {
        Job::Sweep(sweep) => {
            let at_once = (gpus / f64::from(sweep.gpus_per_trial.max(1))).clamp(
                1.0,
                f64::from(sweep.parallel.unwrap_or(sweep.trials).max(1)),
            );
            // a trial ends with a checkpoint however short it is
            (count * at_once).max(f64::from(sweep.trials))
        }
        // the result itself is the last one
        Job::Train(_) => count.max(1.0),
        Job::Hours(_) => count,
        Job::Render(_) | Job::Serve(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_repeats_the_repetition() {
        // one interruption every 10 h, each costs 1 h: 9 useful hours of every 10
        let e = expected_interruptions(90.0 * 3600.0, 0.1, 3600.0).expect("finishes");
        assert!((e.wall_s / 3600.0 - 100.0).abs() < 1e-9);
        assert!((e.interruptions - 10.0).abs() < 1e-9);
        assert_eq!(expected_interruptions(1.0, 1.0, 3600.0), None);
        assert_eq!(expected_interruptions(1.0, 2.0, 3600.0), None);
        assert_eq!(expected_interruptions(f64::INFINITY, 0.0, 0.0), None);
    }

    #[test]
    fn poisson_quantiles_match_tables() {
        for (mean, k) in [
            (0.0, 0.0),
            (0.1, 0.0),
            (0.2, 1.0),
            (1.0, 2.0),
            (5.0, 8.0),
            (10.0, 14.0),
        ] {
            assert_eq!(poisson_p90(mean), k, "{mean}");
        }
        // the approximation takes over without a jump
        assert!((poisson_p90(200.0) - poisson_p90(200.1)).abs() <= 2.0);
        assert!(poisson_p90(f64::NAN) == 0.0 && poisson_p90(1e300).is_finite());
    }
}
