//! Fits a table and paragraphs into a number of terminal columns. A wide character takes two; nothing is
//! cut off: cells wrap, and columns that had to go are named.

use crate::{Align, Column, Table, Tone, clean};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const GAP: usize = 2;
/// Narrower than this a column is not readable.
const NARROWEST: usize = 8;
/// Words shrink down to this before numbers do.
const WORDY: usize = 16;
/// A longer text does not push other columns out: it wraps.
const LONGEST_WISH: usize = 26;

pub(crate) struct Fitted {
    pub(crate) text: String,
    /// Titles of the columns that did not fit.
    pub(crate) hidden: Vec<String>,
}

/// Draws the table, at most `width` columns wide wherever that is possible.
pub(crate) fn draw(table: &Table, width: usize, colour: bool) -> Fitted {
    let drawn = table
        .head
        .map_or(table.rows.len(), |h| h.shown.min(table.rows.len()));
    let rows = &table.rows[..drawn];
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|c| {
                    let one_line = |text: &str| clean(text).replace('\n', " ");
                    if c.below.is_empty() {
                        one_line(&c.text)
                    } else {
                        format!("{}\n{}", one_line(&c.text), one_line(&c.below))
                    }
                })
                .collect()
        })
        .collect();
    let natural: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(i, c)| {
            cells
                .iter()
                .map(|row| {
                    row[i]
                        .split('\n')
                        .map(UnicodeWidthStr::width)
                        .max()
                        .unwrap_or(0)
                })
                .max()
                .unwrap_or(0)
                .max(c.title.width())
        })
        .collect();
    let (shown, widths) = choose(table, &natural, width);
    let mut out = String::new();
    let titles: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
    put_row(
        &mut out,
        table,
        &shown,
        &widths,
        &titles,
        |_| if colour { Tone::Strong } else { Tone::Plain },
        colour,
    );
    let rule: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
    out.push_str(&rule.join(&" ".repeat(GAP)));
    out.push('\n');
    for (row, texts) in rows.iter().zip(&cells) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        put_row(
            &mut out,
            table,
            &shown,
            &widths,
            &texts,
            |i| row[i].tone,
            colour,
        );
    }
    let hidden = (0..table.columns.len())
        .filter(|i| !shown.contains(i) && table.columns[*i].rank < Column::MACHINES)
        .map(|i| table.columns[i].title.clone())
        .collect();
    Fitted { text: out, hidden }
}

/// Which columns are shown and how wide: first drop the dispensable ones, then let the widest wrap.
fn choose(table: &Table, natural: &[usize], width: usize) -> (Vec<usize>, Vec<usize>) {
    let rank = |i: usize| table.columns[i].rank;
    let mut shown: Vec<usize> = (0..table.columns.len())
        .filter(|i| rank(*i) < Column::MACHINES)
        .collect();
    // a long text column may wrap before another column has to go
    let wish = |i: usize| natural[i].min(LONGEST_WISH);
    let total = |shown: &[usize]| {
        shown.iter().map(|i| wish(*i)).sum::<usize>() + GAP * shown.len().saturating_sub(1)
    };
    while total(&shown) > width {
        let dispensable = shown.iter().copied().filter(|i| rank(*i) > 0);
        let Some(last) = dispensable.max_by_key(|i| (rank(*i), *i)) else {
            break;
        };
        shown.retain(|i| *i != last);
    }
    let mut widths: Vec<usize> = shown.iter().map(|i| natural[*i]).collect();
    let gaps = GAP * shown.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        // words wrap better than numbers
        let wordy = |position: &usize| {
            table.columns[shown[*position]].align == Align::Left && widths[*position] > WORDY
        };
        let widest = (0..widths.len())
            .filter(wordy)
            .max_by_key(|p| widths[*p])
            .or_else(|| (0..widths.len()).max_by_key(|p| widths[*p]));
        let Some(widest) = widest.filter(|p| widths[*p] > NARROWEST) else {
            break;
        };
        widths[widest] -= 1;
    }
    (shown, widths)
}

