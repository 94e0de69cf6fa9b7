//! One target judged. The round trip decides; loss, a proxy, a tunnel and an answer from nearer than the machine are findings
//! of their own.

use super::figures::Figures;
use super::rules::{LatencyRules, Work};
use super::samples::{LatencySamples, Speaks, Trouble, TroubleKind};
use crate::finding::{Check, Finding, Verdict};
use lessee_model::Msg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a round trip was measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    Tcp,
    /// The TLS handshake by round trip, computing included.
    Tls,
    Icmp,
}

impl Series {
    pub fn as_str(self) -> &'static str {
        match self {
            Series::Tcp => "tcp",
            Series::Tls => "tls",
            Series::Icmp => "icmp",
        }
    }

    /// For people.
    fn words(self) -> &'static str {
        match self {
            Series::Tcp => "accept-latency-by-tcp",
            Series::Tls => "accept-latency-by-tls",
            Series::Icmp => "accept-latency-by-icmp",
        }
    }
}

/// One target, judged.
#[derive(Clone, Debug)]
pub struct Latency {
    pub findings: Vec<Finding>,
    /// Of the finding `latency`.
    pub verdict: Verdict,
    pub decided_by: Option<Series>,
    pub tcp: Option<Figures>,
    pub tls: Option<Figures>,
    pub icmp: Option<Figures>,
    /// The words with a proxy.
    pub tunnel: Option<Figures>,
}

/// Judges what was measured for this kind of work.
///
/// Direct, the connections of TCP decide, and pings where no port answered; through a proxy only TLS reaches the far end,
/// and then nothing passes and nothing fails.
pub fn judge(samples: &LatencySamples, work: Work, rules: &LatencyRules) -> Latency {
    let trips = match &samples.speaks {
        Some(Speaks::Tls { trips, .. }) => *trips,
        _ => 1,
    };
    let mut out = Latency {
        findings: Vec::new(),
        verdict: Verdict::Unknown,
        decided_by: None,
        tcp: Figures::tcp(&samples.connections),
        tls: Figures::tls(&samples.connections, trips),
        icmp: Figures::icmp(&samples.echoes),
        tunnel: Figures::tunnel(&samples.connections),
    };
    let mut checks = match &samples.proxy {
        Some(_) => through_proxy(samples, work, rules, &mut out),
        None => direct(samples, work, rules, &mut out),
    };
    out.verdict = checks.first().map_or(Verdict::Unknown, |c| c.verdict);
    checks.extend(tunnel_interface(samples, rules));
    checks.extend(stopped(samples, &out));
    let origin = rules.origin();
    out.findings = checks
        .into_iter()
        .map(|check| match &origin {
            Some(origin) => check.from(origin),
            None => check,
        })
        .map(|check| check.finding(samples.target.name.as_str()))
        .collect();
    out
}

/// The check `latency` comes first.
fn direct(
    samples: &LatencySamples,
    work: Work,
    rules: &LatencyRules,
    out: &mut Latency,
) -> Vec<Check> {
    let enough = |f: &&Figures| f.timed >= rules.judge.min_answers;
    // where each one had to be sent again there is an answer, and no round trip
    let answered = samples.connections.iter().any(|c| c.connect_ms.is_some());
    let tcp = out.tcp.as_ref().filter(|_| answered);
    let (series, figures) = match (tcp, &out.icmp) {
        (Some(tcp), _) => (Series::Tcp, tcp),
        // whoever names a port wants that port
        (None, Some(icmp)) if samples.target.port.is_none() => (Series::Icmp, icmp),
        _ => return nothing(samples, out),
    };
    out.decided_by = Some(series);
    let mut check = match enough(&figures) {
        true => round_trip(figures, series, work, rules),
        false => too_few(figures, rules),
    };
    let mut checks = Vec::new();
    if let Some((by, far)) = farther(figures, series, out, rules) {
        let other = verdict_of(far.p95_ms, work, rules);
        if other != check.verdict {
            check.verdict = Verdict::Unknown;
        }
        let reason = Msg::new("accept-latency-near")
            .arg("near", ms(figures.median_ms))
            .arg("by", Msg::new(series.words()))
            .arg("far", ms(far.median_ms))
            .arg("other", Msg::new(by.words()));
        let ask = Msg::new("accept-latency-ask-near");
        checks.push(Check::new("near", Verdict::Warn, reason).asking(ask));
    }
    checks.insert(0, check);
    checks.extend(loss(figures, work, rules));
    checks.extend(failures(samples));
    checks
}

