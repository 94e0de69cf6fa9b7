//! A flag for every field of the workload file, made from its JSON Schema, plus the short names that people
//! type most. `data.size` is `--data-size`; a flag wins over the file.

use clap::{Arg, ArgAction, ArgMatches, Command};
use lessee_model::workload::field_paths;

const HEADING: &str = "Workload fields (each wins over the file)";

/// Short names: flag, field, value name, help.
const SHORT: [(&str, &str, &str, &str); 7] = [
    (
        "gpu",
        "constraints.gpus",
        "GPU[:COUNT]",
        "Only this GPU: H100:8, A100-80GB; may be repeated",
    ),
    (
        "budget",
        "constraints.budget",
        "AMOUNT",
        "Most that may be spent in total: 1500USD",
    ),
    (
        "deadline",
        "constraints.deadline",
        "DURATION",
        "Longest time to the result: 36h",
    ),
    (
        "region",
        "constraints.regions",
        "PATTERN",
        "Only these regions: 'eu-*'; may be repeated",
    ),
    (
        "provider",
        "constraints.providers",
        "NAME",
        "Only this provider; may be repeated",
    ),
    (
        "max-price",
        "constraints.max_price",
        "AMOUNT",
        "Highest price of a machine and hour: '30 USD'",
    ),
    (
        "currency",
        "money.currency",
        "CODE",
        "Currency of the answer",
    ),
];

/// A field of the workload as it was typed on the command line.
#[derive(Clone, Debug)]
pub(crate) struct TypedField {
    /// The flag as typed, without its dashes: `gpu` as well as `constraints-gpus`.
    pub flag: String,
    /// Dotted path of the field.
    pub path: String,
    pub value: String,
}

/// The flag of a field: `data.egress_used` -> `data-egress-used`.
pub(crate) fn flag_of(path: &str) -> String {
    path.replace(['.', '_'], "-")
}

/// Adds all flags to a command.
pub(crate) fn add_workload_flags(mut command: Command) -> Command {
    for (flag, _, value, help) in SHORT {
        command = command.arg(
            Arg::new(flag)
                .long(flag)
                .value_name(value)
                .help(help)
                .action(ArgAction::Append),
        );
    }
    command = command
        .arg(
            Arg::new("spot")
                .long("spot")
                .help("Spot machines may be used")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("no-spot")
                .long("no-spot")
                .help("No spot machines")
                .action(ArgAction::SetTrue)
                .conflicts_with("spot"),
        );
    for (path, about) in field_paths() {
        let help = about
            .split('\n')
            .next()
            .unwrap_or("")
            .trim_end_matches('.')
            .to_owned();
        let flag = flag_of(&path);
        command = command.arg(
            Arg::new(path)
                .long(flag)
                .value_name("VALUE")
                .help(help)
                .help_heading(HEADING)
                .hide_short_help(true)
                .allow_hyphen_values(true)
                .action(ArgAction::Append),
        );
    }
    command
}

/// Whether a flag of that id was added here.
pub(crate) fn is_field(id: &str) -> bool {
    matches!(id, "spot" | "no-spot")
        || SHORT.iter().any(|(flag, ..)| *flag == id)
        || field_paths().iter().any(|(path, _)| path == id)
}

/// The given fields. A repeated flag becomes a list.
pub(crate) fn read(matches: &ArgMatches) -> Vec<TypedField> {
    let mut out = Vec::new();
    for (path, _) in field_paths() {
        push(&mut out, matches, &path, &flag_of(&path), &path);
    }
    for (flag, path, _, _) in SHORT {
        push(&mut out, matches, flag, flag, path);
    }
    for (flag, value) in [("spot", "true"), ("no-spot", "false")] {
        if matches.get_flag(flag) {
            out.push(TypedField {
                flag: flag.to_owned(),
                path: "constraints.spot".to_owned(),
                value: value.to_owned(),
            });
        }
    }
    out
}

fn push(out: &mut Vec<TypedField>, matches: &ArgMatches, id: &str, flag: &str, path: &str) {
    if let Some(values) = matches.get_many::<String>(id) {
        let values: Vec<&str> = values.map(String::as_str).collect();
        out.push(TypedField {
            flag: flag.to_owned(),
            path: path.to_owned(),
            value: values.join(","),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_short_names_reach_the_workload() {
        let command = add_workload_flags(Command::new("plan"));
        let matches = command
            .try_get_matches_from([
                "plan",
                "--data-size",
                "2TB",
                "--gpu",
                "H100:8",
                "--gpu",
                "L4",
                "--no-spot",
                "--budget",
                "1500USD",
            ])
            .expect("flags");
        let fields = read(&matches);
        let get = |path: &str| {
            fields
                .iter()
                .find(|f| f.path == path)
                .map(|f| f.value.as_str())
        };
        assert_eq!(get("data.size"), Some("2TB"));
        assert_eq!(get("constraints.gpus"), Some("H100:8,L4"));
        assert_eq!(get("constraints.spot"), Some("false"));
        assert_eq!(get("constraints.budget"), Some("1500USD"));
    }

    #[test]
    fn short_names_stand_for_existing_fields() {
        let paths = field_paths();
        for (flag, path, _, _) in SHORT {
            assert!(paths.iter().any(|(p, _)| p == path), "{flag} -> {path}");
        }
    }
}
