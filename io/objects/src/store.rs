//! Requests to a bucket: put, get, delete, and uploads in parts.
//!
//! Each request is signed for itself and followed nowhere else: a redirect is an error that names the region. Nothing is
//! tried again here; who measures must not, and who stores decides.

use crate::{Credentials, ObjectError, Target};
use bytes::Bytes;
use reqwest::{Certificate, Client, RequestBuilder, Response, redirect};
use rusty_s3::S3Action;
use rusty_s3::actions::{
    AbortMultipartUpload, CompleteMultipartUpload, CreateMultipartUpload, DeleteObject, GetObject,
    PutObject, UploadPart,
};
use std::ops::Range;
use std::time::{Duration, SystemTime};

const USER_AGENT: &str = concat!("lessee/", env!("CARGO_PKG_VERSION"));
/// A signature holds so long; a request begins at once.
const SIGNED_FOR: Duration = Duration::from_secs(900);
const CONNECT: Duration = Duration::from_secs(10);
/// Of what a server says beside a status.
const SAID_MAX: usize = 16 << 10;
/// Clocks that are further apart than this make signatures void (AWS: 15 minutes); seconds.
const SKEW_S: i64 = 300;

/// A bucket, and who uses it. It belongs to the runtime that first sends a request by it.
pub struct Store {
    client: Client,
    target: Target,
    credentials: Credentials,
}

/// An object as the server keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub key: String,
    /// In a bucket that keeps versions: the one that was made.
    pub version: Option<String>,
}

/// A part of an upload that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 1 on.
    pub number: u16,
    pub etag: String,
}

impl Store {
    /// # Errors
    /// The system's certificates cannot be used.
    pub fn new(target: &Target, credentials: &Credentials) -> Result<Store, ObjectError> {
        Store::trusting(target, credentials, &[])
    }

