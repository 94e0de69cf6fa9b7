//! `doctor`: is this installation fit for work? Plain text that can be pasted into an issue; keys show only
//! their last four characters.

use crate::facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Explain, Msg};
use lessee_providers::PRICE_APIS;
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};
use serde_json::json;
use std::path::Path;

/// One line of the examination.
struct Check {
    code: &'static str,
    good: bool,
    /// In words.
    found: String,
}

pub(crate) fn run(settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let texts = printer.texts();
    let mut checks = vec![Check {
        code: "version",
        good: true,
        found: format!(
            "lessee {} ({}-{})",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH,
            std::env::consts::OS
        ),
    }];
    checks.push(folder("catalog-folder", &settings.data_dir.value, texts));
    checks.push(folder("cache-folder", &settings.cache_dir.value, texts));
    checks.extend(catalog(settings, texts));
    let zoned = settings.now.to_zoned_datetime(settings.tz.value.clone());
    checks.push(Check {
        code: "time",
        good: true,
        found: zoned.strftime("%Y-%m-%d %H:%M:%S %:z").to_string(),
    });
    let lang = format!(
        "{} ({})",
        settings.lang.value.as_str(),
        settings.lang.origin.label()
    );
    checks.push(Check {
        code: "language",
        good: true,
        found: lang,
    });
    checks.extend(
        PRICE_APIS
            .iter()
            .filter_map(|api| api.key_env)
            .map(|name| key(name, texts)),
    );
    let healthy = checks.iter().all(|c| c.good);
    printer.report(report(&checks, texts))?;
    Ok(if healthy { Exit::Done } else { Exit::No })
}

/// The folder can be made or written to. Nothing is created by asking.
fn folder(code: &'static str, path: &Path, texts: &Texts) -> Check {
    let shown = path.display().to_string();
    let nearest = path.ancestors().find(|p| p.exists());
    let (good, word) = match nearest {
        Some(there) if !there.is_dir() => (false, "health-not-a-folder"),
        Some(there) if there.metadata().is_ok_and(|m| m.permissions().readonly()) => {
            (false, "health-read-only")
        }
        Some(there) if there == path => (true, "health-there"),
        _ => (true, "health-not-yet"),
    };
    Check {
        code,
        good,
        found: texts.msg(
            &Msg::new("health-folder")
                .arg("path", shown)
                .arg("state", Msg::new(word)),
        ),
    }
}

fn catalog(settings: &Settings, texts: &Texts) -> Vec<Check> {
    match facts::load(settings) {
        Ok((facts, problems)) => {
            let Some(date) = facts.catalog.as_of() else {
                return Vec::new();
            };
            let age = date.age_days(settings.today());
            let fresh = Msg::new("health-catalog-state")
                .arg("offers", facts.catalog.offers.len())
                .arg("date", date.to_string())
                .arg("days", f64::from(age.max(0)));
            let mut checks = vec![Check {
                code: "catalog",
                good: true,
                found: texts.msg(&fresh),
            }];
            for problem in problems {
                checks.push(Check {
                    code: "snapshots",
                    good: false,
                    found: texts.msg(&problem.msg()),
                });
            }
            // a clock before the newest price would call every price fresh
            if age < -1 {
                let msg = Msg::new("health-clock-behind").arg("days", f64::from(-age));
                checks.push(Check {
                    code: "clock",
                    good: false,
                    found: texts.msg(&msg),
                });
            }
            checks
        }
        Err(failure) => vec![Check {
            code: "catalog",
            good: false,
            found: texts.msg(&failure.msg),
        }],
    }
}

fn key(name: &'static str, texts: &Texts) -> Check {
    let found = match std::env::var(name) {
        Ok(value) if value.len() >= 12 => {
            let tail: String = value
                .chars()
                .skip(value.chars().count().saturating_sub(4))
                .collect();
            texts.msg(
                &Msg::new("health-key-set")
                    .arg("name", name)
                    .arg("tail", tail),
            )
        }
        Ok(_) => texts.msg(&Msg::new("health-key-short").arg("name", name)),
        Err(_) => texts.msg(&Msg::new("health-key-unset").arg("name", name)),
    };
    Check {
        code: "key",
        good: true,
        found,
    }
}

fn report(checks: &[Check], texts: &Texts) -> Report {
    let mut table = Table::new(vec![
        Column::left("check", texts.get("col-check"), 0),
        Column::left("result", texts.get("col-result"), 0),
        Column::left("found", texts.get("col-found"), 0),
    ]);
    for check in checks {
        let (word, tone) = if check.good {
            ("ok", Tone::Good)
        } else {
            ("broken", Tone::Bad)
        };
        table.push(vec![
            Cell::new(texts.term("health", check.code)).raw(check.code),
            Cell::new(texts.term("health", word)).raw(word).tone(tone),
            Cell::new(check.found.clone()),
        ]);
    }
    let list: Vec<_> = checks
        .iter()
        .map(|c| json!({"check": c.code, "ok": c.good, "found": c.found}))
        .collect();
    let mut report = Report::new(
        texts.get("health-title"),
        json!({"schema": "lessee/doctor/v1", "checks": list}),
        "checks",
    );
    report.table(table);
    report
}
