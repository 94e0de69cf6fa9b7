//! `accept security`: endpoints, disks and buckets are looked at, then the findings answer the items of the checklists. What
//! was seen is kept as evidence, as JSON.

use super::{evidence, must_be_online};
use crate::args::SecurityArgs;
use crate::commands::providers;
use crate::facts;
use lessee_accept::security::{self, Profile, S3Encryption, S3Facts, S3Policy, Security, Strength};
use lessee_accept::security::{HttpSigns, Seen, Unreached};
use lessee_accept::{Finding, Outcome};
use lessee_console::{Failure, Settings};
use lessee_endpoints::{Endpoint, Limits, Scheme, http, ssh, tls};
use lessee_model::{Msg, did_you_mean};
use lessee_objects::{Credentials, ObjectError, Target, settings};
use lessee_probe_io::{encryption, open_regular};
use serde::Serialize;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const MOST_ENDPOINTS: usize = 200;
/// Looked at side by side.
const AT_ONCE: usize = 8;
const DOCUMENT_MAX: u64 = 64 << 20;
const CA_MAX: u64 = 4 << 20;
const TIMEOUTS_S: std::ops::RangeInclusive<f64> = 0.1..=60.0;

/// What all looks share.
struct Around<'a> {
    book: &'a Security,
    suites: tls::Suites,
    signs: HttpSigns,
    trusted: tls::Trusted,
    limits: Limits,
    settings: &'a Settings,
    s3_endpoint: Option<&'a str>,
}

/// The check.
pub(super) fn check(args: &SecurityArgs, settings: &Settings) -> Result<Outcome, Failure> {
    let book = lessee_catalog::security()?;
    let endpoints = endpoints(args)?;
    let profiles = profiles(&args.profile)?;
    let machine = args.machine.as_deref();
    let nothing = endpoints.is_empty()
        && machine.is_none()
        && args.luks.is_empty()
        && args.imds.is_none()
        && profiles.is_empty()
        && args.provider.is_none();
    if nothing {
        return Err(Failure::usage(Msg::new("accept-security-nothing"))
            .hint(Msg::new("hint-accept-security")));
    }
    let imds = args.imds.as_deref().map(endpoint).transpose()?;
    if let Some(host) = endpoints.first().or(imds.as_ref()) {
        must_be_online(&host.to_string(), settings)?;
    }
    let (seen, documents) = seen(args, &book, &profiles, settings)?;
    let around = Around {
        suites: tls::Suites {
            good: book.suites(Strength::Good),
            weak: book.suites(Strength::Weak),
            broken: book.suites(Strength::Broken),
        },
        signs: book.http_signs(),
        trusted: trusted(&args.ca)?,
        limits: limits(args.timeout)?,
        s3_endpoint: args.s3_endpoint.as_deref(),
        book: &book,
        settings,
    };
    let mut whole = Outcome::new("security", Vec::new());
    let mut add = |part: Outcome| {
        whole.findings.extend(part.findings);
        whole.evidence.extend(part.evidence);
    };
    for part in looks(&endpoints, &around).into_iter().flatten() {
        add(part);
    }
    if let Some(place) = machine {
        add(disks(place, &around)?);
    }
    for file in &args.luks {
        let read = encryption::luks::read(file).map_err(|e| Failure::read(file, &e))?;
        let name = file.display().to_string();
        let findings = security::luks(&book, &name, &read);
        add(around.resting("luks", &name, &read, findings));
    }
    let live = machine.is_some_and(|m| m.as_os_str() == "live") && !settings.offline.value;
    let imds = match live {
        true if imds.is_none() => Some(endpoint(http::IMDS)?),
        _ => imds,
    };
    if let Some(endpoint) = imds {
        let facts = http::imds(&endpoint, &around.signs, around.limits);
        let findings = security::imds(&book, &facts);
        add(around.resting("metadata-service", &facts.url.clone(), &facts, findings));
    }
    let items = security::checklist(&book, &profiles, &whole.findings, &seen);
    whole.findings.extend(items);
    whole.evidence.extend(documents);
    if let Some(name) = &args.provider {
        let key = providers::named(name, &facts::builtin()?)?;
        let claims = security::claims(&book, &key, &profiles);
        whole.findings.extend(claims);
    }
    Ok(whole)
}

