//! How much longer one GPU takes than another for networks that are neither language models nor rendering.
//!
//! ```text
//! time = (tensor F0 / F + bytes B0 / B + V0 / V) / (tensor + bytes + 1)
//! ```
//!
//! F: dense matrix rate of the number format, B: memory bandwidth, V: rate of the vector units; 0: the reference
//! GPU, on which the time is 1. The three follow each other, layer by layer, hence a sum and not a maximum:
//! convolutions and matrix products run on the matrix units, large element-wise layers stream memory, and many small
//! kernels (normalisation, indexing, launches that do not fill the GPU) run at the pace of the multiprocessors.
//! Weights are those of a kind of network ([`Mix`]), fitted by the families that use them.
//!
//! What it is: an own formula. What it is not: a kernel model; a kind of network has one mix for all its members.

use serde::Deserialize;

/// What a GPU offers, or the reference GPU does.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct Chip {
    /// Dense matrix rate, FLOP/s. For work in 8 bit, half of the 8-bit rate: formats compare by what the reference
    /// runs the work in.
    pub(crate) tensor: f64,
    /// byte/s
    pub(crate) bandwidth: f64,
    /// Vector units, FLOP/s of FP32, without a second pipe that only some instructions can use.
    pub(crate) vector: f64,
    /// Power limit, W.
    pub(crate) watt: f64,
    /// Memory, bytes.
    pub(crate) memory: f64,
}

/// Weights of matrix products and of memory traffic on the reference GPU; the vector units' weight is 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct Mix {
    pub(crate) tensor: f64,
    pub(crate) bytes: f64,
}

impl Chip {
    /// Time relative to `reference`. `width`: bytes of a value over those that the mix was fitted for.
    pub(crate) fn time(&self, reference: &Chip, mix: Mix, width: f64) -> f64 {
        let tensor = mix.tensor * reference.tensor / self.tensor;
        let bytes = mix.bytes * width * reference.bandwidth / self.bandwidth;
        (tensor + bytes + reference.vector / self.vector) / (mix.tensor + mix.bytes + 1.0)
    }

    /// The rate that the matrix units keep up under the board's power limit, which is what holds their clocks down;
    /// memory and vector units are left alone. Without a power limit in the data sheet the rate stays.
    pub(crate) fn under_power(self, reference: &Chip, exponent: f64) -> Chip {
        let share = (self.watt / reference.watt).powf(exponent);
        let kept = if share.is_finite() && share > 0.0 {
            share
        } else {
            1.0
        };
        Chip {
            tensor: self.tensor * kept,
            ..self
        }
    }

    /// A slice that has this share of everything but the power limit.
    pub(crate) fn slice(self, share: f64) -> Chip {
        Chip {
            tensor: self.tensor * share,
            bandwidth: self.bandwidth * share,
            vector: self.vector * share,
            memory: self.memory * share,
            ..self
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The data sheet of an A100 with 80 GB.
    pub(crate) const A100: Chip = Chip {
        tensor: 312e12,
        bandwidth: 2039e9,
        vector: 19.5e12,
        watt: 400.0,
        memory: 80e9,
    };

    #[test]
    fn the_reference_takes_one_and_each_limit_counts_by_its_weight() {
        let mix = Mix {
            tensor: 1.0,
            bytes: 2.0,
        };
        assert!((A100.time(&A100, mix, 1.0) - 1.0).abs() < 1e-12);
        // matrix units twice as fast: (0.5 + 2 + 1) / 4
        let faster = Chip {
            tensor: 624e12,
            ..A100
        };
        assert!((faster.time(&A100, mix, 1.0) - 0.875).abs() < 1e-12);
        // half the bandwidth: (1 + 4 + 1) / 4, as is twice the width
        let slower = Chip {
            bandwidth: 1019.5e9,
            ..A100
        };
        assert!((slower.time(&A100, mix, 1.0) - 1.5).abs() < 1e-12);
        assert!((A100.time(&A100, mix, 2.0) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn less_power_slows_the_matrix_units_alone() {
        let quarter = Chip {
            watt: 100.0,
            ..A100
        };
        let kept = quarter.under_power(&A100, 0.5);
        assert!((kept.tensor / A100.tensor - 0.5).abs() < 1e-12);
        assert_eq!(kept.bandwidth, A100.bandwidth);
        let unknown = Chip {
            watt: f64::NAN,
            ..A100
        };
        assert_eq!(unknown.under_power(&A100, 0.5).tensor, A100.tensor);
    }

    #[test]
    fn a_slice_is_slower_by_its_share() {
        let mix = Mix {
            tensor: 0.3,
            bytes: 1.5,
        };
        let seventh = A100.slice(1.0 / 7.0);
        assert!((seventh.time(&A100, mix, 1.0) - 7.0).abs() < 1e-9);
        assert_eq!(seventh.watt, A100.watt);
    }
}
