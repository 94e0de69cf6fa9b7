//! The steps themselves: the call of `io/probe`, its figures into the report, its findings into the run.

use super::gpus;
use super::run::{Outcome, Run};
use crate::{MeasureArgs, ProbeFailure, World};
use lessee_console::stop::STOP;
use lessee_model::probe::{Fact, NetReading, Reading, reason_parts};
use lessee_model::{Explain, ProbeReport};
use lessee_probe_io::budget::{Budget, Step};
use lessee_probe_io::gpu::prove::{self, Rules};
use lessee_probe_io::gpu::{reduce, tensor};
use lessee_probe_io::step::Conduct;
use lessee_probe_io::{Finding, cpu, disk, fabric, feed, net};
use lessee_report::Texts;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MIB: usize = 1 << 20;

fn roots() -> cpu::Roots<'static> {
    cpu::Roots {
        proc: Path::new("/proc"),
        sys: Path::new("/sys"),
    }
}

/// What each step is to do, before the first begins.
pub(super) struct Plan {
    pub(super) gpu: prove::Options,
    pub(super) tensor: tensor::TensorOptions,
    pub(super) reduce: reduce::ReduceOptions,
    cpu: cpu::CpuOptions,
    disk: disk::DiskOptions,
    feed: feed::FeedOptions,
    host: Option<String>,
    ssh_connection: Option<String>,
}

impl Plan {
    /// # Errors
    /// Options of the feed test that make no sense.
    pub(super) fn new(
        args: &MeasureArgs,
        budget: &Budget,
        world: &World<'_>,
    ) -> Result<Plan, ProbeFailure> {
        let quick = args.quick;
        let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
        // the whole path, so that the report says which disk it was
        let folder = folder.canonicalize().unwrap_or(folder);
        let mut gpu = match quick {
            true => prove::Options::quick(),
            false => prove::Options::default(),
        };
        let mut reduce = match quick {
            true => reduce::ReduceOptions::quick(),
            false => reduce::ReduceOptions::default(),
        };
        if let Some(mib) = args.device_mib {
            reduce.bytes = mib * MIB;
            gpu.device_bytes = mib * MIB;
            gpu.host_bytes = gpu.host_bytes.min((mib * MIB / 2).max(MIB / 2));
            gpu.peer_bytes = gpu.peer_bytes.min((mib * MIB / 2).max(MIB / 2));
        }
        gpu.total = Duration::from_secs_f64(budget.cap_s(Step::Gpu, quick));
        gpu.stop = Some(&STOP);
        reduce.cap = Duration::from_secs_f64(budget.cap_s(Step::AllReduce, quick));
        let seconds = budget.tensor.seconds.of(quick);
        let load_s = tensor::TensorOptions::longest_s(seconds);
        let preparation = (budget.cap_s(Step::Tensor, quick) - load_s).max(1.0);
        let tensor = tensor::TensorOptions {
            seconds,
            preparation: Duration::from_secs_f64(preparation),
            ..tensor::TensorOptions::default()
        };
        let cpu_s = budget.cap_s(Step::Cpu, quick);
        let cpu = cpu::CpuOptions {
            clock_s: cpu_s * 0.25,
            cap_s: cpu_s * 0.75,
            steal_warn: budget.cpu.steal_warn,
            array_max: budget.cpu.array_max_mib.of(quick) << 20,
            ..cpu::CpuOptions::default()
        };
        let disk = disk::DiskOptions {
            file_bytes: budget.disk.file_mib.of(quick) << 20,
            checkpoint_bytes: budget.disk.checkpoint_mib.of(quick) << 20,
            small_files: budget.disk.small_files.of(quick),
            samples: args.samples.clone(),
            cap_s: budget.cap_s(Step::Disk, quick),
            ..disk::DiskOptions::new(folder.clone())
        };
        let cores = || cpu::grant(roots()).granted.unwrap_or(1.0).ceil().max(1.0) as usize;
        let mut feed =
            feed::FeedOptions::new(folder, args.workers.unwrap_or_else(|| cores().min(1024)));
        feed.samples.clone_from(&args.samples);
        feed.generated = budget.feed.generated.of(quick);
        feed.step_s = args.step_seconds;
        feed.batch = args.batch.unwrap_or(feed.batch);
        feed.side = args.side.unwrap_or(feed.side);
        feed.cap_s = budget.cap_s(Step::Feed, quick);
        feed.pass_at = budget.feed.pass_at;
        feed::check(&feed).map_err(ProbeFailure::Feed)?;
        Ok(Plan {
            gpu,
            tensor,
            reduce,
            cpu,
            disk,
            feed,
            host: args.host.clone(),
            ssh_connection: world.ssh_connection.clone(),
        })
    }
}

