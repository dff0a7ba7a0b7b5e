//! Process-wide stop requests, implemented as a flag that every run polls.
//!
//! Every budget of a run polls the flag. When the flag is set, an algorithm ends as at a time limit: it
//! returns its best answer and bound so far, and its termination reason is the interrupt. Loops over runs
//! start no further run. The command-line program `plimsoll` sets the flag on Ctrl-C and SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Returns the flag that a request sets.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&REQUESTED)
}

/// Requests that all runs of this process stop.
pub fn request() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Withdraws the request. A process that starts further runs calls this function after the stopped runs have
/// ended.
pub fn withdraw() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Returns true if a stop was requested.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Yields items until a stop is requested. Use this function for loops over runs.
pub fn until_requested<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().take_while(|_| !is_requested())
}
