//! Dips and bursts: a loader that cannot follow, a job that saves or validates, requests that come and go.

use super::Rules;
use super::bursts::{Dip, Shape};
use super::clean::{Curve, Point, mean};
use super::judge::{Verdict, grade, share, span, whole};
use super::label::{Confidence, Label};
use super::state::time_of;
use lessee_model::Msg;

pub(super) fn dips(curve: &Curve, shape: &Shape, rules: &Rules) -> Option<Verdict> {
    let saved: Vec<Dip> = saves(shape, rules);
    if saved.len() >= 2 {
        return Some(checkpoints(curve, &saved, rules));
    }
    if let Some(v) = starved(curve, shape, rules) {
        return Some(v);
    }
    if shape.duty >= rules.duty_work {
        return pauses(curve, shape, &saved, rules);
    }
    bursty(curve, shape, rules)
}

/// The dips in which the disk writes as it does not outside.
fn saves(shape: &Shape, rules: &Rules) -> Vec<Dip> {
    let outside = shape.disk_outside.unwrap_or(0.0);
    let written = |d: &&Dip| {
        d.disk.is_some_and(|mb| {
            mb >= rules.checkpoint_mb_s && mb >= rules.checkpoint_factor * outside
        })
    };
    shape.dips.iter().filter(written).copied().collect()
}

fn lost(curve: &Curve, dips: &[Dip]) -> f64 {
    let time: f64 = dips
        .iter()
        .map(|d| time_of(&curve.points[d.from..d.to]))
        .sum();
    time / curve.time_s().max(1e-9)
}

fn checkpoints(curve: &Curve, saved: &[Dip], rules: &Rules) -> Verdict {
    let label = Label::PeriodicDipCheckpoint;
    let period = Shape::period(curve, saved, rules);
    let written = |d: &Dip| d.disk.unwrap_or(0.0);
    let disk = saved.iter().map(written).sum::<f64>() / saved.len() as f64;
    let why = match period {
        Some(s) => Msg::new("watch-why-checkpoint").seconds("period", s),
        None => Msg::new("watch-why-checkpoint-irregular").arg("n", saved.len()),
    }
    .arg("share", share(lost(curve, saved)))
    .arg("disk", disk.round());
    let cause = |d: &Dip| Msg::new("watch-cause-checkpoint").arg("disk", written(d).round());
    Verdict {
        label,
        confidence: if period.is_some() {
            Confidence::High
        } else {
            Confidence::Possible
        },
        why,
        spans: saved
            .iter()
            .take(rules.max_spans)
            .filter_map(|d| span(&curve.points[d.from..d.to], label, cause(d)))
            .collect(),
    }
}

/// The GPU waits for its input. A core that does nothing else says so; without that column only a step that repeats
/// exactly does, and never surely.
fn starved(curve: &Curve, shape: &Shape, rules: &Rules) -> Option<Verdict> {
    if shape.mean >= rules.stall_mean_pct {
        return None;
    }
    let label = Label::StarvedCpu;
    let points = &curve.points;
    // not working, by dips; a sampler slower than the step sees a level without dips
    let core = shape
        .in_dips(curve, |d| d.core)
        .or_else(|| mean(points, |p| p.s.cpu_busiest_core_pct));
    let rx = shape
        .in_dips(curve, |d| d.rx)
        .or_else(|| mean(points, |p| p.s.pcie_rx_mb_s));
    let period = Shape::period(curve, &shape.dips, rules);
    let dipping = shape.dips.len() >= 3;
    let little = rx.is_none_or(|mb| mb < rules.starved_rx_mb_s);
    if core.is_some_and(|c| c >= rules.core_pct) && little {
        let signals = 1 + usize::from(rx.is_some()) + usize::from(period.is_some());
        let sure = dipping && signals >= 2 && points.len() >= 20;
        let core = core.unwrap_or(100.0).round();
        return Some(Verdict {
            label,
            confidence: if sure {
                Confidence::High
            } else {
                Confidence::Possible
            },
            why: Msg::new("watch-why-starved")
                .arg("mean", shape.mean.round())
                .arg("core", core),
            spans: waiting(
                curve,
                shape,
                Msg::new("watch-cause-loader").arg("core", core),
            ),
        });
    }
    // a step repeats: always the same level, nothing between, soon again
    let steps = dipping
        && little
        && shape.off >= rules.burst_off_share
        && shape.level >= 85.0
        && shape.spread <= rules.step_spread
        && shape.between <= 0.1
        && curve.step_s <= rules.step_s / 3.0;
    let soon = period.is_none_or(|s| s <= rules.step_s);
    let quick = curve.time_s() / (shape.dips.len() as f64) <= rules.step_s;
    (steps && soon && quick).then(|| Verdict {
        label,
        confidence: if period.is_some() && core.is_none() {
            Confidence::Possible
        } else {
            Confidence::Low
        },
        why: Msg::new("watch-why-steps")
            .arg("mean", shape.mean.round())
            .arg("duty", share(shape.duty)),
        spans: waiting(curve, shape, Msg::new("watch-cause-loader-unseen")),
    })
}

