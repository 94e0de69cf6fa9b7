//! Ctrl-C and the polite kill: a flag that whoever runs long looks at, so that what was measured is still told.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set from the first signal on.
pub(crate) fn on_signals() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // somebody else's handler is in the way: then a signal ends the process, as it did before
        let _ = ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed));
    });
    &STOP
}
