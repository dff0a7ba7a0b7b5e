//! Name resolution: finds the producers and consumers of tensors in the graph and in the bodies of its
//! operators.

use super::constants::{read_constant, read_sparse, read_tensor};
use super::dims::{Change, Dims, TOO_LARGE, by_name};
use super::open::argument;
use super::proto::{self, plain};
use crate::import::{ImportProblem, Source};
use crate::operators::Share;
use crate::operators::value::{Fact, RANK_LIMIT, show};
use plimsoll_model::graph::{AliasKind, GraphError, MAX_DEPTH, Role};
use plimsoll_model::topological;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use strsim::levenshtein;

/// A tensor, with its declared and inferred properties.
pub struct Slot<'m> {
    pub name: &'m str,
    pub role: Role,
    pub fact: Fact,
    /// The declared fact, used if nothing else is known.
    pub declared: Fact,
    /// True if the declared shape has a named dimension that an option binds.
    pub named: bool,
    /// Named dimensions of the declared shape that no option binds.
    pub open: Vec<&'m str>,
    /// How options change the inputs on which the tensor depends.
    pub change: Change,
    pub source: Source,
    /// The shape given by an option.
    pub given: Option<Vec<u64>>,
    /// Size in bytes, once it is settled.
    pub bytes: Option<u64>,
    /// True if the tensor belongs to a branch that does not run.
    pub idle: bool,
}

impl Slot<'_> {
    /// Returns true if sizes and shapes allow an output to share the whole memory of this input. A view may
    /// have another shape.
    pub fn fits(&self, output: &Self, kind: AliasKind) -> bool {
        self.bytes == output.bytes && (kind == AliasKind::View || self.fact.shape == output.fact.shape)
    }
}

pub struct Step<'m> {
    pub node: &'m proto::Node,
    /// Id of the operator. The operators in its bodies have the ids that follow.
    pub id: usize,
    pub inputs: Vec<Option<usize>>,
    pub outputs: Vec<Option<usize>>,
    pub blocks: Vec<usize>,
    pub cost: Option<u64>,
    pub shares: Vec<Share>,
}

impl Step<'_> {
    pub fn label(&self) -> String {
        let kind = if plain(&self.node.domain) {
            self.node.op_type.clone()
        } else {
            format!("{}.{}", self.node.domain, self.node.op_type)
        };
        match self.node.name.as_str() {
            "" => format!("{} ({kind})", self.id),
            name => format!("{} '{name}' ({kind})", self.id),
        }
    }
}

/// The graph, or a body of an operator.
#[derive(Default)]
pub struct Block<'m> {
    /// Name of the attribute that contains the body.
    pub name: &'m str,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    pub steps: Vec<Step<'m>>,
    /// Tensors of enclosing blocks that the block reads.
    pub captures: HashSet<usize>,
    /// The tensors of the block and of the blocks inside it.
    pub slots: Range<usize>,
    /// The block and the blocks inside it.
    pub blocks: Range<usize>,
}

/// All tensors and blocks. The first block is the graph.
#[derive(Default)]
pub struct Program<'m> {
    pub slots: Vec<Slot<'m>>,
    pub blocks: Vec<Block<'m>>,
    /// Decisions where the file allows several interpretations.
    pub notes: Vec<String>,
    operators: usize,
}

impl<'m> Program<'m> {
    /// Resolves all names in time linear in the size of the file.
    ///
    /// # Errors
    /// If a name has no producer, a constant is damaged, a value is not a tensor, bodies are nested too
    /// deeply, or `--tensor-shape` does not name a tensor that can have a given shape.
    pub fn new(graph: &'m proto::Graph, dims: &Dims) -> Result<Self, ImportProblem> {
        let mut resolver = Resolver { program: Self::default(), scopes: Vec::new(), dims };
        resolver.block(graph, "body")?;
        let mut program = resolver.program;
        program.give_shapes(dims)?;
        Ok(program)
    }

    fn give_shapes(&mut self, dims: &Dims) -> Result<(), ImportProblem> {
        for (name, shape) in dims.tensor_shapes() {
            let refused = |reason: String| {
                let option = argument("--tensor-shape", &format!("{name}={}", show(shape)));
                Err(ImportProblem::option(option, reason))
            };
            if self.blocks[0].inputs.iter().any(|&input| self.slots[input].name == name) {
                let reason = "it is an input of the model: --input-shape gives its shape".to_owned();
                return refused(reason);
            }
            if shape.len() > RANK_LIMIT || shape.iter().any(|&extent| extent > i64::MAX as u64) {
                return refused(TOO_LARGE.to_owned());
            }
            let mut known = false;
            for slot in self.slots.iter_mut().filter(|slot| slot.name == name) {
                (slot.given, known) = (Some(shape.to_vec()), true);
            }
            if !known {
                let near = near(name, self.slots.iter().map(|slot| slot.name));
                return refused(format!("no tensor of that name; {near}"));
            }
        }
        Ok(())
    }

