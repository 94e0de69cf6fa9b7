//! One GPU of a full listing: `nvidia-smi -q` prints the same tree as text and as XML, under names that changed with
//! the drivers. [`FIELDS`] is the list of names; a new driver's new spelling is one more string there.

use super::value::{is_none, number_of, shown, small, whole, whole_of};
use super::{Gpu, Read, RemappedRows};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Longest value kept of one field, in characters.
const MAX_VALUE: usize = 120;

/// Most GPUs read from one capture. No machine has more; hostile input would fill the memory with them.
pub(crate) const MAX_GPUS: usize = 1024;

/// The names of one value: paths as they end, in lower case, blanks as `_`, first the XML's, then the text's.
const FIELDS: &[(&str, &[&str])] = &[
    ("name", &["/product_name"]),
    ("uuid", &["/uuid", "/gpu_uuid"]),
    ("mem_total", &["/fb_memory_usage/total"]),
    ("mem_used", &["/fb_memory_usage/used"]),
    (
        "temp",
        &["/temperature/gpu_temp", "/temperature/gpu_current_temp"],
    ),
    (
        "power_draw",
        &[
            "/power_readings/power_draw",
            "/gpu_power_readings/power_draw",
        ],
    ),
    (
        "power_average",
        &[
            "/gpu_power_readings/average_power_draw",
            "/power_readings/average_power_draw",
        ],
    ),
    (
        "power_instant",
        &[
            "/gpu_power_readings/instant_power_draw",
            "/power_readings/instant_power_draw",
            "/gpu_power_readings/instantaneous_power_draw",
        ],
    ),
    (
        "power_limit",
        &[
            "/gpu_power_readings/current_power_limit",
            "/power_readings/current_power_limit",
            "/power_readings/power_limit",
            "/gpu_power_readings/power_limit",
        ],
    ),
    (
        "default_limit",
        &[
            "/power_readings/default_power_limit",
            "/gpu_power_readings/default_power_limit",
        ],
    ),
    (
        "pcie_gen_cur",
        &["/pcie_gen/current_link_gen", "/pcie_generation/current"],
    ),
    (
        "pcie_gen_max",
        &["/pcie_gen/max_link_gen", "/pcie_generation/max"],
    ),
    (
        "pcie_gen_devmax",
        &[
            "/pcie_gen/max_device_link_gen",
            "/pcie_generation/device_max",
        ],
    ),
    (
        "width_cur",
        &["/link_widths/current_link_width", "/link_width/current"],
    ),
    (
        "width_max",
        &["/link_widths/max_link_width", "/link_width/max"],
    ),
    ("mig", &["/mig_mode/current_mig", "/mig_mode/current"]),
    ("ecc", &["/ecc_mode/current_ecc", "/ecc_mode/current"]),
    ("virt", &["/gpu_virtualization_mode/virtualization_mode"]),
    ("util", &["/utilization/gpu_util", "/utilization/gpu"]),
    ("fabric", &["/fabric/state"]),
    ("fabric_status", &["/fabric/status"]),
    ("perf", &["/performance_state"]),
    ("recovery", &["/gpu_recovery_action"]),
    ("sm_clock", &["/clocks/sm_clock", "/clocks/sm"]),
    ("mem_clock", &["/clocks/mem_clock", "/clocks/memory"]),
    (
        "retired_sbe",
        &[
            "/multiple_single_bit_retirement/retired_count",
            "/retired_pages/single_bit_ecc",
        ],
    ),
    (
        "retired_dbe",
        &[
            "/double_bit_retirement/retired_count",
            "/retired_pages/double_bit_ecc",
        ],
    ),
    (
        "retired_pending",
        &[
            "/retired_pages/pending_blacklist",
            "/retired_pages/pending_retirement",
            "/retired_pages/pending_page_blacklist",
            "/retired_pages/pending",
        ],
    ),
    (
        "row_corr",
        &[
            "/remapped_rows/remapped_row_corr",
            "/remapped_rows/correctable_error",
        ],
    ),
    (
        "row_unc",
        &[
            "/remapped_rows/remapped_row_unc",
            "/remapped_rows/uncorrectable_error",
        ],
    ),
    (
        "row_pending",
        &[
            "/remapped_rows/remapped_row_pending",
            "/remapped_rows/pending",
        ],
    ),
    (
        "row_failure",
        &[
            "/remapped_rows/remapped_row_failure",
            "/remapped_rows/remapping_failure_occurred",
        ],
    ),
];

