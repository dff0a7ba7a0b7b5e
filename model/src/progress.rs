//! Reports the progress of all runs of this process, for display in a progress line.
//!
//! A process sets one listener. Every call of [`run`](crate::run::run) then reports its improvements to this
//! listener.

use crate::Bound;
use crate::problem::Problem;
use crate::solver::Observer;
use crate::value::{Value as _, gap_percent};
use serde::Serialize;
use std::sync::OnceLock;

type Listener = Box<dyn Fn(&Progress) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// The progress of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// The best value so far, with its unit.
    pub best: Option<String>,
    /// The best bound so far, with its unit.
    pub bound: Option<String>,
    /// The gap in percent of the bound; `None` while the best value or the bound is missing, or if the bound
    /// is zero and the best value is not.
    pub gap_percent: Option<f64>,
    /// The current phase of the algorithm, or an empty string.
    pub phase: String,
}

/// Sets the listener, which is called at the start of each run, at the start of each phase, and after each
/// improvement. If this function is called again, the first listener remains.
pub fn listen(listener: impl Fn(&Progress) + Send + Sync + 'static) {
    let _ = LISTENER.set(Box::new(listener));
}

/// An observer that also reports to the listener.
pub(crate) struct Reporting<'a, P: Problem> {
    observer: &'a mut dyn Observer<P>,
    listener: Option<&'static Listener>,
    progress: Progress,
    best: Option<P::Value>,
    bound: Option<P::Value>,
}

impl<'a, P: Problem> Reporting<'a, P> {
    pub(crate) fn start(algorithm: &'static str, observer: &'a mut dyn Observer<P>) -> Self {
        let progress = Progress { algorithm, ..Progress::default() };
        let own = Self { observer, listener: LISTENER.get(), progress, best: None, bound: None };
        own.report();
        own
    }

    fn report(&self) {
        if let Some(listener) = self.listener {
            listener(&self.progress);
        }
    }

    fn improve(&mut self) {
        if self.listener.is_none() {
            return;
        }
        self.progress.best = self.best.map(P::Value::with_unit);
        self.progress.bound = self.bound.map(P::Value::with_unit);
        let both = self.best.zip(self.bound);
        self.progress.gap_percent = both.and_then(|(best, bound)| gap_percent(best.number(), bound.number()));
        self.report();
    }
}

impl<P: Problem> Observer<P> for Reporting<'_, P> {
    fn incumbent(&mut self, solution: &P::Solution, value: P::Value) {
        self.observer.incumbent(solution, value);
        self.best = Some(value);
        self.improve();
    }

    fn bound(&mut self, bound: &Bound<P>) {
        self.observer.bound(bound);
        self.bound = Some(bound.value);
        self.improve();
    }

    fn phase(&mut self, name: &str) {
        self.observer.phase(name);
        name.clone_into(&mut self.progress.phase);
        self.report();
    }

    fn ended(&mut self) {
        self.observer.ended();
    }
}
