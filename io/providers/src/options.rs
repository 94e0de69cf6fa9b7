//! What a refresh is told: where to ask, with which key, for which regions, within which limits.
//! Nothing here reads the environment; the program resolves it first.

use std::fmt;
use std::time::Duration;

/// A secret that cannot be printed: `Debug` shows stars, there is no `Display`, and only the
/// `Authorization` header ever carries it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// `None` if the text cannot be a key: empty, or with blanks or control characters inside, as when
    /// a whole file was pasted.
    pub fn new(text: &str) -> Option<ApiKey> {
        let text = text.trim();
        let usable =
            !text.is_empty() && text.len() <= 4096 && text.chars().all(|c| c.is_ascii_graphic());
        usable.then(|| ApiKey(text.to_owned()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The text without the key, should a server have echoed it.
    pub(crate) fn scrub(&self, text: &str) -> String {
        text.replace(&self.0, "***")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

/// What happens on the wire, for `--show-requests` and progress on a terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// A request goes out: method and URL, never headers.
    Request(&'a str),
    /// The server asked for patience, or failed in a way that may pass.
    Waiting { url: &'a str, seconds: f64 },
    /// Bytes of a long answer read so far, after decompression.
    Received { url: &'a str, bytes: u64 },
}

/// How patient and how trusting a refresh is. The defaults suit the public price APIs.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Tries for one request, the first included.
    pub attempts: u32,
    /// Wait before the second try, doubled each time, unless the server says how long.
    pub first_wait_s: f64,
    /// A server that asks for more patience than this is given up on.
    pub longest_wait_s: f64,
    pub connect_timeout: Duration,
    /// Longest silence between two pieces of an answer.
    pub read_timeout: Duration,
    /// Longest time for one answer that is read as a whole; streamed price lists are exempt.
    pub answer_timeout: Duration,
    /// Size of an answer that is read as a whole, after decompression.
    pub max_answer_bytes: u64,
    /// Size of a streamed price list, after decompression.
    pub max_stream_bytes: u64,
    /// Pages of one listing.
    pub max_pages: u32,
    /// Offers of one marketplace search.
    pub max_search_offers: usize,
    /// How long a second of waiting lasts. Tests shorten it.
    pub second: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            attempts: 4,
            first_wait_s: 1.0,
            longest_wait_s: 60.0,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(180),
            max_answer_bytes: 256 << 20,
            max_stream_bytes: 16 << 30,
            max_pages: 2_000,
            max_search_offers: 5_000,
            second: Duration::from_secs(1),
        }
    }
}

/// Everything a caller may choose about one refresh.
#[derive(Clone)]
pub struct RefreshOptions<'a> {
    /// Replaces the base URL of the registry, e.g. for a mirror.
    pub base_url: Option<String>,
    pub key: Option<ApiKey>,
    /// Region names, `*` and `?` allowed; empty = all. An offer that holds everywhere (`*`) always passes.
    pub regions: Vec<String>,
    pub limits: Limits,
    pub on_event: &'a dyn Fn(Event<'_>),
}

impl Default for RefreshOptions<'_> {
    fn default() -> Self {
        RefreshOptions {
            base_url: None,
            key: None,
            regions: Vec::new(),
            limits: Limits::default(),
            on_event: &|_| {},
        }
    }
}

impl fmt::Debug for RefreshOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefreshOptions")
            .field(
                "base_url",
                &self.base_url.as_deref().map(crate::http::shown_text),
            )
            .field("key", &self.key)
            .field("regions", &self.regions)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_never_prints_itself() {
        let key = ApiKey::new(" rpa_SECRET123\n").expect("key");
        assert_eq!(key.expose(), "rpa_SECRET123");
        assert_eq!(format!("{key:?}"), "ApiKey(***)");
        assert_eq!(key.scrub("bad token rpa_SECRET123!"), "bad token ***!");
        let options = RefreshOptions {
            key: Some(key),
            base_url: Some("http://user:hunter2@host/x".into()),
            ..RefreshOptions::default()
        };
        let shown = format!("{options:?}");
        assert!(
            !shown.contains("SECRET") && !shown.contains("hunter2"),
            "{shown}"
        );
        for text in ["", "  ", "two words", "line\nbreak", "schlüssel"] {
            assert!(ApiKey::new(text).is_none(), "{text:?}");
        }
    }
}
