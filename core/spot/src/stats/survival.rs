//! How long things last: Kaplan and Meier's survival curve and Nelson and Aalen's cumulative hazard, with lives whose
//! end nobody saw (right-censored) and lives whose end lies between two looks (interval-censored, taken in the middle).
//!
//! Kaplan, Meier: JASA 53 (1958) 457. Nelson: Technometrics 14 (1972) 945; Aalen: Ann. Stat. 6 (1978) 701.

use super::spans::Run;
use crate::trace::Lives;

/// One life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// When it began, seconds since the start of the record.
    pub from_s: f64,
    /// It lived at least so long, seconds.
    pub low_s: f64,
    /// It had ended by then, seconds; `None`: nobody saw it end.
    pub high_s: Option<f64>,
}

impl Observed {
    /// The age at which it counts: the middle of the interval of its end, or its age when it was lost from sight.
    pub fn age_s(&self) -> f64 {
        self.high_s
            .map_or(self.low_s, |high| (self.low_s + high) / 2.0)
    }

    /// Whether its end was seen.
    pub fn ended(&self) -> bool {
        self.high_s.is_some()
    }
}

/// One step of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Age in seconds.
    pub age_s: f64,
    /// Lives that reached this age.
    pub at_risk: usize,
    /// Lives that ended at it.
    pub ends: usize,
    /// Share that lives longer (Kaplan-Meier).
    pub survival: f64,
    /// Cumulative hazard (Nelson-Aalen).
    pub hazard: f64,
}

/// A survival curve: one point an age at which lives ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Ascending by age.
    pub points: Vec<Point>,
    /// Lives in all.
    pub lives: usize,
    /// Lives whose end was seen.
    pub ends: usize,
    /// Greatest age seen, seconds: beyond it nothing is known.
    pub oldest_s: f64,
}

impl Curve {
    /// First age at which at most the share `q` lives on; `None`: not reached within what was seen.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        self.points
            .iter()
            .find(|p| p.survival <= q)
            .map(|p| p.age_s)
    }

    /// Share that lives longer than an age.
    pub fn at(&self, age_s: f64) -> f64 {
        let before = self.points.partition_point(|p| p.age_s <= age_s);
        before
            .checked_sub(1)
            .map_or(1.0, |i| self.points[i].survival)
    }

    /// Mean age up to the greatest one seen, seconds: the area below the curve (restricted mean).
    /// `None`: no life was seen.
    pub fn restricted_mean_s(&self) -> Option<f64> {
        if self.lives == 0 {
            return None;
        }
        let (mut area, mut from, mut height) = (0.0, 0.0, 1.0);
        for p in &self.points {
            area += height * (p.age_s - from);
            (from, height) = (p.age_s, p.survival);
        }
        Some(area + height * (self.oldest_s - from).max(0.0))
    }
}

/// The lives that runs tell: those that were seen to begin. The age of the others is not known.
pub fn observed_runs(runs: &[Run]) -> Vec<Observed> {
    let begun = runs.iter().filter(|r| r.start_seen);
    begun
        .map(|r| {
            let len = (r.to_s - r.from_s) as f64;
            Observed {
                from_s: r.from_s as f64,
                low_s: len,
                high_s: r.end_seen.then_some(len),
            }
        })
        .collect()
}

/// The lives of a log.
pub fn observed_lives(lives: &Lives) -> Vec<Observed> {
    let of = |l: &crate::trace::Life| Observed {
        from_s: l.from_s as f64,
        low_s: (l.alive_s - l.from_s) as f64,
        high_s: l.gone_s.map(|gone| (gone - l.from_s) as f64),
    };
    lives.lives.iter().map(of).collect()
}

/// The curve of a list of lives.
pub fn survival(lives: &[Observed]) -> Curve {
    let mut ages: Vec<(f64, bool)> = lives.iter().map(|l| (l.age_s(), l.ended())).collect();
    ages.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut curve = Curve {
        lives: ages.len(),
        ends: ages.iter().filter(|a| a.1).count(),
        oldest_s: ages.last().map_or(0.0, |a| a.0),
        points: Vec::new(),
    };
    let (mut survival, mut hazard) = (1.0, 0.0);
    let mut i = 0;
    while i < ages.len() {
        let age = ages[i].0;
        let same = ages[i..].iter().take_while(|a| a.0 == age).count();
        let ends = ages[i..i + same].iter().filter(|a| a.1).count();
        let at_risk = ages.len() - i;
        if ends > 0 {
            survival *= 1.0 - ends as f64 / at_risk as f64;
            hazard += ends as f64 / at_risk as f64;
            curve.points.push(Point {
                age_s: age,
                at_risk,
                ends,
                survival,
                hazard,
            });
        }
        i += same;
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lives(list: &[(f64, bool)]) -> Vec<Observed> {
        list.iter()
            .map(|(age, ended)| Observed {
                from_s: 0.0,
                low_s: *age,
                high_s: ended.then_some(*age),
            })
            .collect()
    }

    /// The remission times of 21 patients under 6-MP (Freireich 1963), the textbook's example.
    #[test]
    fn the_textbooks_curve() {
        let data = [
            (6.0, true),
            (6.0, true),
            (6.0, true),
            (6.0, false),
            (7.0, true),
            (9.0, false),
            (10.0, true),
            (10.0, false),
            (11.0, false),
            (13.0, true),
            (16.0, true),
            (17.0, false),
            (19.0, false),
            (20.0, false),
            (22.0, true),
            (23.0, true),
            (25.0, false),
            (32.0, false),
            (32.0, false),
            (34.0, false),
            (35.0, false),
        ];
        let curve = survival(&lives(&data));
        let at = |age: f64| (curve.at(age) * 1000.0).round() / 1000.0;
        assert_eq!(
            [at(5.0), at(6.0), at(7.0), at(10.0)],
            [1.0, 0.857, 0.807, 0.753]
        );
        assert_eq!(
            [at(13.0), at(16.0), at(22.0), at(23.0)],
            [0.690, 0.627, 0.538, 0.448]
        );
        assert_eq!(
            (curve.lives, curve.ends, curve.quantile_s(0.5)),
            (21, 9, Some(23.0))
        );
    }

    #[test]
    fn nobody_seen_to_end_is_no_curve_and_none_is_none() {
        let curve = survival(&lives(&[(5.0, false), (9.0, false)]));
        assert_eq!(
            (
                curve.points.len(),
                curve.at(100.0),
                curve.restricted_mean_s()
            ),
            (0, 1.0, Some(9.0))
        );
        assert_eq!(survival(&[]), Curve::default());
    }
}
