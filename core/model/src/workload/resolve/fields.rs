//! One field at a time: what it must be, what stands in for it, and which model or GPU a name means.

use super::super::*;
use super::{Out, Resolver};
use crate::{Count, ModelKind, Msg, Provenance, parse_percent};

impl<'a> Resolver<'a> {
    pub(super) fn fail<T>(&self, path: &str, problem: Msg, hint: Option<Msg>) -> Out<T> {
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

    pub(super) fn missing<T>(&self, path: &str) -> Out<T> {
        self.fail(
            path,
            Msg::new("workload-missing").arg("field", path),
            Some(
                Msg::new("workload-hint-flag")
                    .arg("flag", format!("--{}", path.replace(['.', '_'], "-"))),
            ),
        )
    }

    pub(super) fn or<T: Copy>(
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
                derived: false,
            });
            default
        })
    }

    /// As [`Resolver::or`], for what follows from other fields.
    pub(super) fn or_derived<T: Copy>(
        &mut self,
        path: &str,
        given: Option<T>,
        derived: T,
        shown: impl Into<String>,
    ) -> T {
        let before = self.assumed.len();
        let value = self.or(path, given, derived, shown);
        for new in &mut self.assumed[before..] {
            new.derived = true;
        }
        value
    }

    pub(super) fn or_number(&mut self, path: &str, given: Option<f64>, default: f64) -> f64 {
        self.or(path, given, default, default.to_string())
    }

    pub(super) fn need_positive(&self, path: &str, given: Option<f64>) -> Out<f64> {
        match given {
            None => self.missing(path),
            Some(x) if x.is_finite() && x > 0.0 => self.not_absurd(path, x),
            Some(x) => self.fail(
                path,
                Msg::new("workload-not-positive")
                    .arg("field", path)
                    .arg("value", x.to_string()),
                None,
            ),
        }
    }

    /// Memory that work measured on a GPU needs: unless told, it may have used all that a program gets there.
    pub(super) fn memory_like(
        &mut self,
        path: &str,
        given: Option<Bytes>,
        gpu: Option<&str>,
    ) -> Bytes {
        let reference = gpu
            .and_then(|name| self.cx.gpus.resolve(name))
            .and_then(|gpu| gpu.memory_gb);
        let gb = (reference.unwrap_or(0.0) * self.cx.defaults.get("hours.memory_share")).floor();
        self.or_derived(path, given, Bytes::from_gb(gb), format!("{gb}GB"))
    }

    pub(super) fn not_negative(&self, path: &str, given: Option<f64>) -> Out<Option<f64>> {
        match given {
            Some(x) if !x.is_finite() || x < 0.0 => self.fail(
                path,
                Msg::new("workload-negative")
                    .arg("field", path)
                    .arg("value", x.to_string()),
                None,
            ),
            Some(x) => self.not_absurd(path, x).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn percent(&mut self, path: &str, given: Option<&str>) -> Out<Option<f64>> {
        match given {
            None => Ok(None),
            Some(text) => match parse_percent(text) {
                Ok(x) => Ok(Some(x)),
                Err(e) => self.fail(path, super::wording(&e.to_string()).0, None),
            },
        }
    }

    pub(super) fn gpu(&self, path: &str, name: Option<&str>) -> Out<GpuRef> {
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

    pub(super) fn model(
        &self,
        path: &str,
        name: Option<&str>,
        custom: Option<&ModelFile>,
    ) -> Out<ModelSpec> {
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

    pub(super) fn custom_model(&self, file: &ModelFile) -> Out<ModelSpec> {
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
            heads: n(file.heads).or_else(|| {
                let size = n(file.head_dim).unwrap_or(self.cx.defaults.get("model.head_dim"));
                n(file.hidden).map(|h| (h / size).max(1.0).floor())
            }),
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
}
