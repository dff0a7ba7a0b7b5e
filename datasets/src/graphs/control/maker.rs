//! A builder for graphs with regions.

use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::graph::{Graph, GraphBuilder, MAX_DEPTH, Operator, Role, Tensor};
use plimsoll_model::{OperatorId, RegionId, TensorId};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The maximum value of parameters that count operators or tensors.
pub const MOST_OPERATORS: u64 = 100_000;

/// A graph under construction. Names are numbered, and sizes are random.
pub struct Maker {
    pub graph: GraphBuilder,
    pub rng: Xoshiro256PlusPlus,
    /// The smallest and the largest size in bytes.
    sizes: (u64, u64),
    inputs: Vec<TensorId>,
    operators: usize,
    pub tensors: usize,
}

impl Maker {
    pub fn new(params: &Params, seed: u64) -> Result<Self, GenerateError> {
        let bytes = params.at_least("bytes", 1)?;
        let spread = bytes * params.percent("spread")? / 100;
        Ok(Self {
            graph: GraphBuilder::new(params.name()),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            sizes: ((bytes - spread).max(1), bytes + spread),
            inputs: Vec::new(),
            operators: 0,
            tensors: 0,
        })
    }

    pub fn size(&mut self) -> u64 {
        self.rng.random_range(self.sizes.0..=self.sizes.1)
    }

    pub fn percent(&mut self, percent: u64) -> bool {
        self.rng.random_range(0..100) < percent
    }

    pub fn pick(&mut self, from: &[TensorId]) -> TensorId {
        from[self.rng.random_range(0..from.len())]
    }

    pub fn tensor(&mut self, bytes: u64, role: Role) -> TensorId {
        let name = format!("t{}", self.tensors);
        self.tensors += 1;
        self.graph.tensor(Tensor::new(name, bytes, role))
    }

    pub fn made(&mut self, bytes: u64) -> TensorId {
        self.tensor(bytes, Role::Activation)
    }

    pub fn input(&mut self, bytes: u64) -> TensorId {
        let id = self.tensor(bytes, Role::Input);
        self.inputs.push(id);
        id
    }

    pub fn bytes(&mut self, id: TensorId) -> u64 {
        self.graph.tensor_mut(id).bytes.get()
    }

    pub fn named(&mut self, kind: &str) -> Operator {
        let name = format!("f{}", self.operators);
        self.operators += 1;
        Operator::new(name, kind)
    }

    /// Adds an operator with one output of `bytes` bytes.
    pub fn step(&mut self, region: RegionId, kind: &str, reads: &[TensorId], bytes: u64) -> TensorId {
        let made = self.made(bytes);
        let operator = self.named(kind).reads(reads.iter().copied()).makes([made]);
        self.graph.operator(region, operator);
        made
    }

    /// Adds a chain of `count` operators with random sizes after `x`. Returns the last output, or `x` if
    /// `count` is 0.
    pub fn chain(&mut self, region: RegionId, mut x: TensorId, count: u64) -> TensorId {
        for _ in 0..count {
            let bytes = self.size();
            x = self.step(region, "Any", &[x], bytes);
        }
        x
    }

    /// Adds an operator that will own regions, without explicit handovers.
    pub fn owner(
        &mut self,
        region: RegionId,
        kind: &str,
        reads: &[TensorId],
        makes: &[TensorId],
    ) -> OperatorId {
        let operator = self.named(kind).reads(reads.iter().copied()).makes(makes.iter().copied());
        self.graph.operator(region, operator)
    }

    /// Sets the inputs and outputs of a region. An activation in `own` that the region returns gets the role
    /// of an output.
    pub fn close(&mut self, region: RegionId, inputs: &[TensorId], outputs: &[TensorId], own: &[TensorId]) {
        for &output in outputs {
            let tensor = self.graph.tensor_mut(output);
            if own.contains(&output) && tensor.role == Role::Activation {
                tensor.role = Role::Output;
            }
        }
        self.graph.interface(region, inputs.iter().copied(), outputs.iter().copied());
    }

    /// Returns the graph with these tensors as outputs.
    pub fn finish(mut self, outputs: &[TensorId]) -> Result<Graph, GenerateError> {
        let (body, inputs) = (self.graph.body(), self.inputs.clone());
        self.close(body, &inputs, outputs, outputs);
        Ok(self.graph.build().map_err(Box::new)?)
    }
}

pub fn operators(params: &Params) -> Result<u64, GenerateError> {
    params.at_most("operators", MOST_OPERATORS)?;
    params.at_least("operators", 1)
}

pub fn depth(params: &Params) -> Result<u64, GenerateError> {
    params.at_most("depth", MAX_DEPTH as u64)?;
    Ok(params.get("depth"))
}
