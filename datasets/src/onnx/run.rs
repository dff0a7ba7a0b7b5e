//! Inference over a whole program: every operator after those it waits for, bodies inside their owners.

use super::element::Element;
use super::infer::{self, Call, Share};
use super::program::{Program, Step, plain};
use super::proto;
use super::value::{Fact, RANK_LIMIT, Reason, Value, misfit, show};
use crate::import::{ImportError, ImportOptions};
use plimsoll_model::graph::Role;
use std::path::Path;

/// What inference needs besides the program.
pub struct Run<'m, 'o> {
    pub program: Program<'m>,
    pub origin: &'o Path,
    pub options: &'o ImportOptions,
    /// Takes the place of floating-point types.
    pub float: Option<Element>,
    /// Version of ONNX's own operators.
    pub opset: i64,
    /// Functions that the file defines.
    pub functions: &'m [proto::Function],
    /// What had to be assumed.
    pub assumed: Vec<String>,
}

/// Facts of the outputs of an operator, or why there are none.
type Made = Result<Vec<Fact>, Reason>;

/// Why a block is not sized.
pub enum Failure {
    /// An operator cannot run on such shapes: where a branch may choose another one, it must.
    Misfit(ImportError),
    /// Anything else.
    Fatal(ImportError),
}

impl Failure {
    /// The error, whichever.
    pub fn error(self) -> ImportError {
        let (Self::Misfit(error) | Self::Fatal(error)) = self;
        error
    }
}

