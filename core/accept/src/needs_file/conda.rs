//! A conda environment, and the arguments of `conda install`: which CUDA PyTorch comes with stands in a package beside it
//! or in the name of the build.

use super::{NeedsFile, Scope};
use crate::need::{Need, NeedError, Wheel};

/// Packages whose version is the CUDA that the rest is built with.
const FIXES: &[&str] = &["pytorch-cuda", "cuda-version", "cudatoolkit"];

/// The list `dependencies` of an environment; of YAML only what such files hold.
pub(super) fn read(text: &str, scope: &mut Scope, out: &mut NeedsFile) {
    let mut inside = false;
    // how far the list of pip is set in
    let mut pip: Option<usize> = None;
    for line in text.lines() {
        let bare = line.split(" #").next().unwrap_or("").trim_end();
        let deep = bare.len() - bare.trim_start().len();
        let item = bare.trim_start();
        if item.is_empty() || item.starts_with('#') {
            continue;
        }
        if deep == 0 && !item.starts_with('-') {
            inside = item.starts_with("dependencies:");
            pip = None;
            if let Some(list) = item
                .strip_prefix("dependencies:")
                .filter(|l| !l.trim().is_empty())
            {
                flow(list, scope, out);
            }
            continue;
        }
        if !inside {
            continue;
        }
        let Some(entry) = item.strip_prefix('-').map(str::trim) else {
            flow(item, scope, out);
            continue;
        };
        if pip.is_some_and(|at| deep <= at) {
            pip = None;
        }
        match entry {
            "pip:" => pip = Some(deep),
            entry if entry.starts_with(['{', '[']) => flow(entry, scope, out),
            entry if pip.is_some() => of_pip(entry, scope, out),
            entry => spec(entry, scope, out),
        }
    }
}

/// `[pytorch=2.15, {pip: [vllm==0.9.0]}]`, also over several lines.
fn flow(list: &str, scope: &mut Scope, out: &mut NeedsFile) {
    let mut pip = false;
    for part in list.split(',') {
        let part = part.trim();
        let entry = match part.split_once("pip:") {
            Some((_, first)) => {
                pip = true;
                first
            }
            None => part,
        };
        let entry = entry.trim_start_matches(['[', '{', ' ']);
        // an extra's bracket is no end of the list
        let entry = match entry.contains('[') {
            true => entry.trim_end_matches(['}', ' ']),
            false => entry.trim_end_matches([']', '}', ' ']),
        };
        match pip {
            true => of_pip(entry, scope, out),
            false => spec(entry, scope, out),
        }
        pip &= !part.ends_with([']', '}']);
    }
}

fn of_pip(entry: &str, scope: &mut Scope, out: &mut NeedsFile) {
    let entry = entry.trim_matches(['"', '\'']);
    if entry.starts_with('-') {
        // it is beside the environment, but pip's part of it names no machine of its own
        let words: Vec<&str> = entry.split_whitespace().collect();
        super::pip::arguments(&words, &|_| None, 0, scope, out);
    } else {
        scope.take(entry, out);
    }
}

/// `conda-forge::pytorch=2.5.1=py3.11_cuda12.4_cudnn9.1.0_0`, `pytorch 2.1.* *cuda118*`.
pub(super) fn spec(entry: &str, scope: &mut Scope, out: &mut NeedsFile) {
    let entry = entry.trim().trim_matches(['"', '\'']);
    if entry.is_empty() {
        return;
    }
    let own = entry.rsplit_once("::").map_or(entry, |(_, own)| own);
    let ranged = own.contains(['<', '>', '~', '!']) || own.contains("==");
    let mut parts: Vec<&str> = match own.contains(' ') {
        true => own.split_whitespace().collect(),
        false if ranged => vec![own],
        false => own.split('=').collect(),
    };
    let build = (parts.len() > 2).then(|| parts.remove(2));
    let line = match parts[..] {
        [name, version] if version.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{name}={version}")
        }
        [name, "*"] => name.to_owned(),
        _ => parts.concat(),
    };
    let need = match parts.len() > 2 {
        true => Err(NeedError::Clause(own.to_owned())),
        false => Need::parse(&line),
    };
    let need = need.map(|mut need| {
        need.wheel = build
            .and_then(built)
            .map(|label| Wheel { label, only: true });
        if FIXES.contains(&need.package.as_str())
            && let Some(label) = need.lowest().and_then(|v| {
                let has = v.parts() > 1;
                has.then(|| format!("cu{}{}", v.part(0), v.part(1)))
            })
        {
            scope.wheel = Some(Wheel { label, only: true });
        }
        need
    });
    scope.add(entry, need, out);
}

/// The CUDA in the name of a build: `cu118` of `*cuda118*` and of `py3.11_cuda11.8_cudnn8_0`.
fn built(build: &str) -> Option<String> {
    let Some((_, rest)) = build.split_once("cuda") else {
        return build.contains("cpu").then(|| "cpu".to_owned());
    };
    let digits: String = rest
        .trim_start_matches('_')
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .filter(char::is_ascii_digit)
        .collect();
    (digits.len() >= 3).then(|| format!("cu{digits}"))
}
