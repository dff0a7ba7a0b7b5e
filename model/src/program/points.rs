//! Program points: all regions of a graph in one line.

use crate::graph::{Control, Flow, FlowError, Graph};
use crate::units::{OperatorId, RegionId};
use std::ops::Range;

/// A moment of a program at which memory is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// An operator that owns no regions runs.
    Run(OperatorId),
    /// An operator that owns regions starts, before any of them.
    Enter(OperatorId),
    /// A region begins; the body of the graph too.
    Begin(RegionId),
    /// A region has ended; the body of the graph too.
    End(RegionId),
    /// An operator that owns regions is done, after all of them.
    Exit(OperatorId),
}

/// The points of a program, in line, and which may follow which.
#[derive(Clone, Debug)]
pub struct Points {
    line: Vec<Point>,
    /// Per region: from its beginning to its end, both included.
    regions: Vec<Range<usize>>,
    /// Per operator: its points, those of the regions it owns included.
    operators: Vec<Range<usize>>,
    /// Per operator: how it runs its regions.
    flows: Vec<Option<Flow>>,
    /// Per point: those that may come right before, ascending.
    predecessors: Vec<Vec<u32>>,
}

impl Points {
    /// The points of a graph whose regions run their operators in these orders. O(size of the graph).
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

    /// Adds a point that may come right after any of `before`.
    fn push(&mut self, point: Point, before: &[u32]) -> u32 {
        self.line.push(point);
        self.predecessors.push(before.to_vec());
        (self.line.len() - 1) as u32
    }

    /// Adds a region; as deep as regions nest.
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
            // An only branch need not run, unless something is made of it.
            Control::Branch if ends.len() == 1 && graph.operator(id).outputs.is_empty() => vec![enter, last],
            Control::Branch => ends,
            Control::Call => vec![last],
            Control::Loop => {
                let first = self.regions[regions[0].index()].start;
                self.predecessors[first].push(last);
                // Left after the condition, or after any trip, also the one before the first.
                if ends.len() == 2 { vec![ends[0]] } else { vec![enter, last] }
            }
        };
        self.push(Point::Exit(id), &left)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.line.len()
    }

    /// Never: the body begins and ends.
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// All of them, in line.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Point> + '_ {
        self.line.iter().copied()
    }

    /// Positions of a region, from its beginning to its end.
    pub(crate) fn of_region(&self, id: RegionId) -> Range<usize> {
        self.regions[id.index()].clone()
    }

    /// Positions of an operator, with those of the regions it owns.
    pub(crate) fn of_operator(&self, id: OperatorId) -> Range<usize> {
        self.operators[id.index()].clone()
    }

    /// How an operator runs its regions; none where it owns none.
    pub(crate) fn flow(&self, id: OperatorId) -> Option<&Flow> {
        self.flows[id.index()].as_ref()
    }

    /// Positions that may come right before another.
    pub(crate) fn predecessors(&self, at: usize) -> &[u32] {
        &self.predecessors[at]
    }
}
