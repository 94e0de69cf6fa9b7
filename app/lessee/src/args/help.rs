//! Help in another language: walks the command tree once and replaces each text that the catalogue has.
//! Identifiers are `cli-<command>-<command>-<flag>`; what is absent keeps its English doc comment.

use clap::{Arg, ArgAction, Command};
use lessee_report::Texts;

pub(super) fn translate(tree: Command, texts: &Texts) -> Command {
    walk(tree, "cli", texts)
}

fn walk(mut command: Command, id: &str, texts: &Texts) -> Command {
    let word = |key: &str| texts.find(key);
    if let Some(about) = word(id) {
        command = command.about(about.clone()).long_about(about);
    }
    if let Some(examples) = word(&format!("{id}-examples")) {
        command = command.after_help(examples);
    }
    if let (Some(commands), Some(usage)) = (word("cli-heading-commands"), word("cli-heading-usage"))
    {
        command = command
            .subcommand_help_heading(commands)
            .help_template(format!("{{before-help}}{{about-with-newline}}\n{usage} {{usage}}\n\n{{all-args}}{{after-help}}"));
    }
    command = command.mut_args(|arg| translate_arg(arg, id, texts));
    if let (Some(help), Some(heading)) = (word("cli-help"), word("cli-heading-options")) {
        let flag = Arg::new("help")
            .short('h')
            .long("help")
            .action(ArgAction::Help);
        command = command
            .disable_help_flag(true)
            .arg(flag.help(help).help_heading(heading));
    }
    let names: Vec<String> = command
        .get_subcommands()
        .map(|c| c.get_name().to_owned())
        .collect();
    for name in names {
        let inner = format!("{id}-{name}");
        command = command.mut_subcommand(name, |sub| walk(sub, &inner, texts));
    }
    command
}

/// The fields of a workload are the same flags wherever they stand: `plan` describes them.
fn described_under<'a>(id: &'a str, arg: &Arg) -> &'a str {
    if matches!(id, "cli-predict" | "cli-simulate")
        && super::workload_flags::is_field(arg.get_id().as_str())
    {
        "cli-plan"
    } else {
        id
    }
}

fn translate_arg(arg: Arg, id: &str, texts: &Texts) -> Arg {
    let heading = match arg.get_help_heading() {
        None if arg.is_positional() => texts.find("cli-heading-arguments"),
        None => texts.find("cli-heading-options"),
        Some("Common options") => texts.find("cli-heading-common"),
        Some(_) => texts.find("cli-heading-fields"),
    };
    let name = arg.get_id().as_str().replace(['_', '.'], "-");
    let help = texts.find(&format!("{}-{name}", described_under(id, &arg)));
    let arg = match heading {
        Some(heading) => arg.help_heading(heading),
        None => arg,
    };
    match help {
        Some(help) => arg.help(help.clone()).long_help(help),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use crate::args::command;
    use lessee_report::{Lang, Texts, sources};
    use std::collections::BTreeSet;

    fn ids(command: &clap::Command, id: &str, out: &mut BTreeSet<String>) {
        out.insert(id.to_owned());
        for arg in command.get_arguments().filter(|a| !a.is_hide_set()) {
            out.insert(format!(
                "{}-{}",
                super::described_under(id, arg),
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
