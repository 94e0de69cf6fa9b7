//! What the CUDA driver hands out and takes back: events, memory of the device, pinned memory of the host.
//!
//! Streams run behind the caller's back: host memory is read and written here only after the device is done.

use super::cuda::{Context, Cuda, call};
use super::cuda_names::*;
use super::transfer::Part;
use crate::gpu::GpuError;
use std::sync::Arc;

/// A place in a stream.
pub(in crate::gpu) struct Event {
    pub(super) context: Arc<Context>,
    pub(super) event: Raw,
}

impl Event {
    /// Whether the device is past it.
    pub(in crate::gpu) fn done(&self) -> Result<bool, GpuError> {
        self.context.current()?;
        match call!(*self.context.cuda, QUERY, self.event) {
            Ok(()) => Ok(true),
            Err(GpuError::Cuda {
                code: NOT_READY, ..
            }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Seconds from an earlier event to this one; both must be done.
    pub(in crate::gpu) fn seconds_since(&self, start: &Event) -> Result<f64, GpuError> {
        self.context.current()?;
        let mut ms = 0.0;
        call!(
            *self.context.cuda,
            ELAPSED,
            &raw mut ms,
            start.event,
            self.event
        )?;
        Ok(f64::from(ms) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let undo = || -> Result<(), GpuError> {
            self.context.current()?;
            call!(*self.context.cuda, EVENT_DESTROY, self.event)
        };
        if !self.event.is_null() {
            let _ = undo();
        }
    }
}

/// Memory of a device.
pub(in crate::gpu) struct DeviceBuffer {
    pub(super) context: Arc<Context>,
    pub(super) pointer: u64,
    pub(in crate::gpu) bytes: usize,
}

impl DeviceBuffer {
    /// All of it.
    pub(in crate::gpu) fn whole(&self) -> Part<'_> {
        self.part(0, self.bytes)
    }

    pub(in crate::gpu) fn part(&self, at: usize, bytes: usize) -> Part<'_> {
        Part {
            of: self,
            at,
            bytes,
        }
    }

    pub(super) fn words(&self) -> u64 {
        (self.bytes / 4) as u64
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        let undo = || -> Result<(), GpuError> {
            self.context.current()?;
            call!(*self.context.cuda, FREE, self.pointer)
        };
        let _ = undo();
    }
}

/// Pinned memory of the host.
pub(in crate::gpu) struct HostBuffer {
    pub(super) context: Arc<Context>,
    pub(super) pointer: Raw,
    pub(in crate::gpu) bytes: usize,
}

impl HostBuffer {
    /// The bytes, after everything that may still write them is done.
    pub(in crate::gpu) fn bytes(&mut self) -> Result<&mut [u8], GpuError> {
        self.context.synchronize()?;
        // SAFETY: allocated with this size, zeroed at once, freed only by the drop; the device is idle, and the borrow
        // keeps the next copy from being asked for while the slice lives.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer.cast(), self.bytes) })
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        let undo = || -> Result<(), GpuError> {
            self.context.synchronize()?;
            call!(*self.context.cuda, FREE_HOST, self.pointer)
        };
        let _ = undo();
    }
}

/// Pinned memory from which batches go to a device. It alone asks for copies out of its memory and knows when the last of
/// them is done, so that it can be filled anew while kernels run.
pub(in crate::gpu) struct Staging {
    host: HostBuffer,
    last: LastCopy,
}

enum LastCopy {
    Done,
    Until(Event),
    /// Asked for, and no place marked behind it: the memory is never written again.
    Lost,
}

impl Staging {
    pub(in crate::gpu) fn new(context: &Arc<Context>, bytes: usize) -> Result<Staging, GpuError> {
        Ok(Staging {
            host: context.host_buffer(bytes)?,
            last: LastCopy::Done,
        })
    }

    pub(in crate::gpu) fn room(&self) -> usize {
        self.host.bytes
    }

    /// Fills it from the front, as far as there is room. False: its last copy still reads it.
    pub(in crate::gpu) fn fill(&mut self, data: &[u8]) -> Result<bool, GpuError> {
        let done = match &self.last {
            LastCopy::Done => true,
            LastCopy::Until(event) => event.done()?,
            LastCopy::Lost => false,
        };
        if !done {
            return Ok(false);
        }
        self.last = LastCopy::Done;
        let bytes = data.len().min(self.host.bytes);
        // SAFETY: pinned memory of at least this size that nobody else has: the last copy out of it is done, the borrow
        // keeps the next one from being asked for, and it cannot overlap with a slice of this program's own.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), self.host.pointer.cast(), bytes);
        }
        Ok(true)
    }

    /// Asks for a copy of its first bytes, and marks the place behind it.
    pub(in crate::gpu) fn copy_to(
        &mut self,
        to: &DeviceBuffer,
        bytes: usize,
    ) -> Result<(), GpuError> {
        self.last = LastCopy::Lost;
        let context = Arc::clone(&self.host.context);
        context.copy_some_to_device(to, &self.host, bytes)?;
        self.last = LastCopy::Until(context.mark()?);
        Ok(())
    }
}
