//! Money: an exact amount with its currency. Amounts of different currencies never meet without a
//! dated rate (see [`crate::Fx`]).

use crate::Fixed;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// An ISO 4217 code, e.g. `USD`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    pub const USD: Currency = Currency(*b"USD");
    pub const CNY: Currency = Currency(*b"CNY");
    pub const EUR: Currency = Currency(*b"EUR");

    pub fn as_str(&self) -> &str {
        // only ASCII letters get in, see from_str
        std::str::from_utf8(&self.0).unwrap_or("???")
    }
}

impl FromStr for Currency {
    type Err = MoneyError;
    /// Three ASCII letters in any case, or a common symbol or name (`$`, `¥`, `元`, `€`, `RMB`, `人民币`, `美元`).
    fn from_str(text: &str) -> Result<Currency, MoneyError> {
        let text = text.trim();
        let code = match text {
            "$" | "US$" | "美元" | "美金" => "USD",
            "¥" | "￥" | "元" | "RMB" | "rmb" | "人民币" | "CN¥" | "块" => "CNY",
            "€" | "欧元" => "EUR",
            "£" | "英镑" => "GBP",
            "HK$" | "港币" | "港元" => "HKD",
            other => other,
        };
        let bytes = code.as_bytes();
        if bytes.len() == 3 && bytes.iter().all(u8::is_ascii_alphabetic) {
            Ok(Currency([
                bytes[0].to_ascii_uppercase(),
                bytes[1].to_ascii_uppercase(),
                bytes[2].to_ascii_uppercase(),
            ]))
        } else {
            Err(MoneyError::Currency {
                text: text.chars().take(40).collect(),
            })
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Currency, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Currency {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Currency".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[A-Z]{3}$", "description": "ISO 4217 code"})
    }
}

/// What is wrong with an amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("`{text}` is not a currency: three letters such as USD or CNY are needed")]
    Currency { text: String },
    #[error("`{text}` is not an amount: write it like `12.50 USD`")]
    Amount { text: String },
    #[error("`{text}` is too large for an amount: at most 1e15 of a currency is reckoned with")]
    TooLarge { text: String },
    #[error("no exchange rate from {from} to {to}")]
    NoRate { from: Currency, to: Currency },
}

/// More than any job or machine costs in any currency: arithmetic further on stays far from saturating.
const LARGEST: f64 = 1e15;

/// An exact amount in one currency. In JSON `{"amount": "12.34", "currency": "USD"}`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    pub amount: Fixed,
    pub currency: Currency,
}

impl Money {
    #[inline]
    pub const fn new(amount: Fixed, currency: Currency) -> Money {
        Money { amount, currency }
    }

    #[inline]
    pub const fn zero(currency: Currency) -> Money {
        Money {
            amount: Fixed::ZERO,
            currency,
        }
    }

    #[inline]
    pub fn times(self, quantity: Fixed) -> Money {
        Money {
            amount: self.amount.times(quantity),
            currency: self.currency,
        }
    }

    /// Rounded to the cent, with two decimals: what people read. JSON carries the exact amount.
    pub fn to_cents(self) -> String {
        two_decimals(self.amount.round(2))
    }

    /// The exact amount with at least two decimals: what machines read.
    pub fn exact(self) -> String {
        two_decimals(self.amount)
    }
}

