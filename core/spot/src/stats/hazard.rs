//! Ends per hour of life: by age, and by hour of the day.

use super::survival::Observed;

/// Edges of the classes of age, hours: a heavy tail needs them to grow.
pub const AGE_EDGES_H: [f64; 9] = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Ends and exposure of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Ends seen.
    pub ends: usize,
    /// Hours lived within the class.
    pub hours: f64,
}

impl Rate {
    /// Ends an hour; `None`: nobody lived within the class.
    pub fn per_h(&self) -> Option<f64> {
        (self.hours > 0.0).then(|| self.ends as f64 / self.hours)
    }
}

/// One rate a class of [`AGE_EDGES_H`]; the last class is open.
pub fn by_age(lives: &[Observed]) -> [Rate; AGE_EDGES_H.len()] {
    let mut out = [Rate::default(); AGE_EDGES_H.len()];
    for life in lives {
        let age = life.age_s() / 3600.0;
        for (i, rate) in out.iter_mut().enumerate() {
            let low = AGE_EDGES_H[i];
            let high = AGE_EDGES_H.get(i + 1).copied().unwrap_or(f64::INFINITY);
            rate.hours += (age.min(high) - low).max(0.0);
            // a life that ends on an edge ends in the class that it lived through
            if life.ended() && age > low && age <= high || (i == 0 && life.ended() && age <= 0.0) {
                rate.ends += 1;
            }
        }
    }
    out
}

const DAY_S: f64 = 86_400.0;

/// One rate an hour of the day (UTC). `start`: Unix time of second 0 of the record.
pub fn by_hour(lives: &[Observed], start: i64) -> [Rate; 24] {
    let mut out = [Rate::default(); 24];
    for life in lives {
        let begin = start as f64 + life.from_s;
        let end = begin + life.age_s();
        // whole days pass every hour once, however many they are
        let days = ((end - begin) / DAY_S).floor().max(0.0);
        for rate in &mut out {
            rate.hours += days;
        }
        let mut t = begin + days * DAY_S;
        for _ in 0..=24 {
            // never past the end, also where hours are too fine for the size of the time
            let next = (((t / 3600.0).floor() + 1.0) * 3600.0).min(end);
            out[hour_of(t)].hours += (next - t).max(0.0) / 3600.0;
            t = next;
        }
        if life.ended() {
            // the moment of the end belongs to the hour that was lived
            out[hour_of((end - 1e-3).max(begin))].ends += 1;
        }
    }
    out
}

/// Hour of the day of a Unix time.
pub(super) fn hour_of(unix: f64) -> usize {
    (unix.div_euclid(3600.0)).rem_euclid(24.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exposure_and_ends_add_up() {
        let life = |from_s: f64, h: f64, ended: bool| Observed {
            from_s,
            low_s: h * 3600.0,
            high_s: ended.then_some(h * 3600.0),
        };
        let lives = [
            life(0.0, 0.5, true),
            life(1800.0, 3.0, true),
            life(90_000.0, 100.0, false),
        ];
        let ages = by_age(&lives);
        assert_eq!(ages.iter().map(|r| r.ends).sum::<usize>(), 2);
        assert!((ages.iter().map(|r| r.hours).sum::<f64>() - 103.5).abs() < 1e-9);
        assert_eq!((ages[0].ends, ages[3].ends), (1, 1));
        let hours = by_hour(&lives, 0);
        assert!((hours.iter().map(|r| r.hours).sum::<f64>() - 103.5).abs() < 1e-6);
        assert_eq!((hours[0].ends, hours[3].ends), (1, 1));
        // a life of a million years, and one whose moment is beyond what hours can be told of
        let ages = [(3.2e13, 0), (3600.0, i64::MAX)];
        for (age_s, start) in ages {
            let old = Observed {
                from_s: 0.0,
                low_s: age_s,
                high_s: None,
            };
            let hours = by_hour(&[old], start);
            let sum = hours.iter().map(|r| r.hours).sum::<f64>();
            assert!(
                start != 0 || (sum / (age_s / 3600.0) - 1.0).abs() < 1e-9,
                "{sum}"
            );
        }
        // before 1970, too
        assert_eq!(hour_of(-1.0), 23);
    }
}
