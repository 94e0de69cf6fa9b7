//! Distributions fitted to lives by greatest likelihood, and how well they fit.
//!
//! Right-censored lives count with the chance to live so long, interval-censored ones with the chance to end within
//! the interval. Goodness: log-likelihood, Akaike's criterion (2 k - 2 lnL), and the greatest distance
//! (Kolmogorov-Smirnov) between the survival curve of the lives on the fitted scale (cumulative hazard at their age) and
//! e^-u, which it would follow if the fit were true.

use super::hazard::{AGE_EDGES_H, Rate, by_age, by_hour, hour_of};
use super::survival::{Observed, survival};

/// What was fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum FitKind {
    /// One hazard at every age.
    Exponential {
        /// Ends an hour.
        per_h: f64,
    },
    /// Hazard that falls (shape below 1) or rises with age.
    Weibull {
        /// Shape: 1 is exponential.
        shape: f64,
        /// Scale in hours: age that 1/e lives to reach.
        scale_h: f64,
    },
    /// One hazard a class of age, [`AGE_EDGES_H`].
    ByAge {
        /// Ends an hour, one a class; 0 where nobody was seen to end.
        per_h: Vec<f64>,
    },
    /// One hazard an hour of the day, UTC.
    ByHour {
        /// Ends an hour, hours 0 to 23.
        per_h: Vec<f64>,
    },
}

/// A fit and its goodness.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The distribution.
    pub kind: FitKind,
    /// Natural logarithm of the likelihood, of densities per hour.
    pub log_likelihood: f64,
    /// Akaike's criterion: less is better.
    pub aic: f64,
    /// Greatest distance between curve and fit, 0..1.
    pub ks: f64,
}

/// Lives shorter than a second are of a second: density and logarithm need an age above 0.
const SHORTEST_H: f64 = 1.0 / 3600.0;

/// All fits that the data carry, best (least AIC) first; empty with fewer than two ends. `start`: Unix time of second
/// 0 of the record, for the hour of the day.
pub fn fits(lives: &[Observed], start: Option<i64>) -> Vec<Fit> {
    if lives.iter().filter(|l| l.ended()).count() < 2 {
        return Vec::new();
    }
    let mut out = vec![weibull(lives, Some(1.0)), weibull(lives, None)];
    out.push(by_classes_of_age(lives));
    out.extend(start.map(|start| by_hours(lives, start)));
    out.retain(|f| f.log_likelihood.is_finite());
    out.sort_by(|a, b| a.aic.total_cmp(&b.aic));
    out
}

/// From, lower and upper end in hours.
fn ends_h(life: &Observed) -> (f64, f64, Option<f64>) {
    let h = |s: f64| (s / 3600.0).max(SHORTEST_H);
    (life.from_s / 3600.0, h(life.low_s), life.high_s.map(h))
}

/// lnL of lives under a cumulative hazard and its slope, both of age and beginning in hours.
fn log_likelihood(
    lives: &[Observed],
    hazard: impl Fn(f64, f64) -> f64,
    slope: impl Fn(f64, f64) -> f64,
) -> f64 {
    let one = |life: &Observed| {
        let (from, low, high) = ends_h(life);
        match high {
            None => -hazard(from, low),
            Some(high) if high > low => {
                // ln(S(low) - S(high)), also where both are nearly 0
                let width = hazard(from, high) - hazard(from, low);
                -hazard(from, low) + (-(-width).exp_m1()).ln()
            }
            Some(age) => slope(from, age).ln() - hazard(from, age),
        }
    };
    lives.iter().map(one).sum()
}

