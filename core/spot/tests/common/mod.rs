//! The public records beside the repository, where they are there.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout
)]

use lessee_spot::{Cell, Market, Zone};
use serde_json::Value;
use std::path::PathBuf;

/// The folder of records; `None` (with a line that says so) where it is not there.
pub fn records() -> Option<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/traces/spot");
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: {} is not there", dir.display());
    None
}

pub fn json(path: &str) -> Value {
    let path = records().unwrap().join(path);
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

pub fn market(gap_s: i64, zones: Vec<Zone>) -> Market {
    let n = zones.len();
    Market {
        gap_ms: gap_s * 1000,
        zones,
        egress: vec![0.0; n * n],
        transfer_ms_per_gb: vec![0.0; n * n],
    }
}

/// A series of the 2022-10 set at the prices of the benchmark.
pub fn aws_2022(series: &str) -> Market {
    let doc = json(&format!("aws-2022-10/{series}.json"));
    let cells: Vec<Cell> = doc["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| match v.as_i64() {
            Some(0) => Cell::Down,
            Some(_) => Cell::Up,
            None => Cell::Unknown,
        })
        .collect();
    let spot = vec![0.9731; cells.len()];
    market(
        600,
        vec![Zone {
            name: series.to_string(),
            region: "us-west-2".to_string(),
            cells,
            spot,
            on_demand: 3.06,
        }],
    )
}

pub const SERIES: [&str; 8] = [
    "us-west-2a_k80_8",
    "us-west-2b_k80_1",
    "us-west-2b_k80_8",
    "us-west-2a_v100_1",
    "us-west-2a_v100_8",
    "us-west-2b_v100_1",
    "us-west-2a_k80_1",
    "us-west-2b_v100_8",
];

/// Rows of a CSV as maps.
pub fn rows(path: &str) -> Vec<std::collections::HashMap<String, String>> {
    let path = records().unwrap().join(path);
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    reader
        .records()
        .map(|r| {
            let r = r.unwrap();
            header
                .iter()
                .zip(r.iter())
                .map(|(a, b)| (a.to_string(), b.to_string()))
                .collect()
        })
        .collect()
}

/// Start tick of a window of a series.
pub fn windows() -> std::collections::HashMap<(String, String), usize> {
    rows("aws-2022-10/cbl_windows.csv")
        .into_iter()
        .map(|r| {
            let start = r["start_tick"].parse().unwrap();
            ((r["series"].clone(), r["window"].clone()), start)
        })
        .collect()
}

pub fn h100(zones: &[&str]) -> Market {
    let mut out = Vec::new();
    for zone in zones {
        let doc = json(&format!(
            "h100-gcp-2025-10/merged_full/{zone}_h100_16/full.json"
        ));
        let cells: Vec<Cell> = doc["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| {
                if v.as_i64() == Some(1) {
                    Cell::Down
                } else {
                    Cell::Up
                }
            })
            .collect();
        let info = &doc["metadata"]["price_info"];
        let number = |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok()).unwrap();
        let spot = vec![number(&info["price"]); cells.len()];
        out.push(Zone {
            name: zone.to_string(),
            region: zone.rsplit_once('-').unwrap().0.to_string(),
            cells,
            spot,
            on_demand: number(&info["on_demand_price"]),
        });
    }
    market(600, out).with_transfer(0.02, 0.0)
}

pub const H100_SIX: [&str; 6] = [
    "us-central1-a",
    "us-west1-a",
    "europe-west1-c",
    "europe-west3-c",
    "asia-southeast1-b",
    "asia-south2-b",
];

pub const V100_THREE: [&str; 3] = ["us-east-1c", "us-east-2b", "us-west-2a"];
pub const V100_SIX: [&str; 6] = [
    "us-east-1a",
    "us-east-1c",
    "us-east-1d",
    "us-east-2b",
    "us-west-2a",
    "us-west-2b",
];

pub fn v100(zones: &[&str]) -> Market {
    let prices = json("v100-aws-2023-02/spot_prices.json");
    let mut out = Vec::new();
    for zone in zones {
        let cells: Vec<Cell> = rows(&format!("v100-aws-2023-02/availability/{zone}_v100_1.csv"))
            .iter()
            .map(|r| {
                if r["availability"] == "1" {
                    Cell::Up
                } else {
                    Cell::Down
                }
            })
            .collect();
        let spot = prices[format!("{zone}_v100_1")]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_f64().unwrap())
            .collect();
        out.push(Zone {
            name: zone.to_string(),
            region: zone[..zone.len() - 1].to_string(),
            cells,
            spot,
            on_demand: 3.06,
        });
    }
    market(195, out).with_transfer(0.02, 0.0)
}

pub const H100_EIGHT: [&str; 8] = [
    "us-central1-a",
    "us-central1-c",
    "us-east4-a",
    "us-west1-a",
    "europe-west1-c",
    "europe-west3-c",
    "asia-southeast1-b",
    "asia-south2-b",
];

/// The H100 zones as counted, at list prices: available where at least `gang` instances could be had.
pub fn h100_counts(zones: &[&str], gang: u32) -> Market {
    let mut market = h100(zones);
    let counts = rows("h100-gcp-2025-10/counts.csv");
    for zone in &mut market.zones {
        zone.cells = counts
            .iter()
            .map(|c| {
                if c[&zone.name].parse::<u32>().unwrap() >= gang {
                    Cell::Up
                } else {
                    Cell::Down
                }
            })
            .collect();
        zone.spot = vec![zone.spot[0]; counts.len()];
    }
    market
}
