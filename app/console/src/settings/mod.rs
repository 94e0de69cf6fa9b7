//! Settings: what is in force. Flag > environment (`LESSEE_*`) > project file `lessee.toml` (found upwards) >
//! user file `$XDG_CONFIG_HOME/lessee/config.toml` > built in. Every value knows where it came from.
//! [`layers`] reads the places, this file gives the values their types.

mod layers;
mod now;

pub use layers::{KEYS, Layers, Origin};

use crate::Failure;
use crate::GlobalArgs;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use lessee_model::{Currency, Msg, did_you_mean};
use lessee_report::{Format, Lang};
use std::path::PathBuf;

/// A value and the layer that won.
#[derive(Clone, Debug)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

/// Everything resolved; no command looks at the environment or at files of settings again.
#[derive(Clone, Debug)]
pub struct Settings {
    pub lang: Setting<Lang>,
    pub output: Setting<Format>,
    pub offline: Setting<bool>,
    pub quiet: Setting<bool>,
    pub tz: Setting<TimeZone>,
    pub data_dir: Setting<PathBuf>,
    pub cache_dir: Setting<PathBuf>,
    /// Currency of answers where the workload names none; `None` = that of the prices.
    pub currency: Setting<Option<Currency>>,
    /// The clock, read once.
    pub now: Timestamp,
    pub exports: Vec<(PathBuf, Format)>,
    pub columns: Vec<String>,
    pub sort: Option<String>,
    pub layers: Layers,
}

/// The language before anything else is known, so that even a broken settings file is reported in it.
pub fn provisional_lang(argv: &[std::ffi::OsString]) -> Lang {
    let words: Vec<&str> = argv.iter().filter_map(|a| a.to_str()).collect();
    let flag = words.iter().enumerate().find_map(|(i, word)| match *word {
        "--lang" => words.get(i + 1).copied(),
        word => word.strip_prefix("--lang="),
    });
    flag.and_then(|l| l.parse().ok())
        .or_else(|| std::env::var("LESSEE_LANG").ok()?.parse().ok())
        .unwrap_or_else(|| {
            layers::locale().map_or(Lang::En, |(locale, _)| Lang::from_locale(&locale))
        })
}

impl Settings {
    /// # Errors
    /// A settings file that cannot be read, an unknown key, or a value that does not fit; each names its place.
    pub fn resolve(flags: &GlobalArgs) -> Result<Settings, Failure> {
        let layers = Layers::read(flags)?;
        Ok(Settings {
            lang: layers.typed("lang", "en, zh-CN", |t| t.parse().ok())?,
            output: layers.typed("output", "table, json, jsonl, csv, md, html", |t| {
                t.parse().ok()
            })?,
            offline: layers.typed("offline", "true, false", parse_bool)?,
            quiet: layers.typed("quiet", "true, false", parse_bool)?,
            tz: layers.typed("tz", "Asia/Shanghai, UTC", parse_zone)?,
            data_dir: layers.typed("data_dir", "/path/to/folder", parse_dir)?,
            cache_dir: layers.typed("cache_dir", "/path/to/folder", parse_dir)?,
            currency: layers.typed("currency", "USD, CNY", |t| match t {
                "" => Some(None),
                code => code.parse().ok().map(Some),
            })?,
            now: now::now(flags.now.as_deref())?,
            exports: exports(&flags.export)?,
            columns: flags.columns.clone(),
            sort: flags.sort.clone(),
            layers,
        })
    }

    /// Today in the user's time zone.
    pub fn today(&self) -> jiff::civil::Date {
        self.now.to_zoned_datetime(self.tz.value.clone()).date()
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn parse_zone(text: &str) -> Option<TimeZone> {
    match text {
        "system" => Some(TimeZone::system()),
        name => TimeZone::get(name).ok(),
    }
}

fn parse_dir(text: &str) -> Option<PathBuf> {
    (!text.trim().is_empty()).then(|| PathBuf::from(text))
}

fn exports(paths: &[PathBuf]) -> Result<Vec<(PathBuf, Format)>, Failure> {
    const KNOWN: [&str; 7] = ["csv", "html", "json", "jsonl", "md", "svg", "txt"];
    paths
        .iter()
        .map(|path| {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
            Format::of_extension(extension)
                .map(|format| (path.clone(), format))
                .ok_or_else(|| {
                    let failure = Failure::usage(
                        Msg::new("export-extension").arg("path", path.display().to_string()),
                    );
                    match did_you_mean(extension, KNOWN) {
                        Some(word) => failure.hint(Msg::new("hint-did-you-mean").arg("word", word)),
                        None => failure
                            .hint(Msg::new("hint-known-words").arg("words", KNOWN.join(", "))),
                    }
                })
        })
        .collect()
}
