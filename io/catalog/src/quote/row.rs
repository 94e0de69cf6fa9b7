//! One row of a table, one block of `key: value` lines or one map of a YAML list becomes a draft.

use super::facts::{self, Facts, Tax};
use super::fold::fold;
use super::header::{Column, Role, purchase_of, title};
use super::lex::{self, T, Tok};
use super::names::Names;
use super::price::{Amount, Unit, amounts, unit_of};
use super::settle::{Draft, Priced};
use super::vocab::Kw;
use lessee_model::{Form, Purchase};

/// What headings and remarks around a table say of all its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    pub(crate) facts: Facts,
    pub(crate) unit: Unit,
}

/// A cell that says nothing: a dash, `n/a`, 无.
pub(crate) fn blank(folded: &str) -> bool {
    let t = folded.trim();
    matches!(
        t,
        "" | "/"
            | "\\"
            | "n/a"
            | "na"
            | "null"
            | "none"
            | "~"
            | "无"
            | "暂无"
            | "售罄"
            | "缺货"
            | "sold out"
            | "unavailable"
            | "不支持"
            | "不适用"
            | "."
    ) || t.chars().all(|c| c == '-' || c == '_')
}

/// Builds a draft from cells with known columns.
pub(crate) fn draft(
    cells: &[(&Column, &str)],
    line: u64,
    original: &str,
    around: &Around,
    names: &Names<'_>,
) -> Draft {
    let mut d = Draft {
        line,
        original: original.to_owned(),
        in_table: true,
        ..Draft::default()
    };
    let mut row_unit = Unit::default();
    let mut unreadable = false;
    let has = |role: Role| cells.iter().any(|(c, _)| c.role == role);
    for (i, (column, raw)) in cells.iter().enumerate() {
        let cell = fold(raw);
        if blank(&cell) {
            continue;
        }
        match column.role {
            Role::Price => {
                let before = d.prices.len();
                price_cell(&cell, column, i, names, &mut d);
                let empty = d.prices.len() == before && !d.facts.on_request;
                unreadable |= empty && !d.facts.not_machine;
            }
            Role::Total => {
                let toks = lex::lex(&cell, names, false);
                let mut found = amounts(&toks, true);
                if let Some(first) = found.first_mut() {
                    first.unit = inherit(first.unit, &column.unit, &cell);
                    first.total = true;
                    d.total = Some(first.clone());
                }
            }
            Role::PriceUnit => row_unit = unit_cell(raw, names).or(&row_unit),
            Role::Currency => d.currency = d.currency.or_else(|| currency_cell(&cell)),
            Role::Gpu | Role::Instance | Role::Item => {
                name_cell(column.role, raw, &cell, names, &mut d)
            }
            Role::GpuMemory => memory_cell(&cell, names, &mut d.facts),
            Role::Memory => {
                let spare = !has(Role::GpuMemory)
                    && (has(Role::Ram) || looks_like_gpu_memory(&cell, cells, names));
                if spare {
                    memory_cell(&cell, names, &mut d.facts);
                } else {
                    d.facts.ram_gib = figure(&cell, names);
                }
            }
            Role::Ram => {
                d.facts.ram_gib =
                    figure(&cell, names).map(|x| if tera(&cell) { x * 1024.0 } else { x })
            }
            Role::Vcpus => d.facts.vcpus = figure(&cell, names),
            Role::Disk => {
                d.facts.disk_gb =
                    figure(&cell, names).map(|x| if tera(&cell) { x * 1000.0 } else { x })
            }
            Role::Network => {
                d.facts.network_gbps = figure(&cell, names).filter(|_| !cell.contains("mbps"))
            }
            Role::GpuCount | Role::Quantity | Role::Machines => {
                count_cell(column.role, &cell, names, &mut d)
            }
            Role::Billing => billing_cell(raw, names, &mut d.facts),
            Role::Term => term_cell(raw, column, names, &mut d.facts),
            Role::Tax => d.facts.tax = tax_cell(&cell, column).or(d.facts.tax),
            Role::Discount => {
                let text = if cell.contains(['折', '%']) {
                    cell.clone()
                } else {
                    format!("{cell}折")
                };
                let text = if text.contains("off") || text.contains('折') {
                    text
                } else {
                    format!("{text} off")
                };
                d.facts.discount = facts::read(&text, &[], &[]).discount;
            }
            Role::Region => d.facts.region = Some(raw.trim().to_owned()),
            Role::Provider => {
                let named = names
                    .provider_named(&cell)
                    .or_else(|| read(&cell, names, false).provider);
                d.facts.provider = Some(named.unwrap_or_else(|| clean(raw)));
            }
            Role::Form => {
                if let (Ok(form), [gpu]) = (raw.trim().parse::<Form>(), d.facts.gpus.as_mut_slice())
                {
                    gpu.form = gpu.form.or(Some(form));
                }
            }
            Role::Interconnect => {
                d.facts.interconnect = read(&cell, names, false)
                    .interconnect
                    .or(d.facts.interconnect)
            }
            Role::Date => {
                d.facts.date = read(&cell, names, false)
                    .date
                    .or_else(|| raw.trim().parse().ok())
            }
            Role::Note => {
                let note = read(&cell, names, false);
                d.facts.tax = d.facts.tax.or(note.tax);
                d.facts.whole |= note.whole;
                d.facts.discount = d.facts.discount.or(note.discount);
                d.facts.purchase = d
                    .facts
                    .purchase
                    .or(note.purchase.filter(|p| *p == Purchase::Spot));
                d.facts.month_hours = d.facts.month_hours.or(note.month_hours);
                if d.facts.counts.is_empty() && note.count_at_gpu && note.gpus.is_empty() {
                    d.facts.counts = note.counts;
                    d.facts.count_at_gpu = true;
                }
            }
            Role::Other => {}
        }
    }
    form_again(cells, &mut d);
    finish(d, row_unit, unreadable, around)
}

