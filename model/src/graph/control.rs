//! The control flow of operators that own regions, and the tensors passed into and out of these regions.
//!
//! | control | executes | examples of recognised kinds |
//! |---|---|---|
//! | [`Control::Branch`] | exactly one region (see below) | `If`, `IF`, `Case`, `Switch`, `scf.if`, `stablehlo.case` |
//! | [`Control::Loop`] | the body zero or more times | `Loop`, `Scan`, `While`, `WHILE`, `scf.while`, `scf.for` |
//! | [`Control::Call`] | all regions once, in order | `Call`, `CALL`, `CALL_ONCE`, `scf.execute_region` |
//!
//! If a branch operator has only one region and no outputs, it may skip the region. If a loop has two
//! regions, the first is its condition, which runs before each iteration and once more at the end.
//!
//! A [`Handover`] copies one tensor to another at a [`Moment`]. If an operator lists no handovers, they are
//! derived from the positions of inputs and outputs:
//! - *Branch and call*: when a region with `k` inputs begins, the last `k` inputs of the operator are copied
//!   to the inputs of the region. When the region ends, all its outputs are copied to the outputs of the
//!   operator. In a call with several regions, only the outputs of the last region are copied.
//! - *Loop*: the inputs of the first region are the *state* of the loop, except that the body of an ONNX
//!   `Loop` first receives the iteration number and the condition. At the entry, the last inputs of the
//!   operator are copied to the state. If there is a condition, it passes the state to the body. The first
//!   outputs of the body update the state. The body of an ONNX `Loop` returns the continuation condition
//!   first, and this output is skipped. At the exit, the state is copied to the outputs of the operator.
//!   Further outputs of the body are stacked: each iteration writes a part of an output of the operator.
//!   Inputs of a region that no handover writes, such as the iteration number, have no source in memory.

use super::{Graph, Operator};
use crate::units::{OperatorId, TensorId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The control flow by which an operator executes its regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// Runs exactly one region. A single region without outputs may be skipped.
    Branch,
    /// Runs the body zero or more times. If there are two regions, the second is the body. The first is the
    /// condition, which runs before each iteration and once more at the end.
    Loop,
    /// Runs all regions once, in order.
    Call,
}

impl Control {
    /// Derives the control flow from a known operator kind. The case of letters and a dialect prefix that
    /// ends with a dot are ignored.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        let name = kind.rsplit('.').next().unwrap_or(kind).to_ascii_lowercase();
        match name.as_str() {
            "if" | "case" | "switch" | "cond" | "index_switch" => Some(Self::Branch),
            "loop" | "scan" | "while" | "for" => Some(Self::Loop),
            "call" | "call_once" | "execute_region" => Some(Self::Call),
            _ => None,
        }
    }
}

/// The moment at which a handover takes place. Regions are identified by their position among the regions of
/// the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// Once, before any region runs.
    Enter,
    /// Each time this region begins.
    Begin(usize),
    /// Each time this region has ended.
    End(usize),
    /// Once, after all regions have run.
    Exit,
}

/// A copy of one tensor to another, performed by an operator that owns regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handover {
    /// The moment of the copy.
    pub when: Moment,
    /// The source tensor.
    pub from: TensorId,
    /// The destination tensor.
    pub to: TensorId,
    /// True if each copy transfers only a part of a tensor, such as one row of the input or output of a
    /// scan.
    pub part: bool,
}

/// The control flow of an operator and its handovers. The handovers are either listed or derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The kind of control flow: which regions run, and how often.
    pub control: Control,
    /// The handovers, sorted by moment.
    pub handovers: Vec<Handover>,
}

/// The reason why the regions of an operator cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum FlowError {
    #[error("{operator} owns regions, but its kind '{kind}' implies no control flow; set `control`")]
    Unknown { operator: String, kind: String },
    #[error("{operator}: {what} {has}; expected {wants}")]
    Count { operator: String, what: String, has: usize, wants: String },
    /// The handover refers to a tensor or a region that the operator does not have.
    #[error("{operator} passes '{from}' to '{to}' {when}: {reason}")]
    Handover { operator: String, from: String, to: String, when: Moment, reason: &'static str },
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enter => write!(f, "when it is entered"),
            Self::Begin(region) => write!(f, "when region {region} begins"),
            Self::End(region) => write!(f, "when region {region} has ended"),
            Self::Exit => write!(f, "when it exits"),
        }
    }
}

