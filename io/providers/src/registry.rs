//! The price APIs that can be asked, as data. A new one is one row here, one file, and one arm in
//! `refresh.rs`.

use crate::ProviderError;
use lessee_model::{Market, TaxNote, did_you_mean};

/// One provider's price API.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceApi {
    /// The provider's key in `data/providers.csv`.
    pub name: &'static str,
    /// Scheme, host and, for a mirror, a path prefix.
    pub base_url: &'static str,
    /// The variable that replaces `base_url`; the program reads it.
    pub url_env: &'static str,
    /// The variable that holds the key; `None` = the API answers without one.
    pub key_env: Option<&'static str>,
    /// Where the provider describes the API.
    pub docs: &'static str,
    /// Shown as the source of each price.
    pub source: &'static str,
    pub market: Market,
    pub tax: TaxNote,
    /// Wait after "too many requests" when the server does not say how long, in seconds.
    pub throttle_wait_s: f64,
}

pub const PRICE_APIS: [PriceApi; 6] = [
    PriceApi {
        name: "aws",
        base_url: "https://pricing.us-east-1.amazonaws.com",
        url_env: "LESSEE_AWS_URL",
        key_env: None,
        docs: "https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html",
        source: "AWS price list, AmazonEC2",
        market: Market::List,
        tax: TaxNote::Excluded,
        throttle_wait_s: 1.0,
    },
    PriceApi {
        name: "azure",
        base_url: "https://prices.azure.com",
        url_env: "LESSEE_AZURE_URL",
        key_env: None,
        docs: "https://learn.microsoft.com/en-us/rest/api/cost-management/retail-prices/azure-retail-prices",
        source: "Azure retail prices",
        market: Market::List,
        tax: TaxNote::Excluded,
        // clients of this API report that it lifts its limit after about three seconds
        throttle_wait_s: 3.0,
    },
    PriceApi {
        name: "lambda",
        base_url: "https://cloud.lambda.ai",
        url_env: "LESSEE_LAMBDA_URL",
        key_env: Some("LAMBDA_API_KEY"),
        docs: "https://docs.lambda.ai/api/cloud",
        source: "Lambda instance types",
        market: Market::GpuCloud,
        tax: TaxNote::Unknown,
        throttle_wait_s: 1.0,
    },
    PriceApi {
        name: "oci",
        base_url: "https://www.oracle.com",
        url_env: "LESSEE_OCI_URL",
        key_env: None,
        docs: "https://www.oracle.com/cloud/costestimator.html",
        source: "OCI cost estimator",
        market: Market::List,
        tax: TaxNote::Excluded,
        throttle_wait_s: 1.0,
    },
    PriceApi {
        name: "runpod",
        base_url: "https://api.runpod.io",
        url_env: "LESSEE_RUNPOD_URL",
        key_env: Some("RUNPOD_API_KEY"),
        docs: "https://docs.runpod.io/sdks/graphql/manage-pods",
        source: "RunPod GPU types",
        market: Market::GpuCloud,
        tax: TaxNote::Unknown,
        throttle_wait_s: 1.0,
    },
    PriceApi {
        name: "vast",
        base_url: "https://console.vast.ai",
        url_env: "LESSEE_VAST_URL",
        key_env: None,
        docs: "https://docs.vast.ai/api-reference/search/search-offers",
        source: "Vast offer search",
        market: Market::Marketplace,
        tax: TaxNote::Unknown,
        throttle_wait_s: 1.0,
    },
];

/// The API of a provider, by its key.
///
/// # Errors
/// [`ProviderError::NoApi`] with the names that exist and the likely one.
pub fn price_api(name: &str) -> Result<&'static PriceApi, ProviderError> {
    let wanted = name.trim().to_ascii_lowercase();
    PRICE_APIS
        .iter()
        .find(|api| api.name == wanted)
        .ok_or_else(|| ProviderError::NoApi {
            name: name.chars().take(40).collect(),
            near: did_you_mean(&wanted, PRICE_APIS.iter().map(|api| api.name)),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_variables_follow_them() {
        for pair in PRICE_APIS.windows(2) {
            assert!(pair[0].name < pair[1].name);
        }
        for api in PRICE_APIS {
            assert_eq!(
                api.url_env,
                format!("LESSEE_{}_URL", api.name.to_uppercase())
            );
            assert!(api.base_url.starts_with("https://") && api.docs.starts_with("https://"));
        }
    }

    #[test]
    fn a_misspelt_provider_is_suggested() {
        match price_api("azur") {
            Err(ProviderError::NoApi { near, .. }) => assert_eq!(near, Some("azure")),
            other => panic!("{other:?}"),
        }
        assert_eq!(price_api(" AWS ").expect("api").name, "aws");
    }
}
