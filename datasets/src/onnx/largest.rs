//! The largest sizes of the tensors of a body over several passes.

use super::dims::Change;
use super::program::{Program, Step};
use super::run::Evaluation;
use crate::import::Source;
use crate::operators::Share;
use crate::operators::value::Fact;
use plimsoll_model::graph::{AliasKind, Role};
use std::ops::Range;

/// For each tensor of a body, the fact with the largest size over all passes. For each operator, the sharing
/// that is possible in all passes.
pub struct Largest {
    slots: Range<usize>,
    blocks: Range<usize>,
    kept: Vec<Kept>,
    /// Per operator, in the order of the blocks.
    shares: Vec<(Vec<Share>, Option<u64>)>,
    /// The messages of the pass with the largest total size.
    lines: [Vec<String>; 3],
    total: u128,
    /// The numbers of messages, of tensors without a size, of pruned branches, and of tracked elements when
    /// a pass begins.
    start: ([usize; 3], usize, usize, u64),
    passes: usize,
}

struct Kept {
    fact: Fact,
    bytes: Option<u64>,
    source: Source,
    change: Change,
    /// True if the tensor belongs to a branch that runs in no pass.
    idle: bool,
    /// True if the size differs between passes.
    varies: bool,
}

impl Largest {
    /// Prepares the passes over a body, and discards the facts of earlier passes.
    pub fn new(run: &mut Evaluation, body: usize) -> Self {
        let block = &run.program.blocks[body];
        let (slots, blocks) = (block.slots.clone(), block.blocks.clone());
        for slot in run.program.slots[slots.clone()].iter_mut().filter(|slot| slot.role != Role::Weight) {
            (slot.fact, slot.bytes, slot.source, slot.change) =
                (Fact::default(), None, Source::Inferred, Change::None);
        }
        let counts = lines(run).map(|list| list.len());
        let start = (counts, run.void, run.pruned, run.folded);
        let (kept, shares, lines) = Default::default();
        Self { slots, blocks, kept, shares, lines, total: 0, start, passes: 0 }
    }

    pub fn begin(&mut self, run: &mut Evaluation) {
        (_, run.void, run.pruned, run.folded) = self.start;
    }

    /// Adds the facts after a pass. O(t + s) for t tensors and s operands of the body.
    pub fn end(&mut self, run: &mut Evaluation) {
        let counts = self.start.0;
        let mut at = 0;
        let fresh = lines(run).map(|list| {
            at += 1;
            list.split_off(counts[at - 1])
        });
        let slots = &run.program.slots[self.slots.clone()];
        let total = slots.iter().map(|slot| u128::from(slot.bytes.unwrap_or(0))).sum();
        if self.passes == 0 || total > self.total {
            (self.lines, self.total) = (fresh, total);
        }
        let new = slots.iter().map(|slot| {
            let (fact, bytes, source, change) = (slot.fact.clone(), slot.bytes, slot.source, slot.change);
            Kept { fact, bytes, source, change, idle: slot.idle, varies: false }
        });
        if self.passes == 0 {
            self.kept = new.collect();
        } else {
            self.kept.iter_mut().zip(new).for_each(|(kept, new)| kept.add(new));
        }
        self.end_steps(&run.program);
        self.passes += 1;
    }

    fn end_steps(&mut self, program: &Program) {
        let steps = program.blocks[self.blocks.clone()].iter().flat_map(|block| &block.steps);
        if self.passes == 0 {
            let fitting =
                |step: &Step| step.shares.iter().copied().filter(|&s| fits(program, step, s)).collect();
            self.shares = steps.map(|step| (fitting(step), step.cost)).collect();
            return;
        }
        for ((shares, cost), step) in self.shares.iter_mut().zip(steps) {
            shares.retain(|share| step.shares.contains(share) && fits(program, step, *share));
            *cost = (*cost).max(step.cost);
        }
    }

    /// Writes the largest sizes back. If `uncertain` is true, sizes that differ between passes are upper
    /// bounds.
    pub fn put(self, run: &mut Evaluation, uncertain: bool) {
        for (list, new) in lines(run).into_iter().zip(self.lines) {
            for line in new {
                if !list.contains(&line) {
                    list.push(line);
                }
            }
        }
        if self.passes < 2 {
            return;
        }
        for (slot, kept) in run.program.slots[self.slots].iter_mut().zip(self.kept) {
            let source = if uncertain && kept.varies { Source::Assumed } else { kept.source };
            (slot.fact, slot.bytes, slot.source, slot.change) = (kept.fact, kept.bytes, source, kept.change);
        }
        let steps = run.program.blocks[self.blocks].iter_mut().flat_map(|block| &mut block.steps);
        for (step, (shares, cost)) in steps.zip(self.shares) {
            (step.shares, step.cost) = (shares, cost);
        }
    }
}

impl Kept {
    fn add(&mut self, new: Self) {
        self.source = self.source.max(new.source);
        self.change = self.change.max(new.change);
        self.varies |= self.bytes != new.bytes || self.fact.shape != new.fact.shape;
        // The size in a branch that does not run does not count if the branch runs in another pass.
        if self.idle && !new.idle || self.idle == new.idle && new.bytes > self.bytes {
            (self.fact, self.bytes, self.idle) = (new.fact, new.bytes, new.idle);
        }
    }
}

fn lines<'r>(run: &'r mut Evaluation) -> [&'r mut Vec<String>; 3] {
    [&mut run.assumed, &mut run.declared, &mut run.contradictions]
}

/// Returns true if sizes and shapes allow the first output of a step to share the memory of an input. Parts
/// begin at the same element in all passes, whatever their sizes.
fn fits(program: &Program, step: &Step, share: Share) -> bool {
    let (at, kind) = match share {
        Share::View(at) => (at, AliasKind::View),
        Share::Over(at) => (at, AliasKind::InPlace),
        Share::Part { .. } => return true,
    };
    let (Some(&Some(input)), Some(&Some(output))) = (step.inputs.get(at), step.outputs.first()) else {
        return false;
    };
    program.slots[input].fits(&program.slots[output], kind)
}
