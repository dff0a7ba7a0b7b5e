//! Solves instances, returns the results, and checks layouts that the caller supplies.

use crate::border::{array, array_mut, place, text};
use crate::error::{Failure, call, plimsoll_code, plimsoll_code as Code};
use crate::handle::Table;
use crate::instance::{INSTANCES, lock, plimsoll_instance};
use plimsoll::model::{
    Bytes, Claim, Entry, Instance, Layout, LowerBound, Observer, Offsets, Outcome, Problem as _, Setup,
    Silent, Stop,
};
use plimsoll::run::{Limits, RunError, run_within};
use plimsoll::{Engine, NameError};
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The interval between two calls of the progress function while nothing improves.
const PATIENCE: Duration = Duration::from_millis(20);

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::default);

static SOLUTIONS: Table<Arc<Solved>> = Table::new("solution");

struct Solved {
    instance: Arc<Instance>,
    outcome: Outcome<Offsets>,
}

/// The answer to a solve. Free it with `plimsoll_solution_free`.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct plimsoll_solution {
    /// The number of the handle; 0 is never valid.
    pub handle: u64,
}

/// The solution status: what is proved.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the names in C")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum plimsoll_status {
    /// The layout is valid, and its peak equals the lower bound.
    PLIMSOLL_OPTIMAL = 0,
    /// The layout is valid. Layouts with lower peaks, down to the lower bound, may exist.
    PLIMSOLL_FEASIBLE = 1,
    /// No layout fits into the capacity.
    PLIMSOLL_INFEASIBLE = 2,
    /// The search found neither a layout that fits nor a proof that none exists.
    PLIMSOLL_UNKNOWN = 3,
}

/// The termination reason: why the search ended.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the names in C")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum plimsoll_termination {
    /// The algorithm finished.
    PLIMSOLL_COMPLETED = 0,
    /// The time limit was reached.
    PLIMSOLL_TIME_LIMIT = 1,
    /// The node limit was reached.
    PLIMSOLL_NODE_LIMIT = 2,
    /// The progress function ended the search.
    PLIMSOLL_INTERRUPTED = 3,
}

/// A function that `plimsoll_solve` calls in the thread of its caller, at every improvement and at least
/// every 20 ms. `peak` is the best peak so far in bytes, or `UINT64_MAX` if there is no layout yet; `bound`
/// is the lower bound in bytes. If the function returns false, the search ends and returns its best layout so
/// far. The function may call any other function of this library, and must return to its caller.
#[allow(non_camel_case_types, reason = "the name in C")]
pub type plimsoll_progress = Option<unsafe extern "C" fn(user: *mut c_void, peak: u64, bound: u64) -> bool>;

/// The options of a solve. Initialise them with `plimsoll_options_init`, then change what you need.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy, Debug)]
pub struct plimsoll_options {
    /// The name of the algorithm. A null pointer means "exact"; `plimsoll list offsets` prints all names.
    pub algorithm: *const c_char,
    /// The limit on the wall-clock time in seconds. A negative value means no limit, which is the default.
    pub time_limit: f64,
    /// The limit on search nodes. `UINT64_MAX` means no limit, which is the default.
    pub node_limit: u64,
    /// The seed of randomised algorithms; 0 by default. With one thread and no time limit, the same seed
    /// gives the same answer.
    pub seed: u64,
    /// The number of threads, from 1 to 1024; 1 by default.
    pub threads: usize,
    /// The progress function, which may be null.
    pub progress: plimsoll_progress,
    /// The first argument of `progress`.
    pub user: *mut c_void,
}