/// A form column may stand before the GPU column.
fn form_again(cells: &[(&Column, &str)], d: &mut Draft) {
    if let [gpu] = d.facts.gpus.as_mut_slice()
        && gpu.form.is_none()
    {
        gpu.form = cells
            .iter()
            .filter(|(c, _)| c.role == Role::Form)
            .find_map(|(_, raw)| raw.trim().parse().ok());
    }
}

fn finish(mut d: Draft, row_unit: Unit, unreadable: bool, around: &Around) -> Draft {
    let f = &mut d.facts;
    if let Some(n) = d.quantity {
        if f.counts.is_empty() {
            f.counts.push(n);
            d.soft_count = true;
        } else if !f.counts.contains(&n) {
            // the cards are counted elsewhere, so these are machines
            f.machines = f.machines.or(Some(n));
        }
    }
    f.counts.sort_unstable();
    f.counts.dedup();
    f.terms.sort_unstable();
    f.terms.dedup();
    fill(f, &around.facts);
    // with a list price and what is left of it, the latter is the price
    if d.prices.iter().any(|p| p.list_price) && d.prices.iter().any(|p| !p.list_price) {
        d.prices.retain(|p| !p.list_price);
        d.facts.discount = None;
    }
    if d.prices.is_empty()
        && let Some(total) = d.total.take()
    {
        d.prices.push(plain_priced(total, 0));
    }
    for p in &mut d.prices {
        p.amount.unit = p.amount.unit.or(&row_unit).or(&around.unit);
    }
    d.unreadable = unreadable;
    d
}

/// Gaps of a row from what stands around it.
pub(crate) fn fill(f: &mut Facts, around: &Facts) {
    if f.gpus.is_empty() && f.modelish.is_none() {
        f.gpus = around.gpus.clone();
        f.gpu_memory_gb = f.gpu_memory_gb.or(around.gpu_memory_gb);
        if f.counts.is_empty() {
            f.counts = around.counts.clone();
            f.count_at_gpu |= around.count_at_gpu;
        }
    }
    if f.counts.is_empty() && !f.single {
        f.counts = around.counts.clone();
        f.count_at_gpu |= around.count_at_gpu && !around.counts.is_empty();
    }
    if f.provider.is_none() {
        f.provider = around.provider.clone();
    }
    if f.terms.is_empty() && f.purchase.is_none() && !f.subscription {
        f.terms = around.terms.clone();
        f.subscription = around.subscription;
        f.purchase = around.purchase;
    }
    f.tax = f.tax.or(around.tax);
    f.date = f.date.or(around.date);
    f.whole |= around.whole;
    f.single |= around.single;
}

