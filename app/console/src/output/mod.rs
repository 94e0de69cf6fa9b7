//! The only place that writes to stdout and stderr. Data goes to stdout, all else to stderr; a reader that
//! stops reading (`| head`) is not an error.

mod errors;
pub(crate) mod export;
mod place;
mod usage;

pub use errors::ErrorOutput;
pub(crate) use errors::report_bugs_in;
pub(crate) use place::stdout_style;
pub use place::{stderr_is_terminal, stderr_style};

use crate::Failure;
use crate::Settings;
use lessee_model::{Exit, Msg, did_you_mean};
use lessee_report::{Format, Report, Style, Texts, render};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints answers in the format, language and width that were asked for.
pub struct Printer {
    texts: Texts,
    format: Format,
    exports: Vec<(PathBuf, Format)>,
    columns: Vec<String>,
    sort: Option<String>,
    style: Style,
    quiet: bool,
}

impl Printer {
    pub fn new(settings: &Settings) -> Printer {
        Printer {
            texts: Texts::new(settings.lang.value),
            format: settings.output.value,
            exports: settings.exports.clone(),
            columns: settings.columns.clone(),
            sort: settings.sort.clone(),
            style: stdout_style(),
            quiet: settings.quiet.value,
        }
    }

    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Whether a program will read the answer as JSON; else its document need not be made.
    pub fn wants_json(&self) -> bool {
        self.formats().any(Format::is_json)
    }

    /// Whether the first rows of a table are all that anyone will see.
    pub fn wants_only_head(&self) -> bool {
        self.sort.is_none() && self.formats().all(|format| format == Format::Table)
    }

    fn formats(&self) -> impl Iterator<Item = Format> {
        let exports = self.exports.iter().map(|(_, format)| *format);
        std::iter::once(self.format).chain(exports)
    }

    /// Prints the answer on stdout and writes the files of `--export`.
    ///
    /// # Errors
    /// An unknown key in `--columns` or `--sort`, or a file that cannot be written.
    pub fn report(&self, mut report: Report) -> Result<(), Failure> {
        self.arrange(&mut report)?;
        let drawn = !report.charts().is_empty();
        if let Some((path, _)) = self
            .exports
            .iter()
            .find(|(_, f)| *f == Format::Svg && !drawn)
        {
            return Err(Failure::usage(
                Msg::new("export-no-chart").arg("path", path.display().to_string()),
            ));
        }
        // what was measured is not lost with a file that cannot be written
        let mut written = Ok(());
        for (path, format) in &self.exports {
            let text = render(&report, *format, Style::PLAIN_80, &self.texts);
            written = written.and(export::write(path, text.as_bytes()));
        }
        self.data(&render(&report, self.format, self.style, &self.texts))?;
        written
    }

    fn arrange(&self, report: &mut Report) -> Result<(), Failure> {
        let Some(table) = report.main_table() else {
            return Ok(());
        };
        let keys: Vec<&str> = table.keys().collect();
        let unknown = |key: String| {
            let hint = match did_you_mean(&key, keys.iter().copied()) {
                Some(word) => Msg::new("hint-did-you-mean").arg("word", word),
                None => Msg::new("hint-known-words").arg("words", keys.join(", ")),
            };
            Failure::usage(Msg::new("table-unknown-column").arg("key", key)).hint(hint)
        };
        if let Some(key) = &self.sort {
            table.sort(key).map_err(unknown)?;
        }
        if !self.columns.is_empty() {
            table.select(&self.columns).map_err(unknown)?;
        }
        Ok(())
    }

    /// Prints finished text on stdout: a schema, a completion script, a CSV.
    ///
    /// # Errors
    /// stdout cannot be written, other than by a closed pipe.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        to_stdout(text.as_bytes())
    }

    /// A finished CSV: to the files of `--export` if there are any, else to stdout.
    ///
    /// # Errors
    /// A file or stdout cannot be written.
    pub fn csv(&self, text: &str) -> Result<(), Failure> {
        for (path, _) in &self.exports {
            export::write(path, text.as_bytes())?;
        }
        if self.exports.is_empty() {
            self.data(text)
        } else {
            Ok(())
        }
    }

    /// A warning on stderr, also with `-q`: something of the user's could not be used.
    pub fn warn(&self, msg: &Msg) {
        to_stderr(&format!(
            "{} {}\n",
            self.texts.get("warning-label"),
            self.texts.msg(msg)
        ));
    }

    /// How to mend what was warned of, on stderr.
    pub fn hint(&self, msg: &Msg) {
        to_stderr(&format!(
            "{} {}\n",
            self.texts.get("hint-label"),
            self.texts.msg(msg)
        ));
    }

    /// How far something long is, on a line of stderr that the next call draws over; `None` takes it away. Only on a
    /// terminal, and silent with `-q`.
    pub fn progress(&self, msg: Option<&Msg>) {
        if self.quiet || !stderr_is_terminal() {
            return;
        }
        let text = msg.map(|m| self.texts.msg(m)).unwrap_or_default();
        // without wrapping: a line is one line however narrow the window is
        to_stderr(&format!("\x1b[?7l\r\x1b[2K{text}\x1b[?7h"));
    }

    /// A remark on stderr; silent with `-q`.
    pub fn note(&self, msg: &Msg) {
        if !self.quiet {
            to_stderr(&format!("{}\n", self.texts.msg(msg)));
        }
    }
}

/// # Errors
/// stdout cannot be written, other than by a closed pipe.
pub(crate) fn to_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::write(Path::new("<stdout>"), &e).exit(Exit::Unreachable))
        }
        _ => Ok(()),
    }
}

/// Nothing can be done about a stderr that cannot be written.
pub fn to_stderr(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Asks a yes-or-no question on the terminal.
///
/// # Errors
/// Nobody can answer because stdin is not a terminal: `--yes` is needed.
pub fn ask(printer: &Printer, question: &Msg) -> Result<bool, Failure> {
    use std::io::IsTerminal;
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(Msg::new("ask-no-terminal")).hint(Msg::new("hint-yes")));
    }
    to_stderr(&format!("{} [y/N] ", printer.texts.msg(question)));
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .map_err(|e| Failure::read(Path::new("<stdin>"), &e))?;
    Ok(matches!(
        answer.trim().to_lowercase().as_str(),
        "y" | "yes" | "是" | "好"
    ))
}
