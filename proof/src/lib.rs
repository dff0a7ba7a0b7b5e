//! An independent checker of two kinds of proofs: that no layout fits a capacity, and that no order of
//! operators fits one.
//!
//! A *proof* shows that every layout of an instance has a peak of at least `bound` bytes. The search that
//! found the proof may be arbitrarily complicated. This crate checks only the steps of the proof. It shares
//! no code with the rest of the workspace, not even the reader of instances, and has no dependencies.
//!
//! [`check_orders`] checks proofs of another kind: every order of operators has a peak of at least `bound`
//! bytes. The documentation of this function describes the format of these proofs and the soundness of their
//! steps. The rest of this page is about layouts.
//!
//! # Format
//! A proof is a text file. Each line contains one statement, whose words are separated by spaces. Blank lines
//! and lines that start with `c ` are ignored.
//!
//! ```text
//! plimsoll-proof 1     the first line: name and version of the format
//! bound B              the claim: no layout has a peak below B bytes
//! buffer ID            declares the next buffer: 0, 1, 2 ...; a blank in the id is written %20
//! slab ID              omits a buffer that conflicts with all declared buffers, and its size from the capacity
//! twin I J             I lies below J, because they are interchangeable and I < J
//! mirror I J           I lies below J, because layouts can be turned upside down; at most once
//! clause K I<J ...     starts the derivation of clause K: at least one of these orders holds
//! delete K ...         deletes clauses
//! sweep U              starts a sweep in units of U bytes; only `at`, `tree`, `bond` and `sweep` may follow
//! at T                 starts the list of trees of step T
//! tree ...             arrangements that are possible at this step: ( ) permutes, [ ] reverses, * is a hole
//! bond I ... | K ...   all trees in which I ... are contiguous, apart from some of K ...: later sweeps use it
//! ```
//!
//! The steps of a derivation add facts until two of them contradict each other, which proves the clause. At
//! the start of a derivation, the opposites of all orders of its clause are assumed. Steps outside a
//! derivation add permanent facts. A contradiction among permanent facts, or the derivation of a clause
//! without orders, proves the claim. The text must end there.
//!
//! ```text
//! u K                  all orders of clause K but one are refuted: the remaining one holds
//! t I J ...            I lies below J, J below the next buffer, and so on: I lies below the last one
//! b I J ...            I lies above the pairwise conflicting buffers J ...: raises the height below I
//! a I J ...            I lies below the pairwise conflicting buffers J ...: raises the height above I
//! o I J                I cannot lie below J, because of lack of space or their distance: J lies below I
//! r I J                I and J are in one rigid group: the heights of I raise those of J
//! x I ...              there is not enough space for these pairwise conflicting buffers: a contradiction
//! ```
//!
//! # Soundness
//! Let `C = B - 1`. Suppose that a layout with peak at most `C` exists. Restricted to the declared buffers,
//! it still has a peak of at most `C`. Two conflicting buffers do not overlap, so one of them lies below the
//! other. *Heights* are lower bounds: the height below a buffer bounds its offset, and the height above it
//! bounds the distance from its end to `C`.
//!
//! A *rigid group* consists of buffers at given distances above a root, whose offset is at least 0. All its
//! members, declared or not, end at or below `C`. This determines the first heights of a member. If one
//! member is fixed, all members are fixed, and they form no group. The alignments of all members determine
//! the offset of each member modulo the least common multiple. Heights of members are rounded to offsets with
//! this residue, and stacks use common divisors of alignments and residues.
//! - `slab`: if all alignments are 1 and no offset is fixed or in a rigid group, every declared buffer and
//!   every other slab lies above or below the slab. Two of them on different sides are at least its size
//!   apart if they conflict. All those above it can therefore move down by its size, once it is omitted. The
//!   peak falls by its size, so its size is subtracted from `C`.
//! - `twin`: two conflicting buffers of equal size and alignment are interchangeable if neither is fixed or
//!   in a rigid group, and both conflict with the same other buffers. Their offsets can then be exchanged. In
//!   some layout with peak at most `C`, the offsets of all twins are therefore in the order of their numbers.
//! - `mirror`: if all alignments are 1 and no offset is fixed or in a rigid group, the offsets `C - offset -
//!   size` also form a layout. The order of one pair that contains no twin can therefore be chosen: if the
//!   pair has the opposite order, the layout is turned upside down before the twins are sorted.
//! - `t`: if `I` lies below `J`, then the end of `I` is at most the offset of `J`. Sizes are positive, so the
//!   relation is transitive.
//! - `b`: pairwise conflicting buffers form a stack in some order. The offset of the lowest one is at least
//!   the smallest height below any of them. The stack therefore ends at or above that height plus the sum of
//!   the sizes, and the buffer lies above this end. `a` is the same upside down. If all offsets in the stack
//!   are multiples of a number, each size except that of the last buffer is rounded up to a multiple of that
//!   number. Any buffer may be the last, so the largest padding is subtracted. A height of an aligned buffer
//!   is rounded up to the next value that corresponds to an aligned offset.
//! - `o`: if `I` lay below `J`, the height below `I`, both sizes and the height above `J` would together be
//!   at most `C`. In a rigid group, `I` lies below `J` only if their distance is at least the size of `I`.
//! - `r`: the offset of `J` is the offset of `I` plus their distance.
//! - `x`: the smallest height below the buffers, the sum of their sizes and the smallest height above them
//!   are together at most `C` in every layout.
//! - `sweep`: if the unit divides all sizes and is a multiple of all alignments, and no offset is fixed or in
//!   a rigid group, pushing all buffers down makes all offsets multiples of the unit.
//! - `at` and `tree`: a *hole* is a free unit that is a leaf of a tree. Other free units may be anywhere.
//!   Buffers that are live at two steps keep their offsets, so the gaps between them do not change. In each
//!   gap, the buffers that end and the holes form a contiguous group, apart from free units, and the buffers
//!   that begin replace this group. Free units make up the difference in size. All divisions of the buffers
//!   and holes into groups are tried, and each result must be contained in a listed tree. At the first step,
//!   all arrangements are possible. If none is possible at the last step, there is no layout.
//! - `bond`: the arrangement of the layout is contained in one of these trees. Later sweeps may therefore
//!   omit arrangements that contradict the bond. Holes are omitted before a tree is compared with a bond.
//!
//! # Complexity
//! Each step takes time linear in its length, or quadratic for `b`, `a` and `x` if their buffers, which must
//! conflict pairwise, have no common step. The time of a sweep is exponential in the number of holes and of
//! buffers that begin or end between two steps. The checker counts its work, which may not exceed a constant
//! plus an amount per byte of the proof and of the instance. A proof is read line by line. Memory is
//! therefore proportional to the sizes of the instance, of the clauses that have not been deleted, and of the
//! trees of two steps.
//!
//! **Source.** Assumptions, derived clauses and deletions follow LRAT (Cruz-Filipe, Heule, Hunt, Kaufmann,
//! Schneider-Kamp 2017). The steps on heights were developed in this project.

mod bond;
mod check;
mod error;
mod facts;
mod groups;
mod instance;
mod listed;
mod orders;
mod sweep;
mod tree;
mod words;
mod work;

pub use check::{Proved, check};
pub use error::{CheckError, InstanceError, Reason};
pub use instance::Instance;
pub use orders::{OrderProblem, OrderProved, check_orders};
