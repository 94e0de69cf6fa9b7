//! `lessee accept security` as typed.

use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SecurityArgs {
    /// Endpoint to look at: https://HOST[:PORT], ssh://HOST[:PORT], s3://BUCKET, http:// that should refuse; may be repeated.
    #[arg(long, value_name = "URL")]
    pub endpoint: Vec<String>,
    /// Take endpoints from a file: one URL a line, or the targets of accept latency (22 is looked at as SSH, 80 as HTTP, others as TLS); - reads stdin.
    #[arg(long, value_name = "FILE")]
    pub targets: Option<PathBuf>,
    /// Disks of a machine: live (this one), a folder with its recorded /proc and /sys, a mounted root, or a file of lsblk -J.
    #[arg(long, value_name = "live|DIR")]
    pub machine: Option<PathBuf>,
    /// Read the LUKS header of a file or device; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub luks: Vec<PathBuf>,
    /// Ask the metadata service without a token; it is asked on a live machine anyway.
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = lessee_endpoints::http::IMDS)]
    pub imds: Option<String>,
    /// Endpoint of the buckets, if not AWS; else AWS_ENDPOINT_URL.
    #[arg(long, value_name = "URL")]
    pub s3_endpoint: Option<String>,
    /// Certificates (PEM) to trust beside those of the system; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub ca: Vec<PathBuf>,
    /// Checklists: gdpr, mlps2, mlps3, iso27001, soc2, hipaa, cn-export, tpn; with commas between.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub profile: Vec<String>,
    /// Also tell what this provider claims.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// An item of a checklist of which you hold the evidence: gdpr.28.3=contract.pdf; may be repeated.
    #[arg(long, value_name = "ITEM=FILE")]
    pub seen: Vec<String>,
    /// Longest time for one connection, in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
}
