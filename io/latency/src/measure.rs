//! Many round trips to each of several targets, all at once and evenly spread over the time.
//!
//! The first connection finds out what answers at the port, and is the first sample. Each sample has a thread of its own,
//! so that one that waits for a lost packet keeps no other waiting.

use crate::connect::open;
use crate::icmp::{self, Pace};
use crate::proxy::ProxyUrl;
use crate::resolve::resolve;
use crate::route::route;
use crate::tls::{self, NoTls, shake};
use lessee_accept::latency::{
    Connection, Echo, LatencySamples, Measure, ProxyKind, Speaks, Target, Trouble, TroubleKind,
};
use rustls::ClientConfig;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// How often the pacer looks whether it is still wanted.
const NAP: Duration = Duration::from_millis(50);
/// Whoever speaks TLS answers the first words within a few round trips.
const TLS_ANSWER: Duration = Duration::from_secs(2);
/// Where the port is closed, so many pings tell whether the machine is there.
const PINGS_OF_A_CLOSED_PORT: usize = 5;

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// As asked for; `None`: what is usual, and fewer of a port where sshd answers.
    pub samples: Option<usize>,
    pub seconds: f64,
    pub usual: Measure,
}

/// Where to, and through what.
#[derive(Clone, Debug)]
pub struct Goal {
    pub target: Target,
    pub proxy: Option<ProxyUrl>,
}

/// Everything that stays the same from sample to sample.
struct Job<'a> {
    plan: &'a Plan,
    timeout: Duration,
    tls: &'a Arc<ClientConfig>,
    stop: &'a AtomicBool,
    /// Samples that are done, of all targets.
    done: &'a AtomicUsize,
}

/// Where to connect to.
struct End<'a> {
    proxy: Option<&'a ProxyUrl>,
    /// Of the target, or of the proxy.
    address: SocketAddr,
    /// The far end, as a proxy is told it: a name, or an address where names are resolved here.
    far: String,
    port: u16,
    /// That TLS asks for.
    name: String,
}

/// A way that was found: what answered, and the connection that found it out.
struct Way<'a> {
    end: End<'a>,
    begun: Instant,
    first: Connection,
    speaks: Speaks,
}

impl<'a> Way<'a> {
    fn found(end: End<'a>, begun: Instant, first: Connection, speaks: Option<Speaks>) -> Way<'a> {
        let silent = Speaks::Other { why: String::new() };
        Way {
            end,
            begun,
            first,
            speaks: speaks.unwrap_or(silent),
        }
    }
}

/// Measures all targets at once, and ends early, with what there is, when `stop` is set. `tell` hears from time to time
/// how many samples are done, of how many.
///
/// # Errors
/// TLS cannot be set up: a bug.
pub fn measure(
    goals: &[Goal],
    plan: &Plan,
    stop: &AtomicBool,
    tell: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<LatencySamples>, String> {
    let tls = tls::config().map_err(|e| e.to_string())?;
    let done = AtomicUsize::new(0);
    let job = Job {
        plan,
        timeout: Duration::from_secs_f64(plan.usual.timeout_s),
        tls: &tls,
        stop,
        done: &done,
    };
    let all = goals.len() * plan.samples.unwrap_or(plan.usual.samples);
    let ended = AtomicBool::new(false);
    let measured = thread::scope(|scope| {
        let threads: Vec<_> = goals
            .iter()
            .map(|goal| (goal, scope.spawn(|| one(goal, &job))))
            .collect();
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                tell(done.load(Ordering::Relaxed).min(all), all);
                thread::sleep(NAP);
            }
        });
        let results = threads.into_iter().map(|(goal, thread)| {
            thread.join().unwrap_or_else(|_| {
                let mut lost = job.blank(goal);
                lost.trouble = Some(Trouble::new(TroubleKind::System, "a thread broke down"));
                lost
            })
        });
        let results = results.collect();
        ended.store(true, Ordering::Relaxed);
        results
    });
    Ok(measured)
}

