//! Messages of caught panics, with the place where they were raised.

use std::any::Any;
use std::panic::{PanicHookInfo, set_hook};
use std::sync::{Mutex, PoisonError};

/// The message and the place of the last panic. The place of a panic in a helper thread is found by its
/// message, because the payload is raised again in the thread that waits for the helper.
static LAST: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Replaces the panic hook of the process by one that prints nothing and records where the panic was raised.
/// This is for programs that catch panics and report them by [`panic_message`].
pub fn record_panics() {
    set_hook(Box::new(record));
}

fn record(info: &PanicHookInfo<'_>) {
    let Some(place) = info.location() else { return };
    let last = (text_of(info.payload()), format!("{}:{}", place.file(), place.line()));
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
}

/// Returns the message of a caught panic, followed by file and line if [`record_panics`] was called.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = text_of(payload);
    match &*LAST.lock().unwrap_or_else(PoisonError::into_inner) {
        Some((message, place)) if *message == text => format!("{text} ({place})"),
        _ => text,
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
