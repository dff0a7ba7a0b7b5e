//! Memory plans of graphs with branches and loops.
//!
//! A planner combines a *scheme* with a solver for the offset problem. The scheme determines which buffers
//! may share memory; the solver assigns the offsets. The schemes range from no knowledge of branches to full
//! knowledge. In every scheme, the answer is a layout of [`Program::instance`]. It passes the layout checker
//! and the execution checker. With the same orders and options, the optimal values satisfy two chains of
//! inequalities:
//!
//! ```text
//! exclusive <= sequential-branches <= flat-conflict <= naive
//! exclusive <= nested (exact)      <= nested (fast) <= naive
//! ```
//!
//! Each scheme allows a subset of the layouts of the scheme to its left. The nested and the flat scheme are
//! not comparable. A nested layout is also a sequential layout, for two reasons. A buffer that is live while
//! an operator runs does not overlap the block of the operator. The regions of the operator run at different
//! times. The exception is a loop that keeps the memory of its state only while the state is needed
//! ([`Carries::Tight`](plimsoll_model::program::Carries)). Blocks can help a heuristic, but never an exact
//! solver.

mod compare;
mod groups;

pub use compare::{Broken, Line, SchemeComparison, compare};
pub use groups::{held, program_groups};

use crate::arithmetic::Arithmetic;
use crate::graphs::{GraphRun, GraphRunError, OrderedRegion};
use crate::run::{Limits, RunError, run};
use plimsoll_model::execution::{ExecutionOptions, ExecutionReport, check_execution};
use plimsoll_model::graph::Graph;
use plimsoll_model::program::{Frame, FrameBuffer, Program, ProgramBound, ProgramError, ProgramOptions};
use plimsoll_model::{
    Bytes, Entry, Instance, InstanceError, Layout, Offsets, Setup, Silent, Step, Witness, check_layout,
    simple_bound,
};

/// Which buffers may share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// No buffers.
    Naive,
    /// Buffers that are not simultaneously live; the branches of one operator conflict with each other and
    /// with all tensors of the operator.
    Flat,
    /// Buffers that are never simultaneously live when branches run sequentially.
    Sequential,
    /// Buffers of the same region that are not simultaneously live; the enclosing region contains one block
    /// per operator that owns regions.
    Nested,
    /// All buffers that are never simultaneously live.
    Exclusive,
}

/// A scheme with its name, summary and source.
#[derive(Debug)]
pub struct SchemeEntry {
    /// The name on the command line (`--branches`).
    pub name: &'static str,
    /// A summary in one line.
    pub about: &'static str,
    /// The publication or project that describes the scheme.
    pub source: &'static str,
    /// The scheme.
    pub scheme: Scheme,
}

/// Every scheme, in ascending order of knowledge about branches.
pub const SCHEMES: &[SchemeEntry] = &[
    SchemeEntry {
        name: "naive",
        about: "no sharing: every buffer has its own memory",
        source: "common baseline",
        scheme: Scheme::Naive,
    },
    SchemeEntry {
        name: "flat-conflict",
        about: "ignores that branches exclude each other: they conflict with each other and with all tensors of their operator",
        source: "planners for graphs without control flow",
        scheme: Scheme::Flat,
    },
    SchemeEntry {
        name: "sequential-branches",
        about: "lets branches run sequentially, so that lifespans have no gaps",
        source: "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, before merging (the LUNA paper)",
        scheme: Scheme::Sequential,
    },
    SchemeEntry {
        name: "nested",
        about: "plans each region separately, innermost first; an operator owns one block as large as its largest region",
        source: "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, Alg. 2 (the LUNA paper)",
        scheme: Scheme::Nested,
    },
    SchemeEntry {
        name: "exclusive",
        about: "lifespans with gaps across all regions, no blocks; buffers that are never simultaneously live may share",
        source: "this project",
        scheme: Scheme::Exclusive,
    },
];

impl SchemeEntry {
    /// Returns the offset problem of the scheme. The schemes `naive` and `nested` do not solve a single
    /// offset problem; for them, it is the problem of the scheme `exclusive`.
    pub fn instance<'p>(&self, program: &'p Program<'_>) -> std::borrow::Cow<'p, Instance> {
        use std::borrow::Cow;
        match self.scheme {
            Scheme::Flat => Cow::Owned(program.flat()),
            Scheme::Sequential => Cow::Owned(program.sequential()),
            Scheme::Naive | Scheme::Nested | Scheme::Exclusive => Cow::Borrowed(program.instance()),
        }
    }

    /// Finds a scheme by name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCHEMES.iter().find(|entry| entry.name == name)
    }
}