/// The status, peak and bound of a solution, and the effort of the search.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct plimsoll_summary {
    /// The solution status: what is proved.
    pub status: plimsoll_status,
    /// The termination reason: why the search ended.
    pub termination: plimsoll_termination,
    /// The number of buffers, and therefore of offsets.
    pub buffers: usize,
    /// The peak of the layout in bytes, or `UINT64_MAX` without a layout. If the status is `PLIMSOLL_UNKNOWN`
    /// and there is a layout, its peak exceeds the capacity.
    pub peak: u64,
    /// The lower bound in bytes. No layout has a lower peak.
    pub lower_bound: u64,
    /// The number of search nodes.
    pub nodes: u64,
    /// The wall-clock time in seconds, excluding the checker.
    pub seconds: f64,
}

const DEFAULTS: plimsoll_options = plimsoll_options {
    algorithm: std::ptr::null(),
    time_limit: -1.0,
    node_limit: u64::MAX,
    seed: 0,
    threads: 1,
    progress: None,
    user: std::ptr::null_mut(),
};

/// A message from the search to the thread that called `plimsoll_solve`.
enum News {
    Peak(u64),
    Bound(u64),
    End(Result<Outcome<Offsets>, RunError>),
}

struct Reporter(Sender<News>);

impl Observer<Offsets> for Reporter {
    fn incumbent(&mut self, _: &Layout, value: Bytes) {
        // The receiver outlives the search.
        let _ = self.0.send(News::Peak(value.get()));
    }

    fn bound(&mut self, bound: &LowerBound) {
        let _ = self.0.send(News::Bound(bound.value.get()));
    }
}

/// Returns the limits that the options set.
fn limits(options: &plimsoll_options) -> Result<Limits, Failure> {
    let seconds = options.time_limit;
    // A limit that is too long for a clock means no limit.
    let is_limited = seconds.is_nan() || (0.0..=1e18).contains(&seconds);
    let time = is_limited.then(|| Duration::try_from_secs_f64(seconds)).transpose();
    let time = time.map_err(|_| {
        let message = format!(
            "'time_limit' is {seconds}; expected a number of seconds, or a negative value for no limit"
        );
        Failure::argument(message)
    })?;
    let nodes = (options.node_limit != u64::MAX).then_some(options.node_limit);
    Ok(Limits { time, nodes, ..Limits::default() })
}

/// Returns the algorithm that the options name.
fn entry(options: &plimsoll_options) -> Result<&'static Entry<Offsets>, Failure> {
    // SAFETY: guaranteed by the caller of `plimsoll_solve`.
    let name = unsafe { text(options.algorithm, "algorithm") }?.unwrap_or("exact");
    let unsupported = |error: NameError| Failure::new(Code::PLIMSOLL_UNSUPPORTED, error.to_string());
    ENGINE.registry.find(name).map_err(unsupported)
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Solve(error) => Failure::new(Code::PLIMSOLL_UNSUPPORTED, error.to_string()),
        other => Failure::new(Code::PLIMSOLL_INTERNAL, other.to_string()),
    }
}

/// Runs the algorithm. If the options contain a progress function, the algorithm runs in a new thread, and
/// the calling thread calls the function.
fn attended(options: &plimsoll_options, instance: &Instance) -> Result<Outcome<Offsets>, Failure> {
    let (entry, limits) = (entry(options)?, limits(options)?);
    let setup = Setup { seed: options.seed, threads: options.threads, ..ENGINE.setup };
    let Some(progress) = options.progress else {
        return run_within(entry, instance, setup, &mut limits.budget(), &mut Silent).map_err(failure);
    };
    let cancelled = Arc::new(AtomicBool::new(false));
    let (send, receive) = channel();
    std::thread::scope(|scope| {
        let flag = Arc::clone(&cancelled);
        let work = move || {
            let mut budget = limits.budget().with_cancel(flag);
            let outcome = run_within(entry, instance, setup, &mut budget, &mut Reporter(send.clone()));
            let _ = send.send(News::End(outcome));
        };
        let spawned = std::thread::Builder::new().spawn_scoped(scope, work);
        spawned.map_err(|error| {
            Failure::new(Code::PLIMSOLL_INTERNAL, format!("cannot start a thread: {error}"))
        })?;
        let (mut peak, mut bound) = (u64::MAX, 0);
        loop {
            match receive.recv_timeout(PATIENCE) {
                Ok(News::End(outcome)) => return outcome.map_err(failure),
                Ok(News::Peak(value)) => peak = value,
                Ok(News::Bound(value)) => bound = value,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::new(Code::PLIMSOLL_INTERNAL, "internal error: the search panicked"));
                }
            }
            // SAFETY: guaranteed by the caller of `plimsoll_solve`.
            if !cancelled.load(Ordering::Relaxed) && !unsafe { progress(options.user, peak, bound) } {
                cancelled.store(true, Ordering::Relaxed);
            }
        }
    })
}

