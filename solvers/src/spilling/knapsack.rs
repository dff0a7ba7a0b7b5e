//! Solves one row of the cover: a 0-1 knapsack problem, which chooses the items that stay.
//!
//! The items are sorted by value per weight. Items are chosen in this sequence until the next one, the
//! *break item*, does not fit. An optimal choice usually differs from this one only in items of similar value
//! per weight, the *core*. The core grows from the break item in both directions. For each item, the choices
//! with and without it are kept as *states* of weight and value. A state is dropped if another one has no
//! more weight and no less value, or if no choice that extends it can be better than the best one. The
//! bound of a state fills or frees space at the value per weight of the next item. An item is skipped if no
//! better choice can differ in it.
//!
//! **Source.** Pisinger 1997, *A minimal algorithm for the 0-1 knapsack problem*. States of equal weight
//! dominate each other, so the method is never slower than dynamic programming over weights.

use plimsoll_model::Budget;

/// An item with its weight and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub weight: u64,
    pub value: u64,
}

/// A choice of items in the core.
#[derive(Clone, Copy, Debug)]
struct State {
    weight: i128,
    value: i128,
    /// The last change in `changes` that leads to this state.
    last: u32,
}

/// No change.
const NONE: u32 = u32::MAX;

/// Maximum number of changes, which limits the memory.
const MOST_CHANGES: usize = 1 << 22;

/// Finds a choice of items with the greatest total value and a total weight of at most `capacity`. Returns
/// for each item whether it is chosen, or `None` if the budget or the memory ([`MOST_CHANGES`]) runs out. One
/// node is one state.
///
/// O(n log n + n min(2^n, c)) for n items and a capacity of c units of the greatest common divisor of the
/// weights. Sums of weights and sums of values must be less than 2^63.
pub(super) fn knapsack(items: &[Item], capacity: u64, budget: &mut Budget) -> Option<Vec<bool>> {
    let mut chosen: Vec<bool> = items.iter().map(|item| item.weight == 0).collect();
    let fits = |item: &Item| item.weight > 0 && item.weight <= capacity && item.value > 0;
    let mut order: Vec<usize> = (0..items.len()).filter(|&at| fits(&items[at])).collect();
    order.sort_by(|&a, &b| {
        let cross = |a: usize, b: usize| u128::from(items[a].value) * u128::from(items[b].weight);
        cross(b, a).cmp(&cross(a, b)).then(items[a].weight.cmp(&items[b].weight)).then(a.cmp(&b))
    });
    let sorted: Vec<Item> = order.iter().map(|&at| items[at]).collect();
    let mut core = Core::of(&sorted, capacity);
    core.solve(budget)?;
    for (&at, stays) in order.iter().zip(core.choice()) {
        chosen[at] = stays;
    }
    // Items without value may still fit.
    let mut free =
        capacity - items.iter().zip(&chosen).filter(|one| *one.1).map(|one| one.0.weight).sum::<u64>();
    for (item, chosen) in items.iter().zip(&mut chosen) {
        if !*chosen && item.weight <= free {
            (*chosen, free) = (true, free - item.weight);
        }
    }
    Some(chosen)
}

struct Core<'a> {
    items: &'a [Item],
    capacity: i128,
    /// The index of the break item: the items before it are chosen at first.
    middle: usize,
    /// The weight and the value of the first choice.
    first: (i128, i128),
    /// The core is `low..high`.
    low: usize,
    high: usize,
    states: Vec<State>,
    /// Per change: the previous change, and the item that is added or removed.
    changes: Vec<(u32, u32)>,
    best: State,
}

impl<'a> Core<'a> {
    fn of(items: &'a [Item], capacity: u64) -> Self {
        let capacity = i128::from(capacity);
        let (mut weight, mut value, mut middle) = (0, 0, 0);
        while let Some(item) = items.get(middle).filter(|item| weight + i128::from(item.weight) <= capacity) {
            (weight, value) = (weight + i128::from(item.weight), value + i128::from(item.value));
            middle += 1;
        }
        let first = State { weight, value, last: NONE };
        let (states, changes) = (vec![first], Vec::new());
        Self {
            items,
            capacity,
            middle,
            first: (weight, value),
            low: middle,
            high: middle,
            states,
            changes,
            best: first,
        }
    }

    /// Grows the core until no state remains that can become better than the best one.
    fn solve(&mut self, budget: &mut Budget) -> Option<()> {
        self.prune();
        while !self.states.is_empty() && (self.low > 0 || self.high < self.items.len()) {
            if self.high < self.items.len() {
                self.high += 1;
                self.add(self.high - 1, 1);
            }
            if self.low > 0 {
                self.low -= 1;
                self.add(self.low, -1);
            }
            let created = self.states.len() as u64;
            if budget.spend(1 + created).is_some() || self.changes.len() >= MOST_CHANGES {
                return None;
            }
        }
        Some(())
    }

