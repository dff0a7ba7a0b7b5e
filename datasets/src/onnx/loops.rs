//! Infers the body of a loop once per iteration while the shapes of carried values change.
//!
//! The first pass infers the body for the first iteration. If the carried values keep their shapes, all
//! iterations are alike. Otherwise, further passes receive the results of the previous one, and each tensor
//! of the body gets its largest size over all passes. If shapes or the number of iterations depend on values,
//! the passes also track the iteration number, the condition and the values of carried tensors.
//!
//! The number of operators inferred in later passes is limited by [`REPEATS`].

use super::largest::Largest;
use super::program::Step;
use super::run::Evaluation;
use crate::import::ImportProblem;
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, Value, show};

/// The maximum number of operators that are inferred again in later iterations, over all loops of a model.
pub const REPEATS: usize = 1 << 16;

/// The value of [`REPEATS`] for each trial of a search for options.
pub const TRIAL_REPEATS: usize = 1 << 12;

/// The maximum number of operators that are inferred for one loop while values are tracked.
const TRACKED: usize = 1 << 14;

/// The reason why the number of iterations of a loop without a trip count is not known.
pub const NO_TRIPS: &str = "the loop has no trip count, and it is not known when its condition ends it";

/// A loop and the facts that its first iteration receives.
pub struct Loop {
    pub body: usize,
    /// The facts about the inputs of the body.
    pub given: Vec<Fact>,
    /// The position of the first carried value among the inputs of the body.
    pub state: usize,
    /// The position of the first carried value among the outputs of the body.
    pub next: usize,
    /// Per carried value: whether the body returns it unchanged.
    pub fixed: Vec<bool>,
    /// The largest number of iterations, if it is known.
    pub most: Option<u64>,
    /// The reason why `most` is not known although the loop has a trip count.
    pub unknown: Option<String>,
    /// True for a `Loop`. Its body receives the iteration number and the condition, and returns a condition.
    pub counted: bool,
    /// The condition before the first iteration, if it is known.
    pub starts: Option<bool>,
}

impl Loop {
    /// Returns the facts that the first pass receives.
    fn first(&self, mode: Mode) -> Vec<Fact> {
        let mut given = self.given.clone();
        if mode == Mode::Values {
            self.count(&mut given, 0);
            return given;
        }
        for (fact, _) in given[self.state..].iter_mut().zip(&self.fixed).filter(|(_, fixed)| !**fixed) {
            fact.value = None;
        }
        given
    }

    /// Sets the iteration number and the condition.
    fn count(&self, given: &mut [Fact], iteration: u64) {
        if self.counted {
            let number = i64::try_from(iteration).ok().map(|number| Value::Ints(vec![number]));
            given[0] = Fact::new(Some(Element::INT64), []).with(number);
            given[1] = Fact::new(Some(Element::BOOL), []).with(Some(Value::Ints(vec![1])));
        }
    }

    /// Returns the condition after an iteration, if it is known.
    fn goes_on(&self, results: &[Fact]) -> Option<bool> {
        match results.first() {
            Some(condition) if self.counted => match condition.value.as_deref()? {
                Value::Ints(list) => list.first().map(|&go| go != 0),
                Value::Floats(_) => None,
            },
            _ => Some(true),
        }
    }

    fn never_runs(&self) -> bool {
        self.most == Some(0) || self.starts == Some(false)
    }
}

/// The facts that passes over a body use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Shapes only. If the number of iterations or a shape may depend on values, the passes stop early.
    Shapes,
    /// Shapes and values.
    Values,
    /// Shapes only, up to the largest number of iterations.
    Limit,
}

/// The facts about a loop after its last iteration.
pub struct Rounds {
    /// False if the operators of the body form a cycle.
    pub complete: bool,
    /// The largest number of iterations, if it is known.
    pub most: Option<u64>,
    /// True if the loop always runs `most` iterations.
    pub exact: bool,
    /// The facts about the carried values.
    pub last: Vec<Result<Fact, Reason>>,
    /// The facts about the other results of the body.
    pub rows: Vec<Result<Fact, Reason>>,
    /// True if tracking values may give more precise facts.
    open: bool,
}

/// The passes over a body so far.
struct Passes<'l> {
    one: &'l Loop,
    mode: Mode,
    largest: Largest,
    rounds: Rounds,
    /// The carried values for each number of iterations after which the loop may end, as upper bounds.
    exits: Option<Vec<Fact>>,
    /// The number of passes.
    done: u64,
    /// True if the carried values change their shapes.
    grows: bool,
    /// The last pass, in which shapes are unknown.
    stop_at: Option<u64>,
}

