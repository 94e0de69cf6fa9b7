//! Pings from a socket that needs no rights (`SOCK_DGRAM` with `IPPROTO_ICMP`), where the system gives it to this user:
//! Linux does by `net.ipv4.ping_group_range`. The kernel stamps what arrives, so that a busy desk does not count.

use crate::connect::SLICE;
use lessee_accept::latency::Echo;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns,
};
use nix::sys::time::TimeSpec;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, connect, ipproto, send, socket_with,
};
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// As long as those of `ping`.
const PAYLOAD: usize = 56;
const HEADER: usize = 8;

/// How many, how often, and how long each is waited for.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) count: usize,
    pub(crate) every: Duration,
    pub(crate) timeout: Duration,
}

/// When a question was sent: by the clock that only goes forward, and by the one that the kernel stamps arrivals with.
#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    wall: SystemTime,
}

/// Pings in their turn. The kernel sees to the checksum, and that only answers to this socket arrive.
///
/// # Errors
/// The system's words, where it gives no such socket or there is no way.
pub(crate) fn series(to: SocketAddr, pace: Pace, stop: &AtomicBool) -> Result<Vec<Echo>, String> {
    let socket = open(to).map_err(|e| e.to_string())?;
    let begun = Instant::now();
    let mut sent: Vec<Sent> = Vec::new();
    let mut echoes: Vec<Echo> = Vec::new();
    let mut open = 0;
    loop {
        let now = Instant::now();
        let due = begun + pace.every * u32::try_from(sent.len()).unwrap_or(u32::MAX);
        let stopped = stop.load(Ordering::Relaxed);
        let more = sent.len() < pace.count && !stopped;
        if more && now >= due {
            let number = u16::try_from(sent.len() & 0xffff).unwrap_or_default();
            let packet = request(to, number);
            let went_at = Sent {
                at: Instant::now(),
                wall: SystemTime::now(),
            };
            let went = send(&socket, &packet, SendFlags::empty());
            if let (Err(e), true) = (&went, sent.is_empty()) {
                return Err(e.to_string());
            }
            sent.push(went_at);
            open += 1;
            echoes.push(Echo {
                at_s: (now - begun).as_secs_f64(),
                ms: None,
            });
            continue;
        }
        let last = sent.last().map_or(now, |s| s.at + pace.timeout);
        if !more && (open == 0 || now >= last || stopped) {
            break;
        }
        let next = if more { due } else { last };
        let wait = next.saturating_duration_since(now).min(SLICE);
        let wait = Timespec::try_from(wait).ok();
        let _ = poll(&mut [PollFd::new(&socket, PollFlags::IN)], wait.as_ref());
        open -= collect(&socket, to, &sent, &mut echoes, pace.timeout);
    }
    if stop.load(Ordering::Relaxed) {
        // nobody knows what would have become of those
        let end = begun.elapsed();
        let waited = |e: &Echo| end.saturating_sub(Duration::from_secs_f64(e.at_s)) >= pace.timeout;
        echoes.retain(|e| e.ms.is_some() || waited(e));
    }
    Ok(echoes)
}

fn open(to: SocketAddr) -> rustix::io::Result<OwnedFd> {
    let (family, protocol) = match to {
        SocketAddr::V4(_) => (AddressFamily::INET, ipproto::ICMP),
        SocketAddr::V6(_) => (AddressFamily::INET6, ipproto::ICMPV6),
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::DGRAM, flags, Some(protocol))?;
    connect(&socket, &to)?;
    // without it the time of reading is taken
    let _ = setsockopt(&socket, ReceiveTimestampns, &true);
    Ok(socket)
}

fn request(to: SocketAddr, number: u16) -> Vec<u8> {
    let mut packet = vec![0; HEADER + PAYLOAD];
    packet[0] = if to.is_ipv4() { 8 } else { 128 };
    packet[6..HEADER].copy_from_slice(&number.to_be_bytes());
    packet
}

/// Takes all answers that are there; how many were the first to their question and in time.
fn collect(
    socket: &OwnedFd,
    to: SocketAddr,
    sent: &[Sent],
    echoes: &mut [Echo],
    timeout: Duration,
) -> usize {
    let mut news = 0;
    let mut buffer = [0u8; 2048];
    while let Some((len, stamp)) = take(socket, &mut buffer) {
        let Some(number) = answer(to, buffer.get(..len).unwrap_or_default()) else {
            continue;
        };
        // numbers begin again after 65,536 pings, which none of ours reaches
        let (Some(echo), Some(sent)) = (echoes.get_mut(number), sent.get(number)) else {
            continue;
        };
        let took = took(*sent, stamp);
        if echo.ms.is_none() && took <= timeout {
            echo.ms = Some(took.as_secs_f64() * 1e3);
            news += 1;
        }
    }
    news
}

/// A packet that is there, and when it arrived by the kernel's stamp.
fn take(socket: &OwnedFd, buffer: &mut [u8]) -> Option<(usize, Option<SystemTime>)> {
    let mut parts = [IoSliceMut::new(buffer)];
    let mut beside = nix::cmsg_space!(TimeSpec);
    let flags = MsgFlags::empty();
    let got = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut beside), flags).ok()?;
    let stamp = got.cmsgs().ok().and_then(|mut all| {
        all.find_map(|one| match one {
            ControlMessageOwned::ScmTimestampns(at) => {
                Some(SystemTime::UNIX_EPOCH + Duration::from(at))
            }
            _ => None,
        })
    });
    Some((got.bytes, stamp))
}

/// By the stamp, unless the wall clock was set in between: nothing is quicker than it was, or slower than it was read.
fn took(sent: Sent, stamp: Option<SystemTime>) -> Duration {
    let read = sent.at.elapsed();
    let stamped = stamp.and_then(|at| at.duration_since(sent.wall).ok());
    stamped.filter(|took| *took <= read).unwrap_or(read)
}

fn answer(to: SocketAddr, packet: &[u8]) -> Option<usize> {
    let kind = if to.is_ipv4() { 0 } else { 129 };
    match packet {
        [first, _, _, _, _, _, high, low, ..] if *first == kind => {
            Some(usize::from(u16::from_be_bytes([*high, *low])))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_any_shape() {
        let v4: SocketAddr = "1.2.3.4:0".parse().expect("address");
        let v6: SocketAddr = "[::1]:0".parse().expect("address");
        let mut packet = request(v4, 515);
        assert_eq!(answer(v4, &packet), None, "a question is no answer");
        packet[0] = 0;
        assert_eq!(answer(v4, &packet), Some(515));
        packet[0] = 129;
        assert_eq!(
            (answer(v6, &packet), answer(v4, &packet)),
            (Some(515), None)
        );
        for cut in 0..HEADER {
            assert_eq!(answer(v6, &packet[..cut]), None);
        }
    }

    #[test]
    fn a_wall_clock_that_was_set_is_not_believed() {
        let ms = Duration::from_millis;
        let sent = Sent {
            at: Instant::now() - ms(50),
            wall: SystemTime::now(),
        };
        assert_eq!(took(sent, Some(sent.wall + ms(20))), ms(20));
        for wrong in [
            None,
            Some(sent.wall - ms(1)),
            Some(sent.wall + ms(3_600_000)),
        ] {
            let took = took(sent, wrong);
            assert!(took >= ms(50) && took < ms(3_600_000), "{took:?}");
        }
    }
}
