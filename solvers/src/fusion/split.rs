//! Finds the best choice among matches that share operators, by decomposition.
//!
//! The search branches on one operator: it chooses either one of the matches that contain the operator or
//! none of them. The remaining matches decompose into components. Each component is solved separately and
//! memoised under its exact set of matches.
//!
//! Tensors produced inside a match are consumed inside it, so most matches are paths in a tree whose edges
//! point towards the last operator of the component. After branching on this operator, whole subtrees remain,
//! so the number of components is at most the number of operators. If trees are so deep that the memo would
//! take too much memory, the search branches on a centroid instead. In a tree, every component then has at
//! most half of the operators.
//!
//! A component is finished when its greedy choice meets its dual bound. An option of a branch is pruned if
//! the dual bounds of the parts that remain show that it cannot exceed the best option.

use plimsoll_model::fusion::{FusionProblem, MULTIPLIER_UNIT, Match};
use plimsoll_model::{Budget, Stop};
use plimsoll_support::root;
use std::collections::HashMap;
use std::rc::Rc;

/// Remaining stack size in bytes below which the recursion allocates a further stack of [`STACK`] bytes.
const RED_ZONE: usize = 128 << 10;
const STACK: usize = 4 << 20;

/// Maximum estimated number of matches, in all parts that can remain recursively, for which the search
/// branches on the last operator.
const MOST_BELOW: usize = 1 << 23;

const NONE: usize = usize::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub optimised: usize,
    pub chosen: Vec<usize>,
}

#[derive(Clone)]
enum Known {
    /// A dual bound on the value of the component.
    Bound(usize),
    Best(Rc<Choice>),
}

/// A component that remains after a branch.
struct Part {
    matches: Vec<usize>,
    /// Upper bound on the value of any choice. Once the part is solved, it is the value of the best choice.
    bound: usize,
    best: Option<Rc<Choice>>,
}

/// A solver for sets of matches that memoises its results.
pub(super) struct Splitter<'a> {
    problem: &'a FusionProblem,
    /// The results by set of matches, where each set lists its matches in ascending order. The map is never
    /// iterated, so its own order does not matter.
    known: HashMap<Vec<usize>, Known>,
    /// Per operator: its number in the current set of matches, or [`NONE`]. All entries are [`NONE`] between
    /// uses.
    slots: Vec<usize>,
}

impl<'a> Splitter<'a> {
    pub fn new(problem: &'a FusionProblem) -> Self {
        Self { problem, known: HashMap::new(), slots: vec![NONE; problem.operators().len()] }
    }

