//! Reading the canonical table.

use super::{BASES, CLASSES, CONFIDENCES, HEADER, MARKETS, TAXES};
use crate::build::CatalogBuilder;
use crate::builtin::offers::class_of;
use crate::table::Table;
use crate::{CatalogError, RowProblem};
use lessee_model::{
    AsOf, Basis, Catalog, Confidence, Currency, Fixed, Form, GpuRef, GpuTable, Interconnect,
    Machine, MachineId, Market, Money, Offer, Origin, Price, Provenance, TaxNote,
};
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

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
        let columns = self.columns;
        let cells = Cells {
            table,
            columns: &columns,
        };
        // all three blank: the machine is on offer, its price is not known
        let priced = [22, 23, 25].iter().any(|at| !cells.get(*at).is_empty());
        let prices = match priced {
            true => vec![self.price(&cells)?],
            false => Vec::new(),
        };
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
            prices,
            origin: self.origin.clone(),
            original: self.out.strings.opt(cells.get(33)),
            note: self.out.strings.opt(cells.get(34)),
        };
        self.out.push_offer(offer);
        Ok(())
    }

    fn price(&mut self, cells: &Cells<'_, '_>) -> Result<Price, RowProblem> {
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
        Ok(Price {
            purchase,
            per_hour: Money::new(amount, currency),
            upfront,
            high,
            tax,
            why,
        })
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
