//! Quotes: what [`crate::quote`] reads becomes offers of the catalog.
//!
//! A quote often names neither its seller nor an instance type. The file's name then stands for the
//! seller, so that quotes of two sellers never replace each other, and GPU and size for the type.

use super::parts::{complete, file_stem};
use super::{Draft, ImportContext, Imported};
use crate::builtin::offers::class_of;
use crate::quote::{QuoteContext, cut_at, import_quote};
use crate::{ImportError, OfferRow};
use jiff::{ToSpan, civil::Date};
use lessee_model::quote::QuotedOffer;
use lessee_model::{
    Basis, Confidence, Form, GpuRef, Interconnect, Machine, Market, Msg, Price, Provenance, TaxNote,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Hours of a month where a quote does not say.
const MONTH_HOURS: u32 = 730;

pub(super) fn import(
    text: &str,
    mut draft: Draft,
    cx: &ImportContext<'_>,
) -> Result<Imported, ImportError> {
    let file = draft.file().to_owned();
    let providers: Vec<(String, Vec<String>)> = cx
        .facts
        .providers
        .iter()
        .map(|p| {
            let names = [&p.name_en, &p.name_zh].into_iter().chain(&p.aliases);
            (p.key.to_string(), names.map(|n| n.to_string()).collect())
        })
        .collect();
    let known = QuoteContext {
        gpus: &cx.facts.gpus,
        providers: &providers,
        default_provider: cx.provider,
        default_currency: cx.currency,
        month_hours: MONTH_HOURS,
        as_of: cx.as_of,
        today: today(),
    };
    if let Some(line) = cut_at(text, &known) {
        return Err(ImportError::OpenQuote { file, line });
    }
    let quote = import_quote(text, &file, &known);
    if quote.offers.iter().any(|o| o.provider.is_none()) {
        let why = Msg::new("import-why-provider-from-file-name").arg("provider", file_stem(&file));
        draft.ask(0, file.as_str(), "provider_from_file_name", why);
    }
    for question in quote.questions {
        draft.ask(question.line, question.text, question.code, question.why);
    }
    draft.ignore_lines(quote.ignored_lines);
    let mut taken = HashSet::new();
    for offer in quote.offers {
        let Some(mut row) = row(&offer, &file, cx) else {
            let why = Msg::new("import-why-count").arg("count", f64::from(offer.gpu.count));
            draft.ask(offer.line, offer.original, "count_unreadable", why);
            continue;
        };
        // two lines of one quote are two offers, also where nothing but the price tells them apart
        let key = |row: &OfferRow| {
            let purchase = row.price.purchase;
            let place = (row.provider.clone(), row.region.clone());
            (place, row.instance_type.clone(), purchase)
        };
        if !taken.insert(key(&row)) {
            row.instance_type = Arc::from(format!("{} #{}", row.instance_type, offer.line));
            taken.insert(key(&row));
        }
        draft.quoted(row, offer);
    }
    Ok(draft.finish())
}

/// The day by UTC: a validity that ends today still holds.
fn today() -> Option<Date> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let days = i64::try_from(since.as_secs() / 86_400).ok()?;
    Date::constant(1970, 1, 1).checked_add(days.days()).ok()
}

/// `None` for a count of GPUs that no machine has.
fn row(offer: &QuotedOffer, file: &str, cx: &ImportContext<'_>) -> Option<OfferRow> {
    let count = u16::try_from(offer.gpu.count).ok().filter(|n| *n > 0)?;
    let gpu = GpuRef {
        model: Arc::from(offer.gpu.model.as_str()),
        form: offer
            .gpu
            .form
            .as_deref()
            .and_then(|f| f.parse::<Form>().ok()),
        memory_gb: offer.gpu.memory_gb_each,
    };
    let provider: Arc<str> = match offer.provider.as_deref() {
        Some(named) => cx
            .facts
            .provider(named)
            .map_or_else(|| Arc::from(named.trim()), |p| p.key.clone()),
        None => Arc::from(file_stem(file)),
    };
    let instance_type = match offer.instance_type.as_deref().map(str::trim) {
        Some(named) if !named.is_empty() => named.to_owned(),
        _ => type_name(&gpu, offer),
    };
    let float = |x: Option<f64>| x.map(|x| x as f32).filter(|x| x.is_finite() && *x > 0.0);
    let machine = Machine {
        class: class_of(&cx.facts.gpus, &gpu),
        gpu,
        gpu_count: count,
        gpu_fraction: 1.0,
        usable_mib_each: None,
        vcpus: float(offer.vcpus),
        memory_gib: float(offer.memory_gib),
        local_disk_gb: float(offer.local_disk_gb),
        network_gbps: float(offer.network_gbps),
        interconnect: match offer.interconnect.as_deref() {
            Some(word) => word.parse::<Interconnect>().ok(),
            None => (count == 1).then_some(Interconnect::None),
        },
        link_gbs: None,
        rdma: None,
        arch: None,
        gpu_access: None,
        status: Arc::from("current"),
        confidence: offer.confidence,
        host_confidence: Confidence::Secondary,
    };
    let known = cx.facts.machine(&provider, &instance_type);
    Some(OfferRow {
        region: Arc::from(offer.region.as_deref().unwrap_or("*")),
        machine: complete(machine, known),
        provider,
        instance_type: Arc::from(instance_type),
        market: Market::Quote,
        price: Price {
            purchase: offer.purchase,
            per_hour: offer.price,
            upfront: None,
            high: None,
            tax: match offer.tax.as_str() {
                "included" => TaxNote::Included,
                "excluded" => TaxNote::Excluded,
                _ => TaxNote::Unknown,
            },
            why: Arc::new(Provenance::new(
                Basis::Quoted,
                offer.confidence,
                file,
                offer.as_of,
            )),
        },
        original: Some(Arc::from(offer.original.as_str())),
        note: (!offer.derivation.is_empty()).then(|| Arc::from(offer.derivation.join("; "))),
    })
}

/// `H100-SXM-80GB-8x`, with CPUs and RAM where the quote tells them: `A100-8x-128c-1024g`.
fn type_name(gpu: &GpuRef, offer: &QuotedOffer) -> String {
    let mut name = gpu.model.replace(' ', "-");
    if let Some(form) = gpu.form {
        name.push_str(&format!("-{form}"));
    }
    if let Some(gb) = gpu.memory_gb {
        name.push_str(&format!("-{gb:.0}GB"));
    }
    name.push_str(&format!("-{}x", offer.gpu.count));
    if let Some(cpus) = offer.vcpus {
        name.push_str(&format!("-{cpus:.0}c"));
    }
    if let Some(gib) = offer.memory_gib {
        name.push_str(&format!("-{gib:.0}g"));
    }
    name
}
