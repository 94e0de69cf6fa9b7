//! Random numbers that are the same for a seed on every machine: SplitMix64 (Steele, Lea, Flood 2014).

/// A stream of numbers; the seed is its first state.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly in 0..1, 1 not included.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential, of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Evenly in 0..`limit`, which is not 0. A remainder's bias of 2^-40 is of no matter here.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
