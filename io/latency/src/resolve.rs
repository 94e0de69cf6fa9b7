//! Names to addresses, timed, with an end to waiting.

use lessee_accept::latency::{Trouble, TroubleKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The system's own resolver tries for up to half a minute.
const LONGEST: Duration = Duration::from_secs(10);
/// Of a name with many addresses so many are tried.
const MOST: usize = 4;

/// The addresses of a host, without a port, and how long that took, in ms; of an address it takes no time.
pub(crate) fn resolve(
    host: &str,
    stop: &AtomicBool,
) -> Result<(Vec<SocketAddr>, Option<f64>), Trouble> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok((vec![SocketAddr::new(ip, 0)], None));
    }
    let begun = Instant::now();
    let (tell, told) = channel();
    let name = host.to_owned();
    // cannot be interrupted, so it is left behind where it takes too long
    std::thread::spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs();
        let _ = tell.send(found.map(|all| all.collect::<Vec<_>>()));
    });
    let found = loop {
        match told.recv_timeout(Duration::from_millis(50)) {
            Ok(found) => break found,
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                return Err(Trouble::new(TroubleKind::Stopped, ""));
            }
            Err(RecvTimeoutError::Timeout) if begun.elapsed() < LONGEST => {}
            Err(_) => {
                let detail = format!("no answer within {} s", LONGEST.as_secs());
                return Err(Trouble::new(TroubleKind::Dns, detail));
            }
        }
    };
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let mut all: Vec<SocketAddr> = Vec::new();
    for address in found.map_err(|e| Trouble::new(TroubleKind::Dns, e.to_string()))? {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    all.truncate(MOST);
    match all.is_empty() {
        true => Err(Trouble::new(TroubleKind::Dns, "no address")),
        false => Ok((all, Some(ms))),
    }
}
