//! SkyPilot catalog v8, one `vms.csv` per cloud. Columns are matched by name: order and set differ from
//! cloud to cloud.
//!
//! What its rows mean and do not mean: zones are not offers (the cheapest zone stands for the region);
//! 0 is a missing price; on GCP host and accelerator are two rows of one zone and the price is their
//! sum; `SizeInMiB` is per GPU or in total, depending on the cloud.

use super::draft::Unpriced;
use super::parts::{
    Cell, GpuNames, Said, Seller, arch, ask_bad_cell, complete, machine, number, price, published,
    seller,
};
use super::{Draft, ImportContext, Imported};
use crate::table::Table;
use crate::{ImportError, OfferRow};
use lessee_model::gpu::same_memory;
use lessee_model::{Fixed, Machine, Msg, Purchase};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

struct Columns {
    instance_type: usize,
    accelerator: usize,
    count: usize,
    price: usize,
    region: usize,
    spot: Option<usize>,
    zone: Option<usize>,
    vcpus: Option<usize>,
    memory: Option<usize>,
    info: Option<usize>,
    arch: Option<usize>,
}

/// The best price found for one type, region and way of paying.
struct Best {
    machine: Machine,
    amount: Fixed,
    line: u64,
    raw: String,
    zones: BTreeSet<String>,
    derivation: Vec<String>,
}

type Key = (Arc<str>, Arc<str>, Purchase);

struct Reader<'a, 'b> {
    cx: &'a ImportContext<'b>,
    seller: Seller,
    draft: Draft,
    names: GpuNames,
    best: HashMap<Key, Best>,
    order: Vec<Key>,
}

/// A row of a host without GPU, or of a GPU without host (GCP).
struct Half {
    line: u64,
    raw: String,
    name: String,
    region: String,
    zone: String,
    on_demand: Cell,
    spot: Cell,
    vcpus: Option<f32>,
    memory_gib: Option<f32>,
    /// Of a GPU row.
    machine: Option<Machine>,
}

pub(super) fn import(
    text: &str,
    draft: Draft,
    cx: &ImportContext<'_>,
) -> Result<Imported, ImportError> {
    let file = draft.file().to_owned();
    let mut table = Table::open(text, &file)?;
    let columns = Columns {
        instance_type: table.need("SkyPilot", "InstanceType")?,
        accelerator: table.need("SkyPilot", "AcceleratorName")?,
        count: table.need("SkyPilot", "AcceleratorCount")?,
        price: table.need("SkyPilot", "Price")?,
        region: table.need("SkyPilot", "Region")?,
        spot: table.find("SpotPrice"),
        zone: table.find("AvailabilityZone"),
        vcpus: table.find("vCPUs"),
        memory: table.find("MemoryGiB"),
        info: table.find("GpuInfo"),
        arch: table.find("Arch"),
    };
    let mut reader = Reader {
        cx,
        seller: seller(&file, cx)?,
        draft,
        names: GpuNames::default(),
        best: HashMap::new(),
        order: Vec::new(),
    };
    let (mut hosts, mut accelerators) = (Vec::new(), Vec::new());
    while let Some(line) = table.advance()? {
        let instance_type = table.cell(columns.instance_type);
        let name = table.cell(columns.accelerator);
        match (instance_type.is_empty(), name.is_empty()) {
            (false, false) => reader.whole(&table, &columns, line),
            (false, true) => hosts.push(half(&table, &columns, line, instance_type)),
            (true, false) => {
                let mut gpu = half(&table, &columns, line, name);
                match reader.gpu_machine(&table, &columns, line, name) {
                    Some((machine, _)) => {
                        gpu.machine = Some(machine);
                        accelerators.push(gpu);
                    }
                    None => continue,
                }
            }
            (true, true) => reader.draft.ignore(),
        }
    }
    reader.join(hosts, accelerators);
    Ok(reader.finish())
}

fn half(table: &Table<'_>, c: &Columns, line: u64, name: &str) -> Half {
    Half {
        line,
        raw: table.raw(),
        name: name.to_owned(),
        region: table.cell(c.region).to_owned(),
        zone: table.cell(c.zone).to_owned(),
        on_demand: price("Price", table.cell(c.price)),
        spot: price("SpotPrice", table.cell(c.spot)),
        vcpus: number(table.cell(c.vcpus)),
        memory_gib: number(table.cell(c.memory)),
        machine: None,
    }
}

