//! `plimsoll order`: orders the operators of a graph to minimise the peak live bytes.

mod args;
pub mod verify;

use crate::command::{Command, Main, Task};
use crate::commands::choose;
use crate::commands::contest::{Head, Stops, about, compare, print};
use crate::commands::proof::{self, ProofReport};
use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::{self, Cell, Printed, Text, bytes, cells, noted, sized};
use crate::signals::First;
pub use args::OrderArgs;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::assumptions::{Assumption, assumptions};
use plimsoll::datasets::{Import, OperatorPlace};
use plimsoll::graphs::{GraphRun, OrderedRegion, reason};
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::Graph;
use plimsoll::model::{Bytes, Claim, OperatorId, Orders, Problem as _, RegionId, Stop};
use plimsoll::posed::InOrder;
use plimsoll_lab::proofs::region_key;
use plimsoll_lab::report::memory::profile_chart;
use plimsoll_lab::report::{Basis, gap_percent, human, percent};
use serde::Serialize;
use std::io;

/// Maximum number of operators named in a line of text. The JSON report contains all of them.
const MOST: usize = 12;

impl Command for OrderArgs {
    const NAME: &str = "order";
    const ABOUT: &str = "Order the operators of a graph to minimise the peak live bytes";
    const TASK: Task = Task::Model;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate squeezenet --out net.json && plimsoll order net.json",
            "Find the operator order with the lowest peak",
        ),
        (
            "plimsoll order net.json --compare --time-limit 1 --output rows.csv",
            "Compare all ordering algorithms, and write the rows",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const SOLVES: &[(&str, &str)] = &[(Orders::NAME, "order MODEL --algorithm ")];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &OrderArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = choose::named(&registry.orders, &args.algorithm, "order")?;
    output::check_targets(&[&args.instance, &args.output, &args.plot, &args.proof], &args.model.files())?;
    let import = args.model.read()?;
    let graph = &import.graph;
    if args.compare {
        let question = InOrder { graph, liveness: args.liveness.options() };
        let about = about(graph);
        let limits = || args.effort.limits_each_from_now();
        // With several regions, each search orders one region, so it cannot stop at the value of the graph.
        let stops = if graph.regions().len() == 1 { Stops::AtOptimum } else { Stops::AtLimits };
        let records = compare::<Orders>(&registry, &question, &about, (args.effort, stops), limits)?;
        return print::<Orders>(Head::of(&import), &records, args.output.as_ref(), args.json);
    }
    let limits = args.effort.limits();
    // The orders and their proof share the time limit.
    let own = if args.proof.is_some() { limits.share(2) } else { limits };
    let run =
        GraphRun { liveness: args.liveness.options(), order: entry, setup: args.effort.setup(), limits: own };
    let regions = run.order(graph)?;
    store(args, &import, &regions)?;
    let assumptions = assumptions(&run.liveness, graph);
    let mut report = OrderReport::new(graph, entry.name, &regions, Basis::of(&import), assumptions);
    if let Some(path) = &args.proof {
        match proof::write_orders(path, graph, &regions, limits)? {
            Ok(accepted) => report.proof = Some(accepted.report()),
            Err(reason) => output::complain(&format!("{reason}, so --proof writes nothing")),
        }
    }
    report::print(&report, args.json)?;
    Ok(ANSWERED)
}

fn store(args: &OrderArgs, import: &Import, regions: &[OrderedRegion]) -> Result<(), Failure> {
    let graph = &import.graph;
    let body = regions.last().ok_or_else(|| Failure::internal("the graph has no body"))?;
    if let Some(path) = &args.instance {
        let instance = body.storages.problem.instance(&body.order, args.liveness.options().align);
        let instance = instance.map_err(Failure::input)?;
        output::late(output::write_file(path, |file| write_instance(&instance, file)));
    }
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| write_orders(import, regions.iter().rev(), file)));
    }
    if let Some(path) = &args.plot {
        let chart = profile_chart(graph.name(), &args.algorithm, body);
        output::late(output::write_picture(path, |file| chart.write(file)));
    }
    Ok(())
}

/// Writes one row per operator, with the regions in the given order. `reads` and `writes` list the indices of
/// tensors in a `TFLite` file.
pub(super) fn write_orders<'a>(
    import: &Import,
    regions: impl IntoIterator<Item = &'a OrderedRegion>,
    file: &mut dyn io::Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    let header = ["region", "step", "operator", "kind", "live_bytes", "index", "reads", "writes"];
    writer.write_record(header)?;
    let graph = &import.graph;
    let list = |tensors: &[i32]| tensors.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
    for one in regions {
        let profile = one.order.profile(&one.storages.problem);
        for (step, (id, live)) in one.order.operators().iter().zip(profile).enumerate() {
            let id = one.storages.operators[id.index()];
            let place = import.places.get(id.index()).cloned();
            let place =
                place.unwrap_or_else(|| OperatorPlace { index: id.index(), ..OperatorPlace::default() });
            let (step, live, index) = (step.to_string(), live.to_string(), place.index.to_string());
            let region = region_key(graph, one.region);
            let (name, kind) = (graph.called(id), &graph.operator(id).kind);
            let (reads, writes) = (list(&place.inputs), list(&place.outputs));
            writer.write_record([&region, &step, &name, kind, &live, &index, &reads, &writes])?;
        }
    }
    writer.flush()
}

