//! CSV with a header: the columns of this project, and `nvidia-smi --query-gpu=... --format=csv -l`.

use super::build::{Builder, gpu_id};
use super::columns::{self, Column, cell, set};
use super::error::WatchError;
use super::time;
use lessee_supervise::curve::{GpuId, Sample};

enum Role {
    Time,
    /// The lower, the better it names a GPU.
    Gpu(u8),
    Name,
    Field(Column),
    Other,
}

pub(super) struct Header {
    roles: Vec<Role>,
    /// The names are those of `nvidia-smi --query-gpu`.
    pub(super) query: bool,
}

/// A header line: it has a column that says what a GPU did.
pub(super) fn header(line: &str) -> Option<Header> {
    let separator = separator(line);
    let names: Vec<&str> = line.split(separator).map(str::trim).take(512).collect();
    let roles: Vec<Role> = names.iter().map(|n| role(n)).collect();
    let known = roles.iter().any(|r| matches!(r, Role::Field(_)));
    known.then(|| Header {
        roles,
        query: names.iter().any(|n| n.contains('.') || n.contains('[')),
    })
}

fn separator(line: &str) -> char {
    match (line.contains(','), line.contains(';')) {
        (false, true) => ';',
        (false, false) if line.contains('\t') => '\t',
        _ => ',',
    }
}

fn role(name: &str) -> Role {
    let name = name.trim_matches('"').trim();
    let name = name.split('[').next().unwrap_or(name).trim();
    let plain: String = name
        .chars()
        .take(80)
        .map(|c| {
            if c.is_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect();
    match plain.as_str() {
        "t_s" | "timestamp" | "time" | "time_s" | "datetime" => Role::Time,
        "index" | "gpu" | "gpu_index" => Role::Gpu(0),
        "gpu_id" => Role::Gpu(1),
        "uuid" | "gpu_uuid" => Role::Gpu(2),
        "pci_bus_id" | "gpu_bus_id" => Role::Gpu(3),
        "name" | "gpu_name" => Role::Name,
        other => columns::csv(other).map_or(Role::Other, Role::Field),
    }
}

pub(super) fn read(file: &str, text: &str, table: &mut Builder) -> Result<(), WatchError> {
    let mut lines = text.lines().enumerate();
    let top = lines
        .by_ref()
        .map(|(_, line)| line.trim())
        .find_map(|line| {
            let comment = line.starts_with('#');
            header(line).filter(|_| !comment).map(|h| (line, h.roles))
        });
    let Some((top, roles)) = top else {
        return Err(WatchError::unknown(file, text));
    };
    let by = roles
        .iter()
        .enumerate()
        .filter_map(|(i, r)| match r {
            Role::Gpu(rank) => Some((*rank, i)),
            _ => None,
        })
        .min()
        .map(|(_, i)| i);
    let separator = separator(top);
    let timed = roles.iter().any(|r| matches!(r, Role::Time));
    // without a column that names the GPU, until it is known how many there are
    let mut nameless: Vec<(Option<f64>, Sample)> = Vec::new();
    let mut fraction = false;
    for (i, line) in lines {
        let trimmed = line.trim();
        // loops print their header again, pastes have comments
        if trimmed.is_empty() || trimmed.starts_with('#') || trimmed == top {
            continue;
        }
        let mut sample = Sample::default();
        let mut when = None;
        let mut gpu = None;
        let mut cells = 0;
        for ((k, role), text) in roles.iter().enumerate().zip(trimmed.split(separator)) {
            cells += 1;
            match role {
                Role::Time => {
                    if let Some((t, clock)) = time::parse(text) {
                        table.clock |= clock;
                        fraction |= clock && text.contains('.');
                        when = Some(t);
                    }
                }
                Role::Gpu(_) if by == Some(k) => gpu = Some(gpu_id(text.trim().trim_matches('"'))),
                Role::Name => table.name(text.trim().trim_matches('"')),
                Role::Field(column) => {
                    if let Some(value) = cell(text) {
                        set(&mut sample, *column, value);
                    }
                }
                Role::Gpu(_) | Role::Other => {}
            }
        }
        // a line cut off, a message in between
        if cells < roles.len().min(2)
            || (timed && when.is_none())
            || (by.is_some() && gpu.is_none())
        {
            table.skip(i + 1, line);
            continue;
        }
        match gpu {
            Some(gpu) => table.push(gpu, when, sample),
            None => nameless.push((when, sample)),
        }
    }
    let each = if fraction { interleaved(&nameless) } else { 1 };
    for (i, (when, sample)) in nameless.into_iter().enumerate() {
        let gpu = u32::try_from(i % each).unwrap_or(0);
        table.push(GpuId::Index(gpu), when, sample);
    }
    Ok(())
}

/// How many GPUs take turns: `nvidia-smi -l` prints the lines of all GPUs within milliseconds and then waits. 1 where
/// the lines do not fall into groups of one size.
fn interleaved(rows: &[(Option<f64>, Sample)]) -> usize {
    let times: Vec<f64> = rows.iter().filter_map(|(t, _)| *t).collect();
    if times.len() != rows.len() || times.len() < 4 {
        return 1;
    }
    let mut gaps: Vec<f64> = times.windows(2).map(|t| t[1] - t[0]).collect();
    let widest = {
        let at = (gaps.len() - 1) * 19 / 20;
        let (_, gap, _) = gaps.select_nth_unstable_by(at, f64::total_cmp);
        *gap
    };
    let groups: Vec<&[f64]> = times
        .chunk_by(|a, b| (b - a).abs() <= 0.2 * widest)
        .collect();
    let size = groups[0].len();
    let last = groups.len() - 1;
    // the last may have been cut off
    let same = groups[..last].iter().all(|g| g.len() == size) && groups[last].len() <= size;
    if groups.len() >= 2 && same && size <= 64 {
        size
    } else {
        1
    }
}
