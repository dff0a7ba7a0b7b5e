//! `plimsoll completions` and `plimsoll man`: shell completions and manual pages.

use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use clap::Args;
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

impl Command for CompletionsArgs {
    const NAME: &str = "completions";
    const ABOUT: &str = "Print shell completions";
    const TASK: Task = Task::Reference;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll completions bash > plimsoll.bash",
            "Write completions for bash, to be loaded with `source`",
        ),
        (
            "plimsoll completions zsh > _plimsoll",
            "Write completions for zsh, to be placed in a folder of `fpath`",
        ),
    ];
    const MAIN: Main<Self> = |args, all| completions(args, all.declaration());
}

fn completions(args: &CompletionsArgs, mut command: clap::Command) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "plimsoll", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ANSWERED)
}

impl Command for ManArgs {
    const NAME: &str = "man";
    const ABOUT: &str = "Write manual pages, one per command";
    const TASK: Task = Task::Reference;
    const EXAMPLES: &[(&str, &str)] = &[
        ("plimsoll man share/man1", "Write all manual pages into a folder"),
        ("plimsoll man pages && ls pages/plimsoll-solve.1", "Find the page of a command"),
    ];
    const MAIN: Main<Self> = |args, all| manual(args, all.declaration());
}

fn manual(args: &ManArgs, command: clap::Command) -> Result<u8, Failure> {
    let folder = &args.folder;
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|error| Failure::input(format!("cannot write into {}: {error}", folder.display())))?;
    Ok(ANSWERED)
}
