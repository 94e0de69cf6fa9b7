//! Finding tables in a text and cutting them into cells: Markdown with or without outer bars, CSV, TSV,
//! semicolons, columns aligned by blanks.

use super::ask;
use super::header::{self, Column, Role};
use super::lex;
use super::names::Names;
use super::price;
use super::row::{self, Around};
use super::settle::{Doc, Found, settle};

/// How cells are divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cut {
    Bar,
    Char(char),
    /// Two or more blanks.
    Blanks,
}

/// A title line that was recognised.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) cut: Cut,
    pub(crate) columns: Vec<Option<Column>>,
    /// Lines of the head, separator of a Markdown table included.
    pub(crate) lines: usize,
}

const LONGEST_ROW: usize = 20_000;

/// Cells of a line. Quotes hold separators together in CSV.
pub(crate) fn cells(line: &str, cut: Cut) -> Vec<String> {
    match cut {
        Cut::Bar => {
            let t = line.trim();
            let t = t.strip_prefix('|').unwrap_or(t);
            let t = t
                .strip_suffix('|')
                .filter(|s| !s.ends_with('\\'))
                .unwrap_or(t);
            t.replace("\\|", "\u{1}")
                .split('|')
                .map(|c| c.replace('\u{1}', "|").trim().to_owned())
                .collect()
        }
        Cut::Blanks => line
            .trim()
            .split("  ")
            .map(str::trim)
            .filter(|c| !c.is_empty())
            .map(str::to_owned)
            .collect(),
        Cut::Char(sep) => quoted(line, sep),
    }
}

fn quoted(line: &str, sep: char) -> Vec<String> {
    // an odd number of quotes closes nowhere: then they are inch marks or damage, not quoting
    let quoting = line.matches('"').count().is_multiple_of(2);
    let mut out = Vec::new();
    let mut cell = String::new();
    let mut inside = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if quoting && c == '"' {
            if inside && chars.peek() == Some(&'"') {
                cell.push('"');
                chars.next();
            } else {
                inside = !inside;
            }
        } else if c == sep && !inside {
            out.push(cell.trim().to_owned());
            cell.clear();
        } else {
            cell.push(c);
        }
    }
    out.push(cell.trim().to_owned());
    out
}

/// `|---|:--:|`
fn is_rule(line: &str) -> bool {
    let t = line.trim();
    t.contains('-')
        && t.contains('|')
        && t.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '+'))
}

/// The head of a table at `lines[at]`, if there is one.
pub(crate) fn head(lines: &[&str], at: usize, names: &Names<'_>) -> Option<Head> {
    let line = lines[at];
    if line.len() > 4_000 || holds_figures(line) {
        return None;
    }
    let next = lines.get(at + 1).copied().unwrap_or("");
    if line.contains('|') && is_rule(next) {
        return Some(Head {
            cut: Cut::Bar,
            columns: columns(&cells(line, Cut::Bar), names).0,
            lines: 2,
        });
    }
    let next = lines[at + 1..]
        .iter()
        .take(2)
        .find(|l| !l.trim().is_empty())
        .copied()
        .unwrap_or("");
    for cut in [
        Cut::Char('\t'),
        Cut::Bar,
        Cut::Char(';'),
        Cut::Char('；'),
        Cut::Char(','),
        Cut::Char('，'),
        Cut::Char('、'),
        Cut::Blanks,
    ] {
        let divided = match cut {
            Cut::Bar => line.contains('|') && next.contains('|'),
            Cut::Blanks => line.trim().contains("  ") && next.trim().contains("  "),
            Cut::Char(c) => line.contains(c) && next.contains(c),
        };
        if !divided {
            continue;
        }
        let titles = cells(line, cut);
        if !matches!(cut, Cut::Bar | Cut::Char('\t'))
            && (titles.iter().any(|t| is_sentence(t)) || cells(next, cut).len() < 2)
        {
            continue;
        }
        if titles.len() < 2 || titles.len() > 200 || titles.iter().any(|t| t.len() > 160) {
            continue;
        }
        let (columns, sound) = columns(&titles, names);
        let known: Vec<Role> = columns.iter().flatten().map(|c| c.role).collect();
        let filled = titles.iter().filter(|t| !t.is_empty()).count();
        let priced = known.iter().any(|r| matches!(r, Role::Price | Role::Total));
        let named = known
            .iter()
            .any(|r| matches!(r, Role::Gpu | Role::Instance | Role::Item));
        if sound
            && known.len() >= 2
            && known.len() * 2 >= filled
            && (priced && named || known.len() >= 3 && (priced || named))
        {
            return Some(Head {
                cut,
                columns,
                lines: 1,
            });
        }
    }
    None
}

