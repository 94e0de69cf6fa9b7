//! A figure of several candidates side by side: a bar from low to high, a stroke at the median, a dot at the mean, and a
//! line for what all are measured against. The axis begins at 0, so lengths can be compared.

use super::{Canvas, Chart, axis, shortened, text_width};

/// One row.
#[derive(Clone, Debug)]
pub struct RangeRow {
    pub label: String,
    /// What is written at its end.
    pub value: String,
    pub low: f64,
    pub median: f64,
    pub mean: f64,
    pub high: f64,
}

/// All of a picture, texts in the reader's language.
#[derive(Clone, Debug, Default)]
pub struct RangeChart {
    /// Unique within a page.
    pub key: String,
    pub title: String,
    pub description: String,
    /// What bar, stroke, dot and line are.
    pub legend: String,
    /// Name and unit of the axis.
    pub axis_label: String,
    pub rows: Vec<RangeRow>,
    /// Where the line is.
    pub against: Option<f64>,
}

const WIDTH: u32 = 760;
const ROW: f64 = 26.0;
const MOST_ROWS: usize = 40;

/// Draws it. Rows that are no numbers have no bar.
pub fn ranges(chart: &RangeChart) -> Chart {
    let mut canvas = Canvas::new(WIDTH);
    let rows = &chart.rows[..chart.rows.len().min(MOST_ROWS)];
    let names: Vec<String> = rows.iter().map(|r| shortened(&r.label, 24)).collect();
    let widest =
        |texts: &mut dyn Iterator<Item = &String>| texts.map(|t| text_width(t)).fold(0.0, f64::max);
    let left = 24.0 + widest(&mut names.iter());
    let right = f64::from(WIDTH) - 24.0 - widest(&mut rows.iter().map(|r| &r.value));
    let top = 62.0;
    let bottom = top + ROW * rows.len() as f64;
    let ends = rows.iter().map(|r| r.high).chain(chart.against);
    let most = ends.filter(|x| x.is_finite()).fold(0.0, f64::max).max(1e-9);
    let x = |v: f64| left + (right - left) * (v / most).clamp(0.0, 1.0);
    canvas.text(12.0, 24.0, "start", "t h", &chart.title);
    canvas.text(12.0, 46.0, "start", "m", &chart.legend);
    for mark in axis::round(most, 6) {
        canvas.line("gr", (x(mark), top), (x(mark), bottom));
        canvas.text(x(mark), bottom + 18.0, "middle", "m", &format!("{mark}"));
    }
    for (i, (row, name)) in rows.iter().zip(&names).enumerate() {
        let y = top + ROW * (i as f64 + 0.5);
        canvas.text(left - 10.0, y + 4.0, "end", "t", name);
        canvas.text(f64::from(WIDTH) - 12.0, y + 4.0, "end", "t", &row.value);
        if ![row.low, row.median, row.mean, row.high]
            .iter()
            .all(|v| v.is_finite())
        {
            continue;
        }
        let (from, to) = (x(row.low), x(row.high));
        canvas.put(format_args!(
            "<rect class=\"s2\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\"/>",
            y - 6.0,
            (to - from).max(2.0)
        ));
        canvas.line("l c4", (x(row.median), y - 8.0), (x(row.median), y + 8.0));
        canvas.put(format_args!(
            "<circle class=\"s4\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>",
            x(row.mean)
        ));
    }
    if let Some(at) = chart.against.filter(|v| v.is_finite()) {
        canvas.line("od", (x(at), top), (x(at), bottom));
    }
    canvas.text(right, bottom + 36.0, "end", "m", &chart.axis_label);
    canvas.finish(&chart.key, bottom + 50.0, &chart.title, &chart.description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_the_figures_and_nothing_hostile_breaks_it() {
        let row = |label: &str, low, high| RangeRow {
            label: label.to_owned(),
            value: "9".to_owned(),
            low,
            median: (low + high) / 2.0,
            mean: (low + high) / 2.0,
            high,
        };
        let of = |rows| RangeChart {
            key: "k".to_owned(),
            rows,
            against: Some(100.0),
            ..RangeChart::default()
        };
        let widths = |chart: &Chart| -> Vec<f64> {
            let bars = chart.svg.split("<rect class=\"s2\"").skip(1);
            let width = |bar: &str| {
                bar.split("width=\"")
                    .nth(1)?
                    .split('"')
                    .next()?
                    .parse()
                    .ok()
            };
            bars.filter_map(width).collect()
        };
        let chart = ranges(&of(vec![row("a", 0.0, 50.0), row("b", 0.0, 100.0)]));
        let [a, b] = widths(&chart)[..] else {
            panic!("{}", chart.svg)
        };
        assert!((b / a - 2.0).abs() < 0.01, "{a} {b}");
        let odd = ranges(&of(vec![
            row("<b>&\"", f64::NAN, 1.0),
            row(&"名".repeat(10_000), 0.0, f64::INFINITY),
        ]));
        assert!(widths(&odd).is_empty());
        assert!(!odd.svg.contains("<b>") && !odd.svg.contains("NaN") && odd.svg.len() < 6000);
        let many = ranges(&of((0..500).map(|i| row("x", 0.0, f64::from(i))).collect()));
        assert_eq!(widths(&many).len(), MOST_ROWS);
        ranges(&of(Vec::new()));
    }
}
