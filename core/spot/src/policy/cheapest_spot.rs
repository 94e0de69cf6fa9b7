//! Cheapest spot, without a deadline: what most launchers do. It never takes on-demand by itself; the guard of
//! the replay does so when the deadline comes near, unless the replay runs without one.

use super::{Choice, Now, Policy};

/// Spot in the cheapest zone that has any; waits otherwise; never leaves a running machine.
#[derive(Debug, Default)]
pub struct CheapestSpot;

impl Policy for CheapestSpot {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        super::spot_by_price(now, out);
        out.push(Choice::Idle);
    }
}
