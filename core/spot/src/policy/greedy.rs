//! Spot whenever there is spot, otherwise wait, until the deadline forces on-demand ("greedy" in Can't Be Late,
//! Wu et al., NSDI 2024, section 4).

use super::{Choice, Now, Policy};

/// Spot or nothing, with the safety net. Zones are tried in order of their price now.
#[derive(Debug, Default)]
pub struct Greedy;

impl Policy for Greedy {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        if now.net() {
            out.push(Choice::OnDemand(now.cheapest_on_demand()));
            return;
        }
        super::spot_by_price(now, out);
        out.push(Choice::Idle);
    }
}
