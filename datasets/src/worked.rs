//! Worked examples from papers: small instances with published results.
//!
//! Inclusive lifespans `[a, b]` of a source are stored as half-open ones: `[a, b + 1)`.

use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Layout, Lifespan};

/// A known result for a worked example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The algorithm, in a few hyphenated words.
    pub method: &'static str,
    /// The result of the algorithm in bytes.
    pub value: Bytes,
    /// True if the source prints the value, false if it was computed for this project.
    pub printed: bool,
}

/// A worked example and its known results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worked {
    /// The name of the example and of its instance.
    pub name: &'static str,
    /// A one-line summary.
    pub about: &'static str,
    /// The publication that contains the example.
    pub source: &'static str,
    /// The problem. It has a capacity only if the source states one.
    pub instance: Instance,
    /// The minimum peak over all layouts in bytes, if known.
    pub optimum: Option<Bytes>,
    /// A layout with that peak, if the source or a search provided one.
    pub layout: Option<Layout>,
    /// Results of individual algorithms.
    pub facts: Vec<Fact>,
}

impl Worked {
    /// Returns the value of the fact about `method`, if there is one.
    pub fn fact(&self, method: &str) -> Option<Bytes> {
        self.facts.iter().find(|fact| fact.method == method).map(|fact| fact.value)
    }
}

/// Returns all worked examples in a fixed order.
pub fn worked_examples() -> Vec<Worked> {
    vec![patent(), cann(), pisarchyk_lee(), leading_gap(), minimalloc_five()]
}

/// Builds an instance from rows of name, size in bytes and half-open lifespan.
fn interval_instance(name: &str, rows: &[(&str, u64, u64, u64)]) -> InstanceBuilder {
    let buffers = rows.iter().map(|&(name, size, lower, upper)| {
        Buffer::new(name, size, Lifespan::single(lower, upper).expect("upper exceeds lower"))
    });
    InstanceBuilder::new(name).buffers(buffers)
}

fn printed(method: &'static str, value: u64) -> Fact {
    Fact { method, value: Bytes::new(value), printed: true }
}

fn derived(method: &'static str, value: u64) -> Fact {
    Fact { printed: false, ..printed(method, value) }
}

/// Sizes of the outputs of operators 1 to 8 in the patent's example, in M.
const PATENT_SIZES: [u64; 8] = [5, 10, 8, 20, 2, 6, 15, 3];

/// Returns the patent's example: eight operators and a table of exclusive pairs. One byte stands for 1 M in
/// the source.
///
/// # Panics
/// Never: the table is valid.
pub fn patent() -> Worked {
    // Each exclusive pair is listed once, and operators are numbered from 1, as in the source.
    let table = [
        (1, 2),
        (2, 3),
        (2, 4),
        (2, 5),
        (3, 4),
        (3, 5),
        (3, 6),
        (4, 5),
        (4, 6),
        (4, 7),
        (5, 6),
        (5, 7),
        (5, 8),
        (6, 7),
        (7, 8),
    ];
    let buffers = (1..).zip(PATENT_SIZES).map(|(i, size): (u32, u64)| (i.to_string(), Bytes::new(size)));
    let edges = table.map(|(a, b)| (a - 1, b - 1));
    let instance = Instance::from_conflicts("patent", buffers, edges).expect("a valid table");
    Worked {
        name: "patent",
        about: "mutually exclusive operators; placement by descending size exceeds the optimum by 3",
        source: "the worked example of the patent on memory management by mutually exclusive operators",
        instance,
        optimum: Some(Bytes::new(43)),
        layout: Some(Layout::from_raw([0, 22, 32, 0, 20, 22, 28, 0])),
        facts: vec![printed("no-sharing", 69), printed("size-descending", 46), derived("clique-4-5-6-7", 43)],
    }
}

/// Returns the graph of the patent's example: eight operators with one output each. One byte stands for 1 M
/// in the source.
///
/// The text of the patent lists an edge between 6 and 8, but its table of exclusive operators implies one
/// between 7 and 8. With `as_listed`, the graph has the edges of the list. Otherwise, the last edge leads
/// from operator 7 to operator 8, which is the only edge that is consistent with the table.
///
/// # Panics
/// Never: the graph is valid.
pub fn patent_graph(as_listed: bool) -> Graph {
    let last = if as_listed { (6, 8) } else { (7, 8) };
    let edges = [(1, 2), (2, 3), (2, 4), (2, 5), (3, 6), (4, 7), (6, 7), last];
    let mut graph = GraphBuilder::new("patent");
    let mut tensors = Vec::new();
    for (operator, size) in (1..).zip(PATENT_SIZES) {
        let is_output = edges.iter().all(|&(from, _)| from != operator);
        let role = if is_output { Role::Output } else { Role::Activation };
        tensors.push((graph.tensor(Tensor::new(operator.to_string(), size, role)), is_output));
    }
    let body = graph.body();
    for operator in 1..=8usize {
        let inputs = edges.iter().filter(|&&(_, to)| to == operator).map(|&(from, _)| tensors[from - 1].0);
        let makes = [tensors[operator - 1].0];
        graph.operator(body, Operator::new(format!("op{operator}"), "Op").reads(inputs).makes(makes));
    }
    let outputs: Vec<_> = tensors.iter().filter(|(_, is_output)| *is_output).map(|(id, _)| *id).collect();
    graph.interface(body, [], outputs);
    graph.build().expect("a valid graph")
}

