//! `accept env --save`, `--diff` and `--rollback`: a lock of all that is installed, what changed since, and the way back.

use super::read;
use crate::args::EnvArgs;
use lessee_accept::env::{Compared, Environment, NoteCode, SourceKind, changes, rollback};
use lessee_console::{Failure, Printer, Settings, ask};
use lessee_model::{Exit, Msg};
use lessee_report::accept::{
    EnvironmentDiffDoc, RollbackDoc, environment_diff_report, rollback_report,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A lock of the largest machines has some megabytes.
const LARGEST: u64 = 256 << 20;

/// A lock is evidence: none is written over.
pub(super) fn must_be_new(path: &Path) -> Result<(), Failure> {
    match path.exists() {
        false => Ok(()),
        true => Err(Failure::usage(
            Msg::new("accept-env-exists").arg("path", path.display().to_string()),
        )
        .hint(Msg::new("hint-accept-env-exists"))),
    }
}

/// The lock as it is written.
pub(super) fn written(env: &Environment) -> Vec<u8> {
    let mut text = serde_json::to_string_pretty(env).unwrap_or_default();
    text.push('\n');
    text.into_bytes()
}

pub(super) fn save(path: &Path, env: &Environment, bytes: &[u8]) -> Result<(), Failure> {
    if env.is_bare() {
        let msg = Msg::new("accept-env-nothing-to-save");
        return Err(Failure::usage(msg).exit(Exit::CannotTell));
    }
    let part = path.with_extension("part");
    std::fs::write(&part, bytes)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|e| {
            let _ = std::fs::remove_file(&part);
            Failure::write(path, &e)
        })
}

fn saved(path: &Path) -> Result<Environment, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|f| f.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|e| Failure::read(path, &e))?;
    let wrong = |detail: String| {
        let msg = Msg::new("accept-env-no-lock")
            .arg("path", path.display().to_string())
            .arg("detail", detail);
        Failure::usage(msg).hint(Msg::new("hint-accept-env-save"))
    };
    if bytes.len() as u64 > LARGEST {
        return Err(wrong(format!("> {} MiB", LARGEST >> 20)));
    }
    let env: Environment = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
    match env.schema == lessee_accept::env::ENVIRONMENT_SCHEMA {
        true => Ok(env),
        false => Err(wrong(env.schema.chars().take(60).collect())),
    }
}

/// Where the lock was read from, unless another place is named.
fn place(args: &EnvArgs, saved: &Environment) -> EnvArgs {
    let mut out = args.clone();
    if out.inputs.is_empty() && out.root.is_none() {
        for source in &saved.sources {
            match source.kind {
                SourceKind::Venv => out.inputs.push(PathBuf::from(&source.path)),
                SourceKind::Root => out.root = Some(PathBuf::from(&source.path)),
                _ => {}
            }
        }
    }
    out
}

/// `--diff` and `--rollback`.
pub(in crate::commands::accept) fn compare(
    args: &EnvArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let at = super::now(settings);
    let file = args.diff.as_ref().or(args.rollback.as_ref());
    let was = saved(file.map_or(Path::new(""), |p| p))?;
    let args = place(args, &was);
    let is = read(&args, &at, printer)?;
    if args.rollback.is_some() {
        return back(&args, &was, &is, settings, printer);
    }
    let not_read: Vec<String> = unread(&is);
    let Compared {
        changes,
        left_out,
        any,
    } = match is.is_bare() && !not_read.is_empty() {
        true => Compared::default(),
        false => changes(&was, &is),
    };
    let doc = EnvironmentDiffDoc {
        schema: "lessee/environment-diff/v1".to_owned(),
        saved_at: was.read_at.clone(),
        read_at: at,
        changes,
        left_out,
        not_read,
    };
    printer.report(environment_diff_report(&doc, any, printer.texts()))?;
    Ok(
        match (doc.changes.is_empty(), doc.not_read.is_empty() && any) {
            (false, _) => Exit::No,
            (true, true) => Exit::Done,
            (true, false) => Exit::CannotTell,
        },
    )
}

/// Notes that leave something unknown.
fn unread(env: &Environment) -> Vec<String> {
    let open = |c: NoteCode| c.is_open() || c == NoteCode::Several;
    let notes = env.notes.iter().filter(|n| open(n.code));
    notes
        .map(|n| {
            format!("{}: {} {}", n.path, n.code.as_str(), n.detail)
                .trim_end()
                .to_owned()
        })
        .collect()
}

fn back(
    args: &EnvArgs,
    was: &Environment,
    is: &Environment,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    // what was removed may be all that there was: that is a state too, but an unreadable one is none
    if let Some(first) = unread(is)
        .first()
        .filter(|_| is.is_bare() && is.pythons.is_empty())
    {
        let msg = Msg::new("accept-env-not-read").arg("what", first.as_str());
        return Err(Failure::usage(msg).exit(Exit::CannotTell));
    }
    let here = |k| matches!(k, SourceKind::Live | SourceKind::Venv);
    let live = is.sources.iter().all(|s| here(s.kind));
    if args.yes && !live {
        return Err(Failure::usage(Msg::new("accept-env-not-live")));
    }
    let way = rollback(was, is);
    let any = way.any;
    let mut doc = RollbackDoc::new(&was.read_at, &is.read_at, way);
    let runs =
        !doc.steps.is_empty() && live && !args.dry_run && (args.yes || asked(&doc, printer)?);
    if runs {
        doc.ran = true;
        run(&mut doc, printer)?;
        let after = read(args, &super::now(settings), printer)?;
        doc.left = Some(changes(was, &after).changes);
    }
    doc.not_read = [unread(was), unread(is)].concat();
    printer.report(rollback_report(&doc, any, printer.texts()))?;
    if !any {
        return Ok(Exit::CannotTell);
    }
    let done = match &doc.left {
        Some(left) => left.is_empty(),
        None => doc.lost.is_empty(),
    };
    Ok(match done {
        true => Exit::Done,
        false => Exit::No,
    })
}

/// Asks at a terminal; elsewhere the commands are only printed.
fn asked(doc: &RollbackDoc, printer: &Printer) -> Result<bool, Failure> {
    use std::io::IsTerminal;
    if !std::io::stdin().is_terminal() || printer.wants_json() {
        return Ok(false);
    }
    for step in &doc.steps {
        printer.note(&Msg::new("accept-env-step").arg("line", step.line.as_str()));
    }
    ask(
        printer,
        &Msg::new("accept-env-ask-run").arg("n", doc.steps.len()),
    )
}

fn run(doc: &mut RollbackDoc, printer: &Printer) -> Result<(), Failure> {
    for step in &doc.steps {
        printer.note(&Msg::new("accept-env-step").arg("line", step.line.as_str()));
        let ran = lessee_image::run(&step.argv).map_err(|e| {
            let program = step.argv.first().map_or("", String::as_str);
            let msg = Msg::new("accept-env-run-failed")
                .arg("program", program)
                .arg("detail", e.to_string());
            Failure::usage(msg).exit(Exit::Unreachable)
        })?;
        doc.exits.push(ran.code);
        if !ran.is_done() {
            break;
        }
    }
    Ok(())
}
