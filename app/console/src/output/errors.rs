//! How failures are shown: a sentence and hints for people, one JSON object with the fields of RFC 9457 for
//! programs. Both on stderr.

use super::usage::usage;
use super::{stderr_style, to_stderr, to_stdout};
use crate::Failure;
use clap::error::ErrorKind;
use lessee_model::{Exit, Msg};
use lessee_report::documents::ErrorDoc;
use lessee_report::{Lang, Texts};

pub struct ErrorOutput {
    texts: Texts,
    json: bool,
}

impl ErrorOutput {
    pub fn new(lang: Lang, json: bool) -> ErrorOutput {
        ErrorOutput {
            texts: Texts::new(lang),
            json,
        }
    }

    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Shows a failure and gives its exit status.
    pub fn failure(&self, failure: &Failure) -> Exit {
        let detail = self.texts.msg(&failure.msg);
        let hints: Vec<String> = failure.hints.iter().map(|h| self.texts.msg(h)).collect();
        self.show(failure.code(), failure.exit, &detail, &hints);
        failure.exit
    }

    /// Help and versions go to stdout and are a success; a usage error is shown like any other failure.
    pub fn clap(
        &self,
        said: &clap::Error,
        name: &str,
        command: fn(Option<&Texts>) -> clap::Command,
    ) -> Exit {
        match said.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                let text = said.render();
                let text = if super::stdout_style().colour {
                    text.ansi().to_string()
                } else {
                    text.to_string()
                };
                match to_stdout(text.as_bytes()) {
                    Ok(()) => Exit::Done,
                    Err(failure) => self.failure(&failure),
                }
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                to_stderr(&said.render().to_string());
                Exit::Usage
            }
            _ => {
                let (problem, hints) = usage(said, name, command);
                let hints: Vec<String> = hints.iter().map(|h| self.texts.msg(h)).collect();
                self.show("usage", Exit::Usage, &self.texts.msg(&problem), &hints);
                Exit::Usage
            }
        }
    }

    fn show(&self, code: &str, exit: Exit, detail: &str, hints: &[String]) {
        if self.json {
            let document = ErrorDoc {
                kind: format!("urn:lessee:error:{code}"),
                title: self.texts.term("exit", exit_word(exit)),
                detail: detail.to_owned(),
                hints: hints.to_vec(),
                exit_code: exit as u8,
            };
            let line = serde_json::to_string(&document).unwrap_or_default();
            to_stderr(&format!("{line}\n"));
            return;
        }
        let (bold, red, end) = if stderr_style().colour {
            ("\x1b[1m", "\x1b[1;31m", "\x1b[0m")
        } else {
            ("", "", "")
        };
        let mut text = format!("{red}{}{end} {detail}\n", self.texts.get("error-label"));
        for hint in hints {
            text.push_str(&format!(
                "{bold}{}{end} {hint}\n",
                self.texts.get("hint-label")
            ));
        }
        to_stderr(&text);
    }
}

/// The word for an exit status; `docs/reference/exit-codes.md` lists them all.
fn exit_word(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => "done",
        Exit::No => "no",
        Exit::Usage => "usage",
        Exit::Unreachable => "unreachable",
        Exit::Credentials => "credentials",
        Exit::Budget => "budget",
        Exit::Preempted => "preempted",
        Exit::CannotTell => "cannot_tell",
        Exit::Stuck => "stuck",
        Exit::Bug => "bug",
    }
}

/// A panic is a bug of lessee: says so, in the language, with what a report needs.
pub(crate) fn report_bugs_in(lang: Lang) {
    std::panic::set_hook(Box::new(move |info| {
        let msg = Msg::new("bug")
            .arg("version", env!("CARGO_PKG_VERSION"))
            .arg("detail", info.to_string().replace('\n', " "));
        to_stderr(&format!("{}\n", Texts::new(lang).msg(&msg)));
    }));
}
