//! Round trips over TCP: to any host by connecting to it, and of the SSH connection in which all this runs.
//!
//! No ICMP (closed to most users), no throughput (to a bucket: `io/objects`). A connection is opened and closed at once; no data is sent. Start at
//! [`connect`] and [`ssh`].

mod diag;

pub use diag::{KernelTrip, kernel_trip};

use crate::finding::{Finding, Severity};
use crate::step::{self, Conduct, Why};
use lessee_model::probe::{Reading, RoundTrips, S3Reading, SshTrip};
use lessee_model::{Explain, Msg};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum NetError {
    #[error("{target} has no address: {source}")]
    Resolve { target: String, source: io::Error },
    #[error("{what} of {value} s is not possible: {range}")]
    Option {
        what: &'static str,
        value: f64,
        range: &'static str,
    },
}

impl Explain for NetError {
    fn msg(&self) -> Msg {
        match self {
            NetError::Resolve { target, source } => Msg::new("probe-net-resolve")
                .arg("target", target.clone())
                .arg("detail", source.to_string()),
            NetError::Option { what, value, range } => Msg::new("probe-option")
                .arg("what", *what)
                .arg("value", *value)
                .arg("range", *range),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            NetError::Resolve { .. } => vec![Msg::new("hint-probe-host")],
            NetError::Option { .. } => Vec::new(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct NetOptions {
    /// `HOST:PORT`.
    pub target: String,
    pub for_s: f64,
    pub every_s: f64,
    /// Below one second, after which a lost first packet is sent again and its loss would look like a slow answer.
    pub timeout_s: f64,
}

impl NetOptions {
    pub fn new(target: String) -> NetOptions {
        NetOptions {
            target,
            for_s: 30.0,
            every_s: 0.2,
            timeout_s: 0.9,
        }
    }
}

/// Connects again and again, and measures how long the handshake takes: one round trip.
///
/// # Errors
/// A target without an address, times that make no sense.
pub fn connect(options: &NetOptions, conduct: &Conduct<'_>) -> Result<RoundTrips, NetError> {
    let within = |what, value: f64, low: f64, range| match value.is_finite()
        && (low..=3600.0).contains(&value)
    {
        true => Ok(Duration::from_secs_f64(value)),
        false => Err(NetError::Option { what, value, range }),
    };
    let time = within("a time", options.for_s, 0.0, "0 to 3600")?;
    let every = within("an interval", options.every_s, 0.01, "0.01 to 3600")?;
    let timeout = within("a timeout", options.timeout_s, 0.01, "0.01 to 3600")?;
    let resolve = |source| NetError::Resolve {
        target: options.target.clone(),
        source,
    };
    let address = options
        .target
        .to_socket_addrs()
        .map_err(resolve)?
        .next()
        .ok_or_else(|| resolve(io::Error::other("the name is known but has none")))?;

    let part = conduct.part("net.connect", time);
    let (mut trips, mut reasons, mut attempts) = (Vec::new(), BTreeMap::new(), 0);
    loop {
        let start = Instant::now();
        attempts += 1;
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(_) => trips.push(start.elapsed().as_secs_f64() * 1e3),
            Err(e) => *reasons.entry(e.kind().to_string()).or_insert(0) += 1,
        }
        part.tick();
        if part.over() {
            break;
        }
        std::thread::sleep(every.saturating_sub(start.elapsed()).min(part.left()));
    }
    let mut sorted = trips.clone();
    sorted.sort_by(f64::total_cmp);
    let steps = trips.windows(2).map(|w| (w[1] - w[0]).abs());
    Ok(RoundTrips {
        target: options.target.clone(),
        address: address.to_string(),
        attempts,
        failures: attempts - trips.len(),
        reasons,
        min_ms: sorted.first().copied(),
        p95_ms: sorted
            .get((sorted.len() * 95).div_ceil(100).saturating_sub(1))
            .copied(),
        max_ms: sorted.last().copied(),
        jitter_ms: (trips.len() > 1).then(|| steps.sum::<f64>() / (trips.len() - 1) as f64),
        rtt_ms: step::measured(trips, Why::NoConnection),
    })
}

/// What follows from a bucket; `failure`: what went wrong first, in words.
pub fn bucket_findings(bucket: &S3Reading, failure: Option<Msg>) -> Vec<Finding> {
    let mut out = Vec::new();
    let rates = [
        &bucket.put_mbs,
        &bucket.put_parallel_mbs,
        &bucket.get_mbs,
        &bucket.get_parallel_mbs,
    ];
    let failed = rates
        .into_iter()
        .find(|r| matches!(r, Reading::Failed { .. }));
    if let Some(reason) = failed.and_then(Reading::reason) {
        let finding = Finding::new(Severity::Unknown, "s3_not_measured", &bucket.bucket, reason);
        out.push(match failure {
            Some(words) => finding.words(words),
            None => finding,
        });
    }
    if !bucket.left_behind.is_empty() {
        let names = bucket.left_behind.join(", ");
        out.push(Finding::new(
            Severity::Warn,
            "s3_left_behind",
            &bucket.bucket,
            names,
        ));
    }
    out
}

/// What follows from the round trips.
pub fn findings(host: Option<&RoundTrips>, ssh: Option<&SshTrip>) -> Vec<Finding> {
    let mut out = Vec::new();
    if let Some(trips) = host.filter(|t| t.failures > 0) {
        let reasons = trips.reasons.iter().map(|(why, n)| format!("{why}: {n}"));
        let reasons: Vec<String> = reasons.collect();
        let detail = format!(
            "{} / {} ({})",
            trips.failures,
            trips.attempts,
            reasons.join(", ")
        );
        let (severity, code) = match trips.failures < trips.attempts {
            true => (Severity::Warn, "net_loss"),
            false => (Severity::Unknown, "net_unreachable"),
        };
        out.push(Finding::new(severity, code, trips.target.clone(), detail));
    }
    if ssh.is_some_and(|s| s.proxy && s.rtt_ms.measured().is_some()) {
        out.push(Finding::new(Severity::Note, "ssh_proxy", "ssh", ""));
    }
    out
}

/// Takes the value of `SSH_CONNECTION`. Nothing is sent: an idle connection tells of its last packets.
pub fn ssh(ssh_connection: Option<&str>) -> SshTrip {
    let unknown = |why: Why, detail: &str| SshTrip {
        rtt_ms: step::unknown(why, detail),
        deviation_ms: step::unknown(why, detail),
        proxy: false,
    };
    let Some(text) = ssh_connection else {
        return unknown(Why::NotInSsh, "");
    };
    let Some((client, server)) = ends(text) else {
        return unknown(Why::SshNotUnderstood, "");
    };
    let ms = |us: u32| Reading::Measured {
        value: f64::from(us) / 1e3,
        samples: Vec::new(),
    };
    match kernel_trip(server, client) {
        Ok(trip) => SshTrip {
            rtt_ms: ms(trip.rtt_us),
            deviation_ms: ms(trip.deviation_us),
            proxy: is_near(client.ip()),
        },
        Err(e) => unknown(Why::NotShown, &e.to_string()),
    }
}

fn ends(text: &str) -> Option<(SocketAddr, SocketAddr)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[client, client_port, server, server_port] = words.as_slice() else {
        return None;
    };
    let end = |ip: &str, port: &str| {
        // a link-local address carries its interface behind `%`
        let ip: IpAddr = ip.split('%').next()?.parse().ok()?;
        Some(SocketAddr::new(ip, port.parse().ok()?))
    };
    Some((end(client, client_port)?, end(server, server_port)?))
}

fn is_near(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;

    fn options(target: &str) -> NetOptions {
        NetOptions {
            for_s: 0.2,
            every_s: 0.02,
            ..NetOptions::new(target.to_owned())
        }
    }

    fn go(options: &NetOptions) -> Result<RoundTrips, NetError> {
        let stop = AtomicBool::new(false);
        connect(options, &Conduct::new(&stop, &|_| {}))
    }

    #[test]
    fn a_listener_answers_and_a_closed_port_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap().to_string();
        let report = go(&options(&target)).unwrap();
        assert!(report.attempts > 1 && report.failures == 0);
        assert!(report.min_ms.unwrap() <= report.p95_ms.unwrap());
        assert!(report.p95_ms.unwrap() <= report.max_ms.unwrap());
        assert!(report.jitter_ms.is_some());
        drop(listener);
        let report = go(&options(&target)).unwrap();
        assert_eq!(report.failures, report.attempts);
        assert_eq!(report.reasons.values().sum::<usize>(), report.failures);
        assert!(matches!(report.rtt_ms, Reading::Unknown { .. }));
    }

    #[test]
    fn targets_and_times_without_sense_are_refused() {
        assert!(matches!(
            go(&options("no port")),
            Err(NetError::Resolve { .. })
        ));
        let mut o = options("127.0.0.1:1");
        o.every_s = f64::NAN;
        assert!(matches!(go(&o), Err(NetError::Option { .. })));
    }

    #[test]
    fn the_kernel_tells_the_round_trip_of_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let (c, s) = (client.local_addr().unwrap(), server.local_addr().unwrap());
        let text = format!("{} {} {} {}", c.ip(), c.port(), s.ip(), s.port());
        let report = ssh(Some(&text));
        match &report.rtt_ms {
            Reading::Measured { value, .. } => assert!(*value >= 0.0 && report.proxy),
            // a sandbox may forbid it, and then says why
            Reading::Unknown { reason } => assert!(!reason.is_empty()),
            other => panic!("{other:?}"),
        }
        for bad in [None, Some("1.2.3.4 5"), Some("a b c d")] {
            assert!(matches!(ssh(bad).rtt_ms, Reading::Unknown { .. }));
        }
        assert!(ends("fe80::1%eth0 50000 fe80::2%eth0 22").is_some());
    }
}
