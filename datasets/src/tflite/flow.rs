//! Inference for operators that run subgraphs: their arguments and results.

use super::infer::{Inference, Inferred, Outcome, REPEATS, Scope};
use super::known::Known;
use super::model::Step;
use crate::import::Source;
use crate::operators::value::{Fact, Value, count, show};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The maximum number of passes over a loop. If the carried values have not settled by then, their shapes
/// count as changing.
const ROUNDS: usize = 8;

impl<'m, 'a> Inference<'m, 'a> {
    pub(super) fn control(
        &mut self,
        scope: &mut Scope<'m, 'a>,
        at: usize,
        step: &Step<'a>,
        kind: &str,
    ) -> Outcome {
        let called = step.calls.iter().filter_map(|&(called, _)| usize::try_from(called).ok());
        let called: Vec<usize> = called.filter(|&called| called < self.model.subgraphs.len()).collect();
        let known = |tensor: i32| scope.place(tensor).and_then(|at| scope.tensors[at].clone());
        let handed = || step.inputs.iter().map(|tensor| known(tensor).unwrap_or_default());
        let (inner, outcome) = match kind {
            "IF" | "STABLEHLO_CASE" => {
                let handed: Vec<Known> = handed().skip(1).collect();
                self.branches(&called, &handed, scope, step)
            }
            "CALL" | "CALL_ONCE" | "STABLEHLO_COMPOSITE" => {
                let handed: Vec<Known> = handed().collect();
                self.branches(&called, &handed, scope, step)
            }
            "WHILE" | "STABLEHLO_WHILE" => {
                let handed = handed().collect();
                self.rounds(&called, handed)
            }
            _ => {
                // Reducers and comparators run on single elements, whose shapes the file declares.
                let mut inner = Vec::with_capacity(called.len());
                for &called in &called {
                    let elements = self.interface(called);
                    inner.push(self.subgraph(called, &elements));
                }
                (inner, Outcome::Rule(scope.plain(step, kind, true)))
            }
        };
        scope.inner.insert(at, inner);
        outcome
    }

    /// Infers all branches of a conditional, or the only subgraph of a call. If the results of branches
    /// differ, the larger one is used.
    fn branches(
        &mut self,
        called: &[usize],
        handed: &[Known],
        scope: &Scope<'m, 'a>,
        step: &Step<'a>,
    ) -> (Vec<Rc<Inferred>>, Outcome) {
        let inner: Vec<_> = called.iter().map(|&called| self.subgraph(called, handed)).collect();
        let pairs = called.iter().zip(&inner);
        let results: Vec<Vec<Known>> = pairs.map(|(&called, inner)| self.results(called, inner)).collect();
        let mut made = Vec::with_capacity(step.outputs.len());
        for (position, tensor) in step.outputs.iter().enumerate() {
            let mut ways = results.iter().filter_map(|results| results.get(position));
            let mut known = ways.next().cloned().unwrap_or_default();
            for other in ways {
                known = self.larger(scope, tensor, known, other);
            }
            made.push(if called.len() > 1 { known.variable() } else { known });
        }
        (inner, Outcome::Carried(made))
    }

    /// Returns the larger of the results of two branches for one tensor. If either shape is unknown, the
    /// shape of the result is unknown.
    fn larger(&mut self, scope: &Scope<'m, 'a>, tensor: i32, own: Known, other: &Known) -> Known {
        let (source, changed) = (own.source.max(other.source), own.changed || other.changed);
        let (Some(a), Some(b)) = (own.fact.shape.as_deref(), other.fact.shape.as_deref()) else {
            let unknown = if own.fact.shape.is_none() { own } else { other.clone() };
            return Known { source, changed, ..unknown };
        };
        if a == b {
            return Known { source, changed, ..own };
        }
        if let Some(at) = scope.place(tensor) {
            let name = scope.subgraph.tensors[at].named(at);
            self.varying.add((scope.index, at), || format!("'{name}' is {} or {}", show(a), show(b)));
        }
        let larger = if count(a) >= count(b) { own } else { other.clone() };
        Known { source: Source::Assumed, changed, ..larger }
    }

