//! Overlap programs: a graph with its orders, divided into segments, and the control paths through these
//! segments.
//!
//! A transfer never overlaps a computation or transfer of another segment. Segments follow LUNA, rules 1 to
//! 5: a segment contains the operators between two operators that own regions, in the body and in every
//! region separately. A branch runs exactly one of its regions. A loop runs its body once per iteration, and
//! its condition once more than that. A call runs all its regions. An operator that owns regions takes no
//! time of its own.

use super::machine::Machine;
use super::problem::{TimedOperator, TimelineError, TimelineProblem, sliced};
use super::resident::Residency;
use crate::graph::{Control, FlowError, Graph, Role, Storages};
use crate::orders::Order;
use crate::time::Time;
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use std::collections::HashMap;

/// The order of one region, and the storages that its operators use.
#[derive(Clone, Copy, Debug)]
pub struct RegionOrder<'a> {
    /// The order problem of the region. The scratch of an operator includes the memory of the regions that it
    /// owns.
    pub storages: &'a Storages,
    /// An order of the problem.
    pub order: &'a Order,
}

/// The on-chip memory occupied by activations while an operator runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activations<'a> {
    /// The bytes that are live at the step of the operator, including those of the enclosing regions.
    #[default]
    Live,
    /// For every operator, the peak live bytes of its region, plus the live bytes of the enclosing regions.
    Peak,
    /// Per operator of the graph: the highest end address of the buffers that are live at its step in a
    /// given layout.
    Placed(&'a [Bytes]),
}

/// The assumptions under which a program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlapOptions<'a> {
    /// The trip count of every loop.
    pub trips: u32,
    /// The on-chip memory occupied by activations.
    pub activations: Activations<'a>,
}

impl Default for OverlapOptions<'_> {
    /// Returns the assumptions that every loop runs for one iteration and that activations occupy the bytes
    /// live at each step.
    fn default() -> Self {
        Self { trips: 1, activations: Activations::Live }
    }
}

/// A sequence of operators of a program, without control flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlapSegment {
    /// The region that contains the segment.
    pub region: RegionId,
    /// The operators with their times and bytes.
    pub problem: TimelineProblem,
    /// Per operator: the index of its weight block in the program; `None` if it has no weights.
    pub blocks: Vec<Option<usize>>,
    /// The bytes of activations at the step of the operator with regions that follows the segment; zero if no
    /// operator with regions follows. [`Activations::Live`] and [`Activations::Peak`] do not count the memory
    /// of these regions.
    pub border: Bytes,
}

/// Weights that are fetched together: all weights of an operator, or the weights of one slice.
///
/// Operators that read the same weights, in the same slices, share blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightBlock {
    /// The name of the first operator or slice that fetches the block.
    pub name: String,
    /// The size in bytes.
    pub bytes: Bytes,
    /// The uses of the block, ascending. Each use is the index of a segment and a position in this segment.
    pub uses: Vec<(usize, usize)>,
}

/// The control structure of a program as a sequence of pieces.
pub type ControlTree = Vec<Piece>;

/// A piece of a control structure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum Piece {
    /// A segment, given by its index.
    Segment(usize),
    /// An operator that runs one of its regions. Each region has its own control structure.
    Branch { operator: OperatorId, control_trees: Vec<ControlTree> },
    /// A loop, whose condition runs before every iteration and once more at the end. The body runs in every
    /// iteration.
    Loop {
        /// The condition. It is empty if the loop has no separate condition.
        condition: ControlTree,
        body: ControlTree,
        trips: u32,
    },
}

/// The segments of a graph and the control structure that connects them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlapProgram {
    pub(super) segments: Vec<OverlapSegment>,
    pub(super) control_tree: ControlTree,
    pub(super) blocks: Vec<WeightBlock>,
    pub(super) residency: Residency,
}

/// The reason why a graph does not form an overlap program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum OverlapError {
    #[error(transparent)]
    Flow(#[from] FlowError),
    #[error("segment '{segment}': {source}")]
    Segment { segment: String, source: TimelineError },
    /// The computing time of the operator or the time to preload its weights overflows.
    #[error("the compute or transfer time of operator '{operator}' overflows (64-bit picoseconds)")]
    TooLong { operator: String },
    /// Resident weights exceed the on-chip memory.
    #[error("{bytes} bytes of resident weights do not fit into the {capacity} bytes of on-chip memory")]
    Resident {
        /// The total size of the weights, rounded up to the alignment.
        bytes: u128,
        capacity: Bytes,
    },
}

