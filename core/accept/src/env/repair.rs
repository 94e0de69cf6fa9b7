//! What the repairs would cost in people's hours: one row of `data/accept/repair.csv` a kind of repair. Hours are
//! assumptions of this project and say so; what is counted is what was found.

use crate::table::{Origin, TableError, read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kinds of repair, as the table names them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    Package,
    Requirement,
    Framework,
    Compile,
    Python,
    Toolkit,
    Driver,
    Look,
    Rebuild,
}

impl RepairKind {
    pub fn as_str(self) -> &'static str {
        match self {
            RepairKind::Package => "package",
            RepairKind::Requirement => "requirement",
            RepairKind::Framework => "framework",
            RepairKind::Compile => "compile",
            RepairKind::Python => "python",
            RepairKind::Toolkit => "toolkit",
            RepairKind::Driver => "driver",
            RepairKind::Look => "look",
            RepairKind::Rebuild => "rebuild",
        }
    }
}

/// Hours of people's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hours {
    pub low: f64,
    pub likely: f64,
    pub high: f64,
}

impl Hours {
    fn plus(self, other: Hours) -> Hours {
        Hours {
            low: self.low + other.low,
            likely: self.likely + other.likely,
            high: self.high + other.high,
        }
    }
}

/// The table, read.
#[derive(Clone, Debug)]
pub struct RepairTable(Vec<(String, Hours, Origin)>);

impl RepairTable {
    /// Reads `data/accept/repair.csv`.
    ///
    /// # Errors
    /// A row without a source, a date or a confidence, or with hours that are none.
    pub fn read(text: &str) -> Result<RepairTable, TableError> {
        let rows = read("repair.csv", text, |r| {
            let hours = Hours {
                low: r.need("hours_low")?,
                likely: r.need("hours_likely")?,
                high: r.need("hours_high")?,
            };
            if !(0.0 <= hours.low && hours.low <= hours.likely && hours.likely <= hours.high) {
                return Err("hours are out of order".to_owned());
            }
            Ok((r.need("repair")?, hours, r.origin()?))
        })?;
        Ok(RepairTable(rows))
    }

    fn hours(&self, kind: RepairKind) -> Hours {
        let row = self.0.iter().find(|(name, ..)| name == kind.as_str());
        row.map(|(_, hours, _)| *hours).unwrap_or_default()
    }

    fn source(&self) -> Option<String> {
        let (_, _, origin) = self.0.first()?;
        Some(format!("{} ({})", origin.source, origin.as_of))
    }
}

/// One repair that was found to be due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub kind: RepairKind,
    pub subject: String,
    pub line: Option<String>,
}

/// One repair with its hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepairItem {
    pub repair: RepairKind,
    pub subject: String,
    pub hours: Hours,
    /// The line that does it, where one does.
    pub line: Option<String>,
}

/// All repairs together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepairPlan {
    pub items: Vec<RepairItem>,
    /// Of all items; where building anew is likely to take less, of that and of what it cannot mend.
    pub hours: Hours,
    /// Building a new environment is likely to take less than all single repairs.
    pub rebuild: bool,
    /// What `plan` knows it as: `ready` (nothing to do), `adapt`, `bare` (no framework at all).
    pub image: String,
    pub source: Option<String>,
}

/// Adds up what is due; `bare`: there is no framework to repair.
pub(crate) fn plan(due: Vec<Due>, bare: bool, table: &RepairTable) -> RepairPlan {
    let mut items: Vec<RepairItem> = Vec::new();
    for one in due {
        let same = |i: &RepairItem| {
            i.repair == one.kind
                && (i.subject == one.subject || (one.line.is_some() && i.line == one.line))
        };
        if !items.iter().any(same) {
            items.push(RepairItem {
                repair: one.kind,
                subject: one.subject,
                hours: table.hours(one.kind),
                line: one.line,
            });
        }
    }
    let sum = |of: &dyn Fn(RepairKind) -> bool| {
        let those = items.iter().filter(|i| of(i.repair));
        those.fold(Hours::default(), |sum, i| sum.plus(i.hours))
    };
    let all = sum(&|_| true);
    // a new image does not change the host
    let stays = |k| matches!(k, RepairKind::Driver | RepairKind::Look);
    let anew = sum(&stays).plus(table.hours(RepairKind::Rebuild));
    let rebuild = anew.likely < all.likely;
    RepairPlan {
        hours: if rebuild { anew } else { all },
        rebuild,
        image: match (items.is_empty(), bare) {
            (_, true) => "bare",
            (true, false) => "ready",
            (false, false) => "adapt",
        }
        .to_owned(),
        items,
        source: table.source(),
    }
}
