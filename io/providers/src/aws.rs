//! The AWS price list of EC2: one CSV per region, hundreds of megabytes each, read as it arrives.
//!
//! Traps: five lines about the file stand before the header, columns are found by name; of the rows only
//! Linux, shared tenancy, nothing pre-installed and plain use is what `run` pays; capacity blocks and
//! reserved capacity carry 0; local zones look like regions; the GPU column counts GPUs (fractions as
//! nothing) and does not name them, so the catalog must know the type. Spot is not in the list.

use crate::csv_stream::{CsvStream, Record, RecordTooLong};
use crate::http::shown;
use crate::json::{Fields, bad_answer};
use crate::refresh::Session;
use crate::shelf::Priced;
use crate::skip::Skip;
use crate::{PriceApi, ProviderError};
use lessee_model::gpu::plain_name;
use lessee_model::{Fixed, Machine, Purchase};
use std::collections::HashMap;

const LIST: &str = "/offers/v1.0/aws/AmazonEC2/current";
/// Records before the header, at most.
const MAX_PREAMBLE: u64 = 20;

pub(crate) async fn fetch(api: &PriceApi, session: &mut Session<'_>) -> Result<(), ProviderError> {
    for path in files(session).await? {
        let url = session.http.url(&path)?;
        let shown_url = shown(&url);
        let mut csv = CsvStream::new();
        let mut list = PriceList::new(&shown_url);
        let known = session.facts.known;
        let Session { http, shelf, .. } = session;
        let mut take = |piece: &[u8]| {
            csv.feed(piece, &mut |record| {
                list.take(record, &|kind| known(api.name, kind), shelf)
            })
            .map_err(|stop: Stop| stop.explain(&shown_url))
        };
        http.stream(&url, &mut take).await?;
        take(&[])?;
        list.finish()?;
    }
    Ok(())
}

/// The paths of the wanted regions' lists; where there is no index of regions, the list of all of them.
async fn files(session: &mut Session<'_>) -> Result<Vec<String>, ProviderError> {
    let url = session.http.url(&format!("{LIST}/region_index.json"))?;
    let index = match session.http.get_json(&url).await {
        Err(ProviderError::Status { status: 404, .. }) => {
            return Ok(vec![format!("{LIST}/index.csv")]);
        }
        answer => answer?,
    };
    let from = shown(&url);
    let regions = Fields::of(&index)
        .and_then(|top| Fields::of(top.get("regions")?))
        .ok_or_else(|| bad_answer(&from, "regions", "an object is expected here"))?;
    let mut files = Vec::new();
    for (region, entry) in regions.entries() {
        if !session.shelf.wants_region(region) {
            continue;
        }
        let path = Fields::of(entry)
            .and_then(|entry| entry.text("currentVersionUrl"))
            .filter(|path| path.starts_with('/') && !path.starts_with("//"))
            .and_then(|path| path.strip_suffix(".json"))
            .ok_or_else(|| {
                let field = format!("regions.{region}.currentVersionUrl");
                bad_answer(&from, &field, "a path that ends in .json is expected here")
            })?;
        files.push(format!("{path}.csv"));
    }
    Ok(files)
}

/// What ends the reading of a file early.
enum Stop {
    TooLong(RecordTooLong),
    Bad(ProviderError),
}

impl From<RecordTooLong> for Stop {
    fn from(error: RecordTooLong) -> Stop {
        Stop::TooLong(error)
    }
}

impl Stop {
    fn explain(self, url: &str) -> ProviderError {
        match self {
            Stop::Bad(error) => error,
            Stop::TooLong(RecordTooLong(number)) => bad_answer(
                url,
                &format!("record {number}"),
                "longer than any record should be",
            ),
        }
    }
}

/// Where each needed column stands; `usize::MAX` for optional ones that are absent.
struct Columns {
    width: usize,
    term_type: usize,
    unit: usize,
    price: usize,
    currency: usize,
    instance_type: usize,
    system: usize,
    tenancy: usize,
    software: usize,
    capacity: usize,
    gpu: usize,
    region: usize,
    lease: usize,
    purchase_option: usize,
    offering_class: usize,
    market_option: usize,
    location_type: usize,
    vcpus: usize,
    memory: usize,
}

const ABSENT: usize = usize::MAX;

impl Columns {
    fn of(header: &Record<'_>, url: &str) -> Result<Columns, ProviderError> {
        let names: Vec<String> = (0..header.len())
            .map(|c| plain_name(header.text(c)))
            .collect();
        let find = |name: &str| names.iter().position(|n| *n == plain_name(name));
        let need = |name: &str| {
            find(name).ok_or_else(|| bad_answer(url, name, "the header has no such column"))
        };
        let may = |name: &str| find(name).unwrap_or(ABSENT);
        Ok(Columns {
            width: names.len(),
            term_type: need("TermType")?,
            unit: need("Unit")?,
            price: need("PricePerUnit")?,
            currency: need("Currency")?,
            instance_type: need("Instance Type")?,
            system: need("Operating System")?,
            tenancy: need("Tenancy")?,
            software: need("Pre Installed S/W")?,
            capacity: need("CapacityStatus")?,
            gpu: need("GPU")?,
            region: need("Region Code")?,
            lease: may("LeaseContractLength"),
            purchase_option: may("PurchaseOption"),
            offering_class: may("OfferingClass"),
            market_option: may("MarketOption"),
            location_type: may("Location Type"),
            vcpus: may("vCPU"),
            memory: may("Memory"),
        })
    }
}