impl<'m> Evaluation<'m, '_> {
    /// Infers all iterations of a loop.
    ///
    /// # Errors
    /// If the body cannot run in some iteration, or shapes change in more iterations than can be inferred.
    pub fn iterate(&mut self, step: &Step<'m>, one: &Loop, dead: bool) -> Result<Rounds, ImportProblem> {
        let counts = (self.void, self.pruned, self.folded);
        let first = self.rounds(step, one, Mode::Shapes, dead);
        if dead || first.as_ref().is_ok_and(|rounds| !rounds.open) {
            return first;
        }
        let failed = self.failed;
        (self.void, self.pruned, self.folded) = counts;
        let always = |rounds: &Rounds| rounds.exact && rounds.most.is_some_and(|most| most > TRACKED as u64);
        if one.counted
            && !first.as_ref().is_ok_and(always)
            && let Ok(rounds) = self.rounds(step, one, Mode::Values, dead)
        {
            self.failed = None;
            return Ok(rounds);
        }
        self.failed = failed;
        first?;
        (self.void, self.pruned, self.folded) = counts;
        self.rounds(step, one, Mode::Limit, dead)
    }

    fn rounds(
        &mut self,
        step: &Step<'m>,
        one: &Loop,
        mode: Mode,
        dead: bool,
    ) -> Result<Rounds, ImportProblem> {
        let mut passes = Passes::new(self, one, mode);
        let mut given = one.first(mode);
        if one.starts.is_none() || one.unknown.is_some() {
            passes.may_end(self, given[one.state..].to_vec());
        }
        let before = self.repeats;
        loop {
            passes.done += 1;
            let later = passes.done > 1 || mode != Mode::Shapes;
            let complete = self.pass(step, &mut passes, given, later, dead)?;
            passes.rounds.complete &= complete;
            let mut results = self.results(one.body);
            passes.add_rows(self, results.split_off(one.next + one.fixed.len()));
            let go = one.goes_on(&results);
            let next = results.split_off(one.next);
            if self.is_last(&mut passes, &next, go, dead) {
                break;
            }
            if mode == Mode::Shapes && (go.is_none() || passes.rounds.most.is_none()) {
                passes.rounds.open = true;
                break;
            }
            let (open, spent) = (passes.rounds.most.is_none() && go != Some(true), before - self.repeats);
            if mode == Mode::Values && (open || spent > TRACKED) {
                return Err(endless(step, &passes, go));
            }
            given = if mode == Mode::Limit && self.is_unlimited(&passes) {
                if self.options.assume_bytes.is_none() {
                    return Err(self.growing(step, one, &next));
                }
                passes.stop_at = Some(passes.done + 1);
                self.unknown(one, next)
            } else {
                passes.handed(next)
            };
            if self.repeats == 0 {
                return Err(endless(step, &passes, go));
            }
        }
        Ok(self.conclude(step, passes))
    }

    /// Returns true if the loop has no limit on its iterations up to which they can be inferred.
    fn is_unlimited(&self, passes: &Passes) -> bool {
        self.options.trips.is_none() && passes.rounds.most.is_none_or(|most| most > REPEATS as u64)
    }

    /// Runs one pass over the body.
    fn pass(
        &mut self,
        step: &Step<'m>,
        passes: &mut Passes,
        given: Vec<Fact>,
        later: bool,
        dead: bool,
    ) -> Result<bool, ImportProblem> {
        let (body, done) = (passes.one.body, self.done);
        passes.largest.begin(self);
        let result = self.give(step, body, given, None, dead).and_then(|()| self.block(body, dead));
        passes.largest.end(self);
        if later {
            self.repeats = self.repeats.saturating_sub((self.done - done).max(1));
            self.done = done;
        }
        result.map_err(|problem| passes.in_iteration(problem))
    }

    /// Returns true if no further pass is needed, and records what is known about the end of the loop.
    fn is_last(&mut self, passes: &mut Passes, next: &[Fact], go: Option<bool>, dead: bool) -> bool {
        let (one, mode) = (passes.one, passes.mode);
        if one.never_runs() {
            (passes.rounds.most, passes.rounds.exact, passes.exits) = (Some(0), true, None);
            passes.rounds.last = one.given[one.state..].iter().cloned().map(Ok).collect();
            return true;
        }
        let alike = self.keeps(one, next);
        passes.grows |= !alike;
        passes.rounds.exact &= go.is_some();
        if (go.is_none() || one.unknown.is_some())
            && let Some(trips) = self.options.trips
            && (mode != Mode::Shapes || alike)
        {
            self.capped = true;
            passes.rounds.most = Some(one.most.map_or(trips, |most| most.min(trips)));
        }
        let stops = go == Some(false);
        if stops {
            passes.rounds.most = Some(passes.done);
        }
        let settled = alike && mode != Mode::Values || passes.stop_at == Some(passes.done);
        if dead || stops || settled || passes.rounds.most == Some(passes.done) {
            passes.rounds.last = next.iter().cloned().map(Ok).collect();
            return true;
        }
        if go.is_none() || one.unknown.is_some() {
            passes.may_end(self, next.to_vec());
        }
        false
    }

    /// Returns true if the results of a pass have the shapes of the carried values that it received.
    fn keeps(&self, one: &Loop, next: &[Fact]) -> bool {
        let inputs = &self.program.blocks[one.body].inputs[one.state..];
        let same = |(&input, next): (&usize, &Fact)| {
            let fact = &self.program.slots[input].fact;
            fact.is_alike(next) && (fact.element == next.element || next.element.is_none())
        };
        inputs.iter().zip(next).zip(&one.fixed).all(|(pair, &fixed)| fixed || same(pair))
    }

    /// Returns the facts for a pass in which the shapes of all growing values are unknown.
    fn unknown(&self, one: &Loop, next: Vec<Fact>) -> Vec<Fact> {
        let mut given = one.given.clone();
        let inputs = &self.program.blocks[one.body].inputs[one.state..];
        for ((fact, next), &input) in given[one.state..].iter_mut().zip(next).zip(inputs) {
            *fact = next.variable();
            if !self.program.slots[input].fact.is_alike(fact) {
                (fact.shape, fact.items, fact.bytes) = (None, None, None);
            }
        }
        given
    }

    fn conclude(&mut self, step: &Step<'m>, mut passes: Passes) -> Rounds {
        let (one, open) = (passes.one, passes.exits.is_some());
        passes.rounds.exact &= !open;
        let exits = passes.exits.take().unwrap_or_default();
        let last = std::mem::take(&mut passes.rounds.last);
        let known = passes.mode == Mode::Values && passes.rounds.exact;
        for (at, last) in last.into_iter().enumerate() {
            let last = match (last, exits.get(at)) {
                (Ok(_), _) if one.fixed[at] => Ok(one.given[one.state + at].clone()),
                (Ok(last), _) if one.never_runs() || known => Ok(last),
                (Ok(last), Some(other)) => Ok(self.cover(&last, other)),
                (last, _) => last.map(Fact::variable),
            };
            passes.rounds.last.push(last);
        }
        passes.rounds.open |=
            one.counted && passes.mode == Mode::Shapes && self.asks_for_values(step, &passes);
        if passes.rounds.open {
            return passes.rounds;
        }
        let uncertain = passes.grows && open;
        passes.largest.put(self, uncertain);
        if let (true, Some(most)) = (uncertain, passes.rounds.most) {
            let label = step.label();
            self.assumed.push(match self.options.trips {
                Some(trips) if self.capped && trips == most => {
                    format!("operator {label}: at most {most} iterations are assumed, as given by --trips")
                }
                _ => format!("operator {label}: the loop may end before its {most} iterations; the largest sizes are used"),
            });
        }
        passes.rounds
    }

    /// Returns true if the number of rows or a shape in the body may depend on the iteration number.
    fn asks_for_values(&self, step: &Step, passes: &Passes) -> bool {
        let (one, slots) = (passes.one, &self.program.slots);
        let block = &self.program.blocks[one.body];
        let outside = step.inputs.iter().flatten().chain(&block.captures);
        let bound = outside.into_iter().any(|&at| slots[at].fact.bound);
        let bounded = !bound && slots[block.slots.clone()].iter().any(|slot| slot.fact.bound);
        let rows = !passes.rounds.rows.is_empty() && !passes.rounds.exact;
        !one.never_runs() && (rows || bounded)
    }

    /// Returns upper bounds on the extents of two facts.
    fn cover(&self, a: &Fact, b: &Fact) -> Fact {
        if a.is_alike(b) {
            return Fact { bound: a.bound || b.bound, ..a.clone().variable() };
        }
        let larger = if a.size(self.float).unwrap_or(0) >= b.size(self.float).unwrap_or(0) { a } else { b };
        let mut fact = larger.clone().bounded();
        if let (Some(x), Some(y)) = (&a.shape, &b.shape)
            && x.len() == y.len()
        {
            fact.shape = Some(x.iter().zip(y).map(|(&x, &y)| x.max(y)).collect());
        }
        fact
    }

    /// Returns the error for a loop whose number of iterations is not known although a shape changes.
    fn growing(&self, step: &Step, one: &Loop, next: &[Fact]) -> ImportProblem {
        let inputs = &self.program.blocks[one.body].inputs[one.state..];
        let slots = inputs.iter().map(|&input| &self.program.slots[input]).zip(next);
        let text = |fact: &Fact| fact.shape.as_deref().map_or("of unknown shape".to_owned(), show);
        let mut changing = slots.filter(|(slot, next)| !slot.fact.is_alike(next));
        let (tensor, first, next) = changing.next().map_or_else(Default::default, |(slot, next)| {
            (slot.name.to_owned(), text(&slot.fact), text(next))
        });
        let reason = match (&one.unknown, one.most) {
            (Some(reason), _) => reason.clone(),
            (None, Some(most)) => {
                format!("a condition that depends on data ends the loop before {most} iterations")
            }
            (None, None) => NO_TRIPS.to_owned(),
        };
        let reason = format!("{first} in one iteration and {next} in the next, and {reason}");
        ImportProblem::Growing { operator: step.label(), tensor, reason }
    }
}

