//! How much work to do between two saves.
//!
//! A save costs time (and money), and the more often, the less is lost when spot is taken away. Start with [`Saving`],
//! which says what a save costs, and ask for
//!
//! - [`young`], [`daly`]: the textbook's approximations, [`Saving::interval_h`]: the exact answer for memoryless losses,
//!   with money, with saves in the background (`constant.rs`);
//! - [`Saving::with_notice`], [`Saving::for_bucket`]: both ends of what is not known (`ends.rs`);
//! - [`Saving::schedule`]: the answer where the rate of losses depends on the age of the machine (`ages.rs`).
//!
//! Everywhere: times in hours; an *interval* is useful work between two saves, without the save itself. M is the mean
//! time between losses of a machine that is paid for. No interval is shorter than the job can save at
//! ([`Saving::least_h`]: its step, or how often it looks) or than one save takes in the background.
//!
//! Not here: saves during a replay ([`Saves`](crate::job::Saves)); the availability-optimal interval of arXiv 2410.18124,
//! which has another target (share of time up) and must not be mixed with these.

mod ages;
mod constant;
mod ends;

pub use ages::{Ages, Schedule};
pub use constant::{daly, lambert_w0, wall_h, young};
pub use ends::{BucketIntervals, NoticeIntervals};

use thiserror::Error;

/// Why there is no interval.
#[derive(Debug, Error, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum IntervalError {
    #[error("{what} is {value}: it must be a finite number, {least}")]
    Number {
        what: &'static str,
        value: f64,
        least: &'static str,
    },
    #[error("the chance that a save on notice succeeds is {0}: it must be from 0 to 1")]
    Chance(f64),
    #[error("classes of age must begin at 0 and ascend, one rate each: {0}")]
    Classes(&'static str),
    #[error("nobody was seen to end: how long machines last is not known")]
    NoEnds,
}

/// A finite number above 0.
fn positive(what: &'static str, value: f64) -> Result<f64, IntervalError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(IntervalError::Number {
        what,
        value,
        least: "above 0",
    })
}

/// A finite number, 0 or more.
fn not_negative(what: &'static str, value: f64) -> Result<f64, IntervalError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(IntervalError::Number {
        what,
        value,
        least: "0 or more",
    })
}

/// What saves, losses and restarts cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// Hours that a save stops work: all of it if saves are synchronous, the copy to host memory if not.
    pub block_h: f64,
    /// Hours that it then goes on in the background; 0: synchronous. Work is safe only when that is over.
    pub behind_h: f64,
    /// USD a save: requests, bytes kept, bytes moved. Charged for each one begun.
    pub upload_usd: f64,
    /// USD an hour of the machine (or gang); of no matter while `upload_usd` is 0.
    pub usd_per_h: f64,
    /// Hours from the start of a machine until useful work goes on.
    pub restart_h: f64,
    /// Shortest interval that can be had: a training step, or how often the job looks whether a save is due.
    pub least_h: f64,
}

impl Saving {
    /// Saves that stop work for so many hours and cost nothing else; restarts at once.
    pub fn blocking(block_h: f64) -> Saving {
        Saving {
            block_h,
            behind_h: 0.0,
            upload_usd: 0.0,
            usd_per_h: 0.0,
            restart_h: 0.0,
            least_h: 0.0,
        }
    }

    /// The shortest interval that can be kept up: saves in the background do not overlap.
    pub fn floor_h(&self) -> f64 {
        self.least_h.max(self.behind_h)
    }

    /// What a save costs in hours of the machine's price.
    fn upload_h(&self) -> f64 {
        match self.upload_usd > 0.0 {
            true => self.upload_usd / self.usd_per_h,
            false => 0.0,
        }
    }

    /// # Errors
    /// A figure is negative or no number; a save costs neither time nor money and has no least interval, so that work
    /// could be saved all the time; a save costs money but the machine has no price to compare it with.
    fn check(&self) -> Result<(), IntervalError> {
        not_negative("the time that a save stops work, in hours,", self.block_h)?;
        not_negative(
            "the time of a save in the background, in hours,",
            self.behind_h,
        )?;
        not_negative("the price of a save, in USD,", self.upload_usd)?;
        not_negative("the price of the machine, in USD an hour,", self.usd_per_h)?;
        not_negative("the time of a restart, in hours,", self.restart_h)?;
        not_negative("the shortest interval, in hours,", self.least_h)?;
        if self.upload_usd > 0.0 {
            positive("the price of the machine, in USD an hour,", self.usd_per_h)?;
        }
        let something = self.block_h + self.upload_usd + self.floor_h();
        positive("the time that a save stops work, in hours,", something).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused_by_name() {
        let good = Saving::blocking(0.1);
        assert!(good.check().is_ok());
        let refused = |s: Saving| s.interval_h(6.0).map(|_| ()).unwrap_err().to_string();
        let minus = Saving {
            restart_h: -1.0,
            ..good
        };
        assert_eq!(
            refused(minus),
            "the time of a restart, in hours, is -1: it must be a finite number, 0 or more"
        );
        assert!(refused(Saving::blocking(f64::NAN)).contains("NaN"));
        // free saves: no interval is too short, unless the job says which
        assert!(refused(Saving::blocking(0.0)).contains("above 0"));
        let stepped = Saving {
            least_h: 0.01,
            ..Saving::blocking(0.0)
        };
        assert_eq!(stepped.interval_h(6.0), Ok(0.01));
        // money without a price to compare it with
        let unpriced = Saving {
            upload_usd: 0.2,
            ..good
        };
        assert!(refused(unpriced).contains("the price of the machine"));
        for mean_h in [0.0, -3.0, f64::NAN, f64::INFINITY] {
            assert!(good.interval_h(mean_h).is_err(), "{mean_h}");
            assert!(young(0.1, mean_h).is_err() && daly(0.1, mean_h).is_err());
        }
    }

    #[test]
    fn never_below_a_step_or_an_upload() {
        let saving = Saving {
            least_h: 2.0,
            ..Saving::blocking(0.01)
        };
        assert_eq!(saving.interval_h(6.0), Ok(2.0));
        let slow = Saving {
            behind_h: 3.0,
            ..saving
        };
        assert_eq!(slow.interval_h(6.0), Ok(3.0));
        let ages = Ages::new(&[0.0, 1.0], &[1.0, 0.5]).expect("rates");
        let schedule = slow.schedule(&ages).expect("a schedule");
        assert!(schedule.then_h >= 3.0);
        assert!(schedule.steps.iter().all(|(_, interval)| *interval >= 3.0));
    }
}
