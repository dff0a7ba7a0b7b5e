//! The client side of a worker process. It starts and ends the worker, sends it runs, and watches its time
//! and memory.

use super::worker::{Job, Reply, Request};
use crate::experiment::ExperimentError;
use crate::machine::{Machine, high_water_mark, resident};
use crate::row::{Row, Status};
use crate::suite::text;
use plimsoll::interrupt;
use plimsoll::posed::{Subject, SubjectKind};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time limit for a worker to identify itself.
const HELLO: Duration = Duration::from_secs(60);
/// Time limit for a worker to read an instance.
const READING: Duration = Duration::from_secs(600);
/// Time limit for a worker to exit after its input has been closed.
const ENDING: Duration = Duration::from_secs(2);
/// Delay after a worker was killed from outside. If the cause is a shutdown or a cancelled cluster job, this
/// process is killed as well during the delay, before it writes a row.
const FATE: Duration = Duration::from_millis(500);
/// The first wait and the longest wait between two samples of memory.
const SAMPLE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));
/// A worker that has used this many bytes is replaced, so that memory that it retains is not attributed to
/// later runs.
const STALE: u64 = 256 << 20;
/// Maximum number of bytes that are kept from the end of standard error.
const TAIL: u64 = 400;

/// A running worker.
pub(super) struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    replies: Receiver<Reply>,
    errors: File,
    /// The index of the input that the worker has read.
    holds: Option<usize>,
    /// The peak memory of the worker, in bytes.
    most: u64,
}

/// A run for a worker.
pub(super) struct Question<'a> {
    pub input: usize,
    pub name: &'a str,
    pub subject: &'a Subject,
    pub job: Job,
    /// Time after which the run counts as hung.
    pub limit: Option<Duration>,
    /// Limit on resident memory, in bytes.
    pub memory: Option<u64>,
}

/// The result of a run whose worker ended without a reply or was killed.
pub(super) struct Lost {
    pub answer: Row,
    /// Whether the run was sent before the worker ended.
    pub asked: bool,
}

/// The reason why there is no reply.
enum End {
    /// The worker ended before the run was sent.
    Deaf,
    Gone,
    Late(Duration),
    Large(u64),
    /// A request to stop arrived.
    Interrupted,
}

impl Worker {
    /// Starts a worker and waits until it has identified itself as the same build.
    pub fn start(command: &[OsString]) -> Result<Self, ExperimentError> {
        let wrong = |why: String| ExperimentError::Worker(why);
        let (first, others) = command.split_first().ok_or_else(|| wrong("no command".to_owned()))?;
        let said = |error: std::io::Error| wrong(format!("{}: {error}", first.display()));
        let errors = tempfile::tempfile().map_err(said)?;
        let mut command = Command::new(first);
        command.args(others).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(errors.try_clone().map_err(said)?);
        // The worker has its own group, so it does not receive Ctrl-C from a terminal. The sweep receives it,
        // and ends its workers without writing rows for their runs.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(said)?;
        let stdin = child.stdin.take();
        let replies = listen(child.stdout.take());
        let mut worker = Self { child, stdin, replies, errors, holds: None, most: 0 };
        let here = Machine::here();
        match worker.wait(Some(HELLO), None, &mut None) {
            Ok(Reply::Hello { version, commit }) if version == here.version && commit == here.commit => {
                Ok(worker)
            }
            Ok(Reply::Hello { version, commit }) => {
                worker.kill();
                let own = (here.version, here.commit);
                Err(wrong(format!(
                    "the worker is version {version}, commit {commit}; expected {}, {}",
                    own.0, own.1
                )))
            }
            Ok(_) => {
                worker.kill();
                Err(wrong("the worker does not identify itself".to_owned()))
            }
            Err(end) => {
                let (_, why) = worker.end(&end);
                Err(wrong(why))
            }
        }
    }

    /// Returns true if the worker can serve another run: it is still running and has used little memory.
    pub fn is_fit(&mut self) -> bool {
        self.most < STALE && matches!(self.child.try_wait(), Ok(None)) && self.stdin.is_some()
    }

    /// Sends one run and waits for its record.
    pub fn ask(&mut self, question: Question<'_>) -> Result<Row, Box<Lost>> {
        let (started, asked) = (Instant::now(), question.job.asked.clone());
        let mut peak = None;
        let answer = self.exchange(question, &mut peak);
        self.most = self.most.max(peak.unwrap_or(0));
        answer.map_err(|end| {
            let seconds = started.elapsed().as_secs_f64();
            let (status, why) = self.end(&end);
            let (seconds, peak_memory_bytes) = (Some(seconds), peak);
            let answer = Row { seconds, peak_memory_bytes, ..asked.without(status, &why) };
            Box::new(Lost { answer, asked: !matches!(end, End::Deaf) })
        })
    }

    fn exchange(&mut self, question: Question<'_>, peak: &mut Option<u64>) -> Result<Row, End> {
        if self.holds != Some(question.input) {
            self.holds = None;
            let graph = question.subject.kind() == SubjectKind::Graph;
            let (name, text) = (question.name.to_owned(), text(question.subject));
            match self.send_large(&Request::Input { graph, name, text }, question.memory, peak)? {
                Reply::Input { error: None } => self.holds = Some(question.input),
                Reply::Input { error: Some(error) } => {
                    return Ok(question.job.asked.without(Status::Unreadable, &error));
                }
                _ => return Err(End::Gone),
            }
        }
        let key = question.job.asked.key.clone();
        self.send(&Request::Run(Box::new(question.job)))?;
        match self.wait(question.limit, question.memory, peak)? {
            Reply::Answer(answer) if answer.key == key => {
                *peak = (*peak).max(answer.peak_memory_bytes);
                // Memory may have been higher between two samples.
                match question.memory.and_then(|most| peak.filter(|&peak| peak > most)) {
                    Some(bytes) => Err(End::Large(bytes)),
                    None => Ok(*answer),
                }
            }
            _ => Err(End::Gone),
        }
    }

