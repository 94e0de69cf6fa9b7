//! `probe ...` as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum ProbeCommand {
    /// Read what others paste: output of nvidia-smi, nccl-tests, nvbandwidth, fio, lscpu, kernel logs and more.
    Read(ProbeReadArgs),
    /// Say what a utilisation curve shows: smooth, starved, hung, throttled, idle and paid for.
    Watch(ProbeWatchArgs),
}

#[derive(Debug, Args)]
pub struct ProbeReadArgs {
    /// Captures; - is the standard input. What each is, is seen from its content.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ProbeWatchArgs {
    /// A log: nvidia-smi dmon, pmon or --query-gpu CSV, dcgmi dmon, metrics of Prometheus as text or JSON, or CSV with
    /// columns such as t_s, util_gpu_pct, power_w; - is the standard input. Without it the GPUs of this machine are
    /// watched until Ctrl-C.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Seconds from sample to sample, where the log has no time.
    #[arg(long, value_name = "SECONDS", requires = "from")]
    pub sample_seconds: Option<f64>,
    /// The GPU, for its power limit where the log has none.
    #[arg(long, value_name = "MODEL")]
    pub gpu: Option<String>,
    /// Seconds from sample to sample of this machine's GPUs [default: 1]
    #[arg(long, value_name = "SECONDS", conflicts_with = "from")]
    pub every: Option<f64>,
    /// Ends after so many seconds.
    #[arg(long = "for", value_name = "SECONDS", conflicts_with = "from")]
    pub lasting: Option<f64>,
    /// Writes the samples as CSV, which --from reads.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub record: Option<PathBuf>,
}
