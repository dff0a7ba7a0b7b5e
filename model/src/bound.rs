//! Lower bounds and the reasons for them.

use crate::check::conflict::{conflict, share_a_step};
use crate::instance::{Buffer, Instance};
use crate::lifespan::{Interval, Lifespan};
use crate::load::{alive_at, load};
use crate::units::{BufferId, Bytes, OperatorId, Step};
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;

/// Why no answer can be smaller than a bound.
///
/// Inside, buffers and operators are named by position. What is shown or stored names them as the input does:
/// [`Witness::map`] changes how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum Witness<B = BufferId, O = OperatorId> {
    /// Nothing is needed.
    Trivial,
    /// All buffers live at this step conflict with each other; their sizes add up to the bound.
    Load { step: Step },
    /// These buffers conflict pairwise; their sizes, stacked, reach the bound.
    Clique { buffers: Vec<B> },
    /// These buffers conflict pairwise and lie at multiples of `alignment` bytes: stacked in any order, each but
    /// the topmost takes its size rounded up.
    AlignedClique {
        buffers: Vec<B>,
        /// A divisor of the alignment of each.
        alignment: Bytes,
    },
    /// These buffers conflict pairwise and exceed the capacity together: what takes as many bytes from them costs the bound.
    Excess { buffers: Vec<B> },
    /// A fixed buffer ends at the bound.
    Fixed { buffer: B },
    /// Two conflicting buffers are fixed at addresses that overlap: no layout keeps both offsets.
    Contradiction { buffers: Vec<B> },
    /// What is held at the first step of any order adds up to the bound.
    Start,
    /// What is held at the last step of any order adds up to the bound.
    End,
    /// While this operator runs, in any order, what is begun by it or before it and needed by it or after it adds up to
    /// the bound, with its scratch.
    Around { operator: O },
    /// An exact method searched everything below the bound and found nothing.
    Search { solver: String },
    /// The same of what is live within the steps from `lower` to before `upper`, lifespans clipped to them: no layout
    /// of that is lower than the bound, hence none of the whole.
    Window { lower: Step, upper: Step, solver: String },
}

/// Why a bound holds, in any problem.
pub trait Reason: Clone + fmt::Debug + fmt::Display + PartialEq + Serialize + Send + Sync + 'static {
    /// The exact method whose completed search is the reason, where that is all there is.
    fn solver(&self) -> Option<&str>;

    /// The reason for a part of an input as one for the whole: `kept` holds, by position in the part, the buffers
    /// of the whole, ascending.
    #[must_use]
    fn of_whole(self, _kept: &[BufferId]) -> Self {
        self
    }
}

impl Reason for Witness {
    fn solver(&self) -> Option<&str> {
        Self::solver(self)
    }

    fn of_whole(self, kept: &[BufferId]) -> Self {
        self.map(|id| kept[id.index()], |operator| operator)
    }
}

impl<B, O> Witness<B, O> {
    /// The exact method whose completed search is the reason, where that is all there is.
    pub fn solver(&self) -> Option<&str> {
        match self {
            Self::Search { solver } | Self::Window { solver, .. } => Some(solver),
            _ => None,
        }
    }

    /// The same witness where buffers and operators are named differently.
    pub fn map<C, P>(
        self,
        mut buffer: impl FnMut(B) -> C,
        mut operator: impl FnMut(O) -> P,
    ) -> Witness<C, P> {
        let mapped: Result<_, Infallible> = self.try_map(|b| Ok(buffer(b)), |o| Ok(operator(o)));
        match mapped {
            Ok(witness) => witness,
            Err(never) => match never {},
        }
    }

    /// The same where not every name is known.
    ///
    /// # Errors
    /// The first that one of the functions reports.
    pub fn try_map<C, P, E>(
        self,
        mut buffer: impl FnMut(B) -> Result<C, E>,
        mut operator: impl FnMut(O) -> Result<P, E>,
    ) -> Result<Witness<C, P>, E> {
        let mut all = |buffers: Vec<B>| buffers.into_iter().map(&mut buffer).collect::<Result<Vec<C>, E>>();
        Ok(match self {
            Self::Trivial => Witness::Trivial,
            Self::Load { step } => Witness::Load { step },
            Self::Clique { buffers } => Witness::Clique { buffers: all(buffers)? },
            Self::AlignedClique { buffers, alignment } => {
                Witness::AlignedClique { buffers: all(buffers)?, alignment }
            }
            Self::Excess { buffers } => Witness::Excess { buffers: all(buffers)? },
            Self::Fixed { buffer: id } => Witness::Fixed { buffer: buffer(id)? },
            Self::Contradiction { buffers } => Witness::Contradiction { buffers: all(buffers)? },
            Self::Start => Witness::Start,
            Self::End => Witness::End,
            Self::Around { operator: id } => Witness::Around { operator: operator(id)? },
            Self::Search { solver } => Witness::Search { solver },
            Self::Window { lower, upper, solver } => Witness::Window { lower, upper, solver },
        })
    }
}

