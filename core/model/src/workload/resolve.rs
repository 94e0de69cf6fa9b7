//! What was typed -> what it means: names become models and GPUs, missing fields become stated defaults.

mod bounds;
mod defaults;
mod fields;
mod sizes;
mod terms;

pub use defaults::Defaults;
use sizes::on_disk;
pub use sizes::{checkpoint_bytes, lora_params};

use super::*;
use crate::{GpuTable, ModelKind, ModelTable, Msg};
use jiff::tz::TimeZone;

/// What names in a workload can refer to, and where the text came from.
#[derive(Clone, Copy)]
pub struct ResolveContext<'a> {
    pub gpus: &'a GpuTable,
    pub models: &'a ModelTable,
    pub defaults: &'a Defaults,
    /// File name for errors, and its text for line numbers (empty if it came from flags alone).
    pub place: &'a str,
    pub text: &'a str,
    /// The user's time zone, for a start without an offset.
    pub zone: &'a TimeZone,
}

struct Resolver<'a> {
    cx: ResolveContext<'a>,
    assumed: Vec<Assumed>,
}

type Out<T> = Result<T, WorkloadError>;

impl<'a> Resolver<'a> {
    fn train(
        &mut self,
        section: &str,
        file: &TrainFile,
        custom: Option<&ModelFile>,
    ) -> Out<TrainJob> {
        let path = |field: &str| format!("{section}.{field}");
        let d = self.cx.defaults;
        let model = self.model(&path("model"), file.model.as_deref(), custom)?;
        let tokens_count = model.kind == ModelKind::Llm;
        let epochs = self.not_negative(&path("epochs"), file.epochs)?;
        let epochs = self.or_number(&path("epochs"), epochs, d.get("train.epochs"));
        let default_seq = if model.kind == ModelKind::Encoder {
            "train.encoder_seq_len"
        } else {
            "train.seq_len"
        };
        let seq_len = match (
            tokens_count || model.kind == ModelKind::Encoder,
            file.seq_len,
        ) {
            (true, given) => {
                self.or_number(&path("seq_len"), given.map(|c| c.0), d.get(default_seq))
            }
            (false, _) => 1.0,
        };
        let per_epoch = if tokens_count {
            match (file.tokens, file.samples) {
                (Some(tokens), _) => tokens.0,
                (None, Some(samples)) => samples.0 * seq_len,
                (None, None) => return self.missing(&path("tokens")),
            }
        } else {
            match file.samples {
                Some(samples) => samples.0,
                None => return self.missing(&path("samples")),
            }
        };
        let units = self.need_positive(
            &path(if tokens_count { "tokens" } else { "samples" }),
            Some(per_epoch * epochs),
        )?;
        let method = self.or(&path("method"), file.method, Method::Full, "full");
        let rank = d.get("train.lora_rank");
        let lora_rank = match (method, file.lora_rank) {
            (_, Some(rank)) => rank.0,
            (Method::Full, None) => rank,
            (_, None) => self.or_number(&path("lora_rank"), None, rank),
        };
        Ok(TrainJob {
            model,
            method,
            precision: self.or(&path("precision"), file.precision, Precision::Bf16, "bf16"),
            units,
            seq_len: self.need_positive(&path("seq_len"), Some(seq_len))?,
            global_batch: file.global_batch.map(|c| c.0).filter(|x| *x > 0.0),
            optimizer: self.or(
                &path("optimizer"),
                file.optimizer,
                Optimizer::Adamw,
                "adamw",
            ),
            activation_checkpointing: match file.activation_checkpointing {
                Some(Switch::On) => Some(true),
                Some(Switch::Off) => Some(false),
                _ => None,
            },
            sharding: self.or(&path("sharding"), file.sharding, Sharding::Auto, "auto"),
            lora_rank,
            lora_fraction: d.get("train.lora_fraction"),
            ffn_ratio: d.get("model.ffn_ratio"),
            cpu_seconds_per_sample: self
                .not_negative(&path("cpu_seconds_per_sample"), file.cpu_seconds_per_sample)?,
        })
    }