impl Reader<'_, '_> {
    /// The machine of a row that names an accelerator; `None` after a question.
    fn gpu_machine(
        &mut self,
        table: &Table<'_>,
        c: &Columns,
        line: u64,
        name: &str,
    ) -> Option<(Machine, Option<String>)> {
        let said = Said {
            name,
            count: table.cell(c.count).parse().unwrap_or(f64::NAN),
            memory: size_in_mib(table.cell(c.info)).map(|mib| mib / 1024.0),
        };
        match self.names.identify(&said, line, &mut self.draft, self.cx) {
            Ok(gpus) => {
                let m = machine(
                    &gpus,
                    number(table.cell(c.vcpus)),
                    number(table.cell(c.memory)),
                    arch(table.cell(c.arch)),
                    self.cx,
                );
                Some((m, gpus.note))
            }
            Err(doubt) => {
                self.draft.ask(line, table.raw(), doubt.code, doubt.why);
                None
            }
        }
    }

    fn whole(&mut self, table: &Table<'_>, c: &Columns, line: u64) {
        let on_demand = price("Price", table.cell(c.price));
        let spot = price("SpotPrice", table.cell(c.spot));
        let raw = table.raw();
        ask_bad_cell(&mut self.draft, line, &raw, "Price", &on_demand);
        // a spot price of 0 is how some fetchers write "none": no news
        if matches!(spot, Cell::Bad(_)) {
            ask_bad_cell(&mut self.draft, line, &raw, "SpotPrice", &spot);
        }
        if !matches!(on_demand, Cell::Price(_)) && !matches!(spot, Cell::Price(_)) {
            if matches!((&on_demand, &spot), (Cell::Blank, Cell::Blank | Cell::Zero))
                && let Some((m, _)) = self.gpu_machine(table, c, line, table.cell(c.accelerator))
            {
                let instance_type = table.cell(c.instance_type);
                let known = self.cx.facts.machine(&self.seller.key, instance_type);
                self.draft.unpriced(Unpriced {
                    provider: self.seller.key.clone(),
                    region: region(table.cell(c.region)),
                    instance_type: Arc::from(instance_type),
                    market: self.seller.market,
                    machine: complete(m, known),
                });
            }
            return;
        }
        let Some((m, note)) = self.gpu_machine(table, c, line, table.cell(c.accelerator)) else {
            return;
        };
        let instance_type = table.cell(c.instance_type);
        let m = complete(m, self.cx.facts.machine(&self.seller.key, instance_type));
        for (cell, purchase) in [(on_demand, Purchase::OnDemand), (spot, Purchase::Spot)] {
            if let Cell::Price(amount) = cell {
                let found = Best {
                    machine: m.clone(),
                    amount,
                    line,
                    raw: raw.clone(),
                    zones: BTreeSet::from([table.cell(c.zone).to_owned()]),
                    derivation: note.iter().cloned().collect(),
                };
                let key = (
                    Arc::from(instance_type),
                    region(table.cell(c.region)),
                    purchase,
                );
                self.keep(key, found);
            }
        }
    }

    /// Zones of a region collapse into the cheapest. Without zones each row is an offer of its own, and
    /// what happens to equal keys is the draft's decision.
    fn keep(&mut self, key: Key, found: Best) {
        let zoned = found.zones.iter().any(|z| !z.is_empty());
        match self.best.get_mut(&key) {
            Some(best) if zoned && best.machine == found.machine => {
                best.zones.extend(found.zones);
                if found.amount < best.amount {
                    let zones = std::mem::take(&mut best.zones);
                    *best = Best { zones, ..found };
                }
            }
            Some(_) => {
                let source = self.source();
                self.offer(key, found, &source);
            }
            None => {
                self.order.push(key.clone());
                self.best.insert(key, found);
            }
        }
    }

