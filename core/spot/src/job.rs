//! The job that is replayed, in whole milliseconds so that no rounding of hours decides a tick.
//!
//! Not here: prices and zones (`market.rs`), what to do next (`policy/`).

use thiserror::Error;

/// Milliseconds in an hour.
pub const HOUR_MS: f64 = 3_600_000.0;

/// What a job asks of a market.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Useful work, at one machine (or gang) of the market, in ms.
    pub work_ms: i64,
    /// Time from the start until the job must be done, in ms.
    pub deadline_ms: i64,
    /// What every start costs before useful work goes on, at the price of what starts: boot, set-up, loading
    /// the checkpoint, and the work thought lost since the last save. In ms.
    pub overhead_ms: i64,
    /// Size of a checkpoint in GB (10^9 bytes), moved when the job goes to another region.
    pub checkpoint_gb: f64,
    /// Periodic saves; `None`: work is never lost, as in the published simulators.
    pub saves: Option<Saves>,
    /// Billing increment in ms: the time of each machine, from its start to its end, is billed in whole multiples of it, at
    /// its last price; also where the provider took it away. 0: whole ticks, as in the published simulators.
    pub billing_ms: i64,
}

/// Periodic synchronous saves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saves {
    /// Useful work between two saves, in ms.
    pub every_ms: i64,
    /// How long a save blocks work, in ms.
    pub block_ms: i64,
}

/// Why a job cannot be replayed.
#[derive(Debug, Error, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum JobError {
    #[error("{what} is {value}: it must be a positive, finite number of hours below {limit}")]
    Hours {
        what: &'static str,
        value: f64,
        limit: f64,
    },
    #[error(
        "{work_hours} h of work and {overhead_hours} h for one start do not fit into {deadline_hours} h, \
         saves included, not even on demand"
    )]
    Infeasible {
        work_hours: f64,
        overhead_hours: f64,
        deadline_hours: f64,
    },
    #[error(
        "a save of {block_ms} ms after each {every_ms} ms of work: work must be above 0, a save 0 or more, \
         neither above {LIMIT_MS} ms"
    )]
    Saves { every_ms: i64, block_ms: i64 },
}

/// Ten years: longer than any record, and far from where ticks overflow.
const LIMIT_H: f64 = 87_600.0;

/// [`LIMIT_H`] in ms: also saves are neither further apart nor longer.
pub const LIMIT_MS: i64 = LIMIT_H as i64 * 3_600_000;

/// Hours as whole milliseconds.
pub fn hours_to_ms(hours: f64) -> i64 {
    (hours * HOUR_MS).round() as i64
}

impl Job {
    /// A job of `work` hours that must end within `deadline` hours and pays `overhead` hours at each start.
    ///
    /// # Errors
    /// A figure is not a positive number, or the job does not even fit on demand.
    pub fn new(work: f64, deadline: f64, overhead: f64) -> Result<Job, JobError> {
        for (what, value, least) in [
            ("the work", work, f64::MIN_POSITIVE),
            ("the deadline", deadline, f64::MIN_POSITIVE),
            ("the overhead of a start", overhead, 0.0),
        ] {
            if !(value.is_finite() && value >= least && value <= LIMIT_H) {
                return Err(JobError::Hours {
                    what,
                    value,
                    limit: LIMIT_H,
                });
            }
        }
        Ok(Job {
            work_ms: hours_to_ms(work).max(1),
            deadline_ms: hours_to_ms(deadline),
            overhead_ms: hours_to_ms(overhead),
            checkpoint_gb: 0.0,
            saves: None,
            billing_ms: 0,
        })
    }

    /// Whether on-demand alone, started at once, keeps the deadline on ticks of `gap_ms`, its saves included.
    ///
    /// # Errors
    /// It does not, or the saves leave no time for work.
    pub fn check_feasible(&self, gap_ms: i64) -> Result<(), JobError> {
        let mut needed = i128::from(self.work_ms) + i128::from(self.overhead_ms);
        if let Some(saves) = self.saves {
            if !(1..=LIMIT_MS).contains(&saves.every_ms)
                || !(0..=LIMIT_MS).contains(&saves.block_ms)
            {
                return Err(JobError::Saves {
                    every_ms: saves.every_ms,
                    block_ms: saves.block_ms,
                });
            }
            // nobody waits for a save after the last work
            let saved = ceil_div(self.work_ms, saves.every_ms) - 1;
            needed += i128::from(saved) * i128::from(saves.block_ms);
        }
        // whole ticks: that they hold what is needed is the same as that what is needed, rounded up, fits
        if needed <= i128::from(self.deadline_ms / gap_ms) * i128::from(gap_ms) {
            return Ok(());
        }
        Err(JobError::Infeasible {
            work_hours: self.work_ms as f64 / HOUR_MS,
            overhead_hours: self.overhead_ms as f64 / HOUR_MS,
            deadline_hours: self.deadline_ms as f64 / HOUR_MS,
        })
    }
}

/// Division of a non-negative number, rounded up.
pub(crate) fn ceil_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) > 0)
}
