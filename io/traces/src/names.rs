//! What names of files, columns and zones tell: zone, region, machine; and times in their usual spellings.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use lessee_spot::trace::About;

/// The region of a zone: `us-east-1a` -> `us-east-1` (AWS), `us-central1-a` -> `us-central1` (GCP). `None`: the
/// name has neither shape.
pub fn region_of(zone: &str) -> Option<String> {
    let last = zone.chars().last().filter(char::is_ascii_lowercase)?;
    let rest = zone.strip_suffix(last)?;
    let region = match rest.strip_suffix('-') {
        Some(google) => google,
        None if rest.matches('-').count() >= 2 => rest,
        None => return None,
    };
    let shaped = region.ends_with(|c: char| c.is_ascii_digit())
        && region.contains('-')
        && region
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    shaped.then(|| region.to_owned())
}

/// The provider whose regions are named like this, where a record names none: `us-east-1` AWS, `us-central1` GCP.
/// Others share the first shape (Alibaba Cloud, Oracle Cloud): their records must say so.
pub fn provider_of(region: &str) -> Option<&'static str> {
    let (rest, last) = region.rsplit_once('-')?;
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let (_, place) = rest.rsplit_once('-').unwrap_or(("", rest));
    // AWS calls its places by the points of the compass, Oracle by cities
    const COMPASS: [&str; 5] = ["north", "south", "east", "west", "central"];
    if digits(last) && rest.contains('-') {
        return COMPASS.iter().any(|c| place.contains(c)).then_some("aws");
    }
    let word = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let google = word.len() < last.len() && COMPASS.iter().any(|c| word.contains(c));
    google.then_some("gcp")
}

/// `us-west-2a_v100_8` -> zone `us-west-2a`, machine `v100:8`. A name of another shape is the zone as it stands.
pub(crate) fn about(name: &str, source: &str) -> About {
    let parts: Vec<&str> = name.split('_').collect();
    let (zone, machine) = match parts.as_slice() {
        [zone, gpu, count] if region_of(zone).is_some() && count.parse::<u32>().is_ok() => {
            (*zone, Some(format!("{gpu}:{count}")))
        }
        _ => (name, None),
    };
    About {
        zone: zone.to_owned(),
        region: region_of(zone),
        provider: None,
        machine,
        source: source.to_owned(),
    }
}

/// A time as files spell it, and whether its zone was stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    /// Unix seconds.
    pub(crate) unix: i64,
    /// `false`: no zone in the text, taken as UTC.
    pub(crate) zoned: bool,
}

/// RFC 3339, `YYYY-MM-DD HH:MM:SS` (no zone), or Unix seconds.
pub(crate) fn time(text: &str) -> Option<Time> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(Time {
            unix: at.as_second(),
            zoned: true,
        });
    }
    if !text.is_empty() && text.len() <= 11 && text.bytes().all(|b| b.is_ascii_digit()) {
        let unix = text.parse().ok()?;
        return Some(Time { unix, zoned: true });
    }
    let civil: DateTime = text.parse().ok()?;
    let at = TimeZone::UTC.to_timestamp(civil).ok()?;
    Some(Time {
        unix: at.as_second(),
        zoned: false,
    })
}

/// The middle difference of ascending times, seconds; 0 where there are fewer than two.
pub(crate) fn nominal_gap(at_s: &[i64]) -> u32 {
    let mut gaps: Vec<i64> = at_s.windows(2).map(|w| w[1] - w[0]).collect();
    if gaps.is_empty() {
        return 0;
    }
    // of two middle ones the shorter: holes only make gaps longer
    let middle = (gaps.len() - 1) / 2;
    let (_, gap, _) = gaps.select_nth_unstable(middle);
    u32::try_from(*gap).unwrap_or(u32::MAX)
}

/// `a3-highgpu-8g` -> 8, `p3.2xlarge` -> `None`: only names that state the number of GPUs.
pub(crate) fn gpus_in_name(machine: &str) -> Option<u32> {
    let last = machine.rsplit('-').next()?;
    last.strip_suffix('g')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_and_machines() {
        assert_eq!(region_of("us-east-1a").as_deref(), Some("us-east-1"));
        assert_eq!(region_of("us-central1-a").as_deref(), Some("us-central1"));
        assert_eq!(
            region_of("ap-southeast-2b").as_deref(),
            Some("ap-southeast-2")
        );
        assert_eq!(region_of("use1-az1"), None);
        assert_eq!(region_of("data"), None);
        assert_eq!(region_of(""), None);
        let about = about("us-west-2a_v100_8", "f");
        assert_eq!(
            (about.zone.as_str(), about.machine.as_deref()),
            ("us-west-2a", Some("v100:8"))
        );
        assert_eq!(gpus_in_name("a3-highgpu-8g"), Some(8));
        assert_eq!(gpus_in_name("p3.2xlarge"), None);
    }

    #[test]
    fn providers_by_the_shape_of_their_regions() {
        for (region, provider) in [
            ("us-east-1", Some("aws")),
            ("ap-southeast-2", Some("aws")),
            ("us-gov-west-1", Some("aws")),
            ("us-central1", Some("gcp")),
            ("europe-west4", Some("gcp")),
            ("us-ashburn-1", None),
            ("eastus", None),
            ("westus2", None),
            ("", None),
        ] {
            assert_eq!(provider_of(region), provider, "{region}");
        }
    }

    #[test]
    fn times() {
        let unix = |t: &str| time(t).map(|t| (t.unix, t.zoned));
        assert_eq!(unix("1970-01-01T00:01:00Z"), Some((60, true)));
        assert_eq!(unix("1970-01-01T00:00:00.5-07:00"), Some((25_200, true)));
        assert_eq!(unix("1970-01-01 00:01:00"), Some((60, false)));
        assert_eq!(unix("86400"), Some((86_400, true)));
        assert_eq!(unix("yesterday"), None);
        assert_eq!(unix("99999-01-01 00:00:00"), None);
    }
}
