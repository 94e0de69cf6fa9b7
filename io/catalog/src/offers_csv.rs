//! The canonical offer table: one row per price. It is what `catalog export` writes, what the user's
//! snapshots are on disk, and what a program or a spreadsheet can hand to `catalog import`.
//!
//! Cells are written exactly as they are, also those that begin with `=`, `+`, `-` or `@`: changing them
//! would change the data on the way back. Open an exported file in a spreadsheet by importing its columns
//! as text. Reading needs provider, instance type, GPU model and count,
//! purchase, price and currency; the other columns may be absent or blank.

use crate::build::CatalogBuilder;
use crate::builtin::offers::class_of;
use crate::table::Table;
use crate::{CatalogError, RowProblem};
use lessee_model::{
    AcceleratorClass, AsOf, Basis, Catalog, Confidence, Currency, Fixed, Form, GpuRef, GpuTable,
    Interconnect, Machine, MachineId, Market, Money, Offer, Origin, Price, Provenance, TaxNote,
};
use std::collections::HashMap;
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;

/// Columns in the order in which they are written.
pub const HEADER: [&str; 36] = [
    "provider",
    "region",
    "instance_type",
    "accelerator_class",
    "gpu_model",
    "gpu_form",
    "gpu_count",
    "gpu_fraction",
    "gpu_memory_gb",
    "usable_mib",
    "vcpus",
    "memory_gib",
    "local_disk_gb",
    "network_gbps",
    "interconnect",
    "link_gbs",
    "rdma",
    "cpu_arch",
    "gpu_access",
    "status",
    "gpu_confidence",
    "host_confidence",
    "purchase",
    "price",
    "price_high",
    "currency",
    "upfront",
    "tax",
    "market",
    "as_of",
    "source",
    "basis",
    "confidence",
    "original",
    "note",
    "schema",
];

/// Columns without which a row cannot be understood.
const REQUIRED: [&str; 7] = [
    "provider",
    "instance_type",
    "gpu_model",
    "gpu_count",
    "purchase",
    "price",
    "currency",
];

/// Columns 3 to 21 describe the machine, 29 to 32 the provenance.
const MACHINE: std::ops::Range<usize> = 3..22;
const SCHEMA: &str = "lessee/offers/v1";

/// Writes a catalog as CSV, in its own order.
///
/// # Errors
/// Whatever writing to `to` reports.
pub fn write_offers(to: impl Write, catalog: &Catalog) -> std::io::Result<()> {
    let mut out = csv::Writer::from_writer(to);
    let io = |e: csv::Error| std::io::Error::other(e);
    out.write_record(HEADER).map_err(io)?;
    let float = |x: Option<f32>| x.map(|x| x.to_string()).unwrap_or_default();
    for offer in &catalog.offers {
        let m = catalog.machine(offer);
        for price in &offer.prices {
            let row: [&str; HEADER.len()] = [
                &offer.provider,
                &offer.region,
                &offer.instance_type,
                word_of(CLASSES, m.class),
                &m.gpu.model,
                m.gpu.form.map_or("", Form::as_str),
                &m.gpu_count.to_string(),
                &m.gpu_fraction.to_string(),
                &m.gpu.memory_gb.map(|x| x.to_string()).unwrap_or_default(),
                &m.usable_mib_each.map(|x| x.to_string()).unwrap_or_default(),
                &float(m.vcpus),
                &float(m.memory_gib),
                &float(m.local_disk_gb),
                &float(m.network_gbps),
                m.interconnect.map_or("", Interconnect::as_str),
                &float(m.link_gbs),
                m.rdma.as_deref().unwrap_or(""),
                m.arch.as_deref().unwrap_or(""),
                m.gpu_access.as_deref().unwrap_or(""),
                &m.status,
                word_of(CONFIDENCES, m.confidence),
                word_of(CONFIDENCES, m.host_confidence),
                price.purchase.as_str(),
                &price.per_hour.amount.to_string(),
                &price.high.map(|h| h.amount.to_string()).unwrap_or_default(),
                price.per_hour.currency.as_str(),
                &float(price.upfront),
                word_of(TAXES, price.tax),
                word_of(MARKETS, offer.market),
                &price.why.as_of.map(|d| d.to_string()).unwrap_or_default(),
                &price.why.source,
                word_of(BASES, price.why.basis),
                word_of(CONFIDENCES, price.why.confidence),
                offer.original.as_deref().unwrap_or(""),
                offer.note.as_deref().unwrap_or(""),
                SCHEMA,
            ];
            out.write_record(row).map_err(io)?;
        }
    }
    out.flush()
}

