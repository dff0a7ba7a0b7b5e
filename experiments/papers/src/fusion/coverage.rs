//! Fusion coverage: sections 2.1.2 and 4.3 of the paper, on networks generated from their published architectures.

use super::super::{Amount, Context, ReproduceError, Reproduction, Row, generated};
use plimsoll::fusion::{FuseRun, FusionTotals};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::table::{Align, Table};
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
    let entry = context.registry.fusions.iter().copied().find(|entry| entry.name == method);
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
    let switches = |one: &plimsoll::fusion::FusedRegion| {
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

fn percent(part: usize, whole: usize) -> Amount {
    Amount::Decimal(part as f64 * 100.0 / whole.max(1) as f64, 1)
}

/// The convolutions of VGG-16.
pub(super) fn vgg(
    context: &Context<'_>,
    params: &[(&str, u64)],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let graph = generated("vgg16", params)?;
    let own = count(context, &graph, IDEAL, "exact")?;
    let totals = own.totals;
    let row = |what: &str, unit| Row::new("section 2.1.2, VGG16", what, unit);
    for (what, printed, kind) in
        [("convolutions", 13_u64, "Conv"), ("activations", 13, "Relu"), ("poolings", 5, "MaxPool")]
    {
        found.row(
            row(what, "operators").printed(printed).same(of_kind(&graph, kind), "operators of that kind"),
        );
    }
    let (left, all) = (totals.groups, totals.operators);
    found.row(row("before, called relations", "operators").printed(31_u64).same(all, "operators"));
    let pairs = row("relations by eq. 2", "relations");
    found.row(pairs.same(totals.coverage.relations, "pairs of which the second reads the first"));
    found.row(row("after", "groups").printed(13_u64).same(left, "groups, patterns s3"));
    let optimised = row("optimised", "relations").printed(18_u64);
    found.row(optimised.same(totals.coverage.optimised, "relations within groups"));
    let coverage = row("coverage", "%").printed(Amount::Decimal(41.9, 1));
    found.row(coverage.differs(
        percent(totals.merged(), all),
        format!("printed is {left} of {all}, the share that remains; {} of {all} are merged, as YOLOv5s is counted", totals.merged()),
    ));
    let remains = row("coverage, read as what remains", "%").printed(Amount::Decimal(41.9, 1));
    found.row(remains.same(percent(left, all), "groups / operators"));
    let third = row("coverage by eq. 3", "%");
    let (got, of) = (totals.coverage.optimised, totals.coverage.relations);
    found.row(third.same(percent(got, of), format!("{got} of {of} relations")));
    found.section("VGG-16 without its classifier (section 2.1.2)");
    found.line(format!(
        "the text counts as many relations as operators; a chain of {all} has {of} relations, {all} with the one to its input; eq. 3: {}",
        shown(totals.coverage)
    ));
    found.line(format!(
        "printed 41.9 % is {left} / {all}, what is left; the share optimised is {} of {all} or {got} of {of}",
        totals.merged(),
    ));
    Ok(())
}

/// `YOLOv5s` with the patterns of the paper, with what it joins to them, and within NVDLA.
struct Yolo {
    graph: Graph,
    ideal: Counted,
    joined: Counted,
    alone: Counted,
}

impl Yolo {
    /// Operators in groups of the joined patterns: what the printed shares are of.
    fn all(&self) -> usize {
        self.joined.grouped
    }

    /// Operators merged into a group before them, by the patterns of the paper and by the joined ones.
    fn merged(&self) -> (usize, usize) {
        (self.ideal.totals.merged(), self.joined.totals.merged())
    }

    /// Groups of a pattern.
    fn of(counted: &Counted, pattern: &str) -> usize {
        counted.patterns.get(pattern).copied().unwrap_or(0)
    }
}

/// `YOLOv5s` with the patterns of the paper and with what it joins to them.
pub(super) fn yolo(
    context: &Context<'_>,
    params: &[(&str, u64)],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let graph = generated("yolov5s", params)?;
    let [ideal, joined, alone] =
        [IDEAL, JOINED, NVDLA].map(|setting| count(context, &graph, setting, "exact"));
    let yolo = Yolo { ideal: ideal?, joined: joined?, alone: alone?, graph };
    groups(&yolo, found);
    shares(&yolo, found);
    found.section("YOLOv5s (section 2.1.2)");
    notes(&yolo, found);
    let former = count(context, &generated("yolov5s", &[("release", 5)])?, IDEAL, "exact")?;
    found.line(format!(
        "this is the network as of release 6.0; that of 5.0 has {} groups of the kind",
        Yolo::of(&former, "conv-sigmoid-mul")
    ));
    let greedy = count(context, &yolo.graph, JOINED, "greedy")?;
    found.line(format!(
        "greedy, longest match first, optimises {} relations; the most possible are {} ({})",
        greedy.totals.coverage.optimised,
        yolo.joined.totals.bound,
        yolo.joined.totals.claim()
    ));
    Ok(())
}

fn of_yolo(what: &str, unit: &'static str) -> Row {
    Row::new("section 2.1.2, YOLOv5s", what, unit)
}

/// Groups and operators, as printed and as counted.
fn groups(yolo: &Yolo, found: &mut Reproduction) {
    let (all, merged, joined) = (yolo.all(), yolo.merged(), &yolo.joined);
    let read_as = format!(
        "of {all} operators in these groups, as the printed shares have it; which operators are meant is not said"
    );
    let same = |what: &str, unit, printed: u64, ours: usize, by: &str| {
        of_yolo(what, unit).printed(printed).same(ours, by)
    };
    let triples = Yolo::of(&yolo.ideal, "conv-sigmoid-mul");
    let [add, concat] = ["add", "concat"].map(|kind| Yolo::of(joined, &format!("conv-sigmoid-mul-{kind}")));
    let left = all.saturating_sub(merged.0);
    for row in [
        same("groups of Conv, Sigmoid, Mul", "groups", 57, triples, "patterns s3"),
        same("of these with Add", "groups", 7, add, "patterns s3-joined"),
        same("with Concat", "groups", 10, concat, "patterns s3-joined"),
        of_yolo("relations before", "operators").printed(120_u64).differs(all, read_as.clone()),
        same("relations after", "operators", 74, left, "operators in these groups less those merged by s3"),
        same("relations optimised", "operators", 114, merged.0, "operators merged into a group before them"),
        of_yolo("operators before joining", "operators").printed(118_u64).differs(all, read_as),
        same("operators after joining", "operators", 57, joined.several, "groups, patterns s3-joined"),
    ] {
        found.row(row);
    }
}

/// Coverages, as printed and as counted.
fn shares(yolo: &Yolo, found: &mut Reproduction) {
    let (all, merged) = (yolo.all(), yolo.merged());
    let third = |counted: &Counted| {
        let coverage = counted.totals.coverage;
        percent(coverage.optimised, coverage.relations)
    };
    let row = of_yolo("coverage", "%").printed(Amount::Decimal(60.6, 1));
    found.row(row.same(percent(merged.0, all), "merged / operators in these groups"));
    found.row(of_yolo("coverage by eq. 3", "%").same(third(&yolo.ideal), "whole network"));
    let row = of_yolo("coverage, joined", "%").printed(Amount::Decimal(69.6, 1));
    let exactly = merged.1 as f64 * 100.0 / all.max(1) as f64;
    let told = format!("{} / {all} is {exactly:.2} %, which the text cuts", merged.1);
    found.row(row.differs(percent(merged.1, all), told));
    found.row(of_yolo("coverage, joined, by eq. 3", "%").same(third(&yolo.joined), "whole network"));
    let row = of_yolo("coverage on NVDLA alone", "%").printed(0_u64);
    let none = yolo.alone.totals.coverage.optimised;
    found.row(row.same(none, "within units, sigmoid not on the accelerator"));
}

/// What the counts amount to.
fn notes(yolo: &Yolo, found: &mut Reproduction) {
    let (all, merged, joined) = (yolo.all(), yolo.merged(), &yolo.joined);
    let triples = Yolo::of(&yolo.ideal, "conv-sigmoid-mul");
    found.line(format!(
        "the printed counts fit together if 120 and 118 are read as {all}: {triples} x 3 operators and {} that join them; {all} - {} = {}, {all} - {} = {}",
        all.saturating_sub(3 * triples),
        merged.0,
        all.saturating_sub(merged.0),
        merged.1,
        all.saturating_sub(merged.1)
    ));
    found.line(format!(
        "as printed, 120 to 74 would be 46 fewer, {}, and 118 to 57 would be 61 fewer, {}",
        share(120 - 74, 120),
        share(118 - 57, 118)
    ));
    found.line(format!(
        "eq. 3 on the whole network: {}, joined {}",
        shown(yolo.ideal.totals.coverage),
        shown(joined.totals.coverage)
    ));
    found.line(format!(
        "{} of {} concatenations and all {} additions follow a product that nobody else reads; the others would have to store it all the same",
        Yolo::of(joined, "conv-sigmoid-mul-concat"),
        of_kind(&yolo.graph, "Concat"),
        of_kind(&yolo.graph, "Add")
    ));
    found.line(format!(
        "{} operators of the network are in none of these groups and not counted by the paper; eq. 3 counts the {} relations of all {}, the one from the convolution to the product among them",
        joined.totals.operators.saturating_sub(all),
        joined.totals.coverage.relations,
        joined.totals.operators
    ));
}

/// Subgraphs before and after, as the experiments count them.
#[derive(Clone, Copy, Debug)]
pub struct Subgraphs {
    /// The network's name in the paper.
    pub network: &'static str,
    /// The family that generates it.
    pub family: &'static str,
    /// Subgraphs without fusion across units.
    pub before: usize,
    /// And with it.
    pub after: usize,
    /// Coverage as printed, percent.
    pub coverage: f64,
}

pub(super) const SUBGRAPHS: [Subgraphs; 2] = [
    Subgraphs { network: "YOLOX-Nano", family: "yolox-nano", before: 63, after: 13, coverage: 79.4 },
    Subgraphs { network: "YOLOv5s", family: "yolov5s", before: 241, after: 58, coverage: 75.1 },
];

/// Subgraphs as the experiments count them.
pub(super) fn subgraphs(
    context: &Context<'_>,
    all: &[Subgraphs],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    found.section("Subgraphs (section 4): the printed numbers against themselves");
    for &Subgraphs { network, before, after, coverage, .. } in all {
        let own = before.saturating_sub(after) as f64 * 100.0 / before.max(1) as f64;
        let row = Row::new("section 4.2", format!("{network}, coverage"), "%");
        let row = row.printed(Amount::Decimal(coverage, 1));
        let ours = Amount::Decimal(own, 1);
        if (own - coverage).abs() < 0.05 {
            found.row(row.same(ours, "(before - after) / before"));
            continue;
        }
        let meant = (coverage * before as f64 / 100.0).round();
        let told = format!(
            "{coverage} % of {before} would be {meant} fewer, {before} to {after} are {}",
            before.abs_diff(after)
        );
        found.row(row.differs(ours, told.clone()));
        found.line(format!("{network}: {told}"));
    }
    networks(context, all, found)
}

fn columns() -> Table {
    Table::new([
        ("network", Align::Left),
        ("operators", Align::Right),
        ("runs on one unit", Align::Right),
        ("groups, within units", Align::Right),
        ("groups, across units", Align::Right),
        ("of several operators", Align::Right),
        ("merged", Align::Right),
        ("eq. 3", Align::Right),
    ])
}

/// Operators and groups of the published networks beside the subgraphs printed.
fn networks(
    context: &Context<'_>,
    all: &[Subgraphs],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let mut own = columns();
    let why =
        "how the framework cuts a network into subgraphs is not described, nor are the model files public";
    let mut panels = Vec::new();
    for &Subgraphs { network, family, before, after, .. } in all {
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
        let (merged, operators) = (across.totals.merged(), across.totals.operators);
        let last = [share(merged, operators), shown(across.totals.coverage)];
        own.row([network.to_owned()].into_iter().chain(cells).chain(last));
        let row = |what: &str| Row::new("section 4.2", format!("{network}, subgraphs {what}"), "subgraphs");
        let reason = format!("runs on one unit along the file of the published network; {why}");
        found.row(row("before").printed(before).other(across.runs, reason));
        let reason = format!("fused groups of several operators, patterns s3-joined; {why}");
        found.row(row("after").printed(after).other(across.several, reason));
        let group =
            |name: &str, bars: [usize; 2]| (name.to_owned(), bars.map(|bar| Some(bar as u64)).to_vec());
        let groups = vec![group("before", [before, across.runs]), group("after", [after, across.several])];
        panels.push(Panel { name: network.to_owned(), groups, mark: None });
    }
    found.section("Subgraphs: the published networks");
    found.table(own);
    found.line(
        "dla-gpu-cpu, patterns s3-joined; runs on one unit: how often the unit changes along the file, and one",
    );
    found.line(format!("{why}: the counts before cannot be derived"));
    let chart = Bars {
        title: "Subgraphs before and after fusion across units".to_owned(),
        caption:
            "printed, and on the published networks: runs on one unit, then fused groups of several operators"
                .to_owned(),
        series: ["printed", "ours"].map(str::to_owned).to_vec(),
        mark: String::new(),
        unit: "subgraphs",
        panels,
    };
    found.file("subgraphs.svg", "subgraphs printed, and runs and groups of the networks", |file| {
        chart.write(file)
    });
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

    #[test]
    fn counts_follow_the_network() {
        let registry = plimsoll::registry();
        let context = Context::new(&registry);
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
