//! Explicit handovers between `If`, `Loop` and `Scan` and their bodies. They are needed where positions do
//! not determine the handovers. For example, absent tensors are not part of the graph, so the positions of
//! the tensors after them shift.

use super::program::{Block, Program, Step};
use super::proto::plain;
use plimsoll_model::TensorId;
use plimsoll_model::graph::{Handover, Moment};

/// Returns the handovers of a step, or `None` if they follow from the conventions of the graph or the body
/// does not match. A `Scan` always has explicit handovers.
pub fn handovers(program: &Program, step: &Step) -> Option<Vec<Handover>> {
    if !plain(&step.node.domain) {
        return None;
    }
    let body = || step.blocks.first().map(|&block| &program.blocks[block]).filter(|_| step.blocks.len() == 1);
    match step.node.op_type.as_str() {
        "If" if is_gapped(program, step, 0) => Some(branches(program, step)),
        "Loop" if is_gapped(program, step, 1) || outgrows(program, step, body()?) => {
            repeat(program, step, body()?)
        }
        "Scan" => scan(program, step, body()?),
        _ => None,
    }
}

/// Returns true if an absent tensor shifts the others, or if the last results of a body are unused. The
/// first two inputs of a `Loop` are not passed to its body. The first `ahead` results of a body are not
/// outputs of its operator. In a `Loop`, the only such result is the condition.
fn is_gapped(program: &Program, step: &Step, ahead: usize) -> bool {
    let carried = step.inputs.iter().skip(2);
    let more = |&block: &usize| program.blocks[block].outputs.len() > step.outputs.len() + ahead;
    carried.chain(&step.outputs).any(Option::is_none) || step.blocks.iter().any(more)
}

/// Returns true if a carried value of a `Loop` is larger after the last iteration than in any iteration.
fn outgrows(program: &Program, step: &Step, body: &Block) -> bool {
    let given = body.inputs.iter().skip(2);
    given.zip(&step.outputs).any(|(&given, &output)| is_larger(program, output, given))
}

fn is_larger(program: &Program, output: Option<usize>, given: usize) -> bool {
    output.is_some_and(|output| program.slots[output].bytes > program.slots[given].bytes)
}

/// A list of handovers. [`List::add`] ignores handovers with an absent tensor.
struct List(Vec<Handover>);

impl List {
    fn add(&mut self, when: Moment, from: Option<usize>, to: Option<usize>, part: bool) {
        if let (Some(from), Some(to)) = (from, to) {
            self.0.push(Handover { when, from: TensorId::at(from), to: TensorId::at(to), part });
        }
    }

    /// Adds the handovers of a carried value: into the body, to the next iteration, and out of the loop. The
    /// memory of the value in the body cannot hold a larger result. Such a result leaves the loop directly.
    fn carry(
        &mut self,
        program: &Program,
        input: Option<usize>,
        (given, next): (usize, usize),
        output: Option<usize>,
    ) {
        self.add(Moment::Enter, input, Some(given), false);
        self.add(Moment::End(0), Some(next), Some(given), false);
        let last = if is_larger(program, output, given) { next } else { given };
        self.add(Moment::Exit, Some(last), output, false);
    }
}

fn at(list: &[Option<usize>], position: usize) -> Option<usize> {
    list.get(position).copied().flatten()
}

fn branches(program: &Program, step: &Step) -> Vec<Handover> {
    let mut list = List(Vec::new());
    for (region, &block) in step.blocks.iter().enumerate() {
        for (&from, &to) in program.blocks[block].outputs.iter().zip(&step.outputs) {
            list.add(Moment::End(region), Some(from), to, false);
        }
    }
    list.0
}

/// Returns the handovers of a `Loop`, or `None` if the body does not match the operator.
fn repeat(program: &Program, step: &Step, body: &Block) -> Option<Vec<Handover>> {
    let carried = step.inputs.len().saturating_sub(2);
    let (given, results) = (body.inputs.get(2..)?, body.outputs.get(1..)?);
    if given.len() != carried || results.len() < carried || step.outputs.len() > results.len() {
        return None;
    }
    let mut list = List(Vec::new());
    for (position, (&given, &next)) in given.iter().zip(results).enumerate() {
        let input = at(&step.inputs, position + 2);
        list.carry(program, input, (given, next), at(&step.outputs, position));
    }
    for (position, &row) in results.iter().enumerate().skip(carried) {
        list.add(Moment::End(0), Some(row), at(&step.outputs, position), true);
    }
    Some(list.0)
}

/// Returns the handovers of a `Scan`. States precede sliced inputs. Before version 9, an additional input
/// precedes the states.
fn scan(program: &Program, step: &Step, body: &Block) -> Option<Vec<Handover>> {
    let scanned = step.node.attribute("num_scan_inputs").and_then(|a| usize::try_from(a.i?).ok())?;
    let ahead = step.inputs.len().checked_sub(body.inputs.len()).filter(|&ahead| ahead < 2)?;
    let states = body.inputs.len().checked_sub(scanned)?;
    if body.outputs.len() < states || step.outputs.len() > body.outputs.len() {
        return None;
    }
    let mut list = List(Vec::new());
    for (position, &given) in body.inputs.iter().enumerate() {
        let input = at(&step.inputs, position + ahead);
        if position < states {
            list.carry(program, input, (given, body.outputs[position]), at(&step.outputs, position));
        } else {
            list.add(Moment::Begin(0), input, Some(given), true);
        }
    }
    for (position, &row) in body.outputs.iter().enumerate().skip(states) {
        list.add(Moment::End(0), Some(row), at(&step.outputs, position), true);
    }
    Some(list.0)
}
