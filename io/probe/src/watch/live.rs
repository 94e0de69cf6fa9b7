//! The GPUs of this machine, sampled while a job runs: the same series that logs are turned into.
//!
//! A thread of its own asks the driver, because a driver that hangs never comes back: [`Live::next`] then says that it is
//! silent, and whoever watches can still end and judge what there is. Not here: when to stop, what is shown (`app`).

use super::host::HostMeter;
use super::{Format, Recording};
use crate::gpu::meter::Meter;
use crate::gpu::{GpuError, Libraries};
use lessee_supervise::curve::{GpuId, Sample, Series};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

/// Samples of a GPU that are kept; beyond, every second one is given up. A day at one a second.
const KEPT: usize = 86_400;
/// Opening NVML asks the kernel's driver.
const OPEN_CAP: Duration = Duration::from_secs(30);
/// What the driver's count of PCIe traffic takes for each GPU, and the share of the interval that it may take.
const PCIE_COUNT: Duration = Duration::from_millis(20);
const PCIE_SHARE: f64 = 0.2;

/// All GPUs at one moment.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Since the first one.
    pub t_s: f64,
    pub gpus: Vec<GpuTick>,
}

#[derive(Clone, Debug)]
pub struct GpuTick {
    pub gpu: u32,
    pub name: Option<String>,
    /// Why there is no sample: the GPU is gone.
    pub sample: Result<Sample, GpuError>,
    pub mem_clock_mhz: Option<f64>,
}

/// What came while waiting.
#[derive(Debug)]
pub enum Next {
    Tick(Tick),
    /// Nothing yet.
    Waiting,
    /// The driver has not answered for so long that it will not.
    Silent,
}

/// A GPU that went away while it was watched.
#[derive(Clone, Debug)]
pub struct Lost {
    pub gpu: u32,
    pub at_s: f64,
    pub error: GpuError,
}

pub struct Live {
    ticks: Receiver<Tick>,
    /// Dropped, it ends the thread.
    _stop: Sender<()>,
    every: Duration,
    heard: Instant,
    start_s: Option<f64>,
    series: Vec<Kept>,
    lost: Vec<Lost>,
}

/// The samples of a GPU, thinned where they become too many.
struct Kept {
    series: Series,
    name: Option<String>,
    stride: usize,
    seen: usize,
}

impl Live {
    /// Opens NVML, from `folder` or where the system's loader finds it, and begins to sample; `root` is `/`.
    ///
    /// # Errors
    /// There is no NVML, it does not answer, or it has no GPU.
    pub fn open(folder: Option<&Path>, root: &Path, every: Duration) -> Result<Live, GpuError> {
        let libraries = Arc::new(Libraries::open_within(folder, OPEN_CAP)?);
        let asked = Arc::clone(&libraries);
        let meter = crate::gpu::prove::capped("open", OPEN_CAP, move |_| Meter::open(&asked))?;
        if meter.count() == 0 {
            return Err(GpuError::NoGpu);
        }
        let names = meter.names.clone();
        let (sender, ticks) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let root: PathBuf = root.to_owned();
        let worker = std::thread::Builder::new().name("probe watch".to_owned());
        worker
            .spawn(move || sample(&meter, &mut HostMeter::new(&root), every, &sender, &stopped))
            .map_err(|_| GpuError::Worker {
                step: "watch".to_owned(),
            })?;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let kept = |(i, name): (usize, Option<String>)| Kept {
            series: Series {
                gpu: GpuId::Index(i as u32),
                samples: Vec::new(),
            },
            name,
            stride: 1,
            seen: 0,
        };
        Ok(Live {
            ticks,
            _stop: stop,
            every,
            heard: Instant::now(),
            start_s: since_1970.ok().map(|d| d.as_secs_f64()),
            series: names.into_iter().enumerate().map(kept).collect(),
            lost: Vec::new(),
        })
    }

    /// Waits for the next samples, no longer than `patience`.
    pub fn next(&mut self, patience: Duration) -> Next {
        match self.ticks.recv_timeout(patience) {
            Ok(tick) => {
                self.heard = Instant::now();
                self.keep(&tick);
                Next::Tick(tick)
            }
            Err(RecvTimeoutError::Timeout) if self.heard.elapsed() < 3 * self.every + OPEN_CAP => {
                Next::Waiting
            }
            Err(_) => Next::Silent,
        }
    }

