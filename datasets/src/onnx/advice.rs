//! Diagnoses a tensor without a size: finds the inputs of the model on which it depends.

use super::dims::Dims;
use super::open::argument;
use super::program::{Program, Step};
use super::proto::{self, plain};
use crate::operators::value::count;
use std::collections::{HashMap, HashSet};

/// The maximum number of inputs and dimensions in a message.
const LISTED: usize = 4;

/// The maximum number of elements of a value in a message.
const SPELLED: u64 = 8;

pub struct Upstream<'p, 'm> {
    program: &'p Program<'m>,
    /// The producer of every tensor that has one.
    makers: HashMap<usize, &'p Step<'m>>,
    /// For each input of a body, the operator that owns the body.
    owners: HashMap<usize, &'p Step<'m>>,
    tensor: usize,
}

impl<'p, 'm> Upstream<'p, 'm> {
    /// Prepares the search in time linear in the size of the program.
    pub fn new(program: &'p Program<'m>, tensor: usize) -> Self {
        let (mut makers, mut owners) = (HashMap::new(), HashMap::new());
        for step in program.blocks.iter().flat_map(|block| &block.steps) {
            makers.extend(step.outputs.iter().flatten().map(|&output| (output, step)));
            let blocks = step.blocks.iter().map(|&block| &program.blocks[block]);
            owners.extend(blocks.flat_map(|block| &block.inputs).map(|&input| (input, step)));
        }
        Self { program, makers, owners, tensor }
    }

    /// Returns the operator that produces the tensor, or that passes it to a body.
    fn step(&self) -> Option<&'p Step<'m>> {
        self.makers.get(&self.tensor).or_else(|| self.owners.get(&self.tensor)).copied()
    }

    /// Returns the inputs of the model on which these tensors depend. If `values` is true, only dependences
    /// on values count. The search then stops at tensors with known values, and at operators that read only
    /// the shape of a tensor.
    fn inputs(&self, from: impl IntoIterator<Item = usize>, values: bool) -> Vec<usize> {
        let mut todo: Vec<usize> = from.into_iter().collect();
        let mut seen: HashSet<usize> = todo.iter().copied().collect();
        while let Some(tensor) = todo.pop() {
            let Some(step) = self.makers.get(&tensor).or_else(|| self.owners.get(&tensor)) else { continue };
            let shape = plain(&step.node.domain) && matches!(step.node.op_type.as_str(), "Shape" | "Size");
            if values && (shape || self.program.slots[tensor].fact.value.is_some()) {
                continue;
            }
            let results = step.blocks.iter().flat_map(|&block| &self.program.blocks[block].outputs);
            todo.extend(step.inputs.iter().flatten().chain(results).filter(|&&read| seen.insert(read)));
        }
        let inputs = self.program.blocks[0].inputs.iter();
        inputs.copied().filter(|input| seen.contains(input)).collect()
    }

    /// Returns the free dimensions of the inputs on which the tensor depends, with their values and options,
    /// as the end of a message.
    pub fn free_dimensions(&self, graph: &proto::Graph, dims: &Dims) -> String {
        let from = self.step().into_iter().flat_map(|step| step.inputs.iter().flatten().copied());
        let above = self.inputs(from.chain([self.tensor]), false);
        let names: HashSet<&str> = above.into_iter().map(|input| self.program.slots[input].name).collect();
        let mut bound = Vec::new();
        for line in graph
            .input
            .iter()
            .filter(|info| names.contains(info.name.as_str()))
            .flat_map(|info| dims.bound(info))
        {
            if !bound.contains(&line) {
                bound.push(line);
            }
        }
        let more = bound.len().saturating_sub(LISTED);
        bound.truncate(LISTED);
        if more > 0 {
            bound.push(format!("and {more} more"));
        }
        if bound.is_empty() {
            String::new()
        } else {
            format!("; free dimensions on which it depends: {}", bound.join(", "))
        }
    }

    /// Returns the end of a message, which lists the options that would give the tensor a size. These options
    /// set either the shape of the tensor or the values of inputs that determine this shape.
    pub fn options(&self, reason: &str) -> String {
        let tensor = &self.program.slots[self.tensor];
        let mut options: Vec<String> = self
            .deciding(reason)
            .into_iter()
            .take(LISTED)
            .map(|input| {
                let slot = &self.program.slots[input];
                let elements = slot.fact.shape.as_deref().and_then(count).filter(|&count| count <= SPELLED);
                let list = elements.map_or("I,J,..".to_owned(), |count| vec!["1"; count as usize].join(","));
                format!(
                    "{} gives input '{}' a value",
                    argument("--value", &format!("{}={list}", slot.name)),
                    slot.name
                )
            })
            .collect();
        if !tensor.name.is_empty() {
            options.push(format!(
                "{} gives it a shape",
                argument("--tensor-shape", &format!("{}=AxB", tensor.name))
            ));
        }
        options.iter().flat_map(|option| ["; ", option.as_str()]).collect()
    }

    /// Returns the inputs of the model whose values determine the shape. The search starts from the operator
    /// inputs that the reason names and whose shape is known but whose value is not. Only inputs of the model
    /// with at most 64 elements and without a floating-point type are returned.
    fn deciding(&self, reason: &str) -> Vec<usize> {
        let Some(step) = self.step() else { return Vec::new() };
        let slots = &self.program.slots;
        let operands = step.inputs.iter().flatten().copied();
        let named = operands.filter(|&input| {
            let (name, fact) = (slots[input].name, &slots[input].fact);
            reason.contains(&format!("'{name}'")) && fact.shape.is_some() && fact.value.is_none()
        });
        let mut inputs = self.inputs(named, true);
        let whole = |input: &usize| slots[*input].fact.element.is_some_and(|element| !element.float);
        let small =
            |input: &usize| slots[*input].fact.shape.as_deref().and_then(count).is_some_and(|n| n <= 64);
        inputs.retain(|input| whole(input) && small(input));
        inputs
    }
}
