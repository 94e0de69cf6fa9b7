//! Which format a text is in, by what stands in it, not by how the file is called.

use crate::CatalogError;
use crate::table::plain;
use std::fmt;
use std::str::FromStr;

/// The formats that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// SkyPilot catalog v8, `vms.csv` of one cloud.
    SkyPilot,
    /// gpuhunt catalog v2.
    GpuHunt,
    /// A bill with FOCUS columns, 1.0 to 1.4.
    Focus,
    /// The canonical offer table, see `catalog export`.
    Offers,
    /// A quote as people write it: table, YAML, Markdown or prose.
    Quote,
}

impl Format {
    pub const ALL: [Format; 5] = [
        Format::SkyPilot,
        Format::GpuHunt,
        Format::Focus,
        Format::Offers,
        Format::Quote,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Format::SkyPilot => "skypilot",
            Format::GpuHunt => "gpuhunt",
            Format::Focus => "focus",
            Format::Offers => "offers",
            Format::Quote => "quote",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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

/// Recognises the format by the names in the first line; anything with words and a digit may be a quote.
///
/// # Errors
/// Nothing that could hold a price.
pub fn detect(text: &str, name: &str) -> Result<Format, CatalogError> {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    let columns: Vec<String> = first
        .split(',')
        .map(|c| plain(c.trim().trim_matches('"')))
        .collect();
    let has = |names: &[&str]| names.iter().all(|n| columns.iter().any(|c| c == n));
    if has(&["gpumodel", "gpucount", "purchase", "price", "currency"]) {
        Ok(Format::Offers)
    } else if has(&["acceleratorname"]) && (has(&["instancetype"]) || has(&["clouds"])) {
        Ok(Format::SkyPilot)
    } else if has(&["instancename", "location", "price", "gpuname", "spot"]) {
        Ok(Format::GpuHunt)
    } else if has(&["billedcost", "chargeperiodstart"]) || has(&["effectivecost", "chargecategory"])
    {
        Ok(Format::Focus)
    } else if text.chars().any(|c| c.is_ascii_digit()) && text.chars().any(char::is_alphabetic) {
        Ok(Format::Quote)
    } else {
        Err(CatalogError::UnknownFormat {
            file: name.to_owned(),
            header: first.chars().take(120).collect(),
        })
    }
}
