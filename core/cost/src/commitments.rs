//! Discounts for a commitment, where a provider publishes one for GPU machines.
//!
//! Averages over CPU families and texts that nobody could verify are in the data, but never become a price:
//! a GPU commitment without a published rate has to be asked for.
//!
//! Where a provider publishes several rates for a term (by size, by host, by how much is paid in advance), the
//! lowest discount counts: it is the one that everybody gets. Of equal ones the least paid in advance.

use lessee_model::tariff::CommitmentRow;
use lessee_model::{Confidence, Purchase, Sourced, TariffBook};

/// A published discount, and how it is paid.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitmentDiscount {
    /// Share off the on-demand price, 0..1.
    pub discount: Sourced<f64>,
    /// Share of the term's price that is paid in advance, 0..=1; `None` = not said.
    pub upfront: Option<f64>,
}

/// The provider's own published share off the on-demand price of GPU machines for this term, 0..1.
/// `None` = not published: ask for a quote.
pub fn commitment_discount(
    book: &TariffBook,
    provider: &str,
    purchase: Purchase,
) -> Option<CommitmentDiscount> {
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
        .filter_map(|row| Some((row.discount.filter(|d| *d > 0.0 && *d < 1.0)?, row)))
        .min_by(|(a, x), (b, y)| {
            // what nobody says is taken to be all
            let paid = |row: &CommitmentRow| row.upfront_fraction.unwrap_or(1.0);
            a.total_cmp(b).then(paid(x).total_cmp(&paid(y)))
        })
        .map(|(share, row)| CommitmentDiscount {
            discount: Sourced::new(share, row.why.clone()),
            upfront: row.upfront_fraction.filter(|f| (0.0..=1.0).contains(f)),
        })
}
