//! What the READMEs promise: the command for newcomers runs as it is written there, without network, and
//! no text for people shows the name of a message instead of the message.

use crate::sh;
use crate::steps::Outcome;
use anyhow::{Context, Result, bail};
use std::process::Command;

const READMES: [&str; 2] = ["README.md", "README.zh-CN.md"];

/// Runs the first `cargo run` line of README.md; the other language must name the same one.
pub(crate) fn command() -> Result<Outcome> {
    let mut commands = Vec::new();
    for path in READMES {
        let text = std::fs::read_to_string(sh::root().join(path)).context(path)?;
        no_raw_id(&text).context(path)?;
        let line = first_command(&text).with_context(|| format!("{path}: no `cargo run` line"))?;
        commands.push(line.to_owned());
    }
    if commands[0] != commands[1] {
        bail!("the READMEs differ: `{}`, `{}`", commands[0], commands[1]);
    }
    let home = sh::scratch("readme")?;
    // cargo itself stays where the user has it; only what lessee reads and writes is new and empty
    let mut inner = sh::command("sh", &["-c", &commands[0]]);
    for name in ["CONFIG", "DATA", "CACHE", "STATE"] {
        inner.env(format!("XDG_{name}_HOME"), home.join(name));
    }
    inner.env("NO_COLOR", "1").env("LANG", "C.UTF-8");
    inner.env_remove("LC_ALL").env_remove("LC_MESSAGES");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LESSEE_") {
            inner.env_remove(name);
        }
    }
    let text = capture(sh::without_network(inner))?;
    let answer = text.lines().next().unwrap_or("");
    if !answer.contains("USD") && !text.contains("USD") {
        bail!("`{}` shows no price:\n{text}", commands[0]);
    }
    println!("    {}: {answer}", commands[0]);
    Ok(Outcome::Passed)
}

/// Output for people as text; a raw message name in it is an error.
pub(crate) fn capture(command: Command) -> Result<String> {
    let text = sh::capture(command)?;
    no_raw_id(&text)?;
    Ok(text)
}

/// `[bill-compute]` is what stands where a text is missing from the catalogue of messages.
pub(crate) fn no_raw_id(text: &str) -> Result<()> {
    match raw_id(text) {
        Some(id) => bail!("a text is missing: `[{id}]`"),
        None => Ok(()),
    }
}

fn raw_id(text: &str) -> Option<&str> {
    text.split('[').skip(1).find_map(|rest| {
        let (id, after) = rest.split_once(']')?;
        let words = id.split('-');
        let named = words.clone().count() > 1
            && id.starts_with(|c: char| c.is_ascii_lowercase())
            && words.clone().all(|w| {
                !w.is_empty()
                    && w.bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            });
        // a link of Markdown has its address behind it
        (named && !after.starts_with('(')).then_some(id)
    })
}

fn first_command(text: &str) -> Option<&str> {
    let line = text.lines().find(|l| l.starts_with("cargo run "))?;
    Some(line.split('#').next().unwrap_or(line).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_messages_are_told_from_other_brackets() {
        assert_eq!(raw_id("a [bill-put-data] files=20"), Some("bill-put-data"));
        assert_eq!(raw_id("[...] [lab](x) [at-home](lab.md) [--full]"), None);
        assert_eq!(raw_id("[0.6, 1.5] [\"on-demand\"] [A100-80GB] [x"), None);
    }

    #[test]
    fn the_command_is_taken_without_its_remark() {
        let text = "x\n```sh\ncargo run --release -- plan w.toml    # which\n```\n";
        assert_eq!(
            first_command(text),
            Some("cargo run --release -- plan w.toml")
        );
    }
}