    /// Returns a topological order of the steps of a block. Among the ready steps, the first in the file
    /// comes next. Returns `None` if there is a cycle. O((n + e) log n) for n steps and e dependences.
    pub fn order(&self, block: usize) -> Option<Vec<usize>> {
        let steps = &self.blocks[block].steps;
        let made = steps
            .iter()
            .enumerate()
            .flat_map(|(at, step)| step.outputs.iter().flatten().map(move |&t| (t, at)));
        let makers: HashMap<usize, usize> = made.collect();
        let mut successors = vec![Vec::new(); steps.len()];
        for (at, step) in steps.iter().enumerate() {
            let captured = step.blocks.iter().flat_map(|&inner| &self.blocks[inner].captures);
            let reads = step.inputs.iter().flatten().chain(captured);
            let before: HashSet<usize> = reads.filter_map(|tensor| makers.get(tensor).copied()).collect();
            for maker in before {
                successors[maker].push(at);
            }
        }
        topological(steps.len(), |at| successors[at].iter().copied()).ok()
    }
}

fn near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let close = |other: &str| other.len().abs_diff(name.len()) < 16;
    let mut names: Vec<&str> = names.filter(|other| !other.is_empty() && close(other)).collect();
    names.sort_by_cached_key(|other| (levenshtein(&name.to_lowercase(), &other.to_lowercase()), *other));
    names.dedup();
    names.truncate(3);
    if names.is_empty() {
        "no name is similar".to_owned()
    } else {
        format!("similar names: {}", names.join(", "))
    }
}

struct Scope<'m> {
    block: usize,
    names: HashMap<&'m str, usize>,
}

struct Resolver<'m, 'd> {
    program: Program<'m>,
    scopes: Vec<Scope<'m>>,
    dims: &'d Dims<'d>,
}

