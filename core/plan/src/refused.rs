//! What keeps records from being replayed, and what has to be known of them, in messages.

use lessee_model::Msg;
use lessee_spot::{GridError, Note};

/// Why records are no market for `nodes` machines.
pub(crate) fn because(why: &GridError, nodes: u32) -> Msg {
    match why {
        GridError::TooShort {
            have, need, gap_s, ..
        } => {
            let time = |ticks: &usize| (*ticks as i64 * gap_s) as f64;
            Msg::new("spot-refused-short")
                .seconds("have", time(have))
                .seconds("need", time(need))
        }
        // of a fleet's levels the first that nobody asked for is refused: what was wanted is the fleet
        GridError::Gang { zone, asked, .. } => Msg::new("spot-refused-gang")
            .arg("zone", zone.clone())
            .arg("gang", nodes)
            .arg("asked", *asked),
        GridError::Gaps {
            zone,
            gap_s,
            other,
            other_gap_s,
        } => Msg::new("simulate-gaps")
            .arg("zone", zone.clone())
            .arg("other", other.clone())
            .seconds("gap", f64::from(*gap_s))
            .seconds("othergap", f64::from(*other_gap_s)),
        GridError::NoCommonTime { zones } => {
            Msg::new("simulate-no-common-time").arg("zones", zones.join(", "))
        }
        GridError::TooLong { zone, ticks } => Msg::new("spot-refused-long")
            .arg("zone", zone.clone())
            .arg("ticks", *ticks as f64),
        // prices are those of the offer: what a record says of prices is not looked at
        GridError::NoSeries
        | GridError::PriceOfOther { .. }
        | GridError::NoPrice { .. }
        | GridError::NoOnDemand { .. }
        | GridError::NoPriceAt { .. } => Msg::new("simulate-no-series-at-all"),
    }
}

/// What a plan says of its records beside holes, which it counts, and prices, which it does not use.
pub(crate) fn said(notes: &[Note]) -> Vec<Msg> {
    let of = |note: &Note| match note {
        Note::Identical { zones } => {
            Some(Msg::new("simulate-identical").arg("zones", zones.join(", ")))
        }
        Note::AlignedByIndex => Some(Msg::new("simulate-by-index")),
        Note::Holes { .. } | Note::JoinedPrices { .. } | Note::SpotAtOrAbove { .. } => None,
    };
    notes.iter().filter_map(of).collect()
}