impl Job<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn blank(&self, goal: &Goal) -> LatencySamples {
        let samples = self.plan.samples.unwrap_or(self.plan.usual.samples);
        let mut blank = LatencySamples::new(
            goal.target.clone(),
            samples,
            self.plan.seconds,
            self.plan.usual.timeout_s,
        );
        blank.proxy = goal.proxy.as_ref().map(|p| p.proxy.clone());
        blank
    }

    /// A connection, through the proxy where there is one, and a handshake where TLS is spoken.
    fn sample(&self, way: &Way<'_>) -> Connection {
        self.connection(&way.end, Some(&way.speaks)).0
    }

    /// As [`Job::sample`]; where nobody knows yet what is spoken there, it is found out.
    fn connection(&self, to: &End<'_>, known: Option<&Speaks>) -> (Connection, Option<Speaks>) {
        let (mut record, stream) = open(to.address, self.timeout, self.stop);
        let Some(mut stream) = stream else {
            return (record, None);
        };
        if let Some(proxy) = to.proxy {
            match proxy.open(&mut stream, &to.far, to.port, self.timeout, self.stop) {
                Ok(ms) => record.tunnel_ms = Some(ms),
                Err(trouble) => {
                    record.error = Some(trouble);
                    return (record, None);
                }
            }
        }
        let patience = match known {
            Some(Speaks::Tls { .. }) => self.timeout,
            Some(Speaks::Ssh | Speaks::Other { .. }) => return (record, None),
            None => TLS_ANSWER.min(self.timeout),
        };
        match shake(self.tls, &to.name, &mut stream, patience, self.stop) {
            Ok(shaken) => {
                record.tls_ms = Some(shaken.ms);
                (record, Some(shaken.speaks))
            }
            Err(NoTls::Speaks(speaks)) => {
                if let (Some(_), Speaks::Other { why }) = (known, &speaks) {
                    record.error = Some(Trouble::new(TroubleKind::Tls, why.as_str()));
                }
                (record, Some(speaks))
            }
            Err(NoTls::Broke(trouble)) if known.is_some() => {
                record.error = Some(trouble);
                (record, None)
            }
            // whoever hangs up when greeted in TLS does not speak it; the connection was there all the same
            Err(NoTls::Broke(trouble)) => (
                record,
                Some(Speaks::Other {
                    why: trouble.detail,
                }),
            ),
        }
    }
}

fn one(goal: &Goal, job: &Job<'_>) -> LatencySamples {
    let target = &goal.target;
    let mut out = job.blank(goal);
    let found = match &goal.proxy {
        Some(proxy) => find_through(target, proxy, job, &mut out),
        None => find(target, job, &mut out),
    };
    match found {
        Ok(way) => series(way, job, &mut out),
        Err((trouble, address)) => {
            without_port(trouble, address, target, job, &mut out);
        }
    }
    out.stopped = job.stopped();
    out
}

type NoWay = (Trouble, Option<SocketAddr>);

/// The first port and address that lets itself be connected to.
fn find<'a>(target: &Target, job: &Job<'_>, out: &mut LatencySamples) -> Result<Way<'a>, NoWay> {
    let (addresses, dns_ms) = resolve(&target.host, job.stop).map_err(|t| (t, None))?;
    out.dns_ms = dns_ms;
    out.route = addresses.first().and_then(|a| route(a.ip()).ok());
    let named = target.port.map(|port| vec![port]);
    let ports = named.unwrap_or_else(|| job.plan.usual.ports.clone());
    let mut trouble = None;
    for port in ports {
        for address in &addresses {
            let mut address = *address;
            address.set_port(port);
            let begun = Instant::now();
            let end = End {
                proxy: None,
                address,
                far: target.host.clone(),
                port,
                name: target.host.clone(),
            };
            let (first, speaks) = job.connection(&end, None);
            if first.connect_ms.is_none() {
                trouble = trouble.or(first.error);
                continue;
            }
            out.address = Some(address.to_string());
            out.route = route(address.ip()).ok();
            return Ok(Way::found(end, begun, first, speaks));
        }
    }
    let none = Trouble::new(TroubleKind::System, "no port to try");
    Err((trouble.unwrap_or(none), addresses.first().copied()))
}