    /// As [`Store::new`]; certificates that these (DER) have signed are taken too.
    ///
    /// # Errors
    /// The system's certificates or these cannot be used.
    pub fn trusting(
        target: &Target,
        credentials: &Credentials,
        roots: &[Vec<u8>],
    ) -> Result<Store, ObjectError> {
        // an error only says that somebody was first
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT)
            .redirect(redirect::Policy::none());
        if target.is_local() {
            builder = builder.no_proxy();
        }
        let client_error = |e: reqwest::Error| ObjectError::Client {
            detail: e.to_string(),
        };
        let roots: Result<Vec<_>, _> = roots.iter().map(|r| Certificate::from_der(r)).collect();
        let roots = roots.map_err(client_error)?;
        if !roots.is_empty() {
            builder = builder.tls_certs_merge(roots);
        }
        let client = builder.build().map_err(client_error)?;
        Ok(Store {
            client,
            target: target.clone(),
            credentials: credentials.clone(),
        })
    }

    /// Writes an object; with `if_absent` only where there is none of this name yet.
    pub async fn put(
        &self,
        key: &str,
        body: Bytes,
        if_absent: bool,
    ) -> Result<Stored, ObjectError> {
        let mut action = PutObject::new(&self.target.bucket, Some(&self.credentials.0), key);
        if if_absent {
            action.headers_mut().insert("if-none-match", "*");
        }
        let mut request = self.client.put(action.sign(SIGNED_FOR));
        if if_absent {
            request = request.header("if-none-match", "*");
        }
        let response = self.send("PUT", request.body(body)).await?;
        Ok(stored(key, &response))
    }

    /// Reads an object, or a range of it, and hands it over in pieces; gives how many bytes came.
    pub async fn get(
        &self,
        key: &str,
        range: Option<Range<u64>>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<u64, ObjectError> {
        let action = GetObject::new(&self.target.bucket, Some(&self.credentials.0), key);
        let mut request = self.client.get(action.sign(SIGNED_FOR));
        let wanted = range.as_ref().map(|r| r.end - r.start);
        if let Some(range) = range {
            let last = range.end.saturating_sub(1);
            request = request.header("range", format!("bytes={}-{last}", range.start));
        }
        let mut response = self.send("GET", request).await?;
        let wanted = wanted.or(response.content_length());
        let mut bytes = 0;
        while let Some(piece) = response.chunk().await.map_err(|e| self.failed(e, "GET"))? {
            bytes += piece.len() as u64;
            take(&piece);
        }
        match wanted {
            Some(wanted) if wanted != bytes => Err(ObjectError::Broken {
                action: "GET",
                detail: format!("{bytes} of {wanted} bytes came"),
            }),
            _ => Ok(bytes),
        }
    }

    /// Deletes an object, or the version of it that is known. One that is not there is deleted too.
    pub async fn delete(&self, object: &Stored) -> Result<(), ObjectError> {
        let bucket = &self.target.bucket;
        let mut action = DeleteObject::new(bucket, Some(&self.credentials.0), &object.key);
        if let Some(version) = &object.version {
            action.query_mut().insert("versionId", version.as_str());
        }
        let request = self.client.delete(action.sign(SIGNED_FOR));
        self.send("DELETE", request).await.map(drop)
    }

    /// A setting of the bucket as the server writes it: `encryption` (XML), `policy` (JSON), ...
    pub async fn setting(&self, which: &'static str) -> Result<String, ObjectError> {
        // an object without a name is the bucket itself
        let mut action = GetObject::new(&self.target.bucket, Some(&self.credentials.0), "");
        action.query_mut().insert(which, "");
        let url = action.sign(SIGNED_FOR);
        self.text(which, self.client.get(url)).await
    }

    /// Begins an upload in parts.
    pub async fn begin_parts(&self, key: &str) -> Result<String, ObjectError> {
        let action =
            CreateMultipartUpload::new(&self.target.bucket, Some(&self.credentials.0), key);
        let request = self.client.post(action.sign(SIGNED_FOR));
        let text = self.text("POST uploads", request).await?;
        let made = CreateMultipartUpload::parse_response(&text);
        let made = made.map_err(|e| self.answer("POST uploads", &e.to_string()))?;
        Ok(made.upload_id().to_owned())
    }

    /// Sends a part; all but the last have 5 MiB at least.
    pub async fn put_part(
        &self,
        key: &str,
        upload: &str,
        number: u16,
        body: Bytes,
    ) -> Result<Part, ObjectError> {
        let bucket = &self.target.bucket;
        let action = UploadPart::new(bucket, Some(&self.credentials.0), key, number, upload);
        let request = self.client.put(action.sign(SIGNED_FOR)).body(body);
        let response = self.send("PUT part", request).await?;
        let etag = response.headers().get("etag").and_then(|v| v.to_str().ok());
        match etag {
            Some(etag) => Ok(Part {
                number,
                etag: etag.to_owned(),
            }),
            None => Err(self.answer("PUT part", "no ETag")),
        }
    }

    /// Makes an object of parts, which are those from 1 on without a gap.
    pub async fn complete_parts(
        &self,
        key: &str,
        upload: &str,
        parts: &[Part],
    ) -> Result<Stored, ObjectError> {
        const ACTION: &str = "POST parts";
        let bucket = &self.target.bucket;
        let etags = parts.iter().map(|p| p.etag.as_str());
        let action =
            CompleteMultipartUpload::new(bucket, Some(&self.credentials.0), key, upload, etags);
        let url = action.sign(SIGNED_FOR);
        let request = self.client.post(url).body(action.body());
        let response = self.send(ACTION, request).await?;
        let stored = stored(key, &response);
        let text = self.read(response, ACTION).await?;
        // the status is sent before the server knows
        match text.contains("CompleteMultipartUploadResult") {
            true => Ok(stored),
            false => Err(self.answer(ACTION, &code(&text).unwrap_or(text))),
        }
    }

    /// Gives up an upload; its parts are deleted.
    pub async fn abort_parts(&self, key: &str, upload: &str) -> Result<(), ObjectError> {
        let bucket = &self.target.bucket;
        let action = AbortMultipartUpload::new(bucket, Some(&self.credentials.0), key, upload);
        let request = self.client.delete(action.sign(SIGNED_FOR));
        self.send("DELETE upload", request).await.map(drop)
    }

    async fn text(
        &self,
        action: &'static str,
        request: RequestBuilder,
    ) -> Result<String, ObjectError> {
        let response = self.send(action, request).await?;
        self.read(response, action).await
    }

    async fn read(
        &self,
        mut response: Response,
        action: &'static str,
    ) -> Result<String, ObjectError> {
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|e| self.failed(e, action))? {
            let room = SAID_MAX.saturating_sub(bytes.len());
            bytes.extend(piece.iter().take(room));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    async fn send(
        &self,
        action: &'static str,
        request: RequestBuilder,
    ) -> Result<Response, ObjectError> {
        let response = request.send().await.map_err(|e| self.failed(e, action))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let header = |name| {
            let value = response.headers().get(name).and_then(|v| v.to_str().ok());
            value.map(str::to_owned)
        };
        let (date, region) = (header("date"), header("x-amz-bucket-region"));
        // what it says beside the status may break off too
        let text = self.read(response, action).await.unwrap_or_default();
        let detail = code(&text).unwrap_or_else(|| text.clone());
        let detail = self.quoted(&detail);
        Err(match status.as_u16() {
            300..=399 => ObjectError::Elsewhere {
                region: self.quoted(&region.unwrap_or_else(|| "?".to_owned())),
            },
            404 if text.contains("NoSuchBucket") => ObjectError::NoBucket {
                bucket: self.target.bucket().to_owned(),
            },
            401 | 403 => match date.and_then(|d| skew(&d)) {
                Some(seconds) if seconds.abs() > SKEW_S => ObjectError::Clock { seconds },
                _ => ObjectError::Denied { action, detail },
            },
            status => ObjectError::Status {
                action,
                status,
                detail,
            },
        })
    }

    fn failed(&self, error: reqwest::Error, action: &'static str) -> ObjectError {
        let host = self.target.bucket.base_url().host_str().unwrap_or("?");
        ObjectError::of_transport(error, action, host)
    }

    fn answer(&self, action: &'static str, detail: &str) -> ObjectError {
        ObjectError::Answer {
            action,
            detail: self.quoted(detail),
        }
    }

    /// A server's words: without secrets that it repeats, control characters, and not endless.
    fn quoted(&self, text: &str) -> String {
        let text = self.credentials.scrub(text);
        text.chars().filter(|c| !c.is_control()).take(200).collect()
    }
}

fn stored(key: &str, response: &Response) -> Stored {
    let version = response.headers().get("x-amz-version-id");
    let version = version.and_then(|v| v.to_str().ok());
    Stored {
        key: key.to_owned(),
        // what a bucket says whose versions are not kept any more
        version: version.filter(|v| *v != "null").map(str::to_owned),
    }
}

/// `<Code>` of an error's XML, with the message.
fn code(text: &str) -> Option<String> {
    let of = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (value, _) = rest.split_once(&format!("</{name}>"))?;
        Some(value.trim().to_owned())
    };
    let code = of("Code")?;
    Some(match of("Message") {
        Some(message) => format!("{code}: {message}"),
        None => code,
    })
}

