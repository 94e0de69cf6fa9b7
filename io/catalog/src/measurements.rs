//! Tables of measured performance as CSV: three column sets, see [`lessee_perf::table::Row`].
//!
//! What it is not: the judgement of a row; a number that is none or a GPU that nobody knows is the row's own
//! answer. Start with [`read_measurements`].

use crate::CatalogError;
use lessee_perf::table::{Row, TableKind};

/// A table as it came, and each line as a row.
#[derive(Debug)]
pub struct Measurements {
    pub kind: TableKind,
    pub header: csv::StringRecord,
    pub lines: Vec<Line>,
}

/// One line of a table.
#[derive(Debug)]
pub struct Line {
    /// In the file; the header is 1.
    pub number: u64,
    pub record: csv::StringRecord,
    /// The row, or the column and the text of a number that is none.
    pub row: Result<Row, (String, String)>,
}

/// Columns that tell what a row asks; the others may be missing.
const NEEDED: [(TableKind, &str, &[&str]); 3] = [
    (TableKind::Render, "blender_version", &["device", "metric"]),
    (TableKind::Training, "global_batch", &["gpu", "metric"]),
    (TableKind::Inference, "input_len", &["gpu", "metric"]),
];

/// Reads a table of one of the three column sets, known by their headers.
///
/// # Errors
/// [`CatalogError::Table`]: no such header, or a line with another number of cells than the header.
pub fn read_measurements(text: &str, file: &str) -> Result<Measurements, CatalogError> {
    let problem = |line: u64, what: String| CatalogError::Table {
        file: file.to_owned(),
        line,
        what,
    };
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|e| problem(1, e.to_string()))?
        .clone();
    let has = |name: &str| header.iter().any(|h| h.trim() == name);
    let Some((kind, _, needed)) = NEEDED.iter().find(|(_, mark, _)| has(mark)) else {
        let marks: Vec<&str> = NEEDED.iter().map(|(_, mark, _)| *mark).collect();
        return Err(problem(1, marks.join(" | ")));
    };
    if let Some(missing) = needed.iter().find(|name| !has(name)) {
        return Err(problem(1, (*missing).to_owned()));
    }
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| {
            let line = e.position().map_or(0, csv::Position::line);
            problem(line, e.to_string())
        })?;
        let cell = |name: &str| {
            let at = header.iter().position(|h| h.trim() == name)?;
            record.get(at)
        };
        let row = Row::read(*kind, cell);
        let number = record.position().map_or(0, csv::Position::line);
        lines.push(Line {
            number,
            record,
            row,
        });
    }
    Ok(Measurements {
        kind: *kind,
        header,
        lines,
    })
}

impl Measurements {
    /// The table as it came, with more cells behind each line; `more` has one member a line.
    pub fn appended<const N: usize>(&self, names: [&str; N], more: &[[String; N]]) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        // a writer into memory cannot fail
        let _ = out.write_record(self.header.iter().chain(names));
        for (line, more) in self.lines.iter().zip(more) {
            let cells = line.record.iter().chain(more.iter().map(String::as_str));
            let _ = out.write_record(cells);
        }
        let bytes = out.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_the_kind() {
        let text = "gpu,n_gpu,tp,model,precision,batch,input_len,output_len,metric\nL4,1,1,llama-3.1-8b,fp8,many,128,x,tpot_ms\n";
        let table = read_measurements(text, "t.csv").expect("readable");
        assert_eq!(table.kind, TableKind::Inference);
        assert_eq!(table.lines[0].row, Err(("output_len".into(), "x".into())));
        let text = "device,n_gpu,backend,blender_version,metric\nNVIDIA L4,1,OPTIX,4.5.0,blender_benchmark_score\n";
        let table = read_measurements(text, "t.csv").expect("readable");
        assert_eq!(table.kind, TableKind::Render);
        let row = table.lines[0].row.as_ref().expect("row");
        assert_eq!((row.gpu.as_str(), row.n_gpu), ("NVIDIA L4", Some(1.0)));
    }

    #[test]
    fn other_files_are_refused_with_the_line() {
        for (text, line) in [
            ("", 1),
            ("a,b\n1,2\n", 1),
            ("global_batch,metric\n1,x\n", 1),
            ("gpu,metric,input_len\nL4,tpot_ms\n", 2),
        ] {
            match read_measurements(text, "t.csv") {
                Err(CatalogError::Table { line: at, .. }) => assert_eq!(at, line, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
