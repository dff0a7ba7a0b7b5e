//! Cleans up external programs and scratch folders when the main process ends, even if it is killed.
//!
//! A killed process cannot clean up. Therefore, a second process, the *reaper*, reads a pipe whose write
//! end is open only in the main process. The main process writes a line for every process group that it
//! starts and every scratch folder that it creates. It writes another line when the group has ended or the
//! folder has been removed. When the pipe closes, the main process no longer exists. The reaper then kills
//! the remaining groups, removes the remaining folders, and exits.
//!
//! If a program started before its line was written, it would survive a kill of the main process between
//! these two events. Each group is therefore led by a process that only waits (`Leader`). The program joins
//! the group after the line has been written.
//!
//! The reaper is this binary, run with other arguments. No reaper is started unless [`employ`] has set its
//! command.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A resource that must be cleaned up if this process is killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ward {
    /// A process group, identified by the id of its leader.
    Group(u32),
    /// A folder of scratch files.
    Folder(PathBuf),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Watch(Ward),
    Release(Ward),
}

static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();
static PIPE: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

/// Sets the command that starts the reaper. The program that it starts must call [`serve`]. The reaper starts
/// when the first resource is registered.
pub fn employ(command: Vec<OsString>) {
    // Later calls have no effect.
    let _ = COMMAND.set(command);
}

/// A resource registered with the reaper. Dropping this value ends the registration.
pub(super) struct Watch(Option<Ward>);

/// Registers a resource with the reaper.
pub(super) fn watch(ward: &Ward) -> Watch {
    let registered = write_line(&Line::Watch(ward.clone()));
    Watch(registered.then(|| ward.clone()))
}

impl Watch {
    fn release(&mut self) {
        if let Some(ward) = self.0.take() {
            write_line(&Line::Release(ward));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.release();
    }
}

/// The leader of a process group. The group is registered with the reaper before a program joins it.
#[cfg(unix)]
pub(super) struct Leader {
    process: Child,
    watch: Watch,
}

#[cfg(unix)]
impl Leader {
    /// Starts a process that leads its own group and does nothing but wait until the main process ends.
    /// Returns `None` if no process can be started or [`employ`] has set no command.
    pub(super) fn start() -> Option<Self> {
        let process = spawn()?;
        let watch = watch(&Ward::Group(process.id()));
        Some(Self { process, watch })
    }

    /// Returns the id of the group.
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }
}

/// Dropping the leader kills the whole group.
#[cfg(unix)]
impl Drop for Leader {
    fn drop(&mut self) {
        kill_group(self.id());
        // The id may be reused once the leader has been waited for.
        self.watch.release();
        let _ = self.process.wait();
    }
}

/// Writes a line to the reaper. Returns false if there is no reaper or the line cannot be written.
fn write_line(line: &Line) -> bool {
    let Some(pipe) = PIPE.get_or_init(start) else { return false };
    let Ok(mut text) = serde_json::to_vec(line) else { return false };
    text.push(b'\n');
    pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(&text).is_ok()
}

fn start() -> Option<Mutex<ChildStdin>> {
    Some(Mutex::new(spawn()?.stdin.take()?))
}

/// Starts a process that has its own group and runs [`serve`].
fn spawn() -> Option<Child> {
    let (first, others) = COMMAND.get()?.split_first()?;
    let mut command = Command::new(first);
    command.args(others).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // The reaper has its own group, so it does not receive Ctrl-C from a terminal.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().ok()
}

#[cfg(unix)]
pub(super) fn kill_group(id: u32) {
    use rustix::process::{Signal, kill_process_group};
    if let Some(pid) = pid_of(id) {
        // An error means that the group is already empty.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(unix)]
pub(super) fn pid_of(id: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(id).ok()?)
}

/// Runs the reaper, which reads lines until the input ends and then cleans up every resource that was not
/// released.
pub fn serve(input: impl Read) {
    let mut wards: Vec<Ward> = Vec::new();
    for line in BufReader::new(input).lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(Line::Watch(ward)) => wards.push(ward),
            Ok(Line::Release(ward)) => wards.retain(|own| *own != ward),
            Err(_) => {}
        }
    }
    for ward in wards {
        match ward {
            #[cfg(unix)]
            Ward::Group(id) => kill_group(id),
            #[cfg(not(unix))]
            Ward::Group(_) => {}
            Ward::Folder(path) => {
                // An error means that the main process has already removed the folder.
                let _ = std::fs::remove_dir_all(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_resources_are_not_touched() {
        let (kept, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let wards = [kept.path(), left.path()].map(|path| Ward::Folder(path.to_owned()));
        let [kept_ward, left_ward] = wards.clone();
        let lines = [Line::Watch(kept_ward.clone()), Line::Watch(left_ward), Line::Release(kept_ward)];
        let text: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        serve(text.join("\n").as_bytes());
        assert!(kept.path().is_dir() && !left.path().exists());
    }
}
