//! The limit on the work of a check.
//!
//! A unit of work is a small step of the checker, such as a comparison of two lifespans or a visit to a leaf
//! of a tree. It takes a few nanoseconds. The number of units that a check may need grows with the length of
//! its input, so no short file can keep the checker busy for long. The count depends only on the input.

use crate::error::Reason;
use std::cell::Cell;

/// Number of units that every check may need.
const ALWAYS: u64 = 1 << 28;

/// Number of units that a check may need in addition, per byte of the proof and of the instance.
const PER_BYTE: u64 = 1 << 10;

/// Number of units between two calls of the function that stops a check.
const STRIDE: u64 = 1 << 16;

/// Counts the work of a check.
pub(crate) struct Work<'a> {
    done: Cell<u64>,
    most: Cell<u64>,
    /// The count at which `stop` is called next.
    next: Cell<u64>,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Work<'a> {
    /// Starts to count. The check ends soon after `stop` has returned true.
    pub fn new(stop: &'a dyn Fn() -> bool) -> Self {
        Self { done: Cell::new(0), most: Cell::new(ALWAYS), next: Cell::new(0), stop }
    }

    /// Permits the work for more bytes of input.
    pub fn permit(&self, bytes: usize) {
        self.most.set(self.most.get().saturating_add(PER_BYTE.saturating_mul(bytes as u64)));
    }

    /// Counts units of work. Call this method before the work is done.
    ///
    /// # Errors
    /// Fails if the work exceeds the limit, or if the check is to stop.
    pub fn spend(&self, units: usize) -> Result<(), Reason> {
        let done = self.done.get().saturating_add(units as u64);
        self.done.set(done);
        if done > self.most.get() {
            return Err(Reason::TooMuchWork { most: self.most.get() });
        }
        if done < self.next.get() {
            return Ok(());
        }
        self.next.set(done + STRIDE);
        if (self.stop)() { Err(Reason::Stopped) } else { Ok(()) }
    }
}
