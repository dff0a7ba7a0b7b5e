//! Implements [`Posed`] for the problems on graphs. A graph is divided into regions or segments, or only its
//! body is used, and the answers for the parts are combined.

use super::{
    Answer, By, PoseError, Posed, Provable, ProvedBound, Subject, SubjectKind, TermError, Terms, Unanswered,
    answer,
};
use crate::arithmetic::Arithmetic;
use crate::fusion::{FuseRun, FusionTotals};
use crate::graphs::{GraphRun, GraphRunError, OrderedRegion, Placement, PlannedRegion};
use crate::registry::registry;
use crate::run::Limits;
use crate::spilling::{graph_traffic, region_instance};
use crate::tiers::{Fusing, TierCase, TierSetting, tier_case};
use crate::timelines::{ScheduleError, program, schedule};
use plimsoll_model::fusion::{Fusions, Patterns, UnitRule, Units};
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::tiers::{Addresses, TierMachine, TierTimes, Tiers, on_and_off_chip};
use plimsoll_model::timelines::{Machine, OverlapOptions, OverlapProgram, Time, Timelines};
use plimsoll_model::{
    Bytes, Claim, Entry, Joint, Observer, Orders, Problem, Relations, Setup, SpillProblem, Spilling, Stats,
    Stop, WitnessSummary, load, written_and_read,
};

/// A graph, and the options under which its regions become order problems.
#[derive(Clone, Copy, Debug)]
pub struct InOrder<'a> {
    /// The graph to order.
    pub graph: &'a Graph,
    /// Options of the liveness analysis.
    pub liveness: LivenessOptions,
}

/// A graph, and the rules under which its operators may be fused.
#[derive(Clone, Debug)]
pub struct ToFuse<'a> {
    /// The graph to fuse.
    pub graph: &'a Graph,
    /// The chains of operators that may run as one.
    pub patterns: Patterns,
    /// The assignment of operators to processing units.
    pub units: Units,
    /// Whether a group may span several units.
    pub rule: UnitRule,
}

fn graph_of<P: Problem>(subject: &Subject) -> Result<&Graph, PoseError> {
    match subject {
        Subject::Graph(graph) => Ok(graph),
        Subject::Instance(_) => Err(PoseError::Kind { problem: P::NAME, kind: subject.kind() }),
    }
}

/// Returns the order algorithm named in the terms.
pub(super) fn order_of(terms: &Terms) -> Result<&'static Entry<Orders>, TermError> {
    let find = |name: &str| {
        let found = registry().find::<Orders>(name);
        found.map_err(|_| "expected an order algorithm; `plimsoll list orders` prints all names".to_owned())
    };
    Ok(terms.read("order", find)?.unwrap_or(registry().orders[0]))
}

