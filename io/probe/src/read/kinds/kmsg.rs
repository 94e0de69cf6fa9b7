//! The kernel's log as `dmesg`, journald or syslog print it, or the log of NVIDIA's fabric manager: what the driver,
//! the switches and the bus complain of.
//!
//! Numbers of XIDs are reported as stated; what the common ones mean is in `data/xid.csv`. A log without complaints
//! proves nothing: it may have been closed to the user, or begun after the fact.

use crate::read::{Read, source::Source, value};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// What `dmesg` says where the log is closed to the user.
const CLOSED: &str = "read kernel buffer failed";
/// Most pairs of address and number that are told apart.
const MAX_PAIRS: usize = 10_000;

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    const MARKS: [&str; 9] = [
        CLOSED,
        "NVRM: ",
        "Xid (",
        "nvidia-nvswitch",
        "nvidia-peermem",
        "nvidia_peermem",
        "fallen off the bus",
        "[tid ",
        "nvidia-nvlink: ",
    ];
    if MARKS.iter().any(|m| head.contains(m)) {
        return true;
    }
    let lines = || head.lines().filter(|l| !l.trim().is_empty());
    let stamped = lines().filter(|l| is_stamped(l)).count();
    stamped >= 2 && stamped * 2 > lines().count()
}

/// Whether a line begins as those of a kernel log do: `[   12.345678] `, `kern  :warn  : `, `HOST kernel: `.
fn is_stamped(line: &str) -> bool {
    let line = line.strip_prefix('<').map_or(line, |l| {
        // the priority of `dmesg -r`
        l.split_once('>').map_or(l, |(_, rest)| rest)
    });
    let relative = line
        .strip_prefix('[')
        .and_then(|l| l.trim_start().split_once(']'))
        .is_some_and(|(stamp, _)| stamp.contains('.') && stamp.parse::<f64>().is_ok());
    let facility = line.starts_with("kern  :");
    let syslog = line
        .match_indices(" kernel: ")
        .next()
        .is_some_and(|(at, _)| at < 80);
    relative || facility || syslog
}

/// `[Feb 27 2025 15:10:02] [ERROR] [tid 12727] ...`: the level.
fn fabric_level(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('[')?;
    let (_, rest) = rest.split_once("] [")?;
    let (level, rest) = rest.split_once("] ")?;
    let word = level.bytes().all(|b| b.is_ascii_uppercase());
    (word && rest.starts_with("[tid ")).then_some(level)
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    if source.head_lines().any(|l| fabric_level(l).is_some()) {
        fabric_manager(source, out);
    } else if let Some(line) = source.head_lines().find(|l| l.contains(CLOSED)) {
        // says nothing of XIDs: neither that there are some nor that there are none
        out.problem("kernel_log_closed", "kernel", line);
    } else {
        kernel(source, out);
    }
}

/// Address and number -> how often, and the first line's words.
#[derive(Default)]
struct Pairs(BTreeMap<(String, String), (u64, String)>);

impl Pairs {
    fn add(&mut self, bus: &str, number: &str, words: &str) {
        let key = (bus.to_owned(), number.to_owned());
        if let Some((count, _)) = self.0.get_mut(&key) {
            *count += 1;
        } else if self.0.len() < MAX_PAIRS {
            self.0.insert(key, (1, value::shown(words.trim(), 120)));
        }
    }

    fn problems(&self, code: &'static str, out: &mut Read) {
        for ((bus, number), (count, words)) in &self.0 {
            let detail = format!("{number}, {count} times: {words}");
            out.problem(code, bus.as_str(), detail);
        }
    }

    fn list(&self) -> Vec<serde_json::Value> {
        self.0
            .keys()
            .map(|(bus, number)| json!([bus, number]))
            .collect()
    }
}

