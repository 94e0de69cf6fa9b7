//! The places where settings stand, and which of them wins for a key.

use super::Setting;
use crate::Failure;
use crate::GlobalArgs;
use etcetera::BaseStrategy;
use lessee_model::Msg;
use lessee_model::workload::{line_and_column, wording};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Key of the files and its environment variable, in the order of `config show`.
pub const KEYS: [(&str, &str); 8] = [
    ("lang", "LESSEE_LANG"),
    ("output", "LESSEE_OUTPUT"),
    ("offline", "LESSEE_OFFLINE"),
    ("quiet", "LESSEE_QUIET"),
    ("tz", "LESSEE_TZ"),
    ("data_dir", "LESSEE_DATA_DIR"),
    ("cache_dir", "LESSEE_CACHE_DIR"),
    ("currency", "LESSEE_CURRENCY"),
];

/// A settings file larger than this is not one.
const LARGEST: u64 = 1 << 20;

/// Where a value came from, strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    Env(&'static str),
    Project(PathBuf),
    User(PathBuf),
    BuiltIn,
}

impl Origin {
    /// For people and `config show -o json`: `flag`, `env LESSEE_LANG`, `project FILE`, ...
    pub fn label(&self) -> String {
        match self {
            Origin::Flag => "flag".to_owned(),
            Origin::Env(name) => format!("env {name}"),
            Origin::Project(path) => format!("project {}", path.display()),
            Origin::User(path) => format!("user {}", path.display()),
            Origin::BuiltIn => "built-in".to_owned(),
        }
    }
}

/// `lessee.toml` and `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SettingsFile {
    lang: Option<String>,
    output: Option<String>,
    offline: Option<bool>,
    quiet: Option<bool>,
    tz: Option<String>,
    data_dir: Option<String>,
    cache_dir: Option<String>,
    currency: Option<String>,
}

/// Values as text by key, with the layer that won.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    values: BTreeMap<&'static str, (String, Origin)>,
    /// Where the user's file is or would be.
    pub user_file: PathBuf,
    pub project_file: Option<PathBuf>,
    /// Files that are there, as far as can be seen, and cannot be read: why not. Nobody named them, so they are a warning.
    pub unread: Vec<(PathBuf, String)>,
}

impl Layers {
    pub(super) fn read(flags: &GlobalArgs) -> Result<Layers, Failure> {
        let folders = etcetera::base_strategy::Xdg::new()
            .map_err(|_| Failure::usage(Msg::new("setting-no-home")))?;
        let user_file = folders.config_dir().join("lessee").join("config.toml");
        let mut layers = Layers {
            user_file: user_file.clone(),
            ..Layers::default()
        };
        layers.built_in(&folders);
        if let Some(file) = layers.read_file(&user_file)? {
            layers.lay_file(file, &user_file, Origin::User(user_file.clone()));
        }
        if let Some(path) = project_file() {
            if let Some(file) = layers.read_file(&path)? {
                layers.lay_file(file, &path, Origin::Project(path.clone()));
            }
            layers.project_file = Some(path);
        }
        for (key, variable) in KEYS {
            if let Ok(value) = std::env::var(variable)
                && !value.is_empty()
            {
                layers.put(key, value, Origin::Env(variable));
            }
        }
        layers.lay_flags(flags);
        Ok(layers)
    }

