//! Both ends of what is not known: whether the notice suffices for a save, and what an advisor's bucket means.
//!
//! Notice: a last save that succeeds before a share q of losses leaves the rate (1 - q)/M for the periodic ones. Whether
//! it succeeds is up to the job: in issue threads signals were polled between steps only, and 0 of 6 were saved. So plan
//! with q = 0 and show what q = 1 would give.
//!
//! Bucket: [`hazard_of`] says how wide it is; the interval goes with the root of it.

use super::{IntervalError, Saving, not_negative, positive};
use crate::stats::hazard_of;
use crate::trace::Bucket;

/// Intervals without and with the help of the provider's notice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoticeIntervals {
    /// Whether a whole save and the reaction to the notice fit into it. If not, `with` is `without`.
    pub fits: bool,
    /// No save on notice succeeds (q = 0): plan with this one. Hours.
    pub without_h: f64,
    /// Hours paid for an hour of work at that interval.
    pub without_hours: f64,
    /// Every save on notice succeeds (q = 1); `None`: then no periodic saves are needed.
    pub with_h: Option<f64>,
    /// Hours paid for an hour of work then; work begun after the reaction to the notice counts as none.
    pub with_hours: f64,
}

/// Intervals for the range of rates that a bucket leaves open. Hours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BucketIntervals {
    /// Least mean time between losses, and the interval for it.
    pub shortest: (f64, f64),
    /// That of the middle of the range.
    pub middle: (f64, f64),
    /// Greatest; `None`: the bucket begins at 0, so there may be no losses at all.
    pub longest: Option<(f64, f64)>,
}

impl Saving {
    /// The best interval if a share `chance` of the losses is preceded by a save that succeeds; `None`: all are, and no
    /// other saves are needed. Where the notice is shorter than a save and the reaction, `chance` is 0: ask
    /// [`Saving::fits_notice`].
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn interval_on_notice_h(
        &self,
        mean_h: f64,
        chance: f64,
    ) -> Result<Option<f64>, IntervalError> {
        if !(0.0..=1.0).contains(&chance) {
            return Err(IntervalError::Chance(chance));
        }
        positive("the mean time between losses, in hours,", mean_h)?;
        self.check()?;
        let mean_h = mean_h / (1.0 - chance);
        // a rate too low to be told from none
        if !mean_h.is_finite() {
            return Ok(None);
        }
        self.interval_h(mean_h).map(Some)
    }

    /// Whether a whole save, its time in the background included, fits between the reaction to a notice and the end.
    pub fn fits_notice(&self, notice_h: f64, reaction_h: f64) -> bool {
        self.block_h + self.behind_h + reaction_h <= notice_h
    }

    /// Both ends of what a notice of `notice_h` hours is good for, when the job needs `reaction_h` to begin its save
    /// (the rest of a step, and how often it looks).
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn with_notice(
        &self,
        mean_h: f64,
        notice_h: f64,
        reaction_h: f64,
    ) -> Result<NoticeIntervals, IntervalError> {
        not_negative("the notice, in hours,", notice_h)?;
        not_negative("the reaction to a notice, in hours,", reaction_h)?;
        let without_h = self.interval_h(mean_h)?;
        let without_hours = self.hours_per_hour(without_h, mean_h, 0.0)?.0;
        let fits = self.fits_notice(notice_h, reaction_h);
        let (with_h, with_hours) = if fits {
            // of each life, the restart and what is left of the notice after the reaction are no work
            let idle_h = self.restart_h + notice_h - reaction_h;
            let hours = (idle_h / mean_h).exp();
            (self.interval_on_notice_h(mean_h, 1.0)?, hours)
        } else {
            (Some(without_h), without_hours)
        };
        Ok(NoticeIntervals {
            fits,
            without_h,
            without_hours,
            with_h,
            with_hours,
        })
    }

    /// What an advisor's bucket means for this job: from rates to means to intervals. Two orders of magnitude are common
    /// ([`hazard_of`]); a bucket ranks machines and does not measure them.
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn for_bucket(&self, bucket: &Bucket) -> Result<BucketIntervals, IntervalError> {
        let range = hazard_of(bucket);
        let at = |per_h: f64| {
            let mean = 1.0 / per_h;
            self.interval_h(mean).map(|interval| (mean, interval))
        };
        Ok(BucketIntervals {
            shortest: at(range.high_per_h)?,
            middle: at(range.middle_per_h)?,
            longest: match range.low_per_h > 0.0 {
                true => Some(at(range.low_per_h)?),
                false => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::About;

    fn minutes(m: f64) -> f64 {
        m / 60.0
    }

    #[test]
    fn a_notice_that_is_too_short_changes_nothing() {
        let saving = Saving {
            restart_h: 0.2,
            ..Saving::blocking(minutes(1.0))
        };
        // 30 s of GCP and Azure, 120 s of AWS; half a minute to react
        let short = saving
            .with_notice(6.0, minutes(0.5), minutes(0.5))
            .expect("intervals");
        assert!(!short.fits);
        assert_eq!(short.with_h, Some(short.without_h));
        assert_eq!(short.with_hours, short.without_hours);
        let long = saving
            .with_notice(6.0, minutes(2.0), minutes(0.5))
            .expect("intervals");
        assert!(long.fits);
        assert_eq!(long.with_h, None);
        assert!(long.with_hours < long.without_hours && long.with_hours > 1.0);
        // a save that goes on in the background must be over, too
        let behind = Saving {
            behind_h: minutes(1.0),
            ..saving
        };
        assert!(!behind.fits_notice(minutes(2.0), minutes(0.5)));
    }

    #[test]
    fn half_of_the_losses_saved_is_half_of_the_rate() {
        let saving = Saving::blocking(minutes(5.0));
        let interval = |chance| saving.interval_on_notice_h(6.0, chance);
        assert_eq!(interval(0.5), saving.interval_h(12.0).map(Some));
        assert_eq!(interval(0.0), saving.interval_h(6.0).map(Some));
        assert_eq!(interval(1.0), Ok(None));
        assert_eq!(interval(1.2), Err(IntervalError::Chance(1.2)));
        // about the best for that share by the exact cost, also
        let hours = |tau: f64| saving.hours_per_hour(tau, 6.0, 0.5).expect("hours").0;
        let tau = interval(0.5).expect("an interval").expect("some");
        let least = (1..400)
            .map(|i| hours(0.02 * f64::from(i)))
            .fold(f64::INFINITY, f64::min);
        assert!(hours(tau) < least * 1.005, "{} {least}", hours(tau));
    }

    #[test]
    fn the_same_bucket_is_ten_minutes_or_most_of_a_day() {
        let bucket = |low, high, per_h| Bucket {
            about: About::default(),
            low,
            high,
            per_h,
            saving: None,
        };
        let saving = Saving::blocking(minutes(1.0));
        let aws = saving
            .for_bucket(&bucket(0.05, Some(0.10), 720.0))
            .expect("intervals");
        let (mean, interval) = aws.longest.expect("a rate above 0");
        assert!((mean - 14_037.0).abs() < 1.0, "{mean}");
        assert!(interval > 20.0 && aws.shortest.1 < 1.3, "{aws:?}");
        assert!(aws.shortest.1 < aws.middle.1 && aws.middle.1 < interval);
        let azure = saving
            .for_bucket(&bucket(0.05, Some(0.10), 1.0))
            .expect("intervals");
        assert!(azure.longest.expect("a rate").0 < 20.0);
        let lowest = saving
            .for_bucket(&bucket(0.0, Some(0.05), 720.0))
            .expect("intervals");
        assert_eq!(lowest.longest, None);
    }
}
