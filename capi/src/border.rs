//! Dereferences pointers that the caller passes. Other modules dereference only pointers to options and
//! results.

use crate::error::Failure;
use std::ffi::{CStr, c_char};

/// Returns a reference to the memory in which the caller expects a result.
///
/// # Safety
/// `place` is null, or valid for writes of a `T` during the call.
pub unsafe fn place<'a, T>(place: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { place.as_mut() }.ok_or_else(|| Failure::argument(format!("argument '{name}' is null")))
}

/// Returns an array of `count` values. A null pointer is an error unless `count` is 0.
///
/// # Safety
/// `first` is null, or valid for reads of `count` values during the call.
pub unsafe fn array<'a, T>(first: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::argument(format!("argument '{name}' is null, but count is {count}"))),
        // SAFETY: guaranteed by the caller; an array that exists has at most `isize::MAX` bytes.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// Returns an array to write to. A null pointer is an error unless `count` is 0.
///
/// # Safety
/// `first` is null, or valid for writes of `count` values during the call.
pub unsafe fn array_mut<'a, T>(first: *mut T, count: usize, name: &str) -> Result<&'a mut [T], Failure> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Failure::argument(format!("argument '{name}' is null, but count is {count}"))),
        // SAFETY: guaranteed by the caller.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(first, count) }),
    }
}

/// Returns a string, or `None` for a null pointer.
///
/// # Safety
/// `text` is null, or points to a string that ends with a null byte.
pub unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: guaranteed by the caller.
    let read = unsafe { CStr::from_ptr(text) }.to_str();
    read.map(Some).map_err(|_| Failure::argument(format!("argument '{name}' is not UTF-8")))
}
