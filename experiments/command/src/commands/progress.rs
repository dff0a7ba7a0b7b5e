//! The progress of one long run.

use indicatif::{ProgressBar, ProgressStyle};
use plimsoll::model::{Bytes, LowerBound, Observer};
use plimsoll::plan::Plan;
use plimsoll_lab::report::{gap_percent, percent};
use std::io::IsTerminal as _;
use std::time::Duration;

/// A progress line with the best value and bound so far, on standard error. It is shown only on a terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    best: Option<Bytes>,
    bound: Bytes,
    phase: String,
}

impl Progress {
    /// Shows the line, which names the solver.
    pub fn start(solver: &str) -> Self {
        // Even a hidden progress bar would start a thread.
        let bar = std::io::stderr().is_terminal().then(|| Self::bar(solver));
        Self { bar, best: None, bound: Bytes::ZERO, phase: String::new() }
    }

    fn bar(solver: &str) -> ProgressBar {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(solver.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    /// Removes the line.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self) {
        let Some(bar) = &self.bar else {
            return;
        };
        let best = self.best.map_or_else(|| "none".to_owned(), |value| value.to_string());
        let gap = self.best.and_then(|value| gap_percent(value.get(), self.bound.get()));
        let gap = gap.map_or_else(String::new, |gap| format!(", gap {} %", percent(gap)));
        bar.set_message(format!("best {best}, bound {}{gap} {}", self.bound, self.phase));
    }
}

impl<P: Plan> Observer<P> for Progress {
    fn incumbent(&mut self, _: &P::Solution, value: Bytes) {
        if self.best.is_none_or(|best| value < best) {
            self.best = Some(value);
            self.show();
        }
    }

    fn bound(&mut self, bound: &LowerBound) {
        if bound.value > self.bound {
            self.bound = bound.value;
            self.show();
        }
    }

    fn phase(&mut self, name: &str) {
        name.clone_into(&mut self.phase);
        self.show();
    }
}
