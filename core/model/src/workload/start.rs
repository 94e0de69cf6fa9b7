//! When a job begins: as typed (a date, a local time, or a time with an offset) and as a moment.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A start as typed, in quotes or as TOML's own date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct StartTime(pub String);

impl StartTime {
    /// The moment that it means to somebody in this zone; `None` if it is no time, or none that a plan is made
    /// for. A time that a clock change skips is the one an hour later.
    pub fn moment(&self, zone: &TimeZone) -> Option<Timestamp> {
        let text = self.0.trim();
        let local = |time: DateTime| Some(time.to_zoned_datetime(zone.clone()).ok()?.timestamp());
        // jiff reads the date off a longer text, so the longest form goes first
        let moment = if let Ok(moment) = text.parse::<Timestamp>() {
            Some(moment)
        } else if let Ok(zoned) = text.parse::<ZonedDateTime>() {
            Some(zoned.timestamp())
        } else if text.contains(['T', 't', ' ', ':']) {
            local(text.parse::<DateTime>().ok()?)
        } else {
            local(text.parse::<Date>().ok()?.at(0, 0, 0, 0))
        }?;
        let year = moment.to_zoned_datetime(TimeZone::UTC).year();
        (2000..=2200).contains(&year).then_some(moment)
    }
}

impl<'de> Deserialize<'de> for StartTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<StartTime, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = StartTime;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as 2027-01-28 or 2027-01-28T09:00+08:00")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<StartTime, E> {
                Ok(StartTime(text.to_owned()))
            }
            /// TOML's own date comes as a map of one entry.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StartTime, A::Error> {
                let time =
                    toml::value::Datetime::deserialize(de::value::MapAccessDeserializer::new(map))
                        .map_err(|_| de::Error::invalid_type(de::Unexpected::Map, &self))?;
                Ok(StartTime(time.to_string()))
            }
        }
        from.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_in_the_users_zone_unless_it_has_an_offset() {
        let zone = TimeZone::get("Asia/Shanghai").expect("zone");
        let at = |text: &str| {
            StartTime(text.to_owned())
                .moment(&zone)
                .map(|t| t.to_string())
        };
        for (text, moment) in [
            ("2027-02-01", "2027-01-31T16:00:00Z"),
            ("2027-02-01T09:30", "2027-02-01T01:30:00Z"),
            ("2027-02-01 09:30:00", "2027-02-01T01:30:00Z"),
            ("2027-02-01T09:30:00-08:00", "2027-02-01T17:30:00Z"),
            ("2027-02-01T09:30Z", "2027-02-01T09:30:00Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(moment), "{text}");
        }
        for wrong in [
            "",
            "tomorrow",
            "2027-02-30",
            "2027-13-01",
            "1700-01-01",
            "9:30",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn toml_dates_need_no_quotes() {
        let read = |text: &str| {
            let file = crate::workload::parse_workload(text, "w.toml").expect(text);
            file.start.expect("start").0
        };
        assert_eq!(read("start = 2027-02-01"), "2027-02-01");
        assert_eq!(read("start = \"2027-02-01\""), "2027-02-01");
        assert_eq!(
            read("start = 2027-02-01T09:30:00+08:00"),
            "2027-02-01T09:30:00+08:00"
        );
        let wrong = crate::workload::parse_workload("start = 5", "w.toml").expect_err("no time");
        assert_eq!(wrong.line, Some((1, 9)));
    }
}
