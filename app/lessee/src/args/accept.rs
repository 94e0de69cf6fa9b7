//! `lessee accept ...` as typed.

use super::SecurityArgs;
use clap::{Args, Subcommand};
use lessee_model::{Money, Seconds};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true)]
pub(crate) struct AcceptArgs {
    /// A whole acceptance: checks, targets, needs and profiles in one file (TOML).
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Folder for the documents and the evidence; else FILE without .toml and with -acceptance.
    #[arg(long, value_name = "DIR", requires = "file")]
    pub out: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Option<AcceptCommand>,
}

/// A whole acceptance, as written: a check is made where its section stands.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AcceptanceFile {
    /// Name for the documents.
    pub name: Option<String>,
    /// Which machines are meant; of all sections.
    pub deal: DealArgs,
    pub driver: Option<DriverArgs>,
    pub latency: Option<LatencyArgs>,
    pub env: Option<EnvArgs>,
    pub failure: Option<FailureArgs>,
    pub budget: Option<BudgetArgs>,
    pub offer: Option<OfferArgs>,
    pub support: Option<SupportArgs>,
    pub security: Option<SecurityArgs>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AcceptCommand {
    /// Do driver and GPU carry the libraries you need: torch, vllm, tensorflow, jax, cuda and others.
    Driver(DriverArgs),
    /// Is the way from this desk to the machine short enough: round trips of TCP, TLS and pings, side by side.
    Latency(LatencyArgs),
    /// Encryption and compliance: what endpoints and disks show, and what to ask for by checklist. Not legal advice.
    Security(SecurityArgs),
    /// Is the software environment ready, or a day of repair: a machine, an image or lists of packages.
    Env(EnvArgs),
    /// What becomes of the machine when its host fails or is maintained, and what that costs your work.
    Failure(FailureArgs),
    /// Can the provider stop the spending, how late does it notice, and does a stopped machine stop the bill.
    Budget(BudgetArgs),
    /// Is the machine what the offer says, and does the quote speak of all that a contract must.
    Offer(OfferArgs),
    /// A log of tickets: how soon support answered and solved, beside what the contract promises.
    Support(SupportArgs),
    /// What has become worse since an earlier acceptance.
    Diff(AcceptDiffArgs),
}

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LatencyArgs {
    /// A node, or an endpoint of a region; without a port 443 and 22 are tried.
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "targets")]
    pub hosts: Vec<String>,
    /// Several at once from a file: TOML ([[target]]) or CSV with name, host, port, region, provider; - reads stdin.
    #[arg(long, value_name = "FILE")]
    pub targets: Option<PathBuf>,
    /// Work that has to wait for each round trip; batch work only reports them.
    #[serde(rename = "for")]
    #[arg(long = "for", value_name = "WORK", default_value = "notebook", value_parser = ["notebook", "visual", "batch"])]
    pub work: Option<String>,
    /// Only the targets of this provider.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Round trips to each target [default: 100; 20 where sshd answers, which locks out who connects too often].
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Spread over this time [default: 30].
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// Through this proxy: http://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT [default: HTTPS_PROXY, ALL_PROXY].
    #[arg(long, value_name = "URL", conflicts_with = "no_proxy")]
    pub proxy: Option<String>,
    /// Directly, whatever the environment names.
    #[arg(long)]
    pub no_proxy: bool,
}

