//! The user's own snapshots: a folder of tables and a manifest, laid over the built-in facts.
//!
//! A table is written once under a name that carries its date and hash and is never changed; only the
//! manifest is replaced, whole, under a lock. So a reader sees either the old state or the new one, and
//! two writers at once both get in. Start with [`Store::save`] and [`Store::load_all`].

use crate::cache::{self, Keep, Stamp};
use crate::error::no_room;
use crate::list::{ListFilter, wanted_machine};
use crate::overlay::overlay;
use crate::{CatalogError, Facts, read_offers, write_offers};
use jiff::Timestamp;
use lessee_model::{Catalog, Machine, Origin, did_you_mean};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MANIFEST: &str = "manifest.json";
const SCHEMA: &str = "lessee/snapshots/v1";
/// Names that mean the facts compiled in.
const BUILT_IN: [&str; 2] = ["built-in", "builtin"];

/// Where a snapshot came from, as the caller knows it.
#[derive(Clone, Debug)]
pub struct SnapshotMeta {
    /// File or address.
    pub source: String,
    /// `skypilot`, `gpuhunt`, `focus`, `quote`, `offers`, `api`
    pub format: String,
    pub imported_at: Timestamp,
}

/// One entry of the manifest. Entries of one name are its history; the newest counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotInfo {
    pub name: String,
    pub file: String,
    pub source: String,
    pub format: String,
    pub imported_at: Timestamp,
    /// Of the table file, in hex.
    pub sha256: String,
    /// Prices in the table.
    pub rows: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    schema: String,
    snapshots: Vec<SnapshotInfo>,
}

/// All offers, and what could not be read of them: nothing is passed over in silence.
#[derive(Debug)]
pub struct Loaded {
    pub catalog: Catalog,
    pub problems: Vec<CatalogError>,
}

/// The folder with the user's snapshots. It need not exist before the first [`Store::save`].
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    cache: Option<PathBuf>,
}

impl Store {
    pub fn open(folder: impl Into<PathBuf>) -> Store {
        Store {
            folder: folder.into(),
            cache: None,
        }
    }

