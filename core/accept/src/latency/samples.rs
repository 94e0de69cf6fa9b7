//! What was measured of one target, sample by sample: the evidence that a verdict rests upon, and all that it is made from.

use super::target::Target;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Round trips to one target. Kept as JSON beside the acceptance, so that anybody can judge them again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySamples {
    /// `lessee/latency-samples/v1`
    pub schema: String,
    pub target: Target,
    /// How many were wanted, and over how long.
    pub samples: usize,
    pub seconds: f64,
    /// Not answered until then is lost.
    pub timeout_s: f64,
    /// The user ended it early.
    pub stopped: bool,
    /// Time that the name took to become addresses; null where an address was given.
    pub dns_ms: Option<f64>,
    /// That was connected to; of a proxy where there is one.
    pub address: Option<String>,
    pub route: Option<Route>,
    pub proxy: Option<Proxy>,
    /// What answers at the port.
    pub speaks: Option<Speaks>,
    /// In the order in which they were begun.
    pub connections: Vec<Connection>,
    pub echoes: Vec<Echo>,
    /// Why there is no echo: the system's own words.
    pub no_echoes: Option<String>,
    /// Why there is nothing at all.
    pub trouble: Option<Trouble>,
}

impl LatencySamples {
    pub const SCHEMA: &'static str = "lessee/latency-samples/v1";

    /// Nothing measured yet.
    pub fn new(target: Target, samples: usize, seconds: f64, timeout_s: f64) -> LatencySamples {
        LatencySamples {
            schema: Self::SCHEMA.to_owned(),
            target,
            samples,
            seconds,
            timeout_s,
            stopped: false,
            dns_ms: None,
            address: None,
            route: None,
            proxy: None,
            speaks: None,
            connections: Vec::new(),
            echoes: Vec::new(),
            no_echoes: None,
            trouble: None,
        }
    }
}

/// The interface that packets to the target leave by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    pub interface: String,
    /// As the kernel calls it: `tun`, `wireguard`, `vlan`; null of hardware.
    pub kind: Option<String>,
}

/// What stands between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proxy {
    pub kind: ProxyKind,
    /// `HOST:PORT`; never its password.
    pub at: String,
    /// Who named it: `--proxy` or an environment variable.
    pub named_by: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProxyKind {
    HttpConnect,
    /// The office resolves names.
    Socks5,
    /// The proxy resolves names.
    Socks5h,
}

/// What answers at a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaks {
    Tls {
        /// `TLSv1.3`, `TLSv1.2`.
        version: String,
        /// Round trips that its handshake takes.
        trips: u32,
    },
    Ssh,
    /// Neither, or nothing unasked; with what was found.
    Other {
        why: String,
    },
}

/// One connection, opened and closed again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// Begun, counted from the first.
    pub at_s: f64,
    /// From the call to its return.
    pub connect_ms: Option<f64>,
    /// From the opening packet to its answer, as the kernel timed it; null where it does not say, or where a packet had to
    /// be sent again.
    pub kernel_ms: Option<f64>,
    /// Opening packets that had to be sent again.
    pub repeats: u32,
    /// `kernel`, or `steps`: inferred from the time, as the kernel did not say.
    pub counted_by: String,
    /// Until the proxy said that it is through.
    pub tunnel_ms: Option<f64>,
    /// The TLS handshake alone.
    pub tls_ms: Option<f64>,
    pub error: Option<Trouble>,
}

/// One ping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Echo {
    pub at_s: f64,
    /// Null: not answered.
    pub ms: Option<f64>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trouble {
    pub kind: TroubleKind,
    /// In the system's own words.
    pub detail: String,
}

impl Trouble {
    pub fn new(kind: TroubleKind, detail: impl Into<String>) -> Trouble {
        Trouble {
            kind,
            detail: detail.into(),
        }
    }
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// The name has no address.
    Dns,
    Refused,
    TimedOut,
    Unreachable,
    /// The connection was there and broke off.
    Reset,
    /// The proxy itself, or it says that it cannot.
    Proxy,
    Tls,
    /// The user ended it first.
    Stopped,
    /// Anything else.
    System,
}

impl TroubleKind {
    pub const ALL: [TroubleKind; 9] = [
        TroubleKind::Dns,
        TroubleKind::Refused,
        TroubleKind::TimedOut,
        TroubleKind::Unreachable,
        TroubleKind::Reset,
        TroubleKind::Proxy,
        TroubleKind::Tls,
        TroubleKind::Stopped,
        TroubleKind::System,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TroubleKind::Dns => "dns",
            TroubleKind::Refused => "refused",
            TroubleKind::TimedOut => "timed_out",
            TroubleKind::Unreachable => "unreachable",
            TroubleKind::Reset => "reset",
            TroubleKind::Proxy => "proxy",
            TroubleKind::Tls => "tls",
            TroubleKind::Stopped => "stopped",
            TroubleKind::System => "system",
        }
    }
}
