//! Several zones: progress gets a price where supply meets need, and each zone is judged by it.
//!
//! A zone that lasts L hours and needs d to start is worth V (L - d)/L - price - egress/L an hour, with V the worth of
//! an hour of progress. V is the price at which the zones together are expected to offer as much time as the work
//! needs of the time that is left; when slack gets scarce, it is what the table of one zone that stands for all says.
//! Zones worth more than what runs are tried in turn: a refused launch costs nothing. When none is to be had, the
//! table decides between waiting and on-demand.

use super::belief::Belief;
use super::levels::Spells;
use super::params::CLASSES;
use super::table::Act;
use super::tables::Tables;
use crate::job::HOUR_MS;
use crate::policy::{Choice, Now, Running};

#[derive(Debug)]
pub(super) struct Zones<'a> {
    tables: &'a Tables,
    zones: Vec<Belief>,
    /// When no spot has run since, hours.
    without_since: Option<f64>,
    /// Scratch for [`Zones::supply_price`]: price, zone, share of the time.
    offers: Vec<(f64, usize, f64)>,
}

/// The moment of a decision, in hours and USD.
struct Moment {
    at: f64,
    left: f64,
    work: f64,
    overhead: f64,
    on_demand: f64,
}

fn hours(ms: i64) -> f64 {
    ms as f64 / HOUR_MS
}

impl<'a> Zones<'a> {
    pub(super) fn new(tables: &'a Tables, zones: usize) -> Zones<'a> {
        Zones {
            tables,
            zones: vec![Belief::default(); zones],
            without_since: None,
            offers: Vec::with_capacity(zones * CLASSES),
        }
    }

    /// How a zone is lost, with caution.
    fn losing(&self, zone: usize) -> &Spells {
        let (params, levels) = (self.tables.params(), self.tables.levels());
        let scale = self.zones[zone].scale(params, true) * params.caution;
        levels.of(true, levels.nearest(scale))
    }

    /// How its outages end.
    fn returning(&self, zone: usize) -> &Spells {
        let (params, levels) = (self.tables.params(), self.tables.levels());
        let scale = self.zones[zone].scale(params, false);
        levels.of(false, levels.nearest(scale))
    }

    /// Mean time until a zone that starts now is lost, in hours; at most until the work is done.
    fn life(&self, zone: usize, moment: &Moment) -> f64 {
        let belief = &self.zones[zone];
        let age = match belief.seen {
            Some((true, _)) => belief.age(moment.at),
            // if it is back, it came back at some moment since it was last asked
            Some((false, when)) => (moment.at - when) / 2.0,
            None => 1.0,
        };
        let most = moment.left.min(moment.work + moment.overhead);
        self.losing(zone).residual(age.max(0.0)).min(most)
    }

    /// Levels of one zone that stands for all of them: it is up while any is.
    fn together(&self, moment: &Moment) -> (usize, usize) {
        let (params, levels) = (self.tables.params(), self.tables.levels());
        let (mut all_down, mut back) = (1.0, 0.0);
        for (zone, belief) in self.zones.iter().enumerate() {
            let returning = self.returning(zone);
            let up = levels
                .of(true, levels.nearest(belief.scale(params, true)))
                .mean();
            let down = returning.mean();
            all_down *= down / (up + down);
            let rest = match belief.seen {
                Some((false, _)) => returning
                    .residual(belief.age(moment.at))
                    .min(moment.left.max(1.0)),
                _ => down,
            };
            back += 1.0 / rest.max(0.01);
        }
        let down = 1.0 / back;
        let up = down * (1.0 - all_down) / all_down.max(1e-9);
        (levels.lasting(true, up), levels.lasting(false, down))
    }

    /// The price of progress at which the zones offer enough time: each class of age of each zone is an offer at
    /// price L/(L - d) for its share of the time, zones are taken as independent, and the dearest offer that is
    /// needed sets the price. On-demand's, when spot does not suffice.
    fn supply_price(&mut self, now: &Now, moment: &Moment) -> f64 {
        let reserve_share = self.tables.params().reserve;
        let reserve = moment.overhead + reserve_share * moment.work;
        let need = moment.work / (moment.left - reserve).max(0.01);
        let mut offers = std::mem::take(&mut self.offers);
        offers.clear();
        for (zone, belief) in self.zones.iter().enumerate() {
            let (losing, returning) = (self.losing(zone), self.returning(zone));
            let (up, down) = (losing.mean(), returning.mean());
            let steady = up / (up + down);
            // the present state holds for a while, then the average does
            let share = match belief.seen {
                Some((true, _)) => {
                    let held = (losing.residual(belief.age(moment.at)) / moment.left).min(1.0);
                    held + (1.0 - held) * steady
                }
                Some((false, _)) => {
                    let held = (returning.residual(belief.age(moment.at)) / moment.left).min(1.0);
                    (1.0 - held) * steady
                }
                None => steady,
            };
            for (part, rest) in losing.shares.iter().zip(&losing.rest) {
                let life = rest.min(moment.left);
                if life > moment.overhead {
                    let price = now.price(zone) * life / (life - moment.overhead);
                    offers.push((price, zone, share * part));
                }
            }
        }
        offers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut absent = vec![1.0; self.zones.len()];
        let mut found = moment.on_demand;
        for &(price, zone, part) in &offers {
            if price >= moment.on_demand {
                break;
            }
            absent[zone] -= part;
            if 1.0 - absent.iter().product::<f64>() >= need {
                found = price;
                break;
            }
        }
        self.offers = offers;
        found
    }

    pub(super) fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let params = self.tables.params();
        let cheapest = now.cheapest_on_demand();
        let moment = Moment {
            at: hours(now.elapsed_ms()),
            left: hours(now.time_left_ms()),
            work: hours(now.left_ms),
            overhead: hours(now.job.overhead_ms),
            on_demand: now.market.zones[cheapest].on_demand,
        };
        if let Running::Spot(zone) = now.last {
            let up = now.running == now.last;
            self.zones[zone].hear(params, moment.at, up);
        }
        let ticks = now.ticks_left();
        let (may_start_spot, may_wait) = (!now.needs(2, ticks), !now.needs(1, ticks));
        let paid = matches!(now.running, Running::OnDemand(_));
        let on_spot = match now.running {
            Running::Spot(zone) => Some(zone),
            _ => None,
        };
        if on_spot.is_none() && !may_start_spot && (paid || !may_wait) {
            out.push(if paid {
                Choice::Keep
            } else {
                Choice::OnDemand(cheapest)
            });
            return;
        }
        let least = (0..self.zones.len())
            .map(|z| now.price(z))
            .fold(f64::INFINITY, f64::min);
        // nothing beats the cheapest zone while it runs
        if let Some(zone) = on_spot
            && now.price(zone) <= least
            && least < moment.on_demand
        {
            out.push(Choice::Keep);
            return;
        }
        let (up, down) = self.together(&moment);
        let table = self.tables.look(
            up,
            down,
            (least / moment.on_demand).min(1.0),
            now.time_left_ms(),
            now.left_ms,
        );
        let without = self.without_since.map_or(0.0, |since| moment.at - since);
        let class = params.class(without);
        let worth = table.worth(class) * moment.on_demand * params.slack_worth;
        let act = table.act(paid, false, class);
        // past what the table can keep, progress is worth more than on-demand
        let worth = if worth.is_finite() {
            worth
        } else {
            1.2 * moment.on_demand
        };
        let value = self.supply_price(now, &moment).max(worth);
        let floor = match now.running {
            Running::Idle => 0.0,
            Running::OnDemand(_) => (value - moment.on_demand).max(0.0),
            Running::Spot(zone) => (value - now.price(zone)).max(0.0) + params.move_margin * value,
        };
        if may_start_spot {
            self.offer(now, &moment, value, floor, out);
        }
        if let Some(zone) = on_spot {
            let price = now.price(zone);
            // leaving for nothing only when that is clearly better; for on-demand where spot costs as much
            let leave = value - price < -params.leave_margin * value && may_start_spot;
            let own = now.market.zones[zone].on_demand;
            let dear = price >= moment.on_demand.min(own);
            out.push(match (leave, dear) {
                (true, _) => Choice::Idle,
                (false, true) => Choice::OnDemand(cheapest),
                _ => Choice::Keep,
            });
            return;
        }
        out.push(match act {
            Act::Idle if may_wait => Choice::Idle,
            _ if paid => Choice::Keep,
            _ => Choice::OnDemand(cheapest),
        });
    }

