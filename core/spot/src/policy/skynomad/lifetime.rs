//! What SkyNomad remembers of one zone, and how long it thinks that spot will live there.
//!
//! A *run* is a stretch in which the zone is thought up: from a launch or a successful probe to a preemption
//! (failure) or to an end by the policy's own hand (censored). The hazard of runs is estimated by Nelson and Aalen:
//! at each age of a failure, failures at that age over runs that reached it. (SkyNomad, NSDI 2027, section on
//! lifetimes; details as in its artifact.)

use crate::job::HOUR_MS;

/// Hazard of a zone in which nothing failed yet.
const LEAST_HAZARD: f64 = 1e-8;

/// What keeps a run open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// An instance of the job.
    Spot,
    /// A probe that was answered.
    Probe,
}

/// A run that has ended, in ticks.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: i64,
    end: i64,
    failed: bool,
}

/// An age in ticks at which runs failed, and the hazard there.
#[derive(Clone, Copy, Debug)]
struct Knot {
    age: i64,
    failures: f64,
    /// Ended runs that reached this age.
    reached: f64,
    step: f64,
}

/// Ticks in hours.
fn hours(ticks: i64, gap_ms: i64) -> f64 {
    (ticks * gap_ms) as f64 / HOUR_MS
}

/// Runs of one zone and the hazard that they show.
#[derive(Debug)]
pub(super) struct Lifetime {
    runs: Vec<Run>,
    open: Option<(i64, Source)>,
    /// Ascending by age.
    knots: Vec<Knot>,
    /// Hazard per hour beyond the last knot.
    tail: f64,
}

impl Default for Lifetime {
    fn default() -> Lifetime {
        Lifetime {
            runs: Vec::new(),
            open: None,
            knots: Vec::new(),
            tail: LEAST_HAZARD,
        }
    }
}

impl Lifetime {
    /// A run starts at `tick`; one that is still open is forgotten.
    pub(super) fn start(&mut self, tick: i64, source: Source) {
        self.open = Some((tick, source));
    }

    /// The open run, if any, ends at `tick`.
    pub(super) fn end(&mut self, tick: i64, failed: bool) {
        if let Some((start, _)) = self.open.take() {
            self.runs.push(Run {
                start,
                end: tick,
                failed,
            });
            self.estimate();
        }
    }

    /// Age of the open run in ticks, and what keeps it open.
    pub(super) fn age(&self, tick: i64) -> Option<(i64, Source)> {
        self.open.map(|(start, source)| (tick - start, source))
    }

    /// Takes the open run as a censored sample of its present age ("virtual availability").
    pub(super) fn count_open(&mut self, tick: i64) {
        let open = self.age(tick).map_or(0, |(age, _)| age);
        for knot in &mut self.knots {
            let more = f64::from(u8::from(open >= knot.age && open > 0));
            knot.step = knot.failures / (knot.reached + more);
        }
        self.tail = self.knots.last().map_or(LEAST_HAZARD, |k| k.step);
    }

    /// Nelson and Aalen over the ended runs.
    fn estimate(&mut self) {
        let failures = self.runs.iter().filter(|r| r.failed);
        let mut ages: Vec<i64> = failures.map(|r| r.end - r.start).collect();
        ages.sort_unstable();
        self.knots.clear();
        for same in ages.chunk_by(|a, b| a == b) {
            let (age, failures) = (same[0], same.len() as f64);
            let reached = self.runs.iter().filter(|r| r.end - r.start >= age).count() as f64;
            self.knots.push(Knot {
                age,
                failures,
                reached,
                step: failures / reached,
            });
        }
        self.tail = self.knots.last().map_or(LEAST_HAZARD, |k| k.step);
    }

    /// Cumulative hazard from birth to `age` ticks.
    fn cumulated(&self, age: i64, gap_ms: i64) -> f64 {
        if age <= 0 {
            return 0.0;
        }
        let (mut sum, mut last) = (0.0, 0);
        for knot in self.knots.iter().take_while(|k| k.age < age) {
            sum += knot.step;
            last = knot.age;
        }
        sum + (hours(age, gap_ms) - hours(last, gap_ms)) * self.tail
    }

    /// Hazard that a run is expected to meet in a tick: `ages` before and after it, none where nothing is open.
    /// Never 0 where a run is open or something `failed`, so that there is a rate to compare failures with.
    pub(super) fn risk(&self, ages: Option<(i64, i64)>, failed: bool, gap_ms: i64) -> f64 {
        let mut risk: f64 = 0.0;
        if let Some((before, now)) = ages {
            risk = (self.cumulated(now, gap_ms) - self.cumulated(before, gap_ms)).max(0.0);
        }
        if risk <= 0.0 && (ages.is_some() || failed) {
            match (self.knots.last(), ages) {
                (None, _) => risk = self.tail * hours(1, gap_ms),
                (Some(last), Some((before, now))) if before >= last.age => {
                    let gained = hours(now, gap_ms) - hours(before, gap_ms);
                    risk = self.tail * gained.max(0.0);
                }
                _ => {}
            }
        }
        if failed && risk <= 0.0 {
            risk = self.tail * hours(1, gap_ms);
        }
        risk
    }

    /// Hours that a run of `age_h` hours is expected to live on, where hazards are `volatility` times the estimate:
    /// the area under the survival curve from there, tick by tick beyond the last knot.
    pub(super) fn expected_h(&self, age_h: f64, volatility: f64, gap_ms: i64) -> f64 {
        let (mut area, mut survival, mut at) = (0.0, 1.0, age_h.max(0.0));
        for knot in &self.knots {
            let age = hours(knot.age, gap_ms);
            if age <= at + 1e-12 {
                continue;
            }
            area += survival * (age - at);
            survival *= (-volatility * knot.step).exp();
            at = age;
        }
        let ends = 1.0 - (-volatility * self.tail).exp();
        let ends = if ends > 1e-9 {
            ends
        } else {
            (volatility * self.tail).max(1e-9)
        };
        area + survival * hours(1, gap_ms) / ends
    }

    /// Share of the last `window_ms` (or of the time so far) inside runs.
    pub(super) fn availability(&self, tick: i64, window_ms: i64, gap_ms: i64) -> f64 {
        let now = tick * gap_ms;
        let whole = window_ms.min(now);
        if whole <= 0 {
            return 0.0;
        }
        let from = now - whole;
        let inside = |start: i64, end: i64| (end * gap_ms - (start * gap_ms).max(from)).max(0);
        // runs are in the order of their ends
        let ended = self.runs.iter().rev();
        let ended = ended.take_while(|r| r.end * gap_ms > from);
        let mut up: i64 = ended.map(|r| inside(r.start, r.end)).sum();
        if let Some((start, _)) = self.open {
            up += inside(start, tick);
        }
        (up as f64 / whole as f64).min(1.0)
    }
}
