//! Runs one process under a deadline and measures its time.
//!
//! The process runs in its own process group. The whole group is killed at the deadline, on a [request to
//! stop](plimsoll::interrupt), and when the process ends, so none of its children survives. The
//! [reaper](super::reaper) kills the group if Plimsoll itself is killed. One thread sleeps until the
//! process ends, so the error of the measured time is only the wake-up latency of the system. Another
//! thread samples the memory of the process and enforces the deadline.

#[cfg(unix)]
use super::reaper::{Leader, kill_group, pid_of};
use crate::machine::high_water_mark;
#[cfg(unix)]
use plimsoll::interrupt;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The first wait and the longest wait between two samples of memory.
const SAMPLE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// The exit status of a process and the measurements of its run.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) seconds: f64,
    /// Whether the deadline ended the process.
    pub(super) timed_out: bool,
    /// Whether a request to stop ended the process.
    pub(super) interrupted: bool,
    /// The largest sample of the process's peak resident memory, in bytes.
    pub(super) peak_memory: Option<u64>,
}

/// Starts the command and waits until it ends, the deadline passes, or a stop is requested. Then kills its
/// whole process group.
#[cfg(unix)]
pub(super) fn run(command: &mut Command, limit: Option<Duration>) -> io::Result<Ended> {
    use std::sync::mpsc;
    let leader = Leader::start();
    // Group 0 makes the process the leader of its own group.
    let group = leader.as_ref().and_then(|leader| i32::try_from(leader.id()).ok()).unwrap_or(0);
    std::os::unix::process::CommandExt::process_group(command, group);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let group = leader.as_ref().map_or(child.id(), Leader::id);
    let deadline = limit.and_then(|limit| started.checked_add(limit));
    let (running, finished) = mpsc::channel::<()>();
    let (ended, sampled) = std::thread::scope(|scope| {
        let id = child.id();
        let guard = scope.spawn(move || guard(id, group, deadline, &finished));
        let ended = wait_for_end(&child).map(|()| started.elapsed());
        drop(running);
        (ended, guard.join())
    });
    // The leader has not been reaped yet, so its id still denotes its group.
    kill_group(group);
    let status = child.wait()?;
    let (peak_memory, killed) = sampled.unwrap_or((None, None));
    // A process that exited just before the kill does not count as killed.
    let killed = killed.filter(|_| status.code().is_none());
    let (timed_out, interrupted) = (killed == Some(Why::Deadline), killed == Some(Why::Request));
    Ok(Ended { status, seconds: ended?.as_secs_f64(), timed_out, interrupted, peak_memory })
}

/// The reason why a group was killed.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    Deadline,
    Request,
}

/// Samples memory until `finished` disconnects. Kills the group at the deadline or on request. Returns the
/// peak memory and, if the group was killed, the reason.
#[cfg(unix)]
fn guard(
    id: u32,
    group: u32,
    deadline: Option<Instant>,
    finished: &std::sync::mpsc::Receiver<()>,
) -> (Option<u64>, Option<Why>) {
    use std::sync::mpsc::RecvTimeoutError;
    let process = id.to_string();
    let (mut wait, longest) = SAMPLE;
    let mut peak = None;
    loop {
        let left = deadline.map_or(wait, |deadline| deadline.saturating_duration_since(Instant::now()));
        if finished.recv_timeout(left.min(wait)) != Err(RecvTimeoutError::Timeout) {
            return (peak, None);
        }
        peak = peak.max(high_water_mark(&process));
        wait = longest.min(wait * 2);
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let why = if late { Some(Why::Deadline) } else { interrupt::is_requested().then_some(Why::Request) };
        if why.is_some() {
            kill_group(group);
            return (peak, why);
        }
    }
}

/// Sleeps until the process has ended, without reaping it.
#[cfg(unix)]
fn wait_for_end(child: &Child) -> io::Result<()> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = pid_of(child.id()) else { return Ok(()) };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(pid), options) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(()),
        }
    }
}

/// Runs the command with a time limit on systems without process groups. Only the process itself is killed
/// at the limit, and its end is detected by polling.
#[cfg(not(unix))]
pub(super) fn run(command: &mut Command, limit: Option<Duration>) -> io::Result<Ended> {
    let started = Instant::now();
    let mut child: Child = command.spawn()?;
    let mut peak_memory = None;
    let timed_out = loop {
        if child.try_wait()?.is_some() {
            break false;
        }
        if limit.is_some_and(|limit| started.elapsed() >= limit) {
            child.kill()?;
            break true;
        }
        peak_memory = peak_memory.max(high_water_mark(&child.id().to_string()));
        std::thread::sleep(SAMPLE.0.min(SAMPLE.1));
    };
    let seconds = started.elapsed().as_secs_f64();
    Ok(Ended { status: child.wait()?, seconds, timed_out, interrupted: false, peak_memory })
}
