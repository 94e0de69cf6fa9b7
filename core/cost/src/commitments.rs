//! Discounts for a commitment, where a provider publishes one for GPU machines.
//!
//! Averages over CPU families and texts that nobody could verify are in the data, but never become a price:
//! a GPU commitment without a published rate has to be asked for.

use lessee_model::{Confidence, Purchase, Sourced, TariffBook};

/// The provider's own published share off the on-demand price of GPU machines for this term, 0..1.
/// `None` = not published: ask for a quote.
pub fn commitment_discount(
    book: &TariffBook,
    provider: &str,
    purchase: Purchase,
) -> Option<Sourced<f64>> {
    let months = purchase.term_months();
    if months == 0 {
        return None;
    }
    book.commitments
        .iter()
        .filter(|row| {
            *row.provider == *provider
                && row.gpu_specific
                && row.term_months == Some(months)
                && row.why.confidence < Confidence::Unverified
        })
        .find_map(|row| {
            let share = row.discount.filter(|d| *d > 0.0 && *d < 1.0)?;
            Some(Sourced::new(share, row.why.clone()))
        })
}
