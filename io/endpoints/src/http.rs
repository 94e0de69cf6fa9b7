//! One HTTP/1.1 request without encryption, and the head of its answer: is plain HTTP refused, does a metadata service ask for
//! a token. Of the body only the start is read, and only where a sign may stand there; no redirect followed, no proxy used.
//! An answer that is not understood is neither a refusal nor a service: it cannot be told.

use crate::Endpoint;
use crate::conn::{Conn, Limits, closed, resolve};
use lessee_accept::security::{
    HttpSign, HttpSigns, Imds, ImdsFacts, PlainAnswer, PlainHttp, Unreached,
};
use std::io::Write;

const HEAD_MAX: usize = 16 << 10;
const BODY_MAX: usize = 4 << 10;
const MOST_HEADERS: usize = 96;
/// First byte of a TLS record that holds an alert (RFC 8446 section 5.1).
const TLS_ALERT: u8 = 21;

/// Status and the `Location` header of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub location: Option<String>,
    /// Bytes that it takes.
    pub length: usize,
    /// Bytes of the body, where it is stated.
    pub body: Option<usize>,
}

/// What bytes from a server are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Head(Head),
    /// More must come.
    Part,
    /// Not HTTP.
    Other,
}

/// Reads the head of an answer.
pub fn parse_head(bytes: &[u8]) -> Answer {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(bytes) {
        Ok(httparse::Status::Partial) => Answer::Part,
        Ok(httparse::Status::Complete(length)) => {
            let header = |name: &str| {
                let mut all = response.headers.iter();
                let found = all.find(|h| h.name.eq_ignore_ascii_case(name));
                found.map(|h| String::from_utf8_lossy(h.value).into_owned())
            };
            match response.code {
                Some(status) => Answer::Head(Head {
                    status,
                    location: header("location"),
                    length,
                    body: header("content-length").and_then(|n| n.trim().parse().ok()),
                }),
                None => Answer::Other,
            }
        }
        Err(_) => Answer::Other,
    }
}

/// What is asked, of whom.
struct Question<'a> {
    host: &'a str,
    port: u16,
    path: &'a str,
    signs: &'a [HttpSign],
}

/// What came.
enum Said {
    Head(Head, bool),
    Nothing,
    Alert,
    Unclear(String),
}

/// With a head goes whether one of the signs stands in the answer.
fn ask(question: &Question<'_>, limits: Limits) -> Result<Said, Unreached> {
    let Question {
        host,
        port,
        path,
        signs,
    } = question;
    let addresses = resolve(host, *port, limits)?;
    let mut conn = Conn::open(&addresses, limits)?;
    let authority = match host.contains(':') {
        true => format!("[{host}]"),
        false => (*host).to_owned(),
    };
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}:{port}\r\nUser-Agent: lessee\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
    if let Err(e) = conn.write_all(request.as_bytes()) {
        return Ok(Said::Unclear(e.to_string()));
    }
    let in_body = |status| signs.iter().any(|s| s.status == status && s.text.is_some());
    let (bytes, end) = conn.read_until(HEAD_MAX + BODY_MAX, |bytes| match parse_head(bytes) {
        Answer::Part => bytes.len() >= HEAD_MAX,
        Answer::Other => true,
        Answer::Head(head) => {
            let wanted = match in_body(head.status) {
                true => head.body.unwrap_or(BODY_MAX).min(BODY_MAX),
                false => 0,
            };
            bytes.len() - head.length >= wanted
        }
    });
    Ok(match (parse_head(&bytes), end) {
        (Answer::Head(head), _) => {
            let seen = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
            let sign = signs.iter().any(|s| s.is(head.status, &seen));
            Said::Head(head, sign)
        }
        (Answer::Other, _) if bytes.first() == Some(&TLS_ALERT) => Said::Alert,
        (Answer::Other, _) => {
            Said::Unclear("an answer that is not HTTP as it should be".to_owned())
        }
        (Answer::Part, Ok(())) if bytes.is_empty() => Said::Nothing,
        (Answer::Part, Err(e)) if closed(&e) && bytes.is_empty() => Said::Nothing,
        (Answer::Part, Ok(())) => {
            Said::Unclear("the head of the answer breaks off or has no end".to_owned())
        }
        (Answer::Part, Err(e)) => Said::Unclear(e.to_string()),
    })
}

