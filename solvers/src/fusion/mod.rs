//! Fusions of greatest coverage: weighted set packing over the matches of patterns.
//!
//! Matches that share operators form components, solved one by one. [`ExactFusion`] goes through the places of a component in their order and
//! keeps, for every set of later places that are taken already, the most relations optimised so far: two choices that leave
//! the same places free are one state. A state is left where even what free places cost
//! ([`fusion_prices`]) cannot lift it above the best choice known. Chains of overlapping patterns have few such
//! sets, as a match reaches a few places ahead only.

#[cfg(feature = "ilp")]
mod ilp;

#[cfg(feature = "ilp")]
pub use ilp::FusionIlp;
use plimsoll_heuristics::LongestMatch;
use plimsoll_model::fusion::{
    Fuser, FuserEntry, FusionBound, FusionOutcome, FusionProblem, FusionWitness, Match, PRICE_UNIT,
    fusion_prices, priced,
};
use plimsoll_model::{Budget, Kind, SolveError, Stats, Stop};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

const NAME: &str = "exact";

/// Fusions with proof, the default first.
pub const FUSERS: &[FuserEntry] = &[
    FuserEntry {
        name: NAME,
        kind: Kind::Exact,
        about: "operator by operator over sets of taken ones, cut by prices; component by component",
        source: "own; weighted set packing, weak duality",
        build: |_| Box::new(ExactFusion),
    },
    #[cfg(feature = "ilp")]
    FuserEntry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program with a binary per match, one match per operator, solved by HiGHS",
        source: "set packing; good_lp, HiGHS",
        build: |setup| Box::new(FusionIlp::new(setup)),
    },
    FuserEntry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "every choice of at most sixteen matches, as the judge of the others",
        source: "this project",
        build: |_| Box::new(FusionBrute),
    },
];

/// The search described [above](self). Reads no seed and uses one thread; a node is a state.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactFusion;

impl Fuser for ExactFusion {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(&self, problem: &FusionProblem, budget: &mut Budget) -> Result<FusionOutcome, SolveError> {
        let before = budget.nodes();
        let prices = fusion_prices(problem);
        let mut known = vec![false; problem.matches().len()];
        for at in LongestMatch::choose(problem) {
            known[at] = true;
        }
        let (mut chosen, mut bound, mut shown) = (Vec::new(), 0, 0);
        let mut stop = None;
        for component in problem.components() {
            let cost = priced(problem, &prices, &component);
            let greedy: Vec<usize> = component.iter().copied().filter(|&at| known[at]).collect();
            let value = problem.optimised(&greedy);
            shown += cost;
            if value == cost || stop.is_some() {
                bound += cost;
                chosen.extend(greedy);
                continue;
            }
            match (Component { problem, prices: &prices, matches: &component, floor: value }).best(budget) {
                Ok(best) => {
                    let best = best.unwrap_or(greedy);
                    bound += problem.optimised(&best);
                    chosen.extend(best);
                }
                Err(why) => {
                    stop = Some(why);
                    bound += cost;
                    chosen.extend(greedy);
                }
            }
        }
        let witness = if bound == shown {
            FusionWitness::Prices(prices)
        } else {
            FusionWitness::Search { solver: NAME.to_owned() }
        };
        let stats = Stats { nodes: budget.nodes() - before, ..Stats::default() };
        let bound = FusionBound { value: bound, witness };
        Ok(FusionOutcome::conclude(problem, chosen, bound, stop.unwrap_or(Stop::Completed), stats))
    }
}

/// Matches that share operators with each other and nobody else.
struct Component<'a> {
    problem: &'a FusionProblem,
    prices: &'a [u64],
    /// Ascending, so by first place.
    matches: &'a [usize],
    /// Relations of a choice known: only better ones are looked for.
    floor: usize,
}

/// How a state came about.
#[derive(Clone, Copy)]
struct State {
    optimised: usize,
    /// Price of everything still free.
    left: u64,
    /// Where it is among the steps taken; the first is none.
    last: usize,
}

