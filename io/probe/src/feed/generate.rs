//! Pictures of our own where the user gives none: baseline JPEG, 4:4:4, gradients with grain, about the size and the decode
//! cost of a photograph. A small writer of our own: its Huffman tables are made up here, any decoder reads them from the
//! file. Not for pictures that anybody looks at.

use crate::scratch::ScratchDir;
use crate::step::Noise;
use std::f32::consts::PI;
use std::io;
use std::path::Path;

/// Different ones; the others repeat them.
const PICTURES: usize = 16;

/// Writes `count` pictures into a folder of our own below `parent`; fewer, but one, once `over` says so.
pub(super) fn folder(
    parent: &Path,
    count: usize,
    (width, height): (u16, u16),
    over: &dyn Fn() -> bool,
) -> io::Result<ScratchDir> {
    let dir = ScratchDir::create(parent)?;
    // encoding is ten times dearer than writing: a few pictures, each under many names
    let mut pictures: Vec<Vec<u8>> = Vec::new();
    for i in 0..count {
        if i > 0 && over() {
            break;
        }
        if i < PICTURES {
            pictures.push(jpeg(width, height, i as u64));
        }
        let Some(picture) = pictures.get(i % PICTURES) else {
            break;
        };
        if i == 0 {
            dir.room_for(count as u64 * picture.len() as u64)?;
        }
        std::fs::write(dir.path().join(format!("{i:06}.jpg")), picture)?;
    }
    dir.sync()?;
    Ok(dir)
}

