//! A process that serves runs: requests on standard input, replies on standard output, one line of JSON each.
//!
//! It says who it is, then answers every request. An instance is sent once and kept until another comes. When its input
//! ends, the process ends at once, in the middle of a run too: whoever asked is gone.

use crate::attempt::Named;
use crate::machine::Machine;
use crate::record::Record;
use plimsoll::posed::Subject;
use plimsoll::{Registry, registry};
use plimsoll_model::Bytes;
use plimsoll_model::csv::{ReadOptions, read_instance};
use plimsoll_model::graph::read_graph;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// What a worker is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// To read an instance or graph, and keep it.
    Input {
        /// Whether it is a graph.
        graph: bool,
        /// Its name.
        name: String,
        /// CSV or JSON.
        text: String,
    },
    /// To run on what it keeps.
    Run(Box<Job>),
}

/// One run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What is asked: problem, algorithm, seed, threads, capacity to decide, limits.
    pub asked: Record,
    /// Whether to record improvements.
    pub trace: bool,
    /// The folder of the sweep, where layouts are kept.
    pub keep: Option<PathBuf>,
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    /// First of all, which build it is.
    Hello {
        /// Version of the command.
        version: String,
        /// Commit of the sources.
        commit: String,
    },
    /// What was sent is read, or why not.
    Input {
        /// Why not.
        error: Option<String>,
    },
    /// What became of a run.
    Answer(Box<Record>),
}

/// Serves requests until the input ends.
///
/// # Errors
/// What the output reports.
pub fn serve(input: impl Read + Send + 'static, mut output: impl Write) -> io::Result<()> {
    let (hand, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(input).lines() {
            let Ok(line) = line else { break };
            if hand.send(line).is_err() {
                return;
            }
        }
        // Nobody waits for an answer any more, even if one is being sought.
        std::process::exit(0);
    });
    let machine = Machine::here();
    say(&mut output, &Reply::Hello { version: machine.version, commit: machine.commit })?;
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
            Err(error) => {
                Reply::Answer(Box::new(Record::default().without("failed", &format!("no request: {error}"))))
            }
        };
        say(&mut output, &reply)?;
    }
    Ok(())
}

/// A line of its own, even if a library has printed a piece of one.
fn say(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
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

fn answer(registry: &Registry, held: &mut Option<Subject>, job: Job) -> Record {
    let Some(mut subject) = held.take() else { return job.asked.without("failed", "nothing to run on") };
    if let Subject::Instance(instance) = subject {
        let capacity = job.asked.capacity.map(Bytes::new);
        let same = instance.capacity() == capacity;
        subject = Subject::Instance(if same { instance } else { instance.with_capacity(capacity) });
    }
    let Job { asked, trace: traced, keep } = job;
    let record = Named { registry, subject: &subject, asked, traced, keep: keep.as_deref() }.attempt();
    *held = Some(subject);
    record
}