fn two_decimals(amount: Fixed) -> String {
    let text = amount.to_string();
    match text.split_once('.') {
        None => format!("{text}.00"),
        Some((_, part)) if part.len() == 1 => format!("{text}0"),
        Some(_) => text,
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.exact(), self.currency)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Money {
    type Err = MoneyError;
    /// `12.50 USD`, `12.50USD`, `USD 12.50`, `$12.50`, `¥3,000`, `3000元`. Thousands commas are accepted
    /// only in groups of three. A trailing `/h` is the caller's to strip.
    fn from_str(text: &str) -> Result<Money, MoneyError> {
        let wrong = || MoneyError::Amount {
            text: text.chars().take(40).collect(),
        };
        let trimmed = text.trim();
        let first = trimmed
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .ok_or_else(wrong)?;
        let last = trimmed
            .rfind(|c: char| c.is_ascii_digit() || c == '.')
            .map(|i| i + 1)
            .ok_or_else(wrong)?;
        let (before, number, after) = (&trimmed[..first], &trimmed[first..last], &trimmed[last..]);
        let (before, negative) = match before.trim().strip_suffix('-') {
            Some(rest) => (rest, true),
            None => match before.trim().strip_prefix('-') {
                Some(rest) => (rest, true),
                None => (before, false),
            },
        };
        let unit = match (before.trim(), after.trim()) {
            ("", unit) | (unit, "") => unit,
            _ => return Err(wrong()),
        };
        let currency: Currency = unit.parse().map_err(|_| wrong())?;
        let digits = strip_thousands(number).ok_or_else(wrong)?;
        // a number that does not fit is still a number, and is told from what is none
        if digits.parse::<f64>().is_ok_and(|x| x > LARGEST) {
            return Err(MoneyError::TooLarge {
                text: text.chars().take(40).collect(),
            });
        }
        let amount: Fixed = digits.parse().map_err(|()| wrong())?;
        Ok(Money {
            amount: if negative { -amount } else { amount },
            currency,
        })
    }
}

/// `12,345.6` -> `12345.6`; `None` when the commas do not stand in groups of three.
fn strip_thousands(number: &str) -> Option<String> {
    if !number.contains(',') {
        return Some(number.to_owned());
    }
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let mut groups = whole.split(',');
    let head = groups.next()?;
    if head.is_empty() || head.len() > 3 || part.contains(',') {
        return None;
    }
    let mut out = head.to_owned();
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        out.push_str(group);
    }
    if !part.is_empty() {
        out.push('.');
        out.push_str(part);
    }
    Some(out)
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = s.serialize_struct("Money", 2)?;
        out.serialize_field("amount", &self.exact())?;
        out.serialize_field("currency", &self.currency)?;
        out.end()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoneyRepr {
    amount: String,
    currency: Currency,
}

struct MoneyVisitor;

impl<'de> serde::de::Visitor<'de> for MoneyVisitor {
    type Value = Money;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount with its currency such as \"12.50 USD\"")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Money, E> {
        text.parse().map_err(E::custom)
    }
    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Money, A::Error> {
        let repr = MoneyRepr::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        format!("{} {}", repr.amount, repr.currency)
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Money {
    /// A string (`"12.50 USD"`) or an object (`{"amount": "12.50", "currency": "USD"}`).
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Money, D::Error> {
        d.deserialize_any(MoneyVisitor)
    }
}

impl JsonSchema for Money {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Money".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "an exact amount with its currency; as input also a string such as \"12.50 USD\"",
            "anyOf": [
                {"type": "object", "required": ["amount", "currency"], "additionalProperties": false,
                 "properties": {"amount": {"type": "string"}, "currency": {"type": "string"}}},
                {"type": "string"}
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_money_in_many_ways() {
        for (text, amount, currency) in [
            ("12.50 USD", "12.50", "USD"),
            ("$12.5", "12.50", "USD"),
            ("usd 3", "3.00", "USD"),
            ("3000元", "3000.00", "CNY"),
            ("¥12,345.6", "12345.60", "CNY"),
            ("-1.5 EUR", "-1.50", "EUR"),
            ("0.0004 USD", "0.0004", "USD"),
        ] {
            let money: Money = text.parse().expect(text);
            assert_eq!(
                (money.exact().as_str(), money.currency.as_str()),
                (amount, currency),
                "{text}"
            );
        }
        for text in [
            "",
            "12.5",
            "USD",
            "1e400 USD",
            "12,34 USD",
            "NaN USD",
            "1 2 USD",
            "12 dollars",
        ] {
            assert!(text.parse::<Money>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_amount_beyond_all_money_is_named_as_such() {
        for text in [
            "1e300 USD",
            "1e400 USD",
            "1e16 USD",
            "$9999999999999999999999999999999999",
        ] {
            let error = text.parse::<Money>().expect_err(text);
            assert!(
                matches!(error, MoneyError::TooLarge { .. }),
                "{text}: {error}"
            );
        }
        assert!("1e15 USD".parse::<Money>().is_ok());
    }

    #[test]
    fn json_is_exact_both_ways() {
        let money: Money = "912.6 USD".parse().expect("money");
        let json = serde_json::to_string(&money).expect("json");
        assert_eq!(json, r#"{"amount":"912.60","currency":"USD"}"#);
        assert_eq!(serde_json::from_str::<Money>(&json).expect("money"), money);
    }
}
