//! Charts as SVG, made by hand: why, and the picture that decided it, in `docs/design/charts.md`.
//!
//! A chart follows the reader's light or dark page, prints in black on white, tells lines apart by dashes as well as by
//! colour, and says in words (`<title>`, `<desc>`) what it shows. Its size is bounded by its pixels, not by the data.
//! Start with [`strips()`], [`survival()`] and [`ranges()`]; they take plain numbers and finished texts.

mod axis;
mod ranges;
mod strips;
mod survival;

pub use ranges::{RangeChart, RangeRow, ranges};
pub use strips::{PriceLine, Strip, StripChart, strips};
pub use survival::{SurvivalChart, SurvivalLine, survival};

use crate::clean::{clean, escape};
use std::fmt::Write as _;

/// One finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// A whole `<svg>` element; stands alone or within a page.
    pub svg: String,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
}

/// Lines that can be told apart: colour and dashes. More are not drawn.
pub const MOST_LINES: usize = 8;

/// Colours by Okabe and Ito (2008), told apart by the colour-blind; on dark ground the dark ones are lifted.
const CSS: &str = "\
.lc{font-size:12px;font-family:system-ui,'Noto Sans','Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif}\
.lc .bg{fill:#fff}.lc .t{fill:#1b1b1b}.lc .m{fill:#595959}.lc .h{font-size:14px;font-weight:600}\
.lc .ax{stroke:#8a8a8a;fill:none}.lc .gr{stroke:#e3e3e3;fill:none}\
.lc .s0{fill:#e6e6e6}.lc .s1{fill:#b9d9cc}.lc .s2{fill:#7fbfa5}.lc .s3{fill:#3f9c7a}.lc .s4{fill:#00684a}\
.lc .sx{stroke:#c44e00;stroke-width:1.4}.lc .sb{fill:#fff3e0}\
.lc .l{fill:none;stroke-width:1.6}\
.lc .c0{stroke:#0072b2}.lc .c1{stroke:#d55e00;stroke-dasharray:7 3}.lc .c2{stroke:#007d5b;stroke-dasharray:2 2}\
.lc .c3{stroke:#a34a7f;stroke-dasharray:9 3 2 3}.lc .c4{stroke:#1b1b1b}.lc .c5{stroke:#3a8fc9;stroke-dasharray:4 4}\
.lc .c6{stroke:#a67c00;stroke-dasharray:12 3}.lc .c7{stroke:#6b6b6b;stroke-dasharray:1 3}\
.lc .od{stroke:#b00020;stroke-dasharray:3 3;fill:none}\
@media(prefers-color-scheme:dark){.lc .bg{fill:#161616}.lc .t{fill:#e8e8e8}.lc .m{fill:#a8a8a8}\
.lc .gr{stroke:#333}.lc .s0{fill:#333}.lc .s1{fill:#1d4a3b}.lc .s2{fill:#2a7a60}.lc .s3{fill:#43ae8a}.lc .s4{fill:#7be0bd}\
.lc .sb{fill:#3a2a10}.lc .sx{stroke:#ff9d4d}.lc .c0{stroke:#56b4e9}.lc .c2{stroke:#2fc79b}.lc .c3{stroke:#e08fc0}\
.lc .c4{stroke:#f0f0f0}.lc .c6{stroke:#e6b800}.lc .od{stroke:#ff6b81}}\
@media print{.lc .bg{fill:#fff}.lc .t,.lc .m{fill:#000}.lc .gr{stroke:#ddd}.lc .s0{fill:#eee}.lc .s1{fill:#ccc}\
.lc .s2{fill:#999}.lc .s3{fill:#555}.lc .s4{fill:#222}.lc .sb{fill:#fff}.lc .sx{stroke:#000}\
.lc .l{stroke:#000}.lc .od{stroke:#000}}";

/// Collects the elements of one chart.
struct Canvas {
    width: u32,
    body: String,
}

