//! One exact amount becomes the price of the described machine for one hour, with its derivation.

use super::ask::{self, Ask};
use super::facts::{Before, Tax};
use super::price::Amount;
use super::settle::{Doc, Draft, Priced, close, one};
use super::vocab::{Period, Scope};
use lessee_model::quote::{QuotedGpu, QuotedOffer};
use lessee_model::{Currency, Fixed, GpuRef, Money, Purchase};

/// Hours of a period. A year is 8,760 h whatever a month is taken for.
fn hours(period: Period, month: u32) -> (Fixed, String) {
    let n = |h: u32, unit: &str| (Fixed::from_int(i64::from(h)), format!("{unit} = {h} h"));
    match period {
        Period::Second => (
            Fixed::from_raw(Fixed::ONE.raw() / 3600),
            "1 h = 3600 s".into(),
        ),
        Period::Minute => (
            Fixed::from_raw(Fixed::ONE.raw() / 60),
            "1 h = 60 min".into(),
        ),
        Period::Hour => (Fixed::ONE, String::new()),
        Period::Day => n(24, "day"),
        Period::Week => n(168, "week"),
        Period::Month => n(month, "month"),
        Period::Quarter => n(month.saturating_mul(3), "quarter"),
        Period::HalfYear => n(4380, "half year"),
        Period::Year => n(8760, "year"),
    }
}

/// How the machine is paid for: what the text says outright, else the term, else the period.
fn purchase(
    draft: &Draft,
    priced: &Priced,
    period: Period,
    doc: &Doc<'_>,
) -> Result<Purchase, Ask> {
    let f = &draft.facts;
    let said = priced.amount.buy.or(priced.purchase).or(f.purchase);
    if said == Some(Purchase::Spot) {
        return Ok(Purchase::Spot);
    }
    let rhythm = f.rhythm || priced.amount.label == Some(period);
    let label_year = priced.amount.label == Some(Period::Year);
    let term = match (priced.term, f.terms.as_slice()) {
        (Some(n), _) => Some(n),
        (None, [n]) => Some(*n),
        (None, []) if label_year => Some(12),
        // by the quarter one commits to a quarter, unless that is only how it is paid
        (None, []) if period == Period::Quarter && !rhythm && doc.term.is_none() => Some(3),
        (None, []) if period == Period::HalfYear && !rhythm && doc.term.is_none() => Some(6),
        (None, []) if said == Some(Purchase::OnDemand) => None,
        (None, []) => doc.term,
        (None, _) => return Err(ask::term_unclear()),
    };
    if let Some(n) = term {
        return match n {
            1 => Ok(Purchase::Month),
            12 => Ok(Purchase::Year1),
            36 => Ok(Purchase::Year3),
            _ => Err(Ask::new("term_unsupported", "quote-why-term-unsupported").arg("months", n)),
        };
    }
    if let Some(said) = said {
        return Ok(said);
    }
    if period == Period::Year {
        return Ok(Purchase::Year1);
    }
    if f.subscription || priced.amount.label == Some(Period::Month) || period >= Period::Month {
        return Ok(Purchase::Month);
    }
    Ok(Purchase::OnDemand)
}

fn currency(draft: &Draft, amount: &Amount, doc: &Doc<'_>) -> Result<Currency, Ask> {
    let column = draft.currency;
    if column.is_some_and(|c| amount.unit.currency.is_some_and(|own| own != c)) {
        return Err(ask::currency_conflict());
    }
    let stated = amount.unit.currency.or(column).or(doc.default_currency);
    if let Some(currency) = stated {
        return Ok(currency);
    }
    let wan = amount.unit.scale == Some(10_000);
    let chinese = wan || draft.original.chars().any(super::lex::is_cjk);
    match doc.seen.as_slice() {
        [only] => Ok(*only),
        seen if chinese && seen.contains(&Currency::CNY) => Ok(Currency::CNY),
        _ => Err(ask::currency_unknown()),
    }
}

