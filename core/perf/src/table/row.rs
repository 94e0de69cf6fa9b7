//! One line of a table of measurements, as typed.

/// Which of the three column sets a table has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// `source, date, gpu, n_gpu, tp, model, precision, engine, batch, input_len, output_len, metric, value, unit, note`
    #[default]
    Inference,
    /// `source, date, gpu, n_gpu, nodes, interconnect, model, params, precision, seq_len, global_batch, micro_batch,
    /// parallelism, metric, value, unit, note`
    Training,
    /// `source, date, device, n_gpu, backend, blender_version, metric, value, unit, n_benchmarks`
    Render,
}

/// A row of any of them; a column that its table lacks, or that is blank, is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub table: TableKind,
    pub source: String,
    pub date: String,
    /// `gpu`, or `device` of a rendering table, as the table spells it.
    pub gpu: String,
    pub n_gpu: Option<f64>,
    /// What is to be predicted: `tpot_ms`, `tokens_s_per_gpu`, `blender_benchmark_score`, ...
    pub metric: String,
    /// Measured value in `unit`; not needed for a prediction.
    pub value: Option<f64>,
    pub unit: String,
    pub note: String,
    pub model: String,
    pub precision: String,

    // inference
    /// GPUs that share one replica (tensor parallel).
    pub tp: Option<f64>,
    /// Each GPU runs the attention of its own requests (`1 adp8` in the column `tp`).
    pub attention_parallel: bool,
    pub engine: String,
    /// Requests in flight; a word in tables of MLPerf (`Offline`, `Server`).
    pub batch: String,
    /// Prompt, tokens.
    pub input_len: Option<f64>,
    pub output_len: Option<f64>,

    // training
    pub nodes: Option<f64>,
    pub interconnect: String,
    pub params: Option<f64>,
    pub seq_len: Option<f64>,
    /// Sequences or samples a step; message bytes for collectives.
    pub global_batch: Option<f64>,
    pub micro_batch: Option<f64>,
    pub parallelism: String,

    // rendering
    pub backend: String,
    pub blender_version: String,
    /// Runs behind a median.
    pub n_benchmarks: Option<f64>,
}

impl Row {
    /// Reads a row by column name; blank cells and `nan` are empty.
    ///
    /// # Errors
    /// The column and the text of a number that is none.
    pub fn read<'a>(
        table: TableKind,
        cell: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Row, (String, String)> {
        let text = |name: &str| cell(name).unwrap_or("").trim().to_owned();
        let number = |name: &str| -> Result<Option<f64>, (String, String)> {
            let word = cell(name).unwrap_or("").trim();
            if word.is_empty() || word.eq_ignore_ascii_case("nan") {
                return Ok(None);
            }
            match word.parse::<f64>() {
                Ok(x) if x.is_finite() => Ok(Some(x)),
                _ => Err((name.to_owned(), word.to_owned())),
            }
        };
        // `8`, `1 adp8`; a word alone (`layer-split`) says how the GPUs share the work, not how many
        let leading = |name: &str| -> Option<f64> {
            let word = cell(name)?.split_whitespace().next()?;
            word.parse().ok().filter(|x: &f64| x.is_finite())
        };
        Ok(Row {
            table,
            source: text("source"),
            date: text("date"),
            gpu: text(if table == TableKind::Render {
                "device"
            } else {
                "gpu"
            }),
            n_gpu: number("n_gpu")?,
            metric: text("metric"),
            value: number("value")?,
            unit: text("unit"),
            note: text("note"),
            model: text("model"),
            precision: text("precision"),
            tp: leading("tp"),
            attention_parallel: text("tp").contains("adp"),
            engine: text("engine"),
            batch: text("batch"),
            input_len: number("input_len")?,
            output_len: number("output_len")?,
            nodes: number("nodes")?,
            interconnect: text("interconnect"),
            params: number("params")?,
            seq_len: number("seq_len")?,
            global_batch: number("global_batch")?,
            micro_batch: number("micro_batch")?,
            parallelism: text("parallelism"),
            backend: text("backend"),
            blender_version: text("blender_version"),
            n_benchmarks: number("n_benchmarks")?,
        })
    }

    /// `batch` as a number, where it is one.
    pub fn requests(&self) -> Option<f64> {
        self.batch
            .parse()
            .ok()
            .filter(|x: &f64| x.is_finite() && *x > 0.0)
    }
}
