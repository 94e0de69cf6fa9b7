//! What the metadata services of clouds answer about the end of a spot machine, in the shapes of their documents.
//!
//! An answer that is not understood is neither a notice nor the lack of one: it is told, and asked again. How they are asked is
//! not here.

use super::{Kind, Now};
use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, civil};
use serde::Deserialize;
use thiserror::Error;

/// A service, and which of its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cloud {
    /// `spot/instance-action`
    Aws,
    /// `events/recommendations/rebalance`
    AwsRebalance,
    /// `instance/preempted`
    Gcp,
    /// `scheduledevents`
    Azure,
    /// `instance/spot/termination-time`
    Alibaba,
    /// `spot/termination-time`
    Tencent,
}

/// Google says only that the end has come: 30 s, as its documents promise at best (cloud.google.com, spot VMs, 2026-11).
const GCP_NOTICE_MS: i64 = 30_000;

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is announced, so that an earlier notice is withdrawn.
    Nothing,
    /// `None`: it began already.
    Notice { kind: Kind, at_wall_ms: Option<i64> },
    /// The token is missing or too old: not a notice.
    Token,
}

/// An answer that says nothing at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Garbled {
    #[error("status {0}")]
    Status(u16),
    #[error("not the document that was asked for: {0}")]
    Body(String),
}

/// Reads an answer. `machine`: the own name at Azure, whose events list machines; `None` takes each event for one's own.
///
/// # Errors
/// A status or a body that the service does not give.
pub fn read(
    cloud: Cloud,
    status: u16,
    body: &str,
    machine: Option<&str>,
    now: Now,
) -> Result<Answer, Garbled> {
    let body = body.trim();
    match (cloud, status) {
        (Cloud::Aws | Cloud::AwsRebalance | Cloud::Alibaba, 401) => return Ok(Answer::Token),
        (Cloud::Aws | Cloud::AwsRebalance | Cloud::Alibaba | Cloud::Tencent, 404) => {
            return Ok(Answer::Nothing);
        }
        (_, 200) => {}
        (_, other) => return Err(Garbled::Status(other)),
    }
    let ends = |at: Option<i64>| Answer::Notice {
        kind: Kind::Ends,
        at_wall_ms: at,
    };
    match cloud {
        Cloud::Aws => aws(body).map(|at| ends(Some(at))),
        Cloud::AwsRebalance => {
            let said: Rebalance = json(body)?;
            utc(&said.notice_time).ok_or_else(|| garbled(body))?;
            Ok(Answer::Notice {
                kind: Kind::AtRisk,
                at_wall_ms: None,
            })
        }
        Cloud::Gcp => match body {
            "FALSE" => Ok(Answer::Nothing),
            "TRUE" => Ok(ends(Some(now.wall_ms.saturating_add(GCP_NOTICE_MS)))),
            _ => Err(garbled(body)),
        },
        Cloud::Azure => azure(body, machine),
        Cloud::Alibaba => {
            let at = utc(body).ok_or_else(|| garbled(body))?;
            Ok(ends(Some(at)))
        }
        Cloud::Tencent => {
            let at = beijing(body).ok_or_else(|| garbled(body))?;
            Ok(ends(Some(at)))
        }
    }
}

fn garbled(body: &str) -> Garbled {
    Garbled::Body(body.chars().filter(|c| !c.is_control()).take(80).collect())
}

fn json<'a, T: Deserialize<'a>>(body: &'a str) -> Result<T, Garbled> {
    serde_json::from_str(body).map_err(|_| garbled(body))
}

/// `2017-09-18T08:22:00Z`, milliseconds since 1970.
fn utc(text: &str) -> Option<i64> {
    let at: Timestamp = text.parse().ok()?;
    Some(at.as_millisecond())
}

/// `2018-08-18 12:05:33`: the time of Beijing, without a zone. Read as UTC it would be eight hours away.
fn beijing(text: &str) -> Option<i64> {
    let at: DateTime = civil::DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok()?;
    let zone = TimeZone::fixed(Offset::constant(8));
    Some(zone.to_timestamp(at).ok()?.as_millisecond())
}

/// `hibernate` begins at once; its time has come.
fn aws(body: &str) -> Result<i64, Garbled> {
    #[derive(Deserialize)]
    struct Action<'a> {
        action: &'a str,
        time: &'a str,
    }
    let said: Action<'_> = json(body)?;
    match said.action {
        "terminate" | "stop" | "hibernate" => utc(said.time).ok_or_else(|| garbled(body)),
        _ => Err(garbled(body)),
    }
}

#[derive(Deserialize)]
struct Rebalance {
    #[serde(rename = "noticeTime")]
    notice_time: String,
}

#[derive(Deserialize)]
struct Scheduled {
    #[serde(rename = "Events")]
    events: Vec<AzureEvent>,
}

#[derive(Deserialize)]
struct AzureEvent {
    #[serde(rename = "EventType")]
    kind: String,
    /// Empty once it has started.
    #[serde(rename = "NotBefore", default)]
    not_before: String,
    #[serde(rename = "Resources", default)]
    resources: Vec<String>,
}

