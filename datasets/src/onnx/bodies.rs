//! Infers shapes through operators with bodies: `If`, `Loop` and `Scan`.

use super::program::Step;
use super::run::{Made, Origin, Run, nothing};
use crate::import::ImportProblem;
use crate::operators;
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, Value, misfit, show};

impl<'m> Run<'m, '_> {
    /// Returns the first integer of an input, if the input is a constant.
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

    /// Infers the outputs of an `If`. They are the results of the branch that runs. If the condition is
    /// unknown, each output is the larger of the two results.
    pub fn branches(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), ImportProblem> {
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

    /// Infers one branch. The first flag is false if there is a cycle. If `open` is true, either branch may
    /// run. A branch that cannot run on its inputs is then treated as never taken, and the second flag is
    /// true.
    fn branch(
        &mut self,
        step: &Step,
        block: usize,
        dead: bool,
        never: bool,
        open: bool,
    ) -> Result<(bool, bool), ImportProblem> {
        let (lines, name) = (self.assumed.len(), self.program.blocks[block].name);
        let why = if never && !dead {
            format!("{name} never runs with these shapes")
        } else {
            match self.block(block, dead) {
                Err(ImportProblem::Misfit { operator, tensor, reason }) if open => {
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
                "operator {label}: '{name}' is {} ({x} bytes) or {} ({y} bytes); the larger is used",
                text(&a),
                text(&b)
            ));
        }
        let larger = if x >= y { a } else { b };
        if x == y { larger.variable() } else { larger.bounded() }
    }

    fn body(&self, step: &Step, inputs: usize) -> Result<usize, Reason> {
        let body = *step.blocks.first().ok_or("its body is missing")?;
        let given = self.program.blocks[body].inputs.len();
        if given != inputs {
            return misfit(format!("its body has {given} inputs; expected {inputs}"));
        }
        Ok(body)
    }

    fn give(
        &mut self,
        step: &Step,
        body: usize,
        facts: Vec<Fact>,
        reason: Option<&Reason>,
        dead: bool,
    ) -> Result<(), ImportProblem> {
        let (change, source) = self.upstream(step);
        for (tensor, fact) in self.program.blocks[body].inputs.clone().into_iter().zip(facts) {
            self.settle(tensor, fact, &Origin { reason, change, source, dead, subject: &|| step.label() })?;
        }
        Ok(())
    }

    /// Infers the bodies of an operator whose outputs cannot be inferred, without any facts about the inputs
    /// of the bodies.
    pub fn abandon(
        &mut self,
        step: &Step<'m>,
        reason: &Reason,
        dead: bool,
    ) -> Result<(Made, bool), ImportProblem> {
        let mut complete = true;
        for &block in &step.blocks {
            let unknown = vec![Fact::default(); self.program.blocks[block].inputs.len()];
            self.give(step, block, unknown, Some(reason), dead)?;
            complete &= self.block(block, dead)?;
        }
        Ok((nothing(step, reason), complete))
    }

    /// Infers the outputs of a `Loop`. If a carried value changes its shape in the body, its final shape is
    /// unknown. A scan output has one row per iteration.
    pub fn repeat(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), ImportProblem> {
        let carried = step.inputs.len().saturating_sub(2);
        let body = match self.body(step, carried + 2) {
            Ok(body) => body,
            Err(reason) => return self.abandon(step, &reason, dead),
        };
        let scalar = |element| Fact::new(Some(element), []);
        // A value that the body passes on unchanged stays a constant.
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
        // The loop runs for all iterations if neither the first condition nor a later one can be false.
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
                    Err(Reason::unknown("its shape changes between iterations"))
                }
                (Some(shape), Some(trips)) => {
                    if !exact {
                        let (label, name) =
                            (step.label(), step.node.output.get(at - 1).map_or("", String::as_str));
                        let line = format!(
                            "operator {label}: '{name}' has a row for each of at most {trips} iterations"
                        );
                        self.assumed.push(line);
                    }
                    let rows = Fact::new(result.element, [&[trips], shape.as_slice()].concat());
                    Ok(Fact { bound: result.bound || !exact, ..rows })
                }
                (None, _) => Err(Reason::unknown("the shape of its rows is not known")),
                (_, None) => Err(Reason::unknown(format!(
                    "it depends on the trip count, input '{}', which is not a constant",
                    step.node.input.first().map_or("", String::as_str)
                ))),
            });
        }
        Ok((made, complete))
    }

    /// Returns true if a body returns input `at` unchanged as output `at - 1`.
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

    /// Adds a note about a loop whose body receives a value that has a different shape in later iterations
    /// than in the first.
    fn note_growth(&mut self, step: &Step, body: usize, input: usize, result: &Fact) {
        let slot = &self.program.slots[self.program.blocks[body].inputs[input]];
        if let (Some(first), Some(later)) = (slot.fact.shape.as_deref(), result.shape.as_deref()) {
            self.assumed.push(format!(
                "operator {}: '{}' is {} in the first iteration and {} in the second; the body is sized for the first",
                step.label(),
                slot.name,
                show(first),
                show(later)
            ));
        }
    }

    /// Infers the outputs of a `Scan`. States keep their shapes. Some inputs are sliced along an axis, and
    /// some outputs are stacked.
    pub fn scan(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), ImportProblem> {
        if step.node.opset.unwrap_or(self.opset) < 9 {
            return self.abandon(step, &Reason::unknown("Scan requires operator set 9 or later"), dead);
        }
        let attribute = |name: &str| step.node.attribute(name);
        let scanned = attribute("num_scan_inputs").and_then(|a| usize::try_from(a.i?).ok()).unwrap_or(0);
        let Some(states) = step.inputs.len().checked_sub(scanned) else {
            let reason = format!("num_scan_inputs is {scanned}, but Scan has {} inputs", step.inputs.len());
            return self.abandon(step, &reason.into(), dead);
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
