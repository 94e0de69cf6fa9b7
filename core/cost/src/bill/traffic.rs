//! What moves: requests, data in, between regions and out, and public addresses.
//!
//! The first part of the traffic that leaves may be free, for the whole account and month; what the user
//! already used of it is taken off the first month's allowance and leaves the tiers where they are.
//!
//! Results are taken to leave in equal parts in each month begun of useful work (boot and set-up send nothing),
//! and each month has its own allowance and tiers: a service of a year costs twelve times one of a month. Where
//! the start of the job is known, the months are the provider's billing months, and each sends as much as its
//! share of the working time. Data on their way in move at once, in one month.

use super::clock::{Times, fixed, hours, month_s, scale};
use super::ledger::{Amount, Class, Ledger};
use super::sink::Sink;
use super::storage::beyond_tiers;
use super::{Case, calendar_note};
use crate::tiers::{MonthVolume, monthly_tier_parts};
use lessee_model::workload::{DataStorage, Destination, Job, Location};
use lessee_model::{Fixed, Known, LineKind, Money, MonthPart, Msg, Tiers, Unknown};

/// Where the data are, seen from the offer.
#[derive(Clone, Copy, PartialEq)]
enum From {
    /// Same provider and place: nothing moves.
    Here,
    OtherRegion,
    OtherProvider,
    Outside,
}

fn from(case: &Case<'_>) -> From {
    match &case.workload.data.location {
        Location::Office | Location::Internet => From::Outside,
        Location::Provider { provider, region } => {
            if **provider != *case.offer.provider {
                From::OtherProvider
            } else if region
                .as_deref()
                .is_none_or(|r| *r == *case.offer.region || *case.offer.region == *"*")
            {
                From::Here
            } else {
                From::OtherRegion
            }
        }
    }
}

/// What moves, all of it, over how many months, and what the account used this month before.
#[derive(Clone, Copy)]
struct Moved<'a> {
    bytes: f64,
    months: u64,
    used_bytes: f64,
    /// Seconds of useful work in each billing month, where the calendar says so.
    by_date: &'a [MonthPart],
}

impl Moved<'_> {
    fn at_once(bytes: f64) -> Moved<'static> {
        Moved {
            bytes,
            months: 1,
            used_bytes: 0.0,
            by_date: &[],
        }
    }
}

/// A volume through marginal tiers, one line a tier.
fn volume<S: Sink>(
    kind: LineKind,
    tariff: &Known<Tiers>,
    moved: Moved<'_>,
    what: impl Fn() -> Msg,
    out: &mut Ledger<'_, S>,
) {
    let tiers = match tariff {
        Ok(tiers) => tiers,
        Err(unknown) => {
            let of = Amount {
                quantity: fixed(moved.bytes / 1e9),
                unit: "GB",
            };
            return out.missing(kind, of, || unknown.clone(), what);
        }
    };
    let unit = tiers.value.unit;
    let all = fixed(moved.bytes / unit.bytes());
    let months = moved.months.max(1);
    let allowance = tiers.value.allowance;
    let left = if allowance.is_zero() {
        Fixed::ZERO
    } else {
        (allowance - fixed(moved.used_bytes / unit.bytes())).max(Fixed::ZERO)
    };
    // what the division leaves over, less than a billionth of a unit, goes with the first month
    let later = Fixed::from_raw(all.raw() / i128::from(months));
    let parts = [
        MonthVolume {
            months: 1,
            volume: all - scale(later, months - 1),
            free: left,
        },
        MonthVolume {
            months: months - 1,
            volume: later,
            free: allowance,
        },
    ];
    let dated;
    let parts = if !moved.by_date.is_empty() {
        dated = by_date(moved.by_date, all, allowance, left);
        &dated[..]
    } else if months == 1 {
        &parts[..1]
    } else {
        &parts[..]
    };
    monthly_tier_parts(&tiers.value.tiers, parts, |part| {
        let of = Amount {
            quantity: part.quantity,
            unit: unit.as_str(),
        };
        if part.published {
            out.charge(Class::PROVIDER, kind, of, part.price, || {
                (what(), tiers.why.clone())
            });
        } else {
            out.missing(kind, of, || beyond_tiers(part.price), &what);
        }
    });
}

