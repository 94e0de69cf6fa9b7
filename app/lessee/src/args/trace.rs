//! `lessee trace ...` as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Read records of a spot market into your own traces.
    Import(TraceImportArgs),
    /// List your own traces; of one, or of a file, show what is in it and when instances could be had.
    Show(TraceShowArgs),
    /// Figures: availability, lifetimes, hazard, time to return, prices, correlation of zones.
    Stats(TraceStatsArgs),
}

/// How files are read; the same for each verb.
#[derive(Debug, Default, Args)]
pub(crate) struct TraceReading {
    /// What a 1 means in series of zeros and ones that do not say it.
    #[arg(long, value_name = "MEANING", value_parser = ["available", "unavailable"])]
    pub polarity: Option<String>,
    /// How to read the files, where they are not recognised.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<String>,
}

fn formats() -> clap::builder::PossibleValuesParser {
    let names: Vec<&'static str> = lessee_traces::Format::ALL
        .iter()
        .map(|f| f.as_str())
        .collect();
    names.into()
}

#[derive(Debug, Args)]
pub(crate) struct TraceImportArgs {
    /// Files, FILE#COLUMN for one zone or column, or folders.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: TraceReading,
    /// Name of the trace; else that of the file. Only with one file or folder.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Whose machines they are (aws, gcp, ...), where the files do not say it: a plan replays only records that do.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Their region, where the files do not say it.
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
    /// Instance type (p3.2xlarge) or GPU and number (V100:8), where the files do not say it.
    #[arg(long, value_name = "TYPE")]
    pub machine: Option<String>,
    /// Read and show, save nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceShowArgs {
    /// Names of your traces, files, FILE#COLUMN or folders; without any your traces are listed.
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: TraceReading,
    /// Instances wanted at once.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub gang: u32,
}

#[derive(Debug, Args)]
pub(crate) struct TraceStatsArgs {
    /// Names of your traces, files, FILE#COLUMN or folders.
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: TraceReading,
    /// Instances wanted at once; without it one, and beside it all that the recorder asked for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub gang: Option<u32>,
    /// On-demand price in USD an hour, where the files do not state it.
    #[arg(long, value_name = "USD", value_parser = price)]
    pub on_demand_price: Option<f64>,
}

fn price(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|x| x.is_finite() && *x > 0.0)
        .ok_or_else(|| "a number above 0".to_owned())
}
