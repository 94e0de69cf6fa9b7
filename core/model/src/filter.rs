//! Filters as users of SkyPilot and dstack already type them: `A100-80GB:8`, `24GB..80GB`, `eu-*`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::str::FromStr;

/// `8`, `1..8`, `24GB..`, `..80GB` over a parsed quantity; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    pub min: Option<T>,
    pub max: Option<T>,
}

impl<T: PartialOrd + Copy> Range<T> {
    pub fn contains(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

impl<T: FromStr + PartialOrd + Copy> FromStr for Range<T> {
    type Err = String;
    fn from_str(text: &str) -> Result<Range<T>, String> {
        let wrong = || {
            format!("`{text}` is not a range: write it like `8`, `1..8`, `24GB..80GB` or `24GB..`")
        };
        let side = |s: &str| -> Result<Option<T>, String> {
            if s.trim().is_empty() {
                Ok(None)
            } else {
                s.trim().parse().map(Some).map_err(|_| wrong())
            }
        };
        let range = match text.split_once("..") {
            Some((low, high)) => Range {
                min: side(low)?,
                max: side(high)?,
            },
            None => {
                let exact = side(text)?;
                Range {
                    min: exact,
                    max: exact,
                }
            }
        };
        match (range.min, range.max) {
            (None, None) => Err(wrong()),
            (Some(low), Some(high)) if low > high => Err(wrong()),
            _ => Ok(range),
        }
    }
}

/// A GPU by name with a count: `A100-80GB:8`, `H100:4..8`, `L4`. The name is resolved by [`crate::GpuTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct GpuFilter {
    pub name: String,
    pub count: Option<Range<u32>>,
}

impl FromStr for GpuFilter {
    type Err = String;
    fn from_str(text: &str) -> Result<GpuFilter, String> {
        let (name, count) = match text.rsplit_once(':') {
            Some((name, count)) => (name, Some(count.parse()?)),
            None => (text, None),
        };
        if name.trim().is_empty() {
            return Err(format!(
                "`{text}` names no GPU: write it like `A100-80GB:8`"
            ));
        }
        Ok(GpuFilter {
            name: name.trim().to_owned(),
            count,
        })
    }
}

impl Serialize for GpuFilter {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.count {
            None => s.serialize_str(&self.name),
            Some(Range { min, max }) if min == max => {
                s.serialize_str(&format!("{}:{}", self.name, min.unwrap_or(0)))
            }
            Some(Range { min, max }) => s.serialize_str(&format!(
                "{}:{}..{}",
                self.name,
                min.map(|x| x.to_string()).unwrap_or_default(),
                max.map(|x| x.to_string()).unwrap_or_default()
            )),
        }
    }
}

impl<'de> Deserialize<'de> for GpuFilter {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<GpuFilter, D::Error> {
        String::deserialize(d)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for GpuFilter {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GpuFilter".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "description": "a GPU by name, optionally with a count: A100-80GB:8, H100:4..8, L4"})
    }
}

/// Shell-style match with `*` and `?`, ignoring ASCII case. Linear in the text for each `*`.
pub fn glob_match(pattern: &str, text: &str) -> bool {
    let p: Vec<char> = pattern.chars().map(|c| c.to_ascii_lowercase()).collect();
    let t: Vec<char> = text.chars().map(|c| c.to_ascii_lowercase()).collect();
    let (mut i, mut j) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while j < t.len() {
        if i < p.len() && p[i] == '*' {
            back = Some((i, j));
            i += 1;
        } else if i < p.len() && (p[i] == '?' || p[i] == t[j]) {
            i += 1;
            j += 1;
        } else if let Some((star, from)) = back {
            i = star + 1;
            j = from + 1;
            back = Some((star, from + 1));
        } else {
            return false;
        }
    }
    p[i..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;

    #[test]
    fn ranges_and_globs() {
        let range: Range<Bytes> = "24GB..80GB".parse().expect("range");
        assert!(
            range.contains(Bytes(24e9))
                && range.contains(Bytes(80e9))
                && !range.contains(Bytes(81e9))
        );
        assert!("80GB..24GB".parse::<Range<Bytes>>().is_err());
        assert!("..".parse::<Range<u32>>().is_err());
        assert!(glob_match("eu-*", "eu-west-1") && !glob_match("eu-*", "us-east-1"));
        assert!(glob_match("*west*", "us-west-2") && glob_match("us-?ast-1", "US-east-1"));
    }

    #[test]
    fn gpu_filters() {
        let gpu: GpuFilter = "A100-80GB:8".parse().expect("filter");
        assert_eq!(
            (gpu.name.as_str(), gpu.count),
            (
                "A100-80GB",
                Some(Range {
                    min: Some(8),
                    max: Some(8)
                })
            )
        );
        assert!("H100:many".parse::<GpuFilter>().is_err());
        assert!(":8".parse::<GpuFilter>().is_err());
    }
}
