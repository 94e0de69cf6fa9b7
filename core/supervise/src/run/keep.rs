//! Which checkpoints in the store are kept, and why. Nothing is deleted here; what has no manifest is not spoken of.

use std::collections::BTreeSet;

/// A checkpoint that has a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub id: String,
    /// When it was published, seconds since 1970, UTC.
    pub at_s: i64,
    /// By which the best are chosen, where the program wrote one.
    pub metric: Option<f64>,
    pub pinned: bool,
    /// All its checksums were right when it was last read, or nobody has read it yet.
    pub valid: bool,
    /// Of its files that no other checkpoint names.
    pub bytes: u64,
}

/// What the user wants kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// The last so many; 0 keeps the newest valid one all the same.
    pub last: usize,
    /// One of each stretch of so many hours.
    pub every_hours: Option<f64>,
    /// The best so many by their metric.
    pub best: usize,
    /// Whether a larger metric is the better one.
    pub larger_is_better: bool,
}

/// Why one is kept; the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Without it nothing could be resumed.
    NewestValid,
    /// It is being read, or files are being written beside it.
    InUse,
    Pinned,
    Last,
    Best,
    OfItsHours,
}

/// For each of `held`, newest first: why it is kept, or `None`.
pub fn keep(held: &[Held], rules: &Keep, in_use: &[&str]) -> Vec<Option<Reason>> {
    let newest = held.iter().position(|h| h.valid);
    let best = best(held, rules);
    let of_hours = of_hours(held, rules.every_hours);
    held.iter()
        .enumerate()
        .map(|(at, one)| {
            if Some(at) == newest {
                Some(Reason::NewestValid)
            } else if in_use.contains(&one.id.as_str()) {
                Some(Reason::InUse)
            } else if one.pinned {
                Some(Reason::Pinned)
            } else if at < rules.last {
                Some(Reason::Last)
            } else if best.contains(&at) {
                Some(Reason::Best)
            } else if of_hours.contains(&at) {
                Some(Reason::OfItsHours)
            } else {
                None
            }
        })
        .collect()
}

fn best(held: &[Held], rules: &Keep) -> BTreeSet<usize> {
    let finite = |h: &Held| h.metric.filter(|m| m.is_finite() && h.valid);
    let mut with: Vec<(usize, f64)> = held
        .iter()
        .enumerate()
        .filter_map(|(at, h)| Some((at, finite(h)?)))
        .collect();
    // of equals the newer
    with.sort_by(|a, b| {
        let order = a.1.total_cmp(&b.1);
        let order = if rules.larger_is_better {
            order.reverse()
        } else {
            order
        };
        order.then(a.0.cmp(&b.0))
    });
    with.into_iter()
        .take(rules.best)
        .map(|(at, _)| at)
        .collect()
}

/// The newest valid one of each stretch, stretches counted from 1970, so that what is kept today is kept tomorrow.
fn of_hours(held: &[Held], hours: Option<f64>) -> BTreeSet<usize> {
    let Some(seconds) = hours.map(|h| (h * 3600.0).round()).filter(|s| *s >= 1.0) else {
        return BTreeSet::new();
    };
    let seconds = seconds.min(1e15) as i64;
    let mut seen = BTreeSet::new();
    let mut kept = BTreeSet::new();
    for (at, one) in held.iter().enumerate().filter(|(_, h)| h.valid) {
        if seen.insert(one.at_s.div_euclid(seconds)) {
            kept.insert(at);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use Reason::{Best, InUse, Last, NewestValid, OfItsHours, Pinned};

    /// Ten, one an hour, newest first; the loss is lowest in the middle.
    fn ten() -> Vec<Held> {
        (0..10)
            .map(|i| Held {
                id: format!("{i}"),
                at_s: 1_000_000_800 - i * 3600,
                metric: Some((i - 5).abs() as f64),
                pinned: false,
                valid: true,
                bytes: 1,
            })
            .collect()
    }

    const NOTHING: Keep = Keep {
        last: 0,
        every_hours: None,
        best: 0,
        larger_is_better: false,
    };

    fn kept(held: &[Held], rules: &Keep, in_use: &[&str]) -> Vec<(usize, Reason)> {
        let all = keep(held, rules, in_use).into_iter().enumerate();
        all.filter_map(|(at, why)| Some((at, why?))).collect()
    }

    #[test]
    fn what_is_needed_stays_whatever_the_rules() {
        let mut held = ten();
        assert_eq!(kept(&held, &NOTHING, &[]), [(0, NewestValid)]);
        held[0].valid = false;
        held[7].pinned = true;
        assert_eq!(
            kept(&held, &NOTHING, &["3"]),
            [(1, NewestValid), (3, InUse), (7, Pinned)]
        );
        for one in &mut held {
            one.valid = false;
        }
        assert_eq!(kept(&held, &NOTHING, &[]), [(7, Pinned)]);
        assert_eq!(kept(&[], &NOTHING, &[]), []);
    }

    #[test]
    fn the_last_the_best_and_one_of_each_stretch() {
        let held = ten();
        let rules = Keep {
            last: 2,
            best: 2,
            ..NOTHING
        };
        assert_eq!(
            kept(&held, &rules, &[]),
            [(0, NewestValid), (1, Last), (4, Best), (5, Best)]
        );
        let larger = Keep {
            last: 0,
            best: 1,
            larger_is_better: true,
            ..NOTHING
        };
        // nothing is 5 away but the newest, which is kept anyway
        assert_eq!(kept(&held, &larger, &[]), [(0, NewestValid)]);
        let rules = Keep {
            every_hours: Some(4.0),
            ..NOTHING
        };
        let found = kept(&held, &rules, &[]);
        let of_hours = found.iter().filter(|(_, why)| *why == OfItsHours).count();
        assert!((2..=3).contains(&of_hours), "{found:?}");
        // a day later the same ones stay, and none comes back
        let later = keep(&held[1..], &rules, &[]);
        for (at, why) in later.into_iter().enumerate().skip(1) {
            let before = found.iter().any(|(kept, _)| *kept == at + 1);
            assert!(why.is_none() || before, "{at}");
        }
    }

    #[test]
    fn odd_numbers_harm_nobody() {
        let mut held = ten();
        held[3].metric = Some(f64::NAN);
        held[4].metric = None;
        held[9].at_s = i64::MIN;
        for hours in [0.0, -1.0, f64::NAN, 1e300, f64::INFINITY] {
            let rules = Keep {
                best: 3,
                every_hours: Some(hours),
                ..NOTHING
            };
            let found = keep(&held, &rules, &[]);
            assert_eq!(found[0], Some(NewestValid));
            assert_ne!(found[3], Some(Best));
        }
    }
}
