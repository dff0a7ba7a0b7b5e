//! Runs library calls that cannot be interrupted. Each call runs on a thread that can be abandoned.
//!
//! `HiGHS` does not check the clock while it reads and presolves a model, nor does z3 while it simplifies.
//! Such a call runs on its own thread and owns all its data. The caller waits until the call returns or the
//! budget runs out. After a deadline, the caller waits for an additional short grace period. It then
//! continues without an answer and abandons the thread. An abandoned thread ends when the call returns, or
//! with the process.

use plimsoll_model::{Budget, Stop};
use plimsoll_support::panics::panic_message;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which the caller polls its budget.
const POLL: Duration = Duration::from_millis(5);

/// Grace period after a deadline, during which a call may still return its answer.
const GRACE: Duration = Duration::from_millis(300);

/// Number of abandoned calls that are still running.
static ABANDONED: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of abandoned library calls that are still running.
///
/// While this number is not zero, the process must not run the exit handlers of `HiGHS` and z3 when it ends.
pub fn abandoned() -> usize {
    ABANDONED.load(Ordering::SeqCst)
}

/// State of a call, shared by the caller and the thread of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Awaited,
    Abandoned,
    Ended,
}

#[derive(Debug)]
pub(crate) enum Ended<T> {
    Answer(T),
    Panicked(String),
    /// The call did not return in time and was abandoned, or it was not started because the budget had
    /// already run out.
    Abandoned(Stop),
}

/// Runs `work` on its own thread and waits until it returns or the budget runs out. After a deadline, `work`
/// gets a grace period of [`GRACE`]. If the budget has already run out, `work` is not started.
pub(crate) fn call<T: Send + 'static>(
    budget: &mut Budget,
    work: impl FnOnce() -> T + Send + 'static,
) -> Ended<T> {
    if let Some(stop) = budget.check() {
        return Ended::Abandoned(stop);
    }
    let (sender, receiver) = channel();
    let state = Arc::new(Mutex::new(State::Awaited));
    let own = Arc::clone(&state);
    std::thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        let mut state = own.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Abandoned {
            ABANDONED.fetch_sub(1, Ordering::SeqCst);
        }
        *state = State::Ended;
        // The receiver may be gone if the call was abandoned.
        let _ = sender.send(result);
    });
    let mut late: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(Ok(answer)) => return Ended::Answer(answer),
            Ok(Err(panic)) => {
                return Ended::Panicked(panic_message(&*panic));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Ended::Panicked("the thread ended without an answer".to_owned());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(stop) = budget.check() else { continue };
        let waited = late.get_or_insert_with(Instant::now).elapsed();
        if stop == Stop::TimeLimit && waited < GRACE {
            continue;
        }
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Awaited {
            *state = State::Abandoned;
            ABANDONED.fetch_add(1, Ordering::SeqCst);
            return Ended::Abandoned(stop);
        }
        // The call has ended in the meantime, and its answer is in the channel.
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn an_answer_and_a_panic_come_back() {
        let mut budget = Budget::unlimited();
        assert!(matches!(call(&mut budget, || 7), Ended::Answer(7)));
        let Ended::<()>::Panicked(text) = call(&mut budget, || panic!("deliberate")) else {
            panic!("no panic")
        };
        assert_eq!(text, "deliberate");
    }

    #[test]
    fn a_call_that_does_not_end_is_left_behind() {
        let flag = Arc::new(AtomicBool::new(false));
        let mut budget = Budget::unlimited().with_cancel(Arc::clone(&flag));
        let (release, held) = channel::<()>();
        let ended = call(&mut budget, move || {
            flag.store(true, Ordering::Relaxed);
            held.recv()
        });
        assert!(matches!(ended, Ended::Abandoned(_)));
        assert!(abandoned() > 0);
        release.send(()).unwrap();
        while abandoned() > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn nothing_starts_after_the_end() {
        let mut budget = Budget::unlimited().with_time_limit(Duration::ZERO);
        assert!(matches!(call(&mut budget, || 7), Ended::Abandoned(Stop::TimeLimit)));
    }
}