fn limits(timeout: Option<f64>) -> Result<Limits, Failure> {
    let Some(seconds) = timeout else {
        return Ok(Limits::default());
    };
    if !TIMEOUTS_S.contains(&seconds) {
        let msg = Msg::new("probe-option")
            .arg("what", "--timeout")
            .arg("value", seconds.to_string())
            .arg("range", "0.1 ... 60");
        return Err(Failure::usage(msg));
    }
    Ok(Limits {
        connection: Duration::from_secs_f64(seconds),
    })
}

fn endpoint(text: &str) -> Result<Endpoint, Failure> {
    Endpoint::parse(text).map_err(|e| {
        let why = match e.code() {
            "scheme" => Msg::new("accept-endpoint-scheme"),
            "host" => Msg::new("accept-endpoint-host"),
            "port" => Msg::new("accept-endpoint-port"),
            _ => Msg::new("accept-endpoint-user"),
        };
        let msg = Msg::new("accept-endpoint")
            .arg("text", lessee_accept::shown_address(text))
            .arg("why", why);
        Failure::usage(msg).hint(Msg::new("hint-accept-endpoint"))
    })
}

/// Those of the flags, then those of the file, each once.
fn endpoints(args: &SecurityArgs) -> Result<Vec<Endpoint>, Failure> {
    let mut texts: Vec<(Option<String>, String)> =
        args.endpoint.iter().map(|e| (None, e.clone())).collect();
    if let Some(path) = &args.targets {
        let (text, place) = super::latency::text_of(path)?;
        texts.extend(of_file(&text, &place)?);
    }
    if texts.len() > MOST_ENDPOINTS {
        let msg = Msg::new("accept-targets-many").arg("most", MOST_ENDPOINTS);
        return Err(Failure::usage(msg));
    }
    let mut out: Vec<Endpoint> = Vec::new();
    for (place, text) in texts {
        let found = endpoint(&text).map_err(|failure| match place {
            Some(place) => Failure {
                msg: Msg::new("error-at")
                    .arg("place", place)
                    .arg("problem", failure.msg.clone()),
                ..failure
            },
            None => failure,
        })?;
        if !out.contains(&found) {
            out.push(found);
        }
    }
    Ok(out)
}

/// One endpoint a line, or the file of targets that `accept latency` reads; each with its place.
fn of_file(text: &str, place: &str) -> Result<Vec<(Option<String>, String)>, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().enumerate().map(|(number, line)| {
        let line = line.split('#').next().unwrap_or("").trim();
        (number + 1, line)
    });
    let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
    match lines.peek() {
        None => {
            let msg = Msg::new("accept-targets-none").arg("path", place);
            Err(Failure::usage(msg).hint(Msg::new("hint-accept-endpoint")))
        }
        // an address has its scheme; a header or a table has none
        Some((_, first)) if first.contains("://") => Ok(lines
            .map(|(number, line)| (Some(format!("{place}:{number}")), line.to_owned()))
            .collect()),
        Some(_) => Ok(lessee_latency::targets_of(text, place)?
            .iter()
            .map(|target| (Some(place.to_owned()), address(target)))
            .collect()),
    }
}

