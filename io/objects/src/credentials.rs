//! Who may use a bucket, as the AWS tools have it: variables first, then the files below `~/.aws`.
//!
//! Never from the command line, and never shown: `Debug` hides them. Not here: instance roles, single sign-on, processes
//! that make credentials.

use crate::ObjectError;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A key and its secret.
#[derive(Clone)]
pub struct Credentials(pub(crate) rusty_s3::Credentials);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(hidden)")
    }
}

impl Credentials {
    pub fn new(key: &str, secret: &str, token: Option<&str>) -> Credentials {
        Credentials(match token {
            Some(token) => rusty_s3::Credentials::new_with_token(key, secret, token),
            None => rusty_s3::Credentials::new(key, secret),
        })
    }

    /// Takes its own secrets out of a text of somebody else.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let secrets = [Some(self.0.secret()), self.0.token(), Some(self.0.key())];
        // what is shorter is no secret, and would tear words apart
        let secrets = secrets.into_iter().flatten().filter(|s| s.len() > 3);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

/// What the environment and the files say.
#[derive(Clone, Debug)]
pub struct Found {
    pub credentials: Credentials,
    /// `us-east-1` where nobody names one: it is what S3-compatible servers take.
    pub region: String,
    pub endpoint: Option<String>,
}

const REGION: &str = "us-east-1";

impl Credentials {
    /// Looks for them; `env` gives variables, `home` is the user's folder.
    ///
    /// # Errors
    /// There are none, or a file that was named cannot be read.
    pub fn find(
        env: &dyn Fn(&str) -> Option<String>,
        home: Option<&Path>,
    ) -> Result<Found, ObjectError> {
        let env = |name: &str| env(name).filter(|v| !v.is_empty());
        let profile = env("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
        let place = |variable: &str, file: &str| -> Option<(PathBuf, bool)> {
            let named = env(variable).map(|p| (PathBuf::from(p), true));
            named.or_else(|| Some((home?.join(".aws").join(file), false)))
        };
        let shared = section(
            place("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
            &profile,
            false,
        )?;
        let config = section(place("AWS_CONFIG_FILE", "config"), &profile, true)?;
        let of = |name: &str| shared.get(name).or_else(|| config.get(name)).cloned();
        let region = env("AWS_REGION").or_else(|| env("AWS_DEFAULT_REGION"));
        let endpoint = env("AWS_ENDPOINT_URL_S3").or_else(|| env("AWS_ENDPOINT_URL"));
        let pair = |key: Option<String>, secret: Option<String>, token: Option<String>| {
            Some(Credentials::new(&key?, &secret?, token.as_deref()))
        };
        let own = pair(
            env("AWS_ACCESS_KEY_ID"),
            env("AWS_SECRET_ACCESS_KEY"),
            env("AWS_SESSION_TOKEN"),
        );
        let files = || {
            pair(
                of("aws_access_key_id"),
                of("aws_secret_access_key"),
                of("aws_session_token"),
            )
        };
        let Some(credentials) = own.or_else(files) else {
            return Err(ObjectError::NoCredentials { profile });
        };
        Ok(Found {
            credentials,
            region: region
                .or_else(|| of("region"))
                .unwrap_or_else(|| REGION.to_owned()),
            endpoint: endpoint.or_else(|| of("endpoint_url")),
        })
    }
}

/// The values of a profile. A file that nobody named may be missing.
fn section(
    place: Option<(PathBuf, bool)>,
    profile: &str,
    config: bool,
) -> Result<BTreeMap<String, String>, ObjectError> {
    let Some((path, named)) = place else {
        return Ok(BTreeMap::new());
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(values(&text, profile, config)),
        Err(error) if !named && error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(ObjectError::CredentialFile {
            path: path.display().to_string(),
            detail: error.to_string(),
        }),
    }
}

/// In the configuration profiles other than the default are headed `[profile NAME]`. Indented lines belong to the value
/// above them and are of no use here.
fn values(text: &str, profile: &str, config: bool) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut within = false;
    for line in text.lines() {
        if line.starts_with([' ', '\t', '#', ';']) {
            continue;
        }
        if let Some(head) = line.trim().strip_prefix('[') {
            let head = head.split(']').next().unwrap_or("").trim();
            let name = match config {
                true => head.strip_prefix("profile ").map_or(head, str::trim),
                false => head,
            };
            within = name == profile;
        } else if let (true, Some((name, value))) = (within, line.split_once('=')) {
            found.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(env: &[(&str, &str)], home: Option<&Path>) -> Result<Found, ObjectError> {
        let get = |name: &str| {
            env.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| (*v).to_owned())
        };
        Credentials::find(&get, home)
    }

    fn shown(found: &Found) -> (&str, &str, Option<&str>) {
        let own = &found.credentials.0;
        (own.key(), own.secret(), own.token())
    }

    #[test]
    fn variables_come_before_files_and_profiles_are_kept_apart() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        let put = |name: &str, text: &str| {
            std::fs::write(home.path().join(".aws").join(name), text).unwrap()
        };
        put(
            "credentials",
            "[default]\naws_access_key_id = A\naws_secret_access_key=B=\n\n[work]\naws_access_key_id=C\naws_secret_access_key=D\naws_session_token=T\n",
        );
        put(
            "config",
            "[default]\nregion = eu-west-1\n[profile work]\nregion=eu-west-2\ns3 =\n  addressing_style = path\nendpoint_url = https://o.example\n",
        );
        let home = Some(home.path());
        let plain = find(&[], home).unwrap();
        assert_eq!(shown(&plain), ("A", "B=", None));
        assert_eq!(
            (plain.region.as_str(), &plain.endpoint),
            ("eu-west-1", &None)
        );
        let work = find(&[("AWS_PROFILE", "work")], home).unwrap();
        assert_eq!(shown(&work), ("C", "D", Some("T")));
        assert_eq!(work.endpoint.as_deref(), Some("https://o.example"));
        let own = [
            ("AWS_ACCESS_KEY_ID", "E"),
            ("AWS_SECRET_ACCESS_KEY", "geheim"),
            ("AWS_REGION", "r"),
        ];
        let own = find(&own, home).unwrap();
        assert_eq!(
            (shown(&own), own.region.as_str()),
            (("E", "geheim", None), "r")
        );
        assert!(!format!("{own:?}").contains("geheim"));
    }

    #[test]
    fn none_at_all_is_told_with_the_profile() {
        let none = find(&[("AWS_PROFILE", "p")], None).unwrap_err();
        assert!(matches!(none, ObjectError::NoCredentials { profile } if profile == "p"));
        let missing = find(&[("AWS_SHARED_CREDENTIALS_FILE", "/no/such")], None).unwrap_err();
        assert!(matches!(missing, ObjectError::CredentialFile { .. }));
    }
}
