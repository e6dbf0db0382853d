//! Signals that ask a run to stop.

use crate::progress::Progress;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// After so long it is said what an interruption waits for.
const PATIENCE: Duration = Duration::from_millis(250);

/// The first signal that asks the run to stop, or 0; the second ends the process at once.
pub fn on_interrupt(progress: &Progress) -> Arc<AtomicUsize> {
    let (asked, which) = (Arc::new(AtomicBool::new(false)), Arc::default());
    for signal in [SIGINT, SIGTERM] {
        // Where signals cannot be caught they end the process, and its last checkpoint stays.
        let _ = register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked));
        let _ = register(signal, Arc::clone(&asked));
        let _ = register_usize(signal, Arc::clone(&which), signal as usize);
    }
    // Most programs end sooner than anybody wonders. Without the thread it is only not said.
    let note = progress.note();
    let _ = thread::Builder::new().spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            thread::sleep(PATIENCE);
        }
        thread::sleep(PATIENCE);
        note("the run ends when the program that the device is running does; interrupt it again to end at once");
    });
    which
}
