//! Partitions of a region's operators into groups, and what they cover.

use crate::graph::{Graph, Role};
use crate::topological::topological;
use crate::units::{OperatorId, RegionId, TensorId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// Why groups are no fusion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum FusionError {
    #[error("group {0} has no members")]
    Empty(usize),
    /// An operator of another region, or of none.
    #[error("group {group} has {operator}, which is not of region '{region}'")]
    Foreign {
        /// Which group, as given.
        group: usize,
        operator: String,
        region: String,
    },
    /// An operator in two groups, or twice in one.
    #[error("{operator} is in group {first} and in group {second}")]
    Twice { operator: String, first: usize, second: usize },
    #[error("{0} is in no group")]
    Missing(String),
    #[error("group {group} falls apart: nothing passes between {operator} and the rest")]
    Apart {
        /// Which group, as given.
        group: usize,
        /// Somebody who is not connected with its first member.
        operator: String,
    },
    #[error("groups wait for each other; one of them is that of {0}")]
    Cycle(String),
}

/// The relations of a region: pairs of different operators of which the second reads what the first makes, what regions inside it
/// read included; each pair once, ascending (S3, eq. 2). O(size log size).
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

/// Sets of operators of a region that are of one kind and read the same results, weights aside: what horizontal fusion would merge. No one
/// of a set waits for another. Ascending; O(size log size).
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

/// Operators of one region in groups, each of which runs as one. Every operator is in one group, every group is connected, and the
/// groups can run one after the other: validated once, immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fusion {
    region: RegionId,
    groups: Vec<Vec<OperatorId>>,
}

impl Fusion {
    /// A fusion of these groups. They are kept in an order in which they can run, members in the
    /// order of [`Graph::file_order`]. O(size log size).
    ///
    /// # Errors
    /// See [`FusionError`]; groups are numbered as given.
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

    /// Every operator on its own.
    pub fn none(graph: &Graph, region: RegionId) -> Self {
        let groups = graph.file_order(region).into_iter().map(|id| vec![id]).collect();
        Self { region, groups }
    }

    /// Whose operators these are.
    pub fn region(&self) -> RegionId {
        self.region
    }

    /// The groups, in an order in which they can run.
    pub fn groups(&self) -> &[Vec<OperatorId>] {
        &self.groups
    }

    /// The position of the group of every operator of the region.
    pub fn group_of(&self) -> HashMap<OperatorId, usize> {
        let members = self.groups.iter().enumerate();
        members.flat_map(|(group, members)| members.iter().map(move |&id| (id, group))).collect()
    }

    /// Operators, groups counted once less: how many fewer there are to run.
    pub fn merged(&self) -> usize {
        self.groups.iter().map(|members| members.len() - 1).sum()
    }

    /// Optimised relations of all relations (S3, eq. 3). O(size log size).
    ///
    /// # Panics
    /// If the graph is another one.
    pub fn coverage(&self, graph: &Graph) -> Coverage {
        let home = self.group_of();
        let pairs = relations(graph, self.region);
        let optimised = pairs.iter().filter(|(from, to)| home[from] == home[to]).count();
        Coverage { optimised, relations: pairs.len() }
    }
}

/// Optimised relations of all relations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Coverage {
    /// Relations within groups.
    pub optimised: usize,
    /// All relations of the region.
    pub relations: usize,
}

impl Coverage {
    /// The share; none where there are no relations.
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

/// Looks from the first member of every group along relations inside it.
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

/// The groups in an order in which they can run; of those ready, the one with the first operator.
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
