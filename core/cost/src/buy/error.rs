//! What can be wrong with the question "rent or own?".

use lessee_model::{Currency, Explain, Msg};

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuyError {
    #[error("{place}:{line}:{column}: {detail}")]
    Parse {
        place: String,
        line: usize,
        column: usize,
        detail: String,
        /// A known word close to an unknown one.
        suggestion: Option<String>,
    },
    #[error("{field} is needed")]
    Missing { field: &'static str },
    #[error("{field} = {value} makes no sense")]
    Value { field: &'static str, value: String },
    #[error("no rate from {from} to {to} for {field}")]
    NoRate {
        field: &'static str,
        from: Currency,
        to: Currency,
    },
}

impl Explain for BuyError {
    fn msg(&self) -> Msg {
        match self {
            BuyError::Parse {
                place,
                line,
                column,
                detail,
                ..
            } => Msg::new("error-at")
                .arg("place", format!("{place}:{line}:{column}"))
                .arg(
                    "problem",
                    Msg::new("workload-bad-value").arg("detail", detail.clone()),
                ),
            BuyError::Missing { field } => Msg::new("buy-missing").arg("field", *field),
            BuyError::Value { field, value } => Msg::new("buy-bad-value")
                .arg("field", *field)
                .arg("value", value.clone()),
            BuyError::NoRate { field, from, to } => Msg::new("buy-no-rate")
                .arg("field", *field)
                .arg("from", from.as_str())
                .arg("to", to.as_str()),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            BuyError::Parse {
                suggestion: Some(word),
                ..
            } => vec![Msg::new("hint-did-you-mean").arg("word", word.clone())],
            BuyError::Parse { .. } => Vec::new(),
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
