//! Matrix throughput that lasts: all GPUs at once, for a minute, with NVML read ten times a second. A machine that is
//! fast for a second may be slow for an hour, and one GPU that is late makes all others wait.
//!
//! [`measure`] multiplies with a kernel of our own (`kernels/mma_*.ptx`), whose every result is compared; `judge` says
//! what follows. The rate is that of `mma.sync`, which does not reach the peak of Hopper and Blackwell: 60 to 65 % of an
//! H100's are expected, not measured. So it is to be compared with siblings, with other days and with other machines of
//! the same GPU, and not with a data sheet.

mod judge;
pub(super) mod multiplier;
mod run;

use super::found::folders;
use super::look::Look;
use super::meter::Figures;
use super::prove::{Rules, Verified, capped};
use super::{Finding, GpuError, Libraries, Reason, Seen};
use crate::step::Conduct;
use lessee_model::ProbeReport;
use lessee_model::probe::{self, Moment, Reading, Sustained, TensorLoad};
use run::{Shared, Sustained as Ran};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// First and last seconds that are compared, at most.
const WINDOW_S: f64 = 10.0;

#[derive(Clone, Debug)]
pub struct TensorOptions {
    /// How long the load lasts, by the clock of the device.
    pub seconds: f64,
    /// Time for contexts, compiling and checking. A GPU that takes longer is not waited for.
    pub preparation: Duration,
    /// GPUs that are left out, in CUDA's order: those that a proof found broken.
    pub skip: Vec<u32>,
    /// `/`, or a folder that plays it: where libraries are looked for that would do better.
    pub root: PathBuf,
}

impl Default for TensorOptions {
    fn default() -> TensorOptions {
        TensorOptions {
            seconds: 60.0,
            preparation: Duration::from_secs(30),
            skip: Vec::new(),
            root: PathBuf::from("/"),
        }
    }
}

