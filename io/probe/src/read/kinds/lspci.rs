//! `lspci`, with `-D`, `-n`, `-nn`, `-v` or without; whole or filtered by `grep`.

use crate::read::{Gpu, Read, labelled, source::Source, value};

/// Most GPUs listed one by one.
const MAX_GPUS: usize = 1024;

pub(crate) fn recognise(source: &Source) -> bool {
    // one line may be part of any log, unless the capture begins with it
    let first = source.head_lines().find(|l| !l.trim().is_empty());
    first.is_some_and(|l| device(l).is_some())
        || source.head_lines().filter_map(device).nth(1).is_some()
}

/// The first line of a device.
struct Device<'a> {
    bus: &'a str,
    /// In words, or the number of the class with `-n`.
    class: &'a str,
    /// Vendor, device and what follows.
    name: &'a str,
}

/// `0001:00:00.0 3D controller [0302]: NVIDIA Corporation GA100 [A100 SXM4 80GB] [10de:20b2] (rev a1)`.
fn device(line: &str) -> Option<Device<'_>> {
    let (bus, rest) = line.split_once(' ')?;
    // domain (in virtual machines of any length up to 8 digits), bus, device, function
    let (slot, function) = bus.rsplit_once('.')?;
    let hex = |t: &str, most: usize| {
        !t.is_empty() && t.len() <= most && t.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let mut parts = slot.rsplit(':');
    let sound = hex(function, 1)
        && parts.next().is_some_and(|p| hex(p, 2))
        && parts.next().is_some_and(|p| hex(p, 2))
        && parts.next().is_none_or(|p| hex(p, 8))
        && parts.next().is_none();
    let (class, name) = rest.split_once(": ")?;
    (sound && !class.is_empty() && class.len() < 100).then_some(Device { bus, class, name })
}

impl Device<'_> {
    /// Whose chip it is, by name or number.
    fn vendor(&self) -> Option<Vendor> {
        let by = |words: &[&str]| words.iter().any(|w| self.name.contains(w));
        if by(&["NVIDIA", "[10de:"]) || self.name.starts_with("10de:") {
            Some(Vendor::Nvidia)
        } else if by(&["[AMD/ATI]", "[1002:"]) || self.name.starts_with("1002:") {
            Some(Vendor::Amd)
        } else if by(&["Intel Corporation", "[8086:"]) || self.name.starts_with("8086:") {
            Some(Vendor::Intel)
        } else {
            None
        }
    }

    fn is_class(&self, words: &str, number: &str) -> bool {
        let bare = self.class.split(" [").next().unwrap_or_default();
        bare == words || self.class == number || self.class.contains(&format!("[{number}]"))
    }

    fn is_gpu(&self) -> bool {
        let computes = self.is_class("3D controller", "0302");
        let shows = self.is_class("VGA compatible controller", "0300");
        let other = self.is_class("Display controller", "0380")
            || self.is_class("Processing accelerators", "1200");
        match self.vendor() {
            Some(Vendor::Nvidia) => computes || shows,
            Some(Vendor::Amd) => computes || shows || other,
            // the one that only shows a picture sits in the processor
            Some(Vendor::Intel) => computes || self.is_class("Display controller", "0380"),
            None => false,
        }
    }

    /// NVSwitches are bridges of another class than those of PCI.
    fn is_nvswitch(&self) -> bool {
        matches!(self.vendor(), Some(Vendor::Nvidia)) && self.is_class("Bridge", "0680")
    }
}

