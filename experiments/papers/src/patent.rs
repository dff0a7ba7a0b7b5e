//! The patent on memory by mutually exclusive operators (SOURCES S2): its worked example.

use super::{Context, ReproduceError, Reproduction, Row};
use plimsoll::graphs::GraphRunError;
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll_datasets::{patent, patent_graph};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::svg::Map;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::structure::{Relation, Structure, StructureError};
use plimsoll_model::{Budget, BufferId, Bytes, ConflictGraph, Instance, Layout, Offsets, Outcome};
use plimsoll_solvers::clique::heaviest_clique;

/// What figure 5 prints, in the order of placement: operator, where it lies, and the memory requested once it is placed.
const STEPS: [(&str, (u64, u64), u64); 8] = [
    ("4", (0, 20), 20),
    ("7", (20, 35), 35),
    ("2", (20, 30), 35),
    ("3", (30, 38), 38),
    ("6", (38, 44), 44),
    ("1", (0, 5), 44),
    ("8", (5, 8), 44),
    ("5", (44, 46), 46),
];

/// One operator of figure 5.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its number.
    pub operator: String,
    /// From where to where it lies, M.
    pub place: (u64, u64),
    /// Memory requested once it is placed, M.
    pub memory: u64,
}

/// What the patent prints, and the example it prints it of.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Sizes of the operators, in M of one byte, and the table of who is exclusive with whom.
    pub instance: Instance,
    /// The graph from which the rules make that table.
    pub graph: Graph,
    /// The graph with the edges as the text lists them.
    pub listed: Graph,
    /// Figure 5, in the order of placement.
    pub steps: Vec<Step>,
    /// Without sharing, M.
    pub sum: u64,
    /// With sharing, M.
    pub needed: u64,
}

impl Default for Inputs {
    fn default() -> Self {
        let step =
            |(operator, place, memory): (&str, _, _)| Step { operator: operator.to_owned(), place, memory };
        Self {
            instance: patent().instance,
            graph: patent_graph(false),
            listed: patent_graph(true),
            steps: STEPS.map(step).to_vec(),
            sum: 69,
            needed: 46,
        }
    }
}

/// Nodes for the heaviest clique, of which eight operators need few.
const CLIQUE_NODES: u64 = 100_000;

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    reproduce(&Inputs::default(), context)
}

/// Computes everything again from these inputs.
///
/// # Errors
/// [`ReproduceError`]: a run failed, or a graph is none.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    let instance = &inputs.instance;
    let placed = context.answer(&context.registry.offsets, "patent-descending", "patent", instance)?;
    let exact = context.answer(&context.registry.offsets, "exact", "patent", instance)?;
    steps(inputs, &placed, &mut found);
    totals(context, inputs, (&placed, &exact), &mut found)?;
    edge(context, instance, &mut found)?;
    graph(context, inputs, &mut found)?;
    figures(inputs, (&placed, &exact), &mut found);
    Ok(found)
}

