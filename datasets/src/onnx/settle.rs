//! Determines the final fact about each tensor, and collects messages about assumptions and contradictions.
//! If a shape cannot be inferred, an option can give it. Without such an option, the declared shape is used,
//! unless other options invalidate it. If no shape is available, an option can give the size.

use super::dims::Change;
use super::open::argument;
use super::run::{Evaluation, Origin};
use crate::import::{ImportProblem, Source};
use crate::operators::element::{Element, STRING_BYTES};
use crate::operators::value::{FOLD_TOTAL, Fact, RANK_LIMIT, Reason, show};

/// The maximum number of printed lines of one kind.
const LISTED: usize = 8;

impl Evaluation<'_, '_> {
    /// Determines the final fact about a tensor and its size in bytes. `fact` is the inferred fact.
    pub fn settle(&mut self, tensor: usize, mut fact: Fact, origin: &Origin) -> Result<(), ImportProblem> {
        let mut source = origin.source;
        if fact.shape.as_ref().is_some_and(|shape| shape.len() > RANK_LIMIT) {
            fact = Fact { element: fact.element, ..Fact::default() };
        }
        let slot = &self.program.slots[tensor];
        match (&slot.given, &fact.shape) {
            (Some(given), Some(shape)) if given != shape => {
                let option = argument("--tensor-shape", &format!("{}={}", slot.name, show(given)));
                let reason = format!("operator {} produces {}", (origin.subject)(), show(shape));
                return Err(ImportProblem::option(option, reason));
            }
            (Some(given), None) => {
                fact.shape = Some(given.clone());
                source = source.max(Source::Assumed);
            }
            _ => {}
        }
        let inferred = fact.shape.is_some() || fact.bytes.is_some();
        let slot = &self.program.slots[tensor];
        if inferred {
            self.compare(tensor, &fact, origin);
        } else if slot.declared.shape.is_some() && origin.may_take(slot) {
            fact.shape.clone_from(&slot.declared.shape);
            source = source.max(Source::Declared);
            self.note_declared(tensor, origin);
        }
        if fact.bound {
            source = Source::Assumed;
        }
        fact.element = fact.element.or(self.program.slots[tensor].declared.element);
        let strings = fact.element == Some(Element::STRING) && fact.bytes.is_none();
        let sized = match self.options.assume_bytes {
            Some(_) if strings => Err(Reason::unknown("strings have no fixed size")),
            _ => fact.size(self.float),
        };
        if strings && sized.is_ok() && !origin.dead {
            let line =
                format!("tensors of type string have {STRING_BYTES} bytes per element, as std::string has");
            if !self.assumed.contains(&line) {
                self.assumed.push(line);
            }
        }
        let bytes = match sized {
            Ok(bytes) => bytes,
            Err(unknown) => {
                let bytes = self.unsized_tensor(tensor, origin, &unknown)?;
                (fact.bytes, source) = (Some(bytes), Source::Assumed);
                bytes
            }
        };
        let elements = fact.value.as_ref().map_or(0, |value| value.len() as u64);
        self.folded += elements;
        if self.folded > FOLD_TOTAL {
            fact.value = None;
        }
        let slot = &mut self.program.slots[tensor];
        (slot.fact, slot.bytes, slot.source, slot.change) = (fact, Some(bytes), source, origin.change);
        slot.idle = origin.dead;
        Ok(())
    }

    /// Adds a note if the file declares a shape that differs from the inferred one.
    fn compare(&mut self, tensor: usize, fact: &Fact, origin: &Origin) {
        let slot = &self.program.slots[tensor];
        let holds = !origin.dead && origin.source == Source::Inferred && origin.may_take(slot);
        if let (true, Some(shape), Some(declared)) = (holds, &fact.shape, &slot.declared.shape)
            && shape != declared
        {
            let (subject, name) = ((origin.subject)(), slot.name);
            self.contradictions.push(format!(
                "operator {subject}: tensor '{name}' is declared as {} but inferred as {}; the inferred shape is used",
                show(declared),
                show(shape)
            ));
        }
    }

    fn note_declared(&mut self, tensor: usize, origin: &Origin) {
        if !origin.dead {
            let name = self.program.slots[tensor].name;
            let reason = origin.reason.map_or("its shape is not known", |reason| reason.text.as_str());
            self.declared.push(format!(
                "operator {}: tensor '{name}' takes the declared shape: {reason}",
                (origin.subject)()
            ));
        }
    }

    /// Appends the messages about declared shapes and about contradictions to the assumptions, at most
    /// `LISTED` messages of each kind.
    pub fn sum_up(&mut self) {
        for lines in [std::mem::take(&mut self.declared), std::mem::take(&mut self.contradictions)] {
            let more = lines.len().saturating_sub(LISTED);
            self.assumed.extend(lines.into_iter().take(LISTED));
            if more > 0 {
                self.assumed.push(format!("... and {more} more of this kind"));
            }
        }
    }

    fn unsized_tensor(
        &mut self,
        tensor: usize,
        origin: &Origin,
        unknown: &Reason,
    ) -> Result<u64, ImportProblem> {
        let (slot, subject) = (&self.program.slots[tensor], origin.subject);
        let (at, name) = (tensor, slot.name);
        let mut reason = origin.reason.unwrap_or(unknown).clone();
        if slot.declared.shape.is_some() && origin.change > Change::None && !reason.misfit {
            reason.text.push_str("; the shape in the file is for other inputs");
        }
        // A declared dimension does not determine the number of iterations of a loop.
        let is_determined = reason.misfit || reason.iterations;
        if !slot.open.is_empty() && origin.change < Change::Fixed && !is_determined {
            let mut names = slot.open.clone();
            names.sort_unstable();
            names.dedup();
            let options: Vec<String> =
                names.iter().map(|name| argument("--dim", &format!("{name}=1"))).collect();
            reason.text = format!("{}; {} completes the shape in the file", reason.text, options.join(" "));
        }
        if origin.dead {
            self.void += 1;
            return Ok(0);
        }
        let Some(bytes) = self.options.assume_bytes else {
            self.failed = Some(at);
            let (operator, tensor, misfit) = (subject(), name.to_owned(), reason.misfit);
            let reason = reason.text;
            return Err(if misfit {
                ImportProblem::Misfit { operator, tensor, reason }
            } else {
                ImportProblem::Unsized { operator, tensor, reason }
            });
        };
        self.assumed.push(format!("operator {}: tensor '{name}' takes {bytes} bytes: {reason}", subject()));
        Ok(bytes)
    }
}
