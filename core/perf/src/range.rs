//! How wide the range around a prediction is: from the residuals of the tier that the calibration
//! belongs to (`[range]` of `data/perf.toml`). A probe of the machine narrows it.

use crate::coefficients::Ranges;

/// How well the calibration fits the case; later variants are wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Calibrated,
    OtherGpu,
    Outside,
    Thin,
}

/// Factors on the prediction for its low and high end.
pub(crate) fn factors(class: Class, measured: bool, ranges: &Ranges) -> (f64, f64) {
    let [low, high] = match class {
        Class::Calibrated => ranges.calibrated,
        Class::OtherGpu => ranges.other_gpu,
        Class::Outside => ranges.outside,
        Class::Thin => ranges.thin,
    };
    if measured {
        let k = ranges.measured.clamp(0.0, 1.0);
        (1.0 - (1.0 - low) * k, 1.0 + (high - 1.0) * k)
    } else {
        (low, high)
    }
}
