//! The cells of a row, each read by what its column is about.

use super::facts::{self, Facts, Tax};
use super::fold::fold;
use super::header::{Column, Role, purchase_of, title};
use super::lex::{self, T, Tok};
use super::names::Names;
use super::price::{Amount, amounts};
use super::row::read;
use super::settle::{Draft, Priced};
use super::unit::{Unit, unit_of};
use super::vocab::Kw;
use lessee_model::Purchase;

/// The unit of a cell completed by its column. 万 of the title does not apply to a cell that is
/// written out in 元.
pub(crate) fn inherit(unit: Unit, column: &Unit, cell: &str) -> Unit {
    let mut column = *column;
    if unit.scale.is_some() || unit.period.is_some() || cell.contains('元') {
        column.scale = None;
    }
    if unit.period.is_some() && unit.scope.is_none() {
        // `¥2/h` under `元/台/月`: only what the cell leaves open, and the title speaks of another unit
        column.scope = column
            .scope
            .filter(|_| column.period == unit.period || column.period.is_none());
    }
    unit.or(&column)
}

pub(crate) fn price_cell(
    cell: &str,
    column: &Column,
    index: usize,
    names: &Names<'_>,
    d: &mut Draft,
) {
    let cell = &lex::join_groups(cell);
    let toks = lex::lex(cell, names, false);
    let mut found = amounts(&toks, true);
    // `2 USD 65`, `1/2 USD`: a number beside a price is part of it or something else
    let bare = |a: &Amount| a.unit == Unit::default() && !a.in_brackets && a.label.is_none();
    if found.iter().any(bare) && found.iter().any(|a| a.unit.currency.is_some()) {
        found.iter_mut().for_each(|a| a.value = None);
    }
    // `3 USD (max)`, `3 USD or less`
    if toks
        .iter()
        .any(|t| matches!(t.kw(), Some(Kw::AtMost | Kw::AtLeast)))
    {
        found.iter_mut().for_each(|a| a.bound = true);
    }
    let f = facts::read(cell, &toks, &found);
    let (purchase, term) = purchase_of(&column.facts);
    for mut amount in found {
        amount.unit = inherit(amount.unit, &column.unit, cell);
        amount.label = amount
            .label
            .or(column.unit.period.filter(|_| column.facts.subscription));
        d.prices.push(Priced {
            amount,
            purchase: f.purchase.or(purchase),
            term: if f.terms.len() == 1 {
                f.terms.first().copied()
            } else {
                term
            },
            unit_price: column.unit_price,
            list_price: column.list_price,
            tax: f.tax.or(column.facts.tax),
            cell: index,
        });
    }
    d.facts.counts.extend(&f.counts);
    d.facts.counts.extend(&column.facts.counts);
    d.facts.count_at_gpu |= f.count_at_gpu || column.facts.count_at_gpu;
    d.facts.whole |= f.whole || column.facts.whole;
    d.facts.rhythm |= f.rhythm || column.facts.rhythm;
    d.facts.single |= f.single || column.facts.single;
    d.facts.on_request |= f.on_request;
    d.facts.month_hours = d.facts.month_hours.or(f.month_hours);
    d.facts.discount = d.facts.discount.or(f.discount);
    d.facts.machines = d.facts.machines.or(f.machines);
}

/// `元/卡/时`, `per GPU hour`, `instance_hour`, `month`.
pub(crate) fn unit_cell(raw: &str, names: &Names<'_>) -> Unit {
    let text = format!("/{}", title(raw));
    let toks = lex::lex(&text, names, false);
    let mut unit = unit_of(&toks, &[]);
    unit.clash |= of_several(&text, &toks);
    unit
}

