//! What the user needs, as pip writes it: `torch==2.11`, `vllm`, `tensorflow[and-cuda]>=2.16,<2.19`, `torch==2.6.0+cu124`.
//!
//! Not here: what such a need brings, which is the matter of each package's rule.

use crate::env::name_key;
use crate::shell::hidden;
use crate::version::Version;
use lessee_model::Msg;
use thiserror::Error;

/// Longest need that is read, in bytes.
const LONGEST: usize = 500;

/// A need that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NeedError {
    #[error("no package name")]
    Name,
    #[error("`{0}` is no version")]
    Version(String),
    #[error("`{0}` is no comparison with a version")]
    Clause(String),
    #[error("it comes from a place that is not read")]
    Elsewhere,
    #[error("the file that is named there was not found beside it")]
    NotThere,
    #[error("what this image brings is not known")]
    Image,
    #[error("lines not understood: {0}")]
    Lines(usize),
    #[error("no need was found in this file")]
    NoneFound,
}

impl NeedError {
    /// For people.
    pub(crate) fn msg(&self) -> Msg {
        match self {
            NeedError::Name | NeedError::Version(_) | NeedError::Clause(_) => {
                Msg::new("accept-need-unreadable").arg("what", self.to_string())
            }
            NeedError::Elsewhere => Msg::new("accept-need-elsewhere"),
            NeedError::NotThere => Msg::new("accept-need-not-there"),
            NeedError::Image => Msg::new("accept-need-image"),
            NeedError::Lines(n) => Msg::new("accept-need-lines").arg("n", *n),
            NeedError::NoneFound => Msg::new("accept-need-none-found"),
        }
    }
}

/// The builds that an index or a package beside it leaves to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wheel {
    /// `cu128`, `rocm6.4`, `cpu`.
    pub label: String,
    /// Nothing else is looked at; else it is only preferred to the same release without it.
    pub only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Equal,
    /// `==2.11.*`
    Like,
    NotEqual,
    NotLike,
    AtLeast,
    AtMost,
    Above,
    Below,
    /// `~=2.6.0`: at least that, the last number free.
    Compatible,
}

#[derive(Clone, Debug)]
struct Clause {
    op: Op,
    version: Version,
}

impl Clause {
    fn holds(&self, v: &Version) -> bool {
        match self.op {
            Op::Equal => *v == self.version,
            Op::NotEqual => *v != self.version,
            Op::Like => v.begins_with(&self.version),
            Op::NotLike => !v.begins_with(&self.version),
            Op::AtLeast => *v >= self.version,
            Op::AtMost => *v <= self.version,
            Op::Above => *v > self.version,
            Op::Below => *v < self.version,
            Op::Compatible => {
                let free = self.version.parts().saturating_sub(1).max(1);
                *v >= self.version && (0..free).all(|i| v.part(i) == self.version.part(i))
            }
        }
    }
}

/// One need.
#[derive(Clone, Debug)]
pub struct Need {
    /// As given.
    pub text: String,
    /// Lower case, `-` for `_` and `.`, as package indexes compare names.
    pub package: String,
    pub extras: Vec<String>,
    clauses: Vec<Clause>,
    pub(crate) wheel: Option<Wheel>,
    /// The PyTorch that a lock pins beside it.
    pub(crate) locked_torch: Option<Version>,
    /// It is installed: what an install would compile or take beside it does not count.
    pub(crate) installed: bool,
}

