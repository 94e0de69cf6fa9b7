//! One GPU's reading. What stops a job is looked for first, then what slows it, then how much of the card it uses.

use super::bursts::{self, Shape};
use super::clean::{Curve, Point, mean, quantile};
use super::clock::{self, Slow};
use super::group::{Late, Together};
use super::idle::{self, Hang, Tail};
use super::label::{Confidence, Label, Reading, Span};
use super::state::State;
use super::{Rules, dips, level};
use lessee_model::Msg;

/// What one step of judging found.
pub(super) struct Verdict {
    pub(super) label: Label,
    pub(super) confidence: Confidence,
    pub(super) why: Msg,
    pub(super) spans: Vec<Span>,
}

pub(super) fn judge(curve: &Curve, together: &Together, rules: &Rules) -> Reading {
    let mut history = history(curve, together, rules);
    let verdict = verdict(curve, together, rules);
    let mut spans = verdict.spans;
    // the label's own spans come first where two speak of the same time
    history.retain(|h| !spans.iter().any(|s| s.from_s < h.to_s && h.from_s < s.to_s));
    spans.extend(history);
    spans.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    spans.truncate(rules.max_spans);
    Reading {
        gpu: curve.gpu.clone(),
        label: verdict.label,
        confidence: match curve.doubtful {
            true => Confidence::Low,
            false => verdict.confidence,
        },
        why: match curve.doubtful {
            true => Msg::new("watch-why-times").arg("what", verdict.why),
            false => verdict.why,
        },
        spans,
    }
}

fn verdict(curve: &Curve, together: &Together, rules: &Rules) -> Verdict {
    if let Some(v) = blind(curve, rules) {
        return v;
    }
    let waited = late(curve, &together.late, rules);
    // a wait that is over yields to what the job does now
    let now = together.late.iter().any(|l| l.ongoing);
    if now && let Some(v) = waited {
        return v;
    }
    if let Some(hang) = together.hang {
        return hung(curve, &hang, together, rules);
    }
    if let Some(tail) = idle::tail(curve, rules) {
        return after_load(curve, &tail, rules);
    }
    if let Some(v) = waited {
        return v;
    }
    let shape = bursts::shape(curve, rules);
    if let Some(v) = idle(curve, &shape, rules) {
        return v;
    }
    if let Some(started) = curve.after_set_up(rules) {
        let shape = bursts::shape(&started, rules);
        return working(&started, &shape, together, rules);
    }
    working(curve, &shape, together, rules)
}

/// A job that is not stopped: slowed, or in order.
fn working(curve: &Curve, shape: &Shape, together: &Together, rules: &Rules) -> Verdict {
    if let Some(v) = throttled(curve, together, rules) {
        return v;
    }
    if let Some(v) = level::encoder(curve, shape, rules) {
        return v;
    }
    dips::dips(curve, shape, rules).unwrap_or_else(|| level::level(curve, shape, rules))
}

/// How sure, by how much was seen and how many independent signals agree.
pub(super) fn grade(curve: &Curve, signals: usize) -> Confidence {
    let n = curve.points.len();
    let long = n >= 30 && curve.time_s() >= 600.0;
    if n < 5 {
        Confidence::Low
    } else if signals >= 2 || long {
        Confidence::High
    } else {
        Confidence::Possible
    }
}

pub(super) fn whole(curve: &Curve, label: Label, cause: Msg) -> Vec<Span> {
    vec![Span {
        label,
        from_s: curve.start_s(),
        to_s: curve.end_s(),
        cause,
    }]
}

pub(super) fn span(points: &[Point], label: Label, cause: Msg) -> Option<Span> {
    Some(Span {
        label,
        from_s: points.first()?.s.t_s,
        to_s: points.last()?.end_s(),
        cause,
    })
}

/// Whole percent of a share.
pub(super) fn share(x: f64) -> f64 {
    (x * 100.0).round()
}

