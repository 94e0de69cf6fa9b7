//! The tables of `data/compat`, read: a new release of a package is one row there. Who loads the text is `io/catalog`.

use crate::gpu::{AmdCard, Card, GpuClass};
use crate::table::{Origin, Row, TableError, read};
use crate::version::Version;
use lessee_model::{AsOf, Confidence};
use pep508_rs::pep440_rs::VersionSpecifiers;
use std::fmt;
use std::str::FromStr;

/// Two numbers with a dot between: a CUDA or ROCm version, a compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair(pub u64, pub u64);

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl FromStr for Pair {
    type Err = ();
    fn from_str(text: &str) -> Result<Pair, ()> {
        let (major, minor) = text.trim().split_once('.').ok_or(())?;
        Ok(Pair(
            major.parse().map_err(|_| ())?,
            minor.parse().map_err(|_| ())?,
        ))
    }
}

/// The GPUs that a binary has code for.
#[derive(Clone, Debug)]
pub(crate) struct Archs {
    pub code: Vec<Pair>,
    /// Of this one also as PTX, which later GPUs compile at first start.
    pub ptx: Option<Pair>,
    pub origin: Origin,
}

impl fmt::Display for Archs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list: Vec<String> = self.code.iter().map(ToString::to_string).collect();
        f.write_str(&list.join(" "))?;
        f.write_str(if self.ptx.is_some() { " +PTX" } else { "" })
    }
}

/// A branch of the driver.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub number: u64,
    pub cuda: Pair,
    pub end: Option<AsOf>,
    pub end_confidence: Confidence,
    pub origin: Origin,
}

/// A CUDA release.
#[derive(Clone, Debug)]
pub(crate) struct Toolkit {
    pub cuda: Pair,
    /// Oldest driver on which it runs at all.
    pub floor: Version,
    /// Oldest branch that its forward-compatibility package serves, if that is known.
    pub forward_from: Option<u64>,
    pub origin: Origin,
}

/// A release of PyTorch.
#[derive(Clone, Debug)]
pub(crate) struct Torch {
    pub version: Version,
    /// Of the wheel on PyPI.
    pub cuda: Pair,
    /// Of all its wheels, if that is known.
    pub cudas: Vec<Pair>,
    pub rocms: Vec<Version>,
    pub variants: Confidence,
    /// Which triton its wheel asks for.
    pub triton: Option<VersionSpecifiers>,
    pub origin: Origin,
}

/// Code of the wheels of PyTorch releases `from` to `to`, both minor releases.
#[derive(Clone, Debug)]
pub(crate) struct TorchArchs {
    pub from: Version,
    pub to: Version,
    pub cuda: Pair,
    pub platform: String,
    pub archs: Archs,
}

#[derive(Clone, Debug)]
pub(crate) struct TensorFlow {
    pub version: Version,
    pub cuda: Pair,
    /// The cuDNN that it is built with.
    pub cudnn: Version,
    /// The extra `and-cuda` brings the libraries.
    pub and_cuda: bool,
    pub archs: Archs,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Vllm {
    pub version: Version,
    /// The one release of PyTorch that it takes.
    pub torch: Version,
    /// Of its own code, where that is not the CUDA of this PyTorch.
    pub cuda: Option<Pair>,
    pub min_cc: Pair,
    pub origin: Origin,
}

/// What the CUDA of a library's row means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The install brings this CUDA, or code made with it.
    Brings,
    /// It is made for this major of CUDA and brings none.
    Major,
    /// The install compiles it, with a toolkit of this CUDA or newer.
    Source,
}

/// Whether a library serves AMD cards too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnAmd {
    No,
    NotKnown,
    /// From this ROCm on.
    From(Pair),
}

impl FromStr for OnAmd {
    type Err = ();
    fn from_str(text: &str) -> Result<OnAmd, ()> {
        match text {
            "?" => Ok(OnAmd::NotKnown),
            text => text.parse().map(OnAmd::From),
        }
    }
}

