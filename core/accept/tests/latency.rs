//! Verdicts on round trips, from what was measured alone.

use lessee_accept::Verdict::{self, Fail, Pass, Unknown, Warn};
use lessee_accept::latency::{
    Connection, Echo, Latency, LatencyRules, LatencySamples, Proxy, ProxyKind, Route, Series,
    Speaks, Target, Trouble, TroubleKind, Work, judge,
};

fn rules() -> LatencyRules {
    let text = include_str!("../../../data/accept/latency.toml");
    LatencyRules::from_toml(text).expect("rules")
}

fn open(ms: f64) -> Connection {
    Connection {
        connect_ms: Some(ms + 0.2),
        kernel_ms: Some(ms),
        ..Connection::default()
    }
}

/// A hundred connections, the slowest five of which take `slow` ms.
fn measured(usual: f64, slow: f64) -> LatencySamples {
    let target = Target::parse("node.example:443").expect("a target");
    let mut samples = LatencySamples::new(target, 100, 30.0, 4.0);
    let ms = |n| if n % 20 == 0 { slow } else { usual };
    samples.connections = (0..100).map(|n| open(ms(n))).collect();
    samples
}

fn of(samples: &LatencySamples, work: Work) -> Latency {
    judge(samples, work, &rules())
}

fn found(judged: &Latency, rule: &str) -> Option<(Verdict, String)> {
    let finding = judged.findings.iter().find(|f| f.rule == rule)?;
    Some((finding.verdict, finding.reason.id.to_string()))
}

#[test]
fn the_95th_percentile_decides_at_its_limits() {
    use Work::{Batch, Notebook, Visual};
    for (ms, work, want) in [
        (29.9, Visual, Pass),
        (30.0, Visual, Warn),
        (50.0, Visual, Warn),
        (50.1, Visual, Fail),
        (99.9, Notebook, Pass),
        (100.0, Notebook, Warn),
        (250.0, Notebook, Warn),
        (250.1, Notebook, Fail),
        (900.0, Batch, Pass),
    ] {
        // five of a hundred may be slower
        let judged = of(&measured(ms, 2000.0), work);
        assert_eq!(judged.verdict, want, "{ms} {}", work.as_str());
        assert_eq!(judged.decided_by, Some(Series::Tcp));
    }
    let mut six = measured(10.0, 2000.0);
    six.connections[1] = open(2000.0);
    assert_eq!(of(&six, Visual).verdict, Fail);
}

#[test]
fn every_finding_has_a_source_and_a_date() {
    let mut samples = measured(60.0, 70.0);
    samples.stopped = true;
    samples.route = Some(Route {
        interface: "wg0".to_owned(),
        kind: Some("wireguard".to_owned()),
    });
    let judged = of(&samples, Work::Visual);
    let names: Vec<&str> = judged.findings.iter().map(|f| f.rule).collect();
    assert_eq!(names, ["latency", "vpn", "stopped"]);
    for f in &judged.findings {
        assert_eq!(f.subject, "node.example:443");
        assert!(f.source.is_some() && f.as_of.is_some(), "{}", f.rule);
    }
}

#[test]
fn loss_is_judged_by_packets() {
    let mut samples = measured(10.0, 10.0);
    let lose = |samples: &mut LatencySamples, n: usize| {
        for c in &mut samples.connections[..n] {
            c.repeats = 1;
            c.connect_ms = Some(1010.0);
        }
    };
    assert_eq!(found(&of(&samples, Work::Visual), "loss"), None);
    for (n, want) in [(1, Pass), (2, Warn), (5, Warn), (6, Fail)] {
        lose(&mut samples, n);
        let judged = of(&samples, Work::Visual);
        assert_eq!(found(&judged, "loss").map(|f| f.0), Some(want), "{n}");
        assert_eq!(judged.verdict, Pass, "a repeat is no slow round trip");
    }
    assert_eq!(
        found(&of(&samples, Work::Batch), "loss").map(|f| f.0),
        Some(Pass)
    );
    lose(&mut samples, 100);
    let judged = of(&samples, Work::Visual);
    assert_eq!(found(&judged, "latency").map(|f| f.0), Some(Unknown));
    assert_eq!(found(&judged, "loss").map(|f| f.0), Some(Fail));
}

