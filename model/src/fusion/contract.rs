//! Contraction: the graph in which every group is one operator.

use super::groups::Fusion;
use crate::graph::{AliasKind, Graph, GraphBuilder, GraphError, Operator};
use crate::units::{OperatorId, RegionId, TensorId};
use std::collections::HashSet;

/// Builds the graph in which each group is one operator. `fusions` contains one fusion per region, indexed by
/// region id. If groups have a bounded size, the time is linear in the size of the graph.
///
/// The operator of a group has the joined names and the joined kinds of the members. Tensors produced and
/// read only inside a group disappear, because their placement is internal to the group. The cost of the
/// operator is the sum of the costs of the members. If the cost of a member is unknown or the sum overflows,
/// the cost of the operator is unknown. The scratch of the operator is the largest scratch of a member.
///
/// # Errors
/// [`GraphError`] if the result is not a valid graph. Fusions of this graph never cause an error.
///
/// # Panics
/// If `fusions` does not contain the fusion of every region of this graph, indexed by region id.
pub fn contracted(graph: &Graph, fusions: &[Fusion]) -> Result<Graph, GraphError> {
    assert_eq!(fusions.len(), graph.regions().len(), "one fusion per region");
    let gone = interior(graph, fusions);
    let mut builder = GraphBuilder::new(graph.name());
    let kept =
        |(at, tensor)| (!gone.contains(&TensorId::at(at))).then(|| builder.tensor(Clone::clone(tensor)));
    let tensors: Vec<Option<TensorId>> = graph.tensors().iter().enumerate().map(kept).collect();
    let map = |id: TensorId| tensors[id.index()].expect("removed tensors are read only inside their group");
    let mut operators: Vec<Option<OperatorId>> = vec![None; graph.operators().len()];
    for (at, region) in graph.regions().iter().enumerate() {
        let own = match region.owner {
            None => Graph::BODY,
            Some(owner) => {
                let owner = operators[owner.index()].expect("owners precede the regions that they own");
                builder.region(owner, region.name.clone())
            }
        };
        debug_assert_eq!(own, RegionId::at(at));
        for members in fusions[at].groups() {
            let mut operator = match members[..] {
                [only] => Operator { regions: Vec::new(), ..graph.operator(only).clone() },
                _ => joined(graph, members, &gone),
            };
            operator.inputs.iter_mut().chain(&mut operator.outputs).for_each(|id| *id = map(*id));
            for alias in &mut operator.aliases {
                (alias.input, alias.output) = (map(alias.input), map(alias.output));
            }
            for handover in operator.handovers.iter_mut().flatten() {
                (handover.from, handover.to) = (map(handover.from), map(handover.to));
            }
            let id = builder.operator(own, operator);
            for member in members {
                operators[member.index()] = Some(id);
            }
        }
        let through = |list: &[TensorId]| list.iter().map(|&id| map(id)).collect::<Vec<_>>();
        builder.interface(own, through(&region.inputs), through(&region.outputs));
    }
    builder.build()
}

/// Returns the tensors that are produced and read only inside one group.
fn interior(graph: &Graph, fusions: &[Fusion]) -> HashSet<TensorId> {
    let mut outside: HashSet<TensorId> =
        graph.regions().iter().flat_map(|region| region.outputs.iter().copied()).collect();
    let mut group = vec![(0, 0); graph.operators().len()];
    for (region, fusion) in fusions.iter().enumerate() {
        for (at, members) in fusion.groups().iter().enumerate() {
            for id in members {
                group[id.index()] = (region, at);
            }
        }
    }
    for (at, operator) in graph.operators().iter().enumerate() {
        let of = |id: TensorId| graph.producer(id).map(|maker| group[maker.index()]);
        outside.extend(operator.inputs.iter().copied().filter(|&id| of(id) != Some(group[at])));
        outside.extend(operator.handovers.iter().flatten().flat_map(|one| [one.from, one.to]));
    }
    let inside = |members: &Vec<OperatorId>| {
        let makers = members.iter().filter(|_| members.len() > 1);
        let made = makers.flat_map(|&id| graph.operator(id).outputs.iter().copied());
        // Tensors without readers are kept, because they do not pass between members of a group.
        made.filter(|id| !outside.contains(id) && !graph.consumers(*id).is_empty()).collect::<Vec<_>>()
    };
    fusions.iter().flat_map(|fusion| fusion.groups().iter().flat_map(inside)).collect()
}

/// Merges several operators into one. The result refers to tensors by their ids in the original graph.
fn joined(graph: &Graph, members: &[OperatorId], gone: &HashSet<TensorId>) -> Operator {
    let parts: Vec<&Operator> = members.iter().map(|&id| graph.operator(id)).collect();
    let list = |of: fn(&Operator) -> &str| {
        let words: Vec<&str> = parts.iter().map(|part| of(part)).filter(|word| !word.is_empty()).collect();
        words.join("+")
    };
    let mut whole = Operator::new(list(|part| &part.name), list(|part| &part.kind));
    let own: HashSet<TensorId> = parts.iter().flat_map(|part| part.outputs.iter().copied()).collect();
    for part in &parts {
        for &input in &part.inputs {
            if !own.contains(&input) && !whole.inputs.contains(&input) {
                whole.inputs.push(input);
            }
        }
        whole.outputs.extend(part.outputs.iter().copied().filter(|id| !gone.contains(id)));
        whole.scratch = whole.scratch.max(part.scratch);
    }
    for alias in parts.iter().flat_map(|part| &part.aliases) {
        let readers = parts.iter().filter(|part| part.inputs.contains(&alias.input)).count();
        // An input must not be overwritten while another member still reads it.
        let is_safe = alias.kind != AliasKind::InPlace || readers == 1;
        if is_safe && whole.inputs.contains(&alias.input) && whole.outputs.contains(&alias.output) {
            whole.aliases.push(*alias);
        }
    }
    let costs: Option<Vec<u64>> = parts.iter().map(|part| part.cost).collect();
    whole.cost = costs.and_then(|costs| costs.iter().try_fold(0u64, |sum, &cost| sum.checked_add(cost)));
    whole.unit = parts[0].unit.clone().filter(|_| parts.iter().all(|part| part.unit == parts[0].unit));
    whole
}
