//! The worked example of the memory-planning patent, in which mutually exclusive operators must not share
//! memory.

use crate::{Context, ReproduceError, Reproduction, sheet};
use minijinja::{Value, context};
use plimsoll_datasets::{patent, patent_graph};
use plimsoll_lab::report::bars::Panel;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::row::Row;
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::structure::{Relation, Structure};
use plimsoll_model::{
    Budget, BufferId, Bytes, ConflictGraph, Instance, InstanceProblem, Layout, Offsets, Problem, SplitBuffers,
};
use plimsoll_solvers::clique::heaviest_clique;
use serde::{Deserialize, Serialize};

/// One operator of figure 5.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/patent.toml explains every value")]
pub struct Step {
    pub operator: String,
    pub place: (u64, u64),
    pub memory: u64,
}

/// The printed numbers, and the example. `instance` is the table of mutually exclusive operators with their
/// sizes. `graph` is the graph from which the rules derive that table. `listed` is the graph with the edges
/// that the text lists.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/patent.toml explains every value")]
pub struct Inputs {
    #[serde(skip, default = "printed_table")]
    pub instance: Instance,
    #[serde(skip, default = "drawn_graph")]
    pub graph: Graph,
    #[serde(skip, default = "listed_graph")]
    pub listed: Graph,
    pub steps: Vec<Step>,
    pub sum: u64,
    pub needed: u64,
}

fn printed_table() -> Instance {
    patent().instance
}

fn drawn_graph() -> Graph {
    patent_graph(false)
}

fn listed_graph() -> Graph {
    patent_graph(true)
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("patent")
    }
}

/// Node limit of the search for the heaviest clique. It is ample for eight operators.
const CLIQUE_NODES: u64 = 100_000;
/// Description of the drawn graph by the edge in which it differs from the listed graph.
const DRAWN: &str = "8 reads what 7 makes";
/// Description of the listed graph by the edge in which it differs from the drawn graph.
const LISTED: &str = "8 reads what 6 makes, as listed";

/// Recomputes the results from these inputs.
///
/// # Errors
/// [`ReproduceError`] if a run fails or a graph is not valid.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::of("patent");
    let instance = &inputs.instance;
    let solve = |name: &str, instance: &Instance| context.answer::<Offsets>(name, "patent", &instance);
    let (placed, by_size, _) = solve("reuse-by-size", instance)?;
    let (exact, optimum, row) = solve("exact", instance)?;
    let (split, ..) = context.answer::<SplitBuffers>("split-by-size", "patent", &instance)?;
    found.fact("inputs", inputs);
    found.fact("sum", instance.total_size().get());
    found.fact("placed", placed);
    found.fact("split", split);
    found.fact("exact", exact);
    found.fact("claim", row.claim);
    found.fact("clique", clique(instance));
    let place =
        |id: BufferId| format!("{}:[{})", instance.buffer(id).name(), range(instance, &optimum, id, ","));
    found.fact("layout", instance.ids().map(place).collect::<Vec<_>>().join(" "));
    graphs(inputs, context, &mut found)?;
    let (six, seven, eight) = (5, 6, 7);
    let mut edges = Vec::new();
    for (what, dropped) in
        [("with 6 and 8 exclusive too", None), ("with 6 and 8 in place of 7 and 8", Some((seven, eight)))]
    {
        let other = changed(instance, (six, eight), dropped);
        let (exact, placed) = (solve("exact", &other)?.0, solve("reuse-by-size", &other)?.0);
        edges.push(context! { what, exact, placed });
    }
    found.fact("edges", edges);
    figures(inputs, (&by_size, &optimum), &row, &mut found)?;
    found.finish()
}

