//! `plimsoll completions` and `plimsoll man`: shell completions and manual pages.

use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use clap::{Args, Command};
use clap_complete::Shell;
use std::fs;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// Shell to write completions for
    shell: Shell,
}

#[derive(Args, Debug)]
pub struct ManArgs {
    /// Write plimsoll.1 and a page per command into this folder, created if missing
    #[arg(value_name = "DIR", value_parser = format::folder())]
    folder: PathBuf,
}

pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "plimsoll", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ANSWERED)
}

pub fn manual(args: &ManArgs, command: Command) -> Result<u8, Failure> {
    let folder = &args.folder;
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|error| Failure::input(format!("cannot write into {}: {error}", folder.display())))?;
    Ok(ANSWERED)
}
