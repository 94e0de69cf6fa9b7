//! `probe ...` as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ProbeArgs {
    #[command(subcommand)]
    pub form: Option<ProbeCommand>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// Without a form the machine itself is measured.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct MeasureArgs {
    /// Shorter steps: all of them together in less than a minute.
    #[arg(long)]
    pub quick: bool,
    /// Steps to make, of look, gpu, tensor, allreduce, ports, cpu, disk, feed, net; else all of them.
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// A folder of your samples, read only: images, .npy, tar shards, other files; for the feed test and small files.
    #[arg(long, value_name = "DIR")]
    pub samples: Option<PathBuf>,
    /// A folder on the disk to measure, for files that are deleted again; else the one you are in.
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Seconds in which one GPU computes a step of your model; without it only the supply of samples is measured.
    #[arg(long, value_name = "SECONDS")]
    pub step_seconds: Option<f64>,
    /// Samples in a step of one GPU; else 64.
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Side of the picture that the model takes, pixels; else 224.
    #[arg(long, value_name = "PIXELS")]
    pub side: Option<u32>,
    /// Threads that read and decode; else one for each core granted.
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Measure the round trip to this TCP service by opening and closing connections; without it nothing is sent.
    #[arg(long, value_name = "HOST:PORT")]
    pub host: Option<String>,
    /// Measure the throughput to this bucket, s3://BUCKET/PREFIX or https://HOST/BUCKET/PREFIX: random bytes are written,
    /// read back and deleted. Credentials come from AWS_* variables and ~/.aws alone.
    #[arg(long, value_name = "URL")]
    pub s3: Option<String>,
    /// The server of s3://BUCKET; else that of AWS_ENDPOINT_URL or of the profile, else AWS.
    #[arg(long, value_name = "URL", requires = "s3")]
    pub s3_endpoint: Option<String>,
    /// Memory that the tests use on each GPU, MiB: less leaves more to other work; else 1024, with --quick 256.
    #[arg(long, value_name = "MIB")]
    pub device_mib: Option<usize>,
    /// Say what share of a step this machine waits for gradients in a training of this model; `lessee schema models`
    /// lists them.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Tokens per sequence of that training; else as a plan takes it.
    #[arg(long, value_name = "TOKENS", requires = "model")]
    pub seq_len: Option<String>,
    /// What was promised: provider/instance_type of the catalog, with or without @region, or a quote, FILE or FILE#LINE.
    #[arg(long, value_name = "OFFER")]
    pub offer: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum ProbeCommand {
    /// Read what others paste: output of nvidia-smi, nccl-tests, nvbandwidth, fio, lscpu, kernel logs and more.
    Read(ProbeReadArgs),
    /// Hold a report that was made before against an offer, and against what is usual for its GPUs.
    Judge(ProbeJudgeArgs),
    /// Two reports side by side: two machines, or one on two days.
    Diff(ProbeDiffArgs),
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
pub struct ProbeJudgeArgs {
    /// The JSON that probe wrote; - is the standard input.
    #[arg(value_name = "REPORT")]
    pub report: PathBuf,
    /// What was promised: provider/instance_type of the catalog, with or without @region, or a quote, FILE or FILE#LINE;
    /// else the offer that the report names.
    #[arg(long, value_name = "OFFER")]
    pub offer: Option<String>,
}

#[derive(Debug, Args)]
pub struct ProbeDiffArgs {
    /// The JSON that probe wrote; - is the standard input.
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The other one.
    #[arg(value_name = "B")]
    pub b: PathBuf,
}

impl ProbeArgs {
    /// Whether an offer is to be found.
    pub(crate) fn asks_for_offer(&self) -> bool {
        match &self.form {
            None => self.measure.offer.is_some(),
            Some(ProbeCommand::Judge(_)) => true,
            Some(_) => false,
        }
    }
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
    /// Seconds from sample to sample of this machine's GPUs; else 1.
    #[arg(long, value_name = "SECONDS", conflicts_with = "from")]
    pub every: Option<f64>,
    /// Ends after so many seconds.
    #[arg(long = "for", value_name = "SECONDS", conflicts_with = "from")]
    pub lasting: Option<f64>,
    /// Writes the samples as CSV, which --from reads.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub record: Option<PathBuf>,
}
