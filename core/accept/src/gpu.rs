//! From the name of a GPU to what it is: compute capability, class, drivers that know it; and what its own values say:
//! slices, MIG, memory. Not here: whether a package has code for it.

use crate::driver::Driver;
use crate::facts::{Compat, Pair};
use crate::finding::{Check, Finding, Verdict};
use crate::machine::{Gpu, Machine};
use crate::table::{Origin, decides};
use crate::version::Version;
use lessee_model::{Confidence, Msg};

/// What kind of product a GPU is: decides whether the forward-compatibility package serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuClass {
    DataCentre,
    Workstation,
    Consumer,
    Edge,
}

/// A product of NVIDIA's.
#[derive(Clone, Debug)]
pub struct Card {
    /// How its name begins once the maker and the series are left out.
    pub(crate) words: Vec<String>,
    pub(crate) cc: Pair,
    pub(crate) arch: String,
    pub(crate) class: GpuClass,
    pub(crate) first_cuda: Pair,
    /// Newest CUDA that still compiles for it.
    pub(crate) last_cuda: Option<Pair>,
    pub(crate) min_driver: Option<Version>,
    /// Newest branch of the driver that still knows it.
    pub(crate) max_branch: Option<u64>,
    pub(crate) open_modules_required: bool,
    /// The host has an Arm CPU, so other wheels.
    pub(crate) aarch64: bool,
    pub(crate) driver_confidence: Confidence,
    pub(crate) origin: Origin,
}

/// A product of AMD's.
#[derive(Clone, Debug)]
pub(crate) struct AmdCard {
    pub words: Vec<String>,
    pub gfx: String,
    pub first_rocm: Pair,
    pub origin: Origin,
}

/// A GPU of the machine, and what is known of the product.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'a> {
    Nvidia(&'a Card),
    Amd(&'a AmdCard),
    Unknown,
}

impl Compat {
    /// What a name as printed or typed stands for.
    pub(crate) fn gpu(&self, name: &str) -> Known<'_> {
        let words = bare(name);
        let fits =
            |pattern: &[String]| words.len() >= pattern.len() && words[..pattern.len()] == *pattern;
        let nvidia = self.cards.iter().filter(|c| fits(&c.words));
        let amd = self.amd.iter().filter(|c| fits(&c.words));
        match (
            nvidia.max_by_key(|c| c.words.len()),
            amd.max_by_key(|c| c.words.len()),
        ) {
            (Some(card), _) => Known::Nvidia(card),
            (None, Some(card)) => Known::Amd(card),
            (None, None) => Known::Unknown,
        }
    }
}

impl Compat {
    /// First CUDA with code that a card runs: its own, or that of an earlier card of its generation, as code for x.y runs
    /// on x.z with z at or above y.
    pub(crate) fn first_code(&self, card: &Card) -> Pair {
        let kin = |c: &&Card| c.cc.0 == card.cc.0 && c.cc.1 <= card.cc.1;
        let first = self.cards.iter().filter(kin).map(|c| c.first_cuda).min();
        first.unwrap_or(card.first_cuda)
    }
}

/// The telling words of a name, in capitals: `NVIDIA A100-SXM4-80GB` -> `A100 SXM4 80GB`.
fn bare(name: &str) -> Vec<String> {
    const SERIES: [&str; 9] = [
        "NVIDIA", "TESLA", "GEFORCE", "GRID", "AMD", "ATI", "INSTINCT", "RADEON", "GPU",
    ];
    let mut words: Vec<String> = Vec::new();
    let upper = name.chars().take(200).collect::<String>().to_uppercase();
    for word in upper.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.is_empty() || SERIES.contains(&word) {
            continue;
        }
        // RTX4090, GTX1080
        match ["RTX", "GTX"]
            .iter()
            .find_map(|p| Some((*p, word.strip_prefix(p)?)))
        {
            Some((series, number)) if !number.is_empty() => {
                words.push(series.to_owned());
                words.push(number.to_owned());
            }
            _ => words.push(word.to_owned()),
        }
    }
    for word in &mut words {
        // 3080TI: the number says the generation
        if let Some(number) = word.strip_suffix("TI")
            && number.len() == 4
            && number.bytes().all(|b| b.is_ascii_digit())
        {
            *word = number.to_owned();
        }
    }
    words
}

/// `A10-2Q`, `L4-12Q`, `V100D-8C`: a slice of a card.
pub(crate) fn is_slice(gpu: &Gpu) -> bool {
    let name = gpu.name.as_deref().unwrap_or("").trim();
    let profile = name.rsplit('-').next().filter(|p| *p != name).unwrap_or("");
    let digits = profile.trim_end_matches(['Q', 'C', 'A', 'B']);
    let sliced = digits.len() + 1 == profile.len()
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit());
    gpu.vgpu || sliced
}

