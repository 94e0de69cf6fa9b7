//! `Fixed`: exact decimal arithmetic with twelve decimals, the number under every amount of money.
//!
//! Why not `f64`: a bill must be the sum of its lines. Why not `rust_decimal`: screening multiplies
//! millions of prices by quantities and fixed-point integers are ten times faster there; `rust_decimal`
//! still does the parsing and printing.

use rust_decimal::Decimal;
use std::fmt;
use std::ops::{Add, AddAssign, Neg, Sub};
use std::str::FromStr;

/// A signed decimal number with twelve decimals; range about ±1.7e26.
///
/// Addition and multiplication saturate instead of wrapping, so that a sum never becomes smaller
/// because one of its parts became larger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fixed(i128);

const ONE: i128 = 1_000_000_000_000;

impl Fixed {
    pub const ZERO: Fixed = Fixed(0);
    pub const ONE: Fixed = Fixed(ONE);
    pub const MAX: Fixed = Fixed(i128::MAX);

    /// `n` whole units.
    #[inline]
    pub const fn from_int(n: i64) -> Fixed {
        Fixed(n as i128 * ONE)
    }

    /// `n` units of 1e-12.
    #[inline]
    pub const fn from_raw(n: i128) -> Fixed {
        Fixed(n)
    }

    #[inline]
    pub const fn raw(self) -> i128 {
        self.0
    }

    /// The only way from floating point to an exact number: rounds half away from zero at the twelfth
    /// decimal. `None` for NaN, infinities and what does not fit (|x| >= 1e26).
    #[inline]
    pub fn from_f64(x: f64) -> Option<Fixed> {
        if !x.is_finite() || x.abs() >= 1e26 {
            return None;
        }
        // casts truncate, and below 2^63 they are single instructions
        if x.abs() < 9e15 {
            let whole = x as i64;
            let scaled = (x - whole as f64) * 1e12;
            let part = scaled as i64;
            let rest = scaled - part as f64;
            let part = part + i64::from(rest >= 0.5) - i64::from(rest <= -0.5);
            return Some(Fixed(i128::from(whole) * ONE + i128::from(part)));
        }
        // here an f64 has no decimals left
        Some(Fixed(x as i128 * ONE))
    }

    #[inline]
    pub fn to_f64(self) -> f64 {
        let whole = self.0 / ONE;
        let part = self.0 % ONE;
        whole as f64 + part as f64 / 1e12
    }

    /// Product, rounded half away from zero at the twelfth decimal; saturates.
    #[inline]
    pub fn times(self, other: Fixed) -> Fixed {
        // what a bill multiplies is positive and below 18 million, nearly always
        if let (Ok(a), Ok(b)) = (u64::try_from(self.0), u64::try_from(other.0)) {
            let product = u128::from(a) * u128::from(b);
            // at most (2^64 - 1)^2: there is room for the half that rounds
            return Fixed(over_one(product + ONE as u128 / 2) as i128);
        }
        self.times_large(other)
    }

    #[inline(never)]
    fn times_large(self, other: Fixed) -> Fixed {
        let negative = (self.0 < 0) != (other.0 < 0);
        let (a, b) = (self.0.unsigned_abs(), other.0.unsigned_abs());
        let one = ONE as u128;
        let (ah, al) = (a / one, a % one);
        let (bh, bl) = (b / one, b % one);
        // a*b/1e12 = ah*bh*1e12 + ah*bl + al*bh + al*bl/1e12; the last term alone needs rounding
        let low = (al * bl + one / 2) / one;
        let sum = ah
            .checked_mul(bh)
            .and_then(|x| x.checked_mul(one))
            .and_then(|x| x.checked_add(ah.checked_mul(bl)?))
            .and_then(|x| x.checked_add(al.checked_mul(bh)?))
            .and_then(|x| x.checked_add(low));
        let magnitude = sum
            .and_then(|x| i128::try_from(x).ok())
            .unwrap_or(i128::MAX);
        Fixed(if negative { -magnitude } else { magnitude })
    }

    /// Quotient, rounded half away from zero at the twelfth decimal; `None` when dividing by zero.
    pub fn over(self, other: Fixed) -> Option<Fixed> {
        if other.0 == 0 {
            return None;
        }
        let negative = (self.0 < 0) != (other.0 < 0);
        let (a, b) = (self.0.unsigned_abs(), other.0.unsigned_abs());
        let one = ONE as u128;
        let whole = a / b;
        // long division keeps the remainder below b, so twelve single digits never overflow u128
        let mut rest = a % b;
        let mut part: u128 = 0;
        for _ in 0..12 {
            let scaled = rest.checked_mul(10)?;
            part = part * 10 + scaled / b;
            rest = scaled % b;
        }
        if rest.checked_mul(2)? >= b {
            part += 1;
        }
        let magnitude = whole
            .checked_mul(one)
            .and_then(|x| x.checked_add(part))
            .and_then(|x| i128::try_from(x).ok())
            .unwrap_or(i128::MAX);
        Some(Fixed(if negative { -magnitude } else { magnitude }))
    }

