//! The words of lessee: every crate speaks in these types, and none of them touches the world.
//!
//! Start with [`Sourced`] and [`Provenance`] (why a number may be believed), then [`Offer`] and
//! [`Machine`] (what is for rent), [`Workload`] (what the user wants done), [`Prediction`] (how fast),
//! [`Bill`] (what it costs) and [`PlanDoc`] (the answer). What is shown to people is never a sentence
//! here but a [`Msg`]: an identifier and arguments, put into words by `app/report`.

mod asof;
pub mod bill;
mod calendar;
mod filter;
mod fixed;
pub mod fx;
pub mod gpu;
pub mod models;
mod money;
mod msg;
pub mod offer;
pub mod perf;
pub mod plan;
pub mod probe;
pub mod quote;
mod sourced;
mod suggest;
pub mod tariff;
mod units;
pub mod workload;

pub use asof::AsOf;
pub use bill::{Bill, BillLine, LineKind, Quantified};
pub use calendar::{BillingZone, Calendar, MonthPart};
pub use filter::{GpuFilter, Range, glob_match};
pub use fixed::Fixed;
pub use fx::Fx;
pub use gpu::{Form, GpuRef, GpuSpec, GpuTable};
pub use models::{ModelKind, ModelSpec, ModelTable};
pub use money::{Currency, Money, MoneyError};
pub use msg::{Arg, Exit, Explain, Msg};
pub use offer::{
    AcceleratorClass, Catalog, Interconnect, Machine, MachineId, Market, Offer, Origin, Price,
    Purchase, StaleAfter, TaxNote,
};
pub use perf::{BoundBy, Derived, MemoryUse, Prediction, Term, WorkUnit};
pub use plan::PlanDoc;
pub use probe::ProbeReport;
pub use sourced::{Basis, Confidence, Known, Provenance, Sourced, Unknown};
pub use suggest::did_you_mean;
pub use tariff::{Tariff, TariffBook, Tiers};
pub use units::{Bytes, Count, Seconds, UnitError, parse_percent};
pub use workload::{Workload, WorkloadFile};
