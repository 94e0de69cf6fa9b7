//! How much is proved, and how long it may take.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Memory of the device that the kernels work on, bytes; copies take as much again.
    pub device_bytes: usize,
    /// Pinned memory for host copies, bytes.
    pub host_bytes: usize,
    /// Memory copied between two GPUs, bytes.
    pub peer_bytes: usize,
    /// Each rate is measured for at least this long.
    pub at_least: Duration,
    /// No step runs longer.
    pub cap: Duration,
    /// No step begins after this, counted from the start of all.
    pub total: Duration,
    /// Set by whoever handles Ctrl-C: no step begins any more.
    pub stop: Option<&'static AtomicBool>,
    /// Whether GPUs are tried in pairs.
    pub peers: bool,
}

const MIB: usize = 1 << 20;

impl Default for Options {
    fn default() -> Options {
        Options {
            device_bytes: 1024 * MIB,
            host_bytes: 256 * MIB,
            peer_bytes: 256 * MIB,
            at_least: Duration::from_millis(1000),
            cap: Duration::from_secs(60),
            total: Duration::from_secs(600),
            stop: None,
            peers: true,
        }
    }
}

impl Options {
    /// For a run that must be over within a minute on eight GPUs.
    pub fn quick() -> Options {
        Options {
            device_bytes: 256 * MIB,
            host_bytes: 64 * MIB,
            peer_bytes: 64 * MIB,
            at_least: Duration::from_millis(50),
            cap: Duration::from_secs(10),
            total: Duration::from_secs(60),
            ..Options::default()
        }
    }
}