impl OverlapProgram {
    /// Creates a program from a graph, a machine, and the orders of the graph's regions, indexed by region.
    /// The time is linear in the size of the graph.
    ///
    /// # Errors
    /// The first [`OverlapError`] found.
    ///
    /// # Panics
    /// If the number of orders differs from the number of regions, or the orders do not belong to the graph.
    pub fn new(
        graph: &Graph,
        regions: &[RegionOrder<'_>],
        machine: &Machine,
        options: OverlapOptions<'_>,
    ) -> Result<Self, OverlapError> {
        assert_eq!(regions.len(), graph.regions().len(), "one order per region");
        let (segments, blocks) = (Vec::new(), Vec::new());
        let known = HashMap::new();
        let mut build = Build { graph, regions, machine, options, segments, blocks, known };
        let control_tree = build.region(Graph::BODY, 0)?;
        let residency = Residency::none(machine.capacity);
        let mut program = Self { segments: build.segments, control_tree, blocks: build.blocks, residency };
        program.share_parity();
        Ok(program)
    }

    /// Gives the two ping-pong buffers the same sizes in all segments.
    pub(super) fn share_parity(&mut self) {
        let parity = self.segments.iter().map(|one| one.problem.parity());
        let parity = parity.fold([Bytes::ZERO; 2], |all, own| [0, 1].map(|at| all[at].max(own[at])));
        for one in &mut self.segments {
            one.problem = one.problem.clone().with_parity(parity);
        }
    }

    /// Returns the segments, each with its timeline problem.
    pub fn segments(&self) -> &[OverlapSegment] {
        &self.segments
    }

    /// Returns the control structure that connects the segments.
    pub fn control_tree(&self) -> &ControlTree {
        &self.control_tree
    }

    /// Returns the weight blocks. Resident blocks have no transfer in any segment.
    pub fn blocks(&self) -> &[WeightBlock] {
        &self.blocks
    }

    /// Returns the weights that stay in on-chip memory.
    pub fn residency(&self) -> &Residency {
        &self.residency
    }

    /// Returns the time of the longest control path, plus the time to preload the resident weights. `time`
    /// maps a segment to its time. Returns `None` on overflow. Linear in the size of the program.
    ///
    /// If `time` returns lower bounds, the result is a lower bound on the time of the longest run, because
    /// segments do not overlap.
    pub fn longest(&self, time: &dyn Fn(usize) -> Time) -> Option<Time> {
        longest(&self.control_tree, time)?.checked_add(self.residency.preload)
    }

    /// Returns the expected time in seconds. `time` maps a segment to its time, and `chances` maps a branch
    /// to the probabilities of its regions. Linear in the size of the program.
    pub fn expected(&self, time: &dyn Fn(usize) -> Time, chances: &dyn Fn(OperatorId) -> Vec<f64>) -> f64 {
        self.residency.preload.seconds() + expected(&self.control_tree, time, chances)
    }

    /// For each segment, returns how often it would run if every branch ran all its regions. This number is a
    /// product over the enclosing loops. Each loop contributes its trip count, or one more if the segment is
    /// in the condition of the loop. Linear in the size of the program.
    pub fn runs(&self) -> Vec<u64> {
        let mut runs = vec![0; self.segments.len()];
        count(&self.control_tree, 1, &mut runs);
        runs
    }

    /// Returns the segments along the longest control path in execution order, at most `limit` of them. If
    /// several regions of a branch take equally long, the first one is chosen. The time is linear in the size
    /// of the program and in `limit`, plus, for each branch, its size times the number of iterations of the
    /// enclosing loops.
    pub fn path(&self, time: &dyn Fn(usize) -> Time, limit: usize) -> Vec<usize> {
        let mut path = Vec::new();
        walk(&self.control_tree, time, limit, &mut path);
        path
    }
}

fn longest(control_tree: &ControlTree, time: &dyn Fn(usize) -> Time) -> Option<Time> {
    let mut sum = Time::ZERO;
    for piece in control_tree {
        let own = match piece {
            Piece::Segment(at) => time(*at),
            Piece::Branch { control_trees, .. } => {
                let mut most = Time::ZERO;
                for control_tree in control_trees {
                    most = most.max(longest(control_tree, time)?);
                }
                most
            }
            Piece::Loop { condition, body, trips } => {
                let trips = u64::from(*trips);
                let condition = longest(condition, time)?.checked_mul(trips + 1)?;
                condition.checked_add(longest(body, time)?.checked_mul(trips)?)?
            }
        };
        sum = sum.checked_add(own)?;
    }
    Some(sum)
}

fn count(control_tree: &ControlTree, times: u64, runs: &mut [u64]) {
    for piece in control_tree {
        match piece {
            Piece::Segment(at) => runs[*at] = runs[*at].saturating_add(times),
            Piece::Branch { control_trees, .. } => {
                for control_tree in control_trees {
                    count(control_tree, times, runs);
                }
            }
            Piece::Loop { condition, body, trips } => {
                count(condition, times.saturating_mul(u64::from(*trips) + 1), runs);
                count(body, times.saturating_mul(u64::from(*trips)), runs);
            }
        }
    }
}

fn expected(
    control_tree: &ControlTree,
    time: &dyn Fn(usize) -> Time,
    chances: &dyn Fn(OperatorId) -> Vec<f64>,
) -> f64 {
    let own = |piece: &Piece| match piece {
        Piece::Segment(at) => time(*at).seconds(),
        Piece::Branch { operator, control_trees } => {
            let weighed = chances(*operator).into_iter().zip(control_trees);
            weighed.map(|(chance, control_tree)| chance * expected(control_tree, time, chances)).sum()
        }
        Piece::Loop { condition, body, trips } => {
            let trips = f64::from(*trips);
            (trips + 1.0) * expected(condition, time, chances) + trips * expected(body, time, chances)
        }
    };
    control_tree.iter().map(own).sum()
}

fn walk(control_tree: &ControlTree, time: &dyn Fn(usize) -> Time, limit: usize, path: &mut Vec<usize>) {
    for piece in control_tree {
        if path.len() >= limit {
            return;
        }
        match piece {
            Piece::Segment(at) => path.push(*at),
            Piece::Branch { control_trees, .. } => {
                let mut most: Option<(Time, &ControlTree)> = None;
                for control_tree in control_trees {
                    let length = longest(control_tree, time).unwrap_or(Time::MAX);
                    if most.is_none_or(|(other, _)| length > other) {
                        most = Some((length, control_tree));
                    }
                }
                if let Some((_, control_tree)) = most {
                    walk(control_tree, time, limit, path);
                }
            }
            Piece::Loop { condition, body, trips } => {
                for _ in 0..*trips {
                    let before = path.len();
                    walk(condition, time, limit, path);
                    walk(body, time, limit, path);
                    if path.len() == before || path.len() >= limit {
                        break;
                    }
                }
                walk(condition, time, limit, path);
            }
        }
    }
}

/// An operator or slice, with the block that it fetches.
struct Step {
    operator: TimedOperator,
    block: Option<usize>,
}

struct Build<'a> {
    graph: &'a Graph,
    regions: &'a [RegionOrder<'a>],
    machine: &'a Machine,
    options: OverlapOptions<'a>,
    segments: Vec<OverlapSegment>,
    blocks: Vec<WeightBlock>,
    /// Maps the weights of an operator, in ascending order, and the index of a slice to a block.
    known: HashMap<(Vec<TensorId>, usize), usize>,
}

