//! One price of one offer, as a row of a table and of JSON.

use super::marks::{Mark, marks};
use jiff::civil::Date;
use lessee_model::offer::machine_label;
use lessee_model::plan::GpuDoc;
use lessee_model::{Catalog, Fixed, Machine, Money, Offer, Origin, Price, StaleAfter};
use lessee_report::documents::PriceDoc;
use lessee_report::{Cell, Column, Table, Texts, Tone};
use std::sync::Arc;

pub(crate) struct Row<'a> {
    pub offer: &'a Offer,
    pub machine: &'a Machine,
    pub price: &'a Price,
    pub marks: Vec<Mark>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(
        catalog: &'a Catalog,
        (offer, price): (usize, usize),
        today: Date,
        stale: StaleAfter,
    ) -> Row<'a> {
        let offer = &catalog.offers[offer];
        let price = &offer.prices[price];
        Row {
            offer,
            machine: catalog.machine(offer),
            price,
            marks: marks(offer, price, today, stale),
        }
    }

    /// Price of one whole GPU and hour; `None` for a machine without GPUs.
    pub(crate) fn per_gpu(&self) -> Option<Money> {
        let gpus = Fixed::from_f64(self.machine.gpu_equivalents())?;
        let amount = self.price.per_hour.amount.over(gpus)?;
        Some(Money::new(amount.round(6), self.price.per_hour.currency))
    }

    pub(crate) fn document(&self) -> PriceDoc {
        let machine = self.machine;
        let float = |x: Option<f32>| x.map(clean_float);
        let text = |x: &Option<Arc<str>>| x.as_deref().map(str::to_owned);
        PriceDoc {
            key: self.offer.key(),
            provider: self.offer.provider.to_string(),
            region: self.offer.region.to_string(),
            instance_type: self.offer.instance_type.to_string(),
            gpu: GpuDoc {
                model: machine.gpu.model.to_string(),
                form: machine.gpu.form.map(|f| f.to_string()),
                count: u32::from(machine.gpu_count),
                memory_gb_each: machine.gpu.memory_gb,
                usable_mib_each: machine.usable_mib_each,
                fraction: clean_float(machine.gpu_fraction),
            },
            vcpus: float(machine.vcpus),
            memory_gib: float(machine.memory_gib),
            local_disk_gb: float(machine.local_disk_gb),
            network_gbps: float(machine.network_gbps),
            interconnect: machine.interconnect.map(|i| i.as_str().to_owned()),
            machine_confidence: machine.confidence,
            purchase: self.price.purchase,
            price: self.price.per_hour,
            price_high: self.price.high,
            per: "instance_hour".to_owned(),
            price_per_gpu_hour: self.per_gpu(),
            tax: self.price.tax,
            as_of: self.price.why.as_of,
            source: self.price.why.source.to_string(),
            basis: self.price.why.basis,
            confidence: self.price.why.confidence,
            origin: match &self.offer.origin {
                Origin::BuiltIn => "built-in".to_owned(),
                Origin::User(name) => name.to_string(),
            },
            marks: self.marks.iter().map(|m| m.code().to_owned()).collect(),
            original: text(&self.offer.original),
            note: text(&self.offer.note),
        }
    }
}

/// f32 as written in the data: 0.1666667 rather than 0.16666667163372.
fn clean_float(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

/// A table over rows; the currency stands in the heading where there is only one.
pub(crate) fn table(rows: &[Row<'_>], texts: &Texts) -> Table {
    let mut currencies: Vec<_> = rows.iter().map(|r| r.price.per_hour.currency).collect();
    currencies.sort_unstable();
    currencies.dedup();
    let (price, per_gpu, currency_rank) = match currencies.as_slice() {
        [one] => (format!("{one}/h"), format!("{one}/GPU-h"), Column::MACHINES),
        _ => (texts.get("col-price"), texts.get("col-per-gpu"), 0),
    };
    let mut table = Table::new(vec![
        Column::left("offer", texts.get("col-offer"), 0),
        Column::machines("provider", texts.get("col-provider")),
        Column::machines("instance_type", texts.get("col-instance-type")),
        Column::machines("region", texts.get("col-region")),
        Column::left("gpu", texts.get("col-gpu"), 0),
        Column::machines("count", texts.get("col-count")),
        Column::left("purchase", texts.get("col-purchase"), 1),
        Column::right("price", price, 0),
        Column::right("price_per_gpu", per_gpu, 0),
        Column::left("currency", texts.get("col-currency"), currency_rank),
        Column::left("as_of", texts.get("col-as-of"), 0),
        Column::left("marks", texts.get("col-marks"), 0),
        Column::right("vcpus", texts.get("col-vcpus"), 2),
        Column::right("memory_gib", texts.get("col-memory"), 3),
        Column::left("interconnect", texts.get("col-interconnect"), 4),
        Column::left("confidence", texts.get("col-confidence"), 7),
        Column::left("source", texts.get("col-source"), 8),
    ]);
    for row in rows {
        table.push(cells(row, texts));
    }
    table
}

fn cells(row: &Row<'_>, texts: &Texts) -> Vec<Cell> {
    let machine = row.machine;
    let one_gpu = Machine {
        gpu_count: 1,
        ..machine.clone()
    };
    let money = |m: Money| {
        let shown = texts.unit_price(Money::new(m.amount.round(4), m.currency));
        Cell::new(shown.rsplit_once(' ').map_or(shown.as_str(), |(n, _)| n)).raw(m.exact())
    };
    let number = |x: Option<f32>| match x {
        Some(x) => Cell::new(texts.number(clean_float(x))).raw(clean_float(x).to_string()),
        None => Cell::unknown(),
    };
    let purchase = row.price.purchase.as_str();
    let doubtful = row.marks.iter().any(|m| m.doubtful());
    let letters: String = row.marks.iter().map(|m| m.letter()).collect();
    let confidence = serde_json::to_value(row.price.why.confidence).unwrap_or_default();
    let confidence = confidence.as_str().unwrap_or_default();
    let gpu = format!("{}x {}", machine.gpu_count, machine_label(&one_gpu));
    vec![
        row.offer.key().into(),
        row.offer.provider.to_string().into(),
        row.offer.instance_type.to_string().into(),
        row.offer.region.to_string().into(),
        Cell::new(gpu).raw(machine_label(&one_gpu)),
        Cell::new(machine.gpu_count.to_string()),
        Cell::new(texts.term("purchase", purchase)).raw(purchase),
        money(row.price.per_hour),
        row.per_gpu().map_or_else(Cell::unknown, money),
        row.price.per_hour.currency.to_string().into(),
        row.price
            .why
            .as_of
            .map_or_else(Cell::unknown, |d| Cell::new(d.to_string())),
        Cell::new(letters).tone(if doubtful { Tone::Warn } else { Tone::Plain }),
        number(machine.vcpus),
        number(machine.memory_gib),
        machine
            .interconnect
            .map_or_else(Cell::unknown, |i| Cell::new(i.as_str())),
        Cell::new(texts.term("confidence", confidence)).raw(confidence),
        row.price.why.source.to_string().into(),
    ]
}
