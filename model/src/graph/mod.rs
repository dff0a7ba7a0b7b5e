//! The computation graph: operators, tensors and regions.
//!
//! A [`Graph`] is a tree of [`Region`]s. The first region is the body. An operator may own further regions,
//! such as the branches of an `If`, or the condition and the body of a loop. Each region lists its operators
//! in file order. Edges follow from the tensors: a tensor either is produced by one operator or comes from
//! outside as a weight, a state or an input.
//!
//! ```
//! use plimsoll_model::graph::{GraphBuilder, Operator, Role, Tensor};
//! use plimsoll_model::RegionId;
//!
//! //  x ── Conv ── y ── Relu ── z
//! let mut graph = GraphBuilder::new("tiny");
//! let x = graph.tensor(Tensor::new("x", 4, Role::Input));
//! let y = graph.tensor(Tensor::new("y", 8, Role::Activation));
//! let z = graph.tensor(Tensor::new("z", 8, Role::Output));
//! let body = graph.body();
//! graph.operator(body, Operator::new("conv", "Conv").reads([x]).makes([y]));
//! graph.operator(body, Operator::new("relu", "Relu").reads([y]).makes([z]));
//! graph.interface(body, [x], [z]);
//! let graph = graph.build()?;
//! assert_eq!(graph.producer(y), Some(plimsoll_model::OperatorId::new(0)));
//! # Ok::<(), plimsoll_model::graph::GraphError>(())
//! ```

mod build;
mod control;
mod dot;
mod fold;
mod join;
mod json;
mod liveness;
mod options;
mod overlap;
mod segment;
mod sharing;

pub use build::{GraphBuilder, GraphError, MAX_DEPTH};
pub use control::{Control, Flow, FlowError, Handover, Moment};
pub use dot::write_dot;
pub use join::{Choice, Inputs, JoinError};
pub use json::{FORMAT, GraphFileError, VERSION, read_graph, write_graph};
pub use liveness::Storages;
pub use options::{Boundary, LivenessOptions};
pub use segment::{Misplaced, Segment};
pub use sharing::{Member, Outer};

use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use plimsoll_support::words;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

words! {
    /// The purpose of a tensor, which determines when it is live.
    Role {
        /// Produced and used inside the graph.
        Activation => "activation",
        /// A constant, such as a parameter.
        Weight => "weight",
        /// Available before the region starts.
        Input => "input",
        /// Needed after the region has ended.
        Output => "output",
        /// Kept from one run of the network to the next (a variable tensor in `TFLite`).
        State => "state",
    }
}

/// A value that occupies memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The name, unique within its graph.
    pub name: String,
    /// The size in bytes. A tensor of zero bytes is allowed and occupies no memory.
    pub bytes: Bytes,
    /// The purpose of the tensor.
    pub role: Role,
    /// The element type as named in the model file (`float32`, `int8`), if known.
    pub element: Option<String>,
    /// The extent of each dimension, if known.
    pub shape: Option<Vec<u64>>,
}

impl Tensor {
    /// Creates a tensor of `bytes` bytes.
    pub fn new(name: impl Into<String>, bytes: impl Into<Bytes>, role: Role) -> Self {
        Self { name: name.into(), bytes: bytes.into(), role, element: None, shape: None }
    }

    /// Sets the element type and the shape.
    #[must_use]
    pub fn typed(mut self, element: impl Into<String>, shape: impl Into<Vec<u64>>) -> Self {
        self.element = Some(element.into());
        self.shape = Some(shape.into());
        self
    }
}

/// The way in which an output may share the memory of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AliasKind {
    /// The output reinterprets bytes of the input (reshape, identity, slice), or the input becomes a part of
    /// the output (concatenation). Nothing is written.
    View,
    /// Like [`AliasKind::View`], but the operator copies if both cannot share memory, or only at a byte that
    /// is not aligned.
    Part,
    /// The operator can overwrite the input with its output (elementwise functions), or with all but the
    /// first bytes of it (convolutions).
    InPlace,
}

/// An output that may share the memory of an input of the same operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    /// The input.
    pub input: TensorId,
    /// The output.
    pub output: TensorId,
    /// How the memory is shared.
    pub kind: AliasKind,
    /// For views and parts: the byte at which the smaller of the two tensors begins in the larger one; 0 if
    /// they are equally large. In place: the output begins at least this many bytes before the input, or if
    /// it is 0, at the first byte of the input.
    pub offset: Bytes,
}

impl Alias {
    /// Returns true if the alias allows an output in place that begins `before` bytes before its input.
    pub(crate) fn allows(&self, before: i64) -> bool {
        let least = self.offset.get() as i64;
        before == least || least > 0 && before > least
    }
}