/// A decimal or a long number: titles hold neither, and looking no further is cheap.
fn holds_figures(line: &str) -> bool {
    let b = line.as_bytes();
    let mut run = 0;
    b.iter().enumerate().any(|(i, c)| {
        run = if c.is_ascii_digit() { run + 1 } else { 0 };
        run > 4
            || (*c == b'.'
                && i > 0
                && b[i - 1].is_ascii_digit()
                && b.get(i + 1).is_some_and(u8::is_ascii_digit))
    })
}

/// Too long for a title, brackets aside.
fn is_sentence(title: &str) -> bool {
    let head = title.split(['(', '（', '[']).next().unwrap_or(title);
    let wide = head.chars().filter(|c| lex::is_cjk(*c)).count();
    wide > 12 || head.chars().count() > 48
}

/// Columns by title, and whether no title holds data (a GPU or an amount).
fn columns(titles: &[String], names: &Names<'_>) -> (Vec<Option<Column>>, bool) {
    let mut sound = true;
    let columns: Vec<Option<Column>> = titles
        .iter()
        .map(|t| {
            let column = header::column(t, names);
            if let Some(c) = &column {
                let folded = header::title(t);
                let data = || !price::amounts(&lex::lex(&folded, names, false), false).is_empty();
                sound &= c.facts.gpus.is_empty()
                    && (!folded.contains(|d: char| d.is_ascii_digit()) || !data());
            }
            column
        })
        .collect();
    (columns, sound)
}

/// Reads the rows below a head; returns the index of the first line after the table.
pub(crate) fn read(
    lines: &[&str],
    at: usize,
    head: &Head,
    around: &Around,
    doc: &Doc<'_>,
    found: &mut Found,
) -> usize {
    let width = head.columns.len();
    let roles: Vec<Role> = head.columns.iter().flatten().map(|c| c.role).collect();
    let priced = roles.iter().any(|r| matches!(r, Role::Price | Role::Total));
    let named = roles
        .iter()
        .any(|r| matches!(r, Role::Gpu | Role::Instance | Role::Item))
        || !around.facts.gpus.is_empty();
    let mut i = at + head.lines;
    let mut asked = false;
    let counts_cards = counts_cards(lines, at, head);
    while let Some(line) = lines.get(i).copied() {
        let bar = head.cut == Cut::Bar;
        if line.trim().is_empty() {
            let more = !bar
                && lines
                    .get(i + 1)
                    .is_some_and(|l| !l.trim().is_empty() && cells(l, head.cut).len() == width);
            if !more {
                break;
            }
            i += 1;
            continue;
        }
        if line.trim_start().starts_with('#') || !divided(line, head.cut) {
            break;
        }
        let number = i as u64 + 1;
        let mut row_cells = if line.len() > LONGEST_ROW {
            Vec::new()
        } else {
            cells(line, head.cut)
        };
        i += 1;
        if is_rule(line) || line == lines[at] {
            continue;
        }
        // no price column: the last hope is that the cells themselves hold prices (`H100 ¥15/hr`)
        if !priced {
            loose_row(line, number, &row_cells, head, around, doc, found);
            continue;
        }
        if !named {
            if !asked {
                found
                    .questions
                    .push(ask::gpu_missing().at(at as u64 + 1, lines[at], false));
                asked = true;
            }
            found.ignored_lines += 1;
            continue;
        }
        while row_cells.len() > width && row_cells.last().is_some_and(String::is_empty) {
            row_cells.pop();
        }
        if row_cells.len() > width
            || row_cells.is_empty()
            || (head.cut == Cut::Blanks && row_cells.len() != width)
        {
            found.questions.push(
                ask::row_shape()
                    .arg("cells", row_cells.len())
                    .arg("columns", width)
                    .at(number, line, false),
            );
            continue;
        }
        let first = super::fold::fold(row_cells.first().map_or("", String::as_str));
        if SUMS.contains(&first.trim()) {
            found.ignored_lines += 1;
            continue;
        }
        let pairs: Vec<(&Column, &str)> = head
            .columns
            .iter()
            .zip(&row_cells)
            .filter_map(|(c, cell)| c.as_ref().map(|c| (c, cell.as_str())))
            .collect();
        let mut draft = row::draft(&pairs, number, line.trim(), around, doc.names);
        draft.counts_cards = counts_cards;
        settle(draft, doc, found);
    }
    i
}