impl<'l> Passes<'l> {
    fn new(run: &mut Evaluation, one: &'l Loop, mode: Mode) -> Self {
        let rounds = Rounds {
            complete: true,
            most: one.most,
            exact: one.starts.is_some() && one.unknown.is_none(),
            last: Vec::new(),
            rows: Vec::new(),
            open: false,
        };
        let largest = Largest::new(run, one.body);
        Self { one, mode, largest, rounds, exits: None, done: 0, grows: false, stop_at: None }
    }

    /// Records that the loop may end with these carried values.
    fn may_end(&mut self, run: &Evaluation, carried: Vec<Fact>) {
        self.exits = Some(match self.exits.take() {
            None => carried,
            Some(exits) => exits.iter().zip(&carried).map(|(a, b)| run.cover(a, b)).collect(),
        });
    }

    fn add_rows(&mut self, run: &Evaluation, results: Vec<Fact>) {
        let results = results.into_iter().map(Fact::variable);
        if self.done == 1 {
            self.rounds.rows = results.map(Ok).collect();
            return;
        }
        for (row, result) in self.rounds.rows.iter_mut().zip(results) {
            let Ok(fact) = row else { continue };
            if !fact.is_alike(&result) && !fact.bound && !result.bound {
                let text = |fact: &Fact| fact.shape.as_deref().map_or("of unknown shape".to_owned(), show);
                let (one, other) = (text(fact), text(&result));
                *row = Err(format!("its rows are {one} in one iteration and {other} in another").into());
            } else {
                *fact = run.cover(fact, &result);
            }
        }
    }

