//! From rows to series: one for each GPU, times filled in where the text has none.

use super::error::cut;
use super::{Format, Options, Recording, WatchError};
use lessee_supervise::curve::{GpuId, Sample, Series};
use std::collections::HashMap;

/// Quoted lines that were not understood.
const QUOTED: usize = 20;
/// Interval where nobody says one: that of `nvidia-smi dmon` and `-l 1`.
const DEFAULT_STEP_S: f64 = 1.0;

#[derive(Default)]
pub(super) struct Builder {
    at: HashMap<GpuId, usize>,
    series: Vec<Series>,
    /// Samples got their number as time.
    pub(super) counted: bool,
    /// Times are those of a clock.
    pub(super) clock: bool,
    skipped: usize,
    not_understood: Vec<(usize, String)>,
    names: Vec<String>,
}

/// The words behind which logs put the index of a GPU, or its UUID.
pub(super) fn gpu_id(text: &str) -> GpuId {
    let text = text.trim();
    match text.parse() {
        Ok(index) => GpuId::Index(index),
        Err(_) => GpuId::Name(text.chars().take(80).collect()),
    }
}

impl Builder {
    /// The series of a GPU.
    pub(super) fn gpu(&mut self, gpu: GpuId) -> &mut Vec<Sample> {
        let at = *self.at.entry(gpu).or_insert_with_key(|gpu| {
            self.series.push(Series {
                gpu: gpu.clone(),
                samples: Vec::new(),
            });
            self.series.len() - 1
        });
        &mut self.series[at].samples
    }

    /// Adds a sample; without a time it gets its number, which `finish` turns into seconds.
    pub(super) fn push(&mut self, gpu: GpuId, time_s: Option<f64>, mut sample: Sample) {
        if time_s.is_none() {
            self.counted = true;
        }
        let samples = self.gpu(gpu);
        sample.t_s = time_s.unwrap_or(samples.len() as f64);
        samples.push(sample);
    }

    pub(super) fn name(&mut self, name: &str) {
        let name = cut(name);
        if self.names.len() < 64 && !name.is_empty() && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    pub(super) fn skip(&mut self, line: usize, text: &str) {
        self.skipped += 1;
        if self.not_understood.len() < QUOTED {
            self.not_understood.push((line, cut(text)));
        }
    }

    pub(super) fn finish(
        mut self,
        file: &str,
        format: Format,
        options: &Options,
    ) -> Result<Recording, WatchError> {
        self.series.retain(|s| !s.samples.is_empty());
        if self.series.is_empty() {
            return Err(WatchError::NoSamples {
                file: file.to_owned(),
                format: format.as_str(),
            });
        }
        self.series.sort_by(|a, b| a.gpu.cmp(&b.gpu));
        fn samples(series: &mut [Series]) -> impl Iterator<Item = &mut Sample> {
            series.iter_mut().flat_map(|s| &mut s.samples)
        }
        let mut start_s = None;
        if self.counted {
            let step = options.sample_s.unwrap_or(DEFAULT_STEP_S);
            samples(&mut self.series).for_each(|s| s.t_s *= step);
        } else if self.clock {
            let times = samples(&mut self.series)
                .map(|s| s.t_s)
                .filter(|t| t.is_finite());
            let first = times.fold(f64::INFINITY, f64::min);
            if first.is_finite() {
                samples(&mut self.series).for_each(|s| s.t_s -= first);
                start_s = Some(first);
            }
        }
        let mut recording = Recording {
            format,
            series: self.series,
            assumed_step_s: (self.counted && options.sample_s.is_none()).then_some(DEFAULT_STEP_S),
            start_s,
            skipped: self.skipped,
            not_understood: self.not_understood,
            names: self.names,
        };
        if let Some(watts) = options.power_limit_w {
            recording.assume_power_limit(watts);
        }
        Ok(recording)
    }
}
