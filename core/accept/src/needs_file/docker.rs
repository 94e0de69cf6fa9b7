//! A Dockerfile: the base image by its tag, and what `pip`, `uv` and `conda` install in `RUN`.

use super::{Beside, NeedsFile, Scope, conda, pip};
use crate::need::{Need, NeedError};
use std::collections::HashMap;

/// Base images that bring no GPU software of their own.
const PLAIN: &[&str] = &[
    "scratch",
    "ubuntu",
    "debian",
    "alpine",
    "busybox",
    "python",
    "rockylinux",
    "almalinux",
    "fedora",
    "centos",
    "node",
    "golang",
    "rust",
    "nginx",
    "bash",
    "uv",
    "miniconda3",
    "miniforge3",
    "mambaforge",
    "micromamba",
];

/// Longest value of a variable, in bytes: values made of values must not grow without end.
const LONGEST: usize = 2000;

pub(super) fn read(text: &str, beside: Beside<'_>, out: &mut NeedsFile) {
    let mut values: HashMap<String, String> = HashMap::new();
    let mut stages: Vec<String> = Vec::new();
    for line in instructions(text) {
        let (word, rest) = line
            .split_once(char::is_whitespace)
            .unwrap_or((line.as_str(), ""));
        let rest = expand(rest.trim(), &values);
        match word.to_ascii_uppercase().as_str() {
            "ARG" | "ENV" => set(&rest, &mut values),
            "FROM" => from(&rest, &mut stages, out),
            "RUN" => run(&rest, beside, out),
            _ => {}
        }
    }
}

/// Instructions with their continued lines and the bodies of their heredocs.
fn instructions(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    let mut until: Option<String> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(end) = &until {
            match line == end {
                true => until = None,
                false => {
                    if let Some(last) = out.last_mut() {
                        // within a heredoc the shell joins lines
                        let joined = last.ends_with('\\') && last.pop().is_some();
                        last.push_str(if joined { " " } else { "\n" });
                        last.push_str(line);
                    }
                }
            }
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (part, goes_on) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match out.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(part);
            }
            None => out.push(part.to_owned()),
        }
        open = goes_on;
        if let Some((_, word)) = part.split_once("<<")
            && !open
        {
            let word = word.trim_start_matches('-').split_whitespace().next();
            until = word.map(|w| w.trim_matches(['"', '\'']).to_owned());
        }
    }
    out
}

/// `$X`, `${X}` and `${X:-else}`; what has no value stays as it is.
fn expand(text: &str, values: &HashMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|a| a.split_once('}'));
        let (inner, behind) = braced.unwrap_or_else(|| {
            let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            after.split_at(end.unwrap_or(after.len()))
        });
        let (name, other) = inner.split_once(":-").unwrap_or((inner, ""));
        match values.get(name).map(String::as_str) {
            Some(value) => out.push_str(value),
            None if !other.is_empty() => out.push_str(other),
            None => {
                out.push('$');
                out.push_str(name);
            }
        }
        rest = behind;
        if out.len() > LONGEST * 50 {
            break;
        }
    }
    out.push_str(rest);
    out
}

fn set(rest: &str, values: &mut HashMap<String, String>) {
    let mut put = |name: &str, value: &str| {
        let value = value.trim_matches(['"', '\'']);
        if value.len() <= LONGEST {
            values.insert(name.to_owned(), value.to_owned());
        }
    };
    // `ENV NAME value`
    if let Some((name, value)) = rest.split_once(' ')
        && !name.contains('=')
    {
        put(name, value.trim());
        return;
    }
    for (name, value) in rest.split_whitespace().filter_map(|w| w.split_once('=')) {
        put(name, value);
    }
}

