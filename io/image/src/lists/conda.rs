//! `conda list`, `conda list --export`, `--explicit` and `--json`. Python packages that pip put into an environment of conda
//! are in its list too, under the channel `pypi`.

use super::Listed;
use crate::facts::{conda_record, without_secrets};
use lessee_accept::env::{CondaPackage, Package, PackageFrom, SourceKind};
use serde_json::Value;

pub(super) fn read(text: &str) -> Option<Listed> {
    let mut out = json(text)
        .or_else(|| table(text))
        .or_else(|| explicit(text))
        .or_else(|| export(text))?;
    let python = out.python.conda.iter().find(|p| p.name == "python");
    out.python.version = python.map(|p| p.version.clone());
    Some(out)
}

fn push(package: CondaPackage, out: &mut Listed) {
    if package.channel.as_deref() == Some("pypi") {
        out.python.packages.push(Package {
            name: package.name,
            version: package.version,
            ..Package::default()
        });
        return;
    }
    // a package of conda that is one of Python's too, by the name that both have
    let python = package
        .build
        .as_deref()
        .is_some_and(|b| b.starts_with("py") || b.contains("py3"));
    if python {
        out.python.packages.push(Package {
            name: match package.name.as_str() {
                "pytorch" => "torch".to_owned(),
                name => name.to_owned(),
            },
            version: package.version.clone(),
            from: PackageFrom::Conda,
            build: package.build.as_deref().and_then(cuda_of_build),
            ..Package::default()
        });
    }
    out.python.conda.push(package);
}

/// `py3.11_cuda12.4_cudnn9.1.0_0`, `cpu_py311h...`
fn cuda_of_build(build: &str) -> Option<String> {
    if let Some((_, rest)) = build.split_once("cuda") {
        let version: Vec<&str> = rest.split('_').next()?.split('.').collect();
        if let [major, minor, ..] = version[..] {
            return Some(format!("cu{major}{minor}"));
        }
        // `cuda126_...` of conda-forge
        let digits = version.first()?;
        return (digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_digit()))
            .then(|| format!("cu{digits}"));
    }
    build
        .split('_')
        .any(|p| p == "cpu")
        .then(|| "cpu".to_owned())
}

fn json(text: &str) -> Option<Listed> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let rows = value.as_array()?;
    let is_conda = |row: &Value| row["dist_name"].is_string() || row["build_string"].is_string();
    if rows.is_empty() || !rows.iter().any(is_conda) {
        return None;
    }
    let mut out = Listed::new(SourceKind::CondaJson);
    for row in rows {
        match conda_record(row) {
            Some(package) => push(package, &mut out),
            None => out.missed(&row.to_string()),
        }
    }
    Some(out)
}

/// `# packages in environment at /opt/conda:` and columns.
fn table(text: &str) -> Option<Listed> {
    let place = text
        .lines()
        .find_map(|l| l.strip_prefix("# packages in environment at "))?;
    let mut out = Listed::new(SourceKind::CondaList);
    out.python.prefix = place.trim().trim_end_matches(':').to_owned();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, version, rest @ ..] = &words[..] else {
            out.missed(line);
            continue;
        };
        if !version.starts_with(|c: char| c.is_ascii_alphanumeric()) || rest.len() > 2 {
            out.missed(line);
            continue;
        }
        let package = CondaPackage {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
            build: rest.first().map(|b| (*b).to_owned()),
            channel: rest.get(1).map(|c| (*c).to_owned()),
            ..CondaPackage::default()
        };
        push(package, &mut out);
    }
    Some(out)
}

/// `name=version=build`
fn export(text: &str) -> Option<Listed> {
    text.lines()
        .find(|l| l.starts_with("# This file may be used to create an environment"))?;
    let mut out = Listed::new(SourceKind::CondaExport);
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parts: Vec<&str> = line.split('=').collect();
        let [name, version, build] = parts[..] else {
            out.missed(line);
            continue;
        };
        let pypi = build == "pypi_0" || build == "pypi";
        let package = CondaPackage {
            name: name.to_owned(),
            version: version.to_owned(),
            build: Some(build.to_owned()),
            channel: pypi.then(|| "pypi".to_owned()),
            ..CondaPackage::default()
        };
        push(package, &mut out);
    }
    Some(out)
}

/// One address a line: `https://conda.anaconda.org/conda-forge/linux-64/six-1.16.0-pyh6c4a22f_0.tar.bz2#md5`.
fn explicit(text: &str) -> Option<Listed> {
    text.lines().find(|l| l.trim() == "@EXPLICIT")?;
    let mut out = Listed::new(SourceKind::CondaExport);
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', '@']) {
            continue;
        }
        match address(line) {
            Some(package) => push(package, &mut out),
            None => out.missed(line),
        }
    }
    Some(out)
}

fn address(line: &str) -> Option<CondaPackage> {
    let (url, hash) = match line.split_once('#') {
        Some((url, hash)) => (url, Some(hash)),
        None => (line, None),
    };
    let file = url.rsplit('/').next()?;
    let stem = file
        .strip_suffix(".conda")
        .or(file.strip_suffix(".tar.bz2"))?;
    let (rest, build) = stem.rsplit_once('-')?;
    let (name, version) = rest.rsplit_once('-')?;
    let channel = url.rsplit('/').nth(2)?;
    Some(CondaPackage {
        name: name.to_owned(),
        version: version.to_owned(),
        build: Some(build.to_owned()),
        channel: Some(channel.to_owned()),
        url: Some(without_secrets(url)),
        hash: hash.map(|h| match h.len() {
            64 => format!("sha256={h}"),
            _ => format!("md5={h}"),
        }),
    })
}
