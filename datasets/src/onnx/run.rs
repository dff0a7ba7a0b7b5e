//! Inference over a whole program: every operator after those it waits for, bodies inside their owners.

use super::dims::Change;
use super::open::argument;
use super::program::{Program, Slot, Step, plain};
use crate::import::{ImportError, ImportOptions, Source};
use crate::operators::element::{Element, STRING_BYTES};
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
    /// Sizes taken from the file.
    pub declared: Vec<String>,
    /// Where the file declares another shape than inference finds.
    pub contradictions: Vec<String>,
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
            let change = self.program.slots[at].change;
            self.settle(at, fact, &Origin { change, ..Origin::new(&|| who.to_owned()) })?;
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
            _ if !step.blocks.is_empty() => {
                let label = step.label();
                let reason =
                    Reason::unknown(format!("what operator {label} hands to its bodies is not known"));
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
                self.settle(tensor, fact, &Origin { reason, change, source, dead, who: &|| step.label() })?;
            }
        }
        Ok(complete)
    }

    /// What the outputs of a step depend on: its inputs, what its bodies read outside, what they return.
    fn upstream(&self, step: &Step) -> (Change, Source) {
        let blocks = || step.blocks.iter().map(|&block| &self.program.blocks[block]);
        let read = step.inputs.iter().flatten().chain(blocks().flat_map(|block| &block.captures));
        let slots = read.chain(blocks().flat_map(|block| &block.outputs)).map(|&at| &self.program.slots[at]);
        slots.fold((Change::None, Source::Inferred), |(change, source), slot| {
            (change.max(slot.change), source.max(slot.source))
        })
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

    fn plain_step(&mut self, step: &mut Step<'m>, dead: bool) -> Made {
        let node = step.node;
        let slots = &self.program.slots;
        let inputs = step.inputs.iter().map(|input| input.map(|tensor| &slots[tensor].fact)).collect();
        let call = node.call(inputs, node.opset.unwrap_or(self.opset));
        let made = operators::infer(&call);
        if let Ok(facts) = &made {
            step.cost = operators::cost(&call, facts);
        }
        step.shares = operators::shares(&call);
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

    /// Decides what a tensor is: what was inferred; else what the file says; else what is assumed.
    fn settle(&mut self, tensor: usize, mut fact: Fact, origin: &Origin) -> Result<(), Failure> {
        let mut source = origin.source;
        if fact.shape.as_ref().is_some_and(|shape| shape.len() > RANK_LIMIT) {
            fact = Fact { element: fact.element, ..Fact::default() };
        }
        let slot = &self.program.slots[tensor];
        match (&slot.given, &fact.shape) {
            (Some(given), Some(shape)) if given != shape => {
                let (path, option) = (
                    self.origin.to_path_buf(),
                    argument("--tensor-shape", &format!("{}={}", slot.name, show(given))),
                );
                let reason = format!("by operator {} it is {}", (origin.who)(), show(shape));
                return Err(Failure::Fatal(ImportError::Option { path, option, reason }));
            }
            (Some(given), None) => {
                fact.shape = Some(given.clone());
                source = source.max(Source::Assumed);
            }
            _ => {}
        }
        let inferred = fact.shape.is_some() || fact.bytes.is_some();
        let slot = &self.program.slots[tensor];
        if inferred {
            self.compare(tensor, &fact, origin);
        } else if slot.declared.shape.is_some() && origin.may_take(slot) {
            fact.shape.clone_from(&slot.declared.shape);
            source = source.max(Source::Declared);
            self.note_declared(tensor, origin);
        }
        if fact.bound {
            source = Source::Assumed;
        }
        fact.element = fact.element.or(self.program.slots[tensor].declared.element);
        let strings = fact.element == Some(Element::STRING) && fact.bytes.is_none();
        let sized = match self.options.assume_bytes {
            Some(_) if strings => Err(Reason::unknown("texts have no fixed size")),
            _ => fact.size(self.float),
        };
        if strings && sized.is_ok() && !origin.dead {
            let line =
                format!("tensors of type string have {STRING_BYTES} bytes per element, as std::string has");
            if !self.assumed.contains(&line) {
                self.assumed.push(line);
            }
        }
        let bytes = match sized {
            Ok(bytes) => bytes,
            Err(unknown) => {
                let bytes = self.unsized_tensor(tensor, origin, &unknown)?;
                (fact.bytes, source) = (Some(bytes), Source::Assumed);
                bytes
            }
        };
        let elements = fact.value.as_ref().map_or(0, |value| value.len() as u64);
        self.folded += elements;
        if self.folded > FOLD_TOTAL {
            fact.value = None;
        }
        let slot = &mut self.program.slots[tensor];
        (slot.fact, slot.bytes, slot.source, slot.change) = (fact, Some(bytes), source, origin.change);
        Ok(())
    }

    /// Notes where the file declares another shape than the one that follows from the inputs.
    fn compare(&mut self, tensor: usize, fact: &Fact, origin: &Origin) {
        let slot = &self.program.slots[tensor];
        let holds = !origin.dead && origin.source == Source::Inferred && origin.may_take(slot);
        if let (true, Some(shape), Some(declared)) = (holds, &fact.shape, &slot.declared.shape)
            && shape != declared
        {
            let (who, name) = ((origin.who)(), slot.name);
            self.contradictions.push(format!(
                "operator {who}: tensor '{name}' is declared as {}, but is {}, which is taken",
                show(declared),
                show(shape)
            ));
        }
    }

    fn note_declared(&mut self, tensor: usize, origin: &Origin) {
        if !origin.dead {
            let name = self.program.slots[tensor].name;
            let reason = origin.reason.map_or("its shape is not known", |reason| reason.text.as_str());
            self.declared.push(format!(
                "operator {}: tensor '{name}' has the declared shape: {reason}",
                (origin.who)()
            ));
        }
    }

    /// Adds what was taken from the file and what contradicts it to what was assumed, shortened.
    pub fn sum_up(&mut self) {
        for lines in [std::mem::take(&mut self.declared), std::mem::take(&mut self.contradictions)] {
            let more = lines.len().saturating_sub(LISTED);
            self.assumed.extend(lines.into_iter().take(LISTED));
            if more > 0 {
                self.assumed.push(format!("... and {more} more of this kind"));
            }
        }
    }

    fn unsized_tensor(&mut self, tensor: usize, origin: &Origin, unknown: &Reason) -> Result<u64, Failure> {
        let (slot, who) = (&self.program.slots[tensor], origin.who);
        let (at, name) = (tensor, slot.name);
        let mut reason = origin.reason.unwrap_or(unknown).clone();
        if slot.declared.shape.is_some() && origin.change > Change::None && !reason.misfit {
            reason.text.push_str("; the shape in the file holds for other inputs");
        }
        if !slot.open.is_empty() && origin.change < Change::Fixed && !reason.misfit {
            let mut names = slot.open.clone();
            names.sort_unstable();
            names.dedup();
            let options: Vec<String> =
                names.iter().map(|name| argument("--dim", &format!("{name}=1"))).collect();
            reason.text = format!("{}; {} completes the shape in the file", reason.text, options.join(" "));
        }
        if origin.dead {
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
        let larger = if x >= y { a } else { b };
        if x == y { larger.variable() } else { larger.bounded() }
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
    fn give(
        &mut self,
        step: &Step,
        body: usize,
        facts: Vec<Fact>,
        reason: Option<&Reason>,
        dead: bool,
    ) -> Result<(), Failure> {
        let (change, source) = self.upstream(step);
        for (tensor, fact) in self.program.blocks[body].inputs.clone().into_iter().zip(facts) {
            self.settle(tensor, fact, &Origin { reason, change, source, dead, who: &|| step.label() })?;
        }
        Ok(())
    }

    /// Leaves bodies whose owner is of no use for inference: their tensors cannot be sized.
    fn abandon(&mut self, step: &Step<'m>, reason: &Reason, dead: bool) -> Result<(Made, bool), Failure> {
        let mut complete = true;
        for &block in &step.blocks {
            let unknown = vec![Fact::default(); self.program.blocks[block].inputs.len()];
            self.give(step, block, unknown, Some(reason), dead)?;
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
        // What the body hands on as it is stays a constant.
        let go = match self.fact(step, 1) {
            Some(go) => Fact { value: go.value.clone(), ..scalar(Element::BOOL) },
            None => scalar(Element::BOOL).with(Some(Value::Ints(vec![1]))),
        };
        let fixed: Vec<bool> = (1..carried + 2).map(|at| self.hands_on(body, at)).collect();
        let mut given = vec![scalar(Element::INT64), go];
        given.extend((2..carried + 2).map(|at| self.fact(step, at).cloned().unwrap_or_default()));
        for (fact, _) in given[1..].iter_mut().zip(&fixed).filter(|(_, fixed)| !**fixed) {
            fact.value = None;
        }
        self.give(step, body, given.clone(), None, dead)?;
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
                (_, _) if at <= carried && fixed[at] => Ok(given[at + 1].clone()),
                (_, _) if at <= carried && given[at + 1].is_alike(&result) => Ok(result.variable()),
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
                    let rows = Fact::new(result.element, [&[trips], shape.as_slice()].concat());
                    Ok(Fact { bound: result.bound || !exact, ..rows })
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

    /// True where a body returns an input as it is: input number `at` as the output before.
    fn hands_on(&self, body: usize, at: usize) -> bool {
        let body = &self.program.blocks[body];
        let (Some(&input), Some(&output)) = (body.inputs.get(at), body.outputs.get(at - 1)) else {
            return false;
        };
        let mut from = output;
        for step in body.steps.iter().rev() {
            if from != input && step.outputs.first() == Some(&Some(from)) && step.node.op_type == "Identity" {
                from = step.inputs.first().copied().flatten().unwrap_or(from);
            }
        }
        from == input
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
        self.give(step, body, given, None, dead)?;
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

/// Lines of one kind that are printed.
const LISTED: usize = 8;

/// Where the facts of a tensor come from.
struct Origin<'a> {
    /// Why nothing was inferred.
    reason: Option<&'a Reason>,
    /// How options change what it depends on.
    change: Change,
    /// What the sizes of that rest on.
    source: Source,
    /// True in a block that never runs.
    dead: bool,
    /// The operator, for messages.
    who: &'a dyn Fn() -> String,
}

impl<'a> Origin<'a> {
    /// What depends on nothing.
    fn new(who: &'a dyn Fn() -> String) -> Self {
        Self { reason: None, change: Change::None, source: Source::Inferred, dead: false, who }
    }

    /// True where the shape that the file declares can hold.
    fn may_take(&self, slot: &Slot) -> bool {
        // What cannot run has no shape, unless that may come from an input whose size is not certain itself.
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

/// No facts of any output, for one reason.
fn nothing(step: &Step, reason: &Reason) -> Made {
    vec![Err(reason.clone()); step.outputs.len()]
}
