//! Azure retail prices: pages of meters, one row per meter, region, way of paying and time window.
//!
//! Traps: Windows, Low Priority and Dev/Test rows stand beside the plain ones; reservation rows carry
//! the total of the whole term under the unit "1 Hour"; the same meter comes several times with windows
//! of validity, some of which end before they begin (placeholders); the feed names no GPUs, so a type
//! that the catalog does not know is reported, not guessed. A price is for the whole machine.

use crate::http::shown;
use crate::json::{Fields, Unreadable, rows};
use crate::refresh::Session;
use crate::shelf::Priced;
use crate::skip::Skip;
use crate::{PriceApi, ProviderError};
use jiff::Timestamp;
use lessee_model::{Fixed, Machine, Purchase};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

const PATH: &str = "/api/retail/prices";
/// 365 days: Azure divides the price of a reservation by these to state its hourly equivalent.
const HOURS_OF_YEAR: i64 = 8_760;
/// A reservation below this share of on demand means that the feed's unit has changed: the deepest
/// published reservation discounts are near 75 %.
const LEAST_SHARE_PERCENT: i64 = 10;

/// Type, region, way of paying.
type Meter = (String, String, Purchase);

/// The best row of a meter so far: billing rows before secondary ones, then the latest start.
struct Best {
    primary: bool,
    start: Timestamp,
    usd_per_hour: Fixed,
}

enum Row {
    Price(Meter, Best),
    Skip(Skip),
}

pub(crate) async fn fetch(api: &PriceApi, session: &mut Session<'_>) -> Result<(), ProviderError> {
    let mut url = session.http.url(PATH)?;
    url.query_pairs_mut()
        .append_pair("$filter", &filter(&session.options.regions));
    let mut seen = HashSet::new();
    let mut best: HashMap<Meter, Best> = HashMap::new();
    loop {
        if !seen.insert(url.to_string()) {
            return Err(ProviderError::PageLoop { url: shown(&url) });
        }
        if seen.len() > session.http.max_pages() as usize {
            return Err(ProviderError::TooManyPages {
                url: shown(&url),
                pages: session.http.max_pages(),
            });
        }
        let page = session.http.get_json(&url).await?;
        take_page(&page, &shown(&url), session, &mut best)?;
        match Fields::of(&page).and_then(|top| top.text("NextPageLink")) {
            Some(link) => url = session.http.follow(&url, link)?,
            None => break,
        }
    }
    shelve(api, session, best);
    Ok(())
}

/// GPU machines are the N family. Exact region names narrow the query; patterns are applied afterwards.
fn filter(regions: &[String]) -> String {
    let mut text =
        "serviceName eq 'Virtual Machines' and contains(armSkuName, 'Standard_N')".to_owned();
    let exact = |r: &String| !r.is_empty() && r.chars().all(|c| c.is_ascii_alphanumeric());
    if !regions.is_empty() && regions.iter().all(exact) {
        let any: Vec<String> = regions
            .iter()
            .map(|r| format!("armRegionName eq '{}'", r.to_ascii_lowercase()))
            .collect();
        text.push_str(&format!(" and ({})", any.join(" or ")));
    }
    text
}

fn take_page(
    page: &Value,
    url: &str,
    session: &mut Session<'_>,
    best: &mut HashMap<Meter, Best>,
) -> Result<(), ProviderError> {
    let currency = Fields::of(page).and_then(|top| top.text("BillingCurrency"));
    for value in rows(page, "Items", url)? {
        let Some(fields) = Fields::of(value) else {
            session.shelf.skip(Skip::Unreadable, "Items");
            continue;
        };
        match read(fields, currency, session) {
            Ok(Row::Price(meter, row)) => {
                let later = best
                    .get(&meter)
                    .is_none_or(|old| (row.primary, row.start) > (old.primary, old.start));
                if best.contains_key(&meter) {
                    session.shelf.skip(Skip::NotInEffect, &meter.0);
                }
                if later {
                    best.insert(meter, row);
                }
            }
            Ok(Row::Skip(reason)) => {
                let example = fields.text("armSkuName").unwrap_or_default();
                session.shelf.skip(reason, example);
            }
            Err(Unreadable(field)) => session.shelf.skip(Skip::Unreadable, field),
        }
    }
    Ok(())
}

