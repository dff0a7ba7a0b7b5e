//! Program points: all regions of a graph as one sequence.

use crate::graph::{Control, Flow, FlowError, Graph};
use crate::units::{OperatorId, RegionId};
use std::ops::Range;

/// A moment in a program at which memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// An operator without regions runs.
    Run(OperatorId),
    /// An operator that owns regions begins, before any of its regions.
    Enter(OperatorId),
    /// A region begins. It may be the body of the graph.
    Begin(RegionId),
    /// A region has ended. It may be the body of the graph.
    End(RegionId),
    /// An operator that owns regions exits, after all of its regions.
    Exit(OperatorId),
}

/// The points of a program in sequence, and the possible transitions between them.
#[derive(Clone, Debug)]
pub struct Points {
    line: Vec<Point>,
    /// Per region: the range of its points, including its beginning and its end.
    regions: Vec<Range<usize>>,
    /// Per operator: the range of its points, including those of its regions.
    operators: Vec<Range<usize>>,
    /// Per operator: its control flow; `None` if it owns no regions.
    flows: Vec<Option<Flow>>,
    /// Per point: the points that may directly precede it, ascending.
    predecessors: Vec<Vec<u32>>,
}

impl Points {
    /// Creates the points of a graph. The regions run their operators in the given orders. Unless handovers
    /// are listed, the time is linear in the size of the graph.
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

    /// Adds a point that may directly follow any point in `before`.
    fn push(&mut self, point: Point, before: &[u32]) -> u32 {
        self.line.push(point);
        self.predecessors.push(before.to_vec());
        (self.line.len() - 1) as u32
    }

    /// Adds a region and, recursively, its operators.
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
            // A branch operator with one region and no outputs may skip its region.
            Control::Branch if ends.len() == 1 && graph.operator(id).outputs.is_empty() => vec![enter, last],
            Control::Branch => ends,
            Control::Call => vec![last],
            Control::Loop => {
                let first = self.regions[regions[0].index()].start;
                self.predecessors[first].push(last);
                // A loop with a condition exits after the condition. A loop without one exits before the
                // first iteration or after any iteration.
                if ends.len() == 2 { vec![ends[0]] } else { vec![enter, last] }
            }
        };
        self.push(Point::Exit(id), &left)
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.line.len()
    }

    /// Returns false, because the body has a beginning and an end.
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Returns all points in sequence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Point> + '_ {
        self.line.iter().copied()
    }

    /// Returns the range of positions of a region, including its beginning and its end.
    pub(crate) fn of_region(&self, id: RegionId) -> Range<usize> {
        self.regions[id.index()].clone()
    }

    /// Returns the range of positions of an operator, including its regions.
    pub(crate) fn of_operator(&self, id: OperatorId) -> Range<usize> {
        self.operators[id.index()].clone()
    }

    /// Returns the control flow of an operator; `None` if it owns no regions.
    pub(crate) fn flow(&self, id: OperatorId) -> Option<&Flow> {
        self.flows[id.index()].as_ref()
    }

    /// Returns the positions that may directly precede a position.
    pub(crate) fn predecessors(&self, at: usize) -> &[u32] {
        &self.predecessors[at]
    }
}
