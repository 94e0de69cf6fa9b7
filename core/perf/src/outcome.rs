//! Puts a prediction together: range, terms for "why?", notes.

use crate::PerfContext;
use crate::range::{Class, factors};
use crate::step::Steps;
use lessee_model::{Basis, BoundBy, Derived, MemoryUse, Msg, Prediction, WorkUnit, perf::Layout};

/// Collects the terms of a derivation, and costs nothing when nobody asked.
pub(crate) struct Terms {
    list: Vec<Derived>,
    wanted: bool,
}

impl Terms {
    pub(crate) fn new(cx: PerfContext<'_>) -> Terms {
        Terms {
            list: Vec::new(),
            wanted: cx.detail,
        }
    }

    pub(crate) fn add(
        &mut self,
        name: &'static str,
        value: f64,
        unit: &'static str,
        basis: Basis,
        source: &str,
        formula: impl FnOnce() -> Msg,
    ) {
        if self.wanted {
            self.list.push(Derived {
                name,
                value,
                unit,
                formula: formula(),
                basis,
                source: source.to_owned(),
            });
        }
    }
}

/// A number of a formula with so many decimals.
pub(crate) fn fixed(x: f64, decimals: usize) -> String {
    format!("{x:.decimals$}")
}

/// A number of a formula as `1.234e12`.
pub(crate) fn power(x: f64) -> String {
    format!("{x:.3e}")
}

/// A speed before its range.
pub(crate) struct Outcome {
    pub(crate) unit: WorkUnit,
    pub(crate) per_second: f64,
    /// The same with the links at their worst and best.
    pub(crate) link_low: f64,
    pub(crate) link_high: f64,
    pub(crate) class: Class,
    /// Range of the fitted family behind it.
    pub(crate) fitted: Option<[f64; 2]>,
    pub(crate) measured: bool,
    pub(crate) bound_by: BoundBy,
    pub(crate) memory: MemoryUse,
    pub(crate) layout: Layout,
    pub(crate) terms: Terms,
    pub(crate) notes: Vec<Msg>,
    pub(crate) seconds_per_output_token: Option<f64>,
    /// Of a training: where the seconds of an optimizer step go.
    pub(crate) steps: Option<Steps>,
}

impl Outcome {
    /// Keeps every figure finite and positive and the range around its centre.
    pub(crate) fn finish(self, cx: PerfContext<'_>) -> Prediction {
        let (down, up) = factors(
            self.class,
            self.fitted,
            self.measured,
            &cx.tables.coefficients.range,
        );
        let sane = |x: f64| {
            if x.is_finite() {
                x.max(1e-300)
            } else {
                f64::MIN_POSITIVE
            }
        };
        let per_second = sane(self.per_second);
        let basis = if self.measured {
            Basis::Measured
        } else {
            Basis::Modelled
        };
        Prediction {
            unit: self.unit,
            per_second,
            low: sane(self.link_low.min(self.per_second) * down),
            high: sane(self.link_high.max(self.per_second) * up),
            bound_by: self.bound_by,
            memory: self.memory,
            layout: self.layout,
            terms: self.terms.list,
            notes: self.notes,
            basis,
            seconds_per_output_token: self.seconds_per_output_token,
        }
    }
}
