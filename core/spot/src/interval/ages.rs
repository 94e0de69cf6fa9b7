//! The intervals where the rate of losses depends on the age of the machine.
//!
//! Spot lives are heavy-tailed: young machines are lost more often than old ones, so intervals should grow with age. A
//! life is a renewal: with S(a) the chance to reach age a, e_k the age at which the k-th save stops blocking work and s
//! its time in the background, the safe work of a life is the sum of tau_k S(e_k + s), its uploads the sum of S(e_k),
//! its time the mean of S. Least cost of an hour of work is the ratio of the sums (renewal-reward), found by a dynamic
//! programme over age: with l the value of an hour of work and u the price of an upload, both in hours of the machine,
//!
//!     v(a) = max over tau of  l tau S(e + s)/S(a) + S(e)/S(a) (v(e) - u),      e = a + tau + b
//!
//! from the last class of age, where losses are memoryless and tau has a closed form, back to the end of the restart.
//! Where uploads cost, l is what the hour costs by the answer before (Dinkelbach, Management Science 13 (1967) 492).
//! Accurate to the grid; the answer is never worse than the best single interval, Young's and Daly's.

use super::{IntervalError, Saving, constant, daly, not_negative, positive, young};
use crate::stats::{AGE_EDGES_H, Curve, Observed, by_age};

/// Rates of loss by class of age; the last class is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Ages {
    edges_h: Vec<f64>,
    per_h: Vec<f64>,
    /// Cumulative hazard at each edge.
    sums: Vec<f64>,
}

impl Ages {
    /// From lower edges in hours and rates per hour (as in `data/spot.toml`).
    ///
    /// # Errors
    /// Edges do not begin at 0 or do not ascend; a rate is negative; the last one is 0, so that machines last for ever.
    pub fn new(edges_h: &[f64], per_h: &[f64]) -> Result<Ages, IntervalError> {
        if edges_h.len() != per_h.len() {
            return Err(IntervalError::Classes("their numbers differ"));
        }
        if edges_h.first() != Some(&0.0) {
            return Err(IntervalError::Classes("the first is not 0"));
        }
        if !edges_h.windows(2).all(|w| w[0] < w[1]) || !edges_h.iter().all(|e| e.is_finite()) {
            return Err(IntervalError::Classes("they do not ascend"));
        }
        for rate in per_h {
            not_negative("the rate of losses, per hour,", *rate)?;
        }
        if per_h.last() == Some(&0.0) {
            return Err(IntervalError::NoEnds);
        }
        let mut sums = vec![0.0];
        for (edges, rate) in edges_h.windows(2).zip(per_h) {
            sums.push(sums[sums.len() - 1] + rate * (edges[1] - edges[0]));
        }
        Ok(Ages {
            edges_h: edges_h.to_vec(),
            per_h: per_h.to_vec(),
            sums,
        })
    }

    /// From lives, ended or not, by the classes of [`AGE_EDGES_H`]. Time lived beyond the last class in which a life
    /// ended counts for that class.
    ///
    /// # Errors
    /// No life was seen to end.
    pub fn of_lives(lives: &[Observed]) -> Result<Ages, IntervalError> {
        Ages::pooled(by_age(lives).iter().map(|r| (r.ends as f64, r.hours)))
    }

    /// From a survival curve, by the same classes: the rise of its cumulative hazard in each.
    ///
    /// # Errors
    /// The curve has no step.
    pub fn of_curve(curve: &Curve) -> Result<Ages, IntervalError> {
        let oldest_h = curve.oldest_s / 3600.0;
        let hazard = |age_h: f64| {
            let steps = curve.points.partition_point(|p| p.age_s <= age_h * 3600.0);
            steps.checked_sub(1).map_or(0.0, |i| curve.points[i].hazard)
        };
        let rise = |i: usize| {
            let to = AGE_EDGES_H.get(i + 1).map_or(oldest_h, |e| e.min(oldest_h));
            let from = AGE_EDGES_H[i].min(to);
            // an end at age 0 belongs to the first class
            let before = if i == 0 { 0.0 } else { hazard(from) };
            (hazard(to) - before, to - from)
        };
        Ages::pooled((0..AGE_EDGES_H.len()).map(rise))
    }

    /// Ends over exposure, one pair a class of [`AGE_EDGES_H`].
    fn pooled(classes: impl Iterator<Item = (f64, f64)>) -> Result<Ages, IntervalError> {
        let mut classes: Vec<(f64, f64)> = classes.collect();
        let last = classes
            .iter()
            .rposition(|(ends, hours)| *ends > 0.0 && *hours > 0.0);
        let last = last.ok_or(IntervalError::NoEnds)?;
        let beyond: f64 = classes.drain(last + 1..).map(|(_, hours)| hours).sum();
        classes[last].1 += beyond;
        let rate = |&(ends, hours): &(f64, f64)| if hours > 0.0 { ends / hours } else { 0.0 };
        let per_h: Vec<f64> = classes.iter().map(rate).collect();
        Ages::new(&AGE_EDGES_H[..=last], &per_h)
    }

