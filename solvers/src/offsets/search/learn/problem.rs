//! The variables of clause learning. For every two conflicting buffers, one variable decides which of them
//! lies below.

use crate::offsets::search::valley::Reduced;

/// A literal: twice the number of the variable, plus one if negated.
pub(super) type Lit = u32;

/// A problem with one variable per conflict. In interval instances, the cliques are the maximal sets of
/// simultaneously live buffers.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Size of each buffer, in units.
    pub(super) size: Vec<i64>,
    pub(super) vars: usize,
    /// The two buffers of each variable. If the variable is true, the first lies below the second.
    pub(super) pairs: Vec<(u32, u32)>,
    /// The conflicting buffers of each buffer, each with the literal "this buffer lies below the other".
    pub(super) others: Vec<Vec<(u32, Lit)>>,
    /// Cliques that together contain all conflicting pairs.
    pub(super) cliques: Vec<Clique>,
    /// The cliques of each buffer, and its position in each of them.
    pub(super) memberships: Vec<Vec<(u32, u32)>>,
    /// Per buffer: the first interchangeable buffer, which may be the buffer itself.
    pub(super) twin: Vec<u32>,
    /// The restrictions of the offset of each buffer. The list is empty if there are none.
    pub(super) places: Vec<Place>,
    /// The rigid groups: the members of each, with their distances from the base in units.
    pub(super) groups: Vec<Vec<(u32, i64)>>,
}

/// The restrictions of the offset of a buffer, in units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The offset equals the residue modulo the alignment. The residue is 0 outside of rigid groups.
    pub alignment: i64,
    pub residue: i64,
    pub fixed: Option<i64>,
    /// The rigid group of the buffer and its distance from the base.
    pub group: Option<(usize, i64)>,
    /// The number of units by which a member of the group ends above this buffer.
    pub over: i64,
}

/// A set of pairwise conflicting buffers.
#[derive(Clone, Debug)]
pub(super) struct Clique {
    pub members: Vec<u32>,
    /// `below[a * members.len() + b]` is the literal "member `a` lies below member `b`". The diagonal is
    /// unused.
    pub below: Vec<Lit>,
}

/// Maximum number of members of a clique.
pub(super) const MOST_TOGETHER: usize = 24;

/// Maximum number of variables. Learning does not apply to problems with more, nor to those with more
/// triangles than [`MOST_TRIANGLES`].
pub(super) const MOST_VARIABLES: usize = 40_000;
const MOST_TRIANGLES: usize = 400_000;

impl Problem {
    /// Builds the problem. Returns `None` if there are too many variables or triangles, or more than 24
    /// simultaneously live buffers. The time is O(n w^2) for n buffers, at most w of them simultaneously
    /// live.
    pub fn of(reduced: &Reduced) -> Option<Self> {
        let mut pairs = Vec::new();
        let mut cliques: Vec<Vec<u32>> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        let mut grown = false;
        for s in 0..reduced.sections {
            let leaves = |&b: &u32| reduced.spans[b as usize].end as usize <= s;
            if grown && open.iter().any(leaves) {
                cliques.push(open.clone());
                grown = false;
            }
            open.retain(|b| !leaves(b));
            for b in reduced.first_at[s]..reduced.first_at[s + 1] {
                pairs.extend(open.iter().map(|&a| (a, b)));
                open.push(b);
                grown = true;
            }
            if pairs.len() > MOST_VARIABLES || open.len() > MOST_TOGETHER {
                return None;
            }
        }
        cliques.extend(grown.then_some(open));
        let size = reduced.spans.iter().map(|span| span.size).collect();
        Self::assembled(size, pairs, cliques, reduced.twin.clone(), Default::default())
    }

    /// Builds the problem from its parts. The cliques must contain all pairs. Returns `None` if there are too
    /// many triangles.
    pub(super) fn assembled(
        size: Vec<i64>,
        pairs: Vec<(u32, u32)>,
        cliques: Vec<Vec<u32>>,
        twin: Vec<u32>,
        (places, groups): (Vec<Place>, Vec<Vec<(u32, i64)>>),
    ) -> Option<Self> {
        let mut others: Vec<Vec<(u32, Lit)>> = vec![Vec::new(); size.len()];
        for (lit, &(a, b)) in (0..).step_by(2).zip(&pairs) {
            others[a as usize].push((b, lit));
            others[b as usize].push((a, lit ^ 1));
        }
        let literal = |a: u32, b: u32| {
            let found = others[a as usize].iter().find(|&&(other, _)| other == b);
            found.map_or(0, |&(_, lit)| lit)
        };
        let mut memberships = vec![Vec::new(); size.len()];
        let cliques: Vec<Clique> = (0..)
            .zip(cliques)
            .map(|(c, members)| {
                for (at, &b) in (0..).zip(&members) {
                    memberships[b as usize].push((c, at));
                }
                let below = members.iter().flat_map(|&a| members.iter().map(move |&b| (a, b)));
                let below = below.map(|(a, b)| literal(a, b)).collect();
                Clique { members, below }
            })
            .collect();
        let problem =
            Self { size, vars: pairs.len(), pairs, others, cliques, memberships, twin, places, groups };
        (problem.triangles().take(MOST_TRIANGLES + 1).count() <= MOST_TRIANGLES).then_some(problem)
    }