/// Resolves the value of a key with a function that accepts a name or a file. The terms must already contain
/// the default values.
fn found<T, E: ToString>(
    terms: &Terms,
    key: &'static str,
    find: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, TermError> {
    let value = terms.get(key).unwrap_or_default();
    find(value).map_err(|why| TermError::Value { key, value: value.to_owned(), why: why.to_string() })
}

/// Orders the regions, innermost first, within a third of the time limit.
fn ordered(
    graph: &Graph,
    liveness: LivenessOptions,
    terms: &Terms,
    setup: Setup,
    limits: Limits,
) -> Result<Vec<OrderedRegion>, PoseError> {
    let run = GraphRun { liveness, order: order_of(terms)?, setup, limits: limits.from_now().share(3) };
    Ok(run.with_final_order().order(graph)?)
}

/// Returns the regions, or the answer `unknown` if nothing was found for a region within the limits.
fn regions<P: Problem, R>(
    result: Result<Vec<R>, GraphRunError>,
) -> Result<Result<Vec<R>, Answer<P>>, Unanswered> {
    match result {
        Ok(regions) => Ok(Ok(regions)),
        Err(error @ GraphRunError::Nothing { .. }) => {
            Ok(Err(Answer::nothing(Claim::without_solution(false), error.to_string())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the first termination reason other than `completed`, or `completed` if there is none.
fn first_stop(stops: impl IntoIterator<Item = Stop>) -> Stop {
    stops.into_iter().find(|stop| *stop != Stop::Completed).unwrap_or(Stop::Completed)
}

/// Returns the counters of the last part, with the nodes summed over all parts.
fn summed<'a>(stats: impl IntoIterator<Item = &'a Stats>) -> Stats {
    let all: Vec<&Stats> = stats.into_iter().collect();
    let mut stats = Stats::of_nodes(all.iter().map(|one| one.nodes).sum());
    stats.counters = all.last().map(|last| last.counters.clone()).unwrap_or_default();
    stats
}

fn in_order<'a, P: Problem>(subject: &'a Subject, terms: &Terms) -> Result<InOrder<'a>, PoseError> {
    Ok(InOrder { graph: graph_of::<P>(subject)?, liveness: terms.liveness()? })
}

impl Posed for Orders {
    const VALUE: &'static str = "peak";
    const LIVENESS: bool = true;
    type Question<'a> = InOrder<'a>;

    fn pose<'a>(subject: &'a Subject, terms: &Terms, _: Setup, _: Limits) -> Result<InOrder<'a>, PoseError> {
        in_order::<Self>(subject, terms)
    }

    /// The value and the bound are those of the body, the last region. The bound assumes the peaks of the
    /// inner regions in the orders found, so it is valid for the graph only if these orders are proved
    /// optimal.
    fn ask(
        question: &InOrder<'_>,
        (entry, setup, limits): By<Self>,
        _: &mut dyn Observer<Self>,
    ) -> Result<Answer<Self>, Unanswered> {
        let limits = limits.from_now();
        let run = GraphRun { liveness: question.liveness, order: entry, setup, limits };
        let regions = match regions(run.order(question.graph))? {
            Ok(regions) => regions,
            Err(nothing) => return Ok(nothing),
        };
        let arithmetic = regions.iter().map(|one| Arithmetic::of(&one.outcome.lower_bound.witness)).max();
        let stats = summed(regions.iter().map(|one| &one.outcome.stats));
        let Some((body, inner)) = regions.split_last() else {
            return Err(Unanswered::NoRegion);
        };
        let holds = inner.iter().all(|one| one.outcome.claim == Claim::Optimal);
        let mut answer = Answer::of(&body.storages.problem, body.outcome.clone());
        if let Some(proof) = &mut answer.proof {
            proof.arithmetic = arithmetic.unwrap_or_default();
        }
        if !holds {
            answer.proof = None;
            if answer.value.is_some() {
                answer.claim = Claim::of_solution(false);
            }
        }
        Ok(Answer { stats, regions, ..answer })
    }

    fn provable<'a>(question: &'a InOrder<'_>, answer: &'a Answer<Self>) -> Option<Provable<'a>> {
        answer.proof.as_ref().map(|_| Provable::Orders(question.graph, &answer.regions))
    }
}

impl Posed for Joint {
    const VALUE: &'static str = "arena";
    const LIVENESS: bool = true;
    type Question<'a> = InOrder<'a>;

