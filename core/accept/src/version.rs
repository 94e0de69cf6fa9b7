//! Versions as Python packages, drivers and CUDA write them: numbers between dots, then perhaps a pre-release, a post
//! release and a local part (PEP 440). No epochs: none of the packages here has one.

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
    /// `a1`, `rc2`, `dev0`: older than the release itself.
    pre: Option<String>,
    post: u64,
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
        self.pre.is_some()
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
        let (public, local) = match whole.split_once('+') {
            Some((public, local)) if !local.is_empty() => {
                (public, Some(local.to_ascii_lowercase()))
            }
            Some(_) => return Err(()),
            None => (whole, None),
        };
        let digits = public
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(public.len());
        let (numbers, rest) = public.split_at(digits);
        let numbers = numbers.strip_suffix('.').unwrap_or(numbers);
        let release: Vec<u64> = numbers
            .split('.')
            .map(|n| n.parse().map_err(|_| ()))
            .collect::<Result<_, ()>>()?;
        if release.len() > MOST {
            return Err(());
        }
        let rest = rest.trim_matches(['.', '-', '_']).to_ascii_lowercase();
        let (pre, post) = match rest.strip_prefix("post") {
            Some(n) => (None, 1 + n.parse::<u64>().map_err(|_| ())?),
            None if rest.is_empty() => (None, 0),
            None if ["a", "b", "c", "rc", "dev", "alpha", "beta", "pre"]
                .iter()
                .any(|p| {
                    rest.strip_prefix(p)
                        .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
                }) =>
            {
                (Some(rest), 0)
            }
            None => return Err(()),
        };
        Ok(Version {
            text: text.to_owned(),
            release,
            pre,
            post,
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
        let numbers = (0..self.parts().max(other.parts()))
            .map(|i| self.part(i).cmp(&other.part(i)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal);
        // a pre-release is older than the release
        numbers
            .then_with(|| match (&self.pre, &other.pre) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            })
            .then_with(|| self.post.cmp(&other.post))
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
            "2.6.0rc1",
            "2.6.0",
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
            "1.1.1.1.1.1.1.1.1",
        ] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