/// Counts of memory errors, below `ecc_errors/volatile` or `ecc_errors/aggregate`, and whether one is correctable.
/// Cards before Turing print single and double bit with a total; later ones a line a memory.
const ECC: &[(&str, bool)] = &[
    ("sram_uncorrectable", false),
    ("sram_uncorrectable_parity", false),
    ("sram_uncorrectable_secded", false),
    ("sram_uncorrectable_sec-ded", false),
    ("dram_uncorrectable", false),
    ("double_bit/total", false),
    ("sram_correctable", true),
    ("dram_correctable", true),
    ("single_bit/total", true),
];

/// Where reasons for lower clocks stand.
const REASONS: [&str; 2] = ["/clocks_event_reasons/", "/clocks_throttle_reasons/"];

/// The value that a path names. By the path's last name first: a listing has hundreds of paths a GPU.
fn field(path: &str) -> Option<&'static str> {
    type Named = HashMap<&'static str, Vec<(&'static str, &'static str)>>;
    static BY_NAME: LazyLock<Named> = LazyLock::new(|| {
        let mut all = Named::new();
        for (key, path) in FIELDS
            .iter()
            .flat_map(|(key, paths)| paths.iter().map(move |p| (*key, *p)))
        {
            all.entry(last_name(path)).or_default().push((path, key));
        }
        all
    });
    let named = BY_NAME.get(last_name(path))?;
    named
        .iter()
        .find(|(end, _)| path.ends_with(end))
        .map(|(_, key)| *key)
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// One GPU while its listing is read.
#[derive(Default)]
pub(crate) struct Device {
    values: Vec<(&'static str, String)>,
    /// Name of the counter, whether correctable, count.
    volatile: Vec<(&'static str, bool, u64)>,
    aggregate: Vec<(&'static str, bool, u64)>,
    /// Active reasons as printed, once any reason was listed.
    pub(crate) reasons: Option<Vec<String>>,
    /// Whether some value says that the GPU does not answer.
    lost: bool,
    pub(crate) bus_id: Option<String>,
    pub(crate) mig_devices: u32,
}

impl Device {
    /// A GPU of which only the address on the PCI bus is known yet.
    pub(crate) fn at(bus_id: Option<String>) -> Device {
        Device {
            bus_id,
            ..Device::default()
        }
    }

    /// Takes one value in. `path` begins with `/` and is relative to the GPU; the last name in its own spelling is
    /// `label`.
    pub(crate) fn take(&mut self, path: &str, label: &str, text: &str) {
        // MIG devices repeat the names of the whole card: not its values
        if path.contains("/mig_device") {
            return;
        }
        let value = text.trim();
        self.lost |= ["GPU is lost", "Unknown Error", "GPU requires reset"]
            .iter()
            .any(|l| value.trim_matches(['[', ']']).eq_ignore_ascii_case(l));
        for under in REASONS {
            if path.contains(under) {
                let reasons = self.reasons.get_or_insert_default();
                if value == "Active" && reasons.len() < 32 {
                    reasons.push(shown(label.trim(), MAX_VALUE));
                }
                return;
            }
        }
        for (part, counts) in [
            ("/ecc_errors/volatile/", &mut self.volatile),
            ("/ecc_errors/aggregate/", &mut self.aggregate),
        ] {
            let Some(at) = path.find(part) else { continue };
            let leaf = &path[at + part.len()..];
            let known = ECC.iter().find(|(name, _)| *name == leaf);
            if let (Some((name, correctable)), Some(n)) = (known, whole(value))
                && counts.iter().all(|(have, ..)| have != name)
            {
                counts.push((name, *correctable, n));
            }
            return;
        }
        if let Some(key) = field(path)
            && self.raw(key).is_none()
        {
            // `raw` keeps the blanks: readings show values as printed
            self.values.push((key, shown(text, MAX_VALUE)));
        }
    }

    /// A value as printed.
    pub(crate) fn raw(&self, key: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(k, _)| *k == key)
            .map(|(_, v)| v.as_str())
    }

    fn stated(&self, key: &str) -> Option<&str> {
        self.raw(key).map(str::trim).filter(|v| !is_none(v))
    }

    fn yes(&self, key: &str) -> Option<bool> {
        match self.stated(key)? {
            "Yes" | "Enabled" | "Active" => Some(true),
            "No" | "Disabled" | "Not Active" => Some(false),
            _ => None,
        }
    }

    /// Nonzero counters in the order of how bad they are, as `(name, value)`. The single and double bit totals of
    /// cards before Turing are not among them: nearly every old card has some, and the problems list them.
    pub(crate) fn marks(&self) -> Vec<(String, String)> {
        let mut marks = Vec::new();
        let mut add = |group: &str, name: &str, value: &str| {
            if value != "0" && value != "No" {
                marks.push((format!("{group}.{name}"), value.to_owned()));
            }
        };
        let errors = |correctable: bool| {
            let of = move |group: &'static str, counts: &[(&'static str, bool, u64)]| {
                let those = counts
                    .iter()
                    .filter(move |c| c.1 == correctable && !c.0.contains("bit/"));
                those.map(|c| (group, c.0, c.2)).collect::<Vec<_>>()
            };
            let mut all = of("aggregate", &self.aggregate);
            all.extend(of("volatile", &self.volatile));
            all
        };
        for (group, name, n) in errors(false) {
            add(group, name, &n.to_string());
        }
        for (key, name) in [
            ("row_corr", "remapped_row_corr"),
            ("row_unc", "remapped_row_unc"),
            ("row_pending", "remapped_row_pending"),
            ("row_failure", "remapped_row_failure"),
        ] {
            add("remapped_rows", name, self.stated(key).unwrap_or("0"));
        }
        for (group, name, n) in errors(true) {
            add(group, name, &n.to_string());
        }
        marks
    }

