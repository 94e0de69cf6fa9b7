//! What sections share: a table of figures, each with how it is known; a reason in words; a small curve.

use lessee_model::probe::{Reading, reason_parts};
use lessee_report::{Cell, Column, Table, Texts, Tone};

/// Figures, one a row: what, how much, and how it is known.
pub(super) struct Rows<'a> {
    table: Table,
    texts: &'a Texts,
}

impl<'a> Rows<'a> {
    pub(super) fn new(texts: &'a Texts) -> Rows<'a> {
        let table = Table::new(vec![
            Column::left("what", texts.get("probe-col-what"), 0),
            Column::right("value", texts.get("probe-col-value"), 0),
            Column::left("unit", texts.get("probe-col-unit"), 0),
            Column::left("known", texts.get("probe-col-known"), 0),
        ]);
        Rows { table, texts }
    }

    pub(super) fn reading(&mut self, what: String, reading: Option<&Reading>, unit: &str) {
        let Some(reading) = reading else {
            return;
        };
        let known = known(reading, self.texts);
        self.row(what, figure(reading, self.texts), unit, known);
    }

    /// A figure that the machine states.
    pub(super) fn claimed(&mut self, what: String, value: Option<f64>, unit: &str) {
        if let Some(value) = value {
            self.reading(what, Some(&Reading::Claimed { value }), unit);
        }
    }

    fn row(&mut self, what: String, value: Cell, unit: &str, known: Cell) {
        self.table
            .push(vec![Cell::new(what), value, Cell::new(unit), known]);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table.rows.is_empty()
    }

    pub(super) fn table(self) -> Table {
        self.table
    }
}

/// How a figure is known, with the reason where it is not.
pub(super) fn known(reading: &Reading, texts: &Texts) -> Cell {
    match reading {
        Reading::Measured { .. } => {
            Cell::new(texts.term("probe-known", "measured")).raw("measured")
        }
        Reading::Claimed { .. } => Cell::new(texts.term("probe-known", "claimed"))
            .raw("claimed")
            .tone(Tone::Dim),
        Reading::Unknown { reason: why } => Cell::new(reason(why, texts))
            .raw(why.clone())
            .tone(Tone::Warn),
        Reading::Failed { reason: why } => Cell::new(reason(why, texts))
            .raw(why.clone())
            .tone(Tone::Bad),
    }
}

/// The figure alone; a claimed one is marked, an unknown one is a dash.
pub(super) fn figure(reading: &Reading, texts: &Texts) -> Cell {
    match reading {
        Reading::Measured { value, .. } => number(*value, texts),
        Reading::Claimed { value } => number(*value, texts).tone(Tone::Dim),
        Reading::Unknown { .. } => Cell::unknown(),
        Reading::Failed { .. } => Cell::new("!").raw("").tone(Tone::Bad),
    }
}

/// Three significant digits are what a measurement is good for.
pub(crate) fn number(value: f64, texts: &Texts) -> Cell {
    let places = if value == 0.0 {
        0
    } else {
        2 - value.abs().log10().floor() as i32
    };
    let scale = 10f64.powi(places.clamp(0, 9));
    Cell::new(texts.number((value * scale).round() / scale)).raw(value.to_string())
}

pub(super) fn optional(reading: Option<&Reading>, texts: &Texts) -> Cell {
    reading.map_or_else(Cell::unknown, |r| figure(r, texts))
}

/// The code in words, and the evidence behind it.
pub(crate) fn reason(reason: &str, texts: &Texts) -> String {
    let (code, detail) = reason_parts(reason);
    let Some(code) = code else {
        return reason.to_owned();
    };
    let words = texts.term("probe-reason", code);
    match detail {
        "" => words,
        detail => format!("{words}: {detail}"),
    }
}

/// Shares from 0 to 1 as a line of bars.
pub(super) fn sparkline(shares: impl Iterator<Item = f64>) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |share: f64| BARS[((share.clamp(0.0, 1.0) * 7.0).round() as usize).min(7)];
    shares.map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessee_report::Lang;

    #[test]
    fn figures_have_three_digits_and_reasons_their_words() {
        let texts = Texts::new(Lang::En);
        for (value, shown) in [
            (0.0, "0"),
            (2987.3, "2,987"),
            (54.83, "54.8"),
            (0.9432, "0.943"),
        ] {
            assert_eq!(number(value, &texts).text, shown);
        }
        assert_eq!(reason("of my own", &texts), "of my own");
        assert!(reason("io: broken pipe", &texts).ends_with(": broken pipe"));
        assert_eq!(sparkline([0.0, 0.5, 1.0, 7.0].into_iter()), "▁▅██");
    }
}
