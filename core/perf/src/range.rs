//! How wide the range around a prediction is: from the residuals of the tier that the calibration
//! belongs to (`[range]` of `data/perf.toml`). A probe of the machine narrows it.

use crate::coefficients::Ranges;

/// How well the calibration fits the case; later variants are wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Calibrated,
    Outside,
    Thin,
}

/// Factors on the prediction for its low and high end. `fitted`: those of the fitted family, whose residuals say
/// more than a class; the class still widens them where the job leaves what was fitted.
pub(crate) fn factors(
    class: Class,
    fitted: Option<[f64; 2]>,
    measured: bool,
    ranges: &Ranges,
) -> (f64, f64) {
    let of_class = match class {
        Class::Calibrated => ranges.calibrated,
        Class::Outside => ranges.outside,
        Class::Thin => ranges.thin,
    };
    let [low, high] = match fitted {
        Some(own) if class == Class::Calibrated => own,
        Some(own) => [own[0].min(of_class[0]), own[1].max(of_class[1])],
        None => of_class,
    };
    if measured {
        let k = ranges.measured.clamp(0.0, 1.0);
        (1.0 - (1.0 - low) * k, 1.0 + (high - 1.0) * k)
    } else {
        (low, high)
    }
}