    fn job(&mut self, file: &WorkloadFile, kind: Kind) -> Out<Job> {
        let d = self.cx.defaults;
        let custom = file.model.as_ref();
        match kind {
            Kind::Train | Kind::Finetune => {
                let section = kind.as_str();
                let part = if kind == Kind::Train {
                    &file.train
                } else {
                    &file.finetune
                };
                let Some(part) = part else {
                    return self.missing(section);
                };
                Ok(Job::Train(self.train(section, part, custom)?))
            }
            Kind::Sweep => {
                let Some(sweep) = &file.sweep else {
                    return self.missing("sweep");
                };
                let trials = self.need_positive("sweep.trials", sweep.trials.map(|c| c.0))?;
                let trial = match (&sweep.trial, sweep.hours_per_trial) {
                    (Some(trial), _) => {
                        Trial::Train(Box::new(self.train("sweep.trial", trial, custom)?))
                    }
                    (None, Some(hours)) => Trial::Hours {
                        hours: self.need_positive("sweep.hours_per_trial", Some(hours))?,
                        gpu: self.gpu("sweep.gpu", sweep.gpu.as_deref())?,
                        memory: self.memory_like(
                            "sweep.memory",
                            sweep.memory,
                            sweep.gpu.as_deref(),
                        ),
                    },
                    (None, None) => return self.missing("sweep.hours_per_trial"),
                };
                let gpus = self.or_number(
                    "sweep.gpus_per_trial",
                    sweep.gpus_per_trial.map(|c| c.0),
                    1.0,
                );
                Ok(Job::Sweep(SweepJob {
                    trials: trials.min(1e9) as u32,
                    parallel: sweep.parallel.map(|c| c.0.clamp(1.0, 1e9) as u32),
                    gpus_per_trial: gpus.clamp(1.0, 4096.0) as u32,
                    trial,
                }))
            }
            Kind::Serve => {
                let Some(serve) = &file.serve else {
                    return self.missing("serve");
                };
                let rate = self.need_positive("serve.rate", serve.rate)?;
                let peak = self.not_negative("serve.peak_rate", serve.peak_rate)?;
                let peak = self.or_number("serve.peak_rate", peak, rate);
                let tpot = self.or_number("serve.tpot_ms", serve.tpot_ms, d.get("serve.tpot_ms"));
                let input = self.or_number(
                    "serve.input_tokens",
                    serve.input_tokens.map(|c| c.0),
                    d.get("serve.input_tokens"),
                );
                let output = self.or_number(
                    "serve.output_tokens",
                    serve.output_tokens.map(|c| c.0),
                    d.get("serve.output_tokens"),
                );
                let hours = d.get("serve.duration_h");
                let duration = self.or(
                    "serve.duration",
                    serve.duration,
                    Seconds(hours * 3600.0),
                    format!("{hours}h"),
                );
                Ok(Job::Serve(ServeJob {
                    model: self.model("serve.model", serve.model.as_deref(), custom)?,
                    precision: self.or("serve.precision", serve.precision, Precision::Bf16, "bf16"),
                    kv_precision: self.or(
                        "serve.kv_precision",
                        serve.kv_precision,
                        Precision::Fp16,
                        "fp16",
                    ),
                    rate,
                    peak_rate: peak.max(rate),
                    input_tokens: self.need_positive("serve.input_tokens", Some(input))?,
                    output_tokens: self.need_positive("serve.output_tokens", Some(output))?,
                    tpot: Seconds(self.need_positive("serve.tpot_ms", Some(tpot))? / 1000.0),
                    ttft: self
                        .not_negative("serve.ttft_ms", serve.ttft_ms)?
                        .map(|ms| Seconds(ms / 1000.0)),
                    duration: Seconds(self.need_positive("serve.duration", Some(duration.0))?),
                    min_replicas: self
                        .or_number(
                            "serve.min_replicas",
                            serve.min_replicas.map(|c| c.0),
                            d.get("serve.min_replicas"),
                        )
                        .clamp(1.0, 1e6) as u32,
                }))
            }
            Kind::Render => {
                let Some(render) = &file.render else {
                    return self.missing("render");
                };
                let reference = match (render.blender_score, render.gpu.as_deref()) {
                    (Some(score), _) => RenderReference::BlenderScore(
                        self.need_positive("render.blender_score", Some(score))?,
                    ),
                    (None, gpu) => RenderReference::Gpu(self.gpu("render.gpu", gpu)?),
                };
                let mut licences = Vec::new();
                for (i, licence) in render.licences.iter().flatten().enumerate() {
                    if licence.per_node_hour.is_some() == licence.per_node_month.is_some() {
                        return self.fail(
                            "render.licences",
                            Msg::new("workload-licence-price")
                                .arg("index", i + 1)
                                .arg("name", licence.name.clone()),
                            None,
                        );
                    }
                    licences.push(Licence {
                        name: licence.name.clone(),
                        per_node_hour: licence.per_node_hour,
                        per_node_month: licence.per_node_month,
                    });
                }
                let memory = d.get("render.memory_gb");
                let out = d.get("render.output_per_frame_mb");
                Ok(Job::Render(RenderJob {
                    frames: self.need_positive("render.frames", render.frames.map(|c| c.0))?,
                    seconds_per_frame: self
                        .need_positive("render.seconds_per_frame", render.seconds_per_frame)?,
                    reference,
                    memory: self.or(
                        "render.memory",
                        render.memory,
                        Bytes::from_gb(memory),
                        format!("{memory}GB"),
                    ),
                    engine: match &render.engine {
                        Some(engine) => engine.clone(),
                        None => self
                            .or("render.engine", None, "cycles", "cycles")
                            .to_owned(),
                    },
                    output_per_frame: self.or(
                        "render.output_per_frame",
                        render.output_per_frame,
                        Bytes(out * 1e6),
                        format!("{out}MB"),
                    ),
                    licences,
                }))
            }
            Kind::Hours => {
                let Some(hours) = &file.hours else {
                    return self.missing("hours");
                };
                Ok(Job::Hours(HoursJob {
                    gpu_hours: self.need_positive("hours.gpu_hours", hours.gpu_hours)?,
                    gpu: self.gpu("hours.gpu", hours.gpu.as_deref())?,
                    gpus: self
                        .or_number("hours.gpus", hours.gpus.map(|c| c.0), 1.0)
                        .clamp(1.0, 65536.0) as u32,
                    memory: self.memory_like("hours.memory", hours.memory, hours.gpu.as_deref()),
                    leans_on: self.or(
                        "hours.leans_on",
                        hours.leans_on,
                        LeansOn::Balanced,
                        "balanced",
                    ),
                }))
            }
        }
    }
}

