//! Bounds of typed numbers: what makes no sense is refused where it stands, before anything is computed
//! from it, instead of being rounded into something else.

use super::{Msg, Out, Resolver, WorkloadFile};
use crate::Count;

/// Beyond this no count, size in its unit or duration describes a job on this planet; arithmetic further on
/// stays far from saturating.
const LARGEST: f64 = 1e18;

impl Resolver<'_> {
    /// Refuses whole numbers and intervals outside the range in which they mean something.
    pub(super) fn check_bounds(&self, file: &WorkloadFile) -> Out<()> {
        let batch =
            |t: &Option<crate::workload::TrainFile>| t.as_ref().and_then(|t| t.global_batch);
        let sweep = file.sweep.as_ref();
        let c = file.constraints.as_ref();
        let counts: [(&str, Option<Count>, f64); 10] = [
            ("train.global_batch", batch(&file.train), 1e12),
            ("finetune.global_batch", batch(&file.finetune), 1e12),
            (
                "sweep.trial.global_batch",
                sweep.and_then(|s| batch(&s.trial)),
                1e12,
            ),
            ("sweep.trials", sweep.and_then(|s| s.trials), 1e9),
            ("sweep.parallel", sweep.and_then(|s| s.parallel), 1e9),
            (
                "sweep.gpus_per_trial",
                sweep.and_then(|s| s.gpus_per_trial),
                4096.0,
            ),
            (
                "serve.min_replicas",
                file.serve.as_ref().and_then(|s| s.min_replicas),
                1e6,
            ),
            (
                "hours.gpus",
                file.hours.as_ref().and_then(|h| h.gpus),
                65_536.0,
            ),
            ("constraints.min_nodes", c.and_then(|c| c.min_nodes), 4096.0),
            ("constraints.max_nodes", c.and_then(|c| c.max_nodes), 4096.0),
        ];
        for (path, count, most) in counts {
            if let Some(Count(x)) = count {
                self.within(path, x, 1.0, most)?;
            }
        }
        if let Some(every) = file.checkpoint.as_ref().and_then(|c| c.every) {
            self.within("checkpoint.every", every.0, 1.0, LARGEST)?;
        }
        Ok(())
    }

    /// `Ok` if `x` is a number between the two.
    pub(super) fn within(&self, path: &str, x: f64, least: f64, most: f64) -> Out<()> {
        if x >= least && x <= most {
            return Ok(());
        }
        let msg = Msg::new("workload-out-of-range")
            .arg("field", path)
            .arg("value", x)
            .arg("least", least)
            .arg("most", most);
        self.fail(path, msg, None)
    }

    /// Refuses what is too large to mean anything.
    pub(super) fn not_absurd(&self, path: &str, x: f64) -> Out<f64> {
        if x <= LARGEST {
            return Ok(x);
        }
        self.fail(
            path,
            Msg::new("workload-too-large")
                .arg("field", path)
                .arg("value", x),
            None,
        )
    }
}