/// `month (8 nodes)`, `node-month x 8`, `per eight nodes`, `per cluster`: not the price of one machine.
fn of_several(text: &str, toks: &[Tok]) -> bool {
    let many = |t: &Tok| matches!(t.t, T::Num(n) if n != Some(lessee_model::Fixed::ONE));
    let machine = Some(Kw::Scope(super::vocab::Scope::Machine));
    let numbered = toks.iter().enumerate().any(|(i, t)| {
        let mut next = toks[i + 1..]
            .iter()
            .filter(|n| !n.is_sym('-') && n.kw() != Some(Kw::Times));
        let times = i.checked_sub(1).and_then(|j| toks[j].kw()) == Some(Kw::Times);
        many(t) && (times || next.next().and_then(Tok::kw) == machine)
    });
    let words = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve",
        "sixteen", "dozen", "cluster", "clusters", "pod", "pods",
    ];
    numbered
        || text.contains("集群")
        || text
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|w| words.contains(&w))
}

pub(crate) fn currency_cell(cell: &str) -> Option<lessee_model::Currency> {
    let t = cell.trim();
    super::vocab::currency_sign(t)
        .map(|(c, _)| c)
        .or_else(|| match super::vocab::chinese(t) {
            Some((Kw::Currency(c), _)) => Some(c),
            _ => None,
        })
        .or_else(|| match super::vocab::english(t) {
            Some(Kw::Currency(c)) => Some(c),
            _ => None,
        })
        .or_else(|| t.parse().ok())
}

/// Names are kept as written, without the marks of a table.
pub(crate) fn clean(raw: &str) -> String {
    raw.replace("**", "").replace('`', "").trim().to_owned()
}

pub(crate) fn name_cell(role: Role, raw: &str, cell: &str, names: &Names<'_>, d: &mut Draft) {
    let f = read(cell, names, role == Role::Gpu);
    let exact_gpu = names.resolve(cell).is_some();
    if role == Role::Gpu || d.gpu_text.is_empty() && f.gpus.is_empty() && role == Role::Item {
        d.gpu_text = clean(raw);
    }
    if role == Role::Instance && !exact_gpu {
        d.instance_named = true;
        // `128核/2TB` and `8x H100 SXM` describe, they name no type
        let described = cell.contains(['/', ' ', '核'])
            || !f.counts.is_empty() && cell.contains(super::lex::is_cjk);
        d.instance_type = (!described).then(|| clean(raw));
        if d.gpu_text.is_empty() {
            d.gpu_text = clean(raw);
        }
    }
    d.item |= role == Role::Item;
    let t = &mut d.facts;
    if !f.gpus.is_empty() && (t.gpus.is_empty() || role == Role::Gpu) {
        t.gpus = f.gpus;
        t.gpu_memory_gb = f.gpu_memory_gb.or(t.gpu_memory_gb);
    } else if role == Role::Gpu {
        t.gpu_memory_gb = t.gpu_memory_gb.or(f.gpu_memory_gb);
    }
    // the words of a cell may be unknown as a whole, not the single word that looks like a model
    if role != Role::Gpu && f.modelish.is_some() && t.gpus.is_empty() && role == Role::Item {
        t.modelish = f.modelish;
    }
    t.counts.extend(f.counts);
    t.count_at_gpu |= f.count_at_gpu;
    t.whole |= f.whole;
    t.single |= f.single;
    t.machines = t.machines.or(f.machines);
    t.vcpus = t.vcpus.or(f.vcpus);
    t.ram_gib = t.ram_gib.or(f.ram_gib);
    t.disk_gb = t.disk_gb.or(f.disk_gb);
    t.network_gbps = t.network_gbps.or(f.network_gbps);
    t.interconnect = t.interconnect.or(f.interconnect);
    t.purchase = t.purchase.or(f.purchase);
    t.terms.extend(f.terms);
    t.tax = t.tax.or(f.tax);
    t.subscription |= f.subscription;
    t.rhythm |= f.rhythm;
    t.memory_conflict |= f.memory_conflict;
    if role == Role::Item {
        t.not_machine |= f.not_machine;
        t.provider = t.provider.take().or(f.provider);
        t.region = t.region.take().or(f.region);
    } else if t.provider.is_none() && role == Role::Instance {
        t.provider = f.provider;
    }
}

