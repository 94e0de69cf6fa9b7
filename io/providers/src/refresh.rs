//! One refresh: pick the provider's file, let it read the feed, hand back offers, requests and what was
//! dropped. All or nothing: an error on the last page is an error of the whole.

use crate::http::Http;
use crate::shelf::Shelf;
use crate::{
    PriceApi, ProviderError, RefreshOptions, Skipped, aws, azure, lambda, oci, price_api, runpod,
    vast,
};
use lessee_model::{AsOf, GpuTable, Machine, Offer};

/// What lessee knows already, to make sense of feeds that name machines without describing them.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    pub gpus: &'a GpuTable,
    /// The machine behind a provider's instance type, `None` if it is not known.
    pub known: &'a dyn Fn(&str, &str) -> Option<Machine>,
}

/// An offer and its machine. `offer.machine` is a placeholder until a catalog numbers the machines.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchedOffer {
    pub machine: Machine,
    pub offer: Offer,
}

/// What a refresh brought. `offers` may be empty, if nothing in the feed was usable or in the wanted
/// regions: a caller that replaces a snapshot should keep the old one then.
#[derive(Clone, Debug, PartialEq)]
pub struct Refreshed {
    /// Sorted by instance type and region; prices by purchase.
    pub offers: Vec<FetchedOffer>,
    /// `GET https://...` in the order sent, repeats included; no headers, no secrets.
    pub requests: Vec<String>,
    pub skipped: Vec<Skipped>,
}

/// What a provider's file works with.
pub(crate) struct Session<'a> {
    pub(crate) http: Http<'a>,
    pub(crate) shelf: Shelf<'a>,
    pub(crate) facts: Facts<'a>,
    pub(crate) now: AsOf,
    pub(crate) options: &'a RefreshOptions<'a>,
}

impl Session<'_> {
    pub(crate) fn known(&self, api: &PriceApi, instance_type: &str) -> Option<Machine> {
        (self.facts.known)(api.name, instance_type)
    }
}

/// Reads the current prices of `provider`. `now` is the day that the prices are dated with, and that
/// decides which of several price windows is in effect.
///
/// # Errors
/// See [`ProviderError`]; nothing is kept then.
pub async fn refresh(
    provider: &str,
    options: &RefreshOptions<'_>,
    facts: Facts<'_>,
    now: AsOf,
) -> Result<Refreshed, ProviderError> {
    let api = price_api(provider)?;
    let mut session = Session {
        http: Http::new(api, options)?,
        shelf: Shelf::new(api, &options.regions, now),
        facts,
        now,
        options,
    };
    match api.name {
        "aws" => aws::fetch(api, &mut session).await?,
        "azure" => azure::fetch(api, &mut session).await?,
        "lambda" => lambda::fetch(api, &mut session).await?,
        "oci" => oci::fetch(api, &mut session).await?,
        "runpod" => runpod::fetch(api, &mut session).await?,
        _ => vast::fetch(&mut session).await?,
    }
    let (offers, tally) = session.shelf.into_parts();
    Ok(Refreshed {
        offers,
        requests: session.http.into_requests(),
        skipped: tally.into_vec(),
    })
}

/// [`refresh`] for callers without an async runtime.
///
/// # Errors
/// As [`refresh`]; [`ProviderError::Client`] if no runtime can be started.
pub fn refresh_blocking(
    provider: &str,
    options: &RefreshOptions<'_>,
    facts: Facts<'_>,
    now: AsOf,
) -> Result<Refreshed, ProviderError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| ProviderError::Client {
            detail: e.to_string(),
        })?;
    runtime.block_on(refresh(provider, options, facts, now))
}