    /// Zones worth more than `floor` an hour, best first.
    fn offer(&self, now: &Now, moment: &Moment, value: f64, floor: f64, out: &mut Vec<Choice>) {
        let gb = now.job.checkpoint_gb;
        let mut worth: Vec<(f64, usize)> = (0..self.zones.len())
            .filter(|&z| now.running != Running::Spot(z))
            .filter(|&z| now.price(z) < moment.on_demand.min(now.market.zones[z].on_demand))
            .filter_map(|z| {
                let life = self.life(z, moment);
                let moved = now.home.map_or(0.0, |h| now.market.egress(h, z) * gb);
                let gain = value * (life - moment.overhead) / life - now.price(z) - moved / life;
                (life > moment.overhead && gain > floor).then_some((gain, z))
            })
            .collect();
        worth.sort_by(|a, b| b.0.total_cmp(&a.0));
        out.extend(worth.iter().map(|w| Choice::Spot(w.1)));
    }

    pub(super) fn launched(&mut self, now: &Now, zone: usize, started: bool) {
        let at = hours(now.elapsed_ms());
        self.zones[zone].hear(self.tables.params(), at, started);
    }

    pub(super) fn settled(&mut self, now: &Now, running: Running, _probes: &mut Vec<usize>) {
        if matches!(running, Running::Spot(_)) {
            self.without_since = None;
        } else if self.without_since.is_none() {
            self.without_since = Some(hours(now.elapsed_ms()));
        }
    }
}
