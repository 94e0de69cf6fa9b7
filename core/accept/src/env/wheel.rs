//! Whether a wheel that lies there is for this Python and this processor, by the tags that it brought (packaging specification
//! "platform compatibility tags").

use super::repair::{Due, RepairKind};
use super::{Environment, Package, Python, name_key};
use crate::finding::{Check, Finding, Verdict};
use crate::shell::pip_install;
use lessee_model::Msg;
use std::collections::BTreeSet;

/// Packages that cannot be loaded; those that count fail.
pub(crate) fn check(
    python: &Python,
    env: &Environment,
    weighty: &BTreeSet<String>,
    out: &mut Vec<Finding>,
    due: &mut Vec<Due>,
) {
    let minor = python.version.as_deref().and_then(minor);
    for package in &python.packages {
        let fits = |tag: &String| fits(tag, minor, env.arch.as_deref());
        let Some(first) = package
            .tags
            .first()
            .filter(|_| !package.tags.iter().any(fits))
        else {
            continue;
        };
        let verdict = match weighty.contains(&name_key(&package.name)) {
            true => Verdict::Fail,
            false => Verdict::Warn,
        };
        let reason = Msg::new("accept-env-wheel")
            .arg("tag", first.as_str())
            .arg("version", python.version.as_deref().unwrap_or("?"))
            .arg("arch", env.arch.as_deref().unwrap_or("?"));
        let subject = format!("{} {}", package.name, package.version);
        let mut finding = Check::new("wheel", verdict, reason).finding(&subject);
        finding.install = Some(line(package));
        due.push(Due {
            kind: RepairKind::Package,
            subject,
            line: finding.install.clone(),
        });
        out.push(finding);
    }
}

fn line(package: &Package) -> String {
    let public = package.version.split('+').next().unwrap_or("");
    format!(
        "{} --force-reinstall --no-deps",
        pip_install(&format!("{}=={public}", package.name))
    )
}

/// `3.11.7` -> 3, 11
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// `cp311-cp311-manylinux_2_17_x86_64`; what is not known of the machine is not held against a tag.
fn fits(tag: &str, minor: Option<(u32, u32)>, arch: Option<&str>) -> bool {
    let mut parts = tag.splitn(3, '-');
    let (Some(python), Some(abi), Some(platform)) = (parts.next(), parts.next(), parts.next())
    else {
        // no tag at all says nothing
        return true;
    };
    let linux = ["linux", "manylinux", "musllinux"]
        .iter()
        .any(|p| platform.starts_with(p));
    let there = platform == "any"
        || (linux && arch.is_none_or(|arch| platform.ends_with(&format!("_{arch}"))));
    there && minor.is_none_or(|minor| speaks(python, abi, minor))
}

fn speaks(python: &str, abi: &str, minor: (u32, u32)) -> bool {
    let digits = python.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let (major, rest) = digits.split_at(digits.len().min(1));
    let (Ok(major), least) = (major.parse::<u32>(), rest.parse::<u32>().unwrap_or(0)) else {
        return true;
    };
    if python.starts_with("py") {
        return major == minor.0 && least <= minor.1;
    }
    let stable = abi == "abi3" || abi == "none";
    python.starts_with("cp")
        && major == minor.0
        && if stable {
            least <= minor.1
        } else {
            least == minor.1
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_for_a_python_and_a_processor() {
        for (tag, fit) in [
            ("py3-none-any", true),
            ("py2-none-any", false),
            ("cp311-cp311-manylinux_2_17_x86_64", true),
            ("cp311-cp311-linux_x86_64", true),
            ("cp39-cp39-manylinux_2_17_x86_64", false),
            ("cp39-abi3-manylinux_2_17_x86_64", true),
            ("cp312-abi3-manylinux_2_17_x86_64", false),
            ("py3-none-manylinux_2_27_x86_64", true),
            ("py312-none-any", false),
            ("cp311-cp311-manylinux_2_17_aarch64", false),
            ("cp311-cp311-win_amd64", false),
            ("cp311-cp311-macosx_11_0_arm64", false),
            ("pp310-pypy310_pp73-manylinux_2_17_x86_64", false),
            ("nonsense", true),
        ] {
            assert_eq!(fits(tag, Some((3, 11)), Some("x86_64")), fit, "{tag}");
        }
        assert!(fits("cp39-cp39-linux_aarch64", None, None));
        assert!(!fits("cp39-cp39-win_amd64", None, None));
    }
}
