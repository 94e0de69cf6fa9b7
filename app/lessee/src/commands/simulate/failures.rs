//! What `core/spot` refuses, in messages of the catalogue.

use jiff::Timestamp;
use lessee_console::Failure;
use lessee_model::{Exit, Msg};
use lessee_spot::job::{HOUR_MS, LIMIT_MS};
use lessee_spot::{GridError, JobError};

/// A job that cannot be replayed. One that does not fit even on demand is an answer: no.
pub(super) fn job(error: &JobError) -> Failure {
    match error {
        JobError::Hours { what, value, limit } => {
            let flag = match *what {
                "the work" => "--job-hours",
                "the deadline" => "--deadline-hours",
                _ => "--overhead-hours",
            };
            Failure::usage(
                Msg::new("simulate-hours")
                    .arg("flag", flag)
                    .arg("value", *value)
                    .arg("limit", *limit),
            )
        }
        JobError::Infeasible {
            work_hours,
            overhead_hours,
            deadline_hours,
        } => Failure::usage(
            Msg::new("simulate-infeasible")
                .arg("work", *work_hours)
                .arg("overhead", *overhead_hours)
                .arg("deadline", *deadline_hours),
        )
        .hint(Msg::new("hint-simulate-infeasible"))
        .exit(Exit::No),
        JobError::Saves { every_ms, block_ms } => {
            let (key, value) = match (1..=LIMIT_MS).contains(every_ms) {
                true => ("--save-seconds", *block_ms as f64 / 1000.0),
                false => ("--save-every-hours", *every_ms as f64 / HOUR_MS),
            };
            Failure::usage(
                Msg::new("setting-bad-value")
                    .arg("key", key)
                    .arg("value", value.to_string()),
            )
        }
    }
}

/// Records that are no market, or a start that is no window. `start`: Unix time of tick 0.
pub(super) fn grid(error: &GridError, trace: &str, start: Option<i64>) -> Failure {
    let trace = trace.to_owned();
    let zone = |id: &'static str, zone: &str| {
        Msg::new(id)
            .arg("trace", trace.clone())
            .arg("zone", zone.to_owned())
    };
    match error {
        GridError::NoSeries => Failure::usage(Msg::new("simulate-no-series-at-all"))
            .hint(Msg::new("hint-simulate-no-series")),
        GridError::Gaps {
            zone: one,
            gap_s,
            other,
            other_gap_s,
        } => Failure::usage(
            Msg::new("simulate-gaps")
                .arg("zone", one.clone())
                .arg("other", other.clone())
                .seconds("gap", f64::from(*gap_s))
                .seconds("othergap", f64::from(*other_gap_s)),
        )
        .hint(Msg::new("hint-simulate-gaps")),
        GridError::NoCommonTime { zones } => {
            Failure::usage(Msg::new("simulate-no-common-time").arg("zones", zones.join(", ")))
                .hint(Msg::new("hint-simulate-gaps"))
        }
        GridError::TooLong { zone: z, ticks } => {
            Failure::usage(zone("simulate-too-long", z).arg("ticks", *ticks as f64))
        }
        GridError::Gang {
            zone: z,
            gang,
            asked,
        } => Failure::usage(
            zone("simulate-gang", z)
                .arg("gang", *gang)
                .arg("asked", *asked),
        )
        .hint(Msg::new("hint-simulate-gang")),
        GridError::PriceOfOther {
            zone: z,
            of,
            machine,
        } => Failure::usage(
            zone("simulate-price-of-other", z)
                .arg("of", of.clone())
                .arg("machine", machine.clone()),
        )
        .hint(Msg::new("hint-simulate-price-of-other")),
        GridError::NoPrice { zone: z } => {
            Failure::usage(zone("simulate-no-price", z)).hint(Msg::new("hint-simulate-no-price"))
        }
        GridError::NoOnDemand { zone: z } => Failure::usage(zone("simulate-no-on-demand", z))
            .hint(Msg::new("hint-simulate-no-on-demand")),
        GridError::NoPriceAt {
            zone: z,
            tick,
            gap_s,
        } => Failure::usage(
            zone("simulate-no-price-at", z)
                .arg("tick", *tick)
                .arg("when", when(*tick, *gap_s, start)),
        )
        .hint(Msg::new("hint-simulate-no-price")),
        GridError::TooShort {
            start: from,
            have,
            need,
            gap_s,
        } => {
            let span = |ticks: usize| ticks as f64 * *gap_s as f64;
            let failure = Failure::usage(
                Msg::new("simulate-too-short")
                    .arg("trace", trace.clone())
                    .arg("start", *from)
                    .arg("ticks", *have)
                    .seconds("have", span(*have))
                    .seconds("need", span(*need)),
            );
            match have.checked_sub(*need) {
                Some(last) => failure.hint(Msg::new("hint-simulate-last-start").arg("last", last)),
                None => failure.hint(Msg::new("hint-simulate-longer")),
            }
        }
    }
}

/// A tick as a date where the record has one, else as hours since its start.
fn when(tick: usize, gap_s: i64, start: Option<i64>) -> String {
    let since = (tick as i64).saturating_mul(gap_s);
    start
        .and_then(|s| Timestamp::from_second(s.checked_add(since)?).ok())
        .map_or_else(
            || format!("+{:.2} h", since as f64 / 3600.0),
            |t| t.to_string(),
        )
}
