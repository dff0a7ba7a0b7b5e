//! The command `plimsoll`.

mod cli;
mod commands;
mod failure;
mod format;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A panic is a defect of the program; whoever runs it gets one line that says so, not a trace.
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(cli::main) {
        Ok(code) => ExitCode::from(code),
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            output::complain(&format!("internal error: {text}"));
            ExitCode::from(failure::INTERNAL)
        }
    }
}
