//! The computation graph: operators, tensors, regions.
//!
//! A [`Graph`] is a tree of [`Region`]s. The first region is the body; an operator may own further ones (the branches of
//! an `If`, condition and body of a loop). Operators are listed per region in the order of the file they come from;
//! edges follow from tensors. A tensor is made by one operator, or comes from outside: a weight, a state, an input.
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

pub use build::{GraphBuilder, GraphError, MAX_DEPTH};
pub use control::{Control, Flow, FlowError, Handover, Moment};
pub use dot::write_dot;
pub use join::{Choice, Inputs, JoinError};
pub use json::{FORMAT, GraphFileError, VERSION, read_graph, write_graph};
pub use liveness::{Boundary, LivenessOptions, Storages};

use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a tensor is for, which decides how long it is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Made and used inside.
    Activation,
    /// Constant: parameters, initialisers.
    Weight,
    /// Given from outside before the region starts.
    Input,
    /// Wanted after the region has ended.
    Output,
    /// Kept from one run of the network to the next (`TFLite`'s variable tensors).
    State,
}

impl Role {
    /// The word in files and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Activation => "activation",
            Self::Weight => "weight",
            Self::Input => "input",
            Self::Output => "output",
            Self::State => "state",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A value that takes memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Unique in its graph.
    pub name: String,
    /// Size in bytes; zero is allowed and takes no memory.
    pub bytes: Bytes,
    /// What it is for.
    pub role: Role,
    /// Element type as the file names it (`float32`, `int8`), where known.
    pub element: Option<String>,
    /// Extent of each dimension, where known.
    pub shape: Option<Vec<u64>>,
}

impl Tensor {
    /// A tensor of `bytes` bytes.
    pub fn new(name: impl Into<String>, bytes: impl Into<Bytes>, role: Role) -> Self {
        Self { name: name.into(), bytes: bytes.into(), role, element: None, shape: None }
    }

    /// With element type and shape.
    #[must_use]
    pub fn typed(mut self, element: impl Into<String>, shape: impl Into<Vec<u64>>) -> Self {
        self.element = Some(element.into());
        self.shape = Some(shape.into());
        self
    }
}

/// How an output may share the memory of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AliasKind {
    /// The output is the input read another way (reshape, identity): nothing is written.
    View,
    /// The operator can write its output over the input (elementwise functions), which is then gone.
    InPlace,
}

/// An output that may share the memory of an input of the same operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    /// Owns the memory.
    pub input: TensorId,
    /// Shares the memory.
    pub output: TensorId,
    /// Whether anything is written.
    pub kind: AliasKind,
}

/// A step of the computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// Its name; need not be unique, may be empty.
    pub name: String,
    /// What it computes, in the words of its file (`Conv`, `CONV_2D`).
    pub kind: String,
    /// Tensors read, in the order of its file, absent optional ones left out.
    pub inputs: Vec<TensorId>,
    /// Tensors made.
    pub outputs: Vec<TensorId>,
    /// Outputs that may share memory with inputs.
    pub aliases: Vec<Alias>,
    /// Bytes needed only while it runs.
    pub scratch: Bytes,
    /// The processing unit it is mapped to.
    pub unit: Option<String>,
    /// Arithmetic it does: multiply-accumulates, or elementary operations where there are none.
    pub cost: Option<u64>,
    /// Regions it owns, filled in by [`GraphBuilder::region`].
    pub regions: Vec<RegionId>,
    /// How it runs them, where its kind does not say.
    pub control: Option<Control>,
    /// What it hands to them and back, where positions do not say; see [`control`](Graph::flow).
    pub handovers: Option<Vec<Handover>>,
}

impl Operator {
    /// True where all that it makes, if anything, are views of what it reads: it moves nothing.
    pub fn moves_nothing(&self) -> bool {
        let is_view = |output| self.aliases.iter().any(|a| a.output == output && a.kind == AliasKind::View);
        !self.outputs.is_empty() && self.outputs.iter().all(|&output| is_view(output))
    }