/// GPUs of the machine, and whether the amount is for one of them or for all.
fn size(draft: &Draft, priced: &Priced) -> Result<(u32, Scope), Ask> {
    let f = &draft.facts;
    let unit = &priced.amount.unit;
    let counted = match (unit.count, f.counts.as_slice()) {
        (Some(n), counts) if counts.is_empty() || counts.contains(&n) => Some(n),
        (None, []) => None,
        (None, [n]) => Some(*n),
        _ => return Err(ask::count_conflict()),
    };
    if counted.is_some_and(|n| n > 72) {
        return Err(ask::count_unknown());
    }
    let mut scope = if unit.count.is_some() {
        Some(Scope::Machine)
    } else {
        unit.scope
    };
    if scope.is_none() && f.single {
        scope = Some(Scope::Gpu);
    }
    let machine_named = f.whole || draft.instance_named || f.count_at_gpu;
    if scope.is_none() && (f.whole || priced.amount.total) {
        scope = Some(Scope::Machine);
    }
    let Some(count) = counted else {
        return match scope {
            Some(Scope::Machine) => Err(ask::count_unknown()),
            // a named type of machine may hold any number
            None if draft.instance_named => Err(ask::count_unknown()),
            _ => Ok((1, Scope::Gpu)),
        };
    };
    if priced.amount.total && f.machines.is_some_and(|m| m > 1) {
        return Err(ask::scope_unclear());
    }
    if count > 1 && scope.is_none() {
        if let Some(total) = draft.total.as_ref().and_then(|t| t.value) {
            let value = scaled(&priced.amount, priced.amount.value);
            let total = scaled_total(draft, total);
            let all = value.times(Fixed::from_int(i64::from(count)));
            let months = term_of(draft, priced).max(1);
            let fits = |x: Fixed| {
                close(x, total) || close(x.times(Fixed::from_int(i64::from(months))), total)
            };
            if fits(all) && !fits(value) {
                return Ok((count, Scope::Gpu));
            }
        }
        if (priced.unit_price || draft.soft_count) && !machine_named {
            return Err(ask::scope_unclear());
        }
        return Ok((count, Scope::Machine));
    }
    // so many machines, or so many cards in one?
    let cards = !draft.soft_count || draft.counts_cards || f.count_at_gpu;
    if scope == Some(Scope::Machine) && !cards {
        return Err(ask::count_unknown());
    }
    if count > 16 && scope == Some(Scope::Gpu) && draft.soft_count {
        return Err(ask::count_unknown());
    }
    Ok((count, scope.unwrap_or(Scope::Machine)))
}

pub(crate) fn scaled(amount: &Amount, value: Option<Fixed>) -> Fixed {
    value
        .unwrap_or(Fixed::ZERO)
        .times(Fixed::from_int(amount.unit.scale.unwrap_or(1)))
}

fn scaled_total(draft: &Draft, total: Fixed) -> Fixed {
    draft
        .total
        .as_ref()
        .map_or(total, |t| scaled(t, Some(total)))
}

fn term_of(draft: &Draft, priced: &Priced) -> u32 {
    priced.term.or(one(&draft.facts.terms)).unwrap_or(1)
}

pub(crate) fn offer(
    draft: &Draft,
    priced: &Priced,
    all: &[Priced],
    gpu: &GpuRef,
    doc: &Doc<'_>,
) -> Result<QuotedOffer, Ask> {
    let f = &draft.facts;
    let amount = &priced.amount;
    if amount.unit.clash {
        return Err(ask::unit_unclear());
    }
    if f.loose_number && f.counts.is_empty() {
        return Err(ask::number_unclear());
    }
    let currency = currency(draft, amount, doc)?;
    let (count, scope) = size(draft, priced)?;
    let Some(period) = amount.unit.period.or(amount.label) else {
        // without a period beside one with it: the total of the same line
        if let Some(other) = all
            .iter()
            .find(|p| p.amount.unit.period.or(p.amount.label).is_some())
        {
            let sum =
                scaled(&other.amount, other.amount.value).times(Fixed::from_int(i64::from(count)));
            let stated = scaled(amount, amount.value);
            let months = Fixed::from_int(i64::from(term_of(draft, other)));
            if close(sum, stated)
                || close(sum.times(months), stated)
                || close(scaled(&other.amount, other.amount.value), stated)
            {
                return offer(draft, other, &all[..0], gpu, doc);
            }
            return Err(mismatch(stated, sum));
        }
        return Err(ask::unit_unknown());
    };
    let purchase = purchase(draft, priced, period, doc);
    let value = scaled(amount, amount.value);
    check_total(draft, priced, value, count, scope)?;

    let mut how = Vec::new();
    let scope_word = match scope {
        _ if count == 1 => "",
        Scope::Gpu => " / GPU",
        Scope::Machine => " / machine",
    };
    let mut formula = format!("{value} {currency}{scope_word} / {}", period_word(period));
    let mut price = value;
    if let Some(factor) = discount(draft, priced)? {
        price = price.times(factor);
        formula.push_str(&format!(" x {factor}"));
    }
    if scope == Scope::Gpu && count > 1 {
        price = price.times(Fixed::from_int(i64::from(count)));
        formula.push_str(&format!(" x {count} GPU"));
    }
    let (h, note) = hours(period, f.month_hours.unwrap_or(doc.month_hours));
    if period != Period::Hour {
        price = match period {
            Period::Second => price.times(Fixed::from_int(3600)),
            Period::Minute => price.times(Fixed::from_int(60)),
            _ => price.over(h).unwrap_or(Fixed::ZERO),
        };
        formula.push_str(&format!(
            " ({note}{})",
            if (doc.month_stated || f.month_hours.is_some()) && period == Period::Month {
                ", stated in the text"
            } else {
                ""
            }
        ));
    }
    let purchase = purchase.map_err(|ask| ask.arg("price", Money::new(price, currency)))?;
    how.push(format!("{formula} = {price} {currency}/h"));
    how.extend(draft.notes.iter().cloned());
    let tax = priced.tax.or(f.tax);
    if tax == Some(Tax::Included) && currency == Currency::CNY {
        let net = price
            .over(Fixed::from_raw(Fixed::ONE.raw() * 106 / 100))
            .unwrap_or(price);
        how.push(format!(
            "tax included; net at 6 % = {} {currency}/h",
            net.round(6)
        ));
    }
    plausible(price, count, currency)?;
    Ok(QuotedOffer {
        provider: f.provider.clone().or_else(|| doc.default_provider.clone()),
        region: f.region.clone(),
        instance_type: draft.instance_type.clone(),
        gpu: QuotedGpu {
            model: gpu.model.to_string(),
            form: gpu.form.map(|form| form.to_string()),
            count,
            memory_gb_each: gpu.memory_gb,
        },
        vcpus: f.vcpus,
        memory_gib: f.ram_gib,
        local_disk_gb: f.disk_gb,
        network_gbps: f.network_gbps,
        interconnect: f.interconnect.map(str::to_owned),
        purchase,
        price: Money::new(price, currency),
        per: "instance_hour".to_owned(),
        original: draft.original.clone(),
        line: draft.line,
        derivation: how,
        tax: match tax {
            Some(Tax::Included) => "included",
            Some(Tax::Excluded) => "excluded",
            None => "unknown",
        }
        .to_owned(),
        as_of: f.date.or(doc.as_of.filter(|_| !f.date_unread)),
        confidence: doc.confidence,
    })
}