fn kernel(source: &Source, out: &mut Read) {
    let (mut xids, mut sxids) = (Pairs::default(), Pairs::default());
    let mut others: BTreeMap<&str, (u64, String)> = BTreeMap::new();
    let (mut off_bus, mut peermem) = (BTreeSet::new(), false);
    for (_, line) in source.lines() {
        if let Some((bus, number, words)) = event(line, "SXid (") {
            sxids.add(bus, number, words);
        } else if let Some((bus, number, words)) = event(line, "Xid (") {
            xids.add(bus, number, words);
        }
        if line.contains("fallen off the bus") && off_bus.len() < MAX_PAIRS {
            // XIDs name no function, other messages do: one GPU is meant
            let gpu = address(line).map_or("GPU", |a| a.split('.').next().unwrap_or(a));
            off_bus.insert(gpu.to_owned());
        }
        if let Some((_, version)) = line.split_once("Kernel Module") {
            let version = version.split_whitespace().find(|w| is_version(w));
            if out.reading.driver.is_none() {
                out.reading.driver = version.map(str::to_owned);
            }
        }
        let bad = ["ERROR", "invalid context", "failed"];
        peermem |= line.contains("peermem") && bad.iter().any(|b| line.contains(b));
        if let Some((_, code)) = COMPLAINTS.iter().find(|(words, _)| line.contains(words)) {
            let (count, _) = others
                .entry(code)
                .or_insert_with(|| (0, value::shown(body(line), 160)));
            *count += 1;
        }
    }
    out.fact("xids", xids.list());
    out.fact("sxids", sxids.list());
    out.fact("fallen_off_bus", !off_bus.is_empty());
    out.fact("peermem", peermem);
    let numbers: BTreeSet<&str> = xids.0.keys().map(|(_, n)| n.as_str()).collect();
    let meanings: Vec<&str> = numbers.into_iter().filter_map(meaning).collect();
    if !meanings.is_empty() {
        out.fact("say", meanings.join("; "));
    }
    for ((bus, number), (count, words)) in &xids.0 {
        let words = meaning(number).unwrap_or(words);
        out.problem(
            "xid",
            bus.as_str(),
            format!("{number}, {count} times: {words}"),
        );
    }
    sxids.problems("sxid", out);
    for bus in off_bus {
        out.problem("fallen_off_bus", bus, "does not answer any more");
    }
    if peermem {
        let detail = "nvidia-peermem complains: no direct way between GPU and network card";
        out.problem("peermem", "nvidia-peermem", detail);
    }
    for (code, (count, words)) in others {
        let code = COMPLAINTS.iter().find(|(_, c)| *c == code);
        if let Some((_, code)) = code {
            out.problem(code, "kernel", format!("{count} times: {words}"));
        }
    }
}

/// Words of the log and the code of the problem they are.
const COMPLAINTS: [(&str, &str); 16] = [
    ("RmInitAdapter failed", "driver_init_failed"),
    ("API mismatch", "driver_library_mismatch"),
    ("available PCIe bandwidth, limited by", "link_degraded"),
    ("PCIe Bus Error", "pcie_error"),
    ("AER: Uncorrected", "pcie_error"),
    ("AER: Corrected", "pcie_error"),
    ("AER: Multiple", "pcie_error"),
    ("Machine check events logged", "machine_check"),
    ("Hardware Error", "hardware_error"),
    ("Out of memory: Kill", "out_of_memory"),
    ("oom-kill:", "out_of_memory"),
    ("I/O error", "io_error"),
    ("blocked for more than", "task_hung"),
    ("soft lockup", "cpu_stuck"),
    ("NVLink: Fatal", "nvlink_error"),
    ("probe with driver nvidia failed", "driver_init_failed"),
];

/// A line without the time and the host's name.
fn body(line: &str) -> &str {
    for mark in [" kernel: ", "] "] {
        if let Some((before, rest)) = line.split_once(mark)
            && before.len() < 80
        {
            return rest.trim();
        }
    }
    line.trim()
}

fn meaning(number: &str) -> Option<&'static str> {
    let rows = include_str!("../../../data/xid.csv").lines();
    rows.filter(|l| !l.starts_with('#')).find_map(|row| {
        let mut cells = row.splitn(3, ',');
        (cells.next()? == number).then_some(())?;
        cells.nth(1)
    })
}

