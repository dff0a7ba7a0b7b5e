//! Limits of a run: time, nodes, a target value, and cancellation flags.

use crate::claim::Stop;
use crate::value::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The maximum number of nodes that [`Budget::tick`] counts between two readings of the clock.
const MOST_STRIDE: u64 = 256;

/// The interval at which [`Budget::tick`] aims to read the clock. The stride of [`Clock`] is halved if two
/// readings are further apart, and doubled if they are less than a quarter of this interval apart.
const CLOCK_INTERVAL: Duration = Duration::from_millis(2);

/// The resources that a run may use. The algorithm polls the budget. Times are measured with a monotonic
/// clock.
///
/// With a node limit and no time limit, runs are reproducible on any machine.
#[derive(Clone, Debug)]
pub struct Budget {
    started: Instant,
    /// The time at which the time limit expires. Algorithms can see it and may plan their work accordingly.
    deadline: Option<Instant>,
    /// A hard deadline that is hidden from algorithms.
    guard: Option<Instant>,
    node_limit: Option<u64>,
    nodes: u64,
    /// The target as a [number](Value::number).
    target: Option<u64>,
    cancel: Vec<Arc<AtomicBool>>,
    stopped: Option<Stop>,
    clock: Clock,
}

/// Decides when [`Budget::tick`] reads the clock.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// The node count at which the clock is read next.
    next: u64,
    /// The number of nodes between two readings.
    stride: u64,
    /// The time of the last reading.
    read: Instant,
}

impl Clock {
    fn new(now: Instant) -> Self {
        Self { next: 1, stride: 1, read: now }
    }

    /// Adapts the stride to the time per node, which ranges from nanoseconds to milliseconds.
    fn adapt(&mut self, nodes: u64, now: Instant) {
        let since = now.saturating_duration_since(self.read);
        self.stride = if since > CLOCK_INTERVAL {
            (self.stride / 2).max(1)
        } else if since < CLOCK_INTERVAL / 4 {
            (self.stride * 2).min(MOST_STRIDE)
        } else {
            self.stride
        };
        (self.next, self.read) = (nodes.saturating_add(self.stride), now);
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::unlimited()
    }
}

