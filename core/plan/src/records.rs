//! Which records of spot markets speak for which offer.
//!
//! The rule is strict: the same provider, the same region or zone, and the same machine by name or the same GPU in the
//! same number. Not here: their replay (`spot.rs`).

use crate::detail::PlanOption;
use crate::rank::Plan;
use crate::spot::SpotRecords;
use lessee_model::{Catalog, GpuTable, Machine, Offer, Purchase};
use lessee_spot::trace::Series;

/// Indices of the records that an offer is replayed on: of those asked for all that speak for it, even if they cannot be
/// replayed together; else of the user's own the newest and what lies beside it in time.
pub(crate) fn speaking(
    records: &SpotRecords<'_>,
    offer: &Offer,
    machine: &Machine,
    gpus: &GpuTable,
) -> Vec<u32> {
    let speaks = |i: &u32| speaks_for(&records.series[*i as usize], offer, machine, gpus);
    let (given, all) = (records.given as u32, records.series.len() as u32);
    let asked: Vec<u32> = (0..given.min(all)).filter(speaks).collect();
    if asked.is_empty() {
        let own: Vec<u32> = (given.min(all)..all).filter(speaks).collect();
        return newest_together(records.series, own);
    }
    asked
}

/// From when to when a record is, if it says so.
fn span(series: &Series) -> Option<(i64, i64)> {
    let (first, last) = (series.at_s.first()?, series.at_s.last()?);
    let start = series.start?;
    Some((start.checked_add(*first)?, start.checked_add(*last)?))
}

/// Records of different years or of different steps are no zones of one market: the newest, and those that were sampled
/// as often for half of its time or more.
fn newest_together(series: &[Series], mut own: Vec<u32>) -> Vec<u32> {
    let of = |i: &u32| &series[*i as usize];
    let Some(newest) = own.iter().copied().max_by_key(|i| span(of(i)).map(|s| s.1)) else {
        return own;
    };
    let (gap, when) = (of(&newest).gap_s, span(of(&newest)));
    own.retain(|i| {
        let beside = match (when, span(of(i))) {
            (Some((from, to)), Some((a, b))) => 2 * (to.min(b) - from.max(a)) >= to - from,
            (None, None) => true,
            _ => false,
        };
        of(i).gap_s == gap && beside
    });
    own
}

/// Whether a record speaks for an offer.
pub(crate) fn speaks_for(
    series: &Series,
    offer: &Offer,
    machine: &Machine,
    gpus: &GpuTable,
) -> bool {
    let about = &series.about;
    let provider = about
        .provider
        .as_deref()
        .is_some_and(|p| p.eq_ignore_ascii_case(&offer.provider));
    let place = about.region.as_deref() == Some(&*offer.region) || *about.zone == *offer.region;
    let named = |name: &str| {
        name.eq_ignore_ascii_case(&offer.instance_type)
            || name.split_once(':').is_some_and(|(gpu, count)| {
                count.parse() == Ok(machine.gpu_count)
                    && machine.gpu_fraction > 0.999
                    && gpus.resolve(gpu).is_some_and(|g| {
                        g.model == machine.gpu.model
                            && same(g.form, machine.gpu.form)
                            && same(g.memory_gb, machine.gpu.memory_gb)
                    })
            })
    };
    provider && place && about.machine.as_deref().is_some_and(named)
}

/// What a record of a market, or a probe report, could decide in a plan.
#[derive(Clone, Copy, Debug)]
pub enum Heard<'a> {
    /// It speaks for an option that is shown; a record of a market for one on spot.
    Shown,
    /// It speaks for offers, this one first, but none of them is shown: it decided nothing.
    Hidden(&'a Offer),
    /// It speaks for no offer.
    Nowhere,
}

/// Whether a record speaks for anything that a plan shows.
pub fn heard<'a>(series: &Series, plan: &Plan, catalog: &'a Catalog, gpus: &GpuTable) -> Heard<'a> {
    let speaks = |o: &Offer| speaks_for(series, o, catalog.machine(o), gpus);
    let shown = |option: &PlanOption| {
        option.purchase == Purchase::Spot && speaks(&catalog.offers[option.offer])
    };
    if plan.options.iter().any(shown) {
        return Heard::Shown;
    }
    let first = catalog.offers.iter().find(|o| speaks(o));
    first.map_or(Heard::Nowhere, Heard::Hidden)
}

/// Nothing said is nothing against it.
fn same<T: PartialEq>(said: Option<T>, known: Option<T>) -> bool {
    match (said, known) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}