/// Sets all options to their defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_options_init(options: *mut plimsoll_options) -> plimsoll_code {
    call(|| {
        // SAFETY: guaranteed by the caller.
        *unsafe { place(options, "options") }? = DEFAULTS;
        Ok(())
    })
}

/// Places all buffers so that the peak is as low as possible. If `options` is null, the defaults apply, which
/// have no limits.
///
/// The call succeeds even if no layout was found; `plimsoll_solution_summary` returns the status. The
/// instance may be changed or freed during the call and afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_solve(
    instance: plimsoll_instance,
    options: *const plimsoll_options,
    solution: *mut plimsoll_solution,
) -> plimsoll_code {
    call(|| {
        // SAFETY: guaranteed by the caller.
        let (options, place) =
            unsafe { (options.as_ref().unwrap_or(&DEFAULTS), place(solution, "solution")?) };
        let (threads, most) = (options.threads, Setup::MOST_THREADS);
        if !(1..=most).contains(&threads) {
            return Err(Failure::argument(format!("'threads' is {threads}; expected 1 to {most}")));
        }
        let draft = INSTANCES.get(instance.handle)?;
        let instance = lock(&draft).instance()?;
        let outcome = attended(options, &instance)?;
        place.handle = SOLUTIONS.insert(Arc::new(Solved { instance, outcome }));
        Ok(())
    })
}

/// Frees a solution.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_solution_free(solution: plimsoll_solution) -> plimsoll_code {
    call(|| SOLUTIONS.remove(solution.handle))
}

/// Writes the status, peak and bound of a solution.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_solution_summary(
    solution: plimsoll_solution,
    summary: *mut plimsoll_summary,
) -> plimsoll_code {
    call(|| {
        // SAFETY: guaranteed by the caller.
        let place = unsafe { place(summary, "summary") }?;
        let solved = SOLUTIONS.get(solution.handle)?;
        let outcome = &solved.outcome;
        *place = plimsoll_summary {
            status: match outcome.claim {
                Claim::Optimal => plimsoll_status::PLIMSOLL_OPTIMAL,
                Claim::Feasible => plimsoll_status::PLIMSOLL_FEASIBLE,
                Claim::Infeasible => plimsoll_status::PLIMSOLL_INFEASIBLE,
                Claim::Unknown => plimsoll_status::PLIMSOLL_UNKNOWN,
            },
            termination: match outcome.stop {
                // This interface sets no target.
                Stop::Completed | Stop::Target => plimsoll_termination::PLIMSOLL_COMPLETED,
                Stop::TimeLimit => plimsoll_termination::PLIMSOLL_TIME_LIMIT,
                Stop::NodeLimit => plimsoll_termination::PLIMSOLL_NODE_LIMIT,
                Stop::Interrupted => plimsoll_termination::PLIMSOLL_INTERRUPTED,
            },
            buffers: solved.instance.len(),
            peak: outcome.value.map_or(u64::MAX, Bytes::get),
            lower_bound: outcome.lower_bound.value.get(),
            nodes: outcome.stats.nodes,
            seconds: outcome.stats.seconds,
        };
        Ok(())
    })
}

