//! Rows about training of language models: `tokens_s_per_gpu`, `model_tflops_per_gpu`, `mfu_pct`.
//!
//! `parallelism` is read as vendors' tables and trainers' logs write it: `TP4 PP8 CP1 VP5 EP8 FSDP64`,
//! `FSDP FULL_SHARD actckpt=True gradaccum=4`, `DDP`. A row with tensor, pipeline or expert parallelism, or of a
//! vendor's table, belongs to the tuned tier. A network that is not known is put in usual proportions where the
//! row has `params`.

use super::{Row, TableContext, names};
use crate::NoFit;
use crate::formula::Question;
use crate::formula::train_llm::{
    Coefficients, Format, Measure, Processor, Query, Shape, Split, Tier, Trained, Wiring, Work,
};
use crate::spec::{Device, Rate, RateKind};
use crate::train::shape::{shape, usual};
use lessee_model::{Form, GpuSpec, workload::Precision};

/// Vocabulary of a network of which only the size is known.
const USUAL_VOCAB: f64 = 50_000.0;

/// # Errors
/// `no_spec`, `no_rate`, `model_unsuitable`.
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let spec = names::gpu(&row.gpu, cx)?;
    let c = &cx.perf.tables.calibration.train_llm.coefficients;
    let (shape, context) = network(row, cx)?;
    let words = Words::of(row);
    let tier = words.tier(row);
    let gpu = processor(spec, number_format(&row.precision, tier), cx)?;
    let work = Work {
        sequence: row.seq_len.unwrap_or(context.min(2048.0)),
        recompute: words.recompute(),
        trained: words.trained(row),
    };
    let gpus = row.n_gpu.unwrap_or(1.0).max(1.0);
    let wiring = wiring(spec, gpus, row.nodes, c);
    let split = words.split(row, gpus, &shape, &wiring);
    let measure = measure(row, &shape, &work, &gpu, tier);
    let arch = spec.arch.to_string();
    Ok(Box::new(Query {
        arch,
        tier,
        gpu,
        shape,
        work,
        wiring,
        split,
        measure,
    }))
}

/// Dimensions, and the longest context.
fn network(row: &Row, cx: TableContext<'_>) -> Result<(Shape, f64), NoFit> {
    // variants stand in brackets behind the name
    let name = row.model.split('(').next().unwrap_or("");
    match (cx.models.resolve(name), row.params.filter(|p| *p > 1e6)) {
        (Some(model), _) => Ok((shape(model)?, model.context.unwrap_or(2048.0))),
        (None, Some(params)) => Ok((usual(params, USUAL_VOCAB), 2048.0)),
        (None, None) => names::model(row, cx).and_then(|m| Ok((shape(m)?, 2048.0))),
    }
}

/// The number format of a table's `precision`. Where a vendor's table is silent it means FP8 on GPUs that have it.
fn number_format(precision: &str, tier: Tier) -> (Precision, Format) {
    let p = precision.to_ascii_lowercase();
    if p.contains("fp4") && !p.contains("nf4") {
        (Precision::Fp4, Format::Fp4)
    } else if p.contains("mx") && !p.contains("cs") {
        (Precision::Fp8, Format::MxFp8)
    } else if p.contains("fp8") || (p.is_empty() && tier == Tier::Tuned) {
        (Precision::Fp8, Format::Fp8)
    } else if p.contains("tf32") {
        (Precision::Tf32, Format::Half)
    } else if p.contains("fp32") {
        (Precision::Fp32, Format::Half)
    } else {
        (Precision::Bf16, Format::Half)
    }
}

/// # Errors
/// `no_rate`.
pub(super) fn processor(
    spec: &GpuSpec,
    (precision, format): (Precision, Format),
    cx: TableContext<'_>,
) -> Result<Processor, NoFit> {
    let device = Device::of_spec(spec, cx.perf);
    let half = device.rate(Precision::Bf16)?;
    let rate = device.rate(precision)?;
    Ok(in_numbers(rate, format, half, device.bandwidth()?))
}

/// Where the GPU lacks units for the narrow format, products run in 16 bit.
pub(crate) fn in_numbers(rate: Rate, format: Format, half: Rate, bandwidth: f64) -> Processor {
    let narrow = rate.kind == RateKind::Native;
    Processor {
        matrix: rate.dense,
        format: if narrow { format } else { Format::Half },
        gemm_share: rate.gemm_share,
        half: half.dense,
        bandwidth,
    }
}

