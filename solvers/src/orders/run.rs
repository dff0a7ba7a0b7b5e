//! A problem that is split into parts, with the best order and the bound of each part.

use super::ahead::Ahead;
use super::draft::{Draft, Reach};
use super::greedy::greedy;
use super::hills::{by_hills, falls_apart};
use super::narrow::narrow;
use super::net::{Net, State};
use super::reduce::{Excluded, Reductions, complete, divide, reduce};
use super::relax::Rest;
use plimsoll_model::orders::{Order, OrderProblem, around_bound};
use plimsoll_model::{
    Budget, Bytes, LowerBound, Observer, Orders, Outcome, SolveError, Stop, Tracker, Witness,
};

/// A part in one direction of time.
pub(super) struct Side {
    pub net: Net,
    pub reach: Reach,
}

impl Side {
    pub fn of(draft: &Draft) -> Self {
        Self { net: Net::of(draft), reach: Reach::of(draft) }
    }
}

/// A part of the problem. Every order under consideration passes through the downsets at both ends of the
/// part.
pub(super) struct Part {
    /// The part in forward and in reversed time.
    pub sides: [Side; 2],
    /// The best order of the nodes of the part, in forward time.
    pub best: Vec<u32>,
    pub value: u64,
    pub bound: u64,
    /// The part before it was prepared for search, as long as it may be solved by hills and valleys.
    draft: Option<Draft>,
}

impl Part {
    fn of(draft: &Draft, budget: &mut Budget) -> Self {
        let sides = [Side::of(draft), Side::of(&draft.reversed())];
        let net = &sides[0].net;
        let (best, value) = greedy(net, &sides[1].net, draft.sorted(), budget);
        let ends = State::new(net).live.max(State::new(&sides[1].net).live);
        let bound = Ahead::of(net, &sides[0].reach).most().max(ends).min(value);
        Self { sides, best, value, bound, draft: Some(draft.clone()) }
    }
}

pub(super) struct Run<'a> {
    pub name: &'static str,
    pub known: Tracker<'a, Orders>,
    pub parts: Vec<Part>,
    gone: Excluded,
}

impl<'a> Run<'a> {
    /// Starts with the order of the input and the simplest bound, without reductions.
    pub fn new(
        name: &'static str,
        problem: &'a OrderProblem,
        observer: &'a mut dyn Observer<Orders>,
    ) -> Result<Self, SolveError> {
        let known = Tracker::new(problem, LowerBound::trivial(), observer);
        let mut run = Self { name, known, parts: Vec::new(), gone: Vec::new() };
        run.take(problem.as_in_file())?;
        run.known.raise(around_bound(problem));
        Ok(run)
    }

    /// Reduces the problem, divides it, and combines the best greedy orders of the parts. Then cuts the parts
    /// whose value exceeds their bound (`narrow`). If the budget runs out first, there may be no parts.
    pub fn prepare(&mut self, rules: Reductions, budget: &mut Budget) -> Result<(), SolveError> {
        let draft = self.phase("reduce", budget, |run, budget| {
            reduce(Draft::of(run.known.input), rules, &mut run.gone, budget)
        });
        self.known.stats.count("operators", self.known.input.len() as u64);
        self.known.stats.count("nodes reduced", draft.len() as u64);
        let drafts = if rules.divide { divide(draft) } else { vec![draft] };
        let mut drafts = self.phase("greedy", budget, |run, budget| run.enter(drafts, rules, budget));
        self.gather()?;
        self.prove();
        if rules.narrow && self.known.settled(budget).is_none() {
            let open = self.open();
            drafts = self.phase("cut", budget, |run, budget| {
                let all = drafts.into_iter().enumerate();
                let cut = all.flat_map(|(at, draft)| {
                    if open.contains(&at) { narrow(draft, &run.parts[at].best, budget) } else { vec![draft] }
                });
                let cut = cut.collect();
                run.enter(cut, rules, budget)
            });
            self.gather()?;
            self.prove();
        }
        self.known.stats.count("parts", drafts.len() as u64);
        let widest = drafts.iter().map(Draft::len).max().unwrap_or(0);
        self.known.stats.count("widest part", widest as u64);
        Ok(())
    }