fn numbers(toks: &[Tok]) -> Vec<f64> {
    toks.iter()
        .filter_map(|t| match t.t {
            T::Num(Some(n)) => Some(n.to_f64()),
            _ => None,
        })
        .collect()
}

/// The first number of a cell, `2 x 3.84` multiplied out.
pub(crate) fn figure(cell: &str, names: &Names<'_>) -> Option<f64> {
    if cell.trim_start().starts_with('-') {
        return None;
    }
    let toks = lex::lex(cell, names, false);
    let first = toks.iter().position(|t| matches!(t.t, T::Num(_)))?;
    let n = *numbers(&toks).first()?;
    let times = toks.get(first + 1).and_then(Tok::kw) == Some(Kw::Times);
    let value = match numbers(&toks).get(1) {
        Some(m) if times => n * m,
        _ => n,
    };
    (value.is_finite() && value > 0.0).then_some(value)
}

pub(crate) fn tera(cell: &str) -> bool {
    ["tb", "tib"].iter().any(|t| cell.contains(t)) || cell.trim_end().ends_with('t')
}

pub(crate) fn memory_cell(cell: &str, names: &Names<'_>, f: &mut Facts) {
    let toks = lex::lex(cell, names, false);
    let unread = toks.iter().any(|t| t.t == T::Num(None));
    let numbers = numbers(&toks);
    f.memory_unread |= unread
        || numbers.is_empty()
        || numbers.iter().any(|n| *n <= 0.0)
        || cell.trim_start().starts_with(['-', '(']);
    // `80GB/141GB`
    let sizes: Vec<&T> = toks
        .windows(2)
        .filter(|w| matches!(w[0].t, T::Num(_)) && w[1].kw() == Some(Kw::Giga))
        .map(|w| &w[0].t)
        .collect();
    f.memory_conflict |= sizes.iter().any(|size| size != &sizes[0]);
    let times = toks.iter().any(|t| t.kw() == Some(Kw::Times));
    let gb = match numbers.as_slice() {
        [n] => *n,
        // `8×80GB`
        [_, each] if times => *each,
        _ => return,
    };
    // MiB as nvidia-smi prints them
    f.memory_unread |= gb <= 2048.0 && (cell.contains("mb") || cell.contains("mib"));
    let gb = if gb > 2048.0 { gb / 1024.0 } else { gb };
    if gb.is_finite() && gb > 0.0 {
        f.gpu_memory_gb = Some(gb);
    }
}

/// `memory` beside a GPU: its own, if the figure is one that the card is sold with.
pub(crate) fn looks_like_gpu_memory(
    cell: &str,
    cells: &[(&Column, &str)],
    names: &Names<'_>,
) -> bool {
    let Some(gb) = figure(cell, names) else {
        return false;
    };
    cells
        .iter()
        .filter(|(c, _)| c.role == Role::Gpu)
        .flat_map(|(_, raw)| read(&fold(raw), names, true).gpus)
        .any(|gpu| {
            names
                .gpus
                .specs
                .iter()
                .any(|s| s.model == gpu.model && lessee_model::gpu::same_memory(s.memory_gb, gb))
        })
}

