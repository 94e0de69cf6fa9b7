//! One environment, judged: what was read, whether its packages fit each other, driver and GPU, and whether what is needed
//! is there; and the repairs that are due. Start here; the steps are in the files beside this one.

use super::fit::{self, Fit, is_framework};
use super::needs::Against;
use super::pairs::{self, Target, goes_with_torch};
use super::repair::{Due, RepairKind, RepairPlan, RepairTable, plan};
use super::requires::{self, Checked, Unmet, UnmetKind};
use super::{Environment, NoteCode, Package, PackageFrom, Python, name_key, needs, system, wheel};
use crate::driver;
use crate::facts::Compat;
use crate::finding::{Check, Finding, Verdict};
use crate::judge::{Host, host, judge_on};
use crate::machine::Machine;
use crate::need::{Need, NeedError};
use crate::shell::{pip_install, quoted};
use crate::table::decides;
use jiff::civil::Date;
use lessee_model::Msg;
use std::collections::{BTreeMap, BTreeSet};

/// What is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct EnvCase<'a> {
    pub env: &'a Environment,
    /// Driver and GPU, where they are known.
    pub machine: Option<&'a Machine>,
    pub needs: &'a [(String, Result<Need, NeedError>)],
    pub compat: &'a Compat,
    pub repairs: &'a RepairTable,
    pub today: Date,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct EnvAnswer {
    pub findings: Vec<Finding>,
    /// `None` where nothing could be read: there is nothing to repair that is known.
    pub repair: Option<RepairPlan>,
}

/// Packages whose broken requirements stop the work, beside the frameworks and what is needed.
const WEIGHTY: &[&str] = &[
    "torchvision",
    "torchaudio",
    "triton",
    "jaxlib",
    "xformers",
    "deepspeed",
    "transformers",
    "accelerate",
];

/// Judges an environment.
pub fn judge_env(case: EnvCase<'_>) -> EnvAnswer {
    let EnvCase { env, compat, .. } = case;
    let mut out = Vec::new();
    let mut due = Vec::new();
    notes(env, &mut out);
    if env.is_bare() {
        if out.is_empty() {
            let reason = Msg::new("accept-env-nothing");
            out.push(unknown("read", reason).finding("environment"));
        }
        for (text, _) in case.needs {
            let reason = Msg::new("accept-env-nothing");
            out.push(unknown("need", reason).finding(text));
        }
        return EnvAnswer {
            findings: out,
            repair: None,
        };
    }
    let host = case.machine.map(|machine| host(machine, compat));
    match (&host, case.machine) {
        (Some(host), Some(machine)) => {
            driver::remarks(host, machine.printed_cuda.as_deref(), case.today, &mut out);
            crate::gpu::remarks(machine, compat, &mut out);
        }
        _ => {
            let check = Check::new("machine", Verdict::Warn, Msg::new("accept-env-no-machine"));
            out.push(
                check
                    .asking(Msg::new("accept-ask-env-machine"))
                    .finding("machine"),
            );
        }
    }
    if let Some(host) = &host {
        out.extend(system::architecture(env, host));
    }
    let mut fits: Vec<Fit> = host
        .as_ref()
        .map(|host| fit::check(env, host))
        .unwrap_or_default();
    let wanted = host.as_ref().and_then(|h| wanted_torch(case.needs, env, h));
    let target = |python: &Python, fits: &[Fit]| target(python, fits, wanted.as_deref());
    for python in &env.pythons {
        let torch = target(python, &fits);
        let set = Set {
            torch: torch.as_ref(),
            host: host.as_ref(),
        };
        one_set(python, &set, wanted.as_deref(), compat, &mut fits);
        of_python(python, &set, case, &mut out, &mut due);
    }
    system::check(env, &mut out, &mut due);
    for fit in &fits {
        out.push(fit.finding.clone());
        out.extend(fit.more.iter().cloned());
        due.extend(fit.due.clone());
    }
    let torch = env.pythons.iter().find_map(|p| target(p, &fits));
    let against = Against {
        env,
        fits: &fits,
        host: host.as_ref(),
        compat,
        torch: torch.as_ref(),
    };
    for (text, need) in case.needs {
        out.push(needs::check(text, need, &against, &mut due));
    }
    // what could not be told takes a look
    for finding in out.iter().filter(|f| is_open(f)) {
        if !due.iter().any(|d| d.subject == finding.subject) {
            due.push(Due {
                kind: RepairKind::Look,
                subject: finding.subject.clone(),
                line: None,
            });
        }
    }
    let framework = |p: &Package| is_framework(&p.name);
    let none = !env.pythons.iter().any(|p| p.packages.iter().any(framework));
    // what is wanted may need none
    let mut needed = case.needs.iter().filter_map(|(_, n)| n.as_ref().ok());
    let bare = none && (case.needs.is_empty() || needed.any(|n| is_framework(&n.package)));
    EnvAnswer {
        findings: out,
        repair: Some(plan(due, bare, case.repairs)),
    }
}

