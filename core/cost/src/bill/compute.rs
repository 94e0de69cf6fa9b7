//! Machine time: compute, boot, set-up, idle, interruption and what a commitment leaves unused.
//!
//! The provider rounds the whole time of a machine: billed = max(minimum, ceil(t / increment) x increment),
//! t = boot + set-up + work + idle. Boot, set-up and idle are shown as they are, so the rounding stands in
//! the compute line.

use super::clock::{Terms, Times, fixed, hours, scale};
use super::ledger::{Amount, Class, Ledger};
use super::sink::Sink;
use super::{Case, Percentile};
use crate::elsewhere::bound;
use crate::sources;
use lessee_model::tariff::Stopped;
use lessee_model::workload::{Job, Workload};
use lessee_model::{
    Arg, Basis, Fixed, LineKind, Market, Money, Msg, Price, Provenance, Purchase, TaxNote, Unknown,
};

const UNIT: &str = "instance-hour";

/// Machines that are paid in the same way.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub nodes: u32,
    price: &'a Price,
    term_months: u32,
    pub times: Times,
}

/// The machines of a case: one group, or for a mix the base and the peak.
pub(crate) fn groups<'a>(case: &Case<'a>, times: Times) -> [Group<'a>; 2] {
    let one = |nodes, price, term_months, times| Group {
        nodes,
        price,
        term_months,
        times,
    };
    if case.purchase != Purchase::Mix {
        let term = case.purchase.term_months();
        return [
            one(case.nodes, case.price, term, times),
            one(0, case.price, 0, times),
        ];
    }
    let base = case.base_nodes.min(case.nodes);
    let price = case.base_price.unwrap_or(case.price);
    let share = peak_share(case.workload, case.nodes, base);
    let peak = times.with_work((times.work as f64 * share).ceil() as u64);
    [
        one(base, price, price.purchase.term_months(), times),
        one(case.nodes - base, case.price, 0, peak),
    ]
}

/// Share of a service's time during which the machines above the base run. The load is taken as evenly spread
/// between its peak p and 2r - p (r = average), and of n machines for the peak, b carry b/n of it: the
/// average use of the rest is (p - c) / 2(p - max(0, 2r - p)) with c = p b/n, where c lies inside the range.
/// With the base at the average this is one quarter. 1 for work that is not a service.
pub fn peak_share(workload: &Workload, nodes: u32, base_nodes: u32) -> f64 {
    let Job::Serve(serve) = &workload.job else {
        return 1.0;
    };
    let peak = serve.peak_rate;
    if base_nodes >= nodes || peak <= serve.rate {
        return 1.0;
    }
    let lowest = (2.0 * serve.rate - peak).max(0.0);
    let carried = peak * f64::from(base_nodes) / f64::from(nodes);
    let share = if carried > lowest {
        (peak - carried) / (2.0 * (peak - lowest))
    } else {
        // below the lowest load the whole range above it needs the machines
        ((peak + lowest) / 2.0 - carried) / (peak - carried)
    };
    if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        1.0
    }
}

/// The own discount that applies: one off list prices, never off a quote that already holds the user's terms.
fn discount(case: &Case<'_>) -> f64 {
    if case.offer.market == Market::Quote {
        return 0.0;
    }
    let discounts = &case.workload.money.discounts;
    discounts
        .get(&*case.offer.provider)
        .map_or(0.0, |d| d.clamp(0.0, 1.0))
}

