//! Inference for operators that run subgraphs: their arguments and results.

use super::infer::{Inference, Inferred, Outcome, Scope};
use super::known::Known;
use super::model::Step;
use crate::import::Source;
use crate::operators::value::{Fact, count, show};
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
                let handed = handed().map(|known| known.variable()).collect();
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

    /// Infers the values carried by a loop, which must keep their shapes between iterations.
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
        if !settled {
            let why = || "its shape changes between iterations".to_owned();
            carried = carried.iter().map(|known| Known::unknown(why(), known.changed)).collect();
        }
        let inner = called.iter().map(|&called| self.subgraph(called, &carried)).collect();
        (inner, Outcome::Carried(carried))
    }
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