/// One row that could not be read for sure; it is not in the catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct BadRow {
    pub line: u64,
    pub text: String,
    pub problem: RowProblem,
}

/// Reads a canonical table. Rows that cannot be read for sure are returned beside the catalog.
///
/// # Errors
/// A required column is missing, the file is cut, a record has too few or too many fields.
pub fn read_offers(
    text: &str,
    file: &str,
    gpus: &GpuTable,
    origin: &Origin,
) -> Result<(Catalog, Vec<BadRow>), CatalogError> {
    let mut table = Table::open(text, file)?;
    for name in REQUIRED {
        table.need("offers", name)?;
    }
    let columns = HEADER.map(|name| table.find(name));
    let mut reader = Reader {
        gpus,
        origin,
        out: CatalogBuilder::new(),
        machines: HashMap::new(),
        provenances: HashMap::new(),
        columns,
        key: String::new(),
    };
    let mut bad = Vec::new();
    while let Some(line) = table.advance()? {
        if let Err(problem) = reader.row(&table) {
            bad.push(BadRow {
                line,
                text: table.raw(),
                problem,
            });
        }
    }
    Ok((reader.out.finish(), bad))
}

struct Reader<'a> {
    gpus: &'a GpuTable,
    origin: &'a Origin,
    out: CatalogBuilder,
    /// Cells that describe a machine, joined -> the machine. Large files repeat few machines.
    machines: HashMap<String, MachineId>,
    provenances: HashMap<String, Arc<Provenance>>,
    columns: [Option<usize>; HEADER.len()],
    key: String,
}

impl Reader<'_> {
    fn row(&mut self, table: &Table<'_>) -> Result<(), RowProblem> {
        let cells = Cells {
            table,
            columns: &self.columns,
        };
        let currency: Currency = cells.need("currency", 25)?;
        let amount = price_cell("price", cells.get(23))?;
        let high = match cells.get(24) {
            "" => None,
            text => Some(Money::new(price_cell("price_high", text)?, currency)),
        };
        let upfront: Option<f32> = cells.opt("upfront", 26)?;
        if let Some(share) = upfront
            && !(0.0..=1.0).contains(&share)
        {
            return Err(RowProblem::new(
                "upfront",
                cells.get(26),
                "number_unreadable",
            ));
        }
        let purchase = cells.need("purchase", 22)?;
        let tax = cells.word("tax", 27, TAXES, TaxNote::Unknown)?;
        let market = cells.word("market", 28, MARKETS, Market::Quote)?;
        for (name, at) in [("provider", 0), ("instance_type", 2), ("gpu_model", 4)] {
            if cells.get(at).is_empty() {
                return Err(RowProblem::new(name, "", "missing"));
            }
        }

        self.key.clear();
        for at in MACHINE.chain([32]) {
            self.key.push_str(cells.get(at));
            self.key.push('\u{1f}');
        }
        let machine = match self.machines.get(&self.key) {
            Some(known) => *known,
            None => {
                let id = self.out.machine(machine(&cells, self.gpus)?);
                self.machines.insert(self.key.clone(), id);
                id
            }
        };
        self.key.clear();
        for at in 29..33 {
            self.key.push_str(cells.get(at));
            self.key.push('\u{1f}');
        }
        let why = match self.provenances.get(&self.key) {
            Some(known) => known.clone(),
            None => {
                let new = Arc::new(Provenance::new(
                    cells.word("basis", 31, BASES, Basis::Quoted)?,
                    cells.word("confidence", 32, CONFIDENCES, Confidence::Verified)?,
                    cells.get(30),
                    cells.opt::<AsOf>("as_of", 29)?,
                ));
                self.provenances.insert(self.key.clone(), new.clone());
                new
            }
        };
        let region = match cells.get(1) {
            "" => "*",
            named => named,
        };
        let offer = Offer {
            provider: self.out.strings.get(cells.get(0)),
            region: self.out.strings.get(region),
            instance_type: self.out.strings.get(cells.get(2)),
            machine,
            market,
            prices: vec![Price {
                purchase,
                per_hour: Money::new(amount, currency),
                upfront,
                high,
                tax,
                why,
            }],
            origin: self.origin.clone(),
            original: self.out.strings.opt(cells.get(33)),
            note: self.out.strings.opt(cells.get(34)),
        };
        self.out.push_offer(offer);
        Ok(())
    }
}

