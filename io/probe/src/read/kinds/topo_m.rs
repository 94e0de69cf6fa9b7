//! `nvidia-smi topo -m`, `-mp` and `-p2p ...`: a matrix of what joins each pair of devices.
//!
//! Columns come and go with the driver, blanks and tabs do not survive pastes, rows are missing at the end. So a row
//! is a device's name, as many cells as the header names devices, and the rest.

use super::smi_error;
use crate::read::{Link, Read, source::Source, value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Most devices of one matrix; a rack's node has fewer than 40.
const MAX_DEVICES: usize = 256;

/// More pairs than this are counted, not listed, in the facts.
const LISTED_PAIRS: usize = 8;

/// Labels of links. `SOC` is `SYS` of drivers before 384.
const LINKS: [&str; 7] = ["SYS", "NODE", "PHB", "PXB", "PIX", "PSB", "SOC"];

/// Labels of `-p2p`, and what stands for an open path there.
const PEER: [&str; 7] = ["OK", "CNS", "GNS", "TNS", "NS", "DR", "U"];

pub(crate) fn recognise(source: &Source) -> bool {
    source
        .head_lines()
        .any(|line| Header::of(line).is_some() || wrong_option(line))
}

/// `topo -m` of some Windows drivers wants a value.
fn wrong_option(line: &str) -> bool {
    line.contains("Option -m ") && line.contains("nvidia-smi -h")
        || line
            .trim()
            .eq_ignore_ascii_case("Topology is not supported on this platform.")
}

/// Devices named by the header, in its order.
struct Header<'a> {
    devices: Vec<&'a str>,
}

impl<'a> Header<'a> {
    fn of(line: &'a str) -> Option<Header<'a>> {
        let mut words = cells(line).peekable();
        // a launcher's label (`0:`) may stand before it
        words.next_if(|w| w.ends_with(':') && !is_gpu(w.trim_end_matches(':')));
        if !words.peek().is_some_and(|w| is_gpu(w)) {
            return None;
        }
        let devices: Vec<&str> = words
            .take_while(|w| !matches!(*w, "CPU" | "NUMA" | "GPU"))
            .take(MAX_DEVICES + 1)
            .collect();
        let named = devices.iter().all(|d| is_device(d));
        (named && devices.len() <= MAX_DEVICES).then_some(Header { devices })
    }
}

/// Words of a line. A terminal's underline may have lost its escape character on the way, and tables come with bars.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == '|')
        .map(|w| w.trim_start_matches("^[").trim_start_matches("[4m"))
        .map(|w| w.trim_end_matches("[0m").trim_end_matches("^["))
        .filter(|w| !w.is_empty())
}

