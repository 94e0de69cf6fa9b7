//! One strip a zone: when instances could be had, when not, and when nobody knows; below it the prices over the same
//! time. The darker, the more of the time of a pixel; unknown time is hatched.

use super::{Canvas, Chart, MOST_LINES, axis, escape, shortened, text_width};
use lessee_spot::stats::{Span, State};
use std::fmt::Write as _;

/// One row.
#[derive(Clone, Debug)]
pub struct Strip {
    /// Name of the zone.
    pub label: String,
    /// Written at its end: the share.
    pub share: String,
    /// Unix time of second 0.
    pub start: Option<i64>,
    /// Ascending, in seconds since its start.
    pub spans: Vec<Span>,
}

/// Prices of one zone by change; `None` from there on it is not known.
#[derive(Clone, Debug)]
pub struct PriceLine {
    /// Name of the zone.
    pub label: String,
    /// Unix time of second 0.
    pub start: Option<i64>,
    /// Seconds since its start, USD an hour.
    pub steps: Vec<(i64, Option<f64>)>,
    /// End of the last step.
    pub until_s: i64,
}

/// All of a picture, texts in the reader's language.
#[derive(Clone, Debug, Default)]
pub struct StripChart {
    /// Unique within a page.
    pub key: String,
    pub title: String,
    pub description: String,
    pub strips: Vec<Strip>,
    pub prices: Vec<PriceLine>,
    pub on_demand: Option<f64>,
    /// Heading of the part with prices, with the unit.
    pub price_title: String,
    /// Words for the legend: available, not available, unknown.
    pub legend: [String; 3],
    /// Name of the line of the on-demand price.
    pub on_demand_label: String,
    /// What the axis counts: dates are UTC, or the time since the start.
    pub axis_label: String,
}

const WIDTH: u32 = 960;
const ROW: f64 = 24.0;
const BAR: f64 = 17.0;
const PRICE_HEIGHT: f64 = 170.0;
/// Columns of a name.
const NAME: usize = 30;

