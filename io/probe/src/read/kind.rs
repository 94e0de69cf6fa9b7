//! The kinds of capture, by name.

use serde::{Serialize, Serializer};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $key:literal),+ $(,)?) => {
        /// What a capture is the output of. The name is stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $name),+
        }

        impl Kind {
            /// All, whether or not this build reads them.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),+];

            /// As JSON spells it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Kind::$name => $key),+
                }
            }
        }
    };
}

kinds! {
    /// `nvidia-smi` without an option.
    SmiTable = "smi-table",
    /// `nvidia-smi -q`.
    SmiQText = "smi-q-text",
    /// `nvidia-smi -q -x`.
    SmiXml = "smi-xml",
    /// `nvidia-smi --query-gpu=... --format=csv`.
    QueryGpuCsv = "query-gpu-csv",
    /// `nvidia-smi` that fails.
    SmiError = "smi-error",
    /// `nvidia-smi dmon`.
    Dmon = "dmon",
    /// `nvidia-smi topo -m`, `-mp` or `-p2p`.
    TopoM = "topo-m",
    /// `nvidia-smi nvlink -s`.
    NvlinkS = "nvlink-s",
    /// nvbandwidth, text or JSON.
    Nvbandwidth = "nvbandwidth",
    /// nccl-tests.
    Nccl = "nccl",
    /// gpu-burn.
    GpuBurn = "gpu-burn",
    /// bandwidthTest of the CUDA samples.
    GpuBw = "gpu-bw",
    /// STREAM, of CPU or GPU.
    Stream = "stream",
    /// `ibstat` or `ibstatus`.
    Ibstat = "ibstat",
    /// `/sys/class/infiniband`, a line a file.
    IbSysfs = "ib-sysfs",
    /// `ib_write_bw` and its siblings.
    IbPerf = "ib-perf",
    /// `lscpu`, text or JSON.
    Lscpu = "lscpu",
    /// `dmidecode`.
    Dmidecode = "dmidecode",
    /// `lspci`.
    Lspci = "lspci",
    /// fio's JSON.
    Fio = "fio",
    /// A kernel log, or the fabric manager's.
    Kmsg = "kmsg",
    /// Utilisation over time, as loggers write it.
    UtilCurve = "util-curve",
}

impl Kind {
    /// Whether this build has a reader for it.
    pub fn is_read(self) -> bool {
        super::kinds::REGISTRY.iter().any(|r| r.kind == self)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
