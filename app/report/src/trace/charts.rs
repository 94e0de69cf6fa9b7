//! The pictures of a trace: strips with prices, and survival curves.

use super::stats::{LifetimeDoc, TraceStatsDoc, name};
use crate::Texts;
use crate::chart::{
    Chart, MOST_LINES, PriceLine, Strip, StripChart, SurvivalChart, SurvivalLine, strips, survival,
};
use lessee_model::Msg;
use lessee_spot::stats::{State, availability, spans};
use lessee_spot::trace::{Record, Series};

/// Rows of one picture; more would not fit a page.
const MOST_ROWS: usize = 24;

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "?".to_owned(), |s| format!("{:.1} %", s * 100.0))
}

/// Availability of up to 24 zones and the prices of up to 8; `None`: there is nothing to draw.
pub(super) fn strip_chart(
    records: &[&Record],
    gang: Option<u32>,
    on_demand: Option<f64>,
    texts: &Texts,
) -> Option<Chart> {
    let mut chart = StripChart {
        key: "lessee-strips".to_owned(),
        title: texts.get("trace-chart-strips"),
        price_title: texts.get("trace-chart-prices"),
        legend: [
            texts.get("trace-chart-up"),
            texts.get("trace-chart-down"),
            texts.get("trace-chart-unknown"),
        ],
        on_demand_label: texts.get("trace-chart-on-demand"),
        axis_label: texts.get("trace-chart-axis"),
        on_demand,
        ..StripChart::default()
    };
    let mut words = Vec::new();
    for record in records {
        match record {
            Record::Series(s) => {
                for gang in super::stats::gangs(s, gang) {
                    let spans = spans(s, gang);
                    let share = percent(availability(&spans).share());
                    let label = match s.asked {
                        1 => name(&s.about),
                        asked => format!("{} {gang}/{asked}", name(&s.about)),
                    };
                    words.push(format!("{label} {share}"));
                    chart.strips.push(Strip {
                        label,
                        share,
                        start: s.start,
                        spans,
                    });
                }
                chart.prices.extend(line_of(s));
                chart.on_demand = chart.on_demand.or(s.on_demand);
            }
            Record::Prices(p) => {
                let first = p.changes.first().map_or(p.until, |c| c.0);
                chart.prices.push(PriceLine {
                    label: name(&p.about),
                    start: Some(first),
                    steps: p
                        .steps()
                        .iter()
                        .map(|(from, _, price)| (from - first, *price))
                        .collect(),
                    until_s: p.until - first,
                });
            }
            _ => {}
        }
    }
    chart.strips.truncate(MOST_ROWS);
    // prices that were joined to a series are there again as a file of their own
    let mut drawn = std::collections::BTreeSet::new();
    chart.prices.retain(|line| drawn.insert(line.label.clone()));
    chart.prices.truncate(MOST_LINES);
    if chart.strips.is_empty() && chart.prices.is_empty() {
        return None;
    }
    if chart.strips.is_empty() {
        chart.title = chart.price_title.clone();
    }
    words.truncate(MOST_ROWS);
    let zones = Msg::new("trace-chart-strips-words").arg("zones", words.join("; "));
    chart.description = texts.msg(&zones);
    Some(strips(&chart))
}

/// The prices of a series by change; across a hole the price is not known.
fn line_of(series: &Series) -> Option<PriceLine> {
    if !series.price.iter().any(Option::is_some) {
        return None;
    }
    let holes: Vec<(i64, i64)> = spans(series, 0)
        .iter()
        .filter(|s| s.state == State::Unknown)
        .map(|s| (s.from_s, s.to_s))
        .collect();
    let mut steps: Vec<(i64, Option<f64>)> = Vec::new();
    let mut hole = 0;
    for (at, price) in series.at_s.iter().zip(&series.price) {
        while holes.get(hole).is_some_and(|h| h.1 <= *at) {
            // a null sample with a price is a known price; only time without samples is a hole
            if steps.last().is_some_and(|s| s.0 < holes[hole].0)
                && series.at_s.binary_search(&holes[hole].0).is_err()
            {
                steps.push((holes[hole].0, None));
            }
            hole += 1;
        }
        if steps.last().is_none_or(|s| s.1 != *price) {
            steps.push((*at, *price));
        }
    }
    let end = series.at_s.last().copied().unwrap_or(0) + i64::from(series.gap_s);
    steps.push((end, steps.last().and_then(|s| s.1)));
    Some(PriceLine {
        label: name(&series.about),
        start: series.start,
        steps,
        until_s: end,
    })
}

