//! Packages that belong together by version where nothing that is installed says so: lists of packages name versions only.
//! Each row of `data/compat/pairs.csv` is one release and what it asks of another; those of torch and triton, and of vLLM
//! and torch, are in their own tables.

use super::{Package, Python, name_key};
use crate::facts::Compat;
use crate::judge::Host;
use crate::need::Need;
use crate::table::{Origin, Row};
use crate::vllm;
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
    pub origin: Origin,
}

/// The release of torch that an environment has, or gets by a repair: what else is installed is chosen for it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    version: Version,
}

impl Target {
    /// Out of `2.7.0+cu128`; the local part is of no matter to the others.
    pub(crate) fn of(version: &str) -> Option<Target> {
        let public = version.split('+').next()?;
        let version = Version::from_str(public).ok()?;
        Some(Target { version })
    }

    /// Out of `pip install torch==2.7.0 --index-url ..`.
    pub(crate) fn of_line(line: &str) -> Option<Target> {
        let (_, rest) = line.split_once("torch==")?;
        Target::of(rest.split([' ', '\'']).next()?)
    }

    /// The newest release of a package that belongs with it, that a need allows and that works on the machine:
    /// `torchvision==0.21.0` for torch 2.6.0. `None` where the tables know none.
    pub(crate) fn release(
        &self,
        package: &str,
        need: Option<&Need>,
        compat: &Compat,
        host: Option<&Host<'_>>,
    ) -> Option<String> {
        let allowed = |v: &crate::Version| need.is_none_or(|n| n.allows(v));
        if package == "vllm" {
            let same = |text: &str| Version::from_str(text).is_ok_and(|v| v == self.version);
            let rows = compat.vllm.iter().filter(|v| same(v.torch.as_str()));
            let rows = rows.filter(|v| allowed(&v.version));
            let rows = rows.filter(|v| host.is_none_or(|h| vllm::carries(v, h)));
            let row = rows.max_by(|a, b| a.version.cmp(&b.version))?;
            return Some(format!("vllm=={}", row.version));
        }
        let fits = |p: &&Pair| {
            p.package == package && p.partner == "torch" && p.asks.contains(&self.version)
        };
        let mut rows = compat.pairs.iter().filter(fits);
        rows.find_map(|row| {
            let spec = row.versions.to_string();
            let version: crate::Version = spec.strip_prefix("==")?.parse().ok()?;
            allowed(&version).then(|| format!("{package}{spec}"))
        })
    }
}

/// Whether each release of a package belongs with one of torch.
pub(crate) fn goes_with_torch(package: &str) -> bool {
    matches!(package, "torchvision" | "torchaudio" | "vllm")
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
                python,
                &mut out,
            );
        }
        let public = version.only_release().to_string();
        if key == "torch"
            && let Some(release) = compat.torch.iter().find(|t| t.version.as_str() == public)
            && let Some(triton) = &release.triton
            && package.build.as_deref() != Some("cpu")
        {
            asked(package, "triton", triton, &release.origin, python, &mut out);
        }
        if key == "vllm"
            && let Some(release) = compat.vllm.iter().find(|v| v.version.as_str() == public)
            && let Ok(asks) = VersionSpecifiers::from_str(&format!("=={}", release.torch.as_str()))
        {
            asked(package, "torch", &asks, &release.origin, python, &mut out);
        }
    }
    out
}

fn asked(
    package: &Package,
    partner: &str,
    asks: &VersionSpecifiers,
    origin: &Origin,
    python: &Python,
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
            origin: origin.clone(),
        });
    }
}
