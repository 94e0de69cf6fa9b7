//! What was typed -> what it means: names become models and GPUs, missing fields become stated defaults.

use super::*;
use crate::{Count, GpuTable, ModelKind, ModelTable, Msg, Provenance, parse_percent};
use std::collections::HashMap;

/// Values of `data/defaults.toml`: section -> name -> number (nested sections joined by a dot).
#[derive(Clone, Debug, Default)]
pub struct Defaults(HashMap<String, f64>);

impl Defaults {
    /// # Errors
    /// The text is not TOML.
    pub fn from_toml(text: &str) -> Result<Defaults, String> {
        let table: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        let mut out = HashMap::new();
        flatten("", &toml::Value::Table(table), &mut out);
        Ok(Defaults(out))
    }

    /// The default at a path such as `setup.ready.labour_hours`.
    pub fn get(&self, path: &str) -> f64 {
        self.0.get(path).copied().unwrap_or(0.0)
    }
}

fn flatten(prefix: &str, value: &toml::Value, out: &mut HashMap<String, f64>) {
    match value {
        toml::Value::Table(table) => {
            for (name, inner) in table {
                let path = if prefix.is_empty() {
                    name.clone()
                } else {
                    format!("{prefix}.{name}")
                };
                flatten(&path, inner, out);
            }
        }
        other => {
            if let Some(x) = other
                .as_float()
                .or_else(|| other.as_integer().map(|i| i as f64))
            {
                out.insert(prefix.to_owned(), x);
            }
        }
    }
}

/// What names in a workload can refer to, and where the text came from.
#[derive(Clone, Copy)]
pub struct ResolveContext<'a> {
    pub gpus: &'a GpuTable,
    pub models: &'a ModelTable,
    pub defaults: &'a Defaults,
    /// File name for errors, and its text for line numbers (empty if it came from flags alone).
    pub place: &'a str,
    pub text: &'a str,
}

struct Resolver<'a> {
    cx: ResolveContext<'a>,
    assumed: Vec<Assumed>,
}

type Out<T> = Result<T, WorkloadError>;

impl<'a> Resolver<'a> {
    fn fail<T>(&self, path: &str, problem: Msg, hint: Option<Msg>) -> Out<T> {
        // the nearest existing ancestor gives the line when the field itself is missing
        let mut line = None;
        let mut at = path;
        while line.is_none() && !at.is_empty() {
            line = locate(self.cx.text, at);
            at = at.rsplit_once('.').map_or("", |(head, _)| head);
        }
        Err(WorkloadError {
            line,
            field: Some(path.to_owned()),
            hint,
            ..WorkloadError::new(self.cx.place, problem)
        })
    }

    fn missing<T>(&self, path: &str) -> Out<T> {
        self.fail(
            path,
            Msg::new("workload-missing").arg("field", path),
            Some(
                Msg::new("workload-hint-flag")
                    .arg("flag", format!("--{}", path.replace(['.', '_'], "-"))),
            ),
        )
    }

    fn or<T: Copy>(
        &mut self,
        path: &str,
        given: Option<T>,
        default: T,
        shown: impl Into<String>,
    ) -> T {
        given.unwrap_or_else(|| {
            self.assumed.push(Assumed {
                field: path.to_owned(),
                value: shown.into(),
            });
            default
        })
    }

    fn or_number(&mut self, path: &str, given: Option<f64>, default: f64) -> f64 {
        self.or(path, given, default, default.to_string())
    }

    fn need_positive(&self, path: &str, given: Option<f64>) -> Out<f64> {
        match given {
            None => self.missing(path),
            Some(x) if x.is_finite() && x > 0.0 => Ok(x),
            Some(x) => self.fail(
                path,
                Msg::new("workload-not-positive")
                    .arg("field", path)
                    .arg("value", x.to_string()),
                None,
            ),
        }
    }

    fn not_negative(&self, path: &str, given: Option<f64>) -> Out<Option<f64>> {
        match given {
            Some(x) if !x.is_finite() || x < 0.0 => self.fail(
                path,
                Msg::new("workload-negative")
                    .arg("field", path)
                    .arg("value", x.to_string()),
                None,
            ),
            other => Ok(other),
        }
    }

