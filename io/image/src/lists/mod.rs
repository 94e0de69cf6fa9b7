//! Lists of packages as people paste them, recognised by what is in them. One more kind is one more reader in its family's
//! file and one more line in [`read_list`].

mod conda;
mod pip;
mod system;

use lessee_accept::env::{
    ENVIRONMENT_SCHEMA, Environment, NoteCode, Python, PythonKind, SourceKind, SourceRead,
};
use lessee_accept::hidden;

/// What a list gives.
pub(crate) struct Listed {
    pub kind: SourceKind,
    pub python: Python,
    pub system: Vec<lessee_accept::env::SystemPackage>,
    /// Lines that are none of the list's.
    pub not_understood: Vec<String>,
}

impl Listed {
    pub(crate) fn new(kind: SourceKind) -> Listed {
        Listed {
            kind,
            python: Python {
                kind: PythonKind::Listed,
                ..Python::default()
            },
            system: Vec::new(),
            not_understood: Vec::new(),
        }
    }

    pub(crate) fn missed(&mut self, line: &str) {
        self.not_understood
            .push(hidden(line).chars().take(MAX_SHOWN).collect());
    }
}

/// Longest piece of a line that is shown, in characters.
const MAX_SHOWN: usize = 80;

/// Reads one list. Never fails: what is not understood is a note in the environment.
pub fn read_list(text: &str, path: &str, read_at: &str) -> Environment {
    let mut out = Environment::new(read_at.to_owned());
    if text.trim().is_empty() {
        out.note(NoteCode::Empty, path, "");
        return out;
    }
    if text.trim_start().starts_with('{') && text.contains(ENVIRONMENT_SCHEMA) {
        return saved(text, path, out);
    }
    let found = conda::read(text)
        .or_else(|| system::read(text))
        .or_else(|| pip::read(text));
    let Some(listed) = found else {
        let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
        let first: String = hidden(first.trim()).chars().take(MAX_SHOWN).collect();
        out.note(NoteCode::NotRecognised, path, first);
        return out;
    };
    let kind = listed.kind;
    out.sources.push(SourceRead {
        kind,
        path: path.to_owned(),
    });
    if let Some(first) = listed.not_understood.first() {
        let detail = format!("{first} ({})", listed.not_understood.len());
        out.note(NoteCode::Damaged, path, detail);
    }
    let mut python = listed.python;
    if python.prefix.is_empty() {
        python.prefix = path.to_owned();
    }
    if !python.packages.is_empty() || !python.conda.is_empty() {
        out.pythons.push(python);
    }
    out.system = listed.system;
    if out.is_bare() {
        out.note(NoteCode::Empty, path, kind.as_str());
    }
    out
}

fn saved(text: &str, path: &str, mut out: Environment) -> Environment {
    match serde_json::from_str::<Environment>(text) {
        Ok(mut saved) if saved.schema == ENVIRONMENT_SCHEMA => {
            let lock = SourceRead {
                kind: SourceKind::Saved,
                path: path.to_owned(),
            };
            // what it was saved from says how much it covers
            saved.sources.retain(|s| s.kind != SourceKind::Saved);
            saved.sources.insert(0, lock);
            saved
        }
        Ok(saved) => {
            out.note(NoteCode::NotRecognised, path, saved.schema);
            out
        }
        Err(e) => {
            out.note(NoteCode::Damaged, path, e.to_string());
            out
        }
    }
}