/// The curve, up to the greatest age seen: who lives longer than the last end is on it.
fn survival_line(label: String, lifetime: &LifetimeDoc) -> SurvivalLine {
    SurvivalLine {
        label,
        points: lifetime
            .curve
            .iter()
            .map(|p| (p.age_seconds / 3600.0, p.survival))
            .collect(),
        oldest_h: lifetime.oldest_seconds / 3600.0,
    }
}

/// Survival curves of up to 8 zones or logs; `None`: nobody was seen to end.
pub(super) fn survival_chart(doc: &TraceStatsDoc, texts: &Texts) -> Option<Chart> {
    let of_series = doc.series.iter().map(|s| {
        let label = match s.asked {
            1 => s.zone.clone(),
            asked => format!("{} {}/{asked}", s.zone, s.gang),
        };
        (label, s.gang, &s.lifetime)
    });
    let of_lives = doc.lives.iter().map(|l| {
        let machine = l.machine.as_deref().unwrap_or("");
        (
            format!("{} {machine}", l.zone).trim().to_owned(),
            1,
            &l.lifetime,
        )
    });
    let mut all: Vec<_> = of_series
        .chain(of_lives)
        .filter(|(_, _, l)| l.ends > 0)
        .collect();
    // where not all fit, the smallest gangs: one curve a zone
    if all.len() > MOST_LINES {
        all.sort_by_key(|(_, gang, _)| *gang);
    }
    let total = all.len();
    let lines: Vec<SurvivalLine> = all
        .into_iter()
        .take(MOST_LINES)
        .map(|(label, _, l)| survival_line(label, l))
        .collect();
    if lines.is_empty() {
        return None;
    }
    let median = |l: &SurvivalLine| {
        let at = l.points.iter().find(|p| p.1 <= 0.5).map(|p| p.0 * 3600.0);
        format!(
            "{} {}",
            l.label,
            at.map_or_else(|| "?".to_owned(), |s| texts.seconds(s))
        )
    };
    let words: Vec<String> = lines.iter().map(median).collect();
    let mut share_label = texts.get("trace-chart-share");
    if total > lines.len() {
        let some = Msg::new("trace-chart-some")
            .arg("shown", lines.len())
            .arg("total", total);
        share_label = format!("{share_label} {}", texts.msg(&some));
    }
    Some(survival(&SurvivalChart {
        key: "lessee-survival".to_owned(),
        title: texts.get("trace-chart-survival"),
        description: texts
            .msg(&Msg::new("trace-chart-survival-words").arg("zones", words.join("; "))),
        age_label: texts.get("trace-chart-age"),
        share_label,
        lines,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessee_spot::trace::{About, Life, Lives};

    #[test]
    fn a_survival_line_runs_to_the_greatest_age_seen() {
        let life = |hours: i64, ended: bool| Life {
            name: "n".to_owned(),
            from_s: 0,
            alive_s: hours * 3600,
            gone_s: ended.then_some(hours * 3600),
        };
        let lives = Record::Lives(Lives {
            about: About::default(),
            start: None,
            span_s: 36_000,
            lives: vec![life(1, true), life(10, false)],
            refused_s: Vec::new(),
        });
        let doc = super::super::stats::stats_doc(&[&lives], None, None, Vec::new());
        let line = survival_line(String::new(), &doc.lives[0].lifetime);
        assert_eq!((line.points, line.oldest_h), (vec![(1.0, 0.5)], 10.0));
    }
}
