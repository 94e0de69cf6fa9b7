//! `lessee predict ...` as typed. The flags of the workload's fields are added by
//! [`super::workload_flags`].

use super::TypedField;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Software that a speed belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    #[default]
    Renter,
    Tuned,
}

impl Tier {
    /// As typed and as documents say it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Tier::Renter => "renter",
            Tier::Tuned => "tuned",
        }
    }
}

#[derive(Debug, Default, Args)]
pub(crate) struct PredictArgs {
    /// The workload (TOML); - reads stdin. May be left out when flags describe the job.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// A machine of the catalog: PROVIDER/TYPE; may be repeated. --gpu H100:8 names GPUs alone.
    #[arg(long, value_name = "MACHINE")]
    pub machine: Vec<String>,
    /// How many such machines together.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub nodes: u32,
    /// A probe report (JSON) measured on the machine: its values replace published ones.
    #[arg(long, value_name = "FILE")]
    pub measured: Option<PathBuf>,
    /// Whose speed: what default settings give a renter, or what a vendor's tuned stack reaches.
    #[arg(long, value_enum, default_value_t)]
    pub tier: Tier,
    /// Predict every row of a table of measurements (CSV); -o csv appends predicted,low,high,reason.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "machine", "measured", "tier"])]
    pub table: Option<PathBuf>,
    /// Workload fields given as flags; filled in by `args::parse`.
    #[arg(skip)]
    pub fields: Vec<TypedField>,
}
