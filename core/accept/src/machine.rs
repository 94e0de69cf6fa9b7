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
    /// It was read from a picture, and this does not agree.
    pub doubts: Vec<Doubt>,
    /// It was read from a picture.
    pub pictured: bool,
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

/// A field of a picture that does not agree with another.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// `driver`, `CUDA`, `GPU 0`, ...
    pub field: String,
    pub reason: Msg,
}

impl Doubt {
    pub(crate) fn new(field: &str, reason: Msg) -> Doubt {
        Doubt {
            field: field.to_owned(),
            reason,
        }
    }
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
    /// A picture, and no program here that reads it.
    NoReader,
    /// A picture that could not be read.
    Picture(String),
}

impl Unreadable {
    pub(crate) fn msg(&self) -> Msg {
        match self {
            Unreadable::Empty => Msg::new("accept-capture-empty"),
            Unreadable::NotRecognised => Msg::new("accept-capture-unknown"),
            Unreadable::OtherTool(kind) => {
                Msg::new("accept-capture-other").arg("kind", kind.as_str())
            }
            Unreadable::NoReader => Msg::new("accept-screen-no-reader"),
            Unreadable::Picture(why) => {
                Msg::new("accept-screen-failed").arg("detail", why.as_str())
            }
            Unreadable::Failed(code) => {
                Msg::new("accept-capture-failed").arg("code", code.as_str())
            }
        }
    }
}
