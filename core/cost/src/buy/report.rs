//! The answer: `lessee/buy/v1`. Keys are the same in every language; the words come from `app/report`.

use super::evaluate::{Outcome, energy_kwh, evaluate};
use super::input::{BuyInput, Name, Parameter};
use lessee_model::{Basis, Currency, Fixed, Money, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const BUY_SCHEMA: &str = "lessee/buy/v1";

/// Rent or own, answered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BuyReport {
    /// `lessee/buy/v1`
    pub schema: String,
    pub name: String,
    pub gpu: Option<String>,
    pub currency: Currency,
    pub gpus: u64,
    pub horizon_months: u32,
    pub utilisation: f64,
    /// Paid at the start; `capex` is the sum of its lines.
    pub capex: Money,
    pub capex_lines: Vec<BuyLine>,
    /// Per year once the machines run; `opex_per_year` is the sum of its lines.
    pub opex_per_year: Money,
    pub opex_lines: Vec<BuyLine>,
    /// What the machines are sold for at the end.
    pub residual: Money,
    /// Used GPU-hours over the horizon.
    pub gpu_hours: f64,
    /// Present values over the horizon, with tax on all that is bought.
    pub owned_total: Money,
    pub rented_total: Money,
    /// Present value of the costs / present value of the used hours.
    pub owned_per_gpu_hour: Money,
    pub rented_per_gpu_hour: Money,
    pub cheaper: Choice,
    /// Utilisation from which owning is cheaper; above 1 = at no utilisation, null = never.
    pub break_even_utilisation: Option<f64>,
    /// First month in which all that owning has cost is at most what renting has; null = not within the horizon.
    pub break_even_month: Option<u32>,
    /// Largest effect on the difference between owning and renting first.
    pub sensitivity: Vec<Sensitivity>,
    /// What to mind, as codes: `horizon_within_lead` = the machines would arrive after the horizon has ended.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Every number used; those marked `assumed` are the user's to replace.
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    Own,
    Rent,
}

/// Quantity x unit price = amount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuyLine {
    /// `nodes`, `fabric_and_racks`, `purchase_tax`, `colocation`, `energy`, `people`, `spares`,
    /// `maintenance`, `insurance`, `network`; `purchase_tax` stands last in both lists
    pub kind: String,
    /// Exact decimal.
    pub quantity: String,
    pub unit: String,
    pub unit_price: Money,
    pub amount: Money,
    pub why: Provenance,
}

/// One parameter at its low and high end, all others as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sensitivity {
    pub parameter: String,
    pub low: f64,
    pub high: f64,
    pub owned_per_gpu_hour_low: Money,
    pub owned_per_gpu_hour_high: Money,
    pub rented_per_gpu_hour_low: Money,
    pub rented_per_gpu_hour_high: Money,
    pub break_even_utilisation_low: Option<f64>,
    pub break_even_utilisation_high: Option<f64>,
}

/// From floating point to money, in one place.
fn money(x: f64, currency: Currency) -> Money {
    Money::new(exact(x), currency)
}

fn exact(x: f64) -> Fixed {
    Fixed::from_f64(x).unwrap_or(if x < 0.0 { -Fixed::MAX } else { Fixed::MAX })
}

struct Lines {
    currency: Currency,
    lines: Vec<BuyLine>,
    sum: Fixed,
}

impl Lines {
    fn new(currency: Currency) -> Lines {
        Lines {
            currency,
            lines: Vec::new(),
            sum: Fixed::ZERO,
        }
    }

    fn add(&mut self, kind: &str, quantity: f64, unit: &str, price: f64, why: &Parameter) {
        let quantity = exact(quantity);
        let unit_price = money(price, self.currency);
        let amount = unit_price.times(quantity);
        self.sum += amount.amount;
        self.lines.push(BuyLine {
            kind: kind.to_owned(),
            quantity: quantity.to_string(),
            unit: unit.to_owned(),
            unit_price,
            amount,
            why: why.why.clone(),
        });
    }
}

fn capex(input: &BuyInput) -> Lines {
    let v = |name| input.value(name);
    let mut out = Lines::new(input.currency);
    let price = input.get(Name::NodePrice);
    out.add("nodes", v(Name::Nodes), "node", price.value, price);
    let hardware = out.sum.to_f64();
    let code = input.currency.as_str();
    out.add(
        "fabric_and_racks",
        hardware,
        code,
        v(Name::Extras),
        input.get(Name::Extras),
    );
    if v(Name::Tax) > 0.0 {
        out.add(
            "purchase_tax",
            out.sum.to_f64(),
            code,
            v(Name::Tax),
            input.get(Name::Tax),
        );
    }
    out
}

