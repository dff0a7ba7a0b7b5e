//! Fusion coverage: sections 2.1.2 and 4.3 of the paper, on networks generated from their published architectures.

use super::super::{Context, ReproduceError, Reproduction, generated};
use crate::fusion::{FuseRun, FusionTotals};
use crate::report::table::{Align, Table};
use plimsoll_model::fusion::{Coverage, Patterns, UnitRule, Units};
use plimsoll_model::graph::Graph;
use std::collections::BTreeMap;

/// What a fusion amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counted {
    totals: FusionTotals,
    /// Operators in groups of several.
    grouped: usize,
    /// Groups of several.
    several: usize,
    /// Groups by pattern.
    patterns: BTreeMap<String, usize>,
    /// Runs of operators on one unit, in the order of the file.
    runs: usize,
}

/// Patterns, units and which of them a group may span.
#[derive(Clone, Copy)]
struct Setting {
    patterns: &'static str,
    units: &'static str,
    rule: UnitRule,
}

/// Patterns of the paper, all units as one.
const IDEAL: Setting = Setting { patterns: "s3", units: "dla-gpu-cpu", rule: UnitRule::Any };
/// With additions and concatenations.
const JOINED: Setting = Setting { patterns: "s3-joined", ..IDEAL };
/// Patterns of the paper within NVDLA.
const NVDLA: Setting = Setting { units: "nvdla", rule: UnitRule::Same, ..IDEAL };