impl Component<'_> {
    fn one(&self, at: usize) -> &Match {
        &self.problem.matches()[at]
    }

    /// The best choice, ascending, if it is better than the floor.
    fn best(&self, budget: &mut Budget) -> Result<Option<Vec<usize>>, Stop> {
        let mut places: Vec<usize> =
            self.matches.iter().flat_map(|&at| self.one(at).places.iter().copied()).collect();
        places.sort_unstable();
        places.dedup();
        let all: u64 = places.iter().map(|&place| self.prices[place]).sum();
        // Steps taken: which match, after which step.
        let mut steps: Vec<(Option<usize>, usize)> = vec![(None, 0)];
        let start = State { optimised: 0, left: all, last: 0 };
        let mut states: BTreeMap<Vec<usize>, State> = BTreeMap::from([(Vec::new(), start)]);
        let mut first = 0;
        for place in places {
            let from = first;
            while first < self.matches.len() && self.one(self.matches[first]).places[0] == place {
                first += 1;
            }
            let begin = &self.matches[from..first];
            let mut next: BTreeMap<Vec<usize>, State> = BTreeMap::new();
            for (taken, state) in states {
                if let Some(stop) = budget.tick() {
                    return Err(stop);
                }
                if taken.first() == Some(&place) {
                    self.offer(&mut next, taken[1..].to_vec(), state);
                    continue;
                }
                let left = state.left - self.prices[place];
                for &at in begin {
                    let one = self.one(at);
                    let rest = &one.places[1..];
                    if rest.iter().any(|place| taken.binary_search(place).is_ok()) {
                        continue;
                    }
                    let mut with = [&taken[..], rest].concat();
                    with.sort_unstable();
                    let left = left - rest.iter().map(|&place| self.prices[place]).sum::<u64>();
                    let optimised = state.optimised + one.optimised;
                    let after = State { optimised, left, last: steps.len() };
                    if self.offer(&mut next, with, after) {
                        steps.push((Some(at), state.last));
                    }
                }
                self.offer(&mut next, taken, State { left, ..state });
            }
            states = next;
        }
        let best = states.into_values().max_by_key(|state| state.optimised);
        Ok(best.filter(|state| state.optimised > self.floor).map(|state| {
            let (mut chosen, mut at) = (Vec::new(), state.last);
            while let (Some(one), before) = steps[at] {
                chosen.push(one);
                at = before;
            }
            chosen.sort_unstable();
            chosen
        }))
    }

    /// Keeps a state unless it cannot exceed the floor, or one with the same places taken is as good. Says whether it did.
    fn offer(&self, states: &mut BTreeMap<Vec<usize>, State>, taken: Vec<usize>, state: State) -> bool {
        if state.optimised + (state.left / PRICE_UNIT) as usize <= self.floor {
            return false;
        }
        match states.entry(taken) {
            Entry::Vacant(entry) => drop(entry.insert(state)),
            Entry::Occupied(entry) if entry.get().optimised >= state.optimised => return false,
            Entry::Occupied(mut entry) => drop(entry.insert(state)),
        }
        true
    }
}

/// Every choice of few matches.
#[derive(Clone, Copy, Debug, Default)]
pub struct FusionBrute;

/// Beyond this many matches it declines.
const MOST_MATCHES: usize = 16;

impl Fuser for FusionBrute {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn solve(&self, problem: &FusionProblem, budget: &mut Budget) -> Result<FusionOutcome, SolveError> {
        let matches = problem.matches();
        if matches.len() > MOST_MATCHES {
            let reason = format!("{} matches are more than {MOST_MATCHES}", matches.len());
            return Err(SolveError::Unsupported { solver: "brute-force", reason });
        }
        let mut best = (0, Vec::new());
        for choice in 0..1u32 << matches.len() {
            let chosen: Vec<usize> = (0..matches.len()).filter(|at| choice >> at & 1 == 1).collect();
            let mut places: Vec<usize> =
                chosen.iter().flat_map(|&at| matches[at].places.iter().copied()).collect();
            places.sort_unstable();
            if places.windows(2).all(|pair| pair[0] != pair[1]) && problem.optimised(&chosen) > best.0 {
                best = (problem.optimised(&chosen), chosen);
            }
        }
        let nodes = 1 << matches.len();
        budget.spend(nodes);
        let witness = FusionWitness::Search { solver: "brute-force".to_owned() };
        let bound = FusionBound { value: best.0, witness };
        let stats = Stats { nodes, ..Stats::default() };
        Ok(FusionOutcome::conclude(problem, best.1, bound, Stop::Completed, stats))
    }
}
