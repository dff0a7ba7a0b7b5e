//! The CANN graph engine's memory reuse and its adjustment of topological orders (SOURCES S4).

use super::{Amount, Context, ReproduceError, Reproduction, Row, generated};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll_datasets::{Worked, cann};
use plimsoll_heuristics::order::{Adjust, Base, OrderRule};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::svg::Map;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::order::{OrderProblem, check_order};
use plimsoll_model::{Budget, Bytes, Claim, Offsets, Piece, Pools};

/// A network of the article.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// Its name there.
    pub name: &'static str,
    /// The family that generates it.
    pub family: &'static str,
    /// Gigabytes before the adjustment of its order.
    pub before: f64,
    /// And after it.
    pub after: f64,
    /// The saving printed, percent.
    pub saving: f64,
}

/// How a graph engine may see a model: a name, and parameters of the family.
#[derive(Clone, Debug)]
pub struct Setting {
    /// In a few words.
    pub name: &'static str,
    /// As given to `plimsoll generate`.
    pub params: Vec<(&'static str, u64)>,
}

/// What the article prints, and what it is computed from.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The example of memory reuse, and its numbers.
    pub worked: Worked,
    /// Networks whose order is adjusted.
    pub networks: Vec<Network>,
    /// How they are generated.
    pub settings: Vec<Setting>,
    /// Memory of one network in eager and in graph mode, gigabytes, and the saving printed, percent.
    pub modes: (f64, f64, f64),
    /// At most so many times the theoretical minimum is taken in eager mode, in most cases.
    pub eager: f64,
}

impl Default for Inputs {
    fn default() -> Self {
        let network = |name, family, before, after, saving| Network { name, family, before, after, saving };
        let setting = |name, params: &[(&'static str, u64)]| Setting { name, params: params.to_vec() };
        Self {
            worked: cann(),
            networks: vec![
                network("LLaMA-13B", "llama-13b", 45.42, 33.37, 26.53),
                network("Baichuan-13B", "baichuan-13b", 18.89, 6.91, 63.42),
            ],
            settings: vec![
                setting("prompt of 1024 tokens", &[("tokens", 1024)]),
                setting("prompt, constants first", &[("tokens", 1024), ("weights", 1), ("tables", 1)]),
                setting(
                    "prompt, constants first, two devices",
                    &[("tokens", 1024), ("weights", 1), ("tables", 1), ("shards", 2)],
                ),
                setting("1 token after 1024", &[("tokens", 1), ("cache", 1024)]),
                setting(
                    "1 token, constants first",
                    &[("tokens", 1), ("cache", 1024), ("weights", 1), ("tables", 1)],
                ),
            ],
            modes: (15.14, 13.8, 9.0),
            eager: 1.2,
        }
    }
}

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    reproduce(&Inputs::default(), context)
}

/// Computes everything again from these inputs.
///
/// # Errors
/// [`ReproduceError`]: a run failed, or a graph cannot be generated.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    worked_example(context, &inputs.worked, &mut found)?;
    arithmetic(inputs, &mut found);
    for network in &inputs.networks {
        rules(context, network, &inputs.settings, &mut found)?;
    }
    why(&mut found);
    Ok(found)
}

/// The five tensors of the article, by every method it describes.
fn worked_example(
    context: &Context<'_>,
    worked: &Worked,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let instance = &worked.instance;
    let (pools, offsets) = (&context.registry.pools, &context.registry.offsets);
    let max_block = context.answer(pools, "max-block", "cann", instance)?;
    let two_level = context.answer(offsets, "ge-two-level", "cann", instance)?;
    let exact = context.answer(offsets, "exact", "cann", instance)?;
    let value = |value: Option<Bytes>| value.unwrap_or(Bytes::ZERO);
    let rows = [
        ("no reuse", "no-sharing", instance.total_size(), "sum of the five"),
        ("theoretical minimum", "load", plimsoll_model::load(instance).0, "most bytes alive at a position"),
        ("Max-block", "max-block", value(max_block.value), "max-block"),
        ("two-level reuse", "two-level", value(two_level.value), "ge-two-level"),
    ];
    let reason = "the tensors are reconstructed from the text, whose figures they meet";
    for (what, method, ours, by) in rows {
        let row = Row::new("section 2, worked example", what, "bytes");
        let printed = worked.facts.iter().find(|fact| fact.method == method && fact.printed);
        let row = printed.map_or(row.clone(), |fact| row.printed(fact.value));
        found.row(row.same(ours, format!("{by}; {reason}")));
    }
    let blocks = max_block.solution.as_ref().map_or(0, |plan| plan.sizes().len());
    let row = Row::new("section 2.1", "blocks of Max-block", "blocks").printed(3_u64);
    found.row(row.same(blocks, "max-block"));
    let row = Row::new("section 2, worked example", "least there is", "bytes");
    found.row(
        row.same(value(exact.value), format!("exact: {}; the theoretical minimum is reached", exact.claim)),
    );
    let row = Row::new("section 2.3", "16 networks, close to the theoretical minimum", "");
    found.row(row.printed("most").missing("neither networks nor numbers are printed, only a chart"));
    let maps = [
        ("max-block", ProblemKind::Pools, max_block.solution.map(|plan| Pools::pieces(instance, &plan))),
        (
            "ge-two-level",
            ProblemKind::Offsets,
            two_level.solution.map(|plan| Offsets::pieces(instance, &plan)),
        ),
        ("exact", ProblemKind::Offsets, exact.solution.map(|plan| Offsets::pieces(instance, &plan))),
    ];
    for (algorithm, problem, pieces) in maps {
        let Some(pieces) = pieces else { continue };
        map(worked, (algorithm, problem), &pieces, found);
    }
    Ok(())
}

