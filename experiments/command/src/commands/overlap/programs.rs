use super::args::{ActivationsArg, OverlapArgs};
use crate::commands::choose::no_machine;
use crate::failure::Failure;
use plimsoll::branches::{Planner, SchemeEntry, ordered_program};
use plimsoll::graphs::GraphRun;
use plimsoll::model::graph::Graph;
use plimsoll::model::program::ProgramOptions;
use plimsoll::model::timelines::{Activations, Machine, OverlapOptions, OverlapProgram, PRESETS, read_times};
use plimsoll::model::{Bytes, Entry, Offsets, Orders};
use plimsoll::run::Limits;
use plimsoll::timelines::{Effort, placed_activations, program, resident_within};

/// Default node limit of the searches of a front at the capacity of the machine, per segment. A front takes
/// many searches, so none of them may use all of the time.
const LAST_NODES: u64 = 20_000;
/// Default node limit of the searches of a front with less memory than the machine has, per segment.
const EACH_NODES: u64 = 1_000;

/// A graph with the settings for building overlap programs from it.
pub struct Programs<'a> {
    pub args: &'a OverlapArgs,
    /// The limits of the whole command.
    pub limits: Limits,
    pub graph: &'a Graph,
    pub machine: &'a Machine,
    /// The algorithm that places activations, if the options require a placement.
    pub solver: &'static Entry<Offsets>,
}

impl Programs<'_> {
    /// Returns the program in one order, without resident weights.
    pub fn program(&self, order: &Entry<Orders>, limits: Limits) -> Result<OverlapProgram, Failure> {
        let (args, graph) = (self.args, self.graph);
        let (liveness, setup) = (args.liveness.options(), args.effort.setup());
        let limits = if args.front { effort(limits).each } else { limits };
        // If activations are placed by a layout, the orders get half of the time and the layout gets the
        // other half.
        let stages = if args.activations == ActivationsArg::Placed { 2 } else { 1 };
        let run = GraphRun { liveness, order, setup, limits: limits.share(stages) }.with_final_order();
        let make = |regions: &[_], activations| {
            let options = OverlapOptions { trips: args.iterations, activations };
            program(graph, regions, self.machine, options).map_err(Failure::input)
        };
        match args.activations {
            ActivationsArg::Live => make(&run.order(graph)?, Activations::Live),
            ActivationsArg::Peak => make(&run.order(graph)?, Activations::Peak),
            ActivationsArg::Placed => {
                let options = ProgramOptions { liveness, ..ProgramOptions::default() };
                let ordered = ordered_program(graph, &run, options)?;
                let scheme = SchemeEntry::named("exclusive").expect("it is registered");
                let execution = plimsoll::model::execution::ExecutionOptions::default();
                let planner = Planner { scheme, solver: self.solver, setup, limits, execution };
                let placed = placed_activations(&ordered, &planner)?;
                make(&ordered.regions, Activations::Placed(&placed))
            }
        }
    }

    /// Returns the program with resident weights of at most `--resident` bytes, chosen by their effect on the
    /// schedule `prefetch`.
    pub fn resident(&self, program: OverlapProgram) -> Result<OverlapProgram, Failure> {
        let Some(bytes) = self.args.resident else { return Ok(program) };
        let machine = self.machine;
        if bytes > machine.capacity.get() {
            let capacity = machine.capacity;
            let reason =
                format!("--resident {bytes}: the machine has only {capacity} bytes of on-chip memory");
            return Err(Failure::input(reason));
        }
        resident_within(&program, machine, Bytes::new(bytes)).map_err(Failure::input)
    }
}

/// Returns the limits of the schedules of a front.
pub fn effort(limits: Limits) -> Effort {
    let within = |nodes| Limits { nodes: limits.nodes.or(Some(nodes)), ..limits };
    Effort { each: within(EACH_NODES), last: within(LAST_NODES) }
}

pub fn machine(args: &OverlapArgs) -> Result<Machine, Failure> {
    let mut machine =
        Machine::find(&args.machine).map_err(|error| no_machine(error, &args.machine, &PRESETS))?;
    if let Some(capacity) = args.capacity {
        machine.capacity = Bytes::new(capacity);
    }
    if let Some(times) = &args.times {
        machine.times = read_times(times).map_err(Failure::input)?;
    }
    if let Some(slice) = args.slice {
        machine.slice = (slice > 0).then_some(Bytes::new(slice));
    }
    Ok(machine)
}

/// Returns an error if a file given by `--times` names unknown operators. If the machine file names them,
/// returns only a note, because that file may serve several graphs.
pub fn unused_times(args: &OverlapArgs, machine: &Machine, graph: &Graph) -> Result<Option<String>, Failure> {
    let names = machine.unused_times(graph);
    let Some(first) = names.first() else { return Ok(None) };
    let more = if names.len() > 1 { format!(" (and {} more)", names.len() - 1) } else { String::new() };
    let what = format!("no operator with a compute time is called '{first}'{more}");
    match &args.times {
        Some(path) => Err(Failure::input(format!("--times {}: {what}", path.display()))),
        None => Ok(Some(format!("{what}; these measured times are ignored"))),
    }
}
