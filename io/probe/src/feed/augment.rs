//! Pixels into what a model takes: resized with a triangle filter, normalised per channel, planes of 32-bit floats.
//!
//! Not a copy of any framework's recipe: whole-picture resize is the dearest common case, random crops cost less.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

// the customary means and deviations of ImageNet; their values do not change what it costs
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// A worker's own resizer with its buffers.
pub(super) struct Augment {
    side: u32,
    resizer: Resizer,
    small: Vec<u8>,
    tables: [[f32; 256]; 3],
}

impl Augment {
    pub(super) fn new(side: u32) -> Augment {
        let table = |c: usize| std::array::from_fn(|v| (v as f32 / 255.0 - MEAN[c]) / DEVIATION[c]);
        Augment {
            side,
            resizer: Resizer::new(),
            small: vec![0; side as usize * side as usize * 3],
            tables: [table(0), table(1), table(2)],
        }
    }

    /// RGB pixels to `side` x `side` planes, as little-endian floats into `out`.
    pub(super) fn image(
        &mut self,
        width: u32,
        height: u32,
        rgb: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let from = ImageRef::new(width, height, rgb, PixelType::U8x3).map_err(|e| e.to_string())?;
        let mut to = Image::from_slice_u8(self.side, self.side, &mut self.small, PixelType::U8x3)
            .map_err(|e| e.to_string())?;
        let how = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
        self.resizer
            .resize(&from, &mut to, &how)
            .map_err(|e| e.to_string())?;
        let plane = self.small.len() / 3;
        out.resize(plane * 12, 0);
        for (c, plane) in out.chunks_exact_mut(plane * 4).enumerate() {
            let values = self.small[c..].iter().step_by(3);
            for (to, value) in plane.chunks_exact_mut(4).zip(values) {
                to.copy_from_slice(&self.tables[c][usize::from(*value)].to_le_bytes());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_normalised() {
        let mut out = Vec::new();
        let rgb: Vec<u8> = [255, 0, 128].repeat(20 * 10);
        Augment::new(4).image(20, 10, &rgb, &mut out).unwrap();
        let at = |i: usize| f32::from_le_bytes([out[i], out[i + 1], out[i + 2], out[i + 3]]);
        assert_eq!(out.len(), 4 * 4 * 3 * 4);
        assert!((at(0) - (1.0 - 0.485) / 0.229).abs() < 1e-3);
        assert!((at(64) - (0.0 - 0.456) / 0.224).abs() < 1e-3);
        assert!(Augment::new(4).image(20, 10, &rgb[..5], &mut out).is_err());
    }
}
