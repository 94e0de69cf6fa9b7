//! Reading fields of an answer that nobody promised: each getter says "not there" or names the field
//! that is wrong. Numbers become exact decimals by their shortest text, never by binary fractions.

use crate::ProviderError;
use lessee_model::Fixed;
use serde_json::{Map, Value};

/// A row that cannot be used, and the field that is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

/// One object of an answer.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value) -> Option<Fields<'a>> {
        value.as_object().map(Fields)
    }

    pub(crate) fn get(self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|v| !v.is_null())
    }

    /// A text without surrounding blanks; absent, empty and other kinds are `None`.
    pub(crate) fn text(self, field: &str) -> Option<&'a str> {
        let text = self.get(field)?.as_str()?.trim();
        (!text.is_empty()).then_some(text)
    }

    /// A text that may become part of an offer's key: short and printable.
    pub(crate) fn name(self, field: &'static str) -> Result<&'a str, Unreadable> {
        self.text(field)
            .filter(|text| is_name(text))
            .ok_or(Unreadable(field))
    }

    pub(crate) fn flag(self, field: &str) -> Option<bool> {
        self.get(field)?.as_bool()
    }

    pub(crate) fn number(self, field: &str) -> Option<f64> {
        match self.get(field)? {
            Value::Number(n) => n.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
        .filter(|x: &f64| x.is_finite())
    }

    /// A number of things: a whole number from 0 to 65,535 (`8` and `8.0` alike).
    pub(crate) fn count(self, field: &'static str) -> Result<Option<u16>, Unreadable> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let x = value.as_f64().ok_or(Unreadable(field))?;
        let whole = x.fract() == 0.0 && (0.0..=f64::from(u16::MAX)).contains(&x);
        if whole {
            Ok(Some(x as u16))
        } else {
            Err(Unreadable(field))
        }
    }

    /// An exact amount, from a number or a text; never negative.
    pub(crate) fn amount(self, field: &'static str) -> Result<Option<Fixed>, Unreadable> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        decimal(value)
            .filter(|amount| !amount.is_negative())
            .map(Some)
            .ok_or(Unreadable(field))
    }

    pub(crate) fn array(self, field: &str) -> Option<&'a [Value]> {
        self.get(field)?.as_array().map(Vec::as_slice)
    }

    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// `outer.inner` where the feed wraps a word in an object.
    pub(crate) fn inner_text(self, outer: &str, inner: &str) -> Option<&'a str> {
        Fields::of(self.get(outer)?)?.text(inner)
    }
}

/// Short, printable, and without the signs that separate the parts of an offer's key.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= 100
        && !text
            .chars()
            .any(|c| c.is_control() || matches!(c, '@' | '/'))
}

pub(crate) fn decimal(value: &Value) -> Option<Fixed> {
    match value {
        Value::Number(n) => n.to_string().parse().ok(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The array at `field` of the answer's outermost object.
///
/// # Errors
/// [`ProviderError::BadAnswer`] that names the field.
pub(crate) fn rows<'a>(
    answer: &'a Value,
    field: &str,
    url: &str,
) -> Result<&'a [Value], ProviderError> {
    Fields::of(answer)
        .and_then(|top| top.array(field))
        .ok_or_else(|| bad_answer(url, field, "a list is expected here"))
}

pub(crate) fn bad_answer(url: &str, field: &str, detail: &str) -> ProviderError {
    ProviderError::BadAnswer {
        url: url.to_owned(),
        field: field.to_owned(),
        detail: detail.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_hostile_ones_are_named() {
        let value: Value = serde_json::from_str(
            r#"{"a": 0.526, "b": "1.99", "c": -1, "d": true, "e": null, "n": 8.0, "half": 0.5, "big": 1e300, "name": "x\u0007"}"#,
        )
        .expect("json");
        let fields = Fields::of(&value).expect("object");
        let shown = |f| fields.amount(f).map(|x| x.map(|x| x.to_string()));
        assert_eq!(shown("a"), Ok(Some("0.526".into())));
        assert_eq!(shown("b"), Ok(Some("1.99".into())));
        assert_eq!(shown("c"), Err(Unreadable("c")));
        assert_eq!(shown("d"), Err(Unreadable("d")));
        assert_eq!(shown("e"), Ok(None));
        assert_eq!(shown("big"), Err(Unreadable("big")));
        assert_eq!(fields.count("n"), Ok(Some(8)));
        assert_eq!(fields.count("half"), Err(Unreadable("half")));
        assert_eq!(fields.count("c"), Err(Unreadable("c")));
        assert_eq!(fields.name("name"), Err(Unreadable("name")));
    }
}
