//! Acceptances for readers: the document, and a page with the worst first. What a verdict is decided by: `core/accept`.

mod diff;
mod doc;
mod environment;
mod junit;
mod latency;
mod view;

pub use diff::{AcceptanceDiffDoc, Changed, DiffFindingDoc, acceptance_diff, diff_report};
pub use doc::{
    ACCEPTANCE_SCHEMA, AcceptanceDoc, AcceptedGpuDoc, AcceptedMachineDoc, AcceptedSupportDoc,
    Beside, FindingDoc, acceptance_doc, accepted_machine,
};
pub use environment::{
    AcceptedEnvironmentDoc, AcceptedPythonDoc, EnvironmentDiffDoc, RollbackDoc, SetupDoc,
    accepted_environment, environment_diff_report, rollback_report,
};
pub use junit::junit;
pub use latency::{LatencyDoc, latency_doc};
pub use view::acceptance_report;
