//! `nvidia-smi -q -x`: the full listing as XML, DTD v10 to v13.
//!
//! Read as a stream of tags, not as a document: a text that breaks off yields what it holds, nothing is expanded (the
//! DTD is only named), and memory stays small whatever the nesting.

use super::smi_error;
use crate::read::device::{Device, MAX_GPUS};
use crate::read::{Read, source::Source, value};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Longest path of names kept; deeper elements are passed over.
const MAX_PATH: usize = 256;

/// Longest text of an element.
const MAX_TEXT: usize = 400;

/// Longest name of an element.
const MAX_NAME: usize = 64;

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    head.contains(ESCAPED)
        || head.contains("<nvidia_smi_log")
        || head.contains("<gpu id=\"") && head.contains("<product_name>")
}

/// How the root begins in a text that a web form escaped.
const ESCAPED: &str = "&lt;nvidia_smi_log";

#[derive(Default)]
struct Listing {
    driver: Option<String>,
    cuda: Option<String>,
    attached: Option<String>,
    dtd: Option<String>,
    gpus: Vec<Device>,
    in_gpu: bool,
    /// Names of the elements around the current text, each after a `/`; below a GPU from the GPU on.
    path: String,
    /// Elements around it in all, and how many of them are not in `path`.
    depth: usize,
    beyond: usize,
    closed: bool,
    /// Text of the innermost element so far: a value only once its element ends, as half of one is another.
    pending: String,
}

impl Listing {
    fn open(&mut self, tag: &BytesStart) {
        self.pending.clear();
        self.depth += 1;
        let name = tag.local_name();
        let name: &str = name.as_ref();
        if name == "gpu" && !self.in_gpu && self.gpus.len() < MAX_GPUS {
            self.in_gpu = true;
            self.path.clear();
            self.beyond = 0;
            self.depth = 0;
            let id = tag.try_get_attribute("id").ok().flatten();
            let id = id.map(|a| a.value.into_owned());
            self.gpus
                .push(Device::at(id.filter(|i| smi_error::is_pci(i))));
            return;
        }
        if self.beyond > 0 || name.len() > MAX_NAME || self.path.len() + name.len() >= MAX_PATH {
            self.beyond += 1;
            return;
        }
        self.path.push('/');
        self.path
            .extend(name.chars().map(|c| c.to_ascii_lowercase()));
        if self.path.ends_with("/mig_devices/mig_device")
            && let Some(gpu) = self.gpus.last_mut()
        {
            gpu.mig_devices = gpu.mig_devices.saturating_add(1);
        }
    }

    fn close(&mut self, name: &str) {
        let mut text = std::mem::take(&mut self.pending);
        self.value(&text);
        // its room is used again
        text.clear();
        self.pending = text;
        match name {
            "nvidia_smi_log" => self.closed = true,
            "gpu" if self.in_gpu && self.depth == 0 => {
                self.in_gpu = false;
                self.path.clear();
                return;
            }
            _ => {}
        }
        self.depth = self.depth.saturating_sub(1);
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.path.truncate(self.path.rfind('/').unwrap_or(0));
        }
    }

    fn text(&mut self, text: &str) {
        if self.pending.len() < MAX_TEXT {
            self.pending
                .push_str(&text[..text.floor_char_boundary(MAX_TEXT)]);
        }
    }

    fn value(&mut self, text: &str) {
        if self.beyond > 0 || text.trim().is_empty() {
            return;
        }
        let label = self.path.rsplit('/').next().unwrap_or("");
        if let Some(gpu) = self.gpus.last_mut().filter(|_| self.in_gpu) {
            gpu.take(&self.path, label, text);
            return;
        }
        let slot = match label {
            "driver_version" | "kmd_version" => &mut self.driver,
            "cuda_version" | "cuda_umd_version" => &mut self.cuda,
            "attached_gpus" => &mut self.attached,
            _ => return,
        };
        if slot.is_none() {
            *slot = Some(value::shown(text.trim(), 40));
        }
    }
}

/// Lines before the root that are not of XML, as a prompt or a failure's sentence.
fn before(text: &str, out: &mut Read) {
    for (number, line) in (1..).zip(text.lines()) {
        if !value::is_noise(line)
            && !line.trim_start().starts_with('<')
            && !smi_error::take(line, out)
        {
            out.not_understood(number, line);
        }
    }
}

