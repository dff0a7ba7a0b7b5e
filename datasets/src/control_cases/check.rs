//! Tests the known results of the cases directly against the definitions: builds the points of each program,
//! computes the live tensors at each point, and tries every layout.

use super::{CONTROL_CASES, ControlCase};
use crate::brute::optimum_up_to;
use plimsoll_model::graph::{Control, Flow, Graph, LivenessOptions, Moment, Role};
use plimsoll_model::{Bytes, Instance, OperatorId, RegionId, TensorId, load};
use std::collections::{BTreeMap, BTreeSet, HashSet};

#[derive(Default)]
struct Point {
    reads: BTreeSet<TensorId>,
    writes: BTreeSet<TensorId>,
    next: Vec<usize>,
}

/// The points of a program and their possible successors.
struct Program<'a> {
    graph: &'a Graph,
    points: Vec<Point>,
}

impl Program<'_> {
    fn point(&mut self, after: &[usize], reads: &[TensorId], writes: &[TensorId]) -> usize {
        let at = self.points.len();
        let (reads, writes) = (reads.iter().copied().collect(), writes.iter().copied().collect());
        self.points.push(Point { reads, writes, next: Vec::new() });
        for &before in after {
            self.points[before].next.push(at);
        }
        at
    }

    /// Adds a region and returns its first and last point.
    fn region(&mut self, after: &[usize], region: RegionId, flow: Option<(&Flow, usize)>) -> (usize, usize) {
        let list = self.graph.region(region).clone();
        // The carried inputs of a loop are written at another point.
        let elsewhere = |id: &TensorId| {
            let begin = flow.map(|(_, at)| Moment::Begin(at));
            flow.is_some_and(|(flow, _)| flow.handovers.iter().any(|h| h.to == *id && Some(h.when) != begin))
        };
        let written: Vec<TensorId> = list.inputs.iter().copied().filter(|id| !elsewhere(id)).collect();
        let first = self.point(after, &[], &written);
        let mut last = first;
        for &id in &list.operators {
            last = self.operator(last, id);
        }
        let end = self.point(&[last], &list.outputs, &[]);
        if let Some((flow, at)) = flow {
            self.hand(flow, Moment::Begin(at), first);
            self.hand(flow, Moment::End(at), end);
        }
        (first, end)
    }

    fn hand(&mut self, flow: &Flow, when: Moment, point: usize) {
        for handover in flow.handovers.iter().filter(|handover| handover.when == when) {
            self.points[point].reads.insert(handover.from);
            self.points[point].writes.insert(handover.to);
        }
    }

    fn operator(&mut self, after: usize, id: OperatorId) -> usize {
        let operator = self.graph.operator(id).clone();
        let Some(flow) = self.graph.flow(id).unwrap() else {
            return self.point(&[after], &operator.inputs, &operator.outputs);
        };
        let enter = self.point(&[after], &operator.inputs, &[]);
        self.hand(&flow, Moment::Enter, enter);
        let mut ends = vec![enter];
        for (at, &region) in operator.regions.iter().enumerate() {
            let after = if flow.control == Control::Branch { vec![enter] } else { ends.clone() };
            let (first, end) = self.region(&after, region, Some((&flow, at)));
            match flow.control {
                Control::Branch if at == 0 => ends = vec![end],
                Control::Branch => ends.push(end),
                Control::Call => ends = vec![end],
                // A loop with a condition begins and ends with the condition. A loop without one may run zero
                // iterations.
                Control::Loop if operator.regions.len() == 1 => {
                    self.points[end].next.push(first);
                    ends.push(end);
                }
                Control::Loop if at == 0 => ends = vec![end],
                Control::Loop => {
                    let condition = self.points[enter].next[0];
                    self.points[end].next.push(condition);
                }
            }
        }
        let exit = self.point(&ends, &[], &[]);
        self.hand(&flow, Moment::Exit, exit);
        exit
    }

    /// Returns the tensors that are live at each point: those that the point reads or writes, and those
    /// that are read later before they are written again. Weights and empty tensors are skipped.
    fn live(&self) -> Vec<BTreeSet<TensorId>> {
        let mut needed: Vec<BTreeSet<TensorId>> = vec![BTreeSet::new(); self.points.len()];
        let after = |needed: &[BTreeSet<TensorId>], at: usize| -> BTreeSet<TensorId> {
            self.points[at].next.iter().flat_map(|&next| needed[next].iter().copied()).collect()
        };
        loop {
            let mut changed = false;
            for at in (0..self.points.len()).rev() {
                let point = &self.points[at];
                let mut before: BTreeSet<TensorId> =
                    after(&needed, at).difference(&point.writes).copied().collect();
                before.extend(&point.reads);
                changed |= before != needed[at];
                needed[at] = before;
            }
            if !changed {
                break;
            }
        }
        (0..self.points.len())
            .map(|at| {
                let mut live = after(&needed, at);
                live.extend(&self.points[at].reads);
                live.extend(&self.points[at].writes);
                live.retain(|&id| {
                    let tensor = self.graph.tensor(id);
                    tensor.role != Role::Weight && tensor.bytes > Bytes::ZERO
                });
                live
            })
            .collect()
    }
}