#[test]
fn nothing_measured_is_unknown_with_its_reason() {
    let blank = |kind| {
        let mut samples = measured(1.0, 1.0);
        samples.connections.clear();
        samples.trouble = Some(Trouble::new(kind, "words"));
        samples
    };
    for kind in TroubleKind::ALL {
        let judged = of(&blank(kind), Work::Batch);
        let (verdict, id) = found(&judged, "latency").expect("a finding");
        assert_eq!((verdict, id.as_str()), (Unknown, "accept-latency-none"));
        assert_eq!(judged.decided_by, None);
    }
    // pings of a machine whose port is closed do not make the port open
    let pings = |n: usize| -> Vec<Echo> {
        let echo = |at| Echo {
            at_s: f64::from(at),
            ms: Some(9.0),
        };
        (0..u32::try_from(n).expect("few")).map(echo).collect()
    };
    let mut samples = blank(TroubleKind::Refused);
    samples.echoes = pings(100);
    let (verdict, id) = found(&of(&samples, Work::Visual), "latency").expect("a finding");
    assert_eq!(
        (verdict, id.as_str()),
        (Unknown, "accept-latency-port-closed")
    );
    // where no port was asked for they are all there is
    samples.target.port = None;
    let judged = of(&samples, Work::Visual);
    assert_eq!(
        (judged.verdict, judged.decided_by),
        (Pass, Some(Series::Icmp))
    );
    samples.echoes = pings(19);
    assert_eq!(of(&samples, Work::Visual).verdict, Unknown);
}

#[test]
fn an_answer_from_nearer_than_the_machine_is_not_believed() {
    let mut samples = measured(2.0, 3.0);
    samples.echoes = (0..100)
        .map(|n| Echo {
            at_s: f64::from(n),
            ms: Some(120.0),
        })
        .collect();
    let judged = of(&samples, Work::Visual);
    assert_eq!(judged.verdict, Unknown);
    assert_eq!(found(&judged, "near").map(|f| f.0), Some(Warn));
    // batch work does not care which it is
    assert_eq!(of(&samples, Work::Batch).verdict, Pass);
    // a TLS handshake takes its computing, which is no way
    let mut samples = measured(2.0, 3.0);
    let tls = |trips| Speaks::Tls {
        version: "TLSv1.2".to_owned(),
        trips,
    };
    samples.speaks = Some(tls(2));
    for c in &mut samples.connections {
        c.tls_ms = Some(20.0);
    }
    assert_eq!(found(&of(&samples, Work::Visual), "near"), None);
    for c in &mut samples.connections {
        c.tls_ms = Some(200.0);
    }
    let judged = of(&samples, Work::Visual);
    assert_eq!(found(&judged, "near").map(|f| f.0), Some(Warn));
    assert_eq!(judged.tls.expect("figures").median_ms, Some(100.0));
}

#[test]
fn through_a_proxy_nothing_passes_and_nothing_fails() {
    let through = |tls_ms: Option<f64>, tunnel_ms: f64| {
        let mut samples = measured(0.1, 0.1);
        samples.proxy = Some(Proxy {
            kind: ProxyKind::HttpConnect,
            at: "127.0.0.1:7890".to_owned(),
            named_by: "HTTPS_PROXY".to_owned(),
        });
        samples.speaks = tls_ms.map(|_| Speaks::Tls {
            version: "TLSv1.3".to_owned(),
            trips: 1,
        });
        for c in &mut samples.connections {
            c.tunnel_ms = Some(tunnel_ms);
            c.tls_ms = tls_ms;
        }
        of(&samples, Work::Visual)
    };
    let id = |judged: &Latency| found(judged, "latency").expect("a finding").1;
    for (ms, want) in [(10.0, Warn), (40.0, Warn), (60.0, Unknown)] {
        let judged = through(Some(ms), 0.5);
        assert_eq!(
            (judged.verdict, judged.decided_by),
            (want, Some(Series::Tls)),
            "{ms}"
        );
        assert_eq!(found(&judged, "proxy").map(|f| f.0), Some(Warn));
    }
    let blind = through(None, 0.5);
    assert_eq!(
        (blind.verdict, id(&blind).as_str()),
        (Unknown, "accept-latency-proxy-blind")
    );
    // TLS that is quicker than the proxy's own way there ends at the proxy
    let ended = through(Some(2.0), 80.0);
    assert_eq!(
        (ended.verdict, id(&ended).as_str()),
        (Unknown, "accept-latency-proxy-ends")
    );
}

#[test]
fn a_measurement_read_back_is_judged_the_same() {
    let mut samples = measured(40.0, 80.0);
    samples.connections[3].error = Some(Trouble::new(TroubleKind::Reset, "x"));
    let text = toml::to_string(&samples).expect("text");
    let back: LatencySamples = toml::from_str(&text).expect("samples");
    assert_eq!(back, samples);
    let words = |l: &Latency| -> Vec<String> {
        l.findings
            .iter()
            .map(|f| format!("{:?}", f.reason))
            .collect()
    };
    let (a, b) = (of(&samples, Work::Visual), of(&back, Work::Visual));
    assert_eq!(words(&a), words(&b));
    assert_eq!(found(&a, "connections").map(|f| f.0), Some(Warn));
}