impl Graph {
    /// Returns the control flow and the handovers of an operator. Returns `None` if the operator owns no
    /// regions. The time is linear in the number s of inputs and outputs of the operator and its regions, or
    /// O(h s + h log h) for h listed handovers.
    ///
    /// # Errors
    /// [`FlowError`] if the control flow is unknown, or if handovers are invalid or cannot be derived.
    pub fn flow(&self, id: OperatorId) -> Result<Option<Flow>, FlowError> {
        let operator = self.operator(id);
        if operator.regions.is_empty() {
            return Ok(None);
        }
        let name = self.label(id);
        let Some(control) = operator.control.or_else(|| Control::of_kind(&operator.kind)) else {
            return Err(FlowError::Unknown { operator: name, kind: operator.kind.clone() });
        };
        let most = if control == Control::Loop { 2 } else { usize::MAX };
        if operator.regions.len() > most {
            let what = "the number of regions is".to_owned();
            let (has, wants) =
                (operator.regions.len(), "1 (a body) or 2 (a condition and a body)".to_owned());
            return Err(FlowError::Count { operator: name, what, has, wants });
        }
        let mut handovers = match &operator.handovers {
            Some(listed) => {
                let wrong = listed.iter().find_map(|one| Some((one, self.misplaced(operator, one)?)));
                if let Some((one, reason)) = wrong {
                    let text = |id: TensorId| self.tensor(id).name.clone();
                    let (from, to, when) = (text(one.from), text(one.to), one.when);
                    return Err(FlowError::Handover { operator: name, from, to, when, reason });
                }
                listed.clone()
            }
            None => Positions { graph: self, operator, name }.derive(control)?,
        };
        handovers.sort_by_key(|handover| handover.when);
        Ok(Some(Flow { control, handovers }))
    }

    /// Returns the reason why a listed handover is invalid, or `None` if it is valid.
    fn misplaced(&self, operator: &Operator, handover: &Handover) -> Option<&'static str> {
        let any = |list: fn(&super::Region) -> &[TensorId], id: TensorId| {
            operator.regions.iter().any(|&region| list(self.region(region)).contains(&id))
        };
        let given = |id| any(|region| &region.inputs, id);
        let wanted = |id| any(|region| &region.outputs, id);
        let count = operator.regions.len();
        match handover.when {
            Moment::Begin(region) | Moment::End(region) if region >= count => Some("there is no such region"),
            _ if !(operator.outputs.contains(&handover.to) || given(handover.to)) => {
                Some("the destination is neither an output of the operator nor an input of its regions")
            }
            _ if !(operator.inputs.contains(&handover.from)
                || given(handover.from)
                || wanted(handover.from)) =>
            {
                Some("the source is neither an input of the operator nor an input or output of its regions")
            }
            _ => None,
        }
    }
}

struct Positions<'a> {
    graph: &'a Graph,
    operator: &'a Operator,
    name: String,
}

