//! Programs: a program is a graph with an order for every region, expressed as a single offset problem.
//!
//! The points of all regions form one sequence ([`Points`]). An operator that owns regions contributes its
//! entry, then its regions in turn, and finally its exit. A region contributes its beginning, its operators
//! and its end. A branch operator runs at most one of its regions. A buffer is live at a point if some
//! control path writes contents to it at or before the point and reads these contents at or after the point
//! (LUNA, eq. 1, applied to the tree of regions). Hence
//! - buffers of two branches are never simultaneously live;
//! - a tensor of the enclosing region whose last use is in one branch is dead in the other branches, so its
//!   lifespan has a gap;
//! - a tensor produced outside a loop and used inside is live until the loop ends;
//! - temporaries of a loop body are dead between iterations.
//!
//! [`Program::instance`] is the offset problem with these lifespans. With the same orders and options, no
//! planner needs less memory than an optimal layout of this problem. [`Program::sequential`],
//! [`Program::flat`] and [`Program::frames`] show the program as seen by planners with less information or
//! more restrictions. Layouts of [`Program::sequential`] and [`Program::flat`] are also valid for
//! [`Program::instance`], because these problems only extend lifespans and add conflicts.
//!
//! # Copies
//!
//! An operator copies tensors to its regions and back. With [`Sharing::Alias`], the source and the
//! destination of a copy may share memory if they are simultaneously live only at the point of the handover.

mod bound;
mod frames;
mod liveness;
mod models;
mod points;

pub use bound::ProgramBound;
pub use frames::{Frame, FrameBuffer};
pub use points::{Point, Points};

use crate::execution::{Placed, Seat, Slot};
use crate::graph::{Control, FlowError, Graph, LivenessOptions, Member, Moment, Outer, Role};
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::instance_error::InstanceError;
use crate::lifespan::{Interval, Lifespan};
use crate::offsets::Layout;
use crate::orders::{OrderError, Storage};
use crate::units::{Bytes, OperatorId, RegionId, Step, TensorId};
use liveness::{Liveness, union};

/// How an operator passes tensors to its regions and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// The source is copied to the destination.
    #[default]
    Copy,
    /// Source and destination share memory if this is safe. Otherwise, the source is copied.
    Alias,
}

/// How long the memory of the state of a loop is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carries {
    /// As long as the loop runs.
    #[default]
    Resident,
    /// Only while the state is needed. The body may use the memory between the last read of the state and the
    /// end of the iteration.
    Tight,
    /// As long as the loop runs, with a second copy for the next state. The two copies swap roles after each
    /// iteration, so no data is moved.
    Double,
}

/// The assumptions under which a program is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// Which tensors occupy memory, and which tensors share memory within a region.
    pub liveness: LivenessOptions,
    /// How operators pass tensors to their regions and back.
    pub handover: Sharing,
    /// How long loops hold their state.
    pub carries: Carries,
}

/// The reason why a graph and orders do not form a program.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ProgramError {
    /// The regions of an operator cannot be run.
    #[error(transparent)]
    Flow(#[from] FlowError),
    #[error("region '{region}': {source}")]
    Region { region: String, source: OrderError },
    /// The order is not valid for its region.
    #[error("the order of region '{region}' is not a topological order of its {operators} operators")]
    Order { region: String, operators: usize },
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

/// A buffer of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBuffer {
    /// The tensors in the buffer, ascending. The list is empty for the scratch of an operator.
    pub tensors: Vec<Member>,
    /// The operator whose scratch is in the buffer, if any.
    pub scratch: Option<OperatorId>,
    /// The innermost region that encloses all tensors of the buffer.
    pub home: RegionId,
}

/// A graph with an order for every region, and the resulting offset problem.
#[derive(Debug)]
pub struct Program<'a> {
    graph: &'a Graph,
    options: ProgramOptions,
    orders: Vec<Vec<OperatorId>>,
    points: Points,
    buffers: Vec<ProgramBuffer>,
    empty: Vec<(TensorId, Lifespan)>,
    instance: Instance,
}

/// A buffer under construction.
struct Forming {
    name: String,
    size: Bytes,
    buffer: ProgramBuffer,
    live: Vec<Interval>,
}

