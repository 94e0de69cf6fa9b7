//! `core/plan`'s answer -> `lessee/plan/v1`, texts in the reader's language.

use super::explain::confidence_code;
use crate::Texts;
use lessee_model::plan::{
    AssumptionDoc, BillDoc, CatalogDoc, CostPerUnitDoc, GpuDoc, LineDoc, MonthsDoc, OfferDoc,
    OptionDoc, RejectedDoc, SpotDoc, SpotHedgeDoc, SpotModelledDoc, SpotSavesDoc, UnrankedDoc,
    WarningDoc, WorkDoc,
};
use lessee_model::{
    BillLine, Catalog, Derived, Machine, Msg, Offer, PlanDoc, Quantified, Term, Workload,
};
use lessee_plan::{Months, Plan, PlanOption, SpotAnswer};

/// What the document says besides the plan itself.
pub struct PlanSource<'a> {
    pub catalog: &'a Catalog,
    pub workload: &'a Workload,
    /// The workload as typed, as JSON without empty fields; assumed values are filled in here.
    pub typed: serde_json::Value,
    /// RFC 3339, UTC.
    pub generated_at: String,
}

pub fn plan_doc(plan: &Plan, source: &PlanSource<'_>, texts: &Texts) -> PlanDoc {
    PlanDoc {
        schema: "lessee/plan/v1".to_owned(),
        generated_at: source.generated_at.clone(),
        catalog: CatalogDoc {
            offers: source.catalog.offers.len() as u64,
            as_of: source.catalog.as_of(),
        },
        workload: filled_in(source),
        options: plan
            .options
            .iter()
            .map(|o| option_doc(o, source.catalog, texts))
            .collect(),
        unranked: plan
            .unranked
            .iter()
            .map(|u| UnrankedDoc {
                key: u.key.clone(),
                purchase: u.purchase,
                nodes: u.nodes,
                total: u.total,
                totals: u.totals.clone(),
                reason: WarningDoc {
                    code: u.code.to_owned(),
                    text: texts.term("unranked", u.code),
                },
            })
            .collect(),
        rejected: RejectedDoc {
            count: plan.rejected.count,
            by_reason: plan
                .rejected
                .by_reason
                .iter()
                .map(|(code, n)| ((*code).to_owned(), *n))
                .collect(),
        },
        pareto: plan.pareto.clone(),
        assumptions: source
            .workload
            .assumed
            .iter()
            .map(|a| AssumptionDoc {
                field: a.field.clone(),
                value: a.value.clone(),
                derived: a.derived,
                text: texts.msg(
                    &if a.derived {
                        Msg::new("plan-derived")
                    } else {
                        Msg::new("plan-assumed")
                    }
                    .arg("field", a.field.clone())
                    .arg("value", a.value.clone()),
                ),
            })
            .collect(),
        warnings: plan.warnings.iter().map(|m| warning(m, texts)).collect(),
    }
}

/// The typed workload with every assumed value at its place: itself a workload that gives the same plan.
fn filled_in(source: &PlanSource<'_>) -> serde_json::Value {
    let mut tree = source.typed.clone();
    for assumed in &source.workload.assumed {
        let value = &assumed.value;
        let value = match (value.parse::<f64>(), value.as_str()) {
            (_, "true") => true.into(),
            (_, "false") => false.into(),
            (Ok(x), _) => serde_json::json!(x),
            (Err(_), text) => text.into(),
        };
        set(&mut tree, &assumed.field, value);
    }
    tree
}

fn set(tree: &mut serde_json::Value, path: &str, value: serde_json::Value) {
    let (part, rest) = path
        .split_once('.')
        .map_or((path, None), |(part, rest)| (part, Some(rest)));
    if !tree.is_object() {
        *tree = serde_json::Value::Object(serde_json::Map::new());
    }
    let Some(object) = tree.as_object_mut() else {
        return;
    };
    match rest {
        None => {
            object.insert(part.to_owned(), value);
        }
        Some(rest) => set(
            object.entry(part).or_insert(serde_json::Value::Null),
            rest,
            value,
        ),
    }
}

/// Code and text of a warning; the code is the id without its prefix.
pub(crate) fn warning(msg: &Msg, texts: &Texts) -> WarningDoc {
    let code = msg
        .id
        .strip_prefix("warn-")
        .unwrap_or(&msg.id)
        .replace('-', "_");
    WarningDoc {
        code,
        text: texts.msg(msg),
    }
}

fn option_doc(option: &PlanOption, catalog: &Catalog, texts: &Texts) -> OptionDoc {
    let offer = &catalog.offers[option.offer];
    let machine = catalog.machine(offer);
    let p = &option.prediction;
    OptionDoc {
        rank: option.rank,
        offer: offer_doc(option, offer, machine),
        nodes: option.nodes,
        purchase: option.purchase,
        work: WorkDoc {
            unit: p.unit,
            per_second: p.per_second,
            low: p.low,
            high: p.high,
            bound_by: p.bound_by,
            duration_seconds: option.duration_s,
            duration_p90_seconds: option.duration_p90_s,
            basis: p.basis,
            memory: p.memory,
            layout: p.layout,
            terms: p.terms.iter().map(|t| term_doc(t, texts)).collect(),
        },
        bill: bill_doc(option, texts),
        cost_per_unit: CostPerUnitDoc {
            unit: option.cost_per_unit.unit.to_owned(),
            amount: option.cost_per_unit.amount,
        },
        interruptions: option.run.interruptions,
        spot: option.spot.as_ref().map(|s| spot_doc(s, option)),
        warnings: option.warnings.iter().map(|m| warning(m, texts)).collect(),
    }
}

