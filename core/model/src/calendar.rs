//! Billing months of a job that begins at a known time: where the provider's calendar cuts its span.
//!
//! All in seconds from the start of the job, because that is how a bill counts. Clock changes are in it: a
//! March of 743 hours is one. Not here: which provider bills in which zone (data), and what a month costs.

use crate::Confidence;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, civil::Date};
use std::fmt;
use std::sync::Arc;

/// Months that are known one by one; what lies beyond counts months of [`Calendar::LATER_MONTH_S`].
const KNOWN_MONTHS: i32 = 120;

/// The zone in which a provider's billing months begin.
#[derive(Clone, Debug, PartialEq)]
pub struct BillingZone {
    pub name: Arc<str>,
    pub zone: TimeZone,
    /// How far it was checked; unverified where the provider is not in the data.
    pub confidence: Confidence,
}

impl BillingZone {
    /// What is taken where nothing is known of a provider.
    pub fn assumed() -> BillingZone {
        BillingZone {
            name: "UTC".into(),
            zone: TimeZone::UTC,
            confidence: Confidence::Unverified,
        }
    }
}

/// A part of a span that lies in one billing month (or, far in the future, in several equal ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthPart {
    /// Months since the one in which the job starts.
    pub index: u64,
    /// How many months this part stands for: 1, but for the far future.
    pub months: u64,
    pub seconds: u64,
    /// Length of the whole month.
    pub of_seconds: u64,
}

#[derive(Clone, PartialEq)]
pub struct Calendar {
    pub zone: BillingZone,
    pub start: Timestamp,
    /// Seconds of the first month that were over at the start.
    before_s: u64,
    /// When each later month begins, in seconds from the start; ascending, none is 0.
    begins: Vec<u64>,
    /// The same day 1, 2, ... months later, in seconds from the start.
    same_day: Vec<u64>,
}

/// Short, because tariffs are told apart by it: within a plan the zone decides everything.
impl fmt::Debug for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Calendar({} {})", self.start, self.zone.name)
    }
}

impl Calendar {
    /// 730 h: what a month is beyond the known ones.
    pub const LATER_MONTH_S: u64 = 730 * 3600;

    /// `None` if the months lie beyond what a calendar can hold.
    pub fn new(start: Timestamp, zone: BillingZone) -> Option<Calendar> {
        let local = start.to_zoned_datetime(zone.zone.clone());
        let first = local.date().first_of_month();
        let at = |date: Date| Some(date.to_zoned_datetime(zone.zone.clone()).ok()?.timestamp());
        let since = |t: Timestamp| u64::try_from(t.as_second() - start.as_second()).ok();
        let before = start.as_second() - at(first)?.as_second();
        let (mut begins, mut same_day) = (Vec::new(), Vec::new());
        for month in 1..=KNOWN_MONTHS {
            begins.push(since(at(first.checked_add(month.months()).ok()?)?)?);
            // the 31st becomes the last day of a shorter month
            let later = local.checked_add(month.months()).ok()?;
            same_day.push(since(later.timestamp())?);
        }
        Some(Calendar {
            before_s: u64::try_from(before).ok()?,
            zone,
            start,
            begins,
            same_day,
        })
    }

    /// The months that `from..to` touches, in order; at least the one in which it begins.
    pub fn parts(&self, from: u64, to: u64) -> Vec<MonthPart> {
        let mut parts = Vec::new();
        let mut at = from;
        let mut index = self.begins.partition_point(|begin| *begin <= from);
        while let Some(end) = self.begins.get(index) {
            let begin = index.checked_sub(1).map(|i| self.begins[i]);
            let of_seconds = begin.map_or(self.before_s + end, |begin| end - begin);
            parts.push(MonthPart {
                index: index as u64,
                months: 1,
                seconds: to.min(*end).saturating_sub(at),
                of_seconds,
            });
            at = *end;
            if to <= at {
                return parts;
            }
            index += 1;
        }
        let seconds = to.saturating_sub(at);
        parts.push(MonthPart {
            index: index as u64,
            months: seconds.div_ceil(Self::LATER_MONTH_S).max(1),
            seconds,
            of_seconds: Self::LATER_MONTH_S,
        });
        parts
    }

    /// Months begun in `from..to`.
    pub fn begun(&self, from: u64, to: u64) -> u64 {
        self.parts(from, to).iter().map(|p| p.months).sum()
    }

