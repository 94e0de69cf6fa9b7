//! argv -> [`Cli`]: builds the command tree, adds the workload flags, puts the help into the reader's
//! language, and parses.

use super::{Cli, Command as Verb, workload_flags};
use clap::{CommandFactory, FromArgMatches};
use lessee_report::Texts;
use std::ffi::OsString;

/// The whole command tree, help in the language of `texts` (`None` = the doc comments).
pub(crate) fn command(texts: Option<&Texts>) -> clap::Command {
    let tree = Cli::command()
        .mut_subcommand("plan", workload_flags::add_workload_flags)
        .mut_subcommand("predict", workload_flags::add_workload_flags)
        .mut_subcommand("simulate", workload_flags::add_workload_flags)
        .after_help(EXAMPLES);
    match texts {
        Some(texts) => lessee_console::translate(tree, "cli", described_under, texts),
        None => tree,
    }
}

/// The fields of a workload are the same flags wherever they stand: `plan` describes them.
fn described_under<'a>(id: &'a str, arg: &str) -> &'a str {
    if matches!(id, "cli-predict" | "cli-simulate") && workload_flags::is_field(arg) {
        "cli-plan"
    } else {
        id
    }
}

const EXAMPLES: &str = "Examples:
  lessee plan examples/finetune-8b.toml
  lessee catalog list --gpu A100-80GB:8 --region 'eu-*'
  lessee catalog import quote.csv --dry-run";

/// # Errors
/// Help, or a usage error, as clap words it.
pub(crate) fn parse(argv: Vec<OsString>, texts: Option<&Texts>) -> Result<Cli, clap::Error> {
    let matches = command(texts).try_get_matches_from(argv)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    if let Some((_, sub)) = matches.subcommand() {
        match &mut cli.command {
            Some(Verb::Plan(args)) => args.fields = workload_flags::read(sub),
            Some(Verb::Predict(args)) => args.fields = workload_flags::read(sub),
            Some(Verb::Simulate(args)) => args.fields = workload_flags::read(sub),
            _ => {}
        }
    }
    Ok(cli)
}

#[cfg(test)]
mod tests {
    use super::{command, described_under};
    use lessee_report::{Lang, Texts, sources};
    use std::collections::BTreeSet;

    fn ids(command: &clap::Command, id: &str, out: &mut BTreeSet<String>) {
        out.insert(id.to_owned());
        for arg in command.get_arguments().filter(|a| !a.is_hide_set()) {
            out.insert(format!(
                "{}-{}",
                described_under(id, arg.get_id().as_str()),
                arg.get_id().as_str().replace(['_', '.'], "-")
            ));
        }
        for sub in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            ids(sub, &format!("{id}-{}", sub.get_name()), out);
        }
    }

    #[test]
    fn the_chinese_help_is_complete_and_names_nothing_else() {
        let mut wanted = BTreeSet::new();
        ids(&command(None), "cli", &mut wanted);
        let texts = Texts::new(Lang::ZhCn);
        let missing: Vec<_> = wanted
            .iter()
            .filter(|id| texts.find(id).is_none())
            .collect();
        assert!(missing.is_empty(), "no Chinese help for {missing:#?}");
        let help = sources(Lang::ZhCn)
            .iter()
            .find(|(name, _)| *name == "help")
            .expect("help.ftl")
            .1;
        let frame =
            |id: &str| id.starts_with("cli-heading-") || matches!(id, "cli-help" | "cli-examples");
        let extra: Vec<_> = help
            .lines()
            .filter(|line| line.starts_with("cli"))
            .filter_map(|line| {
                line.split_once(" = ")
                    .map_or_else(|| line.strip_suffix(" ="), |(id, _)| Some(id))
            })
            .filter(|id| !frame(id) && !wanted.contains(*id))
            .collect();
        assert!(
            extra.is_empty(),
            "help for flags that do not exist: {extra:#?}"
        );
    }
}
