//! `trace import FILE...`: each file or folder becomes one trace of the user's.

use super::{open, records, remarks, store};
use crate::args::TraceImportArgs;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Msg};
use lessee_report::trace::{
    SavedTraceDoc, TraceImportDoc, TraceImportedDoc, import_report, record_doc,
};
use lessee_traces::Folder;
use std::path::Path;

pub(super) fn run(
    args: &TraceImportArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if args.name.is_some() && args.files.len() > 1 {
        return Err(Failure::usage(Msg::new("trace-one-name")));
    }
    let store = store(settings);
    let texts = printer.texts();
    // all are read before the first is kept: a bad file among them changes nothing
    let mut read = Vec::new();
    for file in &args.files {
        let mut folder = open(file, &args.reading, &store)?;
        complete(&mut folder, args)?;
        read.push((file, folder));
    }
    let names: Vec<String> = read
        .iter()
        .map(|(file, _)| args.name.clone().unwrap_or_else(|| name_of(file)))
        .collect();
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) && !args.dry_run {
            let twice = Msg::new("trace-name-twice").arg("name", name.clone());
            return Err(Failure::usage(twice).hint(Msg::new("hint-trace-name")));
        }
    }
    if !args.dry_run {
        let kept = store.list()?;
        for ((file, _), name) in read.iter().zip(&names) {
            let place = file.display().to_string();
            let Some(old) = kept.iter().find(|k| k.name == *name && k.source != place) else {
                continue;
            };
            // public records of different years bear the same file name
            let msg = Msg::new("trace-name-taken")
                .arg("name", name.clone())
                .arg("source", old.source.clone());
            if args.name.is_none() {
                return Err(Failure::usage(msg).hint(Msg::new("hint-trace-name-taken")));
            }
            printer.warn(
                &Msg::new("trace-replaced")
                    .arg("name", name.clone())
                    .arg("source", old.source.clone()),
            );
        }
    }
    let now = settings.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut traces = Vec::new();
    for ((file, folder), name) in read.iter().zip(names) {
        let place = file.display().to_string();
        let saved = match args.dry_run {
            true => None,
            false => Some(store.save(&name, &place, folder, &now)?),
        };
        let mut formats: Vec<String> = folder
            .reads
            .iter()
            .map(|r| r.format.as_str().to_owned())
            .collect();
        formats.sort();
        formats.dedup();
        traces.push(TraceImportedDoc {
            file: place,
            formats,
            records: records(folder)
                .into_iter()
                .map(|r| record_doc(r, 1))
                .collect(),
            remarks: remarks(folder, texts),
            skipped: folder.skipped.clone(),
            saved: saved.map(|s| SavedTraceDoc {
                name: s.name,
                file: s.path.display().to_string(),
            }),
        });
    }
    let doc = TraceImportDoc {
        schema: "lessee/trace-import/v1".to_owned(),
        traces,
    };
    printer.report(import_report(&doc, texts))?;
    Ok(Exit::Done)
}

/// What the files do not say of themselves is taken from the flags; what they say stands.
///
/// # Errors
/// A flag says something else than a file.
fn complete(folder: &mut Folder, args: &TraceImportArgs) -> Result<(), Failure> {
    for record in folder.reads.iter_mut().flat_map(|r| &mut r.records) {
        let about = record.about_mut();
        let source = about.source.clone();
        for (flag, said, known) in [
            ("--provider", &args.provider, &mut about.provider),
            ("--region", &args.region, &mut about.region),
            ("--machine", &args.machine, &mut about.machine),
        ] {
            let Some(said) = said.as_deref().map(str::trim) else {
                continue;
            };
            if said.is_empty() {
                let empty = Msg::new("setting-bad-value")
                    .arg("key", flag)
                    .arg("value", "");
                return Err(Failure::usage(empty));
            }
            match known {
                Some(known) if !known.eq_ignore_ascii_case(said) => {
                    let msg = Msg::new("trace-says-otherwise")
                        .arg("source", source)
                        .arg("flag", flag)
                        .arg("known", known.clone())
                        .arg("said", said.to_owned());
                    return Err(Failure::usage(msg).hint(Msg::new("hint-trace-says-otherwise")));
                }
                Some(_) => {}
                None => *known = Some(said.to_owned()),
            }
        }
    }
    Ok(())
}

/// The file's name without what a trace's name cannot have; of `ZONE/full.json` the folder's.
fn name_of(path: &Path) -> String {
    let stem = |p: &Path| p.file_stem().map(|s| s.to_string_lossy().into_owned());
    let own = stem(path).unwrap_or_default();
    let whole = match path.parent().and_then(stem) {
        Some(folder) if own == "full" => folder,
        _ => own,
    };
    let usable = |c: char| {
        if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
            c
        } else {
            '-'
        }
    };
    let name: String = whole.chars().take(60).map(usable).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        "trace".to_owned()
    } else {
        name.to_owned()
    }
}