/// Seconds that this machine's clock is ahead of a server's `Date`.
fn skew(date: &str) -> Option<i64> {
    let theirs = http_date(date)?;
    let ours = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .ok()?;
    Some(ours.as_secs() as i64 - theirs)
}

/// `Mon, 30 Nov 2026 22:00:00 GMT` in seconds since 1970.
fn http_date(text: &str) -> Option<i64> {
    let mut words = text.split_whitespace().skip(1);
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = MONTHS.iter().position(|m| *m == month)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|n| n.parse::<i64>().ok());
    let (h, m, s) = (clock.next()??, clock.next()??, clock.next()??);
    if !(1970..=9999).contains(&year) {
        return None;
    }
    // days from 1970, with years that begin in March
    let (y, m2) = match month > 2 {
        true => (year, month - 3),
        false => (year - 1, month + 9),
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m2 + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + h * 3600 + m * 60 + s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_errors_of_servers() {
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(
            http_date("Fri, 24 May 2013 00:00:00 GMT"),
            Some(1_369_353_600)
        );
        assert_eq!(
            http_date("Thu, 29 Feb 2024 12:30:05 GMT"),
            Some(1_709_209_805)
        );
        for none in ["", "now", "Thu, 1 Jan", "Thu, 01 Xxx 1970 00:00:00 GMT"] {
            assert_eq!(http_date(none), None);
        }
        let text = "<?xml?><Error><Code>AccessDenied</Code><Message>No.</Message></Error>";
        assert_eq!(code(text).as_deref(), Some("AccessDenied: No."));
        assert_eq!(code("<html>"), None);
    }
}