fn machine(cells: &Cells<'_, '_>, gpus: &GpuTable) -> Result<Machine, RowProblem> {
    let mut gpu = GpuRef {
        model: Arc::from(cells.get(4)),
        form: cells.opt::<Form>("gpu_form", 5)?,
        memory_gb: cells.positive("gpu_memory_gb", 8)?,
    };
    // people write the whole name in one cell: `A100-80GB`
    if let Some(named) = gpus.resolve(&gpu.model)
        && named.model != gpu.model
    {
        gpu = GpuRef {
            model: named.model,
            form: gpu.form.or(named.form),
            memory_gb: gpu.memory_gb.or(named.memory_gb),
        };
    }
    let fraction: f32 = cells.positive("gpu_fraction", 7)?.unwrap_or(1.0);
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(RowProblem::new(
            "gpu_fraction",
            cells.get(7),
            "number_unreadable",
        ));
    }
    let confidence = cells.word("confidence", 32, CONFIDENCES, Confidence::Verified)?;
    let text = |at: usize| Some(cells.get(at)).filter(|t| !t.is_empty()).map(Arc::from);
    Ok(Machine {
        class: cells.word("accelerator_class", 3, CLASSES, class_of(gpus, &gpu))?,
        gpu,
        gpu_count: cells.need("gpu_count", 6)?,
        gpu_fraction: fraction,
        usable_mib_each: cells.opt("usable_mib", 9)?,
        vcpus: cells.positive("vcpus", 10)?,
        memory_gib: cells.positive("memory_gib", 11)?,
        local_disk_gb: cells.positive("local_disk_gb", 12)?,
        network_gbps: cells.positive("network_gbps", 13)?,
        interconnect: cells.opt::<Interconnect>("interconnect", 14)?,
        link_gbs: cells.positive("link_gbs", 15)?,
        rdma: text(16),
        arch: text(17),
        gpu_access: text(18),
        status: text(19).unwrap_or_else(|| Arc::from("current")),
        confidence: cells.word("gpu_confidence", 20, CONFIDENCES, confidence)?,
        host_confidence: cells.word("host_confidence", 21, CONFIDENCES, confidence)?,
    })
}

/// The cells of a record at their canonical places, whatever the order in the file.
struct Cells<'t, 'a> {
    table: &'t Table<'a>,
    columns: &'t [Option<usize>; HEADER.len()],
}

impl Cells<'_, '_> {
    fn get(&self, at: usize) -> &str {
        self.table.cell(self.columns[at])
    }

    fn opt<T: FromStr>(&self, name: &str, at: usize) -> Result<Option<T>, RowProblem> {
        match self.get(at) {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| RowProblem::new(name, text, "number_unreadable")),
        }
    }

    fn need<T: FromStr>(&self, name: &str, at: usize) -> Result<T, RowProblem> {
        self.opt(name, at)?
            .ok_or_else(|| RowProblem::new(name, "", "missing"))
    }

    /// A finite number that is not negative.
    fn positive<T: FromStr + Into<f64> + Copy>(
        &self,
        name: &str,
        at: usize,
    ) -> Result<Option<T>, RowProblem> {
        let value: Option<T> = self.opt(name, at)?;
        match value.map(Into::into) {
            Some(x) if !f64::is_finite(x) || x < 0.0 => {
                Err(RowProblem::new(name, self.get(at), "number_unreadable"))
            }
            _ => Ok(value),
        }
    }

    fn word<T: Copy>(
        &self,
        name: &str,
        at: usize,
        words: &[(&str, T)],
        blank: T,
    ) -> Result<T, RowProblem> {
        match self.get(at) {
            "" => Ok(blank),
            text => words
                .iter()
                .find(|(w, _)| *w == text)
                .map(|(_, value)| *value)
                .ok_or_else(|| RowProblem::new(name, text, "word_unknown")),
        }
    }
}

/// A price as a table states it: exact, not negative. Zero is let through, it is a defect to be reported.
pub(crate) fn price_cell(column: &str, text: &str) -> Result<Fixed, RowProblem> {
    if text.is_empty() {
        return Err(RowProblem::new(column, text, "missing"));
    }
    let amount: Fixed = text
        .parse()
        .map_err(|()| RowProblem::new(column, text, "price_unreadable"))?;
    if amount.is_negative() {
        return Err(RowProblem::new(column, text, "price_negative"));
    }
    Ok(amount)
}

