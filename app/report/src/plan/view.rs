//! The plan as people read it: the answer in a sentence, the best machines, what the front offers besides,
//! warnings, what could not be ranked, what was assumed.

use crate::{Cell, Column, Report, Table, Texts, Tone};
use lessee_model::plan::{GpuDoc, OptionDoc, PlanDoc};
use lessee_model::{Arg, Confidence, Money, Msg, Purchase};

/// `top` rows in the ranking; the Pareto front follows in a table of its own.
pub fn plan_report(doc: &PlanDoc, top: usize, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("plan-title"), data, "options");
    let Some(best) = doc.options.first() else {
        let failed = |code: &str| doc.rejected.by_reason.contains_key(code);
        let no = doc.unranked.is_empty() || failed("over_budget") || failed("deadline_missed");
        report.text(texts.get(if no {
            "plan-nothing"
        } else {
            "plan-nothing-ranked"
        }));
        report.list(doc.warnings.iter().map(|w| w.text.clone()).collect());
        rejected(doc, &mut report, texts);
        unranked(doc, &mut report, texts);
        return report;
    };
    report.text(texts.msg(&answer(best, doc)));
    let cheaper = |o: &&OptionDoc| match (o.bill.total, best.bill.total) {
        (Some(a), Some(b)) => a.amount < b.amount,
        _ => false,
    };
    if doc.options.iter().any(|o| cheaper(&o)) {
        report.text(texts.get("plan-why-first"));
    }
    let ranked: Vec<&OptionDoc> = doc.options.iter().take(top).collect();
    report.table(ranking(&ranked, texts));
    report.text(texts.get("plan-legend"));

    let further: Vec<&OptionDoc> = doc
        .options
        .iter()
        .skip(top)
        .filter(|o| doc.pareto.contains(&o.rank))
        .collect();
    let front: Vec<String> = doc.pareto.iter().map(u32::to_string).collect();
    report.heading(texts.get("plan-front"));
    report.text(texts.msg(&Msg::new("plan-front-ranks").arg("ranks", front.join(", "))));
    if !further.is_empty() {
        report.table(ranking(&further, texts));
    }

    report.heading(texts.get("plan-bill-of-first"));
    report.table(super::explain::bill_table(&best.bill, texts, false));
    if best.bill.at_least {
        report.text(texts.get("plan-at-least"));
    }

    let listed: Vec<&OptionDoc> = ranked.iter().chain(&further).copied().collect();
    let spot = super::spot::plan_lines(&listed, texts);
    if !spot.is_empty() {
        report.heading(texts.get("plan-spot"));
        report.list(spot);
    }

    let mut notes: Vec<String> = doc.warnings.iter().map(|w| w.text.clone()).collect();
    for option in &ranked {
        for w in &option.warnings {
            // the same warning of several options is said once, with their ranks
            let line = format!("{} {}", ranks_with(&ranked, &w.text), w.text);
            if !notes.contains(&line) {
                notes.push(line);
            }
        }
    }
    if !notes.is_empty() {
        report.heading(texts.get("plan-warnings"));
        report.list(notes);
    }
    unranked(doc, &mut report, texts);
    rejected(doc, &mut report, texts);
    if !doc.assumptions.is_empty() {
        let list: Vec<String> = doc
            .assumptions
            .iter()
            .map(|a| {
                let mark = if a.derived { "*" } else { "" };
                format!("{} = {}{mark}", a.field, a.value)
            })
            .collect();
        report.heading(texts.get("plan-assumptions"));
        report.text(list.join(", "));
        if doc.assumptions.iter().any(|a| a.derived) {
            report.text(texts.get("plan-assumptions-derived"));
        }
    }
    report.text(
        texts.msg(
            &Msg::new("plan-footer")
                .arg("offers", doc.catalog.offers as f64)
                .arg(
                    "date",
                    doc.catalog.as_of.map(|d| d.to_string()).unwrap_or_default(),
                ),
        ),
    );
    report
}

fn ranks_with(options: &[&OptionDoc], text: &str) -> String {
    let ranks: Vec<String> = options
        .iter()
        .filter(|o| o.warnings.iter().any(|w| w.text == text))
        .map(|o| format!("#{}", o.rank))
        .collect();
    format!("{}:", ranks.join(" "))
}

fn answer(best: &OptionDoc, doc: &PlanDoc) -> Msg {
    let total = best.bill.total.unwrap_or(Money::zero(best.bill.currency));
    let id = if best.bill.at_least {
        "plan-answer-at-least"
    } else {
        "plan-answer"
    };
    let field = |key: &str| doc.workload.get(key).and_then(|n| n.as_str());
    let name = field("name")
        .or_else(|| field("kind"))
        .unwrap_or("-")
        .to_owned();
    Msg::new(id)
        .arg("name", name)
        .arg("nodes", best.nodes)
        .arg("machine", best.offer.instance_type.clone())
        .arg("gpu", gpu_label(&best.offer.gpu))
        .arg("provider", best.offer.provider.clone())
        .arg("region", best.offer.region.clone())
        .arg(
            "purchase",
            Arg::Msg(Box::new(Msg {
                id: purchase_id(best.purchase).into(),
                args: Vec::new(),
            })),
        )
        .arg("total", total)
        .seconds("time", best.work.duration_seconds)
}

fn purchase_id(purchase: Purchase) -> String {
    format!("purchase-{}", purchase.as_str().replace('_', "-"))
}

