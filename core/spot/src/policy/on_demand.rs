//! On-demand from the first tick to the last: the bill to beat.

use super::{Choice, Now, Policy};

/// On-demand in the cheapest zone.
#[derive(Debug, Default)]
pub struct OnDemand;

impl Policy for OnDemand {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let zone = now.home.unwrap_or_else(|| now.cheapest_on_demand());
        out.push(Choice::OnDemand(zone));
    }
}
