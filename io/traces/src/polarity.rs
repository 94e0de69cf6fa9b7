//! What a 1 means. Public sets hold both meanings, and a share of 25 % reads as 75 % the other way: both
//! plausible. So it is stated by the file, known of the format, or said by the user; else we ask.

use crate::remark::Remark;
use crate::{Options, TraceError};
use lessee_model::Msg;
use std::str::FromStr;

/// The meaning of a 1 in a series of zeros and ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polarity {
    /// 1: an instance could be had.
    Available,
    /// 1: it could not.
    Unavailable,
}

impl Polarity {
    /// As `--polarity` spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Polarity::Available => "available",
            Polarity::Unavailable => "unavailable",
        }
    }

    /// The words of a header: `1=available`, `1 = not available`, `0=unavailable`; `None`: none of them.
    pub(crate) fn of_words(text: &str) -> Option<Polarity> {
        let text: String = text
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || *c == '=')
            .collect();
        let (digit, word) = match text.split_once('=') {
            Some((digit, word)) => (digit.to_owned(), word.to_owned()),
            None => ("1".to_owned(), text),
        };
        let of_word = match word.as_str() {
            "available" | "up" => Polarity::Available,
            "unavailable" | "notavailable" | "down" | "preempted" => Polarity::Unavailable,
            _ => return None,
        };
        match (digit.as_str(), of_word) {
            ("1", polarity) => Some(polarity),
            ("0", Polarity::Available) => Some(Polarity::Unavailable),
            ("0", Polarity::Unavailable) => Some(Polarity::Available),
            _ => None,
        }
    }
}

impl FromStr for Polarity {
    type Err = ();
    fn from_str(text: &str) -> Result<Polarity, ()> {
        match text {
            "available" => Ok(Polarity::Available),
            "unavailable" => Ok(Polarity::Unavailable),
            _ => Err(()),
        }
    }
}

/// Where the meaning of a 1 comes from, besides the user.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said {
    /// The file states it; the user cannot mean the opposite.
    Stated(Polarity),
    /// True of every file of this format that we know; the user's word wins, with a remark.
    Known(Polarity),
    /// Nobody says.
    Nobody,
}

/// Samples as counts of available instances, and how many were asked for at most.
///
/// Values above 1 are counts of instances that started, which have one meaning only.
///
/// # Errors
/// Zeros and ones of unknown meaning; a user's word against the file's own; counts with `unavailable`.
pub(crate) fn settle(
    values: Vec<Option<u32>>,
    said: Said,
    zone: &str,
    file: &str,
    options: &Options,
    remarks: &mut Vec<Remark>,
) -> Result<(Vec<Option<u32>>, u32), TraceError> {
    let most = values.iter().flatten().copied().max().unwrap_or(0);
    if most > 1 {
        if options.polarity == Some(Polarity::Unavailable) {
            return Err(TraceError::CountsInverted {
                file: file.to_owned(),
                zone: zone.to_owned(),
                most,
            });
        }
        return Ok((values, most));
    }
    let known = values.iter().flatten().count();
    if known == 0 {
        return Ok((values, 1));
    }
    let polarity = match (said, options.polarity) {
        (Said::Stated(file_says), Some(user)) if file_says != user => {
            return Err(TraceError::PolarityConflict {
                file: file.to_owned(),
                zone: zone.to_owned(),
                stated: file_says.as_str(),
                asked: user.as_str(),
            });
        }
        (Said::Stated(p), _) => p,
        (Said::Known(known), Some(user)) => {
            if known != user {
                let msg = Msg::new("trace-remark-polarity-overruled").arg("known", known.as_str());
                remarks.push(Remark::new("polarity_overruled", zone, msg));
            }
            user
        }
        (_, Some(user)) => user,
        (Said::Known(known), None) => known,
        (Said::Nobody, None) => {
            let ones = values.iter().flatten().filter(|v| **v == 1).count();
            return Err(TraceError::PolarityUnknown {
                file: file.to_owned(),
                zone: zone.to_owned(),
                ones: ones as f64 / known as f64,
                samples: known,
            });
        }
    };
    let values = match polarity {
        Polarity::Available => values,
        Polarity::Unavailable => values.into_iter().map(|v| v.map(|x| 1 - x)).collect(),
    };
    Ok((values, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_headers() {
        let of = Polarity::of_words;
        assert_eq!(of("1=available"), Some(Polarity::Available));
        assert_eq!(of("1 = NOT available"), Some(Polarity::Unavailable));
        assert_eq!(of("0=unavailable"), Some(Polarity::Available));
        assert_eq!(of("unavailable"), Some(Polarity::Unavailable));
        assert_eq!(of("1=maybe"), None);
        assert_eq!(of(""), None);
    }
}