/// A library or compiler by range of versions.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    pub package: String,
    pub from: Version,
    pub to: Version,
    /// `cu12`, `cuda13`: which of several builds.
    pub flavour: String,
    pub cuda: Pair,
    pub driver: Version,
    pub min_cc: Option<Pair>,
    pub max_cc: Option<Pair>,
    pub role: Role,
    /// Major of the cuDNN that the install takes at its newest.
    pub cudnn: Option<u64>,
    pub rocm: OnAmd,
    /// How sure the lower bound is.
    pub min_confidence: Confidence,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Rocm {
    pub version: Pair,
    pub gpus: Vec<String>,
    /// User-space releases that its kernel driver serves.
    pub from: Pair,
    pub to: Pair,
    pub origin: Origin,
}

/// The tables as text.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    pub driver_branches: &'a str,
    pub cuda_toolkits: &'a str,
    pub gpus: &'a str,
    pub amd_gpus: &'a str,
    pub rocm: &'a str,
    pub torch: &'a str,
    pub torch_archs: &'a str,
    pub tensorflow: &'a str,
    pub vllm: &'a str,
    pub libraries: &'a str,
    pub pairs: &'a str,
    pub rules: &'a str,
}

/// What is known of drivers, GPUs and packages.
#[derive(Clone, Debug)]
pub struct Compat {
    pub(crate) branches: Vec<Branch>,
    pub(crate) toolkits: Vec<Toolkit>,
    pub(crate) cards: Vec<Card>,
    pub(crate) amd: Vec<AmdCard>,
    pub(crate) rocm: Vec<Rocm>,
    pub(crate) torch: Vec<Torch>,
    pub(crate) torch_archs: Vec<TorchArchs>,
    pub(crate) tensorflow: Vec<TensorFlow>,
    pub(crate) vllm: Vec<Vllm>,
    pub(crate) libraries: Vec<Library>,
    pub(crate) pairs: Vec<crate::env::Pair>,
    rules: Vec<(String, Origin)>,
}

impl Compat {
    /// Reads the tables.
    ///
    /// # Errors
    /// A row without a source, a date or a confidence, or with a cell that is not what its column holds.
    pub fn read(text: &Sources<'_>) -> Result<Compat, TableError> {
        Ok(Compat {
            branches: read("driver_branches.csv", text.driver_branches, branch)?,
            toolkits: read("cuda_toolkits.csv", text.cuda_toolkits, |r| {
                Ok(Toolkit {
                    cuda: r.need("cuda")?,
                    floor: r.need("floor")?,
                    forward_from: r.opt("forward_from")?,
                    origin: r.origin()?,
                })
            })?,
            cards: read("gpus.csv", text.gpus, card)?,
            amd: read("amd_gpus.csv", text.amd_gpus, |r| {
                Ok(AmdCard {
                    words: words(r.get("gpu")?),
                    gfx: r.need("gfx")?,
                    first_rocm: r.need("first_rocm")?,
                    origin: r.origin()?,
                })
            })?,
            rocm: read("rocm.csv", text.rocm, |r| {
                Ok(Rocm {
                    version: r.need("rocm")?,
                    gpus: r.list("gpus")?,
                    from: r.need("user_from")?,
                    to: r.need("user_to")?,
                    origin: r.origin()?,
                })
            })?,
            torch: read("torch.csv", text.torch, |r| {
                Ok(Torch {
                    version: r.need("torch")?,
                    cuda: r.need("cuda")?,
                    cudas: r.list("cudas")?,
                    rocms: r.list("rocms")?,
                    variants: r.confidence("confidence_variants")?,
                    triton: triton(r.get("triton")?)?,
                    origin: r.origin()?,
                })
            })?,
            torch_archs: read("torch_archs.csv", text.torch_archs, |r| {
                Ok(TorchArchs {
                    from: r.need("from")?,
                    to: r.need("to")?,
                    cuda: r.need("cuda")?,
                    platform: r.need("platform")?,
                    archs: archs(r, r.origin()?)?,
                })
            })?,
            tensorflow: read("tensorflow.csv", text.tensorflow, |r| {
                let origin = r.origin()?;
                let of_archs = Origin {
                    confidence: r.confidence("confidence_archs")?,
                    ..origin.clone()
                };
                Ok(TensorFlow {
                    version: r.need("tensorflow")?,
                    cuda: r.need("cuda")?,
                    cudnn: r.need("cudnn")?,
                    and_cuda: r.get("and_cuda")? == "yes",
                    archs: archs(r, of_archs)?,
                    origin,
                })
            })?,
            vllm: read("vllm.csv", text.vllm, |r| {
                Ok(Vllm {
                    version: r.need("vllm")?,
                    torch: r.need("torch")?,
                    cuda: r.opt("cuda")?,
                    min_cc: r.need("min_cc")?,
                    origin: r.origin()?,
                })
            })?,
            libraries: read("libraries.csv", text.libraries, library)?,
            pairs: read("pairs.csv", text.pairs, crate::env::pair_row)?,
            rules: read("rules.csv", text.rules, |r| {
                Ok((r.need("rule")?, r.origin()?))
            })?,
        })
    }