/// What the rules make of the graph, and what is safe where branches run at the same time.
fn graph(context: &Context<'_>, inputs: &Inputs, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let printed = &inputs.instance;
    let mut table = Table::new([
        ("graph", Align::Left),
        ("two may share", Align::Left),
        ("pairs that conflict", Align::Right),
        ("not in the table", Align::Left),
        ("optimum", Align::Right),
    ]);
    for (what, graph, is_drawn) in [
        ("8 reads what 7 makes", &inputs.graph, true),
        ("8 reads what 6 makes, as listed", &inputs.listed, false),
    ] {
        let storages = graph
            .storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO)
            .map_err(|source| ReproduceError::Order { graph: "patent".to_owned(), source })?;
        let order = storages.problem.as_in_file();
        let structure = Structure::of(graph, &storages, &order).map_err(broken)?;
        for relation in [Relation::Mutex, Relation::Schedule, Relation::Reachable] {
            let conflicts = structure.conflicts(relation, &mut Budget::unlimited()).map_err(broken)?;
            let instance =
                structure.instance(relation, Bytes::new(1), &mut Budget::unlimited()).map_err(broken)?;
            let exact = context.answer(&context.registry.offsets, "exact", "patent", &instance)?;
            let beyond: Vec<String> = conflicts
                .iter()
                .filter(|&(a, b)| !printed.conflict(BufferId::at(a), BufferId::at(b)))
                .map(|(a, b)| format!("{}-{}", structure.name(a), structure.name(b)))
                .collect();
            table.row([
                what.to_owned(),
                relation.to_string(),
                conflicts.count().to_string(),
                if beyond.is_empty() { "-".to_owned() } else { beyond.join(" ") },
                exact.value.map_or(0, Bytes::get).to_string(),
            ]);
            if relation == Relation::Mutex {
                let pairs: Vec<(usize, usize)> = conflicts.iter().collect();
                exclusive(printed, &pairs, what, is_drawn, found);
            }
        }
    }
    found.section("The table from the graph");
    found.table(table);
    found.line("M, each optimum proved; `mutex` are the rules of the source, `schedule` is the order 1 to 8");
    found.line(
        "with 8 behind 7 the rules give the table printed; with the edges as listed 8 is parallel to 4 and 7 too",
    );
    found.line(
        "`reachable` is what holds with branches that run at the same time, as the source has them: 4 and 5 may \
         still read what 2 made when 6 writes, which the table lets share with 2",
    );
    Ok(())
}

fn broken(source: StructureError) -> ReproduceError {
    ReproduceError::Graph(GraphRunError::Structure { region: "patent".to_owned(), source })
}

