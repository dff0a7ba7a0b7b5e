//! Download clients: `curl` for files and `pip` for packages, each run as a process without a shell.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Base address of files in public repositories. The repository, the commit and the path of a file are
/// appended to it.
pub(super) const RAW: &str = "https://raw.githubusercontent.com";

/// The reason why a download failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The host cannot be reached, so its other files fail too.
    Unreachable(String),
    /// The transfer ended early and can be resumed.
    Torn(String),
    /// The host cannot resume a transfer.
    NotResumable,
    /// The host does not serve the file.
    Refused(String),
    /// The client itself is missing or broken.
    Client(String),
}

/// Downloads a file with `curl`, appending to any part that is already present.
pub(super) fn file(address: &str, to: &Path) -> Result<(), Why> {
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--silent", "--show-error", "--location", "--proto", "=http,https"]);
    curl.args(["--connect-timeout", "20", "--speed-limit", "100", "--speed-time", "60"]);
    curl.args(["--max-filesize", "2147483648", "--continue-at", "-", "--output"])
        .arg(to)
        .arg("--url")
        .arg(address);
    let (code, message) = run(&mut curl).map_err(|error| Why::Client(format!("curl: {error}")))?;
    // The exit codes are listed in curl's manual.
    match code {
        Some(0) => Ok(()),
        Some(5 | 6 | 7 | 28 | 35 | 52 | 60 | 97) => Err(Why::Unreachable(message)),
        Some(18 | 56) => Err(Why::Torn(message)),
        Some(33) => Err(Why::NotResumable),
        // Status 416: the file has no bytes beyond those present.
        Some(22) if message.contains("416") => Err(Why::NotResumable),
        Some(3 | 22 | 63) => Err(Why::Refused(message)),
        _ => Err(Why::Client(message)),
    }
}

/// Downloads the archive of a package with `pip` and unpacks it into `to`.
///
/// # Errors
/// [`Why::Unreachable`] if `pip` cannot download the archive, and [`Why::Client`] for any other failure.
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
        (_, message) if message.contains("No module named pip") => return Err(Why::Client(message)),
        (_, message) => return Err(Why::Unreachable(message)),
    }
    let broken = |error: &dyn std::fmt::Display| Why::Client(error.to_string());
    for entry in std::fs::read_dir(to).map_err(|error| broken(&error))? {
        let archive = entry.map_err(|error| broken(&error))?.path();
        if !archive.is_file() {
            continue;
        }
        let mut unpack = Command::new("python3");
        unpack.args(["-m", "zipfile", "-e"]).arg(&archive).arg(to);
        let (code, message) = run(&mut unpack).map_err(|error| broken(&error))?;
        if code != Some(0) {
            return Err(Why::Client(message));
        }
    }
    Ok(())
}

/// Runs a command and returns its exit code and the last line of its standard error.
fn run(command: &mut Command) -> io::Result<(Option<i32>, String)> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.unwrap_or("no error message").chars().take(300).collect();
    Ok((output.status.code(), last))
}
