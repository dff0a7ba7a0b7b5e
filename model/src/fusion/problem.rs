//! The fusion problem of one region: choose among the matches of patterns so that no two chosen matches share
//! an operator.

use super::groups::{Coverage, Fusion, FusionError, relations};
use super::patterns::{Pattern, Patterns};
use crate::graph::Graph;
use crate::units::{OperatorId, RegionId, UnitId};
use plimsoll_support::root;
use plimsoll_support::words;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The limit on the number of matches. Every region must have fewer matches than this.
pub const MAX_MATCHES: usize = 1 << 20;

words! {
    /// The rule that determines which units the members of a group may run on.
    UnitRule {
        /// All members must run on the same unit: ordinary fusion (cross-unit fusion, section 2.1.1, condition
        /// 2).
        Same => "ordinary",
        /// The members may run on any units: the condition is dropped (cross-unit fusion, section 2.1.2).
        Any => "cross-unit",
    }
}

/// Operators that run as one according to a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The index of the pattern in [`Patterns::list`].
    pub pattern: usize,
    /// The operators, one per step.
    pub operators: Vec<OperatorId>,
    /// The positions of the operators in [`FusionProblem::operators`], ascending.
    pub places: Vec<usize>,
    /// The number of relations between the operators.
    pub optimised: usize,
}

/// The region has too many matches to list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("region '{region}' has {MAX_MATCHES} matches or more; the limit was reached at pattern '{pattern}'")]
#[expect(missing_docs, reason = "the message names every field")]
pub struct TooManyMatches {
    pub region: String,
    pub pattern: String,
}

/// The matches in one region. The problem is validated and immutable. No two matches have the same
/// operators. The matches are sorted by the position of their first operator in
/// [`FusionProblem::operators`]. Among matches with the same first operator, longer matches come first.
///
/// Outputs inside a match, except those of its last operator, are read only inside the match. Any other
/// operator that depends on a match therefore depends on the last operator of the match. For any choice of
/// matches, the groups can thus run sequentially in the order of their last operators. Only shared operators
/// make two matches incompatible, so the problem is weighted set packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusionProblem {
    region: RegionId,
    operators: Vec<OperatorId>,
    units: Vec<UnitId>,
    relations: usize,
    matches: Vec<Match>,
}

impl FusionProblem {
    /// Lists the matches of patterns in a region. O(m s^3) for m complete and partial matches of at most s
    /// steps, plus the time to read the region.
    ///
    /// `units` contains one unit per operator, in the order in which the region lists its operators.
    /// [`Units::assign`](super::Units::assign) returns this list.
    ///
    /// # Errors
    /// [`TooManyMatches`] if the region has [`MAX_MATCHES`] matches or more.
    ///
    /// # Panics
    /// If there are fewer units than operators.
    pub fn new(
        graph: &Graph,
        region: RegionId,
        patterns: &Patterns,
        units: &[UnitId],
        rule: UnitRule,
    ) -> Result<Self, TooManyMatches> {
        let listed = &graph.region(region).operators;
        let unit: HashMap<OperatorId, UnitId> =
            listed.iter().enumerate().map(|(at, &id)| (id, units[at])).collect();
        let operators = graph.file_order(region);
        let units: Vec<UnitId> = operators.iter().map(|id| unit[id]).collect();
        let pairs = relations(graph, region);
        let finder = Finder::new(graph, region, &operators, &units, &pairs, rule);
        let mut found: BTreeMap<Vec<usize>, Match> = BTreeMap::new();
        for (at, pattern) in patterns.list().iter().enumerate() {
            finder.all(pattern, &mut |path: &[usize]| {
                let mut places = path.to_vec();
                places.sort_unstable();
                let optimised = finder.inner(&places);
                let ids = path.iter().map(|&place| operators[place]).collect();
                let one = Match { pattern: at, operators: ids, places: places.clone(), optimised };
                found.entry(places).or_insert(one);
                found.len() < MAX_MATCHES
            });
            if found.len() >= MAX_MATCHES {
                let region = graph.region(region).name.clone();
                return Err(TooManyMatches { region, pattern: pattern.name.clone() });
            }
        }
        let mut matches: Vec<Match> = found.into_values().collect();
        matches.sort_by(|a, b| {
            let key = |one: &Match| (one.places[0], usize::MAX - one.places.len(), one.pattern);
            key(a).cmp(&key(b)).then_with(|| a.places.cmp(&b.places))
        });
        Ok(Self { region, operators, units, relations: pairs.len(), matches })
    }

    /// Returns the operators in the order of [`Graph::file_order`].
    pub fn operators(&self) -> &[OperatorId] {
        &self.operators
    }

    /// Returns the unit of each operator, in the order of [`FusionProblem::operators`].
    pub fn units(&self) -> &[UnitId] {
        &self.units
    }

    /// Returns the number of relations of the region.
    pub fn relations(&self) -> usize {
        self.relations
    }

    /// Returns the matches, sorted by first position, then longest first, then by pattern.
    pub fn matches(&self) -> &[Match] {
        &self.matches
    }

    /// Returns the number of relations optimised by the chosen matches.
    ///
    /// # Panics
    /// If a match does not exist.
    pub fn optimised(&self, chosen: &[usize]) -> usize {
        chosen.iter().map(|&at| self.matches[at].optimised).sum()
    }

    /// Returns the coverage of the chosen matches.
    pub fn coverage(&self, chosen: &[usize]) -> Coverage {
        Coverage { optimised: self.optimised(chosen), relations: self.relations }
    }

