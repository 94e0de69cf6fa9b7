//! The two-language catalogue, compiled in: one file per part of lessee and language. `help.ftl` exists in
//! Chinese only, because the English help is the doc comments of the flags.

use crate::Lang;

macro_rules! files {
    ($lang:literal: $($name:literal),+) => {
        &[$(($name, include_str!(concat!("../locales/", $lang, "/", $name, ".ftl")))),+]
    };
}

/// Name and Fluent text of each file of a language.
pub fn sources(lang: Lang) -> &'static [(&'static str, &'static str)] {
    match lang {
        Lang::En => {
            files!("en": "core", "cli", "commands", "catalog", "perf", "predict", "providers", "plan", "cost", "terms", "quote", "traces", "simulate", "probe", "measure", "judge", "watch", "accept", "latency", "security", "compliance")
        }
        Lang::ZhCn => {
            files!("zh-CN": "core", "cli", "commands", "catalog", "perf", "predict", "providers", "plan", "cost", "terms", "quote", "traces", "simulate", "probe", "measure", "judge", "watch", "accept", "latency", "security", "compliance", "help")
        }
    }
}
