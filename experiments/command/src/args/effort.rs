use super::values::{NO_LIMIT, seconds_or_none, threads};
use clap::Args;
use plimsoll::model::Setup;
use plimsoll::run::Limits;
use std::time::Duration;

/// Time limit of a command that is given none, nor nodes.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The same per algorithm, where a command compares several.
const TIME_LIMIT_EACH: Duration = Duration::from_secs(10);

/// Limits, threads and seed.
#[derive(Args, Clone, Copy, Debug)]
pub struct EffortArgs {
    /// Seconds of wall-clock time for everything the command computes, or `none` [default: 60; with --compare 10 for
    /// each algorithm; none with --node-limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none, allow_negative_numbers = true)]
    pub time_limit: Option<Duration>,
    /// Nodes of each search: of a graph one per region for its order and one for its layout. With it alone, runs repeat
    /// exactly
    #[arg(long, value_name = "NODES")]
    pub node_limit: Option<u64>,
    /// Threads an algorithm may use
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Seed of all randomness
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl EffortArgs {
    /// Seed and threads.
    pub fn setup(self) -> Setup {
        Setup { seed: self.seed, threads: self.threads, ..Setup::default() }
    }

    /// The limits of a command; all that it runs shares the time limit, whose clock starts now. The default only ends
    /// runs: they do not plan by it.
    pub fn limits(self) -> Limits {
        let time = self.time_limit.filter(|time| *time < NO_LIMIT);
        let limits = Limits { time, nodes: self.node_limit, ..Limits::default() };
        if self.is_default() {
            Limits { time: None, ..Limits { time: Some(TIME_LIMIT), ..limits }.from_now() }
        } else {
            limits.from_now()
        }
    }

    /// The limits of each algorithm that is compared; its clock starts with [`Limits::from_now`].
    pub fn limits_each(self) -> Limits {
        let default = self.is_default().then_some(TIME_LIMIT_EACH);
        let time = self.time_limit.or(default).filter(|time| *time < NO_LIMIT);
        Limits { time, nodes: self.node_limit, ..Limits::default() }
    }

    /// The same with the clock started, for algorithms that end by themselves: the default only ends them, as in
    /// [`EffortArgs::limits`].
    pub fn limits_each_from_now(self) -> Limits {
        let limits = self.limits_each().from_now();
        if self.is_default() { Limits { time: None, ..limits } } else { limits }
    }

    /// The time limit of a command that compares nothing.
    pub fn time_limit(self) -> Option<Duration> {
        let default = self.is_default().then_some(TIME_LIMIT);
        self.time_limit.or(default).filter(|time| *time < NO_LIMIT)
    }

    /// True where neither time nor nodes were given.
    pub fn is_default(self) -> bool {
        self.time_limit.is_none() && self.node_limit.is_none()
    }
}
