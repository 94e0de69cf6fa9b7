//! Replays for readers: what each policy would have cost ([`simulation_doc`], [`simulation_report`]). The replays
//! themselves are made in `core/spot`.

mod doc;
mod timeline;
mod view;

pub use doc::{
    JobDoc, MarketDoc, NoteDoc, PolicyDoc, ReplayDoc, Replayed, SimulatedMarket, Simulation,
    SimulationDoc, ZoneDoc, grid_note, simulation_doc,
};
pub use timeline::{SegmentDoc, TimelineDoc};
pub use view::simulation_report;
