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
