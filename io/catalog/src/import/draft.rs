//! An import in the making: rows, questions and counts, with the rules that hold for every format.

use super::{Format, Imported};
use crate::{CatalogBuilder, OfferRow, Text};
use lessee_model::quote::{ImportDoc, Question, QuotedGpu, QuotedOffer};
use lessee_model::{Form, Interconnect, Machine, Market, Msg, Offer, Origin, Purchase, TaxNote};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// provider, instance type, region, way of paying
type Key = (Arc<str>, Arc<str>, Arc<str>, Purchase);

struct Row {
    row: OfferRow,
    line: u64,
    original: String,
    derivation: Vec<String>,
    /// As a quote states it; else derived from `row`.
    quoted: Option<Box<QuotedOffer>>,
}

/// A machine of which a file says where it is for rent, but not for how much.
pub(super) struct Unpriced {
    pub(super) provider: Arc<str>,
    pub(super) region: Arc<str>,
    pub(super) instance_type: Arc<str>,
    pub(super) market: Market,
    pub(super) machine: Machine,
}

/// Collects what one importer finds in one file.
pub struct Draft {
    doc: ImportDoc,
    whys: Vec<Msg>,
    rows: Vec<Row>,
    unpriced: Vec<Unpriced>,
}

impl Draft {
    pub fn new(name: &str, format: Format, input: &Text) -> Draft {
        Draft {
            doc: ImportDoc {
                schema: "lessee/import/v1".to_owned(),
                file: name.to_owned(),
                format: format.as_str().to_owned(),
                encoding: input.encoding.to_owned(),
                ..ImportDoc::default()
            },
            whys: Vec::new(),
            rows: Vec::new(),
            unpriced: Vec::new(),
        }
    }

    pub fn file(&self) -> &str {
        &self.doc.file
    }

    /// One price that was read for sure. `original` is its line as written.
    pub fn offer(&mut self, row: OfferRow, line: u64, original: String, derivation: Vec<String>) {
        self.rows.push(Row {
            row,
            line,
            original,
            derivation,
            quoted: None,
        });
    }

    /// One offer of a quote: `shown` says what the quote states and what it leaves open.
    pub(super) fn quoted(&mut self, row: OfferRow, shown: QuotedOffer) {
        self.rows.push(Row {
            row,
            line: shown.line,
            original: String::new(),
            derivation: Vec::new(),
            quoted: Some(Box::new(shown)),
        });
    }

    /// One line that could not be read for sure. `code` is stable, `why` is for people.
    pub fn ask(&mut self, line: u64, text: impl Into<String>, code: &str, why: Msg) {
        self.doc.questions.push(Question {
            line,
            text: text.into().chars().take(300).collect(),
            why: String::new(),
            code: code.to_owned(),
        });
        self.whys.push(why);
    }

    /// A row without a price. It is kept, for `catalog doctor` to count, unless another row has the price.
    pub(super) fn unpriced(&mut self, row: Unpriced) {
        self.doc.ignored_lines += 1;
        self.unpriced.push(row);
    }

    /// A line that carries no price of a GPU machine.
    pub fn ignore(&mut self) {
        self.doc.ignored_lines += 1;
    }

    pub(super) fn ignore_lines(&mut self, lines: u64) {
        self.doc.ignored_lines += lines;
    }