    fn pose<'a>(subject: &'a Subject, terms: &Terms, _: Setup, _: Limits) -> Result<InOrder<'a>, PoseError> {
        in_order::<Self>(subject, terms)
    }

    /// Every region is ordered and placed jointly, innermost first. The value and the bound are those of the
    /// body. The bound is valid only if the plans of the inner regions are proved optimal.
    fn ask(
        question: &InOrder<'_>,
        (entry, setup, limits): By<Self>,
        _: &mut dyn Observer<Self>,
    ) -> Result<Answer<Self>, Unanswered> {
        let limits = limits.from_now();
        // This order algorithm does not run: the joint solver returns its own order with the layout.
        let run = GraphRun { liveness: question.liveness, order: registry().orders[0], setup, limits };
        let planned = run.plan(question.graph, Placement::Joint(entry));
        let regions = match regions(planned)? {
            Ok(regions) => regions,
            Err(nothing) => return Ok(nothing),
        };
        let Some((body, inner)) = regions.split_last() else {
            return Err(Unanswered::NoRegion);
        };
        let witnesses = regions.iter().map(|one| Arithmetic::of(&one.joint_bound.witness));
        let proof = inner.iter().all(PlannedRegion::is_optimal_over_orders).then(|| ProvedBound {
            bound: body.joint_bound.value,
            witness: WitnessSummary::of::<Orders>(&body.ordered.storages.problem, &body.joint_bound.witness),
            arithmetic: witnesses.max().unwrap_or_default(),
        });
        let stop = first_stop(regions.iter().map(|one| one.layout.stop));
        Ok(Answer::whole(body.arena(), proof, stop, summed(regions.iter().map(|one| &one.layout.stats))))
    }
}

/// Parses the capacity: a number of bytes, or a percentage of the load. Without this term, the capacity is
/// the load.
fn capacity(terms: &Terms, load: Bytes) -> Result<Bytes, TermError> {
    let read = |text: &str| {
        let wrong =
            || "expected a size such as 1048576 or 64k, or a percentage of the load such as 75%".to_owned();
        match text.strip_suffix('%') {
            Some(percent) => {
                let percent: u64 = percent.parse().map_err(|_| wrong())?;
                let bytes = u128::from(load.get()) * u128::from(percent) / 100;
                u64::try_from(bytes).map(Bytes::new).map_err(|_| wrong())
            }
            None => text.parse().map_err(|_| wrong()),
        }
    };
    Ok(terms.read("capacity", read)?.unwrap_or(load))
}

impl Posed for Spilling {
    const VALUE: &'static str = "traffic";
    const FIGURES: &'static [(&'static str, &'static str)] = &[("spilled", "spilled")];
    const LIVENESS: bool = true;
    const TERMS: &'static [(&'static str, &'static str)] = &[("capacity", "75%"), ("order", "exact")];
    type Question<'a> = SpillProblem;

    fn takes(_: SubjectKind) -> bool {
        true
    }

    fn check_terms(terms: &Terms) -> Result<(), TermError> {
        terms.liveness()?;
        order_of(terms)?;
        capacity(terms, Bytes::ZERO).map(drop)
    }

    /// In an instance, every spilled buffer is written once and read once. In a graph, the traffic of a
    /// tensor is its size, counted once for every operator of the body that writes or reads it.
    fn pose(
        subject: &Subject,
        terms: &Terms,
        setup: Setup,
        limits: Limits,
    ) -> Result<SpillProblem, PoseError> {
        let terms = Self::terms(terms);
        let (instance, traffic) = match subject {
            Subject::Instance(instance) => (instance.clone(), written_and_read(instance)),
            Subject::Graph(graph) => {
                let liveness = terms.liveness()?;
                let regions = ordered(graph, liveness, &terms, setup, limits)?;
                let body = regions.last().ok_or(PoseError::NoBody)?;
                let instance = region_instance(body, liveness.align, Bytes::ZERO)?;
                let traffic = graph_traffic(graph, body, instance.len());
                (instance, traffic)
            }
        };
        let capacity = capacity(&terms, load(&instance).0)?;
        Ok(SpillProblem::new(instance.with_capacity(Some(capacity)), traffic)?)
    }

    fn ask(
        question: &SpillProblem,
        by: By<Self>,
        observer: &mut dyn Observer<Self>,
    ) -> Result<Answer<Self>, Unanswered> {
        let answer = answer(question, by, observer)?;
        Ok(answer.counting(|spill| vec![("spilled", spill.spilled().count() as u64)]))
    }

    fn capacity_of(question: &SpillProblem) -> Option<u64> {
        Some(question.capacity().get())
    }
}

impl Posed for Timelines {
    const VALUE: &'static str = "makespan";
    const LIVENESS: bool = true;
    const TERMS: &'static [(&'static str, &'static str)] = &[("machine", "generic"), ("order", "as-in-file")];
    type Question<'a> = OverlapProgram;

