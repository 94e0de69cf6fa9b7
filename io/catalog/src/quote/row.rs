//! One row of a table, one block of `key: value` lines or one map of a YAML list becomes a draft.

use super::cells::{
    billing_cell, clean, count_cell, currency_cell, figure, inherit, looks_like_gpu_memory,
    memory_cell, name_cell, price_cell, tax_cell, tera, term_cell, unit_cell,
};
use super::facts::{self, Facts};
use super::fold::fold;
use super::header::{Column, Role};
use super::lex;
use super::names::Names;
use super::price::{Amount, amounts};
use super::settle::{Draft, Priced};
use super::unit::Unit;
use super::validity;
use lessee_model::{AsOf, Form, Purchase};

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
                let toks = lex::lex(&lex::join_groups(&cell), names, false);
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
                d.facts.date = whole_date(raw, &read(&cell, names, false));
                d.facts.date_unread |= d.facts.date.is_none();
            }
            Role::Validity => d.facts.valid = validity::read(&cell, names),
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

/// A year alone is no date of a quote: `2026` may be the number of anything.
fn whole_date(raw: &str, read: &Facts) -> Option<AsOf> {
    let plain = || raw.trim().parse().ok();
    read.date
        .or_else(|| plain().filter(|_| raw.trim().len() > 4))
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
    period_beside(&mut d.prices);
    d.unreadable = unreadable;
    d
}

/// `price per hour, spot price`: a way to pay by use that names no period of its own is paid for the same one as its
/// neighbours, where they all name one.
fn period_beside(prices: &mut [Priced]) {
    let mut stated = prices.iter().filter_map(|p| p.amount.unit.period);
    let Some(period) = stated.next().filter(|first| stated.all(|p| p == *first)) else {
        return;
    };
    for p in prices.iter_mut().filter(|p| p.amount.unit.period.is_none()) {
        if matches!(p.purchase, Some(Purchase::Spot | Purchase::OnDemand)) {
            p.amount.unit.period = Some(period);
        }
    }
}

/// Gaps of a row from what stands around it.
pub(crate) fn fill(f: &mut Facts, around: &Facts) {
    if f.gpus.is_empty() && f.modelish.is_none() {
        f.gpus = around.gpus.clone();
        f.gpu_memory_gb = f.gpu_memory_gb.or(around.gpu_memory_gb);
        f.memory_conflict |= around.memory_conflict;
        if f.counts.is_empty() {
            f.counts = around.counts.clone();
            f.count_at_gpu |= around.count_at_gpu;
        }
    }
    // the machine around a price is described with its GPUs
    if f.gpus == around.gpus {
        f.vcpus = f.vcpus.or(around.vcpus);
        f.ram_gib = f.ram_gib.or(around.ram_gib);
        f.disk_gb = f.disk_gb.or(around.disk_gb);
        f.network_gbps = f.network_gbps.or(around.network_gbps);
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
        f.rhythm |= around.rhythm;
        f.subscription = around.subscription;
        f.purchase = around.purchase;
    }
    f.tax = f.tax.or(around.tax);
    f.date = f.date.or(around.date.filter(|_| !f.date_unread));
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

pub(crate) fn read(cell: &str, names: &Names<'_>, bare_gpu: bool) -> Facts {
    let toks = lex::lex(cell, names, bare_gpu);
    let amounts = amounts(&toks, false);
    facts::read(cell, &toks, &amounts)
}
