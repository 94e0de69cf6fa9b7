//! The kernel that multiplies matrices, `kernels/mma_*.ptx`: a module of its own, because older cards do not take it.

use super::cuda::{Argument, Context, Cuda, THREADS, call};
use super::cuda_names::*;
use super::memory::DeviceBuffer;
use crate::gpu::GpuError;
use std::ffi::CStr;
use std::sync::Arc;

/// Halves of an operand: 32 x 16. A has them by rows, B by columns, so that both are 32 rows of 16.
pub(in crate::gpu) const SIDE: usize = 32;
pub(in crate::gpu) const DEPTH: usize = 16;
const OPERAND_BYTES: usize = SIDE * DEPTH * 2;
/// Of one warp: 32 x 32 sums in f32.
pub(in crate::gpu) const RESULT_BYTES: usize = SIDE * SIDE * 4;
const WARP: u32 = 32;
/// Of one round of one warp: a multiplication and an addition each.
pub(in crate::gpu) const ROUND_FLOP: f64 = (2 * SIDE * SIDE * DEPTH) as f64;

/// The kernel, loaded into a context.
pub(in crate::gpu) struct Matrix {
    context: Arc<Context>,
    module: Raw,
    kernel: Raw,
    blocks: u32,
}

// SAFETY: as for the context, whose handles these are.
unsafe impl Send for Matrix {}

impl Matrix {
    pub(in crate::gpu) fn load(
        context: &Arc<Context>,
        ptx: &CStr,
        name: &CStr,
        blocks: u32,
    ) -> Result<Matrix, GpuError> {
        let mut made = Matrix {
            context: Arc::clone(context),
            module: context.module_of(ptx)?,
            kernel: std::ptr::null_mut(),
            blocks,
        };
        made.kernel = context.function(made.module, name)?;
        Ok(made)
    }

    pub(in crate::gpu) fn warps(&self) -> usize {
        (self.blocks * (THREADS / WARP)) as usize
    }

    /// Each warp multiplies `a` by `b`, adds the product up `rounds` times, and begins anew `repeats` times; `out` then
    /// holds a result of every warp. Neither may be 0.
    pub(in crate::gpu) fn multiply(
        &self,
        [a, b, out]: [&DeviceBuffer; 3],
        rounds: u32,
        repeats: u32,
    ) -> Result<(), GpuError> {
        assert!(
            a.bytes >= OPERAND_BYTES && b.bytes >= OPERAND_BYTES,
            "whole operands"
        );
        assert!(out.bytes >= self.warps() * RESULT_BYTES, "a result a warp");
        self.context.launch(
            self.kernel,
            self.blocks,
            &mut [
                Argument::Long(a.pointer),
                Argument::Long(b.pointer),
                Argument::Long(out.pointer),
                Argument::Word(rounds.max(1)),
                Argument::Word(repeats.max(1)),
            ],
        )
    }
}

impl Drop for Matrix {
    fn drop(&mut self) {
        let undo = || -> Result<(), GpuError> {
            self.context.synchronize()?;
            call!(*self.context.cuda, UNLOAD, self.module)
        };
        let _ = undo();
    }
}
