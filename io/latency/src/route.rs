//! By which interface packets leave for an address, and of what kind it is: hardware, or a tunnel as VPNs use.

use crate::netlink::{ask, attribute, find, text, word};
use lessee_accept::latency::Route;
use std::io;
use std::net::IpAddr;

const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
/// `struct rtmsg` and `struct ifinfomsg`.
const RTMSG: usize = 12;
const IFINFOMSG: usize = 16;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;

/// # Errors
/// There is no way there, or the system does not answer.
pub(crate) fn route(to: IpAddr) -> io::Result<Route> {
    let missing = || io::Error::other("no interface in the answer");
    let (family, bits, address) = match to {
        IpAddr::V4(ip) => (2, 32, ip.octets().to_vec()),
        IpAddr::V6(ip) => (10, 128, ip.octets().to_vec()),
    };
    let mut body = vec![0u8; RTMSG];
    body[0] = family;
    body[1] = bits;
    body.extend(attribute(RTA_DST, &address));
    let found = ask(RTM_GETROUTE, &body, RTM_NEWROUTE)?;
    let attributes = found.get(RTMSG..).unwrap_or_default();
    let index = find(attributes, RTA_OIF).and_then(|value| word(value, 0));
    let index = index.ok_or_else(missing)?;

    let mut body = vec![0u8; IFINFOMSG];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    let found = ask(RTM_GETLINK, &body, RTM_NEWLINK)?;
    let attributes = found.get(IFINFOMSG..).unwrap_or_default();
    let kind = find(attributes, IFLA_LINKINFO).and_then(|info| find(info, IFLA_INFO_KIND));
    Ok(Route {
        interface: find(attributes, IFLA_IFNAME)
            .map(text)
            .ok_or_else(missing)?,
        kind: kind.map(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_by_its_loopback() {
        match route("127.0.0.1".parse().expect("an address")) {
            Ok(route) => assert_eq!((route.interface.as_str(), route.kind), ("lo", None)),
            // a sandbox may forbid it, and then says why
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
}
