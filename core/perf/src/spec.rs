//! The device that the work runs on: data sheet, share of the GPU, and over both what a probe measured.
//!
//! A measured value is turned into the nominal one that would explain it (copy bandwidth / usual copy
//! share, matrix rate / share of this GPU), so that the formulas need no second set of efficiencies.

use crate::PerfContext;
use crate::nofit::NoFit;
use crate::range::Class;
use lessee_model::{
    AcceleratorClass, Confidence, Form, GpuRef, GpuSpec, Machine, Msg, gpu::SpecMatch,
    probe::GpuReading, workload::Precision,
};

pub(crate) const MIB: f64 = 1024.0 * 1024.0;
pub(crate) const GIB: f64 = 1024.0 * MIB;

/// One device of a machine.
pub(crate) struct Device<'a> {
    pub(crate) spec: &'a GpuSpec,
    pub(crate) ambiguous: bool,
    /// Share of one physical GPU, 0 < x <= 1.
    pub(crate) fraction: f64,
    /// Memory as the driver reports it, bytes.
    pub(crate) memory: f64,
    /// The driver's figure is not known: `memory` is the nominal size.
    pub(crate) memory_nominal: bool,
    /// Byte/s, nominal or the nominal that explains the measurement.
    bandwidth: Option<f64>,
    /// Measured sustained BF16 matrix rate, FLOP/s.
    measured_flops: Option<f64>,
    pub(crate) measured: bool,
    cx: PerfContext<'a>,
}

/// What had to be assumed of the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateKind {
    Native,
    /// The weights are stored narrow, the products run in 16 bit.
    WeightOnly,
    /// No BF16 units: FP16 with loss scaling.
    Fp16ForBf16,
    /// No matrix units known: the plain FP32 rate.
    NoMatrixUnits,
}

/// Arithmetic rate of one device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// Dense FLOP/s.
    pub(crate) dense: f64,
    /// Share of it that a large matrix product reaches.
    pub(crate) gemm_share: f64,
    pub(crate) kind: RateKind,
}

fn slowest(
    gpus: &[GpuReading],
    pick: impl Fn(&GpuReading) -> Option<&lessee_model::probe::Reading>,
) -> Option<f64> {
    // work is spread evenly, so the slowest GPU of a machine sets the pace
    gpus.iter()
        .filter_map(|g| pick(g)?.measured())
        .min_by(f64::total_cmp)
}

fn known(x: Option<f64>) -> Option<f64> {
    x.filter(|v| v.is_finite() && *v > 0.0)
}

/// The data sheet behind a name; of a slice, that of the whole GPU. A memory size that fits no product
/// is overlooked, and said to be ambiguous, where the name alone tells the product or the memory is a
/// slice's: hosts that keep a part for themselves report less than the card has.
pub(crate) fn find_spec<'a>(
    gpu: &GpuRef,
    fraction: f64,
    cx: PerfContext<'a>,
) -> Result<SpecMatch<'a>, NoFit> {
    let sliced = fraction < 0.999;
    let found = if sliced {
        cx.gpus.spec(&GpuRef {
            memory_gb: gpu.memory_gb.map(|gb| gb / fraction),
            ..gpu.clone()
        })
    } else {
        cx.gpus.spec(gpu)
    };
    let by_name = || {
        let found = cx.gpus.spec(&GpuRef {
            memory_gb: None,
            ..gpu.clone()
        })?;
        let only_one = !found.ambiguous;
        (sliced || only_one).then_some(SpecMatch {
            // a slice of the only product of that name is no riddle
            ambiguous: found.ambiguous || !sliced,
            ..found
        })
    };
    found.or_else(by_name).ok_or_else(|| {
        NoFit::new(
            "no_spec",
            Msg::new("perf-no-spec").arg("gpu", gpu.to_string()),
        )
    })
}

