//! One HTTP/1.1 request without encryption, and the head of its answer: is plain HTTP refused, does a metadata service ask for
//! a token. No body is read, no redirect followed, no proxy used.

use crate::Endpoint;
use crate::conn::{Conn, Limits, closed, resolve};
use lessee_accept::security::{Imds, ImdsFacts, PlainAnswer, PlainHttp, Unreached};
use std::io::Write;

const HEAD_MAX: usize = 16 << 10;
const MOST_HEADERS: usize = 96;

/// Status and the `Location` header of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub location: Option<String>,
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
        Ok(httparse::Status::Complete(_)) => {
            let location = response
                .headers
                .iter()
                .find(|h| h.name.eq_ignore_ascii_case("location"))
                .map(|h| String::from_utf8_lossy(h.value).into_owned());
            match response.code {
                Some(status) => Answer::Head(Head { status, location }),
                None => Answer::Other,
            }
        }
        Err(_) => Answer::Other,
    }
}

/// `Ok(None)`: it closed without a word.
fn ask(
    host: &str,
    port: u16,
    path: &str,
    method: &str,
    limits: Limits,
) -> Result<Result<Answer, String>, Unreached> {
    let addresses = resolve(host, port, limits)?;
    let mut conn = Conn::open(&addresses, limits)?;
    let authority = match host.contains(':') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {authority}:{port}\r\nUser-Agent: lessee\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
    if let Err(e) = conn.write_all(request.as_bytes()) {
        return Ok(Err(e.to_string()));
    }
    let (bytes, end) = conn.read_until(HEAD_MAX, |b| parse_head(b) != Answer::Part);
    Ok(match (parse_head(&bytes), end) {
        (Answer::Part, Ok(())) if bytes.is_empty() => Ok(Answer::Part),
        (Answer::Part, Ok(())) => Err("the head of the answer breaks off or has no end".to_owned()),
        (Answer::Part, Err(e)) if closed(&e) && bytes.is_empty() => Ok(Answer::Part),
        (Answer::Part, Err(e)) => Err(e.to_string()),
        (answer, _) => Ok(answer),
    })
}

/// Asks a port for `/` without encryption.
///
/// # Errors
/// The port cannot be reached; where HTTPS is expected that is as good as a refusal.
pub fn plain(host: &str, port: u16, limits: Limits) -> Result<PlainHttp, Unreached> {
    let answer = match ask(host, port, "/", "GET", limits)? {
        Ok(Answer::Head(head)) => judge(&head),
        Ok(Answer::Part) => PlainAnswer::Refused("closed".to_owned()),
        Ok(Answer::Other) => PlainAnswer::Refused("not HTTP".to_owned()),
        Err(detail) => PlainAnswer::Unclear(detail),
    };
    Ok(PlainHttp { port, answer })
}

fn judge(head: &Head) -> PlainAnswer {
    let secure = |to: &String| to.trim().to_ascii_lowercase().starts_with("https://");
    match head.status {
        300..=399 if head.location.as_ref().is_some_and(secure) => {
            PlainAnswer::Redirects(head.status)
        }
        // "plain HTTP request was sent to HTTPS port", "upgrade required"
        400 | 426 | 497 => PlainAnswer::Refused(head.status.to_string()),
        status => PlainAnswer::Answers(status),
    }
}

/// As [`plain`] for a port beside the one that was named: that nothing listens there is a refusal.
pub fn plain_beside(host: &str, port: u16, limits: Limits) -> PlainHttp {
    plain(host, port, limits).unwrap_or_else(|why| PlainHttp {
        port,
        answer: match why {
            Unreached::Refused => PlainAnswer::Refused("nothing listens".to_owned()),
            Unreached::TimedOut => PlainAnswer::Refused("no answer".to_owned()),
            Unreached::Name(detail)
            | Unreached::Other(detail)
            | Unreached::OtherProtocol(detail) => PlainAnswer::Unclear(detail),
        },
    })
}

/// Where the metadata services of most clouds are.
pub const IMDS: &str = "http://169.254.169.254";

/// Asks a metadata service without a token.
pub fn imds(endpoint: &Endpoint, limits: Limits) -> ImdsFacts {
    let path = "/latest/meta-data/";
    let answer = match ask(&endpoint.host, endpoint.port, path, "GET", limits) {
        Ok(Ok(Answer::Head(head))) => match head.status {
            200..=299 => Imds::Open(head.status),
            // 400 of Azure, 401 of AWS, 403 of Google and of Aliyun in its hardened mode: a header is missing
            400 | 401 | 403 => Imds::NeedsToken(head.status),
            status => Imds::Unclear(format!("status {status}")),
        },
        Ok(Ok(Answer::Part)) => Imds::Unclear("it closes without an answer".to_owned()),
        Ok(Ok(Answer::Other)) => Imds::Unclear("it does not speak HTTP".to_owned()),
        Ok(Err(detail)) => Imds::Unclear(detail),
        Err(Unreached::Refused) => Imds::Absent("refused".to_owned()),
        Err(Unreached::TimedOut) => Imds::Absent("no answer".to_owned()),
        Err(Unreached::Name(d) | Unreached::Other(d) | Unreached::OtherProtocol(d)) => {
            Imds::Absent(d)
        }
    };
    ImdsFacts {
        url: format!("http://{}{path}", endpoint.authority()),
        answer,
    }
}