/// Links inside a machine, or inside a rack of superchips.
pub(super) fn wiring(spec: &GpuSpec, gpus: f64, machines: Option<f64>, c: &Coefficients) -> Wiring {
    let machine = machines
        .filter(|m| *m >= 1.0)
        .map_or(c.machine_gpus, |m| (gpus / m).max(1.0))
        .min(gpus);
    let one_way = spec
        .link_total_bidir_gbs
        .filter(|x| x.is_finite() && *x > 0.0)
        .map(|both| both / 2.0 * 1e9);
    let meshed = match spec.form {
        Form::Sxm | Form::Oam | Form::Superchip | Form::Chip => true,
        // bridges join pairs
        Form::Pcie | Form::Nvl => machine <= 2.0,
    };
    let link = one_way.filter(|_| meshed);
    let rack = spec.form == Form::Superchip && link.is_some_and(|x| x >= c.rack_link);
    Wiring {
        link,
        domain: if rack { c.rack_gpus.min(gpus) } else { machine },
        pcie_gen: f64::from(spec.pcie_gen.unwrap_or(4)),
    }
}

fn measure(row: &Row, n: &Shape, work: &Work, gpu: &Processor, tier: Tier) -> Measure {
    let attention = 12.0 * n.layers * n.attention_width * work.sequence;
    let products = match work.trained {
        Trained::All => 6.0,
        Trained::Adapters | Trained::AdaptersOnFourBit => 4.0,
    };
    // trainers count all parameters and attention as if nothing were masked, vendors what is multiplied
    let flops = match (tier, work.trained) {
        (Tier::Renter, _) => 6.0 * n.multiplied + attention,
        (Tier::Tuned, Trained::All) => products * n.multiplied + attention / 2.0,
        (Tier::Tuned, _) => products * n.multiplied,
    };
    match row.metric.as_str() {
        "mfu_pct" => Measure::Utilisation {
            flops,
            peak: gpu.matrix,
        },
        "model_tflops_per_gpu" => Measure::Teraflops { flops },
        _ => Measure::Tokens,
    }
}

/// The words of `parallelism`, and what other columns say of the stack.
struct Words {
    parallelism: Vec<String>,
    hints: String,
}

impl Words {
    fn of(row: &Row) -> Words {
        let text = row.parallelism.to_ascii_lowercase();
        let hints =
            format!("{} {} {} {text}", row.source, row.note, row.model).to_ascii_lowercase();
        Words {
            parallelism: text.split_whitespace().map(str::to_owned).collect(),
            hints,
        }
    }

    /// `tp4`, `tp=4`, `fsdp64`, `gradaccum=4`.
    fn number(&self, key: &str) -> Option<f64> {
        self.parallelism.iter().find_map(|word| {
            let rest = word.strip_prefix(key)?;
            rest.trim_start_matches(['=', '-', ':'])
                .parse::<f64>()
                .ok()
                .filter(|x| *x >= 0.0)
        })
    }

    fn has(&self, any: &[&str]) -> bool {
        any.iter().any(|hint| self.hints.contains(hint))
    }

    fn tier(&self, row: &Row) -> Tier {
        let model_parallel = ["tp", "pp", "ep", "cp"]
            .iter()
            .any(|key| self.number(key).is_some());
        let vendor = row.source.to_ascii_lowercase();
        if model_parallel || ["megatron", "nemo"].iter().any(|v| vendor.contains(v)) {
            Tier::Tuned
        } else {
            Tier::Renter
        }
    }

    fn recompute(&self) -> bool {
        self.has(&[
            "actckpt=true",
            "ckpt=true",
            "checkpointing=true",
            "recompute=full",
        ])
    }

    fn trained(&self, row: &Row) -> Trained {
        let four_bit = ["nf4", "int4"]
            .iter()
            .any(|p| row.precision.to_lowercase().contains(p));
        match (self.has(&["qlora"]) || four_bit, self.has(&["lora"])) {
            (true, _) => Trained::AdaptersOnFourBit,
            (false, true) => Trained::Adapters,
            (false, false) => Trained::All,
        }
    }