/// What a base image brings, where its tag says so; else it is named as unknown.
fn from(rest: &str, stages: &mut Vec<String>, out: &mut NeedsFile) {
    let mut words = rest.split_whitespace().filter(|w| !w.starts_with("--"));
    let Some(image) = words.next() else { return };
    let known = stages.iter().any(|s| s.eq_ignore_ascii_case(image));
    if let (Some(_), Some(name)) = (words.next(), words.next()) {
        stages.push(name.to_owned());
    }
    if known {
        return;
    }
    let (name, tag) = match image.split('@').next().unwrap_or("").rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, ""),
    };
    let parts: Vec<&str> = tag.split('-').collect();
    let version = parts[0].trim_start_matches('v');
    let numbered = version.starts_with(|c: char| c.is_ascii_digit());
    let cuda = parts.iter().find_map(|p| p.strip_prefix("cuda"));
    let own = name.trim_start_matches("docker.io/");
    let is = |of: &str| own == of || own.ends_with(&format!("/{of}"));
    let text = match () {
        () if is("nvidia/cuda") && numbered => Some(format!("cuda=={version}")),
        () if is("pytorch/pytorch") && numbered => {
            let local = cuda.map(|c| format!("+cu{}", c.replace('.', "")));
            Some(format!("torch=={version}{}", local.unwrap_or_default()))
        }
        () if is("vllm/vllm-openai") && numbered => Some(format!("vllm=={version}")),
        () if is("tensorflow/tensorflow") && numbered => {
            if !parts.contains(&"gpu") {
                out.others += 1;
                return;
            }
            Some(format!("tensorflow[and-cuda]=={version}"))
        }
        () => None,
    };
    let short = own.rsplit('/').next().unwrap_or(own);
    match text {
        // nvcr.io/nvidia/pytorch is no pytorch/pytorch, and its tag is a month
        Some(text) => {
            let need = Need::parse(&text);
            out.needs.push((text, need));
        }
        None if PLAIN.contains(&short) => {}
        None => out.needs.push((image.to_owned(), Err(NeedError::Image))),
    }
}

fn run(rest: &str, beside: Beside<'_>, out: &mut NeedsFile) {
    // ["pip", "install", "torch"]
    let exec = rest.starts_with('[').then(|| {
        let words = rest.trim_matches(['[', ']']).split(',');
        words
            .map(|w| w.trim().trim_matches('"'))
            .collect::<Vec<_>>()
            .join(" ")
    });
    let shell = exec.as_deref().unwrap_or(rest);
    for command in commands(shell) {
        let words: Vec<&str> = command.split_whitespace().collect();
        installs(&words, beside, out);
    }
}

/// The commands of a line: apart at `&&`, `||`, `;`, `|` and line ends, except in quotes.
fn commands(shell: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote: Option<char> = None;
    for c in shell.chars() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '&' | '|' | ';' | '\n' | '(' | ')') => {
                out.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out
}

/// The command of a tool that installs, wherever it stands: behind `sudo`, `python -m`, `uv` or `conda run`.
fn installs(words: &[&str], beside: Beside<'_>, out: &mut NeedsFile) {
    for (at, word) in words.iter().enumerate() {
        let tool = word
            .trim_matches(['"', '\''])
            .rsplit('/')
            .next()
            .unwrap_or("");
        let after = &words[at + 1..];
        let verb_at = after.iter().position(|w| !w.starts_with('-'));
        let Some(verb_at) = verb_at else { continue };
        let (verb, rest) = (after[verb_at], &after[verb_at + 1..]);
        let is_pip = tool
            .strip_prefix("pip")
            .is_some_and(|v| v.chars().all(|c| c.is_ascii_digit() || c == '.'));
        let mut scope = Scope::default();
        match (tool, verb) {
            (_, "install") if is_pip => pip::arguments(rest, beside, 0, &mut scope, out),
            ("uv", "add") => pip::arguments(rest, beside, 0, &mut scope, out),
            ("conda" | "mamba" | "micromamba", "install" | "create") => {
                of_conda(rest, &mut scope, out);
            }
            ("uv" | "poetry" | "pdm" | "pipenv" | "pixi", "sync" | "install")
            | ("conda" | "mamba" | "micromamba", "env") => {
                let text = words[at..].join(" ");
                scope.push(&text, Err(NeedError::Elsewhere), out);
            }
            _ => continue,
        }
        scope.close(out);
        return;
    }
}

fn of_conda(words: &[&str], scope: &mut Scope, out: &mut NeedsFile) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "-c" | "--channel" | "-n" | "--name" | "-p" | "--prefix" => {
                words.next();
            }
            "-f" | "--file" => {
                let file = words.next().copied().unwrap_or("");
                scope.push(&format!("--file {file}"), Err(NeedError::NotThere), out);
            }
            word if word.starts_with('-') => {}
            word => conda::spec(word, scope, out),
        }
    }
}
