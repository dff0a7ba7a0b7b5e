//! The progress line of long runs, on standard error. It is shown only on a terminal. A browser has no
//! terminal; there, every report of progress is one line with a JSON object.

use indicatif::{ProgressBar, ProgressStyle};
use plimsoll::progress::{Progress, listen};
use plimsoll_lab::report::percent;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Shows the progress of all runs from now on.
pub fn show() {
    if cfg!(target_family = "wasm") {
        listen(|progress| {
            if let Ok(line) = serde_json::to_string(progress) {
                eprintln!("{line}");
            }
        });
    } else if std::io::stderr().is_terminal() {
        listen(|progress| {
            let mut bar = BAR.lock().unwrap_or_else(PoisonError::into_inner);
            let bar = bar.get_or_insert_with(create);
            bar.set_prefix(progress.algorithm);
            bar.set_message(message(progress));
        });
    }
}

/// Removes the line until the next report of progress.
pub fn clear() {
    if let Some(bar) = BAR.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
}

fn create() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn message(progress: &Progress) -> String {
    let Progress { best, bound, gap_percent, phase, .. } = progress;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let gap = gap_percent.map_or_else(String::new, |gap| format!(", gap {} %", percent(gap)));
    format!("best {}, bound {}{gap} {phase}", known(best), known(bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_incumbent_bound_and_gap() {
        let mut progress = Progress { algorithm: "exact", ..Progress::default() };
        assert_eq!(message(&progress), "best none, bound none ");
        progress.best = Some("12 bytes".to_owned());
        progress.bound = Some("10 bytes".to_owned());
        progress.gap_percent = Some(20.0);
        progress.phase = "search".to_owned();
        assert_eq!(message(&progress), "best 12 bytes, bound 10 bytes, gap 20.00 % search");
    }
}