struct PriceList<'u> {
    url: &'u str,
    columns: Option<Columns>,
    machines: HashMap<String, Option<Machine>>,
    rows: u64,
}

impl<'u> PriceList<'u> {
    fn new(url: &'u str) -> PriceList<'u> {
        PriceList {
            url,
            columns: None,
            machines: HashMap::new(),
            rows: 0,
        }
    }

    fn take(
        &mut self,
        record: Record<'_>,
        known: &dyn Fn(&str) -> Option<Machine>,
        shelf: &mut crate::shelf::Shelf<'_>,
    ) -> Result<(), Stop> {
        let Some(columns) = &self.columns else {
            let is_header = (0..record.len()).any(|c| record.text(c) == "TermType");
            if is_header {
                self.columns = Some(Columns::of(&record, self.url).map_err(Stop::Bad)?);
            } else if record.number > MAX_PREAMBLE {
                return Err(Stop::Bad(self.no_header()));
            }
            return Ok(());
        };
        self.rows += 1;
        if record.len() != columns.width {
            let at = format!("record {}", record.number);
            let detail = format!("{} fields instead of {}", record.len(), columns.width);
            return Err(Stop::Bad(bad_answer(self.url, &at, &detail)));
        }
        let instance_type = record.text(columns.instance_type);
        let purchase = match wanted(&record, columns) {
            Ok(purchase) => purchase,
            Err(reason) => {
                shelf.skip(reason, instance_type);
                return Ok(());
            }
        };
        let machine = self
            .machines
            .entry(instance_type.to_owned())
            .or_insert_with(|| known(instance_type));
        let machine = match judge(&record, columns, machine.as_ref()) {
            Ok(machine) => machine,
            Err(reason) => {
                shelf.skip(reason, instance_type);
                return Ok(());
            }
        };
        match record.text(columns.price).parse::<Fixed>() {
            Ok(price) if !price.is_negative() => shelf.put(Priced {
                instance_type,
                region: record.text(columns.region),
                purchase,
                usd_per_hour: price,
                machine: &machine,
                note: None,
                why: None,
            }),
            _ => shelf.skip(Skip::Unreadable, "PricePerUnit"),
        }
        Ok(())
    }

    fn no_header(&self) -> ProviderError {
        bad_answer(
            self.url,
            "TermType",
            "no header line with this column was found",
        )
    }

    /// # Errors
    /// A file without header or rows is no price list.
    fn finish(&self) -> Result<(), ProviderError> {
        if self.columns.is_none() {
            return Err(self.no_header());
        }
        if self.rows == 0 {
            return Err(bad_answer(
                self.url,
                "rows",
                "the list ends after its header",
            ));
        }
        Ok(())
    }
}

/// The way of paying that a row prices, if it is a plain machine in a region.
fn wanted(record: &Record<'_>, columns: &Columns) -> Result<Purchase, Skip> {
    let is = |column: usize, allowed: &[&str]| allowed.contains(&record.text(column));
    if record.text(columns.instance_type).is_empty() {
        return Err(Skip::OtherProduct);
    }
    if !is(columns.system, &["Linux"]) || !is(columns.software, &["", "NA"]) {
        return Err(Skip::OtherSystem);
    }
    if !is(columns.tenancy, &["Shared"])
        || !is(columns.capacity, &["Used"])
        || !is(columns.market_option, &["", "OnDemand"])
        || !is(columns.location_type, &["", "AWS Region"])
    {
        return Err(Skip::OtherProduct);
    }
    if record.text(columns.currency) != "USD" {
        return Err(Skip::OtherCurrency);
    }
    if record.text(columns.unit) != "Hrs" {
        return Err(Skip::OtherUnit);
    }
    match record.text(columns.term_type) {
        "OnDemand" => Ok(Purchase::OnDemand),
        "Reserved" => {
            // paid by the hour, and for this very type: what compares with on demand
            if !is(columns.purchase_option, &["No Upfront"])
                || !is(columns.offering_class, &["standard"])
            {
                return Err(Skip::OtherUnit);
            }
            match record.text(columns.lease) {
                "1yr" | "1 yr" => Ok(Purchase::Year1),
                "3yr" | "3 yr" => Ok(Purchase::Year3),
                _ => Err(Skip::OtherUnit),
            }
        }
        _ => Err(Skip::OtherProduct),
    }
}

/// The machine of a row: as the catalog knows it, with the CPU count and memory that the list states.
fn judge(record: &Record<'_>, columns: &Columns, known: Option<&Machine>) -> Result<Machine, Skip> {
    let gpus: u16 = record.text(columns.gpu).parse().unwrap_or(0);
    let Some(known) = known else {
        return Err(if gpus > 0 {
            Skip::UnknownType
        } else {
            Skip::NoGpu
        });
    };
    if gpus > 0 && gpus != known.gpu_count {
        return Err(Skip::CountDiffers);
    }
    let mut machine = known.clone();
    if let Ok(vcpus) = record.text(columns.vcpus).parse::<u16>() {
        machine.vcpus = Some(f32::from(vcpus));
    }
    // "1,152 GiB"
    let memory = record.text(columns.memory).strip_suffix("GiB");
    if let Some(gib) = memory.and_then(|m| m.trim().replace(',', "").parse::<f32>().ok())
        && gib > 0.0
        && gib.is_finite()
    {
        machine.memory_gib = Some(gib);
    }
    Ok(machine)
}
