//! One zone: follow the table.

use super::belief::Belief;
use super::table::Act;
use super::tables::Tables;
use crate::job::HOUR_MS;
use crate::policy::{Choice, Now, Running};

#[derive(Debug)]
pub(super) struct OneZone<'a> {
    tables: &'a Tables,
    belief: Belief,
}

impl<'a> OneZone<'a> {
    pub(super) fn new(tables: &'a Tables) -> OneZone<'a> {
        OneZone {
            tables,
            belief: Belief::default(),
        }
    }

    pub(super) fn launched(&mut self, now: &Now, _zone: usize, started: bool) {
        let at = now.elapsed_ms() as f64 / HOUR_MS;
        self.belief.hear(self.tables.params(), at, started);
    }

    pub(super) fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let params = self.tables.params();
        let at = now.elapsed_ms() as f64 / HOUR_MS;
        let told = match (now.last, now.running) {
            (Running::Spot(_), Running::Spot(_)) => Some(true),
            (Running::Spot(_), _) => Some(false),
            _ => now.seen(0),
        };
        if let Some(up) = told {
            self.belief.hear(params, at, up);
        }
        let price = now.price(0) / now.market.zones[0].on_demand;
        // spot that costs as much as on-demand is no spot
        let cheap = price < 1.0;
        if matches!(now.running, Running::Spot(_)) && cheap {
            out.push(Choice::Keep);
            return;
        }
        let (paid, left) = (
            matches!(now.running, Running::OnDemand(_)),
            now.ticks_left(),
        );
        let may_start_spot = cheap && !now.needs(2, left);
        let may_wait = !now.needs(1, left);
        let levels = self.tables.levels();
        let table = self.tables.look(
            levels.nearest(self.belief.scale(params, true) * params.caution),
            levels.nearest(self.belief.scale(params, false)),
            price.min(1.0),
            now.time_left_ms(),
            now.left_ms,
        );
        let class = params.class(self.belief.age(at));
        // where the zone is not seen, a launch is the way to ask; a spell that answers to it is new
        let asked = told.is_none();
        let up_class = match self.belief.seen {
            Some((false, _)) if asked => 0,
            _ => class,
        };
        if may_start_spot && (told == Some(true) || asked) {
            match table.act(paid, true, up_class) {
                Act::Spot => {
                    out.push(Choice::Spot(0));
                    if !asked {
                        return;
                    }
                }
                // on-demand goes on, though there may be spot
                Act::OnDemand if !asked => {
                    out.push(Choice::OnDemand(0));
                    return;
                }
                Act::Idle if !asked && may_wait => {
                    out.push(Choice::Idle);
                    return;
                }
                _ => {}
            }
        }
        let wait = told != Some(true) || !may_start_spot;
        out.push(match table.act(paid, false, class) {
            Act::Idle if may_wait && wait => Choice::Idle,
            _ => Choice::OnDemand(0),
        });
    }
}
