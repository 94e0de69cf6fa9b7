//! Utilisation over time as small loggers write it: rows of cells with units and no header, or the columns of our own
//! curves (`util_gpu_pct`). A header of `nvidia-smi --query-gpu` makes another kind.
//!
//! Several GPUs stand one after the other without an index, so a curve of one GPU cannot be told from a curve of
//! eight: only figures over all rows are given.

use crate::read::{Read, source::Source, value};

/// The column of our own curves that holds the utilisation, in per cent.
const OURS: &str = "util_gpu_pct";

pub(crate) fn recognise(source: &Source) -> bool {
    if ours(source).is_some() {
        return true;
    }
    let lines = source.head_lines().map(str::trim).filter(|l| !l.is_empty());
    let (mut all, mut fit, mut numbers) = (0u32, 0u32, 0u32);
    for line in lines.filter(|l| !l.starts_with('#')) {
        all += 1;
        fit += u32::from(shape(line).is_some());
        numbers += u32::from(shape(line).is_some_and(|s| s.util < s.units.len()));
    }
    // the last line may be cut
    numbers >= 1 && fit >= 2 && fit + 1 + all / 20 >= all
}

/// The header of our own curves, and the place of the utilisation in it.
fn ours<'s>(source: &'s Source) -> Option<(&'s str, usize)> {
    let header = source
        .head_lines()
        .find(|l| !l.starts_with('#') && !l.trim().is_empty())?;
    let at = header.split(',').position(|c| c.trim() == OURS)?;
    Some((header.trim(), at))
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let header = ours(source);
    let (mut lines, mut stated, mut sum, mut low) = (0u64, 0u64, 0.0, 0u64);
    let mut first_shape: Option<Shape> = None;
    for (number, line) in source.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || header.is_some_and(|(h, _)| h == line) {
            continue;
        }
        let cell = match header {
            Some((_, at)) => line.split(',').nth(at),
            None => match shape(line) {
                Some(shape) if first_shape.as_ref().is_none_or(|f| f.fits(&shape)) => {
                    // the first row in which the utilisation is a number says where it stands
                    if first_shape.is_none() && shape.util < shape.units.len() {
                        first_shape = Some(shape);
                    }
                    let at = first_shape.as_ref().map_or(0, |f| f.util);
                    line.split(',').nth(at)
                }
                _ => None,
            },
        };
        let Some(cell) = cell else {
            super::unread(number, line, out);
            continue;
        };
        lines += 1;
        // a cell that states nothing counts as a line, but not as idle
        if let Some(util) = value::number(cell).filter(|u| (0.0..=100.0).contains(u)) {
            stated += 1;
            sum += util;
            low += u64::from(util < 20.0);
        } else if !value::is_none(cell) {
            super::unread(number, line, out);
        }
    }
    out.fact("lines", lines);
    match (header, first_shape) {
        (Some((header, _)), _) => out.fact("columns", header),
        (None, Some(shape)) if shape.units == ["", "%", "MiB"] => {
            out.fact(
                "columns",
                "temperature.gpu, utilization.gpu [%], memory.used",
            );
        }
        (None, Some(shape)) => out.fact("units", shape.units),
        (None, None) => {}
    }
    if stated > 0 {
        let count = stated as f64;
        out.fact("mean_util", (sum / count * 10.0).round() / 10.0);
        out.fact(
            "share_below_20",
            (low as f64 / count * 1000.0).round() / 1000.0,
        );
    }
}

/// What the cells of a row are, and which is the utilisation.
struct Shape {
    units: Vec<&'static str>,
    util: usize,
}

impl Shape {
    /// Whether a row goes with the first: a cell that states nothing goes with any.
    fn fits(&self, other: &Shape) -> bool {
        let fit = |(a, b): (&&str, &&str)| a == b || *a == NONE || *b == NONE;
        self.units.len() == other.units.len() && self.units.iter().zip(&other.units).all(fit)
    }
}

const NONE: &str = "[N/A]";
const TIME: &str = "time";
const NAME: &str = "name";

/// `76, 92 %, 8804 MiB`: two cells or more, each a number with a unit, a word for "none", a time or a name; one at
/// least in per cent.
fn shape(line: &str) -> Option<Shape> {
    if line.len() > 1000 {
        return None;
    }
    let units: Vec<&str> = line
        .split(',')
        .map(|c| unit(c.trim()))
        .collect::<Option<_>>()?;
    // utilization.gpu comes before utilization.memory wherever both are logged
    let util = units.iter().position(|u| *u == "%").unwrap_or(usize::MAX);
    let names = units.iter().filter(|u| **u == NAME).count();
    let none = units.contains(&NONE);
    (units.len() >= 2 && names <= 1 && (util < units.len() || none))
        .then_some(Shape { units, util })
}

fn unit(cell: &str) -> Option<&'static str> {
    const UNITS: [&str; 6] = ["", "%", "MiB", "W", "MHz", "C"];
    if value::is_none(cell) {
        return (!cell.is_empty()).then_some(NONE);
    }
    let end = cell.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')));
    let (number, unit) = cell.split_at(end.unwrap_or(cell.len()));
    if number.parse::<f64>().is_ok() {
        let known = UNITS.iter().find(|u| **u == unit.trim());
        if let Some(known) = known {
            return Some(known);
        }
    }
    let is_time = cell.contains(':') && cell.bytes().all(|b| b"0123456789/:.- TZ".contains(&b));
    if is_time {
        return Some(TIME);
    }
    // `NVIDIA A100-SXM4-40GB`, `P0`
    cell.starts_with(|c: char| c.is_ascii_uppercase())
        .then_some(NAME)
}