/// Whether something remains to be looked at: what could not be told, and what was not judged at all.
fn is_open(finding: &Finding) -> bool {
    let unjudged = ["accept-env-list-only", "accept-env-no-machine"];
    finding.verdict == Verdict::Unknown || unjudged.contains(&&*finding.reason.id)
}

/// The line that installs the torch that is needed, where one is needed that is not there.
fn wanted_torch(
    needs: &[(String, Result<Need, NeedError>)],
    env: &Environment,
    host: &Host<'_>,
) -> Option<String> {
    let is_torch = |n: &&Need| matches!(n.package.as_str(), "torch" | "pytorch");
    let all = needs.iter().filter_map(|(_, n)| n.as_ref().ok());
    let need = all.clone().find(is_torch)?;
    let there = env.pythons.iter().filter_map(|p| p.package("torch"));
    let allowed = |p: &Package| p.version.parse().is_ok_and(|v| need.allows(&v));
    if there.into_iter().any(allowed) {
        return None;
    }
    judge_on(&need.text, &Ok(need.clone()), host)
        .remove(0)
        .install
}

/// The torch of a Python after all repairs.
fn target(python: &Python, fits: &[Fit], wanted: Option<&str>) -> Option<Target> {
    if let Some(target) = wanted.and_then(Target::of_line) {
        return Some(target);
    }
    let there = python.package("torch")?;
    let fit = fits
        .iter()
        .find(|f| f.prefix == python.prefix && f.package == "torch");
    let repaired = fit.and_then(|f| Target::of_line(f.due.as_ref()?.line.as_deref()?));
    repaired.or_else(|| Target::of(&there.version))
}

/// Makes the lines of frameworks one set: torch as it is needed, and what rests upon it in the release that belongs with it.
fn one_set(
    python: &Python,
    set: &Set<'_>,
    wanted: Option<&str>,
    compat: &Compat,
    fits: &mut [Fit],
) {
    for fit in fits.iter_mut().filter(|f| f.prefix == python.prefix) {
        let line = match (fit.package.as_str(), set.torch) {
            ("torch", _) => wanted.map(str::to_owned),
            (name, Some(torch)) if goes_with_torch(name) => {
                let release = torch.release(name, None, compat, set.host);
                release.map(|r| pip_install(&r))
            }
            _ => continue,
        };
        let Some(due) = &mut fit.due else { continue };
        if fit.package != "torch" || line.is_some() {
            due.line.clone_from(&line);
            fit.finding.install = line;
        }
    }
}

/// What repairs of one Python are chosen for.
struct Set<'a> {
    torch: Option<&'a Target>,
    host: Option<&'a Host<'a>>,
}

impl Set<'_> {
    /// The line that mends a package that does not go with another. What rests upon torch moves, torch does not.
    fn line(&self, package: &str, partner: &str, wants: &str, compat: &Compat) -> Option<String> {
        let key = name_key(package);
        match self.torch {
            Some(torch) if partner == "torch" => {
                let release = torch.release(&key, None, compat, self.host)?;
                Some(pip_install(&release))
            }
            _ if is_framework(partner) => None,
            _ => Some(pip_install(wants)),
        }
    }
}

fn unknown(rule: &'static str, reason: Msg) -> Check {
    Check::new(rule, Verdict::Unknown, reason).asking(Msg::new("accept-ask-env-freeze"))
}

/// What could not be read, or not wholly.
fn notes(env: &Environment, out: &mut Vec<Finding>) {
    for note in &env.notes {
        let id = match note.code {
            NoteCode::Empty => "accept-env-note-empty",
            NoteCode::NotRecognised => "accept-env-note-unknown",
            NoteCode::Truncated => "accept-env-note-truncated",
            NoteCode::TooLarge => "accept-env-note-large",
            NoteCode::Damaged => "accept-env-note-damaged",
            NoteCode::Skipped => "accept-env-note-skipped",
            NoteCode::Several => "accept-env-note-several",
            NoteCode::Leftover => "accept-env-note-leftover",
            NoteCode::Unreadable => "accept-env-note-unreadable",
        };
        let reason = Msg::new(id).arg("detail", note.detail.as_str());
        let check = match note.code {
            NoteCode::Skipped | NoteCode::Leftover => Check::new("read", Verdict::Warn, reason),
            NoteCode::Unreadable => {
                Check::new("read", Verdict::Warn, reason).asking(Msg::new("accept-ask-env-rpm"))
            }
            _ => unknown("read", reason),
        };
        out.push(check.finding(&note.path));
    }
}