/// TLS goes through a proxy to the far end, computing included: an upper bound of that way. What the proxy answers itself is
/// no round trip of the machine's.
fn through_proxy(
    samples: &LatencySamples,
    work: Work,
    rules: &LatencyRules,
    out: &mut Latency,
) -> Vec<Check> {
    let at = samples.proxy.as_ref().map_or("", |p| p.at.as_str());
    let ask = Msg::new("accept-latency-ask-direct");
    let Some(tls) = out.tls.as_ref().filter(|f| f.timed > 0) else {
        if out.tunnel.is_none() {
            return nothing(samples, out);
        }
        let reason = Msg::new("accept-latency-proxy-blind").arg("proxy", at);
        return vec![Check::new("latency", Verdict::Unknown, reason).asking(ask)];
    };
    out.decided_by = Some(Series::Tls);
    let mut check = match tls.timed >= rules.judge.min_answers {
        true => round_trip(tls, Series::Tls, work, rules),
        false => too_few(tls, rules),
    };
    let mut checks = Vec::new();
    let opened = out.tunnel.as_ref().and_then(|f| f.min_ms);
    let ended_near = match (opened, tls.median_ms) {
        (Some(opened), Some(tls)) => is_farther(tls, opened, rules),
        _ => false,
    };
    if ended_near {
        let reason = Msg::new("accept-latency-proxy-ends")
            .arg("tls", ms(tls.median_ms))
            .arg("opened", ms(opened));
        check = Check::new("latency", Verdict::Unknown, reason);
    }
    // an upper bound beyond the limit proves nothing, and one below it holds for what takes the proxy alone
    check.verdict = match check.verdict {
        Verdict::Pass | Verdict::Warn => Verdict::Warn,
        Verdict::Unknown | Verdict::Fail => Verdict::Unknown,
    };
    let reason = Msg::new("accept-latency-proxy").arg("proxy", at);
    checks.push(check);
    checks.push(Check::new("proxy", Verdict::Warn, reason).asking(ask));
    checks.extend(failures(samples));
    checks
}

/// There is no round trip at all.
fn nothing(samples: &LatencySamples, out: &Latency) -> Vec<Check> {
    let first = samples.connections.iter().find_map(|c| c.error.as_ref());
    let system = Trouble::new(TroubleKind::System, "");
    let trouble = samples.trouble.as_ref().or(first).unwrap_or(&system);
    let reason = Msg::new("accept-latency-none")
        .arg("why", why(trouble.kind))
        .arg("detail", trouble.detail.as_str());
    let reason = match (&out.icmp, trouble.kind) {
        (Some(icmp), TroubleKind::Refused | TroubleKind::TimedOut) => {
            Msg::new("accept-latency-port-closed")
                .arg("why", why(trouble.kind))
                .arg("detail", trouble.detail.as_str())
                .arg("median", ms(icmp.median_ms))
        }
        _ => reason,
    };
    let ask = Msg::new("accept-latency-ask-reachable");
    vec![Check::new("latency", Verdict::Unknown, reason).asking(ask)]
}

/// The words for a kind of trouble.
fn why(kind: TroubleKind) -> Msg {
    Msg::new(match kind {
        TroubleKind::Dns => "accept-latency-why-dns",
        TroubleKind::Refused => "accept-latency-why-refused",
        TroubleKind::TimedOut => "accept-latency-why-timed-out",
        TroubleKind::Unreachable => "accept-latency-why-unreachable",
        TroubleKind::Reset => "accept-latency-why-reset",
        TroubleKind::Proxy => "accept-latency-why-proxy",
        TroubleKind::Tls => "accept-latency-why-tls",
        TroubleKind::Stopped => "accept-latency-why-stopped",
        TroubleKind::System => "accept-latency-why-system",
    })
}

fn too_few(figures: &Figures, rules: &LatencyRules) -> Check {
    let reason = Msg::new("accept-latency-few")
        .arg("n", figures.timed)
        .arg("least", rules.judge.min_answers)
        .arg("median", ms(figures.median_ms));
    Check::new("latency", Verdict::Unknown, reason)
}

fn verdict_of(p95_ms: Option<f64>, work: Work, rules: &LatencyRules) -> Verdict {
    let Some(p95) = p95_ms else {
        return Verdict::Unknown;
    };
    let limits = rules.of(work);
    match (limits.warn_ms, limits.fail_ms) {
        (_, Some(fail)) if p95 > fail => Verdict::Fail,
        (Some(warn), _) if p95 >= warn => Verdict::Warn,
        _ => Verdict::Pass,
    }
}

