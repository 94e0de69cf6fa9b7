//! `buy FILE`: rent or own. Reads the question, looks up the rent if an offer is named, and shows the answer
//! with every assumption.

use crate::args::BuyArgs;
use crate::facts;
use lessee_catalog::Facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_cost::{BuyDefault, BuyLine, BuyReport, Choice, buy_report, parse_buy, resolve_buy};
use lessee_model::workload::locate;
use lessee_model::{Exit, Explain, Fixed, Fx, Money, Msg, Purchase, Sourced};
use lessee_report::{Cell, Column, Report, Table, Texts};

pub(crate) fn run(args: &BuyArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let (text, place) = facts::read_text(&args.file)?;
    let file = parse_buy(&text, &place)?;
    let facts = facts::load_reporting(settings, printer)?;
    let rent = file
        .rent
        .offer
        .as_deref()
        .filter(|_| file.rent.price.is_none());
    let rent = rent.map(|key| rent_of(&facts, key)).transpose()?;
    let defaults: Vec<BuyDefault> = facts.buy_defaults.iter().map(default).collect();
    let fx = Fx {
        rates: file.money.rates.clone(),
    };
    let gap = facts.defaults.get("money.rate_gap");
    if let Some(defect) = fx.defect(settings.today(), gap) {
        return Err(Failure::usage(at(&text, &place, "money.rates", defect)));
    }
    let input = resolve_buy(&file, &defaults, rent).map_err(|e| match e.field() {
        Some(field) => Failure {
            msg: at(&text, &place, &field, e.msg()),
            ..Failure::from(e)
        },
        None => Failure::from(e),
    })?;
    let answer = buy_report(&input);
    printer.report(report(&answer, printer.texts()))?;
    Ok(Exit::Done)
}

/// A problem with its place in the file: of the field, else of its section.
fn at(text: &str, file: &str, field: &str, problem: Msg) -> Msg {
    let section = field.split('.').next().unwrap_or(field);
    let place = match locate(text, field).or_else(|| locate(text, section)) {
        Some((line, column)) => format!("{file}:{line}:{column}"),
        None => file.to_owned(),
    };
    Msg::new("error-at")
        .arg("place", place)
        .arg("problem", problem)
}

fn default(row: &lessee_catalog::BuyDefaultRow) -> BuyDefault {
    BuyDefault {
        parameter: row.parameter.to_string(),
        low: row.low,
        high: row.high,
        default: row.default,
        unit: row.unit.to_string(),
        note: row.note.as_deref().unwrap_or_default().to_owned(),
        why: row.why.clone(),
    }
}

/// On-demand price of one GPU and hour of an offer.
fn rent_of(facts: &Facts, key: &str) -> Result<Sourced<Money>, Failure> {
    let none = || {
        Failure::usage(Msg::new("buy-no-offer").arg("key", key)).hint(Msg::new("hint-catalog-list"))
    };
    let catalog = &facts.catalog;
    lessee_catalog::show(catalog, key)
        .into_iter()
        .find_map(|i| {
            let offer = &catalog.offers[i];
            let price = offer.price(Purchase::OnDemand)?;
            let gpus = Fixed::from_f64(catalog.machine(offer).gpu_equivalents())?;
            let amount = price.per_hour.amount.over(gpus).filter(|a| !a.is_zero())?;
            Some(Sourced::new(
                Money::new(amount, price.per_hour.currency),
                (*price.why).clone(),
            ))
        })
        .ok_or_else(none)
}

fn report(answer: &BuyReport, texts: &Texts) -> Report {
    let data = serde_json::to_value(answer).unwrap_or_default();
    let title = if answer.name.is_empty() {
        texts.get("buy-title")
    } else {
        answer.name.clone()
    };
    let mut report = Report::new(title, data, "parameters");
    report.list(summary(answer, texts));
    report.heading(texts.get("buy-sensitivity"));
    report.table(sensitivity(answer, texts));
    report.heading(texts.get("buy-lines"));
    report.table(lines(answer, texts));
    report.heading(texts.get("buy-parameters"));
    report.text(texts.get("buy-parameters-note"));
    report.table(parameters(answer, texts));
    report
}

