//! What stdout and stderr can show: width and colour, from the terminal and the usual variables.

use lessee_report::Style;
use std::io::IsTerminal;

const DEFAULT_WIDTH: usize = 80;

pub(crate) fn stdout_style() -> Style {
    Style {
        width: width(),
        colour: colour(std::io::stdout().is_terminal()),
    }
}

pub fn stderr_style() -> Style {
    Style {
        width: width(),
        colour: colour(std::io::stderr().is_terminal()),
    }
}

/// Whether a line on stderr can be drawn over.
pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// `COLUMNS`, else the terminal, else 80.
fn width() -> usize {
    let given = std::env::var("COLUMNS")
        .ok()
        .and_then(|c| c.trim().parse::<usize>().ok());
    let measured = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
    given
        .filter(|w| *w > 0)
        .or_else(measured)
        .unwrap_or(DEFAULT_WIDTH)
        .clamp(40, 1000)
}

/// `NO_COLOR` wins, then `FORCE_COLOR` and `CLICOLOR_FORCE`, then `TERM=dumb`, then whether it is a terminal.
fn colour(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    if set("NO_COLOR").is_some() {
        return false;
    }
    if ["FORCE_COLOR", "CLICOLOR_FORCE"]
        .iter()
        .any(|name| set(name).is_some_and(|v| v != "0"))
    {
        return true;
    }
    terminal && set("TERM").is_none_or(|t| t != "dumb")
}
