//! Notices that the machine will be taken away, of several sources at once.

use std::collections::BTreeMap;

/// Who gave notice; the name of a cloud's service, a signal, a file.
pub type Source = String;

/// What was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The machine goes, or stops.
    Ends,
    /// It may go sooner than others: save early, do not stop.
    AtRisk,
}

/// Those that hold.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    /// When it ends, on the clock that never jumps.
    ends: BTreeMap<Source, u64>,
}

impl Notices {
    /// Notes an end; of one source the earlier time holds. Says whether it is news.
    pub(super) fn heard(&mut self, source: &str, at_ms: u64) -> bool {
        match self.ends.get_mut(source) {
            Some(known) => {
                let earlier = at_ms < *known;
                *known = at_ms.min(*known);
                earlier
            }
            None => {
                self.ends.insert(source.to_owned(), at_ms);
                true
            }
        }
    }

    /// Says whether there was one.
    pub(super) fn withdrawn(&mut self, source: &str) -> bool {
        self.ends.remove(source).is_some()
    }

    /// The first to come.
    pub fn deadline(&self) -> Option<(u64, &str)> {
        let first = self.ends.iter().min_by_key(|(_, at)| **at);
        first.map(|(source, at)| (*at, source.as_str()))
    }
}