    /// Adds the states that contain an item (`sign` is 1) or do not contain it (-1).
    fn add(&mut self, at: usize, sign: i128) {
        let Item { weight, value } = self.items[at];
        let (weight, value) = (sign * i128::from(weight), sign * i128::from(value));
        let changed = State { weight: self.first.0 + weight, value: self.first.1 + value, last: NONE };
        if self.bound(changed, self.middle, self.middle) <= self.best.value {
            self.prune();
            return;
        }
        let old = std::mem::take(&mut self.states);
        let (mut next, mut left) = (Vec::with_capacity(2 * old.len()), old.iter().copied().peekable());
        let push = |state: State, next: &mut Vec<State>| {
            // States are visited in ascending order of weight.
            if next.last().is_none_or(|last: &State| state.value > last.value) {
                if next.last().is_some_and(|last| last.weight == state.weight) {
                    next.pop();
                }
                next.push(state);
            }
        };
        for state in &old {
            let moved = State { weight: state.weight + weight, value: state.value + value, ..*state };
            while let Some(state) = left.next_if(|state| state.weight < moved.weight) {
                push(state, &mut next);
            }
            self.changes.push((state.last, at as u32));
            push(State { last: self.changes.len() as u32 - 1, ..moved }, &mut next);
        }
        left.for_each(|state| push(state, &mut next));
        self.states = next;
        self.prune();
    }

    /// Updates the best state, and drops states that cannot become better.
    fn prune(&mut self) {
        let fits = self.states.iter().filter(|state| state.weight <= self.capacity);
        if let Some(&state) = fits.max_by_key(|state| state.value)
            && state.value > self.best.value
        {
            self.best = state;
        }
        let mut states = std::mem::take(&mut self.states);
        states.retain(|&state| self.bound(state, self.low, self.high) > self.best.value);
        self.states = states;
    }

    /// Returns an upper bound on the values that a state can reach by removing items before `low` and by
    /// adding items from `high` on.
    fn bound(&self, state: State, low: usize, high: usize) -> i128 {
        let free = self.capacity - state.weight;
        let next =
            if free >= 0 { self.items.get(high) } else { low.checked_sub(1).map(|at| &self.items[at]) };
        match next {
            Some(item) => state.value + (free * i128::from(item.value)).div_euclid(i128::from(item.weight)),
            None if free >= 0 => state.value,
            None => i128::MIN,
        }
    }

    fn choice(&self) -> Vec<bool> {
        let mut chosen: Vec<bool> = (0..self.items.len()).map(|at| at < self.middle).collect();
        let mut last = self.best.last;
        while let Some(&(previous, at)) = self.changes.get(last as usize) {
            chosen[at as usize] = at as usize >= self.middle;
            last = previous;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn sums(items: &[Item], chosen: &[bool]) -> (u64, u64) {
        let all = items.iter().zip(chosen).filter(|one| *one.1).map(|one| one.0);
        all.fold((0, 0), |sum, item| (sum.0 + item.weight, sum.1 + item.value))
    }

    fn value(items: &[Item], capacity: u64) -> u64 {
        let chosen = knapsack(items, capacity, &mut Budget::unlimited()).unwrap();
        let (weight, value) = sums(items, &chosen);
        assert!(weight <= capacity);
        value
    }

    /// Dynamic programming over weights.
    fn best(items: &[Item], capacity: u64) -> u64 {
        let mut best = vec![0u64; capacity as usize + 1];
        for item in items {
            for space in (item.weight..=capacity).rev() {
                best[space as usize] =
                    best[space as usize].max(best[(space - item.weight) as usize] + item.value);
            }
        }
        best[capacity as usize]
    }

    #[test]
    fn values_equal_those_of_dynamic_programming() {
        let mut rng = StdRng::seed_from_u64(1);
        for round in 0..4000 {
            let count = rng.random_range(0..12 + 30 * usize::from(round % 20 == 0));
            let (most, correlated) = (rng.random_range(1..60), rng.random_bool(0.4));
            let items: Vec<Item> = (0..count)
                .map(|_| {
                    let weight = rng.random_range(0..=most);
                    let value = if correlated { weight + 10 } else { rng.random_range(0..80) };
                    Item { weight, value }
                })
                .collect();
            let capacity = rng.random_range(0..=1 + items.iter().map(|item| item.weight).sum::<u64>());
            assert_eq!(
                value(&items, capacity),
                best(&items, capacity),
                "round {round}: {items:?}, {capacity}"
            );
        }
    }

    #[test]
    fn many_items_with_large_weights_take_few_states() {
        let mut rng = StdRng::seed_from_u64(2);
        let item = |rng: &mut StdRng| {
            let weight = rng.random_range(1 << 20..1 << 32);
            Item { weight, value: rng.random_range(1..1 << 24) }
        };
        let items: Vec<Item> = (0..5_000).map(|_| item(&mut rng)).collect();
        let capacity = items.iter().map(|item| item.weight).sum::<u64>() / 3;
        let mut budget = Budget::unlimited().with_node_limit(1 << 20);
        assert!(knapsack(&items, capacity, &mut budget).is_some(), "{}", budget.nodes());
    }

    #[test]
    fn an_exhausted_budget_gives_no_choice() {
        let items =
            [Item { weight: 3, value: 4 }, Item { weight: 4, value: 5 }, Item { weight: 5, value: 6 }];
        assert_eq!(knapsack(&items, 8, &mut Budget::unlimited().with_node_limit(0)), None);
        assert_eq!(value(&items, 8), 10);
    }
}
