//! A process that serves runs: requests on standard input, replies on standard output, one line of JSON each.
//!
//! It says who it is, then answers every request. An instance is sent once and kept until another comes. When its input
//! ends, the process ends at once, in the middle of a run too: whoever asked is gone.

use crate::attempt::attempt;
use crate::machine::{Machine, MemoryMeter, resident};
use crate::record::Record;
use plimsoll::graphs::GraphRun;
use plimsoll::plan::Plan;
use plimsoll::{Registry, registry};
use plimsoll_model::csv::{ReadOptions, read_instance};
use plimsoll_model::graph::{Graph, LivenessOptions, read_graph};
use plimsoll_model::{Bytes, Instance, Offsets, Orders, Pools, Problem, Scattered};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Instant;

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

/// What is run on.
enum Held {
    Instance(Instance),
    Graph(Graph),
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

fn read(graph: bool, name: String, text: &str) -> Result<Held, String> {
    if graph {
        let graph = read_graph(Path::new(&name), text.as_bytes()).map_err(|error| error.to_string())?;
        return Ok(Held::Graph(graph));
    }
    let instance = read_instance(&name, text.as_bytes(), ReadOptions::default());
    instance.map(|instance| Held::Instance(instance.with_name(name))).map_err(|error| error.to_string())
}

fn answer(registry: &Registry, held: &mut Option<Held>, job: Job) -> Record {
    match held.take() {
        Some(Held::Instance(instance)) => {
            let capacity = job.asked.capacity.map(Bytes::new);
            let same = instance.capacity() == capacity;
            let instance = if same { instance } else { instance.with_capacity(capacity) };
            let answer = match job.asked.problem.as_str() {
                Offsets::NAME => on_instance::<Offsets>(registry, &instance, job),
                Scattered::NAME => on_instance::<Scattered>(registry, &instance, job),
                Pools::NAME => on_instance::<Pools>(registry, &instance, job),
                _ => nobody(job.asked),
            };
            *held = Some(Held::Instance(instance));
            answer
        }
        Some(Held::Graph(graph)) => {
            let answer = on_graph(registry, &graph, job.asked);
            *held = Some(Held::Graph(graph));
            answer
        }
        None => job.asked.without("failed", "nothing to run on"),
    }
}

fn on_instance<P: Plan>(registry: &Registry, instance: &Instance, job: Job) -> Record {
    let Some(entry) = P::named(registry, &job.asked.algorithm) else { return nobody(job.asked) };
    let (record, solution) = attempt(entry, instance, job.asked, job.trace);
    match job.keep {
        Some(folder) => record.keeping::<P>(instance, solution.as_ref(), &folder),
        None => record,
    }
}

/// Orders all regions, which share the time limit; every region has the node limit for itself.
fn on_graph(registry: &Registry, graph: &Graph, asked: Record) -> Record {
    let entry = registry.find::<Orders>(&asked.algorithm);
    let Some(entry) = entry.filter(|_| asked.problem == Orders::NAME) else { return nobody(asked) };
    let run = GraphRun {
        liveness: LivenessOptions::default(),
        order: entry,
        setup: asked.setup(),
        limits: asked.limits().from_now(),
    };
    let resident_bytes = resident("self");
    let (meter, started) = (MemoryMeter::start(), Instant::now());
    let result = run.order(graph);
    let seconds = started.elapsed().as_secs_f64();
    let peak_memory_bytes = meter.peak();
    Record { peak_memory_bytes, resident_bytes, ..asked.ordered(&result, seconds) }
}

fn nobody(asked: Record) -> Record {
    let why = format!("no algorithm '{}' for {}", asked.algorithm, asked.problem);
    asked.without("failed", &why)
}
