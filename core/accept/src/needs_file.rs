//! Needs out of a file that says what a project installs: requirements.txt, pyproject.toml, uv.lock, a conda environment,
//! a Dockerfile. Only lines of packages that the rules know; the rest is counted, never judged.

use crate::env::name_key;
use crate::need::{Need, NeedError};
use crate::shell::hidden;

/// Longest list of needs taken from one file.
const MOST: usize = 500;

/// Packages that the rules judge.
const JUDGED: &[&str] = &[
    "torch",
    "pytorch",
    "tensorflow",
    "jax",
    "vllm",
    "triton",
    "flash-attn",
    "flash-attn-3",
    "flash-attn-4",
    "cudnn",
    "nccl",
    "nvidia-cudnn-cu11",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-nccl-cu12",
    "nvidia-nccl-cu13",
    "cuda-toolkit",
    "cudatoolkit",
    "pytorch-cuda",
];

/// What a file asks for.
#[derive(Clone, Debug, Default)]
pub struct NeedsFile {
    /// As written there, and read.
    pub needs: Vec<(String, Result<Need, NeedError>)>,
    /// Packages that no rule judges.
    pub others: usize,
    /// Packages that no rule judges are needs too.
    all: bool,
}

/// Takes the needs out of the text of a file; its kind follows from what is in it.
pub fn needs_of_file(text: &str) -> NeedsFile {
    read(text, NeedsFile::default())
}

/// As [`needs_of_file`], with every package: whether it is installed can be told of any.
pub fn all_needs_of_file(text: &str) -> NeedsFile {
    let all = NeedsFile {
        all: true,
        ..NeedsFile::default()
    };
    read(text, all)
}

fn read(text: &str, mut out: NeedsFile) -> NeedsFile {
    let dockerfile = text
        .lines()
        .map(str::trim_start)
        .find(|l| !l.is_empty() && !l.starts_with('#'))
        .is_some_and(|l| l.starts_with("FROM ") || l.starts_with("ARG "));
    if dockerfile {
        docker(text, &mut out);
    } else if text.contains("[[package]]") {
        lock(text, &mut out);
    } else if text
        .lines()
        .any(|l| l.trim_start().starts_with("[project") || l.trim() == "[build-system]")
    {
        quoted(text, &mut out);
    } else {
        for line in text.lines() {
            // conda lists its packages with a dash before them
            let line = line.trim();
            take(line.strip_prefix("- ").unwrap_or(line), &mut out);
        }
    }
    out
}

fn take(text: &str, out: &mut NeedsFile) {
    let text = text.split(" #").next().unwrap_or("").trim();
    let text = hidden(text.split(" --").next().unwrap_or("").trim());
    let text = text.as_str();
    if text.is_empty() || text.starts_with(['#', '-', '[']) || text.ends_with(':') {
        return;
    }
    let need = Need::parse(text);
    let name = match &need {
        Ok(need) => need.package.clone(),
        Err(_) => name_key(
            text.split(['=', '<', '>', '~', '!', ' ', '['])
                .next()
                .unwrap_or(""),
        ),
    };
    let room = out.needs.len() < MOST;
    if (out.all || JUDGED.contains(&name.as_str())) && room {
        out.needs.push((text.to_owned(), need));
    } else {
        out.others += 1;
    }
}