pub(crate) fn lines<S: Sink>(case: &Case<'_>, group: &Group<'_>, out: &mut Ledger<'_, S>) {
    if group.nodes == 0 {
        return;
    }
    let Group {
        nodes,
        price,
        times,
        ..
    } = *group;
    let discount = discount(case);
    let exact = times
        .boot
        .saturating_add(times.setup)
        .saturating_add(times.work)
        .saturating_add(times.idle);
    let (increment, minimum) = match &case.tariff.billing {
        Ok(rule) => (rule.value.increment_s, rule.value.minimum_s),
        Err(_) => (1, 0),
    };
    let billed = round_up(exact, increment).max(u64::from(minimum));
    let used = billed
        .saturating_add(times.lost)
        .saturating_add(stopped_as_running(case, &times));
    let terms = (group.term_months > 0).then(|| Terms::of(case, group.term_months, used));
    let list = terms.map_or(price.per_hour, |t| t.per_hour(price.per_hour));
    let per_hour = if discount > 0.0 {
        list.times(fixed(1.0 - discount))
    } else {
        list
    };
    let class = if price.tax == TaxNote::Included {
        Class::TAX_INCLUDED
    } else {
        Class::PROVIDER
    };
    let amount = |seconds: u64| Amount {
        quantity: scale(hours(seconds), u64::from(nodes)),
        unit: UNIT,
    };
    let why = || provenance(price, discount);
    let line = |id: &'static str, seconds: u64| {
        let msg = Msg::new(id)
            .arg("nodes", nodes)
            .seconds("time", seconds as f64)
            .arg("type", &*case.offer.instance_type);
        if discount > 0.0 {
            msg.arg(
                "discount",
                Msg::new("bill-own-discount")
                    .arg("percent", discount * 100.0)
                    .arg("list", price.per_hour),
            )
        } else {
            msg.arg("discount", "")
        }
    };

    let work = times.work.saturating_add(billed - exact.min(billed));
    // what a replay had on demand is not paid at the price of spot
    let [work, lost, boot] = less(instead(case, &times), [work, times.lost, times.boot]);
    let paid = work.min(times.work);
    out.charge(class, LineKind::Compute, amount(work), per_hour, || {
        (line("bill-compute", paid), why())
    });
    on_demand(case, group, discount, out);
    if let (Err(unknown), Some((low, high))) =
        (&case.tariff.billing, case.tariff.rounding_elsewhere_s)
    {
        let extra = |step: u32| {
            let rounded = round_up(exact, step).max(u64::from(step));
            per_hour.times(scale(hours(rounded - exact.min(rounded)), u64::from(nodes)))
        };
        let unknown = || Unknown {
            reason: unknown.reason.clone(),
            low: Some(extra(low)),
            high: Some(extra(high)),
            why: bound(sources::STEPS_ELSEWHERE),
        };
        out.missing(LineKind::Compute, ONCE, unknown, || {
            Msg::new("bill-rounding")
        });
    }
    if let Some(high) = price.high {
        let unknown = || Unknown {
            reason: Msg::new("cost-unknown-price-range"),
            low: Some(Money::zero(high.currency)),
            high: (high.currency == price.per_hour.currency).then(|| {
                Money::new(
                    (high.amount - price.per_hour.amount).max(Fixed::ZERO),
                    high.currency,
                )
            }),
            why: why(),
        };
        out.missing(LineKind::Compute, amount(work), unknown, || {
            Msg::new("bill-price-range")
        });
    }
    let percentile = match case.percentile {
        Percentile::P50 => 50.0,
        Percentile::P90 => 90.0,
    };
    out.charge(class, LineKind::Boot, amount(boot), per_hour, || {
        let source = case.tariff.boot.as_ref().ok().map(|b| b.why.clone());
        (
            line("bill-boot", boot).arg("percentile", percentile),
            source.unwrap_or_else(why),
        )
    });
    if let Err(unknown) = &case.tariff.boot {
        out.missing(
            LineKind::Boot,
            ONCE,
            || unknown.clone(),
            || Msg::new("bill-boot-unknown"),
        );
    }
    out.charge(
        class,
        LineKind::Setup,
        amount(times.setup),
        per_hour,
        || (line("bill-setup", times.setup), why()),
    );
    out.charge(class, LineKind::Idle, amount(times.idle), per_hour, || {
        (line("bill-idle", times.idle), why())
    });
    stopped(case, group, amount(times.stopped), per_hour, class, out);

    out.charge(
        class,
        LineKind::Interruption,
        amount(lost),
        per_hour,
        || {
            let source = match case.run.replayed {
                Some(_) => sources::REPLAYED,
                None => sources::INTERRUPTIONS,
            };
            let id = match (case.run.replayed, &case.workload.job) {
                (Some(_), Job::Serve(_)) => "bill-spare-replicas",
                _ => "bill-interruption",
            };
            (
                line(id, lost).arg("count", times.interruptions),
                Provenance::modelled(source),
            )
        },
    );
    if case.purchase == Purchase::Spot && times.interruptions <= 0.0 && case.run.replayed.is_none()
    {
        // a spot machine that is never taken back does not exist: the job done twice is the upper bound
        let unknown = || Unknown {
            reason: Msg::new("cost-unknown-spot-risk").arg("provider", &*case.offer.provider),
            low: Some(Money::zero(per_hour.currency)),
            high: Some(per_hour),
            why: bound(sources::WORK_AGAIN),
        };
        out.missing(LineKind::Interruption, amount(times.work), unknown, || {
            Msg::new("bill-interruption-unknown")
        });
    }
    if let Some(terms) = terms {
        unused(case, group, terms, used, per_hour, class, out);
    }
}

