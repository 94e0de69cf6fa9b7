//! What goes wrong with objects: told by who said no, and never with a signed address in it.

use lessee_model::{Exit, Explain, Msg};
use std::error::Error;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    #[error("{target} is no place for objects: {detail}")]
    Target { target: String, detail: String },
    #[error("no credentials in the environment or in the profile {profile}")]
    NoCredentials { profile: String },
    #[error("{path} cannot be read: {detail}")]
    CredentialFile { path: String, detail: String },
    /// 401 or 403.
    #[error("{action}: the server refuses it: {detail}")]
    Denied {
        action: &'static str,
        detail: String,
    },
    #[error("there is no bucket {bucket}")]
    NoBucket { bucket: String },
    /// The clocks of both sides are too far apart for a signature.
    #[error("the clock of this machine and that of the server are {seconds} s apart")]
    Clock { seconds: i64 },
    /// The bucket is in another region.
    #[error("the bucket is in another region: {region}")]
    Elsewhere { region: String },
    #[error("{host} has no address")]
    Dns { host: String },
    #[error("{host}: no secure connection: {detail}")]
    Tls { host: String, detail: String },
    /// Nobody answers there.
    #[error("{host}: no connection: {detail}")]
    Connect { host: String, detail: String },
    /// It broke in the middle.
    #[error("{action}: the connection broke: {detail}")]
    Broken {
        action: &'static str,
        detail: String,
    },
    #[error("{action}: no answer in time")]
    TimedOut { action: &'static str },
    #[error("stopped")]
    Stopped,
    #[error("{action}: status {status}: {detail}")]
    Status {
        action: &'static str,
        status: u16,
        detail: String,
    },
    #[error("{action}: an answer that is none of S3: {detail}")]
    Answer {
        action: &'static str,
        detail: String,
    },
    #[error("no client for HTTP can be made: {detail}")]
    Client { detail: String },
}

impl ObjectError {
    /// The code of the reason in a report.
    pub fn code(&self) -> &'static str {
        match self {
            ObjectError::Target { .. } => "s3_target",
            ObjectError::NoCredentials { .. } | ObjectError::CredentialFile { .. } => {
                "s3_no_credentials"
            }
            ObjectError::Denied { .. } => "s3_denied",
            ObjectError::NoBucket { .. } => "s3_no_bucket",
            ObjectError::Clock { .. } => "s3_clock",
            ObjectError::Elsewhere { .. } => "s3_region",
            ObjectError::Dns { .. } => "s3_dns",
            ObjectError::Tls { .. } => "s3_tls",
            ObjectError::Connect { .. } => "s3_connect",
            ObjectError::Broken { .. } => "s3_broken",
            ObjectError::TimedOut { .. } => "out_of_time",
            ObjectError::Stopped => "stopped",
            ObjectError::Status { .. } | ObjectError::Answer { .. } => "s3_status",
            ObjectError::Client { .. } => "s3_client",
        }
    }

    /// Whether the server may have done what was asked all the same.
    pub(crate) fn leaves_open(&self) -> bool {
        match self {
            ObjectError::Broken { .. }
            | ObjectError::TimedOut { .. }
            | ObjectError::Stopped
            | ObjectError::Answer { .. } => true,
            ObjectError::Status { status, .. } => *status >= 500,
            _ => false,
        }
    }

    /// Of a request that got no answer, or broke while it came.
    pub(crate) fn of_transport(
        error: reqwest::Error,
        action: &'static str,
        host: &str,
    ) -> ObjectError {
        let host = host.to_owned();
        if error.is_timeout() {
            return ObjectError::TimedOut { action };
        }
        // the address carries the signature
        let error = error.without_url();
        let connecting = error.is_connect();
        let mut source: Option<&(dyn Error + 'static)> = Some(&error);
        let mut words = Vec::new();
        while let Some(one) = source {
            if let Some(tls) = tls_error(one) {
                let detail = tls.to_string();
                return ObjectError::Tls { host, detail };
            }
            words.push(one.to_string());
            source = one.source();
        }
        let all = words.join(": ");
        if all.contains("dns error") || all.contains("failed to lookup") {
            return ObjectError::Dns { host };
        }
        let detail = words.pop().unwrap_or_default();
        match connecting {
            true => ObjectError::Connect { host, detail },
            false => ObjectError::Broken { action, detail },
        }
    }
}

/// TLS's own error, which hides within one of the system's.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    error.downcast_ref::<rustls::Error>().or_else(|| {
        // which may stand within another one of the system's
        tls_error(error.downcast_ref::<std::io::Error>()?.get_ref()?)
    })
}

impl Explain for ObjectError {
    fn msg(&self) -> Msg {
        let of = |id, pairs: &[(&'static str, &str)]| {
            let mut msg = Msg::new(id);
            for (name, value) in pairs {
                msg = msg.arg(name, (*value).to_owned());
            }
            msg
        };
        match self {
            ObjectError::Target { target, detail } => {
                of("objects-target", &[("target", target), ("detail", detail)])
            }
            ObjectError::NoCredentials { profile } => {
                of("objects-no-credentials", &[("profile", profile)])
            }
            ObjectError::CredentialFile { path, detail } => {
                of("file-read", &[("path", path), ("detail", detail)])
            }
            ObjectError::Denied { action, detail } => {
                of("objects-denied", &[("action", action), ("detail", detail)])
            }
            ObjectError::NoBucket { bucket } => of("objects-no-bucket", &[("bucket", bucket)]),
            ObjectError::Clock { seconds } => {
                Msg::new("objects-clock").arg("seconds", *seconds as f64)
            }
            ObjectError::Elsewhere { region } => of("objects-region", &[("region", region)]),
            ObjectError::Dns { host } => of("objects-dns", &[("host", host)]),
            ObjectError::Tls { host, detail } => {
                of("objects-tls", &[("host", host), ("detail", detail)])
            }
            ObjectError::Connect { host, detail } => {
                of("objects-connect", &[("host", host), ("detail", detail)])
            }
            ObjectError::Broken { action, detail } => {
                of("objects-broken", &[("action", action), ("detail", detail)])
            }
            ObjectError::TimedOut { action } => of("objects-timed-out", &[("action", action)]),
            ObjectError::Stopped => Msg::new("objects-stopped"),
            ObjectError::Status {
                action,
                status,
                detail,
            } => of("objects-status", &[("action", action), ("detail", detail)])
                .arg("status", f64::from(*status)),
            ObjectError::Answer { action, detail } => {
                of("objects-answer", &[("action", action), ("detail", detail)])
            }
            ObjectError::Client { detail } => of("objects-client", &[("detail", detail)]),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        let id = match self {
            ObjectError::Target { .. } => "hint-objects-target",
            ObjectError::NoCredentials { .. } => "hint-objects-credentials",
            ObjectError::Denied { .. } => "hint-objects-denied",
            ObjectError::Clock { .. } => "hint-objects-clock",
            ObjectError::Elsewhere { .. } => "hint-objects-region",
            _ => return Vec::new(),
        };
        vec![Msg::new(id)]
    }

    fn exit(&self) -> Exit {
        match self {
            ObjectError::Target { .. } | ObjectError::CredentialFile { .. } => Exit::Usage,
            ObjectError::NoCredentials { .. } | ObjectError::Denied { .. } => Exit::Credentials,
            _ => Exit::Unreachable,
        }
    }
}