fn map(
    worked: &Worked,
    (algorithm, problem): (&str, ProblemKind),
    pieces: &[Vec<Piece>],
    found: &mut Reproduction,
) {
    let bound = plimsoll_model::load(&worked.instance).0;
    let titled =
        worked.instance.clone().with_name(format!("{}: the worked example by {algorithm}", worked.name));
    let map = Map { instance: &titled, problem, algorithm, pieces, bound, groups: None };
    let about = format!("the worked example by {algorithm}: addresses over positions");
    found.file(format!("worked-{algorithm}.svg"), about, |file| map.write(file));
}

/// Checks the printed savings against themselves.
fn arithmetic(inputs: &Inputs, found: &mut Reproduction) {
    let saving = |before: f64, after: f64| Amount::Decimal((1.0 - after / before) * 100.0, 2);
    for network in &inputs.networks {
        let row = Row::new("section 3.3", format!("{}, saving", network.name), "%");
        let row = row.printed(Amount::Decimal(network.saving, 2));
        found.row(row.same(saving(network.before, network.after), "from the gigabytes printed"));
    }
    let (eager, graph, printed) = inputs.modes;
    let row = Row::new("section 2.3", "graph mode against eager mode, saving", "%");
    let by = format!("from the gigabytes printed, {eager} and {graph}; the network is not named");
    found.row(row.printed(Amount::Decimal(printed, 0)).same(saving(eager, graph), by));
    let row = Row::new("section 2.3", "eager mode over the theoretical minimum, at most", "times");
    let row = row.printed(Amount::Decimal(inputs.eager, 1));
    found.row(row.missing("neither networks nor the allocator of eager mode are given"));
}

/// The three base orders.
const BASES: [(&str, Base, OrderRule); 3] = [
    ("as in file", Base::File, OrderRule::File),
    ("BFS", Base::Breadth, OrderRule::Breadth),
    ("DFS", Base::DepthLeft, OrderRule::DepthLeft),
];

