//! SIGINT (Ctrl-C) and SIGTERM.
//!
//! The first one sets the [flag](plimsoll::model::interrupt) that every run checks. The second ends the process at once,
//! with exit code 128 plus the signal's number.

use plimsoll::model::interrupt;
use std::io;

/// What the first request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Sets the flag, so that the command ends with what it has.
    KeepsAnswers,
    /// Ends the process: for work that has no answer before its end.
    Ends,
}

/// Requests this soon after the first are the same one: `timeout` and shells send a signal to a process and again to
/// its group.
#[cfg(unix)]
const SAME: std::time::Duration = std::time::Duration::from_millis(200);

/// Listens to SIGINT and SIGTERM from now on, on a thread of its own. Before the process is ended, temporary files of
/// unfinished writes are removed.
///
/// # Errors
/// What the system reports where no handler can be installed or no thread started.
#[cfg(unix)]
pub fn listen(first: First) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let serve = move || {
        let mut since: Option<std::time::Instant> = None;
        for signal in signals.forever() {
            match since {
                None if first == First::KeepsAnswers => {
                    interrupt::request();
                    since = Some(std::time::Instant::now());
                }
                Some(since) if since.elapsed() < SAME => {}
                _ => {
                    plimsoll_model::files::remove_unfinished();
                    eprintln!("plimsoll: interrupted");
                    signal_hook::low_level::exit(128 + signal);
                }
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(serve).map(drop)
}

/// Does nothing: without Unix signals the system's own handling of Ctrl-C stays.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn listen(_: First) -> io::Result<()> {
    Ok(())
}