    /// Infers the values carried by a loop. If they change their shapes, the loop is inferred once per
    /// iteration.
    fn rounds(&mut self, called: &[usize], mut carried: Vec<Known>) -> (Vec<Rc<Inferred>>, Outcome) {
        let Some(&body) = called.last() else {
            return (Vec::new(), Outcome::Rule(Err("it runs no subgraph".into())));
        };
        let subgraph = &self.model.subgraphs[body];
        for (known, tensor) in carried.iter_mut().zip(subgraph.inputs.iter()) {
            let at = usize::try_from(tensor).unwrap_or(usize::MAX);
            let Some(info) = subgraph.tensors.get(at) else { continue };
            if let Some(shape) = self.given.tensor(info, at) {
                *known = known.shaped(shape, info);
            }
        }
        let first = carried.clone();
        carried = carried.iter().map(Known::variable).collect();
        let mut settled = false;
        for _ in 0..ROUNDS {
            let inferred = self.subgraph(body, &carried);
            let results = self.results(body, &inferred);
            settled = true;
            for (known, result) in carried.iter_mut().zip(&results) {
                let later = after_a_round(known, result);
                settled &= later == *known;
                *known = later;
            }
            if settled {
                break;
            }
        }
        let grows =
            |(known, first): (&Known, &Known)| first.fact.shape.is_some() && known.fact.shape.is_none();
        if !settled || carried.iter().zip(&first).any(grows) {
            return self.growing(called, carried, first);
        }
        self.capped = true;
        let inner = called.iter().map(|&called| self.subgraph(called, &carried)).collect();
        (inner, Outcome::Carried(carried))
    }

    /// Infers a loop that changes the shapes of carried values. `carried` contains the facts that hold in all
    /// iterations.
    fn growing(
        &mut self,
        called: &[usize],
        mut carried: Vec<Known>,
        first: Vec<Known>,
    ) -> (Vec<Rc<Inferred>>, Outcome) {
        let trips = self.given.trips();
        let mut found = self.iterate(called, first.clone(), None);
        if let (None, Some(trips)) = (&found, trips) {
            found = self.iterate(called, first, Some(trips));
            self.capped = true;
        }
        if let Some((inner, last)) = found {
            return (inner, Outcome::Carried(last));
        }
        for known in carried.iter_mut().filter(|known| known.fact.shape.is_none()) {
            let why = known.why.as_deref().unwrap_or("its shape changes between iterations");
            let limit = match trips {
                Some(trips) => {
                    format!("at most {REPEATS} operators are inferred again, too few for {trips} iterations")
                }
                None => {
                    "the number of iterations is not known; --trips N gives the largest number".to_owned()
                }
            };
            known.why = Some(format!("{why}, and {limit}").into());
        }
        let inner = called.iter().map(|&called| self.subgraph(called, &carried)).collect();
        (inner, Outcome::Carried(carried))
    }

    /// Infers every iteration of a loop. Returns the largest facts about its subgraphs, and the carried
    /// values after the last iteration. `most` is an assumed limit on the number of iterations; the carried
    /// values are then upper bounds. Without it, the condition must be known in every iteration. Returns
    /// `None` if it is not, or if there are too many iterations.
    fn iterate(
        &mut self,
        called: &[usize],
        mut carried: Vec<Known>,
        most: Option<u64>,
    ) -> Option<(Vec<Rc<Inferred>>, Vec<Known>)> {
        let &[condition, body] = called else { return None };
        let work = self.work;
        let mut inner: Vec<Rc<Inferred>> = Vec::new();
        let mut exits: Vec<Known> = Vec::new();
        let mut done = 0u64;
        loop {
            if most.is_some() {
                carried = carried.iter().map(Known::variable).collect();
                exits = if done == 0 { carried.clone() } else { covers(&exits, &carried) };
            }
            let tested = self.subgraph(condition, &carried);
            let ends = match most {
                Some(most) => done == most,
                None => !is_true(self.results(condition, &tested).first()?)?,
            };
            let made = if ends && done > 0 { None } else { Some(self.subgraph(body, &carried)) };
            let passes = [Some((condition, &tested)), made.as_ref().map(|made| (body, made))];
            for (at, (index, pass)) in passes.into_iter().flatten().enumerate() {
                match inner.get_mut(at) {
                    Some(largest) => *largest = self.larger_of(index, largest, pass, most.is_some()),
                    None => inner.push(Rc::clone(pass)),
                }
            }
            let spent = std::mem::replace(&mut self.work, work) - work;
            self.repeats = self.repeats.saturating_sub(spent.max(1));
            if ends {
                return Some((inner, if most.is_some() { exits } else { carried }));
            }
            if self.repeats == 0 || self.failure.is_some() {
                return None;
            }
            let made = made?;
            carried = self.results(body, &made);
            done += 1;
        }
    }

