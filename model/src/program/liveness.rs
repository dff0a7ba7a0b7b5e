//! Liveness of tensors along every control path: a tensor is live from the points that write it to the last
//! points that read it.

use super::points::{Point, Points};
use crate::graph::{Graph, Handover, Moment};
use crate::lifespan::Interval;
use crate::units::{OperatorId, TensorId};

struct Accesses {
    reads: Vec<Vec<u32>>,
    /// Per tensor: the points that overwrite it completely.
    writes: Vec<Vec<u32>>,
    /// Per tensor: the first point at which it can exist. A tensor that an operator of a region produces does
    /// not exist before the owner of the region is entered.
    first: Vec<u32>,
}

impl Accesses {
    fn new(graph: &Graph, points: &Points) -> Self {
        let count = graph.tensors().len();
        let mut accesses =
            Self { reads: vec![Vec::new(); count], writes: vec![Vec::new(); count], first: vec![0; count] };
        for (at, first) in accesses.first.iter_mut().enumerate() {
            let home = graph.producer(TensorId::at(at)).map(|maker| graph.home(maker));
            let owner = home.and_then(|home| graph.region(home).owner);
            *first = owner.map_or(0, |owner| points.of_operator(owner).start as u32 + 1);
        }
        for (at, point) in points.iter().enumerate() {
            let at = at as u32;
            match point {
                Point::Run(id) => {
                    accesses.read(at, &graph.operator(id).inputs);
                    accesses.write(at, &graph.operator(id).outputs);
                }
                Point::Enter(id) => {
                    accesses.read(at, &graph.operator(id).inputs);
                    accesses.hand(at, points, id, Moment::Enter);
                    for row in handovers(points, id).iter().filter(|h| h.part && h.returns()) {
                        accesses.write(at, &[row.to]);
                    }
                }
                Point::Exit(id) => {
                    accesses.hand(at, points, id, Moment::Exit);
                    let handed = handovers(points, id);
                    // All outputs of an operator exist at its exit, even if nothing reads them.
                    for row in handed.iter().filter(|h| h.part && h.returns()) {
                        accesses.read(at, &[row.to]);
                    }
                    let own = graph.operator(id).outputs.iter().copied();
                    let own: Vec<_> = own.filter(|&t| handed.iter().all(|h| h.to != t)).collect();
                    accesses.write(at, &own);
                }
                Point::Begin(region) => {
                    let given = &graph.region(region).inputs;
                    match graph.region(region).owner {
                        None => accesses.write(at, given),
                        Some(owner) => {
                            let position = position(graph, owner, region);
                            accesses.hand(at, points, owner, Moment::Begin(position));
                            let handed = handovers(points, owner);
                            let free = |t: &TensorId| handed.iter().all(|h| h.to != *t);
                            let free: Vec<_> = given.iter().copied().filter(free).collect();
                            accesses.write(at, &free);
                        }
                    }
                }
                Point::End(region) => {
                    accesses.read(at, &graph.region(region).outputs);
                    if let Some(owner) = graph.region(region).owner {
                        let position = position(graph, owner, region);
                        accesses.hand(at, points, owner, Moment::End(position));
                    }
                }
            }
        }
        accesses
    }

    fn read(&mut self, at: u32, tensors: &[TensorId]) {
        for tensor in tensors {
            self.reads[tensor.index()].push(at);
        }
    }

    fn write(&mut self, at: u32, tensors: &[TensorId]) {
        for tensor in tensors {
            self.writes[tensor.index()].push(at);
        }
    }

    fn hand(&mut self, at: u32, points: &Points, owner: OperatorId, when: Moment) {
        let handed = handovers(points, owner);
        for handover in handed.iter().filter(|h| h.when == when) {
            self.read(at, &[handover.from]);
            // A loop without iterations hands over the state instead of the next state.
            let state =
                |h: &&Handover| when == Moment::Exit && h.returns() && !h.part && h.from == handover.from;
            if let Some(state) = handed.iter().find(state) {
                self.read(at, &[state.to]);
            }
            if handover.part && handover.returns() {
                // The rows of earlier iterations remain in the tensor.
                self.read(at, &[handover.to]);
            } else {
                self.write(at, &[handover.to]);
            }
        }
    }
}