    /// Where a general rule is from.
    pub(crate) fn rule(&self, name: &str) -> Option<&Origin> {
        self.rules.iter().find(|(n, _)| n == name).map(|(_, o)| o)
    }
}

fn branch(r: &Row<'_>) -> Result<Branch, String> {
    Ok(Branch {
        number: r.need("branch")?,
        cuda: r.need("cuda_max")?,
        end: r.opt("end_of_life")?,
        end_confidence: r.confidence("confidence_end")?,
        origin: r.origin()?,
    })
}

fn card(r: &Row<'_>) -> Result<Card, String> {
    Ok(Card {
        words: words(r.get("gpu")?),
        cc: r.need("compute_capability")?,
        arch: r.need("arch")?,
        class: match r.get("class")? {
            "datacentre" => GpuClass::DataCentre,
            "workstation" => GpuClass::Workstation,
            "consumer" => GpuClass::Consumer,
            "edge" => GpuClass::Edge,
            other => return Err(format!("class: `{other}`")),
        },
        first_cuda: r.need("first_cuda")?,
        last_cuda: r.opt("last_cuda")?,
        min_driver: r.opt("min_driver")?,
        max_branch: r.opt("max_branch")?,
        open_modules_required: r.get("open_modules")? == "required",
        aarch64: r.get("platform")? == "aarch64",
        driver_confidence: r.confidence("confidence_driver")?,
        origin: r.origin()?,
    })
}

fn library(r: &Row<'_>) -> Result<Library, String> {
    let span = r.get("capabilities")?;
    let (low, high) = span
        .split_once('-')
        .ok_or_else(|| format!("capabilities: `{span}`"))?;
    let bound = |text: &str| match text {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|()| format!("capabilities: `{span}`")),
    };
    Ok(Library {
        package: r.need("package")?,
        from: r.need("from")?,
        to: r.need("to")?,
        flavour: r.get("flavour")?.to_owned(),
        cuda: r.need("cuda")?,
        driver: r.need("driver")?,
        min_cc: bound(low)?,
        max_cc: bound(high)?,
        role: match r.get("role")? {
            "brings" => Role::Brings,
            "major" => Role::Major,
            "source" => Role::Source,
            other => return Err(format!("role: `{other}`")),
        },
        cudnn: r.opt("cudnn")?,
        rocm: r.opt("rocm")?.unwrap_or(OnAmd::No),
        min_confidence: r.confidence("confidence_min")?,
        origin: r.origin()?,
    })
}

/// `7.5;8.0;12.0+PTX`
fn archs(r: &Row<'_>, origin: Origin) -> Result<Archs, String> {
    let cell = r.get("archs")?;
    let (list, has_ptx) = match cell.strip_suffix("+PTX") {
        Some(list) => (list, true),
        None => (cell, false),
    };
    let code: Vec<Pair> = list
        .split(';')
        .filter(|p| !p.is_empty())
        .map(|p| p.parse().map_err(|()| format!("archs: `{p}`")))
        .collect::<Result<_, _>>()?;
    Ok(Archs {
        ptx: code.last().copied().filter(|_| has_ptx),
        code,
        origin,
    })
}

/// `3.7.1` or `~=3.8.0`
fn triton(cell: &str) -> Result<Option<VersionSpecifiers>, String> {
    let spec = match cell {
        "" => return Ok(None),
        exact if exact.starts_with(|c: char| c.is_ascii_digit()) => format!("=={exact}"),
        spec => spec.to_owned(),
    };
    let read = VersionSpecifiers::from_str(&spec);
    read.map(Some).map_err(|_| format!("triton: `{cell}`"))
}

fn words(name: &str) -> Vec<String> {
    name.split_whitespace().map(str::to_owned).collect()
}
