//! Quantities as people write them: `1.5TB`, `16GiB`, `30min`, `50M`, `6%`.
//!
//! A size without the `i` is decimal (1 GB = 1e9 bytes), with it binary (1 GiB = 2^30). Nothing negative,
//! infinite or unreadable gets past these types.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// What is wrong with a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    #[error("`{text}` is not a size: write it like `500GB`, `1.5TB` or `16GiB`")]
    Bytes { text: String },
    #[error("`{text}` is not a duration: write it like `90s`, `30min`, `12h` or `30d`")]
    Seconds { text: String },
    #[error("`{text}` is not a count: write it like `200`, `1.3M` or `2e12`")]
    Count { text: String },
    #[error("`{text}` is not a share: write it like `6%` or `0.06`")]
    Percent { text: String },
    #[error("`{text}` is negative: only zero or more makes sense here")]
    Negative { text: String },
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Splits `1.5TB` into 1.5 and `TB`; digits may carry `_` between them. Refuses NaN and infinities.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let mut end = 0;
    let bytes = text.as_bytes();
    while end < bytes.len() {
        let c = bytes[end];
        let exponent = (c == b'e' || c == b'E')
            && bytes
                .get(end + 1)
                .is_some_and(|n| n.is_ascii_digit() || *n == b'+' || *n == b'-');
        let sign = (c == b'-' || c == b'+') && (end == 0 || matches!(bytes[end - 1], b'e' | b'E'));
        if c.is_ascii_digit() || c == b'.' || c == b'_' || exponent || sign {
            end += 1;
        } else {
            break;
        }
    }
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim()))
}

