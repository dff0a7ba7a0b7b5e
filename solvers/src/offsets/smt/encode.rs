//! Encodes one query to z3: is there a layout of the part within the domain?
//!
//! ```text
//! o_i in [low_i, high_i]
//! o_i + r_ij <= o_j  or  o_j + r_ji <= o_i     per conflicting pair; r_ij is Part::rise(i, j)
//! o_i = o_j + d_i - d_j                        for members of a rigid group with distances d
//! bridges                                      pseudo-Boolean constraints over the orders alone
//! ```
//!
//! Offsets are measured in units of the greatest common divisor of the part's alignments. Distances within
//! rigid groups, their lowest offsets and their alignments also determine this unit. If all alignments are
//! equal, only difference constraints remain. The offset of a buffer with a larger alignment is a constant
//! multiple of an additional variable, which requires linear arithmetic.

use crate::offsets::formulation::{Domain, Part, bridges};
use plimsoll_model::Budget;
use plimsoll_support::gcd;
use z3::Solver;
use z3::ast::{Bool, Int};

/// The arithmetic theory that z3 uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theory {
    /// Difference logic. If alignments differ, [`Theory::Linear`] is used instead.
    Difference,
    Linear,
}

/// The components of the encoding, which can be switched off individually, and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Whether to omit buffers that can always be placed within the addresses of another buffer.
    pub absorb: bool,
    /// Whether to propagate offset ranges exactly. This fixes the orders of some pairs.
    pub positions: bool,
    /// Whether to break symmetry. This fixes the order of twins, and the order of one pair to exclude mirror
    /// images.
    pub symmetry: bool,
    /// Maximum number of bridges to add. A bridge is an inequality over order variables of two cliques that
    /// share a buffer.
    pub bridges: usize,
    /// The arithmetic theory.
    pub theory: Theory,
    /// Maximum number of conflicts; instances with more are rejected.
    pub max_pairs: usize,
    /// Memory limit of z3 in this process, in megabytes. If z3 needs more, its answer is unknown.
    pub memory: u32,
}

impl Default for Encoding {
    fn default() -> Self {
        Self {
            absorb: true,
            positions: true,
            symmetry: true,
            bridges: 50_000,
            theory: Theory::Difference,
            max_pairs: 100_000,
            memory: 8_192,
        }
    }
}

/// An encoder of a part for one allowed peak.
pub(super) struct Encoder<'a> {
    part: &'a Part,
    domain: &'a Domain,
    encoding: Encoding,
    /// Number of units of the part per unit of the z3 offsets.
    unit: i64,
}

/// The variables needed to read a model.
pub(super) struct Encoded {
    offsets: Vec<Int>,
    unit: i64,
}

impl Encoded {
    /// Returns the offsets in a model, in units of the part, or `None` if a value is missing.
    pub fn read(&self, model: &z3::Model) -> Option<Vec<f64>> {
        let value = |offset: &Int| Some((model.eval(offset, true)?.as_i64()? * self.unit) as f64);
        self.offsets.iter().map(value).collect()
    }
}

impl<'a> Encoder<'a> {
    pub fn new(part: &'a Part, domain: &'a Domain, encoding: Encoding) -> Self {
        let groups = part.rigid.iter().flat_map(|group| {
            let distances = group.members.iter().map(|&(_, distance)| group.residue + distance);
            distances.chain([group.align])
        });
        let unit = part.align.iter().copied().chain(groups).fold(0, |unit, one| gcd(unit, one as u64));
        let unit = unit.max(1) as i64;
        Self { part, domain, encoding, unit }
    }

    /// Returns the theory of the encoding, or linear arithmetic if alignments differ.
    pub fn theory(&self) -> Theory {
        let mut alignments =
            self.part.align.iter().copied().chain(self.part.rigid.iter().map(|group| group.align));
        let mixed = alignments.any(|align| align != self.unit);
        if mixed { Theory::Linear } else { self.encoding.theory }
    }

    /// Asserts all constraints. The encoding is incomplete if the budget `watch` runs out.
    pub fn assert(&self, solver: &Solver, watch: &mut Budget) -> Encoded {
        let part = self.part;
        let offsets: Vec<Int> = (0..part.len()).map(|i| Int::new_const(format!("o{i}"))).collect();
        for (i, offset) in offsets.iter().enumerate() {
            // The offset limits of unfixed buffers are multiples of their alignments.
            solver.assert(offset.ge(Int::from_i64(self.domain.low[i] / self.unit)));
            solver.assert(offset.le(Int::from_i64(self.domain.high[i] / self.unit)));
            if part.align[i] > self.unit {
                let multiple = Int::new_const(format!("k{i}"));
                solver.assert(offset.eq(multiple * Int::from_i64(part.align[i] / self.unit)));
            }
        }
        self.tie(solver, &offsets);
        let below = |i: usize, j: usize| {
            (&offsets[i] - &offsets[j]).le(Int::from_i64(-(part.rise(i, j) / self.unit)))
        };
        let orders: Vec<Bool> =
            part.pairs.iter().map(|&(i, j)| Bool::new_const(format!("z{i}_{j}"))).collect();
        for (at, &(i, j)) in part.pairs.iter().enumerate() {
            if watch.tick().is_some() {
                break;
            }
            match self.domain.below[at] {
                None if self.encoding.bridges > 0 => {
                    solver.assert(orders[at].implies(below(i, j)));
                    solver.assert((!&orders[at]).implies(below(j, i)));
                }
                None => solver.assert(Bool::or(&[below(i, j), below(j, i)])),
                Some(true) => solver.assert(&orders[at] & below(i, j)),
                Some(false) => solver.assert(!&orders[at] & below(j, i)),
            }
        }
        self.bridges(solver, &orders, watch);
        Encoded { offsets, unit: self.unit }
    }

    /// Asserts the distances within rigid groups, and the alignments of their bases.
    fn tie(&self, solver: &Solver, offsets: &[Int]) {
        let units = |value: i64| Int::from_i64(value / self.unit);
        for (at, group) in self.part.rigid.iter().enumerate() {
            let (first, lowest) = group.members[0];
            for &(member, distance) in &group.members[1..] {
                solver.assert((&offsets[member] - &offsets[first]).eq(units(distance - lowest)));
            }
            if group.align > self.unit {
                let steps = Int::new_const(format!("g{at}"));
                solver.assert(offsets[first].eq(steps * units(group.align) + units(group.residue + lowest)));
            }
        }
    }

    /// Asserts bridges as pseudo-Boolean constraints. Omits bridges whose coefficients add up to more than
    /// `i32::MAX`, because the z3 interface supports only 32-bit coefficients.
    fn bridges(&self, solver: &Solver, orders: &[Bool], watch: &mut Budget) {
        bridges(self.part, self.domain.upper, self.encoding.bridges, watch, |bridge| {
            let reached: i64 = bridge.terms.iter().map(|&(_, _, size)| size).sum();
            if i32::try_from(reached).is_err() {
                return;
            }
            let literal = |pair: usize, below: bool| {
                if below { orders[pair].clone() } else { !&orders[pair] }
            };
            let terms: Vec<(Bool, i32)> =
                bridge.terms.iter().map(|&(pair, below, size)| (literal(pair, below), size as i32)).collect();
            let terms: Vec<(&Bool, i32)> = terms.iter().map(|(literal, size)| (literal, *size)).collect();
            solver.assert(Bool::pb_le(&terms, bridge.most as i32));
        });
    }
}
