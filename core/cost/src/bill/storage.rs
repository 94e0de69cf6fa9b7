//! What lies on disks: block storage of the machines, object storage of data, results and checkpoints.
//!
//! GB-months are pro rata by hours of the provider's month, or by the calendar's where the provider counts so. The data set lies in the provider's object storage
//! while the job runs and for as long as it is to be kept: it is read from there, or copied from there to a
//! disk. Checkpoints follow their retention rule.

use super::Case;
use super::clock::{Times, fixed, months, scale, storage_by_date, storage_month_s, whole_seconds};
use super::ledger::{Amount, Class, Ledger};
use super::sink::Sink;
use crate::elsewhere::bound;
use crate::sources;
use crate::tiers::tier_parts;
use lessee_model::tariff::{PerVolumeMonth, Stopped};
use lessee_model::workload::{DataStorage, Job};
use lessee_model::{Basis, Fixed, Known, LineKind, Money, Msg, Provenance, Unknown};

/// One volume for some time, in the tiers of its tariff.
fn volume<S: Sink>(
    kind: LineKind,
    tariff: &Known<PerVolumeMonth>,
    bytes: f64,
    time: Fixed,
    what: impl Fn() -> Msg,
    out: &mut Ledger<'_, S>,
) {
    match tariff {
        Ok(price) => {
            let unit = month_unit(&price.value);
            let stored = fixed(bytes / price.value.unit.bytes());
            tier_parts(&price.value.tiers, stored, Fixed::ZERO, |part| {
                let of = Amount {
                    quantity: part.quantity.times(time),
                    unit,
                };
                if part.published {
                    out.charge(Class::PROVIDER, kind, of, part.price, || {
                        (what(), price.why.clone())
                    });
                } else {
                    out.missing(kind, of, || beyond_tiers(part.price), &what);
                }
            });
        }
        Err(unknown) => {
            let of = Amount {
                quantity: fixed(bytes / 1e9).times(time),
                unit: "GB-month",
            };
            out.missing(kind, of, || unknown.clone(), what);
        }
    }
}

/// Beyond the last published bound: between nothing and the last published price.
pub(crate) fn beyond_tiers(last: Money) -> Unknown {
    Unknown {
        reason: Msg::new("cost-unknown-upper-tier"),
        low: Some(Money::zero(last.currency)),
        high: Some(last),
        why: bound(sources::LAST_TIER),
    }
}

fn month_unit(price: &PerVolumeMonth) -> &'static str {
    match price.unit {
        lessee_model::tariff::VolumeUnit::GB => "GB-month",
        lessee_model::tariff::VolumeUnit::GiB => "GiB-month",
    }
}

/// Disks of `nodes` machines, which run for `node_seconds` together.
pub(crate) fn block<S: Sink>(
    case: &Case<'_>,
    times: &Times,
    node_seconds: u64,
    out: &mut Ledger<'_, S>,
) {
    let disk = case.workload.setup.disk.0;
    let nodes = case.nodes;
    if disk <= 0.0 || nodes == 0 {
        return;
    }
    let local_gb = case.machine.local_disk_gb.map_or(0.0, f64::from);
    // data that the user wants on a block disk stay there whatever the machine has inside
    if case.workload.data.storage != DataStorage::Block && local_gb * 1e9 >= disk {
        let of = Amount {
            quantity: scale(fixed(disk / 1e9), u64::from(nodes)),
            unit: "GB",
        };
        out.charge(
            Class::PROVIDER,
            LineKind::BlockStorage,
            of,
            Money::zero(out.rates.to),
            || {
                (
                    Msg::new("bill-disk-local")
                        .arg("local", local_gb)
                        .bytes("disk", disk),
                    Provenance::new(
                        Basis::Published,
                        case.machine.host_confidence,
                        sources::LOCAL_DISK,
                        None,
                    ),
                )
            },
        );
        return;
    }
    let all = disk * f64::from(nodes);
    let running = months(case, 0, node_seconds / u64::from(nodes));
    volume(
        LineKind::BlockStorage,
        &case.tariff.block_running,
        all,
        running,
        || {
            Msg::new("bill-disk-running")
                .arg("nodes", nodes)
                .bytes("disk", disk)
        },
        out,
    );
    let rule = case
        .tariff
        .billing
        .as_ref()
        .map(|r| r.value.stopped_storage);
    if times.stopped == 0 || rule == Ok(Stopped::Free) {
        return;
    }
    volume(
        LineKind::BlockStorage,
        &case.tariff.block_stopped,
        all,
        months(case, times.running(), times.stopped),
        || {
            Msg::new("bill-disk-stopped")
                .arg("nodes", nodes)
                .bytes("disk", disk)
        },
        out,
    );
}

