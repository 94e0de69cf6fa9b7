//! A level without a shape: how much of the card is used, and what bounds it.

use super::Rules;
use super::bursts::Shape;
use super::clean::{Curve, Point, mean, quantile};
use super::judge::{Verdict, grade, share, whole};
use super::label::{Confidence, Label};
use super::state::State;
use lessee_model::Msg;

/// The SMs are nearly unused, the video engines are not.
pub(super) fn encoder(curve: &Curve, shape: &Shape, rules: &Rules) -> Option<Verdict> {
    let video = mean(&curve.points, Point::video)?;
    if video < rules.encoder_pct || video < rules.encoder_factor * shape.mean {
        return None;
    }
    let label = Label::EncoderOnly;
    Some(Verdict {
        label,
        confidence: grade(curve, 2),
        why: Msg::new("watch-why-encoder")
            .arg("video", video.round())
            .arg("mean", shape.mean.round()),
        spans: whole(curve, label, Msg::new("watch-cause-encoder")),
    })
}

fn power_ratio(curve: &Curve) -> Option<f64> {
    let busy = curve
        .points
        .iter()
        .filter(|p| p.util.is_some_and(|u| u >= 50.0));
    quantile(
        busy.filter_map(|p| Some(p.s.power_w? / p.s.power_limit_w?)),
        0.5,
    )
}

pub(super) fn level(curve: &Curve, shape: &Shape, rules: &Rules) -> Verdict {
    if shape.median >= rules.healthy_level_pct {
        return working(curve, shape, rules);
    }
    // a level that was only reached for moments does not lift the rest
    let use_pct = if shape.duty >= rules.duty_work {
        shape.median.max(shape.mean)
    } else {
        shape.median.min(shape.mean)
    };
    let (label, cause) = if use_pct >= rules.under_level_pct {
        (Label::PartiallyUtilised, Msg::new("watch-cause-part"))
    } else {
        (Label::Underutilised, Msg::new("watch-cause-little"))
    };
    Verdict {
        label,
        confidence: grade(curve, signals(curve)),
        why: Msg::new("watch-why-level")
            .arg("mean", shape.mean.round())
            .arg("median", shape.median.round()),
        spans: whole(curve, label, cause),
    }
}

fn signals(curve: &Curve) -> usize {
    let points = &curve.points;
    1 + usize::from(mean(points, |p| p.traffic).is_some())
        + usize::from(mean(points, |p| p.s.power_w).is_some())
        + usize::from(mean(points, Point::video).is_some())
}

/// Works: bound by memory, by arithmetic, or by the mix of a training step.
pub(super) fn working(curve: &Curve, shape: &Shape, rules: &Rules) -> Verdict {
    let working = || {
        curve
            .points
            .iter()
            .filter(|p| !matches!(p.state, State::Off | State::Blind))
    };
    let traffic = |q: f64| quantile(working().filter_map(|p| p.traffic), q);
    let power = power_ratio(curve);
    let mean_pct = shape.mean.round();
    let v = |label, signals, why: Msg| Verdict {
        label,
        confidence: grade(curve, signals),
        why,
        spans: Vec::new(),
    };
    let seen = signals(curve);
    let Some(moved) = traffic(0.5) else {
        // 100 % alone is also what a kernel that waits shows
        let drawn = power.is_some_and(|r| r >= 0.5);
        let mut v = v(
            Label::HealthyTraining,
            1 + usize::from(drawn),
            Msg::new("watch-why-busy").arg("mean", mean_pct),
        );
        if !drawn {
            v.confidence = v.confidence.min(Confidence::Possible);
        }
        return v;
    };
    let spread = (traffic(0.75).unwrap_or(moved) - traffic(0.25).unwrap_or(moved)) / moved.max(1.0);
    let steady = spread <= rules.memory_bound_spread;
    if moved >= rules.memory_bound_pct && steady {
        let why = Msg::new("watch-why-memory-bound")
            .arg("mean", mean_pct)
            .arg("traffic", moved.round());
        return v(Label::HealthyMemoryBound, seen, why);
    }
    let low_power = power.filter(|r| *r < rules.spin_power_ratio);
    if let Some(ratio) = low_power.filter(|_| moved < rules.compute_bound_pct) {
        // always a kernel, none that fills the card
        let label = Label::PartiallyUtilised;
        return Verdict {
            label,
            confidence: Confidence::Possible.min(grade(curve, 2)),
            why: Msg::new("watch-why-light")
                .arg("mean", shape.mean.round())
                .arg("power", share(ratio)),
            spans: whole(curve, label, Msg::new("watch-cause-light")),
        };
    }
    if moved < rules.compute_bound_pct && shape.median >= rules.spin_util_pct {
        let why = Msg::new("watch-why-compute-bound")
            .arg("mean", mean_pct)
            .arg("traffic", moved.round());
        return v(Label::HealthyComputeBound, seen, why);
    }
    let why = Msg::new("watch-why-training")
        .arg("mean", mean_pct)
        .arg("traffic", moved.round());
    v(Label::HealthyTraining, seen, why)
}