macro_rules! quantity {
    ($name:ident, $error:ident, $expecting:literal, $about:literal) => {
        impl $name {
            fn checked(value: f64, text: &str) -> Result<$name, UnitError> {
                if value < 0.0 {
                    Err(UnitError::Negative { text: short(text) })
                } else if value.is_finite() && value < 1e24 {
                    Ok($name(value))
                } else {
                    Err(UnitError::$error { text: short(text) })
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_f64(self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<$name, D::Error> {
                struct V;
                impl serde::de::Visitor<'_> for V {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<$name, E> {
                        $name::checked(x, &x.to_string()).map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<$name, E> {
                        self.visit_f64(x as f64)
                    }
                    fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<$name, E> {
                        self.visit_f64(x as f64)
                    }
                }
                d.deserialize_any(V)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": ["number", "string"], "description": $about})
            }
        }
    };
}

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Bytes(pub f64);

impl Bytes {
    pub const ZERO: Bytes = Bytes(0.0);
    pub fn from_gb(gb: f64) -> Bytes {
        Bytes(gb * 1e9)
    }
    pub fn gb(self) -> f64 {
        self.0 / 1e9
    }
    pub fn gib(self) -> f64 {
        self.0 / (1u64 << 30) as f64
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        let wrong = || UnitError::Bytes { text: short(text) };
        let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
        let (prefix, binary) = match unit.to_ascii_lowercase().as_str() {
            "" | "b" | "byte" | "bytes" => ("", false),
            "k" | "kb" => ("k", false),
            "m" | "mb" => ("m", false),
            "g" | "gb" => ("g", false),
            "t" | "tb" => ("t", false),
            "p" | "pb" => ("p", false),
            "ki" | "kib" => ("k", true),
            "mi" | "mib" => ("m", true),
            "gi" | "gib" => ("g", true),
            "ti" | "tib" => ("t", true),
            "pi" | "pib" => ("p", true),
            _ => return Err(wrong()),
        };
        let power = match prefix {
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            "p" => 5,
            _ => 0,
        };
        let base: f64 = if binary { 1024.0 } else { 1000.0 };
        Bytes::checked(number * base.powi(power), text)
    }
}
quantity!(
    Bytes,
    Bytes,
    "a size such as \"500GB\", \"1.5TB\" or \"16GiB\"",
    "size: bytes, or a string such as \"500GB\" (decimal) or \"16GiB\" (binary)"
);

/// A duration in seconds.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Seconds(pub f64);

impl Seconds {
    pub const ZERO: Seconds = Seconds(0.0);
    pub fn hours(self) -> f64 {
        self.0 / 3600.0
    }
}

impl FromStr for Seconds {
    type Err = UnitError;
    /// `90s`, `30min`, `12h`, `30d`, `2w`, `1.5h`, `1h30min`; a bare number is seconds.
    fn from_str(text: &str) -> Result<Seconds, UnitError> {
        let wrong = || UnitError::Seconds { text: short(text) };
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(wrong());
        }
        let mut total = 0.0;
        let mut first = true;
        while !rest.is_empty() {
            let (number, after) = number_and_unit(rest).ok_or_else(wrong)?;
            let end = after
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(after.len());
            let unit = after[..end].trim();
            let factor = match unit {
                "" if first && after.is_empty() => 1.0,
                "s" | "sec" | "second" | "seconds" | "秒" => 1.0,
                "ms" => 1e-3,
                "m" | "min" | "minute" | "minutes" | "分钟" | "分" => 60.0,
                "h" | "hr" | "hour" | "hours" | "小时" | "时" => 3600.0,
                "d" | "day" | "days" | "天" | "日" => 86_400.0,
                "w" | "week" | "weeks" | "周" => 604_800.0,
                _ => return Err(wrong()),
            };
            if number < 0.0 {
                return Err(UnitError::Negative { text: short(text) });
            }
            total += number * factor;
            rest = &after[end..];
            first = false;
        }
        Seconds::checked(total, text)
    }
}
quantity!(
    Seconds,
    Seconds,
    "a duration such as \"90s\", \"30min\", \"12h\" or \"30d\"",
    "duration: seconds, or a string such as \"90s\", \"30min\", \"12h\", \"30d\""
);

/// A count: tokens, samples, files, frames.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Count(pub f64);

impl FromStr for Count {
    type Err = UnitError;
    /// `200`, `1.3M`, `50k`, `2B`, `1T`, `2e12`, `130万`, `2亿`.
    fn from_str(text: &str) -> Result<Count, UnitError> {
        let wrong = || UnitError::Count { text: short(text) };
        let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
        let factor = match unit {
            "" => 1.0,
            "k" | "K" => 1e3,
            "万" => 1e4,
            "m" | "M" => 1e6,
            "亿" => 1e8,
            "b" | "B" | "g" | "G" => 1e9,
            "t" | "T" => 1e12,
            _ => return Err(wrong()),
        };
        Count::checked(number * factor, text)
    }
}
quantity!(
    Count,
    Count,
    "a count such as 200, \"1.3M\" or 2e12",
    "count: a number, or a string such as \"1.3M\""
);

/// A share between 0 and 1 as `6%` or `0.06`.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    let wrong = || UnitError::Percent { text: short(text) };
    let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
    let share = match unit {
        "%" => number / 100.0,
        "" => number,
        _ => return Err(wrong()),
    };
    if share < 0.0 {
        return Err(UnitError::Negative { text: short(text) });
    }
    if share > 1.0 {
        return Err(wrong());
    }
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_tell_decimal_from_binary() {
        assert_eq!("1.5TB".parse::<Bytes>().expect("size").0, 1.5e12);
        assert_eq!(
            "16 GiB".parse::<Bytes>().expect("size").0,
            16.0 * 1073741824.0
        );
        assert_eq!("1e3".parse::<Bytes>().expect("size").0, 1000.0);
        for text in ["", "GB", "-1GB", "1e400GB", "NaN", "12 parsecs", "1..2GB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn durations_and_counts() {
        assert_eq!("1h30min".parse::<Seconds>().expect("duration").0, 5400.0);
        assert_eq!("30d".parse::<Seconds>().expect("duration").0, 2_592_000.0);
        assert_eq!("45".parse::<Seconds>().expect("duration").0, 45.0);
        assert!("-5min".parse::<Seconds>().is_err());
        assert!("5 fortnights".parse::<Seconds>().is_err());
        assert_eq!("1.3M".parse::<Count>().expect("count").0, 1_300_000.0);
        assert_eq!("130万".parse::<Count>().expect("count").0, 1_300_000.0);
        assert_eq!(parse_percent("6%").expect("share"), 0.06);
        assert!(parse_percent("160%").is_err());
    }
}
