//! The interval where losses are memoryless: the same rate 1/M at every age.
//!
//! With tau the interval, b the time that a save stops work, s its time in the background, R the time of a restart, a
//! life of a machine (mean M) makes the work of the k-th save safe when it reaches the age R + k (tau + b) + s. Its
//! mean, summed over k, is the safe work of a life, so that an hour of work takes
//!
//!     M e^((R + s)/M) (e^((tau + b)/M) - 1) / tau      hours, and   e^(s/M) / tau   uploads
//!
//! (without s: Daly, FGCS 22 (2006) 303, eq. 20, for a long job). s acts as a longer restart: it does not change the
//! best interval, and costs s/M of the time to first order (a loss takes tau/2 + s of work). The best interval is where
//! the derivative is 0, in closed form by Lambert's function; with a price u of an upload in hours of the machine:
//!
//!     tau = M (1 + W0(-(1 - u e^(-R/M)/M) e^(-1 - b/M)))   ~   sqrt(2 (b + u) M)

use super::{IntervalError, Saving, not_negative, positive};

/// Young's interval (CACM 17 (1974) 530): sqrt(2 b M), first order. `save_h`: hours that a save stops work, `mean_h`:
/// mean time between losses. 3 % more time than the best at b = M/3, .03 % at M/72.
///
/// # Errors
/// A figure is not a positive number.
pub fn young(save_h: f64, mean_h: f64) -> Result<f64, IntervalError> {
    positive("the time that a save stops work, in hours,", save_h)?;
    positive("the mean time between losses, in hours,", mean_h)?;
    Ok((2.0 * save_h * mean_h).sqrt())
}

/// Daly's interval (FGCS 22 (2006) 303, eq. 37): higher order, less than .01 % more time than the best; M where a save
/// takes 2 M or longer. Units as for [`young`].
///
/// # Errors
/// A figure is not a positive number.
pub fn daly(save_h: f64, mean_h: f64) -> Result<f64, IntervalError> {
    let first = young(save_h, mean_h)?;
    if save_h >= 2.0 * mean_h {
        return Ok(mean_h);
    }
    let x = save_h / (2.0 * mean_h);
    Ok(first * (1.0 + x.sqrt() / 3.0 + x / 9.0) - save_h)
}

/// Hours until `work_h` hours of work are done with memoryless losses (Daly, FGCS 22 (2006) 303, eq. 20):
/// M e^(R/M) (e^((tau + b)/M) - 1) W/tau.
///
/// # Errors
/// A figure is negative or no number, or the interval or M is 0.
pub fn wall_h(
    work_h: f64,
    interval_h: f64,
    save_h: f64,
    mean_h: f64,
    restart_h: f64,
) -> Result<f64, IntervalError> {
    not_negative("the work, in hours,", work_h)?;
    not_negative("the time that a save stops work, in hours,", save_h)?;
    positive("the interval, in hours,", interval_h)?;
    positive("the mean time between losses, in hours,", mean_h)?;
    not_negative("the time of a restart, in hours,", restart_h)?;
    let segment = ((interval_h + save_h) / mean_h).exp_m1();
    Ok(mean_h * (restart_h / mean_h).exp() * segment * work_h / interval_h)
}

impl Saving {
    /// The best interval for memoryless losses, one each `mean_h` hours on average: least cost (time and uploads), not
    /// below [`Saving::floor_h`].
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn interval_h(&self, mean_h: f64) -> Result<f64, IntervalError> {
        self.check()?;
        positive("the mean time between losses, in hours,", mean_h)?;
        let free = best(
            self.block_h,
            self.upload_h() * (-self.restart_h / mean_h).exp(),
            mean_h,
        );
        Ok(free.max(self.floor_h()))
    }

