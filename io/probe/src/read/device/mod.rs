//! One GPU of a full listing: `nvidia-smi -q` prints the same tree as text and as XML, under names that changed with
//! the drivers. `fields.rs` is the list of names.

mod fields;

use super::health::wrong_with;
use super::value::{is_none, number_of, shown, small, whole, whole_of};
use super::{Gpu, Read, RemappedRows};
use fields::{ECC, FACTS, field};
use serde_json::{Map, Value, json};

/// Longest value kept of one field, in characters.
const MAX_VALUE: usize = 120;

/// Most GPUs read from one capture. No machine has more; hostile input would fill the memory with them.
pub(crate) const MAX_GPUS: usize = 1024;

/// Where reasons for lower clocks stand.
const REASONS: [&str; 2] = ["/clocks_event_reasons/", "/clocks_throttle_reasons/"];

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
    fn marks(&self) -> Vec<(String, String)> {
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

    /// The values that are facts, as printed, blanks and all.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let mut map = Map::new();
        for key in FACTS {
            let raw = match key {
                // one reading in drivers up to 535, then average and instant ones
                "power" => ["power_draw", "power_average", "power_instant"]
                    .into_iter()
                    .find_map(|k| self.raw(k)),
                key => self.raw(key),
            };
            if let Some(raw) = raw {
                map.insert(key.to_owned(), json!(raw));
            }
        }
        map
    }

    /// What is worth a finding, as `gpu3:remapped_rows.remapped_row_unc=1`.
    pub(crate) fn flags(&self, index: usize) -> Vec<String> {
        let marks = self.marks();
        let mut flags: Vec<String> = marks
            .iter()
            .map(|(mark, n)| format!("gpu{index}:{mark}={n}"))
            .collect();
        let gpu = self.gpu(index);
        if let (Some(now), Some(max)) = (gpu.pcie_width, gpu.pcie_width_max)
            && now < max
        {
            flags.push(format!("gpu{index}:link width {now}x of {max}x"));
        }
        flags
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
