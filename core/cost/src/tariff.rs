//! From tariff rows to the rules of one place.
//!
//! A row's `region` may be a glob: the longest literal part wins and `*` is the fallback. A price that is
//! published for another region of the same provider is not taken over: it stays unknown, with a range. So does
//! a price of which nothing could be verified; a billing rule of that kind stays in use with its mark, because
//! some rounding has to be taken and the difference is small.
//! Not here: applying the rules to quantities (`bill/`).

use crate::bill::HOURS_PER_MONTH;
use crate::elsewhere::{self, egress_prices, per_unit, storage_prices, unknown};
use jiff::Timestamp;
use lessee_model::tariff::{
    BillingRow, BillingRule, EgressRow, PerVolumeMonth, StorageRow, Tier, VolumeUnit,
};
use lessee_model::workload::Location;
use lessee_model::{
    BillingZone, Calendar, Confidence, Fixed, Known, Money, Msg, Provenance, Sourced, Tariff,
    TariffBook, Tiers, Unknown, glob_match,
};
use std::sync::Arc;

/// Everything but the machine price for one provider, region and machine size (`None` = size not known).
/// Costs some microseconds: keep the result for all offers of a place.
pub fn resolve_tariff(
    book: &TariffBook,
    provider: &str,
    region: &str,
    vcpus: Option<f32>,
) -> Tariff {
    let place = Place {
        book,
        provider,
        region,
    };
    Tariff {
        egress_internet: place.traffic("internet", &["world", "*"], "cost-unknown-egress"),
        egress_china: place.traffic("internet", &["china", "*", "world"], "cost-unknown-egress"),
        inter_region: place.traffic("inter_region", &["*", "world"], "cost-unknown-inter-region"),
        ingress: place.traffic("ingress", &["*", "world"], "cost-unknown-ingress"),
        public_ip: place.public_ip(),
        object_storage: place.volume("object", "cost-unknown-object-storage"),
        put_requests: place.requests("request_put"),
        get_requests: place.requests("request_get"),
        block_running: place.volume("block_running", "cost-unknown-block-storage"),
        block_stopped: place.volume("block_stopped", "cost-unknown-block-storage"),
        billing: place.billing(vcpus),
        boot: elsewhere::boot(book, provider),
        rounding_elsewhere_s: elsewhere::rounding(book),
        month_hours: book
            .month_hours
            .get(provider)
            .copied()
            .unwrap_or(HOURS_PER_MONTH)
            .max(1),
        months: book.month_rules.get(provider).copied().unwrap_or_default(),
        calendar: None,
        source_egress: None,
    }
}

/// The provider's billing months for a job that starts then (to be put into [`Tariff::calendar`]).
pub fn calendar(book: &TariffBook, provider: &str, start: Timestamp) -> Option<Calendar> {
    let zone = book.zones.get(provider).cloned();
    Calendar::new(start, zone.unwrap_or_else(BillingZone::assumed))
}