    /// Hours that the machine is paid for an hour of work, and uploads, with memoryless losses. `on_notice`: share of
    /// losses before which a save still succeeds.
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn hours_per_hour(
        &self,
        interval_h: f64,
        mean_h: f64,
        on_notice: f64,
    ) -> Result<(f64, f64), IntervalError> {
        self.check()?;
        positive("the interval, in hours,", interval_h)?;
        positive("the mean time between losses, in hours,", mean_h)?;
        if !(0.0..=1.0).contains(&on_notice) {
            return Err(IntervalError::Chance(on_notice));
        }
        let (m, period) = (mean_h, interval_h + self.block_h);
        let begun = (-self.restart_h / m).exp();
        // saves begun in a life; work safe by them; work done by the end of the life
        let uploads = begun / (period / m).exp_m1();
        let safe = interval_h * uploads * (-self.behind_h / m).exp();
        let done = begun * m * (-interval_h / m).exp_m1() / (-period / m).exp_m1();
        let work = (1.0 - on_notice) * safe + on_notice * done;
        Ok((m / work, uploads / work))
    }

    /// USD of an hour of work: machine and uploads.
    ///
    /// # Errors
    /// A figure is nonsense.
    pub fn usd_per_work_h(&self, interval_h: f64, mean_h: f64) -> Result<f64, IntervalError> {
        let (hours, uploads) = self.hours_per_hour(interval_h, mean_h, 0.0)?;
        Ok(hours * self.usd_per_h + uploads * self.upload_usd)
    }
}

/// Least of (M (e^((tau + b)/M) - 1) + u)/tau.
pub(super) fn best(block_h: f64, upload_h: f64, mean_h: f64) -> f64 {
    let (b, u) = (block_h / mean_h, upload_h / mean_h);
    // 1 + e z for the z of Lambert's function, without cancellation
    let above = u - (1.0 - u) * (-b).exp_m1();
    mean_h * one_plus_w0(above)
}

/// Lambert's function, principal branch: the w >= -1 with w e^w = `z`; not a number below -1/e. Corless et al., Adv.
/// Comput. Math. 5 (1996) 329.
pub fn lambert_w0(z: f64) -> f64 {
    let above = 1.0 + std::f64::consts::E * z;
    // -1/e itself is not a machine number
    if (-1e-15..0.0).contains(&above) {
        return -1.0;
    }
    one_plus_w0(above) - 1.0
}

