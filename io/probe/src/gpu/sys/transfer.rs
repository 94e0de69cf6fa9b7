//! Moving data: between host and device, from device to device, and from one part of a buffer into another.

use super::cuda::{Argument, BLOCKS, Context, Cuda, Lane, call};
use super::cuda_names::*;
use super::memory::{DeviceBuffer, HostBuffer};
use crate::gpu::GpuError;

/// A part of a buffer.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct Part<'a> {
    pub(in crate::gpu) of: &'a DeviceBuffer,
    pub(in crate::gpu) at: usize,
    pub(in crate::gpu) bytes: usize,
}

impl Part<'_> {
    fn pointer(&self) -> u64 {
        let end = self.at.checked_add(self.bytes);
        assert!(
            end.is_some_and(|end| end <= self.of.bytes),
            "within its buffer"
        );
        self.of.pointer + self.at as u64
    }
}

impl Context {
    pub(in crate::gpu) fn copy_to_device(
        &self,
        to: &DeviceBuffer,
        from: &HostBuffer,
    ) -> Result<(), GpuError> {
        self.current()?;
        let bytes = to.bytes.min(from.bytes);
        call!(
            *self.cuda,
            TO_DEVICE,
            to.pointer,
            from.pointer.cast_const(),
            bytes,
            self.stream(Lane::Work)
        )
    }

    /// The first bytes of pinned memory, at most as many as there are on both sides.
    pub(super) fn copy_some_to_device(
        &self,
        to: &DeviceBuffer,
        from: &HostBuffer,
        bytes: usize,
    ) -> Result<(), GpuError> {
        self.current()?;
        call!(
            *self.cuda,
            TO_DEVICE,
            to.pointer,
            from.pointer.cast_const(),
            bytes.min(to.bytes).min(from.bytes),
            self.stream(Lane::Work)
        )
    }

    pub(in crate::gpu) fn copy_to_host(
        &self,
        to: &HostBuffer,
        from: &DeviceBuffer,
    ) -> Result<(), GpuError> {
        self.current()?;
        let bytes = to.bytes.min(from.bytes);
        call!(
            *self.cuda,
            TO_HOST,
            to.pointer,
            from.pointer,
            bytes,
            self.stream(Lane::Work)
        )
    }

    /// Copies from this device to another one, on this one's stream.
    pub(in crate::gpu) fn copy_to_peer(
        &self,
        to: &DeviceBuffer,
        from: &DeviceBuffer,
    ) -> Result<(), GpuError> {
        self.current()?;
        let bytes = to.bytes.min(from.bytes);
        call!(
            *self.cuda,
            PEER_COPY,
            to.pointer,
            to.context.context,
            from.pointer,
            self.context,
            bytes,
            self.stream(Lane::Work)
        )
    }

    /// Copies from this device to another one beside what kernels do.
    pub(in crate::gpu) fn copy_part_to_peer(
        &self,
        to: Part<'_>,
        from: Part<'_>,
    ) -> Result<(), GpuError> {
        self.current()?;
        call!(
            *self.cuda,
            PEER_COPY,
            to.pointer(),
            to.of.context.context,
            from.pointer(),
            self.context,
            to.bytes.min(from.bytes),
            self.stream(Lane::Copies)
        )
    }

    /// Adds words of one part to those of another, times a factor.
    pub(in crate::gpu) fn add(
        &self,
        to: Part<'_>,
        from: Part<'_>,
        factor: u32,
    ) -> Result<(), GpuError> {
        let words = to.bytes.min(from.bytes) / 4;
        self.launch(
            self.kernels[3],
            BLOCKS,
            &mut [
                Argument::Long(to.pointer()),
                Argument::Long(from.pointer()),
                Argument::Long(words as u64),
                Argument::Word(factor),
            ],
        )
    }
}
