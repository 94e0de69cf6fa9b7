//! `trace stats -o json`: the figures of records, made by `lessee_spot::stats`.

use super::doc::TraceRemarkDoc;
use crate::chart::rfc3339;
use lessee_spot::stats::{
    AGE_EDGES_H, Fit, FitKind, Observed, PriceFigures, Rate, Runs, State, availability, by_age,
    by_hour, correlation, duplicates, fits, hazard_of, observed_lives, observed_runs, of_path,
    of_series, runs, spans, survival,
};
use lessee_spot::trace::{About, Record, Series};
use schemars::JsonSchema;
use serde::Serialize;

/// `trace stats -o json`; with `-o jsonl` each line is one of `series`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceStatsDoc {
    /// `lessee/trace-stats/v1`
    pub schema: String,
    /// One entry a zone and size of gang.
    pub series: Vec<SeriesStatsDoc>,
    /// Logs of single instances.
    pub lives: Vec<LivesStatsDoc>,
    pub prices: Vec<PathStatsDoc>,
    pub buckets: Vec<BucketStatsDoc>,
    /// How zones fail together, for each pair of one gang that can be compared.
    pub correlation: Vec<PairDoc>,
    /// Zones that are one recording under several names.
    pub identical_zones: Vec<Vec<String>>,
    pub remarks: Vec<TraceRemarkDoc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SeriesStatsDoc {
    pub zone: String,
    pub region: Option<String>,
    pub machine: Option<String>,
    pub source: String,
    /// Instances wanted at once.
    pub gang: u32,
    /// Instances that the recorder asked for.
    pub asked: u32,
    pub start: Option<String>,
    pub span_seconds: i64,
    pub known_seconds: i64,
    /// Of known time, 0..1; null: nothing is known.
    pub available_share: Option<f64>,
    /// Stretches of which nothing is known.
    pub holes: Vec<HoleDoc>,
    pub up: RunsDoc,
    pub down: RunsDoc,
    /// How long availability lasts.
    pub lifetime: LifetimeDoc,
    /// How long it takes to come back.
    pub time_to_return: LifetimeDoc,
    pub price: Option<PriceDoc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HoleDoc {
    /// Seconds since the start of the record.
    pub from_seconds: i64,
    pub to_seconds: i64,
}

/// All runs, also those whose ends were not seen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunsDoc {
    pub count: u64,
    /// Runs with an unseen end: longer than counted.
    pub cut: u64,
    pub mean_seconds: f64,
    pub median_seconds: f64,
    pub longest_seconds: i64,
}

