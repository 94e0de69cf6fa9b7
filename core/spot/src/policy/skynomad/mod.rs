//! SkyNomad (NSDI 2027) for one job over several zones, as its artifact ran it: an hour of work has a value, each
//! zone a price and an expected life, and the option with the best net value is tried first.
//!
//! A zone is seen only by launching and probing. Start with [`SkyNomad`]; `lifetime.rs` has runs and survival,
//! `volatility.rs` the factor on hazards, `value.rs` the value of work. The artifact's habits are kept where they
//! decide a published figure; each is named where it stands. Not kept: a probe in the zone where its own spot runs
//! made the artifact bill that whole tick as a minute.

mod lifetime;
mod settings;
mod value;
mod volatility;

pub use settings::Settings;
pub use value::Value;

use super::{Choice, Now, Policy, Running};
use crate::job::HOUR_MS;
use crate::market::{Cell, Market};
use lifetime::{Lifetime, Source};
use value::Offer;
use volatility::Volatility;

/// Ticks between two probes of a zone.
const PROBE_EVERY: i64 = 6;
/// Window of availability, ms.
const AVAILABILITY_MS: i64 = 12 * 3_600_000;
/// What another zone must be better by: USD/h, and USD/h per GB of checkpoint, and a share of the value of work.
const BETTER_BY: (f64, f64, f64) = (0.5, 0.0002, 0.05);
/// Billed length of a probe, h: probes add to the age of a zone under virtual availability.
const PROBE_H: f64 = 60.0 / 3600.0;

/// What is known of one zone.
#[derive(Debug, Default)]
struct Zone {
    life: Lifetime,
    volatility: Volatility,
    /// Age in ticks that the last tick saw, of a run of the job's own and of a probe's.
    seen_spot: Option<i64>,
    seen_probe: Option<i64>,
    /// Failures since the last look.
    failures: u32,
    /// A probe's run is open: not probed again.
    probe_open: bool,
    next_probe: i64,
    refused: bool,
    /// Money for probes in this zone, in hours of its spot price one tick later.
    probed_h: f64,
    /// Probe money of this tick, USD, not yet in `probed_h`.
    probe_usd: f64,
    /// Virtual availability: unknown, up, down.
    flag: Option<bool>,
}

/// The policy. One value replays one job.
#[derive(Debug)]
pub struct SkyNomad<'a> {
    settings: Settings,
    oracle: Option<&'a Market>,
    /// The oracle's zones: the first market tick after the present one in which a zone is not up.
    ends: Vec<usize>,
    zones: Vec<Zone>,
    /// Work done at the start of each tick, ms.
    done: Vec<i64>,
    /// Zone of the spot that it takes for its own, and whether it stopped it itself.
    own: Option<usize>,
    stopped: bool,
    /// Where it last ran or launched; forgotten when idle wins.
    origin: Option<usize>,
    /// Idle is worth more than what runs: it is kept, but counts as no choice.
    idle_wins: bool,
    offers: Vec<Offer>,
    options: Vec<(f64, Choice)>,
    plan: Vec<(f64, f64)>,
}