/// The first to come of the events that end this machine.
fn azure(body: &str, machine: Option<&str>) -> Result<Answer, Garbled> {
    let said: Scheduled = json(body)?;
    let mine = |e: &&AzureEvent| machine.is_none_or(|own| e.resources.iter().any(|r| r == own));
    // a freeze pauses for seconds
    let ends =
        |e: &&AzureEvent| matches!(&*e.kind, "Preempt" | "Terminate" | "Redeploy" | "Reboot");
    let mut first: Option<Option<i64>> = None;
    for event in said.events.iter().filter(mine).filter(ends) {
        let at = match event.not_before.trim() {
            "" => None,
            text => Some(rfc1123(text).ok_or_else(|| garbled(body))?),
        };
        first = Some(match first {
            None => at,
            // started is before any time
            Some(known) => known.zip(at).map(|(a, b)| a.min(b)),
        });
    }
    Ok(match first {
        None => Answer::Nothing,
        Some(at_wall_ms) => Answer::Notice {
            kind: Kind::Ends,
            at_wall_ms,
        },
    })
}

/// `Mon, 19 Sep 2016 18:29:47 GMT`
fn rfc1123(text: &str) -> Option<i64> {
    const PARSER: DateTimeParser = DateTimeParser::new();
    Some(PARSER.parse_timestamp(text).ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now {
        mono_ms: 5_000,
        wall_ms: 1_534_565_013_000,
    };

    fn said(cloud: Cloud, status: u16, body: &str) -> Result<Answer, Garbled> {
        read(cloud, status, body, Some("vm-1"), NOW)
    }

    fn ends(at: Option<i64>) -> Result<Answer, Garbled> {
        Ok(Answer::Notice {
            kind: Kind::Ends,
            at_wall_ms: at,
        })
    }

    #[test]
    fn documented_answers() {
        let quiet = [
            (Cloud::Aws, 404, ""),
            (Cloud::AwsRebalance, 404, "<html>404</html>"),
            (Cloud::Gcp, 200, "FALSE"),
            (
                Cloud::Azure,
                200,
                "{\"DocumentIncarnation\":1,\"Events\":[]}",
            ),
            (Cloud::Alibaba, 404, ""),
            (Cloud::Tencent, 404, ""),
        ];
        for (cloud, status, body) in quiet {
            assert_eq!(said(cloud, status, body), Ok(Answer::Nothing), "{cloud:?}");
        }
        let body = "{\"action\":\"terminate\",\"time\":\"2017-09-18T08:22:00Z\"}";
        assert_eq!(said(Cloud::Aws, 200, body), ends(Some(1_505_722_920_000)));
        assert_eq!(said(Cloud::Aws, 401, ""), Ok(Answer::Token));
        let at_risk = said(
            Cloud::AwsRebalance,
            200,
            "{\"noticeTime\":\"2020-10-26T08:22:00Z\"}",
        );
        let early = Answer::Notice {
            kind: Kind::AtRisk,
            at_wall_ms: None,
        };
        assert_eq!(at_risk, Ok(early));
        assert_eq!(
            said(Cloud::Gcp, 200, "TRUE\n"),
            ends(Some(NOW.wall_ms + 30_000))
        );
        let at = said(Cloud::Alibaba, 200, "2015-01-05T18:02:00Z");
        assert_eq!(at, ends(Some(1_420_480_920_000)));
    }

    /// 120 s are left, not eight hours.
    #[test]
    fn tencent_tells_the_time_of_beijing() {
        let at = said(Cloud::Tencent, 200, "2018-08-18 12:05:33");
        assert_eq!(at, ends(Some(NOW.wall_ms + 120_000)));
    }

    #[test]
    fn azure_lists_machines_and_what_has_started_has_no_time() {
        let event = |kind: &str, at: &str, machine: &str| {
            format!(
                "{{\"EventType\":\"{kind}\",\"EventStatus\":\"Scheduled\",\"NotBefore\":\"{at}\",\"Resources\":[\"{machine}\"]}}"
            )
        };
        let doc = |events: &[String]| format!("{{\"Events\":[{}]}}", events.join(","));
        let at = "Mon, 19 Sep 2016 18:29:47 GMT";
        let mine = event("Preempt", at, "vm-1");
        let found = said(Cloud::Azure, 200, &doc(std::slice::from_ref(&mine)));
        assert_eq!(found, ends(Some(1_474_309_787_000)));
        let other = event("Preempt", at, "vm-2");
        assert_eq!(said(Cloud::Azure, 200, &doc(&[other])), Ok(Answer::Nothing));
        let freeze = event("Freeze", at, "vm-1");
        assert_eq!(
            said(Cloud::Azure, 200, &doc(&[freeze])),
            Ok(Answer::Nothing)
        );
        let started = event("Terminate", "", "vm-1");
        assert_eq!(said(Cloud::Azure, 200, &doc(&[mine, started])), ends(None));
    }

    #[test]
    fn what_is_not_understood_is_no_answer() {
        for (cloud, status, body) in [
            (Cloud::Aws, 200, "\0<html>{\"action\":"),
            (
                Cloud::Aws,
                200,
                "{\"action\":\"dance\",\"time\":\"2017-09-18T08:22:00Z\"}",
            ),
            (Cloud::Aws, 503, ""),
            (Cloud::AwsRebalance, 200, "{\"noticeTime\":\"soon\"}"),
            (Cloud::Gcp, 200, "true"),
            (Cloud::Gcp, 404, ""),
            (Cloud::Azure, 200, "{}"),
            (
                Cloud::Azure,
                200,
                "{\"Events\":[{\"EventType\":\"Preempt\",\"NotBefore\":\"x\",\"Resources\":[\"vm-1\"]}]}",
            ),
            (Cloud::Alibaba, 200, "2015-01-05 18:02:00"),
            (Cloud::Tencent, 200, "18/08/2018 12:05:33"),
            (Cloud::Tencent, 200, ""),
        ] {
            assert!(said(cloud, status, body).is_err(), "{cloud:?} {body:?}");
        }
    }
}
