//! Uniform Progress in one zone (Can't Be Late, Wu et al., NSDI 2024, section 4.3): keep up with the straight
//! line from nothing at the start to everything at the deadline; behind it, take on-demand. Spot is taken
//! whenever there is any. Hysteresis: from on-demand, go on until the line two starts ahead is reached.

use super::{Choice, Now, Policy, Running};

/// Uniform Progress with hysteresis and the safety net.
#[derive(Debug, Default)]
pub struct UniformProgress;

/// Whether progress has not passed the line at time `at_ms`.
pub(super) fn not_ahead(now: &Now, at_ms: i64) -> bool {
    now.done_ms() as i128 * now.job.deadline_ms as i128 <= at_ms as i128 * now.job.work_ms as i128
}

impl Policy for UniformProgress {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let zone = now.home.unwrap_or_else(|| now.cheapest_on_demand());
        if now.net() {
            out.push(Choice::OnDemand(zone));
            return;
        }
        let elapsed = now.elapsed_ms();
        let behind = (now.done_ms() as i128 * now.job.deadline_ms as i128)
            < elapsed as i128 * now.job.work_ms as i128;
        match now.running {
            Running::OnDemand(_) => {
                if !not_ahead(now, elapsed + 2 * now.job.overhead_ms) {
                    super::spot_by_price(now, out);
                }
                out.push(Choice::Keep);
            }
            _ => {
                super::spot_by_price(now, out);
                out.push(if behind {
                    Choice::OnDemand(zone)
                } else {
                    Choice::Idle
                });
            }
        }
    }
}
