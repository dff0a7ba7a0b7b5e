//! A builder for small graphs.

use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{OperatorId, RegionId, TensorId};

pub(super) struct Sketch {
    graph: GraphBuilder,
    inputs: Vec<TensorId>,
    pub body: RegionId,
}

impl Sketch {
    pub fn new(name: &str) -> Self {
        let graph = GraphBuilder::new(name);
        Self { body: graph.body(), graph, inputs: Vec::new() }
    }

    pub fn input(&mut self, name: &str, bytes: u64) -> TensorId {
        let id = self.given(name, bytes);
        self.inputs.push(id);
        id
    }

    pub fn given(&mut self, name: &str, bytes: u64) -> TensorId {
        self.graph.tensor(Tensor::new(name, bytes, Role::Input))
    }

    /// Adds a tensor that a later operator produces.
    pub fn made(&mut self, name: &str, bytes: u64) -> TensorId {
        self.graph.tensor(Tensor::new(name, bytes, Role::Activation))
    }

    /// Adds an operator and its output, which have the same name.
    pub fn step(
        &mut self,
        region: RegionId,
        kind: &str,
        reads: &[TensorId],
        name: &str,
        bytes: u64,
    ) -> TensorId {
        let made = self.made(name, bytes);
        self.makes(region, kind, reads, name, &[made]);
        made
    }

    pub fn makes(
        &mut self,
        region: RegionId,
        kind: &str,
        reads: &[TensorId],
        name: &str,
        made: &[TensorId],
    ) -> OperatorId {
        let operator = Operator::new(name, kind).reads(reads.iter().copied()).makes(made.iter().copied());
        self.graph.operator(region, operator)
    }

    pub fn region(&mut self, owner: OperatorId, name: &str) -> RegionId {
        self.graph.region(owner, name)
    }

    /// Ends a region.
    pub fn close(&mut self, region: RegionId, given: &[TensorId], wanted: &[TensorId]) {
        self.graph.interface(region, given.iter().copied(), wanted.iter().copied());
    }

    /// Ends the body.
    pub fn finish(mut self, wanted: &[TensorId]) -> Graph {
        for &id in wanted {
            self.graph.tensor_mut(id).role = Role::Output;
        }
        self.graph.interface(Graph::BODY, self.inputs, wanted.iter().copied());
        self.graph.build().expect("every case is a valid graph")
    }
}