/// Table 1: who is exclusive with whom, from the rules.
fn exclusive(
    printed: &Instance,
    pairs: &[(usize, usize)],
    what: &str,
    is_drawn: bool,
    found: &mut Reproduction,
) {
    let joined = |of: Vec<usize>| {
        let names = of.into_iter().map(|at| printed.buffer(BufferId::at(at)).name().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    let conflict = |a: usize, b: usize| printed.conflict(BufferId::at(a), BufferId::at(b));
    let listed = (0..printed.len()).map(|b| (0..b).filter(|&a| conflict(a, b)).count()).sum::<usize>();
    if !is_drawn {
        let row =
            Row::new("table 1", "exclusive pairs, edges as the text lists them", "pairs").printed(listed);
        found.row(row.differs(
            pairs.len(),
            "the text says once that 6 and 8 are joined, the table has 7 and 8: with the edge as listed 8 is parallel to 4 and 7",
        ));
        return;
    }
    for at in 0..printed.len() {
        let theirs = (0..printed.len()).filter(|&other| other != at && conflict(at, other)).collect();
        let mut mine: Vec<usize> = pairs
            .iter()
            .filter_map(|&(a, b)| if a == at { Some(b) } else { (b == at).then_some(a) })
            .collect();
        mine.sort_unstable();
        let name = format!("exclusive with operator {}", printed.buffer(BufferId::at(at)).name());
        let row = Row::new("table 1", name, "operators").printed(joined(theirs));
        found.row(row.same(joined(mine), format!("rules of the text on the graph in which {what}")));
    }
}

/// Sizes descending, of equals the first.
fn descending(instance: &Instance) -> Vec<BufferId> {
    let mut order: Vec<BufferId> = (0..instance.len()).map(BufferId::at).collect();
    order.sort_by_key(|&id| std::cmp::Reverse(instance.buffer(id).size()));
    order
}

/// The memory requested once each of `order` is placed: operator, offset, top.
fn tops(instance: &Instance, layout: &Layout, order: &[BufferId]) -> Vec<(String, u64, u64)> {
    let mut top = 0;
    let step = |&id: &BufferId| {
        let (offset, size) = (layout.offsets()[id.index()].get(), instance.buffer(id).size().get());
        top = top.max(offset + size);
        (instance.buffer(id).name().to_owned(), offset, top)
    };
    order.iter().map(step).collect()
}

fn steps(inputs: &Inputs, placed: &Outcome<Offsets>, found: &mut Reproduction) {
    let instance = &inputs.instance;
    let order = descending(instance);
    let made = placed.solution.as_ref().map_or(Vec::new(), |layout| tops(instance, layout, &order));
    let names: Vec<&str> = made.iter().map(|one| one.0.as_str()).collect();
    let printed: Vec<&str> = inputs.steps.iter().map(|step| step.operator.as_str()).collect();
    let row = Row::new("table 2", "order of placement", "operators").printed(printed.join(" "));
    found.row(row.same(names.join(" "), "by memory, descending"));
    for step in &inputs.steps {
        let own = made.iter().zip(&order).find(|(one, _)| one.0 == step.operator);
        let place = Row::new("figure 5", format!("place of operator {}", step.operator), "M")
            .printed(format!("[{}, {})", step.place.0, step.place.1));
        let memory = Row::new("figure 5", format!("memory once operator {} is placed", step.operator), "M")
            .printed(step.memory);
        let Some(((_, offset, top), &id)) = own else {
            for row in [place, memory] {
                found.row(row.missing("there is no such operator"));
            }
            continue;
        };
        let end = offset + instance.buffer(id).size().get();
        found.row(place.same(format!("[{offset}, {end})"), "patent-descending"));
        found.row(memory.same(*top, "patent-descending"));
    }
}

fn totals(
    context: &Context<'_>,
    inputs: &Inputs,
    (placed, exact): (&Outcome<Offsets>, &Outcome<Offsets>),
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let instance = &inputs.instance;
    let value = |value: Option<Bytes>| value.unwrap_or(Bytes::ZERO);
    let scattered = context.answer(&context.registry.scattered, "patent-scattered", "patent", instance)?;
    let sizes: Vec<u64> = instance.buffers().iter().map(|buffer| buffer.size().get()).collect();
    let clique = heaviest_clique(
        &ConflictGraph::of(instance),
        &sizes,
        &mut Budget::unlimited().with_node_limit(CLIQUE_NODES),
    );
    let members: Vec<&str> = clique.members.iter().map(|&id| instance.buffer(id).name()).collect();
    let row = |what: &str| Row::new("section of figure 5", what, "M");
    found.row(row("no sharing").printed(inputs.sum).same(instance.total_size(), "sum of all sizes"));
    found.row(row("with sharing").printed(inputs.needed).same(value(placed.value), "patent-descending"));
    found.row(row("with sharing, in pieces").same(value(scattered.value), "patent-scattered"));
    found.row(row("least there is").same(value(exact.value), format!("exact: {}", exact.claim)));
    let by = format!("operators {}, exclusive in pairs: nothing is lower", members.join(", "));
    found.row(row("heaviest clique").same(clique.weight, by));
    found.section("What the example needs");
    if let (Some(own), Some(best)) = (placed.value, exact.value) {
        let own = own.get();
        found.line(format!(
            "the placement printed takes {} M more than needed, {:.1} %",
            own - best.get(),
            (own - best.get()) as f64 * 100.0 / best.get().max(1) as f64
        ));
    }
    if let Some(layout) = &exact.solution {
        let offsets = layout.offsets().iter().zip(instance.buffers());
        let places: Vec<String> = offsets
            .map(|(offset, buffer)| {
                let end = offset.get() + buffer.size().get();
                format!("{}:[{offset},{end})", buffer.name())
            })
            .collect();
        found.line(format!("an optimal layout: {}", places.join(" ")));
    }
    Ok(())
}

/// Figure 5, its layout and an optimal one.
fn figures(
    inputs: &Inputs,
    (placed, exact): (&Outcome<Offsets>, &Outcome<Offsets>),
    found: &mut Reproduction,
) {
    let instance = &inputs.instance;
    let layouts = [
        ("figure-5.svg", "as in figure 5: one column per operator", "patent-descending", placed),
        ("figure-5-optimum.svg", "the least there is: one column per operator", "exact", exact),
    ];
    for (name, about, algorithm, outcome) in layouts {
        let Some(layout) = &outcome.solution else { continue };
        let pieces = Offsets::pieces(instance, layout);
        let bound = exact.lower_bound.value;
        let problem = ProblemKind::Offsets;
        let titled = instance.clone().with_name("Figure 5: one column per operator, in M");
        let map = Map { instance: &titled, problem, algorithm, pieces: &pieces, bound, groups: None };
        found.file(name, about, |file| map.write(file));
    }
    let order = descending(instance);
    let made = placed.solution.as_ref().map_or(Vec::new(), |layout| tops(instance, layout, &order));
    let groups = inputs.steps.iter().map(|step| {
        let own = made.iter().find(|one| one.0 == step.operator).map(|one| one.2);
        (step.operator.clone(), vec![Some(step.memory), own])
    });
    let chart = Bars {
        title: "Figure 5: memory requested, operator by operator".to_owned(),
        caption: "M, once each operator is placed, in the order of placement".to_owned(),
        series: ["printed", "ours"].map(str::to_owned).to_vec(),
        mark: "least there is".to_owned(),
        unit: "M",
        panels: vec![Panel {
            name: "operators by memory, descending".to_owned(),
            groups: groups.collect(),
            mark: exact.value.map(Bytes::get),
        }],
    };
    found.file("figure-5-steps.svg", "memory requested after each operator, printed and ours", |file| {
        chart.write(file)
    });
}

/// The text once has an edge from 6 to 8, the table has 7 and 8 exclusive.
fn edge(context: &Context<'_>, instance: &Instance, found: &mut Reproduction) -> Result<(), ReproduceError> {
    found.section("Edges of the text against the table");
    let (six, seven, eight) = (5, 6, 7);
    for (what, added, dropped) in [
        ("with 6 and 8 exclusive too", Some((six, eight)), None),
        ("with 6 and 8 in place of 7 and 8", Some((six, eight)), Some((seven, eight))),
    ] {
        let other = changed(instance, added, dropped);
        let exact = context.answer(&context.registry.offsets, "exact", "patent", &other)?;
        let placed = context.answer(&context.registry.offsets, "patent-descending", "patent", &other)?;
        let value = |one: &Outcome<Offsets>| one.value.map_or(0, Bytes::get);
        found.line(format!("{what}: {} M, the optimum is {} M", value(&placed), value(&exact)));
    }
    Ok(())
}

/// The same operators with a pair more and a pair fewer that exclude each other.
fn changed(instance: &Instance, added: Option<(usize, usize)>, dropped: Option<(usize, usize)>) -> Instance {
    let conflict = |a: usize, b: usize| instance.conflict(BufferId::at(a), BufferId::at(b));
    let pairs = (0..instance.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let edges = pairs.filter(|&(a, b)| Some((a, b)) != dropped && (Some((a, b)) == added || conflict(a, b)));
    let buffers = instance.buffers().iter().map(|buffer| (buffer.name().to_owned(), buffer.size()));
    Instance::from_conflicts("patent", buffers, edges).expect("pairs of its own operators")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_followed_step_by_step() {
        let instance = patent().instance;
        let order = descending(&instance);
        let names: Vec<&str> = order.iter().map(|&id| instance.buffer(id).name()).collect();
        assert_eq!(names, STEPS.map(|step| step.0));
        // Everything end to end in that order: tops are sums.
        let mut offsets = vec![Bytes::ZERO; 8];
        let mut top = 0;
        for &id in &order {
            offsets[id.index()] = Bytes::new(top);
            top += instance.buffer(id).size().get();
        }
        let tops = tops(&instance, &Layout::new(offsets), &order);
        assert_eq!(tops.last().map(|one| one.2), Some(69));
        let other = changed(&instance, Some((5, 7)), Some((6, 7)));
        assert!(
            other.conflict(BufferId::at(5), BufferId::at(7))
                && !other.conflict(BufferId::at(6), BufferId::at(7))
        );
    }
}
