//! Needs out of a file that says what a project installs: requirements.txt, pyproject.toml, uv.lock, a conda environment,
//! a Dockerfile. Only packages that the rules know; the rest is counted, never judged. What was not understood is a need
//! that cannot be told, so that it never passes. Start with [`needs_of_file`]; one file here for each kind of file.
//!
//! Not here: reading files. What a file names beside it comes through a function of the caller.

mod conda;
mod docker;
mod pip;
mod tables;

use crate::env::name_key;
use crate::need::{Need, NeedError, Wheel};
use crate::shell::hidden;
use thiserror::Error;

/// Longest list of needs taken from one file.
const MOST: usize = 500;

/// Files followed from one file, and how deep: two that name each other must end.
const MOST_FILES: usize = 50;
const DEEPEST: usize = 5;

/// Longest piece of a line that was not understood, in characters.
const SHOWN: usize = 60;

/// Packages that the rules judge.
const JUDGED: &[&str] = &[
    "torch",
    "pytorch",
    "pytorch-gpu",
    "tensorflow",
    "tensorflow-gpu",
    "jax",
    "vllm",
    "triton",
    "flash-attn",
    "flash-attn-3",
    "flash-attn-4",
    "cuda",
    "cudnn",
    "nccl",
    "nvidia-cudnn-cu11",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-nccl-cu12",
    "nvidia-nccl-cu13",
    "cuda-toolkit",
    "cuda-version",
    "cudatoolkit",
    "pytorch-cuda",
];

/// A file that is broken: nothing of it can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct BrokenNeeds(pub String);

/// The text of a file by the name under which another one names it; `None` where there is none.
pub type Beside<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What a file asks for.
#[derive(Clone, Debug, Default)]
pub struct NeedsFile {
    /// As written there, and read.
    pub needs: Vec<(String, Result<Need, NeedError>)>,
    /// Packages that no rule judges.
    pub others: usize,
    /// Packages that no rule judges are needs too.
    all: bool,
    /// Lines that were not understood.
    odd: Vec<String>,
    /// Files that were followed.
    followed: usize,
}

/// Takes the needs out of the text of a file; its kind follows from its name, else from what is in it.
///
/// # Errors
/// A TOML file that is broken.
pub fn needs_of_file(name: &str, text: &str, beside: Beside<'_>) -> Result<NeedsFile, BrokenNeeds> {
    read(name, text, beside, NeedsFile::default())
}

/// As [`needs_of_file`], with every package: whether it is installed can be told of any.
///
/// # Errors
/// As there.
pub fn all_needs_of_file(
    name: &str,
    text: &str,
    beside: Beside<'_>,
) -> Result<NeedsFile, BrokenNeeds> {
    let all = NeedsFile {
        all: true,
        ..NeedsFile::default()
    };
    read(name, text, beside, all)
}

fn read(
    name: &str,
    text: &str,
    beside: Beside<'_>,
    mut out: NeedsFile,
) -> Result<NeedsFile, BrokenNeeds> {
    let text = text.replace("\r\n", "\n");
    let own = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let lower = own.to_ascii_lowercase();
    let ends = |list: &[&str]| list.iter().any(|e| lower.ends_with(e));
    let opens = |word: &str| text.lines().any(|l| l.starts_with(word));
    let first = text.lines().map(str::trim_start);
    let first = first.clone().find(|l| !l.is_empty() && !l.starts_with('#'));
    let mut scope = Scope::default();
    if lower.starts_with("dockerfile")
        || ends(&["dockerfile", "containerfile"])
        || first.is_some_and(|l| {
            let l = l.to_ascii_uppercase();
            l.starts_with("FROM ") || l.starts_with("ARG ")
        })
    {
        docker::read(&text, beside, &mut out);
    } else if ends(&[".toml", ".lock"])
        || ["[[package]]", "[project", "[build-system", "[tool."]
            .iter()
            .any(|w| opens(w))
    {
        tables::read(&text, &mut scope, &mut out)?;
    } else if ends(&[".yml", ".yaml"]) || opens("dependencies:") {
        conda::read(&text, &mut scope, &mut out);
    } else {
        pip::read(&text, beside, 0, &mut scope, &mut out);
    }
    scope.close(&mut out);
    if let Some(first) = out.odd.first() {
        let shown: String = hidden(first).chars().take(SHOWN).collect();
        let why = NeedError::Lines(out.odd.len());
        out.needs.push((shown, Err(why)));
    }
    if out.needs.is_empty() {
        out.needs.push((own.to_owned(), Err(NeedError::NoneFound)));
    }
    Ok(out)
}

/// What is installed at once: a file, or one command. An index and constraints hold for all of it.
#[derive(Default)]
struct Scope {
    lines: Vec<(String, Result<Need, NeedError>)>,
    wheel: Option<Wheel>,
    constraints: Vec<Need>,
    /// The release of PyTorch that a lock pins.
    locked_torch: Option<String>,
}

impl Scope {
    /// One requirement: a need, one of the others, or nothing that was understood.
    fn take(&mut self, text: &str, out: &mut NeedsFile) {
        let text = text.split(" --").next().unwrap_or("").trim();
        if text.is_empty() {
            return;
        }
        self.add(text, Need::parse(text), out);
    }

    fn add(&mut self, text: &str, need: Result<Need, NeedError>, out: &mut NeedsFile) {
        let bare = text.split(['=', '<', '>', '~', '!', '^', ' ', '[', '@', ';']);
        let name = match &need {
            Ok(need) => need.package.clone(),
            Err(_) => name_key(bare.clone().next().unwrap_or("")),
        };
        let judged = out.all || JUDGED.contains(&name.as_str());
        match need {
            Ok(_) if !pip::on_linux(text) => out.others += 1,
            // an address of a package that no rule judges is still only that
            Err(NeedError::Elsewhere) if !judged && text.contains(" @ ") => out.others += 1,
            Ok(_) if !judged => out.others += 1,
            Err(NeedError::Name | NeedError::Clause(_) | NeedError::Version(_)) if !judged => {
                out.odd.push(text.to_owned());
            }
            need => self.push(text, need, out),
        }
    }

    fn push(&mut self, text: &str, need: Result<Need, NeedError>, out: &NeedsFile) {
        if self.lines.len() + out.needs.len() < MOST {
            self.lines.push((hidden(text), need));
        }
    }

    /// Moves the needs to those of the file, with what holds for all of them.
    fn close(self, out: &mut NeedsFile) {
        let locked = self.locked_torch.and_then(|v| v.parse().ok());
        for (text, mut need) in self.lines {
            if let Ok(need) = &mut need {
                for by in &self.constraints {
                    need.constrain(by);
                }
                if need.wheel.is_none() {
                    need.wheel = self.wheel.clone();
                }
                need.locked_torch = locked.clone();
            }
            out.needs.push((text, need));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> (Vec<String>, usize) {
        let file = needs_of_file("file", text, &|_| None).expect("whole");
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
                    "-r more.txt".into(),
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
        assert_eq!(taken("").0, ["file"], "a file without needs is a question");
    }
}
