//! A program: a graph whose regions have orders, as one offset problem.
//!
//! The points of all regions are put in line ([`Points`]): an operator that owns regions is entered, its regions begin, run
//! and end one after the other in the line, though only one of a branch's runs, and it is left. A buffer is alive at a
//! set of points (SOURCES S0 eq. 1, on the tree of regions): where what it holds was written before, on some way the
//! program may take, and is read later, on some way. So
//! - buffers of two branches are never alive together;
//! - a tensor of the enclosing region that is last used in one branch is dead in the others: its lifespan has a gap;
//! - what is used inside a loop and made outside stays until the loop is left;
//! - temporaries of a loop's body are dead between the trips.
//!
//! [`Program::instance`] is the offset problem with these lifespans: no planner can do better with the same orders. What
//! planners make of it that know less, or restrict themselves, is in [`Program::sequential`], [`Program::flat`] and
//! [`Program::frames`]; a layout of the first two is one of [`Program::instance`] too, since lifespans and conflicts only grow.
//!
//! # What is copied
//! An operator hands tensors to its regions and back by copying, unless [`ProgramOptions::handover`] lets both share
//! memory: where the two are alive together at no other point than that of the handover.

mod bound;
mod frames;
mod liveness;
mod models;
mod points;

pub use bound::ProgramBound;
pub use frames::{Frame, FrameBuffer};
pub use points::{Point, Points};

use crate::execution::{Placed, Slot};
use crate::graph::{Boundary, Control, FlowError, Graph, LivenessOptions, Moment, Role};
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::instance_error::InstanceError;
use crate::layout::Layout;
use crate::lifespan::{Interval, Lifespan};
use crate::orders::{OrderError, Storage};
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use liveness::{Liveness, union};

/// How what an operator hands to its regions, and back, gets there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// It is copied.
    #[default]
    Copy,
    /// Both share memory where nothing speaks against it, else it is copied.
    Alias,
}

/// How long memory of a loop's state is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carries {
    /// As long as the loop runs.
    #[default]
    Resident,
    /// Only while it is needed: the body may use it between the last read of the state and the end of the trip.
    Tight,
    /// As long as the loop runs, and the next state too: the two change roles after each trip, nothing is copied.
    Double,
}

/// What a program assumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// Which tensors take room, and which share memory within a region.
    pub liveness: LivenessOptions,
    /// How operators hand over.
    pub handover: Sharing,
    /// How long loops hold their state.
    pub carries: Carries,
}

/// Why a graph is no program.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ProgramError {
    /// An operator does not say how it runs its regions.
    #[error(transparent)]
    Flow(#[from] FlowError),
    #[error("region '{region}': {source}")]
    Region { region: String, source: OrderError },
    /// An order that is none of its region.
    #[error("the order of region '{region}' is no topological order of its {operators} operators")]
    Order { region: String, operators: usize },
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

/// A buffer of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBuffer {
    /// Its tensors, ascending; none where it is the scratch of an operator.
    pub tensors: Vec<TensorId>,
    /// The operator whose scratch it is.
    pub scratch: Option<OperatorId>,
    /// The innermost region that encloses everything it holds.
    pub home: RegionId,
}

/// A graph with an order for every region, and its offset problem.
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

/// A buffer that is still being formed.
struct Forming {
    name: String,
    size: Bytes,
    buffer: ProgramBuffer,
    alive: Vec<Interval>,
}

