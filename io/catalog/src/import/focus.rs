//! Bills with FOCUS columns, versions 1.0 to 1.4: what the user really pays per machine-hour.
//!
//! Only usage of GPU machines priced by time becomes an offer; everything else on the bill is counted
//! and passed over. Rows of one type, region and way of paying are averaged by time. The contracted
//! unit price is taken, the list price beside it shows the user's discount; under a commitment the
//! effective cost counts. Providers' column renames (1.3: `ServiceProviderName`) are both understood.

use super::parts::{GpuNames, Said, complete, machine};
use super::{Draft, ImportContext, Imported};
use crate::build::newer;
use crate::offers_csv::price_cell;
use crate::table::{Table, plain};
use crate::{ImportError, OfferRow};
use lessee_model::{
    AsOf, Basis, Confidence, Currency, Fixed, Machine, Market, Money, Msg, Price, Provenance,
    Purchase, TaxNote,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

struct Columns {
    provider: Option<usize>,
    region: Option<usize>,
    category: Option<usize>,
    class: Option<usize>,
    currency: usize,
    effective_cost: usize,
    contracted_unit: Option<usize>,
    list_unit: Option<usize>,
    quantity: Option<usize>,
    unit: Option<usize>,
    pricing: Option<usize>,
    commitment: Option<usize>,
    commitment_status: Option<usize>,
    period_start: Option<usize>,
    details: Option<usize>,
    /// Cells in which an instance type may stand, most telling first.
    type_cells: Vec<usize>,
    /// Cells in which a term may stand.
    term_cells: Vec<usize>,
}

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

fn columns(table: &Table<'_>) -> Result<Columns, ImportError> {
    let first = |names: &[&str]| names.iter().find_map(|n| table.find(n));
    let all = |wanted: fn(&str) -> bool| -> Vec<usize> {
        (0..table.header().len())
            .filter(|i| wanted(&plain(&table.header()[*i])))
            .collect()
    };
    let mut type_cells = all(|n| n.contains("instancetype") || n.contains("machinetype"));
    type_cells.extend(
        [
            "SkuMeter",
            "ResourceType",
            "ChargeDescription",
            "SkuId",
            "x_SkuDescription",
        ]
        .iter()
        .filter_map(|n| table.find(n)),
    );
    let mut term_cells = all(|n| n.contains("term"));
    term_cells.extend(
        [
            "CommitmentDiscountName",
            "SkuPriceDetails",
            "ChargeDescription",
        ]
        .iter()
        .filter_map(|n| table.find(n)),
    );
    Ok(Columns {
        provider: first(&[
            "ServiceProviderName",
            "ProviderName",
            "HostProviderName",
            "PublisherName",
            "InvoiceIssuerName",
        ]),
        region: first(&["RegionId", "RegionName"]),
        category: table.find("ChargeCategory"),
        class: table.find("ChargeClass"),
        currency: table.need("FOCUS", "BillingCurrency")?,
        effective_cost: table.need("FOCUS", "EffectiveCost")?,
        contracted_unit: table.find("ContractedUnitPrice"),
        list_unit: table.find("ListUnitPrice"),
        quantity: first(&["PricingQuantity", "ConsumedQuantity"]),
        unit: first(&["PricingUnit", "ConsumedUnit"]),
        pricing: table.find("PricingCategory"),
        commitment: table.find("CommitmentDiscountId"),
        commitment_status: table.find("CommitmentDiscountStatus"),
        period_start: table.find("ChargePeriodStart"),
        details: table.find("SkuPriceDetails"),
        type_cells,
        term_cells,
    })
}

struct Usage {
    provider: Arc<str>,
    region: Arc<str>,
    instance_type: Arc<str>,
    machine: Machine,
}

/// The GPU machine that a row is about; `None` for all else.
fn usage(
    table: &Table<'_>,
    c: &Columns,
    cx: &ImportContext<'_>,
    names: &mut GpuNames,
    draft: &mut Draft,
    line: u64,
) -> Option<Usage> {
    let category = table.cell(c.category);
    let counts = (category.is_empty() || category.eq_ignore_ascii_case("usage"))
        && !table.cell(c.class).eq_ignore_ascii_case("correction")
        && !table
            .cell(c.commitment_status)
            .eq_ignore_ascii_case("unused");
    if !counts {
        return None;
    }
    let named = cx.provider.unwrap_or_else(|| table.cell(c.provider));
    let provider = match cx.facts.provider(named) {
        Some(p) => p.key.clone(),
        None if named.is_empty() => return None,
        None => Arc::from(named.to_lowercase()),
    };
    let region = match table.cell(c.region) {
        "" => "*",
        region => region,
    };
    let details: serde_json::Value =
        serde_json::from_str(table.cell(c.details)).unwrap_or_default();
    let detail = |wanted: &str| {
        let object = details.as_object()?;
        let (_, value) = object
            .iter()
            .find(|(k, _)| plain(k).trim_start_matches('x') == wanted)?;
        Some(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    };
    let stated = detail("instancetype");
    let known = stated
        .iter()
        .map(String::as_str)
        .chain(c.type_cells.iter().map(|i| table.cell(*i)))
        .flat_map(|cell| std::iter::once(cell).chain(words(cell)))
        .find_map(|word| Some((word.to_owned(), cx.facts.machine(&provider, word)?)));
    if let Some((instance_type, known)) = known {
        // accelerators of other kinds are not what this bill is read for, nor machines without any
        if known.gpu_count == 0 {
            return None;
        }
        return Some(Usage {
            provider,
            region: Arc::from(region),
            instance_type: Arc::from(instance_type),
            machine: known.clone(),
        });
    }
    let count: f64 = detail("gpucount")?.parse().ok()?;
    if count <= 0.0 {
        return None;
    }
    let described: Vec<&str> = c.type_cells.iter().map(|i| table.cell(*i)).collect();
    let name = described
        .iter()
        .flat_map(|cell| words(cell))
        .find(|w| w.len() > 2 && cx.facts.gpus.resolve(w).is_some())
        .or_else(|| described.iter().find(|d| !d.is_empty()).copied())?;
    let said = Said {
        name,
        count,
        memory: None,
    };
    let gpus = names.identify(&said, line, draft, cx).ok()?;
    let number = |text: Option<String>| -> Option<f32> {
        let text = text?;
        let end = text
            .find(|ch: char| !ch.is_ascii_digit() && ch != '.')
            .unwrap_or(text.len());
        text[..end].parse().ok().filter(|x| *x > 0.0)
    };
    let m = machine(
        &gpus,
        number(detail("corecount")),
        number(detail("memorysize")),
        None,
        cx,
    );
    Some(Usage {
        provider,
        region: Arc::from(region),
        instance_type: Arc::from(stated.as_deref().unwrap_or(name)),
        machine: complete(m, None),
    })
}

/// `$98.32 per On Demand Linux p5.48xlarge Instance Hour` in words; also `BoxUsage:p5.48xlarge`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ':', '/', ',', ';', '(', ')', '|', '"'])
        .filter(|w| !w.is_empty() && w.len() <= 64)
}

/// Seconds in one unit of pricing: `Hours`, `1 Hour`, `100 Hrs`, `Minutes`, `Seconds`.
fn seconds(unit: &str) -> Option<Fixed> {
    let unit = unit.trim().to_ascii_lowercase();
    let at = unit.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, word) = unit.split_at(at);
    let many: Fixed = match number.trim() {
        "" => Fixed::ONE,
        n => n.parse().ok()?,
    };
    let each = match word.trim_end_matches("(s)") {
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "min" | "mins" | "minute" | "minutes" => 60,
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        _ => return None,
    };
    let total = many.times(Fixed::from_int(each));
    (!total.is_zero() && !total.is_negative()).then_some(total)
}

/// `None` = under a commitment whose term the row does not tell.
fn purchase(table: &Table<'_>, c: &Columns) -> Option<Purchase> {
    let pricing = plain(table.cell(c.pricing));
    let committed = pricing == "committed"
        || (pricing.is_empty() && !table.cell(c.commitment).is_empty())
        || pricing == "commitmentbased";
    if pricing == "dynamic" || pricing == "spot" {
        return Some(Purchase::Spot);
    }
    if !committed {
        return Some(Purchase::OnDemand);
    }
    c.term_cells.iter().find_map(|i| {
        let cell = table.cell(*i).to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|w| cell.contains(w));
        if says(&[
            "3 year",
            "3-year",
            "3yr",
            "3 yr",
            "36 month",
            "36 mo",
            "p3y",
            "three year",
        ]) {
            Some(Purchase::Year3)
        } else if says(&[
            "1 year", "1-year", "1yr", "1 yr", "12 month", "12 mo", "p1y", "one year",
        ]) {
            Some(Purchase::Year1)
        } else if says(&["1 month", "1-month", "p1m", "monthly"]) {
            Some(Purchase::Month)
        } else {
            None
        }
    })
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