fn read(
    fields: Fields<'_>,
    currency: Option<&str>,
    session: &Session<'_>,
) -> Result<Row, Unreadable> {
    let skip = |reason| Ok(Row::Skip(reason));
    let product = fields.text("productName").unwrap_or_default();
    let meter = fields.text("meterName").unwrap_or_default();
    let sku = fields.text("skuName").unwrap_or_default();
    if product.contains("Windows") || sku.contains("Windows") {
        return skip(Skip::OtherSystem);
    }
    if product.contains("Cloud Services")
        || product.contains("CloudServices")
        || product.contains("Dedicated Host")
    {
        return skip(Skip::OtherProduct);
    }
    let says = |word: &str| meter.contains(word) || sku.contains(word);
    if says("Low Priority") {
        return skip(Skip::LowPriority);
    }
    // the feed's short rows leave out what is the rule: USD, by the hour, pay as you go
    if fields
        .text("currencyCode")
        .or(currency)
        .is_some_and(|c| c != "USD")
    {
        return skip(Skip::OtherCurrency);
    }
    if fields
        .text("unitOfMeasure")
        .is_some_and(|unit| unit != "1 Hour")
    {
        return skip(Skip::OtherUnit);
    }
    if fields
        .number("tierMinimumUnits")
        .is_some_and(|units| units > 0.0)
    {
        return skip(Skip::OtherUnit);
    }
    let (purchase, hours) = match (fields.text("type").unwrap_or("Consumption"), says("Spot")) {
        ("Consumption", false) => (Purchase::OnDemand, 1),
        ("Consumption", true) => (Purchase::Spot, 1),
        ("Reservation", _) => match fields.text("reservationTerm") {
            Some("1 Year") => (Purchase::Year1, HOURS_OF_YEAR),
            Some("3 Years") => (Purchase::Year3, 3 * HOURS_OF_YEAR),
            _ => return skip(Skip::OtherUnit),
        },
        ("DevTestConsumption", _) => return skip(Skip::DevTest),
        _ => return skip(Skip::OtherProduct),
    };
    let instance_type = fields.name("armSkuName")?;
    let region = fields.name("armRegionName")?;
    if !session.shelf.wants_region(region) {
        return skip(Skip::OtherRegion);
    }
    let (start, end) = (
        moment(fields, "effectiveStartDate")?,
        moment(fields, "effectiveEndDate")?,
    );
    let start = start.unwrap_or(Timestamp::MIN);
    if end.is_some_and(|end| end <= start) {
        return skip(Skip::BrokenWindow);
    }
    let today = session.now.earliest();
    let day = |at: Timestamp| jiff::tz::Offset::UTC.to_datetime(at).date();
    if day(start) > session.now.latest() || end.is_some_and(|end| day(end) < today) {
        return skip(Skip::NotInEffect);
    }
    let Some(total) = fields.amount("retailPrice")? else {
        return skip(Skip::NoPrice);
    };
    let usd_per_hour = total.over(Fixed::from_int(hours)).unwrap_or(Fixed::ZERO);
    if usd_per_hour.is_zero() {
        return skip(Skip::ZeroPrice);
    }
    Ok(Row::Price(
        (instance_type.to_owned(), region.to_owned(), purchase),
        Best {
            primary: fields.flag("isPrimaryMeterRegion").unwrap_or(true),
            start,
            usd_per_hour,
        },
    ))
}

fn moment(fields: Fields<'_>, field: &'static str) -> Result<Option<Timestamp>, Unreadable> {
    fields
        .text(field)
        .map(|text| text.parse().map_err(|_| Unreadable(field)))
        .transpose()
}

fn shelve(api: &PriceApi, session: &mut Session<'_>, best: HashMap<Meter, Best>) {
    let mut meters: Vec<(Meter, Best)> = best.into_iter().collect();
    // on demand first: reservations are checked against it; sorted, so that a refresh is reproducible
    meters.sort_by(|(a, _), (b, _)| (a.2, &a.0, &a.1).cmp(&(b.2, &b.0, &b.1)));
    let mut machines: HashMap<String, Option<Machine>> = HashMap::new();
    for ((instance_type, region, purchase), row) in meters {
        let machine = machines
            .entry(instance_type.clone())
            .or_insert_with(|| session.known(api, &instance_type));
        let Some(machine) = machine else {
            session.shelf.skip(Skip::UnknownType, &instance_type);
            continue;
        };
        let on_demand = session
            .shelf
            .price(&instance_type, &region, Purchase::OnDemand);
        let least = on_demand.map(|p| p.times(Fixed::from_int(LEAST_SHARE_PERCENT)));
        let scaled = row.usd_per_hour.times(Fixed::from_int(100));
        if purchase.term_months() > 0 && least.is_some_and(|least| scaled < least) {
            session.shelf.skip(Skip::Implausible, &instance_type);
            continue;
        }
        session.shelf.put(Priced {
            instance_type: &instance_type,
            region: &region,
            purchase,
            usd_per_hour: row.usd_per_hour,
            machine,
            note: None,
            why: None,
        });
    }
}
