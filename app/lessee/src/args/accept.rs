//! `lessee accept ...` as typed.

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
    /// Is the way from this desk to the machine short enough: round trips of TCP, TLS and pings, side by side.
    Latency(LatencyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LatencyArgs {
    /// A node, or an endpoint of a region; without a port 443 and 22 are tried.
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "targets")]
    pub hosts: Vec<String>,
    /// Several at once from a file: TOML ([[target]]) or CSV with name, host, port, region, provider; - reads stdin.
    #[arg(long, value_name = "FILE")]
    pub targets: Option<PathBuf>,
    /// Work that has to wait for each round trip; batch work only reports them.
    #[arg(long = "for", value_name = "WORK", default_value = "notebook", value_parser = ["notebook", "visual", "batch"])]
    pub work: String,
    /// Only the targets of this provider.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Round trips to each target [default: 100; 20 where sshd answers, which locks out who connects too often].
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Spread over this time [default: 30].
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// Through this proxy: http://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT [default: HTTPS_PROXY, ALL_PROXY].
    #[arg(long, value_name = "URL", conflicts_with = "no_proxy")]
    pub proxy: Option<String>,
    /// Directly, whatever the environment names.
    #[arg(long)]
    pub no_proxy: bool,
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
