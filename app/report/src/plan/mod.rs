//! A plan for readers: [`plan_doc`] is the public JSON document, and all that people see is made from that
//! document alone, so that a saved plan can be shown again.

pub(crate) mod doc;
pub(crate) mod explain;
mod spot;
pub(crate) mod view;
mod why_not;

pub use doc::{PlanSource, plan_doc};
pub use explain::explain_report;
pub use view::plan_report;
pub use why_not::why_not_report;