fn round_trip(figures: &Figures, series: Series, work: Work, rules: &LatencyRules) -> Check {
    let limits = rules.of(work);
    let verdict = verdict_of(figures.p95_ms, work, rules);
    let (id, limit) = match (verdict, limits.warn_ms, limits.fail_ms) {
        (Verdict::Fail, _, limit) => ("accept-latency-slow", limit),
        (Verdict::Warn, limit, _) => ("accept-latency-felt", limit),
        (_, Some(limit), _) => ("accept-latency-good", Some(limit)),
        (_, None, _) => ("accept-latency-told", None),
    };
    let reason = Msg::new(id)
        .arg("p95", ms(figures.p95_ms))
        .arg("median", ms(figures.median_ms))
        .arg("jitter", ms(figures.jitter_ms))
        .arg("n", figures.timed)
        .arg("by", Msg::new(series.words()))
        .arg("work", Msg::new(work_id(work)))
        .arg("limit", limit.unwrap_or_default());
    let check = Check::new("latency", verdict, reason);
    match verdict {
        Verdict::Pass => check,
        _ => check.asking(Msg::new("accept-latency-ask-nearer")),
    }
}

fn work_id(work: Work) -> &'static str {
    match work {
        Work::Notebook => "accept-latency-work-notebook",
        Work::Visual => "accept-latency-work-visual",
        Work::Batch => "accept-latency-work-batch",
    }
}

fn loss(figures: &Figures, work: Work, rules: &LatencyRules) -> Option<Check> {
    if figures.lost == 0 {
        return None;
    }
    let judged = rules.of(work).fail_ms.is_some();
    let verdict = match figures.loss_pct {
        _ if !judged => Verdict::Pass,
        pct if pct > rules.judge.loss_fail_pct => Verdict::Fail,
        pct if pct >= rules.judge.loss_warn_pct => Verdict::Warn,
        _ => Verdict::Pass,
    };
    let reason = Msg::new("accept-latency-loss")
        .arg("lost", figures.lost)
        .arg("sent", figures.sent)
        .arg("pct", tenths(figures.loss_pct));
    let check = Check::new("loss", verdict, reason);
    Some(match verdict {
        Verdict::Pass => check,
        _ => check.asking(Msg::new("accept-latency-ask-loss")),
    })
}

/// Connections that came to nothing although the way is there.
fn failures(samples: &LatencySamples) -> Option<Check> {
    let errors: Vec<&Trouble> = samples
        .connections
        .iter()
        .filter_map(|c| c.error.as_ref())
        .filter(|e| !matches!(e.kind, TroubleKind::TimedOut | TroubleKind::Stopped))
        .collect();
    let first = errors.first()?;
    let reason = Msg::new("accept-latency-failures")
        .arg("n", errors.len())
        .arg("of", samples.connections.len())
        .arg("why", why(first.kind))
        .arg("detail", first.detail.as_str());
    let check = Check::new("connections", Verdict::Warn, reason);
    Some(check.asking(Msg::new("accept-latency-ask-reachable")))
}

/// Another series that goes much farther: then what answered the first was not the machine.
fn farther<'a>(
    figures: &Figures,
    series: Series,
    out: &'a Latency,
    rules: &LatencyRules,
) -> Option<(Series, &'a Figures)> {
    if series != Series::Tcp {
        return None;
    }
    let near = figures.median_ms?;
    let others = [(Series::Icmp, &out.icmp), (Series::Tls, &out.tls)];
    others.into_iter().find_map(|(by, other)| {
        let other = other.as_ref()?;
        // the quickest of them: a busy server is slow, but not each time
        is_farther(near, other.min_ms?, rules).then_some((by, other))
    })
}

fn is_farther(near: f64, far: f64, rules: &LatencyRules) -> bool {
    far > near * rules.judge.near_ratio && far > near + rules.judge.near_ms
}

/// A VPN makes the way longer, and is not there when it is switched off.
fn tunnel_interface(samples: &LatencySamples, rules: &LatencyRules) -> Option<Check> {
    let route = samples.route.as_ref()?;
    let kind = route.kind.as_ref()?;
    if !rules.judge.tunnels.contains(kind) {
        return None;
    }
    let reason = Msg::new("accept-latency-vpn")
        .arg("interface", route.interface.as_str())
        .arg("kind", kind.as_str());
    let check = Check::new("vpn", Verdict::Warn, reason);
    Some(check.asking(Msg::new("accept-latency-ask-vpn")))
}

fn stopped(samples: &LatencySamples, out: &Latency) -> Option<Check> {
    if !samples.stopped {
        return None;
    }
    let done = samples.connections.len().max(samples.echoes.len());
    let reason = Msg::new("accept-latency-stopped")
        .arg("n", done)
        .arg("of", samples.samples);
    let check = Check::new("stopped", Verdict::Warn, reason);
    (out.decided_by.is_some() || done > 0).then_some(check)
}

/// To a tenth, which is as exact as a round trip through a busy machine is; below one to a hundredth.
fn ms(ms: Option<f64>) -> f64 {
    match ms.unwrap_or_default() {
        ms if ms < 1.0 => (ms * 100.0).round() / 100.0,
        ms => tenths(ms),
    }
}

fn tenths(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}
