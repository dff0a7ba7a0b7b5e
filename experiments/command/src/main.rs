//! The command `plimsoll`.

mod args;
mod cli;
mod commands;
mod digest;
mod failure;
mod format;
mod output;
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

/// Ends the process without exit handlers: a solver that was left behind still computes with what they would destroy.
#[cfg(unix)]
fn leave(code: u8) {
    // Whatever is buffered was written and flushed by the command.
    signal_hook::low_level::exit(i32::from(code));
}

/// Other systems end all threads before anything else.
#[cfg(not(unix))]
fn leave(_: u8) {}

fn run() -> u8 {
    // A panic is a defect of the program; whoever runs it gets one line that says so, not a trace.
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