fn summary(answer: &BuyReport, texts: &Texts) -> Vec<String> {
    let verdict = match answer.cheaper {
        Choice::Own => "buy-own",
        Choice::Rent => "buy-rent",
    };
    let utilisation = match answer.break_even_utilisation {
        Some(x) if x <= 1.0 => Msg::new("buy-even-at").arg("percent", (x * 1000.0).round() / 10.0),
        _ => Msg::new("buy-even-never"),
    };
    let month = match answer.break_even_month {
        Some(month) => Msg::new("buy-month").arg("month", month),
        None => Msg::new("buy-month-none").arg("months", answer.horizon_months),
    };
    let totals = Msg::new("buy-totals")
        .arg("owned", answer.owned_total)
        .arg("rented", answer.rented_total)
        .arg("months", answer.horizon_months)
        .arg("gpus", answer.gpus as f64)
        .arg("percent", (answer.utilisation * 1000.0).round() / 10.0);
    let hour = Msg::new("buy-per-hour")
        .arg("owned", answer.owned_per_gpu_hour)
        .arg("rented", answer.rented_per_gpu_hour);
    let mut out = vec![
        texts.get(verdict),
        texts.msg(&totals),
        texts.msg(&hour),
        texts.msg(&utilisation),
        texts.msg(&month),
    ];
    let warnings = answer.warnings.iter();
    out.extend(warnings.map(|code| texts.term("buy-warning", code)));
    out
}

fn percent_or_dash(x: Option<f64>) -> Cell {
    match x {
        Some(x) if x <= 1.0 => Cell::new(format!("{:.0} %", x * 100.0)).raw(x.to_string()),
        Some(x) => Cell::new("> 100 %").raw(x.to_string()),
        None => Cell::unknown(),
    }
}

fn sensitivity(answer: &BuyReport, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("parameter", texts.get("col-parameter"), 0),
        Column::right("low", texts.get("col-low"), 0),
        Column::right("high", texts.get("col-high"), 0),
        Column::right("owned_low", texts.get("col-owned-low"), 0),
        Column::right("owned_high", texts.get("col-owned-high"), 0),
        Column::right("even_low", texts.get("col-even-low"), 0),
        Column::right("even_high", texts.get("col-even-high"), 0),
    ]);
    let money = |m: Money| Cell::new(texts.money(m)).raw(m.exact());
    for row in &answer.sensitivity {
        table.push(vec![
            Cell::new(texts.term("buy-parameter", &row.parameter)).raw(row.parameter.clone()),
            Cell::new(texts.number(row.low)).raw(row.low.to_string()),
            Cell::new(texts.number(row.high)).raw(row.high.to_string()),
            money(row.owned_per_gpu_hour_low),
            money(row.owned_per_gpu_hour_high),
            percent_or_dash(row.break_even_utilisation_low),
            percent_or_dash(row.break_even_utilisation_high),
        ]);
    }
    table
}

fn lines(answer: &BuyReport, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("line", texts.get("col-line"), 0),
        Column::right("quantity", texts.get("col-quantity"), 0),
        Column::left("unit", texts.get("col-unit"), 0),
        Column::right("unit_price", texts.get("col-unit-price"), 0),
        Column::right("amount", texts.get("col-amount"), 0),
    ]);
    let mut put = |line: &BuyLine| {
        let quantity: f64 = line.quantity.parse().unwrap_or(f64::NAN);
        table.push(vec![
            Cell::new(texts.term("buy-line", &line.kind)).raw(line.kind.clone()),
            Cell::new(texts.number(quantity)).raw(line.quantity.clone()),
            line.unit.clone().into(),
            Cell::new(texts.unit_price(line.unit_price)).raw(line.unit_price.exact()),
            Cell::new(texts.money(line.amount)).raw(line.amount.exact()),
        ]);
    };
    answer
        .capex_lines
        .iter()
        .chain(&answer.opex_lines)
        .for_each(&mut put);
    for (id, amount) in [
        ("capex", answer.capex),
        ("opex", answer.opex_per_year),
        ("residual", answer.residual),
    ] {
        table.push(vec![
            Cell::new(texts.term("buy-sum", id)).raw(id),
            Cell::default(),
            Cell::default(),
            Cell::default(),
            Cell::new(texts.money(amount)).raw(amount.exact()),
        ]);
    }
    table
}

fn parameters(answer: &BuyReport, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("parameter", texts.get("col-parameter"), 0),
        Column::right("value", texts.get("col-value"), 0),
        Column::left("unit", texts.get("col-unit"), 1),
        Column::left("basis", texts.get("col-basis"), 0),
        Column::left("field", texts.get("col-field"), 0),
        Column::left("source", texts.get("col-source"), 2),
    ]);
    for p in &answer.parameters {
        let basis = serde_json::to_value(p.why.basis).unwrap_or_default();
        let basis = basis.as_str().unwrap_or_default().to_owned();
        table.push(vec![
            Cell::new(texts.term("buy-parameter", &p.name)).raw(p.name.clone()),
            Cell::new(texts.number(p.value)).raw(p.value.to_string()),
            p.unit.clone().into(),
            Cell::new(texts.term("basis", &basis)).raw(basis),
            p.field.clone().into(),
            p.why.source.to_string().into(),
        ]);
    }
    table
}