/// The volume by billing months, in proportion to the working time in each. What was used before belongs to the
/// month in which the job starts.
fn by_date(months: &[MonthPart], all: Fixed, allowance: Fixed, left: Fixed) -> Vec<MonthVolume> {
    let whole: u64 = months.iter().fold(0, |s, m| s.saturating_add(m.seconds));
    let whole = i128::from(whole.max(1));
    // cut at exact points, so that the parts add up; a hostile volume is divided first
    let until = |seconds: u64| {
        let seconds = i128::from(seconds);
        let exact = all
            .raw()
            .checked_mul(seconds)
            .map(|product| product / whole);
        exact.unwrap_or_else(|| all.raw() / whole * seconds)
    };
    let (mut seconds, mut sent) = (0u64, 0);
    let last = months.len().saturating_sub(1);
    let part = |(i, month): (usize, &MonthPart)| {
        seconds = seconds.saturating_add(month.seconds);
        let end = if i == last { all.raw() } else { until(seconds) };
        // several months in the far future are equal ones
        let volume = Fixed::from_raw((end - sent) / i128::from(month.months));
        sent = end;
        MonthVolume {
            months: month.months,
            volume,
            free: if month.index == 0 { left } else { allowance },
        }
    };
    months.iter().enumerate().map(part).collect()
}

fn requests<S: Sink>(
    kind: LineKind,
    tariff: &Known<Money>,
    count: f64,
    what: impl FnOnce() -> Msg,
    out: &mut Ledger<'_, S>,
) {
    if count.is_nan() || count <= 0.0 {
        return;
    }
    let of = Amount {
        quantity: fixed(count / 1000.0),
        unit: "1000 requests",
    };
    match tariff {
        Ok(price) => out.charge(Class::PROVIDER, kind, of, price.value, || {
            (what(), price.why.clone())
        }),
        Err(unknown) => out.missing(kind, of, || unknown.clone(), what),
    }
}

/// Requests: one put for each file that comes in, one for each checkpoint and result; one get for each file
/// and reading from object storage, or one for each file and machine when the data are copied to a disk.
pub(crate) fn request_lines<S: Sink>(case: &Case<'_>, times: &Times, out: &mut Ledger<'_, S>) {
    let data = &case.workload.data;
    let (put, get) = (&case.tariff.put_requests, &case.tariff.get_requests);
    if from(case) != From::Here {
        requests(
            LineKind::Requests,
            put,
            data.files,
            || Msg::new("bill-put-data").arg("files", data.files),
            out,
        );
    }
    let results = match &case.workload.job {
        Job::Render(render) => render.frames,
        _ => 0.0,
    } + if data.out.0 > 0.0 { 1.0 } else { 0.0 };
    let written = case.run.checkpoints.max(0.0).ceil() + results;
    requests(
        LineKind::Requests,
        put,
        written,
        || Msg::new("bill-put-results").arg("count", written),
        out,
    );
    let copies = f64::from(case.nodes);
    let (gets, reads) = match data.storage {
        DataStorage::Object => (data.files * data.reads, data.reads),
        DataStorage::Block | DataStorage::Local => (data.files * copies, copies),
    };
    requests(
        LineKind::Requests,
        get,
        gets,
        || {
            Msg::new("bill-get-data")
                .arg("files", data.files)
                .arg("reads", reads)
        },
        out,
    );
    if times.interruptions > 0.0 && times.interruptions.is_finite() {
        // the repeated share of the reads, or a new copy on the replacement's disk; and one checkpoint
        let again = match data.storage {
            DataStorage::Object if times.work > 0 => gets * times.lost as f64 / times.work as f64,
            DataStorage::Object => 0.0,
            DataStorage::Block | DataStorage::Local => data.files * times.interruptions,
        };
        let loads = if case.workload.checkpoint.is_some() {
            times.interruptions
        } else {
            0.0
        };
        requests(
            LineKind::Interruption,
            get,
            again + loads,
            || Msg::new("bill-get-again").arg("count", again + loads),
            out,
        );
    }
}

