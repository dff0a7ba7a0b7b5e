//! Finds all successors of a tree: every way to exchange groups between two steps.

use super::exchange::{Arrival, Exchange};
use super::steps::Steps;
use crate::pqtree::{Forest, Leaves, Tree};
use plimsoll_model::{Budget, Stop};

/// The search for the successors of one tree.
pub(super) struct Cover<'a, 'f> {
    pub steps: &'a Steps,
    pub exchange: &'a Exchange,
    pub forest: &'f mut Forest,
    pub budget: &'f mut Budget,
    /// Receives each successor. Different exchanges may lead to the same tree.
    pub found: &'f mut dyn FnMut(&Forest, Tree),
}

/// The part of an exchange that remains to be chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// Buffers that end.
    old: u32,
    /// Buffers that begin.
    new: u32,
    /// Wasted units of the earlier step.
    holes: Leaves,
    /// Number of wasted units of the later step in groups chosen so far.
    made: usize,
}

impl Cover<'_, '_> {
    /// Lists the successors of a tree.
    pub fn run(&mut self, tree: Tree) -> Result<(), Stop> {
        let holes = self.steps.holes(self.exchange.waste.0, false);
        self.extend(tree, Rest { old: self.exchange.old, new: self.exchange.new, holes, made: 0 })
    }

    /// Chooses the group of the first buffer that is left.
    fn extend(&mut self, tree: Tree, rest: Rest) -> Result<(), Stop> {
        if let Some(stop) = self.budget.tick() {
            return Err(stop);
        }
        let exchange = self.exchange;
        if rest.old != 0 {
            for departure in &exchange.departures[rest.old.trailing_zeros() as usize] {
                if departure.old & !rest.old == 0 {
                    let left = Rest { old: rest.old & !departure.old, ..rest };
                    self.place(tree, departure.leaves, &departure.arrivals, left)?;
                }
            }
        } else if rest.new != 0 {
            let arrivals = &exchange.insertions[rest.new.trailing_zeros() as usize];
            self.place(tree, 0, arrivals, rest)?;
        } else {
            (self.found)(self.forest, tree);
        }
        Ok(())
    }

    /// Exchanges a group, together with any number of wasted units, for each possible arrival.
    fn place(&mut self, tree: Tree, group: Leaves, arrivals: &[Arrival], rest: Rest) -> Result<(), Stop> {
        let fits = |arrival: &&Arrival| {
            arrival.new & !rest.new == 0
                && arrival.excess <= i64::from(rest.holes.count_ones())
                && !self.exchange.skips_elder(arrival.new, rest.new)
        };
        let fitting: Vec<&Arrival> = arrivals.iter().filter(fits).collect();
        if fitting.is_empty() {
            return Ok(());
        }
        if rest.holes == 0 {
            return self.place_with(tree, group, 0, &fitting, rest);
        }
        let alike = self.forest.siblings(tree, rest.holes);
        let mut used = rest.holes;
        // All subsets of the wasted units. Of units that are children of the same P-node, the first are used.
        loop {
            if alike.iter().all(|&(one, next)| used & next == 0 || used & one != 0) {
                self.place_with(tree, group, used, &fitting, rest)?;
            }
            if used == 0 {
                return Ok(());
            }
            used = (used - 1) & rest.holes;
        }
    }

    /// Exchanges a group and certain wasted units for each possible arrival.
    fn place_with(
        &mut self,
        tree: Tree,
        group: Leaves,
        used: Leaves,
        arrivals: &[&Arrival],
        rest: Rest,
    ) -> Result<(), Stop> {
        let set = group | used;
        if set == 0 {
            return Ok(());
        }
        for arrival in arrivals {
            let made = i64::from(used.count_ones()) - arrival.excess;
            let Ok(made) = usize::try_from(made) else { continue };
            if rest.made + made > self.exchange.waste.1 {
                continue;
            }
            let mark = self.forest.mark();
            let holes = self.steps.holes(rest.made + made, true) & !self.steps.holes(rest.made, true);
            let by = self.forest.universal(arrival.leaves | holes);
            // Whether the exchange is possible depends on the set alone.
            let Some(next) = self.forest.exchange(tree, set, by) else {
                self.forest.rewind(mark);
                break;
            };
            let left = Rest {
                new: rest.new & !arrival.new,
                holes: rest.holes & !used,
                made: rest.made + made,
                ..rest
            };
            self.extend(next, left)?;
            self.forest.rewind(mark);
        }
        Ok(())
    }
}
