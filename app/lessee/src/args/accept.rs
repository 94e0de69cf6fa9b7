//! `lessee accept ...` as typed.

use super::SecurityArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct AcceptArgs {
    #[command(subcommand)]
    pub command: Option<AcceptCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AcceptCommand {
    /// Do driver and GPU carry the libraries you need: torch, vllm, tensorflow, jax, cuda and others.
    Driver(DriverArgs),
    /// Encryption and compliance: what endpoints and disks show, and what to ask for by checklist. Not legal advice.
    Security(SecurityArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DriverArgs {
    /// The provider's nvidia-smi output in any form that probe read knows; - reads stdin.
    #[arg(value_name = "FILE", conflicts_with_all = ["driver", "gpu"])]
    pub file: Option<PathBuf>,
    /// Number of the driver, instead of a file: 535.183.01; of AMD machines the ROCm release.
    #[arg(long, value_name = "VERSION")]
    pub driver: Option<String>,
    /// Name of a GPU, instead of a file: 'Tesla V100-SXM2-16GB', with :8 for eight; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub gpu: Vec<String>,
    /// A package as pip writes it: torch==2.11, 'tensorflow>=2.16', cuda==12.4; may be repeated.
    #[arg(long, value_name = "SPEC")]
    pub need: Vec<String>,
    /// Take needs from a file: requirements.txt, pyproject.toml, uv.lock, conda environment, Dockerfile; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub needs: Vec<PathBuf>,
}
