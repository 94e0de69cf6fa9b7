//! `accept FILE.toml`: every check that the file names, one document, and the evidence kept beside it.
//!
//! Paths in the file are looked for beside the file. A check that cannot even start (a capture that is not there) ends the
//! run before anything is written: half an acceptance would be taken for a whole one.

use super::{
    Done, budget, driver, env, evidence, exit, failure, latency, now, offer, security, support,
};
use crate::args::AcceptanceFile;
use crate::facts;
use lessee_accept::Outcome;
use lessee_console::{Failure, Printer, Settings};
use lessee_model::{Exit, Msg};
use lessee_report::accept::{AcceptanceDoc, Beside, acceptance_doc, acceptance_report, junit};
use lessee_report::{Format, Style, render};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn run(
    path: &Path,
    out: Option<&Path>,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let (text, place) = facts::read_text(path)?;
    let mut file = parse(&text, &place)?;
    resolve_paths(&mut file, path.parent().unwrap_or(Path::new("")));
    let texts = printer.texts();
    let (outcomes, beside) = checks(&file, settings, printer)?;
    if outcomes.is_empty() {
        return Err(
            Failure::usage(Msg::new("accept-file-empty").arg("file", place))
                .hint(Msg::new("hint-accept-file")),
        );
    }
    let asked = evidence("acceptance", place, text.as_bytes(), settings);
    let mut doc = acceptance_doc(&outcomes, beside, now(settings), texts);
    doc.check = "all".to_owned();
    doc.name = file.name.clone();
    doc.evidence.push(asked.clone());
    let folder = match out {
        Some(folder) => folder.to_owned(),
        None => beside_file(path),
    };
    let kept = outcomes.iter().flat_map(|o| &o.evidence);
    let mut contents: Vec<(&str, &[u8])> = kept
        .map(|(e, content)| (e.sha256.as_str(), content.as_slice()))
        .collect();
    contents.push((&asked.sha256, text.as_bytes()));
    keep(&folder, &doc, &contents, printer)?;
    printer.report(acceptance_report(&doc, texts))?;
    printer.note(&Msg::new("accept-kept").arg("folder", folder.display().to_string()));
    Ok(exit(doc.verdict))
}

fn checks(
    file: &AcceptanceFile,
    settings: &Settings,
    printer: &Printer,
) -> Result<(Vec<Outcome>, Beside), Failure> {
    let mut outcomes = Vec::new();
    let mut beside = Beside::default();
    let mut add = |done: Done| {
        outcomes.push(done.outcome);
        beside.join(done.beside);
    };
    if let Some(args) = &file.driver {
        add(driver::check(args, settings)?);
    }
    if let Some(args) = &file.latency {
        add(latency::check(args, settings, printer)?);
    }
    if let Some(args) = &file.env {
        add(env::check(args, settings, printer)?);
    }
    if let Some(args) = &file.failure {
        add(failure::check(args, settings, printer)?.into());
    }
    if let Some(args) = &file.budget {
        add(budget::check(args, settings, printer)?);
    }
    if let Some(args) = &file.offer {
        add(offer::check(args, settings, printer.texts())?.into());
    }
    if let Some(args) = &file.support {
        add(support::check(args, settings)?);
    }
    if let Some(args) = &file.security {
        add(security::check(args, settings)?.into());
    }
    Ok((outcomes, beside))
}

