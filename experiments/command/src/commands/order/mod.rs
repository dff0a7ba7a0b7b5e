//! `plimsoll order`: orders the operators of a graph so that the least memory is alive.

mod args;
mod compare;

use crate::commands::choose;
use crate::failure::{ANSWERED, Failure};
use crate::output;
pub use args::OrderArgs;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::graphs::{GraphRun, OrderedRegion, reason};
use plimsoll::model::csv::write_instance;
use plimsoll::model::graph::Graph;
use plimsoll_lab::report::memory::profile_chart;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{Basis, gap_percent, percent};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;

pub fn main(args: &OrderArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = choose::named(&registry.orders, &args.order, "order")?;
    output::check_targets(&[&args.instance, &args.output, &args.plot], &[&args.model.model])?;
    let import = args.model.read()?;
    let graph = &import.graph;
    if args.compare {
        return compare::compare(args, &registry, &import);
    }
    let run = GraphRun {
        liveness: args.liveness.options(),
        order: entry,
        setup: args.effort.setup(),
        limits: args.effort.limits(),
    };
    let regions = run.order(graph)?;
    store(args, graph, &regions)?;
    let report = Report::new(graph, entry.name, &regions, Basis::of(&import));
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(ANSWERED)
}

fn store(args: &OrderArgs, graph: &Graph, regions: &[OrderedRegion]) -> Result<(), Failure> {
    let body = regions.last().ok_or_else(|| Failure::internal("a graph without a body"))?;
    if let Some(path) = &args.instance {
        let instance = body.storages.problem.instance(&body.order, args.liveness.options().align);
        let instance = instance.map_err(Failure::input)?;
        output::write_file(path, |file| write_instance(&instance, file))?;
    }
    if let Some(path) = &args.output {
        output::write_file(path, |file| write_orders(graph, regions.iter().rev(), file))?;
    }
    if let Some(path) = &args.plot {
        let chart = profile_chart(graph.name(), &args.order, body);
        output::write_file(path, |file| chart.write(file))?;
    }
    Ok(())
}

/// One row per operator, regions as they come.
pub(super) fn write_orders<'a>(
    graph: &Graph,
    regions: impl IntoIterator<Item = &'a OrderedRegion>,
    file: &mut dyn io::Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(["region", "step", "operator", "kind", "bytes_alive"])?;
    for one in regions {
        let profile = one.order.profile(&one.storages.problem);
        for (step, (id, alive)) in one.order.operators().iter().zip(profile).enumerate() {
            let operator = graph.operator(one.storages.operators[id.index()]);
            let (step, alive) = (step.to_string(), alive.to_string());
            let region = format!("{}:{}", one.region, graph.region(one.region).name);
            writer.write_record([&region, &step, &operator.name, &operator.kind, &alive])?;
        }
    }
    writer.flush()
}

/// What is printed of a graph in order. The members of the body stand at the top too.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    order: &'static str,
    claim: &'static str,
    stop: &'static str,
    peak: u64,
    lower_bound: u64,
    /// Of the bound of the body, which counts on those of the regions inside it.
    arithmetic: Arithmetic,
    file_peak: u64,
    operators: usize,
    seconds: f64,
    nodes: u64,
    regions: Vec<RegionRow>,
    #[serde(flatten)]
    basis: Basis,
}

#[derive(Debug, Serialize)]
struct RegionRow {
    region: u32,
    name: String,
    operators: usize,
    storages: usize,
    peak: u64,
    lower_bound: u64,
    witness: String,
    arithmetic: Arithmetic,
    gap_percent: Option<f64>,
    file_peak: u64,
    claim: &'static str,
    stop: &'static str,
    seconds: f64,
    nodes: u64,
    /// Positions of operators in the graph.
    order: Vec<u32>,
}

impl RegionRow {
    fn new(graph: &Graph, one: &OrderedRegion) -> Self {
        let bound = &one.outcome.lower_bound;
        Self {
            region: one.region.get(),
            name: graph.region(one.region).name.clone(),
            operators: one.storages.problem.len(),
            storages: one.storages.problem.storages().len(),
            peak: one.peak.get(),
            lower_bound: bound.value.get(),
            witness: reason(&one.storages.problem, bound),
            arithmetic: Arithmetic::of(&bound.witness),
            gap_percent: gap_percent(one.peak.get(), bound.value.get()),
            file_peak: one.file_peak.get(),
            claim: one.outcome.claim.as_str(),
            stop: one.outcome.stop.as_str(),
            seconds: one.seconds,
            nodes: one.outcome.stats.nodes,
            order: one.order.operators().iter().map(|id| one.storages.operators[id.index()].get()).collect(),
        }
    }
}

impl Report {
    fn new(graph: &Graph, order: &'static str, regions: &[OrderedRegion], basis: Basis) -> Self {
        let rows: Vec<RegionRow> = regions.iter().rev().map(|one| RegionRow::new(graph, one)).collect();
        let body = &rows[0];
        Self {
            graph: graph.name().to_owned(),
            order,
            claim: body.claim,
            stop: body.stop,
            peak: body.peak,
            lower_bound: body.lower_bound,
            arithmetic: rows.iter().map(|row| row.arithmetic).max().unwrap_or_default(),
            file_peak: body.file_peak,
            operators: graph.operators().len(),
            seconds: rows.iter().map(|row| row.seconds).sum(),
            nodes: rows.iter().map(|row| row.nodes).sum(),
            regions: rows,
            basis,
        }
    }

    fn text(&self) -> String {
        let mut text = self.basis.text();
        let _ = writeln!(text, "graph        {}: {} operators", self.graph, self.operators);
        let _ = writeln!(text, "order        {}", self.order);
        let body = &self.regions[0];
        let _ = writeln!(text, "claim        {}", self.basis.claim(body.claim));
        let _ = writeln!(text, "peak         {} bytes alive", body.peak);
        let remark = self.arithmetic.remark();
        let _ = writeln!(text, "lower bound  {} bytes ({}{remark})", body.lower_bound, body.witness);
        if let Some(gap) = body.gap_percent {
            let _ = writeln!(text, "gap          {} %", percent(gap));
        }
        let saved = saving(body.file_peak, body.peak);
        let _ = writeln!(text, "as in file   {} bytes alive: {saved}", body.file_peak);
        let _ = writeln!(text, "stop         {}", body.stop);
        let _ = writeln!(text, "time         {:.3} s, {} nodes", self.seconds, self.nodes);
        if self.regions.len() > 1 {
            text.push('\n');
            text.push_str(&self.table());
        }
        text
    }

    fn table(&self) -> String {
        let mut table = Table::new([
            ("region", Align::Left),
            ("operators", Align::Right),
            ("as in file", Align::Right),
            ("peak", Align::Right),
            ("bound", Align::Right),
            ("claim", Align::Left),
        ]);
        for row in &self.regions {
            let numbers = [row.operators as u64, row.file_peak, row.peak, row.lower_bound];
            let [operators, file_peak, peak, bound] = numbers.map(|number| number.to_string());
            let name = format!("{}:{}", row.region, row.name);
            table.row([name, operators, file_peak, peak, bound, row.arithmetic.mark(row.claim)]);
        }
        table.text()
    }
}

/// How much less a peak is than another, in words.
fn saving(from: u64, to: u64) -> String {
    match (from, to) {
        (from, to) if to < from => {
            format!("{} % saved", percent((from - to) as f64 * 100.0 / from as f64))
        }
        (from, to) if to > from => {
            format!("{} % lost", percent((to - from) as f64 * 100.0 / from.max(1) as f64))
        }
        _ => "nothing to save".to_owned(),
    }
}
