//! One question to the kernel's `sock_diag`: the round trip of one TCP connection. Needs no rights.
//!
//! Message layouts are those of `linux/inet_diag.h` and `linux/tcp.h`, which only ever grow at their ends.

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const INET_DIAG_INFO: u16 = 2;
const TCP: u8 = 6;
const HEADER: usize = 16;
/// `struct inet_diag_msg`.
const DIAG_MSG: usize = 72;
/// `tcpi_rtt` in `struct tcp_info`; `tcpi_rttvar` follows.
const RTT: usize = 68;
/// `tcpi_total_retrans`.
const REPEATS: usize = 100;

/// What the kernel knows of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTrip {
    /// Smoothed; of a connection that has sent nothing yet, that of its opening packet. 0: not measured yet.
    pub rtt_us: u32,
    pub deviation_us: u32,
    /// Packets sent again since it was begun, the opening one too.
    pub repeats: u32,
}

/// Asks for a connection of this machine, in any state: one that is being opened has its repeats.
///
/// # Errors
/// There is none between these ends, or the system does not answer.
pub fn kernel_trip(local: SocketAddr, remote: SocketAddr) -> io::Result<KernelTrip> {
    let plain = ask(&request(local, remote, false));
    // a server that listens on IPv6 has its IPv4 connections there too
    match (&plain, local.is_ipv4()) {
        (Err(_), true) => ask(&request(local, remote, true)).or(plain),
        _ => plain,
    }
}

fn request(local: SocketAddr, remote: SocketAddr, mapped: bool) -> Vec<u8> {
    let v6 = mapped || local.is_ipv6();
    let family = if v6 {
        AddressFamily::INET6
    } else {
        AddressFamily::INET
    };
    let mut m = Vec::with_capacity(72);
    m.extend(72u32.to_ne_bytes());
    m.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    m.extend(NLM_F_REQUEST.to_ne_bytes());
    m.extend([0; 8]);
    m.extend([family.as_raw() as u8, TCP, 1 << (INET_DIAG_INFO - 1), 0]);
    // connections in any state
    m.extend(u32::MAX.to_ne_bytes());
    m.extend(local.port().to_be_bytes());
    m.extend(remote.port().to_be_bytes());
    for end in [local.ip(), remote.ip()] {
        let mut address = [0; 16];
        match end {
            IpAddr::V4(ip) if v6 => address = ip.to_ipv6_mapped().octets(),
            IpAddr::V4(ip) => address[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => address = ip.octets(),
        }
        m.extend(address);
    }
    // any interface, no cookie
    m.extend(0u32.to_ne_bytes());
    m.extend([0xff; 8]);
    m
}

fn ask(request: &[u8]) -> io::Result<KernelTrip> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(SOCK_DIAG),
    )?;
    set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(1)))?;
    sendto(
        &socket,
        request,
        SendFlags::empty(),
        &SocketAddrNetlink::new(0, 0),
    )?;
    let mut buffer = [0u8; 4096];
    let (len, _) = recv(&socket, &mut buffer[..], RecvFlags::empty())?;
    answer(buffer.get(..len).unwrap_or_default())
}

fn answer(message: &[u8]) -> io::Result<KernelTrip> {
    let short = || io::Error::other("an answer that is cut off");
    let half = |at: usize| {
        message
            .get(at..at + 2)
            .map(|b| u16::from_ne_bytes([b[0], b[1]]))
    };
    let word = |at: usize| {
        let b = message.get(at..at + 4)?;
        Some(u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
    };
    match half(4).ok_or_else(short)? {
        NLMSG_ERROR => {
            let code = word(HEADER).ok_or_else(short)? as i32;
            return Err(io::Error::from_raw_os_error(code.wrapping_neg()));
        }
        SOCK_DIAG_BY_FAMILY => {}
        other => return Err(io::Error::other(format!("an answer of type {other}"))),
    }
    let mut at = HEADER + DIAG_MSG;
    while let (Some(len), Some(kind)) = (half(at), half(at + 2)) {
        let len = usize::from(len);
        if kind == INET_DIAG_INFO && len >= 4 + RTT + 8 {
            let rtt = word(at + 4 + RTT).ok_or_else(short)?;
            let deviation = word(at + 4 + RTT + 4).ok_or_else(short)?;
            // kernels older than 2.6.26 end before it
            let repeats = word(at + 4 + REPEATS).filter(|_| len >= 4 + REPEATS + 4);
            return Ok(KernelTrip {
                rtt_us: rtt,
                deviation_us: deviation,
                repeats: repeats.unwrap_or_default(),
            });
        }
        if len < 4 {
            break;
        }
        at += len.next_multiple_of(4);
    }
    Err(io::Error::other("no TCP figures in the answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_any_shape_are_an_error_or_figures() {
        let mut good = vec![0; HEADER + DIAG_MSG];
        good[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        good.extend(104u16.to_ne_bytes());
        good.extend(INET_DIAG_INFO.to_ne_bytes());
        good.extend([0; 100]);
        let rtt = HEADER + DIAG_MSG + 4 + RTT;
        good[rtt..rtt + 4].copy_from_slice(&1234u32.to_ne_bytes());
        assert_eq!(answer(&good).unwrap().rtt_us, 1234);
        assert_eq!(answer(&good).unwrap().repeats, 0);
        for cut in 0..rtt + 8 {
            assert!(answer(&good[..cut]).is_err());
        }
        let mut refused = vec![0; 20];
        refused[4] = 2;
        refused[16..].copy_from_slice(&(-2i32).to_ne_bytes());
        assert_eq!(
            answer(&refused).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        assert_eq!(
            request(
                "1.2.3.4:5".parse().unwrap(),
                "[::1]:6".parse().unwrap(),
                true
            )
            .len(),
            72
        );
    }
}
