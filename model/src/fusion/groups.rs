//! Partitions of the operators of a region into groups, and their coverage.

use crate::graph::{Graph, Role};
use crate::topological::topological;
use crate::units::{OperatorId, RegionId, TensorId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// The reason why groups do not form a fusion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum FusionError {
    #[error("group {0} has no members")]
    Empty(usize),
    /// The operator belongs to another region, or to no region.
    #[error("group {group} contains {operator}, which does not belong to region '{region}'")]
    Foreign {
        /// The position of the group in the input, counted from 0.
        group: usize,
        operator: String,
        region: String,
    },
    /// The operator is in two groups, or twice in one group.
    #[error("{operator} is in group {first} and in group {second}")]
    Twice { operator: String, first: usize, second: usize },
    #[error("{0} is in no group")]
    Missing(String),
    #[error(
        "group {group} is not connected: no chain of tensors inside the group links {operator} to its first member"
    )]
    Apart {
        /// The position of the group in the input, counted from 0.
        group: usize,
        /// A member that is not connected to the first member.
        operator: String,
    },
    #[error("groups form a dependency cycle, which includes the group of {0}")]
    Cycle(String),
}

/// Returns the relations of a region: pairs (a, b) of distinct operators where b reads an output of a. An
/// operator also reads what its regions read. The pairs are distinct and in ascending order (cross-unit
/// fusion, eq. 2). O(s log s) if the operators read s tensors in total.
pub fn relations(graph: &Graph, region: RegionId) -> Vec<(OperatorId, OperatorId)> {
    let mut pairs = BTreeSet::new();
    for &id in &graph.region(region).operators {
        let makers = graph.reads(id).into_iter().filter_map(|tensor| graph.producer(tensor));
        pairs.extend(
            makers.filter(|&maker| graph.home(maker) == region && maker != id).map(|maker| (maker, id)),
        );
    }
    pairs.into_iter().collect()
}

/// Returns the candidates for horizontal fusion: sets of operators of a region that have the same kind and
/// read the same tensors in the same order, apart from weights. Operators that own regions or read nothing
/// but weights are never candidates. No two operators of a set depend on each other. Sets and members are in
/// ascending order. O(s log s) for a region of size s.
pub fn siblings(graph: &Graph, region: RegionId) -> Vec<Vec<OperatorId>> {
    let mut sets: BTreeMap<(&str, Vec<TensorId>), Vec<OperatorId>> = BTreeMap::new();
    for &id in &graph.region(region).operators {
        let operator = graph.operator(id);
        let inputs = operator.inputs.iter().copied();
        let read: Vec<TensorId> =
            inputs.filter(|&tensor| graph.tensor(tensor).role != Role::Weight).collect();
        if !read.is_empty() && operator.regions.is_empty() {
            sets.entry((&operator.kind, read)).or_default().push(id);
        }
    }
    let mut sets: Vec<Vec<OperatorId>> = sets.into_values().filter(|set| set.len() > 1).collect();
    sets.sort();
    sets
}

/// A partition of the operators of a region into groups. Each group runs as one operator.
///
/// A fusion is validated and immutable: every operator is in exactly one group, every group is connected, and
/// the groups can run sequentially.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fusion {
    region: RegionId,
    groups: Vec<Vec<OperatorId>>,
}

impl Fusion {
    /// Creates a fusion from groups. O(s log s) for a region of size s.
    ///
    /// The groups are stored in an order in which they can run. The members of a group are in the order of
    /// [`Graph::file_order`].
    ///
    /// # Errors
    /// The first [`FusionError`] found. Groups are numbered as in the input, from 0.
    pub fn new(
        graph: &Graph,
        region: RegionId,
        mut groups: Vec<Vec<OperatorId>>,
    ) -> Result<Self, FusionError> {
        let order = graph.file_order(region);
        let place: HashMap<OperatorId, usize> = order.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        let mut home: HashMap<OperatorId, usize> = HashMap::new();
        for (group, members) in groups.iter().enumerate() {
            if members.is_empty() {
                return Err(FusionError::Empty(group));
            }
            for &id in members {
                if !place.contains_key(&id) {
                    let region = graph.region(region).name.clone();
                    return Err(FusionError::Foreign { group, operator: graph.label(id), region });
                }
                if let Some(first) = home.insert(id, group) {
                    return Err(FusionError::Twice { operator: graph.label(id), first, second: group });
                }
            }
        }
        if let Some(&id) = order.iter().find(|id| !home.contains_key(id)) {
            return Err(FusionError::Missing(graph.label(id)));
        }
        for members in &mut groups {
            members.sort_by_key(|id| place[id]);
        }
        let pairs = relations(graph, region);
        check_connected(graph, &groups, &home, &pairs)?;
        let groups = ordered(graph, groups, &place, &pairs)?;
        Ok(Self { region, groups })
    }