/// An operation of the computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// The name. It may be empty and need not be unique.
    pub name: String,
    /// The operation as named in the model file (`Conv`, `CONV_2D`).
    pub kind: String,
    /// The tensors that the operator reads, in file order, without absent optional inputs.
    pub inputs: Vec<TensorId>,
    /// The tensors that the operator produces.
    pub outputs: Vec<TensorId>,
    /// Outputs that may share memory with inputs.
    pub aliases: Vec<Alias>,
    /// The bytes that the operator needs only while it runs.
    pub scratch: Bytes,
    /// The processing unit that the operator is mapped to, if any.
    pub unit: Option<String>,
    /// The arithmetic cost: multiply-accumulates, or elementary operations if there are no
    /// multiply-accumulates.
    pub cost: Option<u64>,
    /// The regions that the operator owns. [`GraphBuilder::region`] adds to this list.
    pub regions: Vec<RegionId>,
    /// The control flow of the regions; `None` if the kind of the operator implies it.
    pub control: Option<Control>,
    /// The tensors passed into and out of the regions; `None` if positions imply them. See [`Graph::flow`].
    pub handovers: Option<Vec<Handover>>,
}

impl Operator {
    /// Creates an operator without tensors.
    pub fn new(name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            aliases: Vec::new(),
            scratch: Bytes::ZERO,
            unit: None,
            cost: None,
            regions: Vec::new(),
            control: None,
            handovers: None,
        }
    }

    /// Appends inputs.
    #[must_use]
    pub fn reads(mut self, inputs: impl IntoIterator<Item = TensorId>) -> Self {
        self.inputs.extend(inputs);
        self
    }

    /// Appends outputs.
    #[must_use]
    pub fn makes(mut self, outputs: impl IntoIterator<Item = TensorId>) -> Self {
        self.outputs.extend(outputs);
        self
    }

    /// Adds an output that may share the memory of an input. Both begin at the same address.
    #[must_use]
    pub fn alias(self, input: TensorId, output: TensorId, kind: AliasKind) -> Self {
        self.alias_at(input, output, kind, 0)
    }

    /// Adds an output that may share the memory of an input. The smaller of the two tensors begins at byte
    /// `offset` of the larger one.
    #[must_use]
    pub fn alias_at(
        mut self,
        input: TensorId,
        output: TensorId,
        kind: AliasKind,
        offset: impl Into<Bytes>,
    ) -> Self {
        self.aliases.push(Alias { input, output, kind, offset: offset.into() });
        self
    }
}

/// A straight-line sequence of operators: the body, or a region owned by an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The name, such as `then_branch` or `body`.
    pub name: String,
    /// The operator that owns the region; `None` for the body of the graph.
    pub owner: Option<OperatorId>,
    /// The tensors available when the region starts.
    pub inputs: Vec<TensorId>,
    /// The tensors needed after the region has ended. They may come from an enclosing region.
    pub outputs: Vec<TensorId>,
    /// The operators of the region, in file order.
    pub operators: Vec<OperatorId>,
}

/// A program that consists of operators, tensors and regions. A graph is validated and immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    name: String,
    tensors: Vec<Tensor>,
    operators: Vec<Operator>,
    regions: Vec<Region>,
    producers: Vec<Option<OperatorId>>,
    /// Per tensor: the operators that read it directly, ascending.
    consumers: Vec<Vec<OperatorId>>,
    homes: Vec<RegionId>,
    /// Per tensor: the region in which it is produced or received.
    places: Vec<RegionId>,
    segments: Vec<Segment>,
    /// Per tensor of a segment: the segment and the first byte.
    fixed: HashMap<TensorId, (usize, Bytes)>,
}

impl Graph {
    /// The id of the body, which is the first region.
    pub const BODY: RegionId = RegionId::new(0);

    /// Returns the name of the graph, used in messages and files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all tensors, indexed by id.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Returns the operators of all regions, indexed by id.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// Returns all regions, indexed by id. A region precedes the regions that its operators own.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Returns the tensor with the given id.
    ///
    /// # Panics
    /// If the graph has no tensor with this id. Ids of other graphs are not detected if they are in range.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// Returns the operator with the given id.
    ///
    /// # Panics
    /// If the graph has no operator with this id. Ids of other graphs are not detected if they are in range.
    pub fn operator(&self, id: OperatorId) -> &Operator {
        &self.operators[id.index()]
    }

    /// Returns the region with the given id.
    ///
    /// # Panics
    /// If the graph has no region with this id. Ids of other graphs are not detected if they are in range.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// Returns the operator that produces a tensor; `None` if the tensor comes from outside.
    pub fn producer(&self, id: TensorId) -> Option<OperatorId> {
        self.producers[id.index()]
    }

    /// Returns the operators that read a tensor as a direct input, ascending. Reads by regions inside an
    /// operator are not included; see [`Graph::reads`].
    pub fn consumers(&self, id: TensorId) -> &[OperatorId] {
        &self.consumers[id.index()]
    }

