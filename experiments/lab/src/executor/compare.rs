//! Runs all algorithms of a problem on the same questions, in this process.

use super::attempt::attempt;
use super::in_process::rows;
use crate::experiment::{Experiment, Input, Task};
use crate::row::{Extras, Row, settle};
use plimsoll::Engine;
use plimsoll::interrupt;
use plimsoll::posed::{Posed, Subject};
use plimsoll::run::Limits;
use plimsoll_model::{Bytes, Claim, Entry, Kind};

/// Runs every registered algorithm of a problem on every subject, with the default terms of the problem. Each
/// run has the time limit and the node limit of the engine. Capacities of instances are not decided. Returns
/// one row per run, cross-checked; [`ranked`](crate::report::summary::ranked) prints them.
///
/// ```
/// use plimsoll::{Engine, datasets, model::Offsets};
/// use plimsoll_lab::executor::compare;
/// use plimsoll_lab::report::summary::ranked;
/// use std::time::Duration;
///
/// let instances = [datasets::cann(), datasets::patent()].map(|worked| worked.instance);
/// let engine = Engine::default().with_time_limit(Duration::from_secs(1));
/// let rows = compare::<Offsets>(&engine, instances);
/// let mut exact = rows.iter().filter(|row| row.algorithm == "exact");
/// assert!(exact.all(|row| row.gap_percent == Some(0.0)));
/// println!("{}", ranked(&rows));
/// ```
pub fn compare<P: Posed>(engine: &Engine, subjects: impl IntoIterator<Item: Into<Subject>>) -> Vec<Row> {
    let task = |entry: &&'static Entry<P>| Task::of(entry, engine.setup, engine.limits);
    let tasks = P::entries(&engine.registry).iter().map(task).collect();
    let inputs = subjects.into_iter().map(|subject| Input::of("compared", subject.into())).collect();
    rows(&Experiment::new("compare", inputs, tasks), &engine.registry)
}

/// The conditions under which a compared heuristic stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stops {
    /// The heuristic stops at its limits.
    AtLimits,
    /// The heuristic stops at its limits, or earlier at a value that an exact algorithm has proved optimal.
    /// Values must be numbers of bytes.
    AtOptimum,
}

/// Runs algorithms on a question, each with fresh limits from `limits`, until a
/// [request to stop](plimsoll::interrupt). `asked` contains the columns that all rows share. Returns the
/// rows in the order of the algorithms, cross-checked.
pub fn compare_on<P: Posed>(
    entries: &[&'static Entry<P>],
    question: &P::Question<'_>,
    asked: &Row,
    limits: impl Fn() -> Limits,
    stops: Stops,
) -> Vec<Row> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    // Exact algorithms run first, so that heuristics can stop at a proven optimum.
    if stops == Stops::AtOptimum {
        order.sort_by_key(|&at| entries[at].kind != Kind::Exact);
    }
    let mut optimum = None;
    let mut found: Vec<(usize, Row)> = Vec::new();
    for at in interrupt::until_requested(order) {
        let entry = entries[at];
        let asked = Row { algorithm: entry.name.to_owned(), kind: Some(entry.kind.into()), ..asked.clone() };
        let target = optimum.filter(|_| entry.kind == Kind::Heuristic).map(Bytes::new);
        let (row, _) = attempt::<P>(entry, question, asked, Limits { target, ..limits() }, Extras::default());
        if stops == Stops::AtOptimum && row.claim == Some(Claim::Optimal) {
            optimum = optimum.or(row.value);
        }
        found.push((at, row));
    }
    found.sort_by_key(|(at, _)| *at);
    let mut rows: Vec<Row> = found.into_iter().map(|(_, row)| row).collect();
    settle(&mut rows);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Status;
    use plimsoll::Registry;
    use plimsoll_model::{
        Budget, Buffer, Instance, InstanceBuilder, Lifespan, LowerBound, Observer, Offsets, Outcome,
        SolveError, Solver, Stats, Stop, Witness, simple_bound,
    };

    /// A solver that returns no solution, but reports a bound that cannot be checked, because a search
    /// proved it.
    struct Prover(u64);

    impl Solver<Offsets> for Prover {
        fn name(&self) -> &'static str {
            "prover"
        }

        fn solve(
            &self,
            input: &Instance,
            _: &mut Budget,
            _: &mut dyn Observer<Offsets>,
        ) -> Result<Outcome<Offsets>, SolveError> {
            let mut bound = simple_bound(input);
            bound.raise(LowerBound::new(self.0.into(), Witness::Search { solver: "prover".to_owned() }));
            Ok(Outcome::of(input, None, bound, Stop::Completed, Stats::default()))
        }
    }

    #[test]
    fn a_bound_above_a_valid_solution_is_wrong_and_does_not_count() {
        let lifespan = Lifespan::single(0, 2).unwrap();
        let instance = InstanceBuilder::new("t").buffer(Buffer::new("a", 4, lifespan)).build().unwrap();
        let mut engine = Engine { registry: Registry::default(), ..Engine::default() };
        let all = plimsoll::registry();
        for name in ["naive", "exact"] {
            engine.registry.register(all.find::<Offsets>(name).unwrap()).unwrap();
        }
        let faulty = Entry::new("faulty", Kind::Exact, "bound 5", "test", |_| Prover(5));
        engine.registry.register(faulty).unwrap();
        let rows = compare::<Offsets>(&engine, [instance.clone()]);
        let on = |stops| {
            let entries = &engine.registry.offsets;
            compare_on::<Offsets>(entries, &&instance, &Row::default(), Limits::default, stops)
        };
        for rows in [rows, on(Stops::AtLimits), on(Stops::AtOptimum)] {
            let [naive, exact, faulty] = &rows[..] else { panic!("{rows:?}") };
            assert_eq!([naive, exact, faulty].map(|row| &*row.algorithm), ["naive", "exact", "faulty"]);
            for honest in [naive, exact] {
                assert_eq!((honest.status, honest.gap_percent), (Status::Done, Some(0.0)));
            }
            assert_eq!(faulty.status, Status::Refused);
            assert_eq!(faulty.error, "the bound 5 is above 4, the value of a valid solution");
        }
    }
}
