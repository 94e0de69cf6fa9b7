//! Bills with FOCUS columns, versions 1.0 to 1.4: what the user really pays per machine-hour.
//!
//! Only usage of GPU machines priced by time becomes an offer; everything else on the bill is counted
//! and passed over. Rows of one type, region and way of paying are averaged by time. The contracted
//! unit price is taken, the list price beside it shows the user's discount; under a commitment the
//! effective cost counts. Providers' column renames (1.3: `ServiceProviderName`) are both understood.

mod row;

use super::parts::GpuNames;
use super::{Draft, ImportContext, Imported};
use crate::build::newer;
use crate::offers_csv::price_cell;
use crate::table::Table;
use crate::{ImportError, OfferRow};
use lessee_model::{
    AsOf, Basis, Confidence, Currency, Fixed, Machine, Market, Money, Msg, Price, Provenance,
    Purchase, TaxNote,
};
use row::{columns, purchase, seconds, usage};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Hours and money of one type, region and way of paying.
struct Sum {
    machine: Machine,
    currency: Currency,
    seconds: Fixed,
    /// Money per hour x seconds.
    cost: Fixed,
    unit_prices: BTreeSet<Fixed>,
    list: Option<Fixed>,
    as_of: Option<AsOf>,
    line: u64,
    raw: String,
    rows: u64,
}

type Key = (Arc<str>, Arc<str>, Arc<str>, Purchase, Currency);

pub(super) fn import(
    text: &str,
    mut draft: Draft,
    cx: &ImportContext<'_>,
) -> Result<Imported, ImportError> {
    let file = draft.file().to_owned();
    let mut table = Table::open(text, &file)?;
    let c = columns(&table)?;
    let mut names = GpuNames::default();
    let mut asked: BTreeSet<(&'static str, String)> = BTreeSet::new();
    let mut sums: HashMap<Key, Sum> = HashMap::new();
    let mut order: Vec<Key> = Vec::new();
    while let Some(line) = table.advance()? {
        let Some(row) = usage(&table, &c, cx, &mut names, &mut draft, line) else {
            draft.ignore();
            continue;
        };
        let raw = table.raw();
        // a bill repeats the same line daily: ask once per subject
        let mut ask_once = |code: &'static str, subject: String, why: Msg| {
            if asked.insert((code, subject)) {
                draft.ask(line, raw.clone(), code, why);
            }
        };
        let Some(unit_seconds) = seconds(table.cell(c.unit)) else {
            let unit = table.cell(c.unit).to_owned();
            let why = Msg::new("import-why-unit")
                .arg("unit", unit.clone())
                .arg("instance_type", &*row.instance_type);
            ask_once("unit_unknown", unit, why);
            continue;
        };
        let Some(purchase) = purchase(&table, &c) else {
            let why = Msg::new("import-why-term").arg("instance_type", &*row.instance_type);
            ask_once("term_unknown", row.instance_type.to_string(), why);
            continue;
        };
        let cell = |column: Option<usize>, name: &str| match table.cell(column) {
            "" => Ok(None),
            text => price_cell(name, text).map(Some),
        };
        let numbers = (|| {
            Ok((
                cell(c.quantity, "PricingQuantity")?,
                price_cell("EffectiveCost", table.cell(c.effective_cost))?,
                cell(c.contracted_unit, "ContractedUnitPrice")?,
                cell(c.list_unit, "ListUnitPrice")?,
            ))
        })();
        let (quantity, effective, contracted, list) = match numbers {
            Ok(numbers) => numbers,
            Err(problem) => {
                let problem: crate::RowProblem = problem;
                draft.ask(line, raw, problem.code, problem.msg());
                continue;
            }
        };
        let Ok(currency) = table.cell(c.currency).parse::<Currency>() else {
            let why = Msg::new("import-why-word-unknown")
                .arg("column", "BillingCurrency")
                .arg("text", table.cell(c.currency));
            ask_once("word_unknown", table.cell(c.currency).to_owned(), why);
            continue;
        };
        let billed = quantity
            .map(|q| q.times(unit_seconds))
            .filter(|s| !s.is_zero());
        // money first, then one division: 1 / 60 of an hour is not exact
        let hour = Fixed::from_int(3600);
        let per_hour = |unit: Option<Fixed>| {
            let unit = unit.filter(|u| !u.is_zero())?;
            unit.times(hour).over(unit_seconds)
        };
        let effective_hour = billed.and_then(|s| effective.times(hour).over(s));
        let paid = match purchase {
            Purchase::OnDemand => per_hour(contracted).or(effective_hour),
            _ => effective_hour.or(per_hour(contracted)),
        };
        let (Some(billed), Some(paid)) = (billed, paid.filter(|p| !p.is_zero())) else {
            let why = Msg::new("import-why-price-zero").arg("column", "EffectiveCost");
            ask_once("price_zero", row.instance_type.to_string(), why);
            continue;
        };
        let key = (
            row.provider,
            row.instance_type,
            row.region,
            purchase,
            currency,
        );
        let as_of: Option<AsOf> = table.cell(c.period_start).parse().ok();
        let sum = sums.entry(key.clone()).or_insert_with(|| {
            order.push(key);
            Sum {
                machine: row.machine,
                currency,
                seconds: Fixed::ZERO,
                cost: Fixed::ZERO,
                unit_prices: BTreeSet::new(),
                list: None,
                as_of: None,
                line,
                raw,
                rows: 0,
            }
        });
        sum.seconds += billed;
        sum.cost += paid.times(billed);
        sum.unit_prices.insert(paid);
        sum.list = per_hour(list).or(sum.list);
        sum.as_of = newer(sum.as_of, as_of);
        sum.rows += 1;
    }
    for key in order {
        if let Some(sum) = sums.remove(&key) {
            offer(key, sum, &file, &mut draft);
        }
    }
    Ok(draft.finish())
}

