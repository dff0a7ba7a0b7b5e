//! Runs instruction lists on this machine. One thread computes, and one thread per channel fetches.
//!
//! The computing thread executes [`Instruction`]s in order. `DMAStart` lends the on-chip range of a buffer to
//! the thread of a channel. `DMAWait` waits until that thread returns the filled range. `Copy` fills the
//! range synchronously. `Compute` runs the kernel of an operator, which reads the weights in the range.
//! During `Compute`, the computing thread also borrows the range of the activations, so no weights can be
//! stored there. Only one thread at a time owns a range. A list with conflicting transfers and computations
//! is therefore refused, regardless of timing.

use super::arena::{Arena, Lent, Taken};
use super::cold::{Cold, Link, wait};
use super::kernel::{Cpu, Work};
use plimsoll_model::timelines::{Instruction, TimelineProblem};
use plimsoll_model::{Bytes, OperatorId};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The reason why a list cannot be run. The message names the first invalid instruction and its error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExecuteError(String);

impl ExecuteError {
    fn at(at: usize, what: impl std::fmt::Display) -> Self {
        Self(format!("instruction {at} {what}"))
    }

    fn unknown(at: usize) -> Self {
        Self::at(at, "refers to an operator or a channel that does not exist")
    }

    fn broken(channel: usize) -> Self {
        Self(format!("the thread of channel {channel} ended early"))
    }

    fn taken(at: usize, operator: OperatorId) -> impl Fn(Taken) -> Self {
        move |taken| Self::at(at, format_args!("for operator {operator}: {taken}"))
    }
}

/// A time interval, relative to the first instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    pub start: Duration,
    pub end: Duration,
}

impl Stretch {
    pub fn seconds(self) -> f64 {
        self.end.saturating_sub(self.start).as_secs_f64()
    }

    #[cfg(test)]
    fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A transfer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub operator: OperatorId,
    /// The time of the transfer itself, measured by the thread of its channel.
    pub span: Stretch,
    /// The time from the instruction that starts the transfer until the computing thread observes its end.
    pub known: Stretch,
}

/// The times and the result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The end of the last computation.
    pub makespan: Duration,
    pub computations: Vec<Stretch>,
    /// The transfers, in the order in which their ends were observed.
    pub transfers: Vec<Fetched>,
    /// The digest of all results. It is equal for all lists of the same operators and weights.
    pub digest: u64,
}

/// A problem, the work of its operators, and the source of their weights.
#[derive(Clone, Copy, Debug)]
pub struct Executor<'a> {
    /// The operators with their sizes, the channels, and the on-chip memory.
    pub problem: &'a TimelineProblem,
    pub works: &'a [Work],
    pub cold: &'a Cold,
    pub link: Link,
}

/// A transfer that is sent to the thread of its channel.
struct Job {
    operator: OperatorId,
    asked: Duration,
    from: u64,
    bytes: usize,
    buffer: Lent,
}

struct Done {
    operator: OperatorId,
    asked: Duration,
    span: Stretch,
    buffer: Lent,
}

/// The state of the weights of an operator.
enum Weights {
    Outside,
    Coming(usize),
    Here(Lent),
    Used,
}

struct Channel {
    jobs: Sender<Job>,
    done: Receiver<Done>,
}

