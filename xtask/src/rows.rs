//! 128,000 catalogue rows in gpuhunt's format for the benchmark: the same bytes on every machine.
//! The prices are invented and never leave target/.

use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) const ROWS: usize = 128_000;

/// Names as gpuhunt's files are called; each gets an equal share of the rows.
pub(crate) const PROVIDERS: [&str; 4] = ["lambdalabs", "nebius", "runpod", "verda"];

/// gpuhunt name, GB per GPU, price of one GPU and hour in cents.
const GPUS: [(&str, u32, u32); 20] = [
    ("A10", 24, 75),
    ("A100", 40, 129),
    ("A100", 80, 179),
    ("A16", 16, 47),
    ("A30", 24, 90),
    ("A40", 48, 79),
    ("A4000", 16, 36),
    ("A5000", 24, 45),
    ("A6000", 48, 80),
    ("B200", 180, 599),
    ("H100", 80, 299),
    ("H200", 141, 379),
    ("L4", 24, 70),
    ("L40", 48, 99),
    ("L40S", 48, 109),
    ("RTX3090", 24, 43),
    ("RTX4090", 24, 69),
    ("RTX5090", 32, 94),
    ("T4", 16, 35),
    ("V100", 16, 55),
];

/// Writes one CSV a provider into `dir` and gives their paths.
pub(crate) fn write(dir: &Path) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    let mut paths = Vec::new();
    for (i, provider) in PROVIDERS.iter().enumerate() {
        let path = dir.join(format!("{provider}.csv"));
        let text = one(i, ROWS / PROVIDERS.len());
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        paths.push(path);
    }
    Ok(paths)
}

/// The rows of one provider: GPU x count x size x region x spot, cut off at `rows`.
fn one(provider: usize, rows: usize) -> String {
    let mut out = String::with_capacity(rows * 110);
    out.push_str(
        "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,\
         gpu_vendor,flags,cpu_arch,provider_data\n",
    );
    let mut left = rows;
    for region in 0.. {
        for (name, memory, cents) in GPUS {
            for count in [1u32, 2, 4, 8] {
                for size in 0..5u32 {
                    for spot in [false, true] {
                        if left == 0 {
                            return out;
                        }
                        left -= 1;
                        let cpu = count * 8 * (size + 1);
                        // per mille: bigger hosts and far regions cost more, spot less than half
                        let factor =
                            (1000 + 40 * size + 7 * (region % 40) as u32 + 13 * provider as u32)
                                * if spot { 45 } else { 100 }
                                / 100;
                        let micro = u64::from(cents) * u64::from(count) * u64::from(factor) * 10;
                        let _ = writeln!(
                            out,
                            "{count}x-{}-{memory}g-s{size},zone-{region},{}.{:06},{cpu},{}.0,{count},{name},{memory}.0,{},\
                             {}.0,nvidia,,x86,{{}}",
                            name.to_lowercase(),
                            micro / 1_000_000,
                            micro % 1_000_000,
                            cpu * 4,
                            if spot { "True" } else { "False" },
                            100 * (size + 1),
                        );
                    }
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_distinct_and_priced() {
        let text = one(1, 3_000);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let mut keys = std::collections::BTreeSet::new();
        for row in reader.records() {
            let row = row.expect("row");
            assert_eq!(row.len(), 14);
            let price: f64 = row[2].parse().expect("price");
            assert!(price > 0.1 && price < 100.0, "{price}");
            keys.insert((row[0].to_owned(), row[1].to_owned(), row[8].to_owned()));
        }
        assert_eq!(keys.len(), 3_000);
    }
}
