//! `lscpu`: text in any of the languages of `data/lscpu_labels.csv`, `-J`, or the columns of `-p`.
//!
//! The facts are the fields under their English labels, values as printed. In a virtual machine they describe what
//! the hypervisor chose to show: sixty sockets of one core are one processor cut into pieces.

use crate::read::{Read, json, labelled, source::Source};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// English labels that only `lscpu` prints together: three of them make a capture one.
const LABELS: [&str; 20] = [
    "Architecture",
    "CPU op-mode(s)",
    "Byte Order",
    "CPU(s)",
    "On-line CPU(s) list",
    "Thread(s) per core",
    "Core(s) per socket",
    "Core(s) per cluster",
    "Socket(s)",
    "Cluster(s)",
    "NUMA node(s)",
    "Vendor ID",
    "Model name",
    "CPU family",
    "CPU max MHz",
    "CPU min MHz",
    "BogoMIPS",
    "Hypervisor vendor",
    "Virtualization type",
    "L3 cache",
];
/// What stands before the columns of `-p`.
const COLUMNS: &str = "# CPU,";
/// Most fields that are kept.
const MAX_FIELDS: usize = 1000;

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    if head.contains("\"lscpu\"") && head.contains("\"field\"") {
        return true;
    }
    if head.lines().any(|l| l.starts_with(COLUMNS)) && head.contains("Core,Socket") {
        return true;
    }
    let known: BTreeSet<&str> = head
        .lines()
        .filter_map(labelled::split)
        .filter(|(key, _)| key.len() < 100)
        .filter_map(|(key, _)| match LABELS.iter().find(|l| **l == key) {
            Some(label) => Some(*label),
            None => translated(key).map(|(_, label)| label),
        })
        .take(200)
        .collect();
    known.len() >= 3
}

/// English label of a printed one, and the locale where only one has that word. Numbers are to be replaced by `%d`
/// before.
fn translated(printed: &str) -> Option<(Option<&'static str>, &'static str)> {
    type Known = HashMap<&'static str, (Option<&'static str>, &'static str)>;
    // asked for every line of a capture
    static KNOWN: LazyLock<Known> = LazyLock::new(|| {
        let mut known = Known::new();
        for (locale, printed, label) in table() {
            known
                .entry(printed)
                .and_modify(|(found, _)| *found = found.filter(|f| *f == locale))
                .or_insert((Some(locale), label));
        }
        known
    });
    KNOWN.get(printed).copied()
}

fn table() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let rows = include_str!("../../../data/lscpu_labels.csv").lines();
    rows.filter(|l| !l.starts_with('#'))
        .skip(1)
        .filter_map(|row| {
            let (locale, rest) = row.split_once(',')?;
            let (printed, label) = rest.rsplit_once(',')?;
            Some((locale, printed, label))
        })
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    if source.head().contains("\"lscpu\"") {
        let found = json::find(&source.text, &mut |number, line| {
            super::unread(number, line, out);
        });
        found.say(out);
        for document in &found.documents {
            for entry in document["lscpu"].as_array().into_iter().flatten() {
                of_json(entry, out);
            }
        }
    } else {
        of_text(source, out);
    }
    invented(out);
}

/// An entry and what hangs below it. The depth is what `serde_json` lets pass.
fn of_json(entry: &Value, out: &mut Read) {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    if let (Some(field), Some(data)) = (text("field"), text("data")) {
        let key = field.trim_end_matches([':', '：']);
        keep(key, data, out);
    }
    for child in entry["children"].as_array().into_iter().flatten() {
        of_json(child, out);
    }
}

fn of_text(source: &Source, out: &mut Read) {
    let mut parsed = Parsed::default();
    let mut models: Vec<&str> = Vec::new();
    // the value that an indented line without a colon goes on with: long flags are wrapped by terminals
    let mut wrapped = false;
    for (number, line) in source.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            wrapped = false;
            continue;
        }
        if trimmed.starts_with('#') {
            parsed.header(trimmed);
            continue;
        }
        if parsed.row(trimmed) {
            continue;
        }
        match labelled::split(trimmed) {
            // a label is short; a colon far inside belongs to a value
            Some((key, text)) if !key.is_empty() && key.chars().count() <= 60 => {
                wrapped = true;
                if let Some(label) = keep(key, text, out)
                    && label == "Model name"
                    && models.len() < 64
                {
                    models.push(text);
                }
            }
            _ if wrapped && line.starts_with([' ', '\t']) => {}
            _ => super::unread(number, line, out),
        }
    }
    // unequal cores: one block of fields for each sort
    if models.len() > 1 {
        out.fact("models", models);
    }
    parsed.finish(out);
}