fn clique(instance: &Instance) -> Value {
    let sizes: Vec<u64> = instance.buffers().iter().map(|buffer| buffer.size().get()).collect();
    let mut budget = Budget::unlimited().with_node_limit(CLIQUE_NODES);
    let clique = heaviest_clique(&ConflictGraph::of(instance), &sizes, &mut budget);
    let members: Vec<&str> = clique.members.iter().map(|&id| instance.buffer(id).name()).collect();
    context! { weight => clique.weight, members => members.join(", ") }
}

/// Formats the address range of a buffer.
fn range(instance: &Instance, layout: &Layout, id: BufferId, between: &str) -> String {
    let offset = layout.offsets()[id.index()].get();
    format!("{offset}{between}{}", offset + instance.buffer(id).size().get())
}

/// Defines the facts about the graphs `graph` and `listed` of the inputs. For every relation, they contain
/// the number of conflicts, the conflicts that are not in the printed table, and the optimum.
fn graphs(inputs: &Inputs, context: &Context<'_>, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let printed = &inputs.instance;
    let mut relations = Vec::new();
    for (what, graph) in [(DRAWN, &inputs.graph), (LISTED, &inputs.listed)] {
        let storages = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO);
        let storages = storages.map_err(ReproduceError::on("patent"))?;
        let order = storages.problem.as_in_file();
        let structure = Structure::of(graph, &storages, &order).map_err(ReproduceError::on("patent"))?;
        for relation in [Relation::Mutex, Relation::Schedule, Relation::Reachable] {
            let mut unlimited = Budget::unlimited();
            let conflicts = structure.conflicts(relation, &mut unlimited);
            let conflicts = conflicts.map_err(ReproduceError::on("patent"))?;
            let instance = structure.instance(relation, Bytes::new(1), &mut unlimited);
            let instance = instance.map_err(ReproduceError::on("patent"))?;
            let (optimum, ..) = context.answer::<Offsets>("exact", "patent", &&instance)?;
            let pairs: Vec<(usize, usize)> = conflicts.iter().collect();
            let beyond = pairs.iter().filter(|&&(a, b)| !printed.conflict(BufferId::at(a), BufferId::at(b)));
            let beyond: Vec<String> =
                beyond.map(|&(a, b)| format!("{}-{}", structure.name(a), structure.name(b))).collect();
            relations.push(context! {
                graph => what, relation => relation.to_string(), pairs => conflicts.count(),
                beyond => beyond.join(" "), optimum,
            });
            match (relation, what) {
                (Relation::Mutex, DRAWN) => found.fact("exclusive", exclusive(printed, &pairs)),
                (Relation::Mutex, _) => {
                    let ids = || printed.ids();
                    let all = ids().flat_map(|b| ids().take(b.index()).map(move |a| (a, b)));
                    let listed = all.filter(|&(a, b)| printed.conflict(a, b)).count();
                    found.fact("pairs", context! { printed => listed, ours => pairs.len() });
                }
                _ => {}
            }
        }
    }
    found.fact("drawn", DRAWN);
    found.fact("relations", relations);
    Ok(())
}

/// Returns, for every operator, the operators with which it is mutually exclusive, according to the printed
/// table and according to the rules.
fn exclusive(printed: &Instance, pairs: &[(usize, usize)]) -> Vec<Value> {
    let name = |id: BufferId| printed.buffer(id).name();
    let joined = |excluded: &dyn Fn(BufferId) -> bool| {
        printed.ids().filter(|&id| excluded(id)).map(name).collect::<Vec<_>>().join(" ")
    };
    let row = |id: BufferId| {
        let ruled = |other: BufferId| {
            let (a, b) = (id.index(), other.index());
            pairs.contains(&(a, b)) || pairs.contains(&(b, a))
        };
        context! {
            operator => name(id), ours => joined(&ruled),
            printed => joined(&|other| other != id && printed.conflict(id, other)),
        }
    };
    printed.ids().map(row).collect()
}

