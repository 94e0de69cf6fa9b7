//! The disk.

use super::rows::{Rows, figure, known, number};
use lessee_model::probe::{DiskReading, Latency, RandomRead};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Cell, Column, Report, Table, Texts};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(disk) = &doc.disk else {
        return;
    };
    report.heading(texts.get("probe-disk-title"));
    if let (Some(folder), Some(kind)) = (&disk.folder, &disk.file_system) {
        let id = match disk.direct {
            Some(true) => "probe-disk-where",
            _ => "probe-disk-where-cached",
        };
        let line = Msg::new(id)
            .arg("folder", folder.clone())
            .arg("kind", kind.clone())
            .bytes("bytes", disk.file_bytes.unwrap_or(0) as f64);
        report.text(texts.msg(&line));
    }
    if !disk.random.is_empty() {
        report.table(random(&disk.random, texts));
    }
    let rows = rows(disk, texts);
    if !rows.is_empty() {
        report.table(rows.table());
    }
}

/// 4 KiB reads, by the number of threads.
fn random(reads: &[RandomRead], texts: &Texts) -> Table {
    let right = |key, id, rank| Column::right(key, texts.get(id), rank);
    let mut table = Table::new(vec![
        right("threads", "probe-col-random-threads", 0),
        right("iops", "probe-col-iops", 0),
        right("p50_us", "probe-col-p50", 0),
        right("p99_us", "probe-col-p99", 0),
        right("p999_us", "probe-col-p999", 1),
        right("max_us", "probe-col-max", 2),
        Column::left("known", texts.get("probe-col-known"), 0),
    ]);
    for read in reads {
        let us = |of: fn(&Latency) -> f64| {
            let value = read.latency.as_ref().map(of);
            value.map_or_else(Cell::unknown, |us| number(us, texts))
        };
        table.push(vec![
            Cell::new(read.depth.to_string()),
            figure(&read.iops, texts),
            us(|l| l.p50_us),
            us(|l| l.p99_us),
            us(|l| l.p999_us),
            us(|l| l.max_us),
            known(&read.iops, texts),
        ]);
    }
    table
}

fn rows<'a>(disk: &DiskReading, texts: &'a Texts) -> Rows<'a> {
    let mut rows = Rows::new(texts);
    let threads = |id: &'static str, n: usize| texts.msg(&Msg::new(id).arg("n", n));
    for stream in &disk.read {
        let what = threads("probe-row-read", stream.threads);
        rows.reading(what, Some(&stream.gbs), "GB/s");
    }
    if disk.read.is_empty() {
        rows.reading(
            texts.get("probe-row-read-any"),
            disk.read_gbs.as_ref(),
            "GB/s",
        );
    }
    match &disk.write {
        Some(stream) => {
            let what = threads("probe-row-write", stream.threads);
            rows.reading(what, Some(&stream.gbs), "GB/s");
        }
        None => rows.reading(
            texts.get("probe-row-write-any"),
            disk.write_gbs.as_ref(),
            "GB/s",
        ),
    }
    if let Some(checkpoint) = &disk.checkpoint {
        let what = Msg::new("probe-row-checkpoint").bytes("bytes", checkpoint.bytes as f64);
        rows.reading(texts.msg(&what), Some(&checkpoint.gbs), "GB/s");
    }
    match &disk.small {
        Some(small) => {
            let what = threads("probe-row-small", small.threads);
            rows.reading(
                what,
                Some(&small.per_second),
                &texts.get("probe-unit-per-second"),
            );
        }
        None => rows.reading(
            texts.get("probe-row-small-any"),
            disk.small_files_per_second.as_ref(),
            &texts.get("probe-unit-per-second"),
        ),
    }
    rows
}
