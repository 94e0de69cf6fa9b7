//! A link: threads that take packets from one TUN device and give them to the other when their time has come.

use crate::net::Net;
use crate::packet::{Class, Counts};
use crate::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A sleep ends up to so much late; the rest is waited for awake.
const AWAKE: Duration = Duration::from_micros(200);
/// How often idle threads look whether the link is still wanted.
const IDLE: Duration = Duration::from_millis(100);

/// What a link loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drops {
    Nothing,
    /// This share of the packets that open TCP connections, of each direction.
    Handshakes(f64),
    /// This share of pings and of their answers.
    Echoes(f64),
    Everything,
}

/// How a link is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Both directions together; half of it each way.
    pub round_trip: Duration,
    pub drops: Drops,
    /// Same seed, same packets dropped, counted by kind.
    pub seed: u64,
}

impl Shape {
    pub fn ms(round_trip_ms: u64) -> Shape {
        Shape {
            round_trip: Duration::from_millis(round_trip_ms),
            drops: Drops::Nothing,
            seed: 1,
        }
    }

    #[must_use]
    pub fn dropping(self, drops: Drops, seed: u64) -> Shape {
        Shape {
            drops,
            seed,
            ..self
        }
    }

    /// Whether the link loses the `nth` packet of a kind.
    fn loses(&self, class: Class, nth: u64) -> bool {
        use Class::{EchoReply, EchoRequest, Syn, SynAck};
        let share = match (self.drops, class) {
            (Drops::Everything, _) => return true,
            (Drops::Handshakes(share), Syn | SynAck) => share,
            (Drops::Echoes(share), EchoRequest | EchoReply) => share,
            _ => return false,
        };
        let mixed = mix(self.seed ^ mix(nth ^ mix(class as u64 + 1)));
        (mixed >> 11) as f64 / (1u64 << 53) as f64 <= share
    }
}

/// SplitMix64's finaliser.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A machine at the far end of a link, which is down when this goes.
#[derive(Debug)]
pub struct Link {
    /// Where servers are started.
    pub server: Net,
    /// Under which the office reaches them.
    pub address: Ipv4Addr,
    pub counts: Arc<Counts>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Link {
    pub(crate) fn new(
        office: &Net,
        near: Ipv4Addr,
        far: Ipv4Addr,
        shape: Shape,
    ) -> io::Result<Link> {
        let server = Net::new()?;
        let here = device(office, near)?;
        let there = device(&server, far)?;
        let mut link = Link {
            server,
            address: far,
            counts: Arc::default(),
            stop: Arc::default(),
            threads: Vec::new(),
        };
        for (from, to) in [(&here, &there), (&there, &here)] {
            let (give, take) = channel();
            let (counts, stop) = (link.counts.clone(), link.stop.clone());
            let from = from.clone();
            let reader = thread::spawn(move || collect(&from, &give, shape, &counts, &stop));
            let (to, stop) = (to.clone(), link.stop.clone());
            let writer = thread::spawn(move || deliver(&to, &take, &stop));
            link.threads.extend([reader, writer]);
        }
        Ok(link)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Where the system allows it, a link is not kept waiting by other work: what it says it delays, it delays. `chrt` is part of
/// util-linux, and asks for real time so that this crate need not.
fn ahead_of_others() {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let _ = Command::new("chrt")
        .args(["--fifo", "--pid", "10", &thread])
        .output();
}

/// A TUN device with this address, up. Named after its subnet, as an office may have several.
fn device(net: &Net, address: Ipv4Addr) -> io::Result<Arc<OwnedFd>> {
    let name = format!("link{}", address.octets()[2]);
    let device = net.run(|| sys::tun(&name))?;
    net.ip(&format!("address add {address}/24 dev {name}"))?;
    net.ip(&format!("link set {name} up"))?;
    Ok(Arc::new(device))
}

fn collect(
    from: &OwnedFd,
    to: &Sender<(Instant, Vec<u8>)>,
    shape: Shape,
    counts: &Counts,
    stop: &AtomicBool,
) {
    ahead_of_others();
    let mut buffer = vec![0; 65536];
    let one_way = shape.round_trip / 2;
    while !stop.load(Ordering::Relaxed) {
        match rustix::io::read(from, &mut buffer[..]) {
            Ok(len) => {
                let due = Instant::now() + one_way;
                let packet = &buffer[..len];
                let class = Class::of(packet);
                if shape.loses(class, counts.see(class)) {
                    counts.lose(class);
                } else if to.send((due, packet.to_vec())).is_err() {
                    return;
                }
            }
            Err(_) => {
                let wait = Timespec::try_from(IDLE).ok();
                let _ = poll(&mut [PollFd::new(from, PollFlags::IN)], wait.as_ref());
            }
        }
    }
}

fn deliver(to: &OwnedFd, from: &Receiver<(Instant, Vec<u8>)>, stop: &AtomicBool) {
    ahead_of_others();
    while !stop.load(Ordering::Relaxed) {
        match from.recv_timeout(IDLE) {
            Ok((due, packet)) => {
                let now = Instant::now();
                if due > now + AWAKE {
                    thread::sleep(due - now - AWAKE);
                }
                while Instant::now() < due {
                    thread::yield_now();
                }
                // a device that is full or down loses packets as a network does
                let _ = rustix::io::write(to, &packet);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_loses_the_same_packets_and_about_its_share() {
        let shape = |seed| Shape::ms(1).dropping(Drops::Handshakes(0.1), seed);
        let lost = |seed| -> Vec<u64> {
            (0..1000)
                .filter(|n| shape(seed).loses(Class::Syn, *n))
                .collect()
        };
        assert_eq!(lost(7), lost(7));
        assert_ne!(lost(7), lost(8));
        assert!((60..140).contains(&lost(7).len()), "{}", lost(7).len());
        assert!(!shape(7).loses(Class::EchoReply, 3));
        assert!(!Shape::ms(1).loses(Class::Syn, 3));
    }
}
