//! What comes on top of the provider's charges: licences, support, people, tax and exchange.
//!
//! The order matters: support is a share of the charges, tax comes on charges, licences and support, the
//! bank's fee on what was paid in foreign currency (before tax). People's work is neither taxed nor exchanged
//! through a bank. Without a labour rate there is no labour line: the plan says so in a warning.

use super::clock::{Times, billing_months, fixed, hours, month_s, scale};
use super::ledger::{Amount, Class, Ledger};
use super::sink::Sink;
use super::{Case, calendar_note};
use crate::sources;
use lessee_model::workload::Job;
use lessee_model::{AsOf, Basis, Confidence, Currency, Fixed, LineKind, Money, Msg, Provenance};

/// A share of a sum of money: the sum is the quantity, so that the line still multiplies out.
fn share_of(sum: Fixed) -> Amount {
    Amount {
        quantity: sum,
        unit: "spend",
    }
}

/// Software licences of render machines: by the hour of work (lost work included), or whole months.
pub(crate) fn licences<S: Sink>(case: &Case<'_>, times: &Times, out: &mut Ledger<'_, S>) {
    let Job::Render(render) = &case.workload.job else {
        return;
    };
    let nodes = u64::from(case.nodes);
    for licence in &render.licences {
        let what = || {
            Msg::new("bill-licence")
                .arg("name", &*licence.name)
                .arg("nodes", case.nodes)
        };
        let why = || Provenance::user("render.licences");
        if let Some(price) = licence.per_node_hour {
            let of = Amount {
                quantity: scale(hours(times.work.saturating_add(times.lost)), nodes),
                unit: "node-hour",
            };
            out.charge(Class::OTHER, LineKind::Licence, of, price, || {
                (what(), why())
            });
        }
        if let Some(price) = licence.per_node_month {
            let of = Amount {
                quantity: scale(
                    Fixed::ONE,
                    licence_months(case, times).saturating_mul(nodes),
                ),
                unit: "node-month",
            };
            out.charge(Class::OTHER, LineKind::Licence, of, price, || {
                (what(), why())
            });
        }
    }
}

/// Months of a licence begun from order to result: its seller's, not the provider's.
fn licence_months(case: &Case<'_>, times: &Times) -> u64 {
    times.running().div_ceil(month_s(case)).max(1)
}

/// The support plan: a share of the charges, at least the minimum for each month begun.
pub(crate) fn support<S: Sink>(case: &Case<'_>, times: &Times, out: &mut Ledger<'_, S>) {
    let Some(plan) = &case.workload.money.support else {
        return;
    };
    let why = || Provenance::user("money.support");
    let months = billing_months(case, times.running());
    let minimum = plan.minimum_per_month.map(|m| out.rates.convert(m));
    let mut minimum_met = false;
    let spend = out.spend.clone();
    for sum in spend.iter() {
        let price = Money::new(fixed(plan.share), sum.currency);
        if let Some(minimum) = minimum
            && minimum.currency == sum.currency
        {
            if price.times(sum.amount).amount < minimum.times(scale(Fixed::ONE, months)).amount {
                continue;
            }
            minimum_met = true;
        }
        out.charge(
            Class::OTHER,
            LineKind::Support,
            share_of(sum.amount),
            price,
            || {
                (
                    Msg::new("bill-support-share").arg("percent", plan.share * 100.0),
                    why(),
                )
            },
        );
    }
    if let (Some(price), false) = (plan.minimum_per_month, minimum_met) {
        let of = Amount {
            quantity: scale(Fixed::ONE, months),
            unit: "month",
        };
        out.charge(Class::OTHER, LineKind::Support, of, price, || {
            (
                Msg::new("bill-support-minimum")
                    .arg("months", months as f64)
                    .arg("calendar", calendar_note(case)),
                why(),
            )
        });
    }
}

/// People: setting up, mending after interruptions, waiting for support.
pub(crate) fn labour<S: Sink>(case: &Case<'_>, times: &Times, out: &mut Ledger<'_, S>) {
    let Some(rate) = case.workload.money.labour_rate else {
        return;
    };
    let setup = &case.workload.setup;
    let parts = [
        ("bill-labour-setup", setup.labour_hours),
        (
            "bill-labour-incidents",
            setup.incident_hours * times.interruptions.max(0.0),
        ),
        ("bill-labour-support-wait", setup.support_wait_hours),
    ];
    for (id, time) in parts {
        // zero hours per incident times endless interruptions is no number, and no work
        if time.is_nan() {
            continue;
        }
        let of = Amount {
            quantity: fixed(time),
            unit: "hour",
        };
        out.charge(Class::OWN, LineKind::Labour, of, rate, || {
            (
                Msg::new(id)
                    .arg("hours", time)
                    .arg("interruptions", times.interruptions),
                Provenance::user("money.labour_rate"),
            )
        });
    }
}

/// Tax on everything that was not quoted with tax. A price whose source does not say counts as before tax.
pub(crate) fn tax<S: Sink>(case: &Case<'_>, out: &mut Ledger<'_, S>) {
    let rate = case.workload.money.tax;
    if rate.is_nan() || rate <= 0.0 {
        return;
    }
    let taxable = out.taxable.clone();
    for sum in taxable.iter() {
        let price = Money::new(fixed(rate), sum.currency);
        out.charge(
            Class::OWN,
            LineKind::Tax,
            share_of(sum.amount),
            price,
            || {
                (
                    Msg::new("bill-tax").arg("percent", rate * 100.0),
                    Provenance::user("money.tax"),
                )
            },
        );
    }
}

/// One line for each currency that was exchanged: the rate with its date, and the bank's share.
pub(crate) fn exchange<S: Sink>(case: &Case<'_>, out: &mut Ledger<'_, S>) {
    let fee = case.workload.money.exchange_fee;
    let to = out.rates.to;
    if out.rates.foreign.head().is_none() {
        return;
    }
    let foreign = std::mem::take(&mut out.rates.foreign);
    for entry in foreign.iter() {
        let Some(rate) = entry.rate else {
            continue;
        };
        let price = Money::new(fixed(fee), to);
        out.charge(
            Class::OWN,
            LineKind::Exchange,
            share_of(entry.spent),
            price,
            || {
                let (source, as_of) = rate_source(case, entry.currency, to);
                (
                    Msg::new("bill-exchange")
                        .arg("from", entry.currency.as_str())
                        .arg("to", to.as_str())
                        .arg("rate", rate.to_string())
                        .arg("percent", fee * 100.0),
                    Provenance::new(Basis::Quoted, Confidence::Verified, source, as_of),
                )
            },
        );
    }
    out.rates.foreign = foreign;
}

fn rate_source(case: &Case<'_>, from: Currency, to: Currency) -> (String, Option<AsOf>) {
    match case.workload.money.fx.entry(from, to) {
        Some(rate) => {
            let said = format!("1 {} = {} {}", rate.from, rate.rate, rate.to);
            let source = match &rate.source {
                Some(source) => format!("{said}; {source}"),
                None => format!("{said}; money.rates"),
            };
            (source, Some(rate.as_of))
        }
        // through a third currency: the oldest of the rates given is the honest date
        None => {
            let oldest = case.workload.money.fx.rates.iter().map(|r| r.as_of).min();
            (sources::THIRD_CURRENCY.to_owned(), oldest)
        }
    }
}