impl<'a> Program<'a> {
    /// The program of a graph; `orders` gives for every region its operators in the order they run.
    /// O(size of the graph, log, and the points all buffers are alive at).
    ///
    /// # Errors
    /// See [`ProgramError`].
    ///
    /// # Panics
    /// Never: every buffer is alive somewhere.
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
            let lifespan = Lifespan::from_intervals(one.alive).expect("a buffer is alive somewhere");
            let buffer = Buffer::new(one.name, one.size, lifespan).aligned(options.liveness.align);
            instance = instance.buffer(buffer);
            buffers.push(one.buffer);
        }
        let instance = instance.build()?;
        Ok(Self { graph, options, orders, points, buffers, empty, instance })
    }

    /// The graph the program was made from.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// The options it was made with.
    pub fn options(&self) -> &ProgramOptions {
        &self.options
    }

    /// Per region: its operators in the order they run.
    pub fn orders(&self) -> &[Vec<OperatorId>] {
        &self.orders
    }

    /// Its points, which are the steps of [`Program::instance`].
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// What the buffers of [`Program::instance`] hold.
    pub fn buffers(&self) -> &[ProgramBuffer] {
        &self.buffers
    }

    /// Tensors of zero bytes in the arena, which are in no buffer, and the points each is alive at.
    pub fn empty(&self) -> &[(TensorId, Lifespan)] {
        &self.empty
    }

    /// The offset problem: lifespans are sets of points, gaps where a branch does not need a buffer.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// What every tensor in memory of its own would take, bytes.
    pub fn naive(&self) -> Bytes {
        self.instance.total_size()
    }

    /// Where the tensors of the graph lie under a layout of [`Program::instance`], for the execution checker.
    pub fn placed(&self, layout: &Layout) -> Placed<'_> {
        let (tensors, operators) = (self.graph.tensors().len(), self.graph.operators().len());
        let (mut of_tensor, mut of_operator) = (vec![None; tensors], vec![None; operators]);
        for (at, buffer) in self.buffers.iter().enumerate() {
            for tensor in &buffer.tensors {
                of_tensor[tensor.index()] = Some(at);
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

/// Buffers that are still being formed, and tensors of zero bytes.
type Formed = (Vec<Forming>, Vec<(TensorId, Lifespan)>);

/// The storages of all regions, with the points they are alive at.
fn storages(graph: &Graph, points: &Points, options: &ProgramOptions) -> Result<Formed, ProgramError> {
    let held = held(graph, points, options.carries);
    let mut liveness = Liveness::new(graph, points);
    let (mut forming, mut empty) = (Vec::new(), Vec::new());
    for region in (0..graph.regions().len()).map(RegionId::at) {
        let inner = options.liveness.inside(region);
        let name = || graph.region(region).name.clone();
        let storages = graph
            .storages(region, &inner, |_| Bytes::ZERO)
            .map_err(|source| ProgramError::Region { region: name(), source })?;
        let mut alive = |storage: &Storage, tensors: &[TensorId]| {
            let throughout = region == Graph::BODY && storage.from_start && storage.to_end;
            let constant =
                tensors.iter().any(|&t| matches!(graph.tensor(t).role, Role::Weight | Role::State));
            if constant || throughout {
                return vec![Interval::new(0, points.len() as u64)];
            }
            let each = tensors.iter().flat_map(|&tensor| {
                let mut alive = liveness.of(tensor);
                alive.extend(held[tensor.index()]);
                alive
            });
            union(each.collect())
        };
        for (tensor, storage) in &storages.empty {
            let alive = Lifespan::from_intervals(alive(storage, &[*tensor])).expect("it is alive somewhere");
            empty.push((*tensor, alive));
        }
        for (storage, tensors) in storages.problem.storages().iter().zip(storages.tensors) {
            let alive = alive(storage, &tensors);
            let buffer = ProgramBuffer { tensors, scratch: None, home: region };
            forming.push(Forming { name: storage.name.clone(), size: storage.size, buffer, alive });
        }
    }
    Ok((forming, empty))
}

/// Per tensor: the points of a loop it is held at as its state, whether needed or not.
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
            // What comes from outside of the loop is nobody's second buffer.
            let made = graph.place(handover.from) == graph.operator(id).regions[last];
            if carries == Carries::Double && made {
                held[handover.from.index()] = Some(whole);
            }
        }
    }
    held
}

/// Bytes operators need only while they run; those that own regions, all the time these run.
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
            name: format!("scratch of {}#{id}", operator.name),
            size,
            buffer: ProgramBuffer { tensors: Vec::new(), scratch: Some(id), home },
            alive: vec![Interval::new(range.start as u64, range.end as u64)],
        })
    };
    needy.map(one).collect()
}

/// Joins buffers that are handed to each other and alive together nowhere else, the largest first.
fn join(graph: &Graph, points: &Points, forming: &mut Vec<Forming>) {
    let mut of = vec![usize::MAX; graph.tensors().len()];
    for (at, one) in forming.iter().enumerate() {
        for tensor in &one.buffer.tensors {
            of[tensor.index()] = at;
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
        let (a, b) = (of[handover.from.index()], of[handover.to.index()]);
        if a == b || a == usize::MAX || b == usize::MAX || forming[a].size != forming[b].size {
            continue;
        }
        if meet_only_at(&forming[a].alive, &forming[b].alive, at) {
            let (into, from) = (a.min(b), a.max(b));
            let gone = std::mem::take(&mut forming[from].buffer.tensors);
            for tensor in &gone {
                of[tensor.index()] = into;
            }
            let alive = std::mem::take(&mut forming[from].alive);
            let home = enclosing(graph, forming[a].buffer.home, forming[b].buffer.home);
            let one = &mut forming[into];
            one.buffer.tensors.extend(gone);
            one.buffer.tensors.sort_unstable();
            one.buffer.home = home;
            one.alive = union([std::mem::take(&mut one.alive), alive].concat());
        }
    }
    forming.retain(|one| !one.alive.is_empty());
}

/// True where ascending intervals have no point in common but perhaps this one.
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

impl LivenessOptions {
    /// The same inside a region: what it is given and what is wanted of it takes room there, since it is nobody else's,
    /// and only while needed.
    #[must_use]
    pub fn inside(self, region: RegionId) -> Self {
        if region == Graph::BODY { self } else { Self { boundary: Boundary::Arena, ..self } }
    }
}

#[cfg(test)]
mod tests;
