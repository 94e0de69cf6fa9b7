//! One row of a bill: is it time on a GPU machine, on which, and how is it paid for?

use crate::ImportError;
use crate::import::parts::{GpuNames, Said, complete, machine};
use crate::import::{Draft, ImportContext};
use crate::table::{Table, plain};
use lessee_model::{Fixed, Machine, Purchase};
use std::sync::Arc;

pub(super) struct Columns {
    pub(super) provider: Option<usize>,
    pub(super) region: Option<usize>,
    pub(super) category: Option<usize>,
    pub(super) class: Option<usize>,
    pub(super) currency: usize,
    pub(super) effective_cost: usize,
    pub(super) contracted_unit: Option<usize>,
    pub(super) list_unit: Option<usize>,
    pub(super) quantity: Option<usize>,
    pub(super) unit: Option<usize>,
    pub(super) pricing: Option<usize>,
    pub(super) commitment: Option<usize>,
    pub(super) commitment_status: Option<usize>,
    pub(super) period_start: Option<usize>,
    pub(super) details: Option<usize>,
    /// Cells in which an instance type may stand, most telling first.
    pub(super) type_cells: Vec<usize>,
    /// Cells in which a term may stand.
    pub(super) term_cells: Vec<usize>,
}

pub(super) fn columns(table: &Table<'_>) -> Result<Columns, ImportError> {
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

pub(super) struct Usage {
    pub(super) provider: Arc<str>,
    pub(super) region: Arc<str>,
    pub(super) instance_type: Arc<str>,
    pub(super) machine: Machine,
}

/// The GPU machine that a row is about; `None` for all else.
pub(super) fn usage(
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
pub(super) fn seconds(unit: &str) -> Option<Fixed> {
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
pub(super) fn purchase(table: &Table<'_>, c: &Columns) -> Option<Purchase> {
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
