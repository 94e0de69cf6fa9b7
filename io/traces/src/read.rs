//! The front door: a file or a folder becomes records and remarks.

use crate::formats::{self, Format};
use crate::remark::Remark;
use crate::source::{MAX_TRACE, Source};
use crate::{Polarity, TraceError};
use lessee_catalog::CatalogError;
use lessee_model::Msg;
use lessee_spot::trace::{Record, Series};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What the user says of a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The meaning of a 1, where the file does not state it.
    pub polarity: Option<Polarity>,
    /// Only this zone or column; [`split_column`] finds it in `FILE#COLUMN`.
    pub column: Option<String>,
    /// Else the format is recognised by content.
    pub format: Option<Format>,
}

/// What a file held.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// How it was read.
    pub format: Format,
    /// As the user named it.
    pub file: String,
    /// Never empty; in the order of the file.
    pub records: Vec<Record>,
    /// What has to be known before a figure is trusted.
    pub remarks: Vec<Remark>,
}

impl Read {
    /// The availability series among the records.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.records.iter().filter_map(|r| match r {
            Record::Series(series) => Some(series),
            _ => None,
        })
    }
}

/// What a folder held.
#[derive(Debug, Default)]
pub struct Folder {
    /// One entry a file; probe rounds of one folder together are one entry.
    pub reads: Vec<Read>,
    /// Files in no format of traces, as the folder names them: licences, notes, results.
    pub skipped: Vec<String>,
}

/// `FILE#COLUMN` -> file and column. A file whose own name has a `#` is taken whole where it exists.
pub fn split_column(argument: &Path) -> (PathBuf, Option<String>) {
    let text = argument.to_string_lossy();
    match text.rsplit_once('#') {
        Some((file, column)) if !file.is_empty() && !argument.exists() => {
            (PathBuf::from(file), Some(column.to_owned()))
        }
        _ => (argument.to_owned(), None),
    }
}

/// Reads one file of any known format; `path` may be `FILE#COLUMN`.
///
/// # Errors
/// A file that cannot be read, is in no known format, is cut or broken, has no such column, or whose zeros and
/// ones have no stated meaning.
pub fn read(path: &Path, options: &Options) -> Result<Read, TraceError> {
    let (path, column) = split_column(path);
    let options = Options {
        column: column.or_else(|| options.column.clone()),
        ..options.clone()
    };
    read_bytes(&path, &bytes_of(&path)?, &options)
}

/// As [`read`], with the bytes at hand; files beside `path` that belong to it are still looked for.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: &Path, bytes: &[u8], options: &Options) -> Result<Read, TraceError> {
    let source = Source::new(path, bytes)?;
    let mut read = formats::import(&source, options)?;
    if let Some(column) = &options.column {
        select(&mut read, column)?;
    }
    if read.records.is_empty() {
        return Err(TraceError::NoSamples { file: source.file });
    }
    Ok(read)
}

/// A file, `FILE#COLUMN`, or every trace below a folder, in the order of names.
///
/// # Errors
/// As [`read`]; of a folder: none of its files is a trace, or one that is cannot be read.
pub fn read_path(path: &Path, options: &Options) -> Result<Folder, TraceError> {
    if !path.is_dir() {
        return Ok(Folder {
            reads: vec![read(path, options)?],
            skipped: Vec::new(),
        });
    }
    let mut files = Vec::new();
    list(path, 0, &mut files)?;
    files.sort();
    let mut folder = Folder::default();
    for file in &files {
        match read(file, options) {
            Ok(read) => folder.reads.push(read),
            // prices without times are joined to the series beside them
            Err(
                TraceError::UnknownFormat { .. }
                | TraceError::NoTimes { .. }
                | TraceError::Input(
                    CatalogError::Empty { .. }
                    | CatalogError::Packed { .. }
                    | CatalogError::NotText { .. },
                ),
            ) => folder.skipped.push(file.display().to_string()),
            Err(e) => return Err(e),
        }
    }
    if folder.reads.is_empty() {
        return Err(TraceError::NoTraces {
            folder: path.display().to_string(),
            files: files.len(),
        });
    }
    folder.reads = join_rounds(folder.reads, path);
    Ok(folder)
}

