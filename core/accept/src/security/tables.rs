//! The tables of `data/accept` that the security rules read: sources and limits, which algorithm is worth what, the checklist,
//! what providers claim. Who loads the text is `io/catalog`.

use super::checklist::{Claim, Item};
use crate::table::{Origin, Row, TableError, read};

/// The text of each table.
pub struct SecuritySources {
    pub rules: &'static str,
    pub algorithms: &'static str,
    pub checklist: &'static str,
    pub claims: &'static str,
    pub http_answers: &'static str,
    pub network_mounts: &'static str,
}

/// What the rules stand on.
#[derive(Clone, Debug)]
pub struct Security {
    rules: Vec<Rule>,
    algorithms: Vec<Algorithm>,
    pub items: Vec<Item>,
    pub(super) claims: Vec<Claim>,
    http: Vec<HttpRow>,
    network: Vec<NetworkMount>,
}

/// Source of a rule, and its limit where it has one.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    name: String,
    limit: Option<f64>,
    pub origin: Origin,
}

/// What an algorithm is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    Good,
    /// Not to be used in new systems: a warning.
    Weak,
    /// Forbidden by a standard or broken in practice.
    Broken,
    /// No algorithm, but a sign of something else.
    Marker,
}

#[derive(Clone, Debug)]
struct Algorithm {
    kind: String,
    /// Number of a TLS suite in hexadecimal, object identifier, or the name itself.
    code: String,
    name: String,
    strength: Strength,
    origin: Origin,
}

/// An answer to a request without encryption that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpSign {
    pub status: u16,
    /// In lower case; stands in the head or at the start of the body.
    pub text: Option<String>,
}

impl HttpSign {
    /// `seen`: head and body, in lower case.
    pub fn is(&self, status: u16, seen: &str) -> bool {
        let text = self.text.as_ref();
        self.status == status && text.is_none_or(|t| seen.contains(t.as_str()))
    }
}

/// How answers over plain HTTP are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpSigns {
    /// The port takes HTTPS alone.
    pub refused: Vec<HttpSign>,
    /// A metadata service wants a token or a header first.
    pub token: Vec<HttpSign>,
}

/// A file system over a network, by the options of its mount.
#[derive(Clone, Debug)]
pub(super) struct NetworkMount {
    pub kind: String,
    /// One of these encrypts what it carries; `*` = it always does.
    pub encrypted_by: Vec<String>,
    /// One of these means a protocol that is broken.
    pub broken_by: Vec<String>,
    /// Without any of them it is in the clear; else the options do not tell.
    pub plain: bool,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
struct HttpRow {
    token: bool,
    sign: HttpSign,
    origin: Origin,
}

impl Security {
    /// # Errors
    /// A table that is built in is broken: a bug.
    pub fn read(sources: &SecuritySources) -> Result<Security, TableError> {
        Ok(Security {
            rules: read("accept/security_rules.csv", sources.rules, rule)?,
            algorithms: read("accept/algorithms.csv", sources.algorithms, algorithm)?,
            items: read("accept/checklist.csv", sources.checklist, Item::read)?,
            claims: read("accept/claims.csv", sources.claims, Claim::read)?,
            http: read("accept/http_answers.csv", sources.http_answers, http)?,
            network: read("accept/network_mounts.csv", sources.network_mounts, network)?,
        })
    }

    pub(super) fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|r| r.name == name)
    }

    /// The limit of a rule; infinite where the table has none, so that a lost row warns of everything instead of nothing.
    pub(super) fn limit(&self, name: &str) -> f64 {
        self.rule(name)
            .and_then(|r| r.limit)
            .unwrap_or(f64::INFINITY)
    }

    /// `kind`: `tls-suite` (code in hexadecimal), `signature` and `curve` (object identifiers), `ssh-kex`, `ssh-host-key`,
    /// `ssh-cipher`, `ssh-mac`, `disk-cipher`, `kdf` (names).
    /// What a row says that may not decide is not known.
    pub fn strength(&self, kind: &str, code: &str) -> Option<Strength> {
        let found = self.algorithm(kind, code);
        found.filter(|a| a.origin.decides()).map(|a| a.strength)
    }

    /// As people call it; the code where nothing is known of it.
    pub(super) fn name<'a>(&'a self, kind: &str, code: &'a str) -> &'a str {
        self.algorithm(kind, code).map_or(code, |a| &a.name)
    }

    fn algorithm(&self, kind: &str, code: &str) -> Option<&Algorithm> {
        let mut all = self.algorithms.iter();
        all.find(|a| a.kind == kind && a.code == code)
    }

    /// Numbers of the TLS suites of a strength, in the order of the table.
    pub fn suites(&self, strength: Strength) -> Vec<u16> {
        self.algorithms
            .iter()
            .filter(|a| a.kind == "tls-suite" && a.strength == strength && a.origin.decides())
            .filter_map(|a| u16::from_str_radix(&a.code, 16).ok())
            .collect()
    }

    pub(super) fn network(&self, kind: &str) -> Option<&NetworkMount> {
        self.network.iter().find(|n| n.kind == kind)
    }

    /// The answers over plain HTTP that may decide.
    pub fn http_signs(&self) -> HttpSigns {
        let of = |token: bool| {
            let rows = self.http.iter();
            let those = rows.filter(|r| r.token == token && r.origin.decides());
            those.map(|r| r.sign.clone()).collect()
        };
        HttpSigns {
            refused: of(false),
            token: of(true),
        }
    }

    /// Rules that the table has.
    pub fn rule_names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|r| r.name.as_str())
    }
}

fn rule(row: &Row<'_>) -> Result<Rule, String> {
    Ok(Rule {
        name: row.need("rule")?,
        limit: row.opt("limit")?,
        origin: row.origin()?,
    })
}

fn network(row: &Row<'_>) -> Result<NetworkMount, String> {
    Ok(NetworkMount {
        kind: row.need("kind")?,
        encrypted_by: row.list("encrypted_by")?,
        broken_by: row.list("broken_by")?,
        plain: match row.get("otherwise")? {
            "plain" => true,
            "unseen" => false,
            other => return Err(format!("otherwise: `{other}`")),
        },
        origin: row.origin()?,
    })
}

fn http(row: &Row<'_>) -> Result<HttpRow, String> {
    let token = match (row.get("question")?, row.get("reading")?) {
        ("plain", "refused") => false,
        ("imds", "token") => true,
        (question, reading) => return Err(format!("`{question}`, `{reading}`")),
    };
    Ok(HttpRow {
        token,
        sign: HttpSign {
            status: row.need("status")?,
            text: row.opt("text")?,
        },
        origin: row.origin()?,
    })
}

fn algorithm(row: &Row<'_>) -> Result<Algorithm, String> {
    let strength = match row.get("strength")? {
        "good" => Strength::Good,
        "weak" => Strength::Weak,
        "broken" => Strength::Broken,
        "marker" => Strength::Marker,
        other => return Err(format!("strength: `{other}`")),
    };
    let code: String = row.need("code")?;
    let name = row.opt("name")?.unwrap_or_else(|| code.clone());
    let kind: String = row.need("kind")?;
    if kind == "tls-suite" && u16::from_str_radix(&code, 16).is_err() {
        return Err(format!("code: `{code}`"));
    }
    Ok(Algorithm {
        kind,
        code,
        name,
        strength,
        origin: row.origin()?,
    })
}