fn opex(input: &BuyInput) -> Lines {
    let v = |name| input.value(name);
    let mut out = Lines::new(input.currency);
    let nodes = v(Name::Nodes);
    let hardware = nodes * v(Name::NodePrice);
    if input.colocated {
        let kw_months = nodes * v(Name::Power) * 12.0;
        out.add(
            "colocation",
            kw_months,
            "kW-month",
            v(Name::Colocation),
            input.get(Name::Colocation),
        );
    }
    out.add(
        "energy",
        energy_kwh(input),
        "kWh",
        v(Name::Energy),
        input.get(Name::Energy),
    );
    out.add(
        "people",
        nodes * v(Name::Fte),
        "FTE-year",
        v(Name::PeopleCost),
        input.get(Name::PeopleCost),
    );
    let code = input.currency.as_str();
    for (kind, name) in [
        ("spares", Name::Spares),
        ("maintenance", Name::Maintenance),
        ("insurance", Name::Insurance),
    ] {
        out.add(kind, hardware, code, v(name), input.get(name));
    }
    out.add(
        "network",
        12.0,
        "month",
        v(Name::Network),
        input.get(Name::Network),
    );
    if v(Name::Tax) > 0.0 {
        // people are paid, not bought
        let people = out.lines.iter().filter(|l| l.kind == "people");
        let untaxed = people.fold(Fixed::ZERO, |sum, l| sum + l.amount.amount);
        let bought = (out.sum - untaxed).to_f64();
        let tax = input.get(Name::Tax);
        out.add("purchase_tax", bought, code, tax.value, tax);
    }
    out
}

fn sensitivity(input: &BuyInput) -> Vec<Sensitivity> {
    let at = |index: usize, x: f64| -> Outcome {
        let mut changed = input.clone();
        changed.parameters[index].value = x;
        evaluate(&changed)
    };
    let advantage = |o: &Outcome| o.rented_per_hour - o.owned_per_hour;
    let mut rows: Vec<(f64, Sensitivity)> = Vec::new();
    for (index, parameter) in input.parameters.iter().enumerate() {
        let (Some(low), Some(high)) = (parameter.low, parameter.high) else {
            continue;
        };
        // what an own site does not pay, or a colocated one, has no effect
        let idle = if input.colocated {
            Name::Pue
        } else {
            Name::Colocation
        };
        if low >= high || index == idle as usize {
            continue;
        }
        let (a, b) = (at(index, low), at(index, high));
        rows.push((
            (advantage(&a) - advantage(&b)).abs(),
            Sensitivity {
                parameter: parameter.name.clone(),
                low,
                high,
                owned_per_gpu_hour_low: money(a.owned_per_hour, input.currency),
                owned_per_gpu_hour_high: money(b.owned_per_hour, input.currency),
                rented_per_gpu_hour_low: money(a.rented_per_hour, input.currency),
                rented_per_gpu_hour_high: money(b.rented_per_hour, input.currency),
                break_even_utilisation_low: a.break_even_utilisation,
                break_even_utilisation_high: b.break_even_utilisation,
            },
        ));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn warnings(input: &BuyInput) -> Vec<String> {
    let too_late = input.value(Name::Lead) >= input.value(Name::Horizon);
    too_late
        .then(|| "horizon_within_lead".to_owned())
        .into_iter()
        .collect()
}

/// Answers the question.
pub fn buy_report(input: &BuyInput) -> BuyReport {
    let outcome = evaluate(input);
    let (capex, opex) = (capex(input), opex(input));
    let currency = input.currency;
    let m = |x: f64| money(x, currency);
    let mut parameters = input.parameters.clone();
    for p in &mut parameters {
        if p.assumed {
            p.why.basis = Basis::Assumed;
        }
    }
    BuyReport {
        schema: BUY_SCHEMA.to_owned(),
        name: input.name.clone(),
        gpu: input.gpu.clone(),
        currency,
        gpus: (input.value(Name::Nodes) * input.value(Name::GpusPerNode)).round() as u64,
        horizon_months: outcome.months,
        utilisation: input.value(Name::Utilisation),
        capex: Money::new(capex.sum, currency),
        capex_lines: capex.lines,
        opex_per_year: Money::new(opex.sum, currency),
        opex_lines: opex.lines,
        residual: m(outcome.resale),
        gpu_hours: outcome.gpu_hours,
        owned_total: m(outcome.owned),
        rented_total: m(outcome.rented),
        owned_per_gpu_hour: m(outcome.owned_per_hour),
        rented_per_gpu_hour: m(outcome.rented_per_hour),
        cheaper: if outcome.owned <= outcome.rented {
            Choice::Own
        } else {
            Choice::Rent
        },
        break_even_utilisation: outcome.break_even_utilisation,
        break_even_month: outcome.break_even_month,
        sensitivity: sensitivity(input),
        warnings: warnings(input),
        parameters,
    }
}
