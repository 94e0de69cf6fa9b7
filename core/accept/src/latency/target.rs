//! A place to measure to, as typed: `HOST`, `HOST:PORT`, `[IPv6]:PORT`, or an address of the web.

use core::net::Ipv6Addr;
use lessee_model::Msg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Where to measure to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// As the user calls it; else `HOST:PORT`.
    pub name: String,
    pub host: String,
    /// Null: whichever answers of those that are usually open.
    pub port: Option<u16>,
    pub region: Option<String>,
    pub provider: Option<String>,
}

/// Why a text is none. Shown beside the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TargetError {
    #[error("there is no host")]
    Empty,
    #[error(
        "a host name has letters, digits, dots and hyphens only (names in other scripts as xn--...)"
    )]
    Host,
    #[error("a port is a number from 1 to 65535")]
    Port,
}

impl TargetError {
    /// For people.
    pub fn msg(self) -> Msg {
        Msg::new(match self {
            TargetError::Empty => "accept-latency-target-empty",
            TargetError::Host => "accept-latency-target-host",
            TargetError::Port => "accept-latency-target-port",
        })
    }
}

/// Longest name that DNS knows.
const LONGEST: usize = 253;

impl Target {
    /// # Errors
    /// What keeps it from being a target.
    pub fn parse(text: &str) -> Result<Target, TargetError> {
        let text = text.trim();
        let (rest, usual) = match text.split_once("://") {
            Some((scheme, rest)) => {
                let usual = match scheme.to_ascii_lowercase().as_str() {
                    "https" | "wss" => 443,
                    "http" | "ws" => 80,
                    "ssh" => 22,
                    _ => return Err(TargetError::Host),
                };
                let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
                (&rest[..end], Some(usual))
            }
            None => (text, None),
        };
        let (host, port) = split(rest)?;
        let port = match port {
            Some(port) => Some(port_of(port)?),
            None => usual,
        };
        Target::new(host, port)
    }

    /// # Errors
    /// Not a host.
    pub fn new(host: &str, port: Option<u16>) -> Result<Target, TargetError> {
        let host = host.trim().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(TargetError::Empty);
        }
        if !is_host(host) {
            return Err(TargetError::Host);
        }
        let bracketed = match host.contains(':') {
            true => format!("[{host}]"),
            false => host.to_owned(),
        };
        Ok(Target {
            name: match port {
                Some(port) => format!("{bracketed}:{port}"),
                None => host.to_owned(),
            },
            host: host.to_owned(),
            port,
            region: None,
            provider: None,
        })
    }
}

/// # Errors
/// Not a port.
fn port_of(text: &str) -> Result<u16, TargetError> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let port: u16 = text.parse().map_err(|_| TargetError::Port)?;
    (digits && port > 0)
        .then_some(port)
        .ok_or(TargetError::Port)
}

fn split(text: &str) -> Result<(&str, Option<&str>), TargetError> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(TargetError::Host)?;
        return match (rest, rest.strip_prefix(':')) {
            ("", _) => Ok((host, None)),
            (_, Some(port)) => Ok((host, Some(port))),
            _ => Err(TargetError::Host),
        };
    }
    // several colons: an IPv6 address without brackets, which has no port
    if text.parse::<Ipv6Addr>().is_ok() {
        return Ok((text, None));
    }
    Ok(match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    })
}

fn is_host(text: &str) -> bool {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().is_ok();
    }
    let label = |l: &str| {
        let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (1..=63).contains(&l.len()) && l.bytes().all(inner) && !l.starts_with('-')
    };
    text.len() <= LONGEST && text.trim_end_matches('.').split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_as_people_type_them() {
        for (text, host, port, name) in [
            ("node.example", "node.example", None, "node.example"),
            (
                "node.example:8443",
                "node.example",
                Some(8443),
                "node.example:8443",
            ),
            (" 10.0.0.1:22 ", "10.0.0.1", Some(22), "10.0.0.1:22"),
            (
                "[2001:db8::1]:22",
                "2001:db8::1",
                Some(22),
                "[2001:db8::1]:22",
            ),
            ("2001:db8::1", "2001:db8::1", None, "2001:db8::1"),
            (
                "https://console.example/a?b",
                "console.example",
                Some(443),
                "console.example:443",
            ),
            (
                "http://x.example:8080",
                "x.example",
                Some(8080),
                "x.example:8080",
            ),
        ] {
            let target = Target::parse(text).expect(text);
            let found = (target.host.as_str(), target.port, target.name.as_str());
            assert_eq!(found, (host, port, name), "{text}");
        }
    }

    #[test]
    fn what_is_no_place_says_why() {
        use TargetError::{Empty, Host, Port};
        for (text, why) in [
            ("", Empty),
            (":22", Empty),
            ("a b", Host),
            ("a\u{1b}[2J", Host),
            ("-oProxyCommand=x", Host),
            ("ftp://a", Host),
            ("user@host", Host),
            ("节点.example", Host),
            ("a:0", Port),
            ("a:65536", Port),
            ("a:+22", Port),
            ("a:", Port),
            ("[::1", Host),
            ("[::1]22", Host),
            ("1:2:3", Port),
            ("a..b", Host),
        ] {
            assert_eq!(Target::parse(text), Err(why), "{text:?}");
        }
        assert_eq!(Target::parse(&"a".repeat(300)), Err(Host));
    }
}
