//! Quantities: the only place where floating point becomes exact, and the durations of a case in whole
//! seconds. Not here: prices.

use super::{Case, Percentile};
use lessee_model::tariff::MonthRule;
use lessee_model::workload::Job;
use lessee_model::{Calendar, Fixed, Money, MonthPart};

/// A month of billing, as the large clouds count it (8,760 h / 12): for providers of which
/// `data/providers.csv` says nothing, and wherever no provider is concerned.
pub const HOURS_PER_MONTH: u32 = 730;

/// Seconds in a month as this provider counts it.
#[inline]
pub(crate) fn month_s(case: &Case<'_>) -> u64 {
    u64::from(case.tariff.month_hours.max(1)) * 3600
}

/// Rounded at the twelfth decimal. What does not fit becomes the largest number there is, and so does NaN:
/// a hostile quantity must never make anything look cheap.
#[inline]
pub(crate) fn fixed(x: f64) -> Fixed {
    match Fixed::from_f64(x) {
        Some(f) => f.max(Fixed::ZERO),
        None if x < 0.0 => Fixed::ZERO,
        None => Fixed::MAX,
    }
}

/// Rounded up to whole seconds; negative is 0, NaN and what does not fit the largest number.
pub(crate) fn whole_seconds(x: f64) -> u64 {
    if x.is_nan() {
        return u64::MAX;
    }
    // the cast cuts off, saturates, and spares a call of `ceil`
    let whole = x as u64;
    whole.saturating_add(u64::from((whole as f64) < x))
}

/// `seconds / unit`, rounded at the twelfth decimal.
#[inline]
fn ratio(seconds: u64, unit: u64) -> Fixed {
    const ONE: u128 = Fixed::ONE.raw() as u128;
    let scaled = u128::from(seconds) * ONE + u128::from(unit / 2);
    // most durations fit in 64 bits, where a division is several times faster
    let raw = match u64::try_from(scaled) {
        Ok(small) => u128::from(small / unit),
        Err(_) => scaled / u128::from(unit),
    };
    Fixed::from_raw(i128::try_from(raw).unwrap_or(i128::MAX))
}

pub(crate) fn hours(seconds: u64) -> Fixed {
    ratio(seconds, 3600)
}

/// Months of storage from `from` on, counted from the order of the machine: by hours, or as shares of the
/// calendar months in which they lie.
pub(crate) fn months(case: &Case<'_>, from: u64, seconds: u64) -> Fixed {
    match storage_calendar(case) {
        None => ratio(seconds, month_s(case)),
        Some(calendar) => {
            let share = |p: MonthPart| ratio(p.seconds, p.of_seconds);
            let parts = calendar.parts(from, from.saturating_add(seconds));
            parts.into_iter().map(share).fold(Fixed::ZERO, |a, b| a + b)
        }
    }
}

/// Seconds of a GB-month, on average over a span: where only the sum of many times is known.
pub(crate) fn storage_month_s(case: &Case<'_>, from: u64, to: u64) -> f64 {
    let average = storage_calendar(case).and_then(|calendar| {
        let parts = calendar.parts(from, to);
        let share = |p: &MonthPart| p.seconds as f64 / p.of_seconds as f64;
        let months: f64 = parts.iter().map(share).sum();
        (months > 0.0).then(|| (to - from) as f64 / months)
    });
    average.unwrap_or(month_s(case) as f64)
}

/// Whether GB-months follow the calendar.
pub(crate) fn storage_by_date(case: &Case<'_>) -> bool {
    storage_calendar(case).is_some()
}

fn storage_calendar<'a>(case: &Case<'a>) -> Option<&'a Calendar> {
    let calendar = case.tariff.calendar.as_deref()?;
    (case.tariff.months.storage == MonthRule::Calendar).then_some(calendar)
}

/// Billing months begun while machines run, at least one.
pub(crate) fn billing_months(case: &Case<'_>, seconds: u64) -> u64 {
    match case.tariff.calendar.as_deref() {
        Some(calendar) => calendar.begun(0, seconds),
        None => seconds.div_ceil(month_s(case)).max(1),
    }
}

/// What is paid for one after the other: how many terms cover this time, and what they last.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub count: u64,
    pub seconds: u64,
    /// Seconds for which the price of these terms was made into a price per hour.
    pub priced_s: u64,
}

