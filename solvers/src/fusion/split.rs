//! The best choice among matches that share operators, by taking them apart.
//!
//! Some operator is settled: one of the matches with it is chosen, or none. What is left falls into components, each solved on its
//! own and remembered by its matches in full. The operator is one whose matches, taken away, leave the smallest largest component, so
//! that components halve; matches are paths in trees or nearly so, as what is made inside is read inside, and few operators
//! hold such trees together. A component is done where its greedy choice meets its own prices, and an option is left where prices of
//! what it leaves cannot lift it above the best one.

use plimsoll_model::fusion::{FusionProblem, Match, PRICE_UNIT};
use plimsoll_model::{Budget, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// So many operators are tried as the one to settle.
const CANDIDATES: usize = 12;

/// Stack left below which a recursion takes more, and how much; bytes.
const RED_ZONE: usize = 128 << 10;
const STACK: usize = 4 << 20;

/// A choice and what it optimises.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub optimised: usize,
    pub chosen: Vec<usize>,
}

/// The most that can be had of sets of matches.
pub(super) struct Splitter<'a> {
    problem: &'a FusionProblem,
    known: BTreeMap<Vec<usize>, Rc<Choice>>,
}

impl<'a> Splitter<'a> {
    pub fn new(problem: &'a FusionProblem) -> Self {
        Self { problem, known: BTreeMap::new() }
    }

    fn one(&self, at: usize) -> &'a Match {
        &self.problem.matches()[at]
    }

    /// The best choice among matches that form one component, ascending.
    pub fn best(&mut self, matches: &[usize], budget: &mut Budget) -> Result<Rc<Choice>, Stop> {
        if let Some(known) = self.known.get(matches) {
            return Ok(known.clone());
        }
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        let greedy = self.greedy(matches);
        let best = if greedy.optimised == self.bound(matches) {
            greedy
        } else {
            stacker::maybe_grow(RED_ZONE, STACK, || self.settle(matches, greedy, budget))?
        };
        let best = Rc::new(best);
        self.known.insert(matches.to_vec(), best.clone());
        Ok(best)
    }

    fn settle(&mut self, matches: &[usize], mut best: Choice, budget: &mut Budget) -> Result<Choice, Stop> {
        let place = self.separator(matches);
        let (with, without): (Vec<usize>, Vec<usize>) =
            matches.iter().partition(|&&at| self.one(at).places.binary_search(&place).is_ok());
        let mut options: Vec<Option<usize>> = with.into_iter().map(Some).collect();
        options.sort_by_key(|option| option.map(|at| usize::MAX - self.one(at).optimised));
        options.push(None);
        for option in options {
            let rest: Vec<usize> = match option {
                None => without.clone(),
                Some(at) => {
                    let own = &self.one(at).places;
                    let free =
                        |other: &usize| !self.one(*other).places.iter().any(|p| own.binary_search(p).is_ok());
                    without.iter().copied().filter(free).collect()
                }
            };
            let parts = split(self.problem, &rest);
            let bounds: Vec<usize> = parts.iter().map(|part| self.bound(part)).collect();
            let mut reach = option.map_or(0, |at| self.one(at).optimised) + bounds.iter().sum::<usize>();
            let mut chosen: Vec<usize> = option.into_iter().collect();
            for (part, bound) in parts.iter().zip(bounds) {
                if reach <= best.optimised {
                    break;
                }
                let part = self.best(part, budget)?;
                reach -= bound - part.optimised;
                chosen.extend(&part.chosen);
            }
            if reach > best.optimised {
                best = Choice { optimised: reach, chosen };
            }
        }
        Ok(best)
    }

    /// First come, first served, in the order of the matches.
    fn greedy(&self, matches: &[usize]) -> Choice {
        let (mut taken, mut choice) = (BTreeSet::<usize>::new(), Choice::default());
        for &at in matches {
            let one = self.one(at);
            if one.places.iter().all(|place| !taken.contains(place)) {
                taken.extend(&one.places);
                choice.optimised += one.optimised;
                choice.chosen.push(at);
            }
        }
        choice
    }

    /// The place to settle: of those in many matches and some others, the one whose matches hold most together.
    fn separator(&self, matches: &[usize]) -> usize {
        let mut count: BTreeMap<usize, usize> = BTreeMap::new();
        for &place in matches.iter().flat_map(|&at| &self.one(at).places) {
            *count.entry(place).or_default() += 1;
        }
        let places: Vec<usize> = count.keys().copied().collect();
        let mut tried: Vec<usize> = places.clone();
        tried.sort_by_key(|place| usize::MAX - count[place]);
        tried.truncate(CANDIDATES / 2);
        let stride = (places.len() / (CANDIDATES / 2 + 1)).max(1);
        // From the middle outwards there is no better guess than to look everywhere.
        tried.extend(places.iter().skip(stride).step_by(stride).take(CANDIDATES / 2));
        tried.push(places[places.len() / 2]);
        let largest = |place: usize| {
            let rest: Vec<usize> = matches
                .iter()
                .copied()
                .filter(|&at| self.one(at).places.binary_search(&place).is_err())
                .collect();
            split(self.problem, &rest).iter().map(Vec::len).max().unwrap_or(0)
        };
        let best = tried.into_iter().min_by_key(|&place| (largest(place), place));
        best.expect("a component has places")
    }

    /// What prices of this component alone show.
    fn bound(&self, matches: &[usize]) -> usize {
        let mut places: Vec<usize> =
            matches.iter().flat_map(|&at| self.one(at).places.iter().copied()).collect();
        places.sort_unstable();
        places.dedup();
        let slot = |place: &usize| places.binary_search(place).expect("it is one of them");
        let inside: Vec<Vec<usize>> =
            matches.iter().map(|&at| self.one(at).places.iter().map(slot).collect()).collect();
        let mut of_place: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
        let mut share = vec![0u64; places.len()];
        let worth = |at: usize| self.one(matches[at]).optimised as u64 * PRICE_UNIT;
        for (at, slots) in inside.iter().enumerate() {
            for &slot in slots {
                of_place[slot].push(at);
                share[slot] = share[slot].max(worth(at).div_ceil(slots.len() as u64));
            }
        }
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&slot| of_place[slot].len());
        let lowered = |order: &mut dyn Iterator<Item = &usize>| {
            let mut prices = share.clone();
            let mut spare: Vec<u64> = inside
                .iter()
                .enumerate()
                .map(|(at, slots)| slots.iter().map(|&slot| prices[slot]).sum::<u64>() - worth(at))
                .collect();
            for &slot in order {
                let least = of_place[slot].iter().map(|&at| spare[at]).min().unwrap_or(0).min(prices[slot]);
                prices[slot] -= least;
                for &at in &of_place[slot] {
                    spare[at] -= least;
                }
            }
            (prices.iter().sum::<u64>() / PRICE_UNIT) as usize
        };
        lowered(&mut order.iter()).min(lowered(&mut order.iter().rev()))
    }
}

/// The components of a set of matches, each ascending.
fn split(problem: &FusionProblem, matches: &[usize]) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..matches.len()).collect();
    let mut owner: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, &one) in matches.iter().enumerate() {
        for &place in &problem.matches()[one].places {
            let first = *owner.entry(place).or_insert(at);
            let (a, b) = (root(&mut parent, first), root(&mut parent, at));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, &one) in matches.iter().enumerate() {
        sets.entry(root(&mut parent, at)).or_default().push(one);
    }
    sets.into_values().collect()
}

/// The representative of a set, the way to it halved.
fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}