    fn percent(&mut self, path: &str, given: Option<&str>) -> Out<Option<f64>> {
        match given {
            None => Ok(None),
            Some(text) => match parse_percent(text) {
                Ok(x) => Ok(Some(x)),
                Err(e) => self.fail(
                    path,
                    Msg::new("workload-bad-value").arg("detail", e.to_string()),
                    None,
                ),
            },
        }
    }

    fn gpu(&self, path: &str, name: Option<&str>) -> Out<GpuRef> {
        let Some(name) = name else {
            return self.missing(path);
        };
        match self.cx.gpus.resolve(name) {
            Some(gpu) => Ok(gpu),
            None => {
                let hint = self
                    .cx
                    .gpus
                    .suggest(name)
                    .map(|best| Msg::new("hint-did-you-mean").arg("word", best));
                self.fail(
                    path,
                    Msg::new("workload-unknown-gpu").arg("name", name),
                    hint,
                )
            }
        }
    }

    fn model(&self, path: &str, name: Option<&str>, custom: Option<&ModelFile>) -> Out<ModelSpec> {
        match (name, custom) {
            (None, None) => self.missing(path),
            (None, Some(file)) => self.custom_model(file),
            (Some("custom"), Some(file)) => self.custom_model(file),
            (Some("custom"), None) => self.missing("model.params"),
            (Some(name), _) => match self.cx.models.resolve(name) {
                Some(model) => Ok(model.clone()),
                None => {
                    let hint = match self.cx.models.suggest(name) {
                        Some(best) => Msg::new("hint-did-you-mean").arg("word", best),
                        None => Msg::new("workload-hint-custom-model"),
                    };
                    self.fail(
                        path,
                        Msg::new("workload-unknown-model").arg("name", name),
                        Some(hint),
                    )
                }
            },
        }
    }

    fn custom_model(&self, file: &ModelFile) -> Out<ModelSpec> {
        let kind = file.kind.unwrap_or(ModelKind::Llm);
        let params = self.need_positive("model.params", file.params.map(|c| c.0))?;
        let n = |c: Option<Count>| c.map(|c| c.0).filter(|x| *x > 0.0);
        if kind == ModelKind::Llm {
            self.need_positive("model.layers", n(file.layers))?;
            self.need_positive("model.hidden", n(file.hidden))?;
        } else {
            self.need_positive("model.forward_gflops", file.forward_gflops)?;
        }
        Ok(ModelSpec {
            name: "custom".into(),
            kind,
            params,
            active_params: n(file.active_params).unwrap_or(params).min(params),
            layers: n(file.layers),
            hidden: n(file.hidden),
            // head size 128 is what nearly all current language models use
            heads: n(file.heads).or_else(|| n(file.hidden).map(|h| (h / 128.0).max(1.0).floor())),
            kv_heads: n(file.kv_heads),
            head_dim: n(file.head_dim),
            ffn: n(file.ffn),
            vocab: n(file.vocab),
            experts: n(file.experts),
            experts_per_token: n(file.experts_per_token),
            kv_bytes_per_token: n(file.kv_bytes_per_token),
            context: n(file.context),
            forward_gflops: file.forward_gflops,
            why: Provenance::user("[model]"),
        })
    }

