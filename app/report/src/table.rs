//! A table before it is drawn: columns with stable keys (for `--columns`, `--sort` and CSV), cells with a
//! text for people and a raw value for machines.

use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Align {
    #[default]
    Left,
    Right,
}

/// How a cell stands out. Colour only repeats what the text already says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    Strong,
    Dim,
    Good,
    Warn,
    Bad,
}

#[derive(Clone, Debug)]
pub struct Column {
    /// The same in every language.
    pub key: &'static str,
    pub title: String,
    pub align: Align,
    /// 0 = always shown; columns with the highest number go first when the terminal is narrow.
    /// [`Column::MACHINES`] = only in CSV, or when asked for by `--columns`.
    pub rank: u8,
}

impl Column {
    pub const MACHINES: u8 = u8::MAX;

    /// A column for CSV: people see the same in another column.
    pub fn machines(key: &'static str, title: impl Into<String>) -> Column {
        Column::left(key, title, Column::MACHINES)
    }

    pub fn left(key: &'static str, title: impl Into<String>, rank: u8) -> Column {
        Column {
            key,
            title: title.into(),
            align: Align::Left,
            rank,
        }
    }

    pub fn right(key: &'static str, title: impl Into<String>, rank: u8) -> Column {
        Column {
            key,
            title: title.into(),
            align: Align::Right,
            rank,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub text: String,
    /// A second line under the text; a terminal breaks there, elsewhere a comma stands between.
    pub below: String,
    /// What CSV holds and sorting compares; empty = not known, sorts last.
    pub raw: String,
    pub tone: Tone,
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell {
            raw: text.clone(),
            text,
            below: String::new(),
            tone: Tone::Plain,
        }
    }

    #[must_use]
    pub fn raw(mut self, raw: impl Into<String>) -> Cell {
        self.raw = raw.into();
        self
    }

    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Cell {
        self.tone = tone;
        self
    }

    /// Not known: a dash for people, nothing for machines.
    pub fn unknown() -> Cell {
        Cell {
            text: "–".to_owned(),
            raw: String::new(),
            below: String::new(),
            tone: Tone::Dim,
        }
    }

    #[must_use]
    pub fn below(mut self, text: impl Into<String>) -> Cell {
        self.below = text.into();
        self
    }

    /// Both lines in one.
    pub(crate) fn whole(&self) -> std::borrow::Cow<'_, str> {
        if self.below.is_empty() {
            std::borrow::Cow::Borrowed(&self.text)
        } else {
            std::borrow::Cow::Owned(format!("{}, {}", self.text, self.below))
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::new(text)
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::new(text)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    /// Only the terminal shortens a table, and says so; the other formats have all of `rows`.
    pub head: Option<Head>,
}

/// How much of a long table a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Rows drawn.
    pub shown: usize,
    /// Rows there are; more than [`Table::rows`] holds where nobody needs the rest.
    pub total: usize,
    /// The command has `--limit` and `--all`; else only `-o json` has all rows.
    pub by_flag: bool,
}

impl Table {
    pub fn new(columns: Vec<Column>) -> Table {
        Table {
            columns,
            rows: Vec::new(),
            head: None,
        }
    }

    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|c| c.key)
    }

    /// The table as people see it: without the columns that are only for machines.
    pub fn for_people(&self) -> Table {
        let keep: Vec<usize> = (0..self.columns.len())
            .filter(|i| self.columns[*i].rank < Column::MACHINES)
            .collect();
        Table {
            columns: keep.iter().map(|i| self.columns[*i].clone()).collect(),
            rows: self
                .rows
                .iter()
                .map(|r| keep.iter().map(|i| r[*i].clone()).collect())
                .collect(),
            head: self.head,
        }
    }

    /// Keeps these columns, in this order, none of them optional any more.
    ///
    /// # Errors
    /// The first key that the table does not have.
    pub fn select(&mut self, keys: &[String]) -> Result<(), String> {
        let indices: Vec<usize> = keys
            .iter()
            .map(|key| {
                self.columns
                    .iter()
                    .position(|c| c.key == key)
                    .ok_or_else(|| key.clone())
            })
            .collect::<Result<_, _>>()?;
        self.columns = indices
            .iter()
            .map(|i| Column {
                rank: 0,
                ..self.columns[*i].clone()
            })
            .collect();
        for row in &mut self.rows {
            *row = indices.iter().map(|i| row[*i].clone()).collect();
        }
        Ok(())
    }

    /// Sorts by a column, `-key` for descending; numbers as numbers, what is not known always last.
    ///
    /// # Errors
    /// The key, if the table does not have it.
    pub fn sort(&mut self, key: &str) -> Result<(), String> {
        let (name, descending) = key
            .strip_prefix('-')
            .map_or((key, false), |name| (name, true));
        let index = self
            .columns
            .iter()
            .position(|c| c.key == name)
            .ok_or_else(|| name.to_owned())?;
        self.rows
            .sort_by(|a, b| compare(&a[index].raw, &b[index].raw, descending));
        Ok(())
    }
}

fn compare(a: &str, b: &str, descending: bool) -> Ordering {
    let order = match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        _ => match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => x.total_cmp(&y),
            _ => a.cmp(b),
        },
    };
    if descending { order.reverse() } else { order }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut t = Table::new(vec![
            Column::left("name", "Name", 0),
            Column::right("price", "Price", 1),
        ]);
        for (name, price) in [("b", "10"), ("a", "9"), ("c", "")] {
            t.push(vec![name.into(), Cell::new(price)]);
        }
        t
    }

    #[test]
    fn sorts_numbers_as_numbers_and_unknown_last_both_ways() {
        let names = |t: &Table| t.rows.iter().map(|r| r[0].text.clone()).collect::<String>();
        let mut t = table();
        t.sort("price").expect("column");
        assert_eq!(names(&t), "abc");
        t.sort("-price").expect("column");
        assert_eq!(names(&t), "bac");
        assert_eq!(t.sort("cost"), Err("cost".to_owned()));
    }

    #[test]
    fn selects_in_the_order_asked_for() {
        let mut t = table();
        t.select(&["price".into(), "name".into()]).expect("columns");
        assert_eq!(t.keys().collect::<Vec<_>>(), ["price", "name"]);
        assert_eq!(t.rows[0][1].text, "b");
        assert_eq!(t.select(&["nmae".into()]), Err("nmae".to_owned()));
    }
}