impl Budget {
    /// Creates a budget without any limit.
    pub fn unlimited() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            deadline: None,
            guard: None,
            node_limit: None,
            nodes: 0,
            target: None,
            cancel: Vec::new(),
            stopped: None,
            clock: Clock::new(now),
        }
    }

    /// Stops the run when `limit` has passed since the creation of the budget. The limit replaces an earlier
    /// time limit or deadline. A limit beyond the range of the clock means no limit.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.deadline = self.started.checked_add(limit);
        self
    }

    /// Stops the run at `deadline`, unless an earlier deadline is already set.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(self.deadline.map_or(deadline, |own| own.min(deadline)));
        self
    }

    /// Stops the run at `end`. Unlike a deadline, this guard does not make algorithms with an effort of their
    /// own continue until `end`: [`Budget::time_left`] ignores it.
    #[must_use]
    pub fn with_guard(mut self, end: Instant) -> Self {
        self.guard = Some(self.guard.map_or(end, |own| own.min(end)));
        self
    }

    /// Stops the run after `limit` nodes.
    #[must_use]
    pub fn with_node_limit(mut self, limit: u64) -> Self {
        self.node_limit = Some(limit);
        self
    }

    /// Stops the run at the first solution that is no worse than `target`.
    #[must_use]
    pub fn with_target(mut self, target: impl Value) -> Self {
        self.target = Some(target.number());
        self
    }

    /// Stops the run when `flag` is set. Flags added earlier remain in force.
    #[must_use]
    pub fn with_cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel.push(flag);
        self
    }

    /// Counts one node and returns the reason to stop, if any. The call is cheap: it reads the clock and the
    /// cancellation flags once per 1 to 256 nodes, depending on the time per node.
    #[inline]
    pub fn tick(&mut self) -> Option<Stop> {
        self.nodes += 1;
        if self.stopped.is_some() {
            return self.stopped;
        }
        if self.node_limit.is_some_and(|limit| self.nodes > limit) {
            self.stopped = Some(Stop::NodeLimit);
        } else if self.nodes >= self.clock.next {
            self.clock.adapt(self.nodes, Instant::now());
            // The number of nodes at which the limit stops a run must not depend on the times of readings.
            return self.poll(false);
        }
        self.stopped
    }

    /// Adds `nodes` to the node count, and then does the same as [`Budget::check`].
    pub fn spend(&mut self, nodes: u64) -> Option<Stop> {
        self.nodes = self.nodes.saturating_add(nodes);
        self.check()
    }

    /// Checks the cancellation flags, the node limit and the clock. Returns the reason to stop, if any.
    pub fn check(&mut self) -> Option<Stop> {
        self.poll(self.node_limit.is_some_and(|limit| self.nodes >= limit))
    }

    /// Returns the reason to stop that an earlier check found, if any.
    pub fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// Checks the cancellation flags and the clock. `exhausted` states whether the node limit is reached.
    fn poll(&mut self, exhausted: bool) -> Option<Stop> {
        if self.stopped.is_none() {
            let cancelled = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
            if self.cancel.iter().any(cancelled) {
                self.stopped = Some(Stop::Interrupted);
            } else if exhausted {
                self.stopped = Some(Stop::NodeLimit);
            } else if self.end().is_some_and(|end| Instant::now() >= end) {
                self.stopped = Some(Stop::TimeLimit);
            }
        }
        self.stopped
    }

    /// Returns true if a solution with the given value reaches the target. Such a solution ends the run.
    pub fn reaches_target<V: Value>(&self, value: V) -> bool {
        self.target().is_some_and(|target: V| value <= target)
    }

    /// Returns the target value, if any.
    pub fn target<V: Value>(&self) -> Option<V> {
        self.target.map(V::of_number)
    }

    /// Returns the number of nodes counted so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the number of nodes left, or `None` if there is no node limit.
    pub fn nodes_left(&self) -> Option<u64> {
        self.node_limit.map(|limit| limit.saturating_sub(self.nodes))
    }

    /// Returns the time since the budget was created.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the time left until the deadline, or `None` if there is no deadline. The result is zero once
    /// the deadline has passed.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns the time left until the deadline or the [guard](Budget::with_guard), whichever is earlier;
    /// `None` if there is neither. Pass this time as a limit to libraries that cannot poll a budget.
    pub fn time_to_end(&self) -> Option<Duration> {
        self.end().map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Returns a share of [`Budget::time_to_end`].
    pub fn time_share(&self, share: f64) -> Option<Duration> {
        self.time_to_end().map(|left| left.mul_f64(share))
    }

    fn end(&self) -> Option<Instant> {
        self.deadline.into_iter().chain(self.guard).min()
    }

    /// Returns a budget with the same deadline, guard, flags and target, but without the node limit. Use the
    /// new budget for work that is not counted in nodes.
    #[must_use]
    pub fn without_node_limit(&self) -> Self {
        let stopped = self.stopped.filter(|&stop| stop != Stop::NodeLimit);
        Self { node_limit: None, stopped, ..self.part(None, None) }
    }

    /// Returns a budget for a part of the work. The new budget has the same guard, flags and target as this
    /// one. It allows at most `nodes` nodes and at most `time` from now, and never more than remains in this
    /// budget. When the part has ended, use [`Budget::spend`] to count its nodes in this budget.
    #[must_use]
    pub fn part(&self, nodes: Option<u64>, time: Option<Duration>) -> Self {
        let now = Instant::now();
        let own = time.and_then(|time| now.checked_add(time));
        let deadline = match (self.deadline, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let node_limit = match (self.nodes_left(), nodes) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            started: now,
            deadline,
            guard: self.guard,
            node_limit,
            nodes: 0,
            target: self.target,
            cancel: self.cancel.clone(),
            stopped: self.stopped,
            clock: Clock::new(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept() {
        let mut budget = Budget::unlimited().with_node_limit(2);
        assert_eq!(budget.tick(), None);
        assert_eq!(budget.tick(), None);
        assert_eq!(budget.tick(), Some(Stop::NodeLimit));
        let mut budget = Budget::unlimited().with_time_limit(Duration::ZERO);
        assert_eq!(budget.tick(), Some(Stop::TimeLimit));
        let flag = Arc::new(AtomicBool::new(true));
        let mut budget = Budget::unlimited().with_cancel(flag);
        assert_eq!(budget.check(), Some(Stop::Interrupted));
        assert_eq!(Budget::unlimited().with_node_limit(0).check(), Some(Stop::NodeLimit));
    }

    #[test]
    fn readings_of_the_clock_do_not_change_the_number_of_nodes() {
        for next in 1..=5 {
            let mut budget = Budget::unlimited().with_node_limit(3);
            budget.clock.next = next;
            while budget.tick().is_none() {}
            assert_eq!(budget.nodes(), 4);
        }
    }

    #[test]
    fn slow_nodes_are_checked_one_by_one() {
        let start = Instant::now();
        let mut clock = Clock::new(start);
        for node in 1..=20 {
            clock.adapt(node, start);
        }
        assert_eq!(clock.stride, MOST_STRIDE);
        for node in 1..=20 {
            clock.adapt(node, start + CLOCK_INTERVAL * 2 * node as u32);
        }
        assert_eq!((clock.stride, clock.next), (1, 21));
    }

    #[test]
    fn the_earlier_of_limit_and_deadline_counts() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        let mut budget = Budget::unlimited().with_time_limit(hour).with_deadline(now);
        assert_eq!(budget.check(), Some(Stop::TimeLimit));
        let mut budget = Budget::unlimited().with_time_limit(Duration::ZERO).with_deadline(now + hour);
        assert_eq!(budget.check(), Some(Stop::TimeLimit));
    }

    #[test]
    fn a_guard_ends_a_run_that_plans_without_limits() {
        let now = Instant::now();
        let later = now + Duration::from_secs(3600);
        let mut budget = Budget::unlimited().with_guard(later).with_guard(later + Duration::from_secs(1));
        assert_eq!((budget.check(), budget.time_left()), (None, None));
        assert!(budget.time_to_end().unwrap() <= Duration::from_secs(3600));
        let part = budget.part(None, Some(Duration::from_secs(7200)));
        assert!(part.time_to_end().unwrap() <= Duration::from_secs(3600));
        let mut over = part.with_guard(now);
        assert_eq!(over.check(), Some(Stop::TimeLimit));
        assert_eq!(over.without_node_limit().time_to_end(), Some(Duration::ZERO));
    }

    #[test]
    fn a_part_never_exceeds_the_whole() {
        let mut whole = Budget::unlimited().with_node_limit(10);
        whole.spend(7);
        let part = whole.part(Some(100), None);
        assert_eq!(part.nodes_left(), Some(3));
    }

    #[test]
    fn uncounted_work_still_ends_on_request() {
        let flag = Arc::new(AtomicBool::new(false));
        let whole = Budget::unlimited().with_node_limit(1).with_cancel(Arc::clone(&flag));
        let mut free = whole.without_node_limit();
        assert_eq!(free.spend(10), None);
        let mut spent = whole.clone();
        spent.spend(2);
        assert_eq!(spent.without_node_limit().check(), None);
        flag.store(true, Ordering::Relaxed);
        assert_eq!(free.check(), Some(Stop::Interrupted));
    }
}
