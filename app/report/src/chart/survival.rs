//! How long instances live: share still there against age, one step curve a zone. Ages are on a logarithmic scale,
//! because lives are heavy-tailed; a curve ends where nothing older was seen.

use super::{Canvas, Chart, MOST_LINES, shortened};
use std::fmt::Write as _;

/// One curve.
#[derive(Clone, Debug)]
pub struct SurvivalLine {
    pub label: String,
    /// Age in hours, share that lives longer.
    pub points: Vec<(f64, f64)>,
    /// Greatest age seen, hours.
    pub oldest_h: f64,
}

/// All of a picture, texts in the reader's language.
#[derive(Clone, Debug, Default)]
pub struct SurvivalChart {
    /// Unique within a page.
    pub key: String,
    pub title: String,
    pub description: String,
    pub lines: Vec<SurvivalLine>,
    /// Names of the axes.
    pub age_label: String,
    pub share_label: String,
}

const WIDTH: u32 = 960;
const HEIGHT: f64 = 300.0;

/// Draws it.
pub fn survival(chart: &SurvivalChart) -> Chart {
    let mut canvas = Canvas::new(WIDTH);
    let (left, right, top) = (64.0, f64::from(WIDTH) - 36.0, 62.0);
    let lines = &chart.lines[..chart.lines.len().min(MOST_LINES)];
    let ages = || {
        lines
            .iter()
            .flat_map(|l| l.points.iter().map(|p| p.0).chain([l.oldest_h]))
    };
    let ages = || ages().filter(|a| *a > 0.0);
    // whole decades around what was seen, at least one
    let low = ages()
        .fold(f64::INFINITY, f64::min)
        .clamp(0.01, 1.0)
        .log10()
        .floor();
    let high = ages()
        .fold(0.0, f64::max)
        .clamp(1.0, 1e6)
        .log10()
        .ceil()
        .max(low + 1.0);
    let x = |h: f64| {
        let place = (h.max(1e-9).log10() - low) / (high - low);
        left + (right - left) * place.clamp(0.0, 1.0)
    };
    let y = |share: f64| top + HEIGHT * (1.0 - share);
    canvas.text(12.0, 24.0, "start", "t h", &chart.title);
    canvas.text(12.0, 46.0, "start", "m", &chart.share_label);
    for percent in [0, 25, 50, 75, 100] {
        let at = y(f64::from(percent) / 100.0);
        canvas.line("gr", (left, at), (right, at));
        canvas.text(left - 8.0, at + 4.0, "end", "m", &format!("{percent} %"));
    }
    for decade in low as i32..=high as i32 {
        let h = 10f64.powi(decade);
        canvas.line("gr", (x(h), top), (x(h), top + HEIGHT));
        let label = if decade < 0 {
            format!("{h:.*} h", decade.unsigned_abs() as usize)
        } else {
            format!("{h} h")
        };
        canvas.text(x(h), top + HEIGHT + 18.0, "middle", "m", &label);
    }
    for (i, line) in lines.iter().enumerate() {
        let mut path = format!("M{left:.1} {:.1}", y(1.0));
        for (age, share) in &line.points {
            let _ = write!(path, "H{:.1}V{:.1}", x(*age), y(*share));
        }
        if line.oldest_h > 0.0 {
            let _ = write!(path, "H{:.1}", x(line.oldest_h));
        }
        canvas.put(format_args!("<path class=\"l c{i}\" d=\"{path}\"/>"));
    }
    canvas.text(right, top + HEIGHT + 36.0, "end", "m", &chart.age_label);
    let names: Vec<String> = lines.iter().map(|l| shortened(&l.label, 30)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let used = canvas.legend(left, top + HEIGHT + 58.0, &names);
    canvas.finish(
        &chart.key,
        top + HEIGHT + 58.0 + used,
        &chart.title,
        &chart.description,
    )
}
