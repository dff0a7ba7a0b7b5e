use super::args::{ActivationsArg, OverlapArgs};
use crate::failure::Failure;
use plimsoll::branches::{Planner, SchemeEntry, ordered_program};
use plimsoll::graphs::GraphRun;
use plimsoll::model::graph::Graph;
use plimsoll::model::program::ProgramOptions;
use plimsoll::model::timelines::{Activations, Machine, OverlapOptions, OverlapProgram, read_times};
use plimsoll::model::{Bytes, Entry, Offsets, Orders};
use plimsoll::run::Limits;
use plimsoll::timelines::{Effort, placed_activations, program, resident_within};

/// Nodes of a search per segment where no limit is given; and of each where there are many.
pub const SEARCH_NODES: u64 = 20_000;
const FRONT_NODES: u64 = 1_000;

/// Makes programs of a graph.
pub struct Programs<'a> {
    pub args: &'a OverlapArgs,
    /// Of the whole command.
    pub limits: Limits,
    pub graph: &'a Graph,
    pub machine: &'a Machine,
    /// Who lays activations out, where it matters.
    pub solver: &'static Entry<Offsets>,
}

impl Programs<'_> {
    /// The program under one order, nothing resident.
    pub fn program(&self, order: &Entry<Orders>, limits: Limits) -> Result<OverlapProgram, Failure> {
        let (args, graph) = (self.args, self.graph);
        let (liveness, setup) = (args.liveness.options(), args.effort.setup());
        let limits = if args.front { effort(args, limits).each } else { limits };
        // A layout takes the other half.
        let stages = if args.activations == ActivationsArg::Placed { 2 } else { 1 };
        let run = GraphRun { liveness, order, setup, limits: limits.share(stages) };
        let make = |regions: &[_], activations| {
            let options = OverlapOptions { trips: args.trips, activations };
            program(graph, regions, self.machine, options).map_err(Failure::input)
        };
        match args.activations {
            ActivationsArg::Alive => make(&run.order(graph)?, Activations::Alive),
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

    /// With as many weights on chip as `--resident` has room for: by what makes `prefetch` the faster.
    pub fn resident(&self, program: OverlapProgram) -> Result<OverlapProgram, Failure> {
        let Some(room) = self.args.resident else { return Ok(program) };
        let machine = self.machine;
        if room > machine.capacity.get() {
            let reason = format!("--resident {room}: the machine has {} bytes on chip", machine.capacity);
            return Err(Failure::input(reason));
        }
        resident_within(&program, machine, Bytes::new(room)).map_err(Failure::input)
    }
}

/// Limits of schedules: those given, else beside the time so many nodes per segment that a search takes about a second.
pub fn limits_of_schedules(args: &OverlapArgs, limits: Limits) -> Limits {
    limits_or(args, limits, SEARCH_NODES)
}

/// The same for a front, with fewer nodes where schedules are many.
pub fn effort(args: &OverlapArgs, limits: Limits) -> Effort {
    Effort { each: limits_or(args, limits, FRONT_NODES), last: limits_or(args, limits, SEARCH_NODES) }
}

fn limits_or(args: &OverlapArgs, limits: Limits, nodes: u64) -> Limits {
    if args.effort.is_default() { Limits { nodes: Some(nodes), ..limits } } else { limits }
}

pub fn machine(args: &OverlapArgs) -> Result<Machine, Failure> {
    let mut machine = Machine::find(&args.machine).map_err(Failure::input)?;
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

/// Refuses `--times` for operators that are not there; such times of the machine's file are told, as it may serve several
/// graphs.
pub fn unused_times(args: &OverlapArgs, machine: &Machine, graph: &Graph) -> Result<Option<String>, Failure> {
    let names = machine.unused_times(graph);
    let Some(first) = names.first() else { return Ok(None) };
    let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
    let what = format!("no operator that computes is called '{first}'{more}");
    match &args.times {
        Some(path) => Err(Failure::input(format!("--times {}: {what}", path.display()))),
        None => Ok(Some(format!("{what}: measured times that are not used"))),
    }
}
