//! Data shared by all runs.

use super::placed::{Placed, Seat, Slot};
use super::violation::{ExecutionViolation, Holder};
use crate::graph::{Control, Flow, FlowError, Graph, Handover, Role};
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use std::collections::HashSet;

/// The index of a memory user: tensors come first, followed by the scratch memory of each operator.
pub(super) type Cell = usize;

pub(super) struct Owner {
    pub(super) flow: Flow,
    /// Outputs that are written part by part.
    pub(super) stacked: Vec<Cell>,
    /// Per region: the inputs that belong to it, each with a flag that is true if a handover writes the
    /// input.
    pub(super) given: Vec<Vec<(Cell, bool)>>,
    /// Inputs and outputs that belong to the regions. Their values are discarded when the operator is
    /// entered.
    pub(super) fresh: Vec<Cell>,
    /// For loops: all cells in the regions, including nested regions, in ascending order.
    pub(super) inside: Vec<Cell>,
}

/// A graph and its memory, ready to run.
pub(super) struct Prepared<'a> {
    pub(super) graph: &'a Graph,
    pub(super) orders: &'a [Vec<OperatorId>],
    pub(super) slots: &'a [Slot],
    /// The size of each cell in bytes.
    pub(super) bytes: Vec<u64>,
    /// The memory of each cell, or `None` if it occupies no memory.
    pub(super) home: Vec<Option<Seat>>,
    pub(super) owners: Vec<Option<Owner>>,
    /// Cells held from the start to the end of a run: weights and states.
    pub(super) held: Vec<Cell>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(placed: &'a Placed) -> Result<Self, FlowError> {
        let graph = placed.graph;
        let tensors = graph.tensors().iter().map(|tensor| tensor.bytes.get());
        let bytes: Vec<u64> =
            tensors.chain(graph.operators().iter().map(|operator| operator.scratch.get())).collect();
        let seats = placed.tensors.iter().copied().chain(placed.scratch.iter().map(|&slot| seat(slot)));
        let home = seats.zip(&bytes).map(|(seat, &bytes)| seat.filter(|_| bytes > 0)).collect();
        let constant = |&at: &Cell| matches!(graph.tensors()[at].role, Role::Weight | Role::State);
        let held = (0..graph.tensors().len()).filter(constant).collect();
        let owners = (0..graph.operators().len()).map(|at| owner(graph, OperatorId::at(at)));
        let owners = owners.collect::<Result<_, _>>()?;
        let (orders, slots) = (placed.orders, &placed.slots);
        Ok(Self { graph, orders, slots, bytes, home, owners, held })
    }

    pub(super) fn scratch(&self, id: OperatorId) -> Cell {
        self.graph.tensors().len() + id.index()
    }

    pub(super) fn holder(&self, cell: Cell) -> Holder {
        match cell.checked_sub(self.graph.tensors().len()) {
            Some(operator) => Holder::Scratch(OperatorId::at(operator)),
            None => Holder::Tensor(TensorId::at(cell)),
        }
    }
}

/// Returns the memory that begins where a slot begins.
fn seat(slot: Option<usize>) -> Option<Seat> {
    slot.map(|slot| Seat { slot, offset: Bytes::ZERO })
}

/// Collects the data of an operator that owns regions. Returns `None` if the operator owns none.
fn owner(graph: &Graph, id: OperatorId) -> Result<Option<Owner>, FlowError> {
    let Some(flow) = graph.flow(id)? else { return Ok(None) };
    let operator = graph.operator(id);
    let handed: HashSet<TensorId> = flow.handovers.iter().map(|handover| handover.to).collect();
    let stacks = |output: &&TensorId| flow.handovers.iter().any(|h: &Handover| h.part && h.to == **output);
    let stacked = operator.outputs.iter().filter(stacks).map(|output| output.index()).collect();
    let own = |region: RegionId, tensor: &TensorId| {
        let constant = matches!(graph.tensor(*tensor).role, Role::Weight | Role::State);
        graph.place(*tensor) == region && !constant
    };
    let (mut given, mut fresh) = (Vec::new(), Vec::new());
    for &id in &operator.regions {
        let region = graph.region(id);
        let inputs: Vec<&TensorId> = region.inputs.iter().filter(|&tensor| own(id, tensor)).collect();
        given.push(inputs.iter().map(|&tensor| (tensor.index(), handed.contains(tensor))).collect());
        fresh.extend(
            inputs.into_iter().chain(region.outputs.iter().filter(|&t| own(id, t))).map(|t| t.index()),
        );
    }
    let inside = if flow.control == Control::Loop { inside(graph, id) } else { Vec::new() };
    Ok(Some(Owner { flow, stacked, given, fresh, inside }))
}

