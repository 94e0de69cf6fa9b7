//! What can go wrong between a price API and us, each with the URL, what was found there and how to
//! mend it. Neither keys nor bodies of answers are ever part of an error.

use crate::PRICE_APIS;
use lessee_model::{Exit, Explain, Msg};

/// Why a refresh failed. Nothing of a failed refresh is kept.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProviderError {
    #[error("no price API known for `{name}`")]
    NoApi {
        name: String,
        near: Option<&'static str>,
    },
    #[error("{provider} needs a key in {env}")]
    KeyMissing {
        provider: &'static str,
        env: &'static str,
    },
    #[error("`{url}` is not a usable base URL for {provider}: {detail}")]
    BaseUrl {
        provider: &'static str,
        url: String,
        detail: String,
    },
    #[error("the key of {provider} would travel unencrypted to {url}")]
    PlainKey { provider: &'static str, url: String },
    #[error("cannot set up the HTTP client: {detail}")]
    Client { detail: String },
    #[error("cannot reach {url}: {detail}")]
    Unreachable { url: String, detail: String },
    #[error("no answer from {url} within {seconds} s")]
    Timeout { url: String, seconds: f64 },
    #[error("{url} denied access (HTTP {status})")]
    Denied {
        url: String,
        status: u16,
        env: Option<&'static str>,
    },
    #[error("{url} asks for fewer requests (HTTP 429)")]
    Throttled { url: String, wait_s: f64 },
    #[error("{url} answered HTTP {status}")]
    Status { url: String, status: u16 },
    #[error("{url} leads away to {to}")]
    LeadsAway { url: String, to: String },
    #[error("the pages of {url} go round in a circle")]
    PageLoop { url: String },
    #[error("{url} has more than {pages} pages")]
    TooManyPages { url: String, pages: u32 },
    #[error("the answer of {url} is larger than {max_bytes} bytes")]
    TooLarge { url: String, max_bytes: u64 },
    #[error("the answer of {url} broke off: {detail}")]
    BrokenOff { url: String, detail: String },
    #[error("the answer of {url} is not as expected at `{field}`: {detail}")]
    BadAnswer {
        url: String,
        /// Where in the answer: `Items`, `data.gpuTypes`, `line 7`.
        field: String,
        detail: String,
    },
    #[error("{url} refused the query: {said}")]
    Refused { url: String, said: String },
}

impl Explain for ProviderError {
    fn msg(&self) -> Msg {
        use ProviderError as E;
        match self {
            E::NoApi { name, .. } => Msg::new("providers-no-api")
                .arg("name", name.as_str())
                .arg("known", PRICE_APIS.map(|api| api.name).join(", ")),
            E::KeyMissing { provider, env } => Msg::new("providers-key-missing")
                .arg("provider", *provider)
                .arg("env", *env),
            E::BaseUrl {
                provider,
                url,
                detail,
            } => Msg::new("providers-base-url")
                .arg("provider", *provider)
                .arg("url", url.as_str())
                .arg("detail", detail.as_str()),
            E::PlainKey { provider, url } => Msg::new("providers-plain-key")
                .arg("provider", *provider)
                .arg("url", url.as_str()),
            E::Client { detail } => Msg::new("providers-client").arg("detail", detail.as_str()),
            E::Unreachable { url, detail } => Msg::new("providers-unreachable")
                .arg("url", url.as_str())
                .arg("detail", detail.as_str()),
            E::Timeout { url, seconds } => Msg::new("providers-timeout")
                .arg("url", url.as_str())
                .seconds("wait", *seconds),
            E::Denied { url, status, .. } => Msg::new("providers-denied")
                .arg("url", url.as_str())
                .arg("status", u32::from(*status)),
            E::Throttled { url, wait_s } => Msg::new("providers-throttled")
                .arg("url", url.as_str())
                .seconds("wait", *wait_s),
            E::Status { url, status } => Msg::new("providers-status")
                .arg("url", url.as_str())
                .arg("status", u32::from(*status)),
            E::LeadsAway { url, to } => Msg::new("providers-leads-away")
                .arg("url", url.as_str())
                .arg("to", to.as_str()),
            E::PageLoop { url } => Msg::new("providers-page-loop").arg("url", url.as_str()),
            E::TooManyPages { url, pages } => Msg::new("providers-too-many-pages")
                .arg("url", url.as_str())
                .arg("pages", *pages),
            E::TooLarge { url, max_bytes } => Msg::new("providers-too-large")
                .arg("url", url.as_str())
                .bytes("max", *max_bytes as f64),
            E::BrokenOff { url, detail } => Msg::new("providers-broken-off")
                .arg("url", url.as_str())
                .arg("detail", detail.as_str()),
            E::BadAnswer { url, field, detail } => Msg::new("providers-bad-answer")
                .arg("url", url.as_str())
                .arg("field", field.as_str())
                .arg("detail", detail.as_str()),
            E::Refused { url, said } => Msg::new("providers-refused")
                .arg("url", url.as_str())
                .arg("said", said.as_str()),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        use ProviderError as E;
        match self {
            E::NoApi { near, .. } => {
                let near = near.map(|name| Msg::new("hint-did-you-mean").arg("word", name));
                near.into_iter()
                    .chain([Msg::new("hint-providers-import")])
                    .collect()
            }
            E::KeyMissing { env, .. } => vec![Msg::new("hint-providers-set-key").arg("env", *env)],
            E::Denied { env: Some(env), .. } => {
                vec![Msg::new("hint-providers-check-key").arg("env", *env)]
            }
            E::Denied { env: None, .. } => vec![Msg::new("hint-providers-check-network")],
            E::BaseUrl { .. } => vec![Msg::new("hint-providers-base-url")],
            E::PlainKey { .. } => vec![Msg::new("hint-providers-use-https")],
            E::Client { .. } => vec![Msg::new("hint-providers-ca")],
            E::Unreachable { .. } | E::Timeout { .. } => {
                vec![Msg::new("hint-providers-check-network")]
            }
            E::Throttled { .. } | E::Status { status: 500.., .. } | E::BrokenOff { .. } => {
                vec![Msg::new("hint-providers-later")]
            }
            E::TooManyPages { .. } | E::TooLarge { .. } => {
                vec![Msg::new("hint-providers-fewer-regions")]
            }
            E::Status { .. }
            | E::LeadsAway { .. }
            | E::PageLoop { .. }
            | E::BadAnswer { .. }
            | E::Refused { .. } => vec![Msg::new("hint-providers-changed")],
        }
    }

    fn exit(&self) -> Exit {
        use ProviderError as E;
        match self {
            E::NoApi { .. } | E::BaseUrl { .. } => Exit::Usage,
            E::KeyMissing { .. } | E::PlainKey { .. } | E::Denied { .. } => Exit::Credentials,
            _ => Exit::Unreachable,
        }
    }
}