    fn keep(&mut self, tick: &Tick) {
        for (kept, gpu) in self.series.iter_mut().zip(&tick.gpus) {
            match &gpu.sample {
                Ok(sample) => kept.push(*sample),
                Err(error) if !self.lost.iter().any(|l| l.gpu == gpu.gpu) => self.lost.push(Lost {
                    gpu: gpu.gpu,
                    at_s: tick.t_s,
                    error: error.clone(),
                }),
                Err(_) => {}
            }
        }
    }

    /// Whether there is none left to watch.
    pub fn all_lost(&self) -> bool {
        self.lost.len() == self.series.len()
    }

    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// The series, as if they had been read from a log.
    pub fn recording(self) -> Recording {
        Recording {
            format: Format::Live,
            names: self.series.iter().filter_map(|k| k.name.clone()).collect(),
            series: self.series.into_iter().map(|k| k.series).collect(),
            assumed_step_s: None,
            start_s: self.start_s,
            skipped: 0,
            not_understood: Vec::new(),
        }
    }
}

impl Kept {
    fn push(&mut self, sample: Sample) {
        if self.seen.is_multiple_of(self.stride) {
            self.series.samples.push(sample);
        }
        self.seen += 1;
        if self.series.samples.len() >= KEPT {
            let mut at = 0;
            self.series.samples.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride *= 2;
        }
    }
}

fn sample(
    meter: &Meter,
    host: &mut HostMeter,
    every: Duration,
    ticks: &Sender<Tick>,
    stopped: &Receiver<()>,
) {
    let count_pcie =
        PCIE_COUNT.as_secs_f64() * meter.count() as f64 <= PCIE_SHARE * every.as_secs_f64();
    let start = Instant::now();
    let mut next = every;
    loop {
        let tick = one(meter, host, start.elapsed().as_secs_f64(), count_pcie);
        if ticks.send(tick).is_err() {
            return;
        }
        // a driver that was slow leaves a hole, not a burst
        while next <= start.elapsed() {
            next += every;
        }
        match stopped.recv_timeout(next.saturating_sub(start.elapsed())) {
            Err(RecvTimeoutError::Timeout) => next += every,
            _ => return,
        }
    }
}

fn one(meter: &Meter, host: &mut HostMeter, t_s: f64, count_pcie: bool) -> Tick {
    let beside = host.read();
    let mut gpus: Vec<GpuTick> = (0..meter.count())
        .map(|at| {
            let read = meter.read(at);
            GpuTick {
                gpu: at as u32,
                name: meter.names[at].clone(),
                mem_clock_mhz: read.as_ref().ok().and_then(|(f, _)| f.mem_clock_mhz),
                sample: read.map(|(figures, engines)| Sample {
                    t_s,
                    util_gpu_pct: figures.util_gpu_pct,
                    util_mem_pct: figures.util_mem_pct,
                    enc_pct: engines.enc_pct,
                    dec_pct: engines.dec_pct,
                    power_w: figures.power_w,
                    power_limit_w: figures.power_limit_w,
                    sm_clock_mhz: figures.sm_clock_mhz,
                    mem_used_mib: engines.mem_used_mib,
                    temp_c: figures.temperature_c,
                    cpu_busiest_core_pct: beside.cpu_busiest_core_pct,
                    disk_write_mb_s: beside.disk_write_mb_s,
                    slowed: figures.clock_reasons.map(|r| r.iter().any(|r| slows(r))),
                    ..Sample::default()
                }),
            }
        })
        .collect();
    // last, because each takes its time
    if count_pcie {
        for (at, gpu) in gpus.iter_mut().enumerate() {
            if let Ok(sample) = &mut gpu.sample {
                sample.pcie_rx_mb_s = meter.pcie_in(at);
            }
        }
    }
    Tick { t_s, gpus }
}

/// Heat, the power brake and the hardware's own protection; a power cap or a set clock are none.
fn slows(reason: &str) -> bool {
    crate::gpu::look::throttle_code(reason).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_watch_is_thinned_and_stays_in_step() {
        let mut kept = Kept {
            series: Series {
                gpu: GpuId::Index(0),
                samples: Vec::new(),
            },
            name: None,
            stride: 1,
            seen: 0,
        };
        for t in 0..3 * KEPT {
            kept.push(Sample {
                t_s: t as f64,
                ..Sample::default()
            });
        }
        let times: Vec<f64> = kept.series.samples.iter().map(|s| s.t_s).collect();
        assert!(times.len() < KEPT && kept.stride == 4, "{}", times.len());
        assert!(times.windows(2).all(|t| t[1] - t[0] == 4.0));
    }
}