/// From the first dip to the last: a job may run well before its input runs short. Without dips, all of it.
fn waiting(curve: &Curve, shape: &Shape, cause: Msg) -> Vec<super::Span> {
    let label = Label::StarvedCpu;
    match (shape.dips.first(), shape.dips.last()) {
        (Some(a), Some(b)) if shape.dips.len() >= 3 => {
            let inside = &curve.points[a.from..b.to];
            span(inside, label, cause).into_iter().collect()
        }
        _ => whole(curve, label, cause),
    }
}

/// Works most of the time, with dips that no disk column explains.
fn pauses(curve: &Curve, shape: &Shape, saved: &[Dip], rules: &Rules) -> Option<Verdict> {
    // a level that is never high is no work that stalls
    if shape.level < rules.healthy_level_pct || shape.dips.is_empty() {
        return None;
    }
    let disk_seen = shape.dips.iter().any(|d| d.disk.is_some());
    let deep = |d: &&Dip| {
        let inside = &curve.points[d.from..d.to];
        let util = mean(inside, |p: &Point| p.util);
        // ranks that wait for the one that saves show 100 and move nothing
        let waits = inside.iter().filter(|p| p.state.waits()).count() * 2 > inside.len();
        // a dip that is one short sample deep is no pause
        (waits || util.is_some_and(|u| u < 10.0)) && (d.to - d.from >= 3 || curve.step_s >= 5.0)
    };
    let long: Vec<Dip> = shape.dips.iter().filter(deep).copied().collect();
    let period = Shape::period(curve, &long, rules);
    if let Some(s) = period.filter(|_| !disk_seen && lost(curve, &long) >= rules.dip_time_share) {
        // without a disk column: further apart than a step, it saves or validates
        let label = if s > rules.step_s {
            Label::PeriodicDipCheckpoint
        } else {
            Label::StarvedCpu
        };
        let cause = |_: &Dip| {
            if s > rules.step_s {
                Msg::new("watch-cause-saving-unseen")
            } else {
                Msg::new("watch-cause-loader-unseen")
            }
        };
        return Some(Verdict {
            label,
            confidence: Confidence::Possible,
            why: Msg::new("watch-why-periodic")
                .seconds("period", s)
                .arg("share", share(lost(curve, &long))),
            spans: long
                .iter()
                .take(rules.max_spans)
                .filter_map(|d| span(&curve.points[d.from..d.to], label, cause(d)))
                .collect(),
        });
    }
    if period.is_some() || shape.mean >= rules.stall_mean_pct {
        let level = super::level::working(curve, shape, rules);
        let label = level.label;
        let spans = shape.dips.iter().take(rules.max_spans).filter_map(|d| {
            let (label, cause) = if saved.iter().any(|s| s.from == d.from) {
                let disk = d.disk.unwrap_or(0.0).round();
                let cause = Msg::new("watch-cause-checkpoint").arg("disk", disk);
                (Label::PeriodicDipCheckpoint, cause)
            } else {
                (label, Msg::new("watch-cause-validation"))
            };
            span(&curve.points[d.from..d.to], label, cause)
        });
        return Some(Verdict {
            spans: spans.collect(),
            ..level
        });
    }
    let label = Label::PartiallyUtilised;
    Some(Verdict {
        label,
        confidence: Confidence::Possible.min(grade(curve, 1)),
        why: Msg::new("watch-why-stalls")
            .arg("mean", shape.mean.round())
            .arg("n", shape.dips.len()),
        spans: whole(curve, label, Msg::new("watch-cause-stalls")),
    })
}

/// Requests that come and go.
fn bursty(curve: &Curve, shape: &Shape, rules: &Rules) -> Option<Verdict> {
    if shape.off < rules.burst_off_share || shape.bursts < rules.burst_count {
        return None;
    }
    let little = shape.mean < rules.under_mean_pct || shape.peak < rules.full_peak_pct;
    let signals = 1
        + usize::from(mean(&curve.points, |p| p.traffic).is_some())
        + usize::from(mean(&curve.points, |p| p.s.power_w).is_some());
    // only the processors would tell requests from a loader that comes and goes
    let host = mean(&curve.points, |p| p.s.cpu_busiest_core_pct).is_some();
    let id = match host {
        true => "watch-why-bursts",
        false => "watch-why-bursts-or-starved",
    };
    let why = Msg::new(id)
        .arg("mean", shape.mean.round())
        .arg("busy", share(1.0 - shape.off))
        .arg("peak", shape.peak.round());
    let (label, spans) = if little {
        let label = Label::UnderutilisedBurstyServing;
        (label, whole(curve, label, Msg::new("watch-cause-bursts")))
    } else {
        (Label::HealthyBurstyServing, Vec::new())
    };
    Some(Verdict {
        label,
        confidence: grade(curve, signals),
        why,
        spans,
    })
}