impl TensorOptions {
    /// How long a load may take that is to last so many seconds: one GPU may be slower than all know.
    pub fn longest_s(seconds: f64) -> f64 {
        seconds.clamp(0.0, 3600.0) * 1.5
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Tensor {
    /// As it was asked for.
    pub seconds: f64,
    /// A library that would reach more, and that is not used: where it lies on this machine.
    pub cublas_lt: Option<PathBuf>,
    pub gpus: Vec<GpuTensor>,
    #[serde(skip)]
    start_error: Option<GpuError>,
}

/// One GPU, in CUDA's order.
#[derive(Clone, Debug, Serialize)]
pub struct GpuTensor {
    pub cuda_index: u32,
    /// Its index in NVML, found by the PCI address.
    pub index: Option<u32>,
    pub name: Seen<String>,
    /// `mma.sync m16n8k16 bf16`, `wmma m16n16k16 f16`
    pub method: Seen<&'static str>,
    /// Whether the method comes near what the GPU can do at best; otherwise the rate is not that of a good library.
    pub near_peak: Seen<bool>,
    /// Results that were compared, before the load and after it.
    pub results: Seen<Verified>,
    pub sustained: Seen<Sustained>,
}

fn moment(t_s: f64, tflops: f64, figures: Option<Figures>) -> Moment {
    let figures = figures.unwrap_or_default();
    let words = |all: Vec<&'static str>| all.into_iter().map(str::to_owned).collect();
    Moment {
        t_s,
        tflops,
        sm_clock_mhz: figures.sm_clock_mhz,
        power_w: figures.power_w,
        temperature_c: figures.temperature_c,
        util_gpu_pct: figures.util_gpu_pct,
        clock_reasons: figures.clock_reasons.map(words),
    }
}

/// Loads all GPUs together; `look` tells which of NVML's GPUs each is.
pub fn measure(
    libraries: &Arc<Libraries>,
    look: Option<&Look>,
    options: &TensorOptions,
    conduct: Conduct<'_>,
) -> Tensor {
    let begun = Instant::now();
    let mut tensor = Tensor {
        seconds: options.seconds,
        cublas_lt: folders(
            &options.root,
            "cublas",
            &["libcublasLt.so.13", "libcublasLt.so.12"],
        )
        .into_iter()
        .next(),
        gpus: Vec::new(),
        start_error: None,
    };
    let started = libraries.cuda.as_ref().map_err(Clone::clone).and_then(|c| {
        let cuda = Arc::clone(c);
        capped("start", options.preparation, move |_| {
            cuda.init()?;
            let one = |i| (cuda.name(i), cuda.pci(i));
            Ok((0..cuda.count()?).map(one).collect::<Vec<_>>())
        })
    });
    let described = match started {
        Ok(described) => described,
        Err(error) => {
            tensor.start_error = Some(error);
            return tensor;
        }
    };
    for (index, (name, address)) in described.into_iter().enumerate() {
        let nvml = look.zip(address.ok()).and_then(|(look, address)| {
            let same = |g: &&super::look::Gpu| {
                let own = g.pci_address.value();
                own.is_some_and(|own| super::look::same_address(own, &address))
            };
            look.gpus.iter().find(same).map(|g| g.index)
        });
        tensor.gpus.push(GpuTensor {
            cuda_index: index as u32,
            index: nvml,
            name: Seen::from_driver(name),
            method: Seen::unknown("not_tried", ""),
            near_peak: Seen::unknown("not_tried", ""),
            results: Seen::unknown("not_tried", ""),
            sustained: Seen::unknown("not_tried", ""),
        });
    }
    let used = |g: &&mut GpuTensor| !options.skip.contains(&g.cuda_index);
    let mut gpus: Vec<&mut GpuTensor> = tensor.gpus.iter_mut().filter(used).collect();
    let left = options.preparation.saturating_sub(begun.elapsed());
    load(libraries, &mut gpus, options, left, conduct);
    tensor
}

/// A thread a GPU, all of them waiting for each other before the load; what does not come back in time is cut.
fn load(
    libraries: &Arc<Libraries>,
    gpus: &mut [&mut GpuTensor],
    options: &TensorOptions,
    preparation: Duration,
    conduct: Conduct<'_>,
) {
    const STEP: &str = "gpu.tensor";
    let longest = TensorOptions::longest_s(options.seconds);
    let cap = preparation + Duration::from_secs_f64(longest);
    let shared = Shared {
        libraries: Arc::clone(libraries),
        seconds: options.seconds,
        preparation,
        ready: Arc::new(AtomicUsize::new(0)),
        all: gpus.len(),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let (sender, receiver) = mpsc::channel();
    for (at, gpu) in gpus.iter_mut().enumerate() {
        let (sender, own) = (sender.clone(), shared.clone());
        let (cuda_index, nvml) = (gpu.cuda_index, gpu.index);
        let worker = std::thread::Builder::new().name(format!("probe tensor {cuda_index}"));
        let spawned = worker.spawn(move || {
            let ran = run::one(&own, cuda_index, nvml, cap);
            // nobody listens any more when the cap has passed
            let _ = sender.send((at, ran));
        });
        // it is not ready and never will be, and the others must not wait for it
        if spawned.is_err() {
            shared.ready.fetch_add(1, Ordering::SeqCst);
        }
    }
    drop(sender);
    let begun = Instant::now();
    let mut left = gpus.len();
    while left > 0 && begun.elapsed() < cap + Duration::from_secs(1) {
        conduct.tell(
            STEP,
            begun.elapsed().as_secs_f64() / options.seconds.max(0.1),
        );
        if conduct.stopped() {
            shared.stop.store(true, Ordering::SeqCst);
        }
        match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok((at, ran)) => {
                take(gpus[at], ran);
                left -= 1;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    for gpu in gpus.iter_mut() {
        if gpu.results.reason().is_some_and(|r| r.code == "not_tried") {
            let cut = GpuError::TimeCap {
                step: format!("tensor {}", gpu.cuda_index),
                seconds: cap.as_secs(),
            };
            gpu.results = Seen::without(&cut);
            gpu.sustained = Seen::without(&cut);
        }
    }
    conduct.tell(STEP, 1.0);
}

fn take(gpu: &mut GpuTensor, ran: Result<Ran, GpuError>) {
    match ran {
        Ok(ran) => {
            gpu.method = Seen::Measured { value: ran.method };
            gpu.near_peak = Seen::Claimed {
                value: ran.near_peak,
            };
            gpu.results = Seen::Measured { value: ran.results };
            gpu.sustained = match summed(ran.moments) {
                Some(value) => Seen::Measured { value },
                None => Seen::unknown("not_tried", ""),
            };
        }
        Err(error) => {
            gpu.results = Seen::without(&error);
            gpu.sustained = Seen::without(&error);
        }
    }
}

/// None of a load that was stopped before its first moment. A moment is so much work, not so much time: each counts for as
/// long as it took, or slow ones would count for too little.
fn summed(moments: Vec<Moment>) -> Option<Sustained> {
    let seconds = moments.last()?.t_s;
    let window_s = WINDOW_S.min(seconds / 3.0);
    let starts = std::iter::once(0.0).chain(moments.iter().map(|m| m.t_s));
    let mut timed: Vec<(f64, f64, f64)> = moments
        .iter()
        .zip(starts)
        .map(|(m, start)| (m.t_s, m.tflops, m.t_s - start))
        .collect();
    let mean = |of: &dyn Fn(f64) -> bool| {
        let of = timed.iter().filter(|(t, ..)| of(*t));
        let (work, time) = of.fold((0.0, 0.0), |(w, s), (_, rate, dt)| (w + rate * dt, s + dt));
        (time > 0.0).then(|| work / time)
    };
    let (first, last) = (mean(&|t| t <= window_s), mean(&|t| t > seconds - window_s));
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut passed = 0.0;
    let middle = timed.iter().find(|(_, _, dt)| {
        passed += dt;
        passed >= seconds / 2.0
    });
    let tflops = middle.or(timed.last())?.1;
    let reasons = moments.iter().filter_map(|m| m.clock_reasons.as_ref());
    Some(Sustained {
        tflops,
        first_tflops: first.unwrap_or(tflops),
        last_tflops: last.unwrap_or(tflops),
        window_s,
        seconds,
        clock_reasons: reasons.flatten().cloned().collect(),
        moments,
    })
}

impl Tensor {
    /// What follows from it, worst first.
    pub fn findings(&self, rules: &Rules) -> Vec<Finding> {
        judge::judge(self, rules)
    }

    /// Puts the rates into a report that has the GPUs of the same machine. A plan takes the figure there for what good
    /// libraries reach, so that one from a method that cannot is told in words and not given as a measurement.
    pub fn into_report(&self, report: &mut ProbeReport) {
        report.tensor = Some(TensorLoad {
            seconds: self.seconds,
            cublas_lt: self.cublas_lt.as_ref().map(|f| f.display().to_string()),
        });
        for gpu in &self.gpus {
            let target = report.gpus.iter_mut().find(|g| gpu.is(g));
            let Some(target) = target else {
                continue;
            };
            target.tensor = Some(gpu.reading());
            target.tensor_tflops = Some(match (&gpu.sustained, &gpu.results) {
                // a rate of wrong results is none
                (_, Seen::Measured { value }) if value.wrong > 0 => Reading::Failed {
                    reason: Reason::new("wrong_results", value.wrong.to_string()).to_string(),
                },
                (Seen::Measured { value } | Seen::Claimed { value }, _)
                    if gpu.near_peak.get() != Some(true) =>
                {
                    let method = gpu.method.get().unwrap_or("?");
                    let reached = format!("{:.1} TFLOP/s, {method}", value.tflops);
                    Reading::Unknown {
                        reason: Reason::new("below_peak", reached).to_string(),
                    }
                }
                (Seen::Measured { value } | Seen::Claimed { value }, _) => Reading::Measured {
                    value: value.tflops,
                    samples: value.moments.iter().map(|m| m.tflops).collect(),
                },
                (Seen::Unknown { reason }, _) => Reading::Unknown {
                    reason: reason.to_string(),
                },
                (Seen::Failed { reason }, _) => Reading::Failed {
                    reason: reason.to_string(),
                },
            });
        }
    }
}

impl GpuTensor {
    /// Those that NVML does not show are known to the proof by CUDA's index.
    fn is(&self, gpu: &probe::GpuReading) -> bool {
        match self.index {
            Some(index) => gpu.index == index,
            None => gpu.cuda_index == Some(self.cuda_index),
        }
    }

    fn reading(&self) -> probe::GpuTensor {
        probe::GpuTensor {
            method: self.method.clone().map(str::to_owned).fact(),
            near_peak: self.near_peak.clone().fact(),
            results: self.results.clone().fact(),
            sustained: self.sustained.clone().fact(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_load_are_compared_by_time() {
        let at = |i: u32| {
            let t_s = f64::from(i) / 10.0;
            moment(t_s, if t_s <= 30.0 { 600.0 } else { 450.0 }, None)
        };
        let sum = summed((1..=600).map(at).collect()).unwrap();
        assert_eq!(sum.window_s, 10.0);
        assert!((sum.first_tflops - 600.0).abs() < 1e-9 && (sum.last_tflops - 450.0).abs() < 1e-9);
        // as much work again takes twice the time
        let halves = (1..=100).map(|i| (f64::from(i) / 10.0, 600.0));
        let slow = (1..=60).map(|i| (10.0 + f64::from(i) / 5.0, 300.0));
        let work = halves.chain(slow).map(|(t, r)| moment(t, r, None));
        assert_eq!(summed(work.collect()).unwrap().tflops, 300.0);
        let short = summed((1..=3).map(at).collect()).unwrap();
        assert!((short.first_tflops - 600.0).abs() < 1e-9 && short.tflops == 600.0);
        assert!(summed(Vec::new()).is_none());
    }
}