fn gpu_number(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("GPU")?;
    (digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

fn is_gpu(word: &str) -> bool {
    gpu_number(word).is_some()
}

/// `GPU0`, `NIC0`, or the name of a network device: `mlx5_0`, `bnxt_re0`, `mlx5_bond_0`, also cut.
fn is_device(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    starts && word.len() <= 32 && word.bytes().all(plain) && !is_label(word)
}

fn is_label(word: &str) -> bool {
    let bonded =
        |w: &str| w.len() > 2 && w.starts_with("NV") && w[2..].bytes().all(|b| b.is_ascii_digit());
    word == "X" || LINKS.contains(&word) || PEER.contains(&word) || bonded(word)
}

/// What the lines of a capture hold.
#[derive(Default)]
struct Matrix<'a> {
    devices: Vec<&'a str>,
    /// By place in `devices`, the smaller first.
    pairs: BTreeMap<(usize, usize), &'a str>,
    /// Places of devices whose row is there.
    rows: Vec<usize>,
    /// What stands behind the cells of a row.
    tails: Vec<(usize, Vec<&'a str>)>,
    nic_names: Vec<(&'a str, &'a str)>,
    /// Whether the legend names NVLinks; `None` without a legend.
    legend_nv: Option<bool>,
    /// `-p2p`: its labels are in the legend, or in the cells.
    peer: bool,
    /// The view that the command line at the prompt asks for.
    command: Option<&'a str>,
    cut: bool,
}

impl<'a> Matrix<'a> {
    /// Takes a row in; says whether all of it was understood.
    fn row(&mut self, line: &'a str, ended: bool, out: &mut Read) -> bool {
        let mut words = cells(line).peekable();
        words.next_if(|w| w.ends_with(':') && !is_gpu(w));
        let Some(name) = words.next() else {
            return false;
        };
        let Some(row) = self.devices.iter().position(|d| *d == name) else {
            return false;
        };
        if self.rows.contains(&row) {
            return false;
        }
        self.rows.push(row);
        let mut newest = None;
        for column in 0..self.devices.len() {
            let Some(cell) = words.next_if(|w| is_label(w)) else {
                self.cut = true;
                if let Some(pair) = newest.filter(|_| !ended && words.peek().is_none()) {
                    self.pairs.remove(&pair);
                }
                // what follows is no cell: not the affinity either, as cells are missing before it
                return words.peek().is_none();
            };
            if cell == "X" || row == column {
                continue;
            }
            self.peer |= cell == "OK" || PEER.contains(&cell) && !LINKS.contains(&cell);
            let pair = (row.min(column), row.max(column));
            newest = (!self.pairs.contains_key(&pair)).then_some(pair);
            let other = *self.pairs.entry(pair).or_insert(cell);
            let half = !ended && words.peek().is_none();
            if other != cell && !half {
                let (a, b) = (self.devices[pair.0], self.devices[pair.1]);
                out.problem(
                    "link_asymmetric",
                    format!("{a}-{b}"),
                    format!("{other} one way, {cell} the other"),
                );
            }
        }
        let mut tail: Vec<&str> = words.take(16).collect();
        if !ended && self.rows.len() < self.devices.len() {
            // the text breaks off here: half an affinity is another one, and without any the last cell is in doubt
            if tail.pop().is_none()
                && let Some(pair) = newest
            {
                self.pairs.remove(&pair);
                self.cut = true;
            }
        }
        if is_gpu(name) {
            self.tails.push((row, tail));
        }
        true
    }

    /// Takes a line of a legend in.
    fn legend(&mut self, line: &'a str) -> bool {
        let line = line.trim();
        if let Some((label, _)) = line.split_once('=') {
            let label = label.trim();
            self.legend_nv = Some(self.legend_nv == Some(true) || label.starts_with("NV"));
            self.peer |= label == "CNS" || label == "OK";
            return label == "NV#" || is_label(label);
        }
        if let Some((nic, name)) = line.split_once(':') {
            let (nic, name) = (nic.trim(), name.trim());
            if name.is_empty() {
                return nic.ends_with("Legend");
            }
            let fits = is_device(nic) && !name.contains(char::is_whitespace);
            if fits && self.nic_names.len() < MAX_DEVICES {
                self.nic_names.push((nic, name));
            }
            return fits;
        }
        false
    }

    fn gpus(&self) -> Vec<usize> {
        (0..self.devices.len())
            .filter(|d| is_gpu(self.devices[*d]))
            .collect()
    }
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut matrix = Matrix::default();
    for (number, line) in source.lines() {
        if wrong_option(line) {
            // a note of the exit status belongs to it
            let status = source
                .head_lines()
                .find(|l| l.trim().starts_with("# (exit code"));
            let words = line
                .split_whitespace()
                .chain(status.unwrap_or("").split_whitespace());
            let words: Vec<&str> = words.take(60).collect();
            out.fact("error", value::shown(&words.join(" "), 400));
            out.problem("topology_not_shown", "driver", line.trim());
            return;
        }
        if matrix.devices.is_empty() {
            if let Some(header) = Header::of(line) {
                matrix.devices = header.devices;
            } else if value::is_noise(line) {
                matrix.command = line.split_once(" topo ").map(|(_, view)| view.trim());
            } else if !smi_error::take(line, out) {
                out.not_understood(number, line);
            }
            continue;
        }
        let again = Header::of(line).is_some_and(|h| h.devices == matrix.devices);
        if !(value::is_noise(line)
            || matrix.row(line, !source.is_open(number), out)
            || matrix.legend(line)
            || again
            || smi_error::take(line, out))
        {
            out.not_understood(number, line);
        }
    }
    state(&matrix, out);
}

fn state(matrix: &Matrix, out: &mut Read) {
    let gpus = matrix.gpus();
    out.fact("gpus", gpus.len());
    for gpu in &gpus {
        out.reading.gpus.push(crate::read::Gpu {
            index: gpu_number(matrix.devices[*gpu]),
            ..Default::default()
        });
    }
    for ((a, b), label) in &matrix.pairs {
        out.reading.links.push(Link {
            a: matrix.devices[*a].to_owned(),
            b: matrix.devices[*b].to_owned(),
            kind: (*label).to_owned(),
        });
    }
    let seen = |d: &usize| matrix.rows.contains(d);
    let complete = gpus.iter().all(seen) && !matrix.cut;
    if matrix.peer {
        peers(matrix, out);
    } else {
        links(matrix, complete, out);
    }
    let missing: Vec<&str> = (0..matrix.devices.len())
        .filter(|d| !seen(d) && (!matrix.peer || is_gpu(matrix.devices[*d])))
        .map(|d| matrix.devices[d])
        .collect();
    if !missing.is_empty() || matrix.cut {
        let rows = match missing.as_slice() {
            [] => "a row breaks off".to_owned(),
            names => format!("no row of {}", names.join(", ")),
        };
        out.problem("incomplete_capture", "file", rows);
    }
}

/// Pairs of GPUs by label, as `0-1`.
fn by_label<'a>(matrix: &Matrix<'a>) -> BTreeMap<&'a str, Vec<String>> {
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for ((a, b), label) in &matrix.pairs {
        let numbers = (
            gpu_number(matrix.devices[*a]),
            gpu_number(matrix.devices[*b]),
        );
        if let (Some(a), Some(b)) = numbers {
            all.entry(label).or_default().push(format!("{a}-{b}"));
        }
    }
    all
}