fn parse(text: &str, place: &str) -> Result<AcceptanceFile, Failure> {
    toml::from_str(text).map_err(|e| {
        let (line, column) = e.span().map_or((1, 1), |span| {
            let before = &text[..span.start.min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            (line, column)
        });
        Failure::usage(
            Msg::new("error-at")
                .arg("place", format!("{place}:{line}:{column}"))
                .arg("problem", e.message().trim().to_owned()),
        )
        .hint(Msg::new("hint-accept-file"))
    })
}

/// Puts the shared deal into each section, and paths beside the file.
fn resolve_paths(file: &mut AcceptanceFile, folder: &Path) {
    let put = |path: &mut PathBuf| {
        if path.is_relative() && path.as_os_str() != "-" {
            *path = folder.join(&*path);
        }
    };
    if let Some(driver) = &mut file.driver {
        let file = driver.file.iter_mut().filter(|f| !driver::is_live(f));
        file.chain(&mut driver.needs).for_each(put);
    }
    if let Some(latency) = &mut file.latency {
        latency.targets.iter_mut().for_each(put);
    }
    if let Some(security) = &mut file.security {
        let machine = security.machine.iter_mut();
        machine
            .filter(|m| m.as_os_str() != "live")
            .chain(&mut security.targets)
            .chain(&mut security.luks)
            .chain(&mut security.ca)
            .for_each(put);
        for seen in &mut security.seen {
            if let Some((id, path)) = seen.split_once('=') {
                *seen = format!("{id}={}", folder.join(path).display());
            }
        }
        security.provider = security
            .provider
            .take()
            .or_else(|| file.deal.provider.clone());
    }
    if let Some(env) = &mut file.env {
        let paths = env.inputs.iter_mut().chain(&mut env.root);
        paths.chain(&mut env.needs).for_each(put);
        if let Some(text) = env.driver.as_mut().filter(|t| folder.join(t).is_file()) {
            *text = folder.join(&*text).display().to_string();
        }
    }
    if let Some(failure) = &mut file.failure {
        failure.deal = file.deal.clone();
        failure.workload.iter_mut().for_each(put);
    }
    if let Some(budget) = &mut file.budget {
        budget.deal = file.deal.clone();
    }
    if let Some(offer) = &mut file.offer {
        offer.probe.iter_mut().for_each(put);
        offer.offer = offer.offer.take().or_else(|| file.deal.offer.clone());
        if let Some(name) = &mut offer.offer {
            let beside = folder.join(name.as_str());
            let quote = folder.join(name.rsplit_once('#').map_or(name.as_str(), |(f, _)| f));
            if quote.is_file() {
                *name = beside.display().to_string();
            }
        }
    }
    if let Some(support) = &mut file.support {
        support.log.iter_mut().for_each(put);
    }
}

/// `h100.toml` -> `h100-acceptance`
fn beside_file(path: &Path) -> PathBuf {
    let stem = path
        .file_stem()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    path.with_file_name(format!("{stem}-acceptance"))
}

/// Documents and evidence. A folder that holds an earlier acceptance keeps it: nothing that was signed is written over.
fn keep(
    folder: &Path,
    doc: &AcceptanceDoc,
    contents: &[(&str, &[u8])],
    printer: &Printer,
) -> Result<(), Failure> {
    let texts = printer.texts();
    let evidence = folder.join("evidence");
    private(&evidence).map_err(|e| Failure::write(&evidence, &e))?;
    for (hash, content) in contents {
        let path = evidence.join(hash);
        // the name is the content
        if !path.exists() {
            write(&path, content, true)?;
        }
    }
    let stamp = doc.generated_at.replace(':', "");
    let report = acceptance_report(doc, texts);
    let style = Style::PLAIN_80;
    for (ending, content) in [
        ("json", render(&report, Format::Json, style, texts)),
        ("md", render(&report, Format::Markdown, style, texts)),
        ("junit.xml", junit(doc)),
    ] {
        write(
            &folder.join(format!("acceptance-{stamp}.{ending}")),
            content.as_bytes(),
            false,
        )?;
    }
    Ok(())
}

/// A folder for its owner alone: captures may be of files that others may not read.
fn private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn create(path: &Path, private: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if private {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Whole or not at all: a cut document would be taken for a whole one.
fn write(path: &Path, content: &[u8], private: bool) -> Result<(), Failure> {
    let part = path.with_extension("part");
    create(&part, private)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|e| {
            let _ = std::fs::remove_file(&part);
            Failure::write(path, &e)
        })
}