/// Fills in defaults and resolves names.
///
/// # Errors
/// A needed field is missing, a name is not known, a value makes no sense; each with its line where the
/// workload came from a file.
pub fn resolve(file: &WorkloadFile, cx: ResolveContext<'_>) -> Result<Workload, WorkloadError> {
    let mut r = Resolver {
        cx,
        assumed: Vec::new(),
    };
    let kind = match file.kind {
        Some(kind) => kind,
        None => return r.missing("kind"),
    };
    let sections = [
        (Kind::Train, file.train.is_some()),
        (Kind::Finetune, file.finetune.is_some()),
        (Kind::Sweep, file.sweep.is_some()),
        (Kind::Serve, file.serve.is_some()),
        (Kind::Render, file.render.is_some()),
        (Kind::Hours, file.hours.is_some()),
    ];
    if let Some((other, _)) = sections.iter().find(|(k, there)| *there && *k != kind) {
        return r.fail(
            other.as_str(),
            Msg::new("workload-wrong-section")
                .arg("section", other.as_str())
                .arg("kind", kind.as_str()),
            None,
        );
    }
    r.check_bounds(file)?;
    let start = r.start(file)?;
    let job = r.job(file, kind)?;
    let data = r.data(file, &job)?;
    let checkpoint = r.checkpoint(file, &job);
    let constraints = r.constraints(file)?;
    let setup = r.setup(file, on_disk(&job, &data, checkpoint.as_ref()))?;
    let money = r.money(file)?;
    Ok(Workload {
        name: file
            .name
            .clone()
            .unwrap_or_else(|| kind.as_str().to_owned()),
        start,
        kind,
        job,
        data,
        checkpoint,
        constraints,
        setup,
        money,
        assumed: r.assumed,
    })
}
