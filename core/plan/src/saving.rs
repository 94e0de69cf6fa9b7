//! How often to save on spot: the intervals of `core/spot` for the checkpoint, the place and the price of an option.

use crate::spot::stops_together;
use lessee_model::workload::Workload;
use lessee_model::{Machine, Money, Tariff};
use lessee_spot::interval::Saving;

/// What saves cost on an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SaveTerms {
    /// GB per second at which one machine writes to storage.
    pub gb_s: f64,
    /// From the provider's warning until the machine is gone; 0: none.
    pub notice_s: f64,
    /// Of one request that stores an object, and of an hour of all machines, in one currency.
    pub put: f64,
    pub per_hour: f64,
}

impl SaveTerms {
    /// A put whose price is not known, or in another currency, counts nothing: it is a fraction of a cent.
    pub(crate) fn of(
        gb_s: f64,
        notice_s: f64,
        tariff: &Tariff,
        per_hour: Money,
        nodes: u32,
    ) -> Self {
        let put = tariff.put_requests.as_ref().ok().map(|p| p.value);
        let put = put.filter(|p| p.currency == per_hour.currency);
        SaveTerms {
            gb_s,
            notice_s,
            put: put.map_or(0.0, |p| p.amount.to_f64() / 1000.0),
            per_hour: per_hour.amount.to_f64() * f64::from(nodes),
        }
    }
}

/// How often to save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaveAdvice {
    /// Work between two saves that stop it.
    pub every_s: f64,
    /// Work between two saves that go on in the background, which stop nothing.
    pub background_s: f64,
    /// How long writing one takes.
    pub save_s: f64,
    /// From the provider's warning until the machine is gone; 0: none.
    pub notice_s: f64,
    /// A save that begins with the warning is done in time: then the others are for those that fail.
    pub fits_notice: bool,
}

/// For losses every `between_s` seconds of time on spot; `None` for work that saves nothing. The machines share the
/// checkpoint and write it at the least of their network and the storage's rate each. Exact for memoryless losses.
pub(crate) fn advice(
    w: &Workload,
    machine: &Machine,
    nodes: u32,
    between_s: f64,
    terms: SaveTerms,
) -> Option<SaveAdvice> {
    let size_gb = w.checkpoint.as_ref()?.size.0 / 1e9;
    let each = machine
        .network_gbps
        .map_or(terms.gb_s, |gbit| terms.gb_s.min(f64::from(gbit) / 8.0));
    let writers = if stops_together(&w.job) {
        f64::from(nodes.max(1))
    } else {
        1.0
    };
    let save_h = size_gb / (each * writers) / 3600.0;
    let priced = terms.put > 0.0 && terms.per_hour > 0.0;
    let stopping = Saving {
        upload_usd: if priced { terms.put } else { 0.0 },
        usd_per_h: terms.per_hour,
        ..Saving::blocking(save_h)
    };
    let background = Saving {
        block_h: 0.0,
        behind_h: save_h,
        ..stopping
    };
    let mean_h = between_s / 3600.0;
    // a checkpoint of nothing needs no interval; figures that are none give none
    (size_gb > 0.0).then_some(())?;
    let every_h = stopping.interval_h(mean_h).ok()?;
    Some(SaveAdvice {
        every_s: every_h * 3600.0,
        background_s: background.interval_h(mean_h).unwrap_or(every_h) * 3600.0,
        save_s: save_h * 3600.0,
        notice_s: terms.notice_s,
        fits_notice: terms.notice_s > 0.0 && stopping.fits_notice(terms.notice_s / 3600.0, 0.0),
    })
}