fn spot_doc(answer: &SpotAnswer, option: &PlanOption) -> SpotDoc {
    SpotDoc {
        basis: answer.basis,
        policy: answer.policy.map(str::to_owned),
        starts: answer.starts as u64,
        independent: answer.independent,
        cost_mean: option.bill.total(),
        cost_p90: option.bill_p90.total(),
        cost_low: answer.low,
        cost_high: answer.high,
        meets_deadline_share: answer.meets_deadline_share,
        deadline_seconds: answer.deadline_s,
        deadline_assumed: answer.deadline_assumed,
        interruptions_mean: answer.interruptions,
        lost_hours_mean: answer.lost_s / 3600.0,
        waiting_hours_mean: answer.waiting_s / 3600.0,
        on_demand_hours_mean: answer.on_demand_s / 3600.0,
        checkpoint_interval_seconds: answer.saves.map(|s| s.every_s),
        saves: answer.saves.map(|s| SpotSavesDoc {
            stopping_every_seconds: s.every_s,
            background_every_seconds: s.background_s,
            save_seconds: s.save_s,
            notice_seconds: s.notice_s,
            fits_notice: s.fits_notice,
        }),
        source: answer.source.clone(),
        record_refused: answer.refused.is_some(),
        hedge: answer.hedge.map(|h| SpotHedgeDoc {
            machines: h.target,
            spare_spot: h.spare,
            on_demand_floor: h.floor,
            spot_mean: h.spot_mean,
            on_demand_mean: h.on_demand_mean,
            ready_share: h.ready_share,
            record_hours: h.record_hours,
        }),
        modelled: answer.modelled.as_ref().map(|m| SpotModelledDoc {
            policy: m.policy.as_str().to_owned(),
            machine_cost_low: m.low,
            machine_cost_high: m.high,
            meets_deadline_share: m.meets_deadline_share,
            deadline_seconds: m.deadline_s,
            deadline_assumed: m.deadline_assumed,
        }),
    }
}

/// A term with its formula in the reader's language; keys and source stay.
pub(crate) fn term_doc(term: &Derived, texts: &Texts) -> Term {
    Term {
        name: term.name.to_owned(),
        value: term.value,
        unit: term.unit.to_owned(),
        formula: texts.msg(&term.formula),
        basis: term.basis,
        source: term.source.clone(),
    }
}

fn offer_doc(option: &PlanOption, offer: &Offer, machine: &Machine) -> OfferDoc {
    OfferDoc {
        key: offer.key(),
        provider: offer.provider.to_string(),
        region: offer.region.to_string(),
        instance_type: offer.instance_type.to_string(),
        gpu: GpuDoc {
            model: machine.gpu.model.to_string(),
            form: machine.gpu.form.map(|f| f.to_string()),
            count: u32::from(machine.gpu_count),
            memory_gb_each: machine.gpu.memory_gb,
            usable_mib_each: machine.usable_mib_each,
            fraction: f64::from(machine.gpu_fraction),
        },
        vcpus: machine.vcpus.map(f64::from),
        memory_gib: machine.memory_gib.map(f64::from),
        interconnect: machine.interconnect.map(|i| i.to_string()),
        network_gbps: machine.network_gbps.map(f64::from),
        price_per_hour: option.price.per_hour,
        price_as_of: option.price.why.as_of,
        price_source: option.price.why.source.to_string(),
        confidence: option.price.why.confidence.max(machine.confidence),
    }
}

fn bill_doc(option: &PlanOption, texts: &Texts) -> BillDoc {
    let (median, p90) = (&option.bill, &option.bill_p90);
    BillDoc {
        currency: median.currency,
        at_least: median.at_least,
        lines: median.lines.iter().map(|l| line_doc(l, texts)).collect(),
        total: median.total(),
        total_p90: p90.total(),
        totals: median.totals.clone(),
        months: months_doc(&option.months, texts),
    }
}

fn months_doc(months: &Months, texts: &Texts) -> MonthsDoc {
    let calendar = months.calendar.as_deref();
    let text = match calendar {
        None => Msg::new("explain-months-hours").arg("hours", months.hours),
        Some(c) => Msg::new("explain-months-calendar")
            .arg("zone", &*c.zone.name)
            .arg(
                "confidence",
                texts.term("confidence", confidence_code(c.zone.confidence)),
            )
            .arg(
                "start",
                c.start
                    .to_zoned_datetime(c.zone.zone.clone())
                    .strftime("%Y-%m-%d %H:%M %:z")
                    .to_string(),
            ),
    };
    MonthsDoc {
        rule: if calendar.is_some() {
            "calendar"
        } else {
            "hours"
        }
        .to_owned(),
        hours: months.hours,
        zone: calendar.map(|c| c.zone.name.to_string()),
        confidence: calendar.map(|c| c.zone.confidence),
        start: calendar.map(|c| c.start.to_string()),
        text: texts.msg(&text),
    }
}

fn line_doc(line: &BillLine, texts: &Texts) -> LineDoc {
    let (amount, low, high, reason) = match &line.amount {
        Quantified::Known(money) => (Some(*money), None, None, None),
        Quantified::Unknown { low, high, reason } => (None, *low, *high, Some(texts.msg(reason))),
    };
    LineDoc {
        kind: line.kind,
        what: texts.msg(&line.what),
        quantity: line.quantity.to_string(),
        unit: line.unit.to_string(),
        unit_price: line.unit_price,
        amount,
        low,
        high,
        reason,
        basis: line.why.basis,
        confidence: line.why.confidence,
        source: line.why.source.to_string(),
        as_of: line.why.as_of,
    }
}
