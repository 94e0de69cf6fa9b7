//! What is installed, for readers: what was found and what repairs would take, what changed since a lock was saved, and the
//! way back. What is judged: `core/accept`, folder `env`.

use crate::{Block, Cell, Column, Report, Table, Texts, clean};
use lessee_accept::env::{
    Change, Environment, Hours, LeftOut, Library, Lost, PythonKind, RepairPlan, Rollback,
    SourceRead, Step,
};
use lessee_model::Msg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The environment that was judged, in short; `accept env --save` keeps all of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedEnvironmentDoc {
    pub sources: Vec<SourceRead>,
    pub os: Option<String>,
    pub arch: Option<String>,
    pub driver: Option<String>,
    pub pythons: Vec<AcceptedPythonDoc>,
    /// Packages of the system.
    pub system_packages: usize,
    pub libraries: Vec<Library>,
    /// Null where nothing could be read.
    pub repair: Option<RepairPlan>,
    /// What `plan` takes, so that the repairs are priced.
    pub setup: Option<SetupDoc>,
    /// Where the lock was saved.
    pub saved_to: Option<String>,
}

/// One Python.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedPythonDoc {
    pub prefix: String,
    pub kind: PythonKind,
    pub version: Option<String>,
    pub packages: usize,
    pub conda_packages: usize,
}

/// The section `setup` of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetupDoc {
    /// `ready`, `adapt`, `bare`
    pub image: String,
    /// People's hours until the job runs: the repairs, and those that a ready image takes too. Null: as `image` says.
    pub labour_hours: Option<f64>,
}

/// The short form of an environment.
pub fn accepted_environment(
    env: &Environment,
    repair: Option<RepairPlan>,
    setup: Option<SetupDoc>,
) -> AcceptedEnvironmentDoc {
    let python = |p: &lessee_accept::env::Python| AcceptedPythonDoc {
        prefix: p.prefix.clone(),
        kind: p.kind,
        version: p.version.clone(),
        packages: p.packages.len(),
        conda_packages: p.conda.len(),
    };
    AcceptedEnvironmentDoc {
        sources: env.sources.clone(),
        os: env.os.clone(),
        arch: env.arch.clone(),
        driver: env.driver.clone(),
        pythons: env.pythons.iter().map(python).collect(),
        system_packages: env.system.len(),
        libraries: env.libraries.clone(),
        repair,
        setup,
        saved_to: None,
    }
}

/// What repairs would take, and the lines for `plan`.
pub(super) fn blocks(env: &AcceptedEnvironmentDoc, texts: &Texts, report: &mut Report) {
    report.text(texts.msg(&found(env)));
    if let Some(plan) = &env.repair {
        repairs(plan, texts, report);
    }
    if let Some(setup) = &env.setup {
        report.text(texts.get("accept-env-setup"));
        let mut toml = format!("  [setup]\n  image = \"{}\"", clean(&setup.image));
        if let Some(hours) = setup.labour_hours {
            toml += &format!("\n  labour_hours = {hours}");
        }
        report.blocks.push(Block::Verbatim(toml));
        if let (Some(hours), Some(plan)) = (setup.labour_hours, &env.repair) {
            // to the hundredth, as they are shown
            let ready = ((hours - plan.hours.likely) * 100.0).round() / 100.0;
            let msg = Msg::new("accept-env-setup-hours")
                .arg("all", hours)
                .arg("repairs", plan.hours.likely)
                .arg("ready", ready);
            report.text(texts.msg(&msg));
        }
    }
    if let Some(path) = &env.saved_to {
        report.text(texts.msg(&Msg::new("accept-env-saved").arg("path", path.as_str())));
    }
}

