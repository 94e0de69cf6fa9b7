//! Proxies: HTTP CONNECT and SOCKS5 (RFC 1928, 1929), as far as opening a way to the far end.

use crate::connect::{SLICE, trouble_of};
use crate::tls::is_wait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lessee_accept::latency::{Proxy, ProxyKind, Trouble, TroubleKind};
use lessee_model::{Explain, Msg};
use percent_encoding::percent_decode_str;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;
use url::{Host, Url};

/// More of headers is no answer of a proxy.
const MOST_HEAD: usize = 16 * 1024;

/// Where a proxy is, and who may use it.
#[derive(Clone)]
pub struct ProxyUrl {
    pub proxy: Proxy,
    pub host: String,
    pub port: u16,
    login: Option<(String, String)>,
}

impl std::fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // never the password
        self.proxy.fmt(f)
    }
}

#[derive(Debug, Error)]
pub enum ProxyError {
    /// The text is not shown, as it may hold a password.
    #[error("{named_by} is no address of a proxy: {why}")]
    Url { named_by: String, why: String },
    #[error("{named_by} names a proxy of the kind {scheme}")]
    Scheme { named_by: String, scheme: String },
    #[error("a password on the command line")]
    Password,
}

impl Explain for ProxyError {
    fn msg(&self) -> Msg {
        match self {
            ProxyError::Url { named_by, why } => Msg::new("accept-latency-proxy-url")
                .arg("by", named_by.as_str())
                .arg("detail", why.as_str()),
            ProxyError::Scheme { named_by, scheme } => Msg::new("accept-latency-proxy-scheme")
                .arg("by", named_by.as_str())
                .arg("scheme", scheme.as_str()),
            ProxyError::Password => Msg::new("accept-latency-proxy-password"),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            ProxyError::Password => vec![Msg::new("hint-accept-latency-proxy-password")],
            _ => vec![Msg::new("hint-accept-proxy")],
        }
    }
}

impl ProxyUrl {
    /// `http://HOST:PORT`, `socks5://HOST:PORT` (names resolved here), `socks5h://` (there); without a scheme it is HTTP, as
    /// curl takes it.
    ///
    /// # Errors
    /// Not an address, or one of another kind.
    pub fn parse(text: &str, named_by: &str) -> Result<ProxyUrl, ProxyError> {
        let bad = |why: &str| ProxyError::Url {
            named_by: named_by.to_owned(),
            why: why.to_owned(),
        };
        let whole = match text.contains("://") {
            true => text.trim().to_owned(),
            false => format!("http://{}", text.trim()),
        };
        let url = Url::parse(&whole).map_err(|e| bad(&e.to_string()))?;
        let (kind, usual) = match url.scheme() {
            "http" => (ProxyKind::HttpConnect, 80),
            "socks5" => (ProxyKind::Socks5, 1080),
            "socks5h" => (ProxyKind::Socks5h, 1080),
            other => {
                return Err(ProxyError::Scheme {
                    named_by: named_by.to_owned(),
                    scheme: other.to_owned(),
                });
            }
        };
        let host = match url.host() {
            Some(Host::Ipv6(ip)) => ip.to_string(),
            Some(host) => host.to_string(),
            None => return Err(bad("no host")),
        };
        if host.is_empty() {
            return Err(bad("no host"));
        }
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let login = (!url.username().is_empty()).then(|| {
            let password = url.password().unwrap_or_default();
            (plain(url.username()), plain(password))
        });
        let port = url.port().unwrap_or(usual);
        let shown = match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        Ok(ProxyUrl {
            proxy: Proxy {
                kind,
                at: shown,
                named_by: named_by.to_owned(),
            },
            host,
            port,
            login,
        })
    }

    /// Whether it comes with a name and a password.
    pub fn has_login(&self) -> bool {
        self.login.is_some()
    }