    fn read_file(&mut self, path: &Path) -> Result<Option<SettingsFile>, Failure> {
        let text = match text(path)? {
            Ok(text) => text,
            Err(e) => {
                // below a file nothing can be
                if !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    self.unread.push((path.to_owned(), e.to_string()));
                }
                return Ok(None);
            }
        };
        toml::from_str(&text)
            .map(Some)
            .map_err(|e| broken(path, &text, &e))
    }

    fn put(&mut self, key: &'static str, value: String, origin: Origin) {
        self.values.insert(key, (value, origin));
    }

    fn built_in(&mut self, folders: &impl BaseStrategy) {
        let data = folders.data_dir().join("lessee").join("catalog");
        let cache = folders.cache_dir().join("lessee");
        for (key, value) in [
            ("lang", "en".to_owned()),
            ("output", "table".to_owned()),
            ("offline", "false".to_owned()),
            ("quiet", "false".to_owned()),
            ("tz", "system".to_owned()),
            ("data_dir", data.display().to_string()),
            ("cache_dir", cache.display().to_string()),
            ("currency", String::new()),
        ] {
            self.put(key, value, Origin::BuiltIn);
        }
        if let Some((locale, variable)) = locale() {
            let lang = lessee_report::Lang::from_locale(&locale)
                .as_str()
                .to_owned();
            self.put("lang", lang, Origin::Env(variable));
        }
    }

    fn lay_file(&mut self, file: SettingsFile, path: &Path, origin: Origin) {
        let folder = |text: String| {
            // a relative folder in a file means: relative to that file
            path.parent().map_or_else(
                || text.clone(),
                |base| base.join(&text).display().to_string(),
            )
        };
        let values = [
            ("lang", file.lang),
            ("output", file.output),
            ("offline", file.offline.map(|b| b.to_string())),
            ("quiet", file.quiet.map(|b| b.to_string())),
            ("tz", file.tz),
            ("data_dir", file.data_dir.map(folder)),
            ("cache_dir", file.cache_dir.map(folder)),
            ("currency", file.currency),
        ];
        for (key, value) in values {
            if let Some(value) = value {
                self.put(key, value, origin.clone());
            }
        }
    }

    fn lay_flags(&mut self, flags: &GlobalArgs) {
        let values = [
            ("lang", flags.lang.clone()),
            ("output", flags.output.clone()),
            ("offline", flags.offline.then(|| "true".to_owned())),
            ("quiet", flags.quiet.then(|| "true".to_owned())),
            ("tz", flags.tz.clone()),
            (
                "data_dir",
                flags.data_dir.as_ref().map(|p| p.display().to_string()),
            ),
        ];
        for (key, value) in values {
            if let Some(value) = value {
                self.put(key, value, Origin::Flag);
            }
        }
    }

    /// Text and origin of a key, for `config show`.
    pub fn shown(&self, key: &str) -> (&str, &Origin) {
        self.values
            .get(key)
            .map_or(("", &Origin::BuiltIn), |(value, origin)| {
                (value.as_str(), origin)
            })
    }

    pub(super) fn typed<T>(
        &self,
        key: &'static str,
        examples: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Setting<T>, Failure> {
        let (text, origin) = self.shown(key);
        match parse(text) {
            Some(value) => Ok(Setting {
                value,
                origin: origin.clone(),
            }),
            None => {
                let problem = Msg::new("setting-bad-value")
                    .arg("key", key)
                    .arg("value", text);
                let place = match origin {
                    Origin::Flag => format!("--{}", key.replace('_', "-")),
                    other => other.label(),
                };
                Err(Failure::usage(
                    Msg::new("error-at")
                        .arg("place", place)
                        .arg("problem", problem),
                )
                .hint(Msg::new("setting-examples").arg("examples", examples)))
            }
        }
    }
}

/// The locale that decides the language, and the variable that says so.
pub(super) fn locale() -> Option<(String, &'static str)> {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(|name| {
            std::env::var(name)
                .ok()
                .filter(|v| !v.is_empty())
                .map(|v| (v, name))
        })
}

fn project_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors()
        .map(|folder| folder.join("lessee.toml"))
        .find(|path| path.exists())
}

/// The text of a settings file, or why it cannot be read.
///
/// # Errors
/// It is too large to be one, or not text.
fn text(path: &Path) -> Result<Result<String, Error>, Failure> {
    let shown = || path.display().to_string();
    match std::fs::metadata(path) {
        Err(e) => return Ok(Err(e)),
        Ok(meta) if meta.len() > LARGEST => {
            let msg = Msg::new("setting-file-too-large").arg("path", shown());
            return Err(Failure::usage(msg));
        }
        Ok(_) => {}
    }
    match std::fs::read_to_string(path) {
        Err(e) if e.kind() != ErrorKind::PermissionDenied => Err(Failure::read(path, &e)),
        read => Ok(read),
    }
}

fn broken(path: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let place = match error.span() {
        Some(span) => {
            let (line, column) = line_and_column(text, span.start);
            format!("{}:{line}:{column}", path.display())
        }
        None => path.display().to_string(),
    };
    let (problem, hint) = wording(error.message());
    Failure {
        hints: hint.into_iter().collect(),
        ..Failure::usage(
            Msg::new("error-at")
                .arg("place", place)
                .arg("problem", problem),
        )
    }
}
