//! Writes proofs of lower bounds. The crate `plimsoll-proof` checks them.
//!
//! A bound with a simple witness is proved in a few lines. For a bound that rests on a completed search, the
//! capacity just below it is refuted once more, by clause learning with a log ([`crate::search::learn`]),
//! whichever method found the bound. A proof therefore never depends on the search that it confirms.

pub use crate::search::learn::NoProof;
use crate::search::learn::{Derivation, LearnRules, derive};
use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Interval, LowerBound, Witness, live_at, live_within,
};
use std::io::{self, Write};

/// A proof that no layout of an instance has a peak below a bound.
#[derive(Clone, Debug)]
pub struct Proof {
    bound: Bytes,
    /// The declared buffers by name.
    buffers: Vec<String>,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    /// There is no space for the declared buffers, which conflict pairwise.
    NoSpace,
    /// The two declared buffers are fixed at overlapping addresses.
    Contradiction,
    Derivation(Box<Derivation>),
}

impl Proof {
    /// Proves a bound of an instance.
    ///
    /// The time is exponential in the worst case if the bound rests on a search, and otherwise linear.
    ///
    /// # Errors
    /// [`NoProof`] if the bound cannot be proved within the budget.
    pub fn of(instance: &Instance, bound: &LowerBound, budget: &mut Budget) -> Result<Self, NoProof> {
        if bound.value == Bytes::ZERO {
            return Err(NoProof::Nothing);
        }
        let rules = LearnRules::default();
        let (buffers, body) = match &bound.witness {
            Witness::Load { step } => (live_at(instance, *step), Body::NoSpace),
            Witness::Clique { buffers } | Witness::AlignedClique { buffers, .. } => {
                (buffers.clone(), Body::NoSpace)
            }
            Witness::Fixed { buffer } => (vec![*buffer], Body::NoSpace),
            Witness::Contradiction { buffers } => (buffers.clone(), Body::Contradiction),
            Witness::Search { .. } => return Self::searched(instance, bound.value, rules, budget),
            Witness::Window { lower, upper, .. } => {
                let part = live_within(instance, Interval::new(*lower, *upper));
                return Self::searched(&part, bound.value, rules, budget);
            }
            other => return Err(NoProof::Unsupported(other.to_string())),
        };
        let sized = |id: &BufferId| !instance.buffer(*id).is_empty();
        let buffers = buffers.into_iter().filter(sized).map(|id| instance.buffer(id).name().to_owned());
        Ok(Self { bound: bound.value, buffers: buffers.collect(), body })
    }

    /// Refutes the capacity just below the bound.
    fn searched(
        instance: &Instance,
        bound: Bytes,
        rules: LearnRules,
        budget: &mut Budget,
    ) -> Result<Self, NoProof> {
        let sized: Vec<BufferId> = instance.ids().filter(|&id| !instance.buffer(id).is_empty()).collect();
        let instance = &instance.induced(&sized);
        let derivation = derive(instance, bound, rules, budget)?;
        let name = |&at: &u32| instance.buffers()[at as usize].name().to_owned();
        let buffers = derivation.origin.iter().map(name).collect();
        Ok(Self { bound, buffers, body: Body::Derivation(Box::new(derivation)) })
    }

    /// Returns the bound in bytes.
    pub fn bound(&self) -> Bytes {
        self.bound
    }

    /// Writes the proof as text. The time is linear in its length.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        writeln!(file, "plimsoll-proof 1\nbound {}", self.bound.get())?;
        for name in &self.buffers {
            writeln!(file, "buffer {}", plimsoll_model::csv::listed_id(name))?;
        }
        match &self.body {
            Body::NoSpace => {
                write!(file, "x")?;
                (0..self.buffers.len()).try_for_each(|buffer| write!(file, " {buffer}"))?;
                writeln!(file)
            }
            Body::Contradiction => writeln!(file, "o 0 1\no 1 0"),
            Body::Derivation(derivation) => derivation.write(file),
        }
    }
}

#[cfg(test)]
mod tests;
