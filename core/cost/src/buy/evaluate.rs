//! The arithmetic of owning and renting, month by month.
//!
//! Month 0 pays for the machines. Until they run (`lead_months`) the work is rented; afterwards they cost
//! their yearly upkeep whether used or not, and at the end they are sold. Renting pays for the used hours
//! at a price that falls over the years. All is discounted at the cost of capital; a GPU-hour's price is the
//! present value of the costs over the present value of the used hours (a levelised cost).
//!
//! Tax that cannot be reclaimed comes on all that is bought, on both sides alike: the machines, energy,
//! colocation, network and upkeep, and rent. It does not come on people's pay.

use super::input::{BuyInput, Name};

/// Hours in a month, as everywhere in the bill.
const MONTH_H: f64 = crate::bill::HOURS_PER_MONTH as f64;

/// Costs per year of owning, in the currency of the question.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Yearly {
    pub colocation: f64,
    pub energy: f64,
    pub people: f64,
    pub spares: f64,
    pub maintenance: f64,
    pub insurance: f64,
    pub network: f64,
    pub tax: f64,
}

impl Yearly {
    /// What tax comes on top of: all but people.
    pub(super) fn bought(&self) -> f64 {
        self.colocation
            + self.energy
            + self.spares
            + self.maintenance
            + self.insurance
            + self.network
    }

    fn total(&self) -> f64 {
        self.bought() + self.people + self.tax
    }
}

/// Both ways over the horizon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// The horizon in whole months.
    pub months: u32,
    pub resale: f64,
    pub gpu_hours: f64,
    pub owned: f64,
    pub rented: f64,
    pub owned_per_hour: f64,
    pub rented_per_hour: f64,
    pub break_even_utilisation: Option<f64>,
    pub break_even_month: Option<u32>,
}

/// kWh of all nodes in a year.
pub(super) fn energy_kwh(input: &BuyInput) -> f64 {
    let cooling = if input.colocated {
        1.0
    } else {
        input.value(Name::Pue)
    };
    input.value(Name::Nodes)
        * input.value(Name::Power)
        * input.value(Name::PowerShare)
        * cooling
        * MONTH_H
        * 12.0
}

pub(super) fn yearly(input: &BuyInput) -> Yearly {
    let v = |name| input.value(name);
    let nodes = v(Name::Nodes);
    let hardware = nodes * v(Name::NodePrice);
    let before_tax = Yearly {
        colocation: if input.colocated {
            nodes * v(Name::Power) * 12.0 * v(Name::Colocation)
        } else {
            0.0
        },
        energy: energy_kwh(input) * v(Name::Energy),
        people: nodes * v(Name::Fte) * v(Name::PeopleCost),
        spares: hardware * v(Name::Spares),
        maintenance: hardware * v(Name::Maintenance),
        insurance: hardware * v(Name::Insurance),
        network: 12.0 * v(Name::Network),
        tax: 0.0,
    };
    Yearly {
        tax: before_tax.bought() * v(Name::Tax),
        ..before_tax
    }
}

pub(super) fn evaluate(input: &BuyInput) -> Outcome {
    let v = |name| input.value(name);
    let hardware = v(Name::Nodes) * v(Name::NodePrice);
    let capex = hardware * (1.0 + v(Name::Extras)) * (1.0 + v(Name::Tax));
    let yearly = yearly(input);
    let resale = hardware * v(Name::Residual);
    let months = v(Name::Horizon).round().max(1.0) as u32;
    let lead = (v(Name::Lead).ceil() as u32).min(months);
    let utilisation = v(Name::Utilisation);
    let hours = v(Name::Nodes) * v(Name::GpusPerNode) * MONTH_H;
    let rent = v(Name::Rent) * (1.0 - v(Name::RentDiscount)) * (1.0 + v(Name::Tax));

    // sums at full use; rent is proportional to use, owning is not
    let (mut owned_fixed, mut lead_rent, mut all_rent, mut all_hours) = (capex, 0.0, 0.0, 0.0);
    let mut break_even_month = None;
    for month in 1..=months {
        let years = f64::from(month) / 12.0;
        let discount = (1.0 + v(Name::CostOfCapital)).powf(-years);
        let begun = f64::from(month - 1) / 12.0;
        let rent_now = hours * rent * (1.0 - v(Name::RentFall)).powf(begun) * discount;
        all_rent += rent_now;
        all_hours += hours * discount;
        if month <= lead {
            lead_rent += rent_now;
        } else {
            owned_fixed += yearly.total() / 12.0 * discount;
        }
        if month == months {
            owned_fixed -= resale * discount;
        }
        let owned = owned_fixed + lead_rent * utilisation;
        if break_even_month.is_none() && owned <= all_rent * utilisation {
            break_even_month = Some(month);
        }
    }
    let owned = owned_fixed + lead_rent * utilisation;
    let rented = all_rent * utilisation;
    let saved_per_use = all_rent - lead_rent;
    Outcome {
        months,
        resale,
        gpu_hours: hours * f64::from(months) * utilisation,
        owned,
        rented,
        owned_per_hour: owned / (all_hours * utilisation),
        rented_per_hour: rented / (all_hours * utilisation),
        break_even_utilisation: (saved_per_use > 0.0)
            .then(|| (owned_fixed / saved_per_use).max(0.0))
            .filter(|u| u.is_finite()),
        break_even_month,
    }
}
