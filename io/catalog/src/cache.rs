//! A parsed snapshot in binary: a string table and one column per field, decoded in one pass.
//!
//! The cache is never trusted: name, size and time of the table it was made from, the version of this
//! crate and a checksum must all agree, else the table is parsed again. Not being able to write it is
//! no error.

use lessee_model::{
    Catalog, Currency, Fixed, Machine, MachineId, Market, Money, Offer, Origin, Price, Provenance,
    Purchase, TaxNote,
};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Columns of offers (`provider` to `prices`) and of prices (`purchase` to `why`).
#[derive(Default, Serialize, Deserialize)]
struct Columns {
    /// All distinct strings, one after the other, and where each ends.
    text: String,
    ends: Vec<u32>,
    machines: Vec<Machine>,
    whys: Vec<Provenance>,
    currencies: Vec<Currency>,

    provider: Vec<u32>,
    region: Vec<u32>,
    instance_type: Vec<u32>,
    machine: Vec<u32>,
    market: Vec<Market>,
    /// 0 = none, else string + 1
    original: Vec<u32>,
    note: Vec<u32>,
    /// How many prices belong to the offer.
    prices: Vec<u8>,

    purchase: Vec<Purchase>,
    amount: Vec<i128>,
    currency: Vec<u8>,
    upfront: Vec<Option<f32>>,
    high: Vec<Option<i128>>,
    tax: Vec<TaxNote>,
    why: Vec<u32>,
}

/// What a cache file must say about the table it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) file: String,
    pub(crate) size: u64,
    pub(crate) modified_ns: u128,
}

impl Stamp {
    fn line(&self) -> String {
        format!(
            "lessee-offers-cache {} {} {} {}\n",
            env!("CARGO_PKG_VERSION"),
            self.size,
            self.modified_ns,
            self.file.replace('\n', " ")
        )
    }
}

/// Which offers of a cached table are wanted: most commands need all, a filtered list a few.
#[derive(Clone, Copy)]
pub(crate) enum Keep<'a> {
    All,
    /// Offers of these machines, and those of an instance type that is listed: they may replace an
    /// offer of a lower layer.
    Some {
        machine: &'a dyn Fn(&Machine) -> bool,
        instance_types: &'a HashSet<Arc<str>>,
    },
}

/// The cached catalog, if it is there, whole and made from exactly this table.
///
/// All machines are kept; of the offers only those that `keep` asks for are made.
pub(crate) fn read(path: &Path, stamp: &Stamp, origin: &Origin, keep: Keep<'_>) -> Option<Catalog> {
    decode(&std::fs::read(path).ok()?, stamp, origin, keep)
}

/// Writes the cache beside others; failures are of no consequence.
pub(crate) fn write(path: &Path, stamp: &Stamp, catalog: &Catalog) {
    let Some(bytes) = encode(stamp, catalog) else {
        return;
    };
    let Some(folder) = path.parent() else { return };
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    if std::fs::write(&temporary, bytes).is_err() || std::fs::rename(&temporary, path).is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
}

fn encode(stamp: &Stamp, catalog: &Catalog) -> Option<Vec<u8>> {
    let columns = freeze(catalog)?;
    let body = postcard::to_stdvec(&columns).ok()?;
    let mut out = stamp.line().into_bytes();
    out.extend(checksum(&body).to_le_bytes());
    out.extend(body);
    Some(out)
}

fn decode(bytes: &[u8], stamp: &Stamp, origin: &Origin, keep: Keep<'_>) -> Option<Catalog> {
    let rest = bytes.strip_prefix(stamp.line().as_bytes())?;
    let (sum, body) = rest.split_at_checked(8)?;
    if checksum(body).to_le_bytes() != sum {
        return None;
    }
    thaw(postcard::from_bytes(body).ok()?, origin, keep)
}

/// Finds accidental damage; it is no protection against forgery, and the cache needs none.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0x9e37_79b9_7f4a_7c15u64 ^ bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    let mut mix = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        sum ^= sum >> 32;
    };
    for chunk in &mut chunks {
        mix(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    }
    for byte in chunks.remainder() {
        mix(u64::from(*byte));
    }
    sum
}

/// `None` for a catalog too large for the columns (never in practice).
fn freeze(catalog: &Catalog) -> Option<Columns> {
    let mut c = Columns {
        machines: catalog.machines.clone(),
        ..Columns::default()
    };
    let mut strings: HashMap<Arc<str>, u32> = HashMap::new();
    let mut whys: HashMap<Arc<Provenance>, u32> = HashMap::new();
    for offer in &catalog.offers {
        let mut id = |text: &Arc<str>| -> Option<u32> {
            if let Some(known) = strings.get(text) {
                return Some(*known);
            }
            let new = u32::try_from(c.ends.len()).ok()?;
            c.text.push_str(text);
            c.ends.push(u32::try_from(c.text.len()).ok()?);
            strings.insert(text.clone(), new);
            Some(new)
        };
        c.provider.push(id(&offer.provider)?);
        c.region.push(id(&offer.region)?);
        c.instance_type.push(id(&offer.instance_type)?);
        let mut optional = |text: &Option<Arc<str>>| match text {
            None => Some(0),
            Some(text) => id(text)?.checked_add(1),
        };
        c.original.push(optional(&offer.original)?);
        c.note.push(optional(&offer.note)?);
        c.machine.push(offer.machine.0);
        c.market.push(offer.market);
        c.prices.push(u8::try_from(offer.prices.len()).ok()?);
        for price in &offer.prices {
            let currency = price.per_hour.currency;
            let at = match c.currencies.iter().position(|known| *known == currency) {
                Some(at) => at,
                None => {
                    c.currencies.push(currency);
                    c.currencies.len() - 1
                }
            };
            c.purchase.push(price.purchase);
            c.amount.push(price.per_hour.amount.raw());
            c.currency.push(u8::try_from(at).ok()?);
            c.upfront.push(price.upfront);
            c.high.push(price.high.map(|h| h.amount.raw()));
            c.tax.push(price.tax);
            let next = whys.len() as u32;
            c.why
                .push(*whys.entry(price.why.clone()).or_insert_with(|| {
                    c.whys.push((*price.why).clone());
                    next
                }));
        }
    }
    Some(c)
}

