//! The shared-object problem (from the Mini-Infer article) as an integer linear program.
//!
//! Every buffer is assigned to one object, the buffers of an object do not conflict, and an object is as
//! large as its largest member. This is a weighted colouring of the conflict graph. Buffers are sorted by
//! descending size and then by id, and the first member of an object represents it. The representative
//! identifies the object, which excludes symmetric assignments (asymmetric representatives):
//!
//! ```text
//! x_ji = 1       buffer i is in the object represented by j; j = i, or j precedes i and does not conflict with it
//! sum_j x_ji = 1                                       every buffer is in one object
//! sum of x_ji over i in a clique <= x_jj               at most one member per object, and none if j represents no object
//! minimise sum of size_j x_jj
//! ```
//!
//! The cliques are maximal and cover all conflicts, which makes the relaxation strong. If all conflicts come
//! from lifespans without gaps, the cliques are the maximal sections. A host buffer *absorbs* a guest if the
//! host is at least as large, does not conflict with the guest, and conflicts with all neighbours of the
//! guest. The guest joins the object of its host at no cost and is omitted from the program. Alignments and
//! fixed offsets have no effect. Without exclusions, the load is a lower bound, because every buffer that is
//! live at a step needs its own object.
//!
//! Costs are reduced by distinct fractions that add up to less than a twentieth of a unit. If costs were
//! integers and the value of a relaxation were a millionth of a unit too high, `HiGHS` would round that value
//! up to the next unit.
//!
//! **Size.** The program has one variable per buffer and one per pair of buffers that do not conflict.
//! Absorbed buffers do not count.
//!
//! **Source.** The representatives model of graph colouring (Campelo, Campos, Correa 2008).

use crate::cover::cover;
use crate::highs::{End, Limits, Scale, believed, solve};
use crate::offsets::formulation::absorb_dominated;
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, constraint, variable};
use plimsoll_model::{
    Budget, BufferId, Bytes, ConflictGraph, Instance, LowerBound, Observer, Outcome, PoolId, PoolPlan, Setup,
    SharedObjects, SolveError, Solver, Stop, Tracker, Witness, load, sections,
};
use plimsoll_support::gcd;
use std::time::Instant;

/// Maximum number of buffers. Instances with more are rejected before their variables are counted, because
/// counting takes time.
const MOST_BUFFERS: usize = 5_000;

/// Maximum number of variables; instances with more are rejected.
const MOST_VARIABLES: usize = 200_000;

/// The integer program for shared objects, solved by `HiGHS`. Its name in the registry is `pool-ilp`.
///
/// A cancelled call of `HiGHS` is abandoned. One node of the budget is one branch-and-bound node.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolIlp {
    setup: Setup,
}

impl PoolIlp {
    /// Creates the solver with the seed and thread count of `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }

    fn colouring(&self, instance: &Instance, watch: &mut Budget) -> Result<Colouring, SolveError> {
        self.supports(instance)?;
        let colouring = Colouring::of(instance, watch);
        let variables = colouring.pairs.len();
        if variables > MOST_VARIABLES {
            let reason = format!("{variables} variables exceed the limit of {MOST_VARIABLES}");
            return Err(SolveError::Unsupported { solver: "pool-ilp", reason });
        }
        Ok(colouring)
    }
}

/// The conflict graph of the buffers that are not absorbed, in descending order of size.
struct Colouring {
    ids: Vec<BufferId>,
    /// The sizes, in units of their greatest common divisor.
    size: Vec<i64>,
    neighbours: Vec<Vec<usize>>,
    cliques: Vec<Vec<usize>>,
    absorbed: Vec<(BufferId, BufferId)>,
    /// The representative and the member of every variable, in ascending order. The variable of `(j, j)` is 1
    /// if `j` is a representative.
    pairs: Vec<(usize, usize)>,
    /// Bytes per unit.
    unit: u64,
}

