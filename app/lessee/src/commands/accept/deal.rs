//! Which machines are meant: provider, type and price, from flags, a file or an offer of the catalog.

use crate::args::DealArgs;
use crate::commands::providers;
use lessee_catalog::Facts;
use lessee_console::{Failure, Printer};
use lessee_model::{Arg, Fixed, Money, Msg, Purchase, Seconds};

/// Most machines of a job; more is a slip of the pen.
const MOST_MACHINES: u32 = 100_000;

/// As the checks need it.
pub(super) struct Deal {
    pub provider: String,
    pub region: String,
    pub instance: Option<String>,
    pub vcpus: Option<f32>,
    /// Of all machines together.
    pub per_hour: Option<Money>,
}

/// Longest time that a check takes, a year; more is a slip of the pen.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// # Errors
/// A time that is too short, negative or longer than a year.
pub(super) fn time_within(flag: &str, time: Option<Seconds>, least: f64) -> Result<(), Failure> {
    match time {
        Some(time) if !(least..=LONGEST_S).contains(&time.0) => {
            let msg = Msg::new("accept-time-range")
                .arg("flag", flag)
                .arg("least", Arg::Seconds(least))
                .arg("most", Arg::Seconds(LONGEST_S))
                .arg("value", Arg::Seconds(time.0));
            Err(Failure::usage(msg))
        }
        _ => Ok(()),
    }
}

/// # Errors
/// No provider is named or known, the offer is not in the catalog, a number of machines that makes no sense.
pub(super) fn deal(args: &DealArgs, facts: &Facts, printer: &Printer) -> Result<Deal, Failure> {
    let machines = args.machines.unwrap_or(1);
    if !(1..=MOST_MACHINES).contains(&machines) {
        return Err(Failure::usage(
            Msg::new("accept-machines").arg("most", MOST_MACHINES),
        ));
    }
    let count = Fixed::from_f64(f64::from(machines)).unwrap_or_default();
    if let Some(price) = args
        .price
        .filter(|p| p.amount.is_negative() || p.amount.is_zero())
    {
        return Err(Failure::usage(Msg::new("accept-price").arg("price", price)));
    }
    let all = |price: Money| price.times(count);
    if let Some(key) = &args.offer {
        let offer = lessee_catalog::named(&facts.catalog, key)?;
        let price = offer.price(Purchase::OnDemand).map(|p| p.per_hour);
        return Ok(Deal {
            provider: offer.provider.to_string(),
            region: offer.region.to_string(),
            instance: Some(offer.instance_type.to_string()),
            vcpus: facts.catalog.machine(offer).vcpus,
            per_hour: args.price.or(price).map(all),
        });
    }
    let Some(name) = &args.provider else {
        return Err(Failure::usage(Msg::new("accept-needs-provider"))
            .hint(Msg::new("hint-accept-provider")));
    };
    let provider = match providers::named(name, facts) {
        Ok(key) => key,
        // a slip of the pen is told; a provider that nobody here knows is a question, like all that is not known
        Err(unknown) if providers::is_near(name, facts) => return Err(unknown),
        Err(_) => {
            let name = name.trim();
            printer.warn(&Msg::new("accept-provider-unknown").arg("name", name));
            name.to_owned()
        }
    };
    // the price of a known type, where nothing is said of regions
    let listed = args.instance.as_ref().and_then(|instance| {
        let offer =
            lessee_catalog::named(&facts.catalog, &format!("{provider}/{instance}")).ok()?;
        Some((
            facts.catalog.machine(offer).vcpus,
            offer.price(Purchase::OnDemand)?.per_hour,
        ))
    });
    Ok(Deal {
        provider,
        region: "*".to_owned(),
        instance: args.instance.clone(),
        vcpus: listed.and_then(|(vcpus, _)| vcpus),
        per_hour: args.price.or(listed.map(|(_, price)| price)).map(all),
    })
}
