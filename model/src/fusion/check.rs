//! The checker for fusions. It reads the graph directly and shares no code with the search for matches.

use super::patterns::Patterns;
use super::problem::{Fused, FusionProblem, Match, UnitRule};
use super::units::{Units, UnitsError};
use crate::graph::Graph;
use crate::units::{OperatorId, TensorId};
use std::collections::{HashMap, HashSet};

/// A violation of the rules for a valid fusion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum FusionViolation {
    /// A group of several operators has no match, or a match has no group.
    #[error("{0} is in a group without a match, or in a match without a group")]
    NoMatch(String),
    /// The chosen matches are not in ascending order, or one of them does not exist.
    #[error("chosen match {at} is out of ascending order, or there are only {matches} matches")]
    Choice { at: usize, matches: usize },
    /// Two chosen matches have a common operator.
    #[error("matches {first} and {second} share an operator")]
    Shared { first: usize, second: usize },
    /// The pattern does not exist, or its number of steps differs from the number of operators in the match.
    #[error(
        "the match at {operator} has {steps} operators, but pattern {pattern} does not exist or has a different number of steps"
    )]
    NoPattern { operator: String, pattern: usize, steps: usize },
    /// The kind of the operator does not fit the step, or the operator owns regions.
    #[error("{operator} cannot be step {step} of pattern '{pattern}'")]
    Kind {
        operator: String,
        /// The step, counted from 1.
        step: usize,
        /// The name of the pattern.
        pattern: String,
    },
    #[error("{to} does not read an output of {from}")]
    Unread { from: String, to: String },
    /// A tensor that must be internal to a group is used outside the group.
    #[error("'{tensor}', an internal tensor that {operator} produces, is used outside the group")]
    Wanted { tensor: String, operator: String },
    /// The group has members on different units, although the rule requires a single unit.
    #[error("{operator} runs on a different unit than the first operator of its group")]
    Unit { operator: String },
    #[error("{0}")]
    NoUnit(String),
    /// The number of optimised relations is wrong, or an operator of the match is not in the region.
    #[error("the match of {operator} optimises {actual} relations, but {said} are stated")]
    Count { operator: String, said: usize, actual: usize },
}

/// Returns the violations of a choice of matches: positions that are not ascending or do not exist, and
/// matches that share an operator with an earlier match. The list is empty if the choice is valid. O(n) for n
/// operators in the chosen matches.
pub fn check_choice(problem: &FusionProblem, chosen: &[usize]) -> Vec<FusionViolation> {
    let matches = problem.matches();
    let mut found = Vec::new();
    let mut taken: HashMap<OperatorId, usize> = HashMap::new();
    let mut last = None;
    for &at in chosen {
        if at >= matches.len() || last.is_some_and(|last| at <= last) {
            found.push(FusionViolation::Choice { at, matches: matches.len() });
            continue;
        }
        last = Some(at);
        let operators = matches[at].operators.iter();
        let shared: Vec<usize> = operators.filter_map(|&operator| taken.insert(operator, at)).collect();
        found.extend(shared.first().map(|&first| FusionViolation::Shared { first, second: at }));
    }
    found
}

/// Returns all violations of a fusion for the given patterns, units and rule. O(n s) in the worst case, for
/// n operators in the matches and s operators and tensors in the graph.
pub fn check_fusion(
    graph: &Graph,
    patterns: &Patterns,
    units: &Units,
    rule: UnitRule,
    fused: &Fused,
) -> Vec<FusionViolation> {
    let mut found = Vec::new();
    let mut matched: HashSet<Vec<OperatorId>> = HashSet::new();
    for one in &fused.chosen {
        let mut members = one.operators.clone();
        members.sort_unstable();
        matched.insert(members);
    }
    let grouped = fused.fusion.groups().iter().filter(|members| members.len() > 1);
    let grouped: HashSet<Vec<OperatorId>> = grouped
        .map(|members| {
            let mut members = members.clone();
            members.sort_unstable();
            members
        })
        .collect();
    let mut odd: Vec<&Vec<OperatorId>> = matched.symmetric_difference(&grouped).collect();
    odd.sort();
    found.extend(
        odd.iter().filter_map(|members| Some(FusionViolation::NoMatch(graph.label(*members.first()?)))),
    );
    let checker = Checker { graph, patterns, units, rule };
    for one in &fused.chosen {
        checker.check(one, fused, &mut found);
    }
    found
}