impl<'a> Program<'a> {
    /// Creates the program of a graph. `orders` lists the operators of each region in execution order,
    /// indexed by region. O(s log s + p log p), where s is the size of the graph and p counts the live points
    /// of all buffers.
    ///
    /// # Errors
    /// The first [`ProgramError`] found.
    ///
    /// # Panics
    /// Never: every buffer is live at some point.
    pub fn new(
        graph: &'a Graph,
        orders: Vec<Vec<OperatorId>>,
        options: ProgramOptions,
    ) -> Result<Self, ProgramError> {
        check_orders(graph, &orders)?;
        let points = Points::new(graph, &orders)?;
        let (mut forming, empty) = storages(graph, &points, &options)?;
        if options.handover == Sharing::Alias {
            join(graph, &points, &mut forming);
        }
        forming.extend(scratch(graph, &points, options.liveness.align)?);
        let mut buffers = Vec::with_capacity(forming.len());
        let mut instance = InstanceBuilder::new(graph.name());
        for one in forming {
            let lifespan = Lifespan::from_intervals(one.live).expect("a buffer is live somewhere");
            let buffer = Buffer::new(one.name, one.size, lifespan).aligned(options.liveness.align);
            instance = instance.buffer(buffer);
            buffers.push(one.buffer);
        }
        let instance = instance.build()?;
        Ok(Self { graph, options, orders, points, buffers, empty, instance })
    }

    /// Returns the graph of the program.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// Returns the options of the program.
    pub fn options(&self) -> &ProgramOptions {
        &self.options
    }

    /// Returns the operators of each region in execution order, indexed by region.
    pub fn orders(&self) -> &[Vec<OperatorId>] {
        &self.orders
    }

    /// Returns the points, which are the steps of [`Program::instance`].
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Returns the operator that begins, runs or ends at a step of [`Program::instance`], or that owns the
    /// region that begins or ends there. Returns `None` for the body and for steps that do not exist.
    pub fn operator_at(&self, step: Step) -> Option<OperatorId> {
        match self.points.iter().nth(usize::try_from(step.get()).ok()?)? {
            Point::Run(id) | Point::Enter(id) | Point::Exit(id) => Some(id),
            Point::Begin(region) | Point::End(region) => self.graph.region(region).owner,
        }
    }

    /// Describes what happens at a step of [`Program::instance`], with the names of operators and regions.
    pub fn at(&self, step: Step) -> String {
        let graph = self.graph;
        let named = |region: RegionId| match region {
            Graph::BODY => "the program".to_owned(),
            region => format!("'{}'", graph.region_called(region)),
        };
        let point = usize::try_from(step.get()).ok().and_then(|at| self.points.iter().nth(at));
        match point.unwrap_or(Point::End(Graph::BODY)) {
            Point::Run(id) => format!("while '{}' runs", graph.called(id)),
            Point::Enter(id) => format!("when '{}' begins", graph.called(id)),
            Point::Exit(id) => format!("when '{}' ends", graph.called(id)),
            Point::Begin(region) => format!("when {} begins", named(region)),
            Point::End(region) => format!("when {} ends", named(region)),
        }
    }

    /// Returns the contents of each buffer of [`Program::instance`], in the order of the buffers.
    pub fn buffers(&self) -> &[ProgramBuffer] {
        &self.buffers
    }

    /// Returns the tensors of zero bytes in the arena, each with the points at which it is live. These
    /// tensors belong to no buffer.
    pub fn empty(&self) -> &[(TensorId, Lifespan)] {
        &self.empty
    }

    /// Returns the offset problem. Its lifespans are sets of points, with gaps where a branch does not need
    /// the buffer.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Returns the bytes needed if every buffer has its own memory.
    pub fn naive(&self) -> Bytes {
        self.instance.total_size()
    }

    /// Places the tensors of the graph according to a layout of [`Program::instance`]. The result is an
    /// input for the execution checker.
    pub fn placed(&self, layout: &Layout) -> Placed<'_> {
        let (tensors, operators) = (self.graph.tensors().len(), self.graph.operators().len());
        let (mut of_tensor, mut of_operator) = (vec![None; tensors], vec![None; operators]);
        for (at, buffer) in self.buffers.iter().enumerate() {
            // The checker does not simulate compiled code, which may write into any part of a segment.
            let free = |one: &&Member| self.graph.fixed(one.tensor).is_none();
            for &Member { tensor, offset } in buffer.tensors.iter().filter(free) {
                of_tensor[tensor.index()] = Some(Seat { slot: at, offset });
            }
            if let Some(operator) = buffer.scratch {
                of_operator[operator.index()] = Some(at);
            }
        }
        let slot = |(buffer, &offset): (&Buffer, &Bytes)| Slot { offset, size: buffer.size() };
        let slots = self.instance.buffers().iter().zip(layout.offsets()).map(slot).collect();
        let (graph, orders) = (self.graph, &self.orders);
        Placed { graph, orders, slots, tensors: of_tensor, scratch: of_operator }
    }
}