/// Writes the offset of every buffer in bytes, in the order in which the buffers were added. `count` is the
/// number of buffers.
///
/// `offsets` is null or has space for `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_solution_offsets(
    solution: plimsoll_solution,
    count: usize,
    offsets: *mut u64,
) -> plimsoll_code {
    call(|| {
        let solved = SOLUTIONS.get(solution.handle)?;
        let Some(layout) = &solved.outcome.solution else {
            let message = format!("the solution has no layout: its status is {}", solved.outcome.claim);
            return Err(Failure::new(Code::PLIMSOLL_NO_LAYOUT, message));
        };
        same_length(count, solved.instance.len())?;
        // SAFETY: guaranteed by the caller.
        let place = unsafe { array_mut(offsets, count, "offsets") }?;
        for (place, offset) in place.iter_mut().zip(layout.offsets()) {
            *place = offset.get();
        }
        Ok(())
    })
}

fn same_length(count: usize, buffers: usize) -> Result<(), Failure> {
    let wrong = || Failure::argument(format!("'count' is {count}, but the instance has {buffers} buffers"));
    (count == buffers).then_some(()).ok_or_else(wrong)
}

/// Writes the reason for the lower bound as a string. At most `size` bytes are written, including the
/// terminating null byte; a longer string is truncated. If `length` is not null, it receives the length of
/// the whole string without the null byte.
///
/// `text` is null or has space for `size` bytes; `length` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_solution_witness(
    solution: plimsoll_solution,
    size: usize,
    text: *mut c_char,
    length: *mut usize,
) -> plimsoll_code {
    call(|| {
        let solved = SOLUTIONS.get(solution.handle)?;
        let words = solved.outcome.lower_bound.witness.in_words(&solved.instance);
        // No slice may be longer than the string needs: a caller may pass `SIZE_MAX`.
        let size = size.min(words.len() + 1);
        // SAFETY: guaranteed by the caller; a `c_char` is a byte.
        let place = unsafe { array_mut(text.cast::<u8>(), size, "text") }?;
        // SAFETY: guaranteed by the caller.
        if let Some(length) = unsafe { length.as_mut() } {
            *length = words.len();
        }
        if let Some(most) = size.checked_sub(1) {
            let end = (0..=most.min(words.len())).rfind(|&end| words.is_char_boundary(end)).unwrap_or(0);
            place[..end].copy_from_slice(&words.as_bytes()[..end]);
            place[end] = 0;
        }
        Ok(())
    })
}

/// Checks a layout that the caller supplies, with the same checker that validates the answers of the solver.
/// `offsets` contains one offset in bytes per buffer. If `peak` is not null, it receives the highest end of a
/// buffer in bytes, even if the layout is not valid. If the layout is not valid, the call returns
/// `PLIMSOLL_INVALID_LAYOUT`, and the message names the first violation.
///
/// `offsets` is null or has `count` elements; `peak` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_check(
    instance: plimsoll_instance,
    count: usize,
    offsets: *const u64,
    peak: *mut u64,
) -> plimsoll_code {
    call(|| {
        let draft = INSTANCES.get(instance.handle)?;
        let instance = lock(&draft).instance()?;
        same_length(count, instance.len())?;
        // SAFETY: guaranteed by the caller.
        let layout = Layout::from_raw(unsafe { array(offsets, count, "offsets") }?.iter().copied());
        let violations = Offsets::check(&instance, &layout);
        // SAFETY: guaranteed by the caller.
        if let Some(peak) = unsafe { peak.as_mut() } {
            *peak = layout.peak(&instance).get();
        }
        let others = violations.len().saturating_sub(1);
        match violations.first() {
            None => Ok(()),
            Some(first) if others == 0 => Err(Failure::new(Code::PLIMSOLL_INVALID_LAYOUT, first.to_string())),
            Some(first) => {
                let message = format!("{first} (and {others} more)");
                Err(Failure::new(Code::PLIMSOLL_INVALID_LAYOUT, message))
            }
        }
    })
}
