//! Versions as Python packages, drivers and CUDA write them: numbers between dots, then perhaps a pre-release, a post
//! release and a local part (PEP 440). No epochs: none of the packages here has one.

use pep508_rs::pep440_rs;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Most numbers of a version; more is not a version.
const MOST: usize = 8;

/// `2.6.0`, `2.6.0+cu124`, `0.8.5.post1`, `535.183.01`.
#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    release: Vec<u64>,
    /// Without the local part.
    public: pep440_rs::Version,
    local: Option<String>,
}

impl Version {
    /// As written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part behind `+`: `cu124`.
    pub fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    pub(crate) fn major(&self) -> u64 {
        self.part(0)
    }

    pub(crate) fn part(&self, at: usize) -> u64 {
        self.release.get(at).copied().unwrap_or(0)
    }

    pub(crate) fn parts(&self) -> usize {
        self.release.len()
    }

    pub(crate) fn is_pre(&self) -> bool {
        self.public.any_prerelease()
    }

    /// Whether the first numbers are those of `prefix`: `2.11.0` begins with `2.11`.
    pub(crate) fn begins_with(&self, prefix: &Version) -> bool {
        (0..prefix.parts()).all(|i| self.part(i) == prefix.part(i))
    }
}

impl FromStr for Version {
    type Err = ();

    fn from_str(text: &str) -> Result<Version, ()> {
        let text = text.trim();
        let whole = text.strip_prefix(['v', 'V']).unwrap_or(text);
        // it becomes part of lines for a shell
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let (public, local) = match whole.split_once('+') {
            Some((public, local)) if !local.is_empty() && local.chars().all(plain) => {
                (public, Some(local.to_ascii_lowercase()))
            }
            Some(_) => return Err(()),
            None => (whole, None),
        };
        let digits = public
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(public.len());
        let numbers = &public[..digits];
        let numbers = numbers.strip_suffix('.').unwrap_or(numbers);
        let release: Vec<u64> = numbers
            .split('.')
            .map(|n| n.parse().map_err(|_| ()))
            .collect::<Result<_, ()>>()?;
        if release.len() > MOST || public.contains('!') {
            return Err(());
        }
        Ok(Version {
            text: text.to_owned(),
            release,
            public: public.trim_end_matches('.').parse().map_err(|_| ())?,
            local,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Local parts do not count: `2.6.0+cu124` is `2.6.0`.
impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.public.cmp(&other.public)
    }
}
impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Version {}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn versions_are_ordered_as_packages_are() {
        assert_eq!(v("2.11"), v("2.11.0"));
        assert_eq!(v("2.6.0+cu124"), v("2.6"));
        assert_eq!(v("2.6.0+cu124").local(), Some("cu124"));
        let ordered = [
            "0.8.5",
            "0.8.5.post1",
            "0.10.1",
            "0.10.1.1",
            "2.6.0.dev20250101",
            "2.6.0a1",
            "2.6.0b1",
            "2.6.0rc1",
            "2.6.0rc2",
            "2.6.0rc10",
            "2.6.0",
            "2.6.0.post18446744073709551615",
            "2.11.0",
            "450.51.06",
            "450.80.02",
            "535.183.01",
        ];
        assert!(ordered.windows(2).all(|w| v(w[0]) < v(w[1])), "{ordered:?}");
        for text in [
            "",
            "abc",
            "2.x",
            "2..1",
            "1.2.3-foo",
            "2.6+",
            "2.6+x$(curl",
            "2.6+a b",
            "1!2.6",
            "1.1.1.1.1.1.1.1.1",
        ] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
