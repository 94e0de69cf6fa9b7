//! The command line as typed: no defaults, no files, no meaning. Doc comments are the English help;
//! `locales/zh-CN/help.ftl` holds the Chinese one. Settings give it meaning, see [`lessee_console::Settings`].

mod accept;
mod catalog;
mod parse;
mod plan;
mod predict;
mod security;
mod simulate;
mod trace;
pub(crate) mod workload_flags;

pub(crate) use accept::{
    AcceptArgs, AcceptCommand, AcceptDiffArgs, AcceptanceFile, BudgetArgs, DealArgs, DriverArgs,
    EnvArgs, FailureArgs, LatencyArgs, OfferArgs, SupportArgs,
};
pub(crate) use catalog::{
    CatalogCommand, DiffArgs, ExportArgs, ImportArgs, ListArgs, RefreshArgs, RemoveArgs, ShowArgs,
};
pub(crate) use parse::{command, parse};
pub(crate) use plan::PlanArgs;
pub(crate) use predict::{PredictArgs, Tier};
pub(crate) use security::SecurityArgs;
pub(crate) use simulate::SimulateArgs;
pub(crate) use trace::{
    TraceCommand, TraceImportArgs, TraceReading, TraceShowArgs, TraceStatsArgs,
};
pub(crate) use workload_flags::TypedField;

use clap::{Args, Parser, Subcommand};
use lessee_console::GlobalArgs;
use std::path::PathBuf;

/// What a rented GPU really costs for your work.
#[derive(Debug, Parser)]
#[command(
    name = "lessee",
    disable_version_flag = true,
    disable_help_subcommand = true,
    subcommand_required = false,
    arg_required_else_help = true,
    infer_subcommands = false,
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// Print the version; with -v also the date of the catalog.
    #[arg(short = 'V', long)]
    pub version: bool,
    /// Say more.
    #[arg(short = 'v', long, requires = "version")]
    pub verbose: bool,
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rank what can be rented for a job, with the whole bill.
    Plan(Box<PlanArgs>),
    /// Predict how fast GPUs do a job, with a range; or every row of a table of measurements.
    Predict(Box<PredictArgs>),
    /// Rent or own: break-even of buying the hardware.
    Buy(BuyArgs),
    /// Offers and prices: built in, imported and refreshed.
    #[command(subcommand)]
    Catalog(CatalogCommand),
    /// Records of spot markets: availability, prices, lives of instances.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Replay a job on recorded spot markets under several policies: what each would have cost.
    Simulate(Box<SimulateArgs>),
    /// Measure this machine: does it deliver? Or read what others paste of one, and what the curve of a job shows.
    Probe(Box<lessee_probe::ProbeArgs>),
    /// Checks before a contract is signed: will what you need run there?
    Accept(AcceptArgs),
    /// Print the JSON Schema of an input or output, or the known models.
    Schema(SchemaArgs),
    /// Show the settings in force and where they come from.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check this installation; the output can be pasted into an issue.
    Doctor,
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Write the man pages into a folder.
    #[command(hide = true)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BuyArgs {
    /// Description of the purchase (TOML); - reads stdin.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which document; without it the list of them.
    #[arg(value_name = "DOCUMENT")]
    pub document: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting.
    Show(ConfigShowArgs),
    /// Show which files and folders are used, and how to remove them.
    Path,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigShowArgs {
    /// Say for each setting where its value comes from.
    #[arg(long)]
    pub origin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}