    /// Asks the proxy for a way to the far end: ms until it says that there is one.
    pub(crate) fn open(
        &self,
        stream: &mut TcpStream,
        host: &str,
        port: u16,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<f64, Trouble> {
        stream.set_read_timeout(Some(SLICE)).map_err(trouble_of)?;
        stream
            .set_write_timeout(Some(timeout))
            .map_err(trouble_of)?;
        let begun = Instant::now();
        let mut talk = Talk {
            stream,
            until: begun + timeout,
            stop,
        };
        match self.proxy.kind {
            ProxyKind::HttpConnect => self.http(&mut talk, host, port)?,
            ProxyKind::Socks5 | ProxyKind::Socks5h => self.socks(&mut talk, host, port)?,
        }
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    fn http(&self, talk: &mut Talk<'_>, host: &str, port: u16) -> Result<(), Trouble> {
        let at = match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        let mut request = format!("CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n");
        if let Some((name, password)) = &self.login {
            let login = STANDARD.encode(format!("{name}:{password}"));
            request += &format!("Proxy-Authorization: Basic {login}\r\n");
        }
        talk.say(format!("{request}\r\n").as_bytes())?;
        let head = talk.head()?;
        let line = head.split(|b| *b == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line).into_owned();
        let status = line.split(' ').nth(1).unwrap_or_default();
        match line.starts_with("HTTP/1.") && status.len() == 3 && status.starts_with('2') {
            true => Ok(()),
            false => Err(no(line.chars().take(80).collect::<String>())),
        }
    }

    fn socks(&self, talk: &mut Talk<'_>, host: &str, port: u16) -> Result<(), Trouble> {
        match &self.login {
            Some(_) => talk.say(&[5, 2, 0, 2])?,
            None => talk.say(&[5, 1, 0])?,
        }
        match (talk.take::<2>()?, &self.login) {
            ([5, 0], _) => {}
            ([5, 2], Some((name, password))) => {
                let mut login = vec![1];
                for part in [name, password] {
                    let len = u8::try_from(part.len()).map_err(|_| no("a login too long"))?;
                    login.push(len);
                    login.extend(part.bytes());
                }
                talk.say(&login)?;
                if talk.take::<2>()?[1] != 0 {
                    return Err(no("SOCKS5: login refused"));
                }
            }
            ([5, 2], None) => return Err(no("SOCKS5: wants a login")),
            ([5, _], _) => return Err(no("SOCKS5: no way to log in")),
            _ => return Err(no("no SOCKS5")),
        }
        let mut request = vec![5, 1, 0];
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V4(ip)) => request.extend([&[1][..], &ip.octets()].concat()),
            Ok(IpAddr::V6(ip)) => request.extend([&[4][..], &ip.octets()].concat()),
            Err(_) => {
                let len = u8::try_from(host.len()).map_err(|_| no("a host name too long"))?;
                request.extend([3, len]);
                request.extend(host.bytes());
            }
        }
        request.extend(port.to_be_bytes());
        talk.say(&request)?;
        let [version, code, _, kind] = talk.take::<4>()?;
        if version != 5 {
            return Err(no("no SOCKS5"));
        }
        if code != 0 {
            return Err(no(format!("SOCKS5: {}", reply(code))));
        }
        let rest = match kind {
            1 => 4,
            4 => 16,
            _ => usize::from(talk.take::<1>()?[0]),
        };
        talk.fill(&mut vec![0; rest + 2])
    }
}

/// The proxy that programs on this machine use for TLS: `HTTPS_PROXY`, else `ALL_PROXY`, in either case.
///
/// # Errors
/// What stands there is none.
pub fn of_environment(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<ProxyUrl>, ProxyError> {
    let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let set = |name: &&str| variable(name).filter(|v| !v.trim().is_empty());
    match names.iter().find_map(|name| Some((name, set(name)?))) {
        Some((name, text)) => ProxyUrl::parse(&text, name).map(Some),
        None => Ok(None),
    }
}

/// Whether a host is reached without a proxy by `NO_PROXY` (names, `.domains`, addresses, networks such as `10.0.0.0/8`, `*`);
/// this machine always is.
pub fn is_exempt(host: &str, no_proxy: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let ip = host.parse::<IpAddr>().ok();
    if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
        return true;
    }
    let rules = no_proxy.split([',', ' ']).map(str::trim);
    rules.filter(|rule| !rule.is_empty()).any(|rule| {
        let rule = rule.to_ascii_lowercase();
        if let (Some(ip), Some((net, bits))) = (ip, rule.split_once('/')) {
            return within(ip, net, bits);
        }
        let name = rule.trim_start_matches("*.").trim_start_matches('.');
        let inside = host
            .strip_suffix(name)
            .is_some_and(|sub| sub.ends_with('.'));
        rule == "*" || host == name || (ip.is_none() && inside)
    })
}

fn within(ip: IpAddr, net: &str, bits: &str) -> bool {
    let (Ok(net), Ok(bits)) = (net.parse::<IpAddr>(), bits.parse::<u32>()) else {
        return false;
    };
    let (a, b, width): (u128, u128, u32) = match (ip, net) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    let Some(rest) = width.checked_sub(bits) else {
        return false;
    };
    a.checked_shr(rest).unwrap_or(0) == b.checked_shr(rest).unwrap_or(0)
}

/// Words of RFC 1928, section 6.
fn reply(code: u8) -> String {
    let words = match code {
        1 => "general failure",
        2 => "not allowed",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "time to live expired",
        7 => "command not supported",
        8 => "address type not supported",
        other => return format!("reply {other}"),
    };
    words.to_owned()
}

