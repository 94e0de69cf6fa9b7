//! Times as logs write them.

/// A time cell: seconds as a number, or a date and time of day. The flag says that it is a clock.
pub(super) fn parse(text: &str) -> Option<(f64, bool)> {
    let text = text.trim().trim_matches('"').trim();
    if let Ok(number) = text.parse::<f64>() {
        // milliseconds and seconds since 1970 are clocks; anything smaller counts from the start of the log
        return Some(if number > 1e12 {
            (number / 1e3, true)
        } else {
            (number, number > 1e9)
        });
    }
    let (date, clock) = text.split_once([' ', 'T'])?;
    Some((day(date)? * 86_400.0 + of_day(clock)?, true))
}

/// Days since 1970 of `2024/09/08`, `2024-09-08` or `20240908`.
pub(super) fn day(text: &str) -> Option<f64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let marks = text.chars().filter(|c| matches!(c, '/' | '-')).count();
    if digits.len() != 8 || digits.len() + marks != text.len() || !matches!(marks, 0 | 2) {
        return None;
    }
    let year: i64 = digits[..4].parse().ok()?;
    let month: i64 = digits[4..6].parse().ok()?;
    let day: i64 = digits[6..].parse().ok()?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year < 1970 {
        return None;
    }
    // years that begin in March put the leap day last
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_year = (153 * m + 2) / 5 + day - 1;
    let days = 365 * y + y / 4 - y / 100 + y / 400 + of_year - 719_468;
    Some(days as f64)
}

/// Seconds since midnight of `14:51:04` or `14:51:04.123`, with `Z` or an offset, which is dropped: all times of a
/// log have the same.
pub(super) fn of_day(text: &str) -> Option<f64> {
    let text = text.trim_end_matches('Z');
    let text = text.split_once('+').map_or(text, |(time, _)| time);
    let mut parts = text.split(':');
    let hours: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let seconds: f64 = parts.next()?.parse().ok()?;
    let fits = (0.0..24.0).contains(&hours)
        && (0.0..60.0).contains(&minutes)
        && (0.0..61.0).contains(&seconds);
    (fits && parts.next().is_none()).then_some(hours * 3600.0 + minutes * 60.0 + seconds)
}
