//! One question to the kernel's `rtnetlink` and its answer. Needs no rights. Layouts: `linux/netlink.h`, `linux/rtnetlink.h`.

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};
use std::io;
use std::time::Duration;

const HEADER: usize = 16;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;

/// Sends a message of this kind with this body; the body of the answer, which must be of the kind `want`.
pub(crate) fn ask(kind: u16, body: &[u8], want: u16) -> io::Result<Vec<u8>> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(1)))?;
    let len = u32::try_from(HEADER + body.len()).map_err(io::Error::other)?;
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend(len.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(&socket, &message, SendFlags::empty(), &kernel)?;
    let mut buffer = vec![0u8; 32 * 1024];
    let (len, _) = recv(&socket, &mut buffer[..], RecvFlags::empty())?;
    answer(buffer.get(..len).unwrap_or_default(), want)
}

fn answer(message: &[u8], want: u16) -> io::Result<Vec<u8>> {
    let short = || io::Error::other("an answer that is cut off");
    match half(message, 4).ok_or_else(short)? {
        NLMSG_ERROR => {
            let code = word(message, HEADER).ok_or_else(short)?.cast_signed();
            Err(io::Error::from_raw_os_error(code.wrapping_neg()))
        }
        kind if kind == want => Ok(message.get(HEADER..).ok_or_else(short)?.to_vec()),
        other => Err(io::Error::other(format!("an answer of type {other}"))),
    }
}

pub(crate) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let b = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_ne_bytes([b[0], b[1]]))
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let b = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

/// An attribute, padded.
pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut out = [len.to_ne_bytes(), kind.to_ne_bytes()].concat();
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// The value of the first attribute of a kind.
pub(crate) fn find(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    const NESTED: u16 = 0x8000;
    loop {
        let len = usize::from(half(attributes, 0)?);
        let found = half(attributes, 2)? & !NESTED;
        let value = attributes.get(4..len)?;
        if found == kind {
            return Some(value);
        }
        attributes = attributes.get(len.next_multiple_of(4)..)?;
    }
}

/// Text up to its end or its first zero.
pub(crate) fn text(value: &[u8]) -> String {
    let end = value.iter().position(|b| *b == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_any_shape() {
        let mut all = attribute(3, b"wg0\0");
        all.extend(attribute(18, &attribute(1, b"wireguard\0")));
        assert_eq!(find(&all, 3).map(text), Some("wg0".to_owned()));
        let inner = find(&all, 18).and_then(|info| find(info, 1)).map(text);
        assert_eq!(inner, Some("wireguard".to_owned()));
        assert_eq!(find(&all, 7), None);
        for cut in 0..all.len() {
            let _ = find(&all[..cut], 18);
        }
        // an attribute shorter than its own header would never end
        assert_eq!(find(&[0, 0, 9, 0, 0, 0, 9, 0], 3), None);
        for cut in 0..HEADER + 4 {
            assert!(answer(&vec![2; cut], 2).is_err() || cut >= HEADER);
        }
    }
}