impl Positions<'_> {
    fn given(&self, region: usize) -> &[TensorId] {
        &self.graph.region(self.operator.regions[region]).inputs
    }

    fn wanted(&self, region: usize) -> &[TensorId] {
        &self.graph.region(self.operator.regions[region]).outputs
    }

    fn count(&self, what: &str, region: usize, has: usize, wants: String) -> FlowError {
        let name = &self.graph.region(self.operator.regions[region]).name;
        let name = if name.is_empty() { String::new() } else { format!(" ('{name}')") };
        FlowError::Count {
            operator: self.name.clone(),
            what: format!("the number of {what} of its region {region}{name} is"),
            has,
            wants,
        }
    }

    fn derive(&self, control: Control) -> Result<Vec<Handover>, FlowError> {
        match control {
            Control::Branch => self.branches(),
            Control::Call => self.call(),
            Control::Loop => self.trips(),
        }
    }

    /// Returns the handovers from the last inputs of the operator to the inputs of a region.
    fn enter(&self, region: usize, when: Moment) -> Result<Vec<Handover>, FlowError> {
        let (inputs, given) = (&self.operator.inputs, self.given(region));
        let Some(skip) = inputs.len().checked_sub(given.len()) else {
            let wants = format!("at most {}, the number of inputs of the operator", inputs.len());
            return Err(self.count("inputs", region, given.len(), wants));
        };
        Ok(pairs(when, &inputs[skip..], given))
    }

    /// Returns the handovers from the outputs of a region to the outputs of the operator.
    fn leave(&self, region: usize) -> Result<Vec<Handover>, FlowError> {
        let (outputs, wanted) = (&self.operator.outputs, self.wanted(region));
        if outputs.len() != wanted.len() {
            let wants = format!("{}, the number of outputs of the operator", outputs.len());
            return Err(self.count("outputs", region, wanted.len(), wants));
        }
        Ok(pairs(Moment::End(region), wanted, outputs))
    }

    fn branches(&self) -> Result<Vec<Handover>, FlowError> {
        let mut handovers = Vec::new();
        for region in 0..self.operator.regions.len() {
            handovers.extend(self.enter(region, Moment::Begin(region))?);
            handovers.extend(self.leave(region)?);
        }
        Ok(handovers)
    }

    fn call(&self) -> Result<Vec<Handover>, FlowError> {
        let mut handovers = Vec::new();
        for region in 0..self.operator.regions.len() {
            handovers.extend(self.enter(region, Moment::Begin(region))?);
        }
        let last = self.operator.regions.len() - 1;
        if !(self.operator.outputs.is_empty() && self.wanted(last).is_empty()) {
            handovers.extend(self.leave(last)?);
        }
        Ok(handovers)
    }

    fn trips(&self) -> Result<Vec<Handover>, FlowError> {
        let (inputs, outputs) = (&self.operator.inputs, &self.operator.outputs);
        let last = self.operator.regions.len() - 1;
        let (state, results) = (self.given(0), self.wanted(last));
        let mut handovers = Vec::new();
        if last == 1 {
            let body = self.given(1);
            if body.len() != state.len() {
                let wants = format!("{}, the number of inputs of the condition", state.len());
                return Err(self.count("inputs", 1, body.len(), wants));
            }
            handovers.extend(pairs(Moment::Begin(1), state, body));
        }
        // The body of an ONNX `Loop` also computes the condition of the loop and returns it as its first
        // output. The inputs of the body begin with the iteration number and the condition, followed by the
        // state. In other loops, the outputs of the body begin with the state.
        let own = last == 0 && Control::returns_condition(&self.operator.kind);
        let (ahead, first) = if own { (2, 1) } else { (0, 0) };
        let carried = state.len().saturating_sub(ahead);
        let wanted = results.len().saturating_sub(first);
        if state.len() < ahead {
            let wants = "at least 2, the iteration number and the condition".to_owned();
            return Err(self.count("inputs", 0, state.len(), wants));
        }
        if wanted < carried || results.len() < first {
            let wants = format!("at least {}, to match the carried values", carried + first);
            return Err(self.count("outputs", last, results.len(), wants));
        }
        let Some(skip) = inputs.len().checked_sub(carried) else {
            let wants = format!("at most {}, the number of inputs of the operator", inputs.len());
            return Err(self.count("inputs", 0, state.len(), wants));
        };
        if outputs.len() != wanted {
            let wants = format!("{}, to match the outputs of the operator", outputs.len() + first);
            return Err(self.count("outputs", last, results.len(), wants));
        }
        let (state, results) = (&state[ahead..], &results[first..]);
        handovers.extend(pairs(Moment::Enter, &inputs[skip..], state));
        handovers.extend(pairs(Moment::End(last), &results[..carried], state));
        handovers.extend(pairs(Moment::Exit, state, &outputs[..carried]));
        let rows = pairs(Moment::End(last), &results[carried..], &outputs[carried..]);
        handovers.extend(rows.into_iter().map(|row| Handover { part: true, ..row }));
        Ok(handovers)
    }
}

impl Control {
    /// Returns true if the body of a loop of this kind returns the continuation condition as its first
    /// output (ONNX `Loop`).
    fn returns_condition(kind: &str) -> bool {
        kind == "Loop"
    }
}