fn offer(
    (provider, instance_type, region, purchase, _): Key,
    sum: Sum,
    file: &str,
    draft: &mut Draft,
) {
    let exact = (sum.unit_prices.len() == 1)
        .then(|| sum.unit_prices.first().copied())
        .flatten();
    let Some(per_hour) = exact.or_else(|| sum.cost.over(sum.seconds)) else {
        return;
    };
    let currency = sum.currency;
    let hours = (sum.seconds.to_f64() / 36.0).round() / 100.0;
    let mut derivation = vec![format!("{} rows, {hours} h", sum.rows)];
    if exact.is_none() {
        let cost = (sum.cost.to_f64() / 36.0).round() / 100.0;
        derivation.push(format!(
            "{cost} {currency} / {hours} h = {per_hour} {currency} / h"
        ));
    }
    let mut note = None;
    if let Some(list) = sum.list.filter(|l| *l > per_hour) {
        let off = (1.0 - per_hour.to_f64() / list.to_f64()) * 100.0;
        let text = format!("{per_hour} / list {list} {currency} / h = -{off:.1} %");
        derivation.push(text.clone());
        note = Some(Arc::from(text));
    }
    let confidence = match sum.machine.confidence {
        Confidence::Unverified => Confidence::Unverified,
        _ => Confidence::Verified,
    };
    let row = OfferRow {
        provider,
        region,
        instance_type,
        machine: sum.machine,
        market: Market::Quote,
        price: Price {
            purchase,
            per_hour: Money::new(per_hour, currency),
            upfront: None,
            high: None,
            tax: TaxNote::Unknown,
            why: Arc::new(Provenance::new(
                Basis::Quoted,
                confidence,
                format!("{file} (FOCUS bill)"),
                sum.as_of,
            )),
        },
        original: None,
        note,
    };
    draft.offer(row, sum.line, sum.raw, derivation);
}