/// What the provider that holds the data charges for letting them out to `provider` (to be put into
/// [`Tariff::source_egress`]). `None` if the data lie with the user, on the internet, or with `provider`
/// itself: then nobody else's bill is touched.
pub fn source_egress(
    book: &TariffBook,
    location: &Location,
    provider: &str,
) -> Option<Known<Tiers>> {
    match location {
        Location::Provider {
            provider: source,
            region,
        } if source != provider => {
            let place = Place {
                book,
                provider: source,
                region: region.as_deref().unwrap_or("*"),
            };
            Some(place.traffic("internet", &["world", "*"], "cost-unknown-egress"))
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Place<'a> {
    book: &'a TariffBook,
    provider: &'a str,
    region: &'a str,
}

/// How specific a pattern is: the number of characters that are not wildcards.
fn literal_len(pattern: &str) -> usize {
    pattern.chars().filter(|c| !matches!(c, '*' | '?')).count()
}

impl<'a> Place<'a> {
    /// The pattern among `regions` that speaks for this region most exactly.
    fn best(&self, regions: impl Iterator<Item = &'a Arc<str>>) -> Option<&'a str> {
        regions
            .filter(|pattern| {
                pattern
                    .split(',')
                    .any(|p| glob_match(p.trim(), self.region))
            })
            .max_by_key(|pattern| literal_len(pattern))
            .map(|pattern| &**pattern)
    }

    /// The rows of a scope for the first destination that the provider names.
    fn rows(&self, scope: &'a str, destinations: &[&str]) -> Vec<&'a EgressRow> {
        let here = |r: &&EgressRow| *r.provider == *self.provider && *r.scope == *scope;
        for destination in destinations {
            let to = |r: &&EgressRow| here(r) && *r.destination == **destination;
            if let Some(region) = self.best(self.book.egress.iter().filter(to).map(|r| &r.region)) {
                return self
                    .book
                    .egress
                    .iter()
                    .filter(to)
                    .filter(|r| *r.region == *region)
                    .collect();
            }
        }
        Vec::new()
    }

    fn traffic(&self, scope: &'a str, destinations: &[&str], id: &'static str) -> Known<Tiers> {
        let rows = self.rows(scope, destinations);
        let missing = || unknown(id, self.provider, egress_prices(self.book, scope));
        let Some(first) = rows.first() else {
            return Err(missing());
        };
        let tiers = rows
            .iter()
            .map(|r| Tier {
                from: r.tier_from_gb,
                to: r.tier_to_gb,
                price: r.price,
            })
            .collect();
        let (allowance, tiers) = split_allowance(contiguous(tiers).ok_or_else(missing)?);
        let mut why = founded(rows.iter().map(|r| &r.why)).ok_or_else(missing)?;
        // a world price used for a destination that the provider does not name
        if *first.destination != *destinations[0] && *first.destination != *"*" {
            why.confidence = why.confidence.max(Confidence::General);
        }
        Ok(Sourced::new(
            Tiers {
                unit: volume_unit(&first.unit),
                allowance,
                tiers,
            },
            why,
        ))
    }

    fn public_ip(&self) -> Known<Money> {
        match self.rows("public_ip_hour", &["*", "world"]).first() {
            Some(row) if row.why.confidence < Confidence::Unverified => {
                Ok(Sourced::new(row.price, row.why.clone()))
            }
            _ => Err(unknown(
                "cost-unknown-public-ip",
                self.provider,
                egress_prices(self.book, "public_ip_hour"),
            )),
        }
    }

    fn storage_rows(&self, kind: &'a str) -> Vec<&'a StorageRow> {
        let here = |r: &&StorageRow| *r.provider == *self.provider && *r.kind == *kind && r.default;
        let all = || self.book.storage.iter().filter(here);
        let Some(region) = self.best(all().map(|r| &r.region)) else {
            return Vec::new();
        };
        let mut rows: Vec<&StorageRow> = all().filter(|r| *r.region == *region).collect();
        // one product: the first that is marked as default
        if let Some(sku) = rows.first().map(|r| r.sku.clone()) {
            rows.retain(|r| r.sku == sku);
        }
        rows
    }

    fn volume(&self, kind: &'a str, id: &'static str) -> Known<PerVolumeMonth> {
        let rows = self.storage_rows(kind);
        let missing = || unknown(id, self.provider, storage_prices(self.book, kind));
        let Some(first) = rows.first() else {
            return Err(missing());
        };
        let tiers = rows
            .iter()
            .map(|r| Tier {
                from: r.tier_from_gb.unwrap_or(Fixed::ZERO),
                to: r.tier_to_gb,
                price: per_unit(r),
            })
            .collect();
        Ok(Sourced::new(
            PerVolumeMonth {
                unit: volume_unit(&first.unit),
                tiers: contiguous(tiers).ok_or_else(missing)?,
                min_days: rows.iter().filter_map(|r| r.min_days).max().unwrap_or(0),
            },
            founded(rows.iter().map(|r| &r.why)).ok_or_else(missing)?,
        ))
    }

    fn requests(&self, kind: &'a str) -> Known<Money> {
        match self.storage_rows(kind).first() {
            Some(row) if row.why.confidence < Confidence::Unverified => {
                Ok(Sourced::new(row.price, row.why.clone()))
            }
            _ => Err(unknown(
                "cost-unknown-requests",
                self.provider,
                storage_prices(self.book, kind),
            )),
        }
    }

    fn billing(&self, vcpus: Option<f32>) -> Known<BillingRule> {
        let row = self
            .book
            .billing
            .iter()
            .filter(|r| *r.provider == *self.provider && holds_size(r, vcpus))
            .filter_map(|r| Some((scope_rank(&r.scope, self.region)?, r)))
            // of equals the first row wins, so the comparison must be strict
            .fold(None, |best: Option<(u8, &BillingRow)>, next| match best {
                Some(b) if b.0 >= next.0 => Some(b),
                _ => Some(next),
            });
        let missing =
            || Unknown::because(Msg::new("cost-unknown-billing").arg("provider", self.provider));
        let (_, row) = row.ok_or_else(missing)?;
        let rule = BillingRule {
            increment_s: row.increment_s.filter(|s| *s > 0).ok_or_else(missing)?,
            minimum_s: row.minimum_s.unwrap_or(0),
            stopped_compute: row.stopped_compute,
            stopped_storage: row.stopped_storage,
            stop_note_en: row.stop_note_en.clone(),
            stop_note_zh: row.stop_note_zh.clone(),
        };
        Ok(Sourced::new(rule, row.why.clone()))
    }
}

/// Whether a billing row is for machines of this size; of a machine of unknown size it is assumed that it is
/// not one of the small ones.
fn holds_size(row: &BillingRow, vcpus: Option<f32>) -> bool {
    match vcpus.map(f64::from) {
        Some(v) => {
            row.vcpus_from.is_none_or(|from| v.ceil() >= from)
                && row.vcpus_to.is_none_or(|to| v.ceil() <= to)
        }
        None => row.vcpus_to.is_none(),
    }
}

/// How well a billing scope suits a GPU machine in a region: a list of places beats "GPU" beats `*`.
fn scope_rank(scope: &str, region: &str) -> Option<u8> {
    let lower = scope.trim().to_ascii_lowercase();
    if lower == "*" || lower.is_empty() {
        return Some(2);
    }
    if lower.contains("serverless") {
        return None;
    }
    if lower.contains("gpu") {
        return Some(3);
    }
    let region = region.to_ascii_lowercase();
    let named = lower.split(',').any(|p| region.starts_with(p.trim()));
    Some(if named { 4 } else { 1 })
}

/// Tiers in order, each beginning where the one before ends; `None` if there is a gap, an overlap or no
/// start at zero.
fn contiguous(mut tiers: Vec<Tier>) -> Option<Vec<Tier>> {
    tiers.sort_by_key(|t| t.from);
    let mut at = Some(Fixed::ZERO);
    for tier in &tiers {
        if at != Some(tier.from) || tier.price.currency != tiers[0].price.currency {
            return None;
        }
        at = tier.to;
    }
    Some(tiers)
}

/// A free first tier is an allowance: it is shared by the whole account and may be used up.
fn split_allowance(mut tiers: Vec<Tier>) -> (Fixed, Vec<Tier>) {
    match tiers.as_slice() {
        [first, second, ..] if first.price.amount.is_zero() && !second.price.amount.is_zero() => {
            let allowance = second.from;
            tiers.remove(0);
            tiers[0].from = Fixed::ZERO;
            (allowance, tiers)
        }
        _ => (Fixed::ZERO, tiers),
    }
}

fn volume_unit(unit: &str) -> VolumeUnit {
    if unit.starts_with("GiB") {
        VolumeUnit::GiB
    } else {
        VolumeUnit::GB
    }
}

/// The provenance of several rows together is that of the weakest; `None` if not one of them was verified in
/// any way: then they are no price.
fn founded<'a>(all: impl Iterator<Item = &'a Provenance> + Clone) -> Option<Provenance> {
    let strongest = all.clone().map(|p| p.confidence).min()?;
    if strongest >= Confidence::Unverified {
        return None;
    }
    all.max_by_key(|p| p.confidence).cloned()
}
