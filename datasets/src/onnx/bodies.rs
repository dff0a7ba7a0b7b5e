//! Infers shapes through operators with bodies: `If`, `Loop` and `Scan`.

use super::loops::{Loop, NO_TRIPS};
use super::program::Step;
use super::run::{Evaluation, Made, Origin, nothing};
use crate::import::ImportProblem;
use crate::operators;
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, Value, misfit, show};

impl<'m> Evaluation<'m, '_> {
    /// Returns the first integer of an input, if the input is a constant.
    fn constant(&self, step: &Step, input: usize) -> Option<i64> {
        match self.fact(step, input)?.value.as_deref()? {
            Value::Ints(list) => list.first().copied(),
            Value::Floats(_) => None,
        }
    }

    pub fn results(&self, block: usize) -> Vec<Fact> {
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

    /// Returns the body of a loop, which must have this number of inputs and at least this number of outputs.
    fn body(&self, step: &Step, inputs: usize, outputs: usize) -> Result<usize, Reason> {
        let body = *step.blocks.first().ok_or("its body is missing")?;
        let block = &self.program.blocks[body];
        if block.inputs.len() != inputs {
            return misfit(format!("its body has {} inputs; expected {inputs}", block.inputs.len()));
        }
        if block.outputs.len() < outputs {
            return misfit(format!(
                "its body has {} outputs; expected at least {outputs}",
                block.outputs.len()
            ));
        }
        Ok(body)
    }

    pub fn give(
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

    /// Infers the outputs of a `Loop`: the carried values after the last iteration, and scan outputs with one
    /// row per iteration.
    pub fn repeat(&mut self, step: &Step<'m>, dead: bool) -> Result<(Made, bool), ImportProblem> {
        let carried = step.inputs.len().saturating_sub(2);
        let body = match self.body(step, carried + 2, carried + 1) {
            Ok(body) => body,
            Err(reason) => return self.abandon(step, &reason, dead),
        };
        let one = self.counted(step, body, carried);
        let rounds = self.iterate(step, &one, dead)?;
        let names = step.node.output.iter().map(String::as_str).chain(std::iter::repeat("")).skip(carried);
        let rows: Made = rounds
            .rows
            .iter()
            .zip(names)
            .map(|(row, name)| {
                let row = row.clone()?;
                let shape = row.shape.as_ref().ok_or_else(|| Reason::unknown("the shape of its rows is not known"))?;
                let Some(most) = rounds.most else {
                    let why = one.unknown.as_deref().unwrap_or(NO_TRIPS);
                    let text = format!(
                        "it depends on the number of iterations, and {why}; --trips N gives the largest number of iterations"
                    );
                    return Err(Reason { iterations: true, ..Reason::unknown(text) });
                };
                if !rounds.exact && !dead {
                    let label = step.label();
                    self.assumed.push(format!(
                        "operator {label}: '{name}' has a row for each of at most {most} iterations"
                    ));
                }
                let rows = Fact::new(row.element, [&[most], shape.as_slice()].concat());
                Ok(Fact { bound: row.bound || !rounds.exact, ..rows })
            })
            .collect();
        Ok((rounds.last.into_iter().chain(rows).collect(), rounds.complete))
    }

    /// Returns the facts about a `Loop` before its first iteration.
    fn counted(&self, step: &Step, body: usize, carried: usize) -> Loop {
        let scalar = |element| Fact::new(Some(element), []);
        // A condition that the body passes on unchanged stays a constant.
        let go = match self.fact(step, 1) {
            Some(go) if self.hands_on(body, 1) => Fact { value: go.value.clone(), ..scalar(Element::BOOL) },
            None if self.hands_on(body, 1) => scalar(Element::BOOL).with(Some(Value::Ints(vec![1]))),
            _ => scalar(Element::BOOL),
        };
        let mut given = vec![scalar(Element::INT64), go];
        given.extend((2..carried + 2).map(|at| self.fact(step, at).cloned().unwrap_or_default()));
        let most = self.constant(step, 0).map(|trips| u64::try_from(trips).unwrap_or(0));
        let name = step.node.input.first().map_or("", String::as_str);
        let unknown = (most.is_none() && self.fact(step, 0).is_some())
            .then(|| format!("the trip count, input '{name}', is not a constant"));
        Loop {
            body,
            given,
            state: 2,
            next: 1,
            fixed: (2..carried + 2).map(|at| self.hands_on(body, at)).collect(),
            most,
            unknown,
            counted: true,
            starts: match self.fact(step, 1) {
                Some(_) => self.constant(step, 1).map(|go| go != 0),
                None => Some(true),
            },
        }
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

    /// Infers the outputs of a `Scan`. Some inputs are sliced along an axis, and some outputs are stacked.
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
        let body = match self.body(step, step.inputs.len(), states) {
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
        let unknown = trips.is_none().then(|| "the length of its sequences is not known".to_owned());
        let (fixed, starts) = (vec![false; states], Some(true));
        let one =
            Loop { body, given, state: 0, next: 0, fixed, most: trips, unknown, counted: false, starts };
        let rounds = self.iterate(step, &one, dead)?;
        let rows = rounds.rows.into_iter().enumerate().map(|(at, row)| {
            let mut fact = row?;
            fact.shape = match (fact.shape, trips) {
                (Some(mut shape), Some(trips)) => {
                    let along = axis("scan_output_axes", at, shape.len() + 1).unwrap_or(0);
                    shape.insert(along, trips);
                    Some(shape)
                }
                _ => None,
            };
            fact.bytes = None;
            Ok(fact)
        });
        Ok((rounds.last.into_iter().chain(rows).collect(), rounds.complete))
    }
}
