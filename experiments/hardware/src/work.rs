//! Maps a graph to executable work. Every operator becomes a product of rows and its weights, a pass over its
//! tensors, or an operator without work.
//!
//! An operator with known arithmetic multiplies all its weights by the number of rows that matches its
//! multiply-accumulates. If it has fewer than 512 bytes of weights, it multiplies blocks of four stored rows
//! by constants in on-chip memory instead. An operator with unknown arithmetic reads its weights, and reads
//! and writes as many bytes in total as its other tensors occupy. The graph is rewritten accordingly: the
//! kinds of its operators become those of [`KINDS`], and their costs become the exact amounts of executed
//! work. With a machine that has rates for these kinds, the times of the rewritten graph are predicted like
//! those of any other graph.

use super::kernel::{LINE, LINE_BYTES, PANEL_BYTES, ROWS, Work};
use plimsoll::graphs::OrderedRegion;
use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Tensor};
use plimsoll_model::{Bytes, OperatorId};

/// The kinds of executable work. The first three multiply weights by one row, two rows, or a multiple of four
/// rows. The fourth is a pass, and the last has no work except the overhead.
pub const KINDS: [&str; 5] = ["rows-1", "rows-2", "rows-4", "stream", "nothing"];

/// Weights with fewer bytes than this are read, but not treated as the matrix of their operator. If the
/// arithmetic of the operator is known, it multiplies blocks of four stored rows by constants in on-chip
/// memory instead.
const LEAST_WEIGHTS: u64 = 512;

#[derive(Clone, Debug)]
pub struct Executable {
    /// The original graph with the kinds and the costs of the executed work.
    pub graph: Graph,
    pub works: Vec<Work>,
}

impl Executable {
    /// Rewrites a graph without regions. O(n) for n operators and tensors.
    ///
    /// # Errors
    /// The reason why the graph cannot be executed.
    pub fn new(graph: &Graph) -> Result<Self, String> {
        let name = graph.name();
        if graph.regions().len() > 1 {
            return Err(format!(
                "graph '{name}' has branches or loops; only graphs without regions are executed"
            ));
        }
        if graph.operators().is_empty() {
            return Err(format!("graph '{name}' has no operators"));
        }
        let mut build = GraphBuilder::new(graph.name());
        for tensor in graph.tensors() {
            build.tensor(Tensor::clone(tensor));
        }
        let mut works = Vec::with_capacity(graph.operators().len());
        let body = build.body();
        for (at, operator) in graph.operators().iter().enumerate() {
            let id = OperatorId::at(at);
            let weights = graph.weight_bytes(id);
            let (work, kind, cost) = work(graph, id, weights);
            works.push(work);
            build.operator(body, Operator { kind: kind.to_owned(), cost, ..operator.clone() });
        }
        let region = &graph.regions()[0];
        build.interface(body, region.inputs.iter().copied(), region.outputs.iter().copied());
        let graph = build.build().map_err(|error| format!("graph '{name}': {error}"))?;
        Ok(Self { graph, works })
    }

    /// Returns the work of the operators in the order of a region. Each operator is divided into slices, each
    /// with a part of its weights.
    pub fn in_order(&self, region: &OrderedRegion, slice: Option<Bytes>) -> Vec<Work> {
        let mut all = Vec::new();
        for &id in region.order.operators() {
            let operator = region.storages.operators[id.index()];
            let work = self.works[operator.index()];
            let weights = self.graph.weight_bytes(operator).get();
            let parts = slice.map_or(1, |slice| weights.div_ceil(slice.get()).max(1));
            all.extend((0..parts).map(|part| work.slice(part, parts)));
        }
        all
    }
}