/// What stands on 22 is taken for sshd, on 80 for plain HTTP; all else, and what names no port, for TLS.
fn address(target: &lessee_accept::latency::Target) -> String {
    let scheme = match target.port {
        Some(22) => "ssh",
        Some(80) => "http",
        _ => "https",
    };
    let host = match target.host.contains(':') {
        true => format!("[{}]", target.host),
        false => target.host.clone(),
    };
    match target.port {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}

fn profiles(names: &[String]) -> Result<Vec<Profile>, Failure> {
    let mut out = Vec::new();
    // in a file they may stand as a list or with commas between
    let names = names.iter().flat_map(|n| n.split(',')).map(str::trim);
    for name in names.filter(|n| !n.is_empty()) {
        let profile: Profile = name.parse().map_err(|_| {
            let known = Profile::ALL.map(Profile::as_str);
            let near = did_you_mean(name, known);
            let msg = Msg::new("accept-profile-unknown").arg("name", name);
            let hint = match near {
                Some(near) => Msg::new("hint-did-you-mean").arg("word", near),
                None => Msg::new("accept-profiles").arg("list", known.join(", ")),
            };
            Failure::usage(msg).hint(hint)
        })?;
        if !out.contains(&profile) {
            out.push(profile);
        }
    }
    Ok(out)
}

type Documents = Vec<(lessee_accept::Evidence, Vec<u8>)>;

/// The items of which the user holds the evidence.
fn seen(
    args: &SecurityArgs,
    book: &Security,
    profiles: &[Profile],
    settings: &Settings,
) -> Result<(Vec<Seen>, Documents), Failure> {
    let (mut out, mut documents) = (Vec::new(), Vec::new());
    for text in &args.seen {
        let Some((id, file)) = text.split_once('=').filter(|(_, f)| !f.is_empty()) else {
            let msg = Msg::new("accept-seen-form").arg("text", text.as_str());
            return Err(Failure::usage(msg));
        };
        let items: Vec<&str> = book
            .items
            .iter()
            .filter(|i| i.profiles.iter().any(|p| profiles.contains(p)))
            .map(|i| i.id.as_str())
            .collect();
        if !items.contains(&id) {
            let msg = Msg::new("accept-seen-item").arg("id", id);
            let failure = Failure::usage(msg);
            return Err(match did_you_mean(id, items) {
                Some(near) => failure.hint(Msg::new("hint-did-you-mean").arg("word", near)),
                None => failure.hint(Msg::new("hint-accept-seen")),
            });
        }
        let path = Path::new(file);
        let content = bounded(path, DOCUMENT_MAX)?;
        if content.is_empty() {
            let msg = Msg::new("accept-seen-empty").arg("path", file);
            return Err(Failure::usage(msg));
        }
        let made = evidence("document", file.to_owned(), &content, settings);
        out.push(Seen {
            id: id.to_owned(),
            file: file.to_owned(),
            sha256: made.sha256.clone(),
        });
        documents.push((made, content));
    }
    Ok((out, documents))
}

fn trusted(files: &[std::path::PathBuf]) -> Result<tls::Trusted, Failure> {
    let mut trusted = tls::Trusted::of_system();
    for file in files {
        if trusted.add(&bounded(file, CA_MAX)?) == 0 {
            let msg = Msg::new("accept-ca-none").arg("path", file.display().to_string());
            return Err(Failure::usage(msg));
        }
    }
    Ok(trusted)
}

/// A file, whole, if it is no larger than this.
fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .map_err(|e| Failure::read(path, &e))?;
    if bytes.len() as u64 > most {
        let msg = Msg::new("file-too-large")
            .arg("path", path.display().to_string())
            .bytes("largest", most as f64);
        return Err(Failure::usage(msg));
    }
    Ok(bytes)
}

/// Several at once, in the order in which they were named.
fn looks(endpoints: &[Endpoint], around: &Around<'_>) -> Vec<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, Vec<Outcome>)> = std::thread::scope(|scope| {
        let worker = || {
            let mut mine = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(endpoint) = endpoints.get(at) else {
                    return mine;
                };
                mine.push((at, around.look(endpoint)));
            }
        };
        let threads: Vec<_> = (0..endpoints.len().min(AT_ONCE))
            .map(|_| scope.spawn(worker))
            .collect();
        let joined = threads.into_iter().filter_map(|t| t.join().ok());
        joined.flatten().collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, parts)| parts).collect()
}

/// As evidence keeps it.
#[derive(Serialize)]
struct Kept<'a, T> {
    from: &'a str,
    seen: &'a T,
}