/// Seconds of machine time on demand in place of spot.
fn instead(case: &Case<'_>, times: &Times) -> u64 {
    if case.purchase != Purchase::Spot {
        return 0;
    }
    let most = times.boot.saturating_add(times.work);
    times.on_demand.min(most.saturating_add(times.lost))
}

/// Takes seconds off, from the first on.
fn less(mut seconds: u64, from: [u64; 3]) -> [u64; 3] {
    from.map(|x| {
        let taken = seconds.min(x);
        seconds -= taken;
        x - taken
    })
}

/// What a replay had on demand because spot was away or time ran short, at the offer's own price.
fn on_demand<S: Sink>(case: &Case<'_>, group: &Group<'_>, discount: f64, out: &mut Ledger<'_, S>) {
    let seconds = instead(case, &group.times);
    if seconds == 0 {
        return;
    }
    let amount = Amount {
        quantity: scale(hours(seconds), u64::from(group.nodes)),
        unit: UNIT,
    };
    let what = || {
        Msg::new("bill-on-demand-instead")
            .arg("nodes", group.nodes)
            .seconds("time", seconds as f64)
            .arg("type", &*case.offer.instance_type)
    };
    let Some(price) = case.offer.price(Purchase::OnDemand) else {
        let unknown = || Unknown {
            reason: Msg::new("cost-unknown-on-demand").arg("provider", &*case.offer.provider),
            low: Some(group.price.per_hour),
            high: None,
            why: Provenance::modelled(sources::REPLAYED),
        };
        out.missing(LineKind::Compute, amount, unknown, what);
        return;
    };
    let class = if price.tax == TaxNote::Included {
        Class::TAX_INCLUDED
    } else {
        Class::PROVIDER
    };
    let per_hour = price.per_hour.times(fixed(1.0 - discount));
    out.charge(class, LineKind::Compute, amount, per_hour, || {
        (what(), provenance(price, discount))
    });
}

const ONCE: Amount = Amount {
    quantity: Fixed::ONE,
    unit: "job",
};

/// Seconds of stopped time that are billed like running time.
fn stopped_as_running(case: &Case<'_>, times: &Times) -> u64 {
    match case
        .tariff
        .billing
        .as_ref()
        .map(|r| r.value.stopped_compute)
    {
        Ok(Stopped::Billed | Stopped::NoStop) => times.stopped,
        _ => 0,
    }
}