impl Executor<'_> {
    /// Returns the digest of a run without buffers, transfers or threads.
    pub fn reference(&self) -> u64 {
        let mut cpu = Cpu::new();
        let all = self.problem.operators().iter().zip(self.works).zip(self.places());
        for ((operator, work), place) in all {
            cpu.run(*work, &self.cold.read(place, operator.weights.get() as usize));
        }
        cpu.digest()
    }

    /// Runs every list `repeat` times, after one warm-up run that is not counted. Before each run, the cold
    /// memory is read to flush the caches. `before` is called before each run with the number of the run,
    /// which is 0 for the warm-up run, and the index of the list. `after` is called after each counted run
    /// with the same two numbers and the execution.
    ///
    /// # Errors
    /// Returns the index of the first list that fails, with an error if the list cannot be run, or with
    /// `None` if its results are wrong.
    pub fn rounds(
        &self,
        lists: &[&[Instruction]],
        repeat: u32,
        mut before: impl FnMut(u32, usize),
        mut after: impl FnMut(u32, usize, Execution),
    ) -> Result<(), (usize, Option<ExecuteError>)> {
        let reference = self.reference();
        let mut arena = Arena::new(self.problem.capacity().get() as usize);
        for run in 0..=repeat {
            for (at, list) in lists.iter().enumerate() {
                before(run, at);
                std::hint::black_box(self.cold.sweep());
                let execution = self.run(list, &mut arena).map_err(|error| (at, Some(error)))?;
                if execution.digest != reference {
                    return Err((at, None));
                }
                if run > 0 {
                    after(run, at, execution);
                }
            }
        }
        Ok(())
    }

    /// Returns the off-chip start addresses of the weights of each operator.
    fn places(&self) -> Vec<u64> {
        Cold::places(self.problem.operators().iter().map(|one| one.weights.get()))
    }

    /// Runs a list and returns all times. The on-chip memory must be free and at least as large as the
    /// capacity of the problem. Pages that an earlier run has used are already committed, so they cause no
    /// page faults in this run. After an error, ranges that the run has lent may be lost, so the memory must
    /// not be used again.
    ///
    /// # Errors
    /// [`ExecuteError`] with the first instruction that cannot be run.
    ///
    /// # Panics
    /// If `works` does not have exactly one entry per operator.
    pub fn run(&self, list: &[Instruction], arena: &mut Arena) -> Result<Execution, ExecuteError> {
        assert_eq!(self.works.len(), self.problem.len(), "one work per operator");
        let channels = self.problem.dma().channels as usize;
        std::thread::scope(|scope| {
            let (ready, started) = channel();
            let begin = Instant::now();
            let mut ends = Vec::with_capacity(channels);
            for _ in 0..channels {
                let (jobs, taken) = channel::<Job>();
                let (hand_back, done) = channel();
                let (ready, cold, link) = (ready.clone(), self.cold, self.link);
                scope.spawn(move || {
                    // The receiver has been dropped if the run has failed.
                    let _ = ready.send(());
                    serve(begin, cold, link, &taken, &hand_back);
                });
                ends.push(Channel { jobs, done });
            }
            for _ in 0..channels {
                started.recv().map_err(|_| ExecuteError::broken(0))?;
            }
            Run::new(self, ends, arena, begin).take(list)
        })
    }
}

/// Runs the thread of a channel, which performs transfers sequentially until the sender is dropped.
fn serve(begin: Instant, cold: &Cold, link: Link, jobs: &Receiver<Job>, done: &Sender<Done>) {
    loop {
        let job = wait(|| match jobs.try_recv() {
            Ok(job) => Some(Some(job)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        });
        let Some(Job { operator, asked, from, bytes, mut buffer }) = job else { return };
        let start = begin.elapsed();
        link.fetch(cold, from, &mut buffer.bytes[..bytes]);
        let span = Stretch { start, end: begin.elapsed() };
        if done.send(Done { operator, asked, span, buffer }).is_err() {
            return;
        }
    }
}

/// The state of a run.
struct Run<'a> {
    executor: &'a Executor<'a>,
    channels: Vec<Channel>,
    places: Vec<u64>,
    arena: &'a mut Arena,
    cpu: Cpu,
    weights: Vec<Weights>,
    begin: Instant,
    execution: Execution,
}

impl<'a> Run<'a> {
    fn new(executor: &'a Executor<'a>, channels: Vec<Channel>, arena: &'a mut Arena, begin: Instant) -> Self {
        let problem = executor.problem;
        Self {
            executor,
            channels,
            places: executor.places(),
            arena,
            cpu: Cpu::new(),
            weights: (0..problem.len()).map(|_| Weights::Outside).collect(),
            begin,
            execution: Execution::default(),
        }
    }

