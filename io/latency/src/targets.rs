//! A file of targets, TOML (`[[target]]`) or CSV: name, host, port, region, provider.

use csv::{ReaderBuilder, StringRecord, Trim};
use lessee_accept::latency::{Target, TargetError};
use lessee_model::{Explain, Msg, did_you_mean};
use std::collections::BTreeMap;
use thiserror::Error;
use toml::de::{DeTable, DeValue};

/// A list of targets is short; anything larger is another file.
pub const MAX_FILE: u64 = 1024 * 1024;

const KEYS: [&str; 5] = ["name", "host", "port", "region", "provider"];

#[derive(Debug, Error)]
pub enum TargetsError {
    #[error("{file}: {what}")]
    Format { file: String, what: String },
    #[error("{file}:{line}: unknown key {key}")]
    Key {
        file: String,
        line: usize,
        key: String,
    },
    #[error("{file}:{line}: {key} is no text")]
    Value {
        file: String,
        line: usize,
        key: &'static str,
    },
    #[error("{file}:{line}: {text}: {why}")]
    Target {
        file: String,
        line: usize,
        text: String,
        why: TargetError,
    },
    #[error("{file}: no targets")]
    None { file: String },
    #[error("{file}:{line}: {name} stands there twice")]
    Twice {
        file: String,
        line: usize,
        name: String,
    },
}

impl Explain for TargetsError {
    fn msg(&self) -> Msg {
        let at = |id, file: &str, line: usize| Msg::new(id).arg("file", file).arg("line", line);
        match self {
            TargetsError::Format { file, what } => Msg::new("accept-latency-targets-format")
                .arg("file", file.as_str())
                .arg("detail", what.as_str()),
            TargetsError::Key { file, line, key } => {
                at("accept-latency-targets-key", file, *line).arg("key", key.as_str())
            }
            TargetsError::Value { file, line, key } => {
                at("accept-latency-targets-value", file, *line).arg("key", *key)
            }
            TargetsError::Target {
                file,
                line,
                text,
                why,
            } => at("accept-latency-targets-target", file, *line)
                .arg("text", lessee_accept::shown_address(text))
                .arg("why", why.msg()),
            TargetsError::None { file } => {
                Msg::new("accept-latency-targets-none").arg("file", file.as_str())
            }
            TargetsError::Twice { file, line, name } => {
                at("accept-latency-targets-twice", file, *line).arg("name", name.as_str())
            }
        }
    }

    fn hints(&self) -> Vec<Msg> {
        let known = || Msg::new("hint-known-words").arg("words", KEYS.join(", "));
        match self {
            TargetsError::Key { key, .. } => vec![match did_you_mean(key, KEYS) {
                Some(word) => Msg::new("hint-did-you-mean").arg("word", word),
                None => known(),
            }],
            TargetsError::Format { .. } | TargetsError::None { .. } => {
                vec![Msg::new("hint-accept-targets")]
            }
            _ => Vec::new(),
        }
    }
}

/// One entry as it stands there.
#[derive(Default)]
struct Entry {
    line: usize,
    cells: BTreeMap<&'static str, String>,
}

/// Reads a file of targets; TOML is told from CSV by its brackets and equals signs.
///
/// # Errors
/// Neither of them, an unknown key, a target that is none, or no target at all.
pub fn targets_of(text: &str, file: &str) -> Result<Vec<Target>, TargetsError> {
    let entries = match looks_like_toml(text) {
        true => toml_entries(text, file)?,
        false => csv_entries(text, file)?,
    };
    let mut targets: Vec<Target> = Vec::new();
    for entry in &entries {
        let target = target(entry, file)?;
        if targets.iter().any(|t| t.name == target.name) {
            return Err(TargetsError::Twice {
                file: file.to_owned(),
                line: entry.line,
                name: target.name,
            });
        }
        targets.push(target);
    }
    match targets.is_empty() {
        true => Err(TargetsError::None {
            file: file.to_owned(),
        }),
        false => Ok(targets),
    }
}

fn looks_like_toml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|l| !l.is_empty() && !l.starts_with('#'));
    first.is_none_or(|l| l.starts_with('[') || l.contains('='))
}

fn target(entry: &Entry, file: &str) -> Result<Target, TargetsError> {
    let cell = |key: &str| {
        entry
            .cells
            .get(key)
            .map(|c| c.trim())
            .filter(|c| !c.is_empty())
    };
    let host = cell("host").unwrap_or_default();
    let whole = match (cell("port"), host.contains(':')) {
        (Some(port), false) => format!("{host}:{port}"),
        (Some(port), true) => format!("[{host}]:{port}"),
        (None, _) => host.to_owned(),
    };
    let wrong = |why| TargetsError::Target {
        file: file.to_owned(),
        line: entry.line,
        text: whole.clone(),
        why,
    };
    let mut target = Target::parse(&whole).map_err(wrong)?;
    let owned = |key| cell(key).map(str::to_owned);
    if let Some(name) = owned("name") {
        target.name = name;
    }
    target.region = owned("region");
    target.provider = owned("provider");
    Ok(target)
}