    fn split(&self, row: &Row, gpus: f64, shape: &Shape, wiring: &Wiring) -> Split {
        let at_least_one = |key: &str| self.number(key).unwrap_or(1.0).max(1.0);
        let (tensor, pipeline, context) =
            (at_least_one("tp"), at_least_one("pp"), at_least_one("cp"));
        let replicas = (gpus / (tensor * pipeline * context)).max(1.0);
        let micro_batch = row.micro_batch.unwrap_or(1.0).max(1e-3);
        let steps = row
            .global_batch
            .map(|batch| batch / (replicas * micro_batch));
        let whole = self.has(&["ddp", "no_shard", "zero1", "zero-1", "zero2", "zero-2"]);
        let shards = match self.number("fsdp") {
            Some(n) => n.max(1.0),
            None if self.tier(row) == Tier::Tuned || whole => 1.0,
            None if self.has(&["hybrid_shard"]) => wiring.domain,
            None => gpus,
        };
        let expert = match (self.number("ep"), shape.routed > 0.0) {
            (Some(n), _) => n.max(1.0),
            (None, true) => gpus.min(wiring.domain),
            (None, false) => 1.0,
        };
        Split {
            gpus,
            tensor,
            pipeline,
            interleave: at_least_one("vp"),
            context,
            expert,
            shards,
            micro_batch,
            micro_steps: steps.or(self.number("gradaccum")).unwrap_or(1.0).max(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parallelism: &str, note: &str) -> (Words, Row) {
        let row = Row {
            parallelism: parallelism.into(),
            note: note.into(),
            global_batch: Some(256.0),
            micro_batch: Some(1.0),
            ..Row::default()
        };
        (Words::of(&row), row)
    }

    const DENSE: Shape = Shape {
        layers: 1.0,
        hidden: 1.0,
        attention_width: 1.0,
        multiplied: 1.0,
        params: 1.0,
        vocab: 1.0,
        routed: 0.0,
    };
    const MESH: Wiring = Wiring {
        link: Some(1.0),
        domain: 8.0,
        pcie_gen: 5.0,
    };

    #[test]
    fn vendors_and_trainers_write_parallelism_differently() {
        let (w, row) = words(
            "TP4 PP8 CP1 VP5 EPn/a FSDP0 GA64",
            "Pre-Training Performance",
        );
        let s = w.split(&row, 64.0, &DENSE, &MESH);
        assert_eq!(
            (s.tensor, s.pipeline, s.interleave, s.shards),
            (4.0, 8.0, 5.0, 1.0)
        );
        // 64 / 32 replicas, 256 sequences
        assert_eq!(s.micro_steps, 128.0);
        assert_eq!(w.tier(&row), Tier::Tuned);
        let (w, row) = words("FSDP FULL_SHARD actckpt=True gradaccum=4", "");
        let s = w.split(&row, 64.0, &DENSE, &MESH);
        assert_eq!((s.tensor, s.shards, s.micro_steps), (1.0, 64.0, 4.0));
        assert_eq!((w.tier(&row), w.recompute()), (Tier::Renter, true));
        // the second of two settings stands in brackets and is not read
        let (w, row) = words("TP1 (2) PP1 (4) FSDP64 (0)", "");
        assert_eq!(w.split(&row, 64.0, &DENSE, &MESH).shards, 64.0);
        assert_eq!(
            words("DDP", "").0.split(&row, 8.0, &DENSE, &MESH).shards,
            1.0
        );
    }

    #[test]
    fn methods_and_formats_are_read_from_any_column() {
        let (w, row) = words("", "LoRA Performance");
        assert_eq!(w.trained(&row), Trained::Adapters);
        let (w, row) = words("QLoRA", "");
        assert_eq!(w.trained(&row), Trained::AdaptersOnFourBit);
        for (text, format) in [
            ("MXFP8", Format::MxFp8),
            ("FP8-CS (FP8-MX)", Format::Fp8),
            ("FP8-MX", Format::MxFp8),
            ("amp_fp8", Format::Fp8),
            ("NVFP4", Format::Fp4),
            ("amp_bf16", Format::Half),
        ] {
            assert_eq!(number_format(text, Tier::Renter).1, format, "{text}");
        }
        assert_eq!(number_format("", Tier::Tuned).1, Format::Fp8);
        assert_eq!(number_format("", Tier::Renter).1, Format::Half);
    }
}