fn judged(
    kind: FitKind,
    lives: &[Observed],
    parameters: usize,
    hazard: impl Fn(f64, f64) -> f64,
    slope: impl Fn(f64, f64) -> f64,
) -> Fit {
    let lnl = log_likelihood(lives, &hazard, slope);
    let scaled: Vec<Observed> = lives
        .iter()
        .map(|life| {
            let (from, low, high) = ends_h(life);
            Observed {
                from_s: 0.0,
                low_s: hazard(from, low),
                high_s: high.map(|h| hazard(from, h)),
            }
        })
        .collect();
    let mut ks: f64 = 0.0;
    let mut before: f64 = 1.0;
    for p in survival(&scaled).points {
        let fit = (-p.age_s).exp();
        ks = ks.max((before - fit).abs()).max((p.survival - fit).abs());
        before = p.survival;
    }
    Fit {
        kind,
        log_likelihood: lnl,
        aic: 2.0 * parameters as f64 - 2.0 * lnl,
        ks,
    }
}

/// `shape` given: its best scale; else both.
fn weibull(lives: &[Observed], shape: Option<f64>) -> Fit {
    let lnl = |shape: f64, scale: f64| {
        log_likelihood(
            lives,
            |_, age| (age / scale).powf(shape),
            |_, age| shape / scale * (age / scale).powf(shape - 1.0),
        )
    };
    let exact = lives
        .iter()
        .all(|l| l.high_s.is_none_or(|high| high == l.low_s));
    let ends = lives.iter().filter(|l| l.ended()).count() as f64;
    let scale_at = |shape: f64| {
        // exact ends: closed form; else a search around it
        let sum: f64 = lives
            .iter()
            .map(|l| (l.age_s() / 3600.0).max(SHORTEST_H).powf(shape))
            .sum();
        let close = (sum / ends).powf(1.0 / shape);
        if exact {
            return close;
        }
        maximum(close.ln() - 2.0, close.ln() + 2.0, |x| lnl(shape, x.exp())).exp()
    };
    let best =
        shape.unwrap_or_else(|| maximum(-3.5, 2.5, |x| lnl(x.exp(), scale_at(x.exp()))).exp());
    let scale = scale_at(best);
    let (kind, parameters) = match shape {
        Some(_) => (FitKind::Exponential { per_h: 1.0 / scale }, 1),
        None => (
            FitKind::Weibull {
                shape: best,
                scale_h: scale,
            },
            2,
        ),
    };
    judged(
        kind,
        lives,
        parameters,
        |_, age| (age / scale).powf(best),
        |_, age| best / scale * (age / scale).powf(best - 1.0),
    )
}