/// The way to the proxy, and through it to the first port that it opens.
fn find_through<'a>(
    target: &Target,
    proxy: &'a ProxyUrl,
    job: &Job<'_>,
    out: &mut LatencySamples,
) -> Result<Way<'a>, NoWay> {
    let of_proxy = |t: Trouble| {
        let detail = format!("{}: {}", proxy.proxy.at, t.detail);
        let kind = match t.kind {
            TroubleKind::Stopped => TroubleKind::Stopped,
            _ => TroubleKind::Proxy,
        };
        (Trouble::new(kind, detail), None)
    };
    let (addresses, _) = resolve(&proxy.host, job.stop).map_err(of_proxy)?;
    let far = match proxy.proxy.kind {
        ProxyKind::Socks5 => {
            let (far, dns_ms) = resolve(&target.host, job.stop).map_err(|t| (t, None))?;
            out.dns_ms = dns_ms;
            far.first().map(|a| a.ip().to_string())
        }
        ProxyKind::HttpConnect | ProxyKind::Socks5h => None,
    };
    let named = target.port.map(|port| vec![port]);
    let ports = named.unwrap_or_else(|| job.plan.usual.ports.clone());
    let mut trouble = None;
    for port in ports {
        for address in &addresses {
            let mut address = *address;
            address.set_port(proxy.port);
            out.route = route(address.ip()).ok();
            out.address = Some(address.to_string());
            let begun = Instant::now();
            let end = End {
                proxy: Some(proxy),
                address,
                far: far.clone().unwrap_or_else(|| target.host.clone()),
                port,
                name: target.host.clone(),
            };
            let (first, speaks) = job.connection(&end, None);
            if first.tunnel_ms.is_some() {
                return Ok(Way::found(end, begun, first, speaks));
            }
            trouble = trouble.or(first.error.map(|t| of_proxy(t).0));
        }
    }
    let none = Trouble::new(TroubleKind::Proxy, "no port to try");
    Err((trouble.unwrap_or(none), None))
}

/// All samples of a way that was found.
fn series(way: Way<'_>, job: &Job<'_>, out: &mut LatencySamples) {
    let wanted = match (job.plan.samples, &way.speaks) {
        (None, Speaks::Ssh) => out.samples.min(job.plan.usual.ssh_samples),
        _ => out.samples,
    };
    let every = |n: usize| Duration::from_secs_f64(job.plan.seconds / n.max(1) as f64);
    let (tell, told) = channel();
    job.done.fetch_add(1, Ordering::Relaxed);
    let mut all: Vec<Connection> = vec![way.first.clone()];
    thread::scope(|scope| {
        let pings = scope.spawn(|| match way.end.proxy {
            // what a ping reaches is not behind the proxy
            Some(_) => None,
            None => Some(pings(way.end.address, out.samples, every(out.samples), job)),
        });
        for n in 1..wanted {
            let due = way.begun + every(wanted) * u32::try_from(n).unwrap_or(u32::MAX);
            if !sleep_until(due, job) {
                break;
            }
            let (tell, way) = (tell.clone(), &way);
            scope.spawn(move || {
                let at_s = way.begun.elapsed().as_secs_f64();
                let sample = Connection {
                    at_s,
                    ..job.sample(way)
                };
                job.done.fetch_add(1, Ordering::Relaxed);
                let _ = tell.send(sample);
            });
        }
        drop(tell);
        all.extend(told);
        match pings.join().unwrap_or(None) {
            Some(Ok(echoes)) => out.echoes = echoes,
            Some(Err(why)) => out.no_echoes = Some(why),
            None => {}
        }
    });
    // begun and not ended by the user's wish: nobody knows what would have become of them
    all.retain(|c| {
        c.error
            .as_ref()
            .is_none_or(|e| e.kind != TroubleKind::Stopped)
    });
    all.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    out.connections = all;
    out.speaks = Some(way.speaks);
}

/// No port lets itself be connected to: pings alone, all of them where no port was named.
fn without_port(
    trouble: Trouble,
    address: Option<SocketAddr>,
    target: &Target,
    job: &Job<'_>,
    out: &mut LatencySamples,
) {
    let worth = matches!(trouble.kind, TroubleKind::Refused | TroubleKind::TimedOut);
    if let Some(address) = address.filter(|_| worth && !job.stopped()) {
        let count = match target.port {
            Some(_) => PINGS_OF_A_CLOSED_PORT.min(out.samples),
            None => out.samples,
        };
        let seconds = job.plan.seconds / out.samples.max(1) as f64;
        out.address.get_or_insert_with(|| address.ip().to_string());
        match pings(address, count, Duration::from_secs_f64(seconds), job) {
            Ok(echoes) => out.echoes = echoes,
            Err(why) => out.no_echoes = Some(why),
        }
    }
    out.trouble = Some(trouble);
}

fn pings(
    to: SocketAddr,
    count: usize,
    every: Duration,
    job: &Job<'_>,
) -> Result<Vec<Echo>, String> {
    let pace = Pace {
        count,
        every,
        timeout: job.timeout,
    };
    icmp::series(to, pace, job.stop)
}

/// Whether it is still wanted then.
fn sleep_until(due: Instant, job: &Job<'_>) -> bool {
    while !job.stopped() {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(NAP));
    }
    false
}
