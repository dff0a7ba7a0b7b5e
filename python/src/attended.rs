//! Runs work on a thread of its own, while the calling thread handles signals and progress.

use plimsoll::interrupt;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The interval between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// The stack size of the worker thread in bytes. Algorithms run on a stack of their own.
const STACK: usize = 16 << 20;

/// Runs `work` without the interpreter lock. For every message that `work` sends, `event` is called with the
/// lock held.
///
/// Ctrl-C stops every search of the process, and `work` returns its best answer. A second Ctrl-C, and errors
/// of other signal handlers or of `event`, are raised after `work` has ended.
///
/// # Errors
/// The errors above, and `RuntimeError` if `work` panics.
pub fn attended<T: Send, E: Send>(
    py: Python<'_>,
    work: impl FnOnce(Sender<E>) -> T + Send,
    mut event: impl FnMut(E) -> PyResult<()>,
) -> PyResult<T> {
    let mut failed: Option<PyErr> = None;
    let mut is_interrupted = false;
    let (send, receive) = channel();
    // The mutex only provides `Sync`. It is never contended.
    let receive = Mutex::new(receive);
    let result = std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || work(send))?;
        loop {
            let next = || match receive.lock() {
                Ok(receive) => receive.recv_timeout(PATIENCE),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            };
            let handled = match py.detach(next) {
                Ok(message) if failed.is_none() => event(message),
                Ok(_) => Ok(()),
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = handled {
                interrupt::request();
                if is_interrupted || !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    failed.get_or_insert(error);
                }
                is_interrupted = true;
            }
        }
        Ok::<_, std::io::Error>(worker.join())
    });
    if is_interrupted {
        interrupt::withdraw();
    }
    let result = result.map_err(PyErr::from)?;
    match failed {
        Some(error) => Err(error),
        None => result.map_err(|_| PyRuntimeError::new_err("internal error: the worker panicked")),
    }
}
