//! `/sys/class/infiniband` with a line a file: `PATH: VALUE`, or `PATH:VALUE` as `grep -r . PATH` prints it.

use crate::read::{Read, source::Source, value};
use std::collections::BTreeSet;

/// Most different values that are kept of one kind.
const MAX_VALUES: usize = 4096;

pub(crate) fn recognise(source: &Source) -> bool {
    source.head_lines().filter_map(entry).nth(1).is_some()
}

/// Adapter, path below it, value.
fn entry(line: &str) -> Option<(&str, &str, &str)> {
    let line = line.trim();
    let (before, rest) = line.split_once("class/infiniband/")?;
    // other text may mention the folder
    if before.contains(char::is_whitespace) {
        return None;
    }
    let (adapter, rest) = rest.split_once('/')?;
    let (path, text) = rest.split_once([':', '='])?;
    let plain = |t: &str| !t.is_empty() && !t.contains(char::is_whitespace);
    (plain(adapter) && plain(path)).then(|| (adapter, path, text.trim()))
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut hcas = BTreeSet::new();
    let (mut rates, mut states, mut layers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (number, line) in source.lines().filter(|(_, l)| !l.trim().is_empty()) {
        let Some((adapter, path, text)) = entry(line) else {
            super::unread(number, line, out);
            continue;
        };
        let keep = |set: &mut BTreeSet<String>, text: &str| {
            if set.len() < MAX_VALUES {
                set.insert(text.to_owned());
            }
        };
        keep(&mut hcas, adapter);
        let Some((port, file)) = path.strip_prefix("ports/").and_then(|p| p.split_once('/')) else {
            continue;
        };
        // most adapters have one port
        let subject = match port {
            "1" => adapter.to_owned(),
            port => format!("{adapter}/{port}"),
        };
        match file {
            "rate" => keep(&mut rates, text),
            "link_layer" => keep(&mut layers, text),
            "state" => {
                keep(&mut states, text);
                if !text.to_ascii_uppercase().ends_with(": ACTIVE") {
                    out.problem("port_down", subject, text);
                }
            }
            _ => {
                if let Some((code, what)) = counter(file)
                    && let Some(count) = value::whole(text).filter(|c| *c > 0)
                {
                    let stuck = if count == 255 && code == "link_flapped" {
                        " or more: the counter ends there"
                    } else {
                        ""
                    };
                    out.problem(code, subject, format!("{what}: {count}{stuck}"));
                }
            }
        }
    }
    out.fact("hcas", hcas.into_iter().collect::<Vec<_>>());
    for (key, values) in [("rates", rates), ("states", states), ("layers", layers)] {
        if !values.is_empty() {
            out.fact(key, values.into_iter().collect::<Vec<_>>());
        }
    }
}

/// The counters that mean damage, since the port came up.
pub(crate) fn counter(file: &str) -> Option<(&'static str, &'static str)> {
    match file.strip_prefix("counters/")? {
        "link_downed" => Some(("link_flapped", "times down")),
        "link_error_recovery" => Some(("link_errors", "recoveries")),
        "symbol_error" => Some(("link_errors", "symbol errors")),
        "port_rcv_errors" => Some(("link_errors", "errors received")),
        "local_link_integrity_errors" => Some(("link_errors", "integrity errors")),
        _ => None,
    }
}
