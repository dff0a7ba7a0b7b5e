//! The command `plimsoll`. Programs with algorithms of their own call [`main`], too.

// A build for browsers excludes several commands, so parts of the code are unused there.
#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports))]

mod args;
mod cli;
mod command;
mod commands;
mod digest;
mod failure;
mod format;
mod help;
mod input;
mod output;
mod png;
mod progress;
mod report;
mod signals;

use plimsoll_support::panics::{panic_message, record_panics};
use std::process::ExitCode;

/// Runs the command with the arguments of this process, and returns its exit code. Every algorithm of
/// [`plimsoll::registry()`] is available, also those that the program added with
/// [`Registry::install`](plimsoll::Registry::install). If a command needs worker processes, as `sweep` does, it
/// starts the executable of this process.
pub fn main() -> ExitCode {
    let code = run();
    if plimsoll::solvers::abandoned() > 0 {
        leave(code);
    }
    ExitCode::from(code)
}

/// Ends the process without running exit handlers, because they would destroy data that an abandoned solver
/// thread may still use.
#[cfg(unix)]
fn leave(code: u8) {
    // The command has already written and flushed its output.
    signal_hook::low_level::exit(i32::from(code));
}

/// Does nothing: other systems end all threads before they run exit handlers.
#[cfg(not(unix))]
fn leave(_: u8) {}

fn run() -> u8 {
    // A panic is a defect. The user gets one line with its message and its place instead of a backtrace.
    record_panics();
    std::panic::catch_unwind(cli::main).unwrap_or_else(|payload| {
        output::complain(&format!("internal error: {}", panic_message(&*payload)));
        failure::INTERNAL
    })
}