/// `nvsmi_device_v12.dtd`: `v12`.
fn dtd(head: &str) -> Option<String> {
    let (_, rest) = head.split_once("nvsmi_device_")?;
    let (version, _) = rest.split_once(".dtd")?;
    (version.len() <= 8 && version.starts_with('v')).then(|| version.to_owned())
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let unescaped;
    let text: &str = if source.head().contains(ESCAPED) {
        unescaped = source.text.replace("&lt;", "<").replace("&gt;", ">");
        &unescaped
    } else {
        &source.text
    };
    let start = text
        .find("<nvidia_smi_log")
        .or_else(|| text.find("<gpu id="))
        .unwrap_or(0);
    before(&text[..start], out);
    let mut listing = Listing {
        dtd: dtd(&text[..start]),
        ..Listing::default()
    };
    let mut reader = Reader::from_str(&text[start..]);
    // a paste may lack an end tag; names are not compared
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.expand_empty_elements = true;
    let mut broken = None;
    loop {
        let at = start + usize::try_from(reader.buffer_position()).unwrap_or(0);
        match reader.read_event() {
            Ok(Event::Start(tag)) => listing.open(&tag),
            Ok(Event::End(tag)) => listing.close(tag.local_name().as_ref()),
            Ok(Event::Text(part)) => listing.text(&part),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                broken = Some(at);
                break;
            }
        }
        if listing.closed {
            break;
        }
    }
    let at = start + usize::try_from(reader.buffer_position()).unwrap_or(0);
    rest(text, text.floor_char_boundary(at), broken, &listing, out);
    state(&listing, broken.is_some(), out);
}

/// The line at which the XML is no more XML; behind a whole listing, what is neither blank nor the next listing of a
/// loop.
fn rest(text: &str, at: usize, broken: Option<usize>, listing: &Listing, out: &mut Read) {
    if listing.closed {
        let begun = text[..at].bytes().filter(|b| *b == b'\n').count() as u64 + 1;
        let next = text[at..]
            .find("<nvidia_smi_log")
            .map_or(text.len(), |n| at + n);
        for (number, line) in (begun..).zip(text[at..next].lines()) {
            if !value::is_noise(line)
                && !line.trim_start().starts_with('<')
                && !smi_error::take(line, out)
            {
                out.not_understood(number, line);
            }
        }
    }
    let Some(at) = broken.filter(|_| !listing.closed) else {
        return;
    };
    let at = text.floor_char_boundary(at);
    let number = text[..at].bytes().filter(|b| *b == b'\n').count() as u64 + 1;
    let line = text[at..].lines().next().unwrap_or("");
    out.not_understood(number, line);
}

fn state(listing: &Listing, broken: bool, out: &mut Read) {
    let text = |v: &Option<String>| v.as_ref().map_or(Value::Null, |v| json!(v));
    let seen = listing.gpus.len();
    let attached = listing.attached.as_deref().and_then(value::whole);
    let why = match attached {
        Some(n) if n > seen as u64 => Some(format!("{seen} of {n} attached GPUs")),
        _ if broken || !listing.closed => Some("the text breaks off".to_owned()),
        _ => None,
    };
    if let Some(why) = why {
        out.fact("incomplete", true);
        out.problem("incomplete_capture", "file", why);
    }
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    let mut flags: Vec<String> = Vec::new();
    for (index, gpu) in listing.gpus.iter().enumerate() {
        if let Some(name) = gpu.raw("name") {
            *names.entry(name.trim()).or_default() += 1;
        }
        flags.extend(gpu.flags(index));
    }
    out.fact("gpus", seen);
    out.fact("driver", text(&listing.driver));
    out.fact("cuda", text(&listing.cuda));
    out.fact("attached", text(&listing.attached));
    out.fact("names", json!(names));
    let bus = listing.gpus.iter().filter_map(|g| g.bus_id.as_deref());
    out.fact("bus", bus.collect::<Vec<_>>());
    out.fact("dtd", text(&listing.dtd));
    if let Some(gpu) = listing.gpus.first() {
        out.fact("gpu0", gpu.facts());
    }
    let devices = listing
        .gpus
        .iter()
        .map(|g| u64::from(g.mig_devices))
        .sum::<u64>();
    if devices > 0 {
        out.fact("mig_devices", devices);
    }
    out.fact("flags", flags);
    let alone = |v: &Option<String>| v.as_deref().map(|v| value::version_alone(v).to_owned());
    out.reading.driver = alone(&listing.driver);
    out.reading.cuda = alone(&listing.cuda).filter(|c| !value::is_none(c));
    let chosen = listing.closed && attached.is_some_and(|n| n > seen as u64);
    for (place, gpu) in listing.gpus.iter().enumerate() {
        gpu.finish(place, chosen, out);
    }
}