fn pairs(when: Moment, from: &[TensorId], to: &[TensorId]) -> Vec<Handover> {
    from.iter().zip(to).map(|(&from, &to)| Handover { when, from, to, part: false }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Role, Tensor};

    /// Derives the handovers of an operator whose regions have the given numbers of inputs and outputs. The
    /// names of tensors begin with their owner.
    fn flow(
        kind: &str,
        inputs: usize,
        outputs: usize,
        regions: &[(usize, usize)],
    ) -> Result<Vec<String>, String> {
        let mut g = GraphBuilder::new("g");
        let mut list = |owner: &str, count: usize, role| {
            (0..count).map(|at| g.tensor(Tensor::new(format!("{owner}{at}"), 4, role))).collect::<Vec<_>>()
        };
        let given = list("x", inputs, Role::Input);
        let made = list("y", outputs, Role::Output);
        let inner: Vec<_> = regions
            .iter()
            .enumerate()
            .map(|(at, &(ins, outs))| {
                let ins = list(&format!("r{at}i"), ins, Role::Activation);
                (ins, list(&format!("r{at}o"), outs, Role::Activation))
            })
            .collect();
        let body = g.body();
        let owner = g.operator(body, Operator::new("c", kind).reads(given.clone()).makes(made.clone()));
        for (ins, outs) in inner {
            let region = g.region(owner, "r");
            g.operator(region, Operator::new("f", "F").makes(outs.clone()));
            g.interface(region, ins, outs);
        }
        g.interface(body, given, made);
        let graph = g.build().unwrap();
        let flow = graph.flow(owner).map_err(|error| error.to_string())?.unwrap();
        let name = |id: TensorId| &graph.tensor(id).name;
        let show = |h: &Handover| {
            let when = match h.when {
                Moment::Enter => "enter".to_owned(),
                Moment::Begin(at) => format!("begin{at}"),
                Moment::End(at) => format!("end{at}"),
                Moment::Exit => "exit".to_owned(),
            };
            format!("{when} {}{}{}", name(h.from), if h.part { "~" } else { ">" }, name(h.to))
        };
        Ok(flow.handovers.iter().map(show).collect())
    }

    #[test]
    fn handovers_follow_from_positions() {
        assert_eq!(flow("If", 1, 1, &[(0, 1), (0, 1)]).unwrap(), ["end0 r0o0>y0", "end1 r1o0>y0"]);
        let handed = flow("IF", 2, 1, &[(1, 1), (1, 1)]).unwrap();
        assert_eq!(handed, ["begin0 x1>r0i0", "begin1 x1>r1i0", "end0 r0o0>y0", "end1 r1o0>y0"]);
        // This loop has a trip count but no condition, one carried value and one stacked value.
        let handed = flow("Loop", 2, 2, &[(3, 3)]).unwrap();
        assert_eq!(handed, ["enter x1>r0i2", "end0 r0o1>r0i2", "end0 r0o2~y1", "exit r0i2>y0"]);
        let handed = flow("WHILE", 1, 1, &[(1, 1), (1, 1)]).unwrap();
        assert_eq!(handed, ["enter x0>r0i0", "begin1 r0i0>r1i0", "end1 r1o0>r0i0", "exit r0i0>y0"]);
        assert_eq!(
            flow("scf.for", 3, 1, &[(1, 1)]).unwrap(),
            ["enter x2>r0i0", "end0 r0o0>r0i0", "exit r0i0>y0"]
        );
        assert_eq!(flow("CALL_ONCE", 0, 0, &[(0, 0)]).unwrap(), [""; 0]);
        assert_eq!(flow("CALL", 1, 1, &[(1, 1)]).unwrap(), ["begin0 x0>r0i0", "end0 r0o0>y0"]);
    }

    #[test]
    fn mismatches_are_reported() {
        let unknown = flow("Fancy", 1, 1, &[(0, 1)]).unwrap_err();
        assert!(unknown.contains("owns regions, but its kind 'Fancy' implies no control flow"), "{unknown}");
        let count = flow("If", 1, 1, &[(0, 1), (0, 2)]).unwrap_err();
        assert!(
            count.contains("of its region 1 ('r') is 2; expected 1, the number of outputs of the operator"),
            "{count}"
        );
        assert!(
            flow("If", 1, 1, &[(2, 1)])
                .unwrap_err()
                .contains("is 2; expected at most 1, the number of inputs")
        );
        assert!(
            flow("Loop", 2, 1, &[(1, 2)])
                .unwrap_err()
                .contains("is 1; expected at least 2, the iteration number and the condition")
        );
        assert!(flow("Loop", 2, 1, &[(3, 1)]).unwrap_err().contains("is 1; expected at least 2"));
        assert!(
            flow("WHILE", 1, 1, &[(1, 1), (1, 1), (1, 1)])
                .unwrap_err()
                .contains("the number of regions is 3")
        );
        assert!(
            flow("WHILE", 1, 1, &[(1, 1), (2, 1)])
                .unwrap_err()
                .contains("expected 1, the number of inputs of the condition")
        );
    }
}
