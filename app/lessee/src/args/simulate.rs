//! `lessee simulate ...` as typed. The flags of the workload's fields are added by
//! [`super::workload_flags`].

use super::{TraceReading, TypedField};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The workload (TOML); - reads stdin. Left out, --job-hours and its companions describe the job.
    #[arg(value_name = "WORKLOAD")]
    pub file: Option<PathBuf>,
    /// Records to replay on: files, FILE#COLUMN, folders or names of your traces; each its own job.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub trace: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: TraceReading,
    /// The records are zones of one job, among which it may move.
    #[arg(long)]
    pub zones: bool,
    /// A machine of the catalog for a workload: PROVIDER/TYPE, or with @REGION. --gpu H100:8 names GPUs alone.
    #[arg(long, value_name = "OFFER")]
    pub offer: Option<String>,
    /// Useful work of the job in hours; else predicted from the workload.
    #[arg(long, value_name = "HOURS", value_parser = positive)]
    pub job_hours: Option<f64>,
    /// Hours from the start until the job must be done; else the deadline of the workload.
    #[arg(long, value_name = "HOURS", value_parser = positive)]
    pub deadline_hours: Option<f64>,
    /// Hours that each start costs before useful work goes on: boot, set-up, loading the checkpoint; else of the
    /// workload and the machine.
    #[arg(long, value_name = "HOURS", value_parser = not_negative)]
    pub overhead_hours: Option<f64>,
    /// Spot price of one machine in USD an hour; else that of the offer or of the records.
    #[arg(long, value_name = "USD", value_parser = price)]
    pub spot_price: Option<f64>,
    /// On-demand price of one machine in USD an hour; else that of the offer or of the records.
    #[arg(long, value_name = "USD", value_parser = price)]
    pub on_demand_price: Option<f64>,
    /// Machines that the job needs at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub gang: Option<u32>,
    /// Ticks of the record at which a job starts, counted from 0; else starts spread over the record.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub start_tick: Vec<usize>,
    /// Replay on so many histories drawn from the record in blocks, in place of its own starts: how much rests on chance.
    #[arg(long, value_name = "N", conflicts_with = "start_tick", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub resample: Option<u32>,
    /// Length of a block; shorter than spot lasts and stays away, it tears apart what belongs together.
    #[arg(long, value_name = "HOURS", default_value_t = 24.0, value_parser = positive, requires = "resample")]
    pub block_hours: f64,
    /// Size of a checkpoint in GB (10^9 bytes), moved when the job goes to another region.
    #[arg(long, value_name = "GB", value_parser = not_negative)]
    pub checkpoint_gb: Option<f64>,
    /// Hours of useful work between two saves; what is not saved is lost with spot. Left out: nothing is ever lost
    /// but the hours of a start, as in the published simulators.
    #[arg(long, value_name = "HOURS", value_parser = positive)]
    pub save_every_hours: Option<f64>,
    /// Seconds for which a save stops work.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = not_negative, requires = "save_every_hours")]
    pub save_seconds: f64,
    /// USD for moving a GB to another region.
    #[arg(long, value_name = "USD", default_value_t = 0.0, value_parser = transfer)]
    pub transfer_price: f64,
    /// Seconds for moving a GB to another region; work goes on there when all of it has arrived.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = transfer_time)]
    pub transfer_seconds: f64,
    /// Each machine is billed in whole multiples of so many seconds, from its start to its end: 3600 for hours. Left out:
    /// by the ticks of the record, as in the published simulators.
    #[arg(long, value_name = "SECONDS", value_parser = increment)]
    pub billing_seconds: Option<f64>,
    /// Policies to replay, by name, or all.
    #[arg(long, value_name = "NAME,...", default_value = "all", value_delimiter = ',', value_parser = policies())]
    pub policy: Vec<String>,
    /// Show one job as a time line: the first start and the first policy.
    #[arg(long)]
    pub explain: bool,
    /// Workload fields given as flags; filled in by `args::parse`.
    #[arg(skip)]
    pub fields: Vec<TypedField>,
}

fn policies() -> clap::builder::PossibleValuesParser {
    let names = lessee_spot::PolicyName::ALL.iter().map(|p| p.as_str());
    let names: Vec<&'static str> = names.chain(["all"]).collect();
    names.into()
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|x| x.is_finite() && *x > 0.0)
        .ok_or_else(|| "a number above 0".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|x| x.is_finite() && *x >= 0.0)
        .ok_or_else(|| "0 or a number above".to_owned())
}

/// No machine costs more: what is above is a slip.
const MOST_USD: f64 = 1e6;

fn price(text: &str) -> Result<f64, String> {
    positive(text)
        .ok()
        .filter(|x| *x <= MOST_USD)
        .ok_or_else(|| "a price above 0 and up to a million".to_owned())
}

fn transfer(text: &str) -> Result<f64, String> {
    not_negative(text)
        .ok()
        .filter(|x| *x <= MOST_USD)
        .ok_or_else(|| "a price from 0 to a million".to_owned())
}

/// A day for a GB: what is above is a slip.
fn transfer_time(text: &str) -> Result<f64, String> {
    not_negative(text)
        .ok()
        .filter(|x| *x <= 86_400.0)
        .ok_or_else(|| "seconds from 0 to 86400".to_owned())
}

/// From a millisecond to a year.
fn increment(text: &str) -> Result<f64, String> {
    positive(text)
        .ok()
        .filter(|x| (0.001..=31_622_400.0).contains(x))
        .ok_or_else(|| "seconds from 0.001 to a year".to_owned())
}