impl<'a> Device<'a> {
    /// # Errors
    /// `not_a_gpu`, `no_spec`.
    pub(crate) fn of_machine(machine: &Machine, cx: PerfContext<'a>) -> Result<Device<'a>, NoFit> {
        if machine.class != AcceleratorClass::Gpu || machine.gpu_count == 0 {
            return Err(NoFit::new("not_a_gpu", Msg::new("perf-not-a-gpu")));
        }
        let share = f64::from(machine.gpu_fraction);
        let fraction = if share > 0.0 && share < 1.0 {
            share
        } else {
            1.0
        };
        let found = find_spec(&machine.gpu, fraction, cx)?;
        let spec = found.spec;
        let readings = cx.measured.map_or(&[][..], |report| &report.gpus);
        let mib = readings
            .iter()
            .filter_map(|g| g.memory_total_mib)
            .filter(|m| *m > 0)
            .min()
            .or(machine.usable_mib_each.filter(|m| *m > 0))
            .map(f64::from)
            .or_else(|| {
                let whole = f64::from(spec.usable_mib.filter(|m| *m > 0)?);
                (fraction >= 0.999).then_some(whole)
            });
        let nominal = known(machine.gpu.memory_gb).unwrap_or(spec.memory_gb * fraction) * 1e9;
        let copy_share = cx
            .tables
            .calibration
            .device_copy
            .coefficients
            .share
            .max(0.01);
        let sheet = known(spec.mem_bw_gbs).map(|x| x * 1e9 * fraction);
        // the usual share is a mean over models: one whose copies come nearer to its peak has no more than that
        let copied = slowest(readings, |g| g.memory_bandwidth_gbs.as_ref())
            .map(|x| (x * 1e9 / copy_share).min(sheet.unwrap_or(f64::INFINITY)));
        let measured_flops = slowest(readings, |g| g.tensor_tflops.as_ref()).map(|x| x * 1e12);
        Ok(Device {
            spec,
            ambiguous: found.ambiguous,
            fraction,
            memory: mib.map_or(nominal, |m| m * MIB),
            memory_nominal: mib.is_none(),
            bandwidth: copied.or(sheet),
            measured_flops,
            measured: copied.is_some() || measured_flops.is_some(),
            cx,
        })
    }

    /// The whole GPU that a user's measurement refers to; a probe of the rented machine says nothing
    /// about it.
    pub(crate) fn reference(gpu: &GpuRef, cx: PerfContext<'a>) -> Result<Device<'a>, NoFit> {
        let found = find_spec(gpu, 1.0, cx)?;
        Ok(Device {
            ambiguous: found.ambiguous,
            memory: found.spec.memory_gb * 1e9,
            memory_nominal: true,
            ..Device::of_spec(found.spec, cx)
        })
    }

    /// The whole GPU of a data sheet, with the memory that its driver is known to report.
    pub(crate) fn of_spec(spec: &'a GpuSpec, cx: PerfContext<'a>) -> Device<'a> {
        let reported = spec
            .usable_mib
            .filter(|m| *m > 0)
            .map(|m| f64::from(m) * MIB);
        Device {
            spec,
            ambiguous: false,
            fraction: 1.0,
            memory: reported.unwrap_or(spec.memory_gb * 1e9),
            memory_nominal: reported.is_none(),
            bandwidth: known(spec.mem_bw_gbs).map(|x| x * 1e9),
            measured_flops: None,
            measured: false,
            cx,
        }
    }

    /// Nominal byte/s to another GPU of the same machine, one direction: the link of modules and of bridged
    /// pairs, else PCIe (a bridge on a plain card is an option that hosts rarely have; PCIe 4.0 x16 where the data
    /// sheet is silent).
    pub(crate) fn link_one_way(&self) -> f64 {
        let linked = self.spec.form != Form::Pcie;
        match known(self.spec.link_total_bidir_gbs) {
            Some(both) if linked => both / 2.0 * 1e9,
            _ => self.slot_one_way(),
        }
    }

    /// Nominal byte/s of the card's PCIe slot, one direction; generation 4 x16 where the data sheet is silent.
    pub(crate) fn slot_one_way(&self) -> f64 {
        let generation = self.spec.pcie_gen.unwrap_or(4).clamp(1, 7);
        let lanes = f64::from(self.spec.pcie_lanes.unwrap_or(16));
        // 8 GT/s a lane in generation 3, 128 of 130 bits, doubled by each generation
        lanes * 0.985e9 * 2_f64.powi(i32::from(generation) - 3)
    }

    /// Stored bytes of one weight, scales included.
    pub(crate) fn weight_bytes(&self, precision: Precision) -> f64 {
        self.cx.tables.coefficients.bytes_per_weight.of(precision)
    }

    /// Memory bandwidth, byte/s.
    pub(crate) fn bandwidth(&self) -> Result<f64, NoFit> {
        self.bandwidth
            .ok_or_else(|| NoFit::no_rate(&self.spec.name, "memory bandwidth"))
    }

    /// FP32 rate without matrix units, FLOP/s.
    pub(crate) fn fp32(&self) -> Option<f64> {
        known(self.spec.fp32_tflops).map(|t| t * 1e12 * self.fraction)
    }

    fn is_amd(&self) -> bool {
        &*self.spec.vendor == "AMD"
    }

    fn capability(&self) -> f64 {
        self.spec
            .compute_capability
            .as_deref()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0.0)
    }

