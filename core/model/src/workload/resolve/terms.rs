//! The second half of resolving: data, checkpoints, constraints, setting up and money. The job itself is
//! in the parent module.

use super::sizes::derived_out;
use super::*;
use crate::Purchase;

impl Resolver<'_> {
    pub(super) fn start(&self, file: &WorkloadFile) -> Out<Option<Timestamp>> {
        let Some(typed) = &file.start else {
            return Ok(None);
        };
        match typed.moment(self.cx.zone) {
            Some(moment) => Ok(Some(moment)),
            None => self.fail(
                "start",
                Msg::new("value-not-a-time").arg("text", &*typed.0),
                None,
            ),
        }
    }

    pub(super) fn data(&mut self, file: &WorkloadFile, job: &Job) -> Out<Data> {
        let part = file.data.clone().unwrap_or_default();
        let d = self.cx.defaults;
        let mut assume = None;
        let location = match part.location.as_deref() {
            // a corpus derived from its tokens is taken to be a public one
            None if part.size.is_none() => {
                assume = Some("internet");
                Location::Internet
            }
            None => {
                assume = Some("office");
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
            None if derived_size > 0.0 => self.or_derived(
                "data.size",
                None,
                Bytes(derived_size),
                format!("{:.1}GB", derived_size / 1e9),
            ),
            None => Bytes::ZERO,
        };
        let any = size.0 > 0.0;
        if let (Some(place), true) = (assume, any) {
            self.or("data.location", None, (), place);
        }
        let files = match part.files {
            Some(files) => files.0,
            // one object per GB is how sharded sets come; a set given by size alone has no small files
            None if any => self.or_number("data.files", None, size.gb().ceil()),
            None => 0.0,
        };
        let reads = match self.not_negative("data.reads", part.reads)? {
            Some(reads) => reads,
            None if any || files > 0.0 => self.or_number("data.reads", None, epochs),
            None => epochs,
        };
        let out = match (part.out, derived_out(job)) {
            (Some(out), _) => out,
            (None, Bytes::ZERO) => Bytes::ZERO,
            (None, derived) => {
                self.or_derived("data.out", None, derived, format!("{:.2}GB", derived.gb()))
            }
        };
        // where nothing leaves, neither its destination nor the used allowance is a thing to check
        let (out_to, egress_used) = if out.0 > 0.0 {
            let to = self.or(
                "data.out_to",
                part.out_to,
                Destination::Internet,
                "internet",
            );
            (
                to,
                self.or("data.egress_used", part.egress_used, Bytes::ZERO, "0GB"),
            )
        } else {
            (
                part.out_to.unwrap_or(Destination::Internet),
                part.egress_used.unwrap_or(Bytes::ZERO),
            )
        };
        Ok(Data {
            size,
            files,
            location,
            reads,
            out,
            out_to,
            storage: self.or("data.storage", part.storage, DataStorage::Object, "object"),
            keep: part.keep,
            egress_used,
        })
    }

    pub(super) fn checkpoint(&mut self, file: &WorkloadFile, job: &Job) -> Option<Checkpoint> {
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
        let derived = train.map_or(0.0, |train| checkpoint_bytes(train, d));
        let every = d.get("checkpoint.every_min");
        let keep_last = d.get("checkpoint.keep_last");
        let days = d.get("checkpoint.keep_for_days");
        Some(Checkpoint {
            size: self.or_derived(
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

    pub(super) fn constraints(&mut self, file: &WorkloadFile) -> Out<Constraints> {
        let part = file.constraints.clone().unwrap_or_default();
        let d = self.cx.defaults;
        let gpu_memory = match part.gpu_memory.as_deref() {
            None => None,
            Some(text) => match text.parse::<Range<Bytes>>() {
                Ok(range) => Some(range),
                Err(e) => {
                    return self.fail(
                        "constraints.gpu_memory",
                        crate::workload::wording(&e).0,
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
        let ram_gb = d.get("constraints.ram_per_gpu_gb");
        let most = d.get("constraints.max_nodes");
        let max_nodes = self
            .or_number("constraints.max_nodes", part.max_nodes.map(|c| c.0), most)
            .clamp(1.0, 4096.0) as u32;
        let min_nodes = self
            .or_number("constraints.min_nodes", part.min_nodes.map(|c| c.0), 1.0)
            .clamp(1.0, 4096.0) as u32;
        if min_nodes > max_nodes {
            return self.fail(
                "constraints.min_nodes",
                Msg::new("workload-min-over-max")
                    .arg("min", min_nodes)
                    .arg("max", max_nodes),
                None,
            );
        }
        // a job that is interrupted goes on later; a service is gone meanwhile
        let spot = file.kind != Some(Kind::Serve)
            || part
                .purchases
                .as_ref()
                .is_some_and(|p| p.contains(&Purchase::Spot));
        Ok(Constraints {
            providers: lower(part.providers),
            exclude_providers: lower(part.exclude_providers),
            regions: part.regions.unwrap_or_default(),
            gpus: part.gpus.unwrap_or_default(),
            gpu_memory,
            deadline: part.deadline,
            budget: part.budget,
            spot: self.or("constraints.spot", part.spot, spot, spot.to_string()),
            purchases: part.purchases.unwrap_or_default(),
            interconnect: part.interconnect,
            compliance: part.compliance.unwrap_or_default(),
            cpus_per_gpu: self.or_number(
                "constraints.cpus_per_gpu",
                cpus,
                d.get("constraints.cpus_per_gpu"),
            ),
            ram_per_gpu: self.or(
                "constraints.ram_per_gpu",
                part.ram_per_gpu,
                Bytes::from_gb(ram_gb),
                format!("{ram_gb}GB"),
            ),
            max_nodes,
            min_nodes,
            max_price: part.max_price,
            allow_unverified: self.or(
                "constraints.allow_unverified",
                part.allow_unverified,
                false,
                "false",
            ),
        })
    }

    pub(super) fn setup(&mut self, file: &WorkloadFile, on_disk: Bytes) -> Out<Setup> {
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
        let wait = self.not_negative("setup.support_wait_hours", part.support_wait_hours)?;
        let restart = d.get("setup.common.restart_s");
        let disk_gb = (on_disk.gb() * d.get("setup.common.disk_margin")
            + d.get("setup.common.disk_base_gb"))
        .ceil();
        Ok(Setup {
            image,
            labour_hours: labour,
            machine: self.or(
                "setup.machine",
                part.machine,
                Seconds(machine * 60.0),
                format!("{machine}min"),
            ),
            idle: self.or("setup.idle", part.idle, Seconds::ZERO, "0s"),
            stopped: self.or("setup.stopped", part.stopped, Seconds::ZERO, "0s"),
            incident_hours: self.or_number(
                "setup.incident_hours",
                incident,
                d.get("setup.common.incident_hours"),
            ),
            support_wait_hours: self.or_number("setup.support_wait_hours", wait, 0.0),
            disk: self.or_derived(
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

    pub(super) fn money(&mut self, file: &WorkloadFile) -> Out<MoneyRules> {
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
            exchange_fee: self.percent_or_none("money.exchange_fee", part.exchange_fee)?,
            discounts,
            tax: self.percent_or_none("money.tax", part.tax)?,
            labour_rate: part.labour_rate,
            support,
            commitment_reuse: self
                .percent_or_none("money.commitment_reuse", part.commitment_reuse)?,
        })
    }

    /// A share that is taken as 0 %, and said to be, when it was not given.
    fn percent_or_none(&mut self, path: &str, given: Option<String>) -> Out<f64> {
        let share = self.percent(path, given.as_deref())?;
        Ok(self.or(path, share, 0.0, "0%"))
    }
}
