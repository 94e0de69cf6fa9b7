//! What was recorded of a spot market: raw, with its own time stamps and holes.
//!
//! Start with [`Record`]. Nothing here is on a grid yet and nothing is filled in; `market.rs` lays series on the
//! ticks of a replay and counts what is missing. Not here: reading files (`io/traces`), figures (`stats/`).

use serde::{Deserialize, Serialize};

/// One record of one file: a recorder watched one thing in one zone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Record {
    /// How many instances were to be had, sampled over time.
    Series(Series),
    /// Lives of single instances, from an event or keep-alive log.
    Lives(Lives),
    /// A path of prices, by change.
    Prices(PricePath),
    /// A published share of interrupted instances: no path, only a bucket.
    Bucket(Bucket),
    /// A summary of prices over a span: no path.
    PriceSummary(PriceSummary),
    /// A list price at one moment: no path.
    ListPrice(ListPrice),
    /// What it costs to move data between regions.
    Egress(Egress),
}

impl Record {
    /// What it is about.
    pub fn about(&self) -> &About {
        match self {
            Record::Series(r) => &r.about,
            Record::Lives(r) => &r.about,
            Record::Prices(r) => &r.about,
            Record::Bucket(r) => &r.about,
            Record::PriceSummary(r) => &r.about,
            Record::ListPrice(r) => &r.about,
            Record::Egress(r) => &r.about,
        }
    }

    /// What it is about, to be completed where the source does not say it.
    pub fn about_mut(&mut self) -> &mut About {
        match self {
            Record::Series(r) => &mut r.about,
            Record::Lives(r) => &mut r.about,
            Record::Prices(r) => &mut r.about,
            Record::Bucket(r) => &mut r.about,
            Record::PriceSummary(r) => &mut r.about,
            Record::ListPrice(r) => &mut r.about,
            Record::Egress(r) => &mut r.about,
        }
    }
}

/// Where a record comes from and what it is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Zone as the source spells it (`us-east-1a`), or the name of the column or file where it names none.
    pub zone: String,
    /// Region, where it can be told from the zone or the file.
    pub region: Option<String>,
    /// Cloud, where the file tells.
    pub provider: Option<String>,
    /// Instance type or accelerator, as spelt (`p3.2xlarge`, `v100:1`).
    pub machine: Option<String>,
    /// File (and `#column`) that was read.
    pub source: String,
}

/// What a sample of a series rests on. A probe says that a launch would have succeeded; a running instance may
/// outlive a failed probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A launch was tried.
    Probe,
    /// Real instances ran.
    Running,
    /// The file does not say.
    Unsaid,
}

/// Samples of how many instances were available in one zone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What it is about.
    pub about: About,
    /// What a sample rests on.
    pub seen: Seen,
    /// Instances that were asked for: samples run from 0 to this.
    pub asked: u32,
    /// Nominal seconds between two samples; 0: recorded by change, each value holds until the next.
    pub gap_s: u32,
    /// Unix time of `at_s = 0`; `None` where the file names no date.
    pub start: Option<i64>,
    /// Seconds since the start of the record, ascending, as recorded.
    pub at_s: Vec<i64>,
    /// Instances available at each sample; `None`: the recorder does not know.
    pub up: Vec<Option<u32>>,
    /// Spot price at each sample in USD an hour for `priced_for`; empty: the file has none.
    pub price: Vec<Option<f64>>,
    /// On-demand price in USD an hour for `priced_for`.
    pub on_demand: Option<f64>,
    /// What the prices are for, where the file says (`a3-highgpu-8g`): often not what was probed.
    pub priced_for: Option<String>,
}

/// Lives of instances. Both ends are known only to an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lives {
    /// What it is about.
    pub about: About,
    /// Unix time of second 0; `None` where the log counts from its own start.
    pub start: Option<i64>,
    /// Seconds from the first to the last entry of the log.
    pub span_s: i64,
    /// One entry a life.
    pub lives: Vec<Life>,
    /// Launches that were refused: seconds since the start.
    pub refused_s: Vec<i64>,
}

/// One life of one instance, in seconds since the start of its log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// Name in the log.
    pub name: String,
    /// When it started (exact: the log wrote the launch).
    pub from_s: i64,
    /// Last moment at which it is known to have lived.
    pub alive_s: i64,
    /// First moment at which it is known to be gone; `None`: it still lived at the end, or its owner deleted it.
    pub gone_s: Option<i64>,
}

/// Prices by change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PricePath {
    /// What it is about.
    pub about: About,
    /// What runs on the machine, where the source has a price for each (`Linux/UNIX`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Unix time and USD an hour, ascending; repeats without a change are left out.
    pub changes: Vec<(i64, f64)>,
    /// Rows with a price, repeats included.
    pub rows: usize,
    /// Unix time of the last row, repeat or not: until then the last price is known.
    pub until: i64,
    /// Within it, when no price is known: from, to (the next known price) in Unix time, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<(i64, i64)>,
}

impl PricePath {
    /// The path in pieces from one Unix time to another, each with its price; `None`: not known.
    pub fn steps(&self) -> Vec<(i64, i64, Option<f64>)> {
        let mut out: Vec<(i64, i64, Option<f64>)> = Vec::new();
        let ends = self.changes.iter().skip(1).map(|c| c.0);
        let mut holes = self.holes.iter().peekable();
        for ((from, price), to) in self.changes.iter().zip(ends.chain([self.until])) {
            let mut at = *from;
            while let Some((begin, end)) = holes.peek()
                && *begin < to
            {
                if at < *begin {
                    out.push((at, *begin, Some(*price)));
                }
                at = at.max(*begin);
                if at < (*end).min(to) {
                    out.push((at, (*end).min(to), None));
                }
                at = at.max(*end);
                if *end > to {
                    break;
                }
                holes.next();
            }
            // a last change at the end of the record has no length, but is one
            if at < to || *from == to {
                out.push((at, to, Some(*price)));
            }
        }
        out
    }
}

/// An advisor's bucket for one instance type in one region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// What it is about.
    pub about: About,
    /// Share of instances interrupted, lower bound, 0..1.
    pub low: f64,
    /// Upper bound; `None`: open.
    pub high: Option<f64>,
    /// Hours over which the share is counted: 1 for Azure's rate, 720 for AWS' trailing month.
    pub per_h: f64,
    /// Saving against on-demand as published, 0..1.
    pub saving: Option<f64>,
}

/// What is known of prices over a span where the path itself is not published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriceSummary {
    /// What it is about.
    pub about: About,
    /// Zone id (`use1-az1`), the same in every account.
    pub zone_id: Option<String>,
    /// USD an hour at the start of the span.
    pub first: f64,
    /// Least, in USD an hour.
    pub min: f64,
    /// Mean over time, in USD an hour.
    pub mean: f64,
    /// Greatest, in USD an hour.
    pub max: f64,
    /// Changes within the span.
    pub changes: u32,
}

/// A list price of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListPrice {
    /// What it is about; `zone` is the region.
    pub about: About,
    /// USD an hour of the whole machine.
    pub spot: Option<f64>,
    /// USD an hour of the whole machine.
    pub on_demand: Option<f64>,
    /// GPUs of the machine.
    pub gpus: Option<u32>,
    /// Unix time from which it holds.
    pub since: Option<i64>,
}

/// Prices of moving data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Egress {
    /// What it is about.
    pub about: About,
    /// From region, to region, USD per GB (10^9 bytes).
    pub pairs: Vec<(String, String, f64)>,
}
