//! How spot options were judged: a line each in the plan, the derivation in `--explain`.

use crate::Texts;
use lessee_model::plan::{OptionDoc, SpotDoc};
use lessee_model::{Basis, Msg};

/// One line for the plan; `None` for options that are not spot.
pub(super) fn line(option: &OptionDoc, texts: &Texts) -> Option<String> {
    let spot = option.spot.as_ref()?;
    let msg = match &spot.policy {
        Some(policy) => replayed(spot, policy, texts),
        None => rate(spot, texts),
    };
    Some(format!("#{}: {}", option.rank, texts.msg(&msg)))
}

/// All that is known, for `--explain`.
pub(super) fn lines(spot: &SpotDoc, texts: &Texts) -> Vec<String> {
    let mut out = vec![texts.get("explain-spot-rule")];
    let Some(policy) = &spot.policy else {
        out.push(texts.msg(&rate(spot, texts)));
        out.extend(saves(spot, texts));
        return out;
    };
    let say = |msg: Msg| texts.msg(&msg);
    out.push(say(
        Msg::new("explain-spot-source").arg("source", spot.source.clone())
    ));
    out.push(say(replayed(spot, policy, texts)));
    out.push(say(Msg::new("explain-spot-deadline")
        .seconds("deadline", spot.deadline_seconds.unwrap_or(0.0))
        .arg(
            "assumed",
            texts.term(
                "spot-deadline",
                if spot.deadline_assumed {
                    "assumed"
                } else {
                    "own"
                },
            ),
        )
        .arg("times", spot.independent)));
    out.push(say(Msg::new("explain-spot-time")
        .seconds("lost", spot.lost_hours_mean * 3600.0)
        .seconds("waiting", spot.waiting_hours_mean * 3600.0)
        .seconds("instead", spot.on_demand_hours_mean * 3600.0)));
    out.extend(saves(spot, texts));
    out
}

fn replayed(spot: &SpotDoc, policy: &str, texts: &Texts) -> Msg {
    Msg::new("spot-replayed")
        .arg("policy", policy.to_owned())
        .arg("starts", spot.starts as f64)
        .arg("share", spot.meets_deadline_share.unwrap_or(0.0) * 100.0)
        .arg("interruptions", spot.interruptions_mean)
        .arg("mean", money(spot.cost_mean, texts))
        .arg("p90", money(spot.cost_p90, texts))
}

fn rate(spot: &SpotDoc, texts: &Texts) -> Msg {
    let id = if spot.cost_high.is_some() {
        "spot-rate"
    } else {
        "spot-rate-open"
    };
    let basis = match spot.basis {
        Basis::Assumed => "assumed",
        _ => "modelled",
    };
    Msg::new(id)
        .arg("basis", texts.term("basis", basis))
        .arg("low", money(spot.cost_low, texts))
        .arg("high", money(spot.cost_high, texts))
}

fn saves(spot: &SpotDoc, texts: &Texts) -> Option<String> {
    let every = spot.checkpoint_interval_seconds?;
    Some(texts.msg(&Msg::new("explain-spot-save").seconds("every", every)))
}

fn money(amount: Option<lessee_model::Money>, texts: &Texts) -> String {
    amount.map_or_else(|| "?".to_owned(), |m| texts.money(m))
}