    #[inline]
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Rounded half away from zero to `places` decimals (0..=12).
    pub fn round(self, places: u32) -> Fixed {
        let unit = 10i128.pow(12 - places.min(12));
        let half = unit / 2;
        let shifted = if self.0 >= 0 {
            self.0.saturating_add(half)
        } else {
            self.0.saturating_sub(half)
        };
        Fixed(shifted / unit * unit)
    }
}

impl Add for Fixed {
    type Output = Fixed;
    #[inline]
    fn add(self, other: Fixed) -> Fixed {
        Fixed(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Fixed {
    #[inline]
    fn add_assign(&mut self, other: Fixed) {
        *self = *self + other;
    }
}

impl Sub for Fixed {
    type Output = Fixed;
    #[inline]
    fn sub(self, other: Fixed) -> Fixed {
        Fixed(self.0.saturating_sub(other.0))
    }
}

impl Neg for Fixed {
    type Output = Fixed;
    fn neg(self) -> Fixed {
        Fixed(self.0.saturating_neg())
    }
}

/// `p / 1e12`. 1e12 = 2^12 x 5^12, so below 2^104 it takes a shift and two 64-bit divisions by a constant
/// instead of a call of the 128-bit division, which would be most of the time of a product.
#[inline]
fn over_one(p: u128) -> u128 {
    const FIVES: u64 = 244_140_625;
    if p >> 104 != 0 {
        return p / ONE as u128;
    }
    let n = p >> 12;
    let (high, low) = ((n >> 32) as u64, n as u64 & 0xffff_ffff);
    let rest = (high % FIVES) << 32 | low;
    (u128::from(high / FIVES) << 32) + u128::from(rest / FIVES)
}

/// Exact, without trailing zeros: `912.6`, `0.0004`, `-3`.
impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        let (whole, part) = (magnitude / ONE as u128, magnitude % ONE as u128);
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let digits = format!("{part:012}");
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl fmt::Debug for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Accepts `12`, `12.34`, `-0.5`, `1.2e3`; refuses NaN, infinities and what does not fit.
impl FromStr for Fixed {
    type Err = ();
    fn from_str(text: &str) -> Result<Fixed, ()> {
        let text = text.trim();
        let decimal = if text.contains(['e', 'E']) {
            Decimal::from_scientific(text).map_err(|_| ())?
        } else {
            Decimal::from_str(text).map_err(|_| ())?
        };
        let rounded = decimal.round_dp(12);
        let scale = rounded.scale();
        let factor = 10i128.pow(12 - scale.min(12));
        rounded.mantissa().checked_mul(factor).map(Fixed).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_exact_where_decimal_allows() {
        let price: Fixed = "0.085".parse().expect("number");
        let quantity: Fixed = "40960".parse().expect("number");
        assert_eq!(price.times(quantity).to_string(), "3481.6");
        assert_eq!(Fixed::MAX.times(Fixed::from_int(2)), Fixed::MAX);
        assert_eq!(
            "-2.5"
                .parse::<Fixed>()
                .expect("number")
                .times(Fixed::from_int(3))
                .to_string(),
            "-7.5"
        );
    }

    #[test]
    fn short_cuts_give_what_the_long_way_gives() {
        let mut seed: u128 = 0x9e37_79b9_7f4a_7c15;
        for i in 0..20_000u32 {
            seed = seed.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(1);
            let p = seed >> (i % 128);
            assert_eq!(over_one(p), p / ONE as u128, "{p}");
        }
        assert_eq!(over_one(u128::MAX), u128::MAX / ONE as u128);
        for (x, shown) in [
            (0.1 + 0.2, "0.3"),
            (-2.5e-12, "-0.000000000003"),
            (1.4999e-12, "0.000000000001"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (-1e25, "-10000000000000000905969664"),
            (123_456.789, "123456.789000000004"),
        ] {
            assert_eq!(Fixed::from_f64(x).expect("finite").to_string(), shown);
        }
    }

    #[test]
    fn quotients_round_at_the_twelfth_decimal() {
        assert_eq!(
            Fixed::from_int(1)
                .over(Fixed::from_int(3))
                .expect("finite")
                .to_string(),
            "0.333333333333"
        );
        assert_eq!(
            Fixed::from_int(2)
                .over(Fixed::from_int(3))
                .expect("finite")
                .to_string(),
            "0.666666666667"
        );
        assert_eq!(Fixed::ONE.over(Fixed::ZERO), None);
    }

    #[test]
    fn hostile_numbers_are_refused() {
        for text in ["1e400", "NaN", "inf", "", "1,000", "0x10", "--1"] {
            assert!(text.parse::<Fixed>().is_err(), "{text}");
        }
        assert_eq!(Fixed::from_f64(f64::NAN), None);
        assert_eq!(Fixed::from_f64(1e300), None);
        assert_eq!(
            "1.5e3".parse::<Fixed>().expect("number"),
            Fixed::from_int(1500)
        );
    }

    #[test]
    fn rounding_goes_half_away_from_zero() {
        let x: Fixed = "2.345".parse().expect("number");
        assert_eq!(x.round(2).to_string(), "2.35");
        assert_eq!((-x).round(2).to_string(), "-2.35");
    }
}
