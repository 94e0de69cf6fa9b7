//! A job that runs, looked at: pure rules over what was sampled.
//!
//! Start with [`curve::read`]: sampled series of the GPUs of a machine give one [`curve::Reading`] a GPU.

pub mod curve;
pub mod run;
