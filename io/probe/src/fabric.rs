//! Ports towards other machines: InfiniBand, RoCE, EFA, from `/sys/class/infiniband` below a root that the caller names. No
//! tool and no rights are needed.
//!
//! [`look`] reads them once, [`watched`] twice, to tell counters that grow from those that only stand. A machine without
//! such ports is no fault: most have none. Not here: captures of the same files that people paste (`read`), throughput.

use crate::gpu::prove::{Rules, below};
use crate::gpu::{Finding, Severity};
use crate::read::{port_error as counter, whole};
use crate::step::Conduct;
use lessee_model::probe::{Fabric, Port};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

/// More ports than any machine has.
const MOST: usize = 256;
/// A value of the kernel is a line.
const VALUE_BYTES: u64 = 4096;

/// Reads all ports once.
pub fn look(root: &Path) -> Fabric {
    let adapters = names(&root.join("sys/class/infiniband"));
    let mut ports = Vec::new();
    for adapter in adapters {
        let at = root.join("sys/class/infiniband").join(&adapter);
        let mut numbers: Vec<u32> = names(&at.join("ports"))
            .iter()
            .filter_map(|n| n.parse().ok())
            .collect();
        numbers.sort_unstable();
        for number in numbers {
            if ports.len() < MOST {
                ports.push(port(&at, &adapter, number));
            }
        }
    }
    Fabric {
        ports,
        watched_s: None,
    }
}

/// Reads all ports, waits, and reads them again.
pub fn watched(root: &Path, pause: Duration, conduct: &Conduct<'_>) -> Fabric {
    let before = look(root);
    if before.ports.is_empty() {
        return before;
    }
    let part = conduct.part("fabric.watch", pause);
    while !part.over() {
        std::thread::sleep(part.left().min(Duration::from_millis(50)));
        part.tick();
    }
    let mut after = look(root);
    since(&mut after, &before, part.elapsed());
    after
}

/// Fills in what grew since an earlier reading; a counter that was reset meanwhile tells nothing.
fn since(after: &mut Fabric, before: &Fabric, passed: Duration) {
    after.watched_s = Some(passed.as_secs_f64());
    for port in &mut after.ports {
        let same = |p: &&Port| (&p.adapter, p.port) == (&port.adapter, port.port);
        let Some(then) = before.ports.iter().find(same) else {
            continue;
        };
        for (name, count) in &port.errors {
            let grown = then.errors.get(name).and_then(|t| count.checked_sub(*t));
            if let Some(grown) = grown.filter(|g| *g > 0) {
                port.grown.insert(name.clone(), grown);
            }
        }
    }
}

/// What follows from it, worst first.
pub fn findings(fabric: &Fabric, rules: &Rules) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut alike: BTreeMap<(&str, &str), Vec<(usize, f64)>> = BTreeMap::new();
    for (at, port) in fabric.ports.iter().enumerate() {
        one(port, fabric.watched_s, rules, &mut out);
        if let (true, Some(rate)) = (port.active(), judged_rate(port)) {
            let kind = port.adapter_type.as_deref().unwrap_or("");
            let layer = port.link_layer.as_deref().unwrap_or("");
            alike.entry((kind, layer)).or_default().push((at, rate));
        }
    }
    for rates in alike.values() {
        for (at, rate, middle) in below(rates, rules) {
            let detail = format!("{rate} Gbit/s, ports of the same kind {middle}");
            let subject = subject(&fabric.ports[at]);
            out.push(Finding::new(Severity::Fail, "port_slow", subject, detail));
        }
    }
    out.sort_by_key(|f| std::cmp::Reverse(f.severity));
    out
}

fn one(port: &Port, watched_s: Option<f64>, rules: &Rules, out: &mut Vec<Finding>) {
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, subject(port), detail));
    };
    match (&port.state, port.active()) {
        // a second port without a cable is usual
        (Some(state), false) => {
            let physical = port.physical_state.as_deref().unwrap_or("?");
            push(Severity::Warn, "port_down", format!("{state}, {physical}"));
        }
        (None, _) => push(Severity::Unknown, "port_unreadable", "state".to_owned()),
        (Some(_), true) => {
            let kind = port.adapter_type.as_deref().unwrap_or("");
            let most = rules.ports.card_gbps.get(kind);
            if let (Some(most), Some(rate)) = (most, judged_rate(port))
                && rate < *most
            {
                let detail = format!("{rate} Gbit/s, cards of its family up to {most}");
                push(Severity::Warn, "port_below_card", detail);
            }
        }
    }
    for (name, count) in &port.errors {
        let code = counter(name).map_or("link_errors", |(code, _)| code);
        match (port.grown.get(name), watched_s) {
            (Some(grown), Some(seconds)) => {
                let detail = format!("{name}: {grown} more within {seconds:.0} s");
                push(Severity::Fail, code, detail);
            }
            _ if *count > 0 => push(Severity::Note, code, format!("{name}: {count}")),
            _ => {}
        }
    }
}