    /// Creates the fusion in which every operator is a group of its own.
    pub fn none(graph: &Graph, region: RegionId) -> Self {
        let groups = graph.file_order(region).into_iter().map(|id| vec![id]).collect();
        Self { region, groups }
    }

    /// Returns the region whose operators are grouped.
    pub fn region(&self) -> RegionId {
        self.region
    }

    /// Returns the groups in an order in which they can run.
    pub fn groups(&self) -> &[Vec<OperatorId>] {
        &self.groups
    }

    /// Returns the index of the group of every operator of the region.
    pub fn group_of(&self) -> HashMap<OperatorId, usize> {
        let members = self.groups.iter().enumerate();
        members.flat_map(|(group, members)| members.iter().map(move |&id| (id, group))).collect()
    }

    /// Returns the number of operators saved: the number of operators minus the number of groups.
    pub fn merged(&self) -> usize {
        self.groups.iter().map(|members| members.len() - 1).sum()
    }

    /// Returns the coverage: the number of optimised relations out of all relations (cross-unit fusion, eq.
    /// 3). O(s log s) for a region of size s.
    ///
    /// # Panics
    /// If `graph` is not the graph of the fusion.
    pub fn coverage(&self, graph: &Graph) -> Coverage {
        let home = self.group_of();
        let pairs = relations(graph, self.region);
        let optimised = pairs.iter().filter(|(from, to)| home[from] == home[to]).count();
        Coverage { optimised, relations: pairs.len() }
    }
}

/// The number of optimised relations out of all relations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Coverage {
    /// The number of relations within groups.
    pub optimised: usize,
    /// The total number of relations.
    pub relations: usize,
}

impl Coverage {
    /// Returns the share of optimised relations; `None` if there are no relations.
    pub fn ratio(self) -> Option<f64> {
        (self.relations > 0).then(|| self.optimised as f64 / self.relations as f64)
    }
}

impl std::ops::Add for Coverage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { optimised: self.optimised + other.optimised, relations: self.relations + other.relations }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.optimised, self.relations)?;
        self.ratio().map_or(Ok(()), |ratio| write!(f, " ({:.1} %)", 100.0 * ratio))
    }
}

/// Checks that all members of a group are reachable from its first member along relations inside the group,
/// in either direction.
fn check_connected(
    graph: &Graph,
    groups: &[Vec<OperatorId>],
    home: &HashMap<OperatorId, usize>,
    pairs: &[(OperatorId, OperatorId)],
) -> Result<(), FusionError> {
    let mut next: HashMap<OperatorId, Vec<OperatorId>> = HashMap::new();
    for &(from, to) in pairs.iter().filter(|(from, to)| home[from] == home[to]) {
        next.entry(from).or_default().push(to);
        next.entry(to).or_default().push(from);
    }
    for (group, members) in groups.iter().enumerate() {
        let mut seen = BTreeSet::from([members[0]]);
        let mut todo = vec![members[0]];
        while let Some(id) = todo.pop() {
            for &other in next.get(&id).into_iter().flatten() {
                if seen.insert(other) {
                    todo.push(other);
                }
            }
        }
        if let Some(&id) = members.iter().find(|id| !seen.contains(id)) {
            return Err(FusionError::Apart { group, operator: graph.label(id) });
        }
    }
    Ok(())
}

/// Returns the groups in an order in which they can run. Among all ready groups, the one with the earliest
/// operator comes next.
fn ordered(
    graph: &Graph,
    mut groups: Vec<Vec<OperatorId>>,
    place: &HashMap<OperatorId, usize>,
    pairs: &[(OperatorId, OperatorId)],
) -> Result<Vec<Vec<OperatorId>>, FusionError> {
    groups.sort_by_key(|members| place[&members[0]]);
    let mut home = HashMap::new();
    for (group, members) in groups.iter().enumerate() {
        home.extend(members.iter().map(|&id| (id, group)));
    }
    let mut next = vec![BTreeSet::new(); groups.len()];
    for (from, to) in pairs.iter().map(|(from, to)| (home[from], home[to])) {
        if from != to {
            next[from].insert(to);
        }
    }
    match topological(groups.len(), |at| next[at].iter().copied()) {
        Ok(order) => Ok(order.into_iter().map(|at| std::mem::take(&mut groups[at])).collect()),
        Err(waiting) => {
            let at = waiting.iter().position(|&count| count > 0).unwrap_or(0);
            Err(FusionError::Cycle(graph.label(groups[at][0])))
        }
    }
}