/// Peaks of one setting: per base order plain, with the fixed rule, the dynamic one, both; and the least of all orders.
struct Peaks {
    bases: Vec<(&'static str, [Bytes; 4])>,
    least: Bytes,
    shown: String,
    operators: usize,
}

fn peaks(context: &Context<'_>, network: &Network, setting: &Setting) -> Result<Peaks, ReproduceError> {
    let problem = model(network.family, &setting.params)?;
    let exact = context.answer(&context.registry.orders, "exact", network.name, &problem)?;
    let least = exact.value.unwrap_or(Bytes::ZERO);
    let shown = match exact.claim {
        Claim::Optimal => gigabytes(least),
        _ => format!("{} to {}", gigabytes(exact.lower_bound.value), gigabytes(least)),
    };
    let mut bases = Vec::new();
    for (name, base, plain) in BASES {
        let by = |adjust| peak(&problem, OrderRule::Engine { base, adjust });
        let all = [peak(&problem, plain)?, by(Adjust::Fixed)?, by(Adjust::Dynamic)?, by(Adjust::Both)?];
        bases.push((name, all));
    }
    Ok(Peaks { bases, least, shown, operators: problem.len() })
}

fn columns() -> Table {
    Table::new([
        ("graph", Align::Left),
        ("base order", Align::Left),
        ("plain", Align::Right),
        ("fixed rule", Align::Right),
        ("dynamic rule", Align::Right),
        ("both", Align::Right),
        ("saving", Align::Right),
        ("least over all orders", Align::Right),
        ("left to save", Align::Right),
    ])
}

/// The peak of every base order under every rule, and the least over all orders.
fn rules(
    context: &Context<'_>,
    network: &Network,
    settings: &[Setting],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let mut table = columns();
    let saving = |from: Bytes, to: Bytes| 100.0 - to.get() as f64 * 100.0 / from.get().max(1) as f64;
    let (mut operators, mut panels) = (0, Vec::new());
    for setting in settings {
        let peaks = peaks(context, network, setting)?;
        operators = operators.max(peaks.operators);
        for (name, all) in &peaks.bases {
            let [plain, _, _, both] = *all;
            let [a, b, c, d] = all.map(gigabytes);
            let percent = |part: f64| format!("{part:.2} %");
            let [own, rest] = [saving(plain, both), saving(both, peaks.least)].map(percent);
            let label = setting.name.to_owned();
            table.row([label, (*name).to_owned(), a, b, c, d, own, peaks.shown.clone(), rest]);
        }
        beside(network, setting, &peaks, found);
        let groups = peaks
            .bases
            .iter()
            .map(|(name, all)| ((*name).to_owned(), all.map(|one| Some(mega(one))).to_vec()));
        let mark = Some(mega(peaks.least));
        panels.push(Panel { name: setting.name.to_owned(), groups: groups.collect(), mark });
    }
    found.section(format!(
        "Topological order: {} (printed: {} to {} G, {} %)",
        network.name, network.before, network.after, network.saving
    ));
    found.table(table);
    found.line(format!(
        "gigabytes (10^9) alive; up to {operators} operators; generated by `plimsoll generate {}` with the parameters in the documentation of that family; inputs and outputs in the arena while needed, weights outside",
        network.family
    ));
    let chart = Bars {
        title: format!("{}: memory alive by base order and rule", network.name),
        caption: format!(
            "megabytes (10^6); generated graphs; the article prints {} to {} G for an unknown one",
            network.before, network.after
        ),
        series: ["plain", "fixed rule", "dynamic rule", "both"].map(str::to_owned).to_vec(),
        mark: "least over all orders".to_owned(),
        unit: "megabytes",
        panels,
    };
    let about = format!("{}: bytes alive by base order and rule, one panel per graph", network.name);
    found.file(format!("order-{}.svg", network.family), about, |file| chart.write(file));
    Ok(())
}

/// Printed gigabytes and saving beside those of a graph, whose base order is the one that gains most.
fn beside(network: &Network, setting: &Setting, peaks: &Peaks, found: &mut Reproduction) {
    let most = peaks.bases.iter().max_by_key(|(_, all)| all[0].get().saturating_sub(all[3].get()));
    let Some((base, [plain, _, _, both])) = most else { return };
    let giga = |bytes: Bytes| Amount::Decimal(bytes.get() as f64 / 1e9, 2);
    let reason = format!(
        "generated {}, {}, {base}; the article does not say which graph, batch, tokens or precision, nor whether weights count",
        network.family, setting.name
    );
    let saving = 100.0 - both.get() as f64 * 100.0 / plain.get().max(1) as f64;
    let rows = [
        ("before", Amount::Decimal(network.before, 2), giga(*plain), "G"),
        ("after", Amount::Decimal(network.after, 2), giga(*both), "G"),
        ("saving", Amount::Decimal(network.saving, 2), Amount::Decimal(saving, 2), "%"),
    ];
    for (what, printed, ours, unit) in rows {
        let name = format!("{}, {what}; {}", network.name, setting.name);
        found.row(Row::new("section 3.3", name, unit).printed(printed).other(ours, reason.clone()));
    }
}

fn model(family: &'static str, params: &[(&str, u64)]) -> Result<OrderProblem, ReproduceError> {
    let graph = generated(family, params)?;
    let storages = graph
        .storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO)
        .map_err(|source| ReproduceError::Order { graph: graph.name().to_owned(), source })?;
    Ok(storages.problem)
}

/// The peak of a rule's order, which the checker has found to be one.
fn peak(problem: &OrderProblem, rule: OrderRule) -> Result<Bytes, ReproduceError> {
    let order = rule.of(problem, &mut Budget::unlimited()).expect("without limits nothing is given up");
    match check_order(problem, &order).first() {
        Some(fault) => Err(ReproduceError::Refused { what: format!("{rule:?}"), reason: fault.to_string() }),
        None => Ok(order.peak(problem)),
    }
}

fn mega(bytes: Bytes) -> u64 {
    bytes.get().div_ceil(1_000_000)
}

fn gigabytes(bytes: Bytes) -> String {
    format!("{:.3}", bytes.get() as f64 / 1e9)
}

/// What can be said about the differences.
fn why(found: &mut Reproduction) {
    found.section("Why the savings differ from the printed ones");
    for line in [
        "the article does not say which graphs were measured: neither batch, nor tokens, nor precision, nor what its front end inserts; its figures may include weights, ours do not",
        "the fixed rule gains where operators read nothing but constants and stand early in the order: conversions of weights, masks, tables. Graphs without such operators (`prompt of 1024 tokens`) leave it nothing to move",
        "BFS runs all of these first, whatever the file does, so that what they make is alive until its layer comes: this is the case the printed savings are about",
        "both printed savings are about 12 G (12.05 and 11.98), though the networks differ: half of the matrices of either model take 12 to 13 G in float16. The savings are what conversions of the matrices, hoisted to the front, would hold on one of two devices; the article does not say so",
    ] {
        found.line(line);
    }
}
