//! Plans under conflicts derived from the structure of a graph, and a comparison of the conflict relations.
//!
//! Regions are processed innermost first, all with the same relation. While an operator with regions runs,
//! it needs one block as large as the largest arena of its regions, as in [`graphs`](crate::graphs). All
//! relations use the same orders. Every placement passes two checkers. The checker of the problem uses the
//! given conflicts. The second one, [`Precedences`], ignores them and uses the precedences that the relation
//! assumes.

use crate::arithmetic::Arithmetic;
use crate::graphs::{GraphRun, GraphRunError, OrderedRegion};
use plimsoll_model::graph::{Graph, Storages};
use plimsoll_model::orders::Order;
use plimsoll_model::structure::{Conflicts, Relation, Structure, StructureError};
use plimsoll_model::{
    Budget, Bytes, Claim, Entry, Instance, InstanceBuilder, InstanceProblem, Lifespan, Offsets, OperatorId,
    Outcome, Piece, Precedences, Race, RegionId, SplitBuffers,
};
use plimsoll_solvers::offsets::bounds::clique_bound;
use serde::Serialize;

/// The conflict relations of a comparison, in the order of its rows.
pub const COMPARED: [Relation; 5] =
    [Relation::Schedule, Relation::Streams(2), Relation::Streams(4), Relation::Reachable, Relation::Mutex];

/// One region with the conflicts of a relation.
#[derive(Debug)]
pub struct RelatedRegion {
    /// The region.
    pub region: RegionId,
    /// The order problem, and the operators and tensors of the graph to which its ids refer. In the problem,
    /// every operator that owns regions needs a block.
    pub storages: Storages,
    /// The order of the operators.
    pub order: Order,
    /// The conflict relation.
    pub relation: Relation,
    /// The offset problem under these conflicts.
    pub instance: Instance,
    /// False if the time ran out before the conflicts were known, or if there are more conflicts than an
    /// instance can have. Every two allocations then conflict, which is safe under any relation.
    pub complete: bool,
    /// Number of conflicting pairs.
    pub pairs: u64,
    /// Number of pairs that are simultaneously live in the order but do not conflict.
    pub overlooked: u64,
    /// Number of pairs that are simultaneously live in some execution but do not conflict.
    pub exposed: u64,
    /// Precedences that the relation adds to those of the graph.
    added: Vec<(OperatorId, OperatorId)>,
    /// Precedences that the sequential order adds to those of the graph.
    in_order: Vec<(OperatorId, OperatorId)>,
}

/// The name that stands for an algorithm in errors about conflicts, which are computed before any algorithm
/// runs.
const CONFLICTS: &str = "conflicts";

/// Pairs of allocations (storages or scratch) that share addresses in a placement although both allocations
/// may be needed at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Safety {
    /// Collisions if operators run sequentially in the given order.
    pub in_order: Vec<Race>,
    /// Collisions if operators without a path between them may run concurrently.
    pub concurrent: Vec<Race>,
}

impl RelatedRegion {
    fn of(
        graph: &Graph,
        storages: Storages,
        ordered: &OrderedRegion,
        relation: Relation,
        (align, time): (Bytes, &mut Budget),
    ) -> Result<Self, StructureError> {
        let order = ordered.order.clone();
        let structure = Structure::of(graph, &storages, &order)?;
        let mut counted = || -> Result<(Instance, [u64; 3]), StructureError> {
            let conflicts = structure.conflicts(relation, time)?;
            let [schedule, reachable] =
                [Relation::Schedule, Relation::Reachable].map(|other| structure.conflicts(other, time));
            let (schedule, reachable) = (schedule?, reachable?);
            let beyond = |other: &Conflicts| other.without(&conflicts).count();
            let counts = [conflicts.count(), beyond(&schedule), beyond(&reachable)];
            Ok((structure.instance_of(relation, &conflicts, &schedule, align)?, counts))
        };
        let counted = match counted() {
            Ok(counted) => Some(counted),
            Err(StructureError::OutOfTime { .. } | StructureError::TooMany { .. }) => None,
            Err(error) => return Err(error),
        };
        let complete = counted.is_some();
        let (instance, [pairs, overlooked, exposed]) = match counted {
            Some(counted) => counted,
            None => (storages.problem.instance(&order, align)?, [0; 3]),
        };
        let (added, in_order) = (structure.added(relation), structure.added(Relation::Schedule));
        let region = ordered.region;
        let related = Self {
            region,
            storages,
            order,
            relation,
            instance,
            complete,
            pairs,
            overlooked,
            exposed,
            added,
            in_order,
        };
        Ok(if complete { related } else { related.apart() })
    }