    /// # Errors
    /// `unsupported`: current software does not run on so old a GPU, whatever its rates.
    pub(crate) fn at_least_capability(&self, least: f64) -> Result<(), NoFit> {
        let own = self.capability();
        if own > 0.0 && own < least {
            return Err(NoFit::new(
                "unsupported",
                Msg::new("perf-unsupported")
                    .arg("gpu", &*self.spec.name)
                    .arg("capability", own)
                    .arg("least", least),
            ));
        }
        Ok(())
    }

    /// Share of the dense rate that a large matrix product reaches: measured for this product, else by
    /// what limits the board.
    fn gemm_share(&self, eight_bit: bool) -> f64 {
        let g = &self.cx.tables.coefficients.gemm;
        let precision = if eight_bit { "fp8" } else { "bf16" };
        let s = self.spec;
        if let Some(share) = self.measured_share(precision) {
            return share;
        }
        if self.is_amd() {
            return g.share_amd;
        }
        if s.tdp_w.is_some_and(|w| w <= g.low_power_w) {
            return g.share_low_power;
        }
        let cut_rate = match (s.fp16_tflops, s.fp32_tflops) {
            (Some(h), Some(f)) => h <= f * g.geforce_fp16_over_fp32,
            _ => false,
        };
        match (cut_rate, eight_bit) {
            (true, _) => g.share_geforce,
            (false, true) => g.share_fp8,
            (false, false) => g.share_bf16,
        }
    }

    /// Share measured on this product; else on its siblings: same model, else same architecture, of the same form.
    fn measured_share(&self, precision: &str) -> Option<f64> {
        let of = |name: &str| self.cx.tables.gemm_share(name, precision);
        let mean = |same: &dyn Fn(&GpuSpec) -> bool| {
            let all = self
                .cx
                .gpus
                .specs
                .iter()
                .filter(|s| s.form == self.spec.form && same(s));
            let (sum, n) = all
                .filter_map(|s| of(&s.name))
                .fold((0.0, 0.0), |a, x| (a.0 + x, a.1 + 1.0));
            (n > 0.0).then(|| sum / n)
        };
        of(&self.spec.name)
            .or_else(|| mean(&|s| s.model == self.spec.model))
            .or_else(|| mean(&|s| s.arch == self.spec.arch))
    }

