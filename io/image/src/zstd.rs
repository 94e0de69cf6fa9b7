//! zstd as a stream: one frame after another, as parallel packers write them, and frames to be skipped between and behind
//! them, in which some builders keep an index. The decoder is the crate `ruzstd`'s.

use crate::layers::{bad, filled};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::{self, Read};

/// Widest window that is accepted: what `zstd --long` writes by default.
const MAX_WINDOW: u64 = 128 << 20;
const MAGIC: u32 = 0xFD2F_B528;
/// Sixteen numbers, the last four bits free.
const SKIPPED: u32 = 0x184D_2A50;

pub(crate) struct Zstd<R: Read> {
    between: Option<R>,
    inside: Option<StreamingDecoder<Ahead<R>, FrameDecoder>>,
}

/// A stream of which the first bytes have been read.
struct Ahead<R> {
    head: [u8; 4],
    at: usize,
    inner: R,
}

impl<R: Read> Read for Ahead<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = &self.head[self.at..];
        if left.is_empty() {
            return self.inner.read(buf);
        }
        let n = left.len().min(buf.len());
        buf[..n].copy_from_slice(&left[..n]);
        self.at += n;
        Ok(n)
    }
}

impl<R: Read> Zstd<R> {
    pub(crate) fn new(inner: R) -> Zstd<R> {
        Zstd {
            between: Some(inner),
            inside: None,
        }
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(decoder) = &mut self.inside {
                let n = decoder.read(buf)?;
                if n > 0 || buf.is_empty() {
                    return Ok(n);
                }
                self.between = self.inside.take().map(|d| d.into_inner().inner);
            }
            let Some(mut inner) = self.between.take() else {
                return Ok(0);
            };
            let mut head = [0; 4];
            match filled(&mut inner, &mut head)? {
                0 => return Ok(0),
                4 => {}
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
            match u32::from_le_bytes(head) {
                MAGIC => {
                    let ahead = Ahead { head, at: 0, inner };
                    let open = StreamingDecoder::new_with_max_window_size(ahead, MAX_WINDOW);
                    self.inside = Some(open.map_err(|e| bad(&e.to_string()))?);
                }
                magic if magic & !0xF == SKIPPED => {
                    let mut length = [0; 4];
                    inner.read_exact(&mut length)?;
                    let length = u64::from(u32::from_le_bytes(length));
                    io::copy(&mut inner.by_ref().take(length), &mut io::sink())?;
                    self.between = Some(inner);
                }
                _ => return Err(bad("what follows is no zstd frame")),
            }
        }
    }
}
