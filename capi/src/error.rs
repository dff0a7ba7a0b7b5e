//! Error codes, and the message of the last error in each thread.

use std::cell::RefCell;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the names in C")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum plimsoll_code {
    /// Success.
    PLIMSOLL_OK = 0,
    /// A pointer is null, an index or a number is out of range, or a string is not UTF-8.
    PLIMSOLL_INVALID_ARGUMENT = 1,
    /// The handle was freed, or was never created.
    PLIMSOLL_INVALID_HANDLE = 2,
    /// The parts of the instance contradict each other, or add up to more than 2^63 - 1 bytes.
    PLIMSOLL_INVALID_INSTANCE = 3,
    /// No algorithm has this name, or the named algorithm does not support the instance.
    PLIMSOLL_UNSUPPORTED = 4,
    /// The solution has no layout: its status is `PLIMSOLL_INFEASIBLE` or `PLIMSOLL_UNKNOWN`.
    PLIMSOLL_NO_LAYOUT = 5,
    /// The layout is not valid: two conflicting buffers share bytes, or an offset violates an alignment, a
    /// fixed offset or the capacity.
    PLIMSOLL_INVALID_LAYOUT = 6,
    /// An internal error, such as a panic or an answer that the checker rejected. No answer is returned.
    PLIMSOLL_INTERNAL = 7,
}

use plimsoll_code as Code;

/// The code and the message of an error.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Code::PLIMSOLL_INVALID_ARGUMENT, message)
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs a call and returns its code. If the call fails or panics, records the message.
pub fn call(work: impl FnOnce() -> Result<(), Failure>) -> plimsoll_code {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return Code::PLIMSOLL_OK,
        Ok(Err(failure)) => failure,
        Err(_) => {
            Failure::new(Code::PLIMSOLL_INTERNAL, "internal error: a panic, described on standard error")
        }
    };
    let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
    LAST.set(text);
    failure.code
}

/// Returns the message of the last error in this thread, or an empty string. The pointer is valid until the
/// next call that fails in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_error() -> *const std::ffi::c_char {
    LAST.with_borrow(|text| text.as_ptr())
}
