//! The patent on memory by mutually exclusive operators (SOURCES S2): its worked example.

use super::{Context, ReproduceError, Reproduction};
use crate::graphs::GraphRunError;
use crate::report::table::{Align, Table};
use plimsoll_datasets::{patent, patent_graph};
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::structure::{Relation, Structure, StructureError};
use plimsoll_model::{BufferId, Bytes, ConflictGraph, Instance, Layout, Offsets, Outcome, Problem};
use plimsoll_solvers::clique::heaviest_clique;

/// What figure 5 prints, in the order of placement: operator, and the memory requested once it is placed.
const PRINTED_STEPS: [(&str, u64); 8] =
    [("4", 20), ("7", 35), ("2", 35), ("3", 38), ("6", 44), ("1", 44), ("8", 44), ("5", 46)];

/// What it prints of all: the sum, and what its placement needs.
const PRINTED: (u64, u64) = (69, 46);

/// Nodes for the heaviest clique, of which eight operators need few.
const CLIQUE_NODES: u64 = 100_000;

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    let instance = patent().instance;
    let placed = context.solve(&context.registry.offsets, "patent-descending", "patent", &instance)?;
    steps(&instance, &placed, &mut found);
    totals(context, &instance, &placed, &mut found)?;
    edge(context, &instance, &mut found)?;
    graph(context, &instance, &mut found)?;
    Ok(found)
}

/// What the rules make of the graph, and what is safe where branches run at the same time.
fn graph(context: &Context<'_>, printed: &Instance, found: &mut Reproduction) -> Result<(), ReproduceError> {
    found.section("The table from the graph");
    let mut table = Table::new([
        ("graph", Align::Left),
        ("two may share", Align::Left),
        ("pairs that conflict", Align::Right),
        ("not in the table", Align::Left),
        ("optimum", Align::Right),
    ]);
    for (what, as_listed) in [("8 reads what 7 makes", false), ("8 reads what 6 makes, as listed", true)] {
        let graph = patent_graph(as_listed);
        let refused = |source| ReproduceError::Order { graph: "patent".to_owned(), source };
        let storages =
            graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).map_err(refused)?;
        let order = storages.problem.as_in_file();
        let broken = |source: StructureError| {
            let region = "patent".to_owned();
            ReproduceError::Graph(GraphRunError::Structure { region, source })
        };
        let structure = Structure::of(&graph, &storages, &order).map_err(broken)?;
        for relation in [Relation::Mutex, Relation::Schedule, Relation::Reachable] {
            let conflicts = structure.conflicts(relation);
            let instance = structure.instance(relation, Bytes::new(1)).map_err(broken)?;
            let exact = context.solve(&context.registry.offsets, "exact", "patent", &instance)?;
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
        }
    }
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

fn steps(instance: &Instance, placed: &Outcome<Layout>, found: &mut Reproduction) {
    let mut table = Table::new([
        ("operator", Align::Right),
        ("size", Align::Right),
        ("offset", Align::Right),
        ("memory so far, printed", Align::Right),
        ("computed", Align::Right),
    ]);
    let order = descending(instance);
    let made = placed.solution.as_ref().map_or(Vec::new(), |layout| tops(instance, layout, &order));
    for (at, (name, offset, top)) in made.iter().enumerate() {
        let size = instance.buffer(order[at]).size();
        let printed = PRINTED_STEPS.iter().find(|step| step.0 == name).map_or(0, |step| step.1);
        table.row([name.clone(), size.to_string(), offset.to_string(), printed.to_string(), top.to_string()]);
    }
    found.section("Operators by size, descending: figure 5");
    found.table(table);
    found.line("M; `patent-descending`: memory of placed operators that are not exclusive, then new memory");
    let order: Vec<&str> = made.iter().map(|one| one.0.as_str()).collect();
    let printed = PRINTED_STEPS.map(|step| step.0);
    let verdict = if order == printed { "the order printed" } else { "another order than printed" };
    found.line(format!("placed in the order {}: {verdict}", order.join(", ")));
}

fn totals(
    context: &Context<'_>,
    instance: &Instance,
    placed: &Outcome<Layout>,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let value = |value: Option<Bytes>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let scattered = context.solve(&context.registry.scattered, "patent-scattered", "patent", instance)?;
    let exact = context.solve(&context.registry.offsets, "exact", "patent", instance)?;
    let sizes: Vec<u64> = instance.buffers().iter().map(|buffer| buffer.size().get()).collect();
    let clique = heaviest_clique(&ConflictGraph::of(instance), &sizes, CLIQUE_NODES);
    let members: Vec<&str> = clique.members.iter().map(|&id| instance.buffer(id).name()).collect();
    let mut table = Table::new([
        ("memory", Align::Left),
        ("printed", Align::Right),
        ("computed", Align::Right),
        ("by", Align::Left),
    ]);
    let rows = [
        (
            "no sharing",
            PRINTED.0.to_string(),
            instance.total_size().to_string(),
            "sum of the eight".to_owned(),
        ),
        ("in one piece each", PRINTED.1.to_string(), value(placed.value), "patent-descending".to_owned()),
        ("in pieces", "-".to_owned(), value(scattered.value), "patent-scattered".to_owned()),
        ("optimum", "-".to_owned(), value(exact.value), format!("exact, {}", exact.claim)),
        (
            "heaviest clique",
            "-".to_owned(),
            clique.weight.to_string(),
            format!("operators {}, exclusive in pairs: nothing is lower", members.join(", ")),
        ),
    ];
    for (what, printed, computed, by) in rows {
        table.row([what.to_owned(), printed, computed, by]);
    }
    found.section("What the example needs");
    found.table(table);
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

/// The text once has an edge from 6 to 8, the table has 7 and 8 exclusive.
fn edge(context: &Context<'_>, instance: &Instance, found: &mut Reproduction) -> Result<(), ReproduceError> {
    found.section("Edges of the text against the table");
    let (six, seven, eight) = (5, 6, 7);
    for (what, added, dropped) in [
        ("with 6 and 8 exclusive too", Some((six, eight)), None),
        ("with 6 and 8 in place of 7 and 8", Some((six, eight)), Some((seven, eight))),
    ] {
        let other = changed(instance, added, dropped);
        let exact = context.solve(&context.registry.offsets, "exact", "patent", &other)?;
        let placed = context.solve(&context.registry.offsets, "patent-descending", "patent", &other)?;
        let value = |one: &Outcome<<Offsets as Problem>::Solution>| one.value.map_or(0, Bytes::get);
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
        assert_eq!(names, PRINTED_STEPS.map(|step| step.0));
        // Everything end to end in that order: tops are sums.
        let mut offsets = vec![Bytes::ZERO; 8];
        let mut top = 0;
        for &id in &order {
            offsets[id.index()] = Bytes::new(top);
            top += instance.buffer(id).size().get();
        }
        let tops = tops(&instance, &Layout::new(offsets), &order);
        assert_eq!(tops.last().map(|one| one.2), Some(PRINTED.0));
        let other = changed(&instance, Some((5, 7)), Some((6, 7)));
        assert!(
            other.conflict(BufferId::at(5), BufferId::at(7))
                && !other.conflict(BufferId::at(6), BufferId::at(7))
        );
    }
}