/// 数量 right behind the GPU or its memory, with nothing in it but what machines hold (1, 2, 4, 8, 16).
fn counts_cards(lines: &[&str], at: usize, head: &Head) -> bool {
    let role = |i: usize| head.columns.get(i).and_then(|c| c.as_ref().map(|c| c.role));
    let Some(quantity) = (0..head.columns.len()).find(|i| role(*i) == Some(Role::Quantity)) else {
        return false;
    };
    let behind = quantity.checked_sub(1).and_then(role);
    if !matches!(behind, Some(Role::Gpu | Role::GpuMemory | Role::Memory)) {
        return false;
    }
    lines[at + head.lines..]
        .iter()
        .take_while(|l| !l.trim().is_empty() && divided(l, head.cut))
        .filter(|l| !is_rule(l))
        .filter_map(|l| cells(l, head.cut).into_iter().nth(quantity))
        .all(|cell| matches!(cell.as_str(), "" | "1" | "2" | "4" | "8" | "16"))
}

/// The first table of a text whose cells are divided by a sign: its line, the sign and its columns.
fn divided_table(lines: &[&str], names: &Names<'_>) -> Option<(usize, char, usize)> {
    // recognising titles costs most: only lines that could be some
    (0..lines.len().min(500)).find_map(|at| {
        let head = head(lines, at, names)?;
        match head.cut {
            Cut::Char(sep @ (',' | '\t' | ';')) => Some((at, sep, head.columns.len())),
            _ => None,
        }
    })
}

/// The line at which a table divided by a sign is cut: a cell is opened and never closed, or the last
/// line of the text has fewer cells than the titles.
pub(crate) fn cut_line(lines: &[&str], names: &Names<'_>) -> Option<u64> {
    let (at, sep, width) = divided_table(lines, names)?;
    let open = crate::table::open_quote(&lines[at..].join("\n"), sep as u8);
    open.map(|line| at as u64 + line)
        .or_else(|| short_last_row(lines, at, sep, width))
}

/// The last line of the text, if it belongs to the table and stops early. Remarks and sums are no rows.
fn short_last_row(lines: &[&str], at: usize, sep: char, width: usize) -> Option<u64> {
    let last = lines.iter().rposition(|l| !l.trim().is_empty())?;
    let rows = lines.get(at + 1..=last)?;
    let row = |l: &str| cells(l.trim_end_matches('\r'), Cut::Char(sep));
    let whole = |l: &&str| row(l).len() >= width;
    // cut within its first cell it holds no separator at all: then nothing may be said of it
    let short = row(rows.last()?);
    let remark = short
        .iter()
        .any(|c| is_sentence(c) || c.contains([':', '：', '。']) || c.starts_with(['#', '*']))
        || SUMS.contains(&super::fold::fold(&short[0]).trim());
    let before = &rows[..rows.len() - 1];
    let cut = (2..width).contains(&short.len())
        && !remark
        && before.iter().all(|l| !l.trim().is_empty())
        && (before.iter().all(whole) || lines.last().is_some_and(|l| !l.is_empty()));
    cut.then_some(last as u64 + 1)
}