impl Around<'_> {
    fn resting<T: Serialize>(
        &self,
        kind: &str,
        from: &str,
        seen: &T,
        findings: Vec<Finding>,
    ) -> Outcome {
        let kept = serde_json::to_vec_pretty(&Kept { from, seen }).unwrap_or_default();
        let made = evidence(kind, from.to_owned(), &kept, self.settings);
        Outcome::new("security", findings).resting_on(made, kept)
    }

    fn look(&self, endpoint: &Endpoint) -> Vec<Outcome> {
        let subject = endpoint.to_string();
        match endpoint.scheme {
            Scheme::Https => vec![self.tls(endpoint, &subject, false)],
            Scheme::Ssh => {
                let facts = ssh::look(&endpoint.host, endpoint.port, self.limits);
                let findings = security::ssh(self.book, &subject, &facts);
                vec![self.resting("ssh", &subject, &facts, findings)]
            }
            Scheme::Http => {
                let (host, port) = (&endpoint.host, endpoint.port);
                let facts = http::plain(host, port, "/", &self.signs, self.limits);
                let findings = security::plain_http(self.book, &subject, &facts);
                vec![self.resting("http", &subject, &facts, findings)]
            }
            Scheme::S3 => self.bucket(&subject),
        }
    }

    fn tls(&self, endpoint: &Endpoint, subject: &str, pinned: bool) -> Outcome {
        let (host, port) = (endpoint.host.as_str(), endpoint.port);
        let now = self.settings.now;
        let seconds = now.as_second().max(0).unsigned_abs();
        let facts = tls::look(
            host,
            port,
            &self.suites,
            &self.trusted,
            &self.signs,
            seconds,
            self.limits,
        );
        let mut findings = security::tls(self.book, subject, &facts, now, pinned);
        // it speaks, but not TLS: perhaps what it should never speak
        if let Err(Unreached::OtherProtocol(_)) = facts {
            let plain = http::plain(host, port, "/", &self.signs, self.limits);
            findings.extend(security::plain_http(self.book, subject, &plain));
        }
        self.resting("tls", subject, &facts, findings)
    }

    fn bucket(&self, subject: &str) -> Vec<Outcome> {
        let env = |name: &str| std::env::var(name).ok();
        let found = Credentials::find(&env, std::env::home_dir().as_deref());
        let (credentials, region, configured, fault) = match found {
            Ok(found) => (Some(found.credentials), found.region, found.endpoint, None),
            Err(e) => {
                let region = env("AWS_REGION").or_else(|| env("AWS_DEFAULT_REGION"));
                let configured = env("AWS_ENDPOINT_URL_S3").or_else(|| env("AWS_ENDPOINT_URL"));
                let region = region.unwrap_or_else(|| "us-east-1".to_owned());
                (None, region, configured, Some(e))
            }
        };
        let place = self.s3_endpoint.map(str::to_owned).or(configured);
        let target = Target::parse(subject, place.as_deref(), &region);
        let service = target.and_then(|target| {
            let service = Endpoint::parse(target.endpoint());
            let service = service.map_err(|e| ObjectError::Target {
                target: target.endpoint().to_owned(),
                detail: e.code().to_owned(),
            })?;
            Ok((target, service))
        });
        let (target, service) = match service {
            Ok(both) => both,
            Err(e) => {
                let facts: Result<S3Facts, _> = Err(Unreached::Other(e.to_string()));
                let findings = security::s3(self.book, subject, &facts);
                return vec![self.resting("s3", subject, &facts, findings)];
            }
        };
        let plain_endpoint = service.scheme == Scheme::Http;
        let mut out = Vec::new();
        if !plain_endpoint {
            out.push(self.tls(&service, &service.to_string(), true));
        }
        let (answer, policy) = match (credentials, fault) {
            // a signature that others can read opens the bucket to them for a while
            (Some(_), _) if plain_endpoint && !target.is_local() => {
                let why = "not asked: the endpoint is not encrypted".to_owned();
                (S3Encryption::Unclear(why), S3Policy::NotSeen)
            }
            (Some(credentials), _) => settings::ask(&target, &credentials, &self.trusted.named()),
            (None, Some(ObjectError::NoCredentials { .. })) | (None, None) => {
                (S3Encryption::NoCredentials, S3Policy::NotSeen)
            }
            (None, Some(e)) => (S3Encryption::Unclear(e.to_string()), S3Policy::NotSeen),
        };
        // port 80 beside 443, the same port otherwise
        let port = match service.port {
            443 => 80,
            port => port,
        };
        let (host, path) = target.place();
        let plain = http::plain_beside(&host, port, &path, &self.signs, self.limits);
        let facts = Ok(S3Facts {
            endpoint: target.endpoint().to_owned(),
            plain_endpoint,
            encryption: answer,
            policy,
            plain: Some(plain),
        });
        let findings = security::s3(self.book, subject, &facts);
        out.push(self.resting("s3", subject, &facts, findings));
        out
    }
}

fn disks(place: &Path, around: &Around<'_>) -> Result<Outcome, Failure> {
    let (name, facts) = match place.as_os_str() == "live" {
        true => ("live".to_owned(), encryption::live()),
        false => {
            let facts = encryption::recorded(place).map_err(|e| Failure::read(place, &e))?;
            (place.display().to_string(), facts)
        }
    };
    let findings = security::host(around.book, &name, &facts);
    Ok(around.resting("disks", &name, &facts, findings))
}