    /// Returns the region with conflicts between all allocations.
    fn apart(self) -> Self {
        let lifespan = Lifespan::single(0, 1).expect("one step is not empty");
        let buffers = self.instance.buffers().iter().map(|buffer| buffer.clone().during(lifespan.clone()));
        let instance = InstanceBuilder::new(self.instance.name()).buffers(buffers).build();
        let instance = instance.expect("other lifespans keep an instance valid");
        let count = instance.len() as u64;
        let pairs = count * count.saturating_sub(1) / 2;
        Self { instance, complete: false, pairs, overlooked: 0, exposed: 0, ..self }
    }

    /// Computes the precedences for the checks, once for all placements. Returns `None` if the time runs out.
    fn watch(&self, time: &mut Budget) -> Option<Watch<'_>> {
        let mut by = |added| Precedences::within(&self.storages.problem, added, time).ok();
        // `mutex` guarantees no precedence.
        let promised = if self.relation == Relation::Mutex { None } else { Some(by(&self.added)?) };
        Some(Watch { promised, in_order: by(&self.in_order)?, concurrent: by(&[])? })
    }
}

/// The precedences under the relation, under the sequential order, and in every execution.
struct Watch<'a> {
    promised: Option<Precedences<'a>>,
    in_order: Precedences<'a>,
    concurrent: Precedences<'a>,
}

impl Watch<'_> {
    fn safety(&self, pieces: &[Vec<Piece>]) -> Safety {
        Safety { in_order: self.in_order.races(pieces), concurrent: self.concurrent.races(pieces) }
    }

    fn broken(&self, pieces: &[Vec<Piece>]) -> Vec<Race> {
        self.promised.as_ref().map_or(Vec::new(), |promised| promised.races(pieces))
    }
}

/// One region with its conflicts and its placement.
#[derive(Debug)]
pub struct RelatedPlan<P: InstanceProblem> {
    /// The region and its conflicts.
    pub related: RelatedRegion,
    /// The placement, and the bound under these conflicts.
    pub outcome: Outcome<P>,
    /// Address ranges of every allocation.
    pub pieces: Vec<Vec<Piece>>,
    /// The pairs of allocations that collide.
    pub safety: Safety,
}

impl<P: InstanceProblem> RelatedPlan<P> {
    /// Returns the size of the arena in bytes.
    pub fn arena(&self) -> Bytes {
        arena(&self.outcome)
    }
}

fn arena<P: InstanceProblem>(outcome: &Outcome<P>) -> Bytes {
    outcome.value.unwrap_or(Bytes::ZERO)
}

