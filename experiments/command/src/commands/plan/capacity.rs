//! Reports which buffers need the memory of a plan and, with `--capacity`, whether the plan fits and what
//! would help.

use super::alternatives::Alternatives;
use super::micro::Micro;
use crate::commands::choose;
use crate::commands::fit::Fit;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::report::{Printed, Text, bytes, named, names};
use plimsoll::assumptions::assumptions;
use plimsoll::model::graph::Role;
use plimsoll::model::{
    Bytes, Claim, Instance, OperatorId, Outcome, Silent, Spill, SpillProblem, Spilling, Step, live_at, load,
};
use plimsoll::run::run;
use serde::Serialize;

/// Maximum number of buffers listed in the text. The JSON report contains all of them.
const MOST: usize = 6;

/// The reason why no plan fits, if the arena is too small even without tensors.
const BESIDE: &str = "the data of the runtime alone";

/// A plan to compare with a capacity.
pub(super) struct Planned<'a> {
    /// The offset problem under the order of the plan.
    pub instance: &'a Instance,
    pub traffic: Vec<Option<Bytes>>,
    pub arena: Bytes,
    /// A lower bound over all orders and layouts, and its reason.
    pub bound: Bytes,
    pub reason: String,
    /// A function that returns the operator at a step, if any, and a description of the step.
    pub at: &'a dyn Fn(Step) -> (Option<OperatorId>, String),
    /// The arena of `tflite-micro`, if the plan is made for it.
    pub micro: Option<&'a Micro>,
    pub asked: &'a Alternatives<'a>,
}

/// Which buffers need the memory of a plan, and whether the plan fits.
#[derive(Default, Serialize)]
pub(super) struct Check<'a> {
    /// The plan of `--joint`, if this plan does not fit.
    #[serde(flatten)]
    another: Option<Another>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<Bytes>,
    #[serde(flatten)]
    fit: Option<Fit>,
    needs: Needs<'a>,
    #[serde(flatten)]
    help: Option<Help<'a>>,
    /// The descriptions of a plan that fits, and of one that does not.
    #[serde(skip)]
    verdict: [String; 2],
    /// The alternatives that would help.
    #[serde(skip)]
    lines: Vec<String>,
    /// The exit code: 0 if this plan fits or no capacity is given, 1 if it is proved that no combination of
    /// order and layout fits, and 3 if this plan does not fit, but another may.
    #[serde(skip)]
    pub code: u8,
}

#[derive(Serialize)]
struct Another {
    /// `None` if the plan was not computed or not found.
    another_order: Option<AnotherOrder>,
}

#[derive(Serialize)]
struct AnotherOrder {
    arena: Bytes,
    fits: bool,
}

/// The step with the most live bytes.
#[derive(Default, Serialize)]
struct Needs<'a> {
    step: Step,
    operator: Option<String>,
    /// Index of the operator in the model file, and of its tensors in a `TFLite` file.
    index: Option<usize>,
    reads: Option<&'a [i32]>,
    writes: Option<&'a [i32]>,
    live: Bytes,
    /// The live buffers, the largest first.
    buffers: Vec<&'a str>,
    #[serde(skip)]
    line: String,
}

/// Alternatives to a plan that does not fit.
#[derive(Serialize)]
struct Help<'a> {
    /// The arena of `--in-place`; `None` if it is not lower, or was not computed.
    in_place: Option<Bytes>,
    /// The largest batch that was planned and fits.
    smaller_batch: Option<BatchRow>,
    spill: SpillRow<'a>,
}

#[derive(Serialize)]
struct BatchRow {
    batch: u64,
    arena: Bytes,
}

#[derive(Serialize)]
struct SpillRow<'a> {
    claim: Claim,
    traffic: Option<Bytes>,
    lower_bound: Bytes,
    buffers: Vec<&'a str>,
}

impl Printed for Check<'_> {
    fn print(&self, text: &mut Text) {
        if let Some(fit) = self.fit {
            let [fits, short] = &self.verdict;
            fit.print(text, fits, short);
        }
        text.line("needs", &self.needs.line);
        for (at, line) in self.lines.iter().enumerate() {
            text.line(if at == 0 { "would help" } else { "" }, line);
        }
    }
}