    /// Reduces the parts separately and makes them the parts of this run. If the budget runs out first, the
    /// run keeps its previous parts, and the list returned is empty.
    fn enter(&mut self, drafts: Vec<Draft>, rules: Reductions, budget: &mut Budget) -> Vec<Draft> {
        let mut gone = self.gone.clone();
        let mut parts = Vec::with_capacity(drafts.len());
        let mut reduced = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let single = draft.len() <= 1;
            let draft = if single { draft } else { reduce(draft, rules, &mut gone, budget) };
            if budget.check().is_some() {
                return Vec::new();
            }
            parts.push(Part::of(&draft, budget));
            reduced.push(draft);
        }
        (self.parts, self.gone) = (parts, gone);
        reduced
    }

    /// Solves a part by hills and valleys. Returns false if no larger budget would help.
    pub fn merge(&mut self, at: usize, budget: &mut Budget) -> Result<bool, SolveError> {
        let Some(draft) = self.parts[at].draft.take() else { return Ok(false) };
        if let Some(order) = by_hills(&draft, budget) {
            let value = self.parts[at].sides[0].net.peak(&order);
            self.improve(at, 0, order)?;
            self.refute(at, value);
        } else if budget.check().is_some() {
            self.parts[at].draft = Some(draft);
        }
        Ok(self.parts[at].draft.is_some())
    }

    /// Reports a phase, runs it, and records its duration in seconds.
    pub fn phase<T>(
        &mut self,
        name: &str,
        budget: &mut Budget,
        run: impl FnOnce(&mut Self, &mut Budget) -> T,
    ) -> T {
        self.known.observer.phase(name);
        let since = budget.elapsed().as_secs_f64();
        let done = run(self, budget);
        self.known.book(name, since, budget);
        done
    }

    /// Returns the peak of the best order.
    pub fn value(&self) -> u64 {
        self.known.value().map_or(u64::MAX, Bytes::get)
    }

    /// Returns the lower bound on the peak of any order.
    pub fn bound(&self) -> u64 {
        self.known.bound.value.get()
    }

    /// Returns the lower bound and the best peak of a part. Peaks below the bound of the whole problem do not
    /// matter, so the lower bound is at least that bound. The best peak is at most that of the best order.
    pub fn range(&self, at: usize) -> (u64, u64) {
        let part = &self.parts[at];
        (part.bound.max(self.bound()), part.value.min(self.value()))
    }

    /// Returns true if a part consists of several independent components.
    pub fn falls_apart(&self, at: usize) -> bool {
        self.parts[at].draft.as_ref().is_some_and(falls_apart)
    }

    /// Returns the parts with a gap between the bound and the value, in descending order of value.
    pub fn open(&self) -> Vec<usize> {
        let gap = |&at: &usize| {
            let (bound, value) = self.range(at);
            bound < value
        };
        let mut open: Vec<usize> = (0..self.parts.len()).filter(gap).collect();
        open.sort_by_key(|&at| (std::cmp::Reverse(self.parts[at].value), at));
        open
    }

    /// Adopts an order of a part if it is better than the best order of the part. `side` is the direction in
    /// which it was found.
    pub fn improve(&mut self, at: usize, side: usize, mut order: Vec<u32>) -> Result<(), SolveError> {
        if side == 1 {
            order.reverse();
        }
        let part = &mut self.parts[at];
        let value = part.sides[0].net.peak(&order);
        if value < part.value {
            (part.best, part.value) = (order, value);
            self.gather()?;
        }
        Ok(())
    }

    /// Records that no order of a part has a peak below `bound`.
    pub fn refute(&mut self, at: usize, bound: u64) {
        let part = &mut self.parts[at];
        part.bound = part.bound.max(bound.min(part.value));
        self.prove();
    }

    /// Combines the best orders of the parts.
    fn gather(&mut self) -> Result<(), SolveError> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let all = self.parts.iter().flat_map(|part| part.sides[0].net.operators(&part.best));
        let order: Vec<_> = all.collect();
        self.take(Order::new(complete(self.known.input, &self.gone, &order)))
    }

    fn prove(&mut self) {
        let bound = self.parts.iter().map(|part| part.bound).max().unwrap_or(0);
        let witness = Witness::Search { solver: self.name.to_owned() };
        self.known.raise(LowerBound::new(Bytes::new(bound), witness));
    }

    /// Checks an order and adopts it if its peak is lower than that of the best order.
    fn take(&mut self, order: Order) -> Result<(), SolveError> {
        self.known.accept(self.name, order).map(drop)
    }

    /// Adopts the bound of a relaxation, and its best order extended to the whole problem.
    pub fn learn(&mut self, rest: &Rest, other: &Run<'_>) -> Result<(), SolveError> {
        let (operators, solver) = (rest.removed.clone(), self.name.to_owned());
        self.known.raise(LowerBound::new(other.known.bound.value, Witness::Without { operators, solver }));
        match &other.known.best {
            Some((order, _)) => self.take(rest.extended(self.known.input, order)),
            None => Ok(()),
        }
    }

    pub fn conclude(self, budget: &mut Budget, stop: Stop) -> Outcome<Orders> {
        let stop = self.known.settled(budget).or_else(|| budget.check()).unwrap_or(stop);
        self.known.conclude(stop, budget.nodes())
    }
}