fn no(detail: impl Into<String>) -> Trouble {
    Trouble::new(TroubleKind::Proxy, detail)
}

/// A talk with the proxy, with an end.
struct Talk<'a> {
    stream: &'a mut TcpStream,
    until: Instant,
    stop: &'a AtomicBool,
}

impl Talk<'_> {
    fn say(&mut self, words: &[u8]) -> Result<(), Trouble> {
        self.stream.write_all(words).map_err(trouble_of)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Trouble> {
        let mut taken = [0; N];
        self.fill(&mut taken)?;
        Ok(taken)
    }

    /// Up to the blank line and no further, as what follows is the far end's.
    fn head(&mut self) -> Result<Vec<u8>, Trouble> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= MOST_HEAD {
                return Err(no(format!("more than {MOST_HEAD} bytes of headers")));
            }
            head.extend(self.take::<1>()?);
        }
        Ok(head)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Trouble> {
        let mut at = 0;
        while at < buffer.len() {
            match self.stream.read(&mut buffer[at..]) {
                Ok(0) => return Err(trouble_of(ErrorKind::UnexpectedEof.into())),
                Ok(n) => at += n,
                Err(e) if is_wait(&e) => {
                    if self.stop.load(Ordering::Relaxed) {
                        return Err(Trouble::new(TroubleKind::Stopped, ""));
                    }
                }
                Err(e) => return Err(trouble_of(e)),
            }
            if at < buffer.len() && Instant::now() >= self.until {
                return Err(no("no answer in time"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_proxies_without_their_passwords() {
        let of = |text: &str| ProxyUrl::parse(text, "HTTPS_PROXY");
        let p = of("http://me:p%40ss@proxy.example:3128/").expect("a proxy");
        assert_eq!(p.proxy.at, "proxy.example:3128");
        assert_eq!(p.login, Some(("me".to_owned(), "p@ss".to_owned())));
        assert!(!format!("{p:?}").contains("ss@") && !format!("{p:?}").contains("p%40"));
        assert_eq!(
            of("127.0.0.1:7890").expect("a proxy").proxy.at,
            "127.0.0.1:7890"
        );
        let socks = of("socks5h://[::1]").expect("a proxy");
        assert_eq!(
            (socks.proxy.kind, socks.proxy.at.as_str()),
            (ProxyKind::Socks5h, "[::1]:1080")
        );
        assert!(matches!(of("https://a:1"), Err(ProxyError::Scheme { .. })));
        for bad in ["", "http://", "http://a:99999", "://"] {
            let e = of(bad).expect_err(bad);
            assert!(matches!(e, ProxyError::Url { .. }), "{bad}: {e}");
        }
    }

    #[test]
    fn hosts_that_go_without_a_proxy() {
        let list = "internal.example, .corp.example,10.0.0.0/8 192.168.1.5,*.dev.example,fd00::/8";
        for host in [
            "localhost",
            "127.0.0.1",
            "::1",
            "internal.example",
            "a.internal.example",
            "x.corp.example",
            "x.dev.example",
            "10.1.2.3",
            "192.168.1.5",
            "fd00::1",
        ] {
            assert!(is_exempt(host, list), "{host}");
        }
        for host in [
            "notinternal.example",
            "11.0.0.1",
            "192.168.1.55",
            "fe80::1",
            "example",
        ] {
            assert!(!is_exempt(host, list), "{host}");
        }
        assert!(is_exempt("anything", "*"));
        assert!(!is_exempt("10.0.0.1", "10.0.0.0/99,x/8"));
    }

    #[test]
    fn the_environment_is_asked_in_order() {
        let of = |set: &[(&str, &str)]| {
            let get = |name: &str| {
                let found = set.iter().find(|(n, _)| *n == name)?;
                Some(found.1.to_owned())
            };
            of_environment(&get).map(|p| p.map(|p| (p.proxy.at, p.proxy.named_by)))
        };
        assert_eq!(of(&[]).expect("none"), None);
        let both = [("all_proxy", "socks5://a:1"), ("HTTPS_PROXY", "b:2")];
        let found = of(&both).expect("a proxy").expect("one");
        assert_eq!(found, ("b:2".to_owned(), "HTTPS_PROXY".to_owned()));
        let blank = [("all_proxy", "socks5://a:1"), ("HTTPS_PROXY", " ")];
        assert_eq!(of(&blank).expect("a proxy").expect("one").0, "a:1");
        assert!(of(&[("ALL_PROXY", "ftp://a")]).is_err());
    }
}