    /// Dense rate for a number format, FLOP/s.
    ///
    /// # Errors
    /// `no_rate` where the data sheet is blank.
    pub(crate) fn rate(&self, precision: Precision) -> Result<Rate, NoFit> {
        let s = self.spec;
        let scaled = |t: f64| t * 1e12 * self.fraction;
        let half = known(s.bf16_tflops)
            .or(known(s.fp16_tflops))
            .or(self.measured_flops.map(|f| {
                // nothing on the data sheet, but the machine itself was measured
                f / self.gemm_share(false) / 1e12 / self.fraction
            }));
        // a probe moves every matrix rate by the factor by which it moves BF16
        let factor = match (self.measured_flops, half) {
            (Some(m), Some(h)) => m / (scaled(h) * self.gemm_share(false)),
            _ => 1.0,
        };
        let rate = |t: f64, eight_bit: bool, kind| Rate {
            dense: scaled(t) * factor,
            gemm_share: self.gemm_share(eight_bit),
            kind,
        };
        let no_units = || match self.fp32() {
            Some(flops) => Ok(Rate {
                dense: flops,
                gemm_share: self.gemm_share(false),
                kind: RateKind::NoMatrixUnits,
            }),
            None => Err(NoFit::no_rate(&s.name, "matrix rate")),
        };
        let narrow = |native: Option<f64>, eight_bit: bool| match (native, half) {
            // where the narrow units were cut below the 16-bit ones, engines do not use them
            (Some(n), Some(h)) if n >= h => Ok(rate(n, eight_bit, RateKind::Native)),
            (Some(n), None) => Ok(rate(n, eight_bit, RateKind::Native)),
            (_, Some(h)) => Ok(rate(h, false, RateKind::WeightOnly)),
            (None, None) => no_units(),
        };
        match precision {
            Precision::Fp32 => self
                .fp32()
                .map(|dense| Rate {
                    dense,
                    gemm_share: self.gemm_share(false),
                    kind: RateKind::Native,
                })
                .ok_or_else(|| NoFit::no_rate(&s.name, "FP32 rate")),
            Precision::Tf32 => match half {
                Some(h) if self.capability() >= 8.0 => Ok(rate(
                    h * self.cx.tables.coefficients.gemm.tf32_over_bf16,
                    false,
                    RateKind::Native,
                )),
                _ => self.rate(Precision::Fp32),
            },
            Precision::Bf16 | Precision::Fp16 => match half {
                Some(h) => {
                    let lacks = precision == Precision::Bf16 && known(s.bf16_tflops).is_none();
                    let kind = if lacks {
                        RateKind::Fp16ForBf16
                    } else {
                        RateKind::Native
                    };
                    Ok(rate(h, false, kind))
                }
                None => no_units(),
            },
            Precision::Fp8 => narrow(known(s.fp8_tflops), true),
            Precision::Int8 => narrow(known(s.int8_tops), true),
            // four-bit integers are a storage format: products run in 16 bit
            Precision::Int4 => narrow(None, false),
            Precision::Fp4 => narrow(known(s.fp4_tflops), true),
        }
    }

    /// The widest class that the hardware alone asks for. `fitted` are architectures that the
    /// calibration in question saw.
    pub(crate) fn class(&self, fitted: &[&str], kind: RateKind) -> Class {
        if self.spec.vendor.as_ref() != "NVIDIA"
            || kind == RateKind::NoMatrixUnits
            || self.capability() < 8.0
        {
            Class::Thin
        } else if fitted.contains(&&*self.spec.arch) {
            Class::Calibrated
        } else {
            Class::Outside
        }
    }

    /// What the user should know about the identity and the arithmetic of the device.
    pub(crate) fn notes(&self, kind: RateKind, notes: &mut Vec<Msg>) {
        let name = || self.spec.name.to_string();
        if self.ambiguous {
            notes.push(Msg::new("perf-ambiguous-gpu").arg("gpu", name()));
        }
        if self.spec.why.confidence == Confidence::Unverified {
            notes.push(Msg::new("perf-spec-unverified").arg("gpu", name()));
        }
        if self.fraction < 0.999 {
            notes.push(Msg::new("perf-slice").arg("share", self.fraction));
        }
        let about_rate = match kind {
            RateKind::Native => None,
            RateKind::WeightOnly => Some("perf-weight-only"),
            RateKind::Fp16ForBf16 => Some("perf-no-bf16"),
            RateKind::NoMatrixUnits => Some("perf-no-matrix-units"),
        };
        if let Some(id) = about_rate {
            notes.push(Msg::new(id).arg("gpu", name()));
        }
        if self.measured {
            notes.push(Msg::new("perf-measured"));
        }
    }
}