impl Terms {
    pub(crate) fn of(case: &Case<'_>, term_months: u32, used_s: u64) -> Terms {
        let term_s = u64::from(term_months) * month_s(case);
        let by_date = case.tariff.months.subscription == MonthRule::Calendar;
        let (count, seconds) = match case.tariff.calendar.as_deref().filter(|_| by_date) {
            Some(calendar) => calendar.terms(term_months, used_s),
            None => {
                let count = used_s.div_ceil(term_s).max(1);
                (count, count.saturating_mul(term_s))
            }
        };
        Terms {
            count,
            seconds,
            priced_s: count.saturating_mul(term_s),
        }
    }

    /// The price of an hour so that the terms cost what they cost, however many hours their months have.
    pub(crate) fn per_hour(self, price: Money) -> Money {
        if self.priced_s == self.seconds {
            return price;
        }
        price.times(ratio(self.priced_s, self.seconds.max(1)))
    }
}

/// A whole number times a quantity, exact; saturates.
pub(crate) fn scale(x: Fixed, n: u64) -> Fixed {
    Fixed::from_raw(x.raw().saturating_mul(i128::from(n)))
}

/// Durations of one machine, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Times {
    pub boot: u64,
    pub setup: u64,
    pub work: u64,
    pub idle: u64,
    /// Repeated because of interruptions.
    pub lost: u64,
    /// Nothing is rented, because nothing could be had. Only a replay knows.
    pub waiting: u64,
    /// On demand in place of spot, among boot, work and lost time. Only a replay knows.
    pub on_demand: u64,
    pub stopped: u64,
    /// Expected interruptions over the whole fleet.
    pub interruptions: f64,
    /// Interruptions do not move the end (services).
    fixed_end: bool,
    endless: bool,
}

impl Times {
    pub(crate) fn of(case: &Case<'_>) -> Times {
        let (run, setup) = (case.run, &case.workload.setup);
        let boot = case.tariff.boot.as_ref().ok().map(|b| b.value);
        let (work, interruptions, boot) = match case.percentile {
            Percentile::P50 => (run.work_s, run.interruptions, boot.map(|b| b.p50_s)),
            Percentile::P90 => (run.work_p90_s, run.interruptions_p90, boot.map(|b| b.p90_s)),
        };
        let spent = run.replayed.map(|r| match case.percentile {
            Percentile::P50 => r.mean,
            Percentile::P90 => r.p90,
        });
        let lost = spent.map_or(interruptions * run.lost_s, |s| s.lost_s);
        let (waiting, on_demand) = spent.map_or((0.0, 0.0), |s| (s.waiting_s, s.on_demand_s));
        Times {
            boot: whole_seconds(boot.unwrap_or(0.0)),
            setup: whole_seconds(setup.machine.0),
            work: whole_seconds(work),
            idle: whole_seconds(setup.idle.0),
            lost: whole_seconds(lost),
            waiting: whole_seconds(waiting),
            on_demand: whole_seconds(on_demand),
            stopped: whole_seconds(setup.stopped.0),
            interruptions,
            fixed_end: matches!(case.workload.job, Job::Serve(_)),
            endless: !(work.is_finite() && lost.is_finite() && waiting.is_finite()),
        }
    }

    /// The same for machines that work for another time.
    pub(crate) fn with_work(self, work: u64) -> Times {
        Times { work, ..self }
    }

    /// Before useful work begins and while it goes on, without idle time.
    pub(crate) fn until_result(&self) -> u64 {
        let behind = if self.fixed_end {
            0
        } else {
            self.lost.saturating_add(self.waiting)
        };
        self.boot
            .saturating_add(self.setup)
            .saturating_add(self.work)
            .saturating_add(behind)
    }

    /// While the machine runs: all but the stopped time.
    pub(crate) fn running(&self) -> u64 {
        self.boot
            .saturating_add(self.setup)
            .saturating_add(self.work)
            .saturating_add(self.lost)
            .saturating_add(self.idle)
    }

    /// From the first boot until the machine is given back, waiting for spot included.
    pub(crate) fn whole(&self) -> u64 {
        self.running()
            .saturating_add(self.waiting)
            .saturating_add(self.stopped)
    }

    pub(crate) fn wall_s(&self) -> f64 {
        if self.endless {
            f64::INFINITY
        } else {
            self.until_result() as f64
        }
    }
}
