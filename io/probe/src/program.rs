//! What a program of the machine prints, within a time and a size: those that ask a driver can hang.

use std::io::{Error, ErrorKind, Read, Result};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(10);
/// Longest wait for more of what an ended program wrote.
const REST: Duration = Duration::from_secs(2);
const PIECE: usize = 64 << 10;

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
    let (sender, pieces) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut out = out.take(most);
            let mut piece = vec![0; PIECE];
            while let Ok(n @ 1..) = out.read(&mut piece) {
                if sender.send(piece[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
    }
    let deadline = Instant::now() + patience;
    while let Ok(None) = child.try_wait() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::new(ErrorKind::TimedOut, "it did not end in time"));
        }
        std::thread::sleep(PAUSE);
    }
    // what it wrote is there; a program that it started may hold the other end, and is not waited for
    let mut bytes = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(REST) {
        bytes.extend(piece);
    }
    Ok(bytes)
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        let args = ["-c", "(sleep 20; echo late) & echo early"];
        let said = output("sh", &args, Duration::from_secs(60), 1000).unwrap();
        assert_eq!(said, b"early\n");
    }

    #[test]
    fn all_of_a_long_output_is_taken_and_no_more_than_was_asked_for() {
        let args = ["-c", "head -c 300000 /dev/zero; exit 3"];
        for (most, taken) in [(1_000_000, 300_000), (70_000, 70_000)] {
            let said = output("sh", &args, Duration::from_secs(60), most).unwrap();
            assert_eq!(said.len(), taken);
        }
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let hung = output("sleep", &["300"], Duration::from_millis(50), 10);
        assert_eq!(hung.unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