    /// Returns the bound of a node (see [`super::bounds::Bounds`]) that holds for all orders.
    pub(super) fn base(&self, node: usize, capacity: i64) -> i64 {
        let place = self.places.get(node / 2);
        match (place.and_then(|place| place.fixed), place.and_then(|place| place.group), node % 2) {
            (Some(offset), _, 0) => offset,
            (Some(offset), ..) => (capacity - offset - self.size[node / 2]).max(0),
            (None, Some((_, distance)), 0) => self.rounded(node, distance, capacity),
            (None, Some(_), _) => self.rounded(node, place.map_or(0, |place| place.over), capacity),
            (None, None, _) => self.rounded(node, 0, capacity),
        }
    }

    /// Rounds the bound of a node up to the next value that corresponds to an aligned offset of its buffer.
    pub(super) fn rounded(&self, node: usize, value: i64, capacity: i64) -> i64 {
        let Some(&Place { alignment, residue, .. }) = self.places.get(node / 2) else { return value };
        if node.is_multiple_of(2) {
            return value + (residue - value).rem_euclid(alignment);
        }
        // The bound on the height above is rounded so that the highest offset has the right residue.
        let highest = capacity - self.size[node / 2] - value;
        if highest < 0 { value } else { value + (highest - residue).rem_euclid(alignment) }
    }

    /// Returns the smallest value that [`Self::rounded`] rounds to at least `value`.
    pub(super) fn least(&self, node: usize, value: i64, capacity: i64) -> i64 {
        let Some(&Place { alignment, residue, .. }) = self.places.get(node / 2) else { return value };
        if node.is_multiple_of(2) {
            return (value - 1 - residue).div_euclid(alignment) * alignment + residue + 1;
        }
        // The largest offset from which rounding down leads to the highest offset or below it. Negative
        // offsets are not rounded.
        let highest = capacity - self.size[node / 2] - value;
        let spare = alignment - 1 - (highest - residue).rem_euclid(alignment);
        if highest + spare < 0 { value } else { value - spare }
    }

    /// Returns the nodes whose bounds imply one of a given node, because their buffers are in the same rigid
    /// group. The bound of the given node is at least that of the other node plus the second number.
    pub(super) fn tied(&self, node: usize) -> impl Iterator<Item = (usize, i64)> {
        let (buffer, side) = (node / 2, node % 2);
        let group = self.places.get(buffer).and_then(|place| place.group);
        let members = group.map_or(&[][..], |(group, _)| &self.groups[group]);
        let distance = group.map_or(0, |(_, distance)| distance);
        let others = members.iter().filter(move |member| member.0 as usize != buffer);
        others.map(move |&(other, low)| {
            let other = other as usize;
            let more = match side {
                0 => distance - low,
                _ => low + self.size[other] - distance - self.size[buffer],
            };
            (2 * other + side, more)
        })
    }

    /// Returns the two buffers of a literal. If the literal is true, the first lies below the second.
    pub(super) fn pair(&self, lit: Lit) -> (usize, usize) {
        let (a, b) = self.pairs[(lit >> 1) as usize];
        if lit & 1 == 0 { (a as usize, b as usize) } else { (b as usize, a as usize) }
    }

    /// Returns the literal "`a` lies below `b`". The two buffers must conflict.
    pub(super) fn below(&self, a: usize, b: usize) -> Lit {
        let found = self.others[a].iter().find(|&&(other, _)| other as usize == b);
        found.expect("they conflict").1
    }

    /// Returns, for every three buffers of a clique, the literals "`a` below `b`", "`b` below `c`" and
    /// "`c` below `a`". These three literals must be neither all true nor all false.
    pub(super) fn triangles(&self) -> impl Iterator<Item = [Lit; 3]> {
        self.cliques.iter().enumerate().flat_map(move |(c, clique)| {
            let k = clique.members.len();
            let shared = move |a: usize| {
                let before = if c == 0 { None } else { self.cliques.get(c - 1) };
                before.is_some_and(|before| before.members.contains(&clique.members[a]))
            };
            let triples = (0..k).flat_map(move |x| (x + 1..k).map(move |y| (x, y)));
            let triples = triples.flat_map(move |(x, y)| (y + 1..k).map(move |z| (x, y, z)));
            // Triples that are also in the previous clique have already been listed.
            triples.filter(move |&(x, y, z)| !(shared(x) && shared(y) && shared(z))).map(move |(x, y, z)| {
                let below = |a: usize, b: usize| clique.below[a * k + b];
                [below(x, y), below(y, z), below(z, x)]
            })
        })
    }
}
