//! Uniform Progress over several zones, as coded in the artifact of SkyNomad (NSDI 2027): the three baselines that
//! its tables call UP(S), UP(A) and UP(AP). They differ in the order in which zones are tried.
//!
//! All three ask the one-zone rule as if there were spot, stop on-demand *before* spot is tried, and leave a running
//! spot only where it says so. A zone is seen only by launching or probing in it. Made for
//! [`Rules::ZONES`](crate::Rules::ZONES), whose guard keeps the deadline.

use super::{Choice, Now, Policy, Running};

/// What the one-zone rule asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Nothing,
    Spot,
    /// Spot, but the safety net already wanted on-demand: nothing else is asked for in this tick.
    SpotOrNothing,
    OnDemand,
}

/// Uniform Progress (Can't Be Late, NSDI 2024) for `current`, where spot is believed possible or not.
fn request(now: &Now, current: Running, spot: bool) -> Request {
    let elapsed = now.elapsed_ms();
    let behind = (now.done_ms() as i128 * now.job.deadline_ms as i128)
        < elapsed as i128 * now.job.work_ms as i128;
    let ahead = !super::uniform_progress::not_ahead(now, elapsed + 2 * now.job.overhead_ms);
    let paid = matches!(current, Running::OnDemand(_));
    let on_spot = matches!(current, Running::Spot(_));
    let left = now.ticks_left();
    let mut want = match (spot, behind) {
        (true, _) => Request::Spot,
        (false, true) => Request::OnDemand,
        (false, false) => Request::Nothing,
    };
    if paid && (!spot || !ahead) {
        want = Request::OnDemand;
    }
    if !on_spot && now.needs(2, left + 1) {
        want = Request::OnDemand;
    }
    if now.needs(1, left) {
        want = if on_spot && now.warm() {
            Request::Spot
        } else {
            Request::OnDemand
        };
    }
    if paid && spot && want == Request::OnDemand && ahead {
        want = Request::SpotOrNothing;
    }
    want
}

/// Spot in these zones, then what the rule says without spot: on-demand in `paid_zone`, or nothing.
fn spot_or_fall_back(
    now: &Now,
    zones: &[usize],
    asks_again: bool,
    paid_zone: usize,
    out: &mut Vec<Choice>,
) {
    let least = super::least_on_demand(now);
    let below = zones.iter().filter(|&&z| now.price(z) < least);
    out.extend(below.map(|&z| Choice::Spot(z)));
    let paid = asks_again && request(now, Running::Idle, false) == Request::OnDemand;
    out.push(if paid {
        Choice::OnDemand(paid_zone)
    } else {
        Choice::Idle
    });
}

/// Zones in descending order of `score`; the lower index first among equals.
fn rank(order: &mut Vec<usize>, zones: usize, score: impl Fn(usize) -> f64) {
    order.clear();
    order.extend(0..zones);
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
}

/// The zone a machine runs in.
fn zone_of(running: Running) -> Option<usize> {
    match running {
        Running::Idle => None,
        Running::Spot(zone) | Running::OnDemand(zone) => Some(zone),
    }
}

/// UP(S): zones by spot price now, those of the region where it last ran at the end ("eager failover").
#[derive(Debug, Default)]
pub struct UniformBySwitching {
    last: Option<usize>,
    order: Vec<usize>,
}

impl Policy for UniformBySwitching {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let current = zone_of(now.running);
        self.last = current.or(self.last);
        let paid_zone = current.or(now.home).unwrap_or(0);
        let want = request(now, now.running, true);
        match (now.running, want) {
            (_, Request::Nothing) => out.push(Choice::Idle),
            (Running::OnDemand(_), Request::OnDemand) => out.push(Choice::Keep),
            (Running::Spot(zone), Request::Spot)
                if now.price(zone) < super::least_on_demand(now) =>
            {
                out.push(Choice::Keep);
            }
            (_, Request::OnDemand) => out.push(Choice::OnDemand(paid_zone)),
            (_, Request::Spot | Request::SpotOrNothing) => {
                let zones = &now.market.zones;
                rank(&mut self.order, zones.len(), |z| -now.price(z));
                if let Some(last) = self.last {
                    self.order
                        .sort_by_key(|&z| zones[z].region == zones[last].region);
                }
                out.push(Choice::Stop);
                let again = want == Request::Spot;
                spot_or_fall_back(now, &self.order, again, paid_zone, out);
            }
        }
    }
}

