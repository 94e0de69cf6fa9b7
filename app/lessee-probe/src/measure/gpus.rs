//! The steps that need GPUs: the look, on what it finds the proof, and on the GPUs that pass it the loads.

use super::run::{Outcome, Run};
use super::steps::{Plan, failed};
use lessee_model::ProbeReport;
use lessee_probe_io::Finding;
use lessee_probe_io::budget::Step;
use lessee_probe_io::gpu::look::{Look, look_within};
use lessee_probe_io::gpu::prove::{self, Proof, Rules};
use lessee_probe_io::gpu::{GpuError, Libraries, reduce, tensor};
use lessee_probe_io::step::{Conduct, Progress};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Looked = (Arc<Libraries>, Look);

/// The driver's libraries, where the look found them.
pub(super) fn all(
    plan: &Plan,
    rules: &Rules,
    run: &mut Run<'_>,
    report: &mut ProbeReport,
) -> Option<Arc<Libraries>> {
    let looked = run.step(Step::Look, |conduct, cap_s| {
        (conduct.tell)(Progress {
            step: "look",
            done: 0.0,
        });
        match look(cap_s) {
            Ok((libraries, look)) => {
                let found = look.findings();
                (Some((libraries, look)), Outcome::Done, found)
            }
            Err(error) => failed(Step::Look, &error, &error),
        }
    });
    let looked = looked.flatten();
    let proof = run.step(Step::Gpu, |conduct, cap_s| match &looked {
        Some(looked) => proved(looked, plan, rules, conduct, cap_s),
        None => (None, Outcome::Nothing("not_looked"), Vec::new()),
    });
    let proof = proof.flatten();
    if let Some((_, look)) = &looked {
        prove::into_report(report, look, proof.as_ref());
    }
    let proved = || looked.as_ref().zip(proof.as_ref());
    let load = run.step(Step::Tensor, |conduct, _| match proved() {
        Some((looked, proof)) => multiplied(looked, proof, plan, rules, conduct),
        None => (None, Outcome::Nothing("not_looked"), Vec::new()),
    });
    if let Some(load) = load.flatten() {
        load.into_report(report);
    }
    let sum = run.step(Step::AllReduce, |conduct, _| match proved() {
        Some((looked, proof)) => added(looked, proof, plan, conduct),
        None => (None, Outcome::Nothing("not_looked"), Vec::new()),
    });
    if let Some(sum) = sum.flatten() {
        sum.into_report(report);
    }
    looked.map(|(libraries, _)| libraries)
}

fn look(cap_s: f64) -> Result<Looked, GpuError> {
    let cap = Duration::from_secs_f64(cap_s / 2.0);
    let libraries = Arc::new(Libraries::open_within(None, cap)?);
    let look = look_within(&libraries, Path::new("/"), cap)?;
    Ok((libraries, look))
}

/// What a step gives, what became of it, and what follows.
type Made<T> = (Option<T>, Outcome, Vec<Finding>);

fn proved(
    (libraries, look): &Looked,
    plan: &Plan,
    rules: &Rules,
    conduct: &Conduct<'_>,
    cap_s: f64,
) -> Made<Proof> {
    let start = Instant::now();
    let mut on_step = |_: &prove::Step| {
        (conduct.tell)(Progress {
            step: "gpu",
            done: (start.elapsed().as_secs_f64() / cap_s).min(1.0),
        });
    };
    let proof = prove::prove(libraries, Some(look), &plan.gpu, &mut on_step);
    let found = proof.findings(Some(look), rules);
    let outcome = match proof.cuda_gpus.reason() {
        Some(reason) if reason.code == "library_missing" => Outcome::Nothing("no_driver"),
        Some(reason) => Outcome::Failed(reason.to_string()),
        None => cut(&found),
    };
    (Some(proof), outcome, found)
}

fn cut(found: &[Finding]) -> Outcome {
    match found
        .iter()
        .any(|f| matches!(f.code, "gpu_cut" | "step_cut"))
    {
        true => Outcome::Cut,
        false => Outcome::Done,
    }
}

/// GPUs to be left out; or there are none to be loaded, and why.
fn unsound(proof: &Proof, least: usize) -> Result<Vec<u32>, &'static str> {
    let skip = proof.unsound();
    match proof.gpus.len() - skip.len() {
        sound if sound >= least => Ok(skip),
        _ if proof
            .cuda_gpus
            .reason()
            .is_some_and(|r| r.code == "library_missing") =>
        {
            Err("no_driver")
        }
        1 if proof.gpus.len() == 1 => Err("one_gpu"),
        _ => Err("not_proved"),
    }
}

fn multiplied(
    (libraries, look): &Looked,
    proof: &Proof,
    plan: &Plan,
    rules: &Rules,
    conduct: &Conduct<'_>,
) -> Made<tensor::Tensor> {
    let skip = match unsound(proof, 1) {
        Ok(skip) => skip,
        Err(why) => return (None, Outcome::Nothing(why), Vec::new()),
    };
    let options = tensor::TensorOptions {
        skip,
        ..plan.tensor.clone()
    };
    let load = tensor::measure(libraries, Some(look), &options, *conduct);
    let found = load.findings(rules);
    let outcome = cut(&found);
    (Some(load), outcome, found)
}

fn added(
    (libraries, look): &Looked,
    proof: &Proof,
    plan: &Plan,
    conduct: &Conduct<'_>,
) -> Made<reduce::AllReduce> {
    let skip = match unsound(proof, 2) {
        Ok(skip) => skip,
        Err(why) => return (None, Outcome::Nothing(why), Vec::new()),
    };
    let options = reduce::ReduceOptions {
        skip,
        ..plan.reduce.clone()
    };
    let sum = reduce::measure(libraries, Some(look), &options, *conduct);
    let found = sum.findings();
    let outcome = cut(&found);
    (Some(sum), outcome, found)
}