impl Build<'_> {
    /// Builds the control structure of a region. `outer` bytes of enclosing regions are live while this
    /// region runs.
    fn region(&mut self, region: RegionId, outer: u64) -> Result<ControlTree, OverlapError> {
        let RegionOrder { storages, order } = self.regions[region.index()];
        let profile = order.profile(&storages.problem).into_iter();
        let profile: Vec<u64> = profile.map(|bytes| outer.saturating_add(bytes.get())).collect();
        let peak = outer.saturating_add(order.peak(&storages.problem).get());
        let mut control_tree = ControlTree::new();
        let mut straight = Vec::new();
        for (&live, &id) in profile.iter().zip(order.operators()) {
            let operator = storages.operators[id.index()];
            let own = self.graph.operator(operator).scratch.get();
            let owns_regions = !self.graph.operator(operator).regions.is_empty();
            // The regions of the operator count their own bytes.
            let inner = if owns_regions { storages.problem.scratch(id).get() - own } else { 0 };
            let activations = match self.options.activations {
                Activations::Live => live - inner.min(live),
                Activations::Peak => peak - inner.min(peak),
                Activations::Placed(bytes) => bytes[operator.index()].get(),
            };
            if owns_regions {
                self.cut(region, &mut straight, Bytes::new(activations), &mut control_tree)?;
                self.owned(operator, live.saturating_sub(inner), &mut control_tree)?;
            } else {
                let name = storages.problem.operator(id);
                straight.extend(self.steps(operator, Bytes::new(activations), name)?);
            }
        }
        self.cut(region, &mut straight, Bytes::ZERO, &mut control_tree)?;
        Ok(control_tree)
    }

    fn steps(&mut self, id: OperatorId, activations: Bytes, name: &str) -> Result<Vec<Step>, OverlapError> {
        let compute = self.machine.compute(self.graph, id);
        let compute = compute.ok_or_else(|| OverlapError::TooLong { operator: name.to_owned() })?;
        let weights = self.graph.weight_bytes(id);
        let mut operators = vec![TimedOperator { name: name.to_owned(), compute, weights, activations }];
        if let Some(slice) = self.machine.slice {
            operators = sliced(operators, slice);
        }
        let reads = self.graph.operator(id).inputs.iter().copied();
        let mut tensors: Vec<TensorId> =
            reads.filter(|&tensor| self.graph.tensor(tensor).role == Role::Weight).collect();
        tensors.sort_unstable();
        tensors.dedup();
        let mut steps = Vec::with_capacity(operators.len());
        for (part, operator) in operators.into_iter().enumerate() {
            let block = (operator.weights > Bytes::ZERO).then(|| {
                *self.known.entry((tensors.clone(), part)).or_insert_with(|| {
                    let (name, bytes) = (operator.name.clone(), operator.weights);
                    self.blocks.push(WeightBlock { name, bytes, uses: Vec::new() });
                    self.blocks.len() - 1
                })
            });
            steps.push(Step { operator, block });
        }
        Ok(steps)
    }

    /// Ends a segment. An empty segment is not added.
    fn cut(
        &mut self,
        region: RegionId,
        straight: &mut Vec<Step>,
        border: Bytes,
        control_tree: &mut ControlTree,
    ) -> Result<(), OverlapError> {
        if straight.is_empty() {
            return Ok(());
        }
        let at = self.segments.len();
        let (operators, blocks): (Vec<_>, Vec<_>) =
            std::mem::take(straight).into_iter().map(|step| (step.operator, step.block)).unzip();
        for (position, block) in blocks.iter().enumerate() {
            if let Some(block) = *block {
                self.blocks[block].uses.push((at, position));
            }
        }
        let name = format!("{}#{at}", self.graph.region(region).name);
        let problem = TimelineProblem::on(self.machine, name.clone(), operators)
            .map_err(|source| OverlapError::Segment { segment: name, source })?;
        control_tree.push(Piece::Segment(at));
        self.segments.push(OverlapSegment { region, problem, blocks, border });
        Ok(())
    }

    /// Builds the control structures of the regions of an operator.
    fn owned(
        &mut self,
        id: OperatorId,
        around: u64,
        control_tree: &mut ControlTree,
    ) -> Result<(), OverlapError> {
        let control = self.graph.flow(id)?.map(|flow| flow.control);
        let mut control_trees = Vec::new();
        for &region in &self.graph.operator(id).regions {
            control_trees.push(self.region(region, around)?);
        }
        match control {
            Some(Control::Branch) => control_tree.push(Piece::Branch { operator: id, control_trees }),
            Some(Control::Loop) => {
                let body = control_trees.pop().unwrap_or_default();
                let condition = control_trees.pop().unwrap_or_default();
                control_tree.push(Piece::Loop { condition, body, trips: self.options.trips });
            }
            Some(Control::Call) | None => control_tree.extend(control_trees.into_iter().flatten()),
        }
        Ok(())
    }
}
