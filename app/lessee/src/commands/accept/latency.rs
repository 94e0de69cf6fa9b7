//! `accept latency`: round trips to one target or several, measured at once and judged one by one.

use super::{Done, evidence, must_be_online};
use crate::args::LatencyArgs;
use lessee_accept::Outcome;
use lessee_accept::latency::{LatencyRules, LatencySamples, Target, Work, judge};
use lessee_console::stop::{self, STOP};
use lessee_console::{Failure, Printer, Settings};
use lessee_latency::{Goal, MAX_FILE, Plan, ProxyError, ProxyUrl, is_exempt, of_environment};
use lessee_model::{Exit, Msg, did_you_mean};
use lessee_report::accept::{Beside, latency_doc};
use std::io::Read;
use std::path::Path;

/// Most samples of one target, and the longest time.
const MOST_SAMPLES: usize = 10_000;
const LONGEST_S: f64 = 3600.0;

pub(super) fn check(
    args: &LatencyArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Done, Failure> {
    let rules = lessee_latency::rules().map_err(|what| broken(&what))?;
    let work = work(args)?;
    let targets = targets(args, &rules)?;
    let plan = plan(args, &rules)?;
    let first = targets.first().map_or("", |t| t.host.as_str());
    must_be_online(first, settings)?;
    let goals = goals(targets, args)?;
    stop::listen();
    let tell = |done: usize, all: usize| {
        let line = Msg::new("accept-latency-progress")
            .arg("done", done)
            .arg("all", all);
        printer.progress(Some(&line));
    };
    let measured = lessee_latency::measure(&goals, &plan, &STOP, &tell);
    printer.progress(None);
    let measured = measured.map_err(|what| broken(&what))?;
    Ok(judged(&measured, work, &rules, settings))
}

/// Each target's findings rest upon its own samples.
fn judged(
    measured: &[LatencySamples],
    work: Work,
    rules: &LatencyRules,
    settings: &Settings,
) -> Done {
    let mut all = Outcome::new("latency", Vec::new());
    let mut figures = Vec::new();
    for samples in measured {
        let latency = judge(samples, work, rules);
        figures.push(latency_doc(samples, &latency, work));
        let content = serde_json::to_vec_pretty(samples).unwrap_or_default();
        let from = samples.target.name.clone();
        let evidence = evidence("latency", from, &content, settings);
        let one = Outcome::new("latency", latency.findings).resting_on(evidence, content);
        all.findings.extend(one.findings);
        all.evidence.extend(one.evidence);
    }
    Done {
        outcome: all,
        beside: Beside {
            latency: figures,
            ..Beside::default()
        },
    }
}

fn work(args: &LatencyArgs) -> Result<Work, Failure> {
    let Some(text) = &args.work else {
        return Ok(Work::Notebook);
    };
    text.parse().map_err(|()| {
        let known: Vec<&str> = Work::ALL.iter().map(|w| w.as_str()).collect();
        let failure = Failure::usage(Msg::new("accept-latency-work").arg("text", text.as_str()));
        failure.hint(match did_you_mean(text, known.iter().copied()) {
            Some(word) => Msg::new("hint-did-you-mean").arg("word", word),
            None => Msg::new("hint-known-words").arg("words", known.join(", ")),
        })
    })
}

fn targets(args: &LatencyArgs, rules: &LatencyRules) -> Result<Vec<Target>, Failure> {
    let mut targets: Vec<Target> = Vec::new();
    for text in &args.hosts {
        let target = Target::parse(text).map_err(|why| {
            let msg = Msg::new("accept-latency-host")
                .arg("text", lessee_accept::shown_address(text))
                .arg("why", why.msg());
            Failure::usage(msg)
        })?;
        targets.push(target);
    }
    if let Some(path) = &args.targets {
        let (text, place) = text_of(path)?;
        targets.extend(lessee_latency::targets_of(&text, &place)?);
    }
    if let Some(wanted) = &args.provider {
        only_of(wanted, &mut targets)?;
    }
    let mut seen = std::collections::HashSet::new();
    targets.retain(|t| seen.insert((t.host.clone(), t.port)));
    if targets.is_empty() {
        return Err(Failure::usage(Msg::new("accept-latency-nothing"))
            .hint(Msg::new("hint-accept-targets")));
    }
    let most = rules.measure.most_targets;
    if targets.len() > most {
        let msg = Msg::new("accept-latency-targets")
            .arg("n", targets.len())
            .arg("most", most);
        return Err(Failure::usage(msg));
    }
    Ok(targets)
}

/// A file of targets is short: a large one is refused before it is read.
pub(super) fn text_of(path: &Path) -> Result<(String, String), Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_FILE + 1;
    let place = match path.as_os_str() == "-" {
        true => {
            std::io::stdin()
                .lock()
                .take(limit)
                .read_to_end(&mut bytes)
                .map_err(|e| Failure::read(path, &e))?;
            "<stdin>".to_owned()
        }
        false => {
            lessee_probe_io::open_regular(path)
                .and_then(|file| file.take(limit).read_to_end(&mut bytes))
                .map_err(|e| Failure::read(path, &e))?;
            path.display().to_string()
        }
    };
    if bytes.len() as u64 > MAX_FILE {
        let msg = Msg::new("accept-latency-targets-large")
            .arg("file", place)
            .bytes("most", MAX_FILE as f64);
        return Err(Failure::usage(msg).hint(Msg::new("hint-accept-targets")));
    }
    let text = lessee_catalog::read_input(&bytes, &place)?.text;
    Ok((text, place))
}

