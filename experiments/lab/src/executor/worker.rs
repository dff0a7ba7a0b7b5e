//! A worker process, which executes runs on request. It reads requests on standard input and writes replies
//! to standard output, one line of JSON each.
//!
//! The process first identifies itself and then answers every request. An input is sent once and kept until
//! another input is sent. The end of standard input means that the sweep has ended. The process then exits
//! at once, even in the middle of a run.

use super::attempt::Named;
use crate::machine::Machine;
use crate::row::{Extras, Row, Status};
use plimsoll::posed::Subject;
use plimsoll::{Registry, registry};
use plimsoll_model::Bytes;
use plimsoll_model::csv::{ReadOptions, read_instance};
use plimsoll_model::graph::read_graph;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// A request to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Reads an instance or graph and keeps it.
    Input {
        /// Whether the input is a graph.
        graph: bool,
        /// The name of the instance or graph.
        name: String,
        /// The canonical form, which is CSV or JSON.
        text: String,
    },
    /// Runs an algorithm on the kept input.
    Run(Box<Job>),
}

/// A run for a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The question: problem, algorithm, seed, threads, capacity to decide, and limits.
    pub asked: Row,
    /// The groups of optional columns to record.
    pub extras: Extras,
    /// The folder of the sweep, if layouts are stored.
    pub keep: Option<PathBuf>,
}

/// A reply from a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    /// The first reply, which identifies the build.
    Hello {
        /// Version of plimsoll.
        version: String,
        /// Commit of the sources.
        commit: String,
    },
    /// The reply to [`Request::Input`].
    Input {
        /// The error, if the input could not be read.
        error: Option<String>,
    },
    /// The record of a run.
    Answer(Box<Row>),
}

/// Serves requests until the input ends.
///
/// # Errors
/// Returns the errors from `output`.
pub fn serve(input: impl Read + Send + 'static, mut output: impl Write) -> io::Result<()> {
    let (hand, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(input).lines() {
            let Ok(line) = line else { break };
            if hand.send(line).is_err() {
                return;
            }
        }
        // The sweep has ended, so the result of the current run is no longer needed.
        std::process::exit(0);
    });
    let machine = Machine::here();
    send(&mut output, &Reply::Hello { version: machine.version, commit: machine.commit })?;
    let registry = registry();
    let mut held = None;
    while let Ok(line) = requests.recv() {
        let reply = match serde_json::from_str(&line) {
            Ok(Request::Input { graph, name, text }) => match read(graph, name, &text) {
                Ok(content) => {
                    held = Some(content);
                    Reply::Input { error: None }
                }
                Err(error) => Reply::Input { error: Some(error) },
            },
            Ok(Request::Run(job)) => Reply::Answer(Box::new(answer(&registry, &mut held, *job))),
            Err(error) => Reply::Answer(Box::new(
                Row::default().without(Status::Failed, &format!("invalid request: {error}")),
            )),
        };
        send(&mut output, &reply)?;
    }
    Ok(())
}

/// Writes a reply on its own line, even if a library has printed an incomplete line.
fn send(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let mut line = vec![b'\n'];
    serde_json::to_writer(&mut line, reply)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

fn read(graph: bool, name: String, text: &str) -> Result<Subject, String> {
    if graph {
        let graph = read_graph(Path::new(&name), text.as_bytes()).map_err(|error| error.to_string())?;
        return Ok(Subject::Graph(Box::new(graph)));
    }
    let instance = read_instance(&name, text.as_bytes(), ReadOptions::default());
    instance.map(|instance| Subject::Instance(instance.with_name(name))).map_err(|error| error.to_string())
}

fn answer(registry: &Registry, held: &mut Option<Subject>, job: Job) -> Row {
    let Some(mut subject) = held.take() else {
        return job.asked.without(Status::Failed, "no input was sent");
    };
    if let Subject::Instance(instance) = subject {
        let capacity = job.asked.capacity.map(Bytes::new);
        let same = instance.capacity() == capacity;
        subject = Subject::Instance(if same { instance } else { instance.with_capacity(capacity) });
    }
    let Job { asked, extras, keep } = job;
    let record = Named { registry, subject: &subject, asked, extras, keep: keep.as_deref() }.attempt();
    *held = Some(subject);
    record
}
