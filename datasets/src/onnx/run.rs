//! Infers the shapes of a whole program in topological order. Bodies are inferred together with their
//! owners.

use super::call::call;
use super::dims::Change;
use super::program::{Program, Slot, Step};
use super::proto::plain;
use crate::import::{ImportOptions, ImportProblem, Source};
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, effective};
use crate::operators::{self, Share};
use plimsoll_model::graph::Role;

pub struct Evaluation<'m, 'o> {
    pub program: Program<'m>,
    pub options: &'o ImportOptions,
    /// The type that replaces all floating-point types.
    pub float: Option<Element>,
    pub opset: i64,
    pub assumed: Vec<String>,
    /// Notes about sizes taken from declarations in the file.
    pub declared: Vec<String>,
    /// Contradictions between declared and inferred shapes.
    pub contradictions: Vec<String>,
    /// The number of tensors without a size in branches that never run.
    pub void: usize,
    /// The number of tracked elements of constants.
    pub folded: u64,
    pub done: usize,
    /// The number of branches that may be chosen, but cannot run.
    pub pruned: usize,
    /// The tensor whose size is missing, if inference failed for this reason.
    pub failed: Option<usize>,
    /// The number of operators that may still be inferred again in later iterations of loops.
    pub repeats: usize,
    /// True if [`ImportOptions::trips`] limits the iterations of a loop.
    pub capped: bool,
}

/// Facts about the outputs of an operator, or the reasons why there are none.
pub type Made = Vec<Result<Fact, Reason>>;

