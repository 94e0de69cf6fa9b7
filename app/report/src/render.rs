//! A report in one of the formats of `-o` and `--export`.

use crate::clean::{clean, escape};
use crate::fit::{draw, paint, wrap};
use crate::page::page;
use crate::{Block, Report, Style, Table, Texts, Tone};
use lessee_model::Msg;
use std::fmt::Write as _;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    #[default]
    Table,
    Json,
    Jsonl,
    Csv,
    Markdown,
    Html,
    /// The pictures alone; only for files.
    Svg,
}

impl Format {
    pub const ALL: [Format; 7] = [
        Format::Table,
        Format::Json,
        Format::Jsonl,
        Format::Csv,
        Format::Markdown,
        Format::Html,
        Format::Svg,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
            Format::Markdown => "md",
            Format::Html => "html",
            Format::Svg => "svg",
        }
    }

    /// By file extension.
    pub fn of_extension(extension: &str) -> Option<Format> {
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Json),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "csv" => Some(Format::Csv),
            "md" | "markdown" => Some(Format::Markdown),
            "html" | "htm" => Some(Format::Html),
            "svg" => Some(Format::Svg),
            "txt" => Some(Format::Table),
            _ => None,
        }
    }

    pub fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::Jsonl)
    }
}

impl FromStr for Format {
    type Err = ();
    fn from_str(text: &str) -> Result<Format, ()> {
        Format::ALL
            .into_iter()
            .find(|f| f.as_str() == text.trim())
            .ok_or(())
    }
}

/// The whole answer as text; ends with a line break.
pub fn render(report: &Report, format: Format, style: Style, texts: &Texts) -> String {
    match format {
        Format::Table => terminal(report, style, texts),
        Format::Json => json(&report.data),
        Format::Jsonl => jsonl(report),
        Format::Csv => report.csv.clone().unwrap_or_else(|| csv(report)),
        Format::Markdown => markdown(report),
        Format::Html => html(report, texts),
        Format::Svg => crate::chart::stacked(&report.charts()),
    }
}

fn terminal(report: &Report, style: Style, texts: &Texts) -> String {
    let mut out = String::new();
    let spoken = |b: &&Block| !matches!(b, Block::Chart(_));
    for (i, block) in report.blocks.iter().filter(spoken).enumerate() {
        if i > 0 {
            out.push('\n');
        }
        match block {
            Block::Chart(_) => {}
            Block::Heading(text) => {
                out.push_str(&paint(&clean(text), Tone::Strong, style.colour));
                out.push('\n');
            }
            Block::Text(text) => paragraph(&mut out, "", text, style.width),
            Block::List(lines) => lines
                .iter()
                .for_each(|line| paragraph(&mut out, "- ", line, style.width)),
            Block::Verbatim(text) | Block::Terminal(text) => {
                out.push_str(clean(text).trim_end_matches('\n'));
                out.push('\n');
            }
            Block::Table(table) => {
                let fitted = draw(table, style.width, style.colour);
                out.push_str(&fitted.text);
                if let Some(head) = table.head.filter(|h| h.total > h.shown) {
                    let n = (head.total - head.shown) as f64;
                    let note = if head.by_flag {
                        Msg::new("table-more").arg("n", n)
                    } else {
                        Msg::new("table-more-json").arg("n", n)
                    };
                    paragraph(&mut out, "", &texts.msg(&note), style.width);
                }
                if !fitted.hidden.is_empty() {
                    let note =
                        Msg::new("table-hidden-columns").arg("columns", fitted.hidden.join(", "));
                    out.push('\n');
                    paragraph(&mut out, "", &texts.msg(&note), style.width);
                }
            }
        }
    }
    out
}

fn paragraph(out: &mut String, bullet: &str, text: &str, width: usize) {
    let indent = " ".repeat(bullet.len());
    for (i, line) in wrap(&clean(text), width.saturating_sub(bullet.len()).max(20))
        .into_iter()
        .enumerate()
    {
        out.push_str(if i == 0 { bullet } else { &indent });
        out.push_str(&line);
        out.push('\n');
    }
}

fn json(data: &serde_json::Value) -> String {
    let mut text = serde_json::to_string_pretty(data).unwrap_or_default();
    text.push('\n');
    text
}

/// One line per member of the main list; the whole document as one line where there is no list.
fn jsonl(report: &Report) -> String {
    match report.data.get(report.items).and_then(|v| v.as_array()) {
        Some(list) => list.iter().map(|item| format!("{item}\n")).collect(),
        None => format!("{}\n", report.data),
    }
}

fn tables(report: &Report) -> impl Iterator<Item = &Table> {
    report.blocks.iter().filter_map(|b| match b {
        Block::Table(table) => Some(table),
        _ => None,
    })
}

/// The main table with keys as header and raw values (RFC 4180, line feeds).
fn csv(report: &Report) -> String {
    let mut out = String::new();
    if let Some(table) = tables(report).next() {
        let header: Vec<String> = table.keys().map(str::to_owned).collect();
        out.push_str(&header.join(","));
        out.push('\n');
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|c| csv_field(&c.raw)).collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
    }
    out
}