fn found(env: &AcceptedEnvironmentDoc) -> Msg {
    let packages: usize = env
        .pythons
        .iter()
        .map(|p| p.packages.max(p.conda_packages))
        .sum();
    let from = env.sources.first().map(|s| s.path.as_str());
    Msg::new("accept-env-found")
        .arg("os", env.os.as_deref().or(from).unwrap_or("?"))
        .arg("pythons", env.pythons.len())
        .arg("packages", packages)
        .arg("system", env.system_packages)
}

fn repairs(plan: &RepairPlan, texts: &Texts, report: &mut Report) {
    report.heading(texts.get("accept-env-repair"));
    if plan.items.is_empty() {
        report.text(texts.get("accept-env-repair-none"));
        return;
    }
    let mut table = Table::new(vec![
        Column::left("repair", texts.get("accept-env-col-repair"), 0),
        Column::left("subject", texts.get("accept-col-subject"), 0),
        Column::left("hours", texts.get("accept-env-col-hours"), 0),
    ]);
    for item in &plan.items {
        table.push(vec![
            Cell::new(texts.term("accept-env-repair", item.repair.as_str()))
                .raw(item.repair.as_str()),
            Cell::new(clean(&item.subject)).raw(item.subject.as_str()),
            Cell::new(hours(item.hours)),
        ]);
    }
    report.table(table);
    let mut lines: Vec<String> = Vec::new();
    for line in plan.items.iter().filter_map(|i| i.line.as_deref()) {
        let line = format!("  {}", clean(line));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if !lines.is_empty() {
        report.text(texts.get("accept-env-lines"));
        report.blocks.push(Block::Verbatim(lines.join("\n")));
    }
    let id = match plan.rebuild {
        true => "accept-env-hours-rebuild",
        false => "accept-env-hours",
    };
    let msg = Msg::new(id)
        .arg("low", plan.hours.low)
        .arg("likely", plan.hours.likely)
        .arg("high", plan.hours.high)
        .arg("source", plan.source.as_deref().unwrap_or("?"));
    report.text(texts.msg(&msg));
}

fn hours(h: Hours) -> String {
    format!("{} ({}-{})", h.likely, h.low, h.high)
}

/// `accept env --diff -o json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EnvironmentDiffDoc {
    /// `lessee/environment-diff/v1`
    pub schema: String,
    pub saved_at: String,
    pub read_at: String,
    pub changes: Vec<Change>,
    /// What only one of the two readings covers, so that it was not compared.
    pub left_out: Vec<LeftOut>,
    /// What could not be read now, so that its changes are not known.
    pub not_read: Vec<String>,
}

/// The page of what changed; `any` where something was compared.
pub fn environment_diff_report(doc: &EnvironmentDiffDoc, any: bool, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("accept-env-diff"), data, "changes");
    let msg = Msg::new("accept-env-diff-since").arg("saved", doc.saved_at.as_str());
    report.text(texts.msg(&msg));
    not_compared(&doc.left_out, &doc.not_read, texts, &mut report);
    if !doc.changes.is_empty() {
        report.table(change_table(&doc.changes, texts));
    } else if any && doc.not_read.is_empty() {
        report.text(texts.get("accept-env-same"));
    } else {
        report.text(texts.get("accept-env-unsure"));
    }
    report
}

/// What was not read, and what only one side covers.
fn not_compared(left_out: &[LeftOut], not_read: &[String], texts: &Texts, report: &mut Report) {
    for what in not_read {
        report.text(texts.msg(&Msg::new("accept-env-not-read").arg("what", clean(what).as_ref())));
    }
    if !left_out.is_empty() {
        let one = |l: &LeftOut| match l.place.as_str() {
            "" => l.area.clone(),
            place => format!("{} {}", l.area, clean(place)),
        };
        let what: Vec<String> = left_out.iter().map(one).collect();
        let msg = Msg::new("accept-env-left-out").arg("what", what.join(", "));
        report.text(texts.msg(&msg));
    }
}

