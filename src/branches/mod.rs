//! What becomes of regions inside operators: planners that know nothing, something or all of branches, through one checker.
//!
//! Every planner is a *scheme*, which says what may share memory, and an algorithm for the offset problem, which says who does.
//! Whatever the scheme, the answer is a layout of [`Program::instance`], and passes its checker and the execution checker.
//! With the same orders and options, optimal values are in a chain:
//!
//! ```text
//! exclusive <= sequential-branches <= flat-conflict <= naive
//! exclusive <= nested (exact)      <= nested (fast) <= naive
//! ```
//!
//! since each scheme on the right allows a subset of the layouts of the one on its left. Nested and flat schemes cannot be
//! compared. Nested layouts are sequential ones too, unless loops hold their state only while it is needed
//! ([`Carries::Tight`](plimsoll_model::program::Carries)): what is alive at any point of an operator lies beside its
//! block, and its regions are apart in time. Blocks help strategies that place badly without them, never an exact planner.

mod compare;
mod groups;

pub use compare::{Broken, Comparison, Line, compare};
pub use groups::{held, program_groups};

use crate::arithmetic::Arithmetic;
use crate::graphs::{GraphRun, GraphRunError, OrderedRegion};
use crate::run::{Limits, RunError, run};
use plimsoll_model::execution::{ExecutionOptions, ExecutionReport, check_execution};
use plimsoll_model::graph::Graph;
use plimsoll_model::program::{Frame, FrameBuffer, Program, ProgramError, ProgramOptions};
use plimsoll_model::{
    Bytes, Entry, Instance, InstanceError, Layout, Offsets, Setup, Silent, check_layout, simple_bound,
};

/// What may share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Nothing.
    Naive,
    /// All but branches of one operator with each other.
    Flat,
    /// What is not alive together when branches run one after the other.
    Sequential,
    /// Each region within itself; in the region around it, it is one block.
    Nested,
    /// All that is never alive together.
    Exclusive,
}

/// One line of the list of schemes.
#[derive(Debug)]
pub struct SchemeEntry {
    /// The name users type.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Which one.
    pub scheme: Scheme,
}

/// Every scheme, those that know least first.
pub const SCHEMES: &[SchemeEntry] = &[
    SchemeEntry {
        name: "naive",
        about: "no sharing: every buffer its own memory",
        source: "baseline of all five source documents",
        scheme: Scheme::Naive,
    },
    SchemeEntry {
        name: "flat-conflict",
        about: "no knowledge of branches: those of one operator conflict, and with all it touches",
        source: "planners for straight graphs",
        scheme: Scheme::Flat,
    },
    SchemeEntry {
        name: "sequential-branches",
        about: "branches one after the other: lifespans without gaps",
        source: "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, before merging (the LUNA paper)",
        scheme: Scheme::Sequential,
    },
    SchemeEntry {
        name: "nested",
        about: "every region on its own, innermost first; one block of the largest per operator",
        source: "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, Alg. 2 (the LUNA paper)",
        scheme: Scheme::Nested,
    },
    SchemeEntry {
        name: "exclusive",
        about: "lifespans with gaps over all regions, no blocks: what is never alive together may share",
        source: "this project",
        scheme: Scheme::Exclusive,
    },
];

impl SchemeEntry {
    /// The offset problem a scheme sees. One that plans by blocks sees many; this is then that of all it could do without.
    pub fn instance<'p>(&self, program: &'p Program<'_>) -> std::borrow::Cow<'p, Instance> {
        use std::borrow::Cow;
        match self.scheme {
            Scheme::Flat => Cow::Owned(program.flat()),
            Scheme::Sequential => Cow::Owned(program.sequential()),
            Scheme::Naive | Scheme::Nested | Scheme::Exclusive => Cow::Borrowed(program.instance()),
        }
    }

    /// The scheme of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCHEMES.iter().find(|entry| entry.name == name)
    }
}

/// Why a program could not be planned.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    /// The graph is no program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A region could not be ordered.
    #[error(transparent)]
    Order(#[from] GraphRunError),
    /// What a frame holds is no instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// An algorithm failed, or its answer was refused.
    #[error("{scheme}, {algorithm}: {source}")]
    Run {
        /// Which scheme.
        scheme: &'static str,
        /// Which algorithm.
        algorithm: &'static str,
        /// Why.
        source: RunError,
    },
    /// Nothing was found within the limits.
    #[error("{scheme}, {algorithm}: nothing found within the limits")]
    Nothing {
        /// Which scheme.
        scheme: &'static str,
        /// Which algorithm.
        algorithm: &'static str,
    },
    /// A layout that the checker of the program, or a run of it, refused.
    #[error("{scheme}, {algorithm}: refused: {reason}")]
    Refused {
        /// Which scheme.
        scheme: &'static str,
        /// Which algorithm.
        algorithm: &'static str,
        /// The first reason.
        reason: String,
    },
}

