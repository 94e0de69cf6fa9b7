//! Asks the price APIs of providers and turns their answers into [`lessee_model::Offer`]s.
//!
//! It is: one file per provider (`azure.rs`, `aws.rs`, ...) that knows the shape of the feed and its
//! traps, over one shared HTTP layer (`http.rs`: time limits, retries, size caps, clear errors).
//! It is not: a writer of snapshots (that is `lessee-catalog`), a reader of the environment (the program
//! passes base URLs and keys in), or a judge of prices: what the feed does not say for sure is left out
//! and counted in [`Refreshed::skipped`], never guessed.
//!
//! Start with [`refresh_blocking`], then [`PRICE_APIS`]. To add a provider see
//! `docs/contributing/adding-a-provider.md`.

mod aws;
mod azure;
mod csv_stream;
mod error;
mod http;
mod identify;
mod json;
mod lambda;
mod oci;
mod options;
mod refresh;
mod registry;
mod runpod;
mod shelf;
mod skip;
mod vast;

pub use error::ProviderError;
pub use http::install_crypto_provider;
pub use options::{ApiKey, Event, Limits, RefreshOptions};
pub use refresh::{Facts, FetchedOffer, Refreshed, refresh, refresh_blocking};
pub use registry::{PRICE_APIS, PriceApi, price_api};
pub use skip::{Skip, Skipped};
