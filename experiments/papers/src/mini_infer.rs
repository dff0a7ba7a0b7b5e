//! Mini-Infer's static memory planner (SOURCES S1): pools by greedy colouring.

use super::{Amount, Context, ReproduceError, Reproduction, Row, files, generated, stem};
use plimsoll::left_out;
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll::run::RunError;
use plimsoll_datasets::{ImportOptions, import_file};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::svg::Map;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{gap_percent, percent};
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::{Bytes, Claim, Instance, PoolPlan, Pools, SolveError};
use std::fmt::Write as _;

/// The report its article shows, as far as it is printed.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Pools it announces.
    pub pools: u64,
    /// Pools it shows, kilobytes.
    pub shown: Vec<f64>,
    /// Memory before and after, kilobytes.
    pub memory: (f64, f64),
    /// The saving, percent.
    pub saving: f64,
}

/// What the article prints, and what it is tried on.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The report shown.
    pub sample: Sample,
    /// The saving claimed on common networks, percent.
    pub claimed: (f64, f64),
    /// Sizes are rounded up to multiples of this many bytes.
    pub alignment: u64,
    /// Generated families, and their parameters.
    pub families: Vec<(&'static str, Vec<(&'static str, u64)>)>,
    /// The extension and the beginning of the names of models of the corpora that take part.
    pub models: (&'static str, &'static str),
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            sample: Sample { pools: 3, shown: vec![1024.0, 512.0], memory: (5650.0, 1536.0), saving: 72.81 },
            claimed: (50.0, 80.0),
            alignment: 256,
            families: ["lenet5", "vgg16", "resnet18"].map(|family| (family, Vec::new())).to_vec(),
            // The classic networks; those with free dimensions need more than a file name.
            models: ("onnx", "light_"),
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
/// [`ReproduceError`]: a run failed, or a model cannot be generated or read.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    arithmetic(&inputs.sample, &mut found);
    let graphs = networks(inputs, context, &mut found)?;
    savings(context, inputs, &graphs, &mut found)?;
    if let Some((name, graph)) = graphs.first() {
        let instance = intermediates(name, graph, inputs.alignment)?;
        let plan = context.solve(&context.registry.pools, "mini-infer", name, &instance)?;
        if let Some(plan) = &plan.solution {
            found.section(format!("The report in its form: {name}"));
            found.verbatim(report(&instance, plan));
            let pieces = Pools::pieces(&instance, plan);
            let map = Map {
                instance: &instance,
                problem: ProblemKind::Pools,
                algorithm: "mini-infer",
                pieces: &pieces,
                bound: plimsoll_model::load(&instance).0,
                groups: None,
            };
            found.file("pools.svg", format!("{name}: its pools by greedy colouring"), |file| map.write(file));
        }
    }
    Ok(found)
}

/// Checks the printed report against itself.
fn arithmetic(sample: &Sample, found: &mut Reproduction) {
    let (original, optimised) = sample.memory;
    let row = |what: &str, unit| Row::new("section 6, sample report", what, unit);
    let unnamed = "the network behind the report is not named; see the rows of other networks";
    found.row(row("original memory", "KB").printed(Amount::Decimal(original, 2)).missing(unnamed));
    let shown: f64 = sample.shown.iter().sum();
    let whole = row("optimised memory", "KB").printed(Amount::Decimal(optimised, 2));
    found.row(whole.same(Amount::Decimal(shown, 2), "sum of the pools shown"));
    let saving = Amount::Decimal((1.0 - optimised / original) * 100.0, 2);
    let saved = row("memory saving", "%").printed(Amount::Decimal(sample.saving, 2));
    found.row(saved.same(saving, "from original and optimised memory"));
    let pools = row("memory pools", "pools").printed(sample.pools);
    found.row(pools.differs(
        sample.shown.len(),
        "so many are shown, and they alone add up to all of the optimised memory: the other holds nothing",
    ));
}

/// Networks from their published architectures, and those of the corpora, where there are.
fn networks(
    inputs: &Inputs,
    context: &Context<'_>,
    found: &mut Reproduction,
) -> Result<Vec<(String, Graph)>, ReproduceError> {
    let mut graphs = Vec::new();
    for (family, params) in &inputs.families {
        graphs.push(((*family).to_owned(), generated(family, params)?));
    }
    let (extension, begins) = inputs.models;
    let Some(folder) = context.folder(extension) else {
        found.leave_out(format!("networks of the corpora: {}", context.no_folder(extension)));
        return Ok(graphs);
    };
    for path in files(&folder, extension)? {
        let name = stem(&path);
        if name.starts_with(begins) {
            graphs.push((name, import_file(&path, &ImportOptions::default())?.graph));
        }
    }
    Ok(graphs)
}

/// The offset problem of what may be reused: inputs, outputs and weights are persistent, and no part of it.
fn intermediates(name: &str, graph: &Graph, alignment: u64) -> Result<Instance, ReproduceError> {
    let liveness = LivenessOptions {
        boundary: Boundary::Outside,
        views: false,
        align: Bytes::new(alignment),
        ..LivenessOptions::default()
    };
    let refused = |source| ReproduceError::Order { graph: name.to_owned(), source };
    let problem = graph.storages(Graph::BODY, &liveness, |_| Bytes::ZERO).map_err(refused)?.problem;
    problem.instance(&problem.as_in_file(), Bytes::new(1)).map_err(refused)
}