/// A table divided by signs ends the text, and its last row has no line break: the price may be cut.
/// A `.txt` is typed by hand, where the last line break is left out more often than not: there the last row
/// must also look unlike the others.
pub(crate) fn unfinished(text: &str, file: &str, lines: &[&str], names: &Names<'_>) -> bool {
    if text.ends_with(['\n', '\r']) {
        return false;
    }
    if file.to_ascii_lowercase().ends_with(".txt") {
        return last_row_differs(lines, names);
    }
    divided_table(lines, names).is_some_and(|(at, sep, width)| {
        lines.len() > at + 1
            && lines[at..].iter().all(|l| l.contains(sep))
            && lines
                .last()
                .is_some_and(|l| cells(l, Cut::Char(sep)).len() >= width)
    })
}

/// Whether the last line of the text is a row of a table, the only one with fewer cells than the titles, or the
/// only one whose last cell ends otherwise than in all rows before: `20.` below `18.50` and `19.00`.
fn last_row_differs(lines: &[&str], names: &Names<'_>) -> bool {
    let found = (0..lines.len().min(500)).find_map(|at| Some((at, head(lines, at, names)?)));
    let Some((at, head)) = found else {
        return false;
    };
    let rows: Vec<Vec<String>> = lines
        .get(at + head.lines..)
        .unwrap_or_default()
        .iter()
        .take_while(|l| divided(l, head.cut))
        .map(|l| cells(l, head.cut))
        .collect();
    let Some((last, before)) = rows.split_last().filter(|(_, before)| before.len() >= 2) else {
        return false;
    };
    // the table must be what ends the text, and its rows alike
    let width = head.columns.len();
    if at + head.lines + rows.len() != lines.len() || before.iter().any(|r| r.len() != width) {
        return false;
    }
    fn end(row: &[String]) -> Option<(Option<usize>, &str)> {
        row.last().map(|cell| ending(cell))
    }
    let usual = end(&before[0]);
    let alike = before.iter().all(|row| end(row) == usual);
    last.len() < width || (alike && end(last) != usual)
}

/// How a cell ends: the number of decimals and what stands behind them; words are all alike.
fn ending(cell: &str) -> (Option<usize>, &str) {
    let Some(digit) = cell.rfind(|c: char| c.is_ascii_digit()) else {
        return (None, "");
    };
    let (number, rest) = cell.split_at(digit + 1);
    let decimals = number
        .rsplit_once('.')
        .map(|(_, part)| part)
        .filter(|part| part.bytes().all(|b| b.is_ascii_digit()))
        .map(str::len);
    (decimals, rest)
}

/// First cells of rows that add up the others, folded.
const SUMS: &[&str] = &["合计", "总计", "小计", "total", "subtotal", "sum"];

fn divided(line: &str, cut: Cut) -> bool {
    match cut {
        Cut::Bar => line.contains('|'),
        Cut::Char(c) => line.contains(c),
        Cut::Blanks => line.trim().contains("  "),
    }
}

/// A row of a table whose titles name no price.
fn loose_row(
    line: &str,
    number: u64,
    cells: &[String],
    head: &Head,
    around: &Around,
    doc: &Doc<'_>,
    found: &mut Found,
) {
    let mut around = around.clone();
    let mut any = false;
    for (i, cell) in cells.iter().enumerate() {
        let folded = super::fold::fold(cell);
        if i == 0 && around.facts.provider.is_none() {
            around.facts.provider = doc.names.provider_named(&folded);
        }
        if let Some(Some(c)) = head.columns.get(i)
            && c.role == Role::Provider
        {
            around.facts.provider = doc
                .names
                .provider_named(&folded)
                .or_else(|| Some(super::cells::clean(cell)));
        }
        let toks = lex::lex(&folded, doc.names, false);
        any |= !price::amounts(&toks, false).is_empty();
    }
    if any {
        super::prose::line(line, number, &mut around, doc, found);
    } else {
        found.ignored_lines += 1;
    }
}