fn count(
    context: &Context<'_>,
    graph: &Graph,
    setting: Setting,
    method: &'static str,
) -> Result<Counted, ReproduceError> {
    let entry = context.registry.fusers.iter().copied().find(|entry| entry.name == method);
    let entry = entry.ok_or(ReproduceError::Missing { name: method, problem: "fusions" })?;
    let (patterns, units) = (Patterns::find(setting.patterns)?, Units::find(setting.units)?);
    let (setup, limits) = (context.setup, context.limits);
    let run = FuseRun { patterns: &patterns, units: &units, rule: setting.rule, entry, setup, limits };
    let regions = run.fuse(graph).map_err(|source| ReproduceError::Fuse {
        graph: graph.name().to_owned(),
        source: Box::new(source),
    })?;
    let chosen: Vec<_> = regions.iter().flat_map(|one| &one.fused.chosen).collect();
    let mut by_pattern = BTreeMap::new();
    for one in &chosen {
        *by_pattern.entry(patterns.list()[one.pattern].name.clone()).or_default() += 1;
    }
    let switches = |one: &crate::fusion::FusedRegion| {
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

fn of_kind(graph: &Graph, kind: &str) -> usize {
    graph.operators().iter().filter(|operator| operator.kind == kind).count()
}

fn share(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

fn shown(coverage: Coverage) -> String {
    coverage.to_string()
}

/// Four columns: what, printed, computed, how.
fn table() -> Table {
    Table::new([
        ("what", Align::Left),
        ("printed", Align::Right),
        ("computed", Align::Right),
        ("how", Align::Left),
    ])
}

fn row(table: &mut Table, what: &str, printed: &str, computed: impl std::fmt::Display, how: &str) {
    table.row([what.to_owned(), printed.to_owned(), computed.to_string(), how.to_owned()]);
}

/// The convolutions of VGG-16.
pub(super) fn vgg(context: &Context<'_>, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let graph = generated("vgg16", &[("classifier", 0)])?;
    let own = count(context, &graph, IDEAL, "exact")?;
    let totals = own.totals;
    let mut rows = table();
    for (what, printed, kind) in
        [("convolutions", "13", "Conv"), ("activations", "13", "Relu"), ("poolings", "5", "MaxPool")]
    {
        row(&mut rows, what, printed, of_kind(&graph, kind), "operators of that kind");
    }
    row(&mut rows, "before, called relations", "31", totals.operators, "operators");
    row(&mut rows, "relations by eq. 2", "-", totals.coverage.relations, "pairs, the second reads the first");
    row(&mut rows, "after", "13", totals.groups, "groups");
    row(&mut rows, "optimised", "18", totals.coverage.optimised, "relations within groups");
    let (left, all) = (totals.groups, totals.operators);
    row(&mut rows, "coverage", "41.9 %", share(left, all), "groups / operators: the share that remains");
    row(&mut rows, "", "", share(totals.merged(), all), "merged / operators, as YOLOv5s is counted below");
    row(&mut rows, "", "", shown(totals.coverage), "eq. 3");
    found.section("VGG-16 without its classifier (section 2.1.2)");
    found.table(rows);
    found.line(format!(
        "the text counts as many relations as operators; a chain of {all} has {} relations, {all} with the one to its input",
        totals.coverage.relations
    ));
    found.line(format!(
        "printed 41.9 % is {left} / {all}, what is left; the share optimised is {} of {all} or {} of {}",
        totals.merged(),
        totals.coverage.optimised,
        totals.coverage.relations
    ));
    Ok(())
}

/// `YOLOv5s` with the patterns of the paper and with what it joins to them.
pub(super) fn yolo(context: &Context<'_>, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let graph = generated("yolov5s", &[])?;
    let ideal = count(context, &graph, IDEAL, "exact")?;
    let joined = count(context, &graph, JOINED, "exact")?;
    let alone = count(context, &graph, NVDLA, "exact")?;
    let of = |counted: &Counted, pattern: &str| counted.patterns.get(pattern).copied().unwrap_or(0);
    let all = joined.grouped;
    let merged = (ideal.totals.merged(), joined.totals.merged());
    let mut rows = table();
    let triples = of(&ideal, "conv-sigmoid-mul");
    row(&mut rows, "Conv, Sigmoid, Mul", "57", triples, "groups, patterns s3");
    row(
        &mut rows,
        "of these with Add",
        "7",
        of(&joined, "conv-sigmoid-mul-add"),
        "groups, patterns s3-joined",
    );
    row(&mut rows, "with Concat", "10", of(&joined, "conv-sigmoid-mul-concat"), "groups, patterns s3-joined");
    row(&mut rows, "before", "120", all, "operators in these groups");
    row(&mut rows, "after", "74", all - merged.0, "of them less those merged by s3");
    row(&mut rows, "optimised", "114", merged.0, "operators merged into a group before them");
    row(&mut rows, "all relations", "188", all, "operators in these groups; 114 / 60.6 % as printed");
    row(&mut rows, "coverage", "60.6 %", share(merged.0, all), "merged / operators in these groups");
    row(&mut rows, "", "", shown(ideal.totals.coverage), "eq. 3, whole network");
    row(&mut rows, "before joining", "118", all, "operators in these groups");
    row(&mut rows, "after joining", "57", joined.several, "groups");
    row(&mut rows, "coverage", "69.6 %", share(merged.1, all), "merged / operators in these groups");
    row(&mut rows, "", "", shown(joined.totals.coverage), "eq. 3, whole network");
    let how = "within units, sigmoid not on the accelerator";
    row(&mut rows, "NVDLA alone", "0", alone.totals.coverage.optimised, how);
    found.section("YOLOv5s (section 2.1.2)");
    found.table(rows);
    found.line(format!(
        "the printed counts fit together if 120 and 118 are read as {all}: {triples} x 3 operators and {} that join them; {all} - {} = {}, {all} - {} = {}",
        all - 3 * triples,
        merged.0,
        all - merged.0,
        merged.1,
        all - merged.1
    ));
    found.line(format!(
        "{} / {all} is {:.2} %, which the text cuts to 69.6 %",
        merged.1,
        merged.1 as f64 * 100.0 / all.max(1) as f64
    ));
    found.line(format!(
        "as printed, 120 to 74 would be 46 fewer, {}, and 118 to 57 would be 61 fewer, {}",
        share(120 - 74, 120),
        share(118 - 57, 118)
    ));
    found.line(format!(
        "{} of {} concatenations and all {} additions follow a product that nobody else reads; the others would have to store it all the same",
        of(&joined, "conv-sigmoid-mul-concat"),
        of_kind(&graph, "Concat"),
        of_kind(&graph, "Add")
    ));
    found.line(format!(
        "{} operators of the network are in none of these groups and not counted by the paper; eq. 3 counts the {} relations of all {}, the one from the convolution to the product among them",
        joined.totals.operators - all,
        joined.totals.coverage.relations,
        joined.totals.operators
    ));
    let former = count(context, &generated("yolov5s", &[("release", 5)])?, IDEAL, "exact")?;
    found.line(format!(
        "this is the network as of release 6.0; that of 5.0 has {} groups of the kind",
        of(&former, "conv-sigmoid-mul")
    ));
    let greedy = count(context, &graph, JOINED, "greedy")?;
    found.line(format!(
        "greedy, longest match first, optimises {} relations; the most possible are {} ({})",
        greedy.totals.coverage.optimised,
        joined.totals.bound,
        joined.totals.claim()
    ));
    Ok(())
}

/// Subgraphs before and after: network, family, before, after, coverage in percent as printed.
const SUBGRAPHS: [(&str, &str, usize, usize, f64); 2] =
    [("YOLOX-Nano", "yolox-nano", 63, 13, 79.4), ("YOLOv5s", "yolov5s", 241, 58, 75.1)];

/// Subgraphs as the experiments count them.
pub(super) fn subgraphs(context: &Context<'_>, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let mut printed = Table::new([
        ("network", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("coverage printed", Align::Right),
        ("(before - after) / before", Align::Right),
    ]);
    for (network, _, before, after, coverage) in SUBGRAPHS {
        let own = share(before - after, before);
        printed.row([
            network.to_owned(),
            before.to_string(),
            after.to_string(),
            format!("{coverage:.1} %"),
            own,
        ]);
    }
    found.section("Subgraphs (section 4): the printed numbers against themselves");
    found.table(printed);
    for (network, _, before, after, coverage) in SUBGRAPHS {
        let own = (before - after) as f64 * 100.0 / before as f64;
        if (own - coverage).abs() >= 0.05 {
            let meant = (coverage * before as f64 / 100.0).round();
            found.line(format!(
                "{network}: {coverage} % of {before} would be {meant} fewer, {before} to {after} are {}",
                before - after
            ));
        }
    }
    let mut own = Table::new([
        ("network", Align::Left),
        ("operators", Align::Right),
        ("runs on one unit", Align::Right),
        ("groups, within units", Align::Right),
        ("groups, across units", Align::Right),
        ("of several operators", Align::Right),
        ("merged", Align::Right),
        ("eq. 3", Align::Right),
    ]);
    let mut several = Vec::new();
    for (network, family, ..) in SUBGRAPHS {
        let graph = generated(family, &[])?;
        let within = count(context, &graph, Setting { rule: UnitRule::Same, ..JOINED }, "exact")?;
        let across = count(context, &graph, JOINED, "exact")?;
        let numbers = [
            across.totals.operators,
            across.runs,
            within.totals.groups,
            across.totals.groups,
            across.several,
        ];
        let cells = numbers.map(|number| number.to_string());
        let (merged, all) = (across.totals.merged(), across.totals.operators);
        let last = [share(merged, all), shown(across.totals.coverage)];
        own.row([network.to_owned()].into_iter().chain(cells).chain(last));
        several.push(across.several);
    }
    found.section("Subgraphs: the published networks");
    found.table(own);
    found.line(
        "dla-gpu-cpu, patterns s3-joined; runs on one unit: how often the unit changes along the file, and one",
    );
    found.line(
        "how the framework cuts a network into subgraphs is not described, nor are the model files public: the counts before cannot be derived",
    );
    for ((network, _, before, after, _), several) in SUBGRAPHS.iter().zip(several) {
        found.line(format!(
            "{network}: {several} fused operators here; printed are {after} of {before}{}",
            if several > *before {
                ": even the count before is smaller, so it is another count, or another network"
            } else {
                ""
            }
        ));
    }
    Ok(())
}

/// The longest match first, against the most there can be.
pub(super) fn greedy(context: &Context<'_>, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let mut table = Table::new([
        ("network", Align::Left),
        ("patterns", Align::Left),
        ("rule", Align::Left),
        ("relations", Align::Right),
        ("greedy", Align::Right),
        ("exact", Align::Right),
        ("bound", Align::Right),
        ("claim", Align::Left),
        ("greedy loses", Align::Right),
    ]);
    let networks: [(&str, &[(&str, u64)]); 3] =
        [("vgg16", &[("classifier", 0)]), ("yolov5s", &[]), ("yolox-nano", &[])];
    for (family, params) in networks {
        let graph = generated(family, params)?;
        for patterns in ["s3", "s3-joined", "chains"] {
            for rule in [UnitRule::Same, UnitRule::Any] {
                let setting = Setting { patterns, rule, ..IDEAL };
                let [first, most] = ["greedy", "exact"].map(|method| count(context, &graph, setting, method));
                let (first, most) = (first?.totals, most?.totals);
                let (got, best) = (first.coverage.optimised, most.coverage.optimised);
                let numbers = [most.coverage.relations, got, best, most.bound].map(|n| n.to_string());
                let words = [family, patterns, rule.as_str()].map(ToOwned::to_owned);
                let last = [most.claim().to_string(), share(best.saturating_sub(got), best)];
                table.row(words.into_iter().chain(numbers).chain(last));
            }
        }
    }
    found.section("Greedy against the most there can be");
    found.table(table);
    found.line("units dla-gpu-cpu; chains: any two to four operators in a row, which overlap where patterns that begin at a convolution do not");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Limits;
    use plimsoll_model::Setup;

    #[test]
    fn counts_follow_the_network() {
        let registry = crate::registry();
        let (setup, limits) = (Setup::default(), Limits::default());
        let context = Context { registry: &registry, setup, limits };
        let counted = |params: &[(&str, u64)], setting| {
            let graph = generated("yolov5s", params).unwrap();
            count(&context, &graph, setting, "exact").unwrap()
        };
        let plain = counted(&[], JOINED);
        assert_eq!((plain.grouped, plain.several, plain.totals.merged()), (188, 57, 131));
        assert_eq!(counted(&[], IDEAL).totals.merged(), 114);
        assert_eq!(counted(&[], NVDLA).totals.coverage.optimised, 0);
        // Normalisation between convolution and sigmoid: the patterns of the paper do not match.
        assert_eq!(counted(&[("norm", 1)], JOINED).several, 0);
        // One operator for SiLU: pairs instead of triples.
        assert_eq!(counted(&[("split", 0)], IDEAL).totals.merged(), 57);
    }
}