    /// Returns the larger fact about every tensor of a subgraph and of the subgraphs that it runs. If
    /// `assumed` is true, sizes that differ are upper bounds.
    fn larger_of(&self, index: usize, a: &Rc<Inferred>, b: &Rc<Inferred>, assumed: bool) -> Rc<Inferred> {
        if Rc::ptr_eq(a, b) {
            return Rc::clone(a);
        }
        let larger = |(a, b): (&Option<Known>, &Option<Known>)| match (a, b) {
            (Some(a), Some(b)) => Some(larger_fact(a, b, assumed)),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let tensors = a.tensors.iter().zip(&b.tensors).map(larger).collect();
        let steps = &self.model.subgraphs[index].operators;
        let mut inner = b.inner.clone();
        for (&at, own) in &a.inner {
            let called = steps[at].calls.iter().filter_map(|&(called, _)| usize::try_from(called).ok());
            let called = called.filter(|&called| called < self.model.subgraphs.len());
            let theirs = inner.entry(at).or_default();
            let pairs = called.zip(own.iter().zip(theirs.iter()));
            let both = pairs.map(|(called, (a, b))| self.larger_of(called, a, b, assumed)).collect();
            *theirs = both;
        }
        let mut apart: BTreeSet<(i32, i32)> = a.apart.union(&b.apart).copied().collect();
        for one in [a, b] {
            let shape =
                |tensor: i32| one.tensors.get(usize::try_from(tensor).ok()?)?.as_ref()?.fact.shape.as_ref();
            for step in steps {
                let Some(output) = step.outputs.get(0) else { continue };
                let differs = |&input: &i32| count_of(shape(input)) != count_of(shape(output));
                apart.extend(step.inputs.iter().filter(differs).map(|input| (input, output)));
            }
        }
        let mut parts = a.parts.clone();
        parts.retain(|at, own| b.parts.get(at) == Some(own));
        Rc::new(Inferred { tensors, inner, apart, parts })
    }
}

fn count_of(shape: Option<&Vec<u64>>) -> Option<u64> {
    shape.and_then(|shape| count(shape))
}

/// Returns the first element as a truth value, if it is known.
fn is_true(known: &Known) -> Option<bool> {
    match known.fact.value.as_deref()? {
        Value::Ints(list) => list.first().map(|&value| value != 0),
        Value::Floats(_) => None,
    }
}

/// Returns the fact with more elements. A shape that is unknown in one fact is unknown in the result.
fn larger_fact(a: &Known, b: &Known, assumed: bool) -> Known {
    let (source, changed) = (a.source.max(b.source), a.changed || b.changed);
    let same = a.fact.shape == b.fact.shape;
    let larger = match (&a.fact.shape, &b.fact.shape) {
        (Some(_), None) => b,
        (Some(x), Some(y)) if count(x) < count(y) => b,
        _ => a,
    };
    let fact = if a.fact == b.fact { a.fact.clone() } else { larger.fact.clone().variable() };
    let source = if assumed && !same { Source::Assumed } else { source };
    Known { fact, source, changed, why: larger.why.clone() }
}

/// Returns upper bounds on the extents of the carried values.
fn covers(a: &[Known], b: &[Known]) -> Vec<Known> {
    let cover = |(a, b): (&Known, &Known)| {
        let mut known = larger_fact(a, b, true);
        if let (Some(x), Some(y)) = (&a.fact.shape, &b.fact.shape)
            && x != y
        {
            if x.len() == y.len() {
                known.fact.shape = Some(x.iter().zip(y).map(|(&x, &y)| x.max(y)).collect());
            }
            known.fact.bound = true;
        }
        known
    };
    a.iter().zip(b).map(cover).collect()
}

/// Returns the fact about a carried tensor after an iteration with this result.
fn after_a_round(known: &Known, result: &Known) -> Known {
    let (source, changed) = (known.source.max(result.source), known.changed || result.changed);
    let Some(shape) = known.fact.shape.as_deref().filter(|_| known.fact.shape != result.fact.shape) else {
        return Known { source, changed, ..known.clone() };
    };
    let then = match (&result.fact.shape, &result.why) {
        (Some(then), _) => show(then),
        (None, Some(why)) => format!("not known ({why})"),
        (None, None) => "not known".to_owned(),
    };
    let why = format!("its shape changes between iterations: {}, then {then}", show(shape));
    Known { fact: Fact { shape: None, ..known.fact.clone() }, source, changed, why: Some(why.into()) }
}
