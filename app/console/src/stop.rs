//! Ctrl-C and SIGTERM: the first asks what runs to stop and to clean up, the second ends the program at once.

use lessee_model::Exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::AtomicBool;

/// Set by the first signal. One for the process, because signals are.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// From now on a signal sets [`STOP`]; where that cannot be arranged, signals end the program as they do anyway.
pub fn listen() {
    for signal in [SIGINT, SIGTERM] {
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
