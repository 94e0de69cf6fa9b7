//! Ctrl-C, SIGTERM and the end of the terminal: the first asks what runs to stop and to clean up, the second ends the program at once.

use lessee_model::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::sync::atomic::AtomicBool;

/// Set by the first signal. One for the process, because signals are.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// From now on a signal sets [`STOP`]; where that cannot be arranged, signals end the program as they do anyway.
pub fn listen() {
    // a file that may not grow further is an error of the write, and not the end of the program
    static TOO_LARGE: AtomicBool = AtomicBool::new(false);
    let _ = signal_hook::flag::register(SIGXFSZ, &TOO_LARGE);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // before the one that sets the flag: at the first signal it is not set yet
        let second = signal_hook::flag::register_conditional_shutdown(
            signal,
            Exit::CannotTell as i32,
            &STOP,
        );
        if second.is_ok() {
            let _ = signal_hook::flag::register(signal, &STOP);
        }
    }
}
