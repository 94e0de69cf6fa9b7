//! Screenshots of a terminal with `nvidia-smi` in it: PNG or JPEG, read by `tesseract` where it is installed.
//!
//! Each picture is read twice, prepared in two ways, so that a letter that is read wrong once can be seen. [`fields`] takes
//! what matters out of the text; whether it agrees with itself is checked in `core/accept`. Not here: judging.

mod fields;
mod prepare;

pub use fields::{Shot, ShotGpu};

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Longest time that one reading may take. A full screen takes seconds.
const MAX_TIME: Duration = Duration::from_secs(120);
/// Longest text that is taken from one reading, in bytes.
const MAX_TEXT: u64 = 4 << 20;
/// How often a running reader is looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// Why a screenshot could not be read.
#[derive(Debug, Error)]
pub enum ScreenError {
    #[error("tesseract is not installed")]
    NoReader,
    #[error("not a picture that can be read: {0}")]
    Picture(String),
    #[error("tesseract took longer than {} s", MAX_TIME.as_secs())]
    Slow,
    #[error("tesseract failed: {0}")]
    Reader(String),
}

/// Whether the bytes begin as a PNG or a JPEG.
pub fn is_picture(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") || bytes.starts_with(&[0xff, 0xd8, 0xff])
}

/// Two readings of one picture.
///
/// # Errors
/// There is no reader, it fails, or the picture is none.
pub fn read(bytes: &[u8]) -> Result<(Shot, Shot), ScreenError> {
    let (first, second) = prepare::twice(bytes).map_err(ScreenError::Picture)?;
    // both at once: a reader takes one core, and seconds
    let other = thread::spawn(move || text(&second));
    let first = text(&first);
    let second = other
        .join()
        .map_err(|_| ScreenError::Reader(String::new()))?;
    Ok((fields::read(&first?), fields::read(&second?)))
}

/// The text of a picture.
fn text(picture: &[u8]) -> Result<String, ScreenError> {
    let mut child = Command::new("tesseract")
        // one block of text in lines, with its spaces
        .args(["-", "-", "--psm", "6", "-l", "eng"])
        .args(["-c", "preserve_interword_spaces=1"])
        .env("OMP_THREAD_LIMIT", "1")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => ScreenError::NoReader,
            _ => ScreenError::Reader(e.to_string()),
        })?;
    let picture = picture.to_vec();
    let input = child.stdin.take();
    // it may end before it has read all; then this ends with it
    let writer = thread::spawn(move || input.map(|mut i| i.write_all(&picture)));
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(pipe) = pipe {
                let _ = pipe.take(MAX_TEXT).read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(
        child
            .stdout
            .take()
            .map(|p| Box::new(p) as Box<dyn Read + Send>),
    );
    let errors = reader(
        child
            .stderr
            .take()
            .map(|p| Box::new(p) as Box<dyn Read + Send>),
    );
    let ended = wait(&mut child);
    let _ = writer.join();
    let (text, said) = (
        out.join().unwrap_or_default(),
        errors.join().unwrap_or_default(),
    );
    match ended? {
        true => Ok(text),
        false => {
            let first = said
                .lines()
                .next()
                .unwrap_or("")
                .chars()
                .take(200)
                .collect();
            Err(ScreenError::Reader(first))
        }
    }
}

/// Waits for the end, and ends what does not.
fn wait(child: &mut Child) -> Result<bool, ScreenError> {
    let until = Instant::now() + MAX_TIME;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < until => thread::sleep(PAUSE),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(ScreenError::Slow);
            }
            Err(e) => return Err(ScreenError::Reader(e.to_string())),
        }
    }
}
