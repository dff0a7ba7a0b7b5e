//! Requests to stop from outside the process: SIGINT (Ctrl-C) and SIGTERM.
//!
//! The first request sets a flag. [`Limits::budget`](crate::run::Limits::budget) hands the flag to every run, so an
//! algorithm ends as at a time limit, with its best answer and bound so far and [`Stop::Interrupted`]; loops over runs
//! start no further run. The second request ends the process at once, with exit code 128 plus the signal's number.
//!
//! Nothing changes before [`listen`] is called: a library user's own handlers stay as they are.
//!
//! [`Stop::Interrupted`]: plimsoll_model::Stop::Interrupted

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag that a request sets.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&REQUESTED)
}

/// True after the first request.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The items until the first request: for loops over runs.
pub fn until_requested<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().take_while(|_| !is_requested())
}

/// Listens to SIGINT and SIGTERM from now on.
///
/// # Errors
/// What the system reports where a handler cannot be installed.
#[cfg(unix)]
pub fn listen() -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset, the second ends the process.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&REQUESTED))?;
        flag::register(signal, Arc::clone(&REQUESTED))?;
    }
    Ok(())
}

/// Ends the process on the first SIGINT or SIGTERM, with exit code 128 plus the signal's number: for work that has no
/// answer before its end. Temporary files of unfinished writes are removed.
///
/// # Errors
/// What the system reports where a handler cannot be installed.
#[cfg(unix)]
pub fn end_without_answer() -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            plimsoll_model::files::remove_unfinished();
            eprintln!("plimsoll: interrupted");
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Does nothing: without Unix signals the system's own handling of Ctrl-C stays.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn listen() -> io::Result<()> {
    Ok(())
}

/// The same.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn end_without_answer() -> io::Result<()> {
    Ok(())
}