/// CSV of a report is opened in spreadsheets: control characters go, and a text that a spreadsheet would run
/// as a formula gets an apostrophe before it. Numbers stay as they are. (`catalog export` writes exact data.)
fn csv_field(text: &str) -> String {
    let text = clean(text);
    let formula = text.starts_with(['=', '+', '@', '-']) && text.parse::<f64>().is_err();
    let text = if formula {
        format!("'{text}")
    } else {
        text.into_owned()
    };
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

fn markdown(report: &Report) -> String {
    let plain = |text: &str| {
        clean(text)
            .replace('|', "\\|")
            .replace('\n', " ")
            .replace('<', "&lt;")
    };
    let mut out = String::new();
    let spoken = |b: &&Block| !matches!(b, Block::Chart(_));
    for (i, block) in report.blocks.iter().filter(spoken).enumerate() {
        if i > 0 {
            out.push('\n');
        }
        match block {
            Block::Chart(_) => {}
            Block::Heading(text) => out.push_str(&format!("## {}\n", plain(text))),
            Block::Text(text) => out.push_str(&format!("{}\n", plain(text))),
            Block::List(lines) => lines
                .iter()
                .for_each(|l| out.push_str(&format!("- {}\n", plain(l)))),
            Block::Verbatim(text) | Block::Terminal(text) => {
                out.push_str(&format!("```\n{}\n```\n", clean(text).trim_end()))
            }
            Block::Table(table) => {
                let table = table.for_people();
                let titles: Vec<String> = table.columns.iter().map(|c| plain(&c.title)).collect();
                let rules: Vec<&str> = table
                    .columns
                    .iter()
                    .map(|c| {
                        if c.align == crate::Align::Right {
                            "---:"
                        } else {
                            "---"
                        }
                    })
                    .collect();
                out.push_str(&format!(
                    "| {} |\n| {} |\n",
                    titles.join(" | "),
                    rules.join(" | ")
                ));
                for row in &table.rows {
                    let cells: Vec<String> = row.iter().map(|c| plain(&c.whole())).collect();
                    out.push_str(&format!("| {} |\n", cells.join(" | ")));
                }
            }
        }
    }
    out
}

fn html(report: &Report, texts: &Texts) -> String {
    let mut out = String::new();
    for block in &report.blocks {
        match block {
            Block::Heading(text) => out.push_str(&format!("<h2>{}</h2>\n", escape(text))),
            Block::Text(text) => {
                out.push_str(&format!("<p>{}</p>\n", escape(text).replace('\n', "<br>")))
            }
            Block::List(lines) => {
                let items: String = lines
                    .iter()
                    .map(|l| format!("<li>{}</li>\n", escape(l)))
                    .collect();
                out.push_str(&format!("<ul>\n{items}</ul>\n"));
            }
            Block::Verbatim(text) => out.push_str(&format!("<pre>{}</pre>\n", escape(text))),
            Block::Table(table) => html_table(&mut out, &table.for_people()),
            Block::Terminal(_) => {}
            Block::Chart(chart) => out.push_str(&format!("<figure>\n{}</figure>\n", chart.svg)),
        }
    }
    page(&escape(&report.title), texts.lang(), &out)
}

fn html_table(out: &mut String, table: &Table) {
    let class = |i: usize| {
        if table.columns[i].align == crate::Align::Right {
            " class=\"r\""
        } else {
            ""
        }
    };
    out.push_str("<div class=\"w\"><table>\n<thead><tr>");
    for (i, column) in table.columns.iter().enumerate() {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            class(i),
            escape(&column.title)
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class(i), escape(&cell.whole()));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Column, Lang};

    fn report() -> Report {
        let data = serde_json::json!({"schema": "lessee/test/v1", "rows": [{"a": 1}, {"a": 2}]});
        let mut report = Report::new("Prices <now>", data, "rows");
        let mut table = Table::new(vec![
            Column::left("name", "Name", 0),
            Column::right("price", "Price", 0),
        ]);
        table.push(vec![
            "a|b, \"c\" <script>".into(),
            Cell::new("1,234.50 USD").raw("1234.5"),
        ]);
        report.table(table);
        report
    }

    #[test]
    fn each_format_keeps_hostile_text_harmless() {
        let texts = Texts::new(Lang::En);
        let show = |format| render(&report(), format, Style::PLAIN_80, &texts);
        assert_eq!(
            show(Format::Csv),
            "name,price\n\"a|b, \"\"c\"\" <script>\",1234.5\n"
        );
        assert!(show(Format::Markdown).contains("| a\\|b, \"c\" &lt;script> | 1,234.50 USD |"));
        assert!(
            show(Format::Html).contains("&lt;script&gt;")
                && !show(Format::Html).contains("<script")
        );
        assert_eq!(show(Format::Jsonl), "{\"a\":1}\n{\"a\":2}\n");
        assert!(serde_json::from_str::<serde_json::Value>(&show(Format::Json)).is_ok());
    }

    #[test]
    fn colour_only_where_asked() {
        let texts = Texts::new(Lang::En);
        let plain = render(&report(), Format::Table, Style::PLAIN_80, &texts);
        assert!(!plain.contains('\x1b'));
        let loud = render(
            &report(),
            Format::Table,
            Style {
                width: 80,
                colour: true,
            },
            &texts,
        );
        assert!(loud.contains("\x1b[1m"));
    }
}

#[cfg(test)]
mod csv_tests {
    use super::csv_field;

    #[test]
    fn formulas_and_escapes_are_inert_numbers_are_not_touched() {
        assert_eq!(csv_field("=cmd()"), "'=cmd()");
        assert_eq!(csv_field("@SUM(1)"), "'@SUM(1)");
        assert_eq!(csv_field("-12.5"), "-12.5");
        assert_eq!(csv_field("a\x1b[31m"), "a\u{FFFD}[31m");
        assert_eq!(csv_field("a,b"), "\"a,b\"");
    }
}