impl<'m> Evaluation<'m, '_> {
    /// Determines the sizes of all tensors. Returns false if there is a cycle; some sizes are then missing.
    pub fn run(&mut self) -> Result<bool, ImportProblem> {
        // Constants and inputs come first.
        let slots = self.program.slots.iter().enumerate();
        let constants =
            slots.filter(|(_, slot)| slot.role == Role::Weight).map(|(at, _)| (at, "(a constant)"));
        let inputs = self.program.blocks[0].inputs.iter().map(|&at| (at, "(an input)"));
        for (at, subject) in constants.chain(inputs).collect::<Vec<_>>() {
            let fact = self.program.slots[at].fact.clone();
            let change = self.program.slots[at].change;
            self.settle(at, fact, &Origin { change, ..Origin::new(&|| subject.to_owned()) })?;
        }
        self.block(0, false)
    }

    /// Infers all steps of a block. In a `dead` block, which never runs, tensors of unknown size have 0
    /// bytes. Returns false if there is a cycle.
    pub fn block(&mut self, block: usize, dead: bool) -> Result<bool, ImportProblem> {
        let Some(order) = self.program.order(block) else { return Ok(false) };
        let mut steps = std::mem::take(&mut self.program.blocks[block].steps);
        let all =
            order.into_iter().try_fold(true, |complete, at| Ok(self.step(&mut steps[at], dead)? && complete));
        self.program.blocks[block].steps = steps;
        all
    }

    fn step(&mut self, step: &mut Step<'m>, dead: bool) -> Result<bool, ImportProblem> {
        self.done += 1;
        let kind = step.node.op_type.as_str();
        let (made, complete) = match kind {
            "If" | "Loop" | "Scan" if plain(&step.node.domain) => match kind {
                "If" => self.branches(step, dead)?,
                "Loop" => self.repeat(step, dead)?,
                _ => self.scan(step, dead)?,
            },
            _ if !step.blocks.is_empty() => {
                let label = step.label();
                let reason = Reason::unknown(format!(
                    "the arguments that operator {label} passes to its bodies are not known"
                ));
                let (_, complete) = self.abandon(step, &reason, dead)?;
                (self.plain_step(step, dead), complete)
            }
            _ => (self.plain_step(step, dead), true),
        };
        let (change, source) = self.upstream(step);
        for (at, output) in step.outputs.iter().enumerate() {
            if let Some(tensor) = *output {
                let (fact, reason) = match made.get(at).cloned() {
                    Some(Ok(fact)) => (fact, None),
                    Some(Err(reason)) => (self.shaped_like(step, tensor), Some(reason)),
                    None => (Fact::default(), Some("the operator has fewer outputs".into())),
                };
                let reason = reason.as_ref();
                self.settle(
                    tensor,
                    fact,
                    &Origin { reason, change, source, dead, subject: &|| step.label() },
                )?;
            }
        }
        Ok(complete)
    }

    /// Returns how options change the dependencies of a step, and the source of their sizes. The dependencies
    /// are its inputs, and the captures and results of its bodies.
    pub fn upstream(&self, step: &Step) -> (Change, Source) {
        let blocks = || step.blocks.iter().map(|&block| &self.program.blocks[block]);
        let read = step.inputs.iter().flatten().chain(blocks().flat_map(|block| &block.captures));
        let slots = read.chain(blocks().flat_map(|block| &block.outputs)).map(|&at| &self.program.slots[at]);
        slots.fold((Change::None, Source::Inferred), |(change, source), slot| {
            (change.max(slot.change), source.max(slot.source))
        })
    }

    /// Returns the fact about an output of an unknown operator. If `--tensor-shape` gives the shape and the
    /// file declares no element type, the element type is that of the first input with a known type.
    /// Otherwise, the fact is empty.
    fn shaped_like(&mut self, step: &Step, tensor: usize) -> Fact {
        let slot = &self.program.slots[tensor];
        if slot.given.is_none() || slot.declared.element.is_some() {
            return Fact::default();
        }
        let element = (0..step.inputs.len()).find_map(|at| self.fact(step, at)?.element);
        if let Some(element) = element {
            let (label, name) = (step.label(), slot.name);
            self.assumed.push(format!(
                "operator {label}: '{name}' has elements of type {}, like its input",
                element.name
            ));
        }
        Fact { element, ..Fact::default() }
    }

    fn plain_step(&mut self, step: &mut Step<'m>, dead: bool) -> Made {
        let node = step.node;
        let slots = &self.program.slots;
        let inputs = step.inputs.iter().map(|input| input.map(|tensor| &slots[tensor].fact)).collect();
        let call = call(node, inputs, node.opset.unwrap_or(self.opset));
        let made = operators::infer(&call);
        if let Ok(facts) = &made {
            step.cost = operators::cost(&call, facts);
        }
        step.shares = operators::shares(&call);
        if let (true, Ok(facts)) = (self.options.parts, &made) {
            step.shares.extend(operators::parts(&call, facts));
        }
        let doubt = operators::doubt(&call).filter(|_| !dead);
        let bounds = made
            .iter()
            .flatten()
            .zip(&step.node.output)
            .filter(|(fact, name)| fact.bound && !name.is_empty());
        let bounds: Vec<(u64, &String)> = if dead || call.bounded() {
            Vec::new()
        } else {
            bounds.filter_map(|(fact, name)| Some((fact.size(self.float).ok()?, name))).collect()
        };
        if matches!(node.op_type.as_str(), "Cast" | "CastLike")
            && plain(&node.domain)
            && let (Ok(facts), Some(from)) = (&made, call.input(0).and_then(|fact| fact.element))
            && let Some(to) = facts[0].element
            && effective(from, self.float) == effective(to, self.float)
        {
            step.shares = vec![Share::View(0)];
        }
        if let Some(line) = doubt.map(|doubt| format!("operator {}: {doubt}", step.label()))
            && !self.assumed.contains(&line)
        {
            self.assumed.push(line);
        }
        for (bytes, name) in bounds {
            let label = step.label();
            let line =
                format!("operator {label}: '{name}' has at most {bytes} bytes (its extent depends on data)");
            self.assumed.push(line);
        }
        match made {
            Ok(facts) => facts.into_iter().map(Ok).collect(),
            Err(reason) => nothing(step, &reason),
        }
    }

    pub fn fact(&self, step: &Step, input: usize) -> Option<&Fact> {
        let tensor = step.inputs.get(input).copied().flatten()?;
        Some(&self.program.slots[tensor].fact)
    }
}

/// Returns the same reason for all outputs of a step.
pub fn nothing(step: &Step, reason: &Reason) -> Made {
    vec![Err(reason.clone()); step.outputs.len()]
}

/// The origin of the facts about a tensor.
pub struct Origin<'a> {
    pub reason: Option<&'a Reason>,
    /// How options change the inputs on which the tensor depends.
    pub change: Change,
    /// The source of the sizes of the dependencies.
    pub source: Source,
    /// True in a block that never runs.
    pub dead: bool,
    /// A function that describes the operator in messages.
    pub subject: &'a dyn Fn() -> String,
}

impl<'a> Origin<'a> {
    /// Returns an origin without dependencies.
    pub fn new(subject: &'a dyn Fn() -> String) -> Self {
        Self { reason: None, change: Change::None, source: Source::Inferred, dead: false, subject }
    }

    /// Returns true if the declared shape may be used.
    pub fn may_take(&self, slot: &Slot) -> bool {
        // An operator that cannot run has no output shape, unless an input of uncertain size is the cause.
        let runs =
            self.dead || self.source > Source::Inferred || !self.reason.is_some_and(|reason| reason.misfit);
        let holds = match self.change {
            Change::None => true,
            Change::Free => slot.named,
            Change::Fixed => false,
        };
        runs && holds
    }
}