    fn class(&self, age_h: f64) -> usize {
        self.edges_h.partition_point(|e| *e <= age_h).max(1) - 1
    }

    /// Rate of losses at an age.
    pub fn rate_per_h(&self, age_h: f64) -> f64 {
        self.per_h[self.class(age_h)]
    }

    /// Share of machines that reach an age.
    pub fn survival(&self, age_h: f64) -> f64 {
        let class = self.class(age_h);
        (-self.sums[class] - self.per_h[class] * (age_h - self.edges_h[class])).exp()
    }

    /// Mean life in hours.
    pub fn mean_h(&self) -> f64 {
        let part = |class: usize| {
            let (rate, alive) = (self.per_h[class], (-self.sums[class]).exp());
            match self.edges_h.get(class + 1) {
                Some(to) if rate == 0.0 => alive * (to - self.edges_h[class]),
                Some(to) => alive * -(-rate * (to - self.edges_h[class])).exp_m1() / rate,
                None => alive / rate,
            }
        };
        (0..self.per_h.len()).map(part).sum()
    }

    /// Where the last class begins, and its rate.
    fn tail(&self) -> (f64, f64) {
        let last = self.per_h.len() - 1;
        (self.edges_h[last], self.per_h[last])
    }
}

/// When to save, by the age of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Age at which work begins again (after the restart, or a save), and the interval from there on. Hours.
    pub steps: Vec<(f64, f64)>,
    /// The interval after the last of them: for ever.
    pub then_h: f64,
    /// Hours that the machine is paid for an hour of work.
    pub hours_per_hour: f64,
    /// Uploads for an hour of work.
    pub uploads_per_hour: f64,
}

impl Schedule {
    /// The interval for work that begins at an age.
    pub fn interval_h(&self, age_h: f64) -> f64 {
        let next = self.steps.partition_point(|(age, _)| *age <= age_h + 1e-9);
        match next {
            n if n == self.steps.len() && self.steps.last().is_none_or(|l| l.0 + l.1 <= age_h) => {
                self.then_h
            }
            0 => self.steps[0].1,
            n => self.steps[n - 1].1,
        }
    }

    fn cost(&self, upload_h: f64) -> f64 {
        self.hours_per_hour + upload_h * self.uploads_per_hour
    }
}

/// Points of the grid in each class of age.
const POINTS: usize = 64;
/// Intervals that are tried first, evenly on a logarithmic scale; then the best is refined.
const TRIED: usize = 40;
const REFINED: usize = 28;
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Rounds of the value of work where uploads cost.
const ROUNDS: usize = 5;

/// Where `f` is greatest between two positive bounds: a scan, then golden section around its best.
fn greatest(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let at = |i: usize| low * (high / low).powf(i as f64 / (TRIED - 1) as f64);
    let best = (0..TRIED).map(|i| (i, f(at(i))));
    let best = best.fold((0, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a });
    let (mut a, mut b) = (
        at(best.0.saturating_sub(1)),
        at((best.0 + 1).min(TRIED - 1)),
    );
    for _ in 0..REFINED {
        let (x, y) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
        if f(x) > f(y) { b = y } else { a = x }
    }
    let refined = f64::midpoint(a, b);
    if f(refined) >= best.1 {
        refined
    } else {
        at(best.0)
    }
}

impl Saving {
    /// The best intervals for these rates by age.
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn schedule(&self, ages: &Ages) -> Result<Schedule, IntervalError> {
        self.check()?;
        let upload_h = self.upload_h();
        let mut best = self.constant_interval(ages)?;
        let mut value = best.cost(upload_h);
        for _ in 0..ROUNDS {
            let found = Programme::solve(self, ages, value).schedule();
            let cost = found.cost(upload_h);
            if cost < best.cost(upload_h) {
                best = found;
            }
            if upload_h == 0.0 || (cost / value - 1.0).abs() < 1e-9 {
                break;
            }
            value = cost;
        }
        Ok(best)
    }

    /// The best single interval for these rates by age: for jobs that cannot follow a schedule.
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn constant_interval(&self, ages: &Ages) -> Result<Schedule, IntervalError> {
        let mean_h = ages.mean_h();
        let (low, high) = self.bounds(ages);
        let cost = |tau: f64| self.followed(ages, &[], tau).cost(self.upload_h());
        let mut tries = vec![
            greatest(low, high, |tau| -cost(tau)),
            self.interval_h(mean_h)?,
        ];
        if self.block_h > 0.0 {
            tries.extend([young(self.block_h, mean_h)?, daly(self.block_h, mean_h)?]);
        }
        let tries = tries.iter().map(|tau| tau.max(self.floor_h()));
        let best = tries.reduce(|a, b| if cost(b) < cost(a) { b } else { a });
        Ok(self.followed(ages, &[], best.unwrap_or(high)))
    }

