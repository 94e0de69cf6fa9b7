//! Packages that belong together by version where nothing that is installed says so: lists of packages name versions only.
//! Each row of `data/compat/pairs.csv` is one release and what it asks of another; those of torch and triton, and of vLLM
//! and torch, are in their own tables.

use super::{Package, Python, name_key};
use crate::facts::Compat;
use crate::table::{Origin, Row};
use pep508_rs::pep440_rs::{Version, VersionSpecifiers};
use std::str::FromStr;

/// One release and what it asks of another package.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub package: String,
    /// Which releases, as PEP 440 writes it.
    pub versions: VersionSpecifiers,
    pub partner: String,
    pub asks: VersionSpecifiers,
    pub origin: Origin,
}

pub(crate) fn row(r: &Row<'_>) -> Result<Pair, String> {
    let specifiers = |column: &str| {
        let text = r.get(column)?;
        VersionSpecifiers::from_str(text).map_err(|_| format!("{column}: `{text}`"))
    };
    Ok(Pair {
        package: r.need("package")?,
        versions: specifiers("versions")?,
        partner: r.need("partner")?,
        asks: specifiers("asks")?,
        origin: r.origin()?,
    })
}

/// Two packages that do not belong together.
#[derive(Clone, Debug)]
pub(crate) struct Mismatch {
    pub package: String,
    pub partner: String,
    pub has: String,
    pub asks: String,
    /// The release of the package that belongs with what is there, if the table has one.
    pub instead: Option<String>,
    pub origin: Origin,
}

/// `torchvision==0.21.0` where torch 2.6.0 is.
fn instead(package: &Package, other: &Package, compat: &Compat) -> Option<String> {
    let (key, partner) = (name_key(&package.name), name_key(&other.name));
    let version = Version::from_str(&other.version).ok()?;
    let fits = |p: &&Pair| p.package == key && p.partner == partner && p.asks.contains(&version);
    let row = compat.pairs.iter().find(fits)?;
    let spec = row.versions.to_string();
    spec.starts_with("==").then(|| format!("{key}{spec}"))
}

/// All pairs of one Python that the tables know and that do not fit. What a package itself requires of its partner is not
/// asked again.
pub(crate) fn check(python: &Python, compat: &Compat) -> Vec<Mismatch> {
    let mut out = Vec::new();
    for package in &python.packages {
        let key = name_key(&package.name);
        let Ok(version) = Version::from_str(&package.version) else {
            continue;
        };
        let rows = compat.pairs.iter().filter(|p| p.package == key);
        for pair in rows.filter(|p| p.versions.contains(&version)) {
            asked(
                package,
                &pair.partner,
                &pair.asks,
                &pair.origin,
                (python, compat),
                &mut out,
            );
        }
        let public = version.only_release().to_string();
        if key == "torch"
            && let Some(release) = compat.torch.iter().find(|t| t.version.as_str() == public)
            && let Some(triton) = &release.triton
            && package.build.as_deref() != Some("cpu")
        {
            asked(
                package,
                "triton",
                triton,
                &release.origin,
                (python, compat),
                &mut out,
            );
        }
        if key == "vllm"
            && let Some(release) = compat.vllm.iter().find(|v| v.version.as_str() == public)
            && let Ok(asks) = VersionSpecifiers::from_str(&format!("=={}", release.torch.as_str()))
        {
            asked(
                package,
                "torch",
                &asks,
                &release.origin,
                (python, compat),
                &mut out,
            );
        }
    }
    out
}

fn asked(
    package: &Package,
    partner: &str,
    asks: &VersionSpecifiers,
    origin: &Origin,
    (python, compat): (&Python, &Compat),
    out: &mut Vec<Mismatch>,
) {
    let says_itself = package.requires.iter().flatten().any(|r| {
        let end = r.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        let name = &r[..end.unwrap_or(r.len())];
        let versioned = r[name.len()..].contains(['=', '<', '>', '~']);
        name_key(name) == partner && versioned
    });
    let Some(other) = python.package(partner).filter(|_| !says_itself) else {
        return;
    };
    if Version::from_str(&other.version).is_ok_and(|v| !asks.contains(&v)) {
        out.push(Mismatch {
            package: format!("{} {}", package.name, package.version),
            partner: partner.to_owned(),
            has: other.version.clone(),
            asks: asks.to_string().replace(", ", ","),
            instead: instead(package, other, compat),
            origin: origin.clone(),
        });
    }
}
