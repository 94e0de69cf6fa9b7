//! perftest: `ib_write_bw` and its siblings, of one side or of both in one file. Its "MB" is 2^20 bytes.

use crate::read::{Read, labelled, source::Source};

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    let test = ["RDMA_Write", "RDMA_Read", "Send", "Atomic"]
        .iter()
        .any(|t| {
            head.contains(&format!("{t} BW Test")) || head.contains(&format!("{t} Latency Test"))
        });
    test || head.lines().any(|l| columns(l).is_some())
}

/// What the columns of a table hold.
#[derive(Clone, Copy)]
enum Columns {
    /// MiB/s.
    MiB,
    /// 1e9 bit/s.
    Gbit,
    /// Microseconds.
    Latency,
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut shape = None;
    let (mut rows, mut max_mib, mut max_gbit, mut least_us) = (0u64, None, None, None);
    let most = |old: &mut Option<f64>, new: f64| *old = Some(old.map_or(new, |o| o.max(new)));
    for (number, line) in source.lines() {
        let line = labelled::untagged(line).trim();
        if line.is_empty() || line.bytes().all(|b| matches!(b, b'-' | b'*')) {
            continue;
        }
        if let Some(new) = columns(line) {
            shape = Some(new);
        } else if let (Some(shape), Some(figures)) = (shape, row(line)) {
            match shape {
                // peak, average, rate of messages
                Columns::MiB if figures.len() >= 2 => most(&mut max_mib, figures[1]),
                Columns::Gbit if figures.len() >= 2 => most(&mut max_gbit, figures[1]),
                // least, greatest, typical
                Columns::Latency if figures.len() >= 3 => {
                    let typical = figures[2];
                    least_us = Some(least_us.map_or(typical, |o: f64| o.min(typical)));
                }
                _ => {
                    super::unread(number, line, out);
                    continue;
                }
            }
            rows += 1;
        } else if !note(line, out) {
            super::unread(number, line, out);
        }
    }
    out.fact("rows", rows);
    if let Some(gbit) = max_gbit {
        out.fact("max_avg_gbit_s", gbit);
        most(&mut max_mib, round2(gbit * 1e9 / 8.0 / 1_048_576.0));
    }
    if let Some(mib) = max_mib {
        out.fact("max_avg", mib);
    }
    if let Some(us) = least_us {
        out.fact("least_typical_us", us);
    }
    if rows == 0 {
        let detail = "no line of figures: the two sides did not meet, or the paste ends early";
        out.problem("run_incomplete", "perftest", detail);
    }
}

fn round2(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

/// `#bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]`.
fn columns(line: &str) -> Option<Columns> {
    let line = labelled::untagged(line).trim_start();
    if !line.starts_with("#bytes") {
        return None;
    }
    if line.contains("BW average[Gb/sec]") {
        Some(Columns::Gbit)
    } else if line.contains("BW average[MB/sec]") || line.contains("BW average[MiB/sec]") {
        Some(Columns::MiB)
    } else if line.contains("t_typical[usec]") {
        Some(Columns::Latency)
    } else {
        None
    }
}

/// The figures after size and repetitions.
fn row(line: &str) -> Option<Vec<f64>> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u64>().ok()?;
    words.next()?.parse::<u64>().ok()?;
    let figures: Option<Vec<f64>> = words
        .take(16)
        .map(|w| w.parse().ok().filter(|n: &f64| n.is_finite()))
        .collect();
    figures.filter(|f| !f.is_empty())
}

/// Lines that describe the run; `false`: not one of them.
fn note(line: &str, out: &mut Read) -> bool {
    const FAILURES: [&str; 6] = [
        "Completion with error",
        "Couldn't connect",
        "Unable to",
        "Failed",
        "Failed status",
        "not found",
    ];
    if FAILURES.iter().any(|f| line.contains(f)) {
        out.problem("test_failed", "perftest", line);
        return true;
    }
    for (key, fact) in [
        ("Device         :", "device"),
        ("Link type       :", "link_type"),
    ] {
        if let Some((_, text)) = line.split_once(key)
            && let Some(word) = text.split_whitespace().next()
        {
            out.fact(fact, word);
        }
    }
    const NOTES: [&str; 11] = [
        "*",
        "local address:",
        "remote address:",
        "GID:",
        "WARNING",
        "Conflicting CPU",
        "Perform",
        "initializing CUDA",
        "Listing all CUDA",
        "CUDA device",
        "Using ",
    ];
    labelled::split(line).is_some_and(|(key, _)| key.len() < 24 && !key.is_empty())
        || NOTES.iter().any(|n| line.starts_with(n))
        || line.ends_with(" Test")
}