    fn take(mut self, list: &[Instruction]) -> Result<Execution, ExecuteError> {
        let first = self.begin.elapsed();
        for (at, instruction) in list.iter().enumerate() {
            match *instruction {
                Instruction::DmaStart { operator, channel, bytes, offset, size } => {
                    self.start(at, operator, channel as usize, bytes, (offset, size))?;
                }
                Instruction::Copy { operator, bytes, offset, size } => {
                    self.copy(at, operator, bytes, (offset, size))?;
                }
                Instruction::DmaWait { operator } => self.wait(at, operator)?,
                Instruction::Compute { operator } => self.compute(at, operator)?,
            }
        }
        let (computed, operators) = (self.execution.computations.len(), self.executor.problem.len());
        if computed < operators {
            return Err(ExecuteError(format!("the list ends after {computed} of {operators} operators")));
        }
        let mut execution = self.execution;
        let spans = execution.transfers.iter_mut().flat_map(|one| [&mut one.span, &mut one.known]);
        for span in execution.computations.iter_mut().chain(spans) {
            *span = Stretch { start: span.start.saturating_sub(first), end: span.end.saturating_sub(first) };
        }
        execution.makespan = execution.computations.last().map_or(Duration::ZERO, |span| span.end);
        execution.digest = self.cpu.digest();
        Ok(execution)
    }

    fn start(
        &mut self,
        at: usize,
        operator: OperatorId,
        channel: usize,
        bytes: Bytes,
        (offset, size): (Bytes, Bytes),
    ) -> Result<(), ExecuteError> {
        if channel >= self.channels.len() {
            return Err(ExecuteError::unknown(at));
        }
        let buffer = self.buffer(at, operator, bytes, (offset, size))?;
        let from = self.places[operator.index()];
        let job = Job { operator, asked: self.begin.elapsed(), from, bytes: bytes.get() as usize, buffer };
        self.channels[channel].jobs.send(job).map_err(|_| ExecuteError::broken(channel))?;
        self.weights[operator.index()] = Weights::Coming(channel);
        Ok(())
    }

    /// Fetches weights without a channel. The computing thread copies them itself, so it cannot compute in
    /// the meantime.
    fn copy(
        &mut self,
        at: usize,
        operator: OperatorId,
        bytes: Bytes,
        place: (Bytes, Bytes),
    ) -> Result<(), ExecuteError> {
        let mut buffer = self.buffer(at, operator, bytes, place)?;
        let link = Link { startup: Duration::ZERO, ..self.executor.link };
        let from = self.places[operator.index()];
        let start = self.begin.elapsed();
        link.fetch(self.executor.cold, from, &mut buffer.bytes[..bytes.get() as usize]);
        let span = Stretch { start, end: self.begin.elapsed() };
        self.execution.transfers.push(Fetched { operator, span, known: span });
        self.weights[operator.index()] = Weights::Here(buffer);
        Ok(())
    }

    /// Lends a buffer for the weights of an operator. The weights must not have been fetched before.
    fn buffer(
        &mut self,
        at: usize,
        operator: OperatorId,
        bytes: Bytes,
        (offset, size): (Bytes, Bytes),
    ) -> Result<Lent, ExecuteError> {
        let one = self.executor.problem.operators().get(operator.index());
        let weights = one.ok_or_else(|| ExecuteError::unknown(at))?.weights;
        if bytes != weights || size < bytes {
            let what = format!(
                "fetches {bytes} of {weights} bytes for operator {operator} into a buffer of {size} bytes"
            );
            return Err(ExecuteError::at(at, what));
        }
        if !matches!(self.weights[operator.index()], Weights::Outside) {
            let what = format!("fetches the weights of operator {operator} again");
            return Err(ExecuteError::at(at, what));
        }
        self.arena.lend(offset.get(), size.get()).map_err(ExecuteError::taken(at, operator))
    }