impl Handover {
    /// Returns true if the handover copies from a region to the operator that owns it.
    fn returns(&self) -> bool {
        matches!(self.when, Moment::End(_))
    }
}

fn handovers(points: &Points, owner: OperatorId) -> &[Handover] {
    points.flow(owner).map_or(&[], |flow| &flow.handovers)
}

/// Returns the position of a region among the regions of its owner.
fn position(graph: &Graph, owner: OperatorId, region: crate::units::RegionId) -> usize {
    graph.operator(owner).regions.iter().position(|&one| one == region).unwrap_or_default()
}

/// Computes the points at which tensors are live.
pub(super) struct Liveness<'a> {
    points: &'a Points,
    accesses: Accesses,
    /// Per point: the tensor that marked it last.
    marks: Vec<u32>,
}

impl<'a> Liveness<'a> {
    pub(super) fn new(graph: &Graph, points: &'a Points) -> Self {
        Self { points, accesses: Accesses::new(graph, points), marks: vec![u32::MAX; points.len()] }
    }

    /// Returns the points at which a tensor must keep its memory, as maximal intervals in ascending order.
    ///
    /// The search runs backwards from every read to the writes that may have produced the data. A write
    /// without readers counts as a single point. O(p log p), where p is the number of live points and their
    /// predecessors.
    pub(super) fn of(&mut self, tensor: TensorId) -> Vec<Interval> {
        let (points, mark) = (self.points, tensor.get());
        let (reads, writes) = (&self.accesses.reads[tensor.index()], &self.accesses.writes[tensor.index()]);
        let first = self.accesses.first[tensor.index()];
        let mut live: Vec<u32> = Vec::new();
        let mut todo: Vec<u32> = Vec::new();
        let marks = &mut self.marks;
        let mut visit = |at: u32, live: &mut Vec<u32>| {
            let new = marks[at as usize] != mark;
            if new {
                marks[at as usize] = mark;
                live.push(at);
            }
            new
        };
        for &at in reads {
            if visit(at, &mut live) {
                todo.push(at);
            }
        }
        while let Some(at) = todo.pop() {
            for &before in points.predecessors(at as usize).iter().filter(|&&before| before >= first) {
                // All reading points are visited first. The backward search therefore ends at points that
                // only write.
                if visit(before, &mut live) && writes.binary_search(&before).is_err() {
                    todo.push(before);
                }
            }
        }
        for &at in writes {
            visit(at, &mut live);
        }
        intervals(live)
    }
}

/// Merges points into maximal intervals.
pub(super) fn intervals(mut points: Vec<u32>) -> Vec<Interval> {
    points.sort_unstable();
    points.dedup();
    let mut intervals: Vec<Interval> = Vec::new();
    for at in points.into_iter().map(u64::from) {
        match intervals.last_mut() {
            Some(last) if last.upper.get() == at => last.upper = (at + 1).into(),
            _ => intervals.push(Interval::new(at, at + 1)),
        }
    }
    intervals
}

/// Returns the union of intervals as maximal intervals in ascending order.
pub(super) fn union(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable_by_key(|one| (one.lower, one.upper));
    let mut union: Vec<Interval> = Vec::new();
    for one in intervals {
        match union.last_mut() {
            Some(last) if last.upper >= one.lower => last.upper = last.upper.max(one.upper),
            _ => union.push(one),
        }
    }
    union
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_intervals_are_joined() {
        let show = |list: Vec<Interval>| {
            list.iter().map(|one| (one.lower.get(), one.upper.get())).collect::<Vec<_>>()
        };
        assert_eq!(show(intervals(vec![5, 1, 2, 2, 9, 6])), [(1, 3), (5, 7), (9, 10)]);
        let parts = [(4, 6), (0, 2), (1, 3), (6, 7)].map(|(lower, upper)| Interval::new(lower, upper));
        assert_eq!(show(union(parts.to_vec())), [(0, 3), (4, 7)]);
    }
}
