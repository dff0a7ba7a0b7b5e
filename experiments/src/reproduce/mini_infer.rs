//! Mini-Infer's static memory planner (SOURCES S1): pools by greedy colouring.

use super::{Context, ReproduceError, Reproduction, generated};
use crate::left_out;
use crate::report::table::{Align, Table};
use crate::report::{gap_percent, percent};
use crate::run::RunError;
use plimsoll_datasets::{ImportOptions, import_file};
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::{Bytes, Claim, Instance, PoolPlan, SolveError};
use std::fmt::Write as _;

/// Its default alignment, bytes.
const ALIGNMENT: u64 = 256;

/// What its sample report prints, kilobytes.
const PRINTED: (f64, f64, f64) = (5650.0, 1536.0, 72.81);

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    arithmetic(&mut found);
    let graphs = networks()?;
    savings(context, &graphs, &mut found)?;
    if let Some((name, graph)) = graphs.first() {
        let instance = intermediates(name, graph)?;
        let plan = context.solve(&context.registry.pools, "mini-infer", name, &instance)?;
        if let Some(plan) = &plan.solution {
            found.section(format!("The report in its form: {name}"));
            found.verbatim(report(&instance, plan));
        }
    }
    Ok(found)
}

/// Checks the printed report against itself.
fn arithmetic(found: &mut Reproduction) {
    let (original, optimised, saving) = PRINTED;
    let own = (1.0 - optimised / original) * 100.0;
    found.section("The sample report, checked against itself");
    found.line(format!(
        "printed: {original:.2} KB before, {optimised:.2} KB after, {saving} % saved; 1 - {optimised:.0} / {original:.0} is {own:.2} %"
    ));
    found.line(
        "three pools are announced and two are shown, of 1024 and 512 KB: they alone add up to the 1536 KB, so the third holds nothing",
    );
    found.line("the network behind it is not named; below, the same planner on published networks");
}

/// `LeNet-5`, VGG-16 and `ResNet-18` from their published architectures, and the ONNX networks of the corpora, where there are.
fn networks() -> Result<Vec<(String, Graph)>, ReproduceError> {
    let mut graphs = Vec::new();
    for family in ["lenet5", "vgg16", "resnet18"] {
        graphs.push((family.to_owned(), generated(family, &[])?));
    }
    let Some(corpora) = crate::suite::corpora() else { return Ok(graphs) };
    let folder = corpora.join("onnx");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    files.sort();
    for path in files {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        // The classic networks; those with free dimensions need more than a file name.
        if name.starts_with("light_") {
            graphs.push((name, import_file(&path, &ImportOptions::default())?.graph));
        }
    }
    Ok(graphs)
}

/// The offset problem of what may be reused: inputs, outputs and weights are persistent, and no part of it.
fn intermediates(name: &str, graph: &Graph) -> Result<Instance, ReproduceError> {
    let liveness = LivenessOptions {
        boundary: Boundary::Outside,
        views: false,
        align: Bytes::new(ALIGNMENT),
        ..LivenessOptions::default()
    };
    let refused = |source| ReproduceError::Order { graph: name.to_owned(), source };
    let problem = graph.storages(Graph::BODY, &liveness, |_| Bytes::ZERO).map_err(refused)?.problem;
    problem.instance(&problem.as_in_file(), Bytes::new(1)).map_err(refused)
}