impl GraphRun<'_> {
    /// Computes the conflicts of one ordered region under a relation; `blocks` are the arenas of the inner
    /// regions.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    fn relate(
        &self,
        graph: &Graph,
        ordered: &OrderedRegion,
        relation: Relation,
        blocks: &[Bytes],
    ) -> Result<RelatedRegion, GraphRunError> {
        let storages = self.storages(graph, ordered.region, blocks)?;
        let name = || graph.region(ordered.region).name.clone();
        let mut time = self.limits.share(ordered.region.index() + 1).watch();
        let related = RelatedRegion::of(graph, storages, ordered, relation, (self.liveness.align, &mut time));
        related.map_err(|source| GraphRunError::Structure { region: name(), source })
    }

    /// Returns `None` if the time runs out.
    fn watch<'r>(&self, related: &'r RelatedRegion) -> Option<Watch<'r>> {
        related.watch(&mut self.limits.share(related.region.index() + 1).watch())
    }

    /// Places the storages of one region. Without a watch, all allocations conflict, so no two of them share
    /// an address.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    fn place<P: InstanceProblem>(
        &self,
        graph: &Graph,
        related: &RelatedRegion,
        watch: Option<&Watch<'_>>,
        entry: &Entry<P>,
    ) -> Result<(Outcome<P>, Vec<Vec<Piece>>), GraphRunError> {
        let limits = self.limits.share(related.region.index() + 1);
        let outcome = self.run(graph, related.region, entry, &related.instance, limits)?;
        let name = || graph.region(related.region).name.clone();
        let Some(solution) = &outcome.solution else {
            return Err(GraphRunError::Nothing { region: name(), algorithm: entry.name });
        };
        let pieces = P::pieces(&related.instance, solution);
        let broken = watch.map_or(Vec::new(), |watch| watch.broken(&pieces));
        if let Some(first) = broken.first().cloned().map(Box::new) {
            let (region, algorithm, count) = (name(), entry.name, broken.len());
            return Err(GraphRunError::Races { region, algorithm, count, first });
        }
        Ok((outcome, pieces))
    }

    /// Places every region under one relation, innermost first, with the given orders ([`GraphRun::order`]).
    /// The body is last.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    pub fn plan_related<P: InstanceProblem>(
        &self,
        graph: &Graph,
        orders: &[OrderedRegion],
        relation: Relation,
        entry: &Entry<P>,
    ) -> Result<Vec<RelatedPlan<P>>, GraphRunError> {
        let mut blocks = vec![Bytes::ZERO; graph.regions().len()];
        let mut done = Vec::with_capacity(orders.len());
        for ordered in orders {
            let mut related = self.relate(graph, ordered, relation, &blocks)?;
            let watched = match related.complete.then(|| self.watch(&related)).flatten() {
                Some(watch) => {
                    let placed = self.place(graph, &related, Some(&watch), entry)?;
                    let safety = watch.safety(&placed.1);
                    Some((placed, safety))
                }
                None => None,
            };
            let (placed, safety) = if let Some(watched) = watched {
                watched
            } else {
                related = related.apart();
                (self.place(graph, &related, None, entry)?, Safety::default())
            };
            let (outcome, pieces) = placed;
            let plan = RelatedPlan { related, outcome, pieces, safety };
            blocks[ordered.region.index()] = plan.arena();
            done.push(plan);
        }
        Ok(done)
    }
}

/// The algorithms that [`compare`] runs.
#[derive(Clone, Copy, Debug)]
pub struct ComparedAlgorithms<'a> {
    /// The placement algorithm of the memory-planning patent, with one range per storage.
    pub reuse_by_size: &'a Entry<Offsets>,
    /// The placement algorithm of the memory-planning patent, with split buffers.
    pub split_by_size: &'a Entry<SplitBuffers>,
    /// The solver for one range per storage; it also plans the inner regions.
    pub exact: &'a Entry<Offsets>,
    /// The solver for split buffers.
    pub split: &'a Entry<SplitBuffers>,
}

/// The results of one relation on one graph. Sizes in bytes refer to the body. Overlooked, exposed and
/// colliding pairs are counted over all regions.
#[derive(Clone, Debug, Serialize)]
pub struct RelationRow {
    /// Name of the graph.
    pub graph: String,
    /// Number of operators of the body.
    pub operators: usize,
    /// Number of buffers of the body: storages and scratch.
    pub buffers: usize,
    /// The conflict relation.
    pub conflicts: String,
    /// Number of conflicting pairs.
    pub pairs: u64,
    /// Pairs that are simultaneously live in the order but do not conflict. With such pairs, a plan may be
    /// wrong even if operators run sequentially.
    pub overlooked: u64,
    /// Pairs that are simultaneously live in some execution but do not conflict. With such pairs, a plan may
    /// be wrong if operators run concurrently.
    pub exposed: u64,
    /// Peak live bytes of the order.
    pub load: u64,
    /// Weight of the heaviest clique of conflicts that was found, in bytes.
    pub clique: u64,
    /// Arena of the patent's placement, in bytes.
    pub reuse_by_size: u64,
    /// Arena of the patent's placement with split buffers, in bytes.
    pub split_by_size: u64,
    /// Smallest arena found with one range per storage, in bytes.
    pub exact: u64,
    /// A lower bound on all arenas with one range per storage, in bytes.
    pub exact_bound: u64,
    /// The claim for `exact`.
    pub exact_claim: Claim,
    /// Smallest arena found with split buffers, in bytes.
    pub split: u64,
    /// A lower bound on all arenas with split buffers, in bytes.
    pub split_bound: u64,
    /// The claim for `split`.
    pub split_claim: Claim,
    /// The arena `exact`, divided by the arena `exact` of the first relation.
    pub ratio: f64,
    /// Pairs of allocations that collide in the layout of `exact` if operators run sequentially.
    pub collide_in_order: usize,
    /// Pairs of allocations that collide in the layout of `exact` if operators run concurrently.
    pub collide: usize,
    /// Running time of all algorithms on the body, in seconds.
    pub seconds: f64,
    /// A pair that collides in sequential execution or, if there is none, in concurrent execution.
    pub witness: Option<String>,
    /// The arithmetic in which `exact_bound` was proved.
    pub arithmetic: Arithmetic,
}

