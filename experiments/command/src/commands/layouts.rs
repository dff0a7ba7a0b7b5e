//! Reads, checks and describes answers to an instance.

use super::best::Best;
use crate::args::note_columns;
use crate::failure::Failure;
use crate::report::{Text, bytes, named, names, size};
use plimsoll::model::InstanceProblem;
use plimsoll::model::csv::{Given, read_answer_file};
use plimsoll::model::{BufferId, Bytes, Instance, Step, Violation};
use plimsoll::{Diagnosis, ExtentSection, verdict};
use plimsoll_lab::report::{gap_percent, percent};
use serde::Serialize;
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
        verdict(&self.violations, self.diagnosis.peak, self.diagnosis.bound, self.is_optimum_known)
    }

    /// Returns the part of a report that compares this answer with the bound. Sections above the bound are
    /// included only if `with_sections` is true, because there may be many.
    pub fn distance<'a>(&'a self, instance: &'a Instance, with_sections: bool) -> Distance<'a> {
        let own = &self.diagnosis;
        let section = |one: &ExtentSection| SectionRow {
            lower: one.steps.lower,
            upper: one.steps.upper,
            extent: one.extent,
            live: one.live,
            free: one.free(),
        };
        let sections = own.above_bound().filter(|_| with_sections).map(section);
        Distance {
            gap_bytes: Some(own.excess().get() as i64),
            gap_percent: self.gap_percent,
            verdict: self.verdict(),
            above_bound: names(instance, &own.above),
            sections_above_bound: sections.collect(),
            at_peak: names(instance, &own.at_peak),
            load_step: own.load_step,
            at_load: names(instance, &own.at_load),
        }
    }

    /// Returns the peak of the answer.
    pub fn peak(&self) -> Bytes {
        self.diagnosis.peak
    }

    /// Returns the violations as text.
    pub fn violations(&self) -> Vec<String> {
        self.violations.iter().map(ToString::to_string).collect()
    }

    /// Adds the line with the gap in bytes and percent.
    pub fn gap(&self, text: &mut Text) {
        let percent = self.gap_percent.map_or_else(String::new, |gap| format!(", {} %", percent(gap)));
        text.line("gap", format_args!("{}{percent}: {}", bytes(self.diagnosis.excess()), self.verdict()));
    }

    /// Adds the lines that explain the gap, if there is one, and a line that lists the buffers that are live
    /// at the step with the most live bytes.
    pub fn reasons(&self, instance: &Instance, text: &mut Text) {
        let own = &self.diagnosis;
        if own.excess() > Bytes::ZERO {
            self.losses(instance, text);
        }
        text.line("load", live(instance, &own.at_load, own.load_step));
    }

    /// Adds the buffers that end above the bound, and the steps at which bytes are free.
    fn losses(&self, instance: &Instance, text: &mut Text) {
        let own = &self.diagnosis;
        let count = own.above.len();
        let ends = if count == 1 { "buffer ends" } else { "buffers end" };
        let names = named(instance, &own.above, MOST);
        text.line("above bound", format_args!("{count} {ends} above {}: {names}", bytes(own.bound)));
        if let Some(worst) = own.worst() {
            if !worst.steps.contains(own.load_step) {
                text.line("at peak", live(instance, &own.at_peak, worst.steps.lower));
            }
            text.line("lost at peak", format_args!("{} are free at steps {}", free(worst), worst.steps));
        }
        let most = own.above_bound().max_by_key(|one| (one.free(), std::cmp::Reverse(one.steps)));
        if let Some(most) = most.filter(|most| own.worst().is_some_and(|worst| worst.free() < most.free())) {
            text.line("largest loss", format_args!("{} are free at steps {}", free(most), most.steps));
        }
    }
}

/// An answer compared with the best bound, as part of a report.
#[derive(Serialize)]
pub struct Distance<'a> {
    pub gap_bytes: Option<i64>,
    pub gap_percent: Option<f64>,
    pub verdict: &'static str,
    /// The buffers that end above the bound.
    pub above_bound: Vec<&'a str>,
    pub sections_above_bound: Vec<SectionRow>,
    pub at_peak: Vec<&'a str>,
    /// The step with the most live bytes, and the buffers that are live there.
    pub load_step: Step,
    pub at_load: Vec<&'a str>,
}

/// Steps between which the extent of a layout does not change.
#[derive(Serialize)]
pub struct SectionRow {
    lower: Step,
    upper: Step,
    extent: Bytes,
    live: Bytes,
    free: Bytes,
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
