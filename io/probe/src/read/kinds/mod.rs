//! One file a kind, and the list of them: a new one is one file here, a `mod` line and a line of [`REGISTRY`].

// of nvidia-smi
mod dmon;
mod nvlink_s;
mod query_gpu_csv;
mod smi_error;
mod smi_q_text;
mod smi_table;
mod smi_xml;
mod topo_m;

// of other tools
mod dmidecode;
mod fio;
mod gpu_burn;
mod gpu_bw;
mod ib_perf;
pub(super) mod ib_sysfs;
mod ibstat;
mod kmsg;
mod lscpu;
mod lspci;
mod nccl;
mod nvbandwidth;
mod stream;
mod util_curve;

use super::{Kind, Read, labelled, source::Source, value};

/// How one kind is recognised and read.
pub(crate) struct Reader {
    pub(crate) kind: Kind,
    /// Cheap and strict: looks at [`Source::head`] only.
    pub(crate) recognise: fn(&Source) -> bool,
    pub(crate) read: fn(&Source, &mut Read),
}

macro_rules! reader {
    ($kind:ident in $module:ident) => {
        Reader {
            kind: Kind::$kind,
            recognise: $module::recognise,
            read: $module::read,
        }
    };
}

/// All readers, in the order in which they are asked: the first that recognises a capture reads it.
#[rustfmt::skip]
pub(crate) const REGISTRY: &[Reader] = &[
    // of nvidia-smi
    reader!(SmiXml in smi_xml),
    reader!(SmiQText in smi_q_text),
    reader!(SmiTable in smi_table),
    reader!(TopoM in topo_m),
    reader!(NvlinkS in nvlink_s),
    reader!(Dmon in dmon),
    reader!(QueryGpuCsv in query_gpu_csv),

    // of other tools
    reader!(Nvbandwidth in nvbandwidth),
    reader!(Fio in fio),
    reader!(Nccl in nccl),
    reader!(GpuBurn in gpu_burn),
    reader!(GpuBw in gpu_bw),
    reader!(Stream in stream),
    reader!(IbPerf in ib_perf),
    reader!(IbSysfs in ib_sysfs),
    reader!(Ibstat in ibstat),
    reader!(Dmidecode in dmidecode),
    reader!(Lscpu in lscpu),
    reader!(Lspci in lspci),
    reader!(UtilCurve in util_curve),
    reader!(Kmsg in kmsg),

    // sentences of failure occur in logs and in other tools' outputs too: after all others
    reader!(SmiError in smi_error),
];

/// What a reader of another tool does with a line that it has no use for: a failure of the driver is one in any
/// capture, what surrounds a paste is passed over, the rest is said.
fn unread(number: u64, line: &str, out: &mut Read) {
    if !value::is_noise(line) && !labelled::is_prompt(line) && !smi_error::take(line, out) {
        out.not_understood(number, line);
    }
}
