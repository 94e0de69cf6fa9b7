//! Flags that every command takes, as typed.

use clap::Args;
use clap::builder::PossibleValue;
use std::ffi::OsString;
use std::path::PathBuf;

/// Flags that every command takes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Common options")]
pub struct GlobalArgs {
    /// Language of texts for people; else by LC_ALL and LANG.
    #[arg(long, global = true, value_name = "LANG", value_parser = languages())]
    pub lang: Option<String>,
    /// Format of the answer on stdout.
    #[arg(short, long, global = true, value_name = "FORMAT", value_parser = ["table", "json", "jsonl", "csv", "md", "html"])]
    pub output: Option<String>,
    /// Also write the answer to a file, in the format of its extension; may be repeated.
    #[arg(long, global = true, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// Columns to show, by key (the header of -o csv).
    #[arg(
        long,
        global = true,
        value_name = "KEYS",
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub columns: Vec<String>,
    /// Column to sort by; -KEY for descending.
    #[arg(
        long,
        global = true,
        value_name = "KEY",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub sort: Option<String>,
    /// Never use the network.
    #[arg(long, global = true)]
    pub offline: bool,
    /// Time zone of the times that people read, such as Asia/Shanghai.
    #[arg(long, global = true, value_name = "ZONE", hide_short_help = true)]
    pub tz: Option<String>,
    /// Only the answer and errors.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Folder of your own catalog snapshots.
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub data_dir: Option<PathBuf>,
    /// The time to take for now, RFC 3339.
    #[arg(long, global = true, value_name = "TIME", hide = true)]
    pub now: Option<String>,
}

fn languages() -> clap::builder::PossibleValuesParser {
    [
        PossibleValue::new("en"),
        PossibleValue::new("zh-CN").aliases(["zh", "zh-cn", "zh_CN", "zh-Hans"]),
    ]
    .into()
}

/// Whether machine-readable errors were asked for, before (and even if) the command line can be parsed.
pub fn wants_json(argv: &[OsString]) -> bool {
    let words: Vec<&str> = argv.iter().filter_map(|a| a.to_str()).collect();
    let json = |v: &str| v == "json" || v == "jsonl";
    let variable = std::env::var("LESSEE_OUTPUT").is_ok_and(|v| json(&v));
    variable
        || words.iter().enumerate().any(|(i, word)| match *word {
            "-o" | "--output" => words.get(i + 1).is_some_and(|v| json(v)),
            word => word
                .strip_prefix("--output=")
                .or_else(|| word.strip_prefix("-o"))
                .is_some_and(json),
        })
}
