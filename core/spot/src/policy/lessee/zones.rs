//! Several zones: a price for progress where supply meets need.

use super::table::{Act, CLASSES, EDGES};
use super::{PRIOR, Tables, class, tweak};
use crate::job::HOUR_MS;
use crate::policy::{Choice, Now, Policy, Running};
use std::sync::Arc;

/// What is known of one zone.
#[derive(Clone, Debug)]
struct Belief {
    /// Last answer and when: hours since the start.
    seen: Option<(bool, f64)>,
    /// When the present spell began, as far as known.
    since: f64,
    events: [f64; 2],
    expected: [f64; 2],
}

/// Mean time until the state ends, from age `age_h`, at `scale` times the pooled rates, at most `cap` hours.
fn residual(rates: &[f64; CLASSES], scale: f64, age_h: f64, cap: f64) -> f64 {
    let (mut alive, mut mean, mut at) = (1.0, 0.0, age_h);
    for c in class(age_h)..CLASSES {
        let rate = (rates[c] * scale).max(1e-6);
        let end = EDGES
            .get(c + 1)
            .copied()
            .unwrap_or(f64::INFINITY)
            .min(age_h + cap);
        if end <= at {
            break;
        }
        let stay = (-rate * (end - at)).exp();
        mean += alive * (1.0 - stay) / rate;
        alive *= stay;
        at = end;
    }
    mean
}

/// The scale at which a spell lasts `mean` hours.
fn fit(rates: &[f64; CLASSES], mean: f64) -> f64 {
    let (mut low, mut high) = (-4.0f64, 4.0f64);
    for _ in 0..7 {
        let mid = (low + high) / 2.0;
        if residual(rates, mid.exp2(), 0.0, 1e4) > mean {
            low = mid;
        } else {
            high = mid;
        }
    }
    ((low + high) / 2.0).exp2()
}

pub struct Zones {
    tables: Arc<Tables>,
    zones: Vec<Belief>,
    any: Option<super::Seen>,
    value: f64,
}

impl Zones {
    pub fn new(tables: Arc<Tables>, zones: usize) -> Zones {
        Zones {
            tables,
            zones: vec![
                Belief {
                    seen: None,
                    since: 0.0,
                    events: [0.0; 2],
                    expected: [0.0; 2],
                };
                zones
            ],
            any: None,
            value: 0.0,
        }
    }

    fn hear(&mut self, zone: usize, at_h: f64, up: bool) {
        let b = &mut self.zones[zone];
        match b.seen {
            None => {
                b.since = at_h - 1.0;
            }
            Some((was, when)) => {
                let span = at_h - when;
                if span <= 0.0 && was == up {
                    return;
                }
                let side = usize::from(!was);
                if span <= 2.0 {
                    let keep = 0.5f64.powf(span / tweak(3, 8.0));
                    for i in 0..2 {
                        b.events[i] *= keep;
                        b.expected[i] *= keep;
                    }
                    let rates = if was { PRIOR.up } else { PRIOR.down };
                    b.expected[side] += rates[class((when - b.since).max(0.0))] * span;
                    if was != up {
                        b.events[side] += 1.0;
                    }
                }
                if was != up {
                    b.since = (at_h + when) / 2.0;
                }
            }
        }
        b.seen = Some((up, at_h));
    }

    fn scale(&self, zone: usize, side: usize) -> f64 {
        let p = self.tables.prior;
        let b = &self.zones[zone];
        (p + b.events[side]) / (p + b.expected[side])
    }