impl Canvas {
    fn new(width: u32) -> Canvas {
        Canvas {
            width,
            body: String::new(),
        }
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    /// `anchor`: `start`, `middle`, `end`.
    fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escape(text)
        ));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.put(format_args!(
            "<path class=\"{class}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// Swatches and names, wrapped to the width; gives the height used.
    fn legend(&mut self, x: f64, y: f64, names: &[&str]) -> f64 {
        let (mut at, mut row) = (x, 0.0);
        for (i, name) in names.iter().enumerate() {
            let wide = 34.0 + text_width(name) + 14.0;
            if at > x && at + wide > f64::from(self.width) - 8.0 {
                at = x;
                row += 18.0;
            }
            self.line(
                &format!("l c{i}"),
                (at, y + row - 4.0),
                (at + 26.0, y + row - 4.0),
            );
            self.text(at + 32.0, y + row, "start", "t", name);
            at += wide;
        }
        row + 18.0
    }

    /// `key` makes the identifiers unique within a page.
    fn finish(self, key: &str, height: f64, title: &str, description: &str) -> Chart {
        let (width, height) = (self.width, height.ceil() as u32);
        // the background is a part of the picture: a file that is opened alone has no page behind it
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lc\" role=\"img\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" aria-labelledby=\"{key}-t {key}-d\">\n<title id=\"{key}-t\">{}</title>\n\
             <desc id=\"{key}-d\">{}</desc>\n<style>{CSS}</style>\n<rect class=\"bg\" width=\"{width}\" \
             height=\"{height}\"/>\n{}</svg>\n",
            escape(title),
            escape(description),
            self.body
        );
        Chart { svg, width, height }
    }
}

/// Several charts below each other as one picture.
pub fn stacked(charts: &[&Chart]) -> String {
    if let [only] = charts {
        return only.svg.clone();
    }
    let width = charts.iter().map(|c| c.width).max().unwrap_or(0);
    let height: u32 = charts.iter().map(|c| c.height).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
    );
    let mut y = 0;
    for chart in charts {
        out.push_str(&chart.svg.replacen("<svg ", &format!("<svg y=\"{y}\" "), 1));
        y += chart.height;
    }
    out.push_str("</svg>\n");
    out
}

/// Unix time as RFC 3339, UTC.
pub(crate) fn rfc3339(unix: i64) -> String {
    let (year, month, day) = axis::civil(unix.div_euclid(86_400));
    let s = unix.rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

/// About how wide a text is at 12 px: no font is at hand, and a little too wide does no harm.
fn text_width(text: &str) -> f64 {
    unicode_width::UnicodeWidthStr::width(text) as f64 * 6.9
}

/// At most so many columns, the rest as an ellipsis.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    let text = clean(text);
    if text.chars().count() <= columns {
        return text.into_owned();
    }
    text.chars()
        .take(columns.saturating_sub(1))
        .chain(['…'])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessee_spot::stats::{Span, State};

    fn strip(n: i64) -> Strip {
        let state = |i: i64| [State::Up, State::Down, State::Unknown][(i % 3) as usize];
        Strip {
            label: "<zone> & \"co\"".to_owned(),
            share: "50 %".to_owned(),
            start: None,
            spans: (0..n)
                .map(|i| Span {
                    from_s: 10 * i,
                    to_s: 10 * i + 10,
                    state: state(i),
                })
                .collect(),
        }
    }

    fn of(n: i64) -> StripChart {
        StripChart {
            key: "k".to_owned(),
            strips: vec![strip(n)],
            prices: vec![PriceLine {
                label: "p".to_owned(),
                start: None,
                steps: (0..n)
                    .map(|i| (10 * i, (i % 7 > 0).then_some(1.0 + (i % 5) as f64)))
                    .collect(),
                until_s: 10 * n,
            }],
            ..StripChart::default()
        }
    }

    #[test]
    fn strips_are_bounded_by_pixels_and_names_are_harmless() {
        let small = strips(&of(6));
        assert!(small.svg.contains("url(#k-h)"), "unknown time is hatched");
        assert!(small.svg.contains("&lt;zone&gt; &amp; &quot;co&quot;"));
        let chart = StripChart {
            prices: Vec::new(),
            ..of(300_000)
        };
        assert!(
            strips(&chart).svg.len() < 60_000,
            "{}",
            strips(&chart).svg.len()
        );
        // nothing to draw is an empty picture, not a panic
        assert!(strips(&StripChart::default()).svg.contains("<title"));
        assert!(survival(&SurvivalChart::default()).svg.contains("</svg>"));
    }

    #[test]
    fn several_pictures_in_one_file_do_not_overlap() {
        let (a, b) = (strips(&of(3)), survival(&SurvivalChart::default()));
        let whole = stacked(&[&a, &b]);
        assert!(whole.contains(&format!("<svg y=\"{}\"", a.height)));
        assert!(whole.contains(&format!("height=\"{}\"", a.height + b.height)));
        assert_eq!(stacked(&[&a]), a.svg);
    }
}