    /// Receives finished transfers from the channel of an operator until the weights of that operator have
    /// arrived.
    fn wait(&mut self, at: usize, operator: OperatorId) -> Result<(), ExecuteError> {
        let channel = match self.weights.get(operator.index()) {
            None => return Err(ExecuteError::unknown(at)),
            Some(Weights::Coming(channel)) => *channel,
            Some(Weights::Here(_)) => return Ok(()),
            Some(_) => {
                let what = format!("waits for operator {operator}, which has no pending transfer");
                return Err(ExecuteError::at(at, what));
            }
        };
        loop {
            let done = wait(|| match self.channels[channel].done.try_recv() {
                Ok(done) => Some(Some(done)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(None),
            });
            let Some(done) = done else { return Err(ExecuteError::broken(channel)) };
            let Done { operator: whose, asked, span, buffer } = done;
            let known = Stretch { start: asked, end: self.begin.elapsed() };
            self.execution.transfers.push(Fetched { operator: whose, span, known });
            self.weights[whose.index()] = Weights::Here(buffer);
            if whose == operator {
                return Ok(());
            }
        }
    }

    fn compute(&mut self, at: usize, operator: OperatorId) -> Result<(), ExecuteError> {
        let (problem, expected) = (self.executor.problem, self.execution.computations.len());
        if operator.index() != expected || expected >= problem.len() {
            let what = format!("runs operator {operator}, but operator {expected} is next");
            return Err(ExecuteError::at(at, what));
        }
        let one = &problem.operators()[expected];
        let weights = std::mem::replace(&mut self.weights[expected], Weights::Used);
        let weights = match weights {
            Weights::Here(lent) => Some(lent),
            _ if one.weights == Bytes::ZERO => None,
            _ => {
                let what = format!("runs operator {operator} without waiting for its weights");
                return Err(ExecuteError::at(at, what));
            }
        };
        let activations =
            self.arena.lend(0, one.activations.get()).map_err(ExecuteError::taken(at, operator))?;
        let bytes = weights.as_ref().map_or(&[][..], |buffer| &buffer.bytes[..one.weights.get() as usize]);
        let start = self.begin.elapsed();
        self.cpu.run(self.executor.works[expected], bytes);
        let end = self.begin.elapsed();
        self.execution.computations.push(Stretch { start, end });
        self.arena.give_back(activations);
        if let Some(buffer) = weights {
            self.arena.give_back(buffer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_heuristics::timelines::ENTRIES as TIMELINES;
    use plimsoll_model::timelines::{Dma, Time, TimedOperator, Timeline, check_timeline};
    use plimsoll_model::{Budget, Setup};

    fn problem(channels: u32) -> (TimelineProblem, Vec<Work>) {
        let mut operators = Vec::new();
        let mut works = Vec::new();
        for at in 0..40u64 {
            let weights = if at % 5 == 3 { 0 } else { 64 * (1 + at * 7 % 11) + at % 4 };
            let compute = Time::new(1000 * (1 + at * 13 % 17));
            operators.push(TimedOperator {
                name: format!("o{at}"),
                compute,
                weights: Bytes::new(weights),
                activations: Bytes::new(100 + at * 31 % 200),
            });
            let rows = [1, 2, 4, 8][at as usize % 4];
            works.push(Work { rows: if weights > 0 { rows } else { 0 }, stream: at * 50, ..Work::default() });
        }
        let dma = Dma { channels, startup: Time::new(500), bandwidth: 100_000_000_000 };
        let problem = TimelineProblem::new("p", operators, dma, Bytes::new(4096), Bytes::new(64)).unwrap();
        (problem, works)
    }

    fn timeline(problem: &TimelineProblem, name: &str) -> Timeline {
        let entry = TIMELINES.iter().find(|entry| entry.name == name).unwrap();
        let scheduler = (entry.build)(Setup::default());
        let timeline = scheduler.solution(problem, &mut Budget::unlimited()).unwrap().unwrap();
        assert!(check_timeline(problem, &timeline).is_empty());
        timeline
    }

    #[test]
    fn every_schedule_computes_what_a_run_without_transfers_computes() {
        let cold = Cold::new(16 * 1024);
        let mut arena = Arena::new(4096);
        for channels in [1, 2] {
            let (problem, works) = problem(channels);
            for link in [Link::default(), Link { startup: Duration::from_micros(3), bandwidth: Some(1e9) }] {
                let executor = Executor { problem: &problem, works: &works, cold: &cold, link };
                let reference = executor.reference();
                for entry in TIMELINES {
                    let list = timeline(&problem, entry.name).instructions();
                    let run = executor
                        .run(&list, &mut arena)
                        .unwrap_or_else(|error| panic!("{}: {error}", entry.name));
                    assert_eq!(run.digest, reference, "{}", entry.name);
                    assert_eq!((run.computations.len(), run.transfers.len()), (40, 32));
                    follows(&problem, &run);
                }
            }
        }
    }

    #[test]
    fn copies_need_no_second_thread() {
        let (cold, (problem, works)) = (Cold::new(16 * 1024), problem(1));
        let problem = problem.with_copy(1_000_000_000_000).unwrap();
        let list = timeline(&problem, "synchronous").instructions();
        assert!(list.iter().any(|one| matches!(one, Instruction::Copy { .. })));
        let executor = Executor { problem: &problem, works: &works, cold: &cold, link: Link::default() };
        let run = executor.run(&list, &mut Arena::new(4096)).unwrap();
        assert_eq!(run.digest, executor.reference());
        follows(&problem, &run);
    }

    /// Checks that the operators ran sequentially, and that each started after its weights had arrived.
    fn follows(problem: &TimelineProblem, run: &Execution) {
        assert!(run.computations.windows(2).all(|pair| pair[0].end <= pair[1].start));
        for one in &run.transfers {
            assert!(one.known.covers(one.span) && one.span.start <= one.span.end);
            assert!(one.known.end <= run.computations[one.operator.index()].start);
        }
        assert_eq!(run.transfers.len(), problem.weighted().len());
        assert_eq!(run.makespan, run.computations.last().unwrap().end);
    }

    /// Returns the error of a modified ping-pong list.
    fn refusal(change: &dyn Fn(&mut Vec<Instruction>)) -> String {
        let (cold, (problem, works)) = (Cold::new(16 * 1024), problem(1));
        let executor = Executor { problem: &problem, works: &works, cold: &cold, link: Link::default() };
        let mut list = timeline(&problem, "ping-pong").instructions();
        change(&mut list);
        executor.run(&list, &mut Arena::new(4096)).unwrap_err().to_string()
    }

    #[test]
    fn wrong_lists_are_refused() {
        let refused = refusal;
        let list = timeline(&problem(1).0, "ping-pong").instructions();
        assert!(matches!(list[1], Instruction::DmaWait { .. }));
        // Without this wait, the list computes before the weights have arrived.
        assert_eq!(
            refused(&|list| {
                list.remove(1);
            }),
            "instruction 2 runs operator 0 without waiting for its weights"
        );
        assert_eq!(
            refused(&|list| {
                list.remove(0);
            }),
            "instruction 0 waits for operator 0, which has no pending transfer"
        );
        let first = list[0];
        assert!(refused(&|list| list.insert(1, first)).ends_with("the weights of operator 0 again"));
        assert!(
            refused(&|list| {
                list.pop();
            })
            .contains("ends after 39 of 40 operators")
        );
        assert!(
            refused(&|list| list
                .retain(|one| !matches!(one, Instruction::Compute { operator } if operator.index() == 1)))
            .contains("runs operator 2, but operator 1 is next")
        );
    }

    #[test]
    fn wrong_transfers_are_refused() {
        let refused = refusal;
        // If all buffers are at one address, the second transfer conflicts with the first.
        let clash = refused(&|list| {
            for one in list {
                if let Instruction::DmaStart { offset, .. } = one {
                    *offset = Bytes::new(2048);
                }
            }
        });
        assert!(
            clash.contains("for operator 1: bytes 2048 to")
                && clash.ends_with("are occupied or out of bounds"),
            "{clash}"
        );
        // An operator cannot be run while a buffer overlaps the range of its activations.
        let low = refused(&|list| {
            if let Instruction::DmaStart { offset, .. } = &mut list[0] {
                *offset = Bytes::ZERO;
            }
        });
        assert_eq!(
            low,
            "instruction 3 for operator 0: bytes 0 to 100 of the on-chip memory are occupied or out of bounds"
        );
        let few = refused(&|list| {
            if let Instruction::DmaStart { bytes, .. } = &mut list[0] {
                *bytes = Bytes::new(1);
            }
        });
        assert!(
            few.starts_with("instruction 0 fetches 1 of 64 bytes for operator 0 into a buffer of 64 bytes"),
            "{few}"
        );
        let far = refused(&|list| {
            if let Instruction::DmaStart { channel, .. } = &mut list[0] {
                *channel = 7;
            }
        });
        assert_eq!(far, "instruction 0 refers to an operator or a channel that does not exist");
    }
}