fn check_orders(graph: &Graph, orders: &[Vec<OperatorId>]) -> Result<(), ProgramError> {
    let mut position = vec![usize::MAX; graph.operators().len()];
    for (at, region) in graph.regions().iter().enumerate() {
        let wrong = || ProgramError::Order { region: region.name.clone(), operators: region.operators.len() };
        let order = orders.get(at).ok_or_else(wrong)?;
        for (step, &id) in order.iter().enumerate() {
            let known = id.index() < position.len() && graph.home(id) == RegionId::at(at);
            if !known || position[id.index()] != usize::MAX {
                return Err(wrong());
            }
            position[id.index()] = step;
        }
        let early = |&id: &OperatorId| {
            let makers = graph.reads(id).into_iter().filter_map(|tensor| graph.producer(tensor));
            makers
                .filter(|&m| graph.home(m) == RegionId::at(at))
                .any(|m| m != id && position[m.index()] >= position[id.index()])
        };
        if order.len() != region.operators.len() || order.iter().any(early) {
            return Err(wrong());
        }
    }
    Ok(())
}

/// Buffers under construction, and tensors of zero bytes.
type Formed = (Vec<Forming>, Vec<(TensorId, Lifespan)>);

/// Returns the storages of all regions, with the points at which they are live.
fn storages(graph: &Graph, points: &Points, options: &ProgramOptions) -> Result<Formed, ProgramError> {
    let held = held(graph, points, options.carries);
    let mut liveness = Liveness::new(graph, points);
    let (mut forming, mut empty) = (Vec::new(), Vec::new());
    let mut seats: Vec<Option<(usize, Bytes)>> = vec![None; graph.tensors().len()];
    for region in (0..graph.regions().len()).map(RegionId::at) {
        let name = || graph.region_called(region);
        let storages = graph
            .storages(region, &options.liveness, |_| Bytes::ZERO)
            .map_err(|source| ProgramError::Region { region: name(), source })?;
        let mut live = |storage: Option<&Storage>, tensors: &[TensorId]| {
            let throughout =
                region == Graph::BODY && storage.is_some_and(|storage| storage.from_start && storage.to_end);
            let constant =
                tensors.iter().any(|&t| matches!(graph.tensor(t).role, Role::Weight | Role::State));
            if constant || throughout {
                return vec![Interval::new(0, points.len() as u64)];
            }
            let each = tensors.iter().flat_map(|&tensor| {
                let mut live = liveness.of(tensor);
                live.extend(held[tensor.index()]);
                live
            });
            union(each.collect())
        };
        for (tensor, storage) in &storages.empty {
            let live =
                Lifespan::from_intervals(live(Some(storage), &[*tensor])).expect("it is live somewhere");
            empty.push((*tensor, live));
        }
        for (storage, members) in storages.problem.storages().iter().zip(storages.tensors) {
            let tensors: Vec<TensorId> = members.iter().map(|one| one.tensor).collect();
            let live = live(Some(storage), &tensors);
            for one in &members {
                seats[one.tensor.index()] = Some((forming.len(), one.offset));
            }
            let buffer = ProgramBuffer { tensors: members, scratch: None, home: region };
            forming.push(Forming { name: storage.name.clone(), size: storage.size, buffer, live });
        }
        // Enclosing regions precede the regions inside them.
        for Outer { captured, members } in storages.outer {
            let (at, base) = seats[captured.index()].expect("the arena contains the captured tensor");
            let tensors: Vec<TensorId> = members.iter().map(|one| one.tensor).collect();
            let one: &mut Forming = &mut forming[at];
            one.live = union([std::mem::take(&mut one.live), live(None, &tensors)].concat());
            for Member { tensor, offset } in members {
                let offset = Bytes::new(base.get() + offset.get());
                seats[tensor.index()] = Some((at, offset));
                one.buffer.tensors.push(Member { tensor, offset });
            }
            one.buffer.tensors.sort_unstable();
        }
    }
    Ok((forming, empty))
}

/// For each tensor, returns the points at which it is held as the state of a loop, including the points at
/// which it is not needed.
fn held(graph: &Graph, points: &Points, carries: Carries) -> Vec<Option<Interval>> {
    let mut held: Vec<Option<Interval>> = vec![None; graph.tensors().len()];
    if carries == Carries::Tight {
        return held;
    }
    for id in (0..graph.operators().len()).map(OperatorId::at) {
        let Some(flow) = points.flow(id).filter(|flow| flow.control == Control::Loop) else { continue };
        let range = points.of_operator(id);
        let whole = Interval::new(range.start as u64, range.end as u64);
        let last = graph.operator(id).regions.len() - 1;
        let carried = flow.handovers.iter().filter(|h| h.when == Moment::End(last) && !h.part);
        for handover in carried {
            held[handover.to.index()] = Some(whole);
            // A tensor from outside the loop cannot serve as the second copy.
            let made = graph.place(handover.from) == graph.operator(id).regions[last];
            if carries == Carries::Double && made {
                held[handover.from.index()] = Some(whole);
            }
        }
    }
    held
}