/// The counters are not there: in MIG mode `-`, else never asked for.
fn blind(curve: &Curve, rules: &Rules) -> Option<Verdict> {
    let v = |confidence, why| Verdict {
        label: Label::UnknownMig,
        confidence,
        why,
        spans: Vec::new(),
    };
    let points = &curve.points;
    if points.is_empty() {
        return Some(v(Confidence::Low, Msg::new("watch-why-empty")));
    }
    if mean(points, |p| p.util).is_some() {
        return None;
    }
    let power = mean(points, |p| p.s.power_w);
    let limit = mean(points, |p| p.s.power_limit_w);
    let clock = mean(points, |p| p.s.sm_clock_mhz);
    let Some(w) = power else {
        return Some(v(Confidence::Low, Msg::new("watch-why-blind")));
    };
    // no idle card of any size draws this much; without a limit the clock must agree
    let busy = match limit {
        Some(limit) => w >= 0.45 * limit,
        None => w >= 200.0 && clock.is_none_or(|mhz| mhz >= 1000.0),
    };
    let quiet = match limit {
        Some(limit) => w < rules.spin_power_ratio * limit,
        None => w < 150.0,
    } && clock.is_none_or(|mhz| mhz < 1000.0);
    let steady = busy && points.len() >= 5;
    Some(match (busy, quiet) {
        (true, _) => v(
            if steady {
                Confidence::High
            } else {
                Confidence::Low
            },
            Msg::new("watch-why-blind-busy").arg("power", w.round()),
        ),
        (false, true) => v(
            Confidence::Low,
            Msg::new("watch-why-blind-quiet").arg("power", w.round()),
        ),
        _ => v(Confidence::Low, Msg::new("watch-why-blind")),
    })
}

fn late_span(l: &Late) -> Span {
    let cause = if l.late {
        Msg::new("watch-cause-late").arg("n", l.waiting)
    } else {
        Msg::new("watch-cause-waits").arg("gpus", &*l.names)
    };
    Span {
        label: Label::Straggler,
        from_s: l.from_s,
        to_s: l.to_s,
        cause,
    }
}

fn late(curve: &Curve, times: &[Late], rules: &Rules) -> Option<Verdict> {
    let time: f64 = times.iter().map(|l| l.to_s - l.from_s).sum();
    let whole = (curve.end_s() - curve.start_s()).max(curve.step_s);
    let now = times.iter().rfind(|l| l.ongoing);
    let longest = times
        .iter()
        .max_by(|a, b| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s)))?;
    let long = time >= rules.straggler_share * whole && longest.to_s - longest.from_s >= 30.0;
    let shown = now.or(long.then_some(longest))?;
    Some(Verdict {
        label: Label::Straggler,
        confidence: if shown.sure {
            Confidence::High
        } else {
            Confidence::Possible
        },
        why: Msg::new("watch-why-straggler")
            .arg("gpus", &*shown.names)
            .arg("n", shown.waiting)
            .seconds("time", shown.to_s - shown.from_s),
        spans: times.iter().map(late_span).collect(),
    })
}

fn hung(curve: &Curve, hang: &Hang, together: &Together, rules: &Rules) -> Verdict {
    // a collective stops its other ranks too; alone in the record, a hang after work is most often one
    let collective = together.hung >= 2 || (!together.several && hang.worked);
    let (label, cause) = if together.hung >= 2 {
        let cause = Msg::new("watch-cause-hung-together").arg("n", together.hung);
        (Label::HungCollective, cause)
    } else if collective {
        (
            Label::HungCollective,
            Msg::new("watch-cause-hung-collective"),
        )
    } else {
        (Label::HungBusySpin, Msg::new("watch-cause-hung-kernel"))
    };
    // a job that worked may wait for a minute, for a rank that saves; what never worked here does not wait
    let long =
        hang.time_s >= rules.sure_s || (!hang.worked && hang.samples >= 15 && hang.signals >= 4);
    let confidence = if hang.strong && hang.signals >= 3 && long {
        Confidence::High
    } else if hang.strong || hang.samples >= 30 {
        Confidence::Possible
    } else {
        Confidence::Low
    };
    let why = match (hang.power, hang.traffic) {
        (Some(power), Some(traffic)) => Msg::new("watch-why-hung")
            .arg("traffic", traffic.round())
            .arg("power", share(power)),
        (Some(power), None) => Msg::new("watch-why-hung-power").arg("power", share(power)),
        (None, traffic) => {
            Msg::new("watch-why-hung-traffic").arg("traffic", traffic.unwrap_or(0.0).round())
        }
    }
    .arg("util", hang.util.round())
    .seconds("time", hang.time_s);
    Verdict {
        label,
        confidence,
        why,
        spans: span(&curve.points[hang.from..], label, cause)
            .into_iter()
            .collect(),
    }
}

fn held(points: &[Point], rules: &Rules) -> Option<f64> {
    mean(points, |p| p.s.mem_used_mib).filter(|mib| *mib >= rules.held_mib)
}

fn idle_cause(points: &[Point], rules: &Rules) -> Msg {
    match held(points, rules) {
        Some(mib) => Msg::new("watch-cause-idle-memory").bytes("memory", mib * 1024.0 * 1024.0),
        None => Msg::new("watch-cause-idle"),
    }
}

fn after_load(curve: &Curve, tail: &Tail, rules: &Rules) -> Verdict {
    let points = &curve.points[tail.from..];
    let label = Label::IdleAfterLoad;
    Verdict {
        label,
        confidence: if tail.sure {
            Confidence::High
        } else {
            Confidence::Possible
        },
        why: Msg::new("watch-why-idle-after").seconds("time", tail.time_s),
        spans: span(points, label, idle_cause(points, rules))
            .into_iter()
            .collect(),
    }
}