/// Stopped time, which some providers bill like running time.
fn stopped<S: Sink>(
    case: &Case<'_>,
    group: &Group<'_>,
    amount: Amount,
    per_hour: Money,
    class: Class,
    out: &mut Ledger<'_, S>,
) {
    let rule = case
        .tariff
        .billing
        .as_ref()
        .map(|r| r.value.stopped_compute);
    match rule {
        Ok(Stopped::Free) => {}
        Ok(Stopped::Billed | Stopped::NoStop) => {
            out.charge(class, LineKind::Idle, amount, per_hour, || {
                let rule = case.tariff.billing.as_ref().ok();
                (
                    Msg::new("bill-stopped-billed")
                        .arg("nodes", group.nodes)
                        .seconds("time", group.times.stopped as f64),
                    rule.map_or_else(|| (*group.price.why).clone(), |r| r.why.clone()),
                )
            });
        }
        // a commitment pays for the whole term in any case
        _ if group.term_months > 0 => {}
        _ => {
            let unknown = || Unknown {
                reason: Msg::new("cost-unknown-stopped").arg("provider", &*case.offer.provider),
                low: Some(Money::zero(per_hour.currency)),
                high: Some(per_hour),
                why: bound(sources::STOPPED_AS_RUNNING),
            };
            out.missing(LineKind::Idle, amount, unknown, || {
                Msg::new("bill-stopped-unknown")
                    .arg("nodes", group.nodes)
                    .seconds("time", group.times.stopped as f64)
            });
        }
    }
}

/// A commitment is paid for its whole term, as often as the job needs one.
fn unused<S: Sink>(
    case: &Case<'_>,
    group: &Group<'_>,
    terms: Terms,
    used_s: u64,
    per_hour: Money,
    class: Class,
    out: &mut Ledger<'_, S>,
) {
    let unused_s = terms.seconds.saturating_sub(used_s);
    let reuse = case.workload.money.commitment_reuse.clamp(0.0, 1.0);
    let mut quantity = scale(hours(unused_s), u64::from(group.nodes));
    if reuse > 0.0 {
        quantity = quantity.times(fixed(1.0 - reuse));
    }
    let amount = Amount {
        quantity,
        unit: UNIT,
    };
    out.charge(class, LineKind::CommitmentUnused, amount, per_hour, || {
        (
            Msg::new("bill-commitment-unused")
                .arg("nodes", group.nodes)
                .arg("months", group.term_months)
                .arg("terms", terms.count as f64)
                .arg("used", used_s as f64 / terms.seconds as f64 * 100.0)
                .arg("reuse", reuse * 100.0)
                .arg("calendar", by_date(case, terms))
                .arg(
                    "upfront",
                    f64::from(group.price.upfront.unwrap_or(0.0)) * 100.0,
                ),
            (*group.price.why).clone(),
        )
    });
}

/// That the terms end by date, where their hours are not those of the price.
fn by_date(case: &Case<'_>, terms: Terms) -> Arg {
    match case.tariff.calendar.as_deref() {
        Some(calendar) if terms.seconds != terms.priced_s => Msg::new("bill-calendar-terms")
            .arg("zone", &*calendar.zone.name)
            .arg("hours", terms.seconds as f64 / 3600.0)
            .arg("priced", terms.priced_s as f64 / 3600.0)
            .into(),
        _ => "".into(),
    }
}

fn round_up(seconds: u64, step: u32) -> u64 {
    let step = u64::from(step.max(1));
    seconds.div_ceil(step).saturating_mul(step)
}

/// The price's source. With the own discount taken off it is the user's price; how far the list price was
/// checked stays as it is.
fn provenance(price: &Price, discount: f64) -> Provenance {
    let why = (*price.why).clone();
    if discount <= 0.0 {
        return why;
    }
    Provenance {
        source: format!(
            "{}; {} {} %",
            why.source,
            sources::OWN_DISCOUNT,
            (discount * 1e6).round() / 1e4
        )
        .into(),
        basis: Basis::Quoted,
        ..why
    }
}