/// A layout of a program.
#[derive(Debug)]
pub struct ProgramPlan {
    /// Of [`Program::instance`].
    pub layout: Layout,
    /// Its highest address in use, bytes.
    pub peak: Bytes,
    /// No layout that the scheme allows takes less, bytes.
    pub bound: Bytes,
    /// What shows the bound.
    pub witness: String,
    /// In which arithmetic it was proved.
    pub arithmetic: Arithmetic,
    /// Runs of the program with tagged bytes, without a violation.
    pub runs: usize,
    /// True where these were all there are, up to the number of trips of a loop.
    pub all_runs: bool,
    /// Seconds of the algorithm.
    pub seconds: f64,
}

impl ProgramPlan {
    /// True where no layout that the scheme allows takes less.
    pub fn is_optimal(&self) -> bool {
        self.peak == self.bound
    }
}

/// A graph in order: per region what the algorithm says, and the program made of it.
#[derive(Debug)]
pub struct OrderedProgram<'g> {
    /// Regions, innermost first; the body is last.
    pub regions: Vec<OrderedRegion>,
    /// The program.
    pub program: Program<'g>,
}

/// Orders every region and makes a program of them.
///
/// # Errors
/// A region that cannot be ordered, or an operator that does not say how it runs its regions.
pub fn ordered_program<'g>(
    graph: &'g Graph,
    run: &GraphRun<'_>,
    options: ProgramOptions,
) -> Result<OrderedProgram<'g>, BranchError> {
    program_in_order(graph, run.order(graph)?, options)
}

/// Makes a program of regions in order, one per region of the graph, innermost first.
///
/// # Errors
/// An operator that does not say how it runs its regions.
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

/// Who plans a program, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Planner<'a> {
    /// What may share memory.
    pub scheme: &'static SchemeEntry,
    /// Who places.
    pub solver: &'a Entry<Offsets>,
    /// Seed and threads.
    pub setup: Setup,
    /// Limits of every single run: one per region where regions are planned on their own.
    pub limits: Limits,
    /// How runs of the program are chosen that check the layout.
    pub execution: ExecutionOptions,
}

/// Offsets of a whole instance, and what is proved.
struct Placed {
    layout: Layout,
    bound: Bytes,
    witness: String,
    arithmetic: Arithmetic,
    seconds: f64,
}

impl Planner<'_> {
    /// Plans a program; the layout has passed both checkers.
    ///
    /// # Errors
    /// See [`BranchError`].
    pub fn plan(&self, program: &Program<'_>) -> Result<ProgramPlan, BranchError> {
        let placed = match self.scheme.scheme {
            Scheme::Naive => end_to_end(program),
            Scheme::Flat | Scheme::Sequential | Scheme::Exclusive => {
                self.place(&self.scheme.instance(program), self.limits)?
            }
            Scheme::Nested => self.nested(program)?,
        };
        let Placed { layout, bound, witness, arithmetic, seconds } = placed;
        let peak = layout.peak(program.instance());
        let report = self.check(program, &layout)?;
        Ok(ProgramPlan {
            layout,
            peak,
            bound,
            witness,
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
            return Ok(Placed { layout, bound: Bytes::ZERO, witness, arithmetic, seconds: 0.0 });
        }
        let attempt = run(self.solver, instance, self.setup, limits, &mut Silent);
        let outcome = attempt.result.map_err(|source| BranchError::Run { scheme, algorithm, source })?;
        let layout = outcome.solution.ok_or(BranchError::Nothing { scheme, algorithm })?;
        let floor = simple_bound(instance);
        let bound = if floor.value > outcome.lower_bound.value { floor } else { outcome.lower_bound };
        let witness = bound.witness.in_words(instance);
        let arithmetic = Arithmetic::of(&bound.witness);
        Ok(Placed { layout, bound: bound.value, witness, arithmetic, seconds: attempt.seconds })
    }

    /// Every frame on its own, innermost first: an operator's block is the largest arena among its frames.
    fn nested(&self, program: &Program<'_>) -> Result<Placed, BranchError> {
        let frames = program.frames();
        let operators = program.graph().operators().len();
        // What blocks take, and what they take at least.
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
            // What blocks are proved to take is part of it.
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

/// True where no block of a frame could be smaller.
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
    Placed { layout, bound: next, witness, arithmetic: Arithmetic::Exact, seconds: 0.0 }
}