fn idle(curve: &Curve, shape: &Shape, rules: &Rules) -> Option<Verdict> {
    let points = &curve.points;
    let video = mean(points, Point::video).unwrap_or(0.0);
    if shape.mean >= rules.idle_mean_pct || video >= rules.idle_mean_pct {
        return None;
    }
    let held = held(points, rules);
    let label = match held {
        Some(_) => Label::IdleHoldingMemory,
        None => Label::Idle,
    };
    let quiet_clock = mean(points, |p| p.s.sm_clock_mhz).is_some_and(|mhz| mhz < 1000.0);
    let power = mean(points, |p| Some(p.s.power_w? / p.s.power_limit_w?));
    let no_traffic = mean(points, |p| p.traffic).is_some_and(|t| t < rules.idle_mean_pct);
    let signals = 1
        + usize::from(quiet_clock)
        + usize::from(no_traffic)
        + usize::from(power.is_some_and(|r| r < rules.spin_power_ratio));
    let why = match held {
        Some(mib) => Msg::new("watch-why-idle-memory").bytes("memory", mib * 1024.0 * 1024.0),
        None => Msg::new("watch-why-idle"),
    }
    .arg("mean", shape.mean)
    .seconds("time", curve.time_s());
    Some(Verdict {
        label,
        confidence: grade(curve, signals),
        why,
        spans: whole(curve, label, idle_cause(points, rules)),
    })
}

/// Slow stretches against the card's own best clock, or that of the cards beside it.
fn slow(curve: &Curve, together: &Together, rules: &Rules) -> (Vec<Slow>, f64, bool) {
    let own = clock::plateau(curve, rules);
    let plateau = own.unwrap_or(0.0);
    let found = clock::slow(curve, plateau, rules);
    let beside = together.clock_mhz.unwrap_or(0.0);
    if !found.is_empty() || beside <= plateau {
        return (found, plateau, false);
    }
    (clock::slow(curve, beside, rules), beside, true)
}

fn slow_span(curve: &Curve, slow: &Slow, plateau: f64) -> Option<Span> {
    let points = &curve.points[slow.from..slow.to];
    let hot = quantile(points.iter().filter_map(|p| p.s.temp_c), 0.5).filter(|c| *c >= 80.0);
    let cause = match (slow.driver, hot) {
        (true, _) => Msg::new("watch-cause-slowed"),
        (false, Some(temp)) => Msg::new("watch-cause-slowed-hot").arg("temp", temp.round()),
        (false, None) => Msg::new("watch-cause-slowed-unseen"),
    }
    .arg("from", plateau.round())
    .arg("to", slow.clock_mhz.round());
    span(points, Label::Throttled, cause)
}

fn throttled(curve: &Curve, together: &Together, rules: &Rules) -> Option<Verdict> {
    let (found, plateau, beside) = slow(curve, together, rules);
    let last = found.last()?;
    let share_lost = clock::share(curve, &found, rules);
    let lasts = curve.points.len() - last.to <= 2;
    if share_lost < rules.clock_share && !lasts {
        return None;
    }
    let worst = found
        .iter()
        .min_by(|a, b| a.clock_mhz.total_cmp(&b.clock_mhz))?;
    let sure = found.iter().any(|s| s.driver || (s.with_power && !beside));
    Some(Verdict {
        label: Label::Throttled,
        confidence: if sure && curve.points.len() >= 10 {
            Confidence::High
        } else {
            Confidence::Possible
        },
        why: Msg::new("watch-why-throttled")
            .arg("from", plateau.round())
            .arg("to", worst.clock_mhz.round())
            .arg("share", share(share_lost)),
        spans: found
            .iter()
            .filter_map(|s| slow_span(curve, s, plateau))
            .collect(),
    })
}

/// What happened besides what the label says: stretches that are over.
fn history(curve: &Curve, together: &Together, rules: &Rules) -> Vec<Span> {
    let mut out: Vec<Span> = together.late.iter().map(late_span).collect();
    let (found, plateau, _) = slow(curve, together, rules);
    out.extend(found.iter().filter_map(|s| slow_span(curve, s, plateau)));
    // a wait that ended by itself was none for ever, one that ended in silence was
    for (from, to) in idle::waits(curve, rules) {
        let after = curve.points.get(to).map(|p| p.state);
        if after == Some(State::Off) {
            let cause = Msg::new("watch-cause-hung-ended");
            out.extend(span(&curve.points[from..to], Label::HungCollective, cause));
        }
    }
    out
}
