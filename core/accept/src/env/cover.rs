//! What a reading covers: a list of Python packages says nothing of the system's, and one virtual environment nothing of
//! those beside it. Where a reading does not look, what is not in it is not known to be gone.

use super::{Environment, NoteCode, PythonKind, SourceKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Something that was not compared, as one of the two readings does not cover it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// `python`, `system`, `library`, `driver`.
    pub area: String,
    /// Prefix of the Python, or path of the library; empty for a whole area.
    pub place: String,
}

/// What one reading can tell of.
#[derive(Debug)]
pub(crate) struct Cover {
    pub system: bool,
    pub driver: bool,
    /// Folders that were looked through.
    folders: Vec<String>,
    /// Pythons that are in it.
    pythons: BTreeSet<String>,
    /// Libraries that are in it.
    libraries: BTreeSet<String>,
    /// Nothing was cut off: what is not in it is not there.
    pub whole: bool,
    /// Folders that may not be read may hold further Pythons and libraries.
    closed: bool,
}

impl Cover {
    pub(crate) fn of(env: &Environment) -> Cover {
        let noted = |code| env.notes.iter().any(|n| n.code == code);
        let mut out = Cover {
            // a system without a package is one whose list was not seen
            system: !env.system.is_empty() && !noted(NoteCode::Unreadable),
            driver: false,
            folders: Vec::new(),
            pythons: env.pythons.iter().map(|p| p.prefix.clone()).collect(),
            libraries: env.libraries.iter().map(|l| l.path.clone()).collect(),
            whole: env.is_whole(),
            closed: noted(NoteCode::Skipped),
        };
        for source in &env.sources {
            match source.kind {
                SourceKind::Live | SourceKind::Archive => out.folders.push("/".to_owned()),
                SourceKind::Root | SourceKind::Venv => out.folders.push(source.path.clone()),
                _ => {}
            }
            out.driver |= source.kind == SourceKind::Live;
        }
        out.driver |= env.driver.is_some();
        out
    }

    /// Whether it tells what is in this Python, or that it is gone.
    pub(crate) fn python(&self, prefix: &str, kind: PythonKind) -> bool {
        // the name of a list is no folder
        let looked = kind != PythonKind::Listed && !self.closed && self.looked_into(prefix);
        self.pythons.contains(prefix) || looked
    }

    pub(crate) fn library(&self, path: &str) -> bool {
        self.libraries.contains(path) || (!self.closed && self.looked_into(path))
    }

    fn looked_into(&self, path: &str) -> bool {
        self.folders.iter().any(|folder| {
            let folder = folder.trim_end_matches('/');
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
