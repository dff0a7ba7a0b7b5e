//! Plans by conflicts that follow from the structure of a graph, and what each relation costs.
//!
//! Regions are taken innermost first, each with the same relation: the arena of what an operator owns is a block of its
//! own while the operator runs, as in [`graphs`](crate::graphs). All relations see the same orders. Every placement passes two
//! checkers: that of its problem, for the conflicts it was given, and [`Precedences`], which knows nothing of them and walks along the
//! precedences that the relation stands for.

use crate::arithmetic::Arithmetic;
use crate::graphs::{GraphRun, GraphRunError, OrderedRegion, outcome};
use crate::plan::Plan;
use crate::run::run;
use plimsoll_model::graph::{Graph, Storages};
use plimsoll_model::orders::Order;
use plimsoll_model::structure::{Relation, Structure, StructureError};
use plimsoll_model::{
    Budget, Bytes, Claim, Entry, Instance, Offsets, OperatorId, Outcome, Piece, Precedences, Race, RegionId,
    Silent, SplitBuffers,
};
use plimsoll_solvers::bounds::clique_bound;
use serde::Serialize;

/// The relations of a comparison, in the order of its rows.
pub const COMPARED: [Relation; 5] =
    [Relation::Schedule, Relation::Streams(2), Relation::Streams(4), Relation::Reachable, Relation::Mutex];

/// One region with its conflicts.
#[derive(Debug)]
pub struct RelatedRegion {
    /// Which.
    pub region: RegionId,
    /// Its order problem, with a block for what operators own, and what its numbers mean.
    pub storages: Storages,
    /// The order.
    pub order: Order,
    /// Who conflicts with whom.
    pub relation: Relation,
    /// The offset problem of these conflicts.
    pub instance: Instance,
    /// Conflicting pairs.
    pub pairs: u64,
    /// Pairs held together in the order that do not conflict.
    pub overlooked: u64,
    /// Pairs held together in some execution that do not conflict.
    pub exposed: u64,
    /// Precedences that the relation adds to those of the graph.
    added: Vec<(OperatorId, OperatorId)>,
    /// Precedences that the order adds.
    in_order: Vec<(OperatorId, OperatorId)>,
}

/// What is at work, in messages, before any algorithm is.
const CONFLICTS: &str = "conflicts";

/// Pairs of memories that a placement puts at common addresses although they may be needed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safety {
    /// With one operator after the other, in the order.
    pub in_order: Vec<Race>,
    /// With operators that do not wait for each other at any time.
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
        let conflicts = structure.conflicts(relation, time)?;
        let mut beyond = |other| -> Result<u64, StructureError> {
            Ok(structure.conflicts(other, time)?.without(&conflicts).count())
        };
        let pairs = conflicts.count();
        let (overlooked, exposed) = (beyond(Relation::Schedule)?, beyond(Relation::Reachable)?);
        let instance = structure.instance(relation, align, time)?;
        let (added, in_order) = (structure.added(relation), structure.added(Relation::Schedule));
        let region = ordered.region;
        Ok(Self { region, storages, order, relation, instance, pairs, overlooked, exposed, added, in_order })
    }

    /// The precedences by which placements are judged; made once for all of them. None where the time ends before.
    fn watch(&self, time: &mut Budget) -> Option<Watch<'_>> {
        let mut by = |added| Precedences::within(&self.storages.problem, added, time).ok();
        // `mutex` promises nothing.
        let promised = if self.relation == Relation::Mutex { None } else { Some(by(&self.added)?) };
        Some(Watch { promised, in_order: by(&self.in_order)?, concurrent: by(&[])? })
    }
}

/// Precedences that hold where operators run as the relation says, in the order, and always.
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

/// One region with its conflicts, and memory for it.
#[derive(Debug)]
pub struct RelatedPlan<P: Plan> {
    /// The region.
    pub related: RelatedRegion,
    /// The placement, and what is proved of it for these conflicts.
    pub outcome: Outcome<P>,
    /// Addresses of every memory.
    pub pieces: Vec<Vec<Piece>>,
    /// What collides.
    pub safety: Safety,
    /// Seconds of the algorithm.
    pub seconds: f64,
}

/// Memory for one region.
struct Placed<P: Plan> {
    outcome: Outcome<P>,
    pieces: Vec<Vec<Piece>>,
    seconds: f64,
}

impl<P: Plan> Placed<P> {
    fn arena(&self) -> Bytes {
        self.outcome.value.unwrap_or(Bytes::ZERO)
    }
}

