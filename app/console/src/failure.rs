//! How a command fails: a message, hints and an exit status, all of them data. Every crate's error becomes
//! one through [`Explain`], so that `?` keeps what the user needs to mend it.

use lessee_model::{Exit, Explain, Msg};
use std::path::Path;

#[derive(Debug, Clone)]
pub struct Failure {
    pub msg: Msg,
    pub hints: Vec<Msg>,
    pub exit: Exit,
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure {
            msg: error.msg(),
            hints: error.hints(),
            exit: error.exit(),
        }
    }
}

impl Failure {
    /// Bad usage or input.
    pub fn usage(msg: Msg) -> Failure {
        Failure {
            msg,
            hints: Vec::new(),
            exit: Exit::Usage,
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: Msg) -> Failure {
        self.hints.push(hint);
        self
    }

    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Failure {
        self.exit = exit;
        self
    }

    /// A file could not be read; the system's own words are the detail.
    pub fn read(path: &Path, error: &std::io::Error) -> Failure {
        Failure::file("file-read", path, error)
    }

    /// A file could not be written.
    pub fn write(path: &Path, error: &std::io::Error) -> Failure {
        Failure::file("file-write", path, error)
    }

    fn file(id: &'static str, path: &Path, error: &std::io::Error) -> Failure {
        Failure::usage(
            Msg::new(id)
                .arg("path", path.display().to_string())
                .arg("detail", error.to_string()),
        )
    }

    /// The identifier that `type` of the JSON error carries: of the problem itself, not of its place.
    pub fn code(&self) -> &str {
        let inner = self.msg.args.iter().find_map(|(name, value)| match value {
            lessee_model::Arg::Msg(inner) if name == "problem" => Some(inner.id.as_ref()),
            _ => None,
        });
        inner.unwrap_or(&self.msg.id)
    }
}