/// Returns five tensors for which three methods of block reuse differ.
///
/// # Panics
/// Never: the instance is valid.
pub fn cann() -> Worked {
    let rows = [("A", 1024, 1, 3), ("B", 2048, 2, 5), ("C", 1024, 3, 5), ("D", 512, 4, 6), ("E", 4096, 5, 7)];
    Worked {
        name: "cann",
        about: "five tensors: largest-block reuse wastes 2048 bytes, two-level reuse none",
        source: "the memory reuse of the CANN graph engine, reconstructed from its description",
        instance: interval_instance("cann", &rows).build().expect("a valid instance"),
        optimum: Some(Bytes::new(4608)),
        layout: Some(Layout::from_raw([2048, 0, 2048, 4096, 0])),
        facts: vec![
            printed("no-sharing", 8704),
            printed("max-block", 6656),
            printed("two-level", 4608),
            printed("load", 4608),
        ],
    }
}

/// Returns the eight tensors of a small network.
///
/// # Panics
/// Never: the instance is valid.
pub fn pisarchyk_lee() -> Worked {
    // The columns are the first step, the last step, and the size in bytes.
    let rows =
        [(0, 1, 32), (1, 4, 28), (2, 5, 36), (3, 5, 16), (4, 5, 8), (5, 7, 64), (6, 8, 10), (7, 8, 40)];
    let buffers = (0..).zip(rows).map(|(i, (first, last, size)): (u32, (u64, u64, u64))| {
        let lifespan = Lifespan::single(first, last + 1).expect("last is not before first");
        Buffer::new(format!("t{i}"), size, lifespan)
    });
    let instance = InstanceBuilder::new("pisarchyk-lee").buffers(buffers).build();
    Worked {
        name: "pisarchyk-lee",
        about: "eight tensors: sharing saves 110 of 234 bytes",
        source: "Pisarchyk and Lee, Efficient memory management for deep neural net inference, 2020",
        instance: instance.expect("a valid instance"),
        optimum: Some(Bytes::new(124)),
        layout: Some(Layout::from_raw([28, 0, 64, 100, 116, 0, 64, 74])),
        facts: vec![derived("no-sharing", 234), derived("load", 124)],
    }
}

/// Returns three tensors whose optimal layout uses the hole below the lowest placed buffer.
///
/// # Panics
/// Never: the instance is valid.
pub fn leading_gap() -> Worked {
    let rows = [("x", 100, 0, 2), ("y", 80, 1, 3), ("z", 60, 2, 4)];
    Worked {
        name: "xnnpack-leading-gap",
        about: "greedy placement by size misses the hole at 0 if it searches only between and above placed buffers",
        source: "the memory planner of XNNPACK: a hole at the lowest addresses",
        instance: interval_instance("xnnpack-leading-gap", &rows).build().expect("a valid instance"),
        optimum: Some(Bytes::new(180)),
        layout: Some(Layout::from_raw([0, 100, 0])),
        facts: vec![derived("no-sharing", 240), derived("ignoring-the-hole-at-0", 240), derived("load", 180)],
    }
}

/// Returns the example from the README of `MiniMalloc`, with its capacity of 12.
///
/// # Panics
/// Never: the instance is valid.
pub fn minimalloc_five() -> Worked {
    let rows = [("b1", 4, 0, 3), ("b2", 4, 3, 9), ("b3", 4, 0, 9), ("b4", 4, 9, 21), ("b5", 4, 0, 21)];
    let builder = interval_instance("minimalloc-five", &rows).capacity(Bytes::new(12));
    Worked {
        name: "minimalloc-five",
        about: "five buffers of four bytes that exactly fill twelve bytes",
        source: "MiniMalloc (ASPLOS 2023), github.com/google/minimalloc, benchmarks/examples/input.12.csv",
        instance: builder.build().expect("a valid instance"),
        optimum: Some(Bytes::new(12)),
        layout: Some(Layout::from_raw([8, 8, 4, 4, 0])),
        facts: vec![derived("no-sharing", 20), printed("minimalloc", 12), derived("load", 12)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brute::optimum;
    use plimsoll_model::{BufferId, check_layout, load};

    #[test]
    fn facts_hold() {
        for worked in worked_examples() {
            let Worked { name, instance, layout, .. } = &worked;
            assert_eq!(instance.name(), *name);
            assert_eq!(Some(optimum(instance)), worked.optimum, "{name}");
            assert_eq!(Some(instance.total_size()), worked.fact("no-sharing"), "{name}");
            if let Some(claimed) = worked.fact("load") {
                assert_eq!(load(instance).0, claimed, "{name}");
            }
            let layout = layout.as_ref().unwrap();
            assert_eq!(check_layout(instance, layout), [], "{name}");
            assert_eq!(Some(layout.peak(instance)), worked.optimum, "{name}");
        }
    }

    #[test]
    fn the_patent_s_table_is_symmetric_and_its_clique_weighs_43() {
        let Worked { instance, .. } = patent();
        let table: [&[usize]; 8] = [
            &[2],
            &[1, 3, 4, 5],
            &[2, 4, 5, 6],
            &[2, 3, 5, 6, 7],
            &[2, 3, 4, 6, 7, 8],
            &[3, 4, 5, 7],
            &[4, 5, 6, 8],
            &[5, 7],
        ];
        for a in 1..=8 {
            for b in 1..=8 {
                let exclusive = instance.conflict(BufferId::at(a - 1), BufferId::at(b - 1));
                assert_eq!(exclusive, table[a - 1].contains(&b), "{a} {b}");
            }
        }
        let clique = [4, 5, 6, 7].map(|i: usize| BufferId::at(i - 1));
        assert_eq!(clique.iter().map(|&id| instance.buffer(id).size().get()).sum::<u64>(), 43);
    }
}