fn links(matrix: &Matrix, complete: bool, out: &mut Read) {
    let gpus = matrix.gpus();
    let by_label = by_label(matrix);
    let bonded = by_label.keys().any(|l| l.starts_with("NV"));
    out.fact("nics", matrix.devices.len() - gpus.len());
    let pair_links: Map<String, Value> = by_label
        .into_iter()
        .map(|(label, pairs)| {
            let listed = pairs.len() <= LISTED_PAIRS;
            let value = if listed {
                json!(pairs)
            } else {
                json!(format!("{} pairs", pairs.len()))
            };
            (label.to_owned(), value)
        })
        .collect();
    out.fact("pair_links", pair_links);
    let mut gpu_nic = Map::new();
    for gpu in &gpus {
        let mut to = Map::new();
        for (device, name) in matrix.devices.iter().enumerate() {
            let label = matrix.pairs.get(&(*gpu.min(&device), *gpu.max(&device)));
            if let (false, true, Some(label)) = (is_gpu(name), matrix.rows.contains(gpu), label) {
                to.insert((*name).to_owned(), json!(label));
            }
        }
        if !to.is_empty() {
            gpu_nic.insert(matrix.devices[*gpu].to_owned(), Value::Object(to));
        }
    }
    out.fact("gpu_nic", gpu_nic);
    let tails = matrix.tails.iter();
    let tails: Map<String, Value> = tails
        .map(|(row, tail)| (matrix.devices[*row].to_owned(), json!(tail)))
        .collect();
    out.fact("affinity_tail", tails);
    let names = matrix.nic_names.iter();
    let names: Map<String, Value> = names
        .map(|(nic, name)| ((*nic).to_owned(), json!(name)))
        .collect();
    out.fact("nic_names", names);
    out.fact("rows_complete", complete);
    // `-mp` prints the same table without NVLinks: only the legend tells, or the command
    let asked = matrix
        .command
        .map(|c| c.split_whitespace().next() == Some("-m"));
    if gpus.len() > 1 && !bonded && matrix.legend_nv != Some(true) && asked != Some(true) {
        out.fact("view", "pcie_only_possible");
        out.fact("nvlink", "unknown");
    }
}

fn peers(matrix: &Matrix, out: &mut Read) {
    out.fact("kind", "p2p");
    let (mut open, mut blocked, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for (label, pairs) in by_label(matrix) {
        match label {
            "OK" => open.extend(pairs),
            "U" => unknown.extend(pairs),
            _ => blocked.extend(pairs),
        }
    }
    for list in [&mut open, &mut blocked, &mut unknown] {
        list.sort_by_key(|pair| {
            let mut ends = pair
                .split('-')
                .map(|n| n.parse::<u32>().unwrap_or(u32::MAX));
            (ends.next(), ends.next())
        });
    }
    out.fact("ok_pairs", open);
    if !blocked.is_empty() {
        let detail = blocked.join(", ");
        out.problem("p2p_blocked", "GPUs", detail);
    }
    out.fact("blocked_pairs", blocked);
    if !unknown.is_empty() {
        out.fact("unknown_pairs", unknown);
    }
}
