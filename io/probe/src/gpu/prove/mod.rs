//! What the GPUs are proved to do: CUDA starts, a kernel of each GPU writes what it should, memory and links give what
//! they should, and what is copied from GPU to GPU arrives as it left.
//!
//! [`prove`] runs step after step, each with a time cap and in a thread of its own, because a driver that hangs cannot be
//! stopped; then the rest is not tried. A healthy `nvidia-smi` proves none of this. Not here: tensor throughput, and what
//! a model makes of the figures (`core/perf`).

mod copy;
mod judge;
mod kernel;
mod options;
mod peer;
mod report;
mod step;
mod under_load;

pub use judge::Rules;
pub(crate) use judge::below;
pub(super) use judge::failed;
pub(super) use kernel::{wait, words, wrong_words};
pub use lessee_model::probe::Verified;
pub use options::Options;
pub use peer::PairProof;
pub use report::into_report;
pub(super) use step::Deadline;
pub use step::{Step, capped};
pub use under_load::UnderLoad;

use super::look::Look;
use super::sys::cuda::{Context, Cuda};
use super::{Finding, GpuError, Libraries, Seen};
use serde::Serialize;
use std::ffi::CStr;
use std::sync::Arc;
use step::Runner;

/// The kernels; see `kernels/build.sh`.
pub(super) const PTX: &str = concat!(include_str!("../../../kernels/probe.ptx"), "\0");

#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// Whether CUDA starts, and how many GPUs it has for this process.
    pub cuda_gpus: Seen<u32>,
    pub gpus: Vec<GpuProof>,
    /// Each direction of each pair.
    pub pairs: Vec<PairProof>,
    #[serde(skip)]
    start_error: Option<GpuError>,
}

/// One GPU, in CUDA's order.
#[derive(Clone, Debug, Serialize)]
pub struct GpuProof {
    pub cuda_index: u32,
    /// Its index in NVML, found by the PCI address.
    pub index: Option<u32>,
    pub name: Seen<String>,
    /// `9.0`
    pub compute_capability: Seen<String>,
    pub memory_total_mib: Seen<u64>,
    pub kernel: Seen<Verified>,
    /// Read and written memory of the device, GB/s, by a copying kernel.
    pub memory: Seen<Rate>,
    pub to_device: Seen<Rate>,
    pub to_host: Seen<Rate>,
    /// What NVML says while host copies run.
    pub under_load: UnderLoad,
}

/// A rate by CUDA's events, GB/s (1e9 bytes).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The median of the samples.
    pub gbs: f64,
    pub samples: Vec<f64>,
}

/// What the steps of one GPU share.
#[derive(Clone)]
struct Bench {
    context: Arc<Context>,
    libraries: Arc<Libraries>,
    options: Options,
    /// Its index in NVML.
    nvml: Option<u32>,
}

/// Proves; `look` gives what NVML knows of the same machine, and `on_step` hears of each step before it begins.
pub fn prove(
    libraries: &Arc<Libraries>,
    look: Option<&Look>,
    options: &Options,
    on_step: &mut dyn FnMut(&Step),
) -> Proof {
    let mut runner = Runner::new(options.cap, on_step).within(options);
    let mut proof = Proof {
        cuda_gpus: Seen::unknown("not_tried", ""),
        gpus: Vec::new(),
        pairs: Vec::new(),
        start_error: None,
    };
    let cuda = match &libraries.cuda {
        Ok(cuda) => Arc::clone(cuda),
        Err(error) => return proof.not_started(error.clone()),
    };
    let starting = Arc::clone(&cuda);
    let started = runner.run(Step::start(), move |_| {
        starting.init()?;
        starting.count()
    });
    let count = match started {
        Ok(count) => count,
        Err(error) => return proof.not_started(error),
    };
    proof.cuda_gpus = Seen::Measured { value: count };
    // those whose kernel is right and that lived through their steps, and all, to be given back
    let (mut sound, mut held) = (Vec::new(), Vec::new());
    for index in 0..count {
        let mut gpu = described(&mut runner, &cuda, look, index);
        if let Some(bench) = bench(&mut runner, libraries, &cuda, options, &mut gpu) {
            steps(&mut runner, &bench, &mut gpu);
            match gpu.failed() {
                true => after_failure(&mut runner, &bench, &mut gpu),
                false => sound.push((index, bench.clone())),
            }
            held.push(bench);
        }
        proof.gpus.push(gpu);
    }
    if options.peers {
        proof.pairs = peer::pairs(&mut runner, &cuda, &sound);
    }
    runner.finish((sound, held));
    proof
}

