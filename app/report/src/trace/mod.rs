//! Traces for readers: what was read ([`import_report`], [`list_report`], [`show_report`]) and its figures
//! ([`stats_doc`], [`stats_report`]). The figures themselves are made in `core/spot`.

mod charts;
mod doc;
mod stats;
mod stats_view;
mod strip;
mod view;

pub use doc::{
    RecordDoc, SavedTraceDoc, TraceImportDoc, TraceImportedDoc, TraceListDoc, TraceRemarkDoc,
    TraceShowDoc, TraceStoredDoc, record_doc,
};
pub use stats::{TraceStatsDoc, stats_doc};
pub use stats_view::stats_report;
pub use view::{import_report, list_report, show_report};
