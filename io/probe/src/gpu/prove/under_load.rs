//! What NVML says while the device works: the link that is really there, and what holds clocks back.

use super::Bench;
use crate::gpu::look::clock_reasons;
use crate::gpu::sys::nvml as sys;
use crate::gpu::{GpuError, Seen};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Serialize)]
pub struct UnderLoad {
    /// The fastest state that was seen, in generation and lanes of one and the same reading.
    pub generation: Seen<u32>,
    pub width: Seen<u32>,
    /// All reasons that were seen.
    pub clock_reasons: Seen<BTreeSet<&'static str>>,
    /// The highest.
    pub power_w: Seen<f64>,
    pub temperature_c: Seen<i32>,
    pub readings: u32,
}

impl UnderLoad {
    pub(super) fn not_tried() -> UnderLoad {
        UnderLoad {
            generation: Seen::unknown("not_tried", ""),
            width: Seen::unknown("not_tried", ""),
            clock_reasons: Seen::unknown("not_tried", ""),
            power_w: Seen::unknown("not_tried", ""),
            temperature_c: Seen::unknown("not_tried", ""),
            readings: 0,
        }
    }

    /// One more reading, taken in.
    pub(super) fn read(&mut self, bench: &Bench) {
        let (nvml, index) = match (&bench.libraries.nvml, bench.nvml) {
            (Ok(nvml), Some(index)) => (nvml, index),
            (Err(error), _) => return self.unseen(error),
            // CUDA's GPU has no counterpart in NVML: a slice, or an address that is hidden
            (_, None) => return,
        };
        let gpu = match nvml.device(index) {
            Ok(gpu) => gpu,
            Err(error) => return self.unseen(&error),
        };
        self.readings += 1;
        let generation = Seen::from_driver(nvml.uint(&sys::LINK_GEN, gpu));
        let width = Seen::from_driver(nvml.uint(&sys::LINK_WIDTH, gpu));
        let speed = |g: &Seen<u32>, w: &Seen<u32>| Some((g.get()?, w.get()?));
        let known = self.generation.get().is_some();
        if !known || speed(&generation, &width) > speed(&self.generation, &self.width) {
            self.generation = generation;
            self.width = width;
        }
        let reasons = Seen::from_driver(nvml.clock_reasons(gpu)).map(clock_reasons);
        self.clock_reasons = match (&self.clock_reasons, reasons) {
            (Seen::Claimed { value }, Seen::Claimed { value: more }) => Seen::Claimed {
                value: value.iter().copied().chain(more).collect(),
            },
            (_, first) => first.map(|r| r.into_iter().collect()),
        };
        let watts = nvml.uint(&sys::POWER, gpu).map(|mw| f64::from(mw) / 1e3);
        self.power_w = higher(&self.power_w, Seen::from_driver(watts));
        self.temperature_c = higher(
            &self.temperature_c,
            Seen::from_driver(nvml.temperature(gpu)),
        );
    }

    fn unseen(&mut self, error: &GpuError) {
        self.generation = Seen::without(error);
        self.width = Seen::without(error);
        self.clock_reasons = Seen::without(error);
        self.power_w = Seen::without(error);
        self.temperature_c = Seen::without(error);
    }
}

/// The higher of two; a reading that fails after one that did not is what must be told.
fn higher<T: PartialOrd + Copy>(old: &Seen<T>, new: Seen<T>) -> Seen<T> {
    match (old.get(), new.get()) {
        (Some(o), Some(n)) if o >= n => old.clone(),
        _ => new,
    }
}