/// What CUDA says of one of its devices, and which GPU of NVML it is.
fn described(
    runner: &mut Runner<'_>,
    cuda: &Arc<Cuda>,
    look: Option<&Look>,
    index: u32,
) -> GpuProof {
    let asked = Arc::clone(cuda);
    let said = runner.run(Step::of("describe", index), move |_| {
        let name = asked.name(index);
        Ok((
            name,
            asked.capability(index),
            asked.memory_total(index),
            asked.pci(index),
        ))
    });
    let again = |e: &GpuError| {
        (
            Err(e.clone()),
            Err(e.clone()),
            Err(e.clone()),
            Err(e.clone()),
        )
    };
    let (name, capability, memory, address) = said.unwrap_or_else(|e| again(&e));
    let nvml = look.zip(address.ok()).and_then(|(look, address)| {
        let same = |a: Option<&String>| a.is_some_and(|a| super::look::same_address(a, &address));
        let gpu = look.gpus.iter().find(|g| same(g.pci_address.value()))?;
        Some(gpu.index)
    });
    GpuProof {
        cuda_index: index,
        index: nvml,
        name: Seen::from_driver(name),
        compute_capability: Seen::from_driver(capability)
            .map(|(major, minor)| format!("{major}.{minor}")),
        memory_total_mib: Seen::from_driver(memory).map(|b| b >> 20),
        kernel: Seen::unknown("not_tried", ""),
        memory: Seen::unknown("not_tried", ""),
        to_device: Seen::unknown("not_tried", ""),
        to_host: Seen::unknown("not_tried", ""),
        under_load: UnderLoad::not_tried(),
    }
}

/// A context with the kernels loaded, or why there is none.
fn bench(
    runner: &mut Runner<'_>,
    libraries: &Arc<Libraries>,
    cuda: &Arc<Cuda>,
    options: &Options,
    gpu: &mut GpuProof,
) -> Option<Bench> {
    let (making, index) = (Arc::clone(cuda), gpu.cuda_index);
    let context = runner.run(Step::of("context", index), move |_| {
        let ptx = CStr::from_bytes_with_nul(PTX.as_bytes()).unwrap_or_default();
        Context::new(&making, index, ptx)
    });
    match context {
        Ok(context) => Some(Bench {
            context,
            libraries: Arc::clone(libraries),
            options: *options,
            nvml: gpu.index,
        }),
        Err(error) => {
            gpu.kernel = Seen::without(&error);
            None
        }
    }
}

/// CUDA says that something failed, NVML often what: a GPU that is lost is so for both.
fn after_failure(runner: &mut Runner<'_>, bench: &Bench, gpu: &mut GpuProof) {
    let (b, mut load) = (bench.clone(), gpu.under_load.clone());
    let read = runner.run(Step::of("after_failure", gpu.cuda_index), move |_| {
        load.read(&b);
        Ok(load)
    });
    if let Ok(load) = read {
        gpu.under_load = load;
    }
}

/// The steps of one GPU, until one fails: without a kernel that is right no figure means anything.
fn steps(runner: &mut Runner<'_>, bench: &Bench, gpu: &mut GpuProof) {
    let index = gpu.cuda_index;
    let b = bench.clone();
    gpu.kernel = measured(runner.run(Step::of("kernel", index), move |d| kernel::verify(&b, d)));
    if !matches!(gpu.kernel.get(), Some(Verified { wrong: 0, .. })) {
        return;
    }
    let b = bench.clone();
    gpu.memory = measured(runner.run(Step::of("memory", index), move |d| kernel::memory(&b, d)));
    if gpu.failed() {
        return;
    }
    let b = bench.clone();
    match runner.run(Step::of("host_copies", index), move |d| copy::both(&b, d)) {
        Ok(copies) => {
            gpu.to_device = measured(Ok(copies.to_device));
            gpu.to_host = measured(Ok(copies.to_host));
            gpu.under_load = copies.under_load;
        }
        Err(error) => {
            gpu.to_device = Seen::without(&error);
            gpu.to_host = Seen::without(&error);
        }
    }
}

impl GpuProof {
    /// Its kernel was right, and no step of it failed.
    fn sound(&self) -> bool {
        self.kernel.get().is_some_and(|v| v.wrong == 0) && !self.failed()
    }

    /// A step of it failed, or its kernel computes what is wrong.
    fn failed(&self) -> bool {
        let failed = |seen: Option<&super::Reason>| seen.is_some_and(|r| !r.never_tried());
        failed(self.kernel.reason())
            || failed(self.memory.reason())
            || failed(self.to_device.reason())
            || self.kernel.get().is_some_and(|v| v.wrong > 0)
    }
}

/// A result of this program's own measuring.
fn measured<T>(result: Result<T, GpuError>) -> Seen<T> {
    match result {
        Ok(value) => Seen::Measured { value },
        Err(error) => Seen::without(&error),
    }
}

impl Proof {
    fn not_started(mut self, error: GpuError) -> Proof {
        self.cuda_gpus = Seen::without(&error);
        self.start_error = Some(error);
        self
    }

    /// GPUs that are not proved to compute right, in CUDA's order: no load is put on them.
    pub fn unsound(&self) -> Vec<u32> {
        let unsound = self.gpus.iter().filter(|g| !g.sound());
        unsound.map(|g| g.cuda_index).collect()
    }

    /// What follows from it, worst first; `look` of the same machine tells what joins the GPUs.
    pub fn findings(&self, look: Option<&Look>, rules: &Rules) -> Vec<Finding> {
        judge::judge(self, look, rules)
    }
}