    /// How many terms of some months, taken one after the other from the start, cover this time, and how many
    /// seconds these terms last.
    pub fn terms(&self, term_months: u32, seconds: u64) -> (u64, u64) {
        let step = term_months.max(1) as usize;
        let known = self.same_day.iter().skip(step - 1).step_by(step);
        let (mut terms, mut last) = (0, 0);
        for end in known {
            (terms, last) = (terms + 1, *end);
            if last >= seconds {
                return (terms, last);
            }
        }
        let term_s = u64::from(term_months.max(1)).saturating_mul(Self::LATER_MONTH_S);
        let more = (seconds - last).div_ceil(term_s);
        (
            terms + more,
            last.saturating_add(more.saturating_mul(term_s)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;
    const DAY: u64 = 24 * HOUR;

    fn calendar(start: &str, zone: &str) -> Calendar {
        let zone = BillingZone {
            name: zone.into(),
            zone: TimeZone::get(zone).expect("zone"),
            confidence: Confidence::General,
        };
        Calendar::new(start.parse().expect("time"), zone).expect("calendar")
    }

    fn lengths(c: &Calendar, to: u64) -> Vec<(u64, u64)> {
        let hours = |p: MonthPart| (p.seconds / HOUR, p.of_seconds / HOUR);
        c.parts(0, to).into_iter().map(hours).collect()
    }

    #[test]
    fn the_zone_decides_where_a_month_ends() {
        // 2027-01-31 20:00 UTC is already February in Shanghai (+8) and noon of the 31st in Los Angeles (-8)
        let at = |zone| lengths(&calendar("2027-01-31T20:00:00Z", zone), 10 * HOUR);
        assert_eq!(at("UTC"), [(4, 744), (6, 672)]);
        assert_eq!(at("Asia/Shanghai"), [(10, 672)]);
        assert_eq!(at("America/Los_Angeles"), [(10, 744)]);
    }

    #[test]
    fn a_month_with_a_clock_change_is_an_hour_shorter_or_longer() {
        let spring = calendar("2027-03-01T08:00:00Z", "America/Los_Angeles");
        assert_eq!(lengths(&spring, 744 * HOUR), [(743, 743), (1, 720)]);
        let autumn = calendar("2027-11-01T07:00:00Z", "America/Los_Angeles");
        assert_eq!(lengths(&autumn, 720 * HOUR), [(720, 721)]);
    }

    #[test]
    fn february_has_28_days_or_29() {
        assert_eq!(
            lengths(&calendar("2027-02-01T00:00:00Z", "UTC"), 28 * DAY),
            [(672, 672)]
        );
        assert_eq!(
            lengths(&calendar("2028-02-01T00:00:00Z", "UTC"), 28 * DAY),
            [(672, 696)]
        );
    }

    #[test]
    fn terms_end_on_the_same_day_or_the_last_one() {
        let c = calendar("2027-01-31T00:00:00Z", "UTC");
        // to 28 February; to 31 March; to 31 January
        assert_eq!(c.terms(1, 1), (1, 28 * DAY));
        assert_eq!(c.terms(1, 28 * DAY + 1), (2, 59 * DAY));
        assert_eq!(c.terms(12, 1), (1, 365 * DAY));
        let leap = calendar("2028-01-31T00:00:00Z", "UTC");
        assert_eq!(leap.terms(1, 1), (1, 29 * DAY));
    }

    #[test]
    fn parts_add_up_and_the_far_future_has_months_too() {
        let c = calendar("2027-01-15T10:30:00Z", "Europe/Berlin");
        for (from, to) in [
            (0, 1),
            (5, 400 * DAY),
            (3_000 * DAY, 9_000 * DAY),
            (7, u64::MAX),
        ] {
            let parts = c.parts(from, to);
            assert_eq!(parts.iter().map(|p| p.seconds).sum::<u64>(), to - from);
            assert!(
                parts
                    .iter()
                    .all(|p| p.seconds <= p.of_seconds.saturating_mul(p.months))
            );
        }
        let (terms, seconds) = c.terms(1, 9_000 * DAY);
        assert!(terms > 290 && seconds >= 9_000 * DAY);
        assert_eq!(c.begun(0, 0), 1);
    }
}
