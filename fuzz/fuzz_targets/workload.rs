#![no_main]

use lessee_model::workload::{ResolveContext, parse_workload_with, resolve};
use libfuzzer_sys::fuzz_target;

// The first line may hold flags, `path=value` separated by tabs; the rest is the file.
fuzz_target!(|text: &str| {
    let (first, rest) = text.split_once('\n').unwrap_or(("", text));
    let (flags, body) = match first.strip_prefix("#flags\t") {
        Some(list) => (list, rest),
        None => ("", text),
    };
    let flags: Vec<(String, String)> = flags
        .split('\t')
        .filter_map(|f| f.split_once('='))
        .map(|(path, value)| (path.to_owned(), value.to_owned()))
        .collect();
    let facts = lessee_fuzz::facts();
    if let Ok(file) = parse_workload_with(body, "fuzz.toml", &flags) {
        let _ = resolve(
            &file,
            ResolveContext {
                gpus: &facts.gpus,
                models: &facts.models,
                defaults: &facts.defaults,
                place: "fuzz.toml",
                text: body,
                zone: &jiff::tz::TimeZone::UTC,
            },
        );
    }
});
