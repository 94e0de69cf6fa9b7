//! `accept env`: what is installed becomes findings, and the hours that repairs would take. Saving, comparing and bringing
//! back a lock is in [`lock`].

mod lock;

pub(super) use lock::compare;

use super::driver::{capture, of_file, shown, typed};
use super::{Done, evidence, now};
use crate::args::EnvArgs;
use crate::facts;
use lessee_accept::env::{EnvCase, Environment, RepairPlan, judge_env};
use lessee_accept::{Compat, Gpu, Machine, Need, NeedError, Outcome, all_needs_of_file, hidden};
use lessee_console::{Failure, Printer, Settings};
use lessee_image::{ImageError, read_file, read_folder, read_input, read_machine, read_root};
use lessee_model::Msg;
use lessee_report::accept::{Beside, SetupDoc, accepted_environment, accepted_machine};
use std::path::Path;

type Needs = Vec<(String, Result<Need, NeedError>)>;

pub(super) fn check(
    args: &EnvArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Done, Failure> {
    if let Some(path) = &args.save {
        lock::must_be_new(path)?;
    }
    let env = read(args, &now(settings), printer)?;
    let compat = lessee_catalog::compat()?;
    let machine = machine(args, &env, &compat)?;
    let needs = needs(args)?;
    let repairs = lessee_catalog::repair_table()?;
    let answer = judge_env(EnvCase {
        env: &env,
        machine: machine.as_ref(),
        needs: &needs,
        compat: &compat,
        repairs: &repairs,
        today: settings.today(),
    });
    let setup = answer
        .repair
        .as_ref()
        .map(|r| setup(r, !needs.is_empty()))
        .transpose()?;
    let mut doc = accepted_environment(&env, answer.repair, setup);
    let kept = lock::written(&env);
    if let Some(path) = &args.save {
        lock::save(path, &env, &kept)?;
        doc.saved_to = Some(path.display().to_string());
    }
    let from: Vec<&str> = env.sources.iter().map(|s| s.path.as_str()).collect();
    let evidence = evidence("environment", from.join(", "), &kept, settings);
    let file = args.driver.clone().filter(|d| Path::new(d).is_file());
    Ok(Done {
        outcome: Outcome::new("env", answer.findings).resting_on(evidence, kept),
        beside: Beside {
            machine: machine.map(|m| accepted_machine(file, &m)),
            environment: Some(doc),
            ..Beside::default()
        },
    })
}

/// What people's work `plan` should count: the repairs, and what a ready image takes too.
fn setup(repair: &RepairPlan, wanted: bool) -> Result<SetupDoc, Failure> {
    let facts = facts::builtin()?;
    let ready = facts.defaults.get("setup.ready.labour_hours");
    let hours = ready + repair.hours.likely;
    Ok(SetupDoc {
        image: repair.image.clone(),
        // of an image without a framework nobody said what is wanted: then as `plan` assumes
        labour_hours: (wanted || repair.image != "bare").then_some((hours * 100.0).round() / 100.0),
    })
}

fn failed(e: ImageError) -> Failure {
    Failure::read(Path::new(&e.path), &e.source)
}

/// All that was named, as one environment.
fn read(args: &EnvArgs, at: &str, printer: &Printer) -> Result<Environment, Failure> {
    printer.progress(Some(&Msg::new("accept-env-reading")));
    let mut all: Option<Environment> = None;
    let mut add = |one: Environment| match &mut all {
        Some(all) => all.join(one),
        None => all = Some(one),
    };
    if let Some(root) = &args.root {
        add(read_root(root, at).map_err(failed)?);
    }
    for path in &args.inputs {
        add(if path.as_os_str() == "-" {
            read_input(std::io::stdin().lock(), "<stdin>", at)
        } else if path.is_dir() {
            read_folder(path, at).map_err(failed)?
        } else {
            read_file(path, at).map_err(failed)?
        });
    }
    let mut env = match all {
        Some(env) => env,
        None => read_machine(at).map_err(failed)?,
    };
    printer.progress(None);
    env.sort();
    Ok(env)
}

/// Driver and GPU that are meant: as given, else of the machine that was read.
fn machine(args: &EnvArgs, env: &Environment, compat: &Compat) -> Result<Option<Machine>, Failure> {
    if let Some(driver) = &args.driver {
        let path = Path::new(driver);
        if path.is_file() || driver == "-" {
            let bytes = capture(path)?;
            return Ok(Some(shown(&bytes, &facts::builtin()?.gpus, compat)));
        }
        if !driver.starts_with(|c: char| c.is_ascii_digit()) {
            let msg = Msg::new("accept-env-no-driver").arg("driver", driver.as_str());
            return Err(Failure::usage(msg).hint(Msg::new("hint-accept-env-driver")));
        }
    }
    if args.driver.is_some() || !args.gpu.is_empty() {
        return Ok(Some(typed(args.driver.as_deref(), &args.gpu)?));
    }
    let gpu = |name: &String| Gpu {
        name: Some(name.clone()),
        ..Gpu::default()
    };
    Ok(env.driver.clone().map(|driver| Machine {
        driver: Some(driver),
        gpus: env.gpus.iter().map(gpu).collect(),
        captured: true,
        ..Machine::default()
    }))
}

fn needs(args: &EnvArgs) -> Result<Needs, Failure> {
    let typed = |text: &String| (text.clone(), Need::parse(text));
    let mut needs: Needs = args.need.iter().map(typed).collect();
    for path in &args.needs {
        needs.extend(of_file(path, all_needs_of_file)?.needs);
    }
    for (text, _) in &mut needs {
        *text = hidden(text);
    }
    let mut seen = std::collections::HashSet::new();
    needs.retain(|(text, _)| seen.insert(text.clone()));
    Ok(needs)
}