impl Colouring {
    /// Builds the graph and its variables. If the budget `watch` runs out, the cliques may not cover all
    /// conflicts. A model must not be built then.
    fn of(instance: &Instance, watch: &mut Budget) -> Self {
        let graph = ConflictGraph::of(instance);
        let all = instance.ids().collect();
        let (mut ids, absorbed) = absorb_dominated(instance, &graph, all, |_, _| true);
        ids.sort_by_key(|&id| (std::cmp::Reverse(instance.buffer(id).size()), id));
        let mut place = vec![None; instance.len()];
        for (at, id) in ids.iter().enumerate() {
            place[id.index()] = Some(at);
        }
        let local = |id: &BufferId| place[id.index()];
        let sorted = |mut list: Vec<usize>| {
            list.sort_unstable();
            list
        };
        let around = |&id: &BufferId| sorted(graph.of_buffer(id).iter().filter_map(local).collect());
        let neighbours: Vec<Vec<usize>> = ids.iter().map(around).collect();
        let unit = ids.iter().fold(0, |unit, &id| gcd(unit, instance.buffer(id).size().get())).max(1);
        let size: Vec<i64> = ids.iter().map(|&id| (instance.buffer(id).size().get() / unit) as i64).collect();
        let sets =
            sections(instance).into_iter().map(|s| sorted(s.buffers.iter().filter_map(local).collect()));
        let cliques = cover(&neighbours, &size, sets.collect(), watch);
        let mut pairs = Vec::new();
        for (leader, around) in neighbours.iter().enumerate() {
            let free = (leader..ids.len()).filter(|member| around.binary_search(member).is_err());
            pairs.extend(free.map(|member| (leader, member)));
        }
        Self { ids, size, neighbours, cliques, absorbed, pairs, unit }
    }

    fn variable(&self, leader: usize, member: usize) -> Option<usize> {
        self.pairs.binary_search(&(leader, member)).ok()
    }

    /// Assigns each buffer, by descending size, to the first object without a conflicting member. Returns the
    /// representative of each buffer.
    fn greedy(&self) -> Vec<usize> {
        let mut leaders: Vec<usize> = Vec::with_capacity(self.ids.len());
        for i in 0..self.ids.len() {
            let mut taken: Vec<usize> =
                self.neighbours[i].iter().take_while(|&&j| j < i).map(|&j| leaders[j]).collect();
            taken.sort_unstable();
            let free = (0..i).find(|&j| leaders[j] == j && taken.binary_search(&j).is_err());
            leaders.push(free.unwrap_or(i));
        }
        leaders
    }

    /// Returns the plan for a choice of representatives. It includes the absorbed buffers.
    fn plan(&self, instance: &Instance, leaders: &[usize]) -> PoolPlan {
        let mut assignment = vec![PoolId::at(0); instance.len()];
        let mut names = vec![None; self.ids.len()];
        let mut count = 0;
        for (&id, &leader) in self.ids.iter().zip(leaders) {
            let name = *names[leader].get_or_insert_with(|| {
                count += 1;
                PoolId::at(count - 1)
            });
            assignment[id.index()] = name;
        }
        for &(guest, host) in self.absorbed.iter().rev() {
            assignment[guest.index()] = assignment[host.index()];
        }
        PoolPlan::fitted(instance, assignment, Bytes::new(1))
    }

    fn heaviest(&self) -> LowerBound {
        let weight = |clique: &Vec<usize>| clique.iter().map(|&i| self.size[i]).sum::<i64>();
        let weighed = self.cliques.iter().map(|clique| (weight(clique), clique));
        let best = weighed.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or_else(LowerBound::trivial, |(weight, clique)| {
            let mut buffers: Vec<BufferId> = clique.iter().map(|&i| self.ids[i]).collect();
            buffers.sort_unstable();
            LowerBound::new(Bytes::new(weight as u64 * self.unit), Witness::Clique { buffers })
        })
    }

    /// Builds the model with one variable per entry of [`Colouring::pairs`]. It is incomplete if the budget
    /// `watch` runs out.
    fn model(&self, watch: &mut Budget) -> HighsProblem {
        let mut vars = ProblemVariables::new();
        let x: Vec<Variable> = self.pairs.iter().map(|_| vars.add(variable().binary())).collect();
        let leads = |j: usize| x[self.variable(j, j).expect("no buffer conflicts with itself")];
        let mut cost = Expression::with_capacity(self.ids.len());
        for (j, &size) in self.size.iter().enumerate() {
            // The reductions add up to less than a twentieth of a unit, so the bound remains valid.
            let less = 0.05 / self.size.len() as f64 * (1.0 + (j as f64).sin()) / 2.0;
            cost += (size as f64 - less) * leads(j);
        }
        let mut problem = vars.minimise(cost).using(highs);
        let mut member_of: Vec<Expression> = vec![Expression::from(0); self.ids.len()];
        for (&(_, member), &x) in self.pairs.iter().zip(&x) {
            member_of[member] += x;
        }
        for sum in member_of {
            problem.add_constraint(constraint!(sum == 1.0));
        }
        for j in 0..self.ids.len() {
            let mut seen: Vec<Vec<usize>> = self
                .cliques
                .iter()
                .take_while(|_| watch.tick().is_none())
                .map(|set| set.iter().filter(|&&i| i > j).filter_map(|&i| self.variable(j, i)).collect())
                .collect();
            seen.sort_unstable();
            seen.dedup();
            for set in seen.iter().filter(|set| !set.is_empty()) {
                let sum: Expression = set.iter().map(|&at| x[at]).sum();
                problem.add_constraint(constraint!(sum <= leads(j)));
            }
        }
        problem
    }

