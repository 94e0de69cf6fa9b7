//! A screenshot made ready for reading: grey, dark letters on light ground, large enough. Two sizes, so that what is read
//! wrong in one of them is likely to be read otherwise in the other.

use crate::feed::{Bounds, decode};
use fast_image_resize::images::Image;
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

/// Largest picture, in pixels: four 4K screens.
const BOUNDS: Bounds = Bounds {
    sample_bytes: 16 << 20,
    pixels: 34_000_000,
    side: 16_384,
};
/// Width that the first picture is brought to, in pixels: about 20 a column of the table, which the reader likes best.
const WIDTH: f64 = 1800.0;
/// A screen is never made smaller, and a small one not more than so many times as large.
const MOST_TIMES: f64 = 3.0;
/// How much larger the second picture is than the first.
const SECOND: f64 = 1.4;
/// Widest picture that is made, in pixels; the reader's time grows with the area.
const MAX_WIDTH: f64 = 4800.0;
/// Smallest side that can hold a line of text.
const MIN_SIDE: u32 = 16;

/// Two pictures as PNG.
pub(super) fn twice(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
    let mut rgb = Vec::new();
    let (width, height) = decode::picture(bytes, &BOUNDS, &mut rgb)?;
    if width < MIN_SIDE || height < MIN_SIDE {
        return Err(format!("{width}x{height} pixels"));
    }
    let mut grey: Vec<u8> = rgb
        .chunks_exact(3)
        .map(|p| {
            // Rec. 601 luma
            let sum = 299 * u32::from(p[0]) + 587 * u32::from(p[1]) + 114 * u32::from(p[2]);
            (sum / 1000) as u8
        })
        .collect();
    let sum: u64 = grey.iter().map(|g| u64::from(*g)).sum();
    if sum < 128 * grey.len() as u64 {
        grey.iter_mut().for_each(|g| *g = 255 - *g);
    }
    let source =
        Image::from_vec_u8(width, height, grey, PixelType::U8).map_err(|e| e.to_string())?;
    let width = f64::from(width);
    let first = (WIDTH / width).clamp(1.0, MOST_TIMES);
    let second = (first * SECOND).min((MAX_WIDTH / width).max(1.0));
    // the widest are made smaller instead: two equal pictures would be read equally wrong
    let second = if second > first {
        second
    } else {
        first / SECOND
    };
    Ok((scaled(&source, first)?, scaled(&source, second)?))
}

fn scaled(source: &Image<'_>, times: f64) -> Result<Vec<u8>, String> {
    let side = |n: u32| (f64::from(n) * times).round() as u32;
    let (width, height) = (side(source.width()), side(source.height()));
    let mut out = Image::new(width, height, PixelType::U8);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
    Resizer::new()
        .resize(source, &mut out, &options)
        .map_err(|e| e.to_string())?;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
    writer
        .write_image_data(out.buffer())
        .map_err(|e| e.to_string())?;
    writer.finish().map_err(|e| e.to_string())?;
    Ok(file)
}
