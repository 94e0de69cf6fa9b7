//! `lessee plan ...` as typed. The flags of the workload's fields are added by
//! [`super::workload_flags`].

use super::TypedField;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
pub(crate) struct PlanArgs {
    /// The workload (TOML); - reads stdin. May be left out when flags describe the job.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Derive every number of the option at this rank.
    #[arg(long, value_name = "RANK")]
    pub explain: Option<u32>,
    /// Say what removed this offer, or how far behind it is.
    #[arg(long, value_name = "OFFER", conflicts_with = "explain")]
    pub why_not: Option<String>,
    /// A probe report (JSON) measured on a machine.
    #[arg(long, value_name = "FILE")]
    pub measured: Vec<PathBuf>,
    /// An acceptance (JSON): the hours that its environment takes to mend, and those of waiting for support, are priced.
    #[arg(long, value_name = "FILE")]
    pub accepted: Vec<PathBuf>,
    /// Records of spot markets to replay the job on: names of your traces, files, FILE#COLUMN or folders.
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    pub trace: Vec<PathBuf>,
    /// What a 1 means in series of zeros and ones that do not say it.
    #[arg(long, value_name = "MEANING", value_parser = ["available", "unavailable"], requires = "trace")]
    pub polarity: Option<String>,
    /// How many options to print.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Print all options.
    #[arg(long)]
    pub all: bool,
    /// Workload fields given as flags; filled in by `args::parse`.
    #[arg(skip)]
    pub fields: Vec<TypedField>,
}