fn period_word(period: Period) -> &'static str {
    match period {
        Period::Second => "s",
        Period::Minute => "min",
        Period::Hour => "h",
        Period::Day => "day",
        Period::Week => "week",
        Period::Month => "month",
        Period::Quarter => "quarter",
        Period::HalfYear => "half year",
        Period::Year => "year",
    }
}

/// A discount is taken off only where the text says that the price is before it.
fn discount(draft: &Draft, priced: &Priced) -> Result<Option<Fixed>, Ask> {
    match draft.facts.discount {
        None | Some((_, Before::AlreadyTaken)) => Ok(None),
        Some((factor, Before::ListPrice)) => Ok(Some(factor)),
        Some((factor, Before::Unsaid)) if priced.list_price => Ok(Some(factor)),
        Some((factor, Before::Unsaid)) => {
            Err(ask::discount_unclear().arg("factor", factor.to_string()))
        }
    }
}

/// count x unit price x term must be the total that the line states.
fn check_total(
    draft: &Draft,
    priced: &Priced,
    value: Fixed,
    count: u32,
    scope: Scope,
) -> Result<(), Ask> {
    let Some(total) = draft.total.as_ref().filter(|t| !t.range && !t.approx) else {
        return Ok(());
    };
    let Some(stated) = total.value.map(|v| scaled(total, Some(v))) else {
        return Ok(());
    };
    let machines = draft.facts.machines.unwrap_or(1);
    let months = term_of(draft, priced);
    let per_machine = match scope {
        Scope::Gpu => value.times(Fixed::from_int(i64::from(count))),
        Scope::Machine => value,
    };
    let computed = per_machine.times(Fixed::from_int(i64::from(machines)));
    let fits = [1, months, months / 12].iter().any(|n| {
        *n > 0
            && (close(computed.times(Fixed::from_int(i64::from(*n))), stated)
                || close(per_machine.times(Fixed::from_int(i64::from(*n))), stated))
    });
    if fits {
        return Ok(());
    }
    Err(mismatch(
        stated,
        computed.times(Fixed::from_int(i64::from(months))),
    ))
}

pub(crate) fn mismatch(stated: Fixed, computed: Fixed) -> Ask {
    Ask::new("total_mismatch", "quote-why-total-mismatch")
        .arg("stated", stated.to_string())
        .arg("computed", computed.to_string())
}

/// Outside 0.01 to 100 USD per GPU-hour something was misread. Orders of magnitude, not exchange rates.
fn plausible(price: Fixed, count: u32, currency: Currency) -> Result<(), Ask> {
    let unit = match currency.as_str() {
        "CNY" | "HKD" | "TWD" | "SEK" | "NOK" | "DKK" | "BRL" | "PLN" => 7.0,
        "JPY" | "INR" => 120.0,
        "KRW" => 1300.0,
        _ => 1.0,
    };
    let each = price.to_f64() / f64::from(count) / unit;
    if (0.01..=100.0).contains(&each) {
        return Ok(());
    }
    Err(Ask::new("implausible", "quote-why-implausible").arg("price", Money::new(price, currency)))
}