    /// Returns the fusion formed by the chosen matches. Every other operator is a group of its own.
    ///
    /// # Errors
    /// [`FusionError::Twice`] if matches share an operator.
    ///
    /// # Panics
    /// If `graph` is not the graph of the problem, or a match does not exist.
    pub fn fused(&self, graph: &Graph, chosen: &[usize]) -> Result<Fused, FusionError> {
        let chosen: Vec<Match> = chosen.iter().map(|&at| self.matches[at].clone()).collect();
        let taken: BTreeSet<OperatorId> =
            chosen.iter().flat_map(|one| one.operators.iter().copied()).collect();
        let mut groups: Vec<Vec<OperatorId>> = chosen.iter().map(|one| one.operators.clone()).collect();
        groups.extend(self.operators.iter().filter(|id| !taken.contains(id)).map(|&id| vec![id]));
        Ok(Fused { fusion: Fusion::new(graph, self.region, groups)?, chosen })
    }

    /// Returns the connected components of matches that share operators, each in ascending order. O(m s) for
    /// m matches of s steps.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut owner: Vec<Option<usize>> = vec![None; self.operators.len()];
        let mut parent: Vec<usize> = (0..self.matches.len()).collect();
        for (at, one) in self.matches.iter().enumerate() {
            for &place in &one.places {
                let first = *owner[place].get_or_insert(at);
                let (a, b) = (root(&mut parent, first), root(&mut parent, at));
                parent[a.max(b)] = a.min(b);
            }
        }
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..self.matches.len() {
            sets.entry(root(&mut parent, at)).or_default().push(at);
        }
        sets.into_values().collect()
    }
}

/// A fusion and the matches that form it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fused {
    /// The fusion, including groups of one operator.
    pub fusion: Fusion,
    /// The matches, one per group of several operators.
    pub chosen: Vec<Match>,
}

struct Finder<'a> {
    graph: &'a Graph,
    operators: &'a [OperatorId],
    units: &'a [UnitId],
    rule: UnitRule,
    /// Per position of an operator: the positions of the operators that read its outputs, ascending.
    readers: Vec<Vec<usize>>,
    /// Per position of an operator: true if an output of the operator is also an output of the region.
    wanted: Vec<bool>,
}

impl<'a> Finder<'a> {
    fn new(
        graph: &'a Graph,
        region: RegionId,
        operators: &'a [OperatorId],
        units: &'a [UnitId],
        pairs: &[(OperatorId, OperatorId)],
        rule: UnitRule,
    ) -> Self {
        let place: HashMap<OperatorId, usize> =
            operators.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        let mut readers = vec![Vec::new(); operators.len()];
        for (from, to) in pairs {
            readers[place[from]].push(place[to]);
        }
        for list in &mut readers {
            list.sort_unstable();
        }
        let mut wanted = vec![false; operators.len()];
        for makers in graph.region(region).outputs.iter().map(|&tensor| graph.producer(tensor)) {
            if let Some(&at) = makers.and_then(|maker| place.get(&maker)) {
                wanted[at] = true;
            }
        }
        Self { graph, operators, units, rule, readers, wanted }
    }

    /// Calls `found` for every match of a pattern, until `found` returns false.
    fn all(&self, pattern: &Pattern, found: &mut dyn FnMut(&[usize]) -> bool) {
        let mut path = Vec::with_capacity(pattern.steps.len());
        for place in 0..self.operators.len() {
            if !self.extend(pattern, place, &mut path, found) {
                return;
            }
        }
    }

    /// Appends the operator at `place` to the path if it fits the next step, and continues from there.
    /// Returns false once `found` has returned false.
    fn extend(
        &self,
        pattern: &Pattern,
        place: usize,
        path: &mut Vec<usize>,
        found: &mut dyn FnMut(&[usize]) -> bool,
    ) -> bool {
        if !self.may_follow(pattern, place, path) {
            return true;
        }
        path.push(place);
        let left = pattern.steps.len() - path.len();
        let mut goes_on = true;
        if left == 0 {
            if self.is_closed(path, 0) {
                goes_on = found(path);
            }
        } else if !self.wanted[place] && self.is_closed(path, left) {
            for &next in &self.readers[place] {
                goes_on = goes_on && self.extend(pattern, next, path, found);
            }
        }
        path.pop();
        goes_on
    }

    fn may_follow(&self, pattern: &Pattern, place: usize, path: &[usize]) -> bool {
        let step = &pattern.steps[path.len()];
        let operator = self.graph.operator(self.operators[place]);
        operator.regions.is_empty()
            && step.kinds.has(&operator.kind)
            && !path.contains(&place)
            && step.also.iter().all(|&earlier| self.readers[path[earlier]].contains(&place))
            && (self.rule == UnitRule::Any
                || path.first().is_none_or(|&first| self.units[first] == self.units[place]))
    }

    /// Returns true if every operator that reads an output of an operator on the path is also on the path,
    /// or may still match one of the `left` remaining steps. Outputs of the last step of a match may have
    /// other readers.
    fn is_closed(&self, path: &[usize], left: usize) -> bool {
        let inner = if left == 0 { &path[..path.len() - 1] } else { path };
        inner.iter().all(|&place| {
            let readers = &self.readers[place];
            // Each reader needs a step of its own. If there are more readers than steps, some reader is
            // outside the match.
            readers.len() <= left + path.len()
                && readers.iter().filter(|reader| !path.contains(reader)).count() <= left
        })
    }

    fn inner(&self, places: &[usize]) -> usize {
        let inside =
            |&place: &usize| self.readers[place].iter().filter(|at| places.binary_search(at).is_ok()).count();
        places.iter().map(inside).sum()
    }
}
