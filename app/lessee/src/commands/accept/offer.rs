//! `accept offer`: the machine beside what was promised, and the text of the quote beside what a contract must say.

use super::evidence;
use crate::args::OfferArgs;
use crate::facts;
use lessee_accept::{Outcome, contract, kept, offer_unseen};
use lessee_console::{Failure, Settings};
use lessee_model::Msg;
use lessee_report::Texts;
use std::path::{Path, PathBuf};

pub(super) fn check(
    args: &OfferArgs,
    settings: &Settings,
    texts: &Texts,
) -> Result<Outcome, Failure> {
    if args.offer.is_none() && args.probe.is_none() {
        return Err(
            Failure::usage(Msg::new("accept-needs-offer")).hint(Msg::new("hint-accept-offer"))
        );
    }
    let (facts, _) = facts::load(settings)?;
    let mut outcome = Outcome::new("offer", Vec::new());
    match &args.probe {
        Some(path) => {
            let (bytes, from) = facts::read_bytes(path)?;
            let curves = lessee_probe_io::curve_rules()?;
            let of = lessee_probe::Facts::of(&facts, &curves);
            let report = lessee_probe::judged(path, args.offer.as_deref(), of, texts)?;
            outcome.findings = kept(&report);
            if report.judged.as_ref().is_none_or(|j| j.promised.is_none()) {
                let ask = Msg::new("accept-ask-offer");
                outcome
                    .findings
                    .push(offer_unseen(Msg::new("accept-offer-none"), ask));
            }
            outcome = outcome.resting_on(evidence("probe", from, &bytes, settings), bytes);
        }
        None => {
            let ask = Msg::new("accept-ask-run-probe");
            outcome
                .findings
                .push(offer_unseen(Msg::new("accept-offer-unmeasured"), ask));
            if let Some(offer) = &args.offer {
                lessee_probe::offer_exists(offer, &facts)?;
            }
        }
    }
    match args.offer.as_deref().and_then(quote) {
        Some(path) => {
            let (text, from) = facts::read_text(&path)?;
            let of_quote = contract(&text, &lessee_catalog::contract_table()?);
            outcome.findings.extend(of_quote);
            let content = text.into_bytes();
            outcome = outcome.resting_on(evidence("quote", from, &content, settings), content);
        }
        None => {
            let reason = Msg::new("accept-contract-none");
            outcome
                .findings
                .push(offer_unseen(reason, Msg::new("accept-ask-quote")));
        }
    }
    Ok(outcome)
}

/// The file of `FILE` or `FILE#LINE`.
fn quote(offer: &str) -> Option<PathBuf> {
    let whole = Path::new(offer);
    if whole.exists() {
        return Some(whole.to_owned());
    }
    let (file, _) = offer.rsplit_once('#')?;
    Path::new(file).exists().then(|| PathBuf::from(file))
}
