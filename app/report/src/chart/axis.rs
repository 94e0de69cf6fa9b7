//! Where the marks of an axis stand, and what is written there.

/// Marks at round numbers from 0 to `most`, about `wanted` of them.
pub(super) fn round(most: f64, wanted: usize) -> Vec<f64> {
    if !(most.is_finite() && most > 0.0) {
        return vec![0.0];
    }
    let rough = most / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= rough)
        .unwrap_or(10.0 * power);
    (0..=wanted * 2)
        .map(|i| i as f64 * step)
        .take_while(|x| *x <= most * 1.000_001)
        .collect()
}

/// Steps of a time axis, seconds.
const STEPS: [i64; 14] = [
    60, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000, 864_000, 2_592_000,
    7_776_000, 31_536_000,
];

/// Marks of time within `span_s` seconds: seconds since the start, and the text. `start`: Unix time of the start, which
/// makes them dates (UTC); else they count from 0.
pub(super) fn time(span_s: i64, start: Option<i64>, wanted: i64) -> Vec<(i64, String)> {
    let step = STEPS
        .into_iter()
        .find(|s| span_s / s <= wanted)
        .unwrap_or(STEPS[STEPS.len() - 1].max(span_s / wanted.max(1)));
    let zero = start.unwrap_or(0);
    let first = zero.div_euclid(step) * step + if zero.rem_euclid(step) == 0 { 0 } else { step };
    (0..=wanted + 2)
        .map(|i| first + i * step - zero)
        .take_while(|at| *at <= span_s)
        .map(|at| {
            let label = match start {
                Some(start) => date(start + at, step),
                None if step >= 86_400 => format!("{} d", at / 86_400),
                None if step >= 3600 => format!("{} h", at / 3600),
                None => format!("{} min", at / 60),
            };
            (at, label)
        })
        .collect()
}

/// `02-15`, or `15 06:00` where the marks are within days. UTC.
fn date(unix: i64, step: i64) -> String {
    let (year, month, day) = civil(unix.div_euclid(86_400));
    let minutes = unix.rem_euclid(86_400) / 60;
    if step >= 31_536_000 {
        format!("{year}")
    } else if step >= 86_400 || minutes == 0 {
        format!("{month:02}-{day:02}")
    } else {
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Days since 1970 as a date (Hinnant's `civil_from_days`).
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    (year, month, doy - (153 * mp + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_few_and_round() {
        assert_eq!(round(1.9, 4), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(round(f64::NAN, 4), [0.0]);
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_403), (2023, 2, 15));
        let labels = |span, start| {
            time(span, start, 8)
                .into_iter()
                .map(|t| t.1)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            labels(2 * 86_400, None),
            [
                "0 h", "6 h", "12 h", "18 h", "24 h", "30 h", "36 h", "42 h", "48 h"
            ]
        );
        assert_eq!(labels(3 * 86_400, Some(1_676_498_896))[0], "02-16");
        assert!(time(i64::MAX / 4, Some(0), 8).len() <= 11);
    }
}
