//! The feed test: can this box bring the samples to its GPUs?

use super::host::percent;
use super::rows::{Rows, reason, sparkline};
use lessee_model::probe::{FeedReading, FeedSettings};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Report, Texts};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(feed) = &doc.feed else {
        return;
    };
    report.heading(texts.get("probe-feed-title"));
    if let Some(settings) = &feed.settings {
        report.text(asked(settings, feed, texts));
        for column in feed.set.iter().flat_map(|s| &s.parquet) {
            let line = Msg::new("probe-feed-column")
                .arg("column", column.column.clone())
                .arg("files", column.files);
            report.text(texts.msg(&line));
        }
        if let Some(line) = consumer(settings, feed, texts) {
            report.text(line);
        }
    }
    let mut rows = Rows::new(texts);
    let text = |id| texts.get(id);
    let per_second = texts.get("probe-unit-per-second");
    let percents = |of: &Option<_>| percent(of.as_ref());
    rows.reading(
        text("probe-row-au"),
        percents(&feed.utilisation).as_ref(),
        "%",
    );
    let from_memory = percents(&feed.utilisation_from_memory);
    rows.reading(text("probe-row-au-memory"), from_memory.as_ref(), "%");
    rows.reading(
        text("probe-row-supply"),
        Some(&feed.samples_per_second),
        &per_second,
    );
    let memory = feed.samples_per_second_from_memory.as_ref();
    rows.reading(text("probe-row-supply-memory"), memory, &per_second);
    rows.reading(text("probe-row-gpus-fed"), feed.gpus_fed.as_ref(), "");
    let memory = feed.gpus_fed_from_memory.as_ref();
    rows.reading(text("probe-row-gpus-fed-memory"), memory, "");
    report.table(rows.table());
    let mut lines = Vec::new();
    if let Some(limit) = &feed.limited_by {
        let line = Msg::new("probe-feed-limit")
            .arg("limit", texts.term("probe-limit", limit))
            .arg("why", feed.why.clone().unwrap_or_default());
        lines.push(texts.msg(&line));
    }
    for pass in feed.passes.iter().filter(|p| p.model_step_s > 0.0) {
        let line = Msg::new("probe-feed-curve")
            .arg("source", texts.term("probe-source", &pass.source))
            .arg("curve", sparkline(pass.curve.iter().map(|p| p.utilisation)))
            .arg("stalls", pass.stalls.len());
        lines.push(texts.msg(&line));
    }
    report.list(lines);
}

/// What took the batches.
fn consumer(settings: &FeedSettings, feed: &FeedReading, texts: &Texts) -> Option<String> {
    if let Some(why) = &settings.consumer_why {
        let line = Msg::new("probe-feed-timed").arg("why", reason(why, texts));
        return Some(texts.msg(&line));
    }
    let gpus = &feed.passes.first()?.gpus;
    let rates = || gpus.iter().filter_map(|g| g.copy_gbs.measured());
    let (low, high) = (rates().reduce(f64::min)?, rates().reduce(f64::max)?);
    let round = |gbs: f64| (gbs * 10.0).round() / 10.0;
    let line = Msg::new("probe-feed-copied")
        .arg("low", round(low))
        .arg("high", round(high));
    let mut line = texts.msg(&line);
    let kernels = gpus.iter().filter_map(|g| g.kernel_s.as_ref()?.measured());
    if let Some(longest) = kernels.reduce(f64::max) {
        line.push(' ');
        line.push_str(&texts.msg(&Msg::new("probe-feed-kernel").seconds("kernel", longest)));
    }
    Some(line)
}

fn asked(settings: &FeedSettings, feed: &FeedReading, texts: &Texts) -> String {
    let set = feed.set.as_ref();
    let samples = match &settings.samples {
        Some(folder) => folder.clone(),
        None => texts.get("probe-feed-own-samples"),
    };
    let line = Msg::new("probe-feed-asked")
        .arg("samples", samples)
        .arg("count", set.map_or(0, |s| s.samples))
        .bytes("bytes", set.map_or(0.0, |s| s.bytes as f64))
        .arg("workers", settings.workers)
        .arg("batch", settings.batch)
        .arg("gpus", settings.gpus);
    let mut line = texts.msg(&line);
    if let Some(step_s) = settings.step_s {
        line.push(' ');
        line.push_str(&texts.msg(&Msg::new("probe-feed-pace").seconds("step", step_s)));
    }
    line
}
