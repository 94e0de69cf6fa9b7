//! `nvidia-smi -q`: a tree by indentation, `label : value` a line.
//!
//! A listing that breaks off is not a machine with fewer GPUs: it is said to be incomplete.

use super::smi_error;
use crate::read::device::{Device, MAX_GPUS, key};
use crate::read::{Read, source::Source, value};
use serde_json::{Value, json};

/// Deepest nesting kept; the real one is 4.
const MAX_DEPTH: usize = 8;

/// Longest label.
const MAX_LABEL: usize = 64;

pub(crate) fn recognise(source: &Source) -> bool {
    let title = |l: &str| l.contains("NVSMI LOG");
    // pastes lose the title, and pages of one section begin at a GPU
    let first = |l: &str| gpu_line(l).is_some();
    let mut lines = source.head_lines();
    let Some(line) = lines.find(|l| title(l) || first(l)) else {
        return false;
    };
    title(line)
        || lines
            .filter(|l| !l.trim().is_empty())
            .take(3)
            .any(|l| pair(l).is_some())
}

/// `GPU 00000000:07:00.0`: the address.
fn gpu_line(line: &str) -> Option<&str> {
    let address = line.trim().strip_prefix("GPU ")?.trim();
    smi_error::is_pci(address).then_some(address)
}

/// `label : value`.
fn pair(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let at = line
        .find(" : ")
        .or_else(|| line.strip_suffix(" :").map(str::len))?;
    let (label, value) = (line[..at].trim_end(), line[at + 2..].trim());
    (!label.is_empty() && label.len() <= MAX_LABEL).then_some((label, value))
}

/// Name of a section: a line without a value.
fn section(line: &str) -> Option<&str> {
    let line = line.trim();
    let plain = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b' ' | b'.' | b'-' | b'_' | b'/' | b'(' | b')')
    };
    let fits = !line.is_empty() && line.len() <= MAX_LABEL && line.bytes().all(plain);
    (fits && line.starts_with(|c: char| c.is_ascii_uppercase())).then_some(line)
}

/// Columns before the text; a tab is one step.
fn indent(line: &str) -> usize {
    line.chars()
        .map_while(|c| match c {
            ' ' => Some(1),
            '\t' => Some(4),
            _ => None,
        })
        .sum()
}

/// Whether all values below the first GPU begin in one column.
fn is_flat(source: &Source) -> bool {
    let below = source.head_lines().skip_while(|l| gpu_line(l).is_none());
    let mut depths = below.filter(|l| pair(l).is_some()).map(indent).take(200);
    let first = depths.next();
    first.is_some() && depths.all(|d| Some(d) == first)
}

#[derive(Default)]
struct Listing {
    driver: Option<String>,
    cuda: Option<String>,
    attached: Option<String>,
    gpus: Vec<Device>,
    /// Sections that the current line is in, with their indentation.
    path: Vec<(usize, String)>,
    /// Room for the path of a value.
    full_path: String,
    /// What the last line was: a section without anything in it is where a text broke off.
    open_section: bool,
    /// Whether the current GPU lists its processes, which come last in a full listing.
    processes: bool,
    /// Whether the last process that it lists has no end yet.
    open_process: bool,
    full: bool,
    /// Behind the first listing of a loop.
    again: bool,
    /// A paste lost the indentation: the last section is all that is known of where a line stands.
    flat: bool,
}

impl Listing {
    fn line(&mut self, line: &str) -> bool {
        if line.contains("NVSMI LOG") {
            // `-l` prints it again: one round is enough
            self.again |= !self.gpus.is_empty();
            return true;
        }
        if self.again {
            return gpu_line(line).is_some() || pair(line).is_some() || section(line).is_some();
        }
        if let Some(address) = gpu_line(line).filter(|_| self.gpus.len() < MAX_GPUS) {
            self.gpus.push(Device::at(Some(address.to_owned())));
            self.path.clear();
            self.processes = false;
            self.open_process = false;
            self.open_section = true;
            return true;
        }
        let depth = indent(line);
        if let Some((label, value)) = pair(line) {
            self.open_section = false;
            self.leave(depth);
            self.value(label, value);
            return true;
        }
        let Some(name) = section(line).filter(|_| !self.gpus.is_empty()) else {
            return false;
        };
        if self.flat && !self.open_section {
            self.path.clear();
        }
        self.open_section = true;
        self.leave(depth);
        let name = key(name);
        self.processes |= name == "processes";
        if name == "mig_device"
            && let Some(gpu) = self.gpus.last_mut()
        {
            gpu.mig_devices = gpu.mig_devices.saturating_add(1);
        }
        if self.path.len() < MAX_DEPTH {
            self.path.push((depth, name));
        }
        true
    }

    /// Leaves the sections that a line of this indentation is not in.
    fn leave(&mut self, depth: usize) {
        if self.flat {
            return;
        }
        while self.path.last().is_some_and(|(at, _)| *at >= depth) {
            self.path.pop();
        }
    }