    fn one(&self, at: usize) -> &'a Match {
        &self.problem.matches()[at]
    }

    /// Returns the best choice for one component, whose matches are given in ascending order.
    pub fn best(&mut self, matches: &[usize], budget: &mut Budget) -> Result<Rc<Choice>, Stop> {
        let bound = match self.known.get(matches) {
            Some(Known::Best(best)) => return Ok(best.clone()),
            Some(&Known::Bound(bound)) => bound,
            None => self.priced(matches),
        };
        // A node takes much longer than reading the clock, so the clock is read at every node.
        if let Some(stop) = budget.tick().or_else(|| budget.check()) {
            return Err(stop);
        }
        let greedy = self.greedy(matches);
        let best = if greedy.optimised == bound {
            greedy
        } else {
            stacker::maybe_grow(RED_ZONE, STACK, || self.settle(matches, greedy, budget))?
        };
        let best = Rc::new(best);
        self.known.insert(matches.to_vec(), Known::Best(best.clone()));
        Ok(best)
    }

    /// Returns an upper bound on the value of any choice in a component.
    fn bound(&mut self, matches: &[usize]) -> usize {
        match self.known.get(matches) {
            Some(Known::Best(best)) => best.optimised,
            Some(&Known::Bound(bound)) => bound,
            None => {
                let bound = self.priced(matches);
                self.known.insert(matches.to_vec(), Known::Bound(bound));
                bound
            }
        }
    }

    fn settle(&mut self, matches: &[usize], mut best: Choice, budget: &mut Budget) -> Result<Choice, Stop> {
        let place = self.pivot(matches);
        let (with, without): (Vec<usize>, Vec<usize>) =
            matches.iter().partition(|&&at| self.one(at).places.binary_search(&place).is_ok());
        let mut parts = self.parts(&without);
        let mut part_of: HashMap<usize, usize> = HashMap::new();
        for (nth, part) in parts.iter().enumerate() {
            for &place in part.matches.iter().flat_map(|&at| &self.one(at).places) {
                part_of.insert(place, nth);
            }
        }
        let mut options: Vec<Option<usize>> = with.into_iter().map(Some).collect();
        options.sort_by_key(|option| option.map(|at| usize::MAX - self.one(at).optimised));
        options.push(None);
        for option in options {
            let own: &[usize] = option.map_or(&[], |at| &self.one(at).places);
            let mut touched: Vec<usize> =
                own.iter().filter_map(|place| part_of.get(place).copied()).collect();
            touched.sort_unstable();
            touched.dedup();
            let mut pieces = Vec::new();
            for &nth in &touched {
                let free =
                    |other: &usize| !self.one(*other).places.iter().any(|p| own.binary_search(p).is_ok());
                let rest: Vec<usize> = parts[nth].matches.iter().copied().filter(free).collect();
                pieces.extend(self.parts(&rest));
            }
            let whole = (0..parts.len()).filter(|nth| touched.binary_search(nth).is_err());
            let whole: Vec<usize> = whole.collect();
            let mut reach = option.map_or(0, |at| self.one(at).optimised)
                + pieces.iter().map(|part| part.bound).sum::<usize>()
                + whole.iter().map(|&nth| parts[nth].bound).sum::<usize>();
            let mut chosen: Vec<usize> = option.into_iter().collect();
            let count = pieces.len();
            for at in 0..count + whole.len() {
                if reach <= best.optimised {
                    break;
                }
                let part = if at < count { &mut pieces[at] } else { &mut parts[whole[at - count]] };
                reach -= part.bound;
                self.solve(part, budget)?;
                reach += part.bound;
                chosen.extend(part.best.iter().flat_map(|best| &best.chosen));
            }
            if reach > best.optimised {
                best = Choice { optimised: reach, chosen };
            }
        }
        Ok(best)
    }

    fn parts(&mut self, matches: &[usize]) -> Vec<Part> {
        let sets = self.split(matches);
        sets.into_iter().map(|matches| Part { bound: self.bound(&matches), matches, best: None }).collect()
    }

    /// Solves a part and sets its bound to the value of its best choice.
    fn solve(&mut self, part: &mut Part, budget: &mut Budget) -> Result<(), Stop> {
        if part.best.is_none() {
            let best = self.best(&part.matches, budget)?;
            part.bound = best.optimised;
            part.best = Some(best);
        }
        Ok(())
    }

    /// Chooses, in the given order, each match that shares no operator with an earlier choice.
    fn greedy(&mut self, matches: &[usize]) -> Choice {
        let mut choice = Choice::default();
        for &at in matches {
            let one = self.one(at);
            if one.places.iter().all(|&place| self.slots[place] == NONE) {
                choice.optimised += one.optimised;
                choice.chosen.push(at);
                for &place in &one.places {
                    self.slots[place] = 0;
                }
            }
        }
        self.forget(matches);
        choice
    }

    /// Numbers the operators of these matches by first appearance and lists them. The caller must reset the
    /// numbers after use.
    fn number(&mut self, matches: &[usize]) -> Vec<usize> {
        let mut places = Vec::new();
        for &at in matches {
            for &place in &self.one(at).places {
                if self.slots[place] == NONE {
                    self.slots[place] = places.len();
                    places.push(place);
                }
            }
        }
        places
    }

    fn forget(&mut self, matches: &[usize]) {
        for &at in matches {
            for &place in &self.one(at).places {
                self.slots[place] = NONE;
            }
        }
    }

    /// Returns two lists. The first contains, for each match, the numbers of its operators. The second
    /// contains all operators, indexed by these numbers.
    fn numbered(&mut self, matches: &[usize]) -> (Vec<Vec<usize>>, Vec<usize>) {
        let places = self.number(matches);
        let slots = |&at: &usize| self.one(at).places.iter().map(|&place| self.slots[place]).collect();
        let inside = matches.iter().map(slots).collect();
        self.forget(matches);
        (inside, places)
    }

    /// Returns the connected components of a set of matches, each in ascending order.
    fn split(&mut self, matches: &[usize]) -> Vec<Vec<usize>> {
        let (inside, places) = self.numbered(matches);
        let mut parent: Vec<usize> = (0..places.len()).collect();
        for slots in &inside {
            let first = root(&mut parent, slots[0]);
            for &slot in &slots[1..] {
                let other = root(&mut parent, slot);
                parent[other] = first;
            }
        }
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut set_of = vec![NONE; places.len()];
        for (&at, slots) in matches.iter().zip(&inside) {
            let root = root(&mut parent, slots[0]);
            if set_of[root] == NONE {
                set_of[root] = sets.len();
                sets.push(Vec::new());
            }
            sets[set_of[root]].push(at);
        }
        sets
    }

    /// Returns the operator of a component to branch on. This is the last operator if all parts that can
    /// remain, recursively, take little memory. Otherwise it is the operator whose removal from a spanning
    /// tree minimises the largest remaining part.
    fn pivot(&mut self, matches: &[usize]) -> usize {
        let (inside, places) = self.numbered(matches);
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
        for pair in inside.iter().flat_map(|slots| slots.windows(2)) {
            next[pair[0]].push(pair[1]);
            next[pair[1]].push(pair[0]);
        }
        let last = (0..places.len()).max_by_key(|&slot| places[slot]).expect("a component has places");
        let tree = reach(last, &next);
        let mut depth = vec![0usize; places.len()];
        for &(here, parent) in &tree[1..] {
            depth[here] = depth[parent] + 1;
        }
        let below = depth.iter().sum::<usize>().saturating_mul(matches.len()) / places.len();
        if below <= MOST_BELOW {
            return places[last];
        }
        let parts = parts(&tree);
        places[(0..places.len())
            .min_by_key(|&slot| (parts[slot], places[slot]))
            .expect("a component has places")]
    }

    /// Returns a dual bound on the value of a set of matches. A match distributes its weight evenly over its
    /// operators. At first, the multiplier of an operator is the largest share that it gets from a match.
    /// Multipliers are then lowered as far as the matches allow, in two orders. Returns the better of the two
    /// bounds.
    fn priced(&mut self, matches: &[usize]) -> usize {
        let (inside, places) = self.numbered(matches);
        let mut of_place: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
        let mut share = vec![0u64; places.len()];
        let worth = |at: usize| self.one(matches[at]).optimised as u64 * MULTIPLIER_UNIT;
        for (at, slots) in inside.iter().enumerate() {
            for &slot in slots {
                of_place[slot].push(at);
                share[slot] = share[slot].max(worth(at).div_ceil(slots.len() as u64));
            }
        }
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&slot| (of_place[slot].len(), places[slot]));
        let spare: Vec<u64> = inside
            .iter()
            .enumerate()
            .map(|(at, slots)| slots.iter().map(|&slot| share[slot]).sum::<u64>() - worth(at))
            .collect();
        let lowered = |order: &mut dyn Iterator<Item = &usize>| {
            let (mut multipliers, mut spare) = (share.clone(), spare.clone());
            for &slot in order {
                let least =
                    of_place[slot].iter().map(|&at| spare[at]).min().unwrap_or(0).min(multipliers[slot]);
                multipliers[slot] -= least;
                for &at in &of_place[slot] {
                    spare[at] -= least;
                }
            }
            (multipliers.iter().sum::<u64>() / MULTIPLIER_UNIT) as usize
        };
        lowered(&mut order.iter()).min(lowered(&mut order.iter().rev()))
    }
}

/// Returns a breadth-first spanning tree from an operator, as operators with their parents. The parent of the
/// root is [`NONE`].
fn reach(from: usize, next: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut tree = vec![(from, NONE)];
    let mut seen = vec![false; next.len()];
    seen[from] = true;
    let mut at = 0;
    while at < tree.len() {
        let here = tree[at].0;
        for &other in &next[here] {
            if !std::mem::replace(&mut seen[other], true) {
                tree.push((other, here));
            }
        }
        at += 1;
    }
    tree
}

/// Returns, for each vertex of a tree, the size of the largest part that remains if the vertex is removed.
fn parts(tree: &[(usize, usize)]) -> Vec<usize> {
    let mut sizes = vec![1; tree.len()];
    let mut largest = vec![0; tree.len()];
    for &(here, parent) in tree.iter().rev() {
        if parent != NONE {
            sizes[parent] += sizes[here];
            largest[parent] = largest[parent].max(sizes[here]);
        }
    }
    (0..tree.len()).map(|slot| largest[slot].max(tree.len() - sizes[slot])).collect()
}