    /// The cost of an interval under these rates by age: hours paid, and uploads, for an hour of work.
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn hours_per_hour_by_age(
        &self,
        interval_h: f64,
        ages: &Ages,
    ) -> Result<(f64, f64), IntervalError> {
        self.check()?;
        positive("the interval, in hours,", interval_h)?;
        let followed = self.followed(ages, &[], interval_h);
        Ok((followed.hours_per_hour, followed.uploads_per_hour))
    }

    /// Intervals worth looking at.
    fn bounds(&self, ages: &Ages) -> (f64, f64) {
        let (edge, rate) = ages.tail();
        let high_rate = ages.per_h.iter().copied().fold(0.0, f64::max);
        let at = |per_h: f64| constant::best(self.block_h, self.upload_h(), 1.0 / per_h);
        let low = (at(high_rate) / 8.0).max(self.floor_h());
        (low, (edge + 8.0 * at(rate)).max(2.0 * low))
    }

    /// What these steps, then a single interval, come to.
    fn followed(&self, ages: &Ages, steps: &[(f64, f64)], then_h: f64) -> Schedule {
        let (edge, rate) = ages.tail();
        let mut age = self.restart_h;
        let (mut safe, mut uploads) = (0.0, 0.0);
        let mut planned = steps.iter();
        loop {
            let next = planned.next();
            if next.is_none() && age >= edge {
                break;
            }
            let tau = next.map_or(then_h, |n| n.1);
            age += tau + self.block_h;
            uploads += ages.survival(age);
            safe += tau * ages.survival(age + self.behind_h);
        }
        let more = ages.survival(age) / (rate * (then_h + self.block_h)).exp_m1();
        uploads += more;
        safe += more * then_h * (-rate * self.behind_h).exp();
        Schedule {
            steps: steps.to_vec(),
            then_h,
            hours_per_hour: ages.mean_h() / safe,
            uploads_per_hour: uploads / safe,
        }
    }
}

/// The dynamic programme: `v` at each point of the grid, for machines that reach it.
struct Programme<'a> {
    saving: &'a Saving,
    ages: &'a Ages,
    /// Value of an hour of work, hours of the machine.
    value: f64,
    bounds: (f64, f64),
    points: Vec<f64>,
    v: Vec<f64>,
    then_h: f64,
}

impl Programme<'_> {
    fn solve<'a>(saving: &'a Saving, ages: &'a Ages, value: f64) -> Programme<'a> {
        let (edge, rate) = ages.tail();
        // memoryless from here on
        let (block_h, worth) = (saving.block_h, value * (-rate * saving.behind_h).exp());
        let price = saving.upload_h() / worth;
        let free = price + constant::best(block_h + price, 0.0, 1.0 / rate);
        let then_h = free.max(saving.floor_h());
        let tail = (worth * then_h - saving.upload_h()) / (rate * (then_h + block_h)).exp_m1();
        let mut points = Vec::new();
        for edges in ages.edges_h.windows(2) {
            let width = (edges[1] - edges[0]) / POINTS as f64;
            points.extend((0..POINTS).map(|i| edges[0] + width * i as f64));
        }
        points.push(edge);
        let mut programme = Programme {
            saving,
            ages,
            value,
            bounds: saving.bounds(ages),
            v: vec![tail.max(0.0); points.len()],
            points,
            then_h,
        };
        for i in (0..programme.points.len() - 1).rev() {
            let tau = programme.best_at(programme.points[i], Some(i));
            programme.v[i] = programme.gain(programme.points[i], tau, Some(i)).max(0.0);
        }
        programme
    }

    fn best_at(&self, age: f64, unknown: Option<usize>) -> f64 {
        let (low, high) = self.bounds;
        greatest(low, high, |tau| self.gain(age, tau, unknown))
    }

    /// `v` at an age with the next interval given. A save that ends before the next point of the grid needs `v` of this
    /// point (`unknown`) itself: it is then on both sides, and solved for.
    fn gain(&self, age: f64, tau: f64, unknown: Option<usize>) -> f64 {
        let end = age + tau + self.saving.block_h;
        let alive = self.ages.survival(age);
        let reached = self.ages.survival(end) / alive;
        let safe = self.ages.survival(end + self.saving.behind_h) / alive;
        let now = self.value * tau * safe - reached * self.saving.upload_h();
        let next = self.points.partition_point(|p| *p <= end);
        if next == self.points.len() {
            return now + reached * self.v[next - 1];
        }
        let (from, to) = (self.points[next - 1], self.points[next]);
        let part = (end - from) / (to - from);
        let later = reached * part * self.v[next];
        if unknown == Some(next - 1) {
            return (now + later) / (1.0 - reached * (1.0 - part));
        }
        now + later + reached * (1.0 - part) * self.v[next - 1]
    }

    fn schedule(&self) -> Schedule {
        let (edge, _) = self.ages.tail();
        let mut steps = Vec::new();
        let mut age = self.saving.restart_h;
        while age < edge {
            let tau = self.best_at(age, None);
            steps.push((age, tau));
            age += tau + self.saving.block_h;
        }
        self.saving.followed(self.ages, &steps, self.then_h)
    }
}

#[cfg(test)]
#[path = "ages_tests.rs"]
mod tests;