    /// The GPU in the shape of all kinds. `index` is its place in the listing.
    pub(crate) fn gpu(&self, index: usize) -> Gpu {
        let watts = |key: &str| self.stated(key).and_then(|v| number_of(v, "W"));
        let mib = |key: &str| self.stated(key).and_then(|v| whole_of(v, "MiB"));
        let lanes = |key: &str| self.stated(key).and_then(|v| small(v.strip_suffix('x')?));
        let sum = |counts: &[(&str, bool, u64)], correctable: bool| {
            let mut those = counts.iter().filter(|c| c.1 == correctable).peekable();
            those.peek()?;
            Some(those.fold(0u64, |sum, c| sum.saturating_add(c.2)))
        };
        let rows = RemappedRows {
            correctable: self.stated("row_corr").and_then(whole),
            uncorrectable: self.stated("row_unc").and_then(whole),
            pending: self.yes("row_pending"),
            failed: self.yes("row_failure"),
        };
        let pages = ["retired_sbe", "retired_dbe"].map(|k| self.stated(k).and_then(whole));
        let retired = pages
            .iter()
            .flatten()
            .fold(0u64, |a, b| a.saturating_add(*b));
        Gpu {
            index: u32::try_from(index).ok(),
            name: self.stated("name").map(str::to_owned),
            bus_id: self.bus_id.clone(),
            has_uuid: self.stated("uuid").is_some(),
            memory_total_mib: mib("mem_total"),
            memory_used_mib: mib("mem_used"),
            power_draw_w: ["power_draw", "power_average", "power_instant"]
                .into_iter()
                .find_map(watts),
            power_limit_w: watts("power_limit"),
            default_power_limit_w: watts("default_limit"),
            pcie_gen: self.stated("pcie_gen_cur").and_then(small),
            pcie_gen_max: self.stated("pcie_gen_max").and_then(small),
            pcie_width: lanes("width_cur"),
            pcie_width_max: lanes("width_max"),
            ecc: self.yes("ecc"),
            ecc_uncorrectable_volatile: sum(&self.volatile, false),
            ecc_uncorrectable_aggregate: sum(&self.aggregate, false),
            ecc_correctable_aggregate: sum(&self.aggregate, true),
            remapped_rows: (rows != RemappedRows::default()).then_some(rows),
            retired_pages: pages.iter().any(Option::is_some).then_some(retired),
            mig: self.yes("mig"),
            mig_devices: (self.mig_devices > 0).then_some(self.mig_devices),
            temperature_c: self.stated("temp").and_then(|v| number_of(v, "C")),
            utilisation_percent: self.stated("util").and_then(|v| number_of(v, "%")),
            sm_clock_mhz: self
                .stated("sm_clock")
                .and_then(|v| small(v.strip_suffix("MHz")?)),
            memory_clock_mhz: self
                .stated("mem_clock")
                .and_then(|v| small(v.strip_suffix("MHz")?)),
            performance_state: self.stated("perf").map(str::to_owned),
            virtualization: self.stated("virt").map(str::to_owned),
            throttle_reasons: self
                .reasons
                .as_ref()
                .map(|r| r.iter().map(|label| reason(label)).collect()),
            ..Gpu::default()
        }
    }