/// Returns the scratch of all operators. The scratch of an operator that owns regions is held while these
/// regions run.
fn scratch(graph: &Graph, points: &Points, align: Bytes) -> Result<Vec<Forming>, ProgramError> {
    let needy = (0..graph.operators().len()).map(OperatorId::at);
    let needy = needy.filter(|&id| graph.operator(id).scratch > Bytes::ZERO);
    let one = |id: OperatorId| {
        let (operator, home, range) = (graph.operator(id), graph.home(id), points.of_operator(id));
        let size = operator.scratch.align_up(align).ok_or_else(|| ProgramError::Region {
            region: graph.region(home).name.clone(),
            source: OrderError::TooLarge,
        })?;
        Ok(Forming {
            name: format!("scratch of {}#{id}", graph.called(id)),
            size,
            buffer: ProgramBuffer { tensors: Vec::new(), scratch: Some(id), home },
            live: vec![Interval::new(range.start as u64, range.end as u64)],
        })
    };
    needy.map(one).collect()
}

/// Joins two buffers of the same size if a handover copies a whole tensor from one to the other. The two
/// tensors must have the same size and begin at the same byte of their buffers, and the buffers must be
/// simultaneously live only at the point of the handover. Pairs with larger tensors are joined first.
fn join(graph: &Graph, points: &Points, forming: &mut Vec<Forming>) {
    let mut of = vec![None; graph.tensors().len()];
    for (at, one) in forming.iter().enumerate() {
        let free = |one: &&Member| graph.fixed(one.tensor).is_none();
        for &Member { tensor, offset } in one.buffer.tensors.iter().filter(free) {
            of[tensor.index()] = Some((at, offset));
        }
    }
    let mut candidates = Vec::new();
    for id in (0..graph.operators().len()).map(OperatorId::at) {
        let (Some(flow), range) = (points.flow(id), points.of_operator(id)) else { continue };
        for handover in flow.handovers.iter().filter(|handover| !handover.part) {
            let at = match handover.when {
                Moment::Enter => range.start,
                Moment::Exit => range.end - 1,
                Moment::Begin(k) => points.of_region(graph.operator(id).regions[k]).start,
                Moment::End(k) => points.of_region(graph.operator(id).regions[k]).end - 1,
            };
            let bytes = [handover.from, handover.to].map(|tensor| graph.tensor(tensor).bytes);
            if bytes[0] == bytes[1] {
                candidates.push((bytes[0], handover, at as u64));
            }
        }
    }
    candidates.sort_by_key(|&(bytes, _, at)| (std::cmp::Reverse(bytes), at));
    for (_, handover, at) in candidates {
        let (Some((a, from)), Some((b, to))) = (of[handover.from.index()], of[handover.to.index()]) else {
            continue;
        };
        if a == b || from != to || forming[a].size != forming[b].size {
            continue;
        }
        if meet_only_at(&forming[a].live, &forming[b].live, at) {
            let (into, from) = (a.min(b), a.max(b));
            let gone = std::mem::take(&mut forming[from].buffer.tensors);
            for &Member { tensor, offset } in &gone {
                of[tensor.index()] = Some((into, offset));
            }
            let live = std::mem::take(&mut forming[from].live);
            let home = enclosing(graph, forming[a].buffer.home, forming[b].buffer.home);
            let one = &mut forming[into];
            one.buffer.tensors.extend(gone);
            one.buffer.tensors.sort_unstable();
            one.buffer.home = home;
            one.live = union([std::mem::take(&mut one.live), live].concat());
        }
    }
    forming.retain(|one| !one.live.is_empty());
}

/// Returns true if two ascending lists of intervals share no point other than `at`.
fn meet_only_at(a: &[Interval], b: &[Interval], at: u64) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (lower, upper) = (a[i].lower.max(b[j].lower).get(), a[i].upper.min(b[j].upper).get());
        if lower < upper && (lower, upper) != (at, at + 1) {
            return false;
        }
        if a[i].upper <= b[j].upper { i += 1 } else { j += 1 }
    }
    true
}

fn enclosing(graph: &Graph, a: RegionId, b: RegionId) -> RegionId {
    let around = |region: RegionId| graph.region(region).owner.map(|owner| graph.home(owner));
    let above: Vec<RegionId> = std::iter::successors(Some(a), |&region| around(region)).collect();
    let mut below = std::iter::successors(Some(b), |&region| around(region));
    below.find(|region| above.contains(region)).unwrap_or(Graph::BODY)
}

#[cfg(test)]
mod tests;
