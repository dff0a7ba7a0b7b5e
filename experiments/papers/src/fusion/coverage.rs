//! Fusion coverage (sections 2.1.2 and 4.3 of the fusion paper) on networks generated from their published
//! architectures.

use super::Subgraphs;
use crate::{Context, Params, ReproduceError, Reproduction, generated, named};
use minijinja::{Value, context};
use plimsoll::fusion::{FuseRun, FusedRegion, FusionTotals};
use plimsoll_lab::report::bars::Panel;
use plimsoll_model::fusion::{Patterns, UnitRule, Units};
use plimsoll_model::graph::Graph;
use std::collections::BTreeMap;

/// Counts of a fusion.
struct Counted {
    totals: FusionTotals,
    /// Number of operators in groups of several operators.
    grouped: usize,
    /// Number of groups of several operators.
    several: usize,
    /// Number of groups by pattern.
    patterns: BTreeMap<String, usize>,
    /// Number of runs of consecutive operators (in file order) that are on the same unit.
    runs: usize,
}

/// The patterns, the units, and the rule for units within a group.
#[derive(Clone, Copy)]
struct Setting {
    patterns: &'static str,
    units: &'static str,
    rule: UnitRule,
}

/// The patterns of the paper, with groups across all units.
const IDEAL: Setting = Setting { patterns: "s3", units: "dla-gpu-cpu", rule: UnitRule::Any };
/// The setting [`IDEAL`], with patterns that also contain additions and concatenations.
const JOINED: Setting = Setting { patterns: "s3-joined", ..IDEAL };
/// The patterns of the paper within NVDLA.
const NVDLA: Setting = Setting { units: "nvdla", rule: UnitRule::Same, ..IDEAL };
/// The pattern that the paper counts in `YOLOv5s`.
const TRIPLE: &str = "conv-sigmoid-mul";

fn count(
    context: &Context<'_>,
    graph: &Graph,
    setting: Setting,
    method: &str,
) -> Result<Counted, ReproduceError> {
    let entry = named(&context.registry.fusion, method)?;
    let patterns = Patterns::find(setting.patterns).map_err(ReproduceError::defect)?;
    let units = Units::find(setting.units).map_err(ReproduceError::defect)?;
    let (setup, limits) = (context.setup, context.limits);
    let run = FuseRun { patterns: &patterns, units: &units, rule: setting.rule, entry, setup, limits };
    let regions = run.fuse(graph).map_err(ReproduceError::on(graph.name()))?;
    let chosen: Vec<_> = regions.iter().flat_map(|one| &one.fused.chosen).collect();
    let mut by_pattern = BTreeMap::new();
    for one in &chosen {
        *by_pattern.entry(patterns.list()[one.pattern].name.clone()).or_default() += 1;
    }
    let switches = |one: &FusedRegion| {
        let units = one.problem.units();
        units.windows(2).filter(|pair| pair[0] != pair[1]).count() + usize::from(!units.is_empty())
    };
    Ok(Counted {
        totals: FusionTotals::of(&regions),
        grouped: chosen.iter().map(|one| one.operators.len()).sum(),
        several: chosen.len(),
        patterns: by_pattern,
        runs: regions.iter().map(switches).sum(),
    })
}

impl Counted {
    /// Returns the number of groups of a pattern.
    fn of(&self, pattern: &str) -> usize {
        self.patterns.get(pattern).copied().unwrap_or(0)
    }

    fn facts(&self) -> Value {
        let (totals, coverage) = (&self.totals, self.totals.coverage);
        context! {
            operators => totals.operators, groups => totals.groups, several => self.several, runs => self.runs,
            merged => totals.merged(), relations => coverage.relations, optimised => coverage.optimised,
            share => coverage.optimised as f64 * 100.0 / coverage.relations.max(1) as f64,
            coverage => coverage.to_string(), bound => totals.bound, claim => totals.claim().to_string(),
        }
    }
}

fn of_kind(graph: &Graph, kind: &str) -> usize {
    graph.operators().iter().filter(|operator| operator.kind == kind).count()
}

/// Computes the facts about VGG-16.
pub(super) fn vgg(
    context: &Context<'_>,
    params: &Params,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let graph = generated("vgg16", params, 0)?;
    let own = count(context, &graph, IDEAL, "exact")?.facts();
    let [convolutions, activations, poolings] = ["Conv", "Relu", "MaxPool"].map(|kind| of_kind(&graph, kind));
    found.fact("vgg", context! { convolutions, activations, poolings, ..own });
    Ok(())
}

