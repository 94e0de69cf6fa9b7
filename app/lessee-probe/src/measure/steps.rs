//! The steps themselves: the call of `io/probe`, its figures into the report, its findings into the run.

use super::run::{Outcome, Run};
use super::{gpus, s3};
use crate::{MeasureArgs, ProbeFailure, World};
use lessee_console::stop::STOP;
use lessee_model::probe::{Fact, GpuReading, NetReading, Reading, reason_parts};
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
    bucket: Option<s3::Bucket>,
    ssh_connection: Option<String>,
}

impl Plan {
    /// # Errors
    /// Options of the feed test that make no sense; a bucket that is none, or that nobody here may use.
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
            bucket: s3::bucket(args, world)?,
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
    let libraries = gpus::all(plan, &rules, run, report);
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
    let options = fed(&plan.feed, report, run);
    let feed = run.step(Step::Feed, |conduct, _| {
        let made = match &libraries {
            Some(libraries) => feed::run_on(&options, libraries, conduct),
            None => feed::run(&options, conduct),
        };
        match made {
            Ok(feed) => {
                let reading = feed.reading(texts.msg(&feed.why));
                let outcome = outcome([&reading.samples_per_second].into_iter());
                (Some(reading), outcome, feed.findings)
            }
            Err(error) => {
                let (none, outcome, mut found) = failed(Step::Feed, &error, &error);
                found.extend(error.findings());
                (none, outcome, found)
            }
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

/// The feed test on the GPUs that were proved, and that no load broke since: all step together.
fn fed(options: &feed::FeedOptions, report: &ProbeReport, run: &Run<'_>) -> feed::FeedOptions {
    let right = |k: &Fact<lessee_model::probe::Verified>| k.value().is_some_and(|v| v.wrong == 0);
    let broken = |g: &GpuReading| {
        let load = g.tensor.as_ref().map(|t| &t.results);
        load.is_some_and(|r| {
            matches!(r, Fact::Failed { .. }) || r.value().is_some_and(|v| v.wrong > 0)
        })
    };
    let proved = report.gpus.iter().filter_map(|g| {
        let sound = g.kernel.as_ref().is_some_and(right) && !broken(g);
        sound.then_some(feed::TrainerGpu {
            cuda_index: g.cuda_index?,
            index: Some(g.index),
            copy_gbs: g.host_to_device_gbs.as_ref().and_then(Reading::measured),
        })
    });
    let mut gpus: Vec<_> = proved.collect();
    gpus.truncate(64);
    let consumer = match gpus.is_empty() {
        false => feed::Consumer::Kernel { gpus },
        true => feed::Consumer::Timed {
            copy_gbs: None,
            why: Some(run.why_not(Step::Gpu).unwrap_or("not_proved").to_owned()),
        },
    };
    feed::FeedOptions {
        consumer,
        ..options.clone()
    }
}

/// What a bucket gets of the step where a host has its share too.
const BUCKET: f64 = 0.5;

fn network(
    plan: &Plan,
    conduct: &Conduct<'_>,
    cap_s: f64,
) -> (Option<NetReading>, Outcome, Vec<Finding>) {
    let mut reading = NetReading {
        host: None,
        ssh: Some(net::ssh(plan.ssh_connection.as_deref())),
        s3: None,
    };
    let nothing = plan.ssh_connection.is_none() && plan.host.is_none() && plan.bucket.is_none();
    let mut outcome = match nothing {
        true => Outcome::Nothing("no_host"),
        false => Outcome::Done,
    };
    let (bucket_s, host_s) = match (&plan.bucket, &plan.host) {
        (Some(_), Some(_)) => (cap_s * BUCKET, cap_s * (1.0 - BUCKET)),
        _ => (cap_s, cap_s),
    };
    let mut found = Vec::new();
    if let Some(host) = &plan.host {
        let mut options = net::NetOptions::new(host.clone());
        options.for_s = options.for_s.min(host_s - options.timeout_s);
        match net::connect(&options, conduct) {
            Ok(trips) => reading.host = Some(trips),
            Err(error) => {
                let (_, failed, not_done) = failed::<NetReading>(Step::Net, &error, &error);
                (outcome, found) = (failed, not_done);
            }
        }
    }
    if outcome_is_done(&outcome) {
        found.extend(net::findings(reading.host.as_ref(), reading.ssh.as_ref()));
    }
    if let Some(bucket) = &plan.bucket {
        // what was made is deleted within the cap too
        let (made, failure) = s3::measured(bucket, bucket_s * 0.75, conduct);
        if matches!(made.put_mbs, Reading::Failed { .. }) && outcome_is_done(&outcome) {
            let why = made.put_mbs.reason().unwrap_or_default();
            outcome = Outcome::Failed(why.to_owned());
        }
        found.extend(net::bucket_findings(&made, failure));
        reading.s3 = Some(made);
    }
    (Some(reading), outcome, found)
}

fn outcome_is_done(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done | Outcome::Nothing(_))
}
