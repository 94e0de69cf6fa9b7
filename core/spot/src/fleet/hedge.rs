//! SpotHedge (SkyServe; Mao et al., EuroSys 2025): spread over the zones that keep what they are given, a few spot replicas
//! more than needed, on-demand for what spot does not hold ready.

use super::Fleet;
use crate::random::Random;

/// Where to place spot replicas, and how many on-demand to keep behind them.
#[derive(Clone, Debug)]
pub struct SpotHedge {
    /// Zones that kept what they were given.
    active: Vec<bool>,
    random: Random,
}

impl SpotHedge {
    /// All zones are thought good at first.
    pub fn new(zones: usize, random: Random) -> SpotHedge {
        SpotHedge {
            active: vec![true; zones],
            random,
        }
    }

    /// A zone took replicas away or refused one (`lost`), or holds some and kept them all (`kept`).
    pub fn observed(&mut self, zone: usize, lost: bool, kept: bool) {
        if lost {
            self.active[zone] = false;
        } else if kept {
            self.active[zone] = true;
        }
    }

    /// Where the next replica goes: an active zone with the fewest, ties at random. The paper fills empty active zones first and
    /// then any at random; to go on evenly leaves less to lose at once. With too few active zones all count as
    /// active again.
    pub fn place(&mut self, placed: &[u32]) -> usize {
        let zones = self.active.len();
        let least = zones.saturating_sub(3).min(1);
        if self.active.iter().filter(|a| **a).count() <= least {
            self.active.fill(true);
        }
        let open = || (0..zones).filter(|z| self.active[*z]);
        let fewest = open().map(|z| placed[z]).min();
        let among: Vec<usize> = open().filter(|z| Some(placed[*z]) == fewest).collect();
        among[self.random.below(among.len().max(1) as u64) as usize]
    }

    /// On-demand replicas wanted while `ready_spot` spot replicas answer and the service was whole for `whole_share`
    /// of the time. One that is still starting does not count: on-demand stays until spot has taken over.
    pub fn on_demand(&self, fleet: &Fleet, ready_spot: u32, whole_share: f64) -> u32 {
        // the paper's artifact asks for 0.99
        if whole_share <= fleet.whole {
            return fleet.target;
        }
        let provisioned = fleet.target + fleet.spare;
        provisioned.saturating_sub(ready_spot).min(fleet.target)
    }
}
