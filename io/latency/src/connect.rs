//! One TCP connection, timed: from here by the clock, and by the kernel, which saw the packets themselves.

use lessee_accept::latency::{Connection, Trouble, TroubleKind};
use lessee_probe_io::net::kernel_trip;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_error;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a wait looks whether it is still wanted.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// When an opening packet without an answer is sent again, counted from the first: RFC 6298's first second, doubled each
/// time. Only used where the kernel does not count for us.
const STEPS_MS: [f64; 4] = [1000.0, 3000.0, 7000.0, 15000.0];

/// Opens a connection. What became of it is in the record; the stream is there where it is open.
pub(crate) fn open(
    to: SocketAddr,
    timeout: Duration,
    stop: &AtomicBool,
) -> (Connection, Option<TcpStream>) {
    let failed = |e: Errno| {
        let record = Connection {
            counted_by: "kernel".to_owned(),
            error: Some(trouble_of(e.into())),
            ..Connection::default()
        };
        (record, None)
    };
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = match socket_with(family, SocketType::STREAM, flags, None) {
        Ok(socket) => socket,
        Err(e) => return failed(e),
    };
    let begun = Instant::now();
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(e) => return failed(e),
    }
    let end = wait(&socket, begun, timeout, stop);
    let took_ms = begun.elapsed().as_secs_f64() * 1e3;
    let _ = rustix::io::ioctl_fionbio(&socket, false);
    let stream = TcpStream::from(socket);
    let mut record = Connection::default();
    count(&mut record, &stream, to, took_ms, end.is_ok());
    match end {
        Ok(()) => {
            record.connect_ms = Some(took_ms);
            let _ = stream.set_nodelay(true);
            (record, Some(stream))
        }
        Err(trouble) => {
            record.error = Some(trouble);
            (record, None)
        }
    }
}

/// Until it is open, refused, or no longer waited for.
fn wait(
    socket: &OwnedFd,
    begun: Instant,
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<(), Trouble> {
    loop {
        let left = timeout.saturating_sub(begun.elapsed());
        let slice = Timespec::try_from(left.min(SLICE)).ok();
        let mut one = [PollFd::new(socket, PollFlags::OUT)];
        match poll(&mut one, slice.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                return match socket_error(socket) {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(e)) | Err(e) => Err(trouble_of(e.into())),
                };
            }
            Err(e) => return Err(trouble_of(e.into())),
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Trouble::new(TroubleKind::Stopped, ""));
        }
        if begun.elapsed() >= timeout {
            let detail = format!("no answer within {} s", timeout.as_secs_f64());
            return Err(Trouble::new(TroubleKind::TimedOut, detail));
        }
    }
}

/// What the kernel counted, or what follows from the time.
fn count(record: &mut Connection, stream: &TcpStream, to: SocketAddr, took_ms: f64, open: bool) {
    let told = stream.local_addr().and_then(|from| kernel_trip(from, to));
    match told {
        Ok(trip) => {
            record.repeats = trip.repeats;
            record.counted_by = "kernel".to_owned();
            let ms = f64::from(trip.rtt_us) / 1e3;
            // a connection that is not open has no round trip, and nothing is quicker by the clock than by the kernel
            let sound = open && trip.repeats == 0 && ms > 0.0 && ms <= took_ms;
            record.kernel_ms = sound.then_some(ms);
        }
        Err(_) => {
            let repeats = STEPS_MS.iter().filter(|step| took_ms >= **step).count();
            record.repeats = u32::try_from(repeats).unwrap_or_default();
            record.counted_by = "steps".to_owned();
        }
    }
}

/// The system's error by kind.
pub(crate) fn trouble_of(error: std::io::Error) -> Trouble {
    use std::io::ErrorKind as E;
    let kind = match error.kind() {
        E::ConnectionRefused => TroubleKind::Refused,
        E::TimedOut | E::WouldBlock => TroubleKind::TimedOut,
        E::HostUnreachable | E::NetworkUnreachable | E::NetworkDown | E::AddrNotAvailable => {
            TroubleKind::Unreachable
        }
        E::ConnectionReset | E::ConnectionAborted | E::BrokenPipe | E::UnexpectedEof => {
            TroubleKind::Reset
        }
        _ => TroubleKind::System,
    };
    Trouble::new(kind, error.to_string())
}
