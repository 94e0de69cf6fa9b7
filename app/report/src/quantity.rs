//! Numbers, money, durations and sizes as people read them. No words of a language here: units of time
//! come in from [`crate::Texts`].

use lessee_model::Money;

/// `1234567.5` -> `1,234,567.5`; keeps sign and decimals.
pub(crate) fn group_thousands(number: &str) -> String {
    let (sign, rest) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (whole, part) = rest
        .split_once('.')
        .map_or((rest, None), |(w, p)| (w, Some(p)));
    let mut out = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(part) = part {
        out.push('.');
        out.push_str(part);
    }
    out
}

/// Whole numbers whole, others with four significant digits; thousands grouped.
pub(crate) fn number(x: f64) -> String {
    if !x.is_finite() {
        return "?".to_owned();
    }
    let magnitude = x.abs();
    if magnitude >= 1e15 || (magnitude > 0.0 && magnitude < 1e-6) {
        return format!("{x:.3e}");
    }
    if x.fract() == 0.0 {
        return group_thousands(&format!("{x:.0}"));
    }
    let digits = magnitude.log10().floor() as i32 + 1;
    let places = (4 - digits).clamp(0, 9) as usize;
    let text = format!("{x:.places$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    group_thousands(text)
}

/// To the cent with its currency; what would round to nothing keeps two significant digits, because a
/// price of 0.00 would be a lie.
pub(crate) fn money(money: Money) -> String {
    let cents = money.to_cents();
    let vanished = !money.amount.is_zero() && money.amount.round(2).is_zero();
    let amount = if vanished {
        significant(money, 2)
    } else {
        cents
    };
    format!("{} {}", group_thousands(&amount), money.currency)
}

/// A unit price: exact up to six decimals, at least two.
pub(crate) fn unit_price(money: Money) -> String {
    let rounded = money.amount.round(6);
    if rounded.is_zero() && !money.amount.is_zero() {
        return format!("{} {}", significant(money, 2), money.currency);
    }
    format!(
        "{} {}",
        group_thousands(&Money::new(rounded, money.currency).exact()),
        money.currency
    )
}

fn significant(money: Money, digits: u32) -> String {
    (3..=12)
        .map(|places| (places, money.amount.round(places)))
        .find(|(_, rounded)| !rounded.is_zero())
        .map_or_else(
            || "0.00".to_owned(),
            |(places, _)| {
                money
                    .amount
                    .round((places + digits - 1).min(12))
                    .to_string()
            },
        )
}

/// Decimal units: `1.5 TB`, `110 kB`.
pub(crate) fn bytes(x: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    if !x.is_finite() {
        return "?".to_owned();
    }
    let mut value = x;
    let mut unit = 0;
    while value.abs() >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let places =
        usize::from(value.abs() < 99.95 && unit > 0) + usize::from(value.abs() < 9.995 && unit > 0);
    let text = format!("{value:.places$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{} {}", group_thousands(text), UNITS[unit])
}

/// Parts of a duration for display: at most two neighbouring units, rounded to the smaller one.
#[derive(Debug, PartialEq)]
pub(crate) enum Span {
    Millis(f64),
    Seconds(f64),
    MinSec(f64, f64),
    HourMin(f64, f64),
    DayHour(f64, f64),
}

pub(crate) fn span(seconds: f64) -> Span {
    let s = seconds.max(0.0);
    if s < 0.9995 {
        Span::Millis((s * 1000.0).round())
    } else if s < 59.5 {
        Span::Seconds(if s < 9.95 {
            (s * 10.0).round() / 10.0
        } else {
            s.round()
        })
    } else if s < 3_570.0 {
        let whole = s.round();
        Span::MinSec((whole / 60.0).floor(), whole % 60.0)
    } else if s < 48.0 * 3600.0 - 30.0 {
        let minutes = (s / 60.0).round();
        Span::HourMin((minutes / 60.0).floor(), minutes % 60.0)
    } else {
        let hours = (s / 3600.0).round();
        Span::DayHour((hours / 24.0).floor(), hours % 24.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_short() {
        for (x, shown) in [
            (0.0, "0"),
            (1234567.0, "1,234,567"),
            (-1234.5, "-1,234"),
            (12.3456, "12.35"),
            (0.001234, "0.001234"),
            (999.96, "1,000"),
            (2e16, "2.000e16"),
        ] {
            assert_eq!(number(x), shown);
        }
        assert_eq!(number(f64::NAN), "?");
    }

    #[test]
    fn money_never_vanishes() {
        let m = |text: &str| money(text.parse().expect("money"));
        assert_eq!(m("1234567.891 USD"), "1,234,567.89 USD");
        assert_eq!(m("0.00042 USD"), "0.00042 USD");
        assert_eq!(m("0 USD"), "0.00 USD");
        assert_eq!(m("-1234.5 CNY"), "-1,234.50 CNY");
        assert_eq!(
            unit_price("0.000005 USD".parse().expect("money")),
            "0.000005 USD"
        );
        assert_eq!(
            unit_price("0.0000004 USD".parse().expect("money")),
            "0.0000004 USD"
        );
    }

    #[test]
    fn sizes_and_spans() {
        assert_eq!(bytes(1.5e12), "1.5 TB");
        assert_eq!(bytes(999.7e9), "1 TB");
        assert_eq!(bytes(110_000.0), "110 kB");
        assert_eq!(bytes(16.06e9), "16.1 GB");
        assert_eq!(bytes(12.0), "12 B");
        assert_eq!(span(12_000.0), Span::HourMin(3.0, 20.0));
        assert_eq!(span(3599.0), Span::HourMin(1.0, 0.0));
        assert_eq!(span(61.0), Span::MinSec(1.0, 1.0));
        assert_eq!(span(0.25), Span::Millis(250.0));
        assert_eq!(span(1e6), Span::DayHour(11.0, 14.0));
    }
}
