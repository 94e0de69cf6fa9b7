//! An endpoint as people write it: `https://HOST[:PORT]`, `ssh://HOST[:PORT]`, `http://HOST[:PORT]`, `s3://BUCKET`.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Https,
    Http,
    Ssh,
    S3,
}

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub scheme: Scheme,
    /// A name or an address, without brackets; of S3 the bucket.
    pub host: String,
    pub port: u16,
}

/// Why a text is no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointError {
    Scheme,
    Host,
    Port,
    /// A user or a password, which do not belong there.
    User,
}

impl EndpointError {
    /// The end of the identifier of its text.
    pub fn code(self) -> &'static str {
        match self {
            EndpointError::Scheme => "scheme",
            EndpointError::Host => "host",
            EndpointError::Port => "port",
            EndpointError::User => "user",
        }
    }
}

const LONGEST_HOST: usize = 253;

impl Endpoint {
    /// # Errors
    /// It is none; the text itself is not in the error.
    pub fn parse(text: &str) -> Result<Endpoint, EndpointError> {
        let (scheme, rest) = text.trim().split_once("://").ok_or(EndpointError::Scheme)?;
        let (scheme, usual) = match scheme.to_ascii_lowercase().as_str() {
            "https" => (Scheme::Https, 443),
            "http" => (Scheme::Http, 80),
            "ssh" => (Scheme::Ssh, 22),
            "s3" => (Scheme::S3, 443),
            _ => return Err(EndpointError::Scheme),
        };
        let place = rest.split(['/', '?', '#']).next().unwrap_or("");
        if place.contains('@') {
            return Err(EndpointError::User);
        }
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or(EndpointError::Host)?;
                if host.parse::<std::net::Ipv6Addr>().is_err() {
                    return Err(EndpointError::Host);
                }
                let port = match rest {
                    "" => None,
                    rest => Some(rest.strip_prefix(':').ok_or(EndpointError::Port)?),
                };
                (host, port)
            }
            None => match place.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (place, None),
            },
        };
        let named = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if host.is_empty() || host.len() > LONGEST_HOST || !host.chars().all(named) {
            return Err(EndpointError::Host);
        }
        let port = match port {
            None => usual,
            Some(digits) => match digits.parse() {
                Ok(port) if port > 0 => port,
                _ => return Err(EndpointError::Port),
            },
        };
        Ok(Endpoint {
            scheme,
            host: host.to_owned(),
            port,
        })
    }

    /// The host as it stands in an address.
    pub fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheme {
            Scheme::Https => write!(f, "https://{}", self.authority()),
            Scheme::Http => write!(f, "http://{}", self.authority()),
            Scheme::Ssh => write!(f, "ssh://{}", self.authority()),
            Scheme::S3 => write!(f, "s3://{}", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_with_their_usual_ports() {
        for (text, shown) in [
            ("https://example.org", "https://example.org:443"),
            (
                " HTTPS://example.org:8443/path?x=1 ",
                "https://example.org:8443",
            ),
            ("ssh://10.0.0.1", "ssh://10.0.0.1:22"),
            ("https://[::1]:8443", "https://[::1]:8443"),
            ("ssh://[fe80::1]", "ssh://[fe80::1]:22"),
            ("s3://my-bucket/prefix", "s3://my-bucket"),
            ("http://h", "http://h:80"),
        ] {
            let read = Endpoint::parse(text).expect(text);
            assert_eq!(read.to_string(), shown);
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, why) in [
            ("", EndpointError::Scheme),
            ("example.org", EndpointError::Scheme),
            ("ftp://h", EndpointError::Scheme),
            ("https://", EndpointError::Host),
            ("https://a b", EndpointError::Host),
            ("https://a\u{1b}[1m", EndpointError::Host),
            ("https://[::1", EndpointError::Host),
            ("https://[nonsense]", EndpointError::Host),
            ("https://h:0", EndpointError::Port),
            ("https://h:65536", EndpointError::Port),
            ("https://h:x", EndpointError::Port),
            ("https://[::1]x", EndpointError::Port),
            ("ssh://root:secret@h", EndpointError::User),
        ] {
            assert_eq!(Endpoint::parse(text), Err(why), "{text}");
        }
    }
}