impl<'a> SkyNomad<'a> {
    /// SkyNomad, learning lives from launches and probes.
    pub fn new(settings: Settings) -> SkyNomad<'static> {
        SkyNomad {
            settings,
            oracle: None,
            ends: Vec::new(),
            zones: Vec::new(),
            done: Vec::new(),
            own: None,
            stopped: false,
            origin: None,
            idle_wins: false,
            offers: Vec::new(),
            options: Vec::new(),
            plan: Vec::new(),
        }
    }

    /// SkyNomad(o): knows of each zone for how long it stays up from now on. It does not probe.
    pub fn oracle(market: &'a Market, value: Value) -> SkyNomad<'a> {
        SkyNomad {
            oracle: Some(market),
            ..SkyNomad::new(Settings {
                value,
                cap_h: f64::INFINITY,
                virtual_availability: false,
            })
        }
    }

    /// A run of `zone` ends; failures count for volatility.
    fn end(&mut self, zone: usize, tick: i64, failed: bool) {
        let zone = &mut self.zones[zone];
        zone.life.end(tick, failed);
        zone.failures += u32::from(failed);
    }

    /// Virtual availability: what was heard of a zone. Ignored where its own spot runs.
    fn flag(&mut self, zone: usize, tick: i64, up: bool) {
        if !self.settings.virtual_availability || self.own == Some(zone) {
            return;
        }
        let before = self.zones[zone].flag.replace(up);
        match (before, up) {
            (None | Some(false), true) => self.zones[zone].life.start(tick, Source::Probe),
            (Some(true), false) => self.end(zone, tick, true),
            _ => {}
        }
    }

    /// Own end of what runs in `zone`. After a move from spot to spot the run there stays open, unless virtual
    /// availability ends it: the artifact looks only at the zone that it moved to.
    fn stop(&mut self, zone: usize, tick: i64) {
        if self.own == Some(zone) {
            self.stopped = true;
        }
        self.flag(zone, tick, false);
    }

    /// Notes a lost spot, then looks at the tick that has passed in every zone.
    fn look(&mut self, now: &Now) {
        if let Some(zone) = self.own
            && now.running != Running::Spot(zone)
        {
            self.end(zone, now.tick, !self.stopped);
            self.own = None;
            self.stopped = false;
        }
        let virtually = self.settings.virtual_availability;
        for (i, zone) in self.zones.iter_mut().enumerate() {
            if virtually {
                if zone.probe_usd > 1e-9 && now.price(i) > 0.0 {
                    zone.probed_h += zone.probe_usd / now.price(i);
                }
                zone.probe_usd = 0.0;
                zone.life.count_open(now.tick);
            }
            let age = zone.life.age(now.tick);
            let seen = match age {
                Some((age, Source::Spot)) => {
                    if !virtually {
                        zone.seen_probe = None;
                    }
                    zone.seen_spot.replace(age)
                }
                Some((age, Source::Probe)) => {
                    zone.seen_spot = None;
                    zone.seen_probe.replace(age)
                }
                None => {
                    zone.seen_spot = None;
                    if !virtually {
                        zone.seen_probe = None;
                    }
                    None
                }
            };
            let ages = age.map(|(age, _)| (seen.unwrap_or((age - 1).max(0)), age));
            let failures = std::mem::take(&mut zone.failures);
            let risk = zone.life.risk(ages, failures > 0, now.market.gap_ms);
            zone.volatility.observe(risk, failures);
        }
    }

    /// Expected life of spot in a zone from now on, h.
    fn life_h(&mut self, now: &Now, zone: usize, left_h: f64) -> f64 {
        if let Some(market) = self.oracle {
            let cells = &market.zones[zone].cells;
            self.ends.resize(market.zones.len(), 0);
            let end = &mut self.ends[zone];
            if *end <= now.at {
                let up = cells.iter().skip(now.at);
                *end = now.at + up.take_while(|c| **c == Cell::Up).count();
            }
            return (*end - now.at) as f64 * market.gap_ms as f64 / HOUR_MS;
        }
        let known = &self.zones[zone];
        let gap_ms = now.market.gap_ms;
        let age = known.life.age(now.tick).map_or(0, |(age, _)| age);
        let mut age_h = (age * gap_ms) as f64 / HOUR_MS;
        if self.settings.virtual_availability {
            age_h = age_h.max(known.probed_h);
        }
        let life = known
            .life
            .expected_h(age_h, known.volatility.factor(), gap_ms);
        life.min(self.settings.cap_h).min(left_h)
    }

    /// Value of an hour of work, USD, with the lives in `offers`.
    fn value(&mut self, now: &Now) -> f64 {
        match self.settings.value {
            Value::PlannedCost => {
                value::planned_cost(now, &self.done, &self.offers, &mut self.plan)
            }
            Value::RateRatio => value::rate_ratio(now),
        }
    }

    /// The options above what runs now, best first, and the value of what runs now: USD/h.
    fn weigh(&mut self, now: &Now, value: f64) -> f64 {
        let overhead = now.job.overhead_ms as f64 / HOUR_MS;
        let gb = now.job.checkpoint_gb;
        let spot_in = |zone: usize| now.running == Running::Spot(zone);
        // whole lives for the options, also where they reach beyond the deadline (the oracle's do)
        let lives: &[Offer] = &self.offers;
        let least = super::least_on_demand(now);
        let spot = |zone: usize| {
            // the artifact takes and keeps it whatever it costs; the published prices are all below
            if lives[zone].price >= least {
                return f64::NEG_INFINITY;
            }
            let life = lives[zone].life_h;
            let useful = if spot_in(zone) { life } else { life - overhead };
            if useful <= 0.0 {
                return f64::NEG_INFINITY;
            }
            (value * useful - lives[zone].price * life) / life
        };
        let paid = |zone: usize| value - now.market.zones[zone].on_demand;
        let current = match now.running {
            Running::Idle => 0.0,
            Running::Spot(zone) => spot(zone),
            Running::OnDemand(zone) => paid(zone),
        };
        let runs = match now.running {
            Running::Idle => None,
            Running::Spot(zone) | Running::OnDemand(zone) => Some(zone),
        };
        let better = current + BETTER_BY.0 + BETTER_BY.1 * gb + BETTER_BY.2 * value;
        let moved = |zone: usize| match self.origin {
            Some(from) if from != zone => now.market.egress(from, zone) * gb,
            _ => 0.0,
        };
        self.options.clear();
        self.options.push((0.0, Choice::Idle));
        for (zone, offer) in lives.iter().enumerate() {
            let net = spot(zone) - moved(zone) / offer.life_h.max(1e-6);
            if net >= 0.0 && (runs.is_none_or(|r| r == zone) || net > better) {
                self.options.push((net, Choice::Spot(zone)));
            }
        }
        for zone in 0..lives.len() {
            let away = self.origin.is_some_and(|from| from != zone);
            let penalty = if away {
                overhead * value + moved(zone)
            } else {
                0.0
            };
            let net = paid(zone) - penalty;
            let same = now.running == Running::OnDemand(zone);
            if net >= 0.0 && !same && (runs.is_none() || net > better) {
                self.options.push((net, Choice::OnDemand(zone)));
            }
        }
        self.options.sort_by(|a, b| b.0.total_cmp(&a.0));
        current
    }
}

