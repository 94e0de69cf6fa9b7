//! One sample's bytes into pixels or numbers, told by content, never by name. Every size is checked before it is
//! allocated; whatever is wrong with a sample comes back as a sentence.
//!
//! Not here: resizing (`augment.rs`), reading (`pass.rs`). Start with [`decode`].

use super::npy;
use serde::Serialize;
use std::io::Cursor;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// What a hostile sample may cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounds {
    pub sample_bytes: u64,
    pub pixels: u64,
    pub side: u32,
}

impl Bounds {
    /// Of a page of a Parquet file, unpacked: it holds many samples or one large one.
    pub(super) fn page_bytes(&self) -> u64 {
        self.sample_bytes / 4
    }
}

impl Default for Bounds {
    fn default() -> Self {
        // the largest camera images; a decoder holds about ten bytes a pixel
        Bounds {
            sample_bytes: 256 << 20,
            pixels: 64_000_000,
            side: 16_384,
        }
    }
}

/// Progressive files that are decoded over and over are an attack, not a picture; cameras write about ten scans.
const SCANS_MAX: usize = 100;

/// What a sample turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// RGB, 8 bits, in the output buffer.
    Image { width: u32, height: u32 },
    /// 32-bit floats, little endian, in the output buffer.
    Array,
    /// Not decoded at all: the input is the sample.
    Bytes,
}

/// A picture as RGB, 8 bits, in `out`: width and height.
pub(crate) fn picture(
    bytes: &[u8],
    bounds: &Bounds,
    out: &mut Vec<u8>,
) -> Result<(u32, u32), String> {
    match decode(bytes, true, bounds, out)? {
        Decoded::Image { width, height } => Ok((width, height)),
        Decoded::Array | Decoded::Bytes => Err("no picture".to_owned()),
    }
}

/// Decodes into `out`. `image` says that the sample's name promises an image or an array, so that anything else is damage.
pub(super) fn decode(
    bytes: &[u8],
    promised: bool,
    bounds: &Bounds,
    out: &mut Vec<u8>,
) -> Result<Decoded, String> {
    if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        jpeg(bytes, bounds, out)
    } else if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        png(bytes, bounds, out)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        webp(bytes, bounds, out)
    } else if bytes.starts_with(b"\x93NUMPY") {
        npy::floats(bytes, out)?;
        Ok(Decoded::Array)
    } else if promised {
        Err("neither JPEG, PNG, WebP nor NumPy".to_owned())
    } else {
        Ok(Decoded::Bytes)
    }
}

/// Whether bytes begin as a picture or an array does.
pub(super) fn is_known(bytes: &[u8]) -> bool {
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let other: [&[u8]; 3] = [&[0xff, 0xd8, 0xff], b"\x89PNG\r\n\x1a\n", b"\x93NUMPY"];
    webp || other.iter().any(|start| bytes.starts_with(start))
}

fn within(bounds: &Bounds, width: u32, height: u32) -> Result<(), String> {
    let pixels = u64::from(width) * u64::from(height);
    if width == 0 || height == 0 {
        Err(format!("{width} x {height} pixels"))
    } else if pixels > bounds.pixels || width.max(height) > bounds.side {
        Err(format!(
            "{width} x {height} pixels are over the bound of {} in all and {} a side",
            bounds.pixels, bounds.side
        ))
    } else {
        Ok(())
    }
}

fn jpeg(bytes: &[u8], bounds: &Bounds, out: &mut Vec<u8>) -> Result<Decoded, String> {
    jpeg_is_whole(bytes)?;
    let options = DecoderOptions::default()
        .set_max_width(bounds.side as usize)
        .set_max_height(bounds.side as usize)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|e| e.to_string())?;
    let info = decoder.info().ok_or("no JPEG header")?;
    let (width, height) = (u32::from(info.width), u32::from(info.height));
    within(bounds, width, height)?;
    let size = decoder.output_buffer_size().ok_or("no output size")?;
    if size != width as usize * height as usize * 3 {
        return Err("colours that do not become RGB".to_owned());
    }
    out.resize(size, 0);
    decoder.decode_into(out).map_err(|e| e.to_string())?;
    Ok(Decoded::Image { width, height })
}

/// The end marker must come after the last scan: the decoder fills what is missing with grey, a trainer would refuse it.
fn jpeg_is_whole(bytes: &[u8]) -> Result<(), String> {
    let marker = |w: &[u8], code: u8| w[0] == 0xff && w[1] == code;
    let last = bytes
        .windows(2)
        .rev()
        .find(|w| marker(w, 0xd9) || marker(w, 0xda));
    if !last.is_some_and(|w| marker(w, 0xd9)) {
        return Err("cut off: no end of image".to_owned());
    }
    let mut at = 2;
    while let Some(&[0xff, code, high, low]) = bytes.get(at..at + 4) {
        match code {
            // a progressive frame: count its scans
            0xc2 => {
                let scans = bytes.windows(2).filter(|w| marker(w, 0xda)).count();
                return match scans > SCANS_MAX {
                    true => Err(format!("{scans} scans are over the bound of {SCANS_MAX}")),
                    false => Ok(()),
                };
            }
            0xda => break,
            0xff => at += 1,
            _ => at += 2 + usize::from(u16::from_be_bytes([high, low])),
        }
    }
    Ok(())
}

fn png(bytes: &[u8], bounds: &Bounds, out: &mut Vec<u8>) -> Result<Decoded, String> {
    // eight bytes a pixel: sixteen bits of four channels
    let limits = png::Limits {
        bytes: usize::try_from(bounds.pixels.saturating_mul(8)).unwrap_or(usize::MAX),
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let (width, height) = (reader.info().width, reader.info().height);
    within(bounds, width, height)?;
    let size = reader.output_buffer_size().ok_or("no output size")?;
    out.resize(size, 0);
    let frame = reader.next_frame(out).map_err(|e| e.to_string())?;
    if frame.width != width || frame.height != height {
        return Err("the first frame is not the whole picture".to_owned());
    }
    out.truncate(frame.buffer_size());
    to_rgb(out, frame.color_type.samples());
    Ok(Decoded::Image { width, height })
}

fn webp(bytes: &[u8], bounds: &Bounds, out: &mut Vec<u8>) -> Result<Decoded, String> {
    let mut decoder =
        image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let (width, height) = decoder.dimensions();
    within(bounds, width, height)?;
    decoder.set_memory_limit(usize::try_from(bounds.pixels * 8).unwrap_or(usize::MAX));
    let size = decoder.output_buffer_size().ok_or("no output size")?;
    out.resize(size, 0);
    decoder.read_image(out).map_err(|e| e.to_string())?;
    to_rgb(out, if decoder.has_alpha() { 4 } else { 3 });
    Ok(Decoded::Image { width, height })
}

/// Grey becomes three equal channels, alpha is dropped, as image loaders of trainers do.
fn to_rgb(pixels: &mut Vec<u8>, channels: usize) {
    match channels {
        1 | 2 => {
            let grey = pixels.chunks_exact(channels).flat_map(|p| [p[0]; 3]);
            *pixels = grey.collect();
        }
        4 => {
            let count = pixels.len() / 4;
            for i in 0..count {
                pixels.copy_within(i * 4..i * 4 + 3, i * 3);
            }
            pixels.truncate(count * 3);
        }
        _ => {}
    }
}
