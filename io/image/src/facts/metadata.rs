//! One installed Python package: the METADATA, RECORD and direct_url.json beside it. Python packaging specifications
//! "core metadata", "recording installed projects" and "direct URL".

use crate::tree::Tree;
use lessee_accept::env::{Package, PackageFrom};
use lessee_accept::hidden;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The package of a folder `*.dist-info`, or what is wrong with it.
pub(crate) fn dist_info(tree: &Tree, folder: &str) -> Result<Package, String> {
    let file = |name: &str| format!("{folder}/{name}");
    let text = tree.text(&file("METADATA")).ok_or("no METADATA")?;
    let mut package = core(&text)?;
    let direct = tree.bytes(&file("direct_url.json"));
    if let Some(direct) = direct.and_then(|b| serde_json::from_slice(b).ok()) {
        direct_url(&direct, &mut package);
    }
    if tree
        .text(&file("INSTALLER"))
        .is_some_and(|i| i.trim() == "conda")
    {
        package.from = PackageFrom::Conda;
    }
    package.content = tree.text(&file("RECORD")).as_deref().and_then(content);
    package.tags = tree
        .text(&file("WHEEL"))
        .map_or_else(Vec::new, |t| tags(&t));
    Ok(package)
}

/// More tags than a wheel has.
const MOST_TAGS: usize = 32;

/// The tags of WHEEL; none where one of them is for any machine.
fn tags(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|l| l.strip_prefix("Tag:"));
    let tags: Vec<String> = lines
        .map(|t| t.trim().chars().take(80).collect())
        .take(MOST_TAGS)
        .collect();
    let any = |t: &String| t.starts_with("py3") && t.ends_with("-none-any");
    if tags.iter().any(any) {
        Vec::new()
    } else {
        tags
    }
}

/// The package of an egg: older, with its requirements in a file of another form, which is left alone.
pub(crate) fn egg_info(tree: &Tree, path: &str) -> Result<Package, String> {
    let text = match tree.text(path) {
        Some(text) => text,
        None => tree
            .text(&format!("{path}/PKG-INFO"))
            .ok_or("no PKG-INFO")?,
    };
    let mut package = core(&text)?;
    // none here does not mean none
    package.requires = package.requires.filter(|r| !r.is_empty());
    Ok(package)
}

/// The headers of METADATA.
fn core(text: &str) -> Result<Package, String> {
    let mut package = Package {
        requires: Some(Vec::new()),
        ..Package::default()
    };
    for line in text.lines() {
        // the description follows
        if line.is_empty() {
            break;
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match key.to_ascii_lowercase().as_str() {
            "name" if package.name.is_empty() => package.name = value.to_owned(),
            "version" if package.version.is_empty() => package.version = value.to_owned(),
            "requires-python" => package.requires_python = Some(value.to_owned()),
            "requires-dist" => {
                if let Some(requires) = &mut package.requires {
                    requires.push(hidden(value));
                }
            }
            _ => {}
        }
    }
    if package.name.is_empty() || package.version.is_empty() {
        return Err("no name or no version".to_owned());
    }
    Ok(package)
}

fn direct_url(direct: &Value, package: &mut Package) {
    let url = direct["url"].as_str().unwrap_or("");
    let url = without_secrets(url);
    package.from = match url.starts_with("file:") {
        _ if direct["dir_info"]["editable"].as_bool() == Some(true) => PackageFrom::Editable,
        _ if direct["vcs_info"].is_object() => PackageFrom::Vcs,
        true => PackageFrom::File,
        false => PackageFrom::Url,
    };
    let info = &direct["archive_info"];
    let sha256 = info["hashes"]["sha256"]
        .as_str()
        .map(|h| format!("sha256={h}"));
    package.hash = sha256.or_else(|| info["hash"].as_str().map(str::to_owned));
    package.url = Some(match direct["vcs_info"]["commit_id"].as_str() {
        Some(commit) => {
            let vcs = direct["vcs_info"]["vcs"].as_str().unwrap_or("git");
            format!("{vcs}+{url}@{commit}")
        }
        None => url,
    });
}

/// An address without query, in which tokens are kept, and with `***` for user name and password: that they are needed
/// stays known.
pub(crate) fn without_secrets(url: &str) -> String {
    hidden(url.split(['?', '#']).next().unwrap_or(url))
}

/// SHA-256 over the package's own files and their hashes. Left out: what installing itself writes (`*.dist-info`, scripts
/// above the folder, which hold paths), so that the same wheel is the same content wherever it is put.
fn content(record: &str) -> Option<String> {
    let mut lines: Vec<&str> = record
        .lines()
        .map(str::trim)
        .filter(|l| l.contains(",sha256=") && !l.starts_with("../"))
        .filter(|l| {
            !l.split('/')
                .next()
                .is_some_and(|f| f.ends_with(".dist-info"))
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    lines.sort_unstable();
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    Some(hex(&hash.finalize()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    })
}

/// What `torch/version.py` says that it was built with: `cu124`, `rocm6.2`, `cpu`.
pub(crate) fn torch_build(text: &str) -> Option<String> {
    let value = |name: &str| {
        text.lines().find_map(|line| {
            let (left, right) = line.split_once('=')?;
            let left = left.split(':').next()?.trim();
            (left == name).then(|| right.trim().trim_matches(['\'', '"']).to_owned())
        })
    };
    let release = |v: &str| -> Vec<String> { v.split('.').map(str::to_owned).collect() };
    match (value("cuda"), value("hip")) {
        (Some(cuda), _) if cuda.starts_with(|c: char| c.is_ascii_digit()) => {
            let parts = release(&cuda);
            Some(format!("cu{}{}", parts.first()?, parts.get(1)?))
        }
        (_, Some(hip)) if hip.starts_with(|c: char| c.is_ascii_digit()) => {
            let parts = release(&hip);
            Some(format!("rocm{}.{}", parts.first()?, parts.get(1)?))
        }
        (Some(cuda), _) if cuda == "None" => Some("cpu".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_torch_are_told_by_its_own_file() {
        let of = |cuda: &str, hip: &str| {
            torch_build(&format!(
                "__version__ = '2.6.0'\ndebug = False\ncuda: Optional[str] = {cuda}\nhip: Optional[str] = {hip}\n"
            ))
        };
        assert_eq!(of("'12.4'", "None").as_deref(), Some("cu124"));
        assert_eq!(of("None", "'6.2.41134'").as_deref(), Some("rocm6.2"));
        assert_eq!(of("None", "None").as_deref(), Some("cpu"));
        assert_eq!(torch_build("x"), None);
    }

    #[test]
    fn addresses_lose_their_secrets() {
        for (url, shown) in [
            (
                "https://u:p@host/x.whl?token=1#sha256=ab",
                "https://***@host/x.whl",
            ),
            ("https://host", "https://host"),
            ("file:///a@b/c", "file:///a@b/c"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
