//! The command `plimsoll`.

// A browser runs only the commands that the page needs.
#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports))]

mod args;
mod cli;
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

use std::process::ExitCode;

fn main() -> ExitCode {
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
    // A panic is a defect. The user gets a one-line message instead of a backtrace.
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(cli::main) {
        Ok(code) => code,
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            output::complain(&format!("internal error: {text}"));
            failure::INTERNAL
        }
    }
}