/// Returns all cells in the regions of an operator, including nested regions, in ascending order.
fn inside(graph: &Graph, id: OperatorId) -> Vec<Cell> {
    let within = |region: RegionId| {
        let mut at = graph.region(region).owner;
        while let Some(owner) = at.filter(|&owner| owner != id) {
            at = graph.region(graph.home(owner)).owner;
        }
        at.is_some()
    };
    let tensors = (0..graph.tensors().len()).filter(|&at| within(graph.place(TensorId::at(at))));
    let operators = (0..graph.operators().len()).filter(|&at| within(graph.home(OperatorId::at(at))));
    tensors.chain(operators.map(|at| graph.tensors().len() + at)).collect()
}

/// Returns the name of a memory user for messages.
pub(super) fn holder_name(graph: &Graph, holder: Holder) -> String {
    match holder {
        Holder::Tensor(id) => format!("'{}'", graph.tensor(id).name),
        Holder::Scratch(id) => format!("the scratch of {}", graph.called(id)),
    }
}

/// Returns the violations that make every run impossible. O(s log s) for s operators, tensors and slots.
pub(super) fn malformed(placed: &Placed) -> Vec<ExecutionViolation> {
    let graph = placed.graph;
    let counts = [
        ("orders of regions", placed.orders.len(), graph.regions().len()),
        ("placements of tensors", placed.tensors.len(), graph.tensors().len()),
        ("placements of scratch", placed.scratch.len(), graph.operators().len()),
    ];
    let wrong = counts.into_iter().filter(|&(_, given, expected)| given != expected);
    let mut found: Vec<ExecutionViolation> =
        wrong.map(|(what, given, expected)| ExecutionViolation::Count { what, given, expected }).collect();
    for (slot, &Slot { offset, size }) in placed.slots.iter().enumerate() {
        if offset.checked_add(size).is_none() {
            found.push(ExecutionViolation::OutOfRange { slot, offset, size });
        }
    }
    for (region, order) in graph.regions().iter().zip(placed.orders) {
        let (mut has, mut wants) = (order.clone(), region.operators.clone());
        has.sort_unstable();
        wants.sort_unstable();
        if has != wants {
            found.push(ExecutionViolation::Order { region: region.name.clone() });
        }
    }
    let tensors = graph.tensors().iter().zip(&placed.tensors).enumerate();
    for (at, (tensor, &seat)) in tensors {
        found.extend(ill_placed(placed, Holder::Tensor(TensorId::at(at)), tensor.bytes, seat));
    }
    let operators = graph.operators().iter().zip(&placed.scratch).enumerate();
    for (at, (operator, &slot)) in operators {
        found.extend(ill_placed(placed, Holder::Scratch(OperatorId::at(at)), operator.scratch, seat(slot)));
    }
    found
}

fn ill_placed(
    placed: &Placed,
    holder: Holder,
    bytes: Bytes,
    seat: Option<Seat>,
) -> Option<ExecutionViolation> {
    let (Seat { slot, offset }, slots) = (seat?, placed.slots.len());
    let name = || holder_name(placed.graph, holder);
    match placed.slots.get(slot) {
        None => Some(ExecutionViolation::NoSuchSlot { holder, name: name(), slot, slots }),
        Some(&Slot { size, .. }) if offset.checked_add(bytes).is_none_or(|end| end > size) => {
            Some(ExecutionViolation::TooSmall { holder, name: name(), bytes, slot, size })
        }
        Some(_) => None,
    }
}
