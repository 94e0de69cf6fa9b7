//! Acceptances for readers: the document, and a page with the worst first. What a verdict is decided by: `core/accept`.

mod doc;
mod latency;
mod view;

pub use doc::{
    AcceptanceDoc, AcceptedGpuDoc, AcceptedMachineDoc, FindingDoc, acceptance_doc, accepted_machine,
};
pub use latency::{LatencyDoc, latency_doc};
pub use view::acceptance_report;