/// Returns the work, the kind and the cost of an operator.
fn work(graph: &Graph, id: OperatorId, weights: Bytes) -> (Work, &'static str, Option<u64>) {
    let read = Work { rows: u64::from(weights > Bytes::ZERO), ..Work::default() };
    let operator = graph.operator(id);
    if graph.moves_nothing(id) {
        return (read, "nothing", operator.cost);
    }
    let Some(cost) = operator.cost else {
        let tensors = operator.inputs.iter().chain(&operator.outputs);
        let bytes: u64 = tensors.map(|&tensor| graph.tensor(tensor).bytes.get()).sum();
        return (Work { stream: bytes.saturating_sub(weights.get()), ..read }, "stream", None);
    };
    if weights.get() >= LEAST_WEIGHTS {
        let numbers = weights.get().div_ceil(LINE_BYTES as u64) * LINE as u64;
        let (rows, kind) = rows(cost as f64 / numbers as f64);
        return (Work { rows, ..Work::default() }, kind, Some(rows * numbers));
    }
    let block = (ROWS * LINE) as u64;
    let inner_lines = cost.div_ceil(block).min((PANEL_BYTES / LINE_BYTES) as u64);
    let inner_blocks = if cost == 0 { 0 } else { (cost / (inner_lines * block)).max(1) };
    let work = Work { inner_lines: inner_lines as u32, inner_blocks, ..read };
    (work, "rows-4", Some(inner_blocks * inner_lines * block))
}

/// Returns the number of rows nearest to `exact` for which there is a kernel, and the kind of this kernel.
fn rows(exact: f64) -> (u64, &'static str) {
    if exact < 1.5 {
        (1, "rows-1")
    } else if exact < 3.0 {
        (2, "rows-2")
    } else {
        ((exact / ROWS as f64).round().max(1.0) as u64 * ROWS as u64, "rows-4")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::graph::Role;

    #[test]
    fn operators_become_products_of_about_their_size() {
        let mut build = GraphBuilder::new("g");
        let x = build.tensor(Tensor::new("x", 4000, Role::Input));
        let y = build.tensor(Tensor::new("y", 4000, Role::Output));
        let big = build.tensor(Tensor::new("big", 40_000, Role::Weight));
        let small = build.tensor(Tensor::new("small", 40, Role::Weight));
        let body = build.body();
        let mut cases = Vec::new();
        for (at, (weight, cost)) in [
            (Some(big), Some(10_000)),
            (Some(big), Some(21_000)),
            (Some(big), Some(493_000)),
            (Some(small), Some(1_000_000)),
            (None, Some(100)),
            (Some(small), None),
            (None, Some(0)),
        ]
        .into_iter()
        .enumerate()
        {
            let out =
                if at == 6 { y } else { build.tensor(Tensor::new(format!("t{at}"), 400, Role::Activation)) };
            let mut operator = Operator::new(format!("o{at}"), "Conv").reads([x]).makes([out]);
            operator.inputs.extend(weight);
            operator.cost = cost;
            build.operator(body, operator);
            cases.push(out);
        }
        build.interface(body, [x], [y]);
        let executable = Executable::new(&build.build().unwrap()).unwrap();
        let seen: Vec<_> = executable.graph.operators().iter().map(|o| (o.kind.as_str(), o.cost)).collect();
        assert_eq!(
            seen,
            [
                ("rows-1", Some(10_000)),
                ("rows-2", Some(20_000)),
                ("rows-4", Some(480_000)),
                ("rows-4", Some(999_424)),
                ("rows-4", Some(128)),
                ("stream", None),
                ("rows-4", Some(0)),
            ]
        );
        let works = &executable.works;
        assert_eq!([0, 1, 2, 3, 4].map(|at| works[at].rows), [1, 2, 48, 1, 0]);
        assert_eq!((works[3].inner_lines, works[3].inner_blocks), (256, 122));
        assert_eq!((works[5].rows, works[5].stream), (1, 4400));
        assert_eq!(works[6], Work::default());
        assert!(KINDS.contains(&"rows-4"));
    }

    #[test]
    fn branches_are_refused() {
        let graph = plimsoll_datasets::graphs::GraphFamily::named("shared-if").unwrap();
        let graph = graph.generate(1, &std::collections::BTreeMap::new()).unwrap();
        let error = Executable::new(&graph).unwrap_err();
        assert_eq!(
            error,
            "graph 'shared-if-1' has branches or loops; only graphs without regions are executed"
        );
    }
}
