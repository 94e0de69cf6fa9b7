//! The one HTTP client of this crate: time limits, retries with growing waits, size caps counted after
//! decompression, no redirect and no link to another host, errors that name the URL.
//!
//! The key of a provider goes into the `Authorization` header and nowhere else. Proxies come from the
//! environment (`HTTPS_PROXY`, `NO_PROXY`), except for addresses of this machine.
//! Start with [`Http::get_json`] and [`Http::stream`].

use crate::json::bad_answer;
use crate::{ApiKey, Event, Limits, PriceApi, ProviderError, RefreshOptions};
use reqwest::header::{LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url, redirect};
use serde_json::Value;
use std::error::Error;
use std::time::Duration;

const USER_AGENT: &str = concat!("lessee/", env!("CARGO_PKG_VERSION"));
const MAX_REDIRECTS: usize = 5;
/// Between two reports of a long answer.
const REPORT_EVERY_BYTES: u64 = 16 << 20;

/// Makes ring the process-wide TLS provider. Harmless when called again or when one is set already.
pub fn install_crypto_provider() {
    // an error only says that somebody was first
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A URL as it may be shown: without user name and password, and not endless.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.as_str().chars().take(400).collect()
}

/// The same for what may not even be a URL.
pub(crate) fn shown_text(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) => shown(&url),
        Err(_) => "?".to_owned(),
    }
}

/// One try that failed, and whether another one makes sense.
struct Failure {
    error: ProviderError,
    again: Again,
}

enum Again {
    Never,
    /// After the usual growing wait.
    Backoff,
    /// After this many seconds, as the server said.
    After(f64),
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Failure {
        Failure {
            error,
            again: Again::Never,
        }
    }
}

/// A client for one provider during one refresh.
pub(crate) struct Http<'a> {
    client: Client,
    base: Url,
    api: &'static PriceApi,
    key: Option<&'a ApiKey>,
    limits: &'a Limits,
    on_event: &'a dyn Fn(Event<'_>),
    requests: Vec<String>,
}