/// Hours between two samples of UP(A): of a running spot, and of a probed zone.
const AVAILABILITY_EVERY_MS: i64 = 2 * 3_600_000;
/// Samples of a zone that UP(A) remembers.
const AVAILABILITY_SAMPLES: u32 = 5;
/// Hours between two samples of UP(AP).
const RATIO_EVERY_MS: i64 = 3_600_000;
/// UP(AP) leaves its zone when its score is below this share of the best.
const RATIO_STAYS: f64 = 0.9;
/// Success ratio of a zone without a sample.
const RATIO_UNKNOWN: f64 = 0.5;

/// A time in whole ticks, at least one.
fn ticks(ms: i64, now: &Now) -> i64 {
    ((ms as f64 / now.market.gap_ms as f64).round() as i64).max(1)
}

/// The newest samples of a zone, the latest in the lowest bit.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    bits: u32,
    len: u32,
}

impl Samples {
    fn push(&mut self, up: bool) {
        self.bits = (self.bits << 1 | u32::from(up)) & ((1 << AVAILABILITY_SAMPLES) - 1);
        self.len = (self.len + 1).min(AVAILABILITY_SAMPLES);
    }

    fn ratio(self) -> f64 {
        match self.len {
            0 => RATIO_UNKNOWN,
            len => f64::from(self.bits.count_ones()) / f64::from(len),
        }
    }
}

/// UP(A): zones by the success ratio of their last five samples. Leaves its zone for one with a higher ratio; at most
/// one probe a tick.
#[derive(Debug, Default)]
pub struct UniformByAvailability {
    samples: Vec<Samples>,
    next_probe: Vec<i64>,
    next_sample: Vec<i64>,
    main: Option<usize>,
    order: Vec<usize>,
    /// Whether this tick asked for spot.
    asked: bool,
}

impl Policy for UniformByAvailability {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let zones = now.market.zones.len();
        self.samples.resize(zones, Samples::default());
        self.next_probe.resize(zones, 0);
        self.next_sample.resize(zones, 0);
        if let Some(main) = self.main
            && now.running != Running::Spot(main)
        {
            self.samples[main].push(false);
            self.main = None;
        }
        if let Running::Spot(zone) = now.running {
            self.main = Some(zone);
            if now.tick >= self.next_sample[zone] {
                self.samples[zone].push(true);
                self.next_sample[zone] = now.tick + ticks(AVAILABILITY_EVERY_MS, now);
            }
        }
        let want = request(now, now.running, true);
        self.asked = matches!(want, Request::Spot | Request::SpotOrNothing);
        if !self.asked {
            let zone = zone_of(now.running).or(now.home).unwrap_or(0);
            self.main = None;
            out.push(match want {
                Request::OnDemand => Choice::OnDemand(zone),
                _ => Choice::Idle,
            });
            return;
        }
        let least = super::least_on_demand(now);
        let samples = &self.samples;
        let best = samples.iter().map(|s| s.ratio()).fold(0.0, f64::max);
        match now.running {
            Running::Spot(zone)
                if samples[zone].ratio() >= best - 1e-6 && now.price(zone) < least =>
            {
                out.push(Choice::Keep);
            }
            _ => {
                rank(&mut self.order, zones, |z| samples[z].ratio());
                self.main = None;
                out.push(Choice::Stop);
                let again = want == Request::Spot;
                spot_or_fall_back(now, &self.order, again, now.home.unwrap_or(0), out);
            }
        }
    }

    fn launched(&mut self, now: &Now, zone: usize, started: bool) {
        self.samples[zone].push(started);
        if started {
            self.main = Some(zone);
            self.next_sample[zone] = now.tick + ticks(AVAILABILITY_EVERY_MS, now);
        }
    }

    fn settled(&mut self, now: &Now, running: Running, out: &mut Vec<usize>) {
        if !self.asked || !matches!(running, Running::Spot(_)) {
            return;
        }
        let due = (0..now.market.zones.len())
            .filter(|&z| Some(z) != self.main && now.tick >= self.next_probe[z]);
        out.extend(due.min_by_key(|&z| (self.samples[z].len, z)));
    }

    fn probed(&mut self, now: &Now, zone: usize, up: bool) {
        self.samples[zone].push(up);
        self.next_probe[zone] = now.tick + ticks(AVAILABILITY_EVERY_MS, now);
    }
}