/// Keeps a field under its English label, which is returned.
fn keep(printed: &str, text: &str, out: &mut Read) -> Option<String> {
    if out.facts.len() >= MAX_FIELDS {
        return None;
    }
    let english = LABELS.contains(&printed);
    let label = match translated(printed) {
        Some(found) if !english => Some((found.0, found.1.to_owned())),
        // the only labels with a number in them
        None if !english && printed.starts_with("NUMA") => {
            let digits: String = printed.chars().filter(char::is_ascii_digit).collect();
            let found = translated(&printed.replacen(&digits, "%d", 1));
            found.map(|(locale, label)| (locale, label.replace("%d", &digits)))
        }
        _ => None,
    };
    // newer versions print groups: a heading without a value, short labels below it
    let label = match label {
        // what is the same word in English does not tell a language
        Some((locale, label)) => {
            if let Some(locale) = locale.filter(|_| label != printed) {
                out.fact("locale", locale);
            }
            label
        }
        None => printed.to_owned(),
    };
    if !text.is_empty() {
        out.fact(&label, text);
        if matches!(label.as_str(), "L1d" | "L1i" | "L2" | "L3" | "L4") {
            out.fact(&format!("{label} cache"), text);
        }
    }
    Some(label)
}

/// The rows of `lscpu -p`.
#[derive(Default)]
struct Parsed {
    columns: Vec<String>,
    tables: u32,
    cpus: u64,
    sockets: BTreeSet<String>,
    nodes: BTreeSet<String>,
}

impl Parsed {
    fn header(&mut self, line: &str) {
        if line.starts_with(COLUMNS) {
            self.tables += 1;
            let names = line.trim_start_matches(['#', ' ']);
            self.columns = names.split(',').map(str::to_owned).take(32).collect();
        }
    }

    /// Whether the line is one of the rows below a header.
    fn row(&mut self, line: &str) -> bool {
        if self.columns.is_empty() || !line.contains(',') {
            return false;
        }
        let number = |c: &str| c.bytes().all(|b| b.is_ascii_digit() || b == b':');
        if !line.split(',').all(number) {
            return false;
        }
        // the first of several tables is in ids, others repeat it in other words
        if self.tables == 1 {
            self.cpus += 1;
            for (name, cell) in self.columns.iter().zip(line.split(',')) {
                let set = match name.as_str() {
                    "Socket" => &mut self.sockets,
                    "Node" => &mut self.nodes,
                    _ => continue,
                };
                if !cell.is_empty() && set.len() < 4096 && !set.contains(cell) {
                    set.insert(cell.to_owned());
                }
            }
        }
        true
    }

    /// Counts of the rows, where no field states them.
    fn finish(self, out: &mut Read) {
        if self.cpus == 0 || out.facts.contains_key("CPU(s)") {
            return;
        }
        out.fact("CPU(s)", self.cpus.to_string());
        for (label, set) in [("Socket(s)", self.sockets), ("NUMA node(s)", self.nodes)] {
            if !set.is_empty() {
                out.fact(label, set.len().to_string());
            }
        }
    }
}

/// Says so where the sockets are virtual processors.
fn invented(out: &mut Read) {
    let count = |label: &str| {
        let text = out.facts.get(label)?.as_str()?;
        text.trim().parse::<u64>().ok()
    };
    let virtual_machine = ["Hypervisor vendor", "Hypervisor"]
        .iter()
        .any(|l| out.facts.contains_key(*l));
    let (Some(sockets), Some(cores)) = (count("Socket(s)"), count("Core(s) per socket")) else {
        return;
    };
    // no board has more than eight sockets, and none of these a processor of one core
    if virtual_machine && sockets > 1 && (cores == 1 || sockets > 8) {
        let note = format!("{sockets} \"sockets\" are vCPUs");
        out.problem("topology_invented_by_hypervisor", "CPU", note.as_str());
        out.fact("note", note);
    }
}

#[cfg(test)]
mod tests {
    use super::{LABELS, table};

    #[test]
    fn the_table_translates_to_known_labels() {
        let more = [
            "Address sizes",
            "On-line CPU(s) mask",
            "Off-line CPU(s) list",
            "NUMA node%d CPU(s)",
            "BIOS Vendor ID",
            "BIOS Model name",
            "Model",
            "Stepping",
            "CPU MHz",
            "CPU dynamic MHz",
            "Hypervisor",
            "Virtualization",
            "Dispatching mode",
            "L1d cache",
            "L1i cache",
            "L2 cache",
            "L4 cache",
            "Flags",
        ];
        assert!(table().count() > 80);
        for (_, printed, label) in table() {
            assert!(
                LABELS.contains(&label) || more.contains(&label),
                "{printed}"
            );
        }
    }
}
