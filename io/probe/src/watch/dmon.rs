//! Tables with blanks between the cells: `nvidia-smi dmon` and `pmon`, `dcgmi dmon`.

use super::build::{Builder, gpu_id};
use super::columns::{self, Column, cell, set};
use super::{Format, time};
use lessee_supervise::curve::{GpuId, Sample};

/// The names of a header line of `nvidia-smi dmon` or `pmon`. Comments start with `#` too; a header has a column
/// `gpu` among the first three and little else than known short names.
pub(super) fn header(line: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = line.strip_prefix('#')?.split_whitespace().collect();
    let gpu = names.iter().position(|n| *n == "gpu")?;
    let known = names
        .iter()
        .filter(|n| columns::dmon(n).is_some() || matches!(**n, "pid" | "mclk" | "bar1" | "type"));
    (gpu <= 2 && known.count() * 4 >= names.len() && names.len() >= 2 && names.len() <= 64)
        .then_some(names)
}

/// The names of a header line of `dcgmi dmon`, without the first.
pub(super) fn dcgmi_header(line: &str) -> Option<Vec<&str>> {
    let rest = line
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("Entity")?;
    let names: Vec<&str> = rest.split_whitespace().collect();
    names
        .iter()
        .any(|n| columns::dcgmi(n).is_some())
        .then_some(names)
}

enum Role {
    Date,
    Time,
    Gpu,
    Pid,
    Field(Column),
    Other,
}

fn roles(names: &[&str]) -> Vec<Role> {
    let role = |name: &&str| match *name {
        "Date" => Role::Date,
        "Time" => Role::Time,
        "gpu" => Role::Gpu,
        "pid" => Role::Pid,
        other => columns::dmon(other).map_or(Role::Other, Role::Field),
    };
    names.iter().map(role).collect()
}

struct Row {
    gpu: GpuId,
    pid: Option<u64>,
    time_s: Option<f64>,
    sample: Sample,
}

/// A row under its header. The command of `pmon` stands last and may have blanks.
fn row(line: &str, roles: &[Role]) -> Option<Row> {
    let mut cells = line.split_whitespace();
    let (mut date, mut clock) = (None, None);
    let mut out = Row {
        gpu: GpuId::Index(0),
        pid: None,
        time_s: None,
        sample: Sample::default(),
    };
    let mut seen = false;
    for role in roles {
        let text = cells.next()?;
        match role {
            Role::Date => date = Some(time::day(text)?),
            Role::Time => clock = Some(time::of_day(text)?),
            Role::Gpu => {
                out.gpu = GpuId::Index(text.parse().ok()?);
                seen = true;
            }
            Role::Pid => out.pid = text.parse().ok(),
            Role::Field(column) => {
                if let Some(value) = cell(text) {
                    set(&mut out.sample, *column, value);
                }
            }
            Role::Other => {}
        }
    }
    out.time_s = clock.map(|s| date.unwrap_or(0.0) * 86_400.0 + s);
    seen.then_some(out)
}

pub(super) fn read(text: &str, format: Format, table: &mut Builder) {
    let mut now: Vec<Role> = Vec::new();
    // days that passed in a log that has only the time of day
    let (mut days, mut last) = (0.0, f64::NEG_INFINITY);
    let mut processes = Processes::default();
    for (i, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if trimmed.starts_with('#') {
            if let Some(names) = header(trimmed) {
                now = roles(&names);
            }
            continue;
        }
        let Some(mut row) = row(trimmed, &now) else {
            table.skip(i + 1, line);
            continue;
        };
        if let Some(t) = &mut row.time_s {
            table.clock = true;
            if *t + days < last - 43_200.0 && *t < 86_400.0 {
                days += 86_400.0;
            }
            *t += days;
            last = *t;
        }
        if format == Format::PmonText {
            processes.add(row, table);
        } else {
            table.push(row.gpu, row.time_s, row.sample);
        }
    }
    processes.close(table);
}

/// The lines of `pmon` that make one sample: each process of each GPU once. What processes use of a GPU adds up; a
/// process without a figure adds nothing, and a GPU of such processes alone has none.
#[derive(Default)]
struct Processes {
    rows: Vec<Row>,
    seen: std::collections::HashSet<(GpuId, Option<u64>)>,
    last: Option<GpuId>,
}

impl Processes {
    fn add(&mut self, row: Row, table: &mut Builder) {
        let again = self.seen.contains(&(row.gpu.clone(), row.pid));
        let back = self.last.as_ref().is_some_and(|last| row.gpu < *last);
        let later = self.rows.last().is_some_and(|r| r.time_s != row.time_s);
        if again || back || later {
            self.close(table);
        }
        self.last = Some(row.gpu.clone());
        self.seen.insert((row.gpu.clone(), row.pid));
        self.rows.push(row);
    }

    fn close(&mut self, table: &mut Builder) {
        let mut rows = std::mem::take(&mut self.rows);
        self.seen.clear();
        self.last = None;
        rows.sort_by(|a, b| a.gpu.cmp(&b.gpu));
        for same in rows.chunk_by(|a, b| a.gpu == b.gpu) {
            let sum = |what: fn(&Sample) -> Option<f64>| {
                let known: Vec<f64> = same.iter().filter_map(|r| what(&r.sample)).collect();
                (!known.is_empty()).then(|| known.iter().sum::<f64>().min(100.0))
            };
            let memory: Vec<f64> = same.iter().filter_map(|r| r.sample.mem_used_mib).collect();
            let sample = Sample {
                util_gpu_pct: sum(|s| s.util_gpu_pct),
                util_mem_pct: sum(|s| s.util_mem_pct),
                enc_pct: sum(|s| s.enc_pct),
                dec_pct: sum(|s| s.dec_pct),
                mem_used_mib: (!memory.is_empty()).then(|| memory.iter().sum()),
                ..Sample::default()
            };
            table.push(same[0].gpu.clone(), same[0].time_s, sample);
        }
    }
}

pub(super) fn read_dcgmi(text: &str, table: &mut Builder) {
    let mut now: Vec<Option<Column>> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if let Some(names) = dcgmi_header(trimmed) {
            now = names.iter().map(|n| columns::dcgmi(n)).collect();
            continue;
        }
        // the second line of the header names units
        let second = trimmed.split_whitespace().next();
        let second = second.is_some_and(|word| word.eq_ignore_ascii_case("id"));
        if trimmed.is_empty() || trimmed.starts_with('#') || second {
            continue;
        }
        let mut cells = trimmed.split_whitespace();
        let (Some(kind), Some(id)) = (cells.next(), cells.next()) else {
            table.skip(i + 1, line);
            continue;
        };
        let gpu = match (kind, id.parse::<u32>()) {
            ("GPU", Ok(index)) => GpuId::Index(index),
            ("GPU-I" | "GPU-CI", Ok(_)) => gpu_id(&format!("{kind} {id}")),
            _ => {
                table.skip(i + 1, line);
                continue;
            }
        };
        let mut sample = Sample::default();
        for (column, text) in now.iter().zip(cells) {
            if let (Some(column), Some(value)) = (column, cell(text)) {
                set(&mut sample, *column, value);
            }
        }
        table.push(gpu, None, sample);
    }
}