    /// An operator without tensors.
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

    /// With these inputs.
    #[must_use]
    pub fn reads(mut self, inputs: impl IntoIterator<Item = TensorId>) -> Self {
        self.inputs.extend(inputs);
        self
    }

    /// With these outputs.
    #[must_use]
    pub fn makes(mut self, outputs: impl IntoIterator<Item = TensorId>) -> Self {
        self.outputs.extend(outputs);
        self
    }

    /// With an output that may share an input's memory.
    #[must_use]
    pub fn alias(mut self, input: TensorId, output: TensorId, kind: AliasKind) -> Self {
        self.aliases.push(Alias { input, output, kind });
        self
    }
}

/// A straight piece of a graph: the body, or a part owned by an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its name (`then_branch`, `body`).
    pub name: String,
    /// The operator that owns it; none for the body of the graph.
    pub owner: Option<OperatorId>,
    /// Tensors given when it starts.
    pub inputs: Vec<TensorId>,
    /// Tensors wanted when it has ended; they may come from an enclosing region.
    pub outputs: Vec<TensorId>,
    /// Its operators, in the order of the file.
    pub operators: Vec<OperatorId>,
}

/// Operators, tensors and regions, validated once and immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    name: String,
    tensors: Vec<Tensor>,
    operators: Vec<Operator>,
    regions: Vec<Region>,
    producers: Vec<Option<OperatorId>>,
    /// Per tensor, ascending: operators that read it directly.
    consumers: Vec<Vec<OperatorId>>,
    homes: Vec<RegionId>,
    /// Per tensor: where it is made, given, or first seen.
    places: Vec<RegionId>,
}

impl Graph {
    /// The body: the first region.
    pub const BODY: RegionId = RegionId::new(0);

    /// The name that messages and files give the graph.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All tensors, by id.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// All operators of all regions, by id.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// All regions, by id, owners before what they own.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// A tensor.
    ///
    /// # Panics
    /// If the id is of another graph.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// An operator.
    ///
    /// # Panics
    /// If the id is of another graph.
    pub fn operator(&self, id: OperatorId) -> &Operator {
        &self.operators[id.index()]
    }

    /// A region.
    ///
    /// # Panics
    /// If the id is of another graph.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// Who makes a tensor; none where it comes from outside.
    pub fn producer(&self, id: TensorId) -> Option<OperatorId> {
        self.producers[id.index()]
    }

    /// Who reads a tensor as an input of its own, ascending. What regions inside an operator read, see [`Graph::reads`].
    pub fn consumers(&self, id: TensorId) -> &[OperatorId] {
        &self.consumers[id.index()]
    }

    /// The region an operator belongs to.
    pub fn home(&self, id: OperatorId) -> RegionId {
        self.homes[id.index()]
    }

    /// The region where a tensor is made or given; the body for weights and states.
    pub fn place(&self, id: TensorId) -> RegionId {
        self.places[id.index()]
    }

    /// Everything an operator reads: its inputs, then what the regions it owns take from outside of themselves, nested
    /// ones included. Each once. O(size of what it owns).
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

    /// What an operator is called where its tensors and times are: by its name, or by kind and number where it has none.
    pub fn called(&self, id: OperatorId) -> String {
        let operator = self.operator(id);
        if operator.name.is_empty() { format!("{}#{id}", operator.kind) } else { operator.name.clone() }
    }

    /// Sum of the bytes of the weights an operator reads, regions it owns included.
    pub fn weight_bytes(&self, id: OperatorId) -> Bytes {
        let weights = self.reads(id).into_iter().filter(|&t| self.tensor(t).role == Role::Weight);
        Bytes::new(weights.map(|t| self.tensor(t).bytes.get()).sum())
    }

    /// Sum of the bytes of all tensors of one role.
    pub fn bytes(&self, role: Role) -> Bytes {
        Bytes::new(self.tensors.iter().filter(|t| t.role == role).map(|t| t.bytes.get()).sum())
    }
}