fn word_of<T: PartialEq>(words: &'static [(&'static str, T)], value: T) -> &'static str {
    words
        .iter()
        .find(|(_, v)| *v == value)
        .map_or("", |(word, _)| word)
}

const CLASSES: &[(&str, AcceleratorClass)] = &[
    ("gpu", AcceleratorClass::Gpu),
    ("npu", AcceleratorClass::Npu),
    ("fpga", AcceleratorClass::Fpga),
    ("media", AcceleratorClass::Media),
];
const CONFIDENCES: &[(&str, Confidence)] = &[
    ("verified", Confidence::Verified),
    ("secondary", Confidence::Secondary),
    ("general", Confidence::General),
    ("unverified", Confidence::Unverified),
];
const TAXES: &[(&str, TaxNote)] = &[
    ("included", TaxNote::Included),
    ("excluded", TaxNote::Excluded),
    ("unknown", TaxNote::Unknown),
];
const MARKETS: &[(&str, Market)] = &[
    ("list", Market::List),
    ("gpu_cloud", Market::GpuCloud),
    ("marketplace", Market::Marketplace),
    ("quote", Market::Quote),
];
const BASES: &[(&str, Basis)] = &[
    ("measured", Basis::Measured),
    ("quoted", Basis::Quoted),
    ("published", Basis::Published),
    ("modelled", Basis::Modelled),
    ("assumed", Basis::Assumed),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_catalog_survives_a_round_trip() {
        let facts = crate::builtin().expect("facts");
        let mut bytes = Vec::new();
        write_offers(&mut bytes, &facts.catalog).expect("written");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (back, bad) =
            read_offers(&text, "offers.csv", &facts.gpus, &Origin::BuiltIn).expect("read");
        assert_eq!(bad, []);
        assert_eq!(back.offers.len(), facts.catalog.offers.len());
        for (a, b) in facts.catalog.offers.iter().zip(&back.offers) {
            assert_eq!(facts.catalog.machine(a), back.machine(b), "{}", a.key());
            let b = Offer {
                machine: a.machine,
                ..b.clone()
            };
            assert_eq!(*a, b);
        }
    }

    #[test]
    fn strange_cells_come_back_as_they_were() {
        let facts = crate::builtin().expect("facts");
        let mut catalog = Catalog {
            machines: facts.catalog.machines.clone(),
            offers: facts.catalog.offers[..1].to_vec(),
        };
        let line = "=HYPERLINK(\"x\"),\n二行，\"引号\"";
        catalog.offers[0].original = Some(Arc::from(line));
        let mut bytes = Vec::new();
        write_offers(&mut bytes, &catalog).expect("written");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (back, _) = read_offers(&text, "f", &facts.gpus, &Origin::BuiltIn).expect("read");
        assert_eq!(back.offers[0].original.as_deref(), Some(line));
    }

    #[test]
    fn bad_cells_are_named_and_the_rest_is_kept() {
        let facts = crate::builtin().expect("facts");
        let head = "provider,instance_type,gpu_model,gpu_count,purchase,price,currency\n";
        for (cell, column, code) in [
            ("NaN", "price", "price_unreadable"),
            ("1e400", "price", "price_unreadable"),
            ("-2", "price", "price_negative"),
            ("", "price", "missing"),
        ] {
            let text = format!(
                "{head}me,box,H100,8,on_demand,{cell},USD\nme,box2,A100-80GB,8,on_demand,9.5,USD\n"
            );
            let (catalog, bad) =
                read_offers(&text, "f", &facts.gpus, &Origin::BuiltIn).expect("read");
            assert_eq!((bad.len(), bad[0].line), (1, 2));
            assert_eq!(
                (bad[0].problem.column.as_str(), bad[0].problem.code),
                (column, code)
            );
            let kept = &catalog.offers[0];
            assert_eq!(catalog.machine(kept).gpu.memory_gb, Some(80.0));
        }
        let text = "provider,instance_type,gpu_model,gpu_count,purchase,prise,currency\n";
        assert!(matches!(
            read_offers(text, "f", &facts.gpus, &Origin::BuiltIn),
            Err(CatalogError::MissingColumn { column: "price", suggestion: Some(s), .. }) if s == "prise"
        ));
    }
}
