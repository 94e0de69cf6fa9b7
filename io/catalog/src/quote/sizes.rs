//! Sizes of a machine: whose a figure with a unit is. `80 GB` may be of the GPU, of the memory beside it, of a disk or of the
//! network; the words around it tell.

use super::facts::{Facts, real};
use super::lex::{T, Tok};
use super::vocab::Kw;

impl Facts {
    /// Of several disks the largest counts: `系统盘 480G 数据盘 7.68T`.
    pub(super) fn disk(&mut self, gb: f64) {
        self.disk_gb = Some(self.disk_gb.unwrap_or(0.0).max(gb));
    }
}

/// Takes a figure with its unit, by the labels before and after it; false where the unit is none of a size.
pub(super) fn size(unit: Kw, x: f64, labels: (Option<Kw>, Option<Kw>), f: &mut Facts) -> bool {
    let (before, after) = labels;
    match unit {
        Kw::Core => f.vcpus = f.vcpus.or(Some(x)),
        Kw::Giga if before == Some(Kw::Vram) || after == Some(Kw::Vram) => {
            f.gpu_memory_gb = f.gpu_memory_gb.or(Some(x));
        }
        Kw::Giga if after == Some(Kw::Disk) || before == Some(Kw::Disk) => {
            f.disk(x);
        }
        Kw::Giga | Kw::Gbps
            if after == Some(Kw::Net) || before == Some(Kw::Net) || unit == Kw::Gbps =>
        {
            f.network_gbps = f.network_gbps.or(Some(x));
        }
        Kw::Giga if after == Some(Kw::Ram) || before == Some(Kw::Ram) || f.vcpus.is_some() => {
            f.ram_gib = f.ram_gib.or(Some(x));
        }
        Kw::Tera if after == Some(Kw::Ram) || before == Some(Kw::Ram) => {
            f.ram_gib = f.ram_gib.or(Some(x * 1024.0))
        }
        Kw::Tera => f.disk(x * 1000.0),
        Kw::Giga | Kw::Scale(_) | Kw::Thing | Kw::Net | Kw::Disk | Kw::Ram => {}
        _ => return false,
    }
    true
}

/// Says what a size is of.
pub(super) fn is_label(kw: Kw) -> bool {
    matches!(kw, Kw::Vram | Kw::Ram | Kw::Disk | Kw::Net)
}

/// The label before a figure, if it is this one's: `内存2048G 硬盘4T`, but `2048G 内存，4T 硬盘` and `512 GB RAM 30 TB NVMe`. Of two
/// figures the nearer has it; where both are as near, Chinese names a thing first, English last.
pub(super) fn label_before(text: &str, toks: &[Tok], at: usize) -> Option<Kw> {
    let label = toks.get(at.checked_sub(1)?)?;
    let kw = label.kw()?;
    let earlier = at.checked_sub(2).map(|i| &toks[i]);
    let earlier = earlier.filter(|t| matches!(t.kw(), Some(Kw::Giga | Kw::Tera | Kw::Gbps)));
    let Some(unit) = earlier.filter(|_| is_label(kw)) else {
        return Some(kw);
    };
    let (left, right) = (
        label.start.saturating_sub(unit.end),
        toks[at].start.saturating_sub(label.end),
    );
    let chinese = !text.get(label.start..label.end)?.is_ascii();
    let ours = match left.cmp(&right) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => chinese && left > 0,
    };
    ours.then_some(kw)
}

/// `H100 80GB`, `H100 (80 GB)`, `H100 显存 80G` where the name alone did not hold it.
pub(super) fn memory_after(toks: &[Tok], mut at: usize, f: &mut Facts) -> usize {
    let start = at;
    while toks
        .get(at)
        .is_some_and(|t| t.is_sym('(') || t.is_sym('-') || t.kw() == Some(Kw::Vram))
    {
        at += 1;
    }
    if let (Some(n), Some(Kw::Giga)) = (
        toks.get(at).and_then(real),
        toks.get(at + 1).and_then(Tok::kw),
    ) {
        let after = toks.get(at + 2).and_then(Tok::kw);
        if !matches!(after, Some(Kw::Ram | Kw::Disk | Kw::Net)) && n > 0.0 {
            f.gpu_memory_gb = f.gpu_memory_gb.or(Some(n));
            return at + 2;
        }
    }
    start
}

/// `h20 96g 141g` is read as one name, by its last figure.
pub(super) fn several_memories(name: &str) -> bool {
    let mut sizes = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .zip(
            name.split(|c: char| !c.is_ascii_alphanumeric())
                .skip(1)
                .chain([""]),
        )
        .filter_map(|(word, next)| {
            let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let unit = &word[digits.len()..];
            let gigabytes = |w: &str| matches!(w, "g" | "gb" | "gib");
            (gigabytes(unit) || unit.is_empty() && gigabytes(next))
                .then(|| digits.parse::<f64>().ok())
                .flatten()
        });
    let first = sizes.next();
    first.is_some_and(|first| sizes.any(|other| !lessee_model::gpu::same_memory(first, other)))
}

/// A second, different memory right behind the first contradicts it; `512G内存` is the host's.
pub(super) fn another_memory(toks: &[Tok], mut at: usize, stated: Option<f64>, f: &mut Facts) {
    while toks
        .get(at)
        .is_some_and(|t| matches!(t.t, T::Sym('(' | ')' | '/' | '-')))
    {
        at += 1;
    }
    if let (Some(stated), Some(n), Some(Kw::Giga)) = (
        stated,
        toks.get(at).and_then(real),
        toks.get(at + 1).and_then(Tok::kw),
    ) {
        let after = toks.get(at + 2).and_then(Tok::kw);
        let host = matches!(after, Some(Kw::Ram | Kw::Disk | Kw::Net | Kw::Core));
        f.memory_conflict |= !host && !lessee_model::gpu::same_memory(stated, n);
    }
}
