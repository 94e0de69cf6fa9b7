//! What the APIs answer on a good day: which path belongs to whom, and the files behind it.

use super::Fault;
use serde_json::{Value, json};

const AZURE: &str = include_str!("../../data/prices/azure.json");
const AWS_INDEX: &str = include_str!("../../data/prices/aws-region-index.json");
const AWS_US: &str = include_str!("../../data/prices/aws-us-east-1.csv");
const AWS_EU: &str = include_str!("../../data/prices/aws-eu-central-1.csv");
const OCI_SHAPES: &str = include_str!("../../data/prices/oci-shapes.json");
const OCI_PRODUCTS: &str = include_str!("../../data/prices/oci-products.json");
const VAST: &str = include_str!("../../data/prices/vast.json");
const RUNPOD: &str = include_str!("../../data/prices/runpod.json");
const LAMBDA: &str = include_str!("../../data/prices/lambda.json");

/// Whose API a path is.
pub(super) fn provider_of(path: &str) -> Option<&'static str> {
    let whose = [
        ("/offers/v1.0/aws/", "aws"),
        ("/api/retail/prices", "azure"),
        ("/api/v1/instance-types", "lambda"),
        ("/a/ocom/docs/cloudestimator2/data/", "oci"),
        ("/graphql", "runpod"),
        ("/api/v0/bundles/", "vast"),
    ];
    whose
        .into_iter()
        .find(|(start, _)| path.starts_with(start))
        .map(|(_, provider)| provider)
}

pub(super) fn needs_key(provider: &str) -> bool {
    matches!(provider, "lambda" | "runpod")
}

/// An answer's content type and text.
pub(super) struct Answer {
    pub(super) content_type: &'static str,
    pub(super) text: String,
}

fn json_text(text: impl Into<String>) -> Answer {
    Answer {
        content_type: "application/json",
        text: text.into(),
    }
}

/// The answer of a path; `query` is decoded. `None` = 404.
pub(super) fn answer(
    origin: &str,
    path: &str,
    query: &[(String, String)],
    fault: &Fault,
) -> Option<Answer> {
    let csv = |text: &str| Answer {
        content_type: "text/csv",
        text: match fault {
            Fault::MissingColumn => text.replace("\"CapacityStatus\"", "\"Something Else\""),
            Fault::CutLine => text[..text.len() - 40].to_owned(),
            _ => text.to_owned(),
        },
    };
    let file = path.rsplit('/').next().unwrap_or_default();
    match provider_of(path)? {
        "aws" if file == "region_index.json" => Some(json_text(AWS_INDEX)),
        // the list of all regions, where there is no index of regions
        "aws" if path.ends_with("/current/index.csv") => Some(csv(AWS_US)),
        "aws" if path.ends_with("/us-east-1/index.csv") => Some(csv(AWS_US)),
        "aws" if path.ends_with("/eu-central-1/index.csv") => Some(csv(AWS_EU)),
        "azure" => azure_page(origin, query, fault),
        "oci" if file == "shapes.json" => Some(json_text(OCI_SHAPES)),
        "oci" if file == "products.json" => Some(json_text(OCI_PRODUCTS)),
        "vast" => Some(json_text(VAST)),
        "runpod" => Some(json_text(RUNPOD)),
        "lambda" => Some(json_text(LAMBDA)),
        _ => None,
    }
}

fn azure_page(origin: &str, query: &[(String, String)], fault: &Fault) -> Option<Answer> {
    let value_of = |name: &str| {
        query
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    };
    let filter = value_of("$filter").unwrap_or_default();
    let skip: usize = value_of("$skip").map_or(Some(0), |v| v.parse().ok())?;
    let pages: Vec<Vec<Value>> = serde_json::from_str(AZURE).expect("azure.json is ours");
    let mut items = pages.get(skip).cloned().unwrap_or_default();
    if filter.contains("armRegionName eq") {
        items.retain(|item| {
            let region = item["armRegionName"].as_str().unwrap_or_default();
            filter.contains(&format!("'{region}'"))
        });
    }
    let link = |host: &str, skip: usize| {
        let filter = filter.replace(' ', "%20").replace('\'', "%27");
        format!("{host}/api/retail/prices?$filter={filter}&$skip={skip}")
    };
    let next = match fault {
        Fault::EndlessPages => Some(link(origin, skip + 1)),
        Fault::PageLoop if skip + 1 == pages.len() => Some(link(origin, 1)),
        Fault::ForeignPage => Some(link("http://prices.example.invalid", 1)),
        _ if skip + 1 < pages.len() => Some(link(origin, skip + 1)),
        _ => None,
    };
    let page = json!({
        "BillingCurrency": "USD",
        "CustomerEntityType": "Retail",
        "Items": items,
        "NextPageLink": next,
        "Count": items.len(),
    });
    Some(json_text(page.to_string()))
}