/// The report on the orders of a graph. The numbers are those of the body.
#[derive(Serialize)]
struct OrderReport<'a> {
    graph: &'a str,
    algorithm: &'static str,
    claim: Claim,
    stop: Stop,
    peak: Bytes,
    lower_bound: Bytes,
    /// The bound of the body depends on the bounds of the regions inside it.
    arithmetic: Arithmetic,
    file_peak: Bytes,
    operators: usize,
    seconds: f64,
    nodes: u64,
    /// The body first.
    regions: Vec<RegionRow<'a>>,
    #[serde(flatten)]
    basis: Basis,
    #[serde(serialize_with = "report::assumptions")]
    assumptions: Vec<Assumption>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofReport>,
    /// The first operators of the only region.
    #[serde(skip)]
    sequence: Option<String>,
}

/// The order of one region.
#[derive(Serialize)]
struct RegionRow<'a> {
    region: RegionId,
    name: &'a str,
    operators: usize,
    storages: usize,
    peak: Bytes,
    lower_bound: Bytes,
    witness: String,
    arithmetic: Arithmetic,
    gap_percent: Option<f64>,
    file_peak: Bytes,
    claim: Claim,
    stop: Stop,
    seconds: f64,
    nodes: u64,
    order: Vec<OperatorId>,
}

impl<'a> OrderReport<'a> {
    fn new(
        graph: &'a Graph,
        algorithm: &'static str,
        orders: &[OrderedRegion],
        basis: Basis,
        assumptions: Vec<Assumption>,
    ) -> Self {
        let regions: Vec<RegionRow<'_>> = orders.iter().rev().map(|one| RegionRow::of(graph, one)).collect();
        let body = &regions[0];
        Self {
            graph: graph.name(),
            algorithm,
            claim: body.claim,
            stop: body.stop,
            peak: body.peak,
            lower_bound: body.lower_bound,
            arithmetic: regions.iter().map(|one| one.arithmetic).max().unwrap_or_default(),
            file_peak: body.file_peak,
            operators: graph.operators().len(),
            seconds: orders.iter().map(|one| one.outcome.stats.seconds).sum(),
            nodes: regions.iter().map(|one| one.nodes).sum(),
            basis,
            assumptions,
            proof: None,
            sequence: if let [one] = orders { Some(first_names(graph, one)) } else { None },
            regions,
        }
    }
}

impl<'a> RegionRow<'a> {
    fn of(graph: &'a Graph, one: &OrderedRegion) -> Self {
        let bound = &one.outcome.lower_bound;
        let positions = one.order.operators().iter().map(|id| one.storages.operators[id.index()]);
        Self {
            region: one.region,
            name: &graph.region(one.region).name,
            operators: one.storages.problem.len(),
            storages: one.storages.problem.storages().len(),
            peak: one.peak,
            lower_bound: bound.value,
            witness: reason(&one.storages.problem, bound),
            arithmetic: Arithmetic::of(&bound.witness),
            gap_percent: gap_percent(one.peak.get(), bound.value.get()),
            file_peak: one.file_peak,
            claim: one.outcome.claim,
            stop: one.outcome.stop,
            seconds: one.outcome.stats.seconds,
            nodes: one.outcome.stats.nodes,
            order: positions.collect(),
        }
    }
}

impl Printed for OrderReport<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        text.line("graph", format_args!("{}: {}", self.graph, human::count(self.operators, "operator")));
        text.line("algorithm", self.algorithm);
        text.line("claim", self.basis.claim(self.claim));
        text.line("peak", sized(self.peak, " live bytes"));
        let body = &self.regions[0];
        let why = format!("{}{}", body.witness, self.arithmetic.remark());
        text.line("lower bound", noted(&bytes(self.lower_bound), &why));
        text.gap(body.gap_percent);
        let saved = saving(self.file_peak.get(), self.peak.get());
        text.line("file order", format_args!("{}, {saved}", sized(self.file_peak, " live bytes")));
        if let Some(sequence) = &self.sequence {
            text.line("sequence", sequence);
        }
        text.line("stop", self.stop);
        text.search(self.seconds, self.nodes);
        if self.regions.len() > 1 {
            let row = |one: &RegionRow<'_>| {
                let (region, claim) = (Cell::region(one.region, one.name), one.arithmetic.mark(one.claim));
                cells![region, one.operators, one.file_peak, one.peak, one.lower_bound, claim]
            };
            let columns = ["region", "operators", "file order", "peak", "bound", "claim"];
            text.table(&columns, self.regions.iter().map(row));
        }
        text.assuming(&self.assumptions);
        if let Some(proof) = &self.proof {
            text.line("proof", &proof.line);
        }
    }
}

/// Names the first operators of an order.
fn first_names(graph: &Graph, one: &OrderedRegion) -> String {
    let operators = one.order.operators();
    let name = |id: &OperatorId| graph.called(one.storages.operators[id.index()]);
    let names: Vec<_> = operators.iter().take(MOST).map(name).collect();
    let names = names.join(", ");
    match operators.len().saturating_sub(MOST) {
        0 => names,
        more => format!("{names}, and {more} more (--output FILE.csv lists all)"),
    }
}

/// Describes the change from one peak to another.
fn saving(from: u64, to: u64) -> String {
    match (from, to) {
        (from, to) if to < from => {
            format!("{} % saved", percent((from - to) as f64 * 100.0 / from as f64))
        }
        (from, to) if to > from => {
            format!("{} % more", percent((to - from) as f64 * 100.0 / from.max(1) as f64))
        }
        _ => "no saving".to_owned(),
    }
}
