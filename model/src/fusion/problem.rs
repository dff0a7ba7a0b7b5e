//! The fusion problem of one region: matches of patterns, of which those chosen may not share an operator.

use super::groups::{Coverage, Fusion, FusionError, relations};
use super::patterns::{Pattern, Patterns};
use crate::graph::Graph;
use crate::units::{OperatorId, RegionId, UnitId, root};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// A region may have so many matches.
pub const MAX_MATCHES: usize = 1 << 20;

/// Which units the members of a group may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitRule {
    /// All on the same: ordinary fusion (S3, section 2.1.1, condition 2).
    Same,
    /// Each on its own: the condition dropped (S3, section 2.1.2).
    Any,
}

impl UnitRule {
    /// The word in files and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "ordinary",
            Self::Any => "cross-unit",
        }
    }
}

impl fmt::Display for UnitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Operators that a pattern lets run as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Position of the pattern.
    pub pattern: usize,
    /// One operator per step.
    pub operators: Vec<OperatorId>,
    /// Their places in the order of the region, ascending.
    pub places: Vec<usize>,
    /// Relations among them.
    pub optimised: usize,
}

/// More matches than can be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("region '{region}' has more than {MAX_MATCHES} matches, the last of pattern '{pattern}'")]
#[expect(missing_docs, reason = "the message names every field")]
pub struct TooManyMatches {
    pub region: String,
    pub pattern: String,
}

/// What may be fused in one region, validated and immutable: matches that differ in their operators, in the order of
/// the region, longer ones first.
///
/// As everything made inside a match but by its last operator is read inside only, whoever waits for a match waits for
/// its last operator; groups in the order of their last members can therefore run one after the other, whichever matches are chosen. Nothing but
/// shared operators keeps two matches apart: the problem is weighted set packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusionProblem {
    region: RegionId,
    operators: Vec<OperatorId>,
    units: Vec<UnitId>,
    relations: usize,
    matches: Vec<Match>,
}

impl FusionProblem {
    /// The matches of patterns in a region whose operators run on `units`, in the order in which the region lists them
    /// ([`Units::assign`](super::Units::assign)). O(matches x steps^2) beyond reading the region.
    ///
    /// # Errors
    /// [`TooManyMatches`].
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

    /// The operators, in the order of [`Graph::file_order`].
    pub fn operators(&self) -> &[OperatorId] {
        &self.operators
    }

    /// The unit of each.
    pub fn units(&self) -> &[UnitId] {
        &self.units
    }

    /// How many relations there are.
    pub fn relations(&self) -> usize {
        self.relations
    }

    /// The matches: by first place, of those the longest first, of those in the order of the patterns.
    pub fn matches(&self) -> &[Match] {
        &self.matches
    }

    /// Relations optimised by these matches.
    ///
    /// # Panics
    /// If there is no such match.
    pub fn optimised(&self, chosen: &[usize]) -> usize {
        chosen.iter().map(|&at| self.matches[at].optimised).sum()
    }

    /// Coverage by these matches.
    pub fn coverage(&self, chosen: &[usize]) -> Coverage {
        Coverage { optimised: self.optimised(chosen), relations: self.relations }
    }

    /// The fusion of these matches, everybody else on its own.
    ///
    /// # Errors
    /// [`FusionError::Twice`] where matches share an operator.
    ///
    /// # Panics
    /// If the graph is another one, or there is no such match.
    pub fn fused(&self, graph: &Graph, chosen: &[usize]) -> Result<Fused, FusionError> {
        let chosen: Vec<Match> = chosen.iter().map(|&at| self.matches[at].clone()).collect();
        let taken: BTreeSet<OperatorId> =
            chosen.iter().flat_map(|one| one.operators.iter().copied()).collect();
        let mut groups: Vec<Vec<OperatorId>> = chosen.iter().map(|one| one.operators.clone()).collect();
        groups.extend(self.operators.iter().filter(|id| !taken.contains(id)).map(|&id| vec![id]));
        Ok(Fused { fusion: Fusion::new(graph, self.region, groups)?, chosen })
    }

    /// Sets of matches that share no operator with any other set, each ascending; O(matches x steps).
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

/// A fusion and the matches it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fused {
    /// All groups, those of one operator included.
    pub fusion: Fusion,
    /// The matches, one per group of more than one operator.
    pub chosen: Vec<Match>,
}

struct Finder<'a> {
    graph: &'a Graph,
    operators: &'a [OperatorId],
    units: &'a [UnitId],
    rule: UnitRule,
    /// Per place: who reads its results, ascending.
    readers: Vec<Vec<usize>>,
    /// Per place: whether a result is wanted when the region has ended.
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

    /// Tells `found` every match of a pattern, until it has had enough.
    fn all(&self, pattern: &Pattern, found: &mut dyn FnMut(&[usize]) -> bool) {
        let mut path = Vec::with_capacity(pattern.steps.len());
        for place in 0..self.operators.len() {
            if !self.extend(pattern, place, &mut path, found) {
                return;
            }
        }
    }

    /// Takes a place as the next step, if it may be, and goes on from there.
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

    /// Whether all results but those of the last step of a whole match can still be read inside only: so many steps are left.
    fn is_closed(&self, path: &[usize], left: usize) -> bool {
        let inner = if left == 0 { &path[..path.len() - 1] } else { path };
        inner.iter().all(|&place| {
            let readers = &self.readers[place];
            // A reader takes a step; more readers than steps cannot all be inside.
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