impl<'a> Http<'a> {
    pub(crate) fn new(
        api: &'static PriceApi,
        options: &'a RefreshOptions<'_>,
    ) -> Result<Http<'a>, ProviderError> {
        let key = match api.key_env {
            None => None,
            Some(env) => Some(options.key.as_ref().ok_or(ProviderError::KeyMissing {
                provider: api.name,
                env,
            })?),
        };
        let base = parse_base(api, options.base_url.as_deref().unwrap_or(api.base_url))?;
        let local = is_local(&base);
        if key.is_some() && base.scheme() != "https" && !local {
            return Err(ProviderError::PlainKey {
                provider: api.name,
                url: shown(&base),
            });
        }
        install_crypto_provider();
        let mut builder = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(options.limits.connect_timeout)
            .read_timeout(options.limits.read_timeout)
            .redirect(redirect::Policy::custom(|attempt| {
                let from = attempt.previous().last().map(Url::origin);
                let stays = from.is_some_and(|from| from == attempt.url().origin());
                if stays && attempt.previous().len() <= MAX_REDIRECTS {
                    attempt.follow()
                } else {
                    attempt.stop()
                }
            }));
        if local {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|e| ProviderError::Client { detail: chain(&e) })?;
        Ok(Http {
            client,
            base,
            api,
            key,
            limits: &options.limits,
            on_event: options.on_event,
            requests: Vec::new(),
        })
    }

    /// The URL of a path below the base. A base that already ends in the path is taken as it is.
    pub(crate) fn url(&self, path: &str) -> Result<Url, ProviderError> {
        let base = self.base.as_str().trim_end_matches('/');
        let text = if base.ends_with(path.trim_end_matches('/')) {
            base.to_owned()
        } else {
            format!("{base}{path}")
        };
        Url::parse(&text).map_err(|e| self.base_error(&e.to_string()))
    }

    /// A link found in an answer, if it stays on the host that was asked.
    pub(crate) fn follow(&self, from: &Url, link: &str) -> Result<Url, ProviderError> {
        let to = from
            .join(link)
            .map_err(|e| bad_answer(&shown(from), "link", &e.to_string()))?;
        if to.origin() == from.origin() {
            Ok(to)
        } else {
            Err(ProviderError::LeadsAway {
                url: shown(from),
                to: shown(&to),
            })
        }
    }

    pub(crate) async fn get_json(&mut self, url: &Url) -> Result<Value, ProviderError> {
        let request = |client: &Client| client.get(url.clone());
        let bytes = self.fetch("GET", url, &request).await?;
        self.parse(url, &bytes)
    }

    pub(crate) async fn post_json(
        &mut self,
        url: &Url,
        body: &Value,
    ) -> Result<Value, ProviderError> {
        let request = |client: &Client| client.post(url.clone()).json(body);
        let bytes = self.fetch("POST", url, &request).await?;
        self.parse(url, &bytes)
    }

    /// Hands an answer of any length over in pieces. Only the opening is tried again: a price list that
    /// breaks off in the middle is an error.
    pub(crate) async fn stream(
        &mut self,
        url: &Url,
        take: &mut dyn FnMut(&[u8]) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        let request = |client: &Client| client.get(url.clone());
        let mut attempt = 1;
        let mut response = loop {
            match self.open("GET", url, &request).await {
                Ok(response) => break response,
                Err(failure) => self.wait(attempt, failure, url).await?,
            }
            attempt += 1;
        };
        let text = shown(url);
        let (mut bytes, mut reported) = (0u64, 0u64);
        while let Some(piece) = response.chunk().await.map_err(|e| self.failed(e, url))? {
            bytes += piece.len() as u64;
            self.check_size(bytes, self.limits.max_stream_bytes, url)?;
            take(&piece)?;
            if bytes - reported >= REPORT_EVERY_BYTES {
                reported = bytes;
                (self.on_event)(Event::Received { url: &text, bytes });
            }
        }
        Ok(())
    }

    /// Text of a server for people: the key taken out, no control characters, not endless.
    pub(crate) fn quote(&self, text: &str) -> String {
        let text = self
            .key
            .map_or_else(|| text.to_owned(), |key| key.scrub(text));
        text.chars().filter(|c| !c.is_control()).take(200).collect()
    }

    pub(crate) fn max_pages(&self) -> u32 {
        self.limits.max_pages
    }

    pub(crate) fn into_requests(self) -> Vec<String> {
        self.requests
    }

    fn base_error(&self, detail: &str) -> ProviderError {
        ProviderError::BaseUrl {
            provider: self.api.name,
            url: shown(&self.base),
            detail: detail.to_owned(),
        }
    }

    fn parse(&self, url: &Url, bytes: &[u8]) -> Result<Value, ProviderError> {
        serde_json::from_slice(bytes).map_err(|e| {
            let at = format!("line {} column {}", e.line(), e.column());
            bad_answer(&shown(url), &at, &self.quote(&e.to_string()))
        })
    }

    /// An answer read as a whole, tried again when that makes sense.
    async fn fetch(
        &mut self,
        method: &str,
        url: &Url,
        request: &dyn Fn(&Client) -> RequestBuilder,
    ) -> Result<Vec<u8>, ProviderError> {
        let mut attempt = 1;
        loop {
            let limit = self.limits.answer_timeout;
            let whole = async {
                let response = self.open(method, url, request).await?;
                self.read_whole(response, url).await
            };
            let result = match tokio::time::timeout(limit, whole).await {
                Ok(result) => result,
                Err(_) => Err(timeout_error(url, limit).into()),
            };
            match result {
                Ok(bytes) => return Ok(bytes),
                Err(failure) => self.wait(attempt, failure, url).await?,
            }
            attempt += 1;
        }
    }

    /// Sends one request and judges its status.
    async fn open(
        &mut self,
        method: &str,
        url: &Url,
        request: &dyn Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, Failure> {
        let line = format!("{method} {}", shown(url));
        (self.on_event)(Event::Request(&line));
        self.requests.push(line);
        let mut builder = request(&self.client);
        if let Some(key) = self.key {
            builder = builder.bearer_auth(key.expose());
        }
        let response = builder.send().await.map_err(|e| self.failed(e, url))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        Err(self.refused(&response, status, url))
    }

    fn refused(&self, response: &Response, status: StatusCode, url: &Url) -> Failure {
        let asked_wait = retry_after(response);
        let url_text = shown(url);
        match status.as_u16() {
            429 => {
                let wait_s = asked_wait.unwrap_or(self.api.throttle_wait_s);
                Failure {
                    error: ProviderError::Throttled {
                        url: url_text,
                        wait_s,
                    },
                    again: Again::After(wait_s),
                }
            }
            401 | 403 => ProviderError::Denied {
                url: url_text,
                status: status.as_u16(),
                env: self.api.key_env,
            }
            .into(),
            300..=399 => {
                let to = response
                    .headers()
                    .get(LOCATION)
                    .and_then(|v| v.to_str().ok())
                    .and_then(|to| url.join(to).ok())
                    .map_or_else(|| "?".to_owned(), |to| shown(&to));
                ProviderError::LeadsAway {
                    url: url_text,
                    to: self.quote(&to),
                }
                .into()
            }
            code => Failure {
                error: ProviderError::Status {
                    url: url_text,
                    status: code,
                },
                again: match (code, asked_wait) {
                    (500 | 502 | 503 | 504, Some(wait_s)) => Again::After(wait_s),
                    (500 | 502 | 503 | 504, None) => Again::Backoff,
                    _ => Again::Never,
                },
            },
        }
    }

    async fn read_whole(&self, mut response: Response, url: &Url) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|e| self.failed(e, url))? {
            let size = bytes.len() as u64 + piece.len() as u64;
            self.check_size(size, self.limits.max_answer_bytes, url)?;
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    fn check_size(&self, bytes: u64, max_bytes: u64, url: &Url) -> Result<(), ProviderError> {
        if bytes <= max_bytes {
            return Ok(());
        }
        Err(ProviderError::TooLarge {
            url: shown(url),
            max_bytes,
        })
    }

    fn failed(&self, error: reqwest::Error, url: &Url) -> Failure {
        // no connection, or a request that could not even be built; else it broke off in between
        let no_contact = error.is_connect() || error.is_builder();
        if error.is_timeout() {
            let limit = if error.is_connect() {
                self.limits.connect_timeout
            } else {
                self.limits.read_timeout
            };
            return timeout_error(url, limit).into();
        }
        let detail = self.quote(&chain(&error.without_url()));
        let url = shown(url);
        if no_contact {
            // a refused connection or an unknown name does not mend itself within seconds
            ProviderError::Unreachable { url, detail }.into()
        } else {
            Failure {
                error: ProviderError::BrokenOff { url, detail },
                again: Again::Backoff,
            }
        }
    }

    /// Waits before another try, or gives the error back.
    async fn wait(&self, attempt: u32, failure: Failure, url: &Url) -> Result<(), ProviderError> {
        let seconds = match failure.again {
            Again::Never => return Err(failure.error),
            Again::After(seconds) if seconds > self.limits.longest_wait_s => {
                return Err(failure.error);
            }
            Again::After(seconds) => seconds,
            Again::Backoff => {
                let growing = self.limits.first_wait_s * 2f64.powi(attempt.min(30) as i32 - 1);
                growing.min(self.limits.longest_wait_s)
            }
        };
        if attempt >= self.limits.attempts {
            return Err(failure.error);
        }
        (self.on_event)(Event::Waiting {
            url: &shown(url),
            seconds,
        });
        tokio::time::sleep(self.limits.second.mul_f64(seconds)).await;
        Ok(())
    }
}

impl From<Failure> for ProviderError {
    fn from(failure: Failure) -> ProviderError {
        failure.error
    }
}

fn parse_base(api: &'static PriceApi, text: &str) -> Result<Url, ProviderError> {
    let wrong = |detail: &str| ProviderError::BaseUrl {
        provider: api.name,
        url: shown_text(text),
        detail: detail.to_owned(),
    };
    let url = Url::parse(text.trim()).map_err(|e| wrong(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("http:// or https:// and a host are needed"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("a base URL has no ? or # part"));
    }
    Ok(url)
}

/// This machine: never asked through a proxy, and safe to give a key without TLS.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// `Retry-After` in seconds: a number, or a date. Never negative.
fn retry_after(response: &Response) -> Option<f64> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(f64::from(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let seconds = at.as_second() - jiff::Timestamp::now().as_second();
    Some(seconds.max(0) as f64)
}

fn timeout_error(url: &Url, limit: Duration) -> ProviderError {
    ProviderError::Timeout {
        url: shown(url),
        seconds: limit.as_secs_f64(),
    }
}

/// The error and its causes in one line: the outer ones alone say only "error sending request".
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}