/// Which machines are meant, and at what price.
#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DealArgs {
    /// Provider, by any of its names.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Instance type: p5.48xlarge.
    #[arg(long, value_name = "TYPE")]
    pub instance: Option<String>,
    /// Take provider, type and price from an offer of the catalog: aws/p4d.24xlarge, with or without @region.
    #[arg(long, value_name = "KEY", conflicts_with_all = ["provider", "instance"])]
    pub offer: Option<String>,
    /// Price of one machine and hour: '98.32 USD'; else that of the offer.
    #[arg(long, value_name = "AMOUNT")]
    pub price: Option<Money>,
    /// Number of machines.
    #[arg(long, value_name = "N")]
    pub machines: Option<u32>,
}

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FailureArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub deal: DealArgs,
    /// Take the interval of checkpoints and the time of a restart from a workload.
    #[arg(long, value_name = "FILE")]
    pub workload: Option<PathBuf>,
    /// Time between two checkpoints: 30min.
    #[arg(long, value_name = "TIME")]
    pub every: Option<Seconds>,
    /// Time to write one checkpoint: 90s.
    #[arg(long, value_name = "TIME")]
    pub save: Option<Seconds>,
    /// Time to start the program and load a checkpoint.
    #[arg(long, value_name = "TIME")]
    pub restart: Option<Seconds>,
}

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BudgetArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub deal: DealArgs,
    /// Most that may be spent: '5000 USD'.
    #[arg(long, value_name = "AMOUNT")]
    pub budget: Option<Money>,
    /// From the alert until somebody stops the machines; 12h unless you say otherwise.
    #[arg(long, value_name = "TIME")]
    pub reaction: Option<Seconds>,
}

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OfferArgs {
    /// The offer: a key of the catalog, or a quote, FILE or FILE#LINE.
    #[arg(long, value_name = "KEY|FILE")]
    pub offer: Option<String>,
    /// What lessee-probe measured on the machine (its JSON).
    #[arg(long, value_name = "FILE")]
    pub probe: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SupportArgs {
    /// Log of tickets: CSV with the columns asked, first_answer and solved; - reads stdin.
    #[arg(value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Promised time to the first answer: 1h.
    #[arg(long, value_name = "TIME")]
    pub first_answer: Option<Seconds>,
    /// Promised time to the solution: 24h.
    #[arg(long, value_name = "TIME")]
    pub solved: Option<Seconds>,
    /// Share of tickets that a promise holds for: '95%'.
    #[arg(long, value_name = "SHARE")]
    pub share: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptDiffArgs {
    /// The earlier acceptance (JSON).
    #[arg(value_name = "EARLIER")]
    pub earlier: PathBuf,
    /// The later one.
    #[arg(value_name = "LATER")]
    pub later: PathBuf,
}

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DriverArgs {
    /// The provider's nvidia-smi output in any form that probe read knows; - reads stdin, live asks this machine.
    #[arg(value_name = "FILE", conflicts_with_all = ["driver", "gpu"])]
    pub file: Option<PathBuf>,
    /// Number of the driver, instead of a file: 535.183.01; of AMD machines the ROCm release.
    #[arg(long, value_name = "VERSION")]
    pub driver: Option<String>,
    /// Name of a GPU, instead of a file: 'Tesla V100-SXM2-16GB', with :8 for eight; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub gpu: Vec<String>,
    /// A package as pip writes it: torch==2.11, 'tensorflow>=2.16', cuda==12.4; may be repeated.
    #[arg(long, value_name = "SPEC")]
    pub need: Vec<String>,
    /// Take needs from a file: requirements.txt, pyproject.toml, uv.lock, conda environment, Dockerfile; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub needs: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EnvArgs {
    /// Container archive, folder of a Python environment, list (pip freeze, conda list, dpkg -l, rpm -qa) or saved environment; - reads stdin; without any: this machine.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// The root of another system, mounted or unpacked.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The driver that it shall run on: a file with nvidia-smi output, or its number.
    #[arg(long, value_name = "FILE|VERSION")]
    pub driver: Option<String>,
    /// Name of a GPU that it shall run on, with :8 for eight; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub gpu: Vec<String>,
    /// A package that must be there, as pip writes it: torch==2.11, python>=3.10, cuda==12.4; may be repeated.
    #[arg(long, value_name = "SPEC")]
    pub need: Vec<String>,
    /// Take needs from a file: requirements.txt, pyproject.toml, uv.lock, conda environment, Dockerfile; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub needs: Vec<PathBuf>,
    /// Keep a complete lock of the environment in this file, which must not exist.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["diff", "rollback"])]
    #[serde(skip)]
    pub save: Option<PathBuf>,
    /// What has changed since this lock was saved.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rollback", "need", "needs"])]
    #[serde(skip)]
    pub diff: Option<PathBuf>,
    /// The commands that bring the environment of this lock back; with --yes they are run.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["need", "needs"])]
    #[serde(skip)]
    pub rollback: Option<PathBuf>,
    /// Run the commands of --rollback without asking.
    #[arg(long, requires = "rollback")]
    #[serde(skip)]
    pub yes: bool,
    /// Only print the commands of --rollback.
    #[arg(long, requires = "rollback", conflicts_with = "yes")]
    #[serde(skip)]
    pub dry_run: bool,
}
