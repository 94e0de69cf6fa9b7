//! Reading the built-in tables: a defect here is a bug of lessee, so every error names file and line.

use crate::CatalogError;
use crate::build::Interner;
use crate::table::Table;
use lessee_model::{AsOf, Basis, Confidence, Currency, Fixed, Money, Provenance};
use std::cell::RefCell;
use std::str::FromStr;
use std::sync::Arc;

/// One record of a built-in table; cells by column name.
pub(super) struct Row<'a> {
    table: &'a Table<'static>,
    strings: &'a RefCell<Interner>,
    memo: &'a Memo,
}

/// What stays the same from row to row: places of columns, and mostly the provenance.
#[derive(Default)]
struct Memo {
    columns: RefCell<Vec<(&'static str, usize)>>,
    why: RefCell<Option<([String; 3], Provenance)>>,
}

/// Runs `each` over the records of a table.
pub(super) fn read(
    file: &'static str,
    text: &'static str,
    strings: &RefCell<Interner>,
    mut each: impl FnMut(Row<'_>) -> Result<(), String>,
) -> Result<(), CatalogError> {
    let wrong = |line, what| CatalogError::BuiltIn { file, line, what };
    let mut table = Table::open(text, file).map_err(|e| wrong(0, e.to_string()))?;
    let memo = Memo::default();
    while let Some(line) = table.advance().map_err(|e| wrong(0, e.to_string()))? {
        let row = Row {
            table: &table,
            strings,
            memo: &memo,
        };
        each(row).map_err(|what| wrong(line, what))?;
    }
    Ok(())
}

impl Row<'_> {
    pub(super) fn get(&self, column: &'static str) -> Result<&str, String> {
        let mut columns = self.memo.columns.borrow_mut();
        // a name in the code is the same text in the same place each time
        if let Some((_, at)) = columns.iter().find(|(name, _)| std::ptr::eq(*name, column)) {
            return Ok(self.table.cell(*at));
        }
        let at = self
            .table
            .header()
            .iter()
            .position(|h| h == column)
            .ok_or_else(|| format!("no column {column}"))?;
        columns.push((column, at));
        Ok(self.table.cell(at))
    }

    pub(super) fn text(&self, column: &'static str) -> Result<Arc<str>, String> {
        Ok(self.strings.borrow_mut().get(self.get(column)?))
    }

    pub(super) fn opt_text(&self, column: &'static str) -> Result<Option<Arc<str>>, String> {
        Ok(self.strings.borrow_mut().opt(self.get(column)?))
    }

    /// `None` for a blank cell.
    pub(super) fn opt<T: FromStr>(&self, column: &'static str) -> Result<Option<T>, String> {
        let cell = self.get(column)?;
        if cell.is_empty() {
            return Ok(None);
        }
        cell.parse()
            .map(Some)
            .map_err(|_| format!("{column}: `{cell}`"))
    }

    pub(super) fn need<T: FromStr>(&self, column: &'static str) -> Result<T, String> {
        self.opt(column)?
            .ok_or_else(|| format!("{column} is blank"))
    }

    pub(super) fn opt_money(&self, column: &'static str) -> Result<Option<Money>, String> {
        let Some(amount) = self.opt::<Fixed>(column)? else {
            return Ok(None);
        };
        Ok(Some(Money::new(amount, self.need::<Currency>("currency")?)))
    }

    pub(super) fn confidence(&self, column: &'static str) -> Result<Confidence, String> {
        match self.get(column)? {
            "verified" => Ok(Confidence::Verified),
            "secondary" => Ok(Confidence::Secondary),
            "general" => Ok(Confidence::General),
            // nobody vouched for a blank one
            "unverified" | "" => Ok(Confidence::Unverified),
            other => Err(format!("{column}: `{other}`")),
        }
    }

    /// Source, date and confidence of the row.
    pub(super) fn why(&self) -> Result<Provenance, String> {
        let cells = [
            self.get("source")?,
            self.get("as_of")?,
            self.get("confidence")?,
        ];
        let mut last = self.memo.why.borrow_mut();
        if let Some((_, why)) = last.as_ref().filter(|(seen, _)| seen == &cells) {
            return Ok(why.clone());
        }
        let source = self.text("source")?;
        let basis = if &*source == "assumed" {
            Basis::Assumed
        } else {
            Basis::Published
        };
        let why = Provenance::new(
            basis,
            self.confidence("confidence")?,
            source,
            self.opt::<AsOf>("as_of")?,
        );
        *last = Some((cells.map(str::to_owned), why.clone()));
        Ok(why)
    }
}