    /// Scales of one zone that stands for all: up while any is.
    fn together(&self, at: f64, left: f64) -> (f64, f64) {
        let (mut all_down, mut back) = (1.0, 0.0);
        for z in 0..self.zones.len() {
            let (su, sd) = (self.scale(z, 0), self.scale(z, 1));
            let up = residual(&PRIOR.up, su, 0.0, 1e4);
            let down = residual(&PRIOR.down, sd, 0.0, 1e4);
            all_down *= down / (up + down);
            let rest = match self.zones[z].seen {
                Some((false, _)) => {
                    residual(&PRIOR.down, sd, at - self.zones[z].since, left.max(1.0))
                }
                _ => down,
            };
            let rest = if tweak(7, 1.0) > 0.5 { rest } else { down };
            back += 1.0 / rest.max(0.01);
        }
        let down = 1.0 / back;
        let up = down * (1.0 - all_down) / all_down.max(1e-9);
        (fit(&PRIOR.up, up), fit(&PRIOR.down, down))
    }

    /// What an hour of progress is worth: the price at which the zones together offer as much time as the work
    /// needs of what is left.
    fn value(&self, now: &Now) -> f64 {
        let hour = |ms: i64| ms as f64 / HOUR_MS;
        let d = hour(now.job.overhead_ms);
        let left = hour(now.time_left_ms());
        let work = hour(now.left_ms);
        let reserve = d + tweak(4, 0.05) * work;
        let need = (work / (left - reserve).max(0.01)).min(2.0);
        let at = hour(now.elapsed_ms());
        let mut offers: Vec<(f64, usize, f64)> = Vec::with_capacity(self.zones.len() * CLASSES);
        for z in 0..self.zones.len() {
            let (su, sd) = (
                self.scale(z, 0) * tweak(0, 1.0),
                self.scale(z, 1) * tweak(1, 1.0),
            );
            let mean_up = residual(&PRIOR.up, su, 0.0, 1e4);
            let mean_down = residual(&PRIOR.down, sd, 0.0, 1e4);
            let steady = mean_up / (mean_up + mean_down);
            let share = match self.zones[z].seen {
                Some((true, _)) => {
                    let l = residual(&PRIOR.up, su, at - self.zones[z].since, left);
                    let w = l / left;
                    w + (1.0 - w) * steady
                }
                Some((false, _)) => {
                    let l = residual(&PRIOR.down, sd, at - self.zones[z].since, left);
                    (1.0 - l / left) * steady
                }
                None => steady,
            };
            let price = now.price(z);
            let mut alive = 1.0;
            for c in 0..CLASSES {
                let rate = (PRIOR.up[c] * su).max(1e-6);
                let end = EDGES.get(c + 1).copied().unwrap_or(f64::INFINITY);
                let stay = (-rate * (end - EDGES[c])).exp();
                let part = alive * (1.0 - stay) / rate / mean_up;
                alive *= stay;
                let life = residual(&PRIOR.up, su, EDGES[c], left);
                if life > d {
                    offers.push((price * life / (life - d), z, share * part));
                }
            }
        }
        offers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut none = vec![1.0; self.zones.len()];
        let od = now
            .market
            .zones
            .iter()
            .map(|z| z.on_demand)
            .fold(f64::INFINITY, f64::min);
        let mut supply = 0.0;
        for (price, z, part) in offers {
            if price >= od {
                break;
            }
            none[z] -= part;
            supply = 1.0 - none.iter().product::<f64>();
            if supply >= need {
                return price;
            }
        }
        // spot alone does not do it
        let lack = ((need - supply) / need).clamp(0.0, 1.0);
        od * (1.0 + tweak(7, 0.0) * lack)
    }
}

