//! Hazard where no trace exists: from the share of instances that a provider says were interrupted.
//!
//! A share x interrupted per exposure of E hours gives -ln(1 - x)/E an hour. Azure states E: one hour. AWS counts "the
//! trailing month" and does not say how long the counted instances ran: 5 % is 0.00007 an hour if they ran all month,
//! 0.002 if a day, 0.01 if five hours. So the answer is a range, and a bucket ranks types rather than measuring them:
//! recorded V100 zones lost an instance 0.1 to 1.4 times an hour of life, far above what ">20 %" suggests.

use crate::trace::Bucket;

/// Shortest exposure that is assumed of instances counted over a longer time, hours.
const SHORT_RUN_H: f64 = 5.0;
/// Ends an hour in the worst recorded zone (p3.2xlarge in us-east-1a, February to April 2023: a mean run of 0.72 h): the
/// upper end where a bucket is open.
pub const MEASURED_HIGHEST_PER_H: f64 = 1.4;

/// Ends an hour, from least to greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HazardRange {
    /// Least.
    pub low_per_h: f64,
    /// Between them, on a logarithmic scale; with a least of 0 as if it were half the greatest share.
    pub middle_per_h: f64,
    /// Greatest.
    pub high_per_h: f64,
    /// Shortest and longest exposure assumed, hours.
    pub exposure_h: (f64, f64),
}

/// The range that a bucket leaves open.
pub fn hazard_of(bucket: &Bucket) -> HazardRange {
    let rate = |share: f64, hours: f64| -(-share).ln_1p() / hours;
    let longest = bucket.per_h;
    let shortest = longest.min(SHORT_RUN_H);
    let low = rate(bucket.low, longest);
    let high = match bucket.high {
        Some(high) if high < 1.0 => rate(high, shortest),
        _ => rate(bucket.low, shortest).max(MEASURED_HIGHEST_PER_H),
    };
    let least = match bucket.high {
        Some(share) if low <= 0.0 => rate(share.min(1.0) / 2.0, longest),
        _ => low,
    };
    HazardRange {
        low_per_h: low,
        middle_per_h: (least * high).sqrt(),
        high_per_h: high,
        exposure_h: (shortest, longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::About;

    #[test]
    fn the_same_words_mean_two_orders_of_magnitude() {
        let bucket = |low, high, per_h| Bucket {
            about: About::default(),
            low,
            high,
            per_h,
            saving: None,
        };
        let azure = hazard_of(&bucket(0.05, Some(0.20), 1.0));
        assert!((azure.low_per_h - 0.051).abs() < 5e-4 && (azure.high_per_h - 0.223).abs() < 5e-4);
        let aws = hazard_of(&bucket(0.05, Some(0.05), 720.0));
        assert!((aws.low_per_h - 0.00007).abs() < 5e-6 && (aws.high_per_h - 0.0103).abs() < 1e-4);
        let open = hazard_of(&bucket(0.20, None, 720.0));
        assert!((open.high_per_h - MEASURED_HIGHEST_PER_H).abs() < 1e-12);
        let none = hazard_of(&bucket(0.0, Some(0.05), 720.0));
        assert!(none.low_per_h == 0.0 && none.middle_per_h > 0.0);
    }

    #[test]
    fn a_worse_bucket_is_a_higher_rate() {
        // those of AWS and of Azure are the same shares, of a month and of an hour
        let buckets = [
            (0.0, Some(0.05)),
            (0.05, Some(0.10)),
            (0.10, Some(0.15)),
            (0.15, Some(0.20)),
            (0.20, None),
        ];
        for per_h in [720.0, 1.0] {
            let rates: Vec<HazardRange> = buckets
                .iter()
                .map(|&(low, high)| {
                    hazard_of(&Bucket {
                        about: About::default(),
                        low,
                        high,
                        per_h,
                        saving: None,
                    })
                })
                .collect();
            for (a, b) in rates.iter().zip(&rates[1..]) {
                assert!(
                    a.low_per_h < b.low_per_h && a.middle_per_h < b.middle_per_h,
                    "{rates:?}"
                );
                assert!(
                    a.high_per_h < b.high_per_h && b.middle_per_h < b.high_per_h,
                    "{rates:?}"
                );
            }
        }
    }
}
