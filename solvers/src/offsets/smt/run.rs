//! Runs z3 on its own thread with a watchdog.
//!
//! A z3 context belongs to one thread, so a fresh thread gets a fresh context. z3 receives the time limit
//! but does not check its clock in every loop, so a second thread interrupts it at the deadline or on
//! cancellation. If z3 ignores the interrupt as well, its thread is [abandoned](crate::foreign). The memory
//! limit applies to the whole process.

use super::encode::{Encoder, Encoding, Theory};
use crate::foreign::{Ended, call};
use crate::offsets::formulation::{Domain, Part};
use plimsoll_model::{Budget, Setup, SolveError, Stop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use z3::{Context, Params, SatResult, Solver, StatisticsValue};

/// Polling interval of the watchdog.
const WATCH: Duration = Duration::from_millis(5);

#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// Whether a layout exists; `None` if undecided.
    pub exists: Option<bool>,
    /// Approximate offsets, if a layout exists.
    pub offsets: Option<Vec<f64>>,
    /// Number of conflicts in the search, which count as nodes.
    pub conflicts: u64,
    /// The termination reason, if z3 stopped early.
    pub stop: Option<Stop>,
}

/// Asks z3 for any layout in the domain.
///
/// # Errors
/// If z3 fails internally.
pub(super) fn decide(
    part: &Part,
    domain: Domain,
    encoding: Encoding,
    setup: Setup,
    budget: &Budget,
) -> Result<Answer, SolveError> {
    let (part, own) = (part.clone(), budget.clone());
    match call(&mut budget.without_node_limit(), move || run(&part, &domain, encoding, setup, &own)) {
        Ended::Answer(answer) => Ok(answer),
        Ended::Panicked(reason) => Err(SolveError::Internal { solver: "smt", reason }),
        Ended::Abandoned(stop) => Ok(Answer::unknown(stop)),
    }
}

impl Answer {
    fn unknown(stop: Stop) -> Self {
        Self { exists: None, offsets: None, conflicts: 0, stop: Some(stop) }
    }
}

fn run(part: &Part, domain: &Domain, encoding: Encoding, setup: Setup, budget: &Budget) -> Answer {
    // The limit applies to the whole process because z3 has no limit per context.
    z3::set_global_param("memory_max_size", &encoding.memory.to_string());
    let encoder = Encoder::new(part, domain, encoding);
    let solver = match encoder.theory() {
        Theory::Difference => Solver::new_for_logic("QF_IDL").unwrap_or_default(),
        Theory::Linear => Solver::new(),
    };
    let mut params = Params::new();
    params.set_u32("random_seed", (setup.seed % (1 << 31)) as u32);
    if let Some(nodes) = budget.nodes_left() {
        params.set_u32("max_conflicts", u32::try_from(nodes).unwrap_or(u32::MAX - 1));
    }
    let mut watch = budget.without_node_limit();
    let encoded = encoder.assert(&solver, &mut watch);
    if let Some(stop) = watch.check() {
        return Answer::unknown(stop);
    }
    if let Some(left) = budget.time_to_end() {
        params.set_u32("timeout", u32::try_from(left.as_millis() + 1).unwrap_or(u32::MAX));
    }
    solver.set_params(&params);
    let (result, stop) = watched(&solver, budget);
    let conflicts = solver.get_statistics().value("conflicts").map_or(0, |value| match value {
        StatisticsValue::UInt(count) => u64::from(count),
        StatisticsValue::Double(count) => count as u64,
    });
    let model = (result == SatResult::Sat).then(|| solver.get_model()).flatten();
    let offsets = model.and_then(|model| encoded.read(&model));
    let exists = match result {
        SatResult::Sat => Some(true),
        SatResult::Unsat => Some(false),
        SatResult::Unknown => None,
    };
    let spent = budget.nodes_left().is_some_and(|nodes| conflicts >= nodes);
    let stop = stop.or(spent.then_some(Stop::NodeLimit)).filter(|_| exists.is_none());
    Answer { exists, offsets, conflicts, stop }
}

/// Runs z3 while a watchdog polls the budget. Returns the result, and the termination reason if the budget
/// ran out.
fn watched(solver: &Solver, budget: &Budget) -> (SatResult, Option<Stop>) {
    let context = Context::thread_local();
    let handle = context.handle();
    let done = AtomicBool::new(false);
    let mut watch = budget.clone();
    std::thread::scope(|scope| {
        let (handle, done) = (&handle, &done);
        let watchdog = scope.spawn(move || {
            while !done.load(Ordering::Acquire) {
                if watch.check().is_some() {
                    handle.interrupt();
                }
                std::thread::park_timeout(WATCH);
            }
            watch.check()
        });
        let result = solver.check();
        done.store(true, Ordering::Release);
        watchdog.thread().unpark();
        (result, watchdog.join().unwrap_or(None))
    })
}