impl Policy for Zones {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let hour = |ms: i64| ms as f64 / HOUR_MS;
        let at = hour(now.elapsed_ms());
        let d = hour(now.job.overhead_ms);
        match (now.last, now.running) {
            (Running::Spot(z), Running::Spot(_)) => self.hear(z, at, true),
            (Running::Spot(z), _) => self.hear(z, at, false),
            _ => {}
        }
        let left = hour(now.time_left_ms());
        let ticks = now.ticks_left();
        let cheapest = now.cheapest_on_demand();
        let paid = matches!(now.running, Running::OnDemand(_));
        let may_spot = now.ticks_needed(2) < ticks;
        if !may_spot
            && !matches!(now.running, Running::Spot(_))
            && (paid || now.ticks_needed(1) >= ticks)
        {
            out.push(if paid {
                Choice::Keep
            } else {
                Choice::OnDemand(cheapest)
            });
            return;
        }
        // is slack so scarce that on-demand would be taken if there were no spot?
        let t = &self.tables;
        let (su, sd) = self.together(at, left);
        let cls = match &self.any {
            Some(s) if !s.up => class(s.age_h),
            _ => 0,
        };
        let slack = (now.time_left_ms() - now.left_ms) as f64 / t.cell_ms;
        let steps = (now.time_left_ms() as f64 / t.step_ms).round() as usize;
        let table = t.get(su * tweak(10, 1.0), sd * tweak(11, 1.0));
        let slack = slack.max(0.0) as usize;
        let act = table.act(steps, slack, paid, false, cls);
        let od = now.market.zones[cheapest].on_demand;
        let span = ((tweak(8, 1.0) * HOUR_MS) / t.cell_ms) as usize;
        let worth = table.worth(steps, slack, cls, span.max(1)) * HOUR_MS / t.cell_ms;
        let worth = if worth.is_finite() { worth } else { 1.2 * od };
        let v = self.value(now).max(worth * tweak(9, 1.0));
        self.value = v;
        let horizon = left.min(hour(now.left_ms) + d);
        let gb = now.job.checkpoint_gb;
        let utility = |z: usize, fresh: bool| {
            let b = &self.zones[z];
            let age = match b.seen {
                Some((true, _)) => at - b.since,
                Some((false, when)) => (at - when) / 2.0,
                None => 1.0,
            };
            let life = residual(
                &PRIOR.up,
                self.scale(z, 0) * tweak(0, 1.0),
                age.max(0.0),
                horizon,
            );
            if fresh {
                let e = now.home.map_or(0.0, |h| now.market.egress(h, z) * gb);
                if life <= d {
                    return f64::NEG_INFINITY;
                }
                v * (life - d) / life - now.price(z) - e / life
            } else {
                v - now.price(z)
            }
        };
        let current = match now.running {
            Running::Spot(z) => Some((z, utility(z, false))),
            _ => None,
        };
        let margin = current.map_or(0.0, |_| tweak(5, 0.05) * v);
        let floor = if paid {
            (v - od).max(0.0)
        } else {
            current.map_or(0.0, |(_, u)| u.max(0.0) + margin)
        };
        if may_spot {
            let mut options: Vec<(f64, usize)> = (0..self.zones.len())
                .filter(|&z| now.running != Running::Spot(z))
                .map(|z| (utility(z, true), z))
                .filter(|o| o.0 > floor)
                .collect();
            options.sort_by(|a, b| b.0.total_cmp(&a.0));
            out.extend(options.iter().map(|o| Choice::Spot(o.1)));
        }
        if let Some((z, u)) = current {
            // leaving for nothing only when that is clearly better
            if u < -tweak(6, 0.1) * v && may_spot {
                out.push(Choice::Idle);
            } else {
                out.push(Choice::Spot(z));
            }
            return;
        }
        out.push(if act == Act::Idle && now.ticks_needed(1) < ticks {
            Choice::Idle
        } else if paid {
            Choice::Keep
        } else {
            Choice::OnDemand(cheapest)
        });
    }

    fn launched(&mut self, now: &Now, zone: usize, started: bool) {
        let at = now.elapsed_ms() as f64 / HOUR_MS;
        self.hear(zone, at, started);
    }

    fn settled(&mut self, now: &Now, running: Running, _out: &mut Vec<usize>) {
        let up = matches!(running, Running::Spot(_));
        let step_h = now.market.gap_ms as f64 / HOUR_MS;
        let seen = self.any.get_or_insert(super::Seen {
            up,
            age_h: 0.0,
            events: [0.0; 2],
            expected: [0.0; 2],
        });
        super::step(seen, up, step_h);
    }
}