/// The saving on every network, with the optimum of the same problem and of the offset problem beside it.
fn savings(
    context: &Context<'_>,
    graphs: &[(String, Graph)],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let mut table = Table::new([
        ("network", Align::Left),
        ("tensors", Align::Right),
        ("original", Align::Right),
        ("mini-infer", Align::Right),
        ("pools", Align::Right),
        ("saving", Align::Right),
        ("least sum of pools", Align::Right),
        ("over it", Align::Right),
        ("least arena", Align::Right),
        ("load", Align::Right),
    ]);
    let mut inside = 0;
    for (name, graph) in graphs {
        let instance = intermediates(name, graph)?;
        let original = instance.total_size().get();
        let greedy = context.solve(&context.registry.pools, "mini-infer", name, &instance)?;
        let exact = match context.solve(&context.registry.pools, "pool-ilp", name, &instance) {
            // Too many tensors for the integer program, or a build without it.
            Err(ReproduceError::Missing { .. }) if left_out("pool-ilp").is_some() => None,
            Err(ReproduceError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. }) => None,
            outcome => Some(outcome?),
        };
        let arena = context.solve(&context.registry.offsets, "exact", name, &instance)?;
        let value = greedy.value.unwrap_or(Bytes::ZERO);
        let saving = 100.0 - value.get() as f64 * 100.0 / original.max(1) as f64;
        inside += usize::from((50.0..=80.0).contains(&saving));
        let shown = |value: Option<Bytes>, claim: Claim, bound: Bytes| match (value, claim) {
            (Some(value), Claim::Optimal) => value.to_string(),
            (Some(value), _) => format!("{bound} to {value}"),
            (None, _) => format!("at least {bound}"),
        };
        let least = exact.as_ref().and_then(|exact| exact.value);
        let over = least.and_then(|least| gap_percent(value, least));
        table.row([
            name.clone(),
            instance.len().to_string(),
            original.to_string(),
            value.to_string(),
            greedy.solution.as_ref().map_or(0, |plan| plan.sizes().len()).to_string(),
            format!("{saving:.2} %"),
            exact.map_or_else(
                || "-".to_owned(),
                |exact| shown(exact.value, exact.claim, exact.lower_bound.value),
            ),
            over.map_or_else(|| "-".to_owned(), |over| format!("{} %", percent(over))),
            shown(arena.value, arena.claim, arena.lower_bound.value),
            plimsoll_model::load(&instance).0.to_string(),
        ]);
    }
    found.section("What the planner saves");
    found.table(table);
    found.line(format!(
        "bytes, sizes rounded up to {ALIGNMENT}; activations only, in the order of the file: inputs, outputs and weights are persistent, views are not shared"
    ));
    if let Some(reason) = left_out("pool-ilp") {
        found.line(format!("no least sum of pools: {reason}"));
    }
    found.line(format!("claimed: 50 to 80 % on common networks; so it is on {inside} of {}", graphs.len()));
    found.line(
        "the least sum of pools is the optimum of the same problem (a whole pool per tensor); the least arena is that of the offset problem, where tensors may lie side by side in what another left",
    );
    Ok(())
}

/// A pool plan in the form of its report, sizes in kilobytes.
fn report(instance: &Instance, plan: &PoolPlan) -> String {
    let kilobytes = |bytes: u64| format!("{:.2} KB", bytes as f64 / 1024.0);
    let rule = "-".repeat(40);
    let mut text = format!("Static Memory Planning Result\n\nMemory Pools: {}\n{rule}\n", plan.sizes().len());
    for (pool, size) in plan.sizes().iter().enumerate() {
        let members: Vec<&str> = instance
            .ids()
            .filter(|id| plan.assignment()[id.index()].index() == pool)
            .map(|id| instance.buffer(id).name())
            .collect();
        let _ = writeln!(text, "Pool {pool}: {}\n  Tensors ({}):", kilobytes(size.get()), members.len());
        for name in members {
            let _ = writeln!(text, "    - {name}");
        }
    }
    let (original, optimised) = (instance.total_size().get(), plan.total().get());
    let saving = 100.0 - optimised as f64 * 100.0 / original.max(1) as f64;
    let _ = writeln!(
        text,
        "{rule}\nOriginal Memory:  {}\nOptimized Memory: {}\nMemory Saving:    {saving:.2}%",
        kilobytes(original),
        kilobytes(optimised)
    );
    text
}
