//! Figures of a series of round trips. Lost ones have no time and are counted apart.

use super::samples::{Connection, Echo, TroubleKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One series, in ms. Percentiles are by nearest rank, so each is a round trip that occurred; the median of an even number
/// is between the two in the middle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Packets that asked, repeats with them.
    pub sent: usize,
    /// Round trips that are in the percentiles.
    pub timed: usize,
    pub lost: usize,
    /// Per cent of those sent.
    pub loss_pct: f64,
    pub min_ms: Option<f64>,
    pub median_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Mean difference from one to the next (the mean of |D| of RFC 3550, without its smoothing).
    pub jitter_ms: Option<f64>,
}

impl Figures {
    /// From round trips in the order in which they were made.
    pub(crate) fn of(times: &[f64], sent: usize, lost: usize) -> Figures {
        let mut sorted: Vec<f64> = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let steps = times.windows(2).map(|w| (w[1] - w[0]).abs());
        Figures {
            sent,
            timed: times.len(),
            lost,
            loss_pct: match sent {
                0 => 0.0,
                sent => 100.0 * lost as f64 / sent as f64,
            },
            min_ms: sorted.first().copied(),
            median_ms: median(&sorted),
            p95_ms: rank(&sorted, 95),
            p99_ms: rank(&sorted, 99),
            max_ms: sorted.last().copied(),
            jitter_ms: (times.len() > 1).then(|| steps.sum::<f64>() / (times.len() - 1) as f64),
        }
    }

    /// Of the opening packets of TCP. One that had to be sent again was lost, or its answer was; such a connection tells
    /// how long the system waits, not how far the machine is, and has no time here.
    pub(crate) fn tcp(connections: &[Connection]) -> Option<Figures> {
        let mut times = Vec::new();
        let (mut sent, mut lost) = (0, 0);
        for c in connections {
            let repeats = c.repeats as usize;
            let kind = c.error.as_ref().map(|e| e.kind);
            match (c.connect_ms, kind) {
                (Some(took), _) => {
                    sent += 1 + repeats;
                    lost += repeats;
                    if repeats == 0 {
                        times.push(c.kernel_ms.unwrap_or(took));
                    }
                }
                // not one of them was answered
                (None, Some(TroubleKind::TimedOut)) => {
                    sent += 1 + repeats;
                    lost += 1 + repeats;
                }
                // answered, though not as wished
                (None, Some(TroubleKind::Refused)) => {
                    sent += 1 + repeats;
                    lost += repeats;
                }
                _ => {}
            }
        }
        (sent > 0).then(|| Figures::of(&times, sent, lost))
    }

    /// Of TLS handshakes, by round trip. TCP brings lost packets again, so that none are seen to be lost.
    pub(crate) fn tls(connections: &[Connection], trips: u32) -> Option<Figures> {
        let per_trip = |ms: f64| ms / f64::from(trips.max(1));
        let times = connections.iter().filter_map(|c| c.tls_ms);
        Figures::present(times.map(per_trip))
    }

    /// Of the words with which a proxy opens its way.
    pub(crate) fn tunnel(connections: &[Connection]) -> Option<Figures> {
        Figures::present(connections.iter().filter_map(|c| c.tunnel_ms))
    }

    fn present(times: impl Iterator<Item = f64>) -> Option<Figures> {
        let times: Vec<f64> = times.collect();
        (!times.is_empty()).then(|| Figures::of(&times, times.len(), 0))
    }

    /// Of pings. Where none is answered they are not wanted there, which says nothing of the way.
    pub(crate) fn icmp(echoes: &[Echo]) -> Option<Figures> {
        let times: Vec<f64> = echoes.iter().filter_map(|e| e.ms).collect();
        let lost = echoes.len() - times.len();
        (!times.is_empty()).then(|| Figures::of(&times, echoes.len(), lost))
    }
}

fn median(sorted: &[f64]) -> Option<f64> {
    let mid = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[mid]),
        _ => Some((sorted[mid - 1] + sorted[mid]) / 2.0),
    }
}

fn rank(sorted: &[f64], percent: usize) -> Option<f64> {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::super::samples::Trouble;
    use super::*;

    #[test]
    fn percentiles_are_of_what_occurred() {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        let f = Figures::of(&times, 100, 0);
        let all = (f.min_ms, f.median_ms, f.p95_ms, f.p99_ms, f.max_ms);
        let want = [1.0, 50.5, 95.0, 99.0, 100.0].map(Some);
        assert_eq!(all, (want[0], want[1], want[2], want[3], want[4]));
        assert_eq!((f.jitter_ms, f.loss_pct), (Some(1.0), 0.0));
        let none = Figures::of(&[], 0, 0);
        assert_eq!(
            (none.p95_ms, none.jitter_ms, none.loss_pct),
            (None, None, 0.0)
        );
    }

    #[test]
    fn a_packet_sent_again_is_lost_and_no_round_trip() {
        let open = |ms: f64, repeats: u32| Connection {
            connect_ms: Some(ms),
            kernel_ms: Some(ms - 0.1),
            repeats,
            ..Connection::default()
        };
        let failed = |kind, repeats| Connection {
            error: Some(Trouble::new(kind, "")),
            repeats,
            ..Connection::default()
        };
        let all = [
            open(30.1, 0),
            open(1030.0, 1),
            failed(TroubleKind::TimedOut, 2),
            failed(TroubleKind::Refused, 0),
            failed(TroubleKind::System, 0),
        ];
        let f = Figures::tcp(&all).expect("figures");
        assert_eq!((f.sent, f.lost, f.timed), (7, 4, 1));
        assert_eq!(f.max_ms, Some(30.0));
        assert_eq!(Figures::tcp(&all[4..]), None);
        let echoes = [None, Some(3.0), Some(4.0)].map(|ms| Echo { at_s: 0.0, ms });
        assert_eq!(Figures::icmp(&echoes).expect("figures").lost, 1);
        assert_eq!(Figures::icmp(&echoes[..1]), None);
    }
}