enum Vendor {
    Nvidia,
    Amd,
    Intel,
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let (mut lines, mut gpus, mut nvswitches, mut nvidia) = (0u64, 0u64, 0u64, 0u64);
    // address and kind of the device whose details follow, and what it could do
    let mut now: Option<(String, bool, Option<String>)> = None;
    for (number, line) in source.lines().filter(|(_, l)| !l.trim().is_empty()) {
        let Some(device) = device(line) else {
            let indented = line.starts_with([' ', '\t']);
            match &mut now {
                // half a line may state half a width
                Some(_) if indented && source.is_open(number) => {}
                Some((bus, is_gpu, can)) if indented => detail(line, bus, *is_gpu, can, out),
                _ => super::unread(number, line, out),
            }
            continue;
        };
        lines += 1;
        nvidia += u64::from(matches!(device.vendor(), Some(Vendor::Nvidia)));
        nvswitches += u64::from(device.is_nvswitch());
        let is_gpu = device.is_gpu();
        if is_gpu {
            gpus += 1;
            if out.reading.gpus.len() < MAX_GPUS {
                out.reading.gpus.push(Gpu {
                    name: name(&device, source.is_open(number)),
                    bus_id: Some(device.bus.to_owned()),
                    ..Gpu::default()
                });
            }
        }
        // all registers read as ones: nobody answers at the address any more
        if device.name.ends_with("(rev ff)") && (is_gpu || device.is_nvswitch()) {
            out.problem("fallen_off_bus", device.bus, "revision reads as ff");
        }
        now = Some((device.bus.to_owned(), is_gpu, None));
    }
    out.fact("lines", lines);
    out.fact("nvidia", nvidia);
    out.fact("gpus", gpus);
    out.fact("nvswitch", nvswitches);
}

/// `A100 SXM4 80GB` of `NVIDIA Corporation GA100 [A100 SXM4 80GB] [10de:20b2] (rev a1)`; a device that the list of
/// names does not hold is `Device 2941`. Of an open line, only what is known to be whole.
fn name(device: &Device, open: bool) -> Option<String> {
    let words = device.name.split(" (rev").next().unwrap_or_default();
    let groups = words.split('[').skip(1);
    let marketing = groups
        .filter_map(|g| g.split_once(']'))
        .map(|(g, _)| g)
        .find(|g| !g.contains(':') && *g != "AMD/ATI");
    let name = match marketing {
        Some(name) => name,
        None if open && !device.name.contains(" (rev") => return None,
        None => words
            .trim_start_matches("NVIDIA Corporation")
            .split(" [")
            .next()
            .unwrap_or_default(),
    };
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Details of `-v` and more: the link of a GPU, as it can be and as it is.
fn detail(line: &str, bus: &str, is_gpu: bool, can: &mut Option<String>, out: &mut Read) {
    let Some((key, text)) = labelled::split(line) else {
        return;
    };
    if !is_gpu {
        return;
    }
    let width = |text: &str| {
        let (_, rest) = text.split_once("Width x")?;
        value::small(rest)
    };
    match key {
        "LnkCap" => {
            *can = Some(text.to_owned());
            if let Some(gpu) = out.reading.gpus.last_mut() {
                gpu.pcie_width_max = width(text);
            }
        }
        "LnkSta" => {
            if let Some(gpu) = out.reading.gpus.last_mut() {
                gpu.pcie_width = width(text);
            }
            let most = can.as_deref().and_then(width);
            // an idle card lowers the speed of its link, never the width
            let narrow = width(text).zip(most).is_some_and(|(now, most)| now < most);
            if narrow || width_downgraded(text) {
                out.problem("link_degraded", bus, text);
            }
        }
        _ => {}
    }
}

/// `Width x8 (downgraded)`, as opposed to the speed.
fn width_downgraded(text: &str) -> bool {
    let after = text.split_once("Width x").map_or("", |(_, t)| t);
    after.contains("(downgraded)")
}

#[cfg(test)]
mod tests {
    use super::{device, name};

    #[test]
    fn devices_in_words_and_numbers() {
        let line = "01:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)";
        let gpu = device(line).unwrap();
        assert!(gpu.is_gpu() && !gpu.is_nvswitch());
        assert_eq!(name(&gpu, false).as_deref(), Some("H100 SXM5 80GB"));
        let bare = device("0000:01:00.0 0302: 10de:2330 (rev a1)").unwrap();
        assert!(bare.is_gpu());
        let switch = device("c1:00.0 Bridge: NVIDIA Corporation GH100 [H100 NVSwitch] (rev a1)");
        assert!(switch.unwrap().is_nvswitch());
        let bridge = device("0000:00:00.0 PCI bridge [0604]: NVIDIA Corporation Device 22b2");
        assert!(!bridge.unwrap().is_nvswitch());
        let amd = "43:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X]";
        let amd = device(amd).unwrap();
        assert!(amd.is_gpu());
        assert_eq!(name(&amd, true).as_deref(), Some("Instinct MI300X"));
        assert!(device("10:20.5 word").is_none());
        assert!(device("[1.0] x: y").is_none());
    }
}
