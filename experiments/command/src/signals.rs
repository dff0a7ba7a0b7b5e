//! Handling of SIGINT (Ctrl-C) and SIGTERM.
//!
//! Under [`First::KeepsAnswers`], the first signal sets the [flag](plimsoll_support::interrupt) that every
//! run checks. Any other signal ends the process immediately, with exit code 128 plus the number of the
//! signal, unless it arrives very soon after the first.

#[cfg(unix)]
use plimsoll_support::interrupt;
use std::io;

/// The effect of the first signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Sets the flag, so that the command ends with its results so far.
    KeepsAnswers,
    /// Ends the process. Commands that have no partial results use this.
    Ends,
}

/// Signals that arrive this soon after the first are ignored, because `timeout` and shells signal a process
/// and then its group.
#[cfg(unix)]
const SAME: std::time::Duration = std::time::Duration::from_millis(200);

/// Starts a thread that handles SIGINT and SIGTERM. Before the thread ends the process, it removes the
/// temporary files of unfinished writes.
///
/// # Errors
/// Fails if the system cannot install a handler or start a thread.
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
                    plimsoll_support::files::remove_unfinished();
                    eprintln!("plimsoll: interrupted");
                    signal_hook::low_level::exit(128 + signal);
                }
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(serve).map(drop)
}

/// Does nothing: without Unix signals, the system handles Ctrl-C itself.
///
/// # Errors
/// Never fails.
#[cfg(not(unix))]
pub fn listen(_: First) -> io::Result<()> {
    Ok(())
}