/// `Xid (PCI:0000:38:00): 13, pid=...`: address, number, words. Old drivers leave `PCI:` out.
fn event<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let at = line.find(mark)?;
    // an SXID is no XID
    if mark.starts_with('X') && line[..at].ends_with('S') {
        return None;
    }
    let (bus, rest) = line[at + mark.len()..].split_once("): ")?;
    let bus = bus.strip_prefix("PCI:").unwrap_or(bus);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (number, words) = rest.split_at(end);
    let sound = is_address(bus) && !number.is_empty() && number.len() <= 6;
    sound.then(|| (bus, number, words.trim_start_matches([',', ' '])))
}

/// `0000:38:00`, with a function or without.
fn is_address(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_hexdigit() || matches!(b, b':' | b'.');
    text.len() <= 20 && text.matches(':').count() >= 1 && text.bytes().all(plain)
}

/// The first address of a line.
fn address(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_ascii_hexdigit() || matches!(c, ':' | '.')))
        .map(|w| w.trim_matches([':', '.']))
        .find(|w| w.len() >= 10 && w.matches(':').count() == 2 && is_address(w) && w.len() <= 16)
        // the time of day has two colons too
        .filter(|w| w.split(':').next().is_some_and(|d| d.len() >= 4))
}

/// `535.129.03`.
fn is_version(word: &str) -> bool {
    word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn fabric_manager(source: &Source, out: &mut Read) {
    let (mut errors, mut switches) = (0u64, Pairs::default());
    let mut inside = false;
    for (number, line) in source.lines().filter(|(_, l)| !l.trim().is_empty()) {
        let Some(level) = fabric_level(line) else {
            // a message may go on over several lines
            if !inside {
                super::unread(number, line, out);
            }
            continue;
        };
        inside = true;
        let words = line
            .split_once("[tid ")
            .and_then(|(_, t)| t.split_once("] "));
        let words = words.map_or("", |(_, words)| words);
        // `detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 ...`
        let sxid = words
            .split_once("atal error ")
            .and_then(|(_, t)| t.split_whitespace().next())
            .filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if let (Some(sxid), Some(bus)) = (sxid, address(words)) {
            switches.add(bus, sxid, words);
        }
        if level == "ERROR" || level == "CRITICAL" {
            errors += 1;
            if sxid.is_none() {
                out.problem("fabric_manager", "fabric manager", words);
            }
        }
        if let Some((_, version)) = words.split_once("Fabric Manager version ") {
            let version = version.split_whitespace().next();
            out.reading.driver = version.filter(|v| is_version(v)).map(str::to_owned);
        }
    }
    out.fact("say", "fabric manager log; read the ERROR/non-fatal lines");
    out.fact("errors", errors);
    out.fact("sxids", switches.list());
    switches.problems("sxid", out);
}

#[cfg(test)]
mod tests {
    use super::{address, event, is_stamped, meaning};

    #[test]
    fn events_of_all_drivers() {
        let new = "[ 1.0] NVRM: Xid (PCI:0000:9b:00): 119, pid=1, name=x";
        assert_eq!(
            event(new, "Xid ("),
            Some(("0000:9b:00", "119", "pid=1, name=x"))
        );
        let old = "NVRM: Xid (0000:01:00): 31, Ch 1";
        assert_eq!(event(old, "Xid (").map(|e| e.1), Some("31"));
        let switch = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30";
        assert_eq!(event(switch, "Xid ("), None);
        assert_eq!(event(switch, "SXid (").map(|e| e.0), Some("0000:c1:00.0"));
        assert_eq!(
            meaning("48"),
            Some("double-bit ECC error: GPU needs a reset")
        );
        assert_eq!(meaning("9999"), None);
    }

    #[test]
    fn stamps_and_addresses() {
        assert!(is_stamped("[    1.250000] a") && is_stamped("<4>[ 1.2] a"));
        assert!(is_stamped("Jan 21 02:21:33 host kernel: a") && !is_stamped("[1.x] a"));
        let line = "02:21:33 NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.";
        assert_eq!(address(line), Some("0000:9b:00.0"));
    }
}