/// 1 + W0(z) out of 1 + e z, which is exact near the branch point where z is not.
fn one_plus_w0(above: f64) -> f64 {
    if above.is_nan() || above < 0.0 {
        return f64::NAN;
    }
    let p = (2.0 * above).sqrt();
    let series =
        p * (1.0 - p * (1.0 / 3.0 - p * (11.0 / 72.0 - p * (43.0 / 540.0 - p * 769.0 / 17_280.0))));
    if p < 1e-2 {
        return series;
    }
    let z = (above - 1.0) / std::f64::consts::E;
    let mut w = match z {
        z if z < 0.0 => series.clamp(0.0, 1.0) - 1.0,
        z if z < 3.0 => z.ln_1p(),
        z => z.ln() - z.ln().ln(),
    };
    // Halley's steps
    for _ in 0..32 {
        let e = w.exp();
        let f = w * e - z;
        let step = f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
        w -= step;
        if step.abs() <= 1e-15 * (1.0 + w.abs()) {
            break;
        }
    }
    1.0 + w
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIVE_MINUTES: f64 = 5.0 / 60.0;

    /// Where a function with one bottom is least.
    fn least(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
        for _ in 0..200 {
            let third = (high - low) / 3.0;
            if f(low + third) < f(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        (low + high) / 2.0
    }

    #[test]
    fn dalys_own_figures() {
        for (mean_h, minutes) in [(24.0, 117.0), (6.0, 57.0)] {
            let tau = daly(FIVE_MINUTES, mean_h).expect("an interval") * 60.0;
            assert_eq!(tau.round(), minutes);
        }
        let tau = daly(FIVE_MINUTES, 0.25).expect("an interval") * 60.0;
        assert!((tau - 9.1).abs() < 0.05, "{tau}");
        assert_eq!(daly(3.0, 1.5), Ok(1.5));
    }

    #[test]
    fn young_is_worse_by_the_known_shares_and_daly_hardly() {
        for (ratio, percent) in [(1.0 / 72.0, 0.03), (1.0 / 3.0, 2.8), (0.6, 6.6)] {
            let wall = |tau: f64| wall_h(1.0, tau, ratio, 1.0, 0.0).expect("a time");
            let exact = wall(
                Saving::blocking(ratio)
                    .interval_h(1.0)
                    .expect("an interval"),
            );
            let worse = |tau: f64| (wall(tau) / exact - 1.0) * 100.0;
            let young = worse(young(ratio, 1.0).expect("an interval"));
            let digits = if percent < 0.1 { 0.005 } else { 0.05 };
            assert!((young - percent).abs() < digits, "{ratio}: {young} %");
            let daly = worse(daly(ratio, 1.0).expect("an interval"));
            assert!((0.0..0.01).contains(&daly), "{ratio}: {daly} %");
        }
    }

    #[test]
    fn lamberts_function_at_known_places() {
        for (z, w) in [
            (0.0, 0.0),
            (std::f64::consts::E, 1.0),
            (1.0, 0.567_143_290_409_783_8),
            (-0.2, -0.259_171_101_819_073_7),
            (-1.0 / std::f64::consts::E, -1.0),
            (1e6, 11.383_358_086_140_053),
        ] {
            assert!((lambert_w0(z) - w).abs() < 1e-9, "{z}: {}", lambert_w0(z));
        }
        assert!(lambert_w0(-0.4).is_nan());
    }

    #[test]
    fn saves_in_the_background_only_bound_the_interval() {
        let sync = Saving {
            restart_h: 0.2,
            ..Saving::blocking(0.01)
        };
        let behind = Saving {
            behind_h: 0.3,
            ..sync
        };
        let tau = sync.interval_h(6.0).expect("an interval");
        assert_eq!(behind.interval_h(6.0), Ok(tau));
        assert!((tau - (2.0 * 0.01f64 * 6.0).sqrt()).abs() < 0.03 * tau);
        let hours = |s: &Saving| s.hours_per_hour(tau, 6.0, 0.0).expect("hours").0;
        let more = hours(&behind) / hours(&sync);
        assert!((more - (0.3f64 / 6.0).exp()).abs() < 1e-12);
        // to first order: blocked + half an interval and the upload a loss
        let light = Saving {
            restart_h: 0.0,
            behind_h: 0.3,
            ..sync
        };
        let waste = light.hours_per_hour(tau, 600.0, 0.0).expect("hours").0 - 1.0;
        let first = 0.01 / tau + (tau / 2.0 + 0.3) / 600.0;
        assert!((waste / first - 1.0).abs() < 0.01, "{waste} {first}");
    }

    #[test]
    fn uploads_that_cost_are_rarer() {
        let saving = Saving {
            upload_usd: 0.25,
            usd_per_h: 3.06,
            restart_h: 0.1,
            ..Saving::blocking(0.02)
        };
        let tau = saving.interval_h(200.0).expect("an interval");
        let first = (2.0f64 * (0.02 + 0.25 / 3.06) * 200.0).sqrt();
        assert!((tau / first - 1.0).abs() < 0.03, "{tau} {first}");
        // an upload dearer than a whole life
        let dear = Saving {
            upload_usd: 90.0,
            ..saving
        };
        assert!(dear.interval_h(6.0).expect("an interval") > 6.0);
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_numeric_least(
            block in 1e-4f64..3.0, upload in prop_oneof![Just(0.0), 1e-3f64..30.0],
            mean in 0.05f64..800.0, restart in 0.0f64..1.0, behind in 0.0f64..0.01,
        ) {
            let saving = Saving {
                block_h: block, behind_h: behind, upload_usd: upload, usd_per_h: 2.0, restart_h: restart, least_h: 0.0,
            };
            prop_assume!(restart / mean < 20.0 && block / mean < 20.0);
            let tau = saving.interval_h(mean).expect("an interval");
            let cost = |t: f64| saving.usd_per_work_h(t, mean).expect("a cost");
            let numeric = least(tau / 20.0, 20.0 * tau, cost).max(saving.floor_h());
            prop_assert!(cost(tau) <= cost(numeric) * (1.0 + 1e-9));
            prop_assert!((tau / numeric - 1.0).abs() < 1e-3, "{} {}", tau, numeric);
            if upload == 0.0 {
                for other in [young(block, mean), daly(block, mean)] {
                    let other = other.expect("an interval").max(saving.floor_h());
                    prop_assert!(cost(tau) <= cost(other) * (1.0 + 1e-9));
                }
            }
        }
    }
}
