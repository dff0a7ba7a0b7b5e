//! Inference over a whole program: every operator after those it waits for, bodies inside their owners.

use super::open::argument;
use super::program::{Program, Step, plain};
use crate::import::{ImportError, ImportOptions};
use crate::operators::element::Element;
use crate::operators::value::{FOLD_TOTAL, Fact, RANK_LIMIT, Reason, Value, misfit, show};
use crate::operators::{self, Share};
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
    /// What had to be assumed.
    pub assumed: Vec<String>,
    /// Tensors without a size in branches that never run.
    pub void: usize,
    /// Elements of constants that are followed.
    pub folded: u64,
    /// Operators that were gone through.
    pub done: usize,
    /// Branches that may be chosen, but cannot run.
    pub pruned: usize,
    /// The tensor that has no size, where there is one.
    pub failed: Option<usize>,
}

/// Facts of the outputs of an operator, or why there are none.
type Made = Vec<Result<Fact, Reason>>;

/// Why a block is not sized.
pub enum Failure {
    /// An operator cannot run on such shapes: where a branch may choose another one, it must.
    Misfit(ImportError),
    /// Anything else.
    Fatal(ImportError),
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
            slots.filter(|(_, slot)| slot.role == Role::Weight).map(|(at, _)| (at, "(a constant)"));
        let inputs = self.program.blocks[0].inputs.iter().map(|&at| (at, "(an input)"));
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
        self.done += 1;
        let kind = step.node.op_type.as_str();
        let (made, complete) = match kind {
            "If" | "Loop" | "Scan" if plain(&step.node.domain) => match kind {
                "If" => self.branches(step, dead)?,
                "Loop" => self.repeat(step, dead)?,
                _ => self.scan(step, dead)?,
            },
            _ => (self.plain_step(step, dead)?, true),
        };
        for (at, output) in step.outputs.iter().enumerate() {
            if let Some(tensor) = *output {
                let (fact, reason) = match made.get(at).cloned() {
                    Some(Ok(fact)) => (fact, None),
                    Some(Err(reason)) => (self.shaped_like(step, tensor), Some(reason)),
                    None => (Fact::default(), Some("the operator has fewer outputs".into())),
                };
                self.settle(tensor, fact, reason.as_ref(), &|| step.label(), dead)?;
            }
        }
        Ok(complete)
    }

    /// Nothing, but where `--tensor-shape` gives a shape, the element type of the first input that has one: of operators
    /// that are not known, nothing better is.
    fn shaped_like(&mut self, step: &Step, tensor: usize) -> Fact {
        let slot = &self.program.slots[tensor];
        if slot.given.is_none() || slot.declared.element.is_some() {
            return Fact::default();
        }
        let element = (0..step.inputs.len()).find_map(|at| self.fact(step, at)?.element);
        if let Some(element) = element {
            let (label, name) = (step.label(), slot.name);
            self.assumed.push(format!(
                "operator {label}: '{name}' has elements of type {}, as its input",
                element.name
            ));
        }
        Fact { element, ..Fact::default() }
    }

    fn plain_step(&mut self, step: &mut Step<'m>, dead: bool) -> Result<Made, Failure> {
        let node = step.node;
        let unsupported = |what: String, reason: &str| {
            let (path, reason) = (self.origin.to_path_buf(), reason.to_owned());
            Failure::Fatal(ImportError::Unsupported { path, what, reason })
        };
        if !plain(&node.domain) {
            return Ok(nothing(
                step,
                &Reason::unknown(format!("operators of domain {} are not known", node.domain)),
            ));
        }
        // `ReverseSequence` turns round a dimension of a tensor.
        let sequences = node.op_type.contains("Sequence") && node.op_type != "ReverseSequence";
        if sequences || node.op_type.starts_with("Optional") {
            let reason = "sequences and optional values are no tensors";
            return Err(unsupported(format!("operator {}", step.label()), reason));
        }
        let slots = &self.program.slots;
        let inputs = step.inputs.iter().map(|input| input.map(|tensor| &slots[tensor].fact)).collect();
        let call = node.call(inputs, node.opset.unwrap_or(self.opset));
        let made = operators::infer(&call);
        if let Ok(facts) = &made {
            step.cost = operators::cost(&call, facts);
        }
        step.shares = operators::shares(&call);
        let doubt = operators::doubt(&call).filter(|_| !dead);
        if matches!(node.op_type.as_str(), "Cast" | "CastLike")
            && let (Ok(facts), Some(from)) = (&made, call.input(0).and_then(|fact| fact.element))
            && let Some(to) = facts[0].element
            && crate::operators::value::effective(from, self.float)
                == crate::operators::value::effective(to, self.float)
        {
            step.shares = vec![Share::View(0)];
        }
        if let Some(line) = doubt.map(|doubt| format!("operator {}: {doubt}", step.label()))
            && !self.assumed.contains(&line)
        {
            self.assumed.push(line);
        }
        Ok(match made {
            Ok(facts) => facts.into_iter().map(Ok).collect(),
            Err(reason) => nothing(step, &reason),
        })
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
        match (&slot.given, &fact.shape) {
            (Some(given), Some(shape)) if given != shape => {
                let (path, option) = (
                    self.origin.to_path_buf(),
                    argument("--tensor-shape", &format!("{}={}", slot.name, show(given))),
                );
                let reason = format!("by operator {} it is {}", who(), show(shape));
                return Err(Failure::Fatal(ImportError::Option { path, option, reason }));
            }
            (Some(given), None) => fact.shape = Some(given.clone()),
            _ => {}
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
        let elements = fact.value.as_ref().map_or(0, |value| value.len() as u64);
        self.folded += elements;
        if self.folded > FOLD_TOTAL {
            fact.value = None;
        }
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
        let (at, name) = (tensor, self.program.slots[tensor].name);
        if dead {
            self.void += 1;
            return Ok(0);
        }
        let Some(bytes) = self.options.assume_bytes else {
            self.failed = Some(at);
            let (path, tensor) = (self.origin.to_path_buf(), name.to_owned());
            let (operator, reason, misfit) = (who(), reason.text.clone(), reason.misfit);
            return Err(if misfit {
                Failure::Misfit(ImportError::Misfit { path, operator, tensor, reason })
            } else {
                Failure::Fatal(ImportError::Unsized { path, operator, tensor, reason })
            });
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
            return Ok((nothing(step, &"a branch is missing".into()), true));
        };
        let mut condition = self.constant(step, 0).map(|condition| condition != 0);
        let open = condition.is_none() && !dead;
        let mut complete = true;
        for (block, runs) in [(yes, true), (no, false)] {
            let never = condition == Some(!runs);
            let (all, cannot) = self.branch(step, block, dead, never, open && condition.is_none())?;
            complete &= all;
            condition = if cannot { Some(!runs) } else { condition };
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
        let made = made.into_iter().map(|fact| Ok(if open { fact.variable() } else { fact }));
        Ok((made.collect(), complete))
    }

    /// One branch. Where it is `open` which one runs, and this one cannot, it is taken for one that never does: true.
    fn branch(
        &mut self,
        step: &Step,
        block: usize,
        dead: bool,
        never: bool,
        open: bool,
    ) -> Result<(bool, bool), Failure> {
        let (lines, name) = (self.assumed.len(), self.program.blocks[block].name);
        let why = if never && !dead {
            format!("{name} never runs with these shapes")
        } else {
            match self.block(block, dead) {
                Err(Failure::Misfit(ImportError::Misfit { operator, tensor, reason, .. })) if open => {
                    format!(
                        "{name} cannot run with these shapes (operator {operator}: tensor '{tensor}': {reason})"
                    )
                }
                result => return Ok((result?, false)),
            }
        };
        let before = self.void;
        self.pruned += usize::from(!never);
        let complete = self.block(block, true)?;
        self.assumed.truncate(lines);
        let void = self.void - before;
        if void > 0 || !never {
            let label = step.label();
            self.assumed.push(format!(
                "operator {label}: {why}; {void} of its tensors have no size and take 0 bytes"
            ));
        }
        Ok((complete, !never))
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
    fn abandon(&mut self, step: &Step<'m>, reason: &Reason, dead: bool) -> Result<(Made, bool), Failure> {
        let mut complete = true;
        for &block in &step.blocks {
            let unknown = vec![Fact::default(); self.program.blocks[block].inputs.len()];
            self.give(step, block, unknown, dead)?;
            complete &= self.block(block, dead)?;
        }
        Ok((nothing(step, reason), complete))
    }

    /// `Loop`: carried values keep their shapes; scanned ones are stacked, one per trip.
    fn repeat(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), Failure> {
        let carried = step.inputs.len().saturating_sub(2);
        let body = match self.body(step, carried + 2) {
            Ok(body) => body,
            Err(reason) => return self.abandon(step, &reason, dead),
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
        let mut made = Vec::new();
        for (at, result) in results.into_iter().enumerate().skip(1) {
            made.push(match (result.shape.as_ref(), trips) {
                (_, _) if at <= carried && given[at + 1].shape == result.shape => Ok(result.variable()),
                (_, _) if at <= carried => {
                    self.note_growth(step, body, at + 1, &result);
                    Err(Reason::unknown("its shape changes from trip to trip"))
                }
                (Some(shape), Some(trips)) => {
                    if !exact {
                        let (label, name) =
                            (step.label(), step.node.output.get(at - 1).map_or("", String::as_str));
                        let line =
                            format!("operator {label}: '{name}' has a row for each of at most {trips} trips");
                        self.assumed.push(line);
                    }
                    Ok(Fact::new(result.element, [&[trips], shape.as_slice()].concat()))
                }
                (None, _) => Err(Reason::unknown("the shape of its rows is not known")),
                (_, None) => Err(Reason::unknown(format!(
                    "it depends on the number of trips, input '{}', which is no constant",
                    step.node.input.first().map_or("", String::as_str)
                ))),
            });
        }
        Ok((made, complete))
    }

    /// A loop whose body is given other shapes from the second trip on, which its sizes do not show.
    fn note_growth(&mut self, step: &Step, body: usize, input: usize, result: &Fact) {
        let slot = &self.program.slots[self.program.blocks[body].inputs[input]];
        if let (Some(first), Some(later)) = (slot.fact.shape.as_deref(), result.shape.as_deref()) {
            self.assumed.push(format!(
                "operator {}: '{}' is {} on the first trip and {} on the second; the body is sized for the first",
                step.label(),
                slot.name,
                show(first),
                show(later)
            ));
        }
    }

    /// `Scan`: states keep their shapes; some inputs are taken apart along an axis, some outputs stacked.
    fn scan(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), Failure> {
        if step.node.opset.unwrap_or(self.opset) < 9 {
            return self.abandon(step, &Reason::unknown("Scan is known from version 9 on"), dead);
        }
        let attribute = |name: &str| step.node.attribute(name);
        let scanned = attribute("num_scan_inputs").and_then(|a| usize::try_from(a.i?).ok()).unwrap_or(0);
        let Some(states) = step.inputs.len().checked_sub(scanned) else {
            return self.abandon(step, &format!("num_scan_inputs is {scanned}").into(), dead);
        };
        let body = match self.body(step, step.inputs.len()) {
            Ok(body) => body,
            Err(reason) => return self.abandon(step, &reason, dead),
        };
        let axis = |name: &str, at: usize, rank: usize| {
            let axis = attribute(name).and_then(|a| a.ints.get(at).copied()).unwrap_or(0);
            operators::axis(axis, rank)
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
        let mut made = Vec::new();
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
            made.push(Ok(fact));
        }
        Ok((made, complete))
    }
}

/// No facts of any output, for one reason.
fn nothing(step: &Step, reason: &Reason) -> Made {
    vec![Err(reason.clone()); step.outputs.len()]
}