/// `8x H100 SXM 80GB`
pub(crate) fn gpu_label(gpu: &GpuDoc) -> String {
    let mut label = String::new();
    if gpu.fraction < 0.999 {
        label.push_str(&format!("{:.2}x ", gpu.fraction * f64::from(gpu.count)));
    } else {
        label.push_str(&format!("{}x ", gpu.count));
    }
    label.push_str(&gpu.model);
    if let Some(form) = &gpu.form {
        label.push_str(&format!(" {form}"));
    }
    if let Some(gb) = gpu.memory_gb_each {
        label.push_str(&format!(" {gb:.0}GB"));
    }
    label
}

fn ranking(options: &[&OptionDoc], texts: &Texts) -> Table {
    let first = options.first();
    let unit = first.map_or("run", |o| o.cost_per_unit.unit.as_str());
    let currency = first.map_or("", |o| o.bill.currency.as_str());
    let title = |id: &'static str| format!("{}, {currency}", texts.get(id));
    let mut columns = vec![
        Column::right("rank", "#", 0),
        Column::left("offer", texts.get("plan-col-offer"), 0),
        Column::machines("nodes", texts.get("plan-col-nodes")),
        Column::machines("gpu", texts.get("plan-col-gpu")),
        Column::machines("purchase", texts.get("plan-col-purchase")),
        Column::right("total", title("plan-col-total"), 0),
        Column::right("total_p90", title("plan-col-p90"), 2),
        Column::right("duration_seconds", texts.get("plan-col-duration"), 0),
    ];
    columns.push(if unit == "run" {
        Column::machines("cost_per_unit", texts.get("plan-per-run"))
    } else {
        Column::right(
            "cost_per_unit",
            texts.term("plan-per", &unit.replace(' ', "-")),
            1,
        )
    });
    columns.push(Column::left("bound_by", texts.get("plan-col-bound"), 1));
    columns.push(Column::right("price", texts.get("plan-col-price"), 4));
    columns.push(Column::left("as_of", texts.get("plan-col-date"), 5));
    let mut table = Table::new(columns);
    for o in options {
        let at_least = if o.bill.at_least { "≥" } else { "" };
        let money = |m: Option<Money>| match m {
            Some(m) => Cell::new(format!("{at_least}{}", texts.amount(m))).raw(m.exact()),
            None => Cell::unknown(),
        };
        let mark = if o.offer.confidence == Confidence::Verified {
            ""
        } else {
            "~"
        };
        let nodes = if o.nodes > 1 {
            format!("{} x ", o.nodes)
        } else {
            String::new()
        };
        let purchase = texts.term("purchase", o.purchase.as_str());
        table.push(vec![
            Cell::new(o.rank.to_string()),
            Cell::new(format!("{nodes}{}{mark}", o.offer.key))
                .raw(o.offer.key.clone())
                .below(format!("{}, {purchase}", gpu_label(&o.offer.gpu))),
            Cell::new(o.nodes.to_string()),
            Cell::new(gpu_label(&o.offer.gpu)),
            Cell::new(purchase).raw(o.purchase.as_str()),
            money(o.bill.total).tone(Tone::Strong),
            money(o.bill.total_p90),
            Cell::new(texts.seconds(o.work.duration_seconds))
                .raw(o.work.duration_seconds.to_string()),
            match o.cost_per_unit.amount {
                Some(m) => Cell::new(texts.number(m.amount.to_f64())).raw(m.exact()),
                None => Cell::unknown(),
            },
            Cell::new(texts.term("bound", o.work.bound_by.as_str())).raw(o.work.bound_by.as_str()),
            Cell::new(texts.unit_price(o.offer.price_per_hour)).raw(o.offer.price_per_hour.exact()),
            match o.offer.price_as_of {
                Some(d) => Cell::new(d.to_string()),
                None => Cell::unknown(),
            },
        ]);
    }
    table
}

fn unranked(doc: &PlanDoc, report: &mut Report, texts: &Texts) {
    if doc.unranked.is_empty() {
        return;
    }
    report.heading(texts.get("plan-unranked"));
    let mut lines: Vec<String> = Vec::new();
    let mut codes: Vec<&str> = doc
        .unranked
        .iter()
        .map(|u| u.reason.code.as_str())
        .collect();
    codes.dedup();
    for code in codes {
        let group: Vec<_> = doc
            .unranked
            .iter()
            .filter(|u| u.reason.code == code)
            .collect();
        let names: Vec<String> = group
            .iter()
            .take(3)
            .map(|u| {
                let totals: Vec<String> = u.totals.iter().map(|t| texts.money(*t)).collect();
                let colon = if totals.is_empty() { "" } else { ": " };
                format!(
                    "{} ({}{colon}{})",
                    u.key,
                    texts.term("purchase", u.purchase.as_str()),
                    totals.join(" + ")
                )
            })
            .collect();
        let more = group.len().saturating_sub(names.len());
        let mut line = format!("{}: {}", group[0].reason.text, names.join(", "));
        if more > 0 {
            line.push_str(&texts.msg(&Msg::new("plan-and-more").arg("count", more)));
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    report.list(lines);
}

fn rejected(doc: &PlanDoc, report: &mut Report, texts: &Texts) {
    if doc.rejected.count == 0 {
        return;
    }
    report.heading(texts.msg(&Msg::new("plan-rejected").arg("count", doc.rejected.count as f64)));
    let mut reasons: Vec<(&String, &u64)> = doc.rejected.by_reason.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1));
    let lines: Vec<String> = reasons
        .into_iter()
        .map(|(code, n)| texts.counted("rejected", code, *n as f64))
        .collect();
    report.list(lines);
}
