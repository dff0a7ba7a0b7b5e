//! Reports which buffers need the memory of a plan and, with `--capacity`, whether the plan fits and what
//! would help.

use super::alternatives::{Alternatives, Batches};
use super::micro::Micro;
use crate::commands::choose;
use crate::commands::fit::Fit;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::report::{Report, bytes, named};
use plimsoll::assumptions::assumptions;
use plimsoll::model::graph::Role;
use plimsoll::model::{
    Bytes, Claim, Instance, OperatorId, Outcome, Silent, Spill, SpillProblem, Spilling, Step, live_at, load,
};
use plimsoll::run::run;
use serde_json::json;

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
    pub micro: Option<Micro>,
    pub asked: &'a Alternatives<'a>,
}

impl Planned<'_> {
    /// Adds the line about the step with the most live bytes and, if the command line gives a capacity, the
    /// lines about that capacity. Returns the exit code: 0 if this plan fits or no capacity is given, 1 if it
    /// is proved that no combination of order and layout fits, and 3 if this plan does not fit, but another
    /// may.
    pub fn check(self, report: &mut Report) -> Result<u8, Failure> {
        let Some(capacity) = self.asked.args.capacity.map(Bytes::new) else {
            self.needs(report);
            return Ok(ANSWERED);
        };
        if let Some(micro) = self.micro.as_ref().filter(|_| self.asked.args.write.is_none()) {
            micro.report(report);
        }
        let arena = self.micro.as_ref().map_or(self.arena, |micro| micro.total(micro.head));
        let fit = Fit { capacity, value: Some(arena), bound: self.total(self.bound) };
        if fit.spare().is_some() {
            fit.report(report, &self.fits(), "");
            self.needs(report);
            return Ok(ANSWERED);
        }
        let other = if fit.bound > capacity { None } else { self.asked.order()? };
        let (bound, reason) = match &other {
            Some(other) if other.bound > self.bound => (self.total(other.bound), &other.reason),
            _ => (fit.bound, &self.reason),
        };
        let fit = Fit { bound, ..fit };
        let (least, most, is_refuted) = (fit.least(), fit.most().unwrap_or_default(), bound > capacity);
        let other_arena = other.as_ref().map(|other| self.total(other.arena));
        report.extend(json!({
            // The plan of `--joint`; null if it was not computed or not found.
            "another_order": other_arena.map(|arena| json!({ "arena": arena, "fits": arena <= capacity })),
        }));
        let verdict = match other_arena {
            _ if is_refuted && self.total(Bytes::ZERO) > capacity => {
                format!("no order and no layout fits, at least {} short ({BESIDE})", bytes(least))
            }
            _ if is_refuted => {
                let apart = assumptions(&self.asked.run.liveness, &self.asked.import.graph)[0];
                format!(
                    "no order and no layout fits, at least {} short ({reason}), assuming that {apart}",
                    bytes(least)
                )
            }
            Some(arena) if arena <= capacity => {
                format!("this plan is {} short, but another order fits", bytes(most))
            }
            _ => format!("this plan is {} short; another order may fit", bytes(most)),
        };
        fit.report(report, "fits", &verdict);
        self.needs(report);
        let mut help = Vec::new();
        if let Some(arena) = other_arena.filter(|_| !is_refuted) {
            help.push(format!("another order (--joint) needs {}", verdict_on(arena, capacity)));
        }
        if self.total(Bytes::ZERO) <= capacity {
            help.extend(self.in_place(capacity, report)?);
            help.extend(self.batch(capacity, report)?);
            help.push(self.spill(capacity, report)?);
        }
        for (at, text) in help.iter().enumerate() {
            report.line(if at == 0 { "would help" } else { "" }, text);
        }
        Ok(if is_refuted { REFUTED } else { NOTHING_FOUND })
    }

    /// Returns the bytes of the whole arena for a plan whose tensors need `arena` bytes.
    fn total(&self, arena: Bytes) -> Bytes {
        self.micro.as_ref().map_or(arena, |micro| micro.total(arena))
    }

    /// Returns the bytes of a capacity that remain for tensors.
    fn space(&self, capacity: Bytes) -> Bytes {
        self.micro.as_ref().map_or(capacity, |micro| micro.space(capacity))
    }

    /// Describes a plan that fits, and what is not counted.
    fn fits(&self) -> String {
        let weights = self.asked.import.graph.bytes(Role::Weight);
        let has_all = self.asked.run.liveness.weights || weights == Bytes::ZERO;
        match &self.micro {
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

    /// Adds the step with the most live bytes, its operator and its buffers, the largest first.
    fn needs(&self, report: &mut Report) {
        let (peak, step) = load(self.instance);
        let mut live = live_at(self.instance, step);
        live.sort_by_key(|&id| (std::cmp::Reverse(self.instance.buffer(id).size()), id));
        let (operator, at) = (self.at)(step);
        let names: Vec<&str> = live.iter().map(|&id| self.instance.buffer(id).name()).collect();
        let import = self.asked.import;
        let place = operator.and_then(|id| import.places.get(id.index()));
        report.extend(json!({
            "needs": {
                "step": step,
                "operator": operator.map(|id| import.graph.called(id)),
                // Index of the operator in the model file, and of its tensors in a TFLite file.
                "index": place.map(|place| place.index),
                "reads": place.map(|place| &place.inputs),
                "writes": place.map(|place| &place.outputs),
                "live": peak,
                "buffers": names,
            },
        }));
        let place = place.map_or_else(String::new, |place| {
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
        report.line("needs", format_args!("{} at step {step}, {at}{place}: {list}", bytes(peak)));
    }

    /// Describes the effect of letting operators write in place. Returns `None` if they already do, if no
    /// such plan is found within the limits, or if writing in place does not lower the arena.
    fn in_place(&self, capacity: Bytes, report: &mut Report) -> Result<Option<String>, Failure> {
        let arena = self.asked.in_place()?.map(|tried| tried.arena).filter(|&arena| arena < self.arena);
        let arena = arena.map(|arena| self.total(arena));
        report.extend(json!({
            // The arena of `--in-place`; null if it is not lower, or was not computed.
            "in_place": arena,
        }));
        Ok(arena.map(|arena| format!("writing in place (--in-place) needs {}", verdict_on(arena, capacity))))
    }

    /// Describes the effect of a smaller batch, if the batch of the model can be reduced.
    fn batch(&self, capacity: Bytes, report: &mut Report) -> Result<Option<String>, Failure> {
        let found = self.asked.batch(self.space(capacity))?;
        let total = |(batch, arena)| (batch, self.total(arena));
        let found = found.map(|found| {
            let (fits, above) = (found.fits.map(total), found.above.map(total));
            Batches { fits, above, ..found }
        });
        report.extend(json!({
            // The largest batch that was planned and fits; null if there is none.
            "smaller_batch": found.as_ref().and_then(|found| found.fits).map(|(batch, arena)| json!({
                "batch": batch, "arena": arena,
            })),
        }));
        Ok(found.map(|found| match (found.fits, found.above) {
            (Some((batch, arena)), above) => {
                let above = above.map_or_else(String::new, |(batch, arena)| {
                    format!("; a batch of {batch} needs {}", verdict_on(arena, capacity))
                });
                let (now, fits) = (found.now, verdict_on(arena, capacity));
                format!("a batch of {batch} instead of {now} needs {fits}{above}")
            }
            (None, above) => {
                let arena = above.map_or(self.total(self.arena), |(_, arena)| arena);
                format!("no smaller batch fits: a batch of 1 needs {}", verdict_on(arena, capacity))
            }
        }))
    }

    /// Searches for the buffers to spill with the least traffic so that the others fit, under the order of
    /// the plan, and describes these buffers.
    fn spill(&self, capacity: Bytes, report: &mut Report) -> Result<String, Failure> {
        let entry = choose::named(&self.asked.registry.spilling, "exact", "spilling solver")?;
        let (setup, limits) = (self.asked.run.setup, self.asked.run.limits);
        let instance = self.instance.clone().with_capacity(Some(self.space(capacity)));
        let problem = SpillProblem::new(instance, self.traffic.clone()).map_err(Failure::input)?;
        let outcome: Outcome<Spilling> =
            run(entry, &problem, setup, limits, &mut Silent).map_err(Failure::internal)?;
        let spilled: Vec<_> = outcome.solution.iter().flat_map(Spill::spilled).collect();
        let names: Vec<&str> = spilled.iter().map(|&id| self.instance.buffer(id).name()).collect();
        report.extend(json!({
            "spill": {
                "claim": outcome.claim,
                "traffic": outcome.value,
                "lower_bound": outcome.lower_bound.value,
                "buffers": names,
            },
        }));
        Ok(match (outcome.claim, outcome.value) {
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
        })
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