fn change_table(changes: &[Change], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("change", texts.get("accept-env-col-change"), 0),
        Column::left("name", texts.get("accept-env-col-name"), 0),
        Column::left("was", texts.get("accept-env-col-was"), 0),
        Column::left("is", texts.get("accept-env-col-is"), 0),
        Column::left("place", texts.get("accept-env-col-place"), 1),
        Column::machines("area", texts.get("accept-env-col-area")),
    ]);
    let text = |t: &Option<String>| Cell::new(clean(t.as_deref().unwrap_or("")));
    for c in changes {
        table.push(vec![
            Cell::new(texts.term("accept-env-change", c.change.as_str())).raw(c.change.as_str()),
            Cell::new(clean(&c.name)),
            text(&c.was),
            text(&c.is),
            Cell::new(clean(&c.place)),
            Cell::new(c.area.as_str()),
        ]);
    }
    table
}

/// `accept env --rollback -o json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RollbackDoc {
    /// `lessee/environment-rollback/v1`
    pub schema: String,
    pub saved_at: String,
    pub read_at: String,
    pub steps: Vec<Step>,
    pub lost: Vec<Lost>,
    /// What only one of the two readings covers: no step touches it.
    pub left_out: Vec<LeftOut>,
    /// What could not be read, then or now: no step rests upon it.
    pub not_read: Vec<String>,
    /// Some steps need versions that the distribution may no longer offer.
    pub may_be_gone: bool,
    /// The steps were run.
    pub ran: bool,
    /// Exit statuses of the steps that were run, in their order; the last may be other than 0, and ends the run.
    pub exits: Vec<Option<i32>>,
    /// What still differs after they were run; null where nothing was run.
    pub left: Option<Vec<Change>>,
}

/// The page of the way back; `any` where something was compared.
pub fn rollback_report(doc: &RollbackDoc, any: bool, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("accept-env-rollback"), data, "steps");
    let msg = Msg::new("accept-env-diff-since").arg("saved", doc.saved_at.as_str());
    report.text(texts.msg(&msg));
    not_compared(&doc.left_out, &doc.not_read, texts, &mut report);
    if doc.steps.is_empty() && doc.lost.is_empty() {
        report.text(texts.get(match any && doc.not_read.is_empty() {
            true => "accept-env-same",
            false => "accept-env-unsure",
        }));
    }
    if !doc.steps.is_empty() {
        report.text(texts.get(match doc.ran {
            true => "accept-env-steps-ran",
            false => "accept-env-steps",
        }));
        let lines: Vec<String> = doc
            .steps
            .iter()
            .map(|s| format!("  {}", clean(&s.line)))
            .collect();
        report.blocks.push(Block::Verbatim(lines.join("\n")));
    }
    if doc.may_be_gone {
        report.text(texts.get("accept-env-may-be-gone"));
    }
    if !doc.lost.is_empty() {
        report.text(texts.get("accept-env-lost"));
        let line = |l: &Lost| {
            let why = texts.term("accept-env-lost", &l.why.as_str().replace('_', "-"));
            format!("{}: {why}", clean(&l.what))
        };
        report.list(doc.lost.iter().map(line).collect());
    }
    match &doc.left {
        Some(left) if left.is_empty() => report.text(texts.get("accept-env-back")),
        Some(left) => {
            report.text(texts.get("accept-env-left"));
            report.table(change_table(left, texts));
        }
        None => {}
    }
    report
}

impl RollbackDoc {
    /// The way back, not run.
    pub fn new(saved_at: &str, read_at: &str, way: Rollback) -> RollbackDoc {
        RollbackDoc {
            schema: "lessee/environment-rollback/v1".to_owned(),
            saved_at: saved_at.to_owned(),
            read_at: read_at.to_owned(),
            steps: way.steps,
            lost: way.lost,
            left_out: way.left_out,
            not_read: Vec::new(),
            may_be_gone: way.may_be_gone,
            ran: false,
            exits: Vec::new(),
            left: None,
        }
    }
}
