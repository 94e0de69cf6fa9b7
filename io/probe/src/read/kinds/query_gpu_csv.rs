//! `nvidia-smi --query-gpu=... --format=csv`: a header of field names, a row a GPU, again at each tick with `-l`.
//!
//! Without a header (`noheader`) the columns are a guess, so such a capture is not read as this kind.

use super::smi_error;
use crate::read::device::{MAX_GPUS, reason};
use crate::read::health::wrong_with;
use crate::read::{Gpu, Read, RemappedRows, source::Source, value};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Most columns; driver 610 has 239.
const MAX_COLUMNS: usize = 1024;

/// Most rows of which the values are shown; all are counted.
const MAX_ROWS: usize = 1024;

/// A query of no more columns was chosen by hand: all its values are facts. Of `--query-gpu=` with everything only
/// [`SHOWN`] are.
const CHOSEN: usize = 40;

/// Fields shown of every query, without their units.
const SHOWN: [&str; 25] = [
    "name",
    "driver_version",
    "temperature.gpu",
    "utilization.gpu",
    "power.draw",
    "enforced.power.limit",
    "power.default_limit",
    "pcie.link.gen.current",
    "pcie.link.gen.max",
    "pcie.link.gen.gpumax",
    "pcie.link.gen.hostmax",
    "pcie.link.width.current",
    "pcie.link.width.max",
    "memory.used",
    "memory.total",
    "mig.mode.current",
    "clocks_event_reasons.active",
    "clocks_event_reasons.sw_power_cap",
    "clocks_event_reasons.hw_slowdown",
    "clocks_event_reasons.sw_thermal_slowdown",
    "clocks_throttle_reasons.active",
    "clocks_throttle_reasons.sw_power_cap",
    "clocks_throttle_reasons.hw_slowdown",
    "clocks_throttle_reasons.sw_thermal_slowdown",
    "pstate",
];

/// Fields that identify the card: never shown.
const IDENTIFIERS: [&str; 6] = [
    "uuid",
    "gpu_uuid",
    "serial",
    "gpu_serial",
    "pdi",
    "platform.chassis_serial_number",
];

/// Beginnings of field names that no other tool's table has.
const FAMILIES: [&str; 22] = [
    "temperature.",
    "utilization.",
    "power.",
    "enforced.",
    "pcie.link.",
    "memory.",
    "mig.mode.",
    "clocks.",
    "clocks_",
    "fan.",
    "ecc.",
    "pci.",
    "gpu_",
    "display_",
    "persistence_",
    "driver_",
    "compute_",
    "retired_pages.",
    "vbios_",
    "remapped_rows.",
    "accounting.",
    "encoder.",
];

/// Field names of one word.
const SINGLE: [&str; 9] = [
    "name",
    "index",
    "uuid",
    "serial",
    "count",
    "timestamp",
    "pstate",
    "compute_cap",
    "kmd_version",
];

/// Columns of a header, as printed.
fn header(line: &str) -> Option<Vec<&str>> {
    let columns: Vec<&str> = line
        .split(',')
        .map(str::trim)
        .take(MAX_COLUMNS + 1)
        .collect();
    let word = |c: &str| {
        let base = base(c);
        !base.is_empty()
            && base.len() <= 80
            && base
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
    };
    let family = |c: &str| FAMILIES.iter().any(|f| base(c).starts_with(f));
    let single = |c: &str| SINGLE.contains(&base(c));
    // `--query-compute-apps` has a process a row
    let fits = columns.len() <= MAX_COLUMNS
        && !columns.iter().any(|c| base(c) == "pid")
        && columns.iter().all(|c| word(c))
        && columns.iter().any(|c| family(c) || single(c))
        && (columns.iter().any(|c| family(c))
            || columns.len() > 1 && columns.iter().all(|c| single(c)));
    fits.then_some(columns)
}

/// A column without its unit.
fn base(column: &str) -> &str {
    column.split_once(" [").map_or(column, |(base, _)| base)
}

pub(crate) fn recognise(source: &Source) -> bool {
    source.head_lines().any(|line| header(line).is_some())
}

