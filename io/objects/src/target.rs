//! Where objects go: an endpoint, a bucket, a prefix, a region.

use crate::ObjectError;
use lessee_accept::shown_address;
use reqwest::Url;
use rusty_s3::{Bucket, UrlStyle};

/// A place in a bucket.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) bucket: Bucket,
    /// Without slashes around it; may be empty.
    pub prefix: String,
    endpoint: String,
}

const AWS: &str = "amazonaws.com";

impl Target {
    /// Understands `s3://bucket/prefix`, for AWS or for `endpoint`, and `https://host/bucket/prefix`.
    ///
    /// # Errors
    /// It is neither, or names credentials, which do not belong there.
    pub fn parse(text: &str, endpoint: Option<&str>, region: &str) -> Result<Target, ObjectError> {
        let wrong = |detail: &str| ObjectError::Target {
            target: shown_address(text),
            detail: detail.to_owned(),
        };
        let (endpoint, path) = match text.strip_prefix("s3://") {
            Some(path) => {
                let aws = format!("https://s3.{region}.{AWS}");
                (endpoint.unwrap_or(&aws).to_owned(), path.to_owned())
            }
            None => {
                let url = Url::parse(text).map_err(|e| wrong(&e.to_string()))?;
                if !matches!(url.scheme(), "http" | "https") {
                    return Err(wrong("s3://, https:// or http:// is needed"));
                }
                let path = url.path().trim_start_matches('/').to_owned();
                let mut root = url.clone();
                root.set_path("");
                (root.to_string(), path)
            }
        };
        let url = Url::parse(&endpoint)
            .map_err(|e| wrong(&format!("{}: {e}", shown_address(&endpoint))))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("credentials do not belong into an address"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("a query or a fragment"));
        }
        let (bucket, prefix) = path.split_once('/').unwrap_or((&path, ""));
        if bucket.is_empty() {
            return Err(wrong("no bucket"));
        }
        // AWS wants the bucket in the host's name; names with dots have no certificate there
        let of_aws = url
            .host_str()
            .is_some_and(|h| h == AWS || h.ends_with(".amazonaws.com"));
        let style = match of_aws && !bucket.contains('.') {
            true => UrlStyle::VirtualHost,
            false => UrlStyle::Path,
        };
        let endpoint = url.as_str().trim_end_matches('/').to_owned();
        let made = Bucket::new(url, style, bucket.to_owned(), region.to_owned());
        Ok(Target {
            bucket: made.map_err(|e| wrong(&e.to_string()))?,
            prefix: prefix.trim_matches('/').to_owned(),
            endpoint,
        })
    }

    /// The name of an object below the prefix.
    pub fn key(&self, name: &str) -> String {
        match self.prefix.is_empty() {
            true => name.to_owned(),
            false => format!("{}/{name}", self.prefix),
        }
    }

    pub fn bucket(&self) -> &str {
        self.bucket.name()
    }

    pub fn region(&self) -> &str {
        self.bucket.region()
    }

    /// `https://s3.eu-central-1.amazonaws.com`
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Host and path of the bucket itself.
    pub fn place(&self) -> (String, String) {
        let url = self.bucket.base_url();
        let host = url.host_str().unwrap_or("");
        let host = host.trim_start_matches('[').trim_end_matches(']');
        (host.to_owned(), url.path().to_owned())
    }

    /// Whether the endpoint is this machine, to which no proxy leads.
    pub fn is_local(&self) -> bool {
        let host = self.bucket.base_url().host_str().unwrap_or("");
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let address = host.parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|a| a.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_aws_and_of_others() {
        let of = |text, endpoint| Target::parse(text, endpoint, "eu-central-1");
        let url = |target: &Target, key| target.bucket.object_url(&target.key(key)).to_string();
        let aws = of("s3://my-bucket/a/b/", None).unwrap();
        assert_eq!(
            url(&aws, "x"),
            "https://my-bucket.s3.eu-central-1.amazonaws.com/a/b/x"
        );
        let dotted = of("s3://my.bucket", None).unwrap();
        assert_eq!(
            url(&dotted, "x"),
            "https://s3.eu-central-1.amazonaws.com/my.bucket/x"
        );
        let other = of("s3://b/p", Some("http://127.0.0.1:9000")).unwrap();
        assert_eq!(url(&other, "x"), "http://127.0.0.1:9000/b/p/x");
        assert!(other.is_local() && !aws.is_local());
        let plain = of("https://objects.example.org/b/p", None).unwrap();
        assert_eq!(url(&plain, "x"), "https://objects.example.org/b/p/x");
        assert_eq!(
            (plain.bucket(), plain.endpoint()),
            ("b", "https://objects.example.org")
        );
    }

    #[test]
    fn what_is_none_is_told_without_passwords() {
        for text in [
            "",
            "bucket",
            "s3://",
            "ftp://host/b",
            "https://host/",
            "https://host/b?x=1",
            "https://user:geheim@host/b",
            "https://host/b?token=geheim",
            "https://host/b#geheim",
            "https://user:pw@ho st/b?token=geheim",
            "s3://user:geheim@x y/b",
        ] {
            if let Err(error) = Target::parse(text, None, "r") {
                assert!(!error.to_string().contains("geheim"), "{error}");
            } else {
                assert!(text.starts_with("s3://user"), "{text}");
            }
        }
        for endpoint in ["http://u:geheim@host", "https://host/?token=geheim"] {
            let error = Target::parse("s3://b", Some(endpoint), "r").unwrap_err();
            assert!(!error.to_string().contains("geheim"), "{error}");
        }
    }
}
