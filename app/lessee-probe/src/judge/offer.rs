//! Which offer is meant: one of the catalog by its name, or a line of a quote, which is read as `catalog import` does.

use crate::{Facts, ProbeFailure};
use lessee_catalog::{CatalogError, ImportContext};
use lessee_model::{Machine, ProbeReport};
use std::path::Path;

/// What was promised; more than one where a quote has several machines and no line was named.
pub(crate) struct Promise {
    offers: Vec<Promised>,
    /// Lines of the quote in which no price was found: what they promise is not held against anything.
    pub(crate) unread_lines: u64,
}

pub(crate) struct Promised {
    /// For people: the key, or file, line and key.
    pub(crate) name: String,
    /// How a plan finds it.
    pub(crate) key: String,
    pub(crate) machine: Machine,
}

/// What a report makes of a promise.
pub(crate) enum Choice<'a> {
    One {
        offer: &'a Promised,
        /// The only one of them that has the GPUs that were seen.
        of_several: bool,
    },
    /// Their names.
    Several(String),
}

impl Promise {
    /// `text`: `provider/instance_type`, with or without `@region`; or `FILE`, or `FILE#LINE` of a quote.
    ///
    /// # Errors
    /// Neither an offer nor a file has this name, or the file has no offer that could be read for sure.
    pub(crate) fn of(text: &str, facts: &lessee_catalog::Facts) -> Result<Promise, ProbeFailure> {
        let unknown = match lessee_catalog::named(&facts.catalog, text) {
            Ok(offer) => {
                return Ok(Promise {
                    unread_lines: 0,
                    offers: vec![Promised {
                        name: offer.key(),
                        key: text.to_owned(),
                        machine: facts.catalog.machine(offer).clone(),
                    }],
                });
            }
            Err(CatalogError::NoOffer { suggestion, .. }) => ProbeFailure::NoOffer {
                offer: text.to_owned(),
                meant: suggestion,
            },
            Err(other) => return Err(ProbeFailure::Catalog(other)),
        };
        // a file may have the sign in its own name
        let (file, line) = match text.rsplit_once('#') {
            Some((file, line)) if !Path::new(text).exists() => match line.parse::<u64>() {
                Ok(line) => (file, Some(line)),
                Err(_) => return Err(unknown),
            },
            _ => (text, None),
        };
        if !Path::new(file).exists() {
            return Err(unknown);
        }
        quote(file, line, facts)
    }

    /// The offer that a report is to be held against.
    pub(crate) fn choose(&self, report: &ProbeReport, facts: Facts<'_>) -> Choice<'_> {
        if let [offer] = self.offers.as_slice() {
            return Choice::One {
                offer,
                of_several: false,
            };
        }
        let fits = |o: &&Promised| lessee_accept::fits(report, &o.machine, facts.gpus);
        let fitting: Vec<&Promised> = self.offers.iter().filter(fits).collect();
        if let [offer] = fitting.as_slice() {
            return Choice::One {
                offer,
                of_several: true,
            };
        }
        let names: Vec<&str> = self.offers.iter().take(20).map(|o| &*o.name).collect();
        Choice::Several(names.join("; "))
    }
}

fn quote(
    file: &str,
    line: Option<u64>,
    facts: &lessee_catalog::Facts,
) -> Result<Promise, ProbeFailure> {
    let bytes = lessee_catalog::read_path(Path::new(file)).map_err(ProbeFailure::Catalog)?;
    let cx = ImportContext {
        facts,
        provider: None,
        as_of: None,
        currency: None,
    };
    let read = lessee_catalog::import(&bytes, file, &cx, None).map_err(ProbeFailure::Catalog)?;
    let none = || ProbeFailure::QuoteEmpty {
        file: file.to_owned(),
    };
    if read.catalog.offers.is_empty() {
        return Err(none());
    }
    let mut offers: Vec<Promised> = Vec::new();
    let mut lines = Vec::new();
    for offer in &read.catalog.offers {
        let written = |q: &&lessee_model::quote::QuotedOffer| {
            offer.original.as_deref() == Some(q.original.as_str())
        };
        let at = read.doc.offers.iter().find(written).map(|q| q.line);
        lines.extend(at);
        if line.is_some() && at != line {
            continue;
        }
        let machine = read.catalog.machine(offer);
        // another price of the same machine promises nothing else
        if offers.iter().any(|o| o.machine == *machine) {
            continue;
        }
        let at = at.map(|n| format!("#{n}")).unwrap_or_default();
        offers.push(Promised {
            name: format!("{file}{at} {}", lessee_model::offer::machine_label(machine)),
            key: offer.key(),
            machine: machine.clone(),
        });
    }
    match line {
        Some(line) if offers.is_empty() => Err(ProbeFailure::QuoteLine {
            file: file.to_owned(),
            line,
            lines: list(&lines),
        }),
        _ => Ok(Promise {
            offers,
            unread_lines: read.doc.ignored_lines,
        }),
    }
}

fn list(lines: &[u64]) -> String {
    let list: Vec<String> = lines.iter().take(20).map(u64::to_string).collect();
    list.join(", ")
}