impl Need {
    /// Reads a need.
    ///
    /// # Errors
    /// There is no name, or a version or comparison that is none.
    pub fn parse(text: &str) -> Result<Need, NeedError> {
        if text.len() > LONGEST {
            return Err(NeedError::Name);
        }
        let text = &hidden(text);
        // markers and comments say when a line holds, not what it brings
        let whole = text.split(" ;").next().unwrap_or("");
        if let Some(from) = address(whole) {
            return of_address(text, whole, from);
        }
        let bare = text.split([';', '#']).next().unwrap_or("").trim();
        let end = bare
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
            .unwrap_or(bare.len());
        let (name, rest) = bare.split_at(end);
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(NeedError::Name);
        }
        let rest = rest.trim();
        let (extras, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest
                .split_once(']')
                .ok_or_else(|| NeedError::Clause(rest.to_owned()))?,
            None => ("", rest),
        };
        let rest = rest.trim().trim_start_matches('(').trim_end_matches(')');
        let clauses = rest
            .split(',')
            .map(str::trim)
            .filter(|c| !c.is_empty())
            .map(clauses_of)
            .collect::<Result<Vec<_>, _>>()?
            .concat();
        Ok(Need {
            text: text.trim().to_owned(),
            package: name_key(name),
            extras: extras
                .split(',')
                .map(name_key)
                .filter(|e| !e.is_empty())
                .collect(),
            clauses,
            wheel: None,
            locked_torch: None,
            installed: false,
        })
    }

    /// The same need of what is installed.
    pub(crate) fn of_installed(mut self) -> Need {
        self.installed = true;
        self
    }

    /// Adds the limits of a constraint on the same package.
    pub(crate) fn constrain(&mut self, by: &Need) {
        if by.package == self.package {
            self.clauses.extend(by.clauses.iter().cloned());
        }
    }

    /// The version of the first clause that sets a lower end.
    pub(crate) fn lowest(&self) -> Option<&Version> {
        let low = |c: &&Clause| matches!(c.op, Op::Equal | Op::Like | Op::AtLeast | Op::Compatible);
        self.clauses.iter().find(low).map(|c| &c.version)
    }

    pub(crate) fn allows(&self, version: &Version) -> bool {
        self.clauses.iter().all(|c| c.holds(version))
    }

    pub(crate) fn has_extra(&self, extra: &str) -> bool {
        self.extras.iter().any(|e| e == extra)
    }

    /// The one version that is asked for, if it is one.
    pub(crate) fn exact(&self) -> Option<&Version> {
        let equal = self.clauses.iter().find(|c| c.op == Op::Equal)?;
        Some(&equal.version)
    }

    /// The wheel that is named: `cu124` of `==2.6.0+cu124`.
    pub(crate) fn local(&self) -> Option<&str> {
        self.exact()?.local()
    }

    /// The newest of the known versions that the need allows; pre-releases only where one is asked for.
    pub(crate) fn newest<'a>(
        &self,
        known: impl Iterator<Item = &'a Version>,
    ) -> Option<&'a Version> {
        let exact_pre = self.exact().is_some_and(Version::is_pre);
        known
            .filter(|v| (exact_pre || !v.is_pre()) && self.allows(v))
            .max()
    }
}

/// Where a package comes from, if not from an index: an address or the path of a wheel.
fn address(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some((_, from)) = text.split_once('@') {
        let name = text.split('@').next().unwrap_or("");
        if !name.contains(['/', ':']) {
            return Some(from.trim());
        }
    }
    let other = text.contains("://") || text.starts_with("git+") || text.ends_with(".whl");
    other.then_some(text)
}

/// A wheel says in its name what it is; of all else nothing is known before it is fetched.
fn of_address(text: &str, whole: &str, from: &str) -> Result<Need, NeedError> {
    let path = from.split(['#', '?']).next().unwrap_or("").trim();
    let file = path.rsplit(['/', '\\']).next().unwrap_or("");
    let wheel = file.strip_suffix(".whl").ok_or(NeedError::Elsewhere)?;
    let mut parts = wheel.split('-');
    let (Some(name), Some(version)) = (parts.next(), parts.next()) else {
        return Err(NeedError::Elsewhere);
    };
    let version = version.replace("%2B", "+").replace("%2b", "+");
    let named = whole.split('@').next().unwrap_or("").trim();
    let extras = named.split_once('[').map_or("", |(_, e)| e);
    let extras = match extras.is_empty() {
        true => String::new(),
        false => format!("[{extras}"),
    };
    let mut need = Need::parse(&format!("{name}{extras}=={version}"))?;
    need.text = text.trim().to_owned();
    Ok(need)
}