    /// Settles rows of one place, machine type and way of paying: equal ones are one; of a marketplace's
    /// hosts the cheapest counts; else different prices are a question and none of them is kept.
    pub fn finish(mut self) -> Imported {
        let mut groups: HashMap<Key, Vec<usize>> = HashMap::with_capacity(self.rows.len());
        for (i, Row { row, .. }) in self.rows.iter().enumerate() {
            let key = (
                row.provider.clone(),
                row.instance_type.clone(),
                row.region.clone(),
                row.price.purchase,
            );
            groups.entry(key).or_default().push(i);
        }
        let mut keep = vec![true; self.rows.len()];
        let mut conflicts = Vec::new();
        for group in groups.values_mut().filter(|g| g.len() > 1) {
            group.sort_by_key(|i| self.rows[*i].line);
            let group = &*group;
            let first = &self.rows[group[0]].row;
            let rows = || group.iter().map(|i| &self.rows[*i].row);
            let same_machine = rows().all(|r| r.machine == first.machine);
            let same_price = rows().all(|r| {
                r.price.per_hour == first.price.per_hour && r.price.high == first.price.high
            });
            let one_currency =
                rows().all(|r| r.price.per_hour.currency == first.price.per_hour.currency);
            for i in group {
                keep[*i] = false;
            }
            if same_machine && same_price {
                keep[group[0]] = true;
                self.doc.ignored_lines += group.len() as u64 - 1;
            } else if same_machine && one_currency && first.market == Market::Marketplace {
                let cheapest = group
                    .iter()
                    .copied()
                    .min_by_key(|i| (self.rows[*i].row.price.per_hour.amount, *i))
                    .unwrap_or(group[0]);
                keep[cheapest] = true;
                let count = group.len();
                self.rows[cheapest].derivation.push(format!(
                    "min of {count} hosts of one instance_type and region"
                ));
            } else {
                conflicts.push(group.clone());
            }
        }
        conflicts.sort();
        for group in conflicts {
            let lines: Vec<String> = group
                .iter()
                .map(|i| self.rows[*i].line.to_string())
                .collect();
            let shown = &self.rows[group[0]];
            let why = Msg::new("import-why-conflict")
                .arg("instance_type", &*shown.row.instance_type)
                .arg("region", &*shown.row.region)
                .arg("lines", lines.join(", "));
            let (line, text) = (shown.line, shown.original.clone());
            self.ask(line, text, "conflict", why);
        }
        let origin = Origin::User(Arc::from(self.doc.file.as_str()));
        let mut catalog = CatalogBuilder::new();
        let kept = keep.iter().filter(|k| **k).count();
        let key = |p: &Arc<str>, r: &Arc<str>, i: &Arc<str>| (p.clone(), r.clone(), i.clone());
        let mut told: HashSet<_> = match self.unpriced.is_empty() {
            true => HashSet::new(),
            false => self
                .rows
                .iter()
                .map(|Row { row, .. }| key(&row.provider, &row.region, &row.instance_type))
                .collect(),
        };
        self.doc.offers.reserve_exact(kept);
        for (mut row, _) in self.rows.into_iter().zip(keep).filter(|(_, keep)| *keep) {
            let shown = row
                .quoted
                .take()
                .map_or_else(|| quoted(&row), |shown| *shown);
            self.doc.offers.push(shown);
            catalog.push(row.row, &origin);
        }
        for row in self.unpriced {
            if told.insert(key(&row.provider, &row.region, &row.instance_type)) {
                let machine = catalog.machine(row.machine);
                catalog.push_offer(Offer {
                    provider: row.provider,
                    region: row.region,
                    instance_type: row.instance_type,
                    machine,
                    market: row.market,
                    prices: Vec::new(),
                    origin: origin.clone(),
                    original: None,
                    note: None,
                });
            }
        }
        // questions of one file stand in the order of its lines; sort both lists alike
        let mut order: Vec<usize> = (0..self.whys.len()).collect();
        order.sort_by_key(|i| self.doc.questions[*i].line);
        self.doc.questions = order
            .iter()
            .map(|i| self.doc.questions[*i].clone())
            .collect();
        let whys = order.iter().map(|i| self.whys[*i].clone()).collect();
        Imported {
            catalog: catalog.finish(),
            doc: self.doc,
            whys,
        }
    }
}

/// An offer as the document of an import shows it.
fn quoted(row: &Row) -> QuotedOffer {
    let Row {
        row: offer,
        line,
        original,
        derivation,
        ..
    } = row;
    let m = &offer.machine;
    QuotedOffer {
        provider: Some(offer.provider.to_string()),
        region: (&*offer.region != "*").then(|| offer.region.to_string()),
        instance_type: Some(offer.instance_type.to_string()),
        gpu: QuotedGpu {
            model: m.gpu.model.to_string(),
            form: m.gpu.form.map(Form::as_str).map(str::to_owned),
            count: u32::from(m.gpu_count),
            memory_gb_each: m.gpu.memory_gb,
        },
        vcpus: m.vcpus.map(f64::from),
        memory_gib: m.memory_gib.map(f64::from),
        local_disk_gb: m.local_disk_gb.map(f64::from),
        network_gbps: m.network_gbps.map(f64::from),
        interconnect: m.interconnect.map(Interconnect::as_str).map(str::to_owned),
        purchase: offer.price.purchase,
        price: offer.price.per_hour,
        per: "instance_hour".to_owned(),
        original: offer
            .original
            .as_deref()
            .map_or_else(|| original.clone(), str::to_owned),
        line: *line,
        derivation: derivation.clone(),
        tax: match offer.price.tax {
            TaxNote::Included => "included",
            TaxNote::Excluded => "excluded",
            TaxNote::Unknown => "unknown",
        }
        .to_owned(),
        as_of: offer.price.why.as_of,
        confidence: offer.price.why.confidence,
    }
}