/// A picture; the same for the same numbers.
pub fn jpeg(width: u16, height: u16, seed: u64) -> Vec<u8> {
    let mut out = vec![0xff, 0xd8];
    segment(&mut out, 0xdb, &{
        let mut t = vec![0];
        t.extend((0..64).map(|k| quantum(ZIGZAG[k])));
        t
    });
    let (h, w) = (height.to_be_bytes(), width.to_be_bytes());
    let mut frame = vec![8, h[0], h[1], w[0], w[1], 3];
    (1..=3).for_each(|c| frame.extend([c, 0x11, 0]));
    segment(&mut out, 0xc0, &frame);
    let (dc, ac) = (Codes::dc(), Codes::ac());
    segment(&mut out, 0xc4, &dc.table(0x00));
    segment(&mut out, 0xc4, &ac.table(0x10));
    segment(&mut out, 0xda, &[3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);

    let mut bits = Bits::default();
    let cosines = cosines();
    let mut noise = Noise::new(seed + 1);
    let mut last = [0i32; 3];
    for by in 0..u32::from(height).div_ceil(8) {
        for bx in 0..u32::from(width).div_ceil(8) {
            for (c, last) in last.iter_mut().enumerate() {
                let block = samples(bx * 8, by * 8, c, seed, &mut noise);
                encode(&transform(&block, &cosines), last, &dc, &ac, &mut bits);
            }
        }
    }
    out.extend(bits.finish());
    out.extend([0xff, 0xd9]);
    out
}

/// Brightness and colours, centred at 0.
fn samples(x0: u32, y0: u32, channel: usize, seed: u64, noise: &mut Noise) -> [f32; 64] {
    let phase = (seed % 97) as f32 * 0.13 + channel as f32 * 2.0;
    std::array::from_fn(|i| {
        let (x, y) = ((x0 + i as u32 % 8) as f32, (y0 + i as u32 / 8) as f32);
        let wave = 60.0 * (x * 0.011 + phase).sin() + 40.0 * (y * 0.017 - phase).cos();
        let edge = if (x * 0.05 + phase).sin() * (y * 0.04).cos() > 0.6 {
            25.0
        } else {
            0.0
        };
        let grain = noise.below(17) as f32 - 8.0;
        match channel {
            0 => wave + edge + grain,
            _ => wave * 0.3 + grain * 0.2,
        }
    })
}

fn segment(out: &mut Vec<u8>, marker: u8, body: &[u8]) {
    out.extend([0xff, marker]);
    out.extend((body.len() as u16 + 2).to_be_bytes());
    out.extend(body);
}

/// Coarser for finer detail.
fn quantum(place: usize) -> u8 {
    (4 + 2 * (place % 8 + place / 8)) as u8
}

/// Row-major places in the order in which they are written: along the anti-diagonals.
const ZIGZAG: [usize; 64] = {
    let mut order = [0; 64];
    let (mut x, mut y, mut k) = (0usize, 0usize, 0);
    while k < 64 {
        order[k] = y * 8 + x;
        k += 1;
        if (x + y) % 2 == 0 {
            if x == 7 {
                y += 1;
            } else if y == 0 {
                x += 1;
            } else {
                x += 1;
                y -= 1;
            }
        } else if y == 7 {
            x += 1;
        } else if x == 0 {
            y += 1;
        } else {
            x -= 1;
            y += 1;
        }
    }
    order
};

fn cosines() -> [[f32; 8]; 8] {
    std::array::from_fn(|u| {
        let scale = if u == 0 { 0.125f32.sqrt() } else { 0.5 };
        std::array::from_fn(|x| scale * ((2 * x + 1) as f32 * u as f32 * PI / 16.0).cos())
    })
}

/// Cosine transform, rows then columns, and division by the quanta; in writing order.
fn transform(block: &[f32; 64], cosines: &[[f32; 8]; 8]) -> [i32; 64] {
    let mut rows = [0f32; 64];
    for (i, to) in rows.iter_mut().enumerate() {
        let (y, u) = (i / 8, i % 8);
        *to = (0..8).map(|x| block[y * 8 + x] * cosines[u][x]).sum();
    }
    std::array::from_fn(|k| {
        let (v, u) = (ZIGZAG[k] / 8, ZIGZAG[k] % 8);
        let sum: f32 = (0..8).map(|y| rows[y * 8 + u] * cosines[v][y]).sum();
        (sum / f32::from(quantum(ZIGZAG[k]))).round() as i32
    })
}

fn encode(block: &[i32; 64], last: &mut i32, dc: &Codes, ac: &Codes, bits: &mut Bits) {
    let step = block[0] - *last;
    *last = block[0];
    let size = width_of(step);
    bits.code(dc, size);
    bits.value(step, size);
    let mut zeros = 0u8;
    for value in &block[1..] {
        if *value == 0 {
            zeros += 1;
            continue;
        }
        while zeros > 15 {
            bits.code(ac, 0xf0);
            zeros -= 16;
        }
        let size = width_of(*value);
        bits.code(ac, (zeros << 4) | size);
        bits.value(*value, size);
        zeros = 0;
    }
    if zeros > 0 {
        bits.code(ac, 0);
    }
}

fn width_of(value: i32) -> u8 {
    (32 - value.unsigned_abs().leading_zeros()) as u8
}

/// A Huffman table: symbols in order of their code's length.
struct Codes {
    counts: [u8; 16],
    symbols: Vec<u8>,
    /// Code and length by symbol.
    of: [(u16, u8); 256],
}

impl Codes {
    fn dc() -> Codes {
        Codes::new(&[(4, 12)], (0..12).collect())
    }

    /// Twelve codes of 4 bits for the most frequent, sixty of 8, and 13 bits for the rest.
    fn ac() -> Codes {
        let mut symbols = vec![0u8, 0xf0];
        symbols.extend((0..16u8).flat_map(|run| (1..=10u8).map(move |size| (run << 4) | size)));
        // short runs of small values are frequent
        symbols.sort_by_key(|s| match *s {
            0 => 0,
            0xf0 => 40,
            s => (s >> 4) * 2 + (s & 15) * 3,
        });
        Codes::new(&[(4, 12), (8, 60), (13, 90)], symbols)
    }

    fn new(lengths: &[(u8, u8)], symbols: Vec<u8>) -> Codes {
        let mut codes = Codes {
            counts: [0; 16],
            symbols,
            of: [(0, 0); 256],
        };
        let (mut code, mut length, mut at) = (0u16, 0u8, 0usize);
        for (bits, count) in lengths {
            code <<= bits - length;
            length = *bits;
            codes.counts[usize::from(length) - 1] = *count;
            for symbol in &codes.symbols[at..at + usize::from(*count)] {
                codes.of[usize::from(*symbol)] = (code, length);
                code += 1;
            }
            at += usize::from(*count);
        }
        codes
    }

    fn table(&self, class: u8) -> Vec<u8> {
        let mut body = vec![class];
        body.extend(self.counts);
        body.extend(&self.symbols);
        body
    }
}

#[derive(Default)]
struct Bits {
    out: Vec<u8>,
    held: u32,
    count: u8,
}

impl Bits {
    fn code(&mut self, codes: &Codes, symbol: u8) {
        let (code, length) = codes.of[usize::from(symbol)];
        self.push(u32::from(code), length);
    }

    /// A negative value is written as its ones' complement.
    fn value(&mut self, value: i32, size: u8) {
        let bits = if value < 0 { value - 1 } else { value };
        self.push(bits as u32 & ((1 << size) - 1), size);
    }

    fn push(&mut self, bits: u32, count: u8) {
        self.held = (self.held << count) | bits;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            let byte = (self.held >> self.count) as u8;
            self.out.push(byte);
            // 0xff begins a marker: a zero after it says that this one does not
            if byte == 0xff {
                self.out.push(0);
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.push(0x7f, 7);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::decode::{Bounds, Decoded, decode};

    #[test]
    fn pictures_decode_to_what_was_drawn() {
        let bytes = jpeg(50, 37, 3);
        let mut rgb = Vec::new();
        let decoded = decode(&bytes, true, &Bounds::default(), &mut rgb);
        assert_eq!(
            decoded,
            Ok(Decoded::Image {
                width: 50,
                height: 37
            })
        );
        assert_eq!(rgb.len(), 50 * 37 * 3);
        let spread = rgb.iter().max().unwrap() - rgb.iter().min().unwrap();
        assert!(spread > 60, "a picture, not a grey field: {spread}");
        assert_eq!(bytes, jpeg(50, 37, 3));
        assert_ne!(bytes, jpeg(50, 37, 4));
    }

    #[test]
    fn a_folder_of_them_is_gone_when_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let dir = folder(parent.path(), 20, (32, 32), &|| false).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 20);
        drop(dir);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