    /// Pairs hosts and accelerators of one zone by what is built in of the host type.
    fn join(&mut self, hosts: Vec<Half>, accelerators: Vec<Half>) {
        let mut used = vec![false; accelerators.len()];
        for host in hosts {
            let Some(known) = self.cx.facts.machine(&self.seller.key, &host.name) else {
                // an ordinary machine without GPU, or one that takes a GPU of choice
                self.draft.ignore();
                continue;
            };
            let pair = accelerators.iter().position(|a| {
                a.zone == host.zone
                    && a.region == host.region
                    && a.machine.as_ref().is_some_and(|m| fits(m, known))
            });
            let Some(at) = pair else {
                self.draft.ask(
                    host.line,
                    host.raw,
                    "host_without_gpu",
                    Msg::new("import-why-host-without-gpu")
                        .arg("instance_type", host.name)
                        .arg("zone", host.zone),
                );
                continue;
            };
            used[at] = true;
            let gpu = &accelerators[at];
            for (column, a, b, purchase) in [
                ("Price", &host.on_demand, &gpu.on_demand, Purchase::OnDemand),
                ("SpotPrice", &host.spot, &gpu.spot, Purchase::Spot),
            ] {
                let (Cell::Price(x), Cell::Price(y)) = (a, b) else {
                    let spot = purchase == Purchase::Spot;
                    for (half, cell) in [(&host, a), (gpu, b)] {
                        if !spot || matches!(cell, Cell::Bad(_)) {
                            ask_bad_cell(&mut self.draft, half.line, &half.raw, column, cell);
                        }
                    }
                    continue;
                };
                let found = Best {
                    machine: Machine {
                        vcpus: host.vcpus.or(known.vcpus),
                        memory_gib: host.memory_gib.or(known.memory_gib),
                        ..known.clone()
                    },
                    amount: *x + *y,
                    line: host.line,
                    raw: host.raw.clone(),
                    zones: BTreeSet::from([host.zone.clone()]),
                    derivation: vec![format!(
                        "host {x} + {} {y} (line {}) = {} USD / h",
                        gpu.name,
                        gpu.line,
                        *x + *y
                    )],
                };
                let key = (
                    Arc::from(host.name.as_str()),
                    region(&host.region),
                    purchase,
                );
                self.keep(key, found);
            }
        }
        for _ in used.iter().filter(|used| !**used) {
            self.draft.ignore();
        }
    }

    fn source(&self) -> Arc<str> {
        Arc::from(format!("{} (SkyPilot catalog)", self.draft.file()))
    }

    fn offer(&mut self, (instance_type, region, purchase): Key, best: Best, source: &Arc<str>) {
        let mut derivation = best.derivation;
        let zones: Vec<&str> = best.zones.iter().map(String::as_str).collect();
        let note = (zones.len() > 1 || zones.first().is_some_and(|z| !z.is_empty()))
            .then(|| format!("zones: {}", zones.join(" ")));
        if zones.len() > 1 {
            derivation.push(format!(
                "min over {} zones: {}",
                zones.len(),
                zones.join(" ")
            ));
        }
        let row = OfferRow {
            provider: self.seller.key.clone(),
            region,
            instance_type,
            market: self.seller.market,
            price: published(
                purchase,
                best.amount,
                best.machine.confidence,
                source,
                self.cx,
            ),
            machine: best.machine,
            original: None,
            note: note.map(Arc::from),
        };
        self.draft.offer(row, best.line, best.raw, derivation);
    }

    fn finish(mut self) -> Imported {
        let source = self.source();
        for key in std::mem::take(&mut self.order) {
            if let Some(best) = self.best.remove(&key) {
                self.offer(key, best, &source);
            }
        }
        self.draft.finish()
    }
}

fn region(text: &str) -> Arc<str> {
    Arc::from(if text.is_empty() { "*" } else { text })
}

/// Whether accelerators are those that a host type takes.
fn fits(accelerators: &Machine, host: &Machine) -> bool {
    accelerators.gpu.model == host.gpu.model
        && accelerators.gpu_count == host.gpu_count
        && match (accelerators.gpu.memory_gb, host.gpu.memory_gb) {
            (Some(a), Some(b)) => same_memory(a, b),
            _ => true,
        }
}

/// The number after `'SizeInMiB':` in a Python dictionary in single quotes (not JSON).
fn size_in_mib(info: &str) -> Option<f64> {
    let (_, rest) = info.split_once("SizeInMiB")?;
    let rest = rest.trim_start_matches(['\'', '"', ':', ' ']);
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    rest[..end].parse().ok().filter(|mib: &f64| *mib > 0.0)
}
