//! How spot options were judged: a line each in the plan, the derivation in `--explain`.

use crate::Texts;
use lessee_model::plan::{OptionDoc, SpotDoc};
use lessee_model::{Basis, Msg};

/// For the plan: a line for each option that was replayed, and one for all that have no record.
pub(super) fn plan_lines(options: &[&OptionDoc], texts: &Texts) -> Vec<String> {
    let (mut out, mut rates, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for option in options {
        let Some(spot) = &option.spot else { continue };
        let rank = format!("#{}", option.rank);
        match &spot.policy {
            Some(policy) => {
                let text = texts.msg(&replayed(spot, policy, texts));
                out.push(format!("{rank}: {text}"));
            }
            None => {
                let range = format!(
                    "{rank} {} .. {}",
                    money(spot.cost_low, texts),
                    money(spot.cost_high, texts)
                );
                if spot.record_refused {
                    refused.push(range);
                } else {
                    rates.push(range);
                }
            }
        }
    }
    for (id, list) in [("spot-rates", rates), ("spot-rates-refused", refused)] {
        if !list.is_empty() {
            out.push(texts.msg(&Msg::new(id).arg("list", list.join(", "))));
        }
    }
    out
}

/// All that is known, for `--explain`.
pub(super) fn lines(spot: &SpotDoc, texts: &Texts) -> Vec<String> {
    let mut out = vec![texts.get("explain-spot-rule")];
    let Some(policy) = &spot.policy else {
        out.push(texts.msg(&rate(spot, texts)));
        if let Some(m) = &spot.modelled {
            let msg = Msg::new("explain-spot-modelled")
                .arg("policy", m.policy.clone())
                .arg("low", texts.money(m.machine_cost_low))
                .arg("high", texts.money(m.machine_cost_high))
                .arg("share", m.meets_deadline_share * 100.0)
                .seconds("deadline", m.deadline_seconds)
                .arg("assumed", assumed(m.deadline_assumed, texts));
            out.push(texts.msg(&msg));
        }
        out.extend(saves(spot, texts));
        return out;
    };
    let say = |msg: Msg| texts.msg(&msg);
    out.push(say(
        Msg::new("explain-spot-source").arg("source", spot.source.clone())
    ));
    out.push(say(replayed(spot, policy, texts)));
    if let Some(hedge) = &spot.hedge {
        out.push(say(Msg::new("explain-spot-hedge")
            .arg("spare", hedge.spare_spot)
            .arg("floor", hedge.on_demand_floor)
            .arg("lost", spot.interruptions_mean)
            .seconds("record", hedge.record_hours * 3600.0)
            .arg("parts", spot.starts as f64)));
        return out;
    }
    out.push(say(Msg::new("explain-spot-deadline")
        .seconds("deadline", spot.deadline_seconds.unwrap_or(0.0))
        .arg("assumed", assumed(spot.deadline_assumed, texts))
        .arg("times", spot.independent)));
    out.push(say(Msg::new("explain-spot-time")
        .seconds("lost", spot.lost_hours_mean * 3600.0)
        .seconds("waiting", spot.waiting_hours_mean * 3600.0)
        .seconds("instead", spot.on_demand_hours_mean * 3600.0)));
    out.extend(saves(spot, texts));
    out
}

fn assumed(deadline: bool, texts: &Texts) -> String {
    texts.term("spot-deadline", if deadline { "assumed" } else { "own" })
}

fn replayed(spot: &SpotDoc, policy: &str, texts: &Texts) -> Msg {
    if let Some(hedge) = &spot.hedge {
        return Msg::new("spot-hedged")
            .arg("policy", policy.to_owned())
            .arg("machines", hedge.machines)
            .arg("spot", hedge.spot_mean)
            .arg("instead", hedge.on_demand_mean)
            .arg("ready", hedge.ready_share * 100.0)
            .arg("mean", money(spot.cost_mean, texts))
            .arg("p90", money(spot.cost_p90, texts));
    }
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
    let saves = spot.saves.as_ref()?;
    let notice = match (saves.notice_seconds > 0.0, saves.fits_notice) {
        (false, _) => "none",
        (true, true) => "fits",
        (true, false) => "short",
    };
    let msg = Msg::new("explain-spot-save")
        .seconds("every", saves.stopping_every_seconds)
        .seconds("background", saves.background_every_seconds)
        .seconds("save", saves.save_seconds)
        .arg("notice", texts.term("spot-notice", notice));
    let text = texts.msg(&msg);
    Some(text)
}

fn money(amount: Option<lessee_model::Money>, texts: &Texts) -> String {
    amount.map_or_else(|| "?".to_owned(), |m| texts.money(m))
}
