//! Graphs whose operators own regions: conditionals nested, unbalanced and sharing, loops, mixtures.
//!
//! Regions follow the conventions of [`Graph::flow`]: `If` and `Case` read tensors of the regions around theirs (as in
//! ONNX); `IF`, `CALL` and `WHILE` hand copies over (as in `TFLite`); the body of a `Loop` is given the number of the trip
//! and the condition before what it carries.

mod loops;
mod mix;

pub(super) use loops::loops;
pub(super) use mix::mix;

use crate::error::GenerateError;
use crate::params::Params;
use plimsoll_model::graph::{Graph, GraphBuilder, MAX_DEPTH, Operator, Role, Tensor};
use plimsoll_model::{OperatorId, RegionId, TensorId};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// No region may be asked for more operators than this.
const MOST_OPERATORS: u64 = 100_000;

/// A graph in the making: names are numbered, sizes drawn.
struct Maker {
    graph: GraphBuilder,
    rng: Xoshiro256PlusPlus,
    /// Sizes are drawn from here, ends included, bytes.
    sizes: (u64, u64),
    /// What the body is given.
    inputs: Vec<TensorId>,
    operators: usize,
    tensors: usize,
}

impl Maker {
    fn new(params: &Params, seed: u64) -> Result<Self, GenerateError> {
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

    fn size(&mut self) -> u64 {
        self.rng.random_range(self.sizes.0..=self.sizes.1)
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn pick(&mut self, from: &[TensorId]) -> TensorId {
        from[self.rng.random_range(0..from.len())]
    }

    fn tensor(&mut self, bytes: u64, role: Role) -> TensorId {
        let name = format!("t{}", self.tensors);
        self.tensors += 1;
        self.graph.tensor(Tensor::new(name, bytes, role))
    }

    fn made(&mut self, bytes: u64) -> TensorId {
        self.tensor(bytes, Role::Activation)
    }

    fn input(&mut self, bytes: u64) -> TensorId {
        let id = self.tensor(bytes, Role::Input);
        self.inputs.push(id);
        id
    }

    fn bytes(&mut self, id: TensorId) -> u64 {
        self.graph.tensor_mut(id).bytes.get()
    }

    /// An operator without a name yet.
    fn named(&mut self, kind: &str) -> Operator {
        let name = format!("f{}", self.operators);
        self.operators += 1;
        Operator::new(name, kind)
    }

    /// An operator that makes one tensor of so many bytes.
    fn step(&mut self, region: RegionId, kind: &str, reads: &[TensorId], bytes: u64) -> TensorId {
        let made = self.made(bytes);
        let operator = self.named(kind).reads(reads.iter().copied()).makes([made]);
        self.graph.operator(region, operator);
        made
    }

    /// A chain of `count` operators of drawn sizes from `x`; none gives `x` itself.
    fn chain(&mut self, region: RegionId, mut x: TensorId, count: u64) -> TensorId {
        for _ in 0..count {
            let bytes = self.size();
            x = self.step(region, "Any", &[x], bytes);
        }
        x
    }

    /// An operator that owns regions, in the ONNX way without handing anything to them.
    fn owner(&mut self, region: RegionId, kind: &str, reads: &[TensorId], makes: &[TensorId]) -> OperatorId {
        let operator = self.named(kind).reads(reads.iter().copied()).makes(makes.iter().copied());
        self.graph.operator(region, operator)
    }

    /// Closes a region. What it makes itself and returns is called an output.
    fn close(&mut self, region: RegionId, inputs: &[TensorId], outputs: &[TensorId], own: &[TensorId]) {
        for &output in outputs {
            let tensor = self.graph.tensor_mut(output);
            if own.contains(&output) && tensor.role == Role::Activation {
                tensor.role = Role::Output;
            }
        }
        self.graph.interface(region, inputs.iter().copied(), outputs.iter().copied());
    }

    /// The graph, with these tensors wanted of it.
    fn finish(mut self, outputs: &[TensorId]) -> Result<Graph, GenerateError> {
        let (body, inputs) = (self.graph.body(), self.inputs.clone());
        self.close(body, &inputs, outputs, outputs);
        Ok(self.graph.build().map_err(Box::new)?)
    }
}

fn operators(params: &Params) -> Result<u64, GenerateError> {
    params.at_most("operators", MOST_OPERATORS)?;
    params.at_least("operators", 1)
}

fn depth(params: &Params) -> Result<u64, GenerateError> {
    params.at_most("depth", MAX_DEPTH as u64)?;
    Ok(params.get("depth"))
}

/// Every region is a chain of `operators` operators; in the middle of it stands an `If`, down to `depth`. One of its branches,
/// either, holds the next one, the other is a chain.
pub(super) fn nested(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (depth, operators) = (depth(params)?, operators(params)?);
    let mut maker = Maker::new(params, seed)?;
    let bytes = maker.size();
    let (go, x) = (maker.input(1), maker.input(bytes));
    let body = maker.graph.body();
    let y = nest(&mut maker, body, (go, x), depth, operators);
    maker.finish(&[y])
}

fn nest(
    maker: &mut Maker,
    region: RegionId,
    (go, x): (TensorId, TensorId),
    depth: u64,
    operators: u64,
) -> TensorId {
    if depth == 0 {
        return maker.chain(region, x, operators);
    }
    let before = operators.div_ceil(2);
    let x = maker.chain(region, x, before);
    let bytes = maker.size();
    let made = maker.made(bytes);
    let owner = maker.owner(region, "If", &[go], &[made]);
    let deeper = maker.rng.random_range(0..2);
    for (branch, name) in ["then", "else"].into_iter().enumerate() {
        let inner = maker.graph.region(owner, name);
        // What the last operator of a branch makes is copied, so it is as large.
        let y = if branch == deeper {
            nest(maker, inner, (go, x), depth - 1, operators)
        } else {
            maker.chain(inner, x, operators)
        };
        maker.graph.tensor_mut(y).bytes = bytes.into();
        maker.close(inner, &[], &[y], &[y]);
    }
    maker.chain(region, made, operators - before)
}

/// Conditionals in a row. Both branches are chains of `operators` operators before the one that makes the result; the
/// tensors of one branch, either, are exactly `ratio` times as large as those of the other.
pub(super) fn unbalanced(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (operators, ratio) = (operators(params)?, params.at_least("ratio", 1)?);
    params.at_most("ifs", MOST_OPERATORS)?;
    let ifs = params.at_least("ifs", 1)?;
    let mut maker = Maker::new(params, seed)?;
    let bytes = maker.size();
    let (go, mut x) = (maker.input(1), maker.input(bytes));
    let body = maker.graph.body();
    for _ in 0..ifs {
        let sizes: Vec<u64> = (0..operators).map(|_| maker.size()).collect();
        let bytes = maker.size();
        let made = maker.made(bytes);
        let owner = maker.owner(body, "If", &[go], &[made]);
        let heavy = maker.rng.random_range(0..2);
        for (branch, name) in ["then", "else"].into_iter().enumerate() {
            let region = maker.graph.region(owner, name);
            let factor = if branch == heavy { ratio } else { 1 };
            let inner =
                sizes.iter().fold(x, |x, &size| maker.step(region, "Any", &[x], size.saturating_mul(factor)));
            let y = maker.step(region, "Any", &[inner], bytes);
            maker.close(region, &[], &[y], &[y]);
        }
        x = made;
    }
    maker.finish(&[x])
}

/// Where a tensor of the enclosing region is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    Then,
    Else,
    Both,
    After,
    BothAndAfter,
}

/// One `If` whose branches read `shared` tensors made before it: some in one branch, some in both, some after it. As many as
/// there are of the five cases occur; each branch has `operators` operators that hand on one tensor.
pub(super) fn shared(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let operators = operators(params)?;
    params.at_most("shared", MOST_OPERATORS)?;
    let shared = params.at_least("shared", 1)?;
    let mut maker = Maker::new(params, seed)?;
    let bytes = maker.size();
    let (go, x) = (maker.input(1), maker.input(bytes));
    let body = maker.graph.body();
    let cases = [Readers::Then, Readers::Else, Readers::Both, Readers::After, Readers::BothAndAfter];
    let mut readers: Vec<Readers> = (0..shared).map(|at| cases[at as usize % cases.len()]).collect();
    readers.shuffle(&mut maker.rng);
    let outer: Vec<TensorId> = readers
        .iter()
        .map(|_| {
            let bytes = maker.size();
            maker.step(body, "Any", &[x], bytes)
        })
        .collect();
    let read_by = |wanted: &[Readers]| -> Vec<TensorId> {
        let pairs = outer.iter().zip(&readers);
        pairs.filter(|(_, one)| wanted.contains(one)).map(|(&tensor, _)| tensor).collect()
    };
    let bytes = maker.size();
    let made = maker.made(bytes);
    let owner = maker.owner(body, "If", &[go], &[made]);
    for (name, only) in [("then", Readers::Then), ("else", Readers::Else)] {
        let region = maker.graph.region(owner, name);
        let reads = read_by(&[only, Readers::Both, Readers::BothAndAfter]);
        let y = gather(&mut maker, region, &reads, operators, bytes);
        maker.close(region, &[], &[y], &[y]);
    }
    let mut reads = read_by(&[Readers::After, Readers::BothAndAfter]);
    reads.push(made);
    let bytes = maker.size();
    let y = maker.step(body, "Any", &reads, bytes);
    maker.finish(&[y])
}

/// A chain of operators that read the tensors at places drawn; the last makes so many bytes.
fn gather(maker: &mut Maker, region: RegionId, reads: &[TensorId], operators: u64, bytes: u64) -> TensorId {
    let mut places: Vec<Vec<TensorId>> = vec![Vec::new(); operators as usize];
    for &tensor in reads {
        let at = maker.rng.random_range(0..places.len());
        places[at].push(tensor);
    }
    let mut last = None;
    for (at, mut reads) in places.into_iter().enumerate() {
        reads.extend(last);
        let bytes = if at as u64 + 1 == operators { bytes } else { maker.size() };
        last = Some(maker.step(region, "Any", &reads, bytes));
    }
    last.expect("there is at least one operator")
}