    fn train(
        &mut self,
        section: &str,
        file: &TrainFile,
        custom: Option<&ModelFile>,
        finetune: bool,
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
        let method = match (file.method, finetune) {
            (Some(method), _) => method,
            (None, true) => self.or(&path("method"), None, Method::Full, "full"),
            (None, false) => Method::Full,
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
            sharding: file.sharding.unwrap_or(Sharding::Auto),
            lora_rank: file.lora_rank.map_or(d.get("train.lora_rank"), |c| c.0),
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
                Ok(Job::Train(self.train(
                    section,
                    part,
                    custom,
                    kind == Kind::Finetune,
                )?))
            }
            Kind::Sweep => {
                let Some(sweep) = &file.sweep else {
                    return self.missing("sweep");
                };
                let trials = self.need_positive("sweep.trials", sweep.trials.map(|c| c.0))?;
                let trial = match (&sweep.trial, sweep.hours_per_trial) {
                    (Some(trial), _) => {
                        Trial::Train(Box::new(self.train("sweep.trial", trial, custom, true)?))
                    }
                    (None, Some(hours)) => Trial::Hours {
                        hours: self.need_positive("sweep.hours_per_trial", Some(hours))?,
                        gpu: self.gpu("sweep.gpu", sweep.gpu.as_deref())?,
                        memory: sweep.memory.unwrap_or(Bytes::ZERO),
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
                    peak_rate: peak.unwrap_or(rate).max(rate),
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
                    engine: render.engine.clone().unwrap_or_else(|| "cycles".to_owned()),
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
                    memory: hours.memory.unwrap_or(Bytes::ZERO),
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

    fn data(&mut self, file: &WorkloadFile, job: &Job) -> Out<Data> {
        let part = file.data.clone().unwrap_or_default();
        let d = self.cx.defaults;
        let location = match part.location.as_deref() {
            None if part.size.is_none() => Location::Internet,
            None => {
                self.assumed.push(Assumed {
                    field: "data.location".into(),
                    value: "office".into(),
                });
                Location::Office
            }
            Some("office") => Location::Office,
            Some("internet") => Location::Internet,
            Some(text) => {
                let (provider, region) = text
                    .split_once(':')
                    .map_or((text, None), |(p, r)| (p, Some(r)));
                if provider.trim().is_empty() || region.is_some_and(|r| r.trim().is_empty()) {
                    return self.fail(
                        "data.location",
                        Msg::new("workload-bad-location").arg("value", text),
                        None,
                    );
                }
                Location::Provider {
                    provider: provider.trim().to_lowercase(),
                    region: region.map(|r| r.trim().to_owned()),
                }
            }
        };
        // a language model's corpus is as large as its tokens unless said otherwise
        let (derived_size, epochs) = match job {
            Job::Train(t) if t.counts_tokens() => {
                let epochs = file
                    .train
                    .as_ref()
                    .or(file.finetune.as_ref())
                    .and_then(|t| t.epochs)
                    .unwrap_or(1.0)
                    .max(1e-9);
                (t.units / epochs * d.get("data.bytes_per_token"), epochs)
            }
            Job::Train(_) => (
                0.0,
                file.train
                    .as_ref()
                    .or(file.finetune.as_ref())
                    .and_then(|t| t.epochs)
                    .unwrap_or(1.0),
            ),
            _ => (0.0, 1.0),
        };
        let size = match part.size {
            Some(size) => size,
            None if derived_size > 0.0 => self.or(
                "data.size",
                None,
                Bytes(derived_size),
                format!("{:.1}GB", derived_size / 1e9),
            ),
            None => Bytes::ZERO,
        };
        let files = match part.files {
            Some(files) => files.0,
            // one object per GB is how sharded sets come; a set given by size alone has no small files
            None => (size.gb()).ceil(),
        };
        let reads = self
            .not_negative("data.reads", part.reads)?
            .unwrap_or(epochs);
        Ok(Data {
            size,
            files,
            location,
            reads,
            out: part.out.unwrap_or(Bytes::ZERO),
            out_to: part.out_to.unwrap_or(Destination::Internet),
            storage: self.or("data.storage", part.storage, DataStorage::Object, "object"),
            keep: part.keep,
            egress_used: part.egress_used.unwrap_or(Bytes::ZERO),
        })
    }

    fn checkpoint(&mut self, file: &WorkloadFile, job: &Job) -> Option<Checkpoint> {
        let train = match job {
            Job::Train(train) => Some(train),
            Job::Sweep(SweepJob {
                trial: Trial::Train(train),
                ..
            }) => Some(&**train),
            _ => None,
        };
        if train.is_none() && file.checkpoint.is_none() {
            return None;
        }
        let part = file.checkpoint.clone().unwrap_or_default();
        let d = self.cx.defaults;
        let derived = train.map_or(0.0, checkpoint_bytes);
        let every = d.get("checkpoint.every_min");
        let keep_last = d.get("checkpoint.keep_last");
        let days = d.get("checkpoint.keep_for_days");
        Some(Checkpoint {
            size: self.or(
                "checkpoint.size",
                part.size,
                Bytes(derived),
                format!("{:.2}GB", derived / 1e9),
            ),
            every: self.or(
                "checkpoint.every",
                part.every.filter(|s| s.0 > 0.0),
                Seconds(every * 60.0),
                format!("{every}min"),
            ),
            keep_last: Some(self.or_number(
                "checkpoint.keep_last",
                part.keep_last.map(|c| c.0),
                keep_last,
            )),
            keep_for: self.or(
                "checkpoint.keep_for",
                part.keep_for,
                Seconds(days * 86_400.0),
                format!("{days}d"),
            ),
        })
    }

    fn constraints(&mut self, file: &WorkloadFile) -> Out<Constraints> {
        let part = file.constraints.clone().unwrap_or_default();
        let d = self.cx.defaults;
        let gpu_memory = match part.gpu_memory.as_deref() {
            None => None,
            Some(text) => match text.parse() {
                Ok(range) => Some(range),
                Err(e) => {
                    return self.fail(
                        "constraints.gpu_memory",
                        Msg::new("workload-bad-value").arg("detail", e),
                        None,
                    );
                }
            },
        };
        for filter in part.gpus.iter().flatten() {
            self.gpu("constraints.gpus", Some(&filter.name))?;
        }
        let lower = |list: Option<Vec<String>>| {
            list.unwrap_or_default()
                .iter()
                .map(|p| p.trim().to_lowercase())
                .collect()
        };
        let cpus = self.not_negative("constraints.cpus_per_gpu", part.cpus_per_gpu)?;
        let max_nodes = part
            .max_nodes
            .map_or(d.get("constraints.max_nodes"), |c| c.0)
            .clamp(1.0, 4096.0) as u32;
        let min_nodes = part.min_nodes.map_or(1.0, |c| c.0).clamp(1.0, 4096.0) as u32;
        if min_nodes > max_nodes {
            return self.fail(
                "constraints.min_nodes",
                Msg::new("workload-min-over-max")
                    .arg("min", min_nodes)
                    .arg("max", max_nodes),
                None,
            );
        }
        Ok(Constraints {
            providers: lower(part.providers),
            exclude_providers: lower(part.exclude_providers),
            regions: part.regions.unwrap_or_default(),
            gpus: part.gpus.unwrap_or_default(),
            gpu_memory,
            deadline: part.deadline,
            budget: part.budget,
            spot: self.or("constraints.spot", part.spot, true, "true"),
            purchases: part.purchases.unwrap_or_default(),
            interconnect: part.interconnect,
            compliance: part.compliance.unwrap_or_default(),
            cpus_per_gpu: cpus.unwrap_or(d.get("constraints.cpus_per_gpu")),
            ram_per_gpu: part
                .ram_per_gpu
                .unwrap_or(Bytes::from_gb(d.get("constraints.ram_per_gpu_gb"))),
            max_nodes,
            min_nodes,
            max_price: part.max_price,
            allow_unverified: part.allow_unverified.unwrap_or(false),
        })
    }

    fn setup(&mut self, file: &WorkloadFile, data: &Data) -> Out<Setup> {
        let part = file.setup.clone().unwrap_or_default();
        let d = self.cx.defaults;
        let image = self.or("setup.image", part.image, ImageReadiness::Adapt, "adapt");
        let row = match image {
            ImageReadiness::Ready => "setup.ready",
            ImageReadiness::Adapt => "setup.adapt",
            ImageReadiness::Bare => "setup.bare",
        };
        let labour = self.not_negative("setup.labour_hours", part.labour_hours)?;
        let labour = self.or_number(
            "setup.labour_hours",
            labour,
            d.get(&format!("{row}.labour_hours")),
        );
        let machine = d.get(&format!("{row}.machine_min"));
        let incident = self.not_negative("setup.incident_hours", part.incident_hours)?;
        let restart = d.get("setup.common.restart_s");
        let local = if data.storage == DataStorage::Object {
            0.0
        } else {
            data.size.gb()
        };
        let disk_gb =
            (local * d.get("setup.common.disk_margin") + d.get("setup.common.disk_base_gb")).ceil();
        Ok(Setup {
            image,
            labour_hours: labour,
            machine: self.or(
                "setup.machine",
                part.machine,
                Seconds(machine * 60.0),
                format!("{machine}min"),
            ),
            idle: part.idle.unwrap_or(Seconds::ZERO),
            stopped: part.stopped.unwrap_or(Seconds::ZERO),
            incident_hours: self.or_number(
                "setup.incident_hours",
                incident,
                d.get("setup.common.incident_hours"),
            ),
            support_wait_hours: self
                .not_negative("setup.support_wait_hours", part.support_wait_hours)?
                .unwrap_or(0.0),
            disk: self.or(
                "setup.disk",
                part.disk,
                Bytes::from_gb(disk_gb),
                format!("{disk_gb}GB"),
            ),
            restart: self.or(
                "setup.restart",
                part.restart,
                Seconds(restart),
                format!("{restart}s"),
            ),
        })
    }

    fn money(&mut self, file: &WorkloadFile) -> Out<MoneyRules> {
        let part = file.money.clone().unwrap_or_default();
        let mut discounts = BTreeMap::new();
        for (provider, text) in part.discounts.iter().flatten() {
            let path = format!("money.discounts.{provider}");
            discounts.insert(
                provider.trim().to_lowercase(),
                self.percent(&path, Some(text))?.unwrap_or(0.0),
            );
        }
        for rate in part.rates.iter().flatten() {
            if !(rate.rate.is_finite() && rate.rate > 1e-9 && rate.rate < 1e9) {
                return self.fail(
                    "money.rates",
                    Msg::new("workload-bad-rate")
                        .arg("from", rate.from.as_str())
                        .arg("to", rate.to.as_str()),
                    None,
                );
            }
        }
        let share = self.percent("money.support", part.support.as_deref())?;
        let support = match (share, part.support_minimum) {
            (None, None) => None,
            (share, minimum) => Some(SupportPlan {
                share: share.unwrap_or(0.0),
                minimum_per_month: minimum,
            }),
        };
        if part.labour_rate.is_some_and(|m| m.amount.is_negative())
            || part.support_minimum.is_some_and(|m| m.amount.is_negative())
        {
            return self.fail(
                "money.labour_rate",
                Msg::new("workload-negative")
                    .arg("field", "money")
                    .arg("value", "< 0"),
                None,
            );
        }
        Ok(MoneyRules {
            currency: self.or("money.currency", part.currency, Currency::USD, "USD"),
            fx: Fx {
                rates: part.rates.unwrap_or_default(),
            },
            exchange_fee: self
                .percent("money.exchange_fee", part.exchange_fee.as_deref())?
                .unwrap_or(0.0),
            discounts,
            tax: self
                .percent("money.tax", part.tax.as_deref())?
                .unwrap_or(0.0),
            labour_rate: part.labour_rate,
            support,
            commitment_reuse: self
                .percent("money.commitment_reuse", part.commitment_reuse.as_deref())?
                .unwrap_or(0.0),
        })
    }
}

/// Bytes of one checkpoint: weights in 16 bit + FP32 master + two optimizer moments for full training
/// (14 bytes a parameter with AdamW, 8 with its 8-bit form, 6 with Adafactor or SGD); for LoRA the adapters
/// alone, 14 bytes for each of their parameters.
pub fn checkpoint_bytes(train: &TrainJob) -> f64 {
    let per_param = match train.optimizer {
        Optimizer::Adamw => 14.0,
        Optimizer::Adamw8bit => 8.0,
        Optimizer::Adafactor | Optimizer::Sgd => 6.0,
    };
    match train.method {
        Method::Full => train.model.params * per_param,
        Method::Lora | Method::Qlora => lora_params(train) * per_param,
    }
}

/// Parameters of LoRA adapters on all linear layers of a transformer: per layer and rank r, two thin
/// matrices for each of q, k, v, o and the three of the feed-forward part.
pub fn lora_params(train: &TrainJob) -> f64 {
    let (Some(layers), Some(hidden)) = (train.model.layers, train.model.hidden) else {
        return train.model.params * 0.005;
    };
    let ffn = train.model.ffn.unwrap_or(hidden * 3.5);
    let kv = match (train.model.kv_heads, train.model.heads) {
        (Some(kv), Some(heads)) if heads > 0.0 => hidden * kv / heads,
        _ => hidden,
    };
    let attention = 2.0 * (hidden + hidden) + 2.0 * (hidden + kv);
    let feed_forward = 3.0 * (hidden + ffn);
    layers * train.lora_rank * (attention + feed_forward)
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
    let job = r.job(file, kind)?;
    let data = r.data(file, &job)?;
    let checkpoint = r.checkpoint(file, &job);
    let constraints = r.constraints(file)?;
    let setup = r.setup(file, &data)?;
    let money = r.money(file)?;
    Ok(Workload {
        name: file
            .name
            .clone()
            .unwrap_or_else(|| kind.as_str().to_owned()),
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