    /// Writes a request that fits into the buffer of a pipe.
    fn send(&mut self, request: &Request) -> Result<(), End> {
        let line = line(request)?;
        self.stdin.as_mut().ok_or(End::Deaf)?.write_all(&line).map_err(|_| End::Deaf)
    }

    /// Writes a request of any size and waits for the reply. A separate thread writes the request, because a
    /// stopped worker would block the writer.
    fn send_large(
        &mut self,
        request: &Request,
        memory: Option<u64>,
        peak: &mut Option<u64>,
    ) -> Result<Reply, End> {
        let line = line(request)?;
        let mut stdin = self.stdin.take().ok_or(End::Gone)?;
        let writer = std::thread::spawn(move || stdin.write_all(&line).map(|()| stdin));
        let reply = self.wait(Some(READING), memory, peak);
        if reply.is_err() {
            // This also ends the writer.
            let _ = self.child.kill();
        }
        self.stdin = writer.join().ok().and_then(Result::ok);
        reply
    }

    /// Waits for the next reply and samples memory at the same time.
    fn wait(
        &mut self,
        limit: Option<Duration>,
        memory: Option<u64>,
        peak: &mut Option<u64>,
    ) -> Result<Reply, End> {
        let started = Instant::now();
        let process = self.child.id().to_string();
        let (mut pause, longest) = SAMPLE;
        loop {
            let left = limit.map_or(pause, |limit| limit.saturating_sub(started.elapsed()));
            match self.replies.recv_timeout(left.min(pause)) {
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Disconnected) => return Err(End::Gone),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt::is_requested() {
                return self.replies.try_recv().map_err(|_| End::Interrupted);
            }
            *peak = (*peak).max(high_water_mark(&process));
            if let (Some(most), Some(now)) = (memory, memory.and_then(|_| resident(&process)))
                && now > most
            {
                return Err(End::Large(now));
            }
            if let Some(limit) = limit.filter(|limit| started.elapsed() >= *limit) {
                return self.replies.try_recv().map_err(|_| End::Late(limit));
            }
            pause = longest.min(pause * 2);
        }
    }

    /// Ends the worker. Returns the status and the error of the run.
    fn end(&mut self, end: &End) -> (Status, String) {
        match end {
            End::Late(limit) => {
                self.kill();
                (
                    Status::Killed,
                    format!("killed after {} s for exceeding the time limit", limit.as_secs_f64()),
                )
            }
            End::Large(bytes) => {
                self.kill();
                (Status::OutOfMemory, format!("resident memory of {bytes} bytes exceeds the limit"))
            }
            End::Interrupted => {
                self.kill();
                (Status::Failed, "a request to stop arrived".to_owned())
            }
            End::Deaf | End::Gone => {
                let status = self.status();
                if status.is_some_and(ended_by_hand) {
                    std::thread::sleep(FATE);
                }
                let errors = self.tail();
                // The allocator prints this message before it aborts the process.
                let large = errors.contains("memory allocation of");
                let mut why = status.map_or_else(|| "the process has ended".to_owned(), |s| s.to_string());
                if !errors.is_empty() {
                    why = format!("{why}; stderr: {errors}");
                }
                (if large { Status::OutOfMemory } else { Status::Crashed }, why)
            }
        }
    }

    /// Closes the input of the worker, waits until it exits, and returns its exit status. A worker that
    /// does not exit is killed.
    fn status(&mut self) -> Option<ExitStatus> {
        let started = Instant::now();
        drop(self.stdin.take());
        while started.elapsed() < ENDING {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(SAMPLE.0);
        }
        self.kill();
        self.child.try_wait().ok().flatten()
    }

    fn kill(&mut self) {
        // An error means that the worker has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn tail(&mut self) -> String {
        let mut bytes = Vec::new();
        let length = self.errors.seek(SeekFrom::End(0)).unwrap_or(0);
        let _ = self.errors.seek(SeekFrom::Start(length.saturating_sub(TAIL)));
        let _ = (&mut self.errors).take(TAIL).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Drop for Worker {
    /// Ends the worker by closing its input. A worker that does not exit is killed.
    fn drop(&mut self) {
        let _ = self.status();
    }
}

/// Returns true if a signal from outside ended the process. Such signals usually reach all processes of a
/// job, and the run did not cause them. If this process is about to be killed as well, it must not write a
/// row for the run.
#[cfg(unix)]
fn ended_by_hand(status: ExitStatus) -> bool {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt;
    let outside = [Signal::HUP, Signal::INT, Signal::TERM, Signal::KILL].map(Signal::as_raw);
    status.signal().is_some_and(|signal| outside.contains(&signal))
}

#[cfg(not(unix))]
fn ended_by_hand(_: ExitStatus) -> bool {
    false
}

fn line(request: &Request) -> Result<Vec<u8>, End> {
    let mut line = serde_json::to_vec(request).map_err(|_| End::Gone)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads replies until the output ends. Other lines, such as the output of libraries, are ignored.
fn listen(output: Option<ChildStdout>) -> Receiver<Reply> {
    let (hand, replies) = mpsc::channel();
    if let Some(output) = output {
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while matches!(output.read_until(b'\n', &mut line), Ok(1..)) {
                if let Ok(reply) = serde_json::from_slice(&line)
                    && hand.send(reply).is_err()
                {
                    return;
                }
                line.clear();
            }
        });
    }
    replies
}