    fn value(&mut self, label: &str, value: &str) {
        let Some(gpu) = self.gpus.last_mut() else {
            let slot = match label {
                "Driver Version" | "KMD Version" => &mut self.driver,
                "CUDA Version" | "CUDA UMD Version" => &mut self.cuda,
                "Attached GPUs" => &mut self.attached,
                _ => return,
            };
            *slot = slot.take().or_else(|| Some(value::shown(value, 40)));
            return;
        };
        let path = &mut self.full_path;
        path.clear();
        for (_, part) in &self.path {
            path.push('/');
            path.push_str(part);
        }
        path.push('/');
        path.push_str(&key(label));
        self.processes |= path.starts_with("/processes") || label == "Processes";
        if path.starts_with("/processes/") {
            // the memory of a process is its last line but for its capabilities
            self.open_process =
                !label.starts_with("Used GPU Memory") && !label.starts_with("Capabilities");
        }
        self.full |= label == "Product Name";
        if label == "MIG Device" || label.starts_with("MIG Device ") {
            gpu.mig_devices = gpu.mig_devices.saturating_add(1);
        }
        // an entry of a list opens a level of its own: what follows deeper is not the GPU's
        gpu.take(path, label, value);
    }

    /// Why the text is not all of the listing.
    fn incomplete(&self) -> Option<String> {
        let seen = self.gpus.len();
        let attached = self.attached.as_deref().and_then(value::whole);
        if let Some(n) = attached.filter(|n| *n > seen as u64) {
            return Some(format!("{seen} of {n} attached GPUs"));
        }
        if seen == 0 && attached.is_none() {
            return Some("no GPU below the title".to_owned());
        }
        self.breaks_off()
            .then(|| "the last GPU breaks off".to_owned())
    }

    /// Whether the last GPU is not all there: a section without anything in it, or the end of a full listing missing.
    fn breaks_off(&self) -> bool {
        !self.gpus.is_empty()
            && (self.open_section || self.open_process || self.full && !self.processes)
    }
}

fn listing(source: &Source, text: &str, out: &mut Read) -> Listing {
    let mut listing = Listing {
        flat: is_flat(source),
        ..Listing::default()
    };
    for (number, line) in (1..).zip(text.lines()) {
        if !listing.line(line) && !value::is_noise(line) && !smi_error::take(line, out) {
            out.not_understood(number, line);
        }
    }
    listing
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut listing = listing(source, &source.text, out);
    if !source.text.ends_with('\n') && listing.incomplete().is_some() {
        // where the whole breaks off so may its last value: half a number is another number
        let end = source.text.rfind('\n').map_or(0, |at| at + 1);
        *out = Read {
            kind: out.kind,
            ..Read::default()
        };
        listing = self::listing(source, &source.text[..end], out);
        let number = source.text[..end].lines().count() as u64 + 1;
        out.not_understood(number, &source.text[end..]);
    }
    let text = |v: &Option<String>| v.as_ref().map_or(Value::Null, |v| json!(v));
    let incomplete = listing.incomplete();
    out.fact("incomplete", incomplete.is_some());
    if let Some(why) = incomplete {
        out.problem("incomplete_capture", "file", why);
    }
    out.fact("gpus", listing.gpus.len());
    let bus: Vec<&str> = listing
        .gpus
        .iter()
        .filter_map(|g| g.bus_id.as_deref())
        .collect();
    out.fact("bus", bus);
    out.fact("driver", text(&listing.driver));
    out.fact("cuda", text(&listing.cuda));
    out.fact("attached", text(&listing.attached));
    let mut names: Vec<&str> = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    for gpu in &listing.gpus {
        names.extend(
            gpu.raw("name")
                .map(str::trim)
                .filter(|n| !names.contains(n)),
        );
        for reason in gpu.reasons.iter().flatten() {
            if !reasons.contains(&reason.as_str()) && reasons.len() < 64 {
                reasons.push(reason);
            }
        }
    }
    out.fact("names", names);
    out.fact("active_reasons", reasons);
    pages(&listing.gpus, out);
    if let Some(gpu) = listing.gpus.first() {
        out.fact("gpu0", gpu.facts());
    }
    let flags = listing.gpus.iter().enumerate();
    let flags: Vec<String> = flags.flat_map(|(index, gpu)| gpu.flags(index)).collect();
    out.fact("flags", flags);
    let devices = listing
        .gpus
        .iter()
        .map(|g| u64::from(g.mig_devices))
        .sum::<u64>();
    if devices > 0 {
        out.fact("mig_devices", devices);
    }
    let attached = listing.attached.as_deref().and_then(value::whole);
    let chosen = !listing.breaks_off() && attached.is_some_and(|n| n > listing.gpus.len() as u64);
    let alone = |v: Option<String>| v.map(|v| value::version_alone(&v).to_owned());
    out.reading.driver = alone(listing.driver);
    out.reading.cuda = alone(listing.cuda).filter(|c| !value::is_none(c));
    for (place, gpu) in listing.gpus.iter().enumerate() {
        gpu.finish(place, chosen, out);
    }
}

/// Retired pages, where every GPU states a number.
fn pages(gpus: &[Device], out: &mut Read) {
    for (field, fact) in [
        ("retired_sbe", "pages_retired_sbe"),
        ("retired_dbe", "pages_retired_dbe"),
    ] {
        let counts: Option<Vec<u64>> = gpus
            .iter()
            .map(|g| g.raw(field).and_then(value::whole))
            .collect();
        if let Some(counts) = counts.filter(|c| !c.is_empty()) {
            out.fact(fact, counts);
        }
    }
    let pending: Option<Vec<&str>> = gpus
        .iter()
        .map(|g| {
            g.raw("retired_pending")
                .map(str::trim)
                .filter(|p| !value::is_none(p))
        })
        .collect();
    if let Some(pending) = pending.filter(|p| !p.is_empty()) {
        out.fact("pending", pending);
    }
}