fn put_row(
    out: &mut String,
    table: &Table,
    shown: &[usize],
    widths: &[usize],
    texts: &[&str],
    tone: impl Fn(usize) -> Tone,
    colour: bool,
) {
    let wrapped: Vec<Vec<String>> = shown
        .iter()
        .zip(widths)
        .map(|(i, w)| wrap(texts[*i], *w))
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
    for line in 0..height {
        let mut text = String::new();
        for (position, (index, width)) in shown.iter().zip(widths).enumerate() {
            let part = wrapped[position].get(line).map_or("", String::as_str);
            let pad = " ".repeat(width.saturating_sub(part.width()));
            let painted = paint(part, tone(*index), colour);
            if position > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            match table.columns[*index].align {
                Align::Left => text.push_str(&format!("{painted}{pad}")),
                Align::Right => text.push_str(&format!("{pad}{painted}")),
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}

/// ANSI colour around a text, where colours are wanted.
pub(crate) fn paint(text: &str, tone: Tone, colour: bool) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        _ if !colour || text.is_empty() => return text.to_owned(),
        Tone::Strong => "1",
        Tone::Dim => "2",
        Tone::Good => "32",
        Tone::Warn => "33",
        Tone::Bad => "31",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Breaks at blanks, between wide characters, and inside a word only if it is longer than a line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut rest = paragraph;
        while rest.width() > width {
            let (cut, next) = break_point(rest, width);
            lines.push(rest[..cut].trim_end().to_owned());
            rest = rest[next..].trim_start();
        }
        lines.push(rest.to_owned());
    }
    lines
}

/// Byte offsets: end of the line, start of the next. Blanks, `/`, `@` and wide characters are better places
/// than hyphens, hyphens better than the middle of a word.
fn break_point(text: &str, width: usize) -> (usize, usize) {
    let mut used = 0;
    let (mut good, mut poor) = (None, None);
    let mut before: Option<char> = None;
    for (offset, c) in text.char_indices() {
        let w = c.width().unwrap_or(0);
        let wide = w == 2 || before.is_some_and(|b| b.width() == Some(2));
        if offset > 0 && (matches!(c, ' ' | '@') || (wide && !closes(c))) {
            good = Some((offset, used));
        }
        if used + w > width {
            let hard = if offset == 0 { c.len_utf8() } else { offset };
            // a good place far to the left would leave the line half empty
            let at = match (good, poor) {
                (Some((at, columns)), None) if columns > 0 => at,
                (Some((at, columns)), Some(_)) if columns * 5 >= width * 2 => at,
                (_, Some(at)) => at,
                _ => hard,
            };
            return (at, at);
        }
        used += w;
        // not inside a number: 35,700
        let in_number = c == ','
            && before.is_some_and(|b| b.is_ascii_digit())
            && text[offset + 1..].starts_with(|n: char| n.is_ascii_digit());
        if matches!(c, '/' | ',' | ';' | '|') && !in_number {
            good = Some((offset + c.len_utf8(), used));
        } else if matches!(c, '-' | '_') {
            poor = Some(offset + c.len_utf8());
        }
        before = Some(c);
    }
    (text.len(), text.len())
}

/// Must not begin a line.
fn closes(c: char) -> bool {
    matches!(
        c,
        '。' | '，'
            | '、'
            | '：'
            | '；'
            | '）'
            | '」'
            | '”'
            | '！'
            | '？'
            | ')'
            | ','
            | '.'
            | ':'
            | ';'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        let mut t = Table::new(vec![
            Column::left("a", "提供商", 0),
            Column::right("b", "价格", 0),
        ]);
        t.push(vec!["阿里云".into(), "12.00".into()]);
        t.push(vec!["aws".into(), "3.00".into()]);
        let drawn = draw(&t, 80, false).text;
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[0], "提供商   价格");
        assert_eq!(lines[2], "阿里云  12.00");
        assert_eq!(lines[3], "aws      3.00");
    }

    #[test]
    fn never_wider_than_asked_and_nothing_lost() {
        let mut t = Table::new(vec![
            Column::left("key", "Key", 0),
            Column::left("note", "Note", 2),
            Column::left("source", "Source", 5),
        ]);
        let note = "有问题的报价需要再问一次 because the unit is not stated anywhere in the line";
        t.push(vec![
            "provider/some-instance-type.24xlarge@eu-central-1".into(),
            note.into(),
            "x".repeat(60).into(),
        ]);
        for width in [50, 60, 100] {
            let fitted = draw(&t, width, false);
            assert!(
                fitted.text.lines().all(|l| l.width() <= width),
                "{}",
                fitted.text
            );
        }
        assert_eq!(draw(&t, 50, false).hidden, ["Note", "Source"]);
        let wide = draw(&t, 60, false);
        assert_eq!(
            wide.hidden,
            ["Source"],
            "a text wraps before its column has to go"
        );
        assert!(draw(&t, 100, false).hidden.is_empty());
        let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).count();
        assert!(letters(&wide.text) >= letters(note));
    }

    #[test]
    fn wraps_without_losing_letters() {
        for text in [
            "a b c d e f g",
            "超长的中文句子没有空格也要换行，标点不在行首。",
            "averyveryverylongword x",
            "",
        ] {
            for width in 2..30 {
                let lines = wrap(text, width);
                assert!(
                    lines.iter().all(|l| l.width() <= width.max(2)),
                    "{lines:?} {width}"
                );
                let strip = |s: &str| s.replace(' ', "");
                assert_eq!(strip(&lines.concat()), strip(text));
            }
        }
    }
}