fn thaw(c: Columns, origin: &Origin, keep: Keep<'_>) -> Option<Catalog> {
    let mut texts: Vec<&str> = Vec::with_capacity(c.ends.len());
    let mut from = 0;
    for end in &c.ends {
        let end = *end as usize;
        texts.push(c.text.get(from..end)?);
        from = end;
    }
    // shared strings are made when an offer first needs them: most are not where few offers are kept
    let mut made: Vec<Option<Arc<str>>> = vec![None; texts.len()];
    let mut string = |id: u32| -> Option<Arc<str>> {
        let at = id as usize;
        let slot = made.get_mut(at)?;
        Some(slot.get_or_insert_with(|| Arc::from(texts[at])).clone())
    };
    let whys: Vec<Arc<Provenance>> = c.whys.into_iter().map(Arc::new).collect();
    let wanted: Option<(Vec<bool>, Vec<bool>)> = match keep {
        Keep::All => None,
        Keep::Some {
            machine,
            instance_types,
        } => Some((
            c.machines.iter().map(machine).collect(),
            texts.iter().map(|s| instance_types.contains(*s)).collect(),
        )),
    };
    let skip = |machine: u32, instance_type: u32| match &wanted {
        None => Some(false),
        Some((machines, types)) => {
            Some(!*machines.get(machine as usize)? && !*types.get(instance_type as usize)?)
        }
    };
    let mut offers = Vec::new();
    let mut p = 0;
    for i in 0..c.provider.len() {
        let count = usize::from(*c.prices.get(i)?);
        if skip(*c.machine.get(i)?, *c.instance_type.get(i)?)? {
            p += count;
            continue;
        }
        let mut prices = Vec::with_capacity(count);
        for _ in 0..count {
            let currency = *c.currencies.get(usize::from(*c.currency.get(p)?))?;
            let money = |raw: i128| Money::new(Fixed::from_raw(raw), currency);
            prices.push(Price {
                purchase: *c.purchase.get(p)?,
                per_hour: money(*c.amount.get(p)?),
                upfront: *c.upfront.get(p)?,
                high: c.high.get(p)?.map(money),
                tax: *c.tax.get(p)?,
                why: whys.get(*c.why.get(p)? as usize)?.clone(),
            });
            p += 1;
        }
        let machine = *c.machine.get(i)?;
        if machine as usize >= c.machines.len() {
            return None;
        }
        offers.push(Offer {
            provider: string(*c.provider.get(i)?)?,
            region: string(*c.region.get(i)?)?,
            instance_type: string(*c.instance_type.get(i)?)?,
            machine: MachineId(machine),
            market: *c.market.get(i)?,
            prices,
            origin: origin.clone(),
            original: match c.original.get(i)?.checked_sub(1) {
                None => None,
                Some(id) => Some(string(id)?),
            },
            note: match c.note.get(i)?.checked_sub(1) {
                None => None,
                Some(id) => Some(string(id)?),
            },
        });
    }
    Some(Catalog {
        machines: c.machines,
        offers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp() -> Stamp {
        Stamp {
            file: "a.csv".to_owned(),
            size: 10,
            modified_ns: 20,
        }
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        let facts = crate::builtin().expect("facts");
        let bytes = encode(&stamp(), &facts.catalog).expect("encoded");
        let back = decode(&bytes, &stamp(), &Origin::BuiltIn, Keep::All).expect("decoded");
        assert_eq!(back.machines, facts.catalog.machines);
        assert_eq!(back.offers, facts.catalog.offers);
    }

    #[test]
    fn a_stale_or_damaged_cache_is_ignored() {
        let facts = crate::builtin().expect("facts");
        let bytes = encode(&stamp(), &facts.catalog).expect("encoded");
        let later = Stamp {
            modified_ns: 21,
            ..stamp()
        };
        assert!(decode(&bytes, &later, &Origin::BuiltIn, Keep::All).is_none());
        for at in (0..bytes.len()).step_by(997) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(
                decode(&damaged, &stamp(), &Origin::BuiltIn, Keep::All).is_none(),
                "{at}"
            );
            assert!(decode(&bytes[..at], &stamp(), &Origin::BuiltIn, Keep::All).is_none());
        }
    }

    #[test]
    fn columns_that_do_not_fit_together_are_refused() {
        let facts = crate::builtin().expect("facts");
        let mut columns = freeze(&facts.catalog).expect("columns");
        columns.machine[5] = u32::MAX;
        assert!(thaw(columns, &Origin::BuiltIn, Keep::All).is_none());
        let mut columns = freeze(&facts.catalog).expect("columns");
        columns.region[5] = u32::MAX;
        assert!(thaw(columns, &Origin::BuiltIn, Keep::All).is_none());
        let mut columns = freeze(&facts.catalog).expect("columns");
        columns.amount.pop();
        assert!(thaw(columns, &Origin::BuiltIn, Keep::All).is_none());
    }
}