/// Any bytes as any format (`None`: recognised); whatever happens, it returns. The entry for fuzzers.
pub fn fuzz_read(
    format: Option<Format>,
    polarity: Option<Polarity>,
    bytes: &[u8],
) -> Result<Read, TraceError> {
    let options = Options {
        polarity,
        column: None,
        format,
    };
    // no folder of this name: nothing is looked for beside it
    read_bytes(
        Path::new("no-such-folder/us-east-1a_v100_1"),
        bytes,
        &options,
    )
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, TraceError> {
    let name = path.display().to_string();
    let io = |source| CatalogError::Io {
        path: path.to_owned(),
        action: "read",
        source,
    };
    let meta = std::fs::metadata(path).map_err(io)?;
    if meta.is_dir() {
        return Err(CatalogError::Directory { file: name }.into());
    }
    if meta.is_file() && meta.len() > MAX_TRACE {
        return Err(CatalogError::TooLarge {
            file: name,
            size: meta.len(),
            limit: MAX_TRACE,
        }
        .into());
    }
    // the first bytes tell a binary file before the rest is read; a pipe has no length
    let file = std::fs::File::open(path).map_err(io)?;
    Ok(lessee_catalog::read_stream(
        file.take(MAX_TRACE + 1),
        &name,
        path,
    )?)
}

fn list(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) -> Result<(), TraceError> {
    let io = |source| CatalogError::Io {
        path: folder.to_owned(),
        action: "read",
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let kind = entry.file_type().map_err(io)?;
        // links are not followed: they may lead round in circles
        if kind.is_dir() && depth < 8 {
            list(&entry.path(), depth + 1, into)?;
        } else if kind.is_file() {
            into.push(entry.path());
        }
    }
    Ok(())
}

/// Keeps the records of one zone or column.
fn select(read: &mut Read, column: &str) -> Result<(), TraceError> {
    let names = |r: &Record| {
        let about = r.about();
        let tail = about
            .source
            .rsplit_once('#')
            .map(|(_, tail)| tail.to_owned());
        [Some(about.zone.clone()), tail]
    };
    let known: Vec<String> = read
        .records
        .iter()
        .map(|r| r.about().zone.clone())
        .collect();
    read.records
        .retain(|r| names(r).iter().flatten().any(|n| n == column));
    if read.records.is_empty() {
        return Err(TraceError::NoColumn {
            file: read.file.clone(),
            column: column.to_owned(),
            known,
        });
    }
    let zones: Vec<String> = read
        .records
        .iter()
        .map(|r| r.about().zone.clone())
        .collect();
    read.remarks
        .retain(|r| r.zone.is_empty() || zones.contains(&r.zone));
    Ok(())
}

/// Rounds of a prober, one file each, become one series a zone; rounds that are missing stay missing.
fn join_rounds(reads: Vec<Read>, folder: &Path) -> Vec<Read> {
    let (rounds, mut rest): (Vec<Read>, Vec<Read>) = reads
        .into_iter()
        .partition(|r| r.format == Format::ProbeRound);
    if rounds.len() < 2 {
        rest.extend(rounds);
        return rest;
    }
    let count = rounds.len();
    let mut zones: BTreeMap<String, Vec<Series>> = BTreeMap::new();
    let mut remarks = Vec::new();
    for round in rounds {
        remarks.extend(round.remarks);
        for record in round.records {
            if let Record::Series(series) = record {
                zones
                    .entry(series.about.zone.clone())
                    .or_default()
                    .push(series);
            }
        }
    }
    let name = folder.display().to_string();
    let records = zones
        .into_values()
        .filter_map(|parts| joined(parts, &name))
        .map(Record::Series)
        .collect();
    remarks.dedup_by(|a, b| a.code == b.code && a.zone == b.zone);
    remarks.push(Remark::new(
        "rounds_joined",
        "",
        Msg::new("trace-remark-rounds-joined").arg("n", count),
    ));
    rest.push(Read {
        format: Format::ProbeRound,
        file: name,
        records,
        remarks,
    });
    rest
}

fn joined(mut parts: Vec<Series>, source: &str) -> Option<Series> {
    parts.sort_by_key(|s| s.start);
    let first = parts.first()?.clone();
    let start = first.start?;
    let mut all = Series {
        at_s: Vec::new(),
        up: Vec::new(),
        ..first
    };
    all.about.source = format!("{source}#{}", all.about.zone);
    for part in &parts {
        let shift = part.start? - start;
        // one round told twice is one round
        if all.at_s.last().is_some_and(|last| *last >= shift) {
            continue;
        }
        all.at_s.push(shift);
        all.up.push(part.up.first().copied().flatten());
        all.asked = all.asked.max(part.asked);
    }
    Some(all)
}
