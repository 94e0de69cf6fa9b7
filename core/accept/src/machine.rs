//! The machine as somebody shows it: what a capture states, or what was typed. Nothing here is judged.

use lessee_model::Msg;

/// One machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Number of the kernel driver; of AMD machines the ROCm version.
    pub driver: Option<String>,
    /// The CUDA version that was printed beside it.
    pub printed_cuda: Option<String>,
    pub gpus: Vec<Gpu>,
    /// What the capture itself states to be wrong.
    pub faults: Vec<Fault>,
    /// From the output of a tool, not typed.
    pub captured: bool,
    /// The capture states that the NVSwitch fabric is ready.
    pub fabric_ready: bool,
    /// Why the capture says nothing of a machine.
    pub unreadable: Option<Unreadable>,
}

/// One GPU of it.
#[derive(Clone, Debug, Default)]
pub struct Gpu {
    /// As printed; long names may be cut and end in `...`.
    pub name: Option<String>,
    /// MiB, as printed.
    pub memory_mib: Option<u64>,
    /// MiB that this product shows with ECC on, where that is known.
    pub usual_mib: Option<u64>,
    pub ecc: Option<bool>,
    pub mig: Option<bool>,
    /// The driver says that it is a slice of a card.
    pub vgpu: bool,
}

/// Something that the capture states to be wrong, by the stable codes of `io/probe`.
#[derive(Clone, Debug)]
pub struct Fault {
    pub code: String,
    pub subject: String,
    pub detail: String,
}

/// Why a capture says nothing of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    Empty,
    /// None of the known outputs.
    NotRecognised,
    /// The output of another tool, which names no driver and no GPU.
    OtherTool(String),
    /// The tool itself failed, with this code.
    Failed(String),
}

impl Unreadable {
    pub(crate) fn msg(&self) -> Msg {
        match self {
            Unreadable::Empty => Msg::new("accept-capture-empty"),
            Unreadable::NotRecognised => Msg::new("accept-capture-unknown"),
            Unreadable::OtherTool(kind) => {
                Msg::new("accept-capture-other").arg("kind", kind.as_str())
            }
            Unreadable::Failed(code) => {
                Msg::new("accept-capture-failed").arg("code", code.as_str())
            }
        }
    }
}