/// `FROM nvidia/cuda:12.4.1-...` and the arguments of `pip install`.
fn docker(text: &str, out: &mut NeedsFile) {
    let joined = text.replace("\\\n", " ").replace("\\\r\n", " ");
    for line in joined.lines().map(str::trim) {
        if let Some(image) = line.strip_prefix("FROM ") {
            let tag = image.split_once("nvidia/cuda:").map(|(_, tag)| tag);
            let version: String = tag
                .unwrap_or("")
                .chars()
                .take_while(|c| c.is_ascii_digit() || *c == '.')
                .collect();
            if !version.is_empty() {
                let text = format!("cuda=={version}");
                let need = Need::parse(&text);
                out.needs.push((text, need));
            }
        }
        for part in line.split("&&").flat_map(|p| p.split(';')) {
            let Some((_, packages)) = part.split_once("pip install") else {
                continue;
            };
            let mut skip = false;
            for word in packages.split_whitespace() {
                let word = word.trim_matches(['"', '\'']);
                // an option and, for those that take one, its value
                if word.starts_with('-') {
                    skip = !word.contains('=')
                        && matches!(
                            word,
                            "-r" | "-i"
                                | "-c"
                                | "-f"
                                | "--index-url"
                                | "--extra-index-url"
                                | "--find-links"
                        );
                    continue;
                }
                if !std::mem::take(&mut skip) {
                    take(word, out);
                }
            }
        }
    }
}

/// uv.lock and poetry.lock: a name and a version a package.
fn lock(text: &str, out: &mut NeedsFile) {
    let value = |line: &str, key: &str| {
        let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        Some(rest.trim().trim_matches('"').to_owned())
    };
    for package in text.split("[[package]]").skip(1) {
        let own = || package.lines().take_while(|l| !l.starts_with('['));
        let name = own().find_map(|l| value(l, "name"));
        let version = own().find_map(|l| value(l, "version"));
        if let (Some(name), Some(version)) = (name, version) {
            take(&format!("{name}=={version}"), out);
        }
    }
}

/// The strings in lists of pyproject.toml.
fn quoted(text: &str, out: &mut NeedsFile) {
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        let list = ["dependencies", "dev", "gpu", "cuda", "train"];
        let opens = line.split_once('=').is_some_and(|(key, rest)| {
            list.contains(&key.trim()) && rest.trim_start().starts_with('[')
        });
        inside |= opens;
        if inside {
            let rest = if opens {
                line.split_once('[').map_or("", |(_, r)| r)
            } else {
                line
            };
            for part in rest.split('"').skip(1).step_by(2) {
                take(part, out);
            }
        }
        if inside && line.trim_end_matches(',').ends_with(']') {
            inside = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> (Vec<String>, usize) {
        let file = needs_of_file(text);
        (
            file.needs.into_iter().map(|(t, _)| t).collect(),
            file.others,
        )
    }

    #[test]
    fn each_kind_of_file_gives_its_needs() {
        let requirements = "# the model\ntorch==2.6.0  # pinned\nnumpy>=1\n-r more.txt\nvllm\nflash_attn>=2 ; python_version>'3.9'\n";
        assert_eq!(
            taken(requirements),
            (
                vec![
                    "torch==2.6.0".into(),
                    "vllm".into(),
                    "flash_attn>=2 ; python_version>'3.9'".into()
                ],
                1
            )
        );
        let docker = "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install --index-url https://x/cu124 torch==2.6.0 \\\n    numpy && echo done\n";
        assert_eq!(
            taken(docker),
            (vec!["cuda==12.4.1".into(), "torch==2.6.0".into()], 1)
        );
        let lock = "version = 1\n[[package]]\nname = \"torch\"\nversion = \"2.7.1\"\n[package.optional-dependencies]\nx = []\n[[package]]\nname = \"six\"\nversion = \"1\"\n";
        assert_eq!(taken(lock), (vec!["torch==2.7.1".into()], 1));
        let project = "[project]\nname = \"x\"\ndependencies = [\n  \"torch>=2.6\",\n  \"rich\",\n]\n[tool.x]\na = [\"vllm\"]\n";
        assert_eq!(taken(project), (vec!["torch>=2.6".into()], 1));
        let conda = "name: x\nchannels:\n  - pytorch\ndependencies:\n  - python=3.11\n  - pytorch=2.5.1\n  - pytorch-cuda=12.4\n";
        let (needs, _) = taken(conda);
        assert!(
            needs.ends_with(&["pytorch=2.5.1".into(), "pytorch-cuda=12.4".into()]),
            "{needs:?}"
        );
        assert_eq!(taken(""), (Vec::new(), 0));
    }
}