fn only_of(wanted: &str, targets: &mut Vec<Target>) -> Result<(), Failure> {
    let names: Vec<String> = targets.iter().filter_map(|t| t.provider.clone()).collect();
    targets.retain(|t| {
        let own = t.provider.as_deref();
        own.is_some_and(|p| p.eq_ignore_ascii_case(wanted))
    });
    if !targets.is_empty() {
        return Ok(());
    }
    let failure = Failure::usage(Msg::new("accept-latency-provider").arg("provider", wanted));
    let known = names.iter().map(String::as_str);
    Err(match did_you_mean(wanted, known) {
        Some(word) => failure.hint(Msg::new("hint-did-you-mean").arg("word", word)),
        None => failure,
    })
}

fn plan(args: &LatencyArgs, rules: &LatencyRules) -> Result<Plan, Failure> {
    let usual = &rules.measure;
    let range = |what: &'static str, range: String| {
        Failure::usage(
            Msg::new("accept-latency-range")
                .arg("flag", what)
                .arg("range", range),
        )
    };
    let seconds = args.seconds.unwrap_or(usual.seconds);
    if !seconds.is_finite() || !(0.1..=LONGEST_S).contains(&seconds) {
        return Err(range("--seconds", format!("0.1 - {LONGEST_S}")));
    }
    let samples = args.samples.unwrap_or(usual.samples);
    if !(1..=MOST_SAMPLES).contains(&samples) {
        return Err(range("--samples", format!("1 - {MOST_SAMPLES}")));
    }
    if samples as f64 / seconds > usual.most_per_second {
        let msg = Msg::new("accept-latency-flood")
            .arg("n", samples)
            .arg("s", seconds)
            .arg("most", usual.most_per_second);
        return Err(Failure::usage(msg).hint(Msg::new("hint-accept-latency-flood")));
    }
    Ok(Plan {
        samples: args.samples,
        seconds,
        usual: usual.clone(),
    })
}

/// With the proxy that each is reached through.
fn goals(targets: Vec<Target>, args: &LatencyArgs) -> Result<Vec<Goal>, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let (proxy, exempt) = match &args.proxy {
        Some(text) => {
            let proxy = ProxyUrl::parse(text, "--proxy")?;
            if proxy.has_login() {
                return Err(ProxyError::Password.into());
            }
            (Some(proxy), None)
        }
        None if args.no_proxy => (None, None),
        None => {
            let list = variable("NO_PROXY").or_else(|| variable("no_proxy"));
            (of_environment(&variable)?, Some(list.unwrap_or_default()))
        }
    };
    let goals = targets.into_iter().map(|target| {
        let direct = exempt
            .as_ref()
            .is_some_and(|list| is_exempt(&target.host, list));
        Goal {
            proxy: proxy.clone().filter(|_| !direct),
            target,
        }
    });
    Ok(goals.collect())
}

fn broken(what: &str) -> Failure {
    Failure::usage(Msg::new("accept-latency-broken").arg("detail", what)).exit(Exit::Bug)
}
