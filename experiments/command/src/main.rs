//! The command `plimsoll`.

use std::process::ExitCode;

fn main() -> ExitCode {
    plimsoll_command::main()
}