/// The reason why a program could not be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BranchError {
    /// The graph cannot be executed as a program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A region could not be ordered.
    #[error(transparent)]
    Order(#[from] GraphRunError),
    /// The buffers of a frame are not a valid instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// An algorithm failed, or the checker rejected its answer.
    #[error("{scheme}, {algorithm}: {source}")]
    Run {
        /// Name of the scheme.
        scheme: &'static str,
        /// Name of the solver.
        algorithm: &'static str,
        /// The error of the run.
        source: RunError,
    },
    /// Nothing was found within the limits.
    #[error("{scheme}, {algorithm}: nothing found within the limits")]
    Nothing {
        /// Name of the scheme.
        scheme: &'static str,
        /// Name of the solver.
        algorithm: &'static str,
    },
    /// The layout checker or the execution checker rejected a layout.
    #[error("{scheme}, {algorithm}: the checker rejected the layout: {reason}")]
    Refused {
        /// Name of the scheme.
        scheme: &'static str,
        /// Name of the solver.
        algorithm: &'static str,
        /// The first violation.
        reason: String,
    },
}

/// A layout of a program, and a lower bound on its peak.
#[derive(Debug)]
pub struct ProgramPlan {
    /// The layout of [`Program::instance`].
    pub layout: Layout,
    /// Highest address in use, in bytes.
    pub peak: Bytes,
    /// A lower bound over all layouts that the scheme allows, in bytes.
    pub bound: Bytes,
    /// The reason for the bound.
    pub witness: String,
    /// The step of the reason, if it is the load.
    pub load_step: Option<Step>,
    /// The arithmetic in which the bound was proved.
    pub arithmetic: Arithmetic,
    /// Number of simulated runs of the program. In all of them, every read returned the bytes last written.
    pub runs: usize,
    /// True if the simulated runs are all possible runs, up to a maximum trip count of loops.
    pub all_runs: bool,
    /// Running time of the solver, in seconds.
    pub seconds: f64,
}

impl ProgramPlan {
    /// Returns true if the peak meets the lower bound.
    pub fn is_optimal(&self) -> bool {
        self.peak == self.bound
    }
}

/// The ordered regions of a graph, and the program that results from their orders.
#[derive(Debug)]
pub struct OrderedProgram<'g> {
    /// Regions, innermost first; the body is last.
    pub regions: Vec<OrderedRegion>,
    /// The whole program, with all regions on one timeline.
    pub program: Program<'g>,
}

/// Orders every region and builds the program.
///
/// # Errors
/// Returns an error if a region cannot be ordered, or if an operator does not declare how it runs its
/// regions.
pub fn ordered_program<'g>(
    graph: &'g Graph,
    run: &GraphRun<'_>,
    options: ProgramOptions,
) -> Result<OrderedProgram<'g>, BranchError> {
    program_in_order(graph, run.order(graph)?, options)
}

/// Builds the program from ordered regions: one per region of the graph, innermost first.
///
/// # Errors
/// Returns an error if an operator does not declare how it runs its regions.
pub fn program_in_order(
    graph: &Graph,
    regions: Vec<OrderedRegion>,
    options: ProgramOptions,
) -> Result<OrderedProgram<'_>, BranchError> {
    let mut orders = vec![Vec::new(); graph.regions().len()];
    for one in &regions {
        let steps = one.order.operators().iter();
        orders[one.region.index()] = steps.map(|&id| one.storages.operators[id.index()]).collect();
    }
    Ok(OrderedProgram { regions, program: Program::new(graph, orders, options)? })
}

/// Describes the reason for a bound over all orders, with the names of operators.
pub fn in_words(bound: &ProgramBound, graph: &Graph) -> String {
    bound.operator.map_or_else(
        || "live at the start or at the end".to_owned(),
        |id| format!("live while '{}' runs", graph.called(id)),
    )
}

/// A scheme, a solver and their limits.
#[derive(Clone, Copy, Debug)]
pub struct Planner<'a> {
    /// Which buffers may share memory.
    pub scheme: &'static SchemeEntry,
    /// The solver that assigns the offsets.
    pub solver: &'a Entry<Offsets>,
    /// Seed and number of threads.
    pub setup: Setup,
    /// Limits of each individual run. Schemes that plan regions separately make one run per region. If there
    /// is a deadline, these runs share the time until it.
    pub limits: Limits,
    /// How the execution checker chooses the runs that it simulates.
    pub execution: ExecutionOptions,
}

/// Offsets of a whole instance, and the proved bound.
struct Placed {
    layout: Layout,
    bound: Bytes,
    witness: String,
    /// The step of the witness, if it is a load.
    load: Option<Step>,
    arithmetic: Arithmetic,
    seconds: f64,
}

