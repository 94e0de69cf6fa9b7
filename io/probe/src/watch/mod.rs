//! Utilisation logs of other programs, and this machine's GPUs sampled now ([`live`]), turned into the series that `lessee_supervise::curve` judges.
//!
//! Start with [`read`]: the kind of a text is recognised by its content ([`Format`]), one file here for each family of
//! kinds. What a cell does not say (`-`, `[N/A]`) stays unknown, holes and irregular times stay as they are, and lines
//! that are not understood are counted and quoted, not guessed.
//!
//! Not here: what a curve means (`core/supervise`), other things people paste (`read` of this crate).

mod build;
mod columns;
mod dmon;
mod error;
mod host;
pub mod live;
mod prometheus;
mod recognise;
pub mod record;
mod table;
mod time;

pub use error::WatchError;
pub use recognise::Format;

use lessee_model::GpuTable;
use lessee_supervise::curve::Series;

/// What the user says beside the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// `--sample-seconds`: distance of samples where the text has no time, seconds.
    pub sample_s: Option<f64>,
    /// Power limit where the text has none, W; see [`power_limit`].
    pub power_limit_w: Option<f64>,
}

/// A text as series.
#[derive(Clone, Debug)]
pub struct Recording {
    pub format: Format,
    /// One for each GPU, in order of index or first appearance.
    pub series: Vec<Series>,
    /// The text had no time and nobody gave an interval: this one was assumed, seconds.
    pub assumed_step_s: Option<f64>,
    /// Where times are those of a clock: seconds of the file's own clock since 1970 at time 0 of the series.
    pub start_s: Option<f64>,
    /// Lines that were not understood.
    pub skipped: usize,
    /// The first of them, with their numbers.
    pub not_understood: Vec<(usize, String)>,
    /// Names of GPUs by index or UUID, where the text has them.
    pub names: Vec<String>,
}

impl Recording {
    /// Gives the limit to each GPU of which the text has none.
    pub fn assume_power_limit(&mut self, watts: f64) {
        for series in &mut self.series {
            if series.samples.iter().all(|s| s.power_limit_w.is_none()) {
                let samples = series.samples.iter_mut();
                samples.for_each(|s| s.power_limit_w = Some(watts));
            }
        }
    }
}

/// Reads a text; `file` is for messages only.
///
/// # Errors
/// No known kind, nothing in it that says what a GPU did, or an interval that is none.
pub fn read(file: &str, text: &str, options: &Options) -> Result<Recording, WatchError> {
    if let Some(s) = options.sample_s
        && !(s.is_finite() && s > 0.0 && s <= 86_400.0)
    {
        return Err(WatchError::Interval { seconds: s });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let format = recognise::recognise(text).ok_or_else(|| WatchError::unknown(file, text))?;
    let mut table = build::Builder::default();
    match format {
        Format::DmonText | Format::PmonText => dmon::read(text, format, &mut table),
        Format::DcgmiText => dmon::read_dcgmi(text, &mut table),
        Format::PrometheusJson => prometheus::read_json(file, text, &mut table)?,
        Format::PrometheusText => prometheus::read_text(text, &mut table),
        // never recognised in a text
        Format::Live => {}
        Format::Csv | Format::QueryCsv => table::read(file, text, &mut table)?,
    }
    table.finish(file, format, options)
}

/// The power limit of a GPU by its name, W: the board power of its data sheet. Where several products fit the name it
/// is that of the slowest, so that a card is rather called powered than hung.
///
/// # Errors
/// The name is not known, or the table has no power for it.
pub fn power_limit(gpus: &GpuTable, model: &str) -> Result<f64, WatchError> {
    let found = gpus.resolve(model);
    let Some(spec) = found.as_ref().and_then(|gpu| gpus.spec(gpu)) else {
        return Err(WatchError::UnknownGpu {
            model: model.to_owned(),
            near: gpus.suggest(model).map(str::to_owned),
        });
    };
    spec.spec.tdp_w.ok_or_else(|| WatchError::NoLimit {
        model: spec.spec.name.to_string(),
    })
}
