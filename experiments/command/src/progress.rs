//! The progress line of long runs, on standard error. It is shown only on a terminal, and not in the first
//! moments, because drawing it costs a tenth to a fifth of the time of a small instance. A browser has no
//! terminal; there, every report of progress is one line with a JSON object.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plimsoll::progress::{Progress, listen};
use plimsoll_lab::report::percent;
use std::io::IsTerminal as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time after [`show`] before which the line is not drawn.
const DELAY: Duration = Duration::from_millis(300);

static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the progress of all runs from now on.
pub fn show() {
    if cfg!(target_family = "wasm") {
        listen(|progress| {
            if let Ok(line) = serde_json::to_string(progress) {
                eprintln!("{line}");
            }
        });
    } else if std::io::stderr().is_terminal() {
        let first = Instant::now() + DELAY;
        listen(move |progress| {
            let mut bar = bar();
            let bar = bar.get_or_insert_with(|| create(first.saturating_duration_since(Instant::now())));
            bar.set_prefix(progress.algorithm);
            bar.set_message(message(progress));
        });
    }
}

/// Removes the line until the next report of progress.
pub fn clear() {
    if let Some(bar) = bar().take() {
        bar.finish_and_clear();
    }
}

/// Creates a line that is drawn after a delay.
fn create(delay: Duration) -> ProgressBar {
    let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}") {
        line.set_style(style);
    }
    if delay.is_zero() {
        draw(&line);
        return line;
    }
    let late = line.clone();
    std::thread::spawn(move || {
        std::thread::sleep(delay);
        // The lock keeps `clear` from finishing the line in between.
        let _bar = bar();
        if !late.is_finished() {
            draw(&late);
        }
    });
    line
}

fn draw(line: &ProgressBar) {
    line.set_draw_target(ProgressDrawTarget::stderr());
    line.enable_steady_tick(Duration::from_millis(200));
}

/// Creates the bar of `runs` runs.
pub fn of_runs(runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed}, {eta} left {wide_msg}") {
        bar.set_style(style);
    }
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