/// Whether the driver knows the card at all.
pub(crate) fn driven(card: &Card, name: &str, driver: &Driver<'_>, out: &mut Vec<Check>) {
    let verdict = match decides(card.driver_confidence) {
        true => Verdict::Fail,
        false => Verdict::Unknown,
    };
    if let Some(min) = card.min_driver.as_ref().filter(|m| driver.version < **m) {
        let reason = Msg::new("accept-gpu-driver-min")
            .arg("gpu", name)
            .arg("min", min.as_str())
            .arg("driver", driver.version.as_str());
        let ask = Msg::new("accept-ask-driver").arg("driver", min.as_str());
        out.push(
            Check::new("gpu-driver", verdict, reason)
                .from(&card.origin)
                .asking(ask),
        );
    }
    let branch = driver.branch.map_or(0, |b| b.number);
    if let Some(max) = card.max_branch.filter(|m| branch > *m) {
        let max = max.to_string();
        let reason = Msg::new("accept-gpu-driver-max")
            .arg("gpu", name)
            .arg("max", max.as_str())
            .arg("driver", driver.version.as_str());
        let ask = Msg::new("accept-ask-branch").arg("branch", max);
        out.push(
            Check::new("gpu-driver", verdict, reason)
                .from(&card.origin)
                .asking(ask),
        );
    }
}

/// What the GPUs' own values say.
pub(crate) fn remarks(machine: &Machine, compat: &Compat, out: &mut Vec<Finding>) {
    let mut seen: Vec<(&str, String)> = Vec::new();
    let mut say = |out: &mut Vec<Finding>, check: Check, name: &str| {
        // eight equal cards say it once
        let mark = (check.rule, name.to_owned());
        if !seen.contains(&mark) {
            seen.push(mark);
            out.push(check.finding(name));
        }
    };
    for gpu in &machine.gpus {
        let name = gpu.name.as_deref().unwrap_or("?");
        let of_rule = |check: Check, rule: &str| match compat.rule(rule) {
            Some(origin) => check.from(origin),
            None => check,
        };
        let (card, arch, origin) = match compat.gpu(name) {
            Known::Nvidia(card) => (card.cc.to_string(), card.arch.clone(), &card.origin),
            Known::Amd(card) => (card.gfx.clone(), "AMD".to_owned(), &card.origin),
            Known::Unknown => {
                let reason = Msg::new("accept-gpu-unknown").arg("gpu", name);
                let check = Check::new("gpu", Verdict::Unknown, reason)
                    .asking(Msg::new("accept-ask-capability"));
                say(out, check, name);
                continue;
            }
        };
        let reason = Msg::new("accept-gpu-is").arg("cc", card).arg("arch", arch);
        say(
            out,
            Check::new("gpu", Verdict::Pass, reason).from(origin),
            name,
        );
        let slice = is_slice(gpu);
        if slice {
            let check = Check::new("vgpu", Verdict::Warn, Msg::new("accept-vgpu"))
                .asking(Msg::new("accept-ask-vgpu"));
            say(out, of_rule(check, "vgpu"), name);
        }
        if gpu.mig == Some(true) {
            let check = Check::new("mig", Verdict::Warn, Msg::new("accept-mig"));
            say(out, of_rule(check, "mig"), name);
        }
        if let Some(check) = memory(gpu).filter(|_| !slice) {
            say(out, of_rule(check, "memory"), name);
        }
        if let Known::Nvidia(card) = compat.gpu(name)
            && card.open_modules_required
            && !machine.captured
        {
            let reason = Msg::new("accept-open-modules").arg("arch", card.arch.as_str());
            let check = Check::new("kernel-modules", Verdict::Warn, reason)
                .asking(Msg::new("accept-ask-modules"));
            say(out, of_rule(check, "modules"), name);
        }
    }
}

/// Share of the usual memory that a reading may lack before somebody is asked.
const MEMORY_SLACK: f64 = 0.02;

fn memory(gpu: &Gpu) -> Option<Check> {
    let (have, usual) = (gpu.memory_mib? as f64, gpu.usual_mib? as f64);
    let args = |id: &'static str| Msg::new(id).arg("have", have).arg("usual", usual);
    if have < usual * (1.0 - MEMORY_SLACK) {
        let check = Check::new("memory", Verdict::Warn, args("accept-memory-less"));
        return Some(check.asking(Msg::new("accept-ask-memory")));
    }
    let more = have > usual * (1.0 + MEMORY_SLACK);
    (more && gpu.ecc != Some(true))
        .then(|| Check::new("memory", Verdict::Pass, args("accept-memory-ecc")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_tools_and_people_write_them() {
        for (name, words) in [
            ("NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB"),
            ("Tesla V100-SXM2-16GB", "V100 SXM2 16GB"),
            ("NVIDIA GeForce RTX 2080 ...", "RTX 2080"),
            ("rtx4090", "RTX 4090"),
            ("GeForce RTX 3080Ti", "RTX 3080"),
            ("AMD Instinct MI300X OAM", "MI300X OAM"),
        ] {
            assert_eq!(bare(name).join(" "), words);
        }
    }

    #[test]
    fn slices_are_known_by_their_profile() {
        for (name, slice) in [
            ("NVIDIA A10-2Q", true),
            ("GRID T4-16C", true),
            ("NVIDIA L4-12Q", true),
            ("NVIDIA A100-SXM4-80GB", false),
            ("Tesla T4", false),
        ] {
            let gpu = Gpu {
                name: Some(name.to_owned()),
                ..Gpu::default()
            };
            assert_eq!(is_slice(&gpu), slice, "{name}");
        }
    }
}