    /// Returns the region that contains an operator.
    pub fn home(&self, id: OperatorId) -> RegionId {
        self.homes[id.index()]
    }

    /// Returns the region in which a tensor is produced or received. For weights and states, this is the body
    /// unless a region lists them as inputs.
    pub fn place(&self, id: TensorId) -> RegionId {
        self.places[id.index()]
    }

    /// Returns all tensors that an operator reads, without duplicates. Its inputs come first, followed by
    /// the tensors that its regions, including nested ones, use from outside. The time is linear in the size
    /// of these regions.
    pub fn reads(&self, id: OperatorId) -> Vec<TensorId> {
        let mut seen = std::collections::HashSet::new();
        let mut reads = Vec::new();
        let mut todo = vec![(id, true)];
        let mut inside = std::collections::HashSet::new();
        while let Some((id, own)) = todo.pop() {
            let operator = self.operator(id);
            let outer = |tensor: &TensorId| own || !inside.contains(&self.place(*tensor));
            let mut wanted: Vec<TensorId> = operator.inputs.iter().copied().filter(|t| outer(t)).collect();
            inside.extend(operator.regions.iter().copied());
            for &region in &operator.regions {
                let region = self.region(region);
                wanted.extend(region.outputs.iter().filter(|t| !inside.contains(&self.place(**t))));
                todo.extend(region.operators.iter().rev().map(|&inner| (inner, false)));
            }
            reads.extend(wanted.into_iter().filter(|&tensor| seen.insert(tensor)));
        }
        reads
    }

    /// Returns the display name of an operator: its name or, if it has none, its kind and first output, as
    /// in `Conv(features)`. If it has no outputs either, its kind and number are returned, as in `Conv#3`.
    ///
    /// If the `TFLite` converter fuses several operators, the name of the output consists of several names
    /// separated by semicolons. Only the first of them is used.
    pub fn called(&self, id: OperatorId) -> String {
        let operator = self.operator(id);
        if !operator.name.is_empty() {
            return operator.name.clone();
        }
        let Some(&output) = operator.outputs.first() else { return self.numbered(id) };
        let output = &self.tensor(output).name;
        let first = output.split(';').next().filter(|first| !first.is_empty()).unwrap_or(output);
        format!("{}({first})", operator.kind)
    }

    /// Returns the display name of a region: its name and, except for the body, its owner, as in
    /// `then_branch of If(scores)`.
    pub fn region_called(&self, id: RegionId) -> String {
        let Region { name, owner, .. } = self.region(id);
        owner.map_or_else(|| name.clone(), |owner| format!("{name} of {}", self.called(owner)))
    }

    /// Returns the kind and the number of an operator, as in `Conv#3`.
    pub fn numbered(&self, id: OperatorId) -> String {
        format!("{}#{id}", self.operator(id).kind)
    }

    /// Returns the total bytes of the weights that an operator and its regions read.
    pub fn weight_bytes(&self, id: OperatorId) -> Bytes {
        let weights = self.reads(id).into_iter().filter(|&t| self.tensor(t).role == Role::Weight);
        Bytes::new(weights.map(|t| self.tensor(t).bytes.get()).sum())
    }

    /// Returns the address of the output of an alias minus the address of its input, in bytes. The result is
    /// negative if the input lies inside the output.
    pub fn displacement(&self, alias: &Alias) -> i64 {
        let offset = alias.offset.get() as i64;
        if alias.kind != AliasKind::InPlace && self.is_inside(alias) { offset } else { -offset }
    }

    /// Returns true if the output of an alias lies inside its input, and false if the input is a part of a
    /// larger output.
    pub(crate) fn is_inside(&self, alias: &Alias) -> bool {
        self.tensor(alias.output).bytes <= self.tensor(alias.input).bytes
    }

    /// Returns true if the operator has outputs and all their bytes are views of inputs, so that no data is
    /// moved. O(o a) for o outputs and a aliases.
    pub fn moves_nothing(&self, id: OperatorId) -> bool {
        let operator = self.operator(id);
        let is_view = |&output: &TensorId| {
            let views =
                || operator.aliases.iter().filter(|a| (a.output, a.kind) == (output, AliasKind::View));
            let parts: u64 = views().map(|view| self.tensor(view.input).bytes.get()).sum();
            views().any(|view| self.is_inside(view)) || parts > 0 && parts == self.tensor(output).bytes.get()
        };
        !operator.outputs.is_empty() && operator.outputs.iter().all(is_view)
    }

    /// Returns the total bytes of all tensors with the given role.
    pub fn bytes(&self, role: Role) -> Bytes {
        Bytes::new(self.tensors.iter().filter(|t| t.role == role).map(|t| t.bytes.get()).sum())
    }
}