/// Where a function with one top is greatest: golden section.
fn maximum(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    for _ in 0..48 {
        let (a, b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if f(a) < f(b) {
            low = a;
        } else {
            high = b;
        }
    }
    (low + high) / 2.0
}

fn per_h(rates: &[Rate]) -> Vec<f64> {
    rates.iter().map(|r| r.per_h().unwrap_or(0.0)).collect()
}

/// Classes in which somebody lived: each is a parameter.
fn parameters(rates: &[Rate]) -> usize {
    rates.iter().filter(|r| r.hours > 0.0).count().max(1)
}

fn by_classes_of_age(lives: &[Observed]) -> Fit {
    let rates = by_age(lives);
    let per_h = per_h(&rates);
    let class = |age: f64| AGE_EDGES_H.iter().rposition(|e| *e < age).unwrap_or(0);
    let hazard = |_: f64, age: f64| {
        let parts = per_h.iter().enumerate().map(|(i, rate)| {
            let high = AGE_EDGES_H.get(i + 1).copied().unwrap_or(f64::INFINITY);
            rate * (age.min(high) - AGE_EDGES_H[i]).max(0.0)
        });
        parts.sum::<f64>()
    };
    let slope = |_: f64, age: f64| per_h[class(age)];
    judged(
        FitKind::ByAge {
            per_h: per_h.clone(),
        },
        lives,
        parameters(&rates),
        hazard,
        slope,
    )
}

fn by_hours(lives: &[Observed], start: i64) -> Fit {
    let rates = by_hour(lives, start);
    let per_h = per_h(&rates);
    let day: f64 = per_h.iter().sum();
    let zero = start as f64 / 3600.0;
    // hazard from midnight to an hour of the clock, whole days apart
    let from_midnight = |clock: f64| {
        let (whole, part) = (clock.floor(), clock - clock.floor());
        let hour = (whole as usize).min(23);
        per_h[..hour].iter().sum::<f64>() + per_h[hour] * part
    };
    let total = |h: f64| h.div_euclid(24.0) * day + from_midnight(h.rem_euclid(24.0));
    let hazard = |from: f64, age: f64| total(zero + from + age) - total(zero + from);
    let slope = |from: f64, age: f64| per_h[hour_of((zero + from + age) * 3600.0 - 1e-3)];
    judged(
        FitKind::ByHour {
            per_h: per_h.clone(),
        },
        lives,
        parameters(&rates),
        hazard,
        slope,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(n: usize, inverse: impl Fn(f64) -> f64, seen_h: f64) -> Vec<Observed> {
        (0..n)
            .map(|i| {
                let age = inverse((i as f64 + 0.5) / n as f64);
                let ended = age <= seen_h;
                let s = age.min(seen_h) * 3600.0;
                Observed {
                    from_s: 3600.0 * (i as f64 * 1.37),
                    low_s: s,
                    high_s: ended.then_some(s),
                }
            })
            .collect()
    }

    fn find(fits: &[Fit], which: fn(&FitKind) -> bool) -> &Fit {
        fits.iter().find(|f| which(&f.kind)).expect("this fit")
    }

    #[test]
    fn parameters_are_found_again_also_when_half_is_censored() {
        for seen_h in [1e9, 2.0] {
            let lives = draws(2000, |q| 3.0 * (-(1.0 - q).ln()).powf(1.0 / 0.6), seen_h);
            let all = fits(&lives, Some(0));
            let FitKind::Weibull { shape, scale_h } =
                find(&all, |k| matches!(k, FitKind::Weibull { .. })).kind
            else {
                panic!()
            };
            assert!(
                (shape - 0.6).abs() < 0.02 && (scale_h - 3.0).abs() < 0.15,
                "{seen_h}: {shape} {scale_h}"
            );
            assert!(
                matches!(all[0].kind, FitKind::Weibull { .. } | FitKind::ByAge { .. }),
                "{all:?}"
            );
            assert!(find(&all, |k| matches!(k, FitKind::Weibull { .. })).ks < 0.02);
            assert!(find(&all, |k| matches!(k, FitKind::Exponential { .. })).ks > 0.1);
        }
        let lives = draws(2000, |q| -(1.0 - q).ln() / 0.25, 1e9);
        let FitKind::Exponential { per_h } = find(&fits(&lives, None), |k| {
            matches!(k, FitKind::Exponential { .. })
        })
        .kind
        else {
            panic!()
        };
        assert!((per_h - 0.25).abs() < 0.002, "{per_h}");
    }

    #[test]
    fn intervals_change_little_when_they_are_short() {
        let exact = draws(500, |q| -(1.0 - q).ln() / 0.5, 1e9);
        let wide: Vec<Observed> = exact
            .iter()
            .map(|l| Observed {
                low_s: (l.low_s - 300.0).max(0.0),
                high_s: Some(l.low_s + 300.0),
                ..*l
            })
            .collect();
        let rate = |lives: &[Observed]| match find(&fits(lives, None), |k| {
            matches!(k, FitKind::Exponential { .. })
        })
        .kind
        {
            FitKind::Exponential { per_h } => per_h,
            _ => panic!(),
        };
        assert!((rate(&exact) - rate(&wide)).abs() < 0.02);
    }

    #[test]
    fn too_little_is_no_fit() {
        assert!(fits(&[], Some(0)).is_empty());
        assert!(fits(&draws(1, |_| 1.0, 2.0), None).is_empty());
    }
}
