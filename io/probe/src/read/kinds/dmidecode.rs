//! `dmidecode`: the memory modules of a machine, and who made it.
//!
//! In a virtual machine the table is written by the hypervisor: one "DIMM" of 384 GB. What no module can be is said.

use crate::read::{Read, labelled, source::Source, value};
use std::collections::BTreeSet;

/// Most slots whose names are listed.
const MAX_SLOTS: usize = 4096;

pub(crate) fn recognise(source: &Source) -> bool {
    source.head_lines().any(|l| {
        l.starts_with("# dmidecode")
            || (l.starts_with("Handle 0x") && l.contains(", DMI type "))
            || l.starts_with("Getting SMBIOS data")
    })
}

/// One memory device.
#[derive(Default)]
struct Slot {
    size: String,
    kind: String,
    speed: String,
    configured: String,
    locator: String,
    maker: String,
}

impl Slot {
    fn populated(&self) -> bool {
        // `0 MB` and the like stand for nothing too
        value::whole(&self.size).is_some_and(|n| n > 0)
    }
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut slots: Vec<Slot> = Vec::new();
    let mut count = 0u64;
    // title of the structure that is read, empty between structures
    let mut title = "";
    let mut number_of_type = None;
    for (number, line) in source.lines() {
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with("Handle 0x") {
            title = "";
            number_of_type = line
                .split_once("DMI type ")
                .and_then(|(_, t)| value::whole(t));
            continue;
        }
        let indented = line.starts_with([' ', '\t']);
        if !indented {
            // the handle's line may be cut; the title still tells what follows
            title = line.trim();
            let device = title == "Memory Device" || number_of_type == Some(17);
            if device {
                count += 1;
                if slots.len() < MAX_SLOTS {
                    slots.push(Slot::default());
                }
            } else if number_of_type.is_none() && !note(title, out) {
                super::unread(number, line, out);
            }
            if device {
                title = "Memory Device";
            }
            number_of_type = None;
            continue;
        }
        let Some((key, text)) = labelled::split(line) else {
            // values of lists stand on lines of their own
            continue;
        };
        match (title, key) {
            ("Memory Device", _) => {
                if let Some(slot) = slots.last_mut() {
                    field(slot, key, text);
                }
            }
            ("System Information", "Manufacturer") => out.fact("manufacturer", text),
            ("System Information", "Product Name") => out.fact("product", text),
            ("Physical Memory Array", "Maximum Capacity") => out.fact("maximum_capacity", text),
            _ => {}
        }
    }
    facts(count, &slots, out);
}

fn field(slot: &mut Slot, key: &str, text: &str) {
    let place = match key {
        "Size" => &mut slot.size,
        "Type" => &mut slot.kind,
        "Speed" => &mut slot.speed,
        // the second is its name before version 3.1
        "Configured Memory Speed" | "Configured Clock Speed" => &mut slot.configured,
        "Locator" => &mut slot.locator,
        "Manufacturer" => &mut slot.maker,
        _ => return,
    };
    text.clone_into(place);
}

/// Lines outside of structures; `false`: not one of them.
fn note(line: &str, out: &mut Read) -> bool {
    if line.contains("Permission denied") || line.contains("Can't read memory") {
        out.problem("permission_denied", "dmidecode", line);
        return true;
    }
    if line.contains("No SMBIOS nor DMI entry point found") {
        out.problem("no_table", "dmidecode", line);
        return true;
    }
    // titles of structures whose handle was cut off are known by their form only
    const NOTES: [&str; 9] = [
        "# dmidecode",
        "Scanning /dev/mem",
        "# SMBIOS",
        "Getting SMBIOS",
        "SMBIOS ",
        "Table at",
        "Physical Memory Array",
        "System Information",
        "End Of Table",
    ];
    NOTES.iter().any(|n| line.starts_with(n)) || line.contains(" structures occupying ")
}

fn facts(count: u64, slots: &[Slot], out: &mut Read) {
    let populated: Vec<&Slot> = slots.iter().filter(|s| s.populated()).collect();
    let set = |part: fn(&Slot) -> &str| -> Vec<&str> {
        let parts: BTreeSet<&str> = populated.iter().map(|s| part(s)).collect();
        parts.into_iter().filter(|p| !p.is_empty()).collect()
    };
    out.fact("slots", count);
    out.fact("populated", populated.len());
    if !populated.is_empty() {
        out.fact("sizes", set(|s| &s.size));
        out.fact("types", set(|s| &s.kind));
        out.fact("speed", set(|s| &s.speed));
        out.fact("configured", set(|s| &s.configured));
        let locators: Vec<&str> = populated.iter().map(|s| s.locator.as_str()).collect();
        out.fact("locators", locators);
    }
    if let Some(slot) = populated.iter().find(|s| is_invented(s)) {
        let detail = format!(
            "{} of {} as one module, made by {}",
            slot.size, slot.kind, slot.maker
        );
        out.problem("topology_invented_by_hypervisor", "memory", detail);
    }
}

/// No module is made like that: of a kind called "RAM", of a size that is no power of two (DDR5: nor three times
/// one), or larger than 512 GB.
fn is_invented(slot: &Slot) -> bool {
    const HYPERVISORS: [&str; 5] = ["QEMU", "Google", "Amazon EC2", "Microsoft", "VMware"];
    if HYPERVISORS.iter().any(|h| slot.maker.contains(h)) || slot.kind == "RAM" {
        return true;
    }
    let unit = match slot.size.rsplit(' ').next() {
        Some("MB") => 1,
        Some("GB") => 1 << 10,
        Some("TB") => 1 << 20,
        _ => return false,
    };
    let Some(mb) = value::whole(&slot.size).and_then(|n| n.checked_mul(unit)) else {
        return true;
    };
    let round = mb.is_power_of_two();
    let three = slot.kind.contains("DDR5") && mb % 3 == 0 && (mb / 3).is_power_of_two();
    !(round || three) || mb > 512 << 10
}

#[cfg(test)]
mod tests {
    use super::{Slot, is_invented};

    #[test]
    fn modules_that_exist_and_that_do_not() {
        let slot = |size: &str, kind: &str| Slot {
            size: size.to_owned(),
            kind: kind.to_owned(),
            ..Slot::default()
        };
        assert!(!is_invented(&slot("32 GB", "DDR4")));
        assert!(!is_invented(&slot("32768 MB", "DDR4")));
        assert!(!is_invented(&slot("96 GB", "DDR5")));
        assert!(is_invented(&slot("96 GB", "DDR4")));
        assert!(is_invented(&slot("1 TB", "DDR5")));
        assert!(is_invented(&slot("16 GB", "RAM")));
    }
}
