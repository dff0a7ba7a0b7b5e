//! Handles: numbers that are never reused, so a stale handle is always detected.

use crate::error::{Failure, plimsoll_code as Code};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The objects of one kind that have not been freed yet, by handle.
pub struct Table<T> {
    kind: &'static str,
    objects: LazyLock<Mutex<HashMap<u64, T>>>,
}

impl<T: Clone> Table<T> {
    pub const fn new(kind: &'static str) -> Self {
        Self { kind, objects: LazyLock::new(Mutex::default) }
    }

    /// Locks the table. Poisoning is ignored: a panic cannot leave the table half changed, because objects
    /// are inserted and removed as a whole.
    fn objects(&self) -> MutexGuard<'_, HashMap<u64, T>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn insert(&self, object: T) -> u64 {
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        self.objects().insert(handle, object);
        handle
    }

    fn unknown(&self, handle: u64) -> Failure {
        let message = format!("{} {handle} was freed or never created", self.kind);
        Failure::new(Code::PLIMSOLL_INVALID_HANDLE, message)
    }

    /// Returns a clone of the object, which is cheap because `T` is an `Arc`.
    pub fn get(&self, handle: u64) -> Result<T, Failure> {
        self.objects().get(&handle).cloned().ok_or_else(|| self.unknown(handle))
    }

    pub fn remove(&self, handle: u64) -> Result<(), Failure> {
        let removed = self.objects().remove(&handle);
        removed.map(drop).ok_or_else(|| self.unknown(handle))
    }
}