/// Lives that were seen to begin; those not seen to end are censored.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LifetimeDoc {
    pub lives: u64,
    pub ends: u64,
    /// Kaplan-Meier; null: not reached.
    pub median_seconds: Option<f64>,
    pub p90_seconds: Option<f64>,
    /// Greatest age seen, of lives that ended and of those that did not: beyond it nothing is known.
    pub oldest_seconds: f64,
    /// Mean up to the greatest age seen; null: no life was seen.
    pub restricted_mean_seconds: Option<f64>,
    pub by_age: Vec<AgeRateDoc>,
    /// Hours 0 to 23 UTC; empty where the file names no date.
    pub by_hour_utc: Vec<HourRateDoc>,
    /// Best (least AIC) first.
    pub fits: Vec<FitDoc>,
    pub curve: Vec<CurvePointDoc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgeRateDoc {
    pub from_hours: f64,
    /// Null: open.
    pub to_hours: Option<f64>,
    pub ends: u64,
    /// Hours lived at this age.
    pub hours: f64,
    pub per_hour: Option<f64>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HourRateDoc {
    pub hour: u8,
    pub ends: u64,
    pub hours: f64,
    pub per_hour: Option<f64>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FitDoc {
    /// `exponential` (per_hour), `weibull` (shape, scale in hours), `by_age`, `by_hour` (per_hour of each class)
    pub kind: String,
    pub parameters: Vec<f64>,
    pub log_likelihood: f64,
    pub aic: f64,
    /// Greatest distance between curve and fit, 0..1.
    pub ks: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CurvePointDoc {
    pub age_seconds: f64,
    pub at_risk: u64,
    pub survival: f64,
    pub cumulative_hazard: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PriceDoc {
    /// What it is the price of, where the file says.
    pub priced_for: Option<String>,
    /// USD an hour.
    pub min: f64,
    pub mean: f64,
    pub max: f64,
    pub changes: u64,
    /// Share of time at the least price seen.
    pub at_floor_share: f64,
    /// Share of time at or above on-demand; null: its price is not known.
    pub at_on_demand_share: Option<f64>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LivesStatsDoc {
    pub zone: String,
    pub machine: Option<String>,
    pub source: String,
    pub span_seconds: i64,
    /// Starts that were refused.
    pub refused: u64,
    pub lifetime: LifetimeDoc,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PathStatsDoc {
    pub zone: String,
    pub machine: Option<String>,
    pub source: String,
    pub start: Option<String>,
    pub span_seconds: i64,
    pub rows: u64,
    /// Rows that repeat the price before them.
    pub repeats: u64,
    pub price: PriceDoc,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BucketStatsDoc {
    pub provider: Option<String>,
    pub region: String,
    pub machine: Option<String>,
    /// Share interrupted, 0..1.
    pub low_share: f64,
    /// Null: open.
    pub high_share: Option<f64>,
    /// Over so many hours: 1 (Azure) or 720 (AWS).
    pub per_hours: f64,
    pub saving_share: Option<f64>,
    /// What that may be in ends an hour: a wide range.
    pub hazard_low_per_hour: f64,
    pub hazard_middle_per_hour: f64,
    pub hazard_high_per_hour: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PairDoc {
    pub a: String,
    pub b: String,
    pub gang: u32,
    /// Pearson's, -1..1.
    pub correlation: f64,
}

/// Figures of records. `gang`: instances wanted at once; without it one, and beside it all that were asked for.
/// `on_demand`: USD an hour, where the files do not state it.
pub fn stats_doc(
    records: &[&Record],
    gang: Option<u32>,
    on_demand: Option<f64>,
    remarks: Vec<TraceRemarkDoc>,
) -> TraceStatsDoc {
    let mut doc = TraceStatsDoc {
        schema: "lessee/trace-stats/v1".to_owned(),
        series: Vec::new(),
        lives: Vec::new(),
        prices: Vec::new(),
        buckets: Vec::new(),
        correlation: Vec::new(),
        identical_zones: Vec::new(),
        remarks,
    };
    let mut all: Vec<&Series> = Vec::new();
    for record in records {
        match record {
            Record::Series(s) => {
                for gang in gangs(s, gang) {
                    doc.series.push(series_doc(s, gang, on_demand));
                }
                all.push(s);
            }
            Record::Lives(l) => doc.lives.push(LivesStatsDoc {
                zone: l.about.zone.clone(),
                machine: l.about.machine.clone(),
                source: l.about.source.clone(),
                span_seconds: l.span_s,
                refused: l.refused_s.len() as u64,
                lifetime: lifetime(&observed_lives(l), l.start),
            }),
            Record::Prices(p) => {
                let first = p.changes.first().map_or(p.until, |c| c.0);
                doc.prices
                    .extend(of_path(p, on_demand).map(|f| PathStatsDoc {
                        zone: p.about.zone.clone(),
                        machine: p.about.machine.clone(),
                        source: p.about.source.clone(),
                        start: Some(rfc3339(first)),
                        span_seconds: p.until - first,
                        rows: p.rows as u64,
                        repeats: (p.rows - p.changes.len().min(p.rows)) as u64,
                        price: price_doc(f, None),
                    }));
            }
            Record::Bucket(b) => {
                let range = hazard_of(b);
                doc.buckets.push(BucketStatsDoc {
                    provider: b.about.provider.clone(),
                    region: b.about.zone.clone(),
                    machine: b.about.machine.clone(),
                    low_share: b.low,
                    high_share: b.high,
                    per_hours: b.per_h,
                    saving_share: b.saving,
                    hazard_low_per_hour: range.low_per_h,
                    hazard_middle_per_hour: range.middle_per_h,
                    hazard_high_per_hour: range.high_per_h,
                });
            }
            Record::PriceSummary(_) | Record::ListPrice(_) | Record::Egress(_) => {}
        }
    }
    let want = gang.unwrap_or(1);
    // a table of thousands of pairs is no answer, and each pair costs time
    if all.len() <= 40 {
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                doc.correlation
                    .extend(correlation(a, b, want).map(|r| PairDoc {
                        a: name(&a.about),
                        b: name(&b.about),
                        gang: want,
                        correlation: r,
                    }));
            }
        }
    }
    let names = |group: Vec<usize>| {
        group
            .into_iter()
            .map(|i| all[i].about.source.clone())
            .collect()
    };
    doc.identical_zones = duplicates(&all).into_iter().map(names).collect();
    doc
}

/// The zone, with the machine where it is known.
pub(super) fn name(about: &About) -> String {
    match &about.machine {
        Some(machine) => format!("{} {machine}", about.zone),
        None => about.zone.clone(),
    }
}

/// One of sixteen and sixteen of sixteen are different markets: both are shown unless one was named.
pub(super) fn gangs(series: &Series, asked: Option<u32>) -> Vec<u32> {
    match asked {
        Some(gang) => vec![gang],
        None if series.asked > 1 => vec![1, series.asked],
        None => vec![1],
    }
}

fn series_doc(series: &Series, gang: u32, on_demand: Option<f64>) -> SeriesStatsDoc {
    let spans = spans(series, gang);
    let a = availability(&spans);
    let holes = a.holes.iter().map(|h| HoleDoc {
        from_seconds: h.0,
        to_seconds: h.1,
    });
    let of = |state| lifetime(&observed_runs(&runs(&spans, state)), series.start);
    SeriesStatsDoc {
        zone: series.about.zone.clone(),
        region: series.about.region.clone(),
        machine: series.about.machine.clone(),
        source: series.about.source.clone(),
        gang,
        asked: series.asked,
        start: series.start.map(rfc3339),
        span_seconds: a.span_s,
        known_seconds: a.known_s,
        available_share: a.share(),
        holes: holes.collect(),
        up: runs_doc(&a.up),
        down: runs_doc(&a.down),
        lifetime: of(State::Up),
        time_to_return: of(State::Down),
        price: of_series(series, on_demand).map(|f| price_doc(f, series.priced_for.clone())),
    }
}

fn runs_doc(runs: &Runs) -> RunsDoc {
    RunsDoc {
        count: runs.count as u64,
        cut: runs.cut as u64,
        mean_seconds: runs.mean_s,
        median_seconds: runs.median_s,
        longest_seconds: runs.longest_s,
    }
}

fn price_doc(f: PriceFigures, priced_for: Option<String>) -> PriceDoc {
    PriceDoc {
        priced_for,
        min: f.min,
        mean: f.mean,
        max: f.max,
        changes: f.changes as u64,
        at_floor_share: f.at_floor,
        at_on_demand_share: f.at_on_demand,
    }
}

fn lifetime(lives: &[Observed], start: Option<i64>) -> LifetimeDoc {
    let curve = survival(lives);
    let age = |(i, rate): (usize, &Rate)| AgeRateDoc {
        from_hours: AGE_EDGES_H[i],
        to_hours: AGE_EDGES_H.get(i + 1).copied(),
        ends: rate.ends as u64,
        hours: rate.hours,
        per_hour: rate.per_h(),
    };
    let hours = start.map(|start| by_hour(lives, start));
    let hour = |(i, rate): (usize, &Rate)| HourRateDoc {
        hour: i as u8,
        ends: rate.ends as u64,
        hours: rate.hours,
        per_hour: rate.per_h(),
    };
    LifetimeDoc {
        lives: curve.lives as u64,
        ends: curve.ends as u64,
        median_seconds: curve.quantile_s(0.5),
        p90_seconds: curve.quantile_s(0.1),
        oldest_seconds: curve.oldest_s,
        restricted_mean_seconds: curve.restricted_mean_s(),
        by_age: by_age(lives).iter().enumerate().map(age).collect(),
        by_hour_utc: hours.iter().flatten().enumerate().map(hour).collect(),
        fits: fits(lives, start).into_iter().map(fit_doc).collect(),
        curve: curve
            .points
            .iter()
            .map(|p| CurvePointDoc {
                age_seconds: p.age_s,
                at_risk: p.at_risk as u64,
                survival: p.survival,
                cumulative_hazard: p.hazard,
            })
            .collect(),
    }
}

fn fit_doc(fit: Fit) -> FitDoc {
    let (kind, parameters) = match fit.kind {
        FitKind::Exponential { per_h } => ("exponential", vec![per_h]),
        FitKind::Weibull { shape, scale_h } => ("weibull", vec![shape, scale_h]),
        FitKind::ByAge { per_h } => ("by_age", per_h),
        FitKind::ByHour { per_h } => ("by_hour", per_h),
    };
    FitDoc {
        kind: kind.to_owned(),
        parameters,
        log_likelihood: fit.log_likelihood,
        aic: fit.aic,
        ks: fit.ks,
    }
}