/// Makes the steps that are wanted, in their order.
///
/// # Errors
/// Built-in data is broken: a bug.
pub(super) fn all(
    plan: &Plan,
    run: &mut Run<'_>,
    report: &mut ProbeReport,
    texts: &Texts,
) -> Result<(), ProbeFailure> {
    let rules = Rules::built_in().map_err(|e| ProbeFailure::BuiltIn {
        detail: e.to_string(),
    })?;
    gpus::all(plan, &rules, run, report);
    report.fabric = run.step(Step::Ports, |conduct, cap_s| {
        let pause = Duration::from_secs_f64(cap_s);
        let fabric = fabric::watched(Path::new("/"), pause, conduct);
        let found = fabric::findings(&fabric, &rules);
        (fabric, Outcome::Done, found)
    });
    if let Some(cpu) = run.step(Step::Cpu, |conduct, _| {
        let cpu = cpu::run(&plan.cpu, roots(), conduct);
        let found = cpu.findings.clone();
        (cpu, Outcome::Done, found)
    }) {
        report.host = Some(cpu.reading());
    }
    let disk = run.step(Step::Disk, |conduct, _| {
        match disk::run(&plan.disk, conduct) {
            Ok(disk) => {
                let (reading, found) = (disk.reading(), disk.findings);
                let cut = [
                    &reading.read_gbs,
                    &reading.write_gbs,
                    &reading.random_read_iops,
                ];
                let outcome = outcome(cut.into_iter().flatten());
                (Some(reading), outcome, found)
            }
            Err(error) => failed(Step::Disk, &error, &error),
        }
    });
    report.disk = disk.flatten();
    let options = fed(&plan.feed, report);
    let feed = run.step(Step::Feed, |conduct, _| {
        match feed::run(&options, conduct) {
            Ok(feed) => {
                let reading = feed.reading(texts.msg(&feed.why));
                let outcome = outcome([&reading.samples_per_second].into_iter());
                (Some(reading), outcome, feed.findings)
            }
            Err(error) => failed(Step::Feed, &error, &error),
        }
    });
    report.feed = feed.flatten();
    report.net = run
        .step(Step::Net, |conduct, cap_s| network(plan, conduct, cap_s))
        .flatten();
    Ok(())
}

/// Some figure was not to be had because the time was over.
fn outcome<'a>(mut readings: impl Iterator<Item = &'a Reading>) -> Outcome {
    let cut = |r: &Reading| {
        r.reason()
            .is_some_and(|r| reason_parts(r).0 == Some("out_of_time"))
    };
    match readings.any(cut) {
        true => Outcome::Cut,
        false => Outcome::Done,
    }
}

pub(super) fn failed<T>(
    step: Step,
    error: &impl Explain,
    detail: &impl std::fmt::Display,
) -> (Option<T>, Outcome, Vec<Finding>) {
    let detail = detail.to_string();
    let finding = Finding::not_done(step.as_str(), detail.clone(), error.msg());
    (None, Outcome::Failed(detail), vec![finding])
}

/// The feed test for the GPUs that were proved: all step together, and each has its own link.
fn fed(options: &feed::FeedOptions, report: &ProbeReport) -> feed::FeedOptions {
    let mut options = options.clone();
    let rates = report.gpus.iter().filter(|g| {
        let right =
            |k: &Fact<lessee_model::probe::Verified>| k.value().is_some_and(|v| v.wrong == 0);
        g.kernel.as_ref().is_some_and(right)
    });
    let rates: Vec<f64> = rates
        .filter_map(|g| g.host_to_device_gbs.as_ref()?.measured())
        .collect();
    if !rates.is_empty() {
        options.gpus = rates.len().min(64);
        options.consumer = feed::Consumer::Timed {
            copy_gbs: Some(rates.iter().sum()),
        };
    }
    options
}

fn network(
    plan: &Plan,
    conduct: &Conduct<'_>,
    cap_s: f64,
) -> (Option<NetReading>, Outcome, Vec<Finding>) {
    let ssh = net::ssh(plan.ssh_connection.as_deref());
    let Some(host) = &plan.host else {
        let nothing = plan.ssh_connection.is_none();
        let found = net::findings(None, Some(&ssh));
        let reading = NetReading {
            host: None,
            ssh: Some(ssh),
        };
        let outcome = match nothing {
            true => Outcome::Nothing("no_host"),
            false => Outcome::Done,
        };
        return (Some(reading), outcome, found);
    };
    let mut options = net::NetOptions::new(host.clone());
    options.for_s = options.for_s.min(cap_s - options.timeout_s);
    match net::connect(&options, conduct) {
        Ok(trips) => {
            let found = net::findings(Some(&trips), Some(&ssh));
            let reading = NetReading {
                host: Some(trips),
                ssh: Some(ssh),
            };
            (Some(reading), Outcome::Done, found)
        }
        Err(error) => {
            let (_, outcome, found) = failed::<NetReading>(Step::Net, &error, &error);
            let reading = NetReading {
                host: None,
                ssh: Some(ssh),
            };
            (Some(reading), outcome, found)
        }
    }
}
