//! requirements.txt, and the arguments of `pip install`: packages, addresses of wheels, other files, indexes.

use super::{Beside, DEEPEST, MOST_FILES, NeedsFile, Scope};
use crate::env::parsed;
use crate::need::{Need, NeedError, Wheel};
use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder};

/// Options with a value of their own that says nothing of what is installed.
const VALUED: &[&str] = &[
    "-f",
    "--find-links",
    "-t",
    "--target",
    "--prefix",
    "--root",
    "--python",
    "-p",
    "--platform",
    "--timeout",
    "--retries",
    "--trusted-host",
    "--proxy",
    "--cache-dir",
    "--group",
    "--extra",
    "--config-settings",
    "-C",
    "--no-binary",
    "--only-binary",
    "--index-strategy",
    "--abi",
    "--python-version",
    "--implementation",
    "--upgrade-strategy",
    "--progress-bar",
    "--log",
    "--src",
    "--cert",
    "--client-cert",
    "--exists-action",
    "--report",
    "--torch-backend",
    "--global-option",
    "--use-feature",
    "-n",
    "--optional",
];

pub(super) fn read(
    text: &str,
    beside: Beside<'_>,
    depth: usize,
    scope: &mut Scope,
    out: &mut NeedsFile,
) {
    for line in lines(text) {
        let line = line.split(" #").next().unwrap_or("").trim();
        if line.starts_with('-') {
            let words: Vec<&str> = line.split_whitespace().collect();
            arguments(&words, beside, depth, scope, out);
        } else if line.starts_with(['.', '/']) && !line.ends_with(".whl") {
            scope.push(line, Err(NeedError::Elsewhere), out);
        } else {
            scope.take(line, out);
        }
    }
}

/// Lines as pip joins them: one that ends with a backslash goes on in the next.
fn lines(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", "");
    let all = joined.lines().map(str::trim).map(str::to_owned);
    all.filter(|l| !l.is_empty() && !l.starts_with('#'))
        .collect()
}

/// Options and packages, as the command line and a line of options give them.
pub(super) fn arguments(
    words: &[&str],
    beside: Beside<'_>,
    depth: usize,
    scope: &mut Scope,
    out: &mut NeedsFile,
) {
    let mut words = words.iter().map(|w| w.trim_matches(['"', '\'']));
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            match word {
                word if word.starts_with('.') && !word.ends_with(".whl") => {
                    scope.push(word, Err(NeedError::Elsewhere), out);
                }
                word => scope.take(word, out),
            }
            continue;
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            // `-rbase.txt`
            None if ["-r", "-c", "-i", "-e"].iter().any(|o| word.starts_with(o))
                && word.len() > 2 =>
            {
                word.split_at_checked(2)
                    .map_or((word, None), |(n, v)| (n, Some(v)))
            }
            None => (word, None),
        };
        let mut value = || value.or_else(|| words.next()).unwrap_or("");
        match name {
            "-r" | "--requirement" | "--requirements" => {
                let file = value();
                match follow(file, beside, depth, out) {
                    Some(text) => read(&text, beside, depth + 1, scope, out),
                    None => scope.push(&format!("-r {file}"), Err(NeedError::NotThere), out),
                }
            }
            "-c" | "--constraint" | "--constraints" => {
                let file = value();
                match follow(file, beside, depth, out) {
                    Some(text) => {
                        let all = lines(&text);
                        let read = all.iter().filter_map(|l| Need::parse(l).ok());
                        scope.constraints.extend(read);
                    }
                    None => scope.push(&format!("-c {file}"), Err(NeedError::NotThere), out),
                }
            }
            "-i" | "--index-url" | "--default-index" => {
                // the first index of the wheels wins over what others add
                if let Some(label) = label(value()) {
                    scope.wheel = Some(Wheel { label, only: true });
                }
            }
            "--extra-index-url" | "--index" => {
                let only = name == "--index";
                if let Some(label) = label(value()).filter(|_| scope.wheel.is_none()) {
                    scope.wheel = Some(Wheel { label, only });
                }
            }
            "-e" | "--editable" => {
                let of = value();
                scope.push(&format!("-e {of}"), Err(NeedError::Elsewhere), out);
            }
            name if VALUED.contains(&name) => {
                value();
            }
            _ => {}
        }
    }
}

/// The text of another file, by its path or, as an image has it elsewhere, by its name.
fn follow(file: &str, beside: Beside<'_>, depth: usize, out: &mut NeedsFile) -> Option<String> {
    if depth >= DEEPEST || out.followed >= MOST_FILES {
        return None;
    }
    out.followed += 1;
    let name = || beside(file.rsplit('/').next()?);
    beside(file).or_else(name).map(|t| t.replace("\r\n", "\n"))
}

/// Which wheels an index holds: `cu128` of `https://download.pytorch.org/whl/cu128`; `None` for an index that does not say.
pub(super) fn label(index: &str) -> Option<String> {
    let last = index.trim_end_matches('/').rsplit('/').next()?;
    let numbered = |prefix: &str| {
        let rest = last.strip_prefix(prefix);
        rest.is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
    };
    (last == "cpu" || numbered("cu") || numbered("rocm")).then(|| last.to_ascii_lowercase())
}

/// Whether a requirement is one on some rented Linux machine: of the marker behind `;`, for every Python in use.
pub(super) fn on_linux(text: &str) -> bool {
    match text.split_once(';') {
        Some((_, marker)) => marker_on_linux(marker),
        None => true,
    }
}

/// As [`on_linux`], of the marker alone; one that is not read holds.
pub(super) fn marker_on_linux(marker: &str) -> bool {
    let Some(any) = parsed(&format!("x ; {marker}")) else {
        return true;
    };
    let machines = ["x86_64", "aarch64"];
    machines.iter().any(|machine| {
        (8..=14).any(|minor| {
            environment(machine, minor).is_none_or(|env| any.evaluate_markers(&env, &[]))
        })
    })
}

fn environment(machine: &str, minor: u32) -> Option<MarkerEnvironment> {
    let short = format!("3.{minor}");
    let full = format!("3.{minor}.0");
    MarkerEnvironment::try_from(MarkerEnvironmentBuilder {
        implementation_name: "cpython",
        implementation_version: &full,
        os_name: "posix",
        platform_machine: machine,
        platform_python_implementation: "CPython",
        platform_release: "",
        platform_system: "Linux",
        platform_version: "",
        python_full_version: &full,
        python_version: &short,
        sys_platform: "linux",
    })
    .ok()
}
