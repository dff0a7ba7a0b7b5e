//! Program points: all regions of a graph as one sequence.

use crate::graph::{Control, Flow, FlowError, Graph};
use crate::units::{OperatorId, RegionId};
use std::ops::Range;

/// A moment of a program at which memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// An operator without regions runs.
    Run(OperatorId),
    /// An operator that owns regions starts, before any of its regions.
    Enter(OperatorId),
    /// A region begins, possibly the body of the graph.
    Begin(RegionId),
    /// A region has ended, possibly the body of the graph.
    End(RegionId),
    /// An operator that owns regions ends, after all of its regions.
    Exit(OperatorId),
}

/// The points of a program as a sequence, with the possible transitions between them.
#[derive(Clone, Debug)]
pub struct Points {
    line: Vec<Point>,
    /// Per region: its points, from its beginning to its end inclusive.
    regions: Vec<Range<usize>>,
    /// Per operator: its points, including those of its regions.
    operators: Vec<Range<usize>>,
    /// Per operator: its control flow, if it owns regions.
    flows: Vec<Option<Flow>>,
    /// Per point: the points that may directly precede it, ascending.
    predecessors: Vec<Vec<u32>>,
}

impl Points {
    /// The points of a graph whose regions run their operators in the given orders. O(size of the graph).
    pub(crate) fn new(graph: &Graph, orders: &[Vec<OperatorId>]) -> Result<Self, FlowError> {
        let flows = (0..graph.operators().len()).map(|at| graph.flow(OperatorId::at(at)));
        let mut points = Self {
            line: Vec::new(),
            regions: vec![0..0; graph.regions().len()],
            operators: vec![0..0; graph.operators().len()],
            flows: flows.collect::<Result<_, _>>()?,
            predecessors: Vec::new(),
        };
        points.region(graph, orders, Graph::BODY, &[]);
        for list in &mut points.predecessors {
            list.sort_unstable();
            list.dedup();
        }
        Ok(points)
    }

    /// Adds a point that may directly follow any of `before`.
    fn push(&mut self, point: Point, before: &[u32]) -> u32 {
        self.line.push(point);
        self.predecessors.push(before.to_vec());
        (self.line.len() - 1) as u32
    }

    /// Adds a region with its operators, recursively.
    fn region(&mut self, graph: &Graph, orders: &[Vec<OperatorId>], region: RegionId, before: &[u32]) -> u32 {
        let first = self.push(Point::Begin(region), before);
        let mut last = first;
        for &id in &orders[region.index()] {
            let from = self.line.len();
            last = match self.flows[id.index()].as_ref().map(|flow| flow.control) {
                None => self.push(Point::Run(id), &[last]),
                Some(control) => self.owner(graph, orders, id, control, last),
            };
            self.operators[id.index()] = from..self.line.len();
        }
        let end = self.push(Point::End(region), &[last]);
        self.regions[region.index()] = first as usize..self.line.len();
        end
    }

    fn owner(
        &mut self,
        graph: &Graph,
        orders: &[Vec<OperatorId>],
        id: OperatorId,
        control: Control,
        before: u32,
    ) -> u32 {
        let enter = self.push(Point::Enter(id), &[before]);
        let regions = &graph.operator(id).regions;
        let mut ends = Vec::with_capacity(regions.len());
        let mut last = enter;
        for &region in regions {
            let before = if control == Control::Branch { enter } else { last };
            last = self.region(graph, orders, region, &[before]);
            ends.push(last);
        }
        let left = match control {
            // A single branch without outputs may be skipped.
            Control::Branch if ends.len() == 1 && graph.operator(id).outputs.is_empty() => vec![enter, last],
            Control::Branch => ends,
            Control::Call => vec![last],
            Control::Loop => {
                let first = self.regions[regions[0].index()].start;
                self.predecessors[first].push(last);
                // A loop is left after the condition, or before the first trip or after any trip.
                if ends.len() == 2 { vec![ends[0]] } else { vec![enter, last] }
            }
        };
        self.push(Point::Exit(id), &left)
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.line.len()
    }

    /// Always false: the body has a beginning and an end.
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// All points in sequence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Point> + '_ {
        self.line.iter().copied()
    }

    /// The positions of a region, from its beginning to its end.
    pub(crate) fn of_region(&self, id: RegionId) -> Range<usize> {
        self.regions[id.index()].clone()
    }

    /// The positions of an operator, including its regions.
    pub(crate) fn of_operator(&self, id: OperatorId) -> Range<usize> {
        self.operators[id.index()].clone()
    }

    /// The control flow of an operator, or `None` if it owns no regions.
    pub(crate) fn flow(&self, id: OperatorId) -> Option<&Flow> {
        self.flows[id.index()].as_ref()
    }

    /// The positions that may directly precede a position.
    pub(crate) fn predecessors(&self, at: usize) -> &[u32] {
        &self.predecessors[at]
    }
}