impl<'a> Planned<'a> {
    /// Finds the step with the most live bytes and, if the command line gives a capacity, compares the plan
    /// with it.
    pub fn check(self) -> Result<Check<'a>, Failure> {
        let needs = self.needs();
        let Some(capacity) = self.asked.args.capacity.map(Bytes::new) else {
            return Ok(Check { needs, code: ANSWERED, ..Check::default() });
        };
        let arena = self.micro.map_or(self.arena, |micro| micro.total(micro.head));
        let bound = self.total(self.bound);
        let fit = Fit::new(capacity, Some(arena), Some(bound));
        let check = Check { capacity: Some(capacity), fit: Some(fit), needs, ..Check::default() };
        if fit.spare.is_some() {
            return Ok(Check { verdict: [self.fits(), String::new()], code: ANSWERED, ..check });
        }
        let other = if bound > capacity { None } else { self.asked.order()? };
        let (bound, reason) = match &other {
            Some(other) if other.bound > self.bound => (self.total(other.bound), &other.reason),
            _ => (bound, &self.reason),
        };
        let fit = Fit::new(capacity, Some(arena), Some(bound));
        let [least, most] =
            [fit.shortfall_min, fit.shortfall_max].map(|short| bytes(short.unwrap_or_default()));
        let is_refuted = bound > capacity;
        let other_arena = other.as_ref().map(|other| self.total(other.arena));
        let verdict = match other_arena {
            _ if is_refuted && self.total(Bytes::ZERO) > capacity => {
                format!("no order and no layout fits, at least {least} short ({BESIDE})")
            }
            _ if is_refuted => {
                let apart = assumptions(&self.asked.run.liveness, &self.asked.import.graph)[0];
                format!(
                    "no order and no layout fits, at least {least} short ({reason}), assuming that {apart}"
                )
            }
            Some(arena) if arena <= capacity => format!("this plan is {most} short, but another order fits"),
            _ => format!("this plan is {most} short; another order may fit"),
        };
        let mut lines = Vec::new();
        if let Some(arena) = other_arena.filter(|_| !is_refuted) {
            lines.push(format!("another order (--joint) needs {}", verdict_on(arena, capacity)));
        }
        let has_space = self.total(Bytes::ZERO) <= capacity;
        let help = has_space.then(|| self.help(capacity, &mut lines)).transpose()?;
        let another_order = other_arena.map(|arena| AnotherOrder { arena, fits: arena <= capacity });
        let another = Some(Another { another_order });
        let code = if is_refuted { REFUTED } else { NOTHING_FOUND };
        let verdict = [String::new(), verdict];
        Ok(Check { another, fit: Some(fit), help, verdict, lines, code, ..check })
    }

    fn help(&self, capacity: Bytes, lines: &mut Vec<String>) -> Result<Help<'a>, Failure> {
        let in_place = self.in_place()?;
        lines.extend(
            in_place
                .map(|arena| format!("writing in place (--in-place) needs {}", verdict_on(arena, capacity))),
        );
        let smaller_batch = self.batch(capacity, lines)?;
        Ok(Help { in_place, smaller_batch, spill: self.spill(capacity, lines)? })
    }

    /// Returns the bytes of the whole arena for a plan whose tensors need `arena` bytes.
    fn total(&self, arena: Bytes) -> Bytes {
        self.micro.map_or(arena, |micro| micro.total(arena))
    }

    /// Returns the bytes of a capacity that remain for tensors.
    fn space(&self, capacity: Bytes) -> Bytes {
        self.micro.map_or(capacity, |micro| micro.space(capacity))
    }

    /// Describes a plan that fits, and what is not counted.
    fn fits(&self) -> String {
        let weights = self.asked.import.graph.bytes(Role::Weight);
        let has_all = self.asked.run.liveness.weights || weights == Bytes::ZERO;
        match self.micro {
            Some(micro) => {
                let rest = micro.uncounted().map_or_else(String::new, |rest| format!(" {rest}"));
                format!("fits into the arena of tflite-micro{rest}")
            }
            None if !self.asked.import.tensors.is_empty() => {
                let weights = if has_all { "" } else { "the weights and " };
                format!("fits without {weights}the persistent data of the runtime")
            }
            None if has_all => "fits".to_owned(),
            None => "fits without the weights".to_owned(),
        }
    }

    /// Returns the step with the most live bytes, its operator and its buffers, the largest first.
    fn needs(&self) -> Needs<'a> {
        let (peak, step) = load(self.instance);
        let mut live = live_at(self.instance, step);
        live.sort_by_key(|&id| (std::cmp::Reverse(self.instance.buffer(id).size()), id));
        let (operator, at) = (self.at)(step);
        let import = self.asked.import;
        let place = operator.and_then(|id| import.places.get(id.index()));
        let shown = place.map_or_else(String::new, |place| {
            let list = |tensors: &[i32]| tensors.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
            match (list(&place.inputs), list(&place.outputs)) {
                (reads, writes) if reads.is_empty() && writes.is_empty() => {
                    format!(" (operator {} of the file)", place.index)
                }
                (reads, writes) => {
                    format!(" (operator {} of the file: tensors {reads} -> {writes})", place.index)
                }
            }
        });
        let list = named(self.instance, &live, MOST);
        Needs {
            step,
            operator: operator.map(|id| import.graph.called(id)),
            index: place.map(|place| place.index),
            reads: place.map(|place| place.inputs.as_slice()),
            writes: place.map(|place| place.outputs.as_slice()),
            live: peak,
            buffers: names(self.instance, &live),
            line: format!("{} at step {step}, {at}{shown}: {list}", bytes(peak)),
        }
    }

    /// Returns the arena if operators write in place. Returns `None` if they already do, if no such plan is
    /// found within the limits, or if writing in place does not lower the arena.
    fn in_place(&self) -> Result<Option<Bytes>, Failure> {
        let arena = self.asked.in_place()?.map(|tried| tried.arena).filter(|&arena| arena < self.arena);
        Ok(arena.map(|arena| self.total(arena)))
    }

    /// Finds the largest batch that fits, and describes the effect of a smaller batch, if the batch of the
    /// model can be reduced.
    fn batch(&self, capacity: Bytes, lines: &mut Vec<String>) -> Result<Option<BatchRow>, Failure> {
        let Some(found) = self.asked.batch(self.space(capacity))? else { return Ok(None) };
        let needs = |arena: Bytes| verdict_on(self.total(arena), capacity);
        lines.push(match (found.fits, found.above) {
            (Some((batch, arena)), above) => {
                let above = above.map_or_else(String::new, |(batch, arena)| {
                    format!("; a batch of {batch} needs {}", needs(arena))
                });
                format!("a batch of {batch} instead of {} needs {}{above}", found.now, needs(arena))
            }
            (None, above) => {
                let arena = above.map_or(self.arena, |(_, arena)| arena);
                format!("no smaller batch fits: a batch of 1 needs {}", needs(arena))
            }
        });
        Ok(found.fits.map(|(batch, arena)| BatchRow { batch, arena: self.total(arena) }))
    }

    /// Searches for the buffers to spill with the least traffic so that the others fit, under the order of
    /// the plan, and describes these buffers.
    fn spill(&self, capacity: Bytes, lines: &mut Vec<String>) -> Result<SpillRow<'a>, Failure> {
        let entry = choose::named(&self.asked.registry.spilling, "exact", "spilling solver")?;
        let (setup, limits) = (self.asked.run.setup, self.asked.run.limits);
        let instance = self.instance.clone().with_capacity(Some(self.space(capacity)));
        let problem = SpillProblem::new(instance, self.traffic.clone()).map_err(Failure::input)?;
        let outcome: Outcome<Spilling> =
            run(entry, &problem, setup, limits, &mut Silent).map_err(Failure::internal)?;
        let spilled: Vec<_> = outcome.solution.iter().flat_map(Spill::spilled).collect();
        lines.push(match (outcome.claim, outcome.value) {
            (Claim::Infeasible, _) => "no choice of buffers to spill makes the rest fit".to_owned(),
            (_, None) => "no solution found within the limits".to_owned(),
            (claim, Some(traffic)) => {
                let (count, list) = (spilled.len(), named(self.instance, &spilled, MOST));
                let buffers = if count == 1 { "buffer" } else { "buffers" };
                format!(
                    "spilling {count} {buffers} moves {}, {claim} (on-chip staging not counted): {list}",
                    bytes(traffic)
                )
            }
        });
        let Outcome { claim, value: traffic, lower_bound, .. } = outcome;
        let buffers = names(self.instance, &spilled);
        Ok(SpillRow { claim, traffic, lower_bound: lower_bound.value, buffers })
    }
}

/// Compares an arena with the capacity.
fn verdict_on(arena: Bytes, capacity: Bytes) -> String {
    let needs = bytes(arena);
    match arena.get().checked_sub(capacity.get()) {
        None | Some(0) => {
            format!("{needs} and fits with {} to spare", bytes(Bytes::new(capacity.get() - arena.get())))
        }
        Some(short) => format!("{needs}, {} short", bytes(Bytes::new(short))),
    }
}