/// UP(AP): zones by success ratio of all samples so far over spot price now. Leaves its zone when its score is below
/// nine tenths of the best; probes every zone that is due. On-demand always in the first zone.
#[derive(Debug, Default)]
pub struct UniformByAvailabilityAndPrice {
    /// Successes and samples.
    counts: Vec<(u32, u32)>,
    next_probe: Vec<i64>,
    main: Option<usize>,
    order: Vec<usize>,
    asked: bool,
}

impl UniformByAvailabilityAndPrice {
    fn record(&mut self, zone: usize, up: bool) {
        let (successes, samples) = &mut self.counts[zone];
        *successes += u32::from(up);
        *samples += 1;
    }

    fn score(&self, now: &Now, zone: usize) -> f64 {
        let ratio = match self.counts[zone] {
            (_, 0) => RATIO_UNKNOWN,
            (successes, samples) => f64::from(successes) / f64::from(samples),
        };
        let price = now.price(zone);
        match price > 0.0 {
            true => ratio / price,
            false if ratio > 0.0 => f64::INFINITY,
            false => 0.0,
        }
    }
}

impl Policy for UniformByAvailabilityAndPrice {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let zones = now.market.zones.len();
        self.counts.resize(zones, (0, 0));
        self.next_probe.resize(zones, 0);
        if let Some(main) = self.main {
            if now.running != Running::Spot(main) {
                self.record(main, false);
                self.main = None;
            } else if now.tick >= self.next_probe[main] {
                self.record(main, true);
                self.next_probe[main] = now.tick + ticks(RATIO_EVERY_MS, now);
            }
        }
        let want = request(now, now.running, true);
        self.asked = matches!(want, Request::Spot | Request::SpotOrNothing);
        if !self.asked {
            let zone = zone_of(now.running).unwrap_or(0);
            self.main = None;
            out.push(match want {
                Request::OnDemand => Choice::OnDemand(zone),
                _ => Choice::Idle,
            });
            return;
        }
        let best = (0..zones).map(|z| self.score(now, z)).fold(0.0, f64::max);
        match now.running {
            Running::Spot(zone)
                if self.score(now, zone) >= best * RATIO_STAYS
                    && now.price(zone) < super::least_on_demand(now) =>
            {
                self.main = Some(zone);
                out.push(Choice::Keep);
            }
            _ => {
                let mut order = std::mem::take(&mut self.order);
                rank(&mut order, zones, |z| self.score(now, z));
                self.main = None;
                out.push(Choice::Stop);
                spot_or_fall_back(now, &order, true, 0, out);
                self.order = order;
            }
        }
    }

    fn launched(&mut self, now: &Now, zone: usize, started: bool) {
        self.record(zone, started);
        if started {
            self.main = Some(zone);
            self.next_probe[zone] = now.tick + ticks(RATIO_EVERY_MS, now);
        }
    }

    fn settled(&mut self, now: &Now, _running: Running, out: &mut Vec<usize>) {
        if self.asked {
            let zones = 0..now.market.zones.len();
            out.extend(zones.filter(|&z| Some(z) != self.main && now.tick >= self.next_probe[z]));
        }
    }

    fn probed(&mut self, now: &Now, zone: usize, up: bool) {
        self.record(zone, up);
        self.next_probe[zone] = now.tick + ticks(RATIO_EVERY_MS, now);
    }
}