/// Whether a cell stands for something that is not stated.
fn is_token(cell: &str) -> bool {
    cell.starts_with('[') && cell.ends_with(']')
        || matches!(
            cell,
            "N/A" | "Not Active" | "Not Supported" | "ERR!" | "Unknown Error"
        )
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut columns: Vec<&str> = Vec::new();
    let mut rows = 0u64;
    let mut tokens: BTreeSet<&str> = BTreeSet::new();
    let mut values: Vec<Value> = Vec::new();
    // the last row of each GPU, by what tells them apart
    let mut last: Vec<Vec<&str>> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, line) in source.lines() {
        if columns.is_empty() {
            if let Some(found) = header(line) {
                columns = found;
            } else if !value::is_noise(line) && !smi_error::take(line, out) {
                out.not_understood(number, line);
            }
            continue;
        }
        let cells: Vec<&str> = line
            .split(',')
            .map(str::trim)
            .take(MAX_COLUMNS + 1)
            .collect();
        if cells == columns || value::is_noise(line) {
            continue;
        }
        if cells.len() != columns.len() {
            if !smi_error::take(line, out) {
                out.not_understood(number, line);
                let detail = format!("line {number}: {} of {} cells", cells.len(), columns.len());
                out.problem("incomplete_capture", "file", detail);
            }
            continue;
        }
        rows += 1;
        if tokens.len() < 64 {
            tokens.extend(cells.iter().filter(|c| is_token(c) && c.len() <= 80));
        }
        if values.len() < MAX_ROWS {
            values.push(Value::Object(shown(&columns, &cells)));
        }
        let row = Row {
            columns: &columns,
            cells: &cells,
        };
        let key = ["index", "uuid", "pci.bus_id", "gpu_bus_id"]
            .into_iter()
            .find_map(|k| row.stated(k));
        match key.and_then(|k| places.get(k)) {
            Some(at) => last[*at] = cells,
            None if last.len() < MAX_GPUS => {
                if let Some(key) = key {
                    places.insert(key, last.len());
                }
                last.push(cells);
            }
            None => {}
        }
    }
    let open = source.is_open(source.text.lines().count() as u64);
    for (place, cells) in last.iter().enumerate() {
        let row = Row {
            columns: &columns,
            cells,
        };
        let gpu = row.gpu();
        let subject = format!("GPU{}", gpu.index.map_or(place, |i| i as usize));
        if cells
            .iter()
            .any(|c| c.contains("GPU is lost") || c.contains("Unknown Error"))
        {
            out.problem(
                "gpu_lost",
                &subject,
                "values read GPU is lost or Unknown Error",
            );
        }
        wrong_with(&gpu, &subject, out);
        if let Some(driver) = row.stated("driver_version") {
            match out.reading.driver.as_deref() {
                Some(first) if first != driver => {
                    let detail = format!("driver {driver}, and {first} in a row above");
                    out.problem("several_drivers", &subject, detail);
                }
                Some(_) => {}
                None => out.reading.driver = Some(driver.to_owned()),
            }
            // where the text breaks off a driver without its second number is half of one
            if open && place + 1 == last.len() && !driver.contains('.') {
                let detail = format!("the last row breaks off: driver {driver}");
                out.problem("incomplete_capture", &subject, detail);
            }
        }
        out.reading.gpus.push(gpu);
    }
    out.fact("columns", columns.len());
    out.fact("rows", rows);
    out.fact("na_tokens", tokens.into_iter().collect::<Vec<_>>());
    out.fact("values", values);
    if rows == 0 {
        out.problem("incomplete_capture", "file", "no row below the header");
    }
}

/// The values of a row that are facts, under their columns as printed.
fn shown(columns: &[&str], cells: &[&str]) -> Map<String, Value> {
    let wanted = |c: &str| {
        SHOWN.contains(&base(c)) || columns.len() <= CHOSEN && !IDENTIFIERS.contains(&base(c))
    };
    let all = columns.iter().zip(cells);
    all.filter(|(c, _)| wanted(c))
        .map(|(c, v)| ((*c).to_owned(), Value::from(value::shown(v, 120))))
        .collect()
}