impl<P: Plan> RelatedPlan<P> {
    /// Size of the arena, bytes.
    pub fn arena(&self) -> Bytes {
        self.outcome.value.unwrap_or(Bytes::ZERO)
    }
}

impl GraphRun<'_> {
    /// Conflicts of one region, by a relation, in an order found before; `blocks` are the arenas of the regions inside.
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
        related.map_err(|source| match source {
            StructureError::OutOfTime { .. } => {
                GraphRunError::Nothing { region: name(), algorithm: CONFLICTS }
            }
            _ => GraphRunError::Structure { region: name(), source },
        })
    }

    fn watch<'r>(&self, graph: &Graph, related: &'r RelatedRegion) -> Result<Watch<'r>, GraphRunError> {
        let mut time = self.limits.share(related.region.index() + 1).watch();
        related.watch(&mut time).ok_or_else(|| {
            let region = graph.region(related.region).name.clone();
            GraphRunError::Nothing { region, algorithm: CONFLICTS }
        })
    }

    /// Memory for one region.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    fn place<P: Plan>(
        &self,
        graph: &Graph,
        related: &RelatedRegion,
        watch: &Watch<'_>,
        entry: &Entry<P>,
    ) -> Result<Placed<P>, GraphRunError> {
        let limits = self.limits.share(related.region.index() + 1);
        let attempt = run(entry, &related.instance, self.setup, limits, &mut Silent);
        let (outcome, seconds) = outcome(graph, related.region, entry.name, attempt)?;
        let name = || graph.region(related.region).name.clone();
        let Some(solution) = &outcome.solution else {
            return Err(GraphRunError::Nothing { region: name(), algorithm: entry.name });
        };
        let pieces = P::pieces(&related.instance, solution);
        let broken = watch.broken(&pieces);
        if let Some(first) = broken.first().cloned().map(Box::new) {
            let (region, algorithm, count) = (name(), entry.name, broken.len());
            return Err(GraphRunError::Races { region, algorithm, count, first });
        }
        Ok(Placed { outcome, pieces, seconds })
    }

    /// Memory for every region by one relation, innermost first, under orders found before ([`GraphRun::order`]); the body is
    /// last.
    ///
    /// # Errors
    /// See [`GraphRunError`].
    pub fn plan_related<P: Plan>(
        &self,
        graph: &Graph,
        orders: &[OrderedRegion],
        relation: Relation,
        entry: &Entry<P>,
    ) -> Result<Vec<RelatedPlan<P>>, GraphRunError> {
        let mut blocks = vec![Bytes::ZERO; graph.regions().len()];
        let mut done = Vec::with_capacity(orders.len());
        for ordered in orders {
            let related = self.relate(graph, ordered, relation, &blocks)?;
            let watch = self.watch(graph, &related)?;
            let Placed { outcome, pieces, seconds } = self.place(graph, &related, &watch, entry)?;
            let safety = watch.safety(&pieces);
            let plan = RelatedPlan { related, outcome, pieces, safety, seconds };
            blocks[ordered.region.index()] = plan.arena();
            done.push(plan);
        }
        Ok(done)
    }
}

/// The algorithms of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Judges<'a> {
    /// The patent's placement in one piece.
    pub patent: &'a Entry<Offsets>,
    /// The same in pieces.
    pub patent_scattered: &'a Entry<SplitBuffers>,
    /// Who plans in one piece; regions inside operators too.
    pub exact: &'a Entry<Offsets>,
    /// Who plans in pieces.
    pub scattered: &'a Entry<SplitBuffers>,
}

/// One relation of a comparison: bytes, of the body of the graph; pairs that are overlooked, exposed or collide, of all regions.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The graph.
    pub graph: String,
    /// Operators of the body.
    pub operators: usize,
    /// Memories of the body.
    pub buffers: usize,
    /// The relation.
    pub conflicts: String,
    /// Conflicting pairs.
    pub pairs: u64,
    /// Pairs held together in the order that do not conflict: by them a plan may be wrong as it stands.
    pub overlooked: u64,
    /// Pairs held together in some execution that do not conflict: by them a plan may be wrong with concurrency.
    pub exposed: u64,
    /// Most bytes alive at a step of the order.
    pub load: u64,
    /// The heaviest set in mutual conflict that was found.
    pub clique: u64,
    /// The patent's placement in one piece, and in pieces.
    pub patent: u64,
    /// In pieces.
    pub patent_scattered: u64,
    /// The best in one piece.
    pub exact: u64,
    /// No layout in one piece takes less.
    pub exact_bound: u64,
    /// What is proved of it.
    pub exact_claim: &'static str,
    /// The best in pieces.
    pub scattered: u64,
    /// No layout in pieces takes less.
    pub scattered_bound: u64,
    /// What is proved of it.
    pub scattered_claim: &'static str,
    /// `exact` over that of the first relation.
    pub ratio: f64,
    /// Pairs of memories that collide in the layout of `exact`, one operator after the other.
    pub collide_in_order: usize,
    /// The same with concurrency.
    pub collide: usize,
    /// Seconds of all algorithms on the body.
    pub seconds: f64,
    /// One pair that collides in the order, or else with concurrency.
    pub witness: Option<String>,
    /// In which arithmetic `exact_bound` was proved.
    pub arithmetic: Arithmetic,
}

