use super::values::{NO_LIMIT, seconds_or_none, threads};
use clap::Args;
use plimsoll::model::Setup;
use plimsoll::run::Limits;
use std::time::Duration;

/// Default time limit of a command if no node limit is given.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Default time limit for each algorithm if a command compares several algorithms.
const TIME_LIMIT_EACH: Duration = Duration::from_secs(10);

/// The help of --time-limit for commands with the option --compare.
pub const TIME_LIMIT_WITH_COMPARE: &str = "Stop after this many seconds, or `none` for no limit [default: 60; \
    with --compare, 10 per algorithm; with --node-limit, none]";

/// The help of --time-limit for commands that search for the optimum only on request or if necessary.
pub const TIME_LIMIT_OF_BEST: &str = "Stop the search for the optimum after this many seconds, or `none` for no \
    limit; implies --best [default: 60; with --node-limit, none]";

/// The help of --time-limit for `verify`.
pub const TIME_LIMIT_OF_VERIFY: &str = "Stop the check of a proof and the search for the optimum after this many \
    seconds, or `none` for no limit; implies --best [default: 60 for the search; with --node-limit, none]";

/// The help of --time-limit for `audit`.
pub const TIME_LIMIT_OF_AUDIT: &str = "Stop each search after this many seconds, or `none` for no limit [default: 1; \
    with --node-limit, none]";

/// Limits, threads and seed.
#[derive(Args, Clone, Copy, Debug)]
pub struct EffortArgs {
    /// Stop after this many seconds, or `none` for no limit [default: 60; with --node-limit, none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none, help_heading = "Limits")]
    pub time_limit: Option<Duration>,
    /// Stop each search after this many nodes; without --time-limit, results are reproducible
    #[arg(long, value_name = "NODES", help_heading = "Limits")]
    pub node_limit: Option<u64>,
    /// Threads per algorithm
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads, help_heading = "Limits")]
    pub threads: usize,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Limits")]
    pub seed: u64,
}

impl EffortArgs {
    /// Returns the setup of solvers: seed and threads.
    pub fn setup(self) -> Setup {
        Setup { seed: self.seed, threads: self.threads, ..Setup::default() }
    }

    /// Returns the limits of a command and starts the clock. All runs of the command share the time limit.
    /// The default time limit sets only the deadline and not [`Limits::time`], so that heuristics do not
    /// continue until then.
    pub fn limits(self) -> Limits {
        let time = self.time_limit.filter(|time| *time < NO_LIMIT);
        let limits = Limits { time, nodes: self.node_limit, ..Limits::default() };
        if self.is_default() {
            Limits { time: None, ..Limits { time: Some(TIME_LIMIT), ..limits }.from_now() }
        } else {
            limits.from_now()
        }
    }

    /// Returns the limits of each compared algorithm. The caller starts the clock with [`Limits::from_now`].
    pub fn limits_each(self) -> Limits {
        let default = self.is_default().then_some(TIME_LIMIT_EACH);
        let time = self.time_limit.or(default).filter(|time| *time < NO_LIMIT);
        Limits { time, nodes: self.node_limit, ..Limits::default() }
    }

    /// Returns the limits of each compared algorithm and starts the clock. The default time limit sets only a
    /// deadline, as in [`EffortArgs::limits`].
    pub fn limits_each_from_now(self) -> Limits {
        let limits = self.limits_each().from_now();
        if self.is_default() { Limits { time: None, ..limits } } else { limits }
    }

    /// Returns the time limit that applies to a command without `--compare`.
    pub fn time_limit(self) -> Option<Duration> {
        let default = self.is_default().then_some(TIME_LIMIT);
        self.time_limit.or(default).filter(|time| *time < NO_LIMIT)
    }

    /// Returns true if neither limit is given.
    pub fn is_default(self) -> bool {
        self.time_limit.is_none() && self.node_limit.is_none()
    }
}
