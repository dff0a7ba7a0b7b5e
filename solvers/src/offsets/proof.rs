//! Writes proofs of lower bounds. The crate `plimsoll-proof` checks them.
//!
//! A bound with a simple witness is proved in a few lines. For a bound that rests on a completed search, the
//! capacity just below the bound is refuted once more. Whichever method found the bound, this refutation is a
//! sweep over arrangements (`search::arrangements`) or clause learning with a log (`search::learn`). A proof
//! therefore never depends on the search that it confirms.

use crate::offsets::search::arrangements::{ArrangementRules, Swept, certify};
pub use crate::offsets::search::learn::NoProof;
use crate::offsets::search::learn::{Derivation, LearnRules, derive};
use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Interval, LowerBound, Stop, Witness, live_at, live_within,
};
use std::io::{self, Write};

/// Node limit of clause learning in the first round. Every round starts from scratch.
const FIRST_ROUND: u64 = 1 << 12;

/// Ratio of the node limits of successive rounds.
const GROWTH: u64 = 8;

/// Each round starts with a sweep. The node limit of the sweep is that of the round divided by one of these
/// numbers. The first number is for bounds of windows, which are often results of sweeps. The second number
/// is for other bounds.
const SWEEP_SHARES: [u64; 2] = [1, 16];

/// A proof that no layout of an instance has a peak below a bound.
#[derive(Clone, Debug)]
pub struct Proof {
    bound: Bytes,
    /// The declared buffers by name.
    buffers: Vec<String>,
    /// The omitted buffers by name. They conflict with all declared buffers and with each other.
    slabs: Vec<String>,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    /// The declared buffers conflict pairwise, and no capacity below the bound has enough space for them.
    NoSpace,
    /// The two declared buffers overlap in every layout: both are fixed, or they are in one rigid group.
    Contradiction,
    Derivation(Box<Derivation>),
    Sweep(Box<Swept>),
}

impl Proof {
    /// Proves a bound of an instance.
    ///
    /// The time is exponential in the worst case if the bound rests on a search, and otherwise linear.
    ///
    /// # Errors
    /// [`NoProof`] if the bound is 0 or too high, if proofs do not support its witness, if the instance is
    /// too large for clause learning, or if the budget runs out.
    pub fn of(instance: &Instance, bound: &LowerBound, budget: &mut Budget) -> Result<Self, NoProof> {
        if bound.value == Bytes::ZERO {
            return Err(NoProof::Nothing);
        }
        let (buffers, body) = match &bound.witness {
            Witness::Load { step } => (live_at(instance, *step), Body::NoSpace),
            Witness::Clique { buffers } | Witness::AlignedClique { buffers, .. } => {
                (buffers.clone(), Body::NoSpace)
            }
            Witness::Fixed { buffer } | Witness::Raised { buffer } => (vec![*buffer], Body::NoSpace),
            Witness::Contradiction { buffers } => (buffers.clone(), Body::Contradiction),
            Witness::Search { .. } => {
                return Self::without_slabs(instance, bound.value, SWEEP_SHARES[1], budget);
            }
            Witness::Window { lower, upper, .. } => {
                let part = live_within(instance, Interval::new(*lower, *upper));
                return Self::without_slabs(&part, bound.value, SWEEP_SHARES[0], budget);
            }
            other => return Err(NoProof::Unsupported(other.to_string())),
        };
        let sized = |id: &BufferId| !instance.buffer(*id).is_empty();
        let buffers = buffers.into_iter().filter(sized).map(|id| instance.buffer(id).name().to_owned());
        Ok(Self { bound: bound.value, buffers: buffers.collect(), slabs: Vec::new(), body })
    }

    /// Omits the slabs of an instance, and refutes the remaining capacity for the other buffers.
    fn without_slabs(
        instance: &Instance,
        bound: Bytes,
        share: u64,
        budget: &mut Budget,
    ) -> Result<Self, NoProof> {
        let (slabs, others) = slabs(instance);
        let size: u64 = slabs.iter().map(|&id| instance.buffer(id).size().get()).sum();
        if slabs.is_empty() || size >= bound.get() {
            return Self::searched(instance, bound, (LearnRules::default(), share), budget);
        }
        let low = Bytes::new(bound.get() - size);
        match Self::searched(&instance.induced(&others), low, (LearnRules::default(), share), budget) {
            Ok(proof) => {
                let slabs = slabs.iter().map(|&id| instance.buffer(id).name().to_owned()).collect();
                Ok(Self { bound, slabs, ..proof })
            }
            Err(NoProof::Refuted { peak, .. }) => {
                Err(NoProof::Refuted { peak: Bytes::new(peak.get() + size), bound })
            }
            Err(other) => Err(other),
        }
    }

