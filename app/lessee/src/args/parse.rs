//! argv -> [`Cli`]: builds the command tree, adds the workload flags, puts the help into the reader's
//! language, and parses.

use super::{Cli, Command as Verb, help, workload_flags};
use clap::{CommandFactory, FromArgMatches};
use lessee_report::Texts;
use std::ffi::OsString;

/// What came of the command line.
pub(crate) enum Parsed {
    Run(Box<Cli>),
    /// Help, version or a usage error, as clap words it.
    Said(clap::Error),
}

/// The whole command tree, help in the language of `texts` (`None` = the doc comments).
pub(crate) fn command(texts: Option<&Texts>) -> clap::Command {
    let tree = Cli::command()
        .mut_subcommand("plan", workload_flags::add_workload_flags)
        .mut_subcommand("predict", workload_flags::add_workload_flags)
        .mut_subcommand("simulate", workload_flags::add_workload_flags)
        .after_help(EXAMPLES);
    match texts {
        Some(texts) => help::translate(tree, texts),
        None => tree,
    }
}

const EXAMPLES: &str = "Examples:
  lessee plan examples/finetune-8b.toml
  lessee catalog list --gpu A100-80GB:8 --region 'eu-*'
  lessee catalog import quote.csv --dry-run";

pub(crate) fn parse(argv: impl IntoIterator<Item = OsString>, texts: Option<&Texts>) -> Parsed {
    let matches = match command(texts).try_get_matches_from(argv) {
        Ok(matches) => matches,
        Err(said) => return Parsed::Said(said),
    };
    let mut cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(said) => return Parsed::Said(said),
    };
    if let Some((_, sub)) = matches.subcommand() {
        match &mut cli.command {
            Some(Verb::Plan(args)) => args.fields = workload_flags::read(sub),
            Some(Verb::Predict(args)) => args.fields = workload_flags::read(sub),
            Some(Verb::Simulate(args)) => args.fields = workload_flags::read(sub),
            _ => {}
        }
    }
    Parsed::Run(Box::new(cli))
}

/// Whether machine-readable errors were asked for, before (and even if) the command line can be parsed.
pub(crate) fn wants_json(argv: &[OsString]) -> bool {
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