    /// Returns the representatives that the values of the variables encode, or `None` if a buffer has none.
    fn leaders(&self, values: &[f64]) -> Option<Vec<usize>> {
        let mut leaders = vec![None; self.ids.len()];
        for (&(leader, member), &value) in self.pairs.iter().zip(values) {
            if value > 0.5 {
                leaders[member] = Some(leader);
            }
        }
        leaders.into_iter().collect()
    }
}

impl Solver<SharedObjects> for PoolIlp {
    fn name(&self) -> &'static str {
        "pool-ilp"
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<SharedObjects>,
    ) -> Result<Outcome<SharedObjects>, SolveError> {
        let started = Instant::now();
        let colouring = self.colouring(instance, &mut budget.without_node_limit())?;
        let mut run = Tracker::new(instance, LowerBound::trivial(), observer);
        run.stats.count("variables", colouring.pairs.len() as u64);
        run.stats.count("absorbed", colouring.absorbed.len() as u64);
        if instance.exclusions().is_empty() {
            let (value, step) = load(instance);
            run.raise(LowerBound::new(value, Witness::Load { step }));
        }
        let greedy = colouring.greedy();
        run.accept(self.name(), colouring.plan(instance, &greedy))?;
        run.stats.phases.push(("greedy".to_owned(), started.elapsed().as_secs_f64()));
        let mut stop = budget.check();
        if stop.is_none() {
            run.raise(colouring.heaviest());
        }
        if stop.is_none() && run.settled(budget).is_none() {
            stop = self.improve(&colouring, &greedy, budget, &mut run)?;
        }
        let stop = run.settled(budget).or(stop).or_else(|| budget.check());
        Ok(run.conclude(stop.unwrap_or(Stop::Completed), budget.nodes()))
    }

    fn supports(&self, instance: &Instance) -> Result<(), SolveError> {
        if instance.len() > MOST_BUFFERS {
            let reason = format!("{} buffers exceed the limit of {MOST_BUFFERS}", instance.len());
            return Err(SolveError::Unsupported { solver: "pool-ilp", reason });
        }
        Ok(())
    }
}

impl PoolIlp {
    fn improve(
        &self,
        colouring: &Colouring,
        greedy: &[usize],
        budget: &mut Budget,
        run: &mut Tracker<'_, SharedObjects>,
    ) -> Result<Option<Stop>, SolveError> {
        let started = Instant::now();
        run.observer.phase("pool-ilp");
        let leads = |&(leader, member): &(usize, usize)| f64::from(u8::from(greedy[member] == leader));
        let start = Some(colouring.pairs.iter().map(leads).collect());
        let most: i64 = colouring.size.iter().sum();
        let scale = Scale { most, unit: 1.0 };
        let model = |watch: &mut Budget| colouring.model(watch);
        let target =
            budget.target().map(|target: Bytes| (target.get() / colouring.unit).min(most as u64) as i64);
        let limits = Limits { target, ..Limits::of(budget) };
        let answer = solve("pool-ilp", self.setup, (limits, budget), scale, start, model)?;
        budget.spend(answer.nodes);
        let leaders = answer.values.as_ref().and_then(|values| colouring.leaders(values));
        if let Some(leaders) = leaders {
            run.accept(self.name(), colouring.plan(run.input, &leaders))?;
        }
        if let Some(bound) = believed(answer.bound, most) {
            let value = Bytes::new(bound.max(0) as u64 * colouring.unit);
            let witness = Witness::Search { solver: self.name().to_owned() };
            run.try_raise(self.name(), LowerBound::new(value, witness))?;
        }
        run.stats.phases.push(("pool-ilp".to_owned(), started.elapsed().as_secs_f64()));
        Ok(match answer.end {
            End::Stopped(stop) => stop,
            End::Optimal | End::Infeasible => None,
        })
    }
}