impl Policy for SkyNomad<'_> {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let zones = now.market.zones.len();
        self.zones.resize_with(zones, Zone::default);
        self.done.push(now.done_ms());
        self.look(now);
        let left_h = now.time_left_ms() as f64 / HOUR_MS;
        let gap_ms = now.market.gap_ms;
        self.offers.clear();
        for zone in 0..zones {
            let life = self.life_h(now, zone, left_h);
            self.offers.push(Offer {
                availability: self.zones[zone]
                    .life
                    .availability(now.tick, AVAILABILITY_MS, gap_ms),
                life_h: life.min(left_h),
                price: now.price(zone),
            });
        }
        let value = self.value(now);
        if self.oracle.is_some() {
            for zone in 0..zones {
                self.offers[zone].life_h = self.life_h(now, zone, left_h);
            }
        }
        if let Running::Spot(zone) | Running::OnDemand(zone) = now.running {
            self.origin = Some(zone);
        }
        let current = self.weigh(now, value);
        self.idle_wins = false;
        for &(net, choice) in &self.options {
            // what runs is not started again, and nothing is tried that is not better than it
            if net <= current {
                break;
            }
            match choice {
                Choice::Spot(zone) if now.running == Running::Spot(zone) => {}
                Choice::Idle => {
                    self.idle_wins = true;
                    break;
                }
                _ => out.push(choice),
            }
            if matches!(choice, Choice::OnDemand(_)) {
                break;
            }
        }
        // a machine that is worth less than nothing is kept all the same, but for spot that costs as much as on-demand
        out.push(match now.running {
            Running::Spot(zone) if now.price(zone) >= super::least_on_demand(now) => Choice::Idle,
            _ => Choice::Keep,
        });
    }

    fn launched(&mut self, now: &Now, zone: usize, started: bool) {
        if std::mem::take(&mut self.zones[zone].probe_open) {
            self.end(zone, now.tick, false);
            self.zones[zone].seen_probe = None;
        }
        if !started {
            self.zones[zone].refused = true;
            self.zones[zone].failures += 1;
            self.flag(zone, now.tick, false);
            return;
        }
        self.zones[zone].life.start(now.tick, Source::Spot);
        self.own = Some(zone);
        self.stopped = false;
        self.zones[zone].seen_spot = Some(0);
        self.zones[zone].seen_probe = None;
        self.flag(zone, now.tick, false);
    }

    fn settled(&mut self, now: &Now, running: Running, out: &mut Vec<usize>) {
        let idle = self.idle_wins && running == now.running;
        let chosen = match running {
            Running::Spot(zone) | Running::OnDemand(zone) if !idle => Some(zone),
            _ => None,
        };
        if running != now.running {
            self.origin = chosen;
            if let Running::Spot(old) | Running::OnDemand(old) = now.running {
                self.stop(old, now.tick);
            }
        } else if idle {
            self.origin = None;
        }
        for (i, zone) in self.zones.iter_mut().enumerate() {
            let refused = std::mem::take(&mut zone.refused);
            let due = now.tick >= zone.next_probe;
            let asks = self.oracle.is_none();
            if asks && Some(i) != chosen && !zone.probe_open && !refused && due {
                zone.next_probe = now.tick + PROBE_EVERY;
                out.push(i);
            }
        }
    }

    fn probed(&mut self, now: &Now, zone: usize, up: bool) {
        let known = &mut self.zones[zone];
        if up {
            known.life.start(now.tick, Source::Probe);
            known.probe_open = true;
            known.seen_probe = Some(0);
            // the artifact takes a whole tick of its own on-demand for the price of a probe in the same zone
            known.probe_usd = match now.running {
                Running::OnDemand(own) if own == zone => {
                    now.market.zones[zone].on_demand * (now.market.gap_ms as f64 / HOUR_MS)
                }
                _ => now.price(zone) * PROBE_H,
            };
        } else {
            known.failures += 1;
            known.seen_probe = None;
        }
        self.flag(zone, now.tick, up);
    }
}
