//! The offer that a name means: `provider/instance_type`, with or without `@region`.

use crate::CatalogError;
use lessee_model::{Catalog, Offer, Purchase, did_you_mean};

/// Of several regions the first that has a spot price.
///
/// # Errors
/// No offer has this name; the nearest name is told.
pub fn named<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Offer, CatalogError> {
    let short = |o: &Offer| format!("{}/{}", o.provider, o.instance_type);
    let named: Vec<&Offer> = catalog
        .offers
        .iter()
        .filter(|o| o.key() == name || short(o) == name)
        .collect();
    let priced = named.iter().find(|o| o.price(Purchase::Spot).is_some());
    if let Some(offer) = priced.or(named.first()) {
        return Ok(offer);
    }
    let with_region = name.contains('@');
    let names: Vec<String> = catalog
        .offers
        .iter()
        .map(|o| if with_region { o.key() } else { short(o) })
        .collect();
    let suggestion = did_you_mean(name, names.iter().map(String::as_str));
    Err(CatalogError::NoOffer {
        name: name.to_owned(),
        suggestion: suggestion.map(str::to_owned),
    })
}
