//! What providers charge besides machines. Rows without a price are left out: no row means "not known".

use super::ProviderInfo;
use super::rows::read;
use crate::CatalogError;
use crate::build::Interner;
use lessee_model::Fixed;
use lessee_model::tariff::{
    AdvisorRow, BillingRow, BootRow, CommitmentRow, EgressRow, MonthRule, MonthRules, SpotTermRow,
    Stopped, StorageRow, TariffBook,
};
use std::cell::RefCell;
use std::sync::Arc;

macro_rules! data {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../data/", $path)))
    };
}

pub(super) fn tariffs(
    strings: &RefCell<Interner>,
    providers: &[ProviderInfo],
) -> Result<TariffBook, CatalogError> {
    let mut book = TariffBook {
        month_hours: providers
            .iter()
            .map(|p| (Arc::clone(&p.key), p.month_hours))
            .collect(),
        zones: providers
            .iter()
            .map(|p| (Arc::clone(&p.key), p.billing_zone.clone()))
            .collect(),
        ..TariffBook::default()
    };
    let (file, text) = data!("tariffs/months.csv");
    read(file, text, strings, |r| {
        let rules = MonthRules {
            storage: month_rule(r.get("storage_month")?)?,
            subscription: month_rule(r.get("subscription_month")?)?,
        };
        r.why()?;
        book.month_rules.insert(r.text("provider")?, rules);
        Ok(())
    })?;
    let (file, text) = data!("tariffs/egress.csv");
    read(file, text, strings, |r| {
        // set by the host, offer by offer
        let Some(price) = r.opt_money("price")? else {
            return Ok(());
        };
        book.egress.push(EgressRow {
            provider: r.text("provider")?,
            region: r.text("region")?,
            scope: r.text("scope")?,
            destination: r.text("destination")?,
            tier_from_gb: r.opt("tier_from_gb")?.unwrap_or(Fixed::ZERO),
            tier_to_gb: r.opt("tier_to_gb")?,
            price,
            unit: r.text("unit")?,
            why: r.why()?,
        });
        Ok(())
    })?;
    let (file, text) = data!("tariffs/storage.csv");
    read(file, text, strings, |r| {
        let Some(price) = r.opt_money("price")? else {
            return Ok(());
        };
        book.storage.push(StorageRow {
            provider: r.text("provider")?,
            region: r.text("region")?,
            kind: r.text("kind")?,
            sku: r.text("sku")?,
            price,
            unit: r.text("unit")?,
            tier_from_gb: r.opt("tier_from_gb")?,
            tier_to_gb: r.opt("tier_to_gb")?,
            min_days: r.opt("min_days")?,
            default: r.get("default")? == "1",
            why: r.why()?,
        });
        Ok(())
    })?;
    let (file, text) = data!("tariffs/billing.csv");
    read(file, text, strings, |r| {
        book.billing.push(BillingRow {
            provider: r.text("provider")?,
            scope: r.text("scope")?,
            vcpus_from: r.opt("vcpus_from")?,
            vcpus_to: r.opt("vcpus_to")?,
            increment_s: r.opt("increment_s")?,
            minimum_s: r.opt("minimum_s")?,
            stopped_compute: stopped(r.get("stopped_compute")?)?,
            stopped_storage: stopped(r.get("stopped_storage")?)?,
            stop_note_en: r.opt_text("stop_note_en")?,
            stop_note_zh: r.opt_text("stop_note_zh")?,
            why: r.why()?,
        });
        Ok(())
    })?;
    let (file, text) = data!("tariffs/commitments.csv");
    read(file, text, strings, |r| {
        book.commitments.push(CommitmentRow {
            provider: r.text("provider")?,
            scope: r.text("scope")?,
            plan: r.text("plan")?,
            term_months: r.opt("term_months")?,
            upfront_fraction: r.opt("upfront_fraction")?,
            discount: r.opt("discount")?,
            gpu_specific: r.get("gpu_specific")? == "yes",
            why: r.why()?,
        });
        Ok(())
    })?;
    let (file, text) = data!("tariffs/spot_advisor.csv");
    read(file, text, strings, |r| {
        book.advisor.push(AdvisorRow {
            provider: r.text("provider")?,
            region: r.text("region")?,
            instance_type: r.text("instance_type")?,
            savings_pct: r.need("savings_pct")?,
            interrupt_low_pct: r.need("interrupt_low_pct")?,
            interrupt_high_pct: r.opt("interrupt_high_pct")?,
            why: r.why()?,
        });
        Ok(())
    })?;
    let (file, text) = data!("tariffs/spot_terms.csv");
    read(file, text, strings, |r| {
        book.spot_terms.push(SpotTermRow {
            provider: r.text("provider")?,
            notice_s: r.opt("notice_s")?,
            protection_s: r.opt("protection_s")?,
            why: r.why()?,
        });
        Ok(())
    })?;
    let (file, text) = data!("cc-by-sa/boot_times.csv");
    read(file, text, strings, |r| {
        book.boot.push(BootRow {
            provider: r.text("provider")?,
            kind: r.text("kind")?,
            runs: r.need("runs")?,
            p50_s: r.need("p50_s")?,
            p90_s: r.need("p90_s")?,
            why: r.why()?,
        });
        Ok(())
    })?;
    Ok(book)
}

fn month_rule(word: &str) -> Result<MonthRule, String> {
    match word {
        "calendar" => Ok(MonthRule::Calendar),
        "hours" => Ok(MonthRule::Hours),
        other => Err(format!("month: `{other}`")),
    }
}

fn stopped(word: &str) -> Result<Stopped, String> {
    match word {
        "free" => Ok(Stopped::Free),
        "billed" => Ok(Stopped::Billed),
        "no_stop" => Ok(Stopped::NoStop),
        "unknown" | "" => Ok(Stopped::Unknown),
        other => Err(format!("stopped: `{other}`")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_provider_counts_its_month_and_no_guess_of_another_tool_is_a_price() {
        let facts = crate::builtin().expect("facts");
        let book = &facts.tariffs;
        assert_eq!(book.month_hours.len(), facts.providers.len());
        assert!(book.month_hours.values().all(|h| (672..=744).contains(h)));
        assert_eq!(book.zones.len(), facts.providers.len());
        let known = |p: &std::sync::Arc<str>| book.zones.contains_key(p);
        assert!(!book.month_rules.is_empty() && book.month_rules.keys().all(known));
        for row in &book.egress {
            assert!(!row.why.source.contains("assumed"), "{row:?}");
        }
    }
}
