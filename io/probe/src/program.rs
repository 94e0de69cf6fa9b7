//! What a program of the machine prints, within a time and a size: those that ask a driver can hang.

use std::io::{Error, ErrorKind, Read, Result};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(10);

/// What a program prints, whatever its status: an error that it prints is an answer too.
///
/// # Errors
/// It is not there, or it did not end in time.
pub(crate) fn output(
    program: &str,
    args: &[&str],
    patience: Duration,
    most: u64,
) -> Result<Vec<u8>> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let reader = child.stdout.take().map(|out| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.take(most).read_to_end(&mut bytes);
            bytes
        })
    });
    let deadline = Instant::now() + patience;
    let mut late = false;
    while let Ok(None) = child.try_wait() {
        if Instant::now() > deadline {
            late = true;
            let _ = child.kill();
            break;
        }
        std::thread::sleep(PAUSE);
    }
    let _ = child.wait();
    if late {
        // who holds the other end of its output may live on: it is not waited for
        return Err(Error::new(ErrorKind::TimedOut, "it did not end in time"));
    }
    Ok(reader.and_then(|r| r.join().ok()).unwrap_or_default())
}

/// `nvidia-smi -q` of this machine, to be read as if it had been pasted.
///
/// # Errors
/// There is no such program, or it hangs, as it does on a driver that does.
pub fn nvidia_smi() -> Result<Vec<u8>> {
    // a machine of sixteen GPUs takes seconds where persistence mode is off
    const PATIENCE: Duration = Duration::from_secs(90);
    let most = crate::read::MAX_INPUT_BYTES as u64 + 1;
    output("nvidia-smi", &["-q"], PATIENCE, most)
}