pub(crate) fn plain_priced(amount: Amount, cell: usize) -> Priced {
    Priced {
        amount,
        purchase: None,
        term: None,
        unit_price: false,
        list_price: false,
        tax: None,
        cell,
    }
}

fn read(cell: &str, names: &Names<'_>, bare_gpu: bool) -> Facts {
    let toks = lex::lex(cell, names, bare_gpu);
    let amounts = amounts(&toks, false);
    facts::read(cell, &toks, &amounts)
}

/// The unit of a cell completed by its column. 万 of the title does not apply to a cell that is
/// written out in 元.
fn inherit(unit: Unit, column: &Unit, cell: &str) -> Unit {
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

fn price_cell(cell: &str, column: &Column, index: usize, names: &Names<'_>, d: &mut Draft) {
    let toks = lex::lex(cell, names, false);
    let found = amounts(&toks, true);
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
    d.facts.single |= f.single || column.facts.single;
    d.facts.on_request |= f.on_request;
    d.facts.discount = d.facts.discount.or(f.discount);
    d.facts.machines = d.facts.machines.or(f.machines);
}

/// `元/卡/时`, `per GPU hour`, `instance_hour`, `month`.
fn unit_cell(raw: &str, names: &Names<'_>) -> Unit {
    let text = format!("/{}", title(raw));
    unit_of(&lex::lex(&text, names, false), &[])
}

fn currency_cell(cell: &str) -> Option<lessee_model::Currency> {
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

fn name_cell(role: Role, raw: &str, cell: &str, names: &Names<'_>, d: &mut Draft) {
    let f = read(cell, names, role == Role::Gpu);
    let exact_gpu = names.resolve(cell).is_some();
    if role == Role::Gpu || d.gpu_text.is_empty() && f.gpus.is_empty() && role == Role::Item {
        d.gpu_text = clean(raw);
    }
    if role == Role::Instance && !exact_gpu {
        d.instance_type = Some(clean(raw));
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
fn figure(cell: &str, names: &Names<'_>) -> Option<f64> {
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

fn tera(cell: &str) -> bool {
    ["tb", "tib"].iter().any(|t| cell.contains(t)) || cell.trim_end().ends_with('t')
}

fn memory_cell(cell: &str, names: &Names<'_>, f: &mut Facts) {
    let toks = lex::lex(cell, names, false);
    let numbers = numbers(&toks);
    let times = toks.iter().any(|t| t.kw() == Some(Kw::Times));
    let gb = match numbers.as_slice() {
        [n] => *n,
        // `8×80GB`
        [_, each] if times => *each,
        _ => return,
    };
    // MiB as nvidia-smi prints them
    let gb = if gb > 2048.0 { gb / 1024.0 } else { gb };
    if gb.is_finite() && gb > 0.0 {
        f.gpu_memory_gb = Some(gb);
    }
}

/// `memory` beside a GPU: its own, if the figure is one that the card is sold with.
fn looks_like_gpu_memory(cell: &str, cells: &[(&Column, &str)], names: &Names<'_>) -> bool {
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

fn count_cell(role: Role, cell: &str, names: &Names<'_>, d: &mut Draft) {
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
            T::Num(n) => Some(n.and_then(super::price::count_of)),
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
fn billing_cell(raw: &str, names: &Names<'_>, f: &mut Facts) {
    let cell = title(raw);
    let read = read(&cell, names, false);
    f.terms.extend(&read.terms);
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

fn term_cell(raw: &str, column: &Column, names: &Names<'_>, f: &mut Facts) {
    let cell = fold(raw);
    let read = read(&cell, names, false);
    if !read.terms.is_empty() {
        f.terms.extend(read.terms);
        return;
    }
    f.purchase = f.purchase.or(read.purchase);
    f.subscription |= read.subscription;
    let Some(n) = figure(&cell, names).filter(|n| n.fract() == 0.0 && *n <= 120.0) else {
        if ["monthly", "month", "月付", "按月"]
            .iter()
            .any(|w| cell.contains(w))
        {
            f.subscription = true;
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

fn tax_cell(cell: &str, column: &Column) -> Option<Tax> {
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
