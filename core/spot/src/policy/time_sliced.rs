//! Time-sliced (Can't Be Late, Wu et al., NSDI 2024, section 4.2): the deadline is cut into slices with an equal
//! share of the work, greedy inside each. Work ahead of the plan at the end of a slice is credit for the next.

use super::{Choice, Now, Policy, Running};
use crate::job::ceil_div;

/// Slices of `slice_ms`; the last one is what is left.
#[derive(Debug)]
pub struct TimeSliced {
    slice_ms: i64,
    slice: i64,
    done_at_start: i64,
    gain: f64,
}

impl TimeSliced {
    /// Slices of this many hours.
    pub fn new(slice_hours: f64) -> TimeSliced {
        TimeSliced {
            slice_ms: crate::job::hours_to_ms(slice_hours).max(1),
            slice: 0,
            done_at_start: 0,
            gain: 0.0,
        }
    }
}

impl Policy for TimeSliced {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let job = now.job;
        let elapsed = now.elapsed_ms();
        // in seconds and in this order, since sums that should be whole ticks are rounded down below: other units
        // round the other way, and the public simulator's figures then differ
        let seconds = |ms: i64| ms as f64 / 1000.0;
        let (work, whole) = (seconds(job.work_ms), seconds(job.deadline_ms));
        let quota = |slice: i64| {
            let from = slice * self.slice_ms;
            let to = (from + self.slice_ms).min(job.deadline_ms);
            work * seconds(to - from) / whole
        };
        let last = ceil_div(job.deadline_ms, self.slice_ms) - 1;
        while self.slice < last && elapsed >= (self.slice + 1) * self.slice_ms {
            self.gain += seconds(now.done_ms() - self.done_at_start) - quota(self.slice);
            self.done_at_start = now.done_ms();
            self.slice += 1;
        }
        let gap = seconds(now.market.gap_ms);
        let overhead = seconds(job.overhead_ms);
        let to_do = quota(self.slice) - seconds(now.done_ms() - self.done_at_start);
        let end = ((self.slice + 1) * self.slice_ms).min(job.deadline_ms);
        let room = ((seconds(end - elapsed) + self.gain) / gap).floor();
        let left = now.ticks_left();
        let two_fill_it = now.needs(2, left);
        if to_do - self.gain > 0.0 || two_fill_it {
            let on_spot = matches!(now.running, Running::Spot(_));
            if ((to_do + overhead) / gap).ceil() >= room || now.needs(1, left) {
                out.push(match now.running {
                    Running::Spot(zone) if now.warm() && now.worth_keeping(zone) => Choice::Keep,
                    _ => Choice::OnDemand(now.cheapest_on_demand()),
                });
                return;
            }
            if !on_spot && (((to_do + 2.0 * overhead) / gap).ceil() >= room || two_fill_it) {
                out.push(Choice::OnDemand(now.cheapest_on_demand()));
                return;
            }
        }
        super::spot_by_price(now, out);
        out.push(Choice::Idle);
    }
}
