//! What can be wrong with the question "rent or own?".

use lessee_model::{Currency, Explain, Msg};

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuyError {
    #[error("{place}:{line}:{column}: {}", problem.id)]
    Parse {
        place: String,
        line: usize,
        column: usize,
        problem: Msg,
        hint: Option<Msg>,
    },
    #[error("{field} is needed")]
    Missing { field: &'static str },
    #[error("{field} = {value} makes no sense")]
    Value { field: &'static str, value: String },
    #[error("[ranges] {name} is no parameter")]
    RangeName {
        name: String,
        suggestion: Option<String>,
    },
    #[error("[ranges] {name} = [{low}, {high}] makes no sense")]
    Range {
        name: String,
        low: f64,
        high: f64,
        least: f64,
        most: f64,
    },
    #[error("no rate from {from} to {to} for {field}")]
    NoRate {
        field: &'static str,
        from: Currency,
        to: Currency,
    },
}

impl BuyError {
    /// Dotted path of the field in the file, to say where it stands.
    pub fn field(&self) -> Option<String> {
        match self {
            BuyError::Parse { .. } => None,
            BuyError::Missing { field }
            | BuyError::Value { field, .. }
            | BuyError::NoRate { field, .. } => Some((*field).to_owned()),
            BuyError::RangeName { name, .. } | BuyError::Range { name, .. } => {
                Some(format!("ranges.{name}"))
            }
        }
    }
}

impl Explain for BuyError {
    fn msg(&self) -> Msg {
        match self {
            BuyError::Parse {
                place,
                line,
                column,
                problem,
                ..
            } => Msg::new("error-at")
                .arg("place", format!("{place}:{line}:{column}"))
                .arg("problem", problem.clone()),
            BuyError::Missing { field } => Msg::new("buy-missing").arg("field", *field),
            BuyError::Value { field, value } => Msg::new("buy-bad-value")
                .arg("field", *field)
                .arg("value", value.clone()),
            BuyError::RangeName { name, .. } => {
                Msg::new("buy-range-unknown").arg("name", name.clone())
            }
            BuyError::Range {
                name,
                low,
                high,
                least,
                most,
            } => Msg::new("buy-range-bad")
                .arg("name", name.clone())
                .arg("low", low.to_string())
                .arg("high", high.to_string())
                .arg("least", least.to_string())
                .arg("most", most.to_string()),
            BuyError::NoRate { field, from, to } => Msg::new("buy-no-rate")
                .arg("field", *field)
                .arg("from", from.as_str())
                .arg("to", to.as_str()),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            BuyError::Parse { hint, .. } => hint.clone().into_iter().collect(),
            BuyError::RangeName { suggestion, .. } => vec![match suggestion {
                Some(word) => Msg::new("hint-did-you-mean").arg("word", word.clone()),
                None => Msg::new("buy-hint-value"),
            }],
            BuyError::Range { .. } => vec![Msg::new("buy-hint-range")],
            BuyError::Missing { field } => vec![Msg::new("buy-hint-missing").arg("field", *field)],
            BuyError::Value { .. } => vec![Msg::new("buy-hint-value")],
            BuyError::NoRate { from, to, .. } => vec![
                Msg::new("buy-hint-rate")
                    .arg("from", from.as_str())
                    .arg("to", to.as_str()),
            ],
        }
    }
}