struct Row<'r, 'a> {
    columns: &'r [&'a str],
    cells: &'r [&'a str],
}

impl<'a> Row<'_, 'a> {
    fn stated(&self, field: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|c| base(c) == field)?;
        self.cells.get(at).copied().filter(|c| !value::is_none(c))
    }

    fn yes(&self, field: &str) -> Option<bool> {
        match self.stated(field)? {
            "Enabled" | "Yes" | "1" => Some(true),
            "Disabled" | "No" | "0" => Some(false),
            _ => None,
        }
    }

    /// Active reasons for lower clocks; `None` if no column states one.
    fn reasons(&self) -> Option<Vec<String>> {
        let mut any = None;
        for (column, cell) in self.columns.iter().zip(self.cells) {
            let name = base(column);
            let under = name.starts_with("clocks_event_reasons.")
                || name.starts_with("clocks_throttle_reasons.");
            if under && matches!(*cell, "Active" | "Not Active") {
                let active: &mut Vec<String> = any.get_or_insert_default();
                if *cell == "Active" {
                    active.push(reason(name));
                }
            }
        }
        any
    }

    fn gpu(&self) -> Gpu {
        let number = |f: &str| self.stated(f).and_then(value::number);
        let whole = |f: &str| self.stated(f).and_then(value::whole);
        let small = |f: &str| self.stated(f).and_then(value::small);
        let rows = RemappedRows {
            correctable: whole("remapped_rows.correctable"),
            uncorrectable: whole("remapped_rows.uncorrectable"),
            pending: self.yes("remapped_rows.pending"),
            failed: self.yes("remapped_rows.failure"),
        };
        let retired = [
            "retired_pages.single_bit_ecc.count",
            "retired_pages.double_bit.count",
        ]
        .map(whole);
        Gpu {
            index: small("index"),
            name: self
                .stated("name")
                .or(self.stated("gpu_name"))
                .map(|n| value::shown(n, 120)),
            bus_id: self
                .stated("pci.bus_id")
                .or(self.stated("gpu_bus_id"))
                .map(|b| value::shown(b, 40)),
            has_uuid: self.stated("uuid").or(self.stated("gpu_uuid")).is_some(),
            memory_total_mib: whole("memory.total"),
            memory_used_mib: whole("memory.used"),
            power_draw_w: number("power.draw")
                .or(number("power.draw.average"))
                .or(number("power.draw.instant")),
            power_limit_w: number("enforced.power.limit").or(number("power.limit")),
            default_power_limit_w: number("power.default_limit"),
            pcie_gen: small("pcie.link.gen.current").or(small("pcie.link.gen.gpucurrent")),
            pcie_gen_max: small("pcie.link.gen.max"),
            pcie_width: small("pcie.link.width.current"),
            pcie_width_max: small("pcie.link.width.max"),
            ecc: self.yes("ecc.mode.current"),
            ecc_uncorrectable_volatile: whole("ecc.errors.uncorrected.volatile.total"),
            ecc_uncorrectable_aggregate: whole("ecc.errors.uncorrected.aggregate.total"),
            ecc_correctable_aggregate: whole("ecc.errors.corrected.aggregate.total"),
            remapped_rows: (rows != RemappedRows::default()).then_some(rows),
            retired_pages: retired.iter().any(Option::is_some).then(|| {
                retired
                    .iter()
                    .flatten()
                    .fold(0u64, |a, b| a.saturating_add(*b))
            }),
            mig: self.yes("mig.mode.current"),
            temperature_c: number("temperature.gpu"),
            utilisation_percent: number("utilization.gpu"),
            sm_clock_mhz: small("clocks.current.sm").or(small("clocks.sm")),
            memory_clock_mhz: small("clocks.current.memory").or(small("clocks.mem")),
            performance_state: self.stated("pstate").map(|p| value::shown(p, 16)),
            throttle_reasons: self.reasons(),
            ..Gpu::default()
        }
    }
}
