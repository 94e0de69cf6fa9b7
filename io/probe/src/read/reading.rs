//! What a capture says, in one shape for all kinds.
//!
//! Absent means that the capture does not state it: never 0, never a default.

use super::Kind;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Most lines listed as not understood; the rest is counted.
const MAX_UNREAD: usize = 1000;
/// Most characters shown of one of them.
const MAX_UNREAD_CHARS: usize = 200;
/// Most problems listed. A broken capture may state the same one on each of a million lines.
const MAX_PROBLEMS: usize = 1000;

/// One capture, read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Read {
    /// What it is the output of; absent: not recognised.
    pub kind: Option<Kind>,
    /// The same shape for all kinds.
    pub reading: Reading,
    /// What this kind states, under the kind's own keys.
    pub facts: Map<String, Value>,
    /// Lines that were not understood, at most 1000.
    pub not_understood: Vec<Unread>,
    /// How many more there were.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_understood_left_out: u64,
}

/// What a judge needs of a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reading {
    /// Version of the kernel driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Newest CUDA that the driver serves, or the one a program ran with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<String>,
    /// The GPUs that the capture shows, in its order.
    pub gpus: Vec<Gpu>,
    /// What joins two devices, each pair once.
    pub links: Vec<Link>,
    /// What the capture states to be wrong.
    pub problems: Vec<Problem>,
}

/// One GPU as a capture shows it. Serial numbers and UUIDs are not kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(default)]
pub struct Gpu {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// As printed; the table cuts long names and ends them in `...`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Address on the PCI bus, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_id: Option<String>,
    /// Whether a UUID was printed; the UUID itself is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_uuid: bool,
    /// MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total_mib: Option<u64>,
    /// MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used_mib: Option<u64>,
    /// Watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_draw_w: Option<f64>,
    /// Watts; the limit that is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_limit_w: Option<f64>,
    /// Watts; the limit as delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_power_limit_w: Option<f64>,
    /// PCIe generation now; idle cards fall back to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcie_gen: Option<u32>,
    /// Highest PCIe generation of card and slot together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcie_gen_max: Option<u32>,
    /// Lanes now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcie_width: Option<u32>,
    /// Lanes that the card has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcie_width_max: Option<u32>,
    /// Whether error correction is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecc: Option<bool>,
    /// Uncorrectable memory errors since the driver was loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecc_uncorrectable_volatile: Option<u64>,
    /// Uncorrectable memory errors in the card's life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecc_uncorrectable_aggregate: Option<u64>,
    /// Correctable memory errors in the card's life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecc_correctable_aggregate: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remapped_rows: Option<RemappedRows>,
    /// Pages taken out of use, on cards before Ampere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retired_pages: Option<u64>,
    /// Whether the card is cut into MIG instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mig: Option<bool>,
    /// How many MIG devices the capture shows on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mig_devices: Option<u32>,
    /// Degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// Percent of the time in which some kernel ran; says nothing of how many of its units were busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation_percent: Option<f64>,
    /// MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<u32>,
    /// MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_clock_mhz: Option<u32>,
    /// `P0` (fastest) to `P15`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance_state: Option<String>,
    /// As printed: `None`, `Pass-Through`, `VGPU`, `Host VSGA`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
    /// Reasons for lower clocks that are active, in the words of the kind; empty: stated that none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle_reasons: Option<Vec<String>>,
    /// NVLinks of the card that the capture lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvlinks: Option<u32>,
    /// Those of them that carry data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvlinks_active: Option<u32>,
}

/// Rows of memory replaced by spare ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RemappedRows {
    /// After correctable errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correctable: Option<u64>,
    /// After uncorrectable errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncorrectable: Option<u64>,
    /// Waits for a reset of the GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<bool>,
    /// Could not be done: no spare row left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
}

/// What joins two devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// As the capture names it: `GPU0`, `NIC3`.
    pub a: String,
    pub b: String,
    /// As the capture labels it: `NV12`, `PHB`, `OK`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Something that the capture states to be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Stable word for programs.
    pub code: Cow<'static, str>,
    /// What it concerns: `GPU3`, `GPU0-NIC2`, `driver`, `file`.
    pub subject: String,
    /// The evidence, in the words or numbers of the capture.
    pub detail: String,
}

/// A line that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// From 1.
    pub line: u64,
    /// At most 200 characters of it; identifiers are masked.
    pub text: String,
}

impl Read {
    pub(crate) fn fact(&mut self, key: &str, value: impl Into<Value>) {
        self.facts.insert(key.to_owned(), value.into());
    }

    pub(crate) fn problem(
        &mut self,
        code: &'static str,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) {
        if !self.problems_are_full() {
            self.reading.problems.push(Problem {
                code: Cow::Borrowed(code),
                subject: subject.into(),
                detail: super::value::shown(&detail.into(), MAX_UNREAD_CHARS),
            });
        }
    }

    /// Whether further problems would be left out.
    pub(crate) fn problems_are_full(&self) -> bool {
        self.reading.problems.len() >= MAX_PROBLEMS
    }

    pub(crate) fn not_understood(&mut self, line: u64, text: &str) {
        if self.not_understood.len() < MAX_UNREAD {
            self.not_understood.push(Unread {
                line,
                text: super::value::shown(text.trim_end(), MAX_UNREAD_CHARS),
            });
        } else {
            self.not_understood_left_out += 1;
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}