    /// Keeps parsed snapshots in this folder, so that large ones load fast.
    #[must_use]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Store {
        self.cache = Some(folder.into());
        self
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All entries with their history, oldest first.
    ///
    /// # Errors
    /// The manifest is damaged or cannot be read.
    pub fn snapshots(&self) -> Result<Vec<SnapshotInfo>, CatalogError> {
        let path = self.folder.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(CatalogError::Io {
                    path,
                    action: "read",
                    source,
                });
            }
        };
        let wrong = |what| CatalogError::Manifest {
            path: path.clone(),
            what,
        };
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|e| wrong(format!("{}:{}", e.line(), e.column())))?;
        if manifest.schema != SCHEMA {
            return Err(wrong(manifest.schema));
        }
        // a name in the manifest must not reach outside the folder
        if let Some(odd) = manifest
            .snapshots
            .iter()
            .find(|s| s.file.contains(['/', '\\']) || s.file.starts_with('.'))
        {
            return Err(wrong(odd.file.clone()));
        }
        let mut all = manifest.snapshots;
        all.sort_by_key(|s| s.imported_at);
        Ok(all)
    }

    /// Adds a snapshot; an earlier one of the same name stays as history.
    ///
    /// # Errors
    /// The name is not usable, or the folder cannot be locked or written. Then nothing has changed.
    pub fn save(
        &self,
        name: &str,
        offers: &Catalog,
        meta: &SnapshotMeta,
    ) -> Result<SnapshotInfo, CatalogError> {
        check_name(name)?;
        fs::create_dir_all(&self.folder).map_err(|e| self.io("write", MANIFEST, e))?;
        let mut bytes = Vec::new();
        write_offers(&mut bytes, offers).map_err(|e| self.io("write", name, e))?;
        let sha256 = hex(&Sha256::digest(&bytes));
        let info = SnapshotInfo {
            name: name.to_owned(),
            file: format!(
                "{name}.{}.{}.csv",
                meta.imported_at.strftime("%Y%m%dT%H%M%SZ"),
                &sha256[..12]
            ),
            source: meta.source.clone(),
            format: meta.format.clone(),
            imported_at: meta.imported_at,
            sha256,
            rows: offers.offers.iter().map(|o| o.prices.len() as u64).sum(),
        };
        let _lock = self.lock()?;
        // read before anything is written: a damaged list stops the import, not the table beside it
        let mut all = self.snapshots()?;
        let known = all.iter().any(|s| s.file == info.file);
        self.replace(&info.file, &bytes)?;
        all.retain(|s| s.file != info.file);
        all.push(info.clone());
        if let Err(e) = self.write_manifest(all) {
            // a table that no list names would lie there for ever
            if !known {
                let _ = fs::remove_file(self.folder.join(&info.file));
            }
            return Err(e);
        }
        Ok(info)
    }

    /// Removes a snapshot with its whole history and says which files went.
    ///
    /// # Errors
    /// No such snapshot, or a file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<Vec<SnapshotInfo>, CatalogError> {
        let known = self.snapshots()?;
        if !known.iter().any(|s| s.name == name) {
            return Err(missing(name, &known));
        }
        let _lock = self.lock()?;
        let (gone, kept): (Vec<_>, Vec<_>) =
            self.snapshots()?.into_iter().partition(|s| s.name == name);
        // the list first, so that it never names a table that is gone; on a full disk the tables make room
        match self.write_manifest(kept.clone()) {
            Err(CatalogError::Io { source, .. }) if no_room(&source) => {
                self.delete_tables(&gone)?;
                self.write_manifest(kept)?;
            }
            Err(e) => return Err(e),
            Ok(()) => self.delete_tables(&gone)?,
        }
        Ok(gone)
    }

    fn delete_tables(&self, gone: &[SnapshotInfo]) -> Result<(), CatalogError> {
        for info in gone {
            if let Some(path) = self.cache_path(info) {
                let _ = fs::remove_file(path);
            }
            match fs::remove_file(self.folder.join(&info.file)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(self.io("remove", &info.file, e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The entry that `name` (the newest), `name@2026-11-30` or `name@2026-11-30T10:15` (the newest of
    /// that day or minute) means.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, reference: &str) -> Result<SnapshotInfo, CatalogError> {
        let known = self.snapshots()?;
        let (name, when) = reference.split_once('@').unwrap_or((reference, ""));
        known
            .iter()
            .rev()
            .find(|s| s.name == name && s.imported_at.to_string().starts_with(when))
            .cloned()
            .ok_or_else(|| missing(reference, &known))
    }

    /// One snapshot alone (see [`Store::find`]; `built-in` = the facts), with the rows that could not be read.
    ///
    /// # Errors
    /// It does not exist or its table is cut or damaged.
    pub fn load(&self, reference: &str, facts: &Facts) -> Result<Loaded, CatalogError> {
        if BUILT_IN.contains(&reference) {
            return Ok(Loaded {
                catalog: facts.catalog.clone(),
                problems: Vec::new(),
            });
        }
        self.load_table(&self.find(reference)?, facts, Keep::All)
    }

    /// The built-in offers with the newest snapshot of each name laid over them: a row of the user's
    /// replaces a built-in or older row of the same place, machine type and way of paying.
    ///
    /// # Errors
    /// None at present: a list of snapshots or a table that cannot be read is reported in
    /// [`Loaded::problems`], and what is built in can be worked with all the same.
    pub fn load_all(&self, facts: &Facts) -> Result<Loaded, CatalogError> {
        self.load_layers(facts, None)
    }

    /// As [`Store::load_all`], for `list` with this filter: offers of machines that it excludes may be
    /// left out, so that a few offers among many load fast.
    ///
    /// # Errors
    /// As [`Store::load_all`].
    pub fn load_matching(
        &self,
        facts: &Facts,
        filter: &ListFilter,
    ) -> Result<Loaded, CatalogError> {
        match wanted_machine(facts, filter) {
            Some(wanted) => self.load_layers(facts, Some(&wanted)),
            None => self.load_layers(facts, None),
        }
    }

    fn load_layers(
        &self,
        facts: &Facts,
        wanted: Option<&dyn Fn(&Machine) -> bool>,
    ) -> Result<Loaded, CatalogError> {
        let mut out = Loaded {
            catalog: facts.catalog.clone(),
            problems: Vec::new(),
        };
        let all = self.snapshots().unwrap_or_else(|problem| {
            out.problems.push(problem);
            Vec::new()
        });
        let mut newest: Vec<SnapshotInfo> = Vec::new();
        for info in all {
            newest.retain(|s| s.name != info.name);
            newest.push(info);
        }
        let mut below = HashSet::new();
        for info in newest {
            let keep = match wanted {
                None => Keep::All,
                Some(machine) => {
                    let offers = &out.catalog.offers;
                    below.extend(offers.iter().map(|o| o.instance_type.clone()));
                    Keep::Some {
                        machine,
                        instance_types: &below,
                    }
                }
            };
            match self.load_table(&info, facts, keep) {
                Ok(mut loaded) => {
                    out.problems.append(&mut loaded.problems);
                    out.catalog = overlay(out.catalog, loaded.catalog);
                }
                Err(problem) => out.problems.push(problem),
            }
        }
        Ok(out)
    }

    fn load_table(
        &self,
        info: &SnapshotInfo,
        facts: &Facts,
        keep: Keep<'_>,
    ) -> Result<Loaded, CatalogError> {
        let path = self.folder.join(&info.file);
        let read_error = |e| self.io("read", &info.file, e);
        let meta = fs::metadata(&path).map_err(read_error)?;
        let origin = Origin::User(Arc::from(info.name.as_str()));
        let stamp = Stamp {
            file: info.file.clone(),
            size: meta.len(),
            modified_ns: meta
                .modified()
                .ok()
                .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |d| d.as_nanos()),
        };
        let cache_path = self.cache_path(info);
        if let Some(catalog) = cache_path
            .as_deref()
            .and_then(|p| cache::read(p, &stamp, &origin, keep))
        {
            return Ok(Loaded {
                catalog,
                problems: Vec::new(),
            });
        }
        let text = fs::read_to_string(&path).map_err(read_error)?;
        let (catalog, bad) = read_offers(&text, &info.file, &facts.gpus, &origin)?;
        // a table with unreadable rows is parsed each time, so that they are reported each time
        if let Some(p) = cache_path.as_deref().filter(|_| bad.is_empty()) {
            cache::write(p, &stamp, &catalog);
        }
        let problems = bad
            .into_iter()
            .map(|row| CatalogError::Stored {
                file: info.file.clone(),
                line: row.line,
                problem: row.problem,
            })
            .collect();
        Ok(Loaded { catalog, problems })
    }

    fn cache_path(&self, info: &SnapshotInfo) -> Option<PathBuf> {
        // two data folders may share one cache folder
        let key = Sha256::digest(self.folder.join(&info.file).as_os_str().as_encoded_bytes());
        Some(
            self.cache
                .as_ref()?
                .join(format!("offers-{}.bin", &hex(&key)[..20])),
        )
    }

    fn lock(&self) -> Result<File, CatalogError> {
        let path = self.folder.join(".lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|e| self.io("lock", ".lock", e))?;
        file.lock().map_err(|e| self.io("lock", ".lock", e))?;
        self.sweep();
        // released when the file is closed
        Ok(file)
    }

    /// Deletes what a writer that was killed left half written. Under the lock nobody else is writing. Tables
    /// are never swept: where the list was lost they are all that is left.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') && name.ends_with(".tmp") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn write_manifest(&self, snapshots: Vec<SnapshotInfo>) -> Result<(), CatalogError> {
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            snapshots,
        };
        let mut text = serde_json::to_string_pretty(&manifest)
            .map_err(|e| self.io("write", MANIFEST, e.into()))?;
        text.push('\n');
        self.replace(MANIFEST, text.as_bytes())
    }

    /// The file has either its old content or all of the new one, also after a power cut.
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), CatalogError> {
        let temporary = self
            .folder
            .join(format!(".{name}.{}.tmp", std::process::id()));
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, self.folder.join(name))?;
            if let Ok(folder) = File::open(&self.folder) {
                // not every system can sync a directory; the rename itself is done
                let _ = folder.sync_all();
            }
            Ok(())
        };
        write().map_err(|e| {
            let _ = fs::remove_file(&temporary);
            self.io("write", name, e)
        })
    }

    fn io(&self, action: &'static str, name: &str, source: std::io::Error) -> CatalogError {
        CatalogError::Io {
            path: self.folder.join(name),
            action,
            source,
        }
    }
}

fn missing(name: &str, known: &[SnapshotInfo]) -> CatalogError {
    CatalogError::NoSnapshot {
        name: name.to_owned(),
        suggestion: did_you_mean(name, known.iter().map(|s| s.name.as_str())).map(str::to_owned),
    }
}

fn check_name(name: &str) -> Result<(), CatalogError> {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let usable = !name.is_empty()
        && name.len() <= 64
        && name.chars().all(good)
        && !name.starts_with(['.', '-'])
        && !BUILT_IN.contains(&name);
    if usable {
        Ok(())
    } else {
        Err(CatalogError::SnapshotName {
            name: name.chars().take(80).collect(),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
