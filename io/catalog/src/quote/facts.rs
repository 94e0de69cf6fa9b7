//! What a piece of a quote says besides its prices: which GPU, how many, for how long, with tax or not.
//!
//! Facts are only read off the text. Filling gaps from a heading or another column is done by the
//! readers of tables and prose; judging them is done in `settle`.

use super::lex::{T, Tok};
use super::price::Amount;
use super::sizes::{self, another_memory, is_label, label_before, memory_after, several_memories};
use super::unit::count_of;
use super::validity::Valid;
use super::vocab::{Kw, Period, Scope};
use lessee_model::{AsOf, Fixed, GpuRef, Purchase};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tax {
    Included,
    Excluded,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Different GPUs in the order of their names.
    pub(crate) gpus: Vec<GpuRef>,
    /// A word that looks like a model but is none that is known.
    pub(crate) modelish: Option<String>,
    /// GPUs per machine; more than one means contradiction.
    pub(crate) counts: Vec<u32>,
    /// The count stands at the GPU itself (`8x H100`) or in `8卡整机`: the machine is what is priced.
    pub(crate) count_at_gpu: bool,
    /// 单卡
    pub(crate) single: bool,
    pub(crate) machines: Option<u32>,
    /// 整机, node, HGX ...: a whole machine is meant.
    pub(crate) whole: bool,
    /// Memory beside the GPU's name or called 显存, GB.
    pub(crate) gpu_memory_gb: Option<f64>,
    /// `H20 96G 141G`
    pub(crate) memory_conflict: bool,
    /// The column of it holds something that is no size: `NaN`, `-80 GB`.
    pub(crate) memory_unread: bool,
    pub(crate) ram_gib: Option<f64>,
    pub(crate) vcpus: Option<f64>,
    pub(crate) disk_gb: Option<f64>,
    pub(crate) network_gbps: Option<f64>,
    pub(crate) interconnect: Option<&'static str>,
    pub(crate) provider: Option<String>,
    pub(crate) region: Option<String>,
    pub(crate) purchase: Option<Purchase>,
    pub(crate) subscription: bool,
    /// Months committed to; more than one means contradiction.
    pub(crate) terms: Vec<u32>,
    pub(crate) term_word: bool,
    /// 季付, 押一付三: how often it is paid, which is no commitment.
    pub(crate) rhythm: bool,
    pub(crate) tax: Option<Tax>,
    pub(crate) on_request: bool,
    /// Factor on a list price, and whether the text says that the price is before it.
    pub(crate) discount: Option<(Fixed, Before)>,
    pub(crate) month_hours: Option<u32>,
    pub(crate) date: Option<AsOf>,
    /// The column of it holds something that is no date, or one that reads two ways.
    pub(crate) date_unread: bool,
    /// Until when the line holds, by its own column.
    pub(crate) valid: Option<Valid>,
    /// A number that nothing explains.
    pub(crate) loose_number: bool,
    /// The same, but too large or too exact to be a count.
    pub(crate) loose_figure: bool,
    /// A lone word of time in a title: `租期(月)`.
    pub(crate) title_period: Option<Period>,
    /// Service, storage, licence, consulting.
    pub(crate) not_machine: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Before {
    ListPrice,
    AlreadyTaken,
    Unsaid,
}

/// Reads facts from tokens of `text`, leaving out those that belong to `amounts`.
pub(crate) fn read(text: &str, toks: &[Tok], amounts: &[Amount]) -> Facts {
    let mut f = Facts::default();
    super::phrases::read(text, &mut f);
    let mut at = 0;
    let mut next_amount = amounts.iter().peekable();
    while at < toks.len() {
        while next_amount.peek().is_some_and(|a| a.to <= at) {
            next_amount.next();
        }
        if let Some(a) = next_amount.peek()
            && a.from <= at
        {
            at = a.to;
            continue;
        }
        // numbers of a price count nothing: `A100：12元/时`
        let stop = next_amount.peek().map_or(toks.len(), |a| a.from);
        at = one(text, &toks[..stop], at, &mut f).max(at + 1);
    }
    f.gpus.dedup();
    f.counts.sort_unstable();
    f.counts.dedup();
    f.terms.sort_unstable();
    f.terms.dedup();
    f
}

fn one(text: &str, toks: &[Tok], at: usize, f: &mut Facts) -> usize {
    match &toks[at].t {
        T::Gpu(gpu) => {
            gpu_name(gpu, f);
            let times = |i: usize| toks.get(i).and_then(Tok::kw) == Some(Kw::Times);
            let glued_colon = toks
                .get(at + 1)
                .is_some_and(|t| t.is_sym(':') && t.start == toks[at].end)
                && toks
                    .get(at + 2)
                    .is_some_and(|t| t.start == toks[at + 1].end);
            if (times(at + 1) || glued_colon)
                && let Some(n) = toks.get(at + 2).and_then(whole)
            {
                let next = toks.get(at + 3).and_then(Tok::kw);
                if !matches!(next, Some(Kw::Giga | Kw::Core)) {
                    f.counts.push(n);
                    f.count_at_gpu = true;
                    return at + 3;
                }
            }
            let own = gpu.memory_gb;
            f.memory_conflict |= several_memories(&text[toks[at].start..toks[at].end]);
            let end = memory_after(toks, at + 1, f);
            another_memory(toks, end, own.or(f.gpu_memory_gb), f);
            end
        }
        T::Num(_) => number(text, toks, at, f),
        T::Date(date) => {
            f.date = f.date.or(Some(*date));
            at + 1
        }
        T::Provider(key) => {
            f.provider.get_or_insert_with(|| key.clone());
            at + 1
        }
        T::Region => {
            let mut end = at + 1;
            while toks
                .get(end)
                .is_some_and(|t| t.t == T::Region && t.start == toks[end - 1].end)
            {
                end += 1;
            }
            f.region
                .get_or_insert_with(|| text[toks[at].start..toks[end - 1].end].to_owned());
            end
        }
        T::Word(true) => {
            let word = &text[toks[at].start..toks[at].end];
            if !matches!(
                word,
                "m2" | "m3"
                    | "q1"
                    | "q2"
                    | "q3"
                    | "q4"
                    | "ipv4"
                    | "ipv6"
                    | "h264"
                    | "p0"
                    | "p1"
                    | "p2"
                    | "p3"
                    | "pcie4"
                    | "pcie5"
                    | "ddr4"
                    | "ddr5"
                    | "aes256"
            ) {
                f.modelish.get_or_insert_with(|| word.to_owned());
            }
            at + 1
        }
        T::Word(false) => {
            match &text[toks[at].start..toks[at].end] {
                "hgx" | "dgx" => f.whole = true,
                "nvlink" => f.interconnect = f.interconnect.or(Some("nvlink")),
                "nvswitch" => f.interconnect = Some("nvswitch"),
                _ => {}
            }
            at + 1
        }
        T::Kw(kw) => word(toks, at, *kw, f),
        T::Sym(_) | T::Text => at + 1,
    }
}

fn gpu_name(gpu: &GpuRef, f: &mut Facts) {
    // `NVIDIA H100 (H100 SXM)`: the same family twice, keep what says more
    match f.gpus.iter_mut().find(|g| g.model == gpu.model) {
        Some(seen) if agree(seen, gpu) => {
            seen.form = seen.form.or(gpu.form);
            seen.memory_gb = seen.memory_gb.or(gpu.memory_gb);
        }
        _ => f.gpus.push(gpu.clone()),
    }
}

fn agree(a: &GpuRef, b: &GpuRef) -> bool {
    a.form.zip(b.form).is_none_or(|(x, y)| x == y)
        && a.memory_gb.zip(b.memory_gb).is_none_or(|(x, y)| x == y)
}

fn whole(tok: &Tok) -> Option<u32> {
    match tok.t {
        T::Num(Some(n)) => count_of(n),
        _ => None,
    }
}

pub(super) fn real(tok: &Tok) -> Option<f64> {
    match tok.t {
        T::Num(Some(n)) => Some(n.to_f64()),
        _ => None,
    }
}

fn number(text: &str, toks: &[Tok], at: usize, f: &mut Facts) -> usize {
    let (n, value) = (whole(&toks[at]), real(&toks[at]));
    let mut next = at + 1;
    while next <= at + 2 && toks.get(next).is_some_and(|t| t.is_sym('-')) {
        next += 1;
    }
    let dash = next > at + 1;
    // `押1付3`, `押金2个月`: a deposit
    let deposit = ["押", "付", "押金", "deposit"];
    if deposit
        .iter()
        .any(|w| text[..toks[at].start].trim_end().ends_with(w))
    {
        f.rhythm = true;
        let period = matches!(toks.get(next).and_then(Tok::kw), Some(Kw::Period(_)));
        return if period { next + 1 } else { at + 1 };
    }
    let Some(tok) = toks.get(next) else {
        f.loose_number |= n.is_some_and(|n| n > 1);
        f.loose_figure |= value.is_some_and(|x| x > 1.0);
        return at + 1;
    };
    let before = label_before(text, toks, at);
    // a label before the figure leaves the one behind it to the next
    let after = toks.get(next + 1).and_then(Tok::kw);
    let after = after.filter(|kw| before.is_none() || !is_label(*kw));
    match (&tok.t, n) {
        (T::Sym('%'), _) => return next + 1,
        (T::Text, _) if text[tok.start..].starts_with('折') => return next + 1,
        (T::Sym(':'), _) if toks.get(next + 1).is_some_and(|t| matches!(t.t, T::Num(_))) => {
            return next + 2;
        }
        (T::Kw(Kw::Times), Some(n)) => {
            if matches!(
                toks.get(next + 1).map(|t| &t.t),
                Some(T::Gpu(_) | T::Kw(Kw::Scope(Scope::Gpu)))
            ) {
                f.counts.push(n);
                f.count_at_gpu = true;
            } else if let (Some(gb), Some(Kw::Giga)) = (
                toks.get(next + 1).and_then(real),
                toks.get(next + 2).and_then(Tok::kw),
            ) {
                // `8×80GB`
                f.counts.push(n);
                f.gpu_memory_gb = f.gpu_memory_gb.or(Some(gb));
                return next + 3;
            } else if let (Some(x), Some(Kw::Tera)) = (
                toks.get(next + 1).and_then(real),
                toks.get(next + 2).and_then(Tok::kw),
            ) {
                // `4*7.68T`: so many disks
                f.disk(f64::from(n) * x * 1000.0);
                return next + 3;
            } else if toks.get(next + 1).is_some_and(|t| matches!(t.t, T::Num(_))) {
                return next + 2;
            } else {
                match toks.get(next + 1).map(|t| &t.t) {
                    // `8x $6.32/hr`
                    None | Some(T::Kw(Kw::Currency(_)) | T::Sym(_)) => {
                        f.counts.push(n);
                        f.count_at_gpu = true;
                    }
                    Some(T::Word(_)) => f.loose_number = true,
                    _ => {}
                }
            }
            return next + 1;
        }
        (T::Gpu(_), Some(n)) if !dash && n <= 64 => {
            f.counts.push(n);
            f.count_at_gpu = true;
            return next;
        }
        (T::Kw(Kw::Scope(Scope::Gpu)), Some(n)) => {
            f.counts.push(n);
            let machine = matches!(after, Some(Kw::Scope(Scope::Machine)));
            f.whole |= machine;
            f.count_at_gpu |=
                machine || matches!(toks.get(next + 1).map(|t| &t.t), Some(T::Gpu(_))) || dash;
            return next + 1;
        }
        (T::Kw(Kw::Scope(Scope::Machine)), Some(n)) => {
            f.machines = f.machines.or(Some(n));
            return next + 1;
        }
        (T::Kw(Kw::Period(p)), Some(n)) => return duration(toks, at, next, *p, n, f),
        _ => {}
    }
    let Some(x) = value else {
        f.loose_number = true;
        return at + 1;
    };
    if !tok
        .kw()
        .is_some_and(|unit| sizes::size(unit, x, (before, after), f))
    {
        f.loose_number |= n.is_some_and(|n| n > 1);
        f.loose_figure |= x > 1.0;
        return at + 1;
    }
    next + 1
}

/// A number of months or years is a term; hours or days beside a month are the length of a month.
fn duration(
    toks: &[Tok],
    at: usize,
    unit_at: usize,
    period: Period,
    n: u32,
    f: &mut Facts,
) -> usize {
    let near_month = |range: std::ops::Range<usize>| {
        toks.get(range.start.min(toks.len())..range.end.min(toks.len()))
            .unwrap_or_default()
            .iter()
            .any(|t| {
                matches!(
                    t.kw(),
                    Some(Kw::Period(Period::Month) | Kw::Label(Period::Month))
                )
            })
    };
    let beside_month =
        || near_month(unit_at + 1..unit_at + 5) || near_month(at.saturating_sub(4)..at);
    match period {
        Period::Hour if (672..=744).contains(&n) && beside_month() => f.month_hours = Some(n),
        Period::Day if (28..=31).contains(&n) && beside_month() => f.month_hours = Some(n * 24),
        Period::Month if n <= 120 => f.terms.push(n),
        Period::Quarter if n <= 40 => f.terms.push(n * 3),
        Period::Year if n <= 10 => f.terms.push(n * 12),
        _ => {}
    }
    unit_at + 1
}

fn word(toks: &[Tok], at: usize, kw: Kw, f: &mut Facts) -> usize {
    match kw {
        Kw::Single => f.single = true,
        Kw::Dual => f.counts.push(2),
        Kw::Buy(p) => f.purchase = f.purchase.or(Some(p)),
        Kw::Subscription => f.subscription = true,
        Kw::Label(Period::Month) => f.subscription = true,
        // `quarterly commitment`, but `quarterly payment`
        Kw::Label(Period::Quarter) if toks.get(at + 1).and_then(Tok::kw) == Some(Kw::Term) => {
            f.terms.push(3);
        }
        Kw::Label(Period::Quarter | Period::HalfYear) => f.rhythm = true,
        Kw::Label(Period::Year) if f.terms.is_empty() => f.terms.push(12),
        Kw::Term => f.term_word = true,
        Kw::Period(Period::HalfYear) => f.terms.push(6),
        Kw::Period(p) => f.title_period = f.title_period.or(Some(p)),
        Kw::Scope(scope) => {
            let times = toks.get(at + 1).and_then(Tok::kw) == Some(Kw::Times);
            if scope == Scope::Gpu
                && times
                && let Some(n) = toks.get(at + 2).and_then(whole)
            {
                f.counts.push(n);
                f.count_at_gpu = true;
                return at + 3;
            }
        }
        _ => {}
    }
    at + 1
}
