//! The ordinary clients that download: `curl` for files, `pip` for packages. Each is a process of its own, without a shell.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where public files of repositories there can be had one by one: then follow repository, commit and path.
pub(super) const RAW: &str = "https://raw.githubusercontent.com";

/// Why nothing came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The host, or the way there: nothing else from there will come either.
    Unreachable(String),
    /// What came ended early, and can be continued.
    Torn(String),
    /// The host cannot begin in the middle.
    NotResumable,
    /// The host has no such file, or will not give it.
    Refused(String),
    /// The client itself is missing or broken.
    Client(String),
}

/// Downloads a file by `curl`, behind what is there of it already.
pub(super) fn file(address: &str, to: &Path) -> Result<(), Why> {
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--silent", "--show-error", "--location", "--proto", "=http,https"]);
    curl.args(["--connect-timeout", "20", "--speed-limit", "100", "--speed-time", "60"]);
    curl.args(["--max-filesize", "2147483648", "--continue-at", "-", "--output"])
        .arg(to)
        .arg("--url")
        .arg(address);
    let (code, said) = run(&mut curl).map_err(|error| Why::Client(format!("curl: {error}")))?;
    // The numbers are in curl's manual, section exit codes.
    match code {
        Some(0) => Ok(()),
        Some(5 | 6 | 7 | 28 | 35 | 52 | 60 | 97) => Err(Why::Unreachable(said)),
        Some(18 | 56) => Err(Why::Torn(said)),
        Some(33) => Err(Why::NotResumable),
        // 416: there is nothing behind what is there.
        Some(22) if said.contains("416") => Err(Why::NotResumable),
        Some(3 | 22 | 63) => Err(Why::Refused(said)),
        _ => Err(Why::Client(said)),
    }
}

/// Downloads an archive of a package by `pip` and takes it apart below `to`.
pub(super) fn package(requirement: &str, to: &Path) -> Result<(), Why> {
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--retries",
        "1",
    ]);
    pip.args(["--no-deps", "--only-binary", ":all:", "--dest"]).arg(to).arg(requirement);
    match run(&mut pip).map_err(|error| Why::Client(format!("python3: {error}")))? {
        (Some(0), _) => {}
        (_, said) if said.contains("No module named pip") => return Err(Why::Client(said)),
        (_, said) => return Err(Why::Unreachable(said)),
    }
    let broken = |error: &dyn std::fmt::Display| Why::Client(error.to_string());
    for entry in std::fs::read_dir(to).map_err(|error| broken(&error))? {
        let archive = entry.map_err(|error| broken(&error))?.path();
        if !archive.is_file() {
            continue;
        }
        let mut unpack = Command::new("python3");
        unpack.args(["-m", "zipfile", "-e"]).arg(&archive).arg(to);
        let (code, said) = run(&mut unpack).map_err(|error| broken(&error))?;
        if code != Some(0) {
            return Err(Why::Client(said));
        }
    }
    Ok(())
}

/// Its exit code, and the last line it said on standard error.
fn run(command: &mut Command) -> io::Result<(Option<i32>, String)> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.unwrap_or("it said nothing").chars().take(300).collect();
    Ok((output.status.code(), last))
}