pub(crate) fn count_cell(role: Role, cell: &str, names: &Names<'_>, d: &mut Draft) {
    // `-8`, `>4`
    let unsure = ['-', '<', '>', '~', '(', '≥', '≤', '≈'];
    if cell.trim_start().starts_with(unsure) || cell.contains('?') {
        d.facts.counts.extend([u32::MAX, u32::MAX - 1]);
        return;
    }
    let f = read(cell, names, false);
    if role != Role::Machines && !f.counts.is_empty() {
        d.facts.counts.extend(f.counts);
        d.facts.machines = d.facts.machines.or(f.machines);
        return;
    }
    if f.machines.is_some() {
        d.facts.machines = f.machines;
        return;
    }
    let toks = lex::lex(cell, names, false);
    let counts: Vec<Option<u32>> = toks
        .iter()
        .filter_map(|t| match t.t {
            T::Num(n) => Some(n.and_then(super::unit::count_of)),
            _ => None,
        })
        .collect();
    match (role, counts.as_slice()) {
        (_, []) => {}
        (Role::Machines, [Some(n)]) => d.facts.machines = Some(*n),
        (Role::Machines, _) => {}
        (Role::Quantity, [Some(n)]) => d.quantity = Some(*n),
        (_, [Some(n)]) => d.facts.counts.push(*n),
        // `4-8`, `0`, `2.5`: no count to rely on
        _ => d.facts.counts.extend([u32::MAX, u32::MAX - 1]),
    }
}

/// Billing words of quotes and the keys of our own JSON.
pub(crate) fn billing_cell(raw: &str, names: &Names<'_>, f: &mut Facts) {
    let cell = title(raw);
    let read = read(&cell, names, false);
    f.terms.extend(&read.terms);
    f.rhythm |= read.rhythm;
    let has = |words: &[&str]| words.iter().any(|w| cell.contains(w));
    if has(&["year 3", "3y"]) {
        f.terms.push(36);
    } else if has(&["year 1", "1y", "年付", "yearly", "annual"]) && read.terms.is_empty() {
        f.terms.push(12);
    }
    f.subscription |= read.subscription || has(&["包年包月", "预付", "reserved", "prepaid"]);
    f.purchase = f.purchase.or(read.purchase);
    if f.purchase.is_none() && f.terms.is_empty() && !f.subscription {
        if has(&["month", "月"]) {
            f.subscription = true;
        } else if has(&["hour", "小时", "按时", "按秒", "后付", "post"]) {
            f.purchase = Some(Purchase::OnDemand);
        }
    }
    f.tax = f.tax.or(read.tax);
}

pub(crate) fn term_cell(raw: &str, column: &Column, names: &Names<'_>, f: &mut Facts) {
    let cell = fold(raw);
    let read = read(&cell, names, false);
    if !read.terms.is_empty() {
        f.terms.extend(read.terms);
        return;
    }
    f.purchase = f.purchase.or(read.purchase);
    f.subscription |= read.subscription;
    f.rhythm |= read.rhythm;
    let Some(n) = figure(&cell, names).filter(|n| n.fract() == 0.0 && *n <= 120.0) else {
        if ["monthly", "month", "月付", "按月"]
            .iter()
            .any(|w| cell.contains(w))
        {
            f.subscription = true;
        } else if read.title_period == Some(super::vocab::Period::Quarter) {
            f.terms.push(3);
        }
        return;
    };
    let n = n as u32;
    match column.unit.period.or_else(|| column_period(column)) {
        Some(super::vocab::Period::Month) => f.terms.push(n),
        Some(super::vocab::Period::Year) => f.terms.push(n * 12),
        // a number of what? two readings, so that it is asked
        _ => f.terms.extend([n, n.saturating_mul(12)]),
    }
}

fn column_period(column: &Column) -> Option<super::vocab::Period> {
    column.facts.title_period
}

pub(crate) fn tax_cell(cell: &str, column: &Column) -> Option<Tax> {
    let t = cell.trim();
    if let Some(tax) = facts::read(t, &[], &[]).tax {
        return Some(tax);
    }
    match t {
        "是" | "yes" | "y" | "true" | "含" | "included" | "incl" | "inclusive" => {
            Some(Tax::Included)
        }
        "否" | "no" | "n" | "false" | "不含" | "excluded" | "excl" | "exclusive" => {
            Some(Tax::Excluded)
        }
        _ if t.contains('%') => column.facts.tax,
        _ => None,
    }
}
