//! Offers on disk: the built-in facts, the user's own snapshots, and the files people bring.
//!
//! What this is not: prices fetched from the network (`io/providers`) and the choice among offers
//! (`core/plan`). Start with [`builtin()`] (all facts compiled into the binary), [`Store`] (the user's
//! data folder laid over them) and [`import()`] (a file of any known format becomes offers and
//! questions). [`list()`], [`diff()`] and [`doctor()`] answer questions about a loaded catalog.

mod build;
mod builtin;
mod cache;
mod diff;
mod doctor;
mod error;
mod import;
mod input;
mod list;
mod measurements;
mod named;
mod offers_csv;
mod overlay;
pub mod quote;
mod store;
mod table;

pub use build::{CatalogBuilder, OfferRow};
pub use builtin::{
    BuyDefaultRow, Facts, LicenceRow, ProviderInfo, RegionRow, builtin, compat, contract_table,
    provider_facts, repair_table, security, spot_params,
};
pub use diff::{Change, DiffDoc, diff};
pub use doctor::{DoctorRules, Finding, doctor};
pub use error::{CatalogError, ImportError, RowProblem};
pub use import::{Draft, Format, ImportContext, Imported, detect, fuzz_import, import};
pub use input::{MAX_INPUT, Text, read_input, read_path, read_stream};
pub use list::{ListFilter, Listing, gpus_without_price, list, show};
pub use measurements::{Line, Measurements, read_measurements};
pub use named::named;
pub use offers_csv::{BadRow, HEADER as OFFERS_HEADER, read_offers, write_offers};
pub use store::{Loaded, SnapshotInfo, SnapshotMeta, Store};
