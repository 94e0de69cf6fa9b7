//! The canonical offer table as input: rows that cannot be read for sure become questions.

use super::draft::Unpriced;
use super::{Draft, ImportContext, Imported};
use crate::{ImportError, OfferRow, read_offers};
use lessee_model::{Msg, Origin};
use std::sync::Arc;

pub(super) fn import(
    text: &str,
    mut draft: Draft,
    cx: &ImportContext<'_>,
) -> Result<Imported, ImportError> {
    let file = draft.file().to_owned();
    let origin = Origin::User(Arc::from(file.as_str()));
    let (catalog, bad) = read_offers(text, &file, &cx.facts.gpus, &origin)?;
    for row in bad {
        draft.ask(row.line, row.text, row.problem.code, row.problem.msg());
    }
    let machines = &catalog.machines;
    let mut asked: Vec<&Arc<str>> = Vec::new();
    for offer in &catalog.offers {
        let machine = &machines[offer.machine.0 as usize];
        let known = cx.facts.gpus.spec(&machine.gpu).is_some()
            || cx.facts.gpus.resolve(&machine.gpu.model).is_some();
        if !known && !asked.contains(&&machine.gpu.model) {
            asked.push(&machine.gpu.model);
            draft.ask(
                0,
                &*machine.gpu.model,
                "gpu_unknown",
                Msg::new("import-why-gpu-unknown").arg("gpu", &*machine.gpu.model),
            );
        }
        if offer.prices.is_empty() {
            draft.unpriced(Unpriced {
                provider: offer.provider.clone(),
                region: offer.region.clone(),
                instance_type: offer.instance_type.clone(),
                market: offer.market,
                machine: machine.clone(),
            });
        }
        for price in &offer.prices {
            if price.per_hour.amount.is_zero() {
                draft.ask(
                    0,
                    offer.key(),
                    "price_zero",
                    Msg::new("import-why-price-zero").arg("column", "price"),
                );
                continue;
            }
            let row = OfferRow {
                provider: offer.provider.clone(),
                region: offer.region.clone(),
                instance_type: offer.instance_type.clone(),
                machine: machine.clone(),
                market: offer.market,
                price: price.clone(),
                original: offer.original.clone(),
                note: offer.note.clone(),
            };
            draft.offer(row, 0, String::new(), Vec::new());
        }
    }
    Ok(draft.finish())
}
