//! The operators that a proof still considers, and the bytes that are live after sets of them.

use super::problem::{OrderProblem, Storage};
use crate::error::Reason;
use crate::work::Work;
use std::collections::{HashMap, HashSet};

/// Maximum number of operators in a group that [`Part::is_least`] checks.
const MOST_OPERATORS: usize = 64;
/// Maximum number of sets that [`Part::is_least`] compares.
const MOST_SETS: usize = 1 << 12;

/// A set of operators of a part: one bit per operator, with the most significant word first. Comparing two
/// sets therefore compares them as binary numbers.
pub(super) type Set = Box<[u64]>;

/// The operators that remain after `drop`, `skip` and `keep`, renumbered from 0, in one direction of time.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Per operator: its number in the problem.
    pub ids: Vec<u32>,
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
    scratch: Vec<u128>,
    storages: Vec<Held>,
    /// Per operator: the storages that it uses.
    uses: Vec<Vec<u32>>,
    /// Bytes of the storages that no remaining operator uses and that are live throughout.
    base: u128,
    /// Number of operators, precedences, storages and their users.
    pub size: usize,
}

/// Memory that is live from its first to its last use.
#[derive(Clone, Debug)]
struct Held {
    size: u128,
    /// Whether it is live before all operators of the part, and after them.
    ends: [bool; 2],
    users: Vec<u32>,
}

impl Held {
    /// Returns the size if the storage is live after `seen` of its users have run, and otherwise 0.
    fn live(&self, seen: u32) -> u128 {
        let (begun, ended) = (self.ends[0] || seen > 0, seen as usize == self.users.len() && !self.ends[1]);
        if begun && !ended { self.size } else { 0 }
    }
}

impl Part {
    /// Returns the part that contains all operators of a problem.
    pub fn of(problem: &OrderProblem) -> Self {
        let held = |s: &Storage| Held {
            size: s.size.into(),
            ends: [s.from_start, s.to_end],
            users: s.users.clone(),
        };
        Self {
            ids: (0..problem.scratch.len() as u32).collect(),
            before: problem.before.clone(),
            after: Vec::new(),
            scratch: problem.scratch.iter().map(|&bytes| bytes.into()).collect(),
            storages: problem.storages.iter().map(held).collect(),
            uses: Vec::new(),
            base: 0,
            size: 0,
        }
        .linked()
    }