impl<'m> Resolver<'m, '_> {
    fn scope(&mut self) -> &mut Scope<'m> {
        self.scopes.last_mut().expect("a block is open")
    }

    /// Adds a tensor to the innermost block, or returns the existing one of that name.
    fn declare(&mut self, name: &'m str, role: Role, fact: Fact) -> usize {
        let next = self.program.slots.len();
        let at = *self.scope().names.entry(name).or_insert(next);
        if at == next {
            self.program.slots.push(Slot {
                name,
                role,
                fact,
                declared: Fact::default(),
                given: None,
                named: false,
                open: Vec::new(),
                change: Change::None,
                source: Source::Inferred,
                bytes: None,
                idle: false,
            });
        }
        at
    }

    /// Finds the tensor with that name that is visible in the innermost block, and records captures.
    fn lookup(&mut self, name: &str) -> Option<usize> {
        let depth = self.scopes.iter().rposition(|scope| scope.names.contains_key(name))?;
        let found = self.scopes[depth].names[name];
        for scope in &self.scopes[depth + 1..] {
            self.program.blocks[scope.block].captures.insert(found);
        }
        Some(found)
    }

    fn block(&mut self, graph: &'m proto::Graph, name: &'m str) -> Result<usize, ImportProblem> {
        if self.scopes.len() > MAX_DEPTH {
            return Err(GraphError::TooDeep { region: name.to_owned(), limit: MAX_DEPTH }.into());
        }
        let (block, slots) = (self.program.blocks.len(), self.program.slots.len());
        self.program.blocks.push(Block { name, ..Block::default() });
        self.scopes.push(Scope { block, names: HashMap::new() });
        self.constants(graph)?;
        self.inputs(graph, block)?;
        let mut steps = self.outputs(graph)?;
        for step in &mut steps {
            self.reads(step)?;
        }
        self.program.blocks[block].steps = steps;
        for info in &graph.output {
            let missing =
                || format!("'{}' is an output of graph '{}', but nothing produces it", info.name, graph.name);
            let tensor = self.lookup(&info.name).ok_or_else(|| ImportProblem::Damaged(missing()))?;
            self.program.blocks[block].outputs.push(tensor);
        }
        self.program.blocks[block].slots = slots..self.program.slots.len();
        self.program.blocks[block].blocks = block..self.program.blocks.len();
        self.scopes.pop();
        Ok(block)
    }

    fn constants(&mut self, graph: &'m proto::Graph) -> Result<(), ImportProblem> {
        for tensor in &graph.initializer {
            let fact = read_tensor(tensor)
                .map_err(|why| ImportProblem::Damaged(format!("initialiser '{}': {why}", tensor.name)))?;
            self.define(&tensor.name, fact)?;
        }
        for sparse in &graph.sparse_initializer {
            let name = sparse.values.as_ref().map_or("", |values| values.name.as_str());
            let fact = read_sparse(sparse)
                .map_err(|why| ImportProblem::Damaged(format!("initialiser '{name}': {why}")))?;
            self.define(name, fact)?;
        }
        Ok(())
    }

    /// Adds the inputs of a block. Inputs that are also initialisers are constants.
    fn inputs(&mut self, graph: &'m proto::Graph, block: usize) -> Result<(), ImportProblem> {
        for info in &graph.input {
            if let Some(&tensor) = self.scope().names.get(info.name.as_str()) {
                if self.program.slots[tensor].role == Role::Input {
                    return Err(ImportProblem::Damaged(format!(
                        "graph '{}' has two inputs '{}'",
                        graph.name, info.name
                    )));
                }
                continue;
            }
            let fact = if block == 0 { self.dims.input(info)? } else { Fact::default() };
            let declared = self.dims.inner(info)?;
            let tensor = self.declare(&info.name, Role::Input, fact);
            let slot = &mut self.program.slots[tensor];
            (slot.declared, slot.named) = (declared, self.dims.names_given(info));
            slot.open = self.dims.names_open(info).collect();
            if block == 0 {
                slot.change = self.dims.change(info);
            }
            self.program.blocks[block].inputs.push(tensor);
        }
        Ok(())
    }

    /// Adds the operators with their outputs. Constants among them become tensors.
    fn outputs(&mut self, graph: &'m proto::Graph) -> Result<Vec<Step<'m>>, ImportProblem> {
        let infos = by_name(graph);
        let wanted: HashSet<&str> = graph.output.iter().map(|info| info.name.as_str()).collect();
        let mut steps = Vec::with_capacity(graph.node.len());
        for node in &graph.node {
            if node.op_type == "Constant" && plain(&node.domain) {
                self.constant(node)?;
                continue;
            }
            let mut outputs = Vec::with_capacity(node.output.len());
            for name in &node.output {
                if name.is_empty() {
                    outputs.push(None);
                    continue;
                }
                let role = if wanted.contains(name.as_str()) { Role::Output } else { Role::Activation };
                let info = infos.get(name.as_str());
                let declared = info.map(|info| self.dims.inner(info)).transpose()?;
                let tensor = self.declare(name, role, Fact::default());
                let slot = &mut self.program.slots[tensor];
                slot.declared = declared.unwrap_or_default();
                slot.named = info.is_some_and(|info| self.dims.names_given(info));
                slot.open = info.into_iter().flat_map(|info| self.dims.names_open(info)).collect();
                outputs.push(Some(tensor));
            }
            let (inputs, blocks, shares) = (Vec::new(), Vec::new(), Vec::new());
            steps.push(Step { node, id: 0, inputs, outputs, blocks, cost: None, shares });
        }
        Ok(steps)
    }

    /// Adds a constant. If several have the same name, the last one is used; initialisers count as if they
    /// preceded all nodes, as in ONNX Runtime. A constant with the name of an input is the value of the
    /// input.
    fn define(&mut self, name: &'m str, fact: Fact) -> Result<(), ImportProblem> {
        let Some(&known) = self.scope().names.get(name) else {
            self.declare(name, Role::Weight, fact);
            return Ok(());
        };
        let block = self.scope().block;
        match self.program.slots[known].role {
            Role::Weight => self.program.notes.push(format!(
                "constant '{name}' is defined twice: the last definition applies, as in ONNX Runtime"
            )),
            Role::Input => self.program.blocks[block].inputs.retain(|&input| input != known),
            _ => {
                return Err(ImportProblem::Damaged(format!(
                    "constant '{name}' is also the output of an operator"
                )));
            }
        }
        let slot = &mut self.program.slots[known];
        (slot.role, slot.fact) = (Role::Weight, fact);
        Ok(())
    }

    fn constant(&mut self, node: &'m proto::Node) -> Result<(), ImportProblem> {
        let Some(name) = node.output.first().filter(|name| !name.is_empty()) else { return Ok(()) };
        let fact =
            read_constant(node).map_err(|why| ImportProblem::Damaged(format!("constant '{name}': {why}")))?;
        self.define(name, fact)
    }

    /// Resolves the inputs of a step, and those of its bodies.
    fn reads(&mut self, step: &mut Step<'m>) -> Result<(), ImportProblem> {
        step.id = self.program.operators;
        self.program.operators += 1;
        for name in &step.node.input {
            if name.is_empty() {
                step.inputs.push(None);
                continue;
            }
            let missing = || format!("operator {} reads '{name}', which nothing produces", step.label());
            let tensor = self.lookup(name).ok_or_else(|| ImportProblem::Damaged(missing()))?;
            step.inputs.push(Some(tensor));
        }
        for (name, body) in step.node.bodies() {
            let block = self.block(body, name)?;
            step.blocks.push(block);
            let inputs = &self.program.blocks[block].inputs;
            if step.node.op_type == "If" && plain(&step.node.domain) && !inputs.is_empty() {
                let names = inputs.iter().map(|&input| format!("'{}'", self.program.slots[input].name));
                return Err(ImportProblem::Damaged(format!(
                    "operator {}: {name} has the formal inputs {}; ONNX allows none, because a branch reads \
                     tensors of the enclosing graph by their names",
                    step.label(),
                    names.collect::<Vec<_>>().join(", ")
                )));
            }
        }
        Ok(())
    }
}
