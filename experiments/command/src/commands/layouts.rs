//! Reads, checks and describes answers to an instance.

use super::best::Best;
use crate::args::note_columns;
use crate::failure::Failure;
use crate::report::{Report, bytes, named, size};
use plimsoll::model::csv::{Given, read_answer_file};
use plimsoll::model::{BufferId, Bytes, Instance, InstanceProblem, Step, Violation};
use plimsoll::{Diagnosis, ExtentSection};
use plimsoll_lab::report::{gap_percent, percent};
use serde_json::{Value, json};
use std::path::Path;

/// Maximum number of buffers named in a line of text, and of lines that list violations. The JSON report
/// contains all of them.
const MOST: usize = 8;

/// Reads an answer, and notes ignored columns on standard error.
pub fn read(path: &Path, instance: &Instance) -> Result<Given, Failure> {
    let noted = read_answer_file(path, instance)?;
    note_columns(path, &noted);
    Ok(noted.value)
}

/// Returns one line per violation; all buffers above the capacity share a line. If there are more than
/// `MOST` lines, a final line counts the others.
pub fn lines_of(violations: &[Violation]) -> Vec<String> {
    let over = |one: &&Violation| matches!(one, Violation::OverCapacity { .. });
    let end = |one: &&Violation| match one {
        Violation::OverCapacity { end, .. } => *end,
        _ => Bytes::ZERO,
    };
    let above: Vec<&Violation> = violations.iter().filter(over).collect();
    let mut lines: Vec<String> =
        violations.iter().filter(|one| above.len() < 2 || !over(one)).map(ToString::to_string).collect();
    if let Some(worst) = above.iter().copied().max_by_key(end).filter(|_| above.len() > 1) {
        lines.push(format!("{} buffers end above the capacity; the worst: {worst}", above.len()));
    }
    if lines.len() > MOST {
        let more = lines.len() - MOST;
        lines.truncate(MOST);
        lines.push(format!("and {more} more (--json lists all)"));
    }
    lines
}

/// A checked answer compared with the best bound.
pub struct Compared {
    pub violations: Vec<Violation>,
    diagnosis: Diagnosis,
    gap_percent: Option<f64>,
    is_optimum_known: bool,
}

impl Compared {
    /// Checks an answer and compares it with the best known bound.
    pub fn of<P>(instance: &Instance, answer: &P::Solution, best: &Best<P>) -> Self
    where
        P: InstanceProblem,
    {
        let violations = P::check(instance, answer);
        let counted = violations.iter().any(|one| matches!(one, Violation::Count { .. }));
        let pieces = if counted { vec![Vec::new(); instance.len()] } else { P::pieces(instance, answer) };
        let diagnosis = Diagnosis::of(instance, &pieces, best.bound.value);
        let gap_percent = gap_percent(diagnosis.peak.get(), best.bound.value.get()).filter(|_| best.exists());
        Self { violations, diagnosis, gap_percent, is_optimum_known: best.is_optimal() }
    }

    /// Returns the verdict on the answer: `invalid`, `too large`, `optimal`, `above the optimum`, or `open`.
    pub fn verdict(&self) -> &'static str {
        match () {
            () if !self.violations.is_empty() => Violation::verdict(&self.violations),
            () if self.diagnosis.excess() == Bytes::ZERO => "optimal",
            () if self.is_optimum_known => "above the optimum",
            () => "open",
        }
    }

    /// Returns the members of a report on this answer. Sections above the bound are included only
    /// if `with_sections` is true, because there may be many.
    pub fn members(&self, instance: &Instance, with_sections: bool) -> Value {
        let own = &self.diagnosis;
        let names = |ids: &[BufferId]| ids.iter().map(|&id| instance.buffer(id).name()).collect::<Vec<_>>();
        let section = |one: &ExtentSection| {
            json!({
                "lower": one.steps.lower,
                "upper": one.steps.upper,
                "extent": one.extent,
                "live": one.live,
                "free": one.free(),
            })
        };
        let mut members = json!({
            "valid": self.violations.is_empty(),
            "violations": self.violations.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "peak": own.peak,
            "gap_bytes": own.excess(),
            "gap_percent": self.gap_percent,
            "verdict": self.verdict(),
            "above_bound": names(&own.above),
            "sections_above_bound": [],
            "at_peak": names(&own.at_peak),
            "load_step": own.load_step,
            "at_load": names(&own.at_load),
        });
        if with_sections {
            // The macro would copy the list.
            members["sections_above_bound"] = own.above_bound().map(section).collect();
        }
        members
    }

    /// Adds the line with the gap in bytes and percent.
    pub fn gap(&self, report: &mut Report) {
        let percent = self.gap_percent.map_or_else(String::new, |gap| format!(", {} %", percent(gap)));
        report.line("gap", format_args!("{}{percent}: {}", bytes(self.diagnosis.excess()), self.verdict()));
    }

    /// Adds the lines that explain the gap, if there is one, and a line that lists the buffers that are live
    /// at the step with the most live bytes.
    pub fn reasons(&self, instance: &Instance, report: &mut Report) {
        let own = &self.diagnosis;
        if own.excess() > Bytes::ZERO {
            self.losses(instance, report);
        }
        report.line("load", live(instance, &own.at_load, own.load_step));
    }

    /// Adds the buffers that end above the bound, and the steps at which bytes are free.
    fn losses(&self, instance: &Instance, report: &mut Report) {
        let own = &self.diagnosis;
        let count = own.above.len();
        let ends = if count == 1 { "buffer ends" } else { "buffers end" };
        let names = named(instance, &own.above, MOST);
        report.line("above bound", format_args!("{count} {ends} above {}: {names}", bytes(own.bound)));
        if let Some(worst) = own.worst() {
            if !worst.steps.contains(own.load_step) {
                report.line("at peak", live(instance, &own.at_peak, worst.steps.lower));
            }
            report.line("lost at peak", format_args!("{} are free at steps {}", free(worst), worst.steps));
        }
        let most = own.above_bound().max_by_key(|one| (one.free(), std::cmp::Reverse(one.steps)));
        if let Some(most) = most.filter(|most| own.worst().is_some_and(|worst| worst.free() < most.free())) {
            report.line("largest loss", format_args!("{} are free at steps {}", free(most), most.steps));
        }
    }
}

/// Names the buffers that are live at a step, as in `6 bytes are live at step 3: a (4 bytes), b (2 bytes)`.
fn live(instance: &Instance, buffers: &[BufferId], step: Step) -> String {
    let sum: u64 = buffers.iter().map(|&id| instance.buffer(id).size().get()).sum();
    format!("{} are live at step {step}: {}", bytes(Bytes::new(sum)), named(instance, buffers, MOST))
}

/// Describes how many of the bytes below the extent of a section are free, as in `4 of 12 bytes`.
fn free(section: &ExtentSection) -> String {
    format!("{} of {}", size(section.free()), bytes(section.extent))
}