    fn check_terms(terms: &Terms) -> Result<(), TermError> {
        terms.refuse("weights", "not available here: timelines always fetch weights")?;
        terms.liveness()?;
        order_of(terms)?;
        found(terms, "machine", Machine::find).map(drop)
    }

    fn pose(
        subject: &Subject,
        terms: &Terms,
        setup: Setup,
        limits: Limits,
    ) -> Result<OverlapProgram, PoseError> {
        let (graph, terms) = (graph_of::<Self>(subject)?, Self::terms(terms));
        let machine = found(&terms, "machine", Machine::find)?;
        let regions = ordered(graph, terms.liveness()?, &terms, setup, limits)?;
        Ok(program(graph, &regions, &machine, OverlapOptions::default())?)
    }

    /// Segments are scheduled separately. The value is the makespan of the longest control path through the
    /// segments.
    fn ask(
        question: &OverlapProgram,
        (entry, setup, limits): By<Self>,
        _: &mut dyn Observer<Self>,
    ) -> Result<Answer<Self>, Unanswered> {
        let limits = limits.from_now();
        match schedule(question, entry, setup, limits) {
            Ok(found) => {
                let proof = ProvedBound {
                    bound: found.lower_bound,
                    witness: found.witness,
                    arithmetic: found.arithmetic,
                };
                let stats = Stats::of_nodes(found.nodes);
                Ok(Answer::whole(found.makespan, Some(proof), found.stop, stats))
            }
            Err(error @ ScheduleError::Infeasible { .. }) => {
                Ok(Answer::nothing(Claim::without_solution(true), error.to_string()))
            }
            Err(error @ ScheduleError::Nothing) => {
                Ok(Answer::nothing(Claim::without_solution(false), error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

const RULES: &[(&str, Option<UnitRule>)] =
    &[("cross-unit", Some(UnitRule::Any)), ("ordinary", Some(UnitRule::Same)), ("none", None)];
const ADDRESSES: &[(&str, Addresses)] = &[("placed", Addresses::Placed), ("counted", Addresses::Counted)];

impl Posed for Tiers {
    const VALUE: &'static str = "transfers";
    const FIGURES: &'static [(&'static str, &'static str)] =
        &[("off-chip bytes", "off_chip_bytes"), ("inference", "inference_ps")];
    const LIVENESS: bool = true;
    const TERMS: &'static [(&'static str, &'static str)] = &[
        ("machine", "generic"),
        ("fusion", "cross-unit"),
        ("patterns", "default"),
        ("order", "as-in-file"),
        ("addresses", "placed"),
    ];
    type Question<'a> = TierCase;

    fn check_terms(terms: &Terms) -> Result<(), TermError> {
        terms.refuse("align", "not available here: the machine defines the alignment")?;
        terms.liveness()?;
        order_of(terms)?;
        terms.one_of("fusion", RULES)?;
        terms.one_of("addresses", ADDRESSES)?;
        found(terms, "patterns", Patterns::find)?;
        found(terms, "machine", TierMachine::find).map(drop)
    }

    fn pose(subject: &Subject, terms: &Terms, setup: Setup, limits: Limits) -> Result<TierCase, PoseError> {
        let (graph, terms) = (graph_of::<Self>(subject)?, Self::terms(terms));
        let machine = found(&terms, "machine", TierMachine::find)?;
        let patterns = found(&terms, "patterns", Patterns::find)?;
        let rule = terms.one_of("fusion", RULES)?;
        let liveness = terms.liveness()?;
        // Inputs and outputs are always among the tensors; the problem restricts the memories they may lie
        // in.
        let boundary_off_chip = liveness.boundary == Boundary::Outside;
        let boundary = if boundary_off_chip { Boundary::Arena } else { liveness.boundary };
        let liveness = LivenessOptions { boundary, ..liveness };
        let run = GraphRun { liveness, order: order_of(&terms)?, setup, limits: limits.from_now() };
        let run = run.with_final_order();
        let fusing = rule.map(|rule| Fusing { patterns: &patterns, rule });
        let addresses = terms.one_of("addresses", ADDRESSES)?;
        let setting = TierSetting { machine: &machine, run, fusing, addresses, boundary_off_chip };
        Ok(tier_case(graph, &setting)?)
    }

    /// The inference time is the sum of the times of computations, operator starts, weight transfers and
    /// tensor transfers.
    fn ask(
        question: &TierCase,
        by: By<Self>,
        observer: &mut dyn Observer<Self>,
    ) -> Result<Answer<Self>, Unanswered> {
        let TierCase { problem, times: TierTimes { compute, overhead, weights }, .. } = question;
        let rest = [*compute, *overhead, weights.time].map(Time::get);
        let answer = answer(problem, by, observer)?;
        Ok(answer.counting(|plan| {
            let (_, off_chip) = on_and_off_chip(problem, &plan.traffic(problem));
            let transfers = Self::value(problem, plan).get();
            let inference = rest.iter().fold(transfers, |sum, part| sum.saturating_add(*part));
            vec![("off_chip_bytes", off_chip), ("inference_ps", inference)]
        }))
    }
}

impl Posed for Fusions {
    const VALUE: &'static str = "optimised";
    const FIGURES: &'static [(&'static str, &'static str)] =
        &[("relations", "relations"), ("groups", "groups")];
    const TERMS: &'static [(&'static str, &'static str)] =
        &[("fusion", "ordinary"), ("patterns", "default"), ("units", "graph")];
    type Question<'a> = ToFuse<'a>;

    fn check_terms(terms: &Terms) -> Result<(), TermError> {
        let terms = Self::terms(terms);
        terms.one_of("fusion", &RULES[..2])?;
        found(&terms, "patterns", Patterns::find)?;
        terms.read("units", units).map(drop)
    }

    fn pose<'a>(subject: &'a Subject, terms: &Terms, _: Setup, _: Limits) -> Result<ToFuse<'a>, PoseError> {
        let (graph, terms) = (graph_of::<Self>(subject)?, Self::terms(terms));
        let patterns = found(&terms, "patterns", Patterns::find)?;
        let units = terms.read("units", units)?.flatten().unwrap_or_else(|| Units::of_graph(graph));
        let rule = terms.one_of("fusion", &RULES[..2])?.unwrap_or(UnitRule::Same);
        Ok(ToFuse { graph, patterns, units, rule })
    }

    /// Regions are fused separately. The value and the bound are sums over the regions.
    fn ask(
        question: &ToFuse<'_>,
        (entry, setup, limits): By<Self>,
        _: &mut dyn Observer<Self>,
    ) -> Result<Answer<Self>, Unanswered> {
        let limits = limits.from_now();
        let ToFuse { graph, patterns, units, rule } = question;
        let run = FuseRun { patterns, units, rule: *rule, entry, setup, limits };
        let regions = run.fuse(graph)?;
        let totals = FusionTotals::of(&regions);
        let witness = match regions.as_slice() {
            [only] => WitnessSummary::of::<Self>(&only.problem, &only.outcome.lower_bound.witness),
            all => WitnessSummary::combined("sum", "regions", all.len()),
        };
        let bound = Relations::new(totals.bound);
        let proof = ProvedBound { bound, witness, arithmetic: totals.arithmetic };
        let stop = first_stop(regions.iter().map(|one| one.outcome.stop));
        let mut stats = summed(regions.iter().map(|one| &one.outcome.stats));
        stats.count("relations", totals.coverage.relations as u64);
        stats.count("groups", totals.groups as u64);
        Ok(Answer::whole(Relations::new(totals.coverage.optimised), Some(proof), stop, stats))
    }
}

/// Finds units by name or file. Returns `None` if the units are those named in the graph.
fn units(name: &str) -> Result<Option<Units>, String> {
    if name == "graph" {
        return Ok(None);
    }
    Units::find(name).map(Some).map_err(|error| error.to_string())
}