impl Witness {
    /// In words, with the names that the instance gives to buffers.
    pub fn in_words(&self, instance: &Instance) -> String {
        let name = |id: BufferId| quoted(instance, id);
        self.clone().map(name, |operator| operator).to_string()
    }
}

impl<B: fmt::Display, O: fmt::Display> fmt::Display for Witness<B, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trivial => f.write_str("nothing needed"),
            Self::Load { step } => write!(f, "load at step {step}"),
            Self::Clique { buffers } if buffers.len() == 1 => f.write_str("the largest buffer"),
            Self::Clique { buffers } => write!(f, "{} buffers in mutual conflict", buffers.len()),
            Self::AlignedClique { buffers, alignment } => {
                write!(f, "{} aligned buffers in mutual conflict (multiples of {alignment})", buffers.len())
            }
            Self::Excess { buffers } => {
                write!(f, "{} buffers in mutual conflict, together above the capacity", buffers.len())
            }
            Self::Fixed { buffer } => write!(f, "end of fixed buffer {buffer}"),
            Self::Contradiction { buffers } => match buffers.as_slice() {
                [a, b] => write!(f, "buffers {a} and {b} conflict, but are fixed at overlapping addresses"),
                _ => f.write_str("fixed offsets that cannot be kept"),
            },
            Self::Start => f.write_str("held at the first step"),
            Self::End => f.write_str("held at the last step"),
            Self::Around { operator } => write!(f, "alive while {operator} runs"),
            Self::Search { solver } => write!(f, "completed search by {solver}"),
            Self::Window { lower, upper, solver } => {
                write!(f, "completed search of steps {lower}..{upper} by {solver}")
            }
        }
    }
}

/// A value that no answer can be better than, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowerBound<V = Bytes, W = Witness> {
    /// No solution is better than this.
    pub value: V,
    /// Why, in a form that can be confirmed.
    pub witness: W,
}

impl LowerBound {
    /// A bound of zero, which needs no proof.
    pub fn trivial() -> Self {
        Self { value: Bytes::ZERO, witness: Witness::Trivial }
    }
}

impl<V: Value, W: Reason> LowerBound<V, W> {
    /// A bound with its reason.
    pub fn new(value: V, witness: W) -> Self {
        Self { value, witness }
    }

    /// Keeps the larger of the two; `self` where they are equal. True where it changed.
    pub fn raise(&mut self, other: Self) -> bool {
        let higher = other.value > self.value;
        if higher {
            *self = other;
        }
        higher
    }

    /// Compares what the witness shows with the bound.
    ///
    /// # Errors
    /// [`BoundError::TooWeak`].
    pub(crate) fn shown_by(&self, shown: V) -> Result<(), BoundError> {
        if shown < self.value {
            return Err(BoundError::TooWeak { shown: shown.with_unit(), claimed: self.value.to_string() });
        }
        Ok(())
    }
}

impl Instance {
    /// The proof that no layout exists at any capacity, where two conflicting buffers are fixed at addresses that
    /// overlap. Its value is one byte above the [ceiling](Self::ceiling).
    pub fn contradiction(&self) -> Option<LowerBound> {
        let buffers = self.contradiction?.to_vec();
        Some(LowerBound::new(self.beyond(), Witness::Contradiction { buffers }))
    }
}

/// The simplest bound that is always right: the load; where exclusions make it unsound, a clique among the buffers
/// alive at the most loaded step; or the highest fixed end; or fixed offsets that [cannot be
/// kept](Instance::contradiction). O(n log n), with exclusions O(n k) for a clique of k.
pub fn simple_bound(instance: &Instance) -> LowerBound {
    if let Some(bound) = instance.contradiction() {
        return bound;
    }
    let mut best = LowerBound::trivial();
    if instance.exclusions().is_empty() {
        let (value, step) = load(instance);
        best.raise(LowerBound::new(value, Witness::Load { step }));
    } else {
        best.raise(clique_at_load(instance));
    }
    for id in instance.ids() {
        let buffer = instance.buffer(id);
        if buffer.size() > best.value {
            best.raise(LowerBound::new(buffer.size(), Witness::Clique { buffers: vec![id] }));
        }
        let fixed = buffer.fixed().filter(|_| !buffer.is_empty());
        if let Some(end) = fixed.and_then(|offset| offset.checked_add(buffer.size())) {
            best.raise(LowerBound::new(end, Witness::Fixed { buffer: id }));
        }
    }
    best
}