/// Returns the buffers in descending order of size. Buffers of equal size keep their order in the instance.
fn descending(instance: &Instance) -> Vec<BufferId> {
    let mut order: Vec<BufferId> = instance.ids().collect();
    order.sort_by_key(|&id| std::cmp::Reverse(instance.buffer(id).size()));
    order
}

/// Returns, for each buffer of `order`, the highest end address once this buffer has been placed.
fn tops(instance: &Instance, layout: &Layout, order: &[BufferId]) -> Vec<u64> {
    let ends = order.iter().map(|id| layout.offsets()[id.index()].get() + instance.buffer(*id).size().get());
    ends.scan(0, |top, end| {
        *top = end.max(*top);
        Some(*top)
    })
    .collect()
}

/// Draws figure 5: its steps, its layout and an optimal layout.
fn figures(
    inputs: &Inputs,
    (placed, optimum): (&Layout, &Layout),
    exact: &Row,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let instance = &inputs.instance;
    let order = descending(instance);
    let tops = tops(instance, placed, &order);
    let name = |&id: &BufferId| instance.buffer(id).name();
    found.fact("order", order.iter().map(name).collect::<Vec<_>>().join(" "));
    let (mut steps, mut groups) = (Vec::new(), Vec::new());
    for Step { operator, place: (from, to), memory } in &inputs.steps {
        let at = order.iter().position(|id| name(id) == operator);
        let place = at.map(|at| format!("[{})", range(instance, placed, order[at], ", ")));
        let top = at.map(|at| tops[at]);
        let by = if at.is_some() { "reuse-by-size" } else { "there is no such operator" };
        groups.push((operator.clone(), vec![Some(*memory), top]));
        steps.push(context! { operator, printed => format!("[{from}, {to})"), memory, place, top, by });
    }
    found.fact("steps", steps);
    let bound = Bytes::new(exact.lower_bound.unwrap_or_default());
    for (figure, algorithm, layout) in [("placed", "reuse-by-size", placed), ("optimum", "exact", optimum)] {
        let (problem, pieces) = (Offsets::NAME, &Offsets::pieces(instance, layout));
        found.map(figure, &().into(), &Map::new(instance, problem, algorithm, pieces, bound))?;
    }
    let panel = Panel { name: "operators by memory, descending".to_owned(), groups, mark: exact.value };
    found.bars("steps", &().into(), vec![panel])
}

/// Returns the instance with one additional exclusive pair and, if `dropped` is given, without that pair.
fn changed(instance: &Instance, added: (usize, usize), dropped: Option<(usize, usize)>) -> Instance {
    let conflict = |a: usize, b: usize| instance.conflict(BufferId::at(a), BufferId::at(b));
    let pairs = (0..instance.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let edges = pairs.filter(|&(a, b)| Some((a, b)) != dropped && ((a, b) == added || conflict(a, b)));
    let buffers = instance.buffers().iter().map(|buffer| (buffer.name().to_owned(), buffer.size()));
    Instance::from_conflicts("patent", buffers, edges).expect("the pairs are pairs of its operators")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_computed_step_by_step() {
        let (instance, inputs) = (patent().instance, Inputs::default());
        let order = descending(&instance);
        let names: Vec<&str> = order.iter().map(|&id| instance.buffer(id).name()).collect();
        assert!(names.iter().eq(inputs.steps.iter().map(|step| &step.operator)));
        // If all operators are placed end to end in that order, the tops are prefix sums of the sizes.
        let mut offsets = vec![Bytes::ZERO; 8];
        let mut top = 0;
        for &id in &order {
            offsets[id.index()] = Bytes::new(top);
            top += instance.buffer(id).size().get();
        }
        assert_eq!(tops(&instance, &Layout::new(offsets), &order).last(), Some(&69));
        let other = changed(&instance, (5, 7), Some((6, 7)));
        assert!(
            other.conflict(BufferId::at(5), BufferId::at(7))
                && !other.conflict(BufferId::at(6), BufferId::at(7))
        );
    }
}
