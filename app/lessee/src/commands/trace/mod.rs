//! `trace ...`: one file a verb. Reading is `io/traces`, figures are `core/spot`, words are `app/report`.

mod import;
mod show;
mod stats;

use crate::args::{TraceCommand, TraceReading};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Explain, Msg};
use lessee_report::Texts;
use lessee_report::trace::TraceRemarkDoc;
use lessee_spot::stats::duplicates;
use lessee_spot::trace::{Record, Series};
use lessee_traces::{Folder, Options, Remark, TraceError, TraceStore, read_path, split_column};
use std::path::Path;

pub(crate) fn run(
    command: &TraceCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    match command {
        TraceCommand::Import(args) => import::run(args, settings, printer),
        TraceCommand::Show(args) => show::run(args, settings, printer),
        TraceCommand::Stats(args) => stats::run(args, settings, printer),
    }
}

/// The user's own traces, beside the catalog snapshots.
pub(super) fn store(settings: &Settings) -> TraceStore {
    TraceStore::open(settings.data_dir.value.join("traces"))
}

fn options(reading: &TraceReading) -> Options {
    Options {
        polarity: reading.polarity.as_deref().and_then(|p| p.parse().ok()),
        column: None,
        format: reading.format.as_deref().and_then(|f| f.parse().ok()),
    }
}

/// A file or folder, else a trace of the user's by name; `NAME#ZONE` is one zone of it.
pub(super) fn open(
    argument: &Path,
    reading: &TraceReading,
    store: &TraceStore,
) -> Result<Folder, TraceError> {
    let (path, column) = split_column(argument);
    let text = path.to_string_lossy();
    // what has the looks of a file is looked for as one, and named as one when it is not there; names may have dots
    let looks = text.contains(['/', '\\']) || path.extension().is_some();
    let file = path.exists() || looks && !store.holds(&text);
    if file {
        return read_path(argument, &options(reading));
    }
    Ok(Folder {
        reads: vec![store.load(&text, column)?],
        skipped: Vec::new(),
    })
}

/// Series to replay a plan's spot options on: those asked for, then the user's own. One that names no provider is
/// taken for the one whose regions are named so.
///
/// # Errors
/// One that was asked for cannot be read or holds no series; of the user's own such a one is only told of.
pub(super) fn series_to_replay(
    asked: &[std::path::PathBuf],
    polarity: Option<&str>,
    settings: &Settings,
    printer: &Printer,
) -> Result<(Vec<Series>, usize), Failure> {
    let store = store(settings);
    let reading = TraceReading {
        polarity: polarity.map(str::to_owned),
        format: None,
    };
    let mut out: Vec<Series> = Vec::new();
    for argument in asked {
        let folder = open(argument, &reading, &store)?;
        let before = out.len();
        out.extend(folder.reads.iter().flat_map(|r| r.series()).cloned());
        if out.len() == before {
            let source = argument.display().to_string();
            return Err(Failure::usage(
                Msg::new("trace-without-availability").arg("source", source),
            ));
        }
    }
    let given = out.len();
    for kept in store.list()? {
        match store.load(&kept.name, None) {
            Ok(read) => out.extend(read.series().cloned()),
            Err(e) => printer.warn(&e.msg()),
        }
    }
    for series in &mut out {
        let about = &mut series.about;
        if about.provider.is_none() {
            let region = about.region.as_deref().unwrap_or(&about.zone);
            about.provider = lessee_traces::provider_of(region).map(str::to_owned);
        }
    }
    Ok((out, given))
}

/// All of several arguments, in their order.
fn open_all(
    arguments: &[std::path::PathBuf],
    reading: &TraceReading,
    store: &TraceStore,
) -> Result<Folder, Failure> {
    let mut all = Folder::default();
    for argument in arguments {
        let folder = open(argument, reading, store)?;
        all.reads.extend(folder.reads);
        all.skipped.extend(folder.skipped);
    }
    Ok(all)
}

fn records(folder: &Folder) -> Vec<&Record> {
    folder.reads.iter().flat_map(|r| &r.records).collect()
}

/// What the importers remarked, and what only shows with all zones side by side.
fn remarks(folder: &Folder, texts: &Texts) -> Vec<TraceRemarkDoc> {
    let doc = |r: &Remark| TraceRemarkDoc {
        code: r.code.to_string(),
        zone: r.zone.clone(),
        text: texts.msg(&r.msg),
    };
    let mut out: Vec<TraceRemarkDoc> = folder
        .reads
        .iter()
        .flat_map(|r| &r.remarks)
        .map(doc)
        .collect();
    let all: Vec<&Series> = folder.reads.iter().flat_map(|r| r.series()).collect();
    for group in duplicates(&all) {
        let names: Vec<&str> = group
            .iter()
            .map(|i| all[*i].about.source.as_str())
            .collect();
        let msg = Msg::new("trace-remark-identical").arg("zones", names.join(", "));
        out.push(TraceRemarkDoc {
            code: "identical_zones".to_owned(),
            zone: String::new(),
            text: texts.msg(&msg),
        });
    }
    out
}