/// Buffers tried for the clique of the simplest bound.
const CLIQUE_CANDIDATES: usize = 1_000;

/// A clique among the buffers alive at the most loaded step, grown from the largest down.
fn clique_at_load(instance: &Instance) -> LowerBound {
    let mut alive = alive_at(instance, load(instance).1);
    alive.sort_by_key(|&id| (std::cmp::Reverse(instance.buffer(id).size()), id));
    alive.truncate(CLIQUE_CANDIDATES);
    let (mut members, mut value) = (Vec::new(), 0);
    for id in alive {
        if members.iter().all(|&member| instance.conflict(member, id)) {
            members.push(id);
            value += instance.buffer(id).size().get();
        }
    }
    members.sort_unstable();
    LowerBound::new(Bytes::new(value), Witness::Clique { buffers: members })
}

/// Bound on a stack of pairwise conflicting buffers whose offsets are multiples of `alignment`: every member but
/// the topmost takes its size rounded up, and whoever is topmost, that saves at most the largest rounding.
pub fn stack_height(instance: &Instance, buffers: &[BufferId], alignment: Bytes) -> Option<Bytes> {
    let (mut sum, mut saved) = (0u64, 0u64);
    for &id in buffers {
        let size = instance.buffer(id).size();
        let rounded = size.align_up(alignment)?;
        sum = sum.checked_add(rounded.get())?;
        saved = saved.max(rounded.get() - size.get());
    }
    Some(Bytes::new(sum - saved))
}

/// Why a bound is not proved by its witness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum BoundError {
    #[error("buffers '{0}' and '{1}' of the witness do not conflict")]
    NoConflict(String, String),
    /// An id that is not there, or twice.
    #[error("the witness names buffer {0} twice, or the instance has no such buffer")]
    BadBuffer(String),
    /// A buffer not aligned as the witness says.
    #[error("buffer '{0}' is not aligned to {1} bytes")]
    NotAligned(String, Bytes),
    #[error("the witness names operator {0}, which is not in the problem")]
    BadOperator(OperatorId),
    #[error("'{0}' shows no bound of this problem")]
    Foreign(String),
    /// A witness worth less than the bound.
    #[error("the witness shows only {shown}, the bound says {claimed}")]
    TooWeak {
        /// What the witness shows, with its unit.
        shown: String,
        claimed: String,
    },
    #[error("buffer '{0}' is not fixed")]
    NotFixed(String),
    #[error("the window {0} of the witness holds no step")]
    EmptyWindow(Interval),
    /// A bound that nothing searched can need.
    #[error("the bound is {claimed} bytes, but all that was searched needs at most {most}, end to end")]
    Impossible {
        claimed: Bytes,
        /// What no layout has to exceed.
        most: Bytes,
    },
    #[error("the fixed offsets that the witness names can be kept")]
    NoContradiction,
    #[error("{prices} prices for {operators} operators")]
    Prices {
        /// Multipliers of the witness.
        prices: usize,
        /// Operators of the problem.
        operators: usize,
    },
    /// A match that optimises more than the dual multipliers of its operators add up to.
    #[error("match {at} optimises {optimised} relations and costs less")]
    Cheap { at: usize, optimised: usize },
    /// A sum out of range, or a multiplier for something that is not there.
    #[error("{0} cannot be added up")]
    Overflow(String),
    /// Something that fits, against what the witness says.
    #[error("what the witness names is not too large")]
    Fits,
    /// Only running the search again would show it.
    #[error("the bound rests on a completed search by {0}; only running it again can confirm it")]
    NotCheckable(String),
}

impl BoundError {
    pub(crate) fn bad_buffer(instance: &Instance, id: BufferId) -> Self {
        Self::BadBuffer(quoted(instance, id))
    }

    pub(crate) fn no_conflict(instance: &Instance, a: BufferId, b: BufferId) -> Self {
        let name = |id: BufferId| instance.buffer(id).name().to_owned();
        Self::NoConflict(name(a), name(b))
    }
}

