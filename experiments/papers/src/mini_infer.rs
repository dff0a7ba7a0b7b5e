//! The static memory planner of Mini-Infer (Mini-Infer report), which assigns shared objects by greedy
//! colouring.

use crate::{
    Context, Params, ReproduceError, Reproduction, files, generated, import, intermediates, sheet, stem,
};
use minijinja::{Value, context};
use plimsoll::excluded;
use plimsoll_datasets::ImportOptions;
use plimsoll_lab::report::bars::Panel;
use plimsoll_lab::report::gap_percent;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::row::Row;
use plimsoll_model::graph::Graph;
use plimsoll_model::{Claim, Instance, InstanceProblem, Offsets, PoolPlan, Problem, SharedObjects, load};
use serde::{Deserialize, Serialize};

/// The printed parts of the sample report.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/mini-infer.toml explains every value")]
pub struct Sample {
    pub pools: u64,
    pub shown: Vec<f64>,
    pub memory: (f64, f64),
    pub saving: f64,
}

/// The printed numbers of the report, and the networks of the recomputation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/mini-infer.toml explains every value")]
pub struct Inputs {
    pub sample: Sample,
    pub claimed: (f64, f64),
    pub alignment: u64,
    pub families: Vec<(String, Params)>,
    pub models: (String, String),
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("mini-infer")
    }
}

/// Recomputes the results from these inputs.
///
/// # Errors
/// [`ReproduceError`] if a run fails, or if a model cannot be generated or read.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::of("mini-infer");
    let graphs = networks(inputs, context, &mut found)?;
    let (mut rows, mut panels, mut inside) = (Vec::new(), Vec::new(), 0);
    let (low, high) = inputs.claimed;
    let mut form = None;
    for (name, graph) in &graphs {
        let instance = intermediates(name, graph, true, inputs.alignment)?;
        let (greedy, plan, _) = context.answer::<SharedObjects>("mini-infer", name, &&instance)?;
        let saving = 100.0 - greedy as f64 * 100.0 / instance.total_size().get().max(1) as f64;
        inside += usize::from((low..=high).contains(&saving));
        let (row, panel) = saved(context, (name, &instance), (greedy, &plan), saving)?;
        rows.push(row);
        panels.push(panel);
        form.get_or_insert((name, instance, plan));
    }
    found.fact("inputs", inputs);
    found.fact("networks", rows);
    found.fact("inside", inside);
    found.fact("without", excluded("pool-ilp").map(|reason| reason.to_string()));
    found.bars("savings", &().into(), panels)?;
    found.fact("form", form.as_ref().map(|(name, instance, plan)| shown(name, instance, plan)));
    if let Some((name, instance, plan)) = &form {
        let (pieces, bound) = (&SharedObjects::pieces(instance, plan), load(instance).0);
        let (problem, algorithm) = (SharedObjects::NAME, "mini-infer");
        let map = Map::new(instance, problem, algorithm, pieces, bound);
        found.map("pools", &name.as_str().into(), &map)?;
    }
    found.finish()
}

/// Returns networks generated from their published architectures and, if the corpora are available,
/// networks of the corpora.
fn networks(
    inputs: &Inputs,
    context: &Context<'_>,
    found: &mut Reproduction,
) -> Result<Vec<(String, Graph)>, ReproduceError> {
    let mut graphs = Vec::new();
    for (family, params) in &inputs.families {
        graphs.push((family.clone(), generated(family, params, 0)?));
    }
    let (extension, begins) = &inputs.models;
    let Some(folder) = context.folder(extension) else {
        found.skip(format!("networks of the corpora: {}", context.no_folder(extension)));
        return Ok(graphs);
    };
    for path in files(&folder, extension)? {
        let name = stem(&path);
        if name.starts_with(begins) {
            graphs.push((name, import(&path, &ImportOptions::default())?));
        }
    }
    Ok(graphs)
}

/// Returns the table row and the chart panel of one network. They compare the result of the planner with the
/// optimum of the offset problem. If this build contains the exact solver for shared objects, they also
/// compare it with the optimum of the shared-object problem.
fn saved(
    context: &Context<'_>,
    (name, instance): (&str, &Instance),
    (greedy, plan): (u64, &PoolPlan),
    saving: f64,
) -> Result<(Value, Panel), ReproduceError> {
    let pools = context.try_solve::<SharedObjects>("pool-ilp", name, &instance)?;
    let pools = pools.map(|(row, _)| row);
    let (arena, _) = context.solve::<Offsets>("exact", name, &instance)?;
    let (least, load) = (pools.as_ref().and_then(|pools| pools.value), load(instance).0.get());
    let row = context! {
        name, tensors => instance.len(), original => instance.total_size().get(), greedy,
        pools => plan.sizes().len(), saving, least_pools => pools.as_ref().map(proved),
        over => least.and_then(|least| gap_percent(greedy, least)),
        least_arena => proved(&arena), load,
    };
    let bars = [("planner", Some(greedy)), ("least pools", least), ("least arena", arena.value)];
    let groups = bars.map(|(name, bytes)| (name.to_owned(), vec![bytes])).to_vec();
    Ok((row, Panel { name: name.to_owned(), groups, mark: Some(load) }))
}

/// Formats the optimum if it is proved, and its bounds otherwise.
pub(crate) fn proved(row: &Row) -> String {
    let bound = row.lower_bound.unwrap_or_default();
    match (row.value, row.claim) {
        (Some(value), Some(Claim::Optimal)) => value.to_string(),
        (Some(value), _) => format!("{bound} to {value}"),
        (None, _) => format!("at least {bound}"),
    }
}

/// Converts a shared-object plan to the format of the sample report.
fn shown(name: &str, instance: &Instance, plan: &PoolPlan) -> Value {
    let pools = plan.sizes().iter().enumerate().map(|(pool, size)| {
        let own = instance.ids().filter(|id| plan.assignment()[id.index()].index() == pool);
        let tensors: Vec<&str> = own.map(|id| instance.buffer(id).name()).collect();
        context! { size => size.get(), tensors }
    });
    context! {
        name, pools => pools.collect::<Vec<_>>(),
        original => instance.total_size().get(), optimised => plan.total().get(),
    }
}
