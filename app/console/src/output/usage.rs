//! A command line that cannot be read, in messages of our own: the parser of the command line speaks English
//! only, and in its own terms.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use lessee_model::{Msg, did_you_mean};
use lessee_report::Texts;

/// The command tree, for the flags that it knows.
type Tree = fn(Option<&Texts>) -> clap::Command;

/// The problem and how to mend it, of the program of this name.
pub(super) fn usage(said: &clap::Error, name: &str, tree: Tree) -> (Msg, Vec<Msg>) {
    let text = |kind| words(said, kind).join(", ");
    let (arg, value) = (
        flag(&text(ContextKind::InvalidArg)),
        text(ContextKind::InvalidValue),
    );
    let valid = words(said, ContextKind::ValidValue);
    let mut hints = Vec::new();
    let problem = match said.kind() {
        ErrorKind::UnknownArgument => {
            hints.extend(suggested(said, &arg, name, tree));
            Msg::new("usage-unknown-flag").arg("flag", arg)
        }
        ErrorKind::InvalidSubcommand => {
            hints.extend(suggested(said, "", name, tree));
            Msg::new("usage-unknown-command").arg("word", text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingRequiredArgument => Msg::new("usage-missing").arg("what", arg),
        ErrorKind::MissingSubcommand => {
            let known = words(said, ContextKind::ValidSubcommand);
            if !known.is_empty() {
                hints.push(Msg::new("hint-known-words").arg("words", known.join(", ")));
            }
            Msg::new("no-command")
        }
        ErrorKind::ArgumentConflict => {
            let other = flag(&text(ContextKind::PriorArg));
            if other.is_empty() || other == arg {
                Msg::new("usage-twice").arg("flag", arg)
            } else {
                Msg::new("usage-conflict")
                    .arg("one", arg)
                    .arg("other", other)
            }
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if !value.is_empty() => {
            hints.extend(suggested(said, "", name, tree));
            if !valid.is_empty() {
                hints.push(Msg::new("setting-examples").arg("examples", valid.join(", ")));
            }
            Msg::new("setting-bad-value")
                .arg("key", arg)
                .arg("value", value)
        }
        ErrorKind::InvalidValue
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues
        | ErrorKind::NoEquals => {
            if !valid.is_empty() {
                hints.push(Msg::new("setting-examples").arg("examples", valid.join(", ")));
            }
            Msg::new("usage-no-value").arg("flag", arg)
        }
        ErrorKind::TooManyValues => Msg::new("setting-bad-value")
            .arg("key", arg)
            .arg("value", value),
        ErrorKind::InvalidUtf8 => Msg::new("usage-not-utf8"),
        _ => Msg::new("usage-unreadable"),
    };
    hints.push(Msg::new("usage-help").arg("command", command(said, name, tree)));
    (problem, hints)
}

fn words(said: &clap::Error, kind: ContextKind) -> Vec<String> {
    match said.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    }
}

/// `--top <N>` -> `--top`; a positional keeps its name, `<FILE>` -> `FILE`.
fn flag(shown: &str) -> String {
    match shown.split_once(' ') {
        Some((flag, _)) if flag.starts_with('-') => flag.to_owned(),
        _ => shown.replace(['<', '>'], ""),
    }
}

/// A flag or word close to what was typed. A field's own name counts as close: `--tax` is `--money-tax`.
fn suggested(said: &clap::Error, unknown: &str, program: &str, tree: Tree) -> Option<Msg> {
    let near = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    let near = || {
        near.into_iter()
            .find_map(|k| words(said, k).into_iter().next())
    };
    let word = match unknown.strip_prefix("--") {
        None => near(),
        Some(name) => {
            let flags = flags(&command(said, program, tree), tree);
            let tail = format!("-{name}");
            let field = flags
                .iter()
                .filter(|f| f.ends_with(&tail))
                .min_by_key(|f| f.len());
            let close = || did_you_mean(unknown, flags.iter().map(String::as_str));
            field
                .cloned()
                .or_else(near)
                .or_else(|| close().map(str::to_owned))
        }
    }?;
    Some(Msg::new("hint-did-you-mean").arg("word", word))
}

/// All flags of a command such as `lessee catalog list`.
fn flags(command: &str, tree: Tree) -> Vec<String> {
    let mut here = tree(None);
    for name in command.split(' ').skip(1) {
        let Some(inner) = here.find_subcommand(name) else {
            break;
        };
        here = inner.clone();
    }
    let shown = here.get_arguments().filter(|arg| !arg.is_hide_set());
    shown
        .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
        .collect()
}

/// `lessee catalog list`: the command in whose place the error is, from the usage line; some errors have none, then from what
/// was typed.
fn command(said: &clap::Error, program: &str, tree: Tree) -> String {
    let usage = match said.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    let names = usage
        .split_whitespace()
        .skip_while(|word| *word != program)
        .take_while(|word| !word.starts_with(['-', '<', '[']));
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        let typed: Vec<String> = std::env::args().skip(1).collect();
        typed_command(&typed, program, tree(None))
    } else {
        names.join(" ")
    }
}

/// The commands among the words that were typed, one within the other.
fn typed_command(words: &[String], program: &str, tree: clap::Command) -> String {
    let mut here = tree;
    let mut names = program.to_owned();
    for word in words {
        let Some(inner) = here.find_subcommand(word).cloned() else {
            continue;
        };
        names.push(' ');
        names.push_str(inner.get_name());
        here = inner;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_command_that_was_typed_is_named() {
        let tree = || {
            let list = clap::Command::new("list");
            clap::Command::new("lessee").subcommand(clap::Command::new("catalog").subcommand(list))
        };
        let of = |typed: &[&str]| {
            let words: Vec<String> = typed.iter().map(|w| (*w).to_owned()).collect();
            typed_command(&words, "lessee", tree())
        };
        assert_eq!(of(&["catalog", "list", "--gpu"]), "lessee catalog list");
        assert_eq!(of(&["--lang", "en", "catalog", "x"]), "lessee catalog");
        assert_eq!(of(&["list"]), "lessee");
    }
}
