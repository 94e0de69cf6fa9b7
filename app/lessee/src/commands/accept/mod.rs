//! `accept`: what was read, and what is wanted, become findings with their evidence. One file a check; each gives an
//! [`Outcome`] and prints nothing. The rules are in `core/accept`.

mod budget;
mod deal;
pub(super) mod diff;
mod driver;
mod env;
mod failure;
mod latency;
mod offer;
mod security;
mod support;
mod whole;

use crate::args::{AcceptArgs, AcceptCommand};
use lessee_accept::{Evidence, Outcome, Verdict};
use lessee_console::{Failure, Printer, Settings};
use lessee_model::{Exit, Msg};
use lessee_report::Format;
use lessee_report::accept::{Beside, acceptance_doc, acceptance_report};
use sha2::{Digest, Sha256};

/// A check, done.
struct Done {
    outcome: Outcome,
    beside: Beside,
}

impl From<Outcome> for Done {
    fn from(outcome: Outcome) -> Done {
        Done {
            outcome,
            beside: Beside::default(),
        }
    }
}

pub(crate) fn run(
    args: &AcceptArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let done = match &args.command {
        Some(AcceptCommand::Driver(args)) => driver::check(args, settings)?,
        Some(AcceptCommand::Latency(args)) => latency::check(args, settings, printer)?,
        Some(AcceptCommand::Security(args)) => security::check(args, settings)?.into(),
        Some(AcceptCommand::Env(args)) => {
            if args.diff.is_some() || args.rollback.is_some() {
                return env::compare(args, settings, printer);
            }
            env::check(args, settings, printer)?
        }
        Some(AcceptCommand::Failure(args)) => failure::check(args, settings, printer)?.into(),
        Some(AcceptCommand::Budget(args)) => budget::check(args, settings, printer)?,
        Some(AcceptCommand::Offer(args)) => offer::check(args, settings, printer.texts())?.into(),
        Some(AcceptCommand::Support(args)) => support::check(args, settings)?,
        Some(AcceptCommand::Diff(args)) => return diff::run(args, printer),
        None => {
            let Some(file) = &args.file else {
                return Err(Failure::usage(Msg::new("no-command")).hint(Msg::new("hint-help")));
            };
            return whole::run(file, args.out.as_deref(), settings, printer);
        }
    };
    tell(done, settings, printer)
}

fn tell(done: Done, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let texts = printer.texts();
    let outcomes = [done.outcome];
    let doc = acceptance_doc(&outcomes, done.beside, now(settings), texts);
    // rows alone have no place for it
    if !doc.notices.is_empty() && matches!(settings.output.value, Format::Csv | Format::Jsonl) {
        printer.warn(&Msg::new("accept-notice-legal"));
    }
    printer.report(acceptance_report(&doc, texts))?;
    Ok(exit(doc.verdict))
}

/// # Errors
/// `--offline` forbids what would be connected to.
fn must_be_online(host: &str, settings: &Settings) -> Result<(), Failure> {
    match settings.offline.value {
        true => Err(Failure::usage(Msg::new("accept-offline").arg("host", host))
            .exit(Exit::Unreachable)
            .hint(Msg::new("hint-accept-offline"))),
        false => Ok(()),
    }
}

fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Pass | Verdict::Warn => Exit::Done,
        Verdict::Fail => Exit::No,
        Verdict::Unknown => Exit::CannotTell,
    }
}

fn now(settings: &Settings) -> String {
    settings.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Evidence of this moment.
fn evidence(kind: &str, from: String, content: &[u8], settings: &Settings) -> Evidence {
    let hash = Sha256::digest(content);
    Evidence {
        sha256: hash.iter().map(|b| format!("{b:02x}")).collect(),
        kind: kind.to_owned(),
        from,
        taken_at: now(settings),
        bytes: content.len(),
    }
}