fn of_python(
    python: &Python,
    set: &Set<'_>,
    case: EnvCase<'_>,
    out: &mut Vec<Finding>,
    due: &mut Vec<Due>,
) {
    let checked = requires::check(python, case.env);
    let version = python.version.as_deref().unwrap_or("?");
    let count = python.packages.len().max(python.conda.len());
    let reason = Msg::new("accept-env-python")
        .arg("version", version)
        .arg("packages", count)
        .arg("requirements", checked.looked_at);
    out.push(Check::new("python", Verdict::Pass, reason).finding(&python.prefix));
    if checked.unknown > 0 && checked.looked_at == 0 {
        let check = Check::new("requires", Verdict::Warn, Msg::new("accept-env-list-only"));
        out.push(
            check
                .asking(Msg::new("accept-ask-env-check"))
                .finding(&python.prefix),
        );
    }
    if let Some(first) = checked.unreadable.first() {
        let reason = Msg::new("accept-env-requires-odd")
            .arg("n", checked.unreadable.len())
            .arg("first", first.as_str());
        out.push(Check::new("requires", Verdict::Warn, reason).finding(&python.prefix));
    }
    let weighty = weighty(python, &checked, case.needs);
    for unmet in &checked.unmet {
        tell_unmet(unmet, &weighty, (python, set, case.compat), out, due);
    }
    for wrong in pairs::check(python, case.compat) {
        let wants = format!("{}{}", wrong.partner, wrong.asks);
        let reason = Msg::new("accept-env-pair")
            .arg("package", wrong.package.as_str())
            .arg("wants", wants.as_str())
            .arg("has", wrong.has.as_str());
        let verdict = match decides(wrong.origin.confidence) {
            true => Verdict::Fail,
            false => Verdict::Unknown,
        };
        let mut finding = Check::new("pair", verdict, reason)
            .from(&wrong.origin)
            .finding(&wrong.package);
        let name = wrong.package.split(' ').next().unwrap_or("");
        finding.install = set.line(name, &wrong.partner, &wants, case.compat);
        if finding.install.is_none() {
            finding.ask = Some(Msg::new("accept-ask-env-set"));
        }
        due.push(Due {
            kind: RepairKind::Requirement,
            subject: wrong.package,
            line: finding.install.clone(),
        });
        out.push(finding);
    }
    wheel::check(python, case.env, &weighty, out, due);
    twice(python, out, due);
    for package in &python.packages {
        compiled(package, python, out, due);
    }
}

/// The packages whose requirements count: frameworks, what is needed, and all that these rest upon.
fn weighty(
    python: &Python,
    checked: &Checked,
    needs: &[(String, Result<Need, NeedError>)],
) -> BTreeSet<String> {
    let needed = needs.iter().filter_map(|(_, n)| n.as_ref().ok());
    let needed: Vec<&str> = needed.map(|n| n.package.as_str()).collect();
    let all: Vec<String> = python.packages.iter().map(|p| name_key(&p.name)).collect();
    let counts = |n: &&str| is_framework(n) || WEIGHTY.contains(n) || needed.contains(n);
    let roots = all.iter().map(String::as_str).filter(counts);
    requires::closure(roots, &checked.edges)
}