/// Data on their way in, and between regions before the job.
pub(crate) fn inbound<S: Sink>(case: &Case<'_>, out: &mut Ledger<'_, S>) {
    let size = case.workload.data.size.0;
    let moved = Moved::at_once(size);
    let what = |id: &'static str| move || Msg::new(id).bytes("size", size);
    match from(case) {
        _ if size <= 0.0 => {}
        From::Here => {}
        From::OtherRegion => volume(
            LineKind::CrossRegion,
            &case.tariff.inter_region,
            moved,
            what("bill-data-between-regions"),
            out,
        ),
        From::Outside => volume(
            LineKind::Ingress,
            &case.tariff.ingress,
            moved,
            what("bill-data-in"),
            out,
        ),
        From::OtherProvider => {
            volume(
                LineKind::Ingress,
                &case.tariff.ingress,
                moved,
                what("bill-data-in"),
                out,
            );
            let nobody_asked = Err(Unknown::because(Msg::new("cost-unknown-source-egress")));
            let source = match &case.tariff.source_egress {
                Some(known) => known,
                None => &nobody_asked,
            };
            volume(
                LineKind::Egress,
                source,
                moved,
                what("bill-data-leaves-source"),
                out,
            );
        }
    }
}

/// Results on their way out.
pub(crate) fn outbound<S: Sink>(case: &Case<'_>, times: &Times, out: &mut Ledger<'_, S>) {
    let data = &case.workload.data;
    let bytes = data.out.0;
    if bytes <= 0.0 {
        return;
    }
    let (kind, tariff, id) = match data.out_to {
        Destination::Stay => return,
        Destination::Internet => (
            LineKind::Egress,
            &case.tariff.egress_internet,
            "bill-results-out",
        ),
        Destination::China => (
            LineKind::Egress,
            &case.tariff.egress_china,
            "bill-results-out-china",
        ),
        Destination::OtherRegion => (
            LineKind::CrossRegion,
            &case.tariff.inter_region,
            "bill-results-other-region",
        ),
    };
    let begin = times.boot.saturating_add(times.setup);
    let by_date = match case.tariff.calendar.as_deref() {
        Some(calendar) => calendar.parts(begin, begin.saturating_add(times.work)),
        None => Vec::new(),
    };
    let months = match by_date.is_empty() {
        true => times.work.div_ceil(month_s(case)).max(1),
        false => by_date.iter().map(|p| p.months).sum(),
    };
    let moved = Moved {
        bytes,
        months,
        used_bytes: data.egress_used.0,
        by_date: &by_date,
    };
    let what = || {
        Msg::new(id)
            .bytes("size", bytes)
            .bytes("used", data.egress_used.0)
            .arg("months", moved.months as f64)
            .arg("calendar", calendar_note(case))
    };
    volume(kind, tariff, moved, what, out);
}

/// One public address a machine, also while it stands stopped.
pub(crate) fn public_ip<S: Sink>(
    case: &Case<'_>,
    times: &Times,
    node_seconds: u64,
    out: &mut Ledger<'_, S>,
) {
    let nodes = u64::from(case.nodes);
    let of = Amount {
        quantity: hours(node_seconds) + scale(hours(times.stopped), nodes),
        unit: "hour",
    };
    let what = || Msg::new("bill-public-ip").arg("nodes", case.nodes);
    match &case.tariff.public_ip {
        Ok(price) => out.charge(Class::PROVIDER, LineKind::PublicIp, of, price.value, || {
            (what(), price.why.clone())
        }),
        Err(unknown) => out.missing(LineKind::PublicIp, of, || unknown.clone(), what),
    }
}