    /// Computes successors and uses from predecessors and users, and replaces storages without users
    /// by a constant number of bytes.
    fn linked(mut self) -> Self {
        (self.after, self.uses) = (vec![Vec::new(); self.len()], vec![Vec::new(); self.len()]);
        for (at, before) in self.before.iter().enumerate() {
            for &other in before {
                self.after[other as usize].push(at as u32);
            }
        }
        let unused = self.storages.iter().filter(|s| s.users.is_empty());
        self.base += unused.map(|s| s.live(0)).sum::<u128>();
        self.storages.retain(|s| !s.users.is_empty());
        for (at, storage) in self.storages.iter().enumerate() {
            storage.users.iter().for_each(|&user| self.uses[user as usize].push(at as u32));
        }
        let precedences: usize = self.before.iter().map(Vec::len).sum();
        let users: usize = self.storages.iter().map(|s| 1 + s.users.len()).sum();
        self.size = self.len() + precedences + users;
        self
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the part with time reversed.
    pub fn reversed(mut self) -> Self {
        std::mem::swap(&mut self.before, &mut self.after);
        self.storages.iter_mut().for_each(|s| s.ends.reverse());
        self
    }

    /// Returns the part without the operators that are `dropped`.
    pub fn without(&self, dropped: &[bool]) -> Self {
        let rest: Vec<bool> = dropped.iter().map(|&dropped| !dropped).collect();
        self.within(&rest, None)
    }

    /// Returns the part with only the operators that are `inside`. All others run before them (`side` 0),
    /// after them (`side` 1), or not at all.
    fn within(&self, inside: &[bool], side: Option<usize>) -> Self {
        let mut place = vec![u32::MAX; self.len()];
        let kept: Vec<usize> = (0..self.len()).filter(|&at| inside[at]).collect();
        kept.iter().enumerate().for_each(|(to, &at)| place[at] = to as u32);
        let near = |list: &[u32]| -> Vec<u32> {
            list.iter().map(|&other| place[other as usize]).filter(|&to| to < u32::MAX).collect()
        };
        let held = |s: &Held| {
            let users = near(&s.users);
            let mut ends = s.ends;
            if let Some(side) = side {
                ends[side] |= users.len() < s.users.len();
            }
            Held { ends, users, ..*s }
        };
        Self {
            ids: kept.iter().map(|&at| self.ids[at]).collect(),
            before: kept.iter().map(|&at| near(&self.before[at])).collect(),
            after: Vec::new(),
            scratch: kept.iter().map(|&at| self.scratch[at]).collect(),
            storages: self.storages.iter().map(held).collect(),
            uses: Vec::new(),
            base: self.base,
            size: 0,
        }
        .linked()
    }

    /// Runs `first` before all other operators, and returns either the others (`skip`) or these (`keep`).
    ///
    /// # Errors
    /// Fails if the condition of `skip` or `keep` in [`super::check_orders`] is not met.
    pub fn cut(self, first: &[bool], is_skip: bool, work: &Work<'_>) -> Result<Self, Reason> {
        let rest: Vec<bool> = first.iter().map(|&first| !first).collect();
        if is_skip {
            self.must_pass(first, work)?;
            return Ok(self.within(&rest, Some(0)));
        }
        let turned = self.reversed();
        turned.must_pass(&rest, work)?;
        Ok(turned.reversed().within(first, Some(1)))
    }

    /// Checks that no set between `first` and `common` has fewer live bytes than `first`. Here, `common` is
    /// the set of operators that precede every operator outside `first`.
    fn must_pass(&self, first: &[bool], work: &Work<'_>) -> Result<(), Reason> {
        work.spend(4 * self.size)?;
        let mut common: Option<Vec<bool>> = None;
        for at in 0..self.len() {
            let before = &self.before[at];
            if first[at] || !before.iter().all(|&other| first[other as usize]) {
                continue;
            }
            work.spend(self.size)?;
            let own = reach(&self.before, at);
            common =
                Some(common.map_or(own.clone(), |all| all.iter().zip(&own).map(|(a, b)| *a && *b).collect()));
        }
        let common = common.ok_or(Reason::NoOperator)?;
        let seen = self.seen(|at| common[at]);
        let group: Vec<u32> =
            (0..self.len() as u32).filter(|&at| first[at as usize] && !common[at as usize]).collect();
        self.is_least(&seen, &group, |at| common[at], work)
    }

    /// Returns, per storage, how many of its users have run.
    pub fn seen(&self, ran: impl Fn(usize) -> bool) -> Vec<u32> {
        let count = |s: &Held| s.users.iter().filter(|&&user| ran(user as usize)).count() as u32;
        self.storages.iter().map(count).collect()
    }

    /// Updates the counts of [`Part::seen`] after an operator has run.
    pub fn count(&self, seen: &mut [u32], at: u32) {
        for &s in &self.uses[at as usize] {
            seen[s as usize] += 1;
        }
    }

    /// Checks that `group` can run after the operators in `ran`, and that no set in between has fewer live
    /// bytes than `ran` with `group`. `seen` counts the users in `ran`.
    pub fn is_least(
        &self,
        seen: &[u32],
        group: &[u32],
        ran: impl Fn(usize) -> bool,
        work: &Work<'_>,
    ) -> Result<(), Reason> {
        if group.len() > MOST_OPERATORS {
            return Err(Reason::TooManySets);
        }
        let place: HashMap<u32, usize> = group.iter().enumerate().map(|(to, &at)| (at, to)).collect();
        let mut needs = Vec::with_capacity(group.len());
        let mut users: HashMap<u32, u64> = HashMap::new();
        for (to, &at) in group.iter().enumerate() {
            if ran(at as usize) || place[&at] != to {
                return Err(Reason::NotReady(self.ids[at as usize]));
            }
            let mut need = 0u64;
            for &other in &self.before[at as usize] {
                match place.get(&other) {
                    Some(&other) => need |= 1 << other,
                    None if ran(other as usize) => {}
                    None => return Err(Reason::NotReady(self.ids[at as usize])),
                }
            }
            needs.push(need);
            self.uses[at as usize].iter().for_each(|&s| *users.entry(s).or_default() |= 1 << to);
        }
        let live = |ran: u64| -> u128 {
            let one = |(&s, &users): (&u32, &u64)| {
                self.storages[s as usize].live(seen[s as usize] + (users & ran).count_ones())
            };
            users.iter().map(one).sum()
        };
        let all = (0..group.len()).fold(0, |all, to| all | 1 << to);
        let (least, mut known, mut todo) = (live(all), HashSet::from([0u64]), vec![0u64]);
        while let Some(ran) = todo.pop() {
            work.spend(users.len() + group.len())?;
            if live(ran) < least {
                return Err(Reason::NotLeast);
            }
            for (to, need) in needs.iter().enumerate() {
                let next = ran | 1 << to;
                if need & !ran == 0 && known.insert(next) {
                    todo.push(next);
                }
            }
            if known.len() > MOST_SETS {
                return Err(Reason::TooManySets);
            }
        }
        Ok(())
    }

    /// Returns the operators that can run after `ran`, each with the bytes that are live while it runs.
    pub fn steps(&self, ran: &Set) -> Vec<(u32, u128)> {
        let seen = self.seen(|at| has(ran, at));
        let live: u128 =
            self.base + self.storages.iter().zip(&seen).map(|(s, &seen)| s.live(seen)).sum::<u128>();
        let ready = (0..self.len())
            .filter(|&at| !has(ran, at) && self.before[at].iter().all(|&other| has(ran, other as usize)));
        let step = |at: usize| {
            let begins = |&&s: &&u32| seen[s as usize] == 0 && !self.storages[s as usize].ends[0];
            let new = self.uses[at].iter().filter(begins).map(|&s| self.storages[s as usize].size);
            (at as u32, live + new.sum::<u128>() + self.scratch[at])
        };
        ready.map(step).collect()
    }

    /// Returns the bytes that are live while an operator runs, in every order that begins with the operators
    /// in `ran`. `reach` contains the predecessors and the successors of the operator.
    pub fn needed(&self, ran: &Set, at: usize, reach: &[Vec<bool>; 2]) -> u128 {
        let held = self.storages.iter().filter(|s| {
            let earlier =
                |&user: &u32| has(ran, user as usize) || reach[0][user as usize] || user as usize == at;
            let later = |&user: &u32| reach[1][user as usize] || user as usize == at;
            (s.ends[0] || s.users.iter().any(earlier)) && (s.ends[1] || s.users.iter().any(later))
        });
        self.base + held.map(|s| s.size).sum::<u128>() + self.scratch[at]
    }

    /// Returns all predecessors and all successors of an operator.
    pub fn reach(&self, at: usize) -> [Vec<bool>; 2] {
        [reach(&self.before, at), reach(&self.after, at)]
    }
}

/// Returns the operators that can be reached from an operator.
fn reach(next: &[Vec<u32>], from: usize) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        for &other in &next[at] {
            if !std::mem::replace(&mut seen[other as usize], true) {
                todo.push(other as usize);
            }
        }
    }
    seen
}

/// Returns the set without operators.
pub(super) fn empty(len: usize) -> Set {
    vec![0; len.div_ceil(64)].into()
}

fn bit(set: &Set, at: usize) -> (usize, u64) {
    (set.len() - 1 - at / 64, 1 << (at % 64))
}

/// Returns true if a set contains an operator.
pub(super) fn has(set: &Set, at: usize) -> bool {
    let (word, mask) = bit(set, at);
    set[word] & mask != 0
}

/// Adds an operator to a set.
pub(super) fn add(set: &mut Set, at: usize) {
    let (word, mask) = bit(set, at);
    set[word] |= mask;
}

/// Returns the number of operators in a set.
pub(super) fn size(set: &Set) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}
