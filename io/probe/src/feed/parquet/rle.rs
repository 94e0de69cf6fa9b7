//! Parquet's mix of runs and packed bits, which holds levels and places in a dictionary.
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/>
//!
//! One value after the other, never expanded: a run may claim billions of values in three bytes.

pub(super) struct Rle<'a> {
    rest: &'a [u8],
    width: u32,
    run: Run,
}

enum Run {
    /// Values that are still to come.
    Same(u64, u32),
    /// Values that are still to come, and the bits from which the next one is taken.
    Packed { left: u64, bits: u64, have: u32 },
}

impl<'a> Rle<'a> {
    /// None: values wider than any place or level.
    pub(super) fn new(bytes: &'a [u8], width: u32) -> Option<Rle<'a>> {
        (width <= 32).then_some(Rle {
            rest: bytes,
            width,
            run: Run::Same(0, 0),
        })
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn next_run(&mut self) -> Option<()> {
        let mut head = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            head |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        self.run = match head & 1 {
            0 => {
                let mut value = 0;
                for i in 0..self.width.div_ceil(8) {
                    value |= u32::from(self.byte()?) << (8 * i);
                }
                Run::Same(head >> 1, value)
            }
            _ => Run::Packed {
                left: (head >> 1).saturating_mul(8),
                bits: 0,
                have: 0,
            },
        };
        Some(())
    }
}

impl Iterator for Rle<'_> {
    type Item = u32;

    /// None at the end of the bytes.
    fn next(&mut self) -> Option<u32> {
        if self.width == 0 {
            return Some(0);
        }
        loop {
            match &mut self.run {
                Run::Same(0, _) | Run::Packed { left: 0, .. } => {}
                Run::Same(left, value) => {
                    *left -= 1;
                    return Some(*value);
                }
                Run::Packed { left, bits, have } => {
                    while *have < self.width {
                        let (first, rest) = self.rest.split_first()?;
                        self.rest = rest;
                        *bits |= u64::from(*first) << *have;
                        *have += 8;
                    }
                    let value = *bits & ((1 << self.width) - 1);
                    *bits >>= self.width;
                    *have -= self.width;
                    *left -= 1;
                    return Some(value as u32);
                }
            }
            // an empty run needs a byte at least, so that this comes to an end
            self.next_run()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_bits() {
        // the example of the format's page: 0 to 7, three bits each; then five times 4
        let bytes = [0x03, 0x88, 0xC6, 0xFA, 0x0A, 0x04];
        let all: Vec<u32> = Rle::new(&bytes, 3).unwrap().collect();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 4, 4, 4, 4, 4]);
        let wide = [0x04, 0x01, 0x02, 0x03, 0x04];
        let all: Vec<u32> = Rle::new(&wide, 32).unwrap().collect();
        assert_eq!(all, [0x0403_0201; 2]);
        assert!(Rle::new(&[], 33).is_none());
        // nothing is expanded: a run without end is taken from as far as one likes
        let endless = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1];
        assert_eq!(Rle::new(&endless, 1).unwrap().take(1000).count(), 1000);
        assert_eq!(Rle::new(&[0, 0, 0, 0], 8).unwrap().count(), 0);
    }
}