/// One network by the planner, and what is least.
struct Saved {
    name: String,
    tensors: usize,
    original: u64,
    /// By the planner, bytes, and its pools.
    greedy: (Bytes, usize),
    /// The least sum of pools, where it was asked for: value, bound, claim.
    pools: Option<Least>,
    arena: Least,
    load: Bytes,
}

type Least = (Option<Bytes>, Bytes, Claim);

impl Saved {
    fn of(
        context: &Context<'_>,
        (name, graph): &(String, Graph),
        alignment: u64,
    ) -> Result<Self, ReproduceError> {
        let instance = intermediates(name, graph, alignment)?;
        let greedy = context.answer(&context.registry.pools, "mini-infer", name, &instance)?;
        let exact = match context.solve(&context.registry.pools, "pool-ilp", name, &instance) {
            // Too many tensors for the integer program, or a build without it.
            Err(ReproduceError::Missing { .. }) if left_out("pool-ilp").is_some() => None,
            Err(ReproduceError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. }) => None,
            outcome => Some(outcome?),
        };
        let arena = context.solve(&context.registry.offsets, "exact", name, &instance)?;
        Ok(Self {
            name: name.clone(),
            tensors: instance.len(),
            original: instance.total_size().get(),
            greedy: (
                greedy.value.unwrap_or(Bytes::ZERO),
                greedy.solution.as_ref().map_or(0, |plan| plan.sizes().len()),
            ),
            pools: exact.map(|exact| (exact.value, exact.lower_bound.value, exact.claim)),
            arena: (arena.value, arena.lower_bound.value, arena.claim),
            load: plimsoll_model::load(&instance).0,
        })
    }

    /// Percent.
    fn saving(&self) -> f64 {
        100.0 - self.greedy.0.get() as f64 * 100.0 / self.original.max(1) as f64
    }

    fn cells(&self) -> [String; 10] {
        let shown = |&(value, bound, claim): &Least| match (value, claim) {
            (Some(value), Claim::Optimal) => value.to_string(),
            (Some(value), _) => format!("{bound} to {value}"),
            (None, _) => format!("at least {bound}"),
        };
        let none = || "-".to_owned();
        let least = self.pools.as_ref().and_then(|pools| pools.0);
        let over = least.and_then(|least| gap_percent(self.greedy.0, least));
        [
            self.name.clone(),
            self.tensors.to_string(),
            self.original.to_string(),
            self.greedy.0.to_string(),
            self.greedy.1.to_string(),
            format!("{:.2} %", self.saving()),
            self.pools.as_ref().map_or_else(none, shown),
            over.map_or_else(none, |over| format!("{} %", percent(over))),
            shown(&self.arena),
            self.load.to_string(),
        ]
    }
}

fn columns() -> Table {
    Table::new([
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
    ])
}

/// The saving on every network, with the optimum of the same problem and of the offset problem beside it.
fn savings(
    context: &Context<'_>,
    inputs: &Inputs,
    graphs: &[(String, Graph)],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let mut table = columns();
    let (low, high) = inputs.claimed;
    let (mut inside, mut panels) = (0, Vec::new());
    for graph in graphs {
        let saved = Saved::of(context, graph, inputs.alignment)?;
        let saving = saved.saving();
        inside += usize::from((low..=high).contains(&saving));
        let row = Row::new("section 6, claim", format!("saving on {}", saved.name), "%");
        let reason = if saving > high {
            "more than claimed: many tensors, few alive at a time"
        } else if saving < low {
            "less than claimed: few tensors, or few that could share"
        } else {
            "activations, in the order of the file; which networks are common is not said"
        };
        found.row(row.printed(Amount::Range(low, high, 0)).other(Amount::Decimal(saving, 2), reason));
        let bars = [
            ("planner", Some(saved.greedy.0)),
            ("least pools", saved.pools.as_ref().and_then(|pools| pools.0)),
            ("least arena", saved.arena.0),
        ];
        let groups = bars.map(|(name, bytes)| (name.to_owned(), vec![bytes.map(Bytes::get)]));
        panels.push(Panel {
            name: saved.name.clone(),
            groups: groups.to_vec(),
            mark: Some(saved.load.get()),
        });
        table.row(saved.cells());
    }
    found.section("What the planner saves");
    found.table(table);
    found.line(format!(
        "bytes, sizes rounded up to {}; activations only, in the order of the file: inputs, outputs and weights are persistent, views are not shared",
        inputs.alignment
    ));
    if let Some(reason) = left_out("pool-ilp") {
        found.line(format!("no least sum of pools: {reason}"));
    }
    found.line(format!(
        "claimed: {low:.0} to {high:.0} % on common networks; so it is on {inside} of {}",
        graphs.len()
    ));
    found.line(
        "the least sum of pools is the optimum of the same problem (a whole pool per tensor); the least arena is that of the offset problem, where tensors may lie side by side in what another left",
    );
    let chart = Bars {
        title: "What greedy colouring takes, and the least there is".to_owned(),
        caption: "bytes of activations; without sharing they take what the report says".to_owned(),
        series: vec!["with sharing".to_owned()],
        mark: "load".to_owned(),
        unit: "bytes",
        panels,
    };
    let about = "bytes by the planner, the least sum of pools, the least arena, one panel per network";
    found.file("savings.svg", about, |file| chart.write(file));
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
