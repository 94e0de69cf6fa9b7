//! `lessee catalog ...` as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// List offers with their prices.
    List(Box<ListArgs>),
    /// Show all that is known of one offer, with the source of each figure.
    Show(ShowArgs),
    /// Read a quote, a price list or another catalog into your own snapshots.
    Import(ImportArgs),
    /// Ask a provider's price API; the only command here that uses the network.
    Refresh(RefreshArgs),
    /// Compare two snapshots.
    Diff(DiffArgs),
    /// Write all offers as CSV.
    Export(ExportArgs),
    /// Say which offers are suspect, and why.
    Doctor,
    /// Delete one of your own snapshots.
    Remove(RemoveArgs),
    /// List your own snapshots.
    Snapshots,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ListArgs {
    /// GPU with an optional count: A100-80GB:8, H100:4..8, L4; may be repeated.
    #[arg(long, value_name = "GPU[:COUNT]")]
    pub gpu: Vec<String>,
    /// Memory of one GPU: 80GB, 24GB..80GB, 24GB..
    #[arg(long, value_name = "RANGE")]
    pub gpu_memory: Option<String>,
    /// Region; * and ? match. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub region: Vec<String>,
    /// Provider; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub provider: Vec<String>,
    /// Highest price of a machine and hour: '3 USD'. Other currencies are left out.
    #[arg(long, value_name = "AMOUNT")]
    pub max_price: Option<String>,
    /// Only spot prices.
    #[arg(long, conflicts_with = "on_demand")]
    pub spot: bool,
    /// Only on-demand prices.
    #[arg(long)]
    pub on_demand: bool,
    /// At most so many rows; else a table has 50 and the other formats all.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// All rows in a table, too.
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// provider/instance_type@region, as `catalog list` prints it; without @region all regions.
    #[arg(value_name = "OFFER")]
    pub key: String,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// SkyPilot or gpuhunt catalog, FOCUS bill, or a quote (CSV, TSV, Markdown, YAML, text).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Provider of the rows that name none.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Name of the snapshot; else the name of the file.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Currency of the amounts that name none.
    #[arg(long, value_name = "CODE")]
    pub currency: Option<String>,
    /// Read and show, save nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// How to read the file, where it is not recognised.
    #[arg(long, value_name = "FORMAT", value_parser = ["skypilot", "gpuhunt", "focus", "quote", "offers"])]
    pub format: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// Whose prices to fetch; without it the providers that can be asked are listed.
    #[arg(value_name = "PROVIDER")]
    pub provider: Option<String>,
    /// Only these regions; may be repeated.
    #[arg(long, value_name = "REGION")]
    pub region: Vec<String>,
    /// List the HTTP requests (never a key).
    #[arg(long)]
    pub show_requests: bool,
    /// Fetch and show, save nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The older snapshot: a name, or `built-in`.
    #[arg(value_name = "OLD")]
    pub old: String,
    /// The newer snapshot: a name, or `built-in`.
    #[arg(value_name = "NEW")]
    pub new: String,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Only the user's own snapshot of this name.
    #[arg(long, value_name = "NAME")]
    pub snapshot: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Name as `catalog snapshots` prints it.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Do not ask.
    #[arg(short, long)]
    pub yes: bool,
}
