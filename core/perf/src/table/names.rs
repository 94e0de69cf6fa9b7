//! GPU and model names as tables of measurements spell them.

use super::{Row, TableContext};
use crate::NoFit;
use lessee_model::{GpuSpec, ModelSpec, Msg};

/// The data sheet that a table's GPU name means: `NVIDIA H100-SXM-80GB`, `GB200 (per GPU)`, `Tesla T4`,
/// `NVIDIA A100-SXM-80GB (1x1g.10gb MIG)`, `AMD Radeon RX 6800 XT [ZLUDA]`.
///
/// # Errors
/// `no_spec`.
pub(crate) fn gpu<'a>(name: &str, cx: TableContext<'a>) -> Result<&'a GpuSpec, NoFit> {
    let table = cx.perf.gpus;
    let (outside, inside) = match name.split_once('(') {
        Some((before, after)) => (before, after.split(')').next().unwrap_or("")),
        None => (name, ""),
    };
    let found = table
        .resolve(name)
        .or_else(|| table.resolve(outside))
        .or_else(|| table.resolve(&product(outside)))
        // `NVIDIA Blackwell GPU (B200-SXM-180GB)`
        .or_else(|| table.resolve(inside))
        .or_else(|| table.resolve(&product(name)))
        .and_then(|gpu| table.spec(&gpu));
    found.map(|m| m.spec).ok_or_else(|| {
        NoFit::new(
            "no_spec",
            Msg::new("perf-no-spec").arg("gpu", name.to_owned()),
        )
    })
}

/// A name without what submitters add to that of the product: cooling, power limit, memory type, slot number, virtual
/// GPU profile, software.
fn product(name: &str) -> String {
    const ADDED: [&str; 18] = [
        "nvidia",
        "amd",
        "intel",
        "tm",
        "r",
        "tensor",
        "core",
        "gpu",
        "graphics",
        "grace",
        "hopper",
        "superchip",
        "cts",
        "dlc",
        "spx",
        "zluda",
        "hbm3",
        "hbm3e",
    ];
    let number = |w: &str, unit: char| {
        w.strip_suffix(unit)
            .is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    };
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '.')
        .filter(|w| !w.is_empty() && !ADDED.contains(w))
        .filter(|w| !number(w, 'w') && !number(w, 'q') && !w.starts_with("nps"))
        .collect();
    // `-02`: the second of several alike
    let kept = words
        .iter()
        .filter(|w| !(w.len() == 2 && w.starts_with('0')));
    let mut memory = Vec::new();
    let mut rest = Vec::new();
    for word in kept {
        if number(word.trim_end_matches('b'), 'g') {
            memory.push(*word)
        } else {
            rest.push(*word)
        }
    }
    rest.extend(memory);
    rest.join(" ")
}

/// Share of the GPU that a name with a partition means: `(1x1g.10gb MIG)` is one of seven parts.
pub(crate) fn slice(name: &str) -> Option<f64> {
    const PARTS: f64 = 7.0;
    let lower = name.to_ascii_lowercase();
    let profile = lower
        .split(|c: char| !c.is_ascii_digit() && c != 'x' && c != 'g')
        .find(|word| {
            word.contains('x')
                && word.ends_with('g')
                && word.starts_with(|c: char| c.is_ascii_digit())
        })?;
    let parts: f64 = profile.split_once('x')?.1.strip_suffix('g')?.parse().ok()?;
    (1.0..=PARTS).contains(&parts).then_some(parts / PARTS)
}

/// Whether a benchmark's result comes from another software stack than its own division's: those say nothing about
/// the GPU.
pub(crate) fn other_stack(row: &Row) -> bool {
    let note = row.note.to_ascii_lowercase();
    note.starts_with("open") || note.contains("tinygrad") || row.source.contains(":open/")
}

/// The network that a row names.
///
/// # Errors
/// `model_unsuitable`.
pub(crate) fn model<'a>(row: &Row, cx: TableContext<'a>) -> Result<&'a ModelSpec, NoFit> {
    cx.models.resolve(&row.model).ok_or_else(|| {
        NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-unknown").arg("model", row.model.as_str()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_submitters_add_is_not_part_of_the_product() {
        let of = |name: &str| product(name);
        assert_eq!(of("NVIDIA A100-SXM-80GB CTS"), "a100 sxm 80gb");
        assert_eq!(
            of("AMD Instinct MI300X-NPS1-SPX-192GB-750W"),
            "instinct mi300x 192gb"
        );
        assert_eq!(
            of("AMD Instinct MI325X 256GB HBM3E DLC"),
            "instinct mi325x 256gb"
        );
        assert_eq!(
            of("NVIDIA GH200 Grace Hopper Superchip 144GB"),
            "gh200 144gb"
        );
        assert_eq!(of("NVIDIA A10-24Q"), "a10");
        assert_eq!(of("NVIDIA H100-SXM-80GB-02"), "h100 sxm 80gb");
        assert_eq!(of("Intel(R) Arc(TM) A770 Graphics"), "arc a770");
        // a notebook's part is another product
        assert!(of("NVIDIA GeForce RTX 4070 Laptop GPU").contains("laptop"));
    }

    #[test]
    fn partitions_are_shares_of_seven() {
        assert_eq!(
            slice("NVIDIA A100-SXM-80GB (1x1g.10gb MIG)"),
            Some(1.0 / 7.0)
        );
        assert_eq!(slice("H100 (2x3g.40gb MIG)"), Some(3.0 / 7.0));
        assert_eq!(slice("NVIDIA H100-SXM-80GB"), None);
        assert_eq!(slice("RTX 4090"), None);
    }
}