struct Checker<'a> {
    graph: &'a Graph,
    patterns: &'a Patterns,
    units: &'a Units,
    rule: UnitRule,
}

impl Checker<'_> {
    fn check(&self, one: &Match, fused: &Fused, found: &mut Vec<FusionViolation>) {
        let graph = self.graph;
        let Some(&first) = one.operators.first() else { return };
        let pattern = self.patterns.list().get(one.pattern);
        let Some(pattern) = pattern.filter(|pattern| pattern.steps.len() == one.operators.len()) else {
            let (operator, steps) = (graph.label(first), one.operators.len());
            found.push(FusionViolation::NoPattern { operator, pattern: one.pattern, steps });
            return;
        };
        for (at, (&id, step)) in one.operators.iter().zip(&pattern.steps).enumerate() {
            let operator = graph.operator(id);
            if !step.kinds.has(&operator.kind) || !operator.regions.is_empty() {
                let (operator, pattern) = (graph.label(id), pattern.name.clone());
                found.push(FusionViolation::Kind { operator, step: at + 1, pattern });
            }
            let before = (at > 0).then(|| at - 1);
            for &earlier in before.iter().chain(&step.also) {
                let from = one.operators[earlier];
                if !self.passes(from, id) {
                    found.push(FusionViolation::Unread { from: graph.label(from), to: graph.label(id) });
                }
            }
            if at + 1 < one.operators.len() {
                self.kept(id, one, found);
            }
            self.on_unit(first, id, found);
        }
        let pairs = one.operators.iter().flat_map(|&from| one.operators.iter().map(move |&to| (from, to)));
        let actual = pairs.filter(|&(from, to)| from != to && self.passes(from, to)).count();
        if actual != one.optimised || one.operators.iter().any(|&id| graph.home(id) != fused.fusion.region())
        {
            let operator = graph.label(first);
            found.push(FusionViolation::Count { operator, said: one.optimised, actual });
        }
    }

    /// Returns true if operator `to` reads an output of operator `from`. Assumes that neither operator owns
    /// regions.
    fn passes(&self, from: OperatorId, to: OperatorId) -> bool {
        let (from, to) = (self.graph.operator(from), self.graph.operator(to));
        from.outputs.iter().any(|tensor| to.inputs.contains(tensor))
    }

    /// Checks that the outputs of an operator are used only by members of the match.
    fn kept(&self, id: OperatorId, one: &Match, found: &mut Vec<FusionViolation>) {
        for &tensor in &self.graph.operator(id).outputs {
            let read = self.graph.consumers(tensor).iter().any(|reader| !one.operators.contains(reader));
            if read || self.leaves(tensor) {
                let (tensor, operator) = (self.graph.tensor(tensor).name.clone(), self.graph.label(id));
                found.push(FusionViolation::Wanted { tensor, operator });
            }
        }
    }

    /// Returns true if a tensor is an output of some region.
    fn leaves(&self, tensor: TensorId) -> bool {
        self.graph.regions().iter().any(|region| region.outputs.contains(&tensor))
    }

    fn on_unit(&self, first: OperatorId, id: OperatorId, found: &mut Vec<FusionViolation>) {
        let unit = |id| self.units.of(self.graph, id);
        match (unit(first), unit(id)) {
            (Ok(a), Ok(b)) if a == b || self.rule == UnitRule::Any => {}
            (Ok(_), Ok(_)) => found.push(FusionViolation::Unit { operator: self.graph.label(id) }),
            (Err(error), _) | (_, Err(error)) => {
                let text: UnitsError = error;
                found.push(FusionViolation::NoUnit(text.to_string()));
            }
        }
    }
}