/// Every relation of [`COMPARED`] on one graph, under the same orders: one row each.
///
/// # Errors
/// See [`GraphRunError`].
pub fn compare(graph: &Graph, run: &GraphRun<'_>, judges: Judges<'_>) -> Result<Vec<Row>, GraphRunError> {
    let orders = GraphRun { limits: run.limits.from_now(), ..*run }.order(graph)?;
    let mut rows: Vec<Row> = Vec::new();
    for relation in COMPARED {
        let base = rows.first().map(|row| row.exact);
        rows.push(row(graph, run, &orders, relation, judges, base)?);
    }
    Ok(rows)
}

fn row(
    graph: &Graph,
    run: &GraphRun<'_>,
    orders: &[OrderedRegion],
    relation: Relation,
    judges: Judges<'_>,
    base: Option<u64>,
) -> Result<Row, GraphRunError> {
    let first = GraphRun { limits: run.limits.from_now(), ..*run };
    let mut regions = first.plan_related(graph, orders, relation, judges.exact)?;
    let exact = regions.pop().expect("a graph has a body");
    let watch = run.watch(graph, &exact.related)?;
    let patent = run.place(graph, &exact.related, &watch, judges.patent)?;
    let patent_scattered = run.place(graph, &exact.related, &watch, judges.patent_scattered)?;
    let scattered = run.place(graph, &exact.related, &watch, judges.scattered)?;
    let one = &exact.related;
    // What lies inside an operator can go wrong too; the body is named first.
    let all = || std::iter::once(&exact).chain(regions.iter().rev());
    let witness = all().find_map(|one| one.safety.in_order.first());
    let witness = witness.or_else(|| all().find_map(|one| one.safety.concurrent.first()));
    // A layout in one piece is one in pieces, and bounds for pieces hold for one piece.
    let bound = exact.outcome.lower_bound.value.max(scattered.outcome.lower_bound.value);
    let pieces = scattered.arena().min(exact.arena());
    let claim = |value: Bytes, bound: Bytes| {
        if value == bound { Claim::Optimal.as_str() } else { Claim::Feasible.as_str() }
    };
    let base = base.unwrap_or(exact.arena().get());
    Ok(Row {
        graph: graph.name().to_owned(),
        operators: one.storages.problem.len(),
        buffers: one.instance.len(),
        conflicts: relation.to_string(),
        pairs: one.pairs,
        overlooked: all().map(|one| one.related.overlooked).sum(),
        exposed: all().map(|one| one.related.exposed).sum(),
        load: one.order.peak(&one.storages.problem).get(),
        clique: clique_bound(&one.instance, &mut run.limits.watch()).value.get(),
        patent: patent.arena().get(),
        patent_scattered: patent_scattered.arena().get(),
        exact: exact.arena().get(),
        exact_bound: bound.get(),
        exact_claim: claim(exact.arena(), bound),
        scattered: pieces.get(),
        scattered_bound: scattered.outcome.lower_bound.value.get(),
        scattered_claim: claim(pieces, scattered.outcome.lower_bound.value),
        ratio: if base == exact.arena().get() { 1.0 } else { exact.arena().get() as f64 / base as f64 },
        collide_in_order: all().map(|one| one.safety.in_order.len()).sum(),
        collide: all().map(|one| one.safety.concurrent.len()).sum(),
        seconds: exact.seconds + patent.seconds + patent_scattered.seconds + scattered.seconds,
        witness: witness.map(ToString::to_string),
        arithmetic: Arithmetic::of_best(
            [&exact.outcome.lower_bound, &scattered.outcome.lower_bound]
                .map(|bound| (bound.value, Arithmetic::of(&bound.witness))),
        ),
    })
}
