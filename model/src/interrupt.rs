//! Process-wide stop requests: a flag that every run polls.
//!
//! [`Limits::budget`](crate::run::Limits::budget) passes the flag to every run. An algorithm then ends as at
//! a time limit, with its best answer and bound so far and [`Stop::Interrupted`](crate::Stop::Interrupted).
//! Loops over runs start no further run. The command sets the flag on Ctrl-C and SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag set by a request.
pub(crate) fn flag() -> Arc<AtomicBool> {
    Arc::clone(&REQUESTED)
}

/// Requests all runs of this process to stop.
pub fn request() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Returns true after the first request.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Yields items until the first request, for loops over runs.
pub fn until_requested<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().take_while(|_| !is_requested())
}
