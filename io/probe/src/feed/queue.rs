//! A bounded queue of batches between the workers and the consumer, with the buffers going back.
//!
//! Batches come in the order in which they are ready, not in that of their numbers: keeping the order could only lower the
//! utilisation. Both ends see `close` and a deadline, so that no end waits for the other for ever.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct Batch {
    pub(super) data: Vec<u8>,
    pub(super) samples: usize,
}

pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    room: usize,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Batch>,
    spare: Vec<Vec<u8>>,
    closed: bool,
}

impl Queue {
    pub(super) fn new(room: usize) -> Queue {
        Queue {
            state: Mutex::default(),
            changed: Condvar::new(),
            room: room.max(1),
        }
    }

    /// A thread that died holding the lock left whole batches: there is nothing half done in here.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room. False when nobody takes any more.
    pub(super) fn push(&self, batch: Batch) -> bool {
        let mut state = self.lock();
        while state.ready.len() >= self.room && !state.closed {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        state.ready.push_back(batch);
        self.changed.notify_all();
        true
    }

    /// Waits for a batch, at most until `deadline`, and not once `give_up` says so.
    pub(super) fn pop(&self, deadline: Instant, give_up: &dyn Fn() -> bool) -> Option<Batch> {
        let mut state = self.lock();
        loop {
            if let Some(batch) = state.ready.pop_front() {
                self.changed.notify_all();
                return Some(batch);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() || give_up() {
                return None;
            }
            // woken now and then, because the stop flag wakes nobody
            let wait = left.min(Duration::from_millis(50));
            state = match self.changed.wait_timeout(state, wait) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// An emptied buffer for the next batch, as a pool of pinned buffers would be used.
    pub(super) fn buffer(&self) -> Vec<u8> {
        self.lock().spare.pop().unwrap_or_default()
    }

    pub(super) fn give_back(&self, mut data: Vec<u8>) {
        data.clear();
        self.lock().spare.push(data);
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn closed(&self) -> bool {
        self.lock().closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch {
            data: vec![1],
            samples: 1,
        }
    }

    #[test]
    fn a_full_queue_waits_and_a_closed_one_lets_go() {
        let queue = Queue::new(1);
        assert!(queue.push(batch()));
        std::thread::scope(|s| {
            let waiting = s.spawn(|| queue.push(batch()));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished(), "no room");
            queue.close();
            assert!(!waiting.join().unwrap());
        });
    }

    #[test]
    fn an_empty_queue_gives_up_at_its_deadline_or_when_told() {
        let queue = Queue::new(1);
        assert!(queue.pop(Instant::now(), &|| false).is_none());
        let far = Instant::now() + Duration::from_secs(60);
        assert!(queue.pop(far, &|| true).is_none());
    }
}