/// Returns the tensors that are live at each point if branches are mutually exclusive.
fn exclusive(graph: &Graph) -> Vec<BTreeSet<TensorId>> {
    let mut program = Program { graph, points: Vec::new() };
    program.region(&[], Graph::BODY, None);
    program.live()
}

/// Returns the tensors that are live at each point if all regions are executed sequentially. Every tensor is
/// live from the first to the last point that reads or writes it.
fn in_sequence(graph: &Graph) -> Vec<BTreeSet<TensorId>> {
    let mut program = Program { graph, points: Vec::new() };
    program.region(&[], Graph::BODY, None);
    let mut ends: BTreeMap<TensorId, (usize, usize)> = BTreeMap::new();
    for (at, point) in program.points.iter().enumerate() {
        for &id in point.reads.iter().chain(&point.writes) {
            ends.entry(id).or_insert((at, at)).1 = at;
        }
    }
    let held =
        |at| ends.iter().filter(move |(_, (first, last))| (*first..=*last).contains(&at)).map(|(&id, _)| id);
    (0..program.points.len()).map(|at| held(at).collect()).collect()
}

/// Builds the instance in which two tensors conflict if both are live at the same point. Returns the instance
/// and the maximum number of live bytes at any point.
fn instance(graph: &Graph, live: &[BTreeSet<TensorId>]) -> (Instance, u64) {
    let tensors: BTreeSet<TensorId> = live.iter().flatten().copied().collect();
    let number: BTreeMap<TensorId, usize> = tensors.iter().enumerate().map(|(at, &id)| (id, at)).collect();
    let mut edges = HashSet::new();
    for point in live {
        let list: Vec<usize> = point.iter().map(|id| number[id]).collect();
        for (at, &a) in list.iter().enumerate() {
            edges.extend(list[at + 1..].iter().map(|&b| (a, b)));
        }
    }
    let mut edges: Vec<(usize, usize)> = edges.into_iter().collect();
    edges.sort_unstable();
    let buffers = tensors.iter().map(|&id| (graph.tensor(id).name.clone(), graph.tensor(id).bytes));
    let most = live.iter().map(|point| point.iter().map(|&id| graph.tensor(id).bytes.get()).sum()).max();
    (Instance::from_conflicts(graph.name(), buffers, edges).unwrap(), most.unwrap())
}

/// Returns the minimum arena, proved by trying every layout. `bound` is a lower bound on it.
fn least(instance: &Instance, bound: u64) -> u64 {
    (bound..=instance.total_size().get()).find(|&limit| optimum_up_to(instance, limit).is_some()).unwrap()
}

/// Returns the minimum arena of a region if every operator in it that owns regions gets one block.
fn merged(graph: &Graph, region: RegionId) -> u64 {
    let block = |id: OperatorId| {
        let blocks = graph.operator(id).regions.iter().map(|&inner| merged(graph, inner));
        Bytes::new(blocks.max().unwrap_or(0))
    };
    let problem = graph.storages(region, &LivenessOptions::default(), block).unwrap().problem;
    let instance = problem.instance(&problem.as_in_file(), Bytes::new(1)).unwrap();
    least(&instance, load(&instance).0.get())
}

#[test]
fn cases_have_the_numbers_they_claim() {
    let mut names = HashSet::new();
    let mut wrong = Vec::new();
    for case in CONTROL_CASES {
        let graph = (case.build)();
        assert!(names.insert(case.name) && !case.about.is_empty() && !case.source.is_empty());
        assert_eq!(graph.name(), case.name);
        for region in 0..graph.regions().len() {
            let region = RegionId::at(region);
            assert_eq!(graph.file_order(region), graph.region(region).operators, "{}", case.name);
        }
        let (instance, bound) = instance(&graph, &exclusive(&graph));
        let merged = case.merged.map(|_| Bytes::new(merged(&graph, Graph::BODY)));
        let found = (Some(Bytes::new(least(&instance, bound))), merged);
        if found != (case.optimum, case.merged) {
            wrong.push(format!("{}: {found:?}, at least {bound}, {} tensors", case.name, instance.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn laid_out_in_sequence() {
    let cases = [
        ("two-branches-in-a-row", 24),
        ("both-branches-summed", 600),
        ("block-fills-no-holes", 5),
        ("block-beside-its-input", 14),
        ("block-behind-sequence", 8),
    ];
    for (name, expected) in cases {
        let graph = (ControlCase::named(name).unwrap().build)();
        let (instance, bound) = instance(&graph, &in_sequence(&graph));
        assert_eq!(least(&instance, bound), expected, "{name}");
    }
}