pub(crate) fn objects<S: Sink>(case: &Case<'_>, times: &Times, out: &mut Ledger<'_, S>) {
    let tariff = &case.tariff.object_storage;
    let least = match tariff {
        Ok(price) => u64::from(price.value.min_days) * 86_400,
        Err(_) => 0,
    };
    let data = &case.workload.data;
    let job = times.whole();
    let keep = data.keep.map_or(job, |keep| whole_seconds(keep.0).max(job));
    let held = keep.max(least);
    if data.size.0 > 0.0 {
        volume(
            LineKind::ObjectStorage,
            tariff,
            data.size.0,
            months(case, 0, held),
            || {
                Msg::new("bill-data-kept")
                    .bytes("size", data.size.0)
                    .seconds("time", held as f64)
            },
            out,
        );
    }
    let results = case.workload.data.out.0;
    if results > 0.0 {
        // results grow from nothing until the work is done: half of that time on average
        let half = times.until_result() / 2;
        let held = (keep - half).max(least);
        volume(
            LineKind::ObjectStorage,
            tariff,
            results,
            months(case, half, held),
            || {
                Msg::new("bill-results-kept")
                    .bytes("size", results)
                    .seconds("time", held as f64)
            },
            out,
        );
    }
    checkpoints(case, times, least as f64, out);
}

/// Checkpoints under the retention rule. With n written every e seconds and the last k kept: each of the
/// n - k replaced ones lived k e seconds, the k last ones k e / 2 on average until the end and then as long as
/// they are to be kept; no object is charged for less than the minimum.
fn checkpoints<S: Sink>(case: &Case<'_>, times: &Times, least_s: f64, out: &mut Ledger<'_, S>) {
    let Some(rule) = &case.workload.checkpoint else {
        return;
    };
    let written = case.run.checkpoints;
    if written.is_nan() || written <= 0.0 || rule.size.0 <= 0.0 {
        return;
    }
    // each trial of a sweep keeps its own
    let owners = match &case.workload.job {
        Job::Sweep(sweep) => f64::from(sweep.trials.max(1)),
        _ => 1.0,
    };
    let kept = rule
        .keep_last
        .map_or(written, |k| (k * owners).min(written));
    let every = times.work as f64 / written;
    let age = kept * every / 2.0;
    let during_s = (written - kept) * (kept * every).max(least_s) + kept * age;
    let after_each = rule.keep_for.0.max(least_s - age).max(0.0);
    let end = times.whole();
    let part = |id: &'static str, time: Fixed, out: &mut Ledger<'_, S>| {
        volume(
            LineKind::ObjectStorage,
            &case.tariff.object_storage,
            rule.size.0,
            time,
            || {
                Msg::new(id)
                    .bytes("size", rule.size.0)
                    .arg("written", written)
                    .arg("kept", kept)
                    .seconds("keep", rule.keep_for.0)
            },
            out,
        );
    };
    let during = fixed(during_s / storage_month_s(case, 0, end));
    part("bill-checkpoints-during", during, out);
    let after = match storage_by_date(case) {
        true => fixed(kept).times(months(case, end, whole_seconds(after_each))),
        false => fixed(kept * after_each / storage_month_s(case, end, end)),
    };
    part("bill-checkpoints-after", after, out);
}