/// Computes the facts about `YOLOv5s`: with the patterns of the paper, with the joined patterns, and with
/// groups restricted to the units of NVDLA.
pub(super) fn yolo(
    context: &Context<'_>,
    params: &Params,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let graph = generated("yolov5s", params, 0)?;
    let ideal = count(context, &graph, IDEAL, "exact")?;
    let joined = count(context, &graph, JOINED, "exact")?;
    let alone = count(context, &graph, NVDLA, "exact")?;
    let release = generated("yolov5s", &Params::from([("release".to_owned(), 5)]), 0)?;
    let former = count(context, &release, IDEAL, "exact")?;
    let greedy = count(context, &graph, JOINED, "greedy")?;
    // The printed shares are relative to the operators in groups of the joined patterns.
    let (all, triples) = (joined.grouped, ideal.of(TRIPLE));
    let [add, concat] = ["add", "concat"].map(|kind| joined.of(&format!("{TRIPLE}-{kind}")));
    found.fact(
        "yolo",
        context! {
            all, triples, add, concat, all_or_one => all.max(1), joins => all.saturating_sub(3 * triples),
            ideal => ideal.facts(), joined => joined.facts(), alone => alone.facts(),
            concatenations => of_kind(&graph, "Concat"), additions => of_kind(&graph, "Add"),
            former => former.of(TRIPLE), greedy => greedy.totals.coverage.optimised,
        },
    );
    Ok(())
}

/// Compares the printed subgraph counts with each other, and with the numbers of operators and groups of the
/// published networks.
pub(super) fn subgraphs(
    context: &Context<'_>,
    all: &[Subgraphs],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let (mut rows, mut panels) = (Vec::new(), Vec::new());
    for Subgraphs { network, family, before, after, coverage } in all {
        let (before, after) = (*before, *after);
        let computed = before.saturating_sub(after) as f64 * 100.0 / before.max(1) as f64;
        let meant = format!(
            "{coverage} % of {before} would be {} fewer, {before} to {after} are {}",
            (coverage * before as f64 / 100.0).round(),
            before.abs_diff(after)
        );
        let graph = generated(family, &Params::new(), 0)?;
        let within = count(context, &graph, Setting { rule: UnitRule::Same, ..JOINED }, "exact")?;
        let across = count(context, &graph, JOINED, "exact")?;
        let bars = [("before", [before, across.runs]), ("after", [after, across.several])];
        let groups = bars.map(|(name, bars)| (name.to_owned(), bars.map(|bar| Some(bar as u64)).to_vec()));
        panels.push(Panel { name: network.clone(), groups: groups.to_vec(), mark: None });
        rows.push(context! {
            network, before, after, coverage, computed, agrees => (computed - coverage).abs() < 0.05, meant,
            within => within.totals.groups, across => across.facts(),
        });
    }
    found.fact("subgraphs", rows);
    found.bars("subgraphs", &().into(), panels)
}

/// Compares the greedy algorithm (longest match first) with the optimum.
pub(super) fn greedy(
    context: &Context<'_>,
    vgg: &Params,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let mut rows = Vec::new();
    for (family, params) in [("vgg16", vgg), ("yolov5s", &Params::new()), ("yolox-nano", &Params::new())] {
        let graph = generated(family, params, 0)?;
        for patterns in ["s3", "s3-joined", "chains"] {
            for rule in [UnitRule::Same, UnitRule::Any] {
                let setting = Setting { patterns, rule, ..IDEAL };
                let of = |method| count(context, &graph, setting, method);
                let (greedy, most) = (of("greedy")?.totals.coverage.optimised, of("exact")?.totals);
                rows.push(context! {
                    family, patterns, rule => rule.as_str(), relations => most.coverage.relations, greedy,
                    exact => most.coverage.optimised, bound => most.bound, claim => most.claim().to_string(),
                });
            }
        }
    }
    found.fact("greedy", rows);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_the_network() {
        let registry = plimsoll::registry();
        let context = Context::new(&registry);
        let counted = |params: &[(&str, u64)], setting| {
            let params = params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            let graph = generated("yolov5s", &params, 0).unwrap();
            count(&context, &graph, setting, "exact").unwrap()
        };
        let plain = counted(&[], JOINED);
        assert_eq!((plain.grouped, plain.several, plain.totals.merged()), (188, 57, 131));
        assert_eq!(counted(&[], IDEAL).totals.merged(), 114);
        assert_eq!(counted(&[], NVDLA).totals.coverage.optimised, 0);
        // Normalisation between convolution and sigmoid prevents matches of the patterns of the paper.
        assert_eq!(counted(&[("norm", 1)], JOINED).several, 0);
        // With one operator for SiLU, groups are pairs instead of triples.
        assert_eq!(counted(&[("split", 0)], IDEAL).totals.merged(), 57);
    }
}
