//! Round trips side by side: one entry of the document and one row of the table for each target. Verdicts: `core/accept`.

use super::AcceptanceDoc;
use crate::{Cell, Column, Table, Texts, Tone, clean};
use lessee_accept::Verdict;
use lessee_accept::latency::{Figures, Latency, LatencySamples, Series, Speaks, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Round trips to one target; the samples themselves are its evidence.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LatencyDoc {
    /// As the findings call it.
    pub target: String,
    pub host: String,
    /// Null: whichever answered of those that are usually open.
    pub port: Option<u16>,
    pub region: Option<String>,
    pub provider: Option<String>,
    /// That was connected to; of a proxy where there is one.
    pub address: Option<String>,
    /// `HOST:PORT` of the proxy.
    pub proxy: Option<String>,
    /// The network interface that packets leave by.
    pub interface: Option<String>,
    /// `notebook`, `visual` or `batch`.
    pub judged_for: String,
    /// Of the finding `latency`.
    pub verdict: Verdict,
    /// Null where nothing could decide.
    pub decided_by: Option<Series>,
    /// Time that the name took to become addresses; null where an address was given, or the proxy resolves names.
    pub dns_ms: Option<f64>,
    /// Of connections.
    pub tcp: Option<Figures>,
    /// Of TLS handshakes, by round trip: `TLSv1.3` takes one, `TLSv1.2` two; computing included.
    pub tls: Option<Figures>,
    pub tls_version: Option<String>,
    /// Of pings; null where they are not allowed or not answered.
    pub icmp: Option<Figures>,
    /// Of a proxy's answers to the wish for a way.
    pub tunnel: Option<Figures>,
    /// The user ended it early.
    pub stopped: bool,
}

/// One target as a document.
pub fn latency_doc(samples: &LatencySamples, judged: &Latency, work: Work) -> LatencyDoc {
    let target = &samples.target;
    LatencyDoc {
        target: target.name.clone(),
        host: target.host.clone(),
        port: target.port,
        region: target.region.clone(),
        provider: target.provider.clone(),
        address: samples.address.clone(),
        proxy: samples.proxy.as_ref().map(|p| p.at.clone()),
        interface: samples.route.as_ref().map(|r| r.interface.clone()),
        judged_for: work.as_str().to_owned(),
        verdict: judged.verdict,
        decided_by: judged.decided_by,
        dns_ms: samples.dns_ms,
        tcp: judged.tcp.clone(),
        tls: judged.tls.clone(),
        tls_version: match &samples.speaks {
            Some(Speaks::Tls { version, .. }) => Some(version.clone()),
            _ => None,
        },
        icmp: judged.icmp.clone(),
        tunnel: judged.tunnel.clone(),
        stopped: samples.stopped,
    }
}

/// The series that decides, side by side, with the medians of the others where there is room and one has any. The verdict is
/// the worst of all findings on the target.
pub(super) fn round_trips(doc: &AcceptanceDoc, texts: &Texts) -> Table {
    let right = |key, id, rank| Column::right(key, texts.get(id), rank);
    let mut table = Table::new(vec![
        Column::left("target", texts.get("accept-col-target"), 0),
        Column::left("verdict", texts.get("accept-col-verdict"), 0),
        Column::left("region", texts.get("accept-col-region"), 2),
        Column::left("by", texts.get("accept-col-by"), 1),
        right("median_ms", "accept-col-median", 0),
        right("p95_ms", "accept-col-p95", 0),
        right("p99_ms", "accept-col-p99", 1),
        right("jitter_ms", "accept-col-jitter", 1),
        right("loss_pct", "accept-col-loss", 0),
        right("samples", "accept-col-samples", 3),
        right("tls_ms", "accept-col-tls", 4),
        right("icmp_ms", "accept-col-icmp", 4),
        right("dns_ms", "accept-col-dns", 5),
    ]);
    for t in &doc.latency {
        let own = doc.findings.iter();
        let own = own.filter(|f| f.check == "latency" && f.subject == t.target);
        let verdict = own.map(|f| f.verdict).max().unwrap_or(t.verdict);
        let deciding = match t.decided_by {
            Some(Series::Tcp) => t.tcp.as_ref(),
            Some(Series::Tls) => t.tls.as_ref(),
            Some(Series::Icmp) => t.icmp.as_ref(),
            None => None,
        };
        let of = |part: fn(&Figures) -> Option<f64>| number(deciding.and_then(part), texts);
        let median = |f: &Option<Figures>| number(f.as_ref().and_then(|f| f.median_ms), texts);
        let tone = |verdict| match verdict {
            Verdict::Pass => Tone::Good,
            Verdict::Warn | Verdict::Unknown => Tone::Warn,
            Verdict::Fail => Tone::Bad,
        };
        table.push(vec![
            Cell::new(clean(&t.target)).raw(t.target.as_str()),
            Cell::new(texts.term("accept-verdict", verdict.as_str()))
                .raw(verdict.as_str())
                .tone(tone(verdict)),
            t.region
                .as_deref()
                .map_or_else(Cell::unknown, |r| Cell::new(clean(r)).raw(r)),
            t.decided_by
                .map_or_else(Cell::unknown, |s| Cell::new(s.as_str())),
            of(|f| f.median_ms),
            of(|f| f.p95_ms).tone(tone(t.verdict)),
            of(|f| f.p99_ms),
            of(|f| f.jitter_ms),
            of(|f| Some(f.loss_pct)),
            deciding.map_or_else(Cell::unknown, |f| Cell::new(f.timed.to_string())),
            median(&t.tls),
            median(&t.icmp),
            number(t.dns_ms, texts),
        ]);
    }
    without_empty(table)
}

/// Columns that nothing is known for are left out, but for those of figures that one looks for.
fn without_empty(table: Table) -> Table {
    let kept: Vec<usize> = (0..table.columns.len())
        .filter(|i| table.columns[*i].rank < 2 || table.rows.iter().any(|r| !r[*i].raw.is_empty()))
        .collect();
    Table {
        columns: kept.iter().map(|i| table.columns[*i].clone()).collect(),
        rows: table
            .rows
            .iter()
            .map(|row| kept.iter().map(|i| row[*i].clone()).collect())
            .collect(),
        head: table.head,
    }
}

fn number(value: Option<f64>, texts: &Texts) -> Cell {
    match value {
        Some(x) => Cell::new(texts.number(rounded(x))).raw(x.to_string()),
        None => Cell::unknown(),
    }
}

/// To a tenth, below one to a hundredth.
fn rounded(x: f64) -> f64 {
    let scale = if x < 1.0 { 100.0 } else { 10.0 };
    (x * scale).round() / scale
}