/// Draws it.
pub fn strips(chart: &StripChart) -> Chart {
    let mut canvas = Canvas::new(WIDTH);
    let names = chart
        .strips
        .iter()
        .map(|s| text_width(&shortened(&s.label, NAME)));
    let left = names.fold(64.0, f64::max) + 14.0;
    let right = f64::from(WIDTH) - 64.0;
    // dates only where every row has them; else each row counts from its own start
    let starts = chart
        .strips
        .iter()
        .map(|s| s.start)
        .chain(chart.prices.iter().map(|p| p.start));
    let dated: Option<Vec<i64>> = starts.collect();
    let zero = dated.and_then(|d| d.into_iter().min());
    let offset = |start: Option<i64>| match (zero, start) {
        (Some(zero), Some(start)) => start - zero,
        _ => 0,
    };
    let strip_ends = chart
        .strips
        .iter()
        .filter_map(|s| Some(s.spans.last()?.to_s + offset(s.start)));
    let price_ends = chart.prices.iter().map(|p| p.until_s + offset(p.start));
    let span = strip_ends.chain(price_ends).max().unwrap_or(1).max(1);
    let x = |s: i64| left + (right - left) * (s as f64 / span as f64).clamp(0.0, 1.0);

    canvas.text(12.0, 24.0, "start", "t h", &chart.title);
    canvas.put(format_args!(
        "<defs><pattern id=\"{}-h\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"sb\" \
         width=\"6\" height=\"6\"/><path class=\"sx\" d=\"M-1 7L7 -1M-1 1L1 -1M5 7L7 5\"/></pattern></defs>",
        escape(&chart.key)
    ));
    let mut y = 40.0;
    legend(&mut canvas, chart, left, y + 12.0);
    y += 26.0;
    for strip in &chart.strips {
        canvas.text(
            left - 8.0,
            y + 13.0,
            "end",
            "t",
            &shortened(&strip.label, NAME),
        );
        row(
            &mut canvas,
            strip,
            offset(strip.start),
            &x,
            y,
            (left, right),
            &chart.key,
        );
        canvas.text(right + 6.0, y + 13.0, "start", "m", &strip.share);
        y += ROW;
    }
    let marks = axis::time(span, zero, 9);
    time_axis(&mut canvas, &marks, &x, y);
    y += 22.0;
    let most = chart
        .prices
        .iter()
        .flat_map(|p| p.steps.iter().filter_map(|s| s.1));
    let most = most.chain(chart.on_demand).fold(0.0, f64::max) * 1.06;
    if !chart.prices.is_empty() && most > 0.0 {
        y += 22.0;
        canvas.text(12.0, y, "start", "t h", &chart.price_title);
        y += 12.0;
        let place = |price: f64| y + PRICE_HEIGHT * (1.0 - price / most);
        for mark in axis::round(most, 5) {
            canvas.line("gr", (left, place(mark)), (right, place(mark)));
            canvas.text(
                left - 8.0,
                place(mark) + 4.0,
                "end",
                "m",
                &format!("{mark:.2}"),
            );
        }
        let shown = &chart.prices[..chart.prices.len().min(MOST_LINES)];
        for (i, line) in shown.iter().enumerate() {
            price_line(&mut canvas, line, offset(line.start), i, &x, &place);
        }
        if let Some(price) = chart.on_demand {
            canvas.line("od", (left, place(price)), (right, place(price)));
            canvas.text(
                right - 4.0,
                place(price) - 4.0,
                "end",
                "m",
                &chart.on_demand_label,
            );
        }
        y += PRICE_HEIGHT;
        time_axis(&mut canvas, &marks, &x, y);
        y += 40.0;
        let names: Vec<String> = shown.iter().map(|p| shortened(&p.label, NAME)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        y += canvas.legend(left, y, &names);
    }
    y += if chart.prices.is_empty() { 18.0 } else { 8.0 };
    canvas.text(right, y, "end", "m", &chart.axis_label);
    canvas.finish(&chart.key, y + 12.0, &chart.title, &chart.description)
}

fn legend(canvas: &mut Canvas, chart: &StripChart, left: f64, y: f64) {
    let mut at = left;
    let [up, down, unknown] = &chart.legend;
    let hatched = format!("style=\"fill:url(#{}-h)\"", escape(&chart.key));
    for (name, paint) in [
        (up, "class=\"s4\""),
        (down, "class=\"s0\""),
        (unknown, hatched.as_str()),
    ] {
        canvas.put(format_args!(
            "<rect {paint} x=\"{at:.1}\" y=\"{:.1}\" width=\"14\" height=\"12\"/>",
            y - 10.0
        ));
        canvas.text(at + 20.0, y, "start", "t", name);
        at += 20.0 + text_width(name) + 20.0;
    }
}

/// Each pixel shows the share of its time: one path a shade and row, however long the record is.
fn row(
    canvas: &mut Canvas,
    strip: &Strip,
    offset: i64,
    x: &dyn Fn(i64) -> f64,
    y: f64,
    (left, right): (f64, f64),
    key: &str,
) {
    let columns = (right - left).ceil() as usize + 1;
    let mut up = vec![0.0f64; columns];
    let mut known = vec![0.0f64; columns];
    let mut hole = vec![0.0f64; columns];
    for span in &strip.spans {
        let (from, to) = (x(span.from_s + offset) - left, x(span.to_s + offset) - left);
        let mut at = from;
        while at < to {
            let column = (at.floor() as usize).min(columns - 1);
            let next = to.min(at.floor() + 1.0);
            let width = next - at;
            match span.state {
                State::Unknown => hole[column] += width,
                State::Up => {
                    up[column] += width;
                    known[column] += width;
                }
                State::Down => known[column] += width,
            }
            at = next;
        }
    }
    let shade = |i: usize| -> Option<usize> {
        if hole[i] > known[i] {
            return Some(5);
        }
        (known[i] > 0.0).then(|| match up[i] / known[i] {
            share if share >= 0.999 => 4,
            share if share <= 0.001 => 0,
            share => 1 + ((share * 3.0) as usize).min(2),
        })
    };
    let mut paths: [String; 6] = Default::default();
    let mut i = 0;
    while i < columns {
        let this = shade(i);
        let end = (i..columns).find(|j| shade(*j) != this).unwrap_or(columns);
        if let Some(shade) = this {
            let _ = write!(
                paths[shade],
                "M{:.1} {y:.1}h{}v{BAR}h-{}z",
                left + i as f64,
                end - i,
                end - i
            );
        }
        i = end;
    }
    for (shade, path) in paths.iter().enumerate().filter(|(_, p)| !p.is_empty()) {
        match shade {
            5 => canvas.put(format_args!(
                "<path style=\"fill:url(#{}-h)\" d=\"{path}\"/>",
                escape(key)
            )),
            _ => canvas.put(format_args!("<path class=\"s{shade}\" d=\"{path}\"/>")),
        }
    }
}

fn time_axis(canvas: &mut Canvas, marks: &[(i64, String)], x: &dyn Fn(i64) -> f64, y: f64) {
    for (at, label) in marks {
        canvas.line("ax", (x(*at), y), (x(*at), y + 5.0));
        canvas.text(x(*at), y + 18.0, "middle", "m", label);
    }
}

fn price_line(
    canvas: &mut Canvas,
    line: &PriceLine,
    offset: i64,
    colour: usize,
    x: &dyn Fn(i64) -> f64,
    y: &dyn Fn(f64) -> f64,
) {
    let mut path = String::new();
    let mut open = false;
    let mut last_x = f64::MIN;
    let mut last_y = String::new();
    for (i, (at, price)) in line.steps.iter().enumerate() {
        let from = x(at + offset);
        let next = line.steps.get(i + 1).map_or(line.until_s, |s| s.0);
        let Some(price) = price else {
            if open {
                let _ = write!(path, "H{from:.1}");
            }
            open = false;
            continue;
        };
        let height = format!("{:.1}", y(*price));
        if !open {
            let _ = write!(path, "M{from:.1} {height}");
        } else if height != last_y {
            // changes within one pixel are one stroke up or down
            if from - last_x > 0.4 {
                let _ = write!(path, "H{from:.1}");
            }
            let _ = write!(path, "V{height}");
        }
        (open, last_x, last_y) = (true, from, height);
        if i + 1 == line.steps.len() {
            let _ = write!(path, "H{:.1}", x(next + offset));
        }
    }
    if !path.is_empty() {
        canvas.put(format_args!("<path class=\"l c{colour}\" d=\"{path}\"/>"));
    }
}