fn tell_unmet(
    unmet: &Unmet,
    weighty: &BTreeSet<String>,
    (python, set, compat): (&Python, &Set<'_>, &Compat),
    out: &mut Vec<Finding>,
    due: &mut Vec<Due>,
) {
    let name = unmet.of.split(' ').next().unwrap_or("");
    let counts = weighty.contains(&name_key(name));
    let id = match unmet.kind {
        UnmetKind::Missing => "accept-env-unmet-missing",
        UnmetKind::Unseen => "accept-env-unmet-unseen",
        UnmetKind::Version => "accept-env-unmet-version",
        UnmetKind::Python => "accept-env-unmet-python",
    };
    let reason = Msg::new(id)
        .arg("of", unmet.of.as_str())
        .arg("wants", unmet.wants.as_str())
        .arg("has", unmet.has.as_deref().unwrap_or(""))
        .arg("sees", python.sees.as_deref().unwrap_or(""));
    let verdict = match (unmet.kind, counts) {
        (UnmetKind::Unseen, true) => Verdict::Unknown,
        (UnmetKind::Unseen, false) | (_, false) => Verdict::Warn,
        (_, true) => Verdict::Fail,
    };
    let rule = match unmet.kind {
        UnmetKind::Python => "requires-python",
        _ => "requires",
    };
    let mut finding = Check::new(rule, verdict, reason).finding(&unmet.of);
    let kind = match unmet.kind {
        UnmetKind::Python => RepairKind::Python,
        UnmetKind::Unseen => RepairKind::Look,
        UnmetKind::Missing => RepairKind::Package,
        UnmetKind::Version => RepairKind::Requirement,
    };
    match unmet.kind {
        UnmetKind::Python | UnmetKind::Unseen => {}
        UnmetKind::Missing => finding.install = Some(pip_install(&unmet.wants)),
        UnmetKind::Version => {
            let end = unmet.wants.find(['=', '<', '>', '~', '!']);
            let partner = name_key(&unmet.wants[..end.unwrap_or(unmet.wants.len())]);
            finding.install = set.line(name, &partner, &unmet.wants, compat);
            if finding.install.is_none() {
                finding.ask = Some(Msg::new("accept-ask-env-set"));
            }
        }
    }
    due.push(Due {
        kind,
        subject: unmet.of.clone(),
        line: finding.install.clone(),
    });
    out.push(finding);
}

/// One name, two versions in one folder: which of them is loaded is chance.
fn twice(python: &Python, out: &mut Vec<Finding>, due: &mut Vec<Due>) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for package in &python.packages {
        let first = seen.insert(name_key(&package.name), &package.version);
        if let Some(first) = first.filter(|f| *f != package.version) {
            let reason = Msg::new("accept-env-twice")
                .arg("first", first)
                .arg("second", package.version.as_str())
                .arg("prefix", python.prefix.as_str());
            // two folders that one Python sees, the user's before the system's, are usual
            out.push(Check::new("twice", Verdict::Warn, reason).finding(&package.name));
            due.push(Due {
                kind: RepairKind::Package,
                subject: package.name.clone(),
                line: Some(format!(
                    "pip install --force-reinstall --no-deps {}",
                    quoted(&format!("{}=={}", package.name, package.version))
                )),
            });
        }
    }
}

/// Packages that are compiled against one torch, which their wheels' names say: `2.8.3+cu12torch2.6cxx11abiFALSE`.
fn compiled(package: &Package, python: &Python, out: &mut Vec<Finding>, due: &mut Vec<Due>) {
    if name_key(&package.name) != "flash-attn" {
        return;
    }
    let subject = format!("{} {}", package.name, package.version);
    let tag = tag(&package.version).or_else(|| tag(package.url.as_deref()?));
    let torch = python.package("torch");
    let (verdict, reason) = match (tag, torch) {
        (_, None) if package.from == PackageFrom::Conda => return,
        (_, None) => return,
        (None, Some(_)) => (Verdict::Warn, Msg::new("accept-env-compiled-unseen")),
        (Some((cuda, built)), Some(torch)) => {
            let minor: Vec<&str> = torch.version.split(['.', '+']).take(2).collect();
            let minor = minor.join(".");
            let own = torch
                .build
                .as_deref()
                .or(torch.version.split_once('+').map(|v| v.1));
            // a build for the processor or ROCm is another one; of somebody's own build nothing is known
            let same = own.filter(|b| fit::is_build(b)).is_none_or(|b| {
                let digits = b.strip_prefix("cu");
                digits.is_some_and(|d| d.starts_with(cuda.as_str()) || cuda.starts_with(d))
            });
            if built == minor && same {
                return;
            }
            let reason = Msg::new("accept-env-compiled-other")
                .arg("built", format!("torch {built}, CUDA {cuda}"))
                .arg("torch", format!("torch {}", torch.version));
            (Verdict::Fail, reason)
        }
    };
    out.push(Check::new("compiled", verdict, reason).finding(&subject));
    if verdict == Verdict::Fail {
        due.push(Due {
            kind: RepairKind::Compile,
            subject,
            line: Some(
                "pip install --no-build-isolation --force-reinstall --no-deps flash-attn"
                    .to_owned(),
            ),
        });
    }
}

/// CUDA and torch of a build's tag.
fn tag(text: &str) -> Option<(String, String)> {
    let (before, after) = text.split_once("torch")?;
    let digits = before.rsplit("cu").next()?;
    let good = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let end = after
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(after.len());
    let torch = after[..end].trim_end_matches('.');
    (good && torch.contains('.')).then(|| (digits.to_owned(), torch.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_name_the_torch_that_they_were_made_with() {
        let found = tag("2.8.3+cu12torch2.6cxx11abiFALSE");
        assert_eq!(found, Some(("12".to_owned(), "2.6".to_owned())));
        let url = "https://github.com/x/flash_attn-2.8.3+cu12torch2.7cxx11abiTRUE-cp311-cp311-linux_x86_64.whl";
        assert_eq!(tag(url), Some(("12".to_owned(), "2.7".to_owned())));
        for text in ["2.8.3", "2.8.3+torch2.6", "torch", "x+cutorch2.6"] {
            assert_eq!(tag(text), None, "{text}");
        }
    }
}