/// Asks a port for a path without encryption.
///
/// # Errors
/// The port cannot be reached; where HTTPS is expected that is as good as a refusal.
pub fn plain(
    host: &str,
    port: u16,
    path: &str,
    signs: &HttpSigns,
    limits: Limits,
) -> Result<PlainHttp, Unreached> {
    let question = Question {
        host,
        port,
        path,
        signs: &signs.refused,
    };
    let answer = match ask(&question, limits)? {
        Said::Head(head, true) => PlainAnswer::Refused(head.status.to_string()),
        Said::Head(head, false) => judge(&head),
        Said::Nothing => PlainAnswer::Refused("closed".to_owned()),
        Said::Alert => PlainAnswer::Refused("TLS alert".to_owned()),
        Said::Unclear(detail) => PlainAnswer::Unclear(detail),
    };
    Ok(PlainHttp { port, answer })
}

fn judge(head: &Head) -> PlainAnswer {
    let secure = |to: &String| to.trim().to_ascii_lowercase().starts_with("https://");
    match head.status {
        300..=399 if head.location.as_ref().is_some_and(secure) => {
            PlainAnswer::Redirects(head.status)
        }
        status => PlainAnswer::Answers(status),
    }
}

/// As [`plain`] for a port beside the one that was named: that nothing listens there is a refusal. No answer in time is none.
pub fn plain_beside(
    host: &str,
    port: u16,
    path: &str,
    signs: &HttpSigns,
    limits: Limits,
) -> PlainHttp {
    plain(host, port, path, signs, limits).unwrap_or_else(|why| PlainHttp {
        port,
        answer: match why {
            Unreached::Refused => PlainAnswer::Refused("nothing listens".to_owned()),
            why => PlainAnswer::Unclear(words(why)),
        },
    })
}

fn words(why: Unreached) -> String {
    match why {
        Unreached::Refused => "refused".to_owned(),
        Unreached::TimedOut => "no answer in time".to_owned(),
        Unreached::NoRoute => "no way leads there".to_owned(),
        Unreached::Name(detail) | Unreached::Other(detail) | Unreached::OtherProtocol(detail) => {
            detail
        }
    }
}

/// Where the metadata services of most clouds are.
pub const IMDS: &str = "http://169.254.169.254";

/// Asks a metadata service without a token.
pub fn imds(endpoint: &Endpoint, signs: &HttpSigns, limits: Limits) -> ImdsFacts {
    let question = Question {
        host: &endpoint.host,
        port: endpoint.port,
        path: "/latest/meta-data/",
        signs: &signs.token,
    };
    let answer = match ask(&question, limits) {
        Ok(Said::Head(head, true)) => Imds::NeedsToken(head.status),
        Ok(Said::Head(head, false)) => match head.status {
            200..=299 => Imds::Open(head.status),
            // a proxy or a firewall may deny as well
            status => Imds::Unclear(format!("status {status}")),
        },
        Ok(Said::Nothing) => Imds::Unclear("it closes without an answer".to_owned()),
        Ok(Said::Alert) => Imds::Unclear("it does not speak HTTP".to_owned()),
        Ok(Said::Unclear(detail)) => Imds::Unclear(detail),
        // an address of the link is this machine's own; a refusal elsewhere says nothing of the machine. Where no service is,
        // most packets are lost, and a firewall looks the same: no answer in time is not known
        Err(why @ (Unreached::Refused | Unreached::NoRoute)) if of_the_link(&endpoint.host) => {
            Imds::Absent(words(why))
        }
        Err(why) => Imds::Unclear(words(why)),
    };
    ImdsFacts {
        url: format!("http://{}{}", endpoint.authority(), question.path),
        answer,
    }
}

fn of_the_link(host: &str) -> bool {
    let address = host.parse::<std::net::Ipv4Addr>();
    address.is_ok_and(|a| a.is_link_local())
}
