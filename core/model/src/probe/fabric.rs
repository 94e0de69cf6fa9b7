//! Ports towards other machines, as the kernel shows them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// InfiniBand, RoCE and EFA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Empty where none was seen.
    pub ports: Vec<Port>,
    /// Seconds between the two readings behind `grown`; absent after one reading.
    #[serde(default)]
    pub watched_s: Option<f64>,
}

/// A port of an adapter; absent is what the kernel does not say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// `mlx5_0`
    pub adapter: String,
    pub port: u32,
    /// `mlx5_core`, `efa`, `irdma`, `bnxt_re`
    #[serde(default)]
    pub driver: Option<String>,
    /// `MT4129`
    #[serde(default)]
    pub adapter_type: Option<String>,
    /// Network interfaces of the same device.
    #[serde(default)]
    pub interfaces: Vec<String>,
    /// `InfiniBand`, `Ethernet` (RoCE), `Unspecified` (EFA)
    #[serde(default)]
    pub link_layer: Option<String>,
    /// `ACTIVE`, `DOWN`, `INIT`
    #[serde(default)]
    pub state: Option<String>,
    /// `LinkUp`, `Polling`, `Disabled`
    #[serde(default)]
    pub physical_state: Option<String>,
    /// In each direction; of a port that is down it means nothing.
    #[serde(default)]
    pub rate_gbps: Option<f64>,
    #[serde(default)]
    pub numa_node: Option<u32>,
    /// Errors since the port came up, by the kernel's names.
    #[serde(default)]
    pub errors: BTreeMap<String, u64>,
    /// Those that came while it was watched.
    #[serde(default)]
    pub grown: BTreeMap<String, u64>,
}

impl Port {
    /// `mlx5_0/1`
    pub fn name(&self) -> String {
        format!("{}/{}", self.adapter, self.port)
    }

    pub fn active(&self) -> bool {
        self.state
            .as_deref()
            .is_some_and(|s| s.eq_ignore_ascii_case("ACTIVE"))
    }
}
