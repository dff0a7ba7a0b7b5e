//! `plimsoll order`: orders the operators of a graph to minimise the peak live bytes.

mod args;
pub mod verify;

use crate::commands::choose;
use crate::commands::contest::{Stops, about, compare, print};
use crate::commands::proof;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::{Report, bytes, noted, sized};
pub use args::OrderArgs;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::assumptions::assumptions;
use plimsoll::datasets::{Import, OperatorPlace};
use plimsoll::graphs::{GraphRun, OrderedRegion, reason};
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::Graph;
use plimsoll::model::{OperatorId, Orders};
use plimsoll::posed::InOrder;
use plimsoll_lab::proofs::region_key;
use plimsoll_lab::report::memory::profile_chart;
use plimsoll_lab::report::{Basis, gap_percent, human, percent};
use serde_json::{Value, json};
use std::io;

/// Maximum number of operators named in a line of text. The JSON report contains all of them.
const MOST: usize = 12;

pub fn main(args: &OrderArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = choose::named(&registry.orders, &args.order, "order")?;
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
        let mut report = Report::of_graph(json!({ "graph": graph.name() }), &Basis::of(&import));
        let operators = human::count(graph.operators().len(), "operator");
        report.line("graph", format_args!("{}: {operators}", graph.name()));
        return print::<Orders>(report, &records, args.output.as_ref(), args.json);
    }
    let limits = args.effort.limits();
    // The orders and their proof share the time limit.
    let own = if args.proof.is_some() { limits.share(2) } else { limits };
    let run =
        GraphRun { liveness: args.liveness.options(), order: entry, setup: args.effort.setup(), limits: own };
    let regions = run.order(graph)?;
    store(args, &import, &regions)?;
    let mut report = report(graph, entry.name, &regions, &Basis::of(&import));
    report.assuming(&assumptions(&run.liveness, graph));
    if let Some(path) = &args.proof {
        match proof::write_orders(path, graph, &regions, limits)? {
            Ok(accepted) => {
                report.line("proof", accepted.line());
                report.extend(json!({ "proof": accepted.members() }));
            }
            Err(reason) => output::complain(&format!("{reason}, so --proof writes nothing")),
        }
    }
    report.print(args.json)?;
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
        let chart = profile_chart(graph.name(), &args.order, body);
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

/// Returns the report. The numbers of the body are also members of the top-level object.
fn report(graph: &Graph, order: &str, regions: &[OrderedRegion], basis: &Basis) -> Report {
    let rows: Vec<Value> = regions.iter().rev().map(|one| row(graph, one)).collect();
    // The bound of the body depends on the bounds of the regions inside it.
    let arithmetic = regions.iter().map(|one| Arithmetic::of(&one.outcome.lower_bound.witness)).max();
    let arithmetic = arithmetic.unwrap_or_default();
    let body = &regions[regions.len() - 1];
    let bound = &body.outcome.lower_bound;
    let object = json!({
        "graph": graph.name(),
        "order": order,
        "claim": body.outcome.claim,
        "stop": body.outcome.stop,
        "peak": body.peak,
        "lower_bound": bound.value,
        "arithmetic": arithmetic,
        "file_peak": body.file_peak,
        "operators": graph.operators().len(),
        "seconds": regions.iter().map(|one| one.outcome.stats.seconds).sum::<f64>(),
        "nodes": regions.iter().map(|one| one.outcome.stats.nodes).sum::<u64>(),
        "regions": rows,
    });
    let mut report = Report::of_graph(object, basis);
    report.show("graph", "{graph}: {operators operator}");
    report.lines(&["order", "claim"]);
    report.show("peak", "{peak live bytes}");
    let why = reason(&body.storages.problem, bound);
    report.line("lower bound", noted(&bytes(bound.value), &(why + arithmetic.remark())));
    report.gap(gap_percent(body.peak.get(), bound.value.get()));
    let saved = saving(body.file_peak.get(), body.peak.get());
    report.line("file order", format_args!("{}, {saved}", sized(body.file_peak, " live bytes")));
    if let [one] = regions {
        report.line("sequence", first_names(graph, one));
    }
    report.lines(&["stop", "seconds"]);
    if rows.len() > 1 {
        report.table(&rows, "region, operators, file order = file_peak, peak, bound = lower_bound, claim");
    }
    report
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

fn row(graph: &Graph, one: &OrderedRegion) -> Value {
    let bound = &one.outcome.lower_bound;
    let positions = one.order.operators().iter().map(|id| one.storages.operators[id.index()]);
    json!({
        "region": one.region,
        "name": graph.region(one.region).name,
        "operators": one.storages.problem.len(),
        "storages": one.storages.problem.storages().len(),
        "peak": one.peak,
        "lower_bound": bound.value,
        "witness": reason(&one.storages.problem, bound),
        "arithmetic": Arithmetic::of(&bound.witness),
        "gap_percent": gap_percent(one.peak.get(), bound.value.get()),
        "file_peak": one.file_peak,
        "claim": one.outcome.claim,
        "stop": one.outcome.stop,
        "seconds": one.outcome.stats.seconds,
        "nodes": one.outcome.stats.nodes,
        "order": positions.collect::<Vec<_>>(),
    })
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
