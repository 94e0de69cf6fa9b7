//! Help in another language: walks the command tree once and replaces each text that the catalogue has.
//! Identifiers are `cli-<command>-<command>-<flag>`; what is absent keeps its English doc comment.

use clap::{Arg, ArgAction, Command};
use lessee_report::Texts;

/// Under which command a flag is described: that of its identifier, or another that has the same flag.
pub type Described = for<'a> fn(&'a str, &str) -> &'a str;

/// Puts a command tree, whose texts begin with `id`, into the language of the texts.
pub fn translate(tree: Command, id: &str, described: Described, texts: &Texts) -> Command {
    walk(tree, id, described, texts)
}

fn walk(mut command: Command, id: &str, described: Described, texts: &Texts) -> Command {
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
    command = command.mut_args(|arg| translate_arg(arg, id, described, texts));
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
        command = command.mut_subcommand(name, |sub| walk(sub, &inner, described, texts));
    }
    command
}

fn translate_arg(arg: Arg, id: &str, described: Described, texts: &Texts) -> Arg {
    let heading = match arg.get_help_heading() {
        None if arg.is_positional() => texts.find("cli-heading-arguments"),
        None => texts.find("cli-heading-options"),
        Some("Common options") => texts.find("cli-heading-common"),
        Some(_) => texts.find("cli-heading-fields"),
    };
    let name = arg.get_id().as_str();
    let of = described(id, name);
    let help = texts.find(&format!("{of}-{}", name.replace(['_', '.'], "-")));
    let arg = match heading {
        Some(heading) => arg.help_heading(heading),
        None => arg,
    };
    match help {
        Some(help) => arg.help(help.clone()).long_help(help),
        None => arg,
    }
}
