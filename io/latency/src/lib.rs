//! Round trips from here to machines far away: TCP connections, TLS handshakes and pings, direct or through a proxy.
//!
//! It is not a load test (a connection is closed as soon as it is timed, no data is sent) and not a check of certificates. A
//! crate apart from `io/probe`, whose small binary has no TLS. Start at [`measure()`]; [`targets_of`] reads files of targets. What
//! it means: `core/accept`, `latency`.

mod connect;
mod icmp;
mod measure;
mod netlink;
mod proxy;
mod resolve;
mod route;
mod targets;
mod tls;

pub use measure::{Goal, Plan, measure};
pub use proxy::{ProxyError, ProxyUrl, is_exempt, of_environment};
pub use targets::{MAX_FILE, TargetsError, targets_of};

use lessee_accept::latency::LatencyRules;

/// The thresholds that are built in.
///
/// # Errors
/// The file is broken: a bug.
pub fn rules() -> Result<LatencyRules, String> {
    LatencyRules::from_toml(include_str!("../../../data/accept/latency.toml"))
}