/// One clause; Poetry's `^2.6` and `~2.6` are two.
fn clauses_of(text: &str) -> Result<Vec<Clause>, NeedError> {
    let quoted = text.trim_start_matches(['=', ' ']);
    let text = match quoted.starts_with(['"', '\'']) {
        true => quoted.trim_matches(['"', '\'']).trim(),
        false => text,
    };
    let caret = text.strip_prefix('^');
    let tilde = text.strip_prefix('~').filter(|t| !t.starts_with('='));
    let Some(version) = caret.or(tilde) else {
        // `torch = "2.6.0"`
        let bare = text.starts_with(|c: char| c.is_ascii_digit()) && text.len() < quoted.len();
        return match bare {
            true => clause(&format!("=={text}")).map(|c| vec![c]),
            false => clause(text).map(|c| vec![c]),
        };
    };
    let low = clause(&format!(">={version}"))?;
    // `^0.4.2` stays below 0.5, `~2.6` below 2.7, `~2` below 3
    let free = match caret {
        Some(_) => (0..low.version.parts()).find(|i| low.version.part(*i) > 0),
        None => Some(low.version.parts().min(2).saturating_sub(1)),
    };
    let free = free.unwrap_or(low.version.parts().saturating_sub(1));
    let same: Vec<String> = (0..=free)
        .map(|i| low.version.part(i).to_string())
        .collect();
    let like = clause(&format!("=={}.*", same.join(".")))?;
    Ok(vec![low, like])
}

fn clause(text: &str) -> Result<Clause, NeedError> {
    const OPS: [(&str, Op); 9] = [
        ("===", Op::Equal),
        ("==", Op::Equal),
        ("!=", Op::NotEqual),
        (">=", Op::AtLeast),
        ("<=", Op::AtMost),
        ("~=", Op::Compatible),
        (">", Op::Above),
        ("<", Op::Below),
        // conda
        ("=", Op::Like),
    ];
    let found = OPS
        .iter()
        .find_map(|(sign, op)| Some((*op, text.strip_prefix(sign)?)));
    let Some((op, version)) = found else {
        return Err(NeedError::Clause(text.to_owned()));
    };
    let version = version.trim();
    let (version, op) = match (version.strip_suffix(".*"), op) {
        (Some(prefix), Op::Equal | Op::Like) => (prefix, Op::Like),
        (Some(prefix), Op::NotEqual) => (prefix, Op::NotLike),
        (Some(_), _) => return Err(NeedError::Version(version.to_owned())),
        (None, op) => (version, op),
    };
    let parsed = version
        .parse()
        .map_err(|()| NeedError::Version(version.to_owned()))?;
    Ok(Clause {
        op,
        version: parsed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest(need: &str, known: &[&str]) -> Option<String> {
        let known: Vec<Version> = known.iter().map(|v| v.parse().expect("version")).collect();
        let need = Need::parse(need).expect("a need");
        need.newest(known.iter()).map(ToString::to_string)
    }

    #[test]
    fn a_range_is_its_newest_version() {
        let known = ["2.4.1", "2.6.0", "2.7.1", "2.11.0", "2.15.0", "3.0.0rc1"];
        for (need, expected) in [
            ("torch", Some("2.15.0")),
            ("Torch == 2.11", Some("2.11.0")),
            ("torch>=2.6,<2.8", Some("2.7.1")),
            ("torch~=2.6", Some("2.15.0")),
            ("torch~=2.6.0", Some("2.6.0")),
            ("torch==2.7.*", Some("2.7.1")),
            ("torch=2.4", Some("2.4.1")),
            ("torch!=2.15.0", Some("2.11.0")),
            ("torch==2.6.0+cu124", Some("2.6.0")),
            ("torch<=2.5 ; python_version < '3.9'", Some("2.4.1")),
            ("torch==9.9", None),
            ("torch>3", None),
        ] {
            assert_eq!(newest(need, &known).as_deref(), expected, "{need}");
        }
    }

    #[test]
    fn names_extras_and_wheels_are_read() {
        let need = Need::parse("TensorFlow[and-cuda, x]>=2.16").expect("a need");
        assert_eq!(need.package, "tensorflow");
        assert!(need.has_extra("and-cuda"));
        let need = Need::parse("flash_attn==2.8.3").expect("a need");
        assert_eq!(need.package, "flash-attn");
        let wheel = Need::parse("torch==2.6.0+cu124").expect("a need");
        assert_eq!(wheel.local(), Some("cu124"));
        for text in [
            "",
            "==2",
            "torch==",
            "torch==abc",
            "torch 2.6",
            "torch>=2.*",
            "torch[x",
            "-e .",
        ] {
            assert!(Need::parse(text).is_err(), "{text}");
        }
    }
}
