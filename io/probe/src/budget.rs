//! How much of a run each step gets: `data/probe-run.toml`. Not here: thresholds of verdicts on GPUs
//! (`data/probe-rules.toml`), the options of each step.

use serde::Deserialize;

/// The steps of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// What the machine says of itself.
    Look,
    /// Kernels, copies and pairs.
    Gpu,
    /// The matrix rate that lasts, of the GPUs that were proved.
    Tensor,
    /// What these add up together.
    AllReduce,
    /// Towards other machines.
    Ports,
    /// Processor and memory.
    Cpu,
    Disk,
    Feed,
    Net,
}

impl Step {
    pub const ALL: [Step; 9] = [
        Step::Look,
        Step::Gpu,
        Step::Tensor,
        Step::AllReduce,
        Step::Ports,
        Step::Cpu,
        Step::Disk,
        Step::Feed,
        Step::Net,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Step::Look => "look",
            Step::Gpu => "gpu",
            Step::Tensor => "tensor",
            Step::AllReduce => "allreduce",
            Step::Ports => "ports",
            Step::Cpu => "cpu",
            Step::Disk => "disk",
            Step::Feed => "feed",
            Step::Net => "net",
        }
    }
}

/// A value for `--quick` and one for a full run.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Both<T> {
    quick: T,
    full: T,
}

impl<T: Copy> Both<T> {
    pub fn of(&self, quick: bool) -> T {
        match quick {
            true => self.quick,
            false => self.full,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    caps: Caps,
    pub tensor: TensorBudget,
    pub disk: DiskBudget,
    pub feed: FeedBudget,
    pub cpu: CpuBudget,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Caps {
    look: Both<f64>,
    gpu: Both<f64>,
    tensor: Both<f64>,
    allreduce: Both<f64>,
    ports: Both<f64>,
    cpu: Both<f64>,
    disk: Both<f64>,
    feed: Both<f64>,
    net: Both<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorBudget {
    /// How long the load lasts.
    pub seconds: Both<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskBudget {
    pub file_mib: Both<u64>,
    pub checkpoint_mib: Both<u64>,
    pub small_files: Both<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeedBudget {
    /// Utilisation from which on the accelerator counts as fed, 0 to 1.
    pub pass_at: f64,
    pub generated: Both<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuBudget {
    /// Share of stolen time that is worth a warning, 0 to 1.
    pub steal_warn: f64,
    /// Largest array of STREAM.
    pub array_max_mib: Both<u64>,
}

impl Budget {
    /// The one that is built in.
    ///
    /// # Errors
    /// The file is broken: a bug.
    pub fn built_in() -> Result<Budget, toml::de::Error> {
        toml::from_str(include_str!("../../../data/probe-run.toml"))
    }

    /// Seconds that a step gets.
    pub fn cap_s(&self, step: Step, quick: bool) -> f64 {
        let both = match step {
            Step::Look => &self.caps.look,
            Step::Gpu => &self.caps.gpu,
            Step::Tensor => &self.caps.tensor,
            Step::AllReduce => &self.caps.allreduce,
            Step::Ports => &self.caps.ports,
            Step::Cpu => &self.caps.cpu,
            Step::Disk => &self.caps.disk,
            Step::Feed => &self.caps.feed,
            Step::Net => &self.caps.net,
        };
        both.of(quick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caps_keep_what_is_promised() {
        let budget = Budget::built_in().unwrap();
        let all = |quick| {
            Step::ALL
                .map(|s| budget.cap_s(s, quick))
                .iter()
                .sum::<f64>()
        };
        // a tenth for what steps need beyond their caps
        assert!(all(true) <= 54.0, "{}", all(true));
        assert!(all(false) <= 540.0, "{}", all(false));
        for quick in [true, false] {
            let rest = budget.cap_s(Step::Tensor, quick) - budget.tensor.seconds.of(quick);
            assert!(rest >= 2.0, "contexts take time too: {rest}");
        }
    }
}
