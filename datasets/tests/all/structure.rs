//! Derives the table of the patent's example from its graph.

use plimsoll_datasets::{patent, patent_graph};
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::structure::{Conflicts, Relation, Structure};
use plimsoll_model::{Budget, BufferId, Bytes, races};

/// Returns the conflicts of the graph under a relation. The operators run in the order 1 to 8.
fn conflicts(as_listed: bool, relation: Relation) -> Conflicts {
    let graph = patent_graph(as_listed);
    let storages = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
    let order = storages.problem.as_in_file();
    Structure::of(&graph, &storages, &order).unwrap().conflicts(relation, &mut Budget::unlimited()).unwrap()
}

/// Returns the pairs as operator numbers, which start at 1 as in the patent.
fn numbered(pairs: &Conflicts) -> Vec<(usize, usize)> {
    pairs.iter().map(|(a, b)| (a + 1, b + 1)).collect()
}

/// Computes the bytes of the heaviest clique of conflicts. Enumerates all subsets.
fn heaviest(conflicts: &Conflicts) -> u64 {
    let table = patent().instance;
    let size = |at: usize| table.buffers()[at].size().get();
    let sets = (0u32..256).filter(|set| {
        let members: Vec<usize> = (0..8).filter(|at| set >> at & 1 == 1).collect();
        members.iter().all(|&a| members.iter().all(|&b| a == b || conflicts.contains(a, b)))
    });
    sets.map(|set| (0..8).filter(|at| set >> at & 1 == 1).map(size).sum()).max().unwrap()
}

#[test]
fn the_table_follows_from_the_graph_with_an_edge_from_7_to_8() {
    let table = patent().instance;
    let derived = conflicts(false, Relation::Mutex);
    for a in 0..8 {
        for b in 0..8 {
            let printed = table.conflict(BufferId::at(a), BufferId::at(b));
            assert_eq!(derived.contains(a, b), printed, "{} {}", a + 1, b + 1);
        }
    }
    assert_eq!(heaviest(&derived), 43);
}

/// The edge between 6 and 8 in the text makes 8 parallel to 4 and 7. This adds the conflicts of 8 with 4 and
/// 6, and raises the optimum from 43 to 46.
#[test]
fn the_edges_as_listed_give_another_table() {
    let listed = conflicts(true, Relation::Mutex);
    let beyond = listed.without(&conflicts(false, Relation::Mutex));
    assert_eq!(numbered(&beyond), [(4, 8), (6, 8)]);
    assert_eq!(heaviest(&listed), 46);
}

/// In the order 1 to 8, the table is complete. In the source, branches run in parallel. Operator 6 may then
/// run while 4 or 5 still needs the output of 2, and 5 may read that output after all others have run.
#[test]
fn the_table_is_not_safe_for_branches_that_run_at_the_same_time() {
    let mutex = conflicts(false, Relation::Mutex);
    let reachable = conflicts(false, Relation::Reachable);
    assert!(numbered(&conflicts(false, Relation::Schedule).without(&mutex)).is_empty());
    assert_eq!(numbered(&reachable.without(&mutex)), [(2, 6), (2, 7), (2, 8)]);
    assert_eq!(heaviest(&reachable), 53);
    // In the printed placement of 46 M, buffers 7 and 2 share [20, 30).
    let graph = patent_graph(false);
    let storages = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
    let starts = [0, 20, 30, 0, 44, 38, 20, 5];
    let piece = |(at, start): (usize, u64)| {
        let length = patent().instance.buffers()[at].size();
        vec![plimsoll_model::Piece { start: Bytes::new(start), length }]
    };
    let pieces: Vec<_> = starts.into_iter().enumerate().map(piece).collect();
    let found = races(&storages.problem, &[], &pieces);
    let text: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["'2' and '7' share 10 bytes: 'op5' needs '2', but 'op7' need not wait for 'op5'"]);
}
