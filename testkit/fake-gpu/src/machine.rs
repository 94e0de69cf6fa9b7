//! The machine while it runs: what is allocated, what streams have done, which GPUs work and which are lost.

use crate::STATE_VARIABLE;
use crate::state::{Gpu, State};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Instant;

/// NVML's and CUDA's status of a GPU that fell off the bus.
pub(crate) const NVML_LOST: u32 = 15;
pub(crate) const CUDA_LOST: u32 = 999;
/// Times that an event is asked for before it is done.
const POLLS: u32 = 2;

pub(crate) struct Machine {
    pub(crate) state: State,
    /// By address: the GPU and the memory that plays its memory.
    pub(crate) memory: HashMap<u64, (usize, Vec<u8>)>,
    pub(crate) host: HashMap<usize, Vec<u8>>,
    /// By handle: the GPU, and simulated seconds that it has worked.
    pub(crate) streams: HashMap<usize, (usize, f64)>,
    pub(crate) events: HashMap<usize, Event>,
    /// The text of modules.
    pub(crate) modules: HashMap<usize, String>,
    /// Collectives of NCCL that wait for the end of their group.
    pub(crate) group: Vec<crate::nccl::Collective>,
    /// By GPU: readings of its utilisation, and simulated seconds of matrix work.
    readings: Vec<Cell<u32>>,
    tensor_s: Vec<f64>,
    /// By GPU.
    busy: Vec<bool>,
    operations: Vec<u32>,
    next: usize,
    /// Where time is real: since when (the first matrix work), and until when what all copies share is taken.
    begun: Option<Instant>,
    uplink_s: f64,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Event {
    gpu: usize,
    at_s: f64,
    polls: u32,
}

thread_local! {
    /// As in the driver, each thread has its own.
    pub(crate) static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

static MACHINE: OnceLock<Result<Mutex<Machine>, String>> = OnceLock::new();

/// The machine, or none where its state cannot be read.
pub(crate) fn machine() -> Option<MutexGuard<'static, Machine>> {
    let made = MACHINE.get_or_init(|| load().map(|state| Mutex::new(Machine::new(state))));
    match made {
        Ok(machine) => Some(machine.lock().unwrap_or_else(|p| p.into_inner())),
        Err(what) => {
            eprintln!("{STATE_VARIABLE}: {what}");
            None
        }
    }
}

fn load() -> Result<State, String> {
    let path = std::env::var_os(STATE_VARIABLE).ok_or("is not set")?;
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

impl Machine {
    fn new(state: State) -> Machine {
        let n = state.gpus.len();
        Machine {
            state,
            memory: HashMap::new(),
            host: HashMap::new(),
            streams: HashMap::new(),
            events: HashMap::new(),
            modules: HashMap::new(),
            group: Vec::new(),
            readings: vec![Cell::new(0); n],
            tensor_s: vec![0.0; n],
            busy: vec![false; n],
            operations: vec![0; n],
            next: 0x1000,
            begun: None,
            uplink_s: 0.0,
        }
    }

    /// The status that the state orders for a function.
    pub(crate) fn ordered(&self, function: &str) -> u32 {
        self.state.errors.get(function).copied().unwrap_or(0)
    }

    pub(crate) fn handle(&mut self) -> usize {
        self.next += 0x10;
        self.next
    }

    pub(crate) fn gpu(&self, gpu: usize) -> Option<&Gpu> {
        self.state.gpus.get(gpu)
    }

    pub(crate) fn busy(&self, gpu: usize) -> bool {
        self.busy.get(gpu).copied().unwrap_or(false)
    }

    pub(crate) fn idle(&mut self, gpu: usize) {
        self.busy[gpu] = false;
    }

    pub(crate) fn lost(&self, gpu: usize) -> bool {
        let Some(state) = self.gpu(gpu) else {
            return false;
        };
        let worked = state.lost_after;
        let read = state.lost_after_readings;
        let multiplied = state.lost_after_tensor_s;
        multiplied.is_some_and(|s| self.tensor_s[gpu] > s)
            || worked.is_some_and(|n| self.operations[gpu] >= n)
            || read.is_some_and(|n| self.readings[gpu].get() > n)
    }

    /// One more reading of the utilisation.
    pub(crate) fn reading(&self, gpu: usize) {
        self.readings[gpu].set(self.readings[gpu].get() + 1);
    }

    /// The GPU as a job, or a throttled clock, makes it look now.
    pub(crate) fn now(&self, gpu: usize) -> Option<(Gpu, u32, u32)> {
        let state = self.gpu(gpu)?;
        let mut seen = state.clone();
        let busy = if self.busy(gpu) { 100 } else { 0 };
        if let Some(throttle) = self.throttled(gpu) {
            seen.clocks_max_mhz[0] = throttle.sm_clock_mhz;
            seen.reasons_load = throttle.reasons;
        }
        let at = self.readings[gpu].get().saturating_sub(1) as usize;
        let Some(activity) = state.activity.get(at).or(state.activity.last()) else {
            return Some((seen, busy, busy / 2));
        };
        seen.power_mw = activity.power_mw;
        seen.clocks_mhz[0] = activity.sm_clock_mhz;
        seen.temperature_c = activity.temperature_c;
        seen.memory_used_mib = activity.memory_used_mib;
        seen.reasons = activity.reasons;
        Some((seen, activity.util_gpu_pct, activity.util_mem_pct))
    }

    pub(crate) fn activity(&self, gpu: usize) -> Option<&crate::Activity> {
        let state = self.gpu(gpu)?;
        let at = self.readings[gpu].get().saturating_sub(1) as usize;
        state.activity.get(at).or(state.activity.last())
    }

    fn throttled(&self, gpu: usize) -> Option<&crate::Throttle> {
        let throttle = self.gpu(gpu)?.throttle.as_ref()?;
        (self.tensor_s[gpu] >= throttle.after_s).then_some(throttle)
    }

    /// Seconds of matrix work at the clock that there is.
    pub(crate) fn tensor_seconds(&mut self, gpu: usize, flop: f64) -> f64 {
        if self.state.real_time && self.begun.is_none() {
            // what was told before lies behind
            self.begun = Some(Instant::now());
            self.streams.values_mut().for_each(|(_, time)| *time = 0.0);
        }
        let state = &self.state.gpus[gpu];
        let clock = self.throttled(gpu).map_or(1.0, |t| {
            f64::from(t.sm_clock_mhz) / f64::from(state.clocks_max_mhz[0])
        });
        let seconds = flop / (state.tensor_tflops * 1e12 * clock);
        self.tensor_s[gpu] += seconds;
        seconds
    }

    /// Seconds since the first matrix work where time is real, else 0: then only work moves it.
    fn now_s(&self) -> f64 {
        self.begun
            .map_or(0.0, |begun| begun.elapsed().as_secs_f64())
    }

    /// How long a GPU still works.
    pub(crate) fn left_s(&self, gpu: usize) -> f64 {
        let streams = self.streams.values().filter(|(of, _)| *of == gpu);
        let last = streams.map(|(_, time)| *time).fold(0.0, f64::max);
        match self.begun {
            Some(_) => last - self.now_s(),
            None => 0.0,
        }
    }

    /// A copy from the host: as fast as the link, and as what all of them share.
    pub(crate) fn host_copy(&mut self, gpu: usize, stream: usize, bytes: usize) -> Result<(), u32> {
        let own = self.link_seconds(gpu, bytes);
        let (_, time) = *self.streams.get(&stream).ok_or(400_u32)?;
        let start = time.max(self.now_s());
        let mut seconds = own;
        if let (Some(shared), Some(_)) = (self.state.host_gbs, self.begun) {
            self.uplink_s = self.uplink_s.max(start) + bytes as f64 / (shared * 1e9);
            seconds = own.max(self.uplink_s - start);
        }
        self.work(stream, seconds).map(drop)
    }

    /// A stream goes on no sooner than an event.
    pub(crate) fn wait(&mut self, stream: usize, event: usize) -> Result<(), u32> {
        let at_s = self.events.get(&event).ok_or(400_u32)?.at_s;
        let (_, time) = self.streams.get_mut(&stream).ok_or(400_u32)?;
        *time = time.max(at_s);
        Ok(())
    }

    /// What CUDA calls device `index`.
    pub(crate) fn cuda_gpu(&self, index: i32) -> Option<usize> {
        let index = usize::try_from(index).ok()?;
        match &self.state.cuda_gpus {
            Some(shown) => shown.get(index).copied(),
            None => (index < self.state.gpus.len()).then_some(index),
        }
    }

    /// An operation on a stream that takes so long.
    pub(crate) fn work(&mut self, stream: usize, seconds: f64) -> Result<usize, u32> {
        let now = self.now_s();
        let (gpu, time) = self.streams.get_mut(&stream).ok_or(400_u32)?;
        *time = time.max(now) + seconds;
        let gpu = *gpu;
        self.operations[gpu] += 1;
        self.busy[gpu] = true;
        match self.lost(gpu) {
            true => Err(CUDA_LOST),
            false => Ok(gpu),
        }
    }

    pub(crate) fn record(&mut self, event: usize, stream: usize) -> Result<(), u32> {
        let now = self.now_s();
        let (gpu, time) = self.streams.get_mut(&stream).ok_or(400_u32)?;
        *time = time.max(now);
        let (gpu, at_s) = (*gpu, *time);
        if self.lost(gpu) {
            return Err(CUDA_LOST);
        }
        let state = &self.state.gpus[gpu];
        let stuck = state.hangs_after_tensor_s;
        let stuck = stuck.is_some_and(|s| self.tensor_s[gpu] > s);
        let polls = match (state.hangs || stuck) && self.busy[gpu] {
            true => u32::MAX,
            false if self.busy[gpu] => POLLS,
            false => 0,
        };
        let slot = self.events.get_mut(&event).ok_or(400_u32)?;
        *slot = Event { gpu, at_s, polls };
        Ok(())
    }

    /// Whether an event is done; asking brings it nearer.
    pub(crate) fn query(&mut self, event: usize) -> Result<bool, u32> {
        let now = self.begun.map(|_| self.now_s());
        let event = self.events.get_mut(&event).ok_or(400_u32)?;
        let gpu = event.gpu;
        if now.is_some_and(|now| now < event.at_s) {
            return match self.lost(gpu) {
                true => Err(CUDA_LOST),
                false => Ok(false),
            };
        }
        if event.polls > 0 {
            event.polls = match event.polls {
                u32::MAX => u32::MAX,
                n => n - 1,
            };
            return Ok(false);
        }
        self.busy[gpu] = false;
        match self.lost(gpu) {
            true => Err(CUDA_LOST),
            false => Ok(true),
        }
    }

    pub(crate) fn elapsed(&self, start: usize, end: usize) -> Option<f64> {
        let (start, end) = (self.events.get(&start)?, self.events.get(&end)?);
        Some(end.at_s - start.at_s)
    }

    /// Seconds of a host copy over the link as it is under load.
    pub(crate) fn link_seconds(&self, gpu: usize, bytes: usize) -> f64 {
        const LANE_GBS: [f64; 7] = [0.25, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563];
        let gpu = &self.state.gpus[gpu];
        let lane = LANE_GBS[(gpu.link_load[0] as usize).min(6)];
        bytes as f64 / (lane * f64::from(gpu.link_load[1]) * gpu.link_share * 1e9)
    }

    pub(crate) fn memory_seconds(&self, gpu: usize, bytes: usize) -> f64 {
        bytes as f64 / (self.state.gpus[gpu].memory_gbs * 1e9)
    }

    /// Seconds of a copy between two GPUs, and whether it damages what it carries.
    pub(crate) fn peer(&self, from: usize, to: usize, bytes: usize) -> (f64, bool) {
        let pair = self
            .state
            .pairs
            .iter()
            .find(|p| (p.from, p.to) == (from, to));
        let gbs = pair.and_then(|p| p.gbs).unwrap_or(self.state.peer_gbs);
        (bytes as f64 / (gbs * 1e9), pair.is_some_and(|p| p.flip_bit))
    }
}