impl<'m> Run<'m, '_> {
    /// Sizes all tensors. False where there is a cycle, with sizes missing.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub fn run(&mut self) -> Result<bool, Failure> {
        // Constants, and what the graph is given.
        let slots = self.program.slots.iter().enumerate();
        let constants =
            slots.filter(|(_, slot)| slot.role == Role::Weight).map(|(at, _)| (at, "none: a constant"));
        let inputs = self.program.blocks[0].inputs.iter().map(|&at| (at, "none: an input of the graph"));
        for (at, who) in constants.chain(inputs).collect::<Vec<_>>() {
            let fact = self.program.slots[at].fact.clone();
            self.settle(at, fact, None, &|| who.to_owned(), false)?;
        }
        self.block(0, false)
    }

    /// All steps of a block. In a `dead` one, which never runs, what cannot be sized takes no memory.
    fn block(&mut self, block: usize, dead: bool) -> Result<bool, Failure> {
        let Some(order) = self.program.order(block) else { return Ok(false) };
        let mut steps = std::mem::take(&mut self.program.blocks[block].steps);
        let all =
            order.into_iter().try_fold(true, |complete, at| Ok(self.step(&mut steps[at], dead)? && complete));
        self.program.blocks[block].steps = steps;
        all
    }

    fn step(&mut self, step: &mut Step<'m>, dead: bool) -> Result<bool, Failure> {
        let kind = step.node.op_type.as_str();
        let (made, complete) = match kind {
            "If" | "Loop" | "Scan" if plain(&step.node.domain) => match kind {
                "If" => self.branches(step, dead)?,
                "Loop" => self.repeat(step, dead)?,
                _ => self.scan(step, dead)?,
            },
            _ => (self.plain_step(step)?, true),
        };
        let (facts, reason) = match made {
            Ok(facts) => (facts, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        for (at, output) in step.outputs.iter().enumerate() {
            if let Some(tensor) = *output {
                let fact = facts.get(at).cloned().unwrap_or_default();
                self.settle(tensor, fact, reason.as_ref(), &|| step.label(), dead)?;
            }
        }
        Ok(complete)
    }

    fn plain_step(&self, step: &mut Step<'m>) -> Result<Made, Failure> {
        let node = step.node;
        let unsupported = |what: String, reason: &str| {
            let (path, reason) = (self.origin.to_path_buf(), reason.to_owned());
            Failure::Fatal(ImportError::Unsupported { path, what, reason })
        };
        if self.functions.iter().any(|f| f.name == node.op_type && f.domain == node.domain) {
            let reason = "it is a function that the file defines; put its body in its place first";
            return Err(unsupported(format!("operator {}", step.label()), reason));
        }
        if !plain(&node.domain) {
            return Ok(Err(Reason::unknown(format!("operators of domain {} are not known", node.domain))));
        }
        if node.op_type.contains("Sequence") || node.op_type.starts_with("Optional") {
            let reason = "sequences and optional values are no tensors";
            return Err(unsupported(format!("operator {}", step.label()), reason));
        }
        let slots = &self.program.slots;
        let inputs = step.inputs.iter().map(|input| input.map(|tensor| &slots[tensor].fact)).collect();
        let call = Call { node, inputs, opset: self.opset };
        let made = infer::infer(&call);
        if let Ok(facts) = &made {
            step.cost = infer::cost(&call, facts);
        }
        step.shares = infer::shares(&call);
        if matches!(node.op_type.as_str(), "Cast" | "CastLike")
            && let (Ok(facts), Some(from)) = (&made, call.input(0).and_then(|fact| fact.element))
            && let Some(to) = facts[0].element
            && super::value::effective(from, self.float) == super::value::effective(to, self.float)
        {
            step.shares = vec![Share::View(0)];
        }
        Ok(made)
    }

    /// Decides what a tensor is: what was inferred; else what the file says; else what is assumed.
    fn settle(
        &mut self,
        tensor: usize,
        mut fact: Fact,
        reason: Option<&Reason>,
        who: &dyn Fn() -> String,
        dead: bool,
    ) -> Result<(), Failure> {
        let slot = &self.program.slots[tensor];
        if fact.shape.as_ref().is_some_and(|shape| shape.len() > RANK_LIMIT) {
            fact = Fact { element: fact.element, ..Fact::default() };
        }
        if fact.shape.is_none() && fact.bytes.is_none() && slot.declared.shape.is_some() {
            fact.shape.clone_from(&slot.declared.shape);
        }
        fact.element = fact.element.or(slot.declared.element);
        let bytes = match fact.size(self.float) {
            Ok(bytes) => bytes,
            Err(unknown) => {
                let bytes = self.unsized_tensor(tensor, reason.unwrap_or(&unknown), who, dead)?;
                fact.bytes = Some(bytes);
                bytes
            }
        };
        let slot = &mut self.program.slots[tensor];
        (slot.fact, slot.bytes) = (fact, Some(bytes));
        Ok(())
    }

    fn unsized_tensor(
        &mut self,
        tensor: usize,
        reason: &Reason,
        who: &dyn Fn() -> String,
        dead: bool,
    ) -> Result<u64, Failure> {
        let name = self.program.slots[tensor].name;
        if dead {
            self.assumed.push(format!(
                "operator {}: tensor '{name}' takes 0 bytes: its branch never runs with these shapes ({reason})",
                who()
            ));
            return Ok(0);
        }
        let Some(bytes) = self.options.assume_bytes else {
            let (path, tensor) = (self.origin.to_path_buf(), name.to_owned());
            let error = ImportError::Unsized { path, operator: who(), tensor, reason: reason.text.clone() };
            return Err(if reason.misfit { Failure::Misfit(error) } else { Failure::Fatal(error) });
        };
        self.assumed.push(format!("operator {}: tensor '{name}' takes {bytes} bytes: {reason}", who()));
        Ok(bytes)
    }

    fn fact(&self, step: &Step, input: usize) -> Option<&Fact> {
        let tensor = step.inputs.get(input).copied().flatten()?;
        Some(&self.program.slots[tensor].fact)
    }

    /// The one integer of an input, where it is a constant.
    fn constant(&self, step: &Step, input: usize) -> Option<i64> {
        match self.fact(step, input)?.value.as_deref()? {
            Value::Ints(list) => list.first().copied(),
            Value::Floats(_) => None,
        }
    }

    fn results(&self, block: usize) -> Vec<Fact> {
        self.program.blocks[block]
            .outputs
            .iter()
            .map(|&tensor| self.program.slots[tensor].fact.clone())
            .collect()
    }

    /// `If`: what the branch gives that runs, or the larger of both.
    fn branches(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), Failure> {
        let find =
            |name: &str| step.blocks.iter().copied().find(|&block| self.program.blocks[block].name == name);
        let (Some(yes), Some(no)) = (find("then_branch"), find("else_branch")) else {
            return Ok((misfit("a branch is missing"), true));
        };
        let mut condition = self.constant(step, 0).map(|condition| condition != 0);
        let open = condition.is_none() && !dead;
        let (mut complete, cannot) = self.branch(step, yes, dead || condition == Some(false), open)?;
        if cannot {
            condition = Some(false);
        }
        let (other, cannot) = self.branch(step, no, dead || condition == Some(true), open && !cannot)?;
        complete &= other;
        if cannot {
            condition = Some(true);
        }
        let (then, otherwise) = (self.results(yes), self.results(no));
        let made = match condition {
            Some(true) => then,
            Some(false) => otherwise,
            None => {
                let names = step.node.output.iter();
                let pairs = names.zip(then.into_iter().zip(otherwise));
                pairs.map(|(name, (a, b))| self.larger(&step.label(), name, a, b)).collect()
            }
        };
        let variable = made.into_iter().map(|fact| if open { fact.variable() } else { fact });
        Ok((Ok(variable.collect()), complete))
    }

    /// One branch. Where it is `open` which one runs, and this one cannot, it is taken for one that never does: true.
    fn branch(&mut self, step: &Step, block: usize, dead: bool, open: bool) -> Result<(bool, bool), Failure> {
        let before = self.assumed.len();
        match self.block(block, dead) {
            Err(Failure::Misfit(ImportError::Unsized { operator, tensor, reason, .. })) if open => {
                self.assumed.truncate(before);
                let name = self.program.blocks[block].name;
                self.assumed.push(format!(
                    "operator {}: {name} cannot run with these shapes, so it takes no part: operator {operator}: \
                     tensor '{tensor}': {reason}",
                    step.label()
                ));
                Ok((self.block(block, true)?, true))
            }
            result => Ok((result?, false)),
        }
    }

    fn larger(&mut self, label: &str, name: &str, a: Fact, b: Fact) -> Fact {
        if a == b {
            return a;
        }
        let (x, y) = (a.size(self.float).unwrap_or(0), b.size(self.float).unwrap_or(0));
        if a.shape != b.shape || a.element != b.element {
            let text = |fact: &Fact| fact.shape.as_deref().map_or("an unknown shape".to_owned(), show);
            self.assumed.push(format!(
                "operator {label}: '{name}' is {} ({x} bytes) or {} ({y} bytes); the larger is taken",
                text(&a),
                text(&b)
            ));
        }
        if x >= y { a.variable() } else { b.variable() }
    }

    /// The only body of a step.
    fn body(&self, step: &Step, inputs: usize) -> Result<usize, Reason> {
        let body = *step.blocks.first().ok_or("its body is missing")?;
        let given = self.program.blocks[body].inputs.len();
        if given != inputs {
            return misfit(format!("its body takes {given} inputs, not {inputs}"));
        }
        Ok(body)
    }

    /// Gives a body its inputs.
    fn give(&mut self, step: &Step, body: usize, facts: Vec<Fact>, dead: bool) -> Result<(), Failure> {
        for (tensor, fact) in self.program.blocks[body].inputs.clone().into_iter().zip(facts) {
            self.settle(tensor, fact, None, &|| step.label(), dead)?;
        }
        Ok(())
    }

    /// Leaves bodies whose owner is of no use for inference: their tensors cannot be sized.
    fn abandon(&mut self, step: &Step<'m>, reason: Reason, dead: bool) -> Result<(Made, bool), Failure> {
        let mut complete = true;
        for &block in &step.blocks {
            let unknown = vec![Fact::default(); self.program.blocks[block].inputs.len()];
            self.give(step, block, unknown, dead)?;
            complete &= self.block(block, dead)?;
        }
        Ok((Err(reason), complete))
    }

    /// `Loop`: carried values keep their shapes; scanned ones are stacked, one per trip.
    fn repeat(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), Failure> {
        let carried = step.inputs.len().saturating_sub(2);
        let body = match self.body(step, carried + 2) {
            Ok(body) => body,
            Err(reason) => return self.abandon(step, reason, dead),
        };
        let scalar = |element| Fact::new(Some(element), []);
        let mut given = vec![scalar(Element::INT64), scalar(Element::BOOL)];
        given.extend(
            (2..step.inputs.len()).map(|at| self.fact(step, at).cloned().unwrap_or_default().variable()),
        );
        self.give(step, body, given.clone(), dead)?;
        let complete = self.block(body, dead)?;
        let results = self.results(body);
        let trips = self.constant(step, 0).and_then(|trips| u64::try_from(trips).ok());
        // It runs to the end where neither the first condition nor later ones can be false.
        let always = |fact: Option<&Fact>| {
            fact.is_none_or(
                |fact| matches!(fact.value.as_deref(), Some(Value::Ints(list)) if list.first() == Some(&1)),
            )
        };
        let exact = always(self.fact(step, 1)) && always(results.first());
        let mut facts = Vec::new();
        for (at, result) in results.into_iter().enumerate().skip(1) {
            let name = step.node.output.get(at - 1).map_or("", String::as_str);
            if at <= carried {
                let same = given[at + 1].shape == result.shape;
                facts.push(if same {
                    result.variable()
                } else {
                    Fact { element: result.element, ..Fact::default() }
                });
                continue;
            }
            let (Some(trips), Some(shape)) = (trips, result.shape) else {
                facts.push(Fact { element: result.element, ..Fact::default() });
                continue;
            };
            if !exact {
                let label = step.label();
                self.assumed
                    .push(format!("operator {label}: '{name}' has a row for each of at most {trips} trips"));
            }
            facts.push(Fact::new(result.element, [&[trips], shape.as_slice()].concat()));
        }
        Ok((Ok(facts), complete))
    }

    /// `Scan`: states keep their shapes; some inputs are taken apart along an axis, some outputs stacked.
    fn scan(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), Failure> {
        if self.opset < 9 {
            return self.abandon(step, Reason::unknown("Scan is known from version 9 on"), dead);
        }
        let attribute = |name: &str| step.node.attribute(name);
        let scanned = attribute("num_scan_inputs").and_then(|a| usize::try_from(a.i?).ok()).unwrap_or(0);
        let Some(states) = step.inputs.len().checked_sub(scanned) else {
            return self.abandon(step, format!("num_scan_inputs is {scanned}").into(), dead);
        };
        let body = match self.body(step, step.inputs.len()) {
            Ok(body) => body,
            Err(reason) => return self.abandon(step, reason, dead),
        };
        let axis = |name: &str, at: usize, rank: usize| {
            let axis = attribute(name).and_then(|a| a.ints.get(at).copied()).unwrap_or(0);
            infer::axis(axis, rank)
        };
        let (mut given, mut trips) = (Vec::new(), None);
        for at in 0..step.inputs.len() {
            let mut fact = self.fact(step, at).cloned().unwrap_or_default().variable();
            if let (true, Some(shape)) = (at >= states, fact.shape.as_mut())
                && let Ok(along) = axis("scan_input_axes", at - states, shape.len())
            {
                trips = Some(shape.remove(along));
            }
            given.push(fact);
        }
        self.give(step, body, given, dead)?;
        let complete = self.block(body, dead)?;
        let mut facts = Vec::new();
        for (at, result) in self.results(body).into_iter().enumerate() {
            let mut fact = result.variable();
            if at >= states {
                fact.shape = match (fact.shape, trips) {
                    (Some(mut shape), Some(trips)) => {
                        let along = axis("scan_output_axes", at - states, shape.len() + 1).unwrap_or(0);
                        shape.insert(along, trips);
                        Some(shape)
                    }
                    _ => None,
                };
                fact.bytes = None;
            }
            facts.push(fact);
        }
        Ok((Ok(facts), complete))
    }
}
