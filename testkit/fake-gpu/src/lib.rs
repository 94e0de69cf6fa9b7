//! A library that plays NVML and the CUDA driver of a machine that a file describes, so that the whole path from
//! `dlopen` to the verdict runs where there is no GPU.
//!
//! Built as a C library it exports the drivers' functions (`nvml`, `cuda`); both names of a driver lead to the same file
//! ([`install`]), so that NVML sees what CUDA does. The machine is [`State`], JSON in the file that the environment
//! variable [`STATE_VARIABLE`] names. Host memory plays the GPUs' memory, time is simulated: an operation takes the time
//! that the state's bandwidths give it, and events tell it; with `real_time` they are done no sooner either.
//!
//! What it is not: a GPU. Kernels are recognised by their names and computed here; PTX is only looked at. That a kernel,
//! a bandwidth or a layout of a structure is right on a card, no test with this library shows.

mod cuda;
mod install;
mod kernels;
mod machine;
mod nccl;
mod nvml;
mod state;

pub use install::{install, install_nccl};
pub use state::{Activity, Gpu, Link, Pair, Remote, State, Throttle};

/// Names the file of the state.
pub const STATE_VARIABLE: &str = "LESSEE_FAKE_GPU_STATE";