fn toml_entries(text: &str, file: &str) -> Result<Vec<Entry>, TargetsError> {
    let format = |what: String| TargetsError::Format {
        file: file.to_owned(),
        what,
    };
    let line_of = |at: usize| 1 + text.bytes().take(at).filter(|b| *b == b'\n').count();
    let table = DeTable::parse(text).map_err(|e| format(e.to_string().trim_end().to_owned()))?;
    let mut entries = Vec::new();
    for (key, value) in table.get_ref() {
        let unknown = || TargetsError::Key {
            file: file.to_owned(),
            line: line_of(key.span().start),
            key: key.get_ref().to_string(),
        };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(unknown());
        };
        if key.get_ref() != "target" {
            return Err(unknown());
        }
        for item in items {
            let DeValue::Table(item_table) = item.get_ref() else {
                return Err(unknown());
            };
            let mut entry = Entry {
                line: line_of(item.span().start),
                ..Entry::default()
            };
            for (key, value) in item_table {
                let line = line_of(key.span().start);
                let known = known(key.get_ref(), line, file)?;
                let text = match value.get_ref() {
                    DeValue::String(text) => text.to_string(),
                    DeValue::Integer(n) => n.to_string(),
                    _ => {
                        return Err(TargetsError::Value {
                            file: file.to_owned(),
                            line,
                            key: known,
                        });
                    }
                };
                entry.cells.insert(known, text);
            }
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn csv_entries(text: &str, file: &str) -> Result<Vec<Entry>, TargetsError> {
    let format = |e: csv::Error| TargetsError::Format {
        file: file.to_owned(),
        what: e.to_string(),
    };
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut header: Vec<&'static str> = Vec::new();
    let mut entries = Vec::new();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(format)? {
        let line = record.position().map_or(0, |p| p.line());
        let line = usize::try_from(line).unwrap_or_default();
        if header.is_empty() {
            let keys = record.iter().map(|key| known(key, line, file));
            header = keys.collect::<Result<_, _>>()?;
            continue;
        }
        let cells = header.iter().copied().zip(record.iter().map(str::to_owned));
        entries.push(Entry {
            line,
            cells: cells.collect(),
        });
    }
    Ok(entries)
}

fn known(key: &str, line: usize, file: &str) -> Result<&'static str, TargetsError> {
    let found = KEYS.into_iter().find(|k| *k == key);
    found.ok_or_else(|| TargetsError::Key {
        file: file.to_owned(),
        line,
        key: key.chars().take(60).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let toml = "# mine\n[[target]]\nname = \"eu\"\nhost = \"a.example\"\nport = 443\nregion = \"fra\"\nprovider = \"acme\"\n\
                    [[target]]\nhost = \"10.0.0.1\"\nport = \"22\"\n";
        let csv = "name,host,port,region,provider\neu, a.example,443,fra,acme\n,10.0.0.1,22,,\n";
        let targets = targets_of(toml, "f").expect("targets");
        assert_eq!(targets, targets_of(csv, "f").expect("targets"));
        assert_eq!(targets[0].name, "eu");
        assert_eq!(targets[0].region.as_deref(), Some("fra"));
        assert_eq!(
            (targets[1].name.as_str(), targets[1].port),
            ("10.0.0.1:22", Some(22))
        );
        let v6 = targets_of("host,port\n2001:db8::1,22\n", "f").expect("targets");
        assert_eq!(v6[0].name, "[2001:db8::1]:22");
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let of = |text: &str| targets_of(text, "f").map_err(|e| e.to_string());
        let cases = [
            ("[[target]]\nhots = \"a\"\n", "f:2: unknown key hots"),
            ("[targets]\nhost = \"a\"\n", "f:1: unknown key targets"),
            ("target = 3\n", "f:1: unknown key target"),
            ("[[target]]\nhost = [1]\n", "f:2: host is no text"),
            ("name,hosts\na,b\n", "f:1: unknown key hosts"),
            (
                "host,port\na,70000\n",
                "f:2: a:70000: a port is a number from 1 to 65535",
            ),
            ("host\na\nA B\n", "f:3: A B: a host name has"),
            ("name,host\nx,\n", "f:2: : there is no host"),
            ("name,host\nx,a\nx,b\n", "f:3: x stands there twice"),
            ("host\n", "f: no targets"),
            ("\n\n", "f: no targets"),
            ("host,name\na\n", "f: CSV error"),
        ];
        for (text, want) in cases {
            let found = of(text).expect_err(text);
            assert!(found.starts_with(want), "{text:?}: {found}");
        }
        assert!(of("[[target\n").is_err());
    }
}
