//! `ibstat` and `ibstatus`: the ports of InfiniBand adapters, which may run Ethernet as well. Rates are Gb/s.
//!
//! The rate of a port that is down means nothing. `ibstat` may end in an error after it printed all ports that it
//! could; what it printed is kept.

use crate::read::{Read, labelled, source::Source, value};
use serde_json::{Map, Value, json};

/// Most ports that are listed.
const MAX_PORTS: usize = 4096;

pub(crate) fn recognise(source: &Source) -> bool {
    source
        .head_lines()
        .any(|l| adapter(l).is_some() || status(l).is_some())
}

/// `CA 'mlx5_0'`.
fn adapter(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("CA '")?.strip_suffix('\'')?;
    (!name.is_empty()).then_some(name)
}

/// `Infiniband device 'mlx5_0' port 1 status:`.
fn status(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim().strip_prefix("Infiniband device '")?;
    let (name, port) = rest.split_once("' port ")?;
    Some((name, port.strip_suffix(" status:")?))
}

#[derive(Clone, Default)]
struct Port {
    adapter: String,
    number: String,
    state: String,
    phys: String,
    rate: String,
    layer: String,
    kind: String,
    firmware: String,
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut ports: Vec<Port> = Vec::new();
    let mut adapters = std::collections::BTreeSet::new();
    let mut extra = Vec::new();
    // what `ibstat` says of an adapter before its ports
    let mut head = Port::default();
    let mut in_port = false;
    for (number, line) in source.lines().filter(|(_, l)| !l.trim().is_empty()) {
        if let Some(name) = adapter(line) {
            head = Port {
                adapter: name.to_owned(),
                ..Port::default()
            };
            if adapters.len() < MAX_PORTS {
                adapters.insert(name);
            }
            in_port = false;
            continue;
        }
        let begins = match (status(line), port_line(line)) {
            (Some((name, port)), _) => {
                if adapters.len() < MAX_PORTS {
                    adapters.insert(name);
                }
                Some(Port {
                    adapter: name.to_owned(),
                    number: port.to_owned(),
                    ..Port::default()
                })
            }
            (None, Some(port)) if !head.adapter.is_empty() => Some(Port {
                number: port.to_owned(),
                ..head.clone()
            }),
            _ => None,
        };
        if let Some(port) = begins {
            in_port = ports.len() < MAX_PORTS;
            if in_port {
                ports.push(port);
            } else {
                super::unread(number, line, out);
            }
            continue;
        }
        let target = match ports.last_mut() {
            Some(port) if in_port => port,
            _ => &mut head,
        };
        // labels are indented; at the margin stands what is not of the format
        let indented = line.starts_with([' ', '\t']);
        if !indented || !field(line, target) {
            if extra.len() < 100 {
                extra.push(value::shown(line.trim(), 200));
            }
            if line.contains("ibpanic") || line.contains("ibwarn") {
                out.problem("tool_failed", "ibstat", line.trim());
            } else {
                super::unread(number, line, out);
            }
        }
    }
    out.fact("hcas", adapters.len());
    facts(&ports, out);
    out.fact("extra", extra);
}

/// `Port 1:`.
fn port_line(line: &str) -> Option<&str> {
    let number = line.trim().strip_prefix("Port ")?.strip_suffix(':')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(number)
}

/// One label of either tool; `false`: not known.
fn field(line: &str, port: &mut Port) -> bool {
    let Some((key, text)) = labelled::split(line) else {
        return false;
    };
    let place = match key {
        "State" | "state" => &mut port.state,
        "Physical state" | "phys state" => &mut port.phys,
        "Rate" | "rate" => &mut port.rate,
        "Link layer" | "link_layer" => &mut port.layer,
        "CA type" => &mut port.kind,
        "Firmware version" => &mut port.firmware,
        "Number of ports" | "Hardware version" | "Node GUID" | "System image GUID" | "Base lid"
        | "base lid" | "LMC" | "SM lid" | "sm lid" | "Capability mask" | "Port GUID"
        | "default gid" => return true,
        _ => return false,
    };
    text.clone_into(place);
    true
}

fn facts(ports: &[Port], out: &mut Read) {
    let mut all = Map::new();
    let mut not_active = Vec::new();
    for port in ports {
        // an adapter with one port goes by its name
        let name = match all.contains_key(&port.adapter) {
            true => format!("{}/{}", port.adapter, port.number),
            false => port.adapter.clone(),
        };
        let reading = json!({
            "state": port.state, "phys": port.phys, "rate": port.rate,
            "layer": port.layer, "type": port.kind, "fw": port.firmware,
        });
        if port.state.is_empty() {
            out.problem(
                "incomplete_capture",
                &name,
                "the paste ends before the state",
            );
        } else if !is_active(&port.state) {
            let detail = format!("{}, {}", port.state, port.phys);
            out.problem("port_down", &name, detail);
            not_active.push(json!(name));
        } else if let Some(detail) = slow(port, ports) {
            out.problem("port_slow", &name, detail);
        }
        all.insert(name, reading);
    }
    out.fact("ports", all);
    out.fact("not_active", Value::Array(not_active));
}

/// `Active`, or `4: ACTIVE`.
fn is_active(state: &str) -> bool {
    let word = state.split_once(':').map_or(state, |(_, word)| word);
    word.trim().eq_ignore_ascii_case("active")
}

/// Why an active port is slower than it may be: than its siblings of the same type, or, of InfiniBand adapters, than
/// a quarter of what the type is made for. A half may be another model of the same type.
fn slow(port: &Port, ports: &[Port]) -> Option<String> {
    let rate = value::number(&port.rate)?;
    let alike = |p: &&Port| p.kind == port.kind && p.layer == port.layer && is_active(&p.state);
    let siblings = ports.iter().take(64).filter(alike);
    let best = siblings
        .filter_map(|p| value::number(&p.rate))
        .fold(rate, f64::max);
    if rate < best && !port.kind.is_empty() {
        return Some(format!("{rate} Gb/s, others of type {} {best}", port.kind));
    }
    let (_, name, most) = types().find(|(kind, ..)| *kind == port.kind)?;
    (port.layer == "InfiniBand" && rate <= most / 4.0)
        .then(|| format!("{rate} Gb/s, {name} reaches {most}"))
}

/// Type, name and highest rate in Gb/s of adapters.
fn types() -> impl Iterator<Item = (&'static str, &'static str, f64)> {
    let rows = include_str!("../../../data/ib_types.csv").lines();
    rows.filter(|l| !l.starts_with('#')).filter_map(|row| {
        let mut cells = row.split(',');
        Some((cells.next()?, cells.next()?, cells.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_of_types_is_whole() {
        let text = include_str!("../../../data/ib_types.csv");
        let rows = text.lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(super::types().count() + 1, rows, "all but the header");
    }
}