    /// Returns the facts for the next pass, which receives these carried values.
    fn handed(&self, next: Vec<Fact>) -> Vec<Fact> {
        let one = self.one;
        let mut given = one.given.clone();
        for (at, next) in next.into_iter().enumerate().filter(|&(at, _)| !one.fixed[at]) {
            given[one.state + at] = if self.mode == Mode::Values { next } else { next.variable() };
        }
        if self.mode == Mode::Values {
            one.count(&mut given, self.done);
        }
        given
    }

    /// Adds the number of the iteration to an error of a later pass.
    fn in_iteration(&self, mut problem: ImportProblem) -> ImportProblem {
        if let ImportProblem::Misfit { reason, .. } | ImportProblem::Unsized { reason, .. } = &mut problem
            && self.done > 1
        {
            *reason = format!("{reason} (in iteration {} of the loop)", self.done);
        }
        problem
    }
}

/// Returns the error for a loop with more iterations than can be inferred.
fn endless(step: &Step, passes: &Passes, go: Option<bool>) -> ImportProblem {
    let iterations = passes.rounds.most.map_or("an unknown number of".to_owned(), |most| most.to_string());
    let remedy = if go.is_none() { "; --trips N gives a smaller number" } else { "" };
    ImportProblem::Unsupported {
        what: format!(
            "operator {}, whose carried values change their shapes in {iterations} iterations,",
            step.label()
        ),
        reason: format!("at most {REPEATS} operators are inferred again in later iterations{remedy}"),
    }
}
