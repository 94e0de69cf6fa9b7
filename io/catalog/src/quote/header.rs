//! What a column is about, from its title: English or Chinese, with or without a unit in it.

mod role;

use super::facts::{self, Facts};
use super::fold::fold;
use super::lex::{self, Tok};
use super::names::Names;
use super::unit::{Unit, unit_of};
use super::vocab::{Kw, Scope};
use lessee_model::Purchase;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Gpu,
    /// Instance type, model of the machine, configuration.
    Instance,
    /// Item of an invoice or order: may name a GPU, a machine or a service.
    Item,
    GpuMemory,
    /// `memory`: of the GPU or of the host, the figure tells.
    Memory,
    Ram,
    /// GPUs of one machine, for sure.
    GpuCount,
    /// 数量, qty: of GPUs or of machines.
    Quantity,
    Machines,
    Price,
    Total,
    /// What the price is for, in a column of its own.
    PriceUnit,
    Currency,
    Billing,
    Term,
    Tax,
    Discount,
    Region,
    Provider,
    Vcpus,
    Disk,
    Network,
    Form,
    Interconnect,
    Date,
    /// Until when the line holds.
    Validity,
    Note,
    /// Recognised, of no use here (per-token prices, use case).
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) role: Role,
    pub(crate) unit: Unit,
    pub(crate) facts: Facts,
    /// 单价, unit price: of a card or of a machine is open.
    pub(crate) unit_price: bool,
    /// 列表价, list price
    pub(crate) list_price: bool,
}

pub(crate) fn any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|w| text.contains(w))
}

/// `unitPrice` and `unit_price` as `unit price`, folded.
pub(crate) fn title(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut small = false;
    for c in text.chars() {
        if small && c.is_ascii_uppercase() {
            spaced.push(' ');
        }
        small = c.is_ascii_lowercase();
        spaced.push(if c == '_' { ' ' } else { c });
    }
    fold(&spaced).trim().trim_end_matches(':').trim().to_owned()
}

/// The meaning of a column title; `None` if it has none that is known.
pub(crate) fn column(text: &str, names: &Names<'_>) -> Option<Column> {
    if text.trim().is_empty() || text.len() > 160 {
        return None;
    }
    let title = title(text);
    // `vCPUs` and `GPUs` are split by the camel rule; undo what matters
    let title = title
        .replace("v cpu", "vcpu")
        .replace("gp us", "gpus")
        .replace("cp us", "cpus");
    let role = role::of(&title)?;
    let toks = lex::lex(&title, names, false);
    let mut unit = unit_of(&toks, &[]);
    let facts = facts::read(&title, &toks, &[]);
    if unit.scope.is_none()
        && role == Role::Price
        && toks
            .iter()
            .any(|t: &Tok| t.kw() == Some(Kw::Scope(Scope::Machine)))
    {
        unit.scope = Some(Scope::Machine);
    }
    Some(Column {
        role,
        unit,
        unit_price: any(&title, &["单价", "unit price", "unit cost", "price each"]),
        list_price: any(
            &title,
            &[
                "列表价",
                "刊例价",
                "目录价",
                "原价",
                "标准价",
                "官网价",
                "list price",
            ],
        ),
        facts,
    })
}

/// The purchase that a column's title names.
pub(crate) fn purchase_of(facts: &Facts) -> (Option<Purchase>, Option<u32>) {
    (
        facts.purchase,
        facts
            .terms
            .first()
            .copied()
            .filter(|_| facts.terms.len() == 1),
    )
}