    /// Refutes the capacity just below the bound by alternating sweeps and clause learning. If the instance
    /// is too large for clause learning, only sweeps remain.
    fn searched(
        instance: &Instance,
        bound: Bytes,
        (rules, share): (LearnRules, u64),
        budget: &mut Budget,
    ) -> Result<Self, NoProof> {
        let sized: Vec<BufferId> = instance.ids().filter(|&id| !instance.buffer(id).is_empty()).collect();
        let instance = &instance.induced(&sized);
        let mut nodes = FIRST_ROUND;
        loop {
            let sweeps = ArrangementRules::default();
            let swept = Self::swept(instance, bound, (sweeps, nodes / share), budget);
            if let Ok(Some(proof)) = swept {
                return Ok(proof);
            }
            let mut part = budget.part(Some(nodes), None);
            let derived = derive(instance, bound, rules, &mut part);
            let is_over = budget.spend(part.nodes()).is_some();
            match (derived, swept) {
                (Err(NoProof::Stopped(Stop::NodeLimit)), _)
                | (Err(NoProof::TooLarge { .. }), Err(Stop::NodeLimit))
                    if !is_over =>
                {
                    nodes = nodes.saturating_mul(GROWTH);
                }
                (Err(NoProof::TooLarge { .. }), Err(stop)) => return Err(NoProof::Stopped(stop)),
                (Err(reason), _) => return Err(reason),
                (Ok(derivation), _) => {
                    let buffers = names(instance, &derivation.origin);
                    let body = Body::Derivation(Box::new(derivation));
                    return Ok(Self { bound, buffers, slabs: Vec::new(), body });
                }
            }
        }
    }

    /// Refutes the capacity just below the bound by a sweep. Returns `None` if no sweep refutes it.
    ///
    /// # Errors
    /// If the budget or `nodes` nodes are spent before all sweeps have ended.
    fn swept(
        instance: &Instance,
        bound: Bytes,
        (rules, nodes): (ArrangementRules, u64),
        budget: &mut Budget,
    ) -> Result<Option<Self>, Stop> {
        let mut part = budget.part(Some(nodes), None);
        let swept = certify(instance, bound.get(), rules, &mut part);
        budget.spend(part.nodes());
        let proof = |swept: Swept| {
            let buffers = names(instance, &swept.origin);
            Self { bound, buffers, slabs: Vec::new(), body: Body::Sweep(Box::new(swept)) }
        };
        Ok(swept?.map(proof))
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
        for name in &self.slabs {
            writeln!(file, "slab {}", plimsoll_model::csv::listed_id(name))?;
        }
        match &self.body {
            Body::NoSpace => {
                write!(file, "x")?;
                (0..self.buffers.len()).try_for_each(|buffer| write!(file, " {buffer}"))?;
                writeln!(file)
            }
            Body::Contradiction => writeln!(file, "o 0 1\no 1 0"),
            Body::Derivation(derivation) => derivation.write(file),
            Body::Sweep(swept) => swept.write(file),
        }
    }
}

/// Divides the non-empty buffers of an instance into *slabs* and others. A slab conflicts with all of them.
/// The time is linear. Instances that are not intervals, or that restrict offsets, have no slabs.
fn slabs(instance: &Instance) -> (Vec<BufferId>, Vec<BufferId>) {
    let sized: Vec<BufferId> = instance.ids().filter(|&id| !instance.buffer(id).is_empty()).collect();
    if !instance.is_interval() || instance.has_alignment() || instance.has_fixed() {
        return (Vec::new(), sized);
    }
    let hull = |id: BufferId| instance.buffer(id).lifespan().hull();
    let first_end = sized.iter().map(|&id| hull(id).upper).min();
    let last_start = sized.iter().map(|&id| hull(id).lower).max();
    sized.into_iter().partition(|&id| Some(hull(id).lower) < first_end && Some(hull(id).upper) > last_start)
}

fn names(instance: &Instance, positions: &[u32]) -> Vec<String> {
    positions.iter().map(|&at| instance.buffers()[at as usize].name().to_owned()).collect()
}

#[cfg(test)]
mod tests;
