//! Attempts runs sequentially in this process.

use super::attempt::attempt;
use super::peers::{Peered, ask_peer};
use crate::experiment::{Experiment, Run};
use crate::machine::Machine;
use crate::row::{Row, Status, settle};
use plimsoll::Registry;
use plimsoll::interrupt;
use plimsoll::posed::{Posed, Subject, Visitor, visit};
use plimsoll_model::Offsets;
use std::ops::ControlFlow;

/// Receives the runs of an experiment.
pub trait Audience {
    /// A run starts.
    fn starting(&mut self, _asked: &Row) {}

    /// A run found a valid solution. `ended` follows with the same row.
    fn solved<P: Posed>(&mut self, _question: &P::Question<'_>, _row: &Row, _solution: &P::Solution) {}

    /// A run has ended. On `Break`, no further run starts.
    fn ended(&mut self, row: Row) -> ControlFlow<()>;
}

impl Audience for Vec<Row> {
    fn ended(&mut self, row: Row) -> ControlFlow<()> {
        self.push(row);
        ControlFlow::Continue(())
    }
}

/// Attempts all runs of an experiment like [`run_here`], and returns their rows, cross-checked.
pub fn rows(experiment: &Experiment, registry: &Registry) -> Vec<Row> {
    let mut rows = Vec::with_capacity(experiment.runs.len());
    run_here(experiment, registry, &mut rows);
    settle(&mut rows);
    rows
}

/// Attempts all runs of an experiment in order, until a [request to stop](plimsoll::interrupt) or until the
/// audience breaks. A question that several consecutive runs ask is posed once. External planners run in
/// processes of their own. The memory limit and the grace of the experiment apply only to these.
pub fn run_here<A: Audience>(experiment: &Experiment, registry: &Registry, audience: &mut A) {
    let machine = Machine::here();
    let same = |a: &Run, b: &Run| {
        let [one, other] = [a, b].map(|run| &experiment.tasks[run.task]);
        let question = |run: &Run| (run.input, experiment.terms(run), run.time, run.nodes);
        let is_own = one.peer.is_none() && other.peer.is_none();
        is_own && question(a) == question(b) && (one.problem, one.decide) == (other.problem, other.decide)
    };
    for runs in experiment.runs.chunk_by(same) {
        let Some(first) = runs.first().filter(|_| !interrupt::is_requested()) else { return };
        let mut group = Group { experiment, registry, machine: &machine, runs, audience: &mut *audience };
        let flow = if experiment.tasks[first.task].peer.is_some() {
            group.peers()
        } else {
            visit(experiment.tasks[first.task].problem, &mut group).unwrap_or(ControlFlow::Continue(()))
        };
        if flow.is_break() {
            return;
        }
    }
}

/// Consecutive runs with the same question.
struct Group<'a, A> {
    experiment: &'a Experiment,
    registry: &'a Registry,
    machine: &'a Machine,
    runs: &'a [Run],
    audience: &'a mut A,
}

impl<A: Audience> Group<'_, A> {
    /// Runs external planners.
    fn peers(&mut self) -> ControlFlow<()> {
        for run in interrupt::until_requested(self.runs) {
            let asked = match self.experiment.asked(run, self.machine) {
                Ok(asked) => asked,
                Err(row) => {
                    self.audience.ended(*row)?;
                    continue;
                }
            };
            self.audience.starting(&asked);
            let Some(Peered { row, instance, layout }) = ask_peer(self.experiment, run, asked) else {
                break;
            };
            if let (Some(instance), Some(layout)) = (instance, layout) {
                self.audience.solved::<Offsets>(&&instance, &row, &layout);
            }
            self.audience.ended(row)?;
        }
        ControlFlow::Continue(())
    }

    /// Ends all runs with the given status and error.
    fn all(&mut self, status: Status, why: &str) -> ControlFlow<()> {
        for run in self.runs {
            let row = match self.experiment.asked(run, self.machine) {
                Ok(asked) => asked.without(status, why),
                Err(row) => *row,
            };
            self.audience.ended(row)?;
        }
        ControlFlow::Continue(())
    }
}

impl<A: Audience> Visitor for Group<'_, A> {
    type Output = ControlFlow<()>;

    fn visit<P: Posed>(&mut self) -> ControlFlow<()> {
        let Some(first) = self.runs.first() else { return ControlFlow::Continue(()) };
        let asked = self.experiment.asked(first, self.machine);
        let (Ok(asked), Ok(subject)) = (asked, &self.experiment.inputs[first.input].subject) else {
            // Every run of the group lacks the same input or capacity.
            return self.all(Status::Skipped, "");
        };
        let decided;
        let subject = match subject {
            Subject::Instance(instance) => {
                decided = Subject::Instance(instance.clone().with_capacity(self.experiment.capacity(first)));
                &decided
            }
            Subject::Graph(_) => subject,
        };
        let question = match P::pose(subject, &asked.terms, asked.setup(), asked.limits()) {
            Ok(question) => question,
            Err(error) => return self.all(Status::Skipped, &error.to_string()),
        };
        for run in interrupt::until_requested(self.runs) {
            let asked = self.experiment.blank(run, self.machine);
            self.audience.starting(&asked);
            let entry = match self.registry.find::<P>(&asked.algorithm) {
                Ok(entry) => entry,
                Err(error) => {
                    self.audience.ended(asked.without(Status::Failed, &error))?;
                    continue;
                }
            };
            let limits = asked.limits();
            let (row, solution) = attempt::<P>(entry, &question, asked, limits, self.experiment.extras);
            if let Some(solution) = solution {
                self.audience.solved::<P>(&question, &row, &solution);
            }
            self.audience.ended(row)?;
        }
        ControlFlow::Continue(())
    }
}
