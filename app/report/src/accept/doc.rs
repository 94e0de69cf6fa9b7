//! `lessee/acceptance/v1`: findings with their evidence, in the reader's language.

use crate::Texts;
use lessee_accept::{Finding, Machine, Verdict, worst};
use schemars::JsonSchema;
use serde::Serialize;

/// `accept -o json`; with `-o jsonl` each line is one of `findings`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AcceptanceDoc {
    /// `lessee/acceptance/v1`
    pub schema: String,
    pub generated_at: String,
    /// Which check: `driver`.
    pub check: String,
    /// The worst of the findings: fail over unknown over warn.
    pub verdict: Verdict,
    pub machine: AcceptedMachineDoc,
    pub findings: Vec<FindingDoc>,
    /// Packages of files of needs that no rule judges.
    pub not_judged: usize,
}

/// The machine as it was shown or typed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AcceptedMachineDoc {
    /// The capture; null where the machine was typed.
    pub file: Option<String>,
    pub driver: Option<String>,
    /// The CUDA version that was printed beside the driver; not what decides.
    pub printed_cuda: Option<String>,
    pub gpus: Vec<AcceptedGpuDoc>,
}

/// GPUs of one name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AcceptedGpuDoc {
    pub name: String,
    pub count: usize,
}

/// One finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FindingDoc {
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
}

/// Findings as a document.
pub fn acceptance_doc(
    check: &str,
    file: Option<String>,
    machine: &Machine,
    findings: &[Finding],
    generated_at: String,
    texts: &Texts,
) -> AcceptanceDoc {
    let mut gpus: Vec<AcceptedGpuDoc> = Vec::new();
    for gpu in &machine.gpus {
        let name = gpu.name.clone().unwrap_or_else(|| "?".to_owned());
        match gpus.iter_mut().find(|g| g.name == name) {
            Some(known) => known.count += 1,
            None => gpus.push(AcceptedGpuDoc { name, count: 1 }),
        }
    }
    AcceptanceDoc {
        schema: "lessee/acceptance/v1".to_owned(),
        generated_at,
        check: check.to_owned(),
        verdict: worst(findings),
        machine: AcceptedMachineDoc {
            file,
            driver: machine.driver.clone(),
            printed_cuda: machine.printed_cuda.clone(),
            gpus,
        },
        findings: findings.iter().map(|f| finding(f, texts)).collect(),
        not_judged: 0,
    }
}

fn finding(f: &Finding, texts: &Texts) -> FindingDoc {
    let code = f.reason.id.strip_prefix("accept-").unwrap_or(&f.reason.id);
    FindingDoc {
        rule: f.rule.to_owned(),
        subject: f.subject.clone(),
        verdict: f.verdict,
        reason: texts.msg(&f.reason),
        code: code.replace('-', "_"),
        source: f.source.clone(),
        as_of: f.as_of.clone(),
        ask: f.ask.as_ref().map(|m| texts.msg(m)),
        install: f.install.clone(),
    }
}
