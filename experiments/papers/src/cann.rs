//! The CANN graph engine (CANN whitepaper): block reuse, and the adjustment of topological orders.

use crate::{Context, Params, ReproduceError, Reproduction, generated, sheet, storages};
use minijinja::{Value, context};
use plimsoll::posed::InOrder;
use plimsoll_datasets::{Worked, cann};
use plimsoll_heuristics::orders::{Adjust, Base, OrderRule};
use plimsoll_lab::report::bars::Panel;
use plimsoll_lab::report::map::Map;
use plimsoll_model::graph::LivenessOptions;
use plimsoll_model::orders::{OrderProblem, check_order};
use plimsoll_model::{Budget, InstanceProblem, Offsets, Orders, Problem, SharedObjects, load};
use serde::{Deserialize, Serialize};

/// A network of the article.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/cann.toml explains every value")]
pub struct Network {
    pub name: String,
    pub family: String,
    pub before: f64,
    pub after: f64,
    pub saving: f64,
}

/// A variant of the graph that an engine may plan: its name, and the parameters of the family.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/cann.toml explains every value")]
pub struct Setting {
    pub name: String,
    pub params: Params,
}

/// The numbers of the article, and the inputs of the recomputation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/cann.toml explains every value")]
pub struct Inputs {
    #[serde(skip, default = "cann")]
    pub worked: Worked,
    pub networks: Vec<Network>,
    pub settings: Vec<Setting>,
    pub modes: (f64, f64, f64),
    pub eager: f64,
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("cann")
    }
}

/// Recomputes the results from these inputs.
///
/// # Errors
/// [`ReproduceError`] if a run fails or a graph cannot be generated.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::of("cann");
    found.fact("inputs", inputs);
    worked_example(context, &inputs.worked, &mut found)?;
    let (mut networks, mut beside) = (Vec::new(), Vec::new());
    for network in &inputs.networks {
        networks.push(rules(context, network, &inputs.settings, &mut beside, &mut found)?);
    }
    found.fact("networks", networks);
    found.fact("beside", beside);
    found.finish()
}

/// Plans the five tensors of the article with every method that it describes.
fn worked_example(
    context: &Context<'_>,
    worked: &Worked,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let instance = &worked.instance;
    let (max_block, objects, _) = context.answer::<SharedObjects>("max-block", "cann", &instance)?;
    let (two_level, layout, _) = context.answer::<Offsets>("ge-two-level", "cann", &instance)?;
    let (exact, optimum, row) = context.answer::<Offsets>("exact", "cann", &instance)?;
    let bound = load(instance).0;
    let rows = [
        ("no reuse", "no-sharing", instance.total_size().get(), "sum of the five"),
        ("theoretical minimum", "load", bound.get(), "most bytes alive at a position"),
        ("Max-block", "max-block", max_block, "max-block"),
        ("two-level reuse", "two-level", two_level, "ge-two-level"),
    ];
    let rows = rows.map(|(what, method, ours, by)| {
        let printed = worked.facts.iter().find(|fact| fact.method == method && fact.printed);
        context! { what, printed => printed.map(|fact| fact.value.get()), ours, by }
    });
    found.fact("worked", rows);
    found.fact("blocks", objects.sizes().len());
    found.fact("exact", exact);
    found.fact("claim", row.claim);
    let maps = [
        ("max-block", SharedObjects::NAME, SharedObjects::pieces(instance, &objects)),
        ("ge-two-level", Offsets::NAME, Offsets::pieces(instance, &layout)),
        ("exact", Offsets::NAME, Offsets::pieces(instance, &optimum)),
    ];
    for (algorithm, problem, pieces) in &maps {
        let map = Map::new(instance, problem, algorithm, pieces, bound);
        found.map("worked", &(*algorithm).into(), &map)?;
    }
    Ok(())
}

/// The three base orders.
const BASES: [(&str, Base, OrderRule); 3] = [
    ("as in file", Base::File, OrderRule::File),
    ("BFS", Base::Breadth, OrderRule::Breadth),
    ("DFS", Base::DepthLeft, OrderRule::DepthLeft),
];

/// For every setting, computes the peak of every base order under every rule, and the optimum over all
/// orders. The base order with the largest gain in a setting is appended to `beside`, for comparison with the
/// printed savings.
fn rules(
    context: &Context<'_>,
    network: &Network,
    settings: &[Setting],
    beside: &mut Vec<Value>,
    found: &mut Reproduction,
) -> Result<Value, ReproduceError> {
    let Network { name, family, before, after, saving } = network;
    let saved = |from: u64, to: u64| 100.0 - to as f64 * 100.0 / from.max(1) as f64;
    let mega = |bytes: u64| bytes.div_ceil(1_000_000);
    let (mut operators, mut peaks, mut panels) = (0, Vec::new(), Vec::new());
    for Setting { name: setting, params } in settings {
        let graph = generated(family, params, 0)?;
        let problem = storages(graph.name(), &graph, &LivenessOptions::default())?;
        let question = InOrder { graph: &graph, liveness: LivenessOptions::default() };
        let (least, _, row) = context.answer::<Orders>("exact", name, &question)?;
        let bound = row.lower_bound.unwrap_or_default();
        operators = operators.max(problem.len());
        let (mut most, mut groups) = (None, Vec::new());
        for (base, start, rule) in BASES {
            let by = |adjust| peak(&problem, OrderRule::Engine { base: start, adjust });
            let all = [peak(&problem, rule)?, by(Adjust::Fixed)?, by(Adjust::Dynamic)?, by(Adjust::Both)?];
            let [plain, fixed, dynamic, both] = all;
            most = most.max(Some((plain.saturating_sub(both), groups.len(), (base, plain, both))));
            groups.push((base.to_owned(), all.map(|one| Some(mega(one))).to_vec()));
            peaks.push(context! {
                setting, base, plain, fixed, dynamic, both, bound, least,
                saved => saved(plain, both), rest => saved(both, least),
            });
        }
        panels.push(Panel { name: setting.clone(), groups, mark: Some(mega(least)) });
        if let Some((.., (base, plain, both))) = most {
            let reason = format!(
                "generated {family}, {setting}, {base}; the article does not say which graph, batch, tokens or precision, nor whether weights count"
            );
            let saved = saved(plain, both);
            beside.push(context! { name, setting, before, after, saving, plain, both, saved, reason });
        }
    }
    let all = context! { name, family, before, after, saving, operators, peaks };
    found.bars("order", &all, panels)?;
    Ok(all)
}

/// Returns the peak in bytes of the order that a rule produces, after checking the order.
fn peak(problem: &OrderProblem, rule: OrderRule) -> Result<u64, ReproduceError> {
    let order = rule.of(problem, &mut Budget::unlimited()).expect("an unlimited budget is never exhausted");
    match check_order(problem, &order).first() {
        Some(fault) => {
            Err(ReproduceError::Defect(format!("{rule:?}: the checker rejected the order: {fault}")))
        }
        None => Ok(order.peak(problem).get()),
    }
}