fn subject(port: &Port) -> String {
    format!("port {}", port.name())
}

/// EFA states a rate that is not its own, and a bond that of one of its ports.
fn judged_rate(port: &Port) -> Option<f64> {
    let states = port.driver.as_deref() != Some("efa") && !port.adapter.contains("bond");
    port.rate_gbps.filter(|_| states)
}

fn port(adapter: &Path, name: &str, number: u32) -> Port {
    let at = adapter.join("ports").join(number.to_string());
    let device = adapter.join("device");
    let driver = std::fs::read_link(device.join("driver")).ok();
    let errors = names(&at.join("counters")).into_iter().filter_map(|file| {
        let path = format!("counters/{file}");
        counter(&path)?;
        Some((path.clone(), whole(&text(&at.join(&path))?)?))
    });
    Port {
        adapter: name.to_owned(),
        port: number,
        driver: driver.and_then(|d| Some(d.file_name()?.to_string_lossy().into_owned())),
        adapter_type: text(&adapter.join("hca_type")),
        interfaces: names(&device.join("net")),
        link_layer: text(&at.join("link_layer")),
        state: text(&at.join("state")).map(|s| word(&s)),
        physical_state: text(&at.join("phys_state")).map(|s| word(&s)),
        rate_gbps: text(&at.join("rate")).and_then(|r| gbps(&r)),
        numa_node: text(&device.join("numa_node")).and_then(|n| n.parse().ok()),
        errors: errors.collect(),
        grown: BTreeMap::new(),
    }
}

/// `4: ACTIVE`
fn word(state: &str) -> String {
    let word = state.split_once(':').map_or(state, |(_, word)| word);
    word.trim().to_owned()
}

/// `400 Gb/sec (4X NDR)`, `2.5 Gb/sec (1X SDR)`
fn gbps(rate: &str) -> Option<f64> {
    let (number, unit) = rate.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    (unit.starts_with("Gb/sec") && number.is_finite() && number > 0.0).then_some(number)
}

/// Names in a folder, in order; none where there is no folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .take(MOST)
        .collect();
    names.sort_by_key(|n| (n.len(), n.clone()));
    names
}

fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(VALUE_BYTES).read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    struct Tree(tempfile::TempDir);

    impl Tree {
        /// Lines of `PATH: VALUE`, as a capture of the folder has them.
        fn new(capture: &str) -> Tree {
            let tree = Tree(tempfile::tempdir().unwrap());
            for line in capture.lines().filter(|l| !l.is_empty()) {
                let (path, value) = line.split_once(':').unwrap();
                tree.write(path, value);
            }
            tree
        }

        fn write(&self, path: &str, value: &str) {
            let path = self.0.path().join(path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{}\n", value.trim())).unwrap();
        }

        fn driver(&self, adapter: &str, driver: &str) {
            let device = self
                .0
                .path()
                .join("sys/class/infiniband")
                .join(adapter)
                .join("device");
            std::fs::create_dir_all(&device).unwrap();
            let to = format!("../../../../bus/pci/drivers/{driver}");
            std::os::unix::fs::symlink(to, device.join("driver")).unwrap();
        }

        fn told(&self) -> Vec<String> {
            told(&look(self.0.path()))
        }
    }

    fn told(fabric: &Fabric) -> Vec<String> {
        let findings = findings(fabric, &Rules::built_in().unwrap());
        for f in &findings {
            assert!(
                crate::gpu::CODES.iter().any(|(c, _)| *c == f.code),
                "{}",
                f.code
            );
        }
        let one = |f: &Finding| format!("{:?} {} {}", f.severity, f.code, f.subject);
        findings.iter().map(one).collect()
    }

    fn adapter(at: u32, rate: &str, state: &str) -> String {
        let base = format!("/sys/class/infiniband/mlx5_{at}");
        format!(
            "{base}/hca_type: MT4129\n{base}/ports/1/link_layer: InfiniBand\n{base}/ports/1/rate: {rate}\n\
             {base}/ports/1/state: {state}\n{base}/ports/1/phys_state: 5: LinkUp\n\
             {base}/ports/1/counters/symbol_error: 0\n{base}/ports/1/counters/port_xmit_data: 99\n"
        )
    }

    const NDR: &str = "400 Gb/sec (4X NDR)";
    const ACTIVE: &str = "4: ACTIVE";

    #[test]
    fn none_is_none_and_no_fault() {
        let tree = Tree::new("");
        assert_eq!(look(tree.0.path()), Fabric::default());
        assert!(tree.told().is_empty());
    }

    #[test]
    fn healthy_ports_are_described() {
        let all: String = (0..8).map(|i| adapter(i, NDR, ACTIVE)).collect();
        let tree = Tree::new(&all);
        tree.driver("mlx5_0", "mlx5_core");
        tree.write("sys/class/infiniband/mlx5_0/device/net/ib0/mtu", "4092");
        let fabric = look(tree.0.path());
        assert_eq!(fabric.ports.len(), 8);
        let port = &fabric.ports[0];
        assert_eq!(port.driver.as_deref(), Some("mlx5_core"));
        assert_eq!(port.interfaces, ["ib0"]);
        assert_eq!(port.rate_gbps, Some(400.0));
        assert_eq!(port.state.as_deref(), Some("ACTIVE"));
        assert_eq!(port.errors.len(), 1, "traffic is no error");
        assert_eq!(fabric.ports[1].driver, None);
        assert!(told(&fabric).is_empty());
    }

    #[test]
    fn a_port_that_is_down_and_one_that_is_slower_than_its_like() {
        let mut all: String = (0..6).map(|i| adapter(i, NDR, ACTIVE)).collect();
        all.push_str(&adapter(6, "200 Gb/sec (4X HDR)", ACTIVE));
        all.push_str(&adapter(7, "10 Gb/sec (4X SDR)", "1: DOWN"));
        let mut told = Tree::new(&all).told();
        told.sort();
        assert_eq!(
            told,
            [
                "Fail port_slow port mlx5_6/1",
                "Warn port_below_card port mlx5_6/1",
                "Warn port_down port mlx5_7/1"
            ]
        );
    }

    #[test]
    fn efa_states_a_rate_that_is_not_judged() {
        let base = "/sys/class/infiniband/rdmap16s27";
        let tree = Tree::new(&format!(
            "{base}/ports/1/state: 4: ACTIVE\n{base}/ports/1/rate: 100 Gb/sec (4X EDR)\n{base}/hca_type: MT4129\n"
        ));
        tree.driver("rdmap16s27", "efa");
        assert!(tree.told().is_empty(), "{:?}", tree.told());
    }

    #[test]
    fn counters_that_grow_are_a_fault_and_those_that_stand_a_note() {
        let tree = Tree::new(&adapter(0, NDR, ACTIVE));
        let path = "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error";
        tree.write(path, "7");
        assert_eq!(tree.told(), ["Note link_errors port mlx5_0/1"]);
        let before = look(tree.0.path());
        tree.write(path, "12");
        let mut after = look(tree.0.path());
        since(&mut after, &before, Duration::from_secs(3));
        assert_eq!(after.ports[0].grown["counters/symbol_error"], 5);
        assert_eq!(told(&after), ["Fail link_errors port mlx5_0/1"]);

        let stop = AtomicBool::new(false);
        let conduct = Conduct::new(&stop, &|_| {});
        let quiet = watched(tree.0.path(), Duration::from_millis(1), &conduct);
        assert!(quiet.watched_s.is_some());
        assert_eq!(told(&quiet), ["Note link_errors port mlx5_0/1"]);
    }

    #[test]
    fn what_cannot_be_read_is_not_known_and_nothing_breaks() {
        let base = "/sys/class/infiniband/mlx5_0";
        let tree = Tree::new(&format!(
            "{base}/ports/1/rate: fast\n{base}/ports/x/state: 4: ACTIVE\n{base}/ports/1/counters/symbol_error: many\n"
        ));
        let fabric = look(tree.0.path());
        assert_eq!(fabric.ports.len(), 1);
        assert_eq!(fabric.ports[0].rate_gbps, None);
        assert!(fabric.ports[0].errors.is_empty());
        assert_eq!(told(&fabric), ["Unknown port_unreadable port mlx5_0/1"]);
    }

    #[test]
    fn the_capture_of_these_files_describes_the_same_ports() {
        let capture = include_str!("../tests/data/ib-sysfs/grep.txt");
        let tree = Tree::new(capture);
        let fabric = look(tree.0.path());
        assert_eq!(
            (fabric.ports.len(), &*fabric.ports[0].adapter),
            (1, "mlx5_0")
        );
        let read = crate::read::read(capture.as_bytes());
        let said: Vec<_> = read.reading.problems.iter().map(|p| &*p.code).collect();
        let found = findings(&fabric, &Rules::built_in().unwrap());
        assert_eq!(found.iter().map(|f| f.code).collect::<Vec<_>>(), said);
    }
}
