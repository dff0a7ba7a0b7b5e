//! The C interface of Plimsoll: the instances, the solutions and the checker that `include/plimsoll.h`
//! declares.
//!
//! All pointers that the caller passes must be null or valid during the call. The header states this rule
//! once.
//!
//! Instances and solutions are handles instead of pointers. Every function catches panics.

#![allow(clippy::missing_safety_doc, reason = "the header states it once for all functions")]

mod border;
mod error;
mod handle;
mod instance;
mod solve;

/// Returns the version of the library, such as "0.1.0". The string is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_version() -> *const std::ffi::c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
