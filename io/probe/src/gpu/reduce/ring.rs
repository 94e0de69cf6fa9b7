//! A ring of our own: each GPU sends to the next, first a part at a time to be added (reduce-scatter), then the sums
//! (all-gather). 2 (n - 1) / n of the data passes each link, in one direction.
//!
//! Each part goes in slices, so that one is copied while another is added up. Who waits for whom is said with events; the
//! host waits for nothing.

use crate::gpu::GpuError;
use crate::gpu::sys::cuda::{Context, Lane};
use crate::gpu::sys::memory::{DeviceBuffer, Event};
use std::rc::Rc;
use std::sync::Arc;

/// Parts of a part.
const SLICES: usize = 2;
/// Slices are whole pages.
const PAGE: usize = 4096;

/// The most that divides into the parts of a ring of `n`, at least one page each.
pub(super) fn whole(bytes: usize, n: usize) -> usize {
    let unit = n * SLICES * PAGE;
    (bytes / unit).max(1) * unit
}

pub(super) struct Ring<'a> {
    contexts: &'a [Arc<Context>],
    data: &'a [DeviceBuffer],
    /// What comes from the GPU before, in two turns: one is added up while the other one is filled.
    arriving: Vec<DeviceBuffer>,
    part: usize,
}

impl<'a> Ring<'a> {
    pub(super) fn new(
        contexts: &'a [Arc<Context>],
        data: &'a [DeviceBuffer],
    ) -> Result<Ring<'a>, GpuError> {
        let bytes = data.iter().map(|d| d.bytes).min().unwrap_or(0);
        let part = bytes / contexts.len();
        let arriving: Result<Vec<_>, _> =
            contexts.iter().map(|c| c.device_buffer(2 * part)).collect();
        Ok(Ring {
            contexts,
            data,
            arriving: arriving?,
            part,
        })
    }

    /// Asks for one all-reduce; it is over when both lanes of all GPUs are.
    pub(super) fn all_reduce(&self) -> Result<(), GpuError> {
        let n = self.contexts.len();
        let slice = self.part / SLICES;
        // by GPU and slice: when what it sends next is there
        let mut there: Vec<Slices> = empty(n);
        // by GPU and slice, of the last step and of the one before: when what arrived was added up, so that the room is free
        let mut added: [Vec<Slices>; 2] = [empty(n), empty(n)];
        for step in 0..n - 1 {
            let turn = step % 2;
            let mut sums = empty(n);
            for (at, ready) in there.iter().enumerate() {
                let (from, next) = (&self.contexts[at], (at + 1) % n);
                let part = (at + n - step) % n * self.part;
                for k in 0..SLICES {
                    wait(from, Lane::Copies, &ready[k])?;
                    wait(from, Lane::Copies, &added[turn][next][k])?;
                    let room = self.arriving[next].part(turn * self.part + k * slice, slice);
                    let sent = self.data[at].part(part + k * slice, slice);
                    from.copy_part_to_peer(room, sent)?;
                    let arrived = from.mark_on(Lane::Copies)?;
                    let to = &self.contexts[next];
                    to.wait_for(Lane::Work, &arrived)?;
                    to.add(self.data[next].part(part + k * slice, slice), room, 1)?;
                    sums[next][k] = Some(Rc::new(to.mark()?));
                }
            }
            // waited for twice: by what is sent on, and by what comes into the same room two steps later
            there.clone_from(&sums);
            added[turn] = sums;
        }
        for step in 0..n - 1 {
            let mut arrived = empty(n);
            for (at, ready) in there.iter().enumerate() {
                let (from, next) = (&self.contexts[at], (at + 1) % n);
                let part = (at + 1 + n - step) % n * self.part;
                for k in 0..SLICES {
                    wait(from, Lane::Copies, &ready[k])?;
                    // the next GPU is done with its own figures there: they went into the sum that comes now
                    let (to, sent) = (&self.data[next], &self.data[at]);
                    let (to, sent) = (
                        to.part(part + k * slice, slice),
                        sent.part(part + k * slice, slice),
                    );
                    from.copy_part_to_peer(to, sent)?;
                    arrived[next][k] = Some(Rc::new(from.mark_on(Lane::Copies)?));
                }
            }
            there = arrived;
        }
        Ok(())
    }
}

/// When each slice is so far; none is from the beginning.
type Slices = [Option<Rc<Event>>; SLICES];

fn empty(n: usize) -> Vec<Slices> {
    vec![[const { None }; SLICES]; n]
}

fn wait(context: &Context, lane: Lane, event: &Option<Rc<Event>>) -> Result<(), GpuError> {
    match event {
        Some(event) => context.wait_for(lane, event),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_pages() {
        assert_eq!(whole(1 << 20, 8), 1 << 20);
        assert_eq!(whole(100_000, 3) % (3 * SLICES * PAGE), 0);
        assert_eq!(whole(0, 2), 2 * SLICES * PAGE);
    }
}
