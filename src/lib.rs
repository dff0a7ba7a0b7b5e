//! Memory planning for neural-network programs, with proven optima.
//!
//! A compiler for neural networks decides where tensors lie in memory, in which order operators run, when
//! weights are fetched, and which buffers are spilled. Plimsoll answers these questions with fast heuristics
//! and with exact solvers. Every answer contains a lower bound and the reason why the bound is valid. An
//! independent checker has accepted every answer that this crate returns.
//!
//! # First answer
//!
//! An [`Instance`](model::Instance) lists buffers, each with a size in bytes and a lifespan in steps.
//! Lifespans are half-open: a buffer is live from `lower` up to, but not including, `upper`.
//!
//! ```
//! use plimsoll::model::{Buffer, Claim, InstanceBuilder, Lifespan};
//!
//! // `a` is live throughout; `b` and `c` are never live at the same time and may share addresses.
//! let mut builder = InstanceBuilder::new("tiny");
//! for (name, lower, upper, bytes) in [("a", 0, 4, 4), ("b", 0, 2, 4), ("c", 2, 4, 4)] {
//!     builder = builder.buffer(Buffer::new(name, bytes, Lifespan::single(lower, upper)?));
//! }
//! let answer = plimsoll::solve(&builder.build()?)?;
//!
//! assert_eq!(answer.claim, Claim::Optimal);
//! assert_eq!(answer.value.map(|peak| peak.get()), Some(8));
//! println!("{}", answer.lower_bound.witness); // why no layout is lower
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An answer is an [`Outcome`](model::Outcome). Its *claim* is the solution status: optimal, feasible,
//! infeasible or unknown. Its *stop* is the termination reason: completed, or the limit that ended the
//! search. Claim and stop are independent. `solution` and `value` are `None` if no solution was found.
//! `lower_bound` is always valid.
//!
//! # A graph as the input
//!
//! A [`Graph`](model::graph::Graph) has operators, tensors and regions (the branches of an `If`, the body of
//! a loop). `datasets::import_file` reads one from ONNX, `TFLite` or JSON; `datasets::graphs` generates one.
//! [`plan`](fn@plan) orders the operators and then places the tensors:
//!
//! ```
//! # #[cfg(feature = "datasets")] {
//! use plimsoll::datasets::graphs::GraphFamily;
//!
//! let graph = GraphFamily::named("lenet5").ok_or("no such family")?.generate(0, &[].into())?;
//! let found = plimsoll::plan(&graph)?;
//! println!("arena {} bytes, at least {}: {}", found.plan.peak, found.plan.bound, found.plan.witness);
//! # assert!(found.plan.bound <= found.plan.peak);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One call per question
//!
//! [`Engine`] contains the algorithms, the seed, the number of threads and the limits. Its methods answer a
//! question with the default solver, `exact`, unless they take the name of an algorithm:
//!
//! | question | input | call |
//! |---|---|---|
//! | At which offset should each buffer lie to minimise the peak? | instance | [`Engine::solve`] |
//! | Which buffers should be spilled to minimise the traffic if not all buffers fit? | instance | [`Engine::spill`] |
//! | In which order should the operators run to minimise the peak? | graph | [`Engine::order`] |
//! | Which order and which layout give a small arena? | graph | [`Engine::plan`] |
//! | Does a plan fit into a capacity, under given assumptions about liveness? | graph, options | [`Engine::plan_with`] |
//! | When should weights be fetched to minimise the makespan? | graph, machine | [`Engine::overlap`] |
//! | Which memory should hold which tensor to minimise the transfer time? | graph, machine | [`Engine::tiers`] |
//! | Which operators should be fused to optimise as many relations as possible? | graph, patterns | [`Engine::fuse`] |
//! | Any problem, by any algorithm | the problem's own input | [`Engine::answer`] |
//!
//! ```
//! # #[cfg(feature = "datasets")] {
//! use plimsoll::Engine;
//! use plimsoll::datasets::graphs::GraphFamily;
//! use plimsoll::model::fusion::Patterns;
//! use plimsoll::model::tiers::TierMachine;
//! use plimsoll::model::timelines::Machine;
//! use plimsoll::model::{Bytes, Joint, JointProblem, SharedObjects, SplitBuffers};
//! use std::time::Duration;
//!
//! let engine = Engine::default().with_time_limit(Duration::from_secs(10));
//! let instance = plimsoll::datasets::pisarchyk_lee().instance;
//! let graph = GraphFamily::named("lenet5").ok_or("no such family")?.generate(0, &[].into())?;
//!
//! // Offsets: one address range per buffer.
//! let layout = engine.solve(&instance)?;
//! println!("{}: peak {} bytes", layout.claim, layout.value.unwrap_or_default());
//!
//! // Split buffers: a buffer may occupy several address ranges.
//! let split = engine.answer::<SplitBuffers>("exact", &instance)?;
//! println!("{}: peak {} bytes", split.claim, split.value.unwrap_or_default());
//!
//! // Shared objects: a live buffer has an object to itself, and the total size of the objects is minimised.
//! let objects = engine.answer::<SharedObjects>("shared-greedy-by-size", &instance)?;
//! println!("{}: {} bytes in all", objects.claim, objects.value.unwrap_or_default());
//!
//! // Spilling: some buffers stay off chip, so that the others fit into 60 bytes.
//! let spill = engine.spill(&instance.clone().with_capacity(Some(Bytes::new(60))))?;
//! println!("{}: {} bytes moved", spill.claim, spill.value.unwrap_or_default());
//!
//! // Orders: one answer per region of the graph, innermost first, the body last.
//! let regions = engine.order(&graph)?;
//! let body = regions.last().ok_or("no region")?;
//! println!("{}: {} bytes live at once, {} in file order", body.outcome.claim, body.peak, body.file_peak);
//!
//! // Joint: order and offsets at once.
//! let problem = JointProblem::new(body.storages.problem.clone(), Bytes::new(1))?;
//! let joint = engine.answer::<Joint>("exact", &problem)?;
//! println!("{}: arena {} bytes", joint.claim, joint.value.unwrap_or_default());
//!
//! // Timelines: weights are fetched while operators compute.
//! let (_, timeline) = engine.overlap(&graph, &Machine::find("generic")?)?;
//! println!("makespan {}, at least {}", timeline.makespan, timeline.lower_bound);
//!
//! // Tiers: one memory per tensor.
//! let (_, tiers) = engine.tiers(&graph, &TierMachine::find("generic")?)?;
//! println!("{}: transfers take {}", tiers.claim, tiers.value.ok_or("no plan")?);
//!
//! // Fusion: groups of operators that run as one.
//! for region in engine.fuse(&graph, &Patterns::find("default")?)? {
//!     println!("{}: {} relations optimised", region.outcome.claim, region.coverage);
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Your own algorithm
//!
//! Implement [`Solver`](model::Solver) for a problem and add it with [`Registry::register`]. It then has
//! the same limits and the same checker as every other algorithm. After [`Registry::install`], the command in
//! `plimsoll_command::main` has it, too. `experiments/command/examples/own_heuristic.rs` does this in 40 lines
//! of code.
//!
//! # Limits
//!
//! [`solve`] and [`plan`](fn@plan) have no limits. [`Engine::with_time_limit`] limits the wall-clock time of
//! a question; [`Limits`](run::Limits) also limits search nodes. Without a time limit, the same input, seed,
//! number of threads and node limit give the same result. A search that reaches a limit returns its best
//! solution and its best bound.
//!
//! # Cargo features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `datasets` | yes | importers of models, generators, worked examples |
//! | `ilp` | no | integer programs, solved by HiGHS; needs `CMake` and a C++ compiler |
//! | `smt` | no | satisfiability modulo theories, solved by z3; links the system's libz3 |
//! | `bundled-z3` | no | the feature `smt`, with z3 built from source; needs `CMake` 3.26 or newer |
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`model`] | problems, answers, bounds, checkers; no algorithms |
//! | [`heuristics`] | fast algorithms without a proof of optimality |
//! | [`solvers`] | exact algorithms |
//! | `datasets` | importers, worked examples, generators (feature `datasets`) |
//! | [`registry()`] | every algorithm of every problem |
//! | [`mod@run`] | runs one algorithm under limits and checks its answer |
//! | [`graphs`] | orders and plans of whole graphs, region by region |
//! | [`branches`] | plans of graphs with branches and loops, by scheme |
//! | [`structure`] | plans under conflicts derived from the structure of a graph |
//! | [`mod@timelines`] | timelines of whole graphs |
//! | [`mod@tiers`] | placement of the tensors of a graph in several memories |
//! | [`mod@fusion`] | fusion of whole graphs, region by region |
//! | [`mod@spilling`] | spill traffic of graphs, and why a capacity cannot be met |
//! | [`posed`] | one interface that poses any problem on an instance or a graph |
//! | [`arithmetic`] | whether a bound was proved in integers or in floating point |
//!
//! # Where to go next
//!
//! - `examples/` contains one short program per question. For instance, run `cargo run --example solve`.
//! - [`model`] defines the vocabulary: buffer, lifespan, conflict, layout, load, bound, witness.
//! - The command `plimsoll` (crate `plimsoll-command`) answers the same questions from files.
//! - The book in `docs/` describes every problem, file format, machine and published result.

#[cfg(feature = "datasets")]
pub use plimsoll_datasets as datasets;
pub use plimsoll_heuristics as heuristics;
pub use plimsoll_model as model;
pub use plimsoll_model::{progress, run};
pub use plimsoll_solvers as solvers;
pub use plimsoll_support::interrupt;

pub mod arithmetic;
pub mod assumptions;
pub mod branches;
mod diagnosis;
mod engine;
pub mod fusion;
pub mod graphs;
pub mod posed;
mod registry;
pub mod spilling;
pub mod structure;
pub mod tiers;
pub mod timelines;

pub use diagnosis::{Diagnosis, ExtentSection, verdict};
pub use engine::{Engine, EngineError, MemoryPlan, plan, solve};
pub use registry::{
    Excluded, Listed, NameError, NameTaken, Registry, excluded, first_found, named, registry,
};

/// Tests the code on the front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
