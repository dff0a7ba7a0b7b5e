//! `plan --capacity`: whether the plan fits, what needs the memory, and how much spilling would help.

use super::args::PlanArgs;
use crate::commands::choose;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::report::{Report, bytes, named};
use plimsoll::Registry;
use plimsoll::model::{
    Bytes, Claim, Entry, Instance, Outcome, Setup, Silent, Spill, SpillProblem, Spilling, Step, live_at, load,
};
use plimsoll::run::{Limits, run};
use serde_json::{Value, json};

/// Number of buffers listed per line of text; the JSON lists all.
const MOST: usize = 6;

/// A plan to compare with a capacity.
pub(super) struct Planned<'a> {
    /// The offset problem of the order, and the bytes that each buffer moves if spilled.
    pub instance: &'a Instance,
    pub traffic: Vec<Option<Bytes>>,
    pub arena: Bytes,
    /// A lower bound over all orders and layouts, and its reason.
    pub bound: Bytes,
    pub reason: String,
    /// Returns the name of the operator at a step.
    pub operator: &'a dyn Fn(Step) -> Option<String>,
}

impl Planned<'_> {
    /// If the command line gives a capacity, adds the lines about it. Returns the exit code: 1 if no order
    /// and no layout fits, and 3 if this plan does not fit, but another may.
    pub fn check(
        &self,
        args: &PlanArgs,
        registry: &Registry,
        (setup, limits): (Setup, Limits),
        report: &mut Report,
    ) -> Result<u8, Failure> {
        let Some(capacity) = args.capacity.map(Bytes::new) else { return Ok(ANSWERED) };
        let over = |value: Bytes| Bytes::new(value.get().saturating_sub(capacity.get()));
        let (least, most) = (over(self.bound), over(self.arena));
        let is_refuted = least > Bytes::ZERO;
        let fits = if most == Bytes::ZERO {
            json!(true)
        } else if is_refuted {
            json!(false)
        } else {
            Value::Null
        };
        report.extend(json!({
            "capacity": capacity,
            // Null if this plan does not fit, but another may.
            "fits": fits,
            "shortfall_min": least,
            "shortfall_max": most,
        }));
        if most == Bytes::ZERO {
            let spare = bytes(Bytes::new(capacity.get() - self.arena.get()));
            report.line("capacity", format_args!("{}: fits, {spare} to spare", bytes(capacity)));
            return Ok(ANSWERED);
        }
        let verdict = if is_refuted {
            format!("no order and no layout fits, at least {} short ({})", bytes(least), self.reason)
        } else {
            format!("this plan is {} short; another order may fit (see --joint)", bytes(most))
        };
        report.line("capacity", format_args!("{}: {verdict}", bytes(capacity)));
        self.needs(report);
        let entry = choose::named(&registry.spilling, "exact", "spilling solver")?;
        self.spill(capacity, entry, (setup, limits), report)?;
        Ok(if is_refuted { REFUTED } else { NOTHING_FOUND })
    }

    /// Adds the step with the most live bytes, its operator and its buffers, the largest first.
    fn needs(&self, report: &mut Report) {
        let (peak, step) = load(self.instance);
        let mut live = live_at(self.instance, step);
        live.sort_by_key(|&id| (std::cmp::Reverse(self.instance.buffer(id).size()), id));
        let operator = (self.operator)(step);
        let names: Vec<&str> = live.iter().map(|&id| self.instance.buffer(id).name()).collect();
        report.extend(json!({
            "needs": { "step": step, "operator": operator, "live": peak, "buffers": names },
        }));
        let at = operator.map_or_else(|| format!("step {step}"), |name| format!("step {step}, '{name}'"));
        let list = named(self.instance, &live, MOST);
        report.line("needs", format_args!("{} at {at}: {list}", bytes(peak)));
    }

    /// Adds the least traffic of spilling, in this order.
    fn spill(
        &self,
        capacity: Bytes,
        entry: &Entry<Spilling>,
        (setup, limits): (Setup, Limits),
        report: &mut Report,
    ) -> Result<(), Failure> {
        let instance = self.instance.clone().with_capacity(Some(capacity));
        let problem = SpillProblem::new(instance, self.traffic.clone()).map_err(Failure::input)?;
        let outcome: Outcome<Spilling> =
            run(entry, &problem, setup, limits, &mut Silent).result.map_err(Failure::internal)?;
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
        let text = match (outcome.claim, outcome.value) {
            (Claim::Infeasible, _) => "no choice of buffers to spill makes the rest fit".to_owned(),
            (_, None) => "no solution found within the limits".to_owned(),
            (claim, Some(traffic)) => {
                let (count, list) = (spilled.len(), named(self.instance, &spilled, MOST));
                let buffers = if count == 1 { "buffer" } else { "buffers" };
                format!("spilling {count} {buffers} moves {}, {claim}: {list}", bytes(traffic))
            }
        };
        report.line("would help", text);
        Ok(())
    }
}