/// The name of a buffer, quoted; its number where the instance has none such.
fn quoted(instance: &Instance, id: BufferId) -> String {
    match instance.buffers().get(id.index()) {
        Some(buffer) => format!("'{}'", buffer.name()),
        None => format!("number {id}"),
    }
}

/// Confirms that the witness shows the bound, from the definitions. O(n log n + k^2) for a clique of k, O(n) for the
/// load without exclusions.
///
/// # Errors
/// The first reason for doubt.
pub fn verify_bound(instance: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
    let shown = match &bound.witness {
        Witness::Trivial => Bytes::ZERO,
        Witness::Load { step } if instance.exclusions().is_empty() => {
            // Alive at one step, they conflict by definition; their sum fits, as that of all buffers does.
            let alive = alive_at(instance, *step);
            Bytes::new(alive.iter().map(|&id| instance.buffer(id).size().get()).sum())
        }
        Witness::Load { step } => clique_height(instance, &alive_at(instance, *step), Bytes::new(1))?,
        Witness::Clique { buffers } => clique_height(instance, buffers, Bytes::new(1))?,
        Witness::AlignedClique { buffers, alignment } => clique_height(instance, buffers, *alignment)?,
        Witness::Fixed { buffer } => {
            let (b, offset) = fixed(instance, *buffer)?;
            let end = offset.checked_add(b.size()).unwrap_or(Bytes::ZERO);
            if b.is_empty() { Bytes::ZERO } else { end }
        }
        Witness::Contradiction { buffers } => {
            confirm_contradiction(instance, buffers)?;
            instance.beyond()
        }
        Witness::Start | Witness::End | Witness::Around { .. } | Witness::Excess { .. } => {
            return Err(BoundError::Foreign(bound.witness.to_string()));
        }
        Witness::Search { solver } => {
            possible(bound.value, instance.ceiling())?;
            return Err(BoundError::NotCheckable(solver.clone()));
        }
        Witness::Window { lower, upper, solver } => {
            let window = Interval::new(*lower, *upper);
            if window.is_empty() {
                return Err(BoundError::EmptyWindow(window));
            }
            possible(bound.value, alive_within(instance, window).ceiling())?;
            return Err(BoundError::NotCheckable(format!("{solver} on steps {lower}..{upper}")));
        }
    };
    bound.shown_by(shown)
}

/// What is alive within a window of steps, lifespans clipped to it: no layout of the whole is lower than the lowest of
/// that.
///
/// # Panics
/// Never: a part of a valid instance is valid.
pub fn alive_within(instance: &Instance, window: Interval) -> Instance {
    let clipped = |b: &Buffer| {
        let parts = b.lifespan().intervals().iter();
        let inside = parts.map(|i| Interval::new(i.lower.max(window.lower), i.upper.min(window.upper)));
        Lifespan::from_intervals(inside.filter(|part| !part.is_empty())).ok()
    };
    let alive: Vec<(BufferId, Lifespan)> =
        instance.ids().filter_map(|id| Some((id, clipped(instance.buffer(id))?))).collect();
    let kept: Vec<BufferId> = alive.iter().map(|(id, _)| *id).collect();
    let mut lifespans = alive.into_iter().map(|(_, lifespan)| lifespan);
    instance.induced_with(&kept, |b| b.during(lifespans.next().expect("one per buffer kept")))
}

/// Refuses a bound above what everything needs end to end.
fn possible(claimed: Bytes, most: Bytes) -> Result<(), BoundError> {
    if claimed > most { Err(BoundError::Impossible { claimed, most }) } else { Ok(()) }
}

fn fixed(instance: &Instance, id: BufferId) -> Result<(&Buffer, Bytes), BoundError> {
    let b = instance.buffers().get(id.index()).ok_or_else(|| BoundError::bad_buffer(instance, id))?;
    Ok((b, b.fixed().ok_or_else(|| BoundError::NotFixed(b.name().to_owned()))?))
}

/// Confirms that fixed offsets cannot be kept.
fn confirm_contradiction(instance: &Instance, buffers: &[BufferId]) -> Result<(), BoundError> {
    let [a, b] = *buffers else { return Err(BoundError::NoContradiction) };
    let ((one, low), (other, high)) = (fixed(instance, a)?, fixed(instance, b)?);
    if a == b {
        return Err(BoundError::bad_buffer(instance, a));
    }
    if !conflict(instance, a, b) {
        return Err(BoundError::no_conflict(instance, a, b));
    }
    let end = |b: &Buffer, offset: Bytes| u128::from(offset.get()) + u128::from(b.size().get());
    let lowest_end = end(one, low).min(end(other, high));
    let overlap = u128::from(low.max(high).get()) < lowest_end;
    if overlap { Ok(()) } else { Err(BoundError::NoContradiction) }
}

