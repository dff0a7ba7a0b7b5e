//! The choices: for every two buffers alive together, who lies below.

use crate::search::valley::Reduced;

/// A literal: twice the variable, plus one where it is negated.
pub(super) type Lit = u32;

/// Every conflict as a variable, every set of buffers alive together as a clique.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Units, by buffer.
    pub(super) size: Vec<i64>,
    pub(super) vars: usize,
    /// For each variable the two buffers, the first below the second where it is true.
    pub(super) pairs: Vec<(u32, u32)>,
    /// For each buffer those it conflicts with, with the literal that says that it lies below them.
    pub(super) others: Vec<Vec<(u32, Lit)>>,
    /// Cliques of buffers alive together, none within another.
    pub(super) cliques: Vec<Clique>,
    /// For each buffer its cliques, first and first after, and its place in each.
    pub(super) places: Vec<Vec<(u32, u32)>>,
}

/// Buffers alive together.
#[derive(Clone, Debug)]
pub(super) struct Clique {
    pub members: Vec<u32>,
    /// `below[a * members.len() + b]`: the `a`-th lies below the `b`-th; unused where they are the same.
    pub below: Vec<Lit>,
}

/// Most buffers alive together.
pub(super) const MOST_TOGETHER: usize = 24;

/// Most variables and most clauses about triangles: what is above is left to other methods.
const MOST_VARIABLES: usize = 40_000;
const MOST_TRIANGLES: usize = 400_000;

impl Problem {
    /// `None` where there are too many choices, or more than 24 alive at a time. O(n alive^2).
    pub fn of(reduced: &Reduced) -> Option<Self> {
        let n = reduced.len();
        let size = reduced.spans.iter().map(|span| span.size).collect();
        let mut others: Vec<Vec<(u32, Lit)>> = vec![Vec::new(); n];
        let mut pairs = Vec::new();
        let mut kept: Vec<Vec<u32>> = Vec::new();
        let mut places = vec![Vec::new(); n];
        let mut open: Vec<u32> = Vec::new();
        let mut grown = false;
        for s in 0..reduced.sections {
            let leaves = |&b: &u32| reduced.spans[b as usize].end as usize <= s;
            if grown && open.iter().any(leaves) {
                kept.push(open.clone());
                grown = false;
            }
            open.retain(|b| !leaves(b));
            for b in reduced.first_at[s]..reduced.first_at[s + 1] {
                for &a in &open {
                    let lit = 2 * pairs.len() as Lit;
                    pairs.push((a, b));
                    others[a as usize].push((b, lit));
                    others[b as usize].push((a, lit ^ 1));
                }
                open.push(b);
                grown = true;
            }
            if pairs.len() > MOST_VARIABLES || open.len() > MOST_TOGETHER {
                return None;
            }
        }
        kept.extend(grown.then_some(open));
        let literal = |a: u32, b: u32| {
            let found = others[a as usize].iter().find(|&&(other, _)| other == b);
            found.map_or(0, |&(_, lit)| lit)
        };
        let cliques: Vec<Clique> = kept
            .into_iter()
            .enumerate()
            .map(|(c, members)| {
                for (at, &b) in (0..).zip(&members) {
                    places[b as usize].push((c as u32, at));
                }
                let below = members.iter().flat_map(|&a| members.iter().map(move |&b| (a, b)));
                let below = below.map(|(a, b)| literal(a, b)).collect();
                Clique { members, below }
            })
            .collect();
        let vars = pairs.len();
        let problem = Self { size, vars, pairs, others, cliques, places };
        (problem.triangles().take(MOST_TRIANGLES + 1).count() <= MOST_TRIANGLES).then_some(problem)
    }

    /// Most buffers alive together.
    pub fn widest(&self) -> usize {
        self.cliques.iter().map(|clique| clique.members.len()).max().unwrap_or(0)
    }

    /// Who lies below whom where the literal is true.
    pub(super) fn pair(&self, lit: Lit) -> (usize, usize) {
        let (a, b) = self.pairs[(lit >> 1) as usize];
        if lit & 1 == 0 { (a as usize, b as usize) } else { (b as usize, a as usize) }
    }

    /// The literal that says that `a` lies below `b`; they must conflict.
    pub(super) fn below(&self, a: usize, b: usize) -> Lit {
        let found = self.others[a].iter().find(|&&(other, _)| other as usize == b);
        found.expect("they conflict").1
    }

    /// For every three buffers alive together `a` below `b`, `b` below `c`, `c` below `a`: not all three, nor none.
    pub(super) fn triangles(&self) -> impl Iterator<Item = [Lit; 3]> {
        self.cliques.iter().enumerate().flat_map(move |(c, clique)| {
            let k = clique.members.len();
            let shared = move |a: usize| {
                let before = if c == 0 { None } else { self.cliques.get(c - 1) };
                before.is_some_and(|before| before.members.contains(&clique.members[a]))
            };
            let triples = (0..k).flat_map(move |x| (x + 1..k).map(move |y| (x, y)));
            let triples = triples.flat_map(move |(x, y)| (y + 1..k).map(move |z| (x, y, z)));
            // Three that were together in the clique before have been listed there.
            triples.filter(move |&(x, y, z)| !(shared(x) && shared(y) && shared(z))).map(move |(x, y, z)| {
                let below = |a: usize, b: usize| clique.below[a * k + b];
                [below(x, y), below(y, z), below(z, x)]
            })
        })
    }
}