    /// Adds the GPU and what the listing states to be wrong with it.
    pub(crate) fn finish(&self, index: usize, out: &mut Read) {
        let gpu = self.gpu(index);
        let subject = format!("GPU{index}");
        if self.lost {
            out.problem(
                "gpu_lost",
                &subject,
                "values read GPU is lost or Unknown Error",
            );
        }
        if let Some(action) = self.stated("recovery").filter(|a| *a != "None") {
            out.problem("gpu_needs_recovery", &subject, action);
        }
        if let Some(state) = self.stated("fabric").filter(|s| *s != "Completed") {
            out.problem(
                "fabric_not_ready",
                &subject,
                format!("fabric state {state}"),
            );
        } else if let Some(status) = self.stated("fabric_status").filter(|s| *s != "Success") {
            out.problem(
                "fabric_not_ready",
                &subject,
                format!("fabric status {status}"),
            );
        }
        wrong_with(&gpu, &subject, out);
        out.reading.gpus.push(gpu);
    }
}

/// A reason for lower clocks in one spelling: `SW Power Cap`, `clocks_event_reason_sw_power_cap` and
/// `clocks_throttle_reasons.sw_power_cap` are the same.
pub(crate) fn reason(label: &str) -> String {
    const PREFIXES: [&str; 4] = [
        "clocks_event_reasons.",
        "clocks_throttle_reasons.",
        "clocks_event_reason_",
        "clocks_throttle_reason_",
    ];
    let key = key(label);
    let bare = PREFIXES
        .iter()
        .find_map(|p| key.strip_prefix(p))
        .unwrap_or(&key);
    bare.strip_prefix("gpu_").unwrap_or(bare).to_owned()
}

/// A label as a path's name: lower case, blanks as `_`.
pub(crate) fn key(label: &str) -> String {
    label
        .trim()
        .chars()
        .map(|c| {
            if c.is_whitespace() {
                '_'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

/// What the values of a GPU state to be wrong, whatever kind of capture they come from.
pub(crate) fn wrong_with(gpu: &Gpu, subject: &str, out: &mut Read) {
    let mut say = |code: &'static str, detail: String| out.problem(code, subject, detail);
    match gpu.ecc_uncorrectable_volatile {
        Some(n) if n > 0 => say(
            "ecc_uncorrectable",
            format!("{n} since the driver was loaded"),
        ),
        _ => {}
    }
    match gpu.ecc_uncorrectable_aggregate {
        Some(n) if n > 0 => say("ecc_uncorrectable", format!("{n} in the card's life")),
        _ => {}
    }
    if let Some(rows) = &gpu.remapped_rows {
        if rows.failed == Some(true) {
            say("row_remap_failed", "no spare row left".to_owned());
        }
        if rows.pending == Some(true) {
            say("row_remap_pending", "waits for a reset".to_owned());
        }
        if let Some(n) = rows.uncorrectable.filter(|n| *n > 0) {
            say("rows_remapped", format!("{n} after uncorrectable errors"));
        }
    }
    if let Some(n) = gpu.retired_pages.filter(|n| *n > 0) {
        say("pages_retired", n.to_string());
    }
    if let (Some(now), Some(max)) = (gpu.pcie_width, gpu.pcie_width_max)
        && now < max
    {
        say("link_narrow", format!("{now} of {max} lanes"));
    }
    if let (Some(limit), Some(default)) = (gpu.power_limit_w, gpu.default_power_limit_w)
        && limit < default
    {
        say("power_capped", format!("{limit} W of {default} W"));
    }
    for name in gpu.throttle_reasons.iter().flatten() {
        match name.as_str() {
            "hw_thermal_slowdown" | "sw_thermal_slowdown" => {
                say("throttled_thermal", name.clone());
            }
            "hw_power_brake_slowdown" => say("throttled_power_brake", name.clone()),
            "hw_slowdown" => say("throttled_hardware", name.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn reasons_have_one_spelling() {
        for (label, one) in [
            ("SW Power Cap", "sw_power_cap"),
            ("clocks_event_reason_sw_power_cap", "sw_power_cap"),
            ("clocks_throttle_reasons.sync_boost", "sync_boost"),
            ("clocks_event_reason_gpu_idle", "idle"),
            ("HW Thermal Slowdown", "hw_thermal_slowdown"),
        ] {
            assert_eq!(reason(label), one);
        }
    }
}
