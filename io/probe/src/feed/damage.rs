//! Damaged samples: counted, named, and the end of the pass where nothing else is left.

use super::samples::Samples;
use lessee_model::probe::{Damaged, DamagedSample};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Named in the report; more are only counted.
const NAMED_MAX: usize = 100;

#[derive(Default)]
pub(super) struct Damage {
    seen: Mutex<BTreeMap<usize, String>>,
    in_a_row: AtomicUsize,
    hopeless: AtomicBool,
}

impl Damage {
    pub(super) fn good(&self) {
        self.in_a_row.store(0, Ordering::Relaxed);
    }

    /// True when a whole round of samples in a row was damaged: there is no sense in going on.
    pub(super) fn bad(&self, at: usize, why: String, round: usize) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.entry(at).or_insert(why);
        let hopeless = self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= round.max(1);
        if hopeless {
            self.hopeless.store(true, Ordering::Relaxed);
        }
        hopeless
    }

    pub(super) fn hopeless(&self) -> bool {
        self.hopeless.load(Ordering::Relaxed)
    }

    pub(super) fn report(&self, samples: &Samples) -> Damaged {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let name = |(at, reason): (&usize, &String)| DamagedSample {
            name: samples
                .list
                .get(*at)
                .map_or_else(|| format!("sample {at}"), |s| samples.name(s)),
            reason: reason.clone(),
        };
        Damaged {
            count: seen.len(),
            named: seen.iter().take(NAMED_MAX).map(name).collect(),
        }
    }
}