fn clique_height(instance: &Instance, buffers: &[BufferId], alignment: Bytes) -> Result<Bytes, BoundError> {
    let divides = |id: BufferId| {
        let own = instance.buffer(id).alignment().get();
        alignment.get() != 0 && own.is_multiple_of(alignment.get())
    };
    let together = share_a_step(instance, buffers);
    for (i, &a) in buffers.iter().enumerate() {
        if a.index() >= instance.len() || buffers[..i].contains(&a) {
            return Err(BoundError::bad_buffer(instance, a));
        }
        if !divides(a) {
            return Err(BoundError::NotAligned(instance.buffer(a).name().to_owned(), alignment));
        }
        let apart = |&&b: &&BufferId| !conflict(instance, a, b);
        if !together && let Some(&b) = buffers[..i].iter().find(apart) {
            return Err(BoundError::no_conflict(instance, b, a));
        }
    }
    // Whoever is topmost needs no rounding: the least over all choices of the sum of the others rounded up.
    let size = |id: &BufferId| u128::from(instance.buffer(*id).size().get());
    let rounded = |id: &BufferId| size(id).next_multiple_of(u128::from(alignment.get()));
    let sum: u128 = buffers.iter().map(rounded).sum();
    let height = buffers.iter().map(|top| sum - rounded(top) + size(top)).min().unwrap_or(0);
    Ok(Bytes::new(u64::try_from(height).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::InstanceBuilder;

    fn instance() -> Instance {
        let buffer = |name: &str, size: u64, lower: u64, upper: u64| {
            Buffer::new(name, size, Lifespan::single(lower, upper).unwrap()).aligned(4)
        };
        InstanceBuilder::new("t")
            .buffers([buffer("a", 5, 0, 4), buffer("b", 6, 2, 6), buffer("c", 9, 4, 8)])
            .build()
            .unwrap()
    }

    #[test]
    fn witnesses_are_confirmed_and_doubted() {
        let t = instance();
        let bound = simple_bound(&t);
        assert_eq!(bound.value.get(), 15);
        assert_eq!(verify_bound(&t, &bound), Ok(()));
        let ids = |list: &[u32]| list.iter().copied().map(BufferId::new).collect::<Vec<_>>();
        let aligned = |list: &[u32], value: u64| {
            let witness = Witness::AlignedClique { buffers: ids(list), alignment: Bytes::new(4) };
            verify_bound(&t, &LowerBound::new(Bytes::new(value), witness))
        };
        // b and c: 8 + 12 less the larger rounding of 3.
        assert_eq!(aligned(&[1, 2], 17), Ok(()));
        assert!(matches!(aligned(&[1, 2], 18), Err(BoundError::TooWeak { .. })));
        assert!(matches!(aligned(&[0, 2], 1), Err(BoundError::NoConflict(..))));
        assert!(matches!(aligned(&[1, 1], 1), Err(BoundError::BadBuffer(_))));
        assert!(matches!(aligned(&[7], 1), Err(BoundError::BadBuffer(_))));
        let search = Witness::Search { solver: "search".into() };
        let bound = |value| verify_bound(&t, &LowerBound::new(Bytes::new(value), search.clone()));
        assert!(matches!(bound(t.ceiling().get()), Err(BoundError::NotCheckable(_))));
        assert!(matches!(bound(t.ceiling().get() + 1), Err(BoundError::Impossible { .. })));
        let window = |lower: u64, upper: u64, value| {
            let solver = "search".into();
            let witness = Witness::Window { lower: lower.into(), upper: upper.into(), solver };
            verify_bound(&t, &LowerBound::new(Bytes::new(value), witness))
        };
        // Of b and c, each in units of 4: 8 + 12, and as much again for their alignment.
        assert!(matches!(window(4, 8, 20), Err(BoundError::NotCheckable(_))));
        assert!(matches!(window(4, 8, 29), Err(BoundError::Impossible { .. })));
        assert!(matches!(window(8, 9, 1), Err(BoundError::Impossible { .. })), "nothing is alive");
        assert!(matches!(window(4, 4, 1), Err(BoundError::EmptyWindow(_))));
        assert!(matches!(window(9, 2, 0), Err(BoundError::EmptyWindow(_))));
    }
}
