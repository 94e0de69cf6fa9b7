//! Checkpoints on their way to the store: one at a time, the newest first.

use super::state::{Actions, Run, Why};
use super::{Action, Alarm, Found};

impl Run {
    pub(super) fn found(&mut self, found: Found, out: &mut Actions) {
        if self.why == Some(Why::Fenced) {
            return;
        }
        if let Some(ms) = found.save_ms {
            self.pace.save_ms = ms;
        }
        self.pace.bytes = found.bytes;
        let known = |f: &Found| f.id == found.id;
        if self.uploading.as_ref().is_some_and(known) || self.waiting.iter().any(known) {
            return;
        }
        self.waiting.push_back(found);
        self.publish_next(out);
    }

    /// One upload at a time, the newest first: an older one that waits is of no use once a newer is safe.
    pub(super) fn publish_next(&mut self, out: &mut Actions) {
        if self.uploading.is_some() {
            return;
        }
        if let Some(next) = self.waiting.pop_back() {
            out.push(Action::Publish(next.id.clone()));
            self.uploading = Some(next);
        }
    }

    pub(super) fn sent(&mut self, id: &str, bytes: u64, ms: u64, out: &mut Actions) {
        let Some(found) = self.uploading.take_if(|f| f.id == id) else {
            return;
        };
        if ms > 0 && bytes > 0 {
            self.pace.bytes_per_s = bytes as f64 * 1000.0 / ms as f64;
        }
        self.published = Some(found.step);
        self.totals.failures_in_a_row = 0;
        // what is older than it need not be sent any more
        let newer = |f: &Found| f.step.is_none() || f.step > found.step;
        self.waiting.retain(newer);
        self.publish_next(out);
    }

    pub(super) fn publish_failed(&mut self, id: &str, reason: String, out: &mut Actions) {
        if self.uploading.take_if(|f| f.id == id).is_none() {
            return;
        }
        out.push(Action::Tell(Alarm::Behind { reason }));
        self.publish_next(out);
    }
}