/// Compares the relations of [`COMPARED`] on one graph under the same orders. Returns one row per relation.
///
/// # Errors
/// See [`GraphRunError`].
pub fn compare(
    graph: &Graph,
    run: &GraphRun<'_>,
    algorithms: ComparedAlgorithms<'_>,
) -> Result<Vec<RelationRow>, GraphRunError> {
    let orders = GraphRun { limits: run.limits.from_now(), ..*run }.order(graph)?;
    let mut rows: Vec<RelationRow> = Vec::new();
    for relation in COMPARED {
        let base = rows.first().map(|row| row.exact);
        rows.push(row(graph, run, &orders, relation, algorithms, base)?);
    }
    Ok(rows)
}

fn row(
    graph: &Graph,
    run: &GraphRun<'_>,
    orders: &[OrderedRegion],
    relation: Relation,
    algorithms: ComparedAlgorithms<'_>,
    base: Option<u64>,
) -> Result<RelationRow, GraphRunError> {
    let first = GraphRun { limits: run.limits.from_now(), ..*run };
    let mut regions = first.plan_related(graph, orders, relation, algorithms.exact)?;
    let exact = regions.pop().expect("a graph has a body");
    let watch = exact.related.complete.then(|| run.watch(&exact.related)).flatten();
    if exact.related.complete && watch.is_none() {
        let region = graph.region(exact.related.region).name.clone();
        return Err(GraphRunError::Nothing { region, algorithm: CONFLICTS });
    }
    let (reuse_by_size, _) = run.place(graph, &exact.related, watch.as_ref(), algorithms.reuse_by_size)?;
    let (split_by_size, _) = run.place(graph, &exact.related, watch.as_ref(), algorithms.split_by_size)?;
    let (split, _) = run.place(graph, &exact.related, watch.as_ref(), algorithms.split)?;
    let one = &exact.related;
    // Collisions can also occur in inner regions; the body comes first.
    let all = || std::iter::once(&exact).chain(regions.iter().rev());
    let witness = all().find_map(|one| one.safety.in_order.first());
    let witness = witness.or_else(|| all().find_map(|one| one.safety.concurrent.first()));
    // A layout is also a split layout, and a bound on split layouts holds for every layout.
    let bound = exact.outcome.lower_bound.value.max(split.lower_bound.value);
    let pieces = arena(&split).min(exact.arena());
    let claim = |value: Bytes, bound: Bytes| Claim::drawn(Some(value), bound, None, None);
    let base = base.unwrap_or(exact.arena().get());
    Ok(RelationRow {
        graph: graph.name().to_owned(),
        operators: one.storages.problem.len(),
        buffers: one.instance.len(),
        conflicts: relation.to_string(),
        pairs: one.pairs,
        overlooked: all().map(|one| one.related.overlooked).sum(),
        exposed: all().map(|one| one.related.exposed).sum(),
        load: one.order.peak(&one.storages.problem).get(),
        clique: clique_bound(&one.instance, &mut run.limits.watch()).value.get(),
        reuse_by_size: arena(&reuse_by_size).get(),
        split_by_size: arena(&split_by_size).get(),
        exact: exact.arena().get(),
        exact_bound: bound.get(),
        exact_claim: claim(exact.arena(), bound),
        split: pieces.get(),
        split_bound: split.lower_bound.value.get(),
        split_claim: claim(pieces, split.lower_bound.value),
        ratio: if base == exact.arena().get() { 1.0 } else { exact.arena().get() as f64 / base as f64 },
        collide_in_order: all().map(|one| one.safety.in_order.len()).sum(),
        collide: all().map(|one| one.safety.concurrent.len()).sum(),
        seconds: exact.outcome.stats.seconds
            + reuse_by_size.stats.seconds
            + split_by_size.stats.seconds
            + split.stats.seconds,
        witness: witness.map(ToString::to_string),
        arithmetic: Arithmetic::of_best(
            [&exact.outcome.lower_bound, &split.lower_bound]
                .map(|bound| (bound.value, Arithmetic::of(&bound.witness))),
        ),
    })
}
