//! The user's own traces: one file each in a folder, written whole or not at all.

use crate::formats::{Format, Header};
use crate::read::{Folder, Read, read};
use crate::{Options, TraceError};
use lessee_catalog::CatalogError;
use lessee_model::did_you_mean;
use lessee_spot::trace::Record;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

const EXTENSION: &str = "trace.jsonl";

/// What is known of a kept trace without reading it whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTrace {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// File or folder that was imported.
    pub source: String,
    /// Formats of its files.
    pub formats: Vec<String>,
    /// RFC 3339.
    pub imported_at: String,
    /// Zones, logs, price paths and buckets in it.
    pub records: usize,
}

/// A folder of kept traces.
#[derive(Clone, Debug)]
pub struct TraceStore {
    folder: PathBuf,
}

impl TraceStore {
    /// The folder need not exist yet.
    pub fn open(folder: impl Into<PathBuf>) -> TraceStore {
        TraceStore {
            folder: folder.into(),
        }
    }

    /// Where they lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is a trace of this name.
    pub fn holds(&self, name: &str) -> bool {
        self.path(name).is_ok_and(|path| path.is_file())
    }

    /// Keeps what was read under a name; an older trace of that name is replaced.
    ///
    /// # Errors
    /// The name is not usable, or the folder cannot be written. Then nothing has changed.
    pub fn save(
        &self,
        name: &str,
        source: &str,
        read: &Folder,
        imported_at: &str,
    ) -> Result<StoredTrace, TraceError> {
        let path = self.path(name)?;
        let mut formats: Vec<String> = read
            .reads
            .iter()
            .map(|r| r.format.as_str().to_owned())
            .collect();
        formats.sort();
        formats.dedup();
        let records: Vec<&Record> = read.reads.iter().flat_map(|r| &r.records).collect();
        let mut body = String::new();
        for record in &records {
            let line = serde_json::to_string(record).map_err(|e| io(&path, "write", e.into()))?;
            body.push_str(&line);
            body.push('\n');
        }
        let mut header = Header::new(source.to_owned(), formats.clone(), imported_at.to_owned());
        header.records = records.len();
        header.sha256 = Sha256::digest(body.as_bytes())
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        header.remarks = read.reads.iter().flat_map(|r| r.remarks.clone()).collect();
        let first = serde_json::to_string(&header).map_err(|e| io(&path, "write", e.into()))?;
        std::fs::create_dir_all(&self.folder).map_err(|e| io(&self.folder, "write", e))?;
        let beside = self
            .folder
            .join(format!(".{name}.{}.tmp", std::process::id()));
        let write = || -> std::io::Result<()> {
            let mut file = std::fs::File::create(&beside)?;
            file.write_all(format!("{first}\n{body}").as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, &path)
        };
        write().map_err(|e| {
            let _ = std::fs::remove_file(&beside);
            io(&path, "write", e)
        })?;
        Ok(StoredTrace {
            name: name.to_owned(),
            path,
            source: source.to_owned(),
            formats,
            imported_at: imported_at.to_owned(),
            records: records.len(),
        })
    }

    /// All kept traces by name; a file there that is none is left out.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<StoredTrace>, TraceError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io(&self.folder, "read", e)),
        };
        let mut out = Vec::new();
        for entry in entries {
            let path = entry.map_err(|e| io(&self.folder, "read", e))?.path();
            let file = path.file_name().map(|n| n.to_string_lossy().into_owned());
            let name = file
                .as_deref()
                .and_then(|f| f.strip_suffix(&format!(".{EXTENSION}")));
            let Some(name) = name.filter(|n| !n.starts_with('.')).map(str::to_owned) else {
                continue;
            };
            let Ok(file) = std::fs::File::open(&path) else {
                continue;
            };
            let mut first = String::new();
            let read = BufReader::new(std::io::Read::take(file, 1 << 22)).read_line(&mut first);
            if let Some(header) = read.ok().and_then(|_| Header::of_line(&first)) {
                out.push(StoredTrace {
                    name,
                    path,
                    source: header.source,
                    formats: header.formats,
                    imported_at: header.imported_at,
                    records: header.records,
                });
            }
        }
        out.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    /// The trace of a name.
    ///
    /// # Errors
    /// There is none (with the nearest name), or its file was changed or cut.
    pub fn load(&self, name: &str, column: Option<String>) -> Result<Read, TraceError> {
        let path = self.path(name)?;
        if !path.is_file() {
            let names: Vec<String> = self.list()?.into_iter().map(|t| t.name).collect();
            return Err(TraceError::NoTrace {
                name: name.to_owned(),
                suggestion: did_you_mean(name, names.iter().map(String::as_str))
                    .map(|s| s.to_owned()),
            });
        }
        let options = Options {
            column,
            format: Some(Format::Stored),
            ..Options::default()
        };
        read(&path, &options)
    }

    fn path(&self, name: &str) -> Result<PathBuf, TraceError> {
        let usable = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(usable)
        {
            return Err(CatalogError::SnapshotName {
                name: name.to_owned(),
            }
            .into());
        }
        Ok(self.folder.join(format!("{name}.{EXTENSION}")))
    }
}

fn io(path: &Path, action: &'static str, source: std::io::Error) -> TraceError {
    TraceError::Input(CatalogError::Io {
        path: path.to_owned(),
        action,
        source,
    })
}
