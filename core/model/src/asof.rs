//! The date of a fact, as precise as its source states it.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// `2026`, `2026-08` or `2026-08-03`. Age is counted from the earliest day it can mean, so that an
/// imprecise date never makes a price look fresher than it may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AsOf {
    year: i16,
    month: Option<i8>,
    day: Option<i8>,
}

impl AsOf {
    pub fn from_date(date: Date) -> AsOf {
        AsOf {
            year: date.year(),
            month: Some(date.month()),
            day: Some(date.day()),
        }
    }

    /// The earliest day that this can mean.
    pub fn earliest(self) -> Date {
        Date::new(self.year, self.month.unwrap_or(1), self.day.unwrap_or(1)).unwrap_or(Date::ZERO)
    }

    /// The latest day that this can mean, so that "2026" is not called stale in January 2026.
    pub fn latest(self) -> Date {
        match (self.month, self.day) {
            (Some(_), Some(_)) => self.earliest(),
            (Some(month), None) => Date::new(self.year, month, 1)
                .map(|d| d.last_of_month())
                .unwrap_or(Date::ZERO),
            _ => Date::new(self.year, 12, 31).unwrap_or(Date::ZERO),
        }
    }

    /// Days from the earliest possible day to `today`; negative for the future.
    pub fn age_days(self, today: Date) -> i32 {
        self.earliest()
            .until(today)
            .map(|span| span.get_days())
            .unwrap_or(i32::MAX)
    }
}

impl FromStr for AsOf {
    type Err = ();
    /// Accepts `2026`, `2026-08`, `2026-08-03`, also with `/` or `.`, and an RFC 3339 time. Of a range
    /// `2026-06..2026-08` the earlier end is taken.
    fn from_str(text: &str) -> Result<AsOf, ()> {
        let text = text.trim();
        let text = text.split_once("..").map_or(text, |(first, _)| first);
        let text = text.split(['T', ' ']).next().unwrap_or(text);
        let mut parts = text.split(['-', '/', '.']);
        let year: i16 = parts.next().ok_or(())?.parse().map_err(|_| ())?;
        if !(1990..=2200).contains(&year) {
            return Err(());
        }
        let mut part = || {
            parts
                .next()
                .map(|p| p.parse::<i8>().map_err(|_| ()))
                .transpose()
        };
        let (month, day) = (part()?, part()?);
        if parts.next().is_some() {
            return Err(());
        }
        Date::new(year, month.unwrap_or(1), day.unwrap_or(1)).map_err(|_| ())?;
        Ok(AsOf { year, month, day })
    }
}

impl fmt::Display for AsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        if let Some(month) = self.month {
            write!(f, "-{month:02}")?;
        }
        if let Some(day) = self.day {
            write!(f, "-{day:02}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for AsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for AsOf {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AsOf {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<AsOf, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(|()| {
            serde::de::Error::custom(format!(
                "`{text}` is not a date: write 2026-08-03, 2026-08 or 2026"
            ))
        })
    }
}

impl JsonSchema for AsOf {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AsOf".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^\\d{4}(-\\d{2}(-\\d{2})?)?$", "description": "date, as precise as the source states it"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_keep_their_precision() {
        for (text, shown) in [
            ("2026", "2026"),
            ("2026-08", "2026-08"),
            ("2026/8/3", "2026-08-03"),
            ("2026-06..2026-08", "2026-06"),
            ("2026-11-29T10:00:00Z", "2026-11-29"),
        ] {
            assert_eq!(text.parse::<AsOf>().expect(text).to_string(), shown);
        }
        for text in ["", "26", "2026-13", "2026-02-30", "2026-1-1-1", "yesterday"] {
            assert!(text.parse::<AsOf>().is_err(), "{text}");
        }
    }

    #[test]
    fn age_counts_from_the_earliest_day() {
        let today = jiff::civil::date(2026, 11, 30);
        assert_eq!("2026-11".parse::<AsOf>().expect("date").age_days(today), 29);
        assert_eq!(
            "2026-11-30".parse::<AsOf>().expect("date").age_days(today),
            0
        );
    }
}