impl Planner<'_> {
    /// Plans a program. The layout has passed the layout checker and the execution checker.
    ///
    /// # Errors
    /// See [`BranchError`].
    pub fn plan(&self, program: &Program<'_>) -> Result<ProgramPlan, BranchError> {
        let placed = match self.scheme.scheme {
            Scheme::Naive => end_to_end(program),
            Scheme::Flat | Scheme::Sequential | Scheme::Exclusive => {
                let mut placed = self.place(&self.scheme.instance(program), self.limits)?;
                if let Some(step) = placed.load {
                    placed.witness = format!("{}, {}", placed.witness, program.at(step));
                }
                placed
            }
            Scheme::Nested => self.nested(program)?,
        };
        let Placed { layout, bound, witness, load, arithmetic, seconds } = placed;
        let peak = layout.peak(program.instance());
        let report = self.check(program, &layout)?;
        Ok(ProgramPlan {
            layout,
            peak,
            bound,
            witness,
            load_step: load,
            arithmetic,
            runs: report.runs,
            all_runs: report.complete,
            seconds,
        })
    }

    fn refused(&self, reason: String) -> BranchError {
        BranchError::Refused { scheme: self.scheme.name, algorithm: self.solver.name, reason }
    }

    fn check(&self, program: &Program<'_>, layout: &Layout) -> Result<ExecutionReport, BranchError> {
        if let Some(violation) = check_layout(program.instance(), layout).first() {
            return Err(self.refused(violation.to_string()));
        }
        let placed = program.placed(layout);
        let keep_inputs = program.options().liveness.boundary.keeps_inputs();
        let options = ExecutionOptions { keep_inputs, ..self.execution };
        let report = check_execution(&placed, &options).map_err(ProgramError::Flow)?;
        match report.violations.first() {
            Some(violation) => Err(self.refused(violation.to_string())),
            None => Ok(report),
        }
    }

    fn place(&self, instance: &Instance, limits: Limits) -> Result<Placed, BranchError> {
        let (scheme, algorithm) = (self.scheme.name, self.solver.name);
        if instance.is_empty() {
            let (layout, witness) = (Layout::new(Vec::new()), "nothing to place".to_owned());
            let arithmetic = Arithmetic::Exact;
            return Ok(Placed { layout, bound: Bytes::ZERO, witness, load: None, arithmetic, seconds: 0.0 });
        }
        let outcome = run(self.solver, instance, self.setup, limits, &mut Silent);
        let outcome = outcome.map_err(|source| BranchError::Run { scheme, algorithm, source })?;
        let seconds = outcome.stats.seconds;
        let layout = outcome.solution.ok_or(BranchError::Nothing { scheme, algorithm })?;
        let floor = simple_bound(instance);
        let bound = if floor.value > outcome.lower_bound.value { floor } else { outcome.lower_bound };
        let witness = bound.witness.in_words(instance);
        let arithmetic = Arithmetic::of(&bound.witness);
        let load = if let Witness::Load { step } = bound.witness { Some(step) } else { None };
        Ok(Placed { layout, bound: bound.value, witness, load, arithmetic, seconds })
    }

    /// Plans every frame separately, innermost first. The block of an operator is as large as the largest
    /// arena of its frames.
    fn nested(&self, program: &Program<'_>) -> Result<Placed, BranchError> {
        let frames = program.frames();
        let operators = program.graph().operators().len();
        // Sizes of the blocks, and lower bounds on these sizes.
        let (mut blocks, mut least) = (vec![Bytes::ZERO; operators], vec![Bytes::ZERO; operators]);
        let mut offsets = vec![Vec::new(); frames.len()];
        let mut body = None;
        let (mut seconds, mut arithmetic) = (0.0, Arithmetic::Exact);
        for (at, frame) in frames.iter().enumerate().rev() {
            let (instance, which) = program.frame_instance(frame, |id| blocks[id.index()])?;
            let mut placed = self.place(&instance, self.limits.share(at + 1))?;
            seconds += placed.seconds;
            if !proved(frame, &blocks, &least) {
                let (floor, _) = program.frame_instance(frame, |id| least[id.index()])?;
                let bound = simple_bound(&floor);
                (placed.bound, placed.witness) = (bound.value, bound.witness.in_words(&floor));
                placed.arithmetic = Arithmetic::Exact;
            }
            // The bound of a frame depends on the bounds of its blocks.
            arithmetic = arithmetic.max(placed.arithmetic);
            if let Some(owner) = frame.owner {
                let (block, least) = (&mut blocks[owner.index()], &mut least[owner.index()]);
                *block = (*block).max(placed.layout.peak(&instance));
                *least = (*least).max(placed.bound);
            }
            offsets[at] = vec![Bytes::ZERO; frame.buffers.len()];
            for (&buffer, &offset) in which.iter().zip(placed.layout.offsets()) {
                offsets[at][buffer] = offset;
            }
            body = Some(placed);
        }
        let layout = program.assemble(&frames, &offsets);
        let body = body.expect("the body is a frame");
        Ok(Placed { layout, arithmetic, seconds, ..body })
    }
}

/// Returns true if every block of a frame is proved to have its minimum size.
fn proved(frame: &Frame, blocks: &[Bytes], least: &[Bytes]) -> bool {
    frame.buffers.iter().all(|buffer| match buffer {
        FrameBuffer::Buffer(_) => true,
        FrameBuffer::Block(id) => blocks[id.index()] == least[id.index()],
    })
}

fn end_to_end(program: &Program<'_>) -> Placed {
    let mut next = Bytes::ZERO;
    let mut place = |size: Bytes| {
        let here = next;
        next = Bytes::new(next.get() + size.get());
        here
    };
    let offsets: Vec<Bytes> =
        program.instance().buffers().iter().map(|buffer| place(buffer.size())).collect();
    let layout = Layout::new(offsets);
    let witness = "the sum of all sizes".to_owned();
    Placed { layout, bound: next, witness, load: None, arithmetic: Arithmetic::Exact, seconds: 0.0 }
}
