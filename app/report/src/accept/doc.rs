//! `lessee/acceptance/v1`: findings with their evidence, in the reader's language.

use super::{AcceptedEnvironmentDoc, LatencyDoc};
use crate::Texts;
use lessee_accept::{Evidence, Finding, GuardLine, Machine, Outcome, Verdict};
use lessee_model::{Arg, Msg};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The `schema` of an acceptance.
pub const ACCEPTANCE_SCHEMA: &str = "lessee/acceptance/v1";

/// `accept -o json`; with `-o jsonl` each line is one of `findings`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptanceDoc {
    /// `lessee/acceptance/v1`
    pub schema: String,
    pub generated_at: String,
    /// Which check: `driver`, `latency`, `failure`, `budget`, `security`, `offer`, `env`, `support`; `all` of a whole acceptance.
    pub check: String,
    /// As the acceptance file calls it.
    pub name: Option<String>,
    /// The worst of the findings: fail over unknown over warn.
    pub verdict: Verdict,
    /// Null where no check looked at a machine.
    pub machine: Option<AcceptedMachineDoc>,
    pub findings: Vec<FindingDoc>,
    /// What was read, by hash.
    pub evidence: Vec<Evidence>,
    /// Figures of round trips, one entry a target; empty where none were measured.
    pub latency: Vec<LatencyDoc>,
    /// Packages of files of needs that no rule judges.
    pub not_judged: usize,
    /// What holds for all of it, in the reader's language: that it is no legal advice.
    pub notices: Vec<String>,
    /// Of the check `budget`: the line of `lessee guard` that closes the gap.
    pub guard: Option<GuardLine>,
    /// Of the check `env`: what was found installed, and what repairs would take.
    pub environment: Option<AcceptedEnvironmentDoc>,
    /// Of the check `support`: what a plan takes of the log of tickets.
    pub support: Option<AcceptedSupportDoc>,
}

/// A log of tickets in short.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedSupportDoc {
    pub tickets: usize,
    /// Hours until solutions, summed over a month; null where the log is too short to tell. `setup.support_wait_hours` of a
    /// workload.
    pub wait_hours_a_month: Option<f64>,
}

/// What checks give beside their findings.
#[derive(Default)]
pub struct Beside {
    pub machine: Option<AcceptedMachineDoc>,
    /// Packages of files of needs that no rule judges.
    pub not_judged: usize,
    pub latency: Vec<LatencyDoc>,
    pub guard: Option<GuardLine>,
    pub environment: Option<AcceptedEnvironmentDoc>,
    pub support: Option<AcceptedSupportDoc>,
}

impl Beside {
    /// Takes over what another check gave; the first machine stays.
    pub fn join(&mut self, other: Beside) {
        self.machine = self.machine.take().or(other.machine);
        self.not_judged += other.not_judged;
        self.latency.extend(other.latency);
        self.guard = self.guard.take().or(other.guard);
        self.environment = self.environment.take().or(other.environment);
        self.support = self.support.take().or(other.support);
    }
}

/// The machine as it was shown or typed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedMachineDoc {
    /// The capture; null where the machine was typed.
    pub file: Option<String>,
    pub driver: Option<String>,
    /// The CUDA version that was printed beside the driver; not what decides.
    pub printed_cuda: Option<String>,
    pub gpus: Vec<AcceptedGpuDoc>,
}

/// GPUs of one name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedGpuDoc {
    pub name: String,
    pub count: usize,
}

/// One finding.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FindingDoc {
    /// The check that it is part of.
    pub check: String,
    /// Stable: `need` (one for each need, its overall verdict), else the rule of a detail.
    pub rule: String,
    /// The need as given, or the driver, GPU or capture that a detail concerns.
    pub subject: String,
    pub verdict: Verdict,
    /// In the reader's language.
    pub reason: String,
    /// Stable name of the reason.
    pub code: String,
    /// Where the deciding fact is from.
    pub source: Option<String>,
    /// The date of that fact: YYYY, YYYY-MM or YYYY-MM-DD.
    pub as_of: Option<String>,
    /// What to ask the provider.
    pub ask: Option<String>,
    /// The line that installs it, or the newest version that would work.
    pub install: Option<String>,
    /// `sha256` of the evidence that it rests upon.
    pub evidence: Vec<String>,
}

/// Checks as one document; `check` is that of the one, or `all`.
pub fn acceptance_doc(
    outcomes: &[Outcome],
    beside: Beside,
    generated_at: String,
    texts: &Texts,
) -> AcceptanceDoc {
    let all = outcomes.iter().flat_map(|o| &o.findings);
    let mut evidence: Vec<Evidence> = Vec::new();
    for (one, _) in outcomes.iter().flat_map(|o| &o.evidence) {
        if !evidence.contains(one) {
            evidence.push(one.clone());
        }
    }
    AcceptanceDoc {
        schema: ACCEPTANCE_SCHEMA.to_owned(),
        name: None,
        generated_at,
        check: match outcomes {
            [one] => one.check.to_owned(),
            _ => "all".to_owned(),
        },
        // nothing found is nothing known
        verdict: all.map(|f| f.verdict).max().unwrap_or(Verdict::Unknown),
        machine: beside.machine,
        findings: outcomes
            .iter()
            .flat_map(|o| o.findings.iter().map(|f| finding(o.check, f, texts)))
            .collect(),
        evidence,
        latency: beside.latency,
        not_judged: beside.not_judged,
        notices: outcomes
            .iter()
            .any(|o| o.check == "security")
            .then(|| texts.get("accept-notice-legal"))
            .into_iter()
            .collect(),
        guard: beside.guard,
        environment: beside.environment,
        support: beside.support,
    }
}

/// The machine of a driver check; `file` is its capture.
pub fn accepted_machine(file: Option<String>, machine: &Machine) -> AcceptedMachineDoc {
    let mut gpus: Vec<AcceptedGpuDoc> = Vec::new();
    for gpu in &machine.gpus {
        let name = gpu.name.clone().unwrap_or_else(|| "?".to_owned());
        match gpus.iter_mut().find(|g| g.name == name) {
            Some(known) => known.count += 1,
            None => gpus.push(AcceptedGpuDoc { name, count: 1 }),
        }
    }
    AcceptedMachineDoc {
        file,
        driver: machine.driver.clone(),
        printed_cuda: machine.printed_cuda.clone(),
        gpus,
    }
}

fn finding(check: &str, f: &Finding, texts: &Texts) -> FindingDoc {
    let id = &innermost(&f.reason).id;
    let code = id.strip_prefix("accept-").unwrap_or(id);
    FindingDoc {
        check: check.to_owned(),
        rule: f.rule.to_owned(),
        subject: f.subject.clone(),
        verdict: f.verdict,
        reason: texts.msg(&f.reason),
        code: code.replace('-', "_"),
        source: f.source.clone(),
        as_of: f.as_of.clone(),
        ask: f.ask.as_ref().map(|m| texts.msg(m)),
        install: f.install.clone(),
        evidence: f.evidence.clone(),
    }
}

/// The reason itself, without what only adds to it (a sum, a caveat, that it is only said).
fn innermost(reason: &Msg) -> &Msg {
    let inner = reason.args.iter().find_map(|(name, arg)| match arg {
        Arg::Msg(inner) if name == "what" || name == "a" => Some(&**inner),
        _ => None,
    });
    inner.map_or(reason, innermost)
}
