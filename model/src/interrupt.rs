//! Requests to stop from outside: a flag that every run checks.
//!
//! [`Limits::budget`](crate::run::Limits::budget) hands the flag to every run, so an algorithm ends as at a time limit,
//! with its best answer and bound so far and [`Stop::Interrupted`](crate::Stop::Interrupted); loops over runs start no
//! further run. The command sets it on Ctrl-C and SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag that a request sets.
pub(crate) fn flag() -> Arc<AtomicBool> {
    Arc::clone(&REQUESTED)
}

/// Requests all runs of this process to stop.
pub fn request() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// True after the first request.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The items until the first request: for loops over runs.
pub fn until_requested<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().take_while(|_| !is_requested())
}
