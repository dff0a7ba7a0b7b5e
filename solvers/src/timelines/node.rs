//! A partial timeline: its times, its free memory, and bounds on its completions.

use plimsoll_model::timelines::{Time, TimelineProblem};

/// A problem in the form of plain numbers, shared by all nodes.
pub(super) struct Case<'a> {
    pub problem: &'a TimelineProblem,
    /// Per operator: computing time in picoseconds.
    pub compute: Vec<u64>,
    /// Per operator: time in picoseconds to fetch its weights, or zero if it has none.
    pub load: Vec<u64>,
    /// Per operator: bytes of its weight buffer, rounded up to the alignment.
    pub size: Vec<i64>,
    /// Positions of the operators with weights, in ascending order.
    pub weighted: Vec<usize>,
    /// On-chip bytes, rounded down to the alignment. `floor` contains the activations of each operator in
    /// bytes, rounded up; they lie below all weight buffers.
    #[cfg_attr(not(feature = "ilp"), expect(dead_code, reason = "used only by the integer program"))]
    pub capacity: i64,
    #[cfg_attr(not(feature = "ilp"), expect(dead_code, reason = "used only by the integer program"))]
    pub floor: Vec<i64>,
    /// Per operator: on-chip bytes that remain after its activations and its own weight buffer.
    space: Vec<i64>,
    /// Per operator: the buffers of later operators that can be live while it runs.
    ahead: Vec<Ahead>,
    pub channels: usize,
}

/// Tables of the buffers of later operators. They bound the transfer time that can be saved by prefetching a
/// given number of bytes.
#[derive(Clone, Debug, Default)]
struct Ahead {
    /// In descending order of transfer time per byte: size and transfer time of each buffer, and the sums of
    /// both over the buffers before it.
    dense: Vec<(i64, u64, i64, u64)>,
    /// In ascending order of size: the size of each buffer, and two sums over the buffers before it. The
    /// first sum adds up their sizes, the second the transfer times of full buffers of these sizes. A
    /// sentinel follows the last buffer.
    sizes: Vec<(i64, i64, u128)>,
}

/// Maximum number of operators with weights for which the tables are built. The limit exists because the size
/// of the tables is quadratic. Without the tables, the last rule of `Node::bound` is skipped.
const MOST_AHEAD: usize = 1500;

/// A buffer that may be live: its size, the transfer time of its contents, and the transfer time of a full
/// buffer of its size.
#[derive(Clone, Copy)]
struct Item {
    size: i64,
    load: u64,
    full: u64,
}

impl Ahead {
    /// Builds the tables. `dense` must be in descending order of transfer time per byte, and `sizes` in
    /// ascending order of size.
    fn of(dense: &[Item], sizes: &[Item]) -> Self {
        let (mut bytes, mut time) = (0, 0);
        let dense = dense.iter().map(|one| {
            let entry = (one.size, one.load, bytes, time);
            (bytes, time) = (bytes + one.size, time + one.load);
            entry
        });
        let dense = dense.collect();
        let (mut bytes, mut time) = (0, 0u128);
        let mut all = Vec::with_capacity(sizes.len() + 1);
        for one in sizes {
            all.push((one.size, bytes, time));
            (bytes, time) = (bytes + one.size, time + u128::from(one.full));
        }
        all.push((i64::MAX, bytes, time));
        Self { dense, sizes: all }
    }

    /// Returns an upper bound on the transfer time of buffers with at most `space` bytes in total.
    ///
    /// One upper bound is the fractional relaxation, in which the densest buffers come first. The other
    /// counts how many of the smallest buffers fit. No choice contains more buffers than this number k. The
    /// total transfer time of the k largest buffers that fit alone, counted as full, is therefore an upper
    /// bound.
    fn saved(&self, space: i64) -> u64 {
        if space <= 0 {
            return 0;
        }
        let fit = self.sizes.partition_point(|&(_, before, _)| before <= space) - 1;
        let alone = self.sizes[..self.sizes.len() - 1].partition_point(|&(size, _, _)| size <= space);
        let largest = self.sizes[alone].2 - self.sizes[alone - fit.min(alone)].2;
        let whole = self.dense.partition_point(|&(size, _, before, _)| before + size <= space);
        let Some(&(_, _, bytes, time)) = self.dense.get(whole) else {
            return self.dense.last().map_or(0, |&(_, load, _, before)| before + load);
        };
        // The first later buffer that fits by itself contributes a fraction.
        let next = self.dense[whole..].iter().find(|one| one.0 <= space);
        let part = next.map_or(0, |&(size, load, ..)| {
            (u128::from(load) * (space - bytes) as u128).div_ceil(size as u128) as u64
        });
        u128::from(time + part).min(largest) as u64
    }
}

impl<'a> Case<'a> {
    pub fn new(problem: &'a TimelineProblem) -> Self {
        let count = problem.len();
        let alignment = problem.alignment().get();
        // Offsets and sizes of buffers are multiples of the alignment. Bytes below a buffer are therefore
        // rounded up, and the capacity is rounded down. All sizes of a problem add up to less than 2^63, so a
        // larger capacity has no effect.
        let up = |bytes: u64| i64::try_from(bytes.checked_next_multiple_of(alignment).unwrap_or(u64::MAX));
        let up = |bytes: u64| up(bytes).unwrap_or(i64::MAX);
        let capacity = problem.capacity().get();
        let capacity = i64::try_from(capacity - capacity % alignment).unwrap_or(i64::MAX);
        let size: Vec<i64> = (0..count).map(|at| problem.buffer(at).get() as i64).collect();
        let load: Vec<u64> = (0..count).map(|at| problem.load(at).unwrap_or_default().get()).collect();
        let operators = problem.operators();
        let floor: Vec<i64> = operators.iter().map(|one| up(one.activations.get())).collect();
        let space = (0..count).map(|at| capacity.saturating_sub(floor[at]).saturating_sub(size[at]));
        let space = space.collect();
        let weighted = problem.weighted();
        let mut case = Self {
            problem,
            compute: operators.iter().map(|one| one.compute.get()).collect(),
            capacity,
            floor,
            space,
            ahead: Vec::new(),
            // More channels than transfers have no effect.
            channels: (problem.dma().channels as usize).min(weighted.len().max(1)),
            load,
            size,
            weighted,
        };
        if case.weighted.len() <= MOST_AHEAD {
            case.look_ahead();
        }
        case
    }

    /// Computes the tables of the buffers of later operators, for every operator. The time is O(n^2) for n
    /// operators.
    fn look_ahead(&mut self) {
        let dma = self.problem.dma();
        let (mut dense, mut sizes): (Vec<Item>, Vec<Item>) = (Vec::new(), Vec::new());
        for at in (0..self.len()).rev() {
            self.ahead.push(Ahead::of(&dense, &sizes));
            if self.load[at] > 0 {
                let (size, load) = (self.size[at], self.load[at]);
                let full =
                    Time::at_rate(size as u64, dma.bandwidth).and_then(|time| time.checked_add(dma.startup));
                let item = Item { size, load, full: full.map_or(u64::MAX, Time::get).max(load) };
                let product = |time: u64, size: i64| u128::from(time) * size as u128;
                let denser = |other: &Item| product(other.load, size) >= product(load, other.size);
                dense.insert(dense.partition_point(denser), item);
                sizes.insert(sizes.partition_point(|other| other.size < size), item);
            }
        }
        self.ahead.reverse();
    }

    pub fn len(&self) -> usize {
        self.compute.len()
    }
}

/// Prefix sums of the sorted times at which channels are free.
struct Levels(Vec<u128>);

impl Levels {
    /// Returns the earliest time by which the channels can have done `work` of transfer time in total. For
    /// each k, the k channels that are free first reach a common level if they share the work. The lowest of
    /// these levels is the result.
    fn after(&self, work: u64) -> u64 {
        let levels = self.0.iter().zip(1u128..).map(|(&sum, count)| (sum + u128::from(work)).div_ceil(count));
        levels.min().map_or(0, |level| level as u64)
    }
}

/// A transfer: operator, start, channel.
pub(super) type Start = (usize, u64, usize);

/// The transfers started so far, and their consequences.
#[derive(Clone)]
pub(super) struct Node {
    pub starts: Vec<Start>,
    /// Per channel: the time at which it is free.
    pub free: Vec<u64>,
    /// Per operator: the time at which its weights arrive, if their transfer has started.
    pub arrived: Vec<Option<u64>>,
    /// Ends of the timed operators: the longest prefix of operators whose transfers, if any, have all
    /// started.
    pub ends: Vec<u64>,
    /// Per operator: bytes that are still free while it computes. Its own weight buffer counts as occupied.
    pub slack: Vec<i64>,
    /// True if all remaining buffers fit into on-chip memory at once, so transfers never wait for memory.
    pub calm: bool,
    /// True if the search considers addresses. A node of such a search never becomes calm.
    careful: bool,
}

impl Node {
    pub fn root(case: &Case<'_>) -> Self {
        Self::new(case, false)
    }

    /// Returns the root for a search that considers addresses.
    pub fn careful(case: &Case<'_>) -> Self {
        Self::new(case, true)
    }

    fn new(case: &Case<'_>, careful: bool) -> Self {
        let mut node = Self {
            starts: Vec::new(),
            free: vec![0; case.channels],
            arrived: vec![None; case.len()],
            ends: Vec::with_capacity(case.len()),
            slack: case.space.clone(),
            calm: false,
            careful,
        };
        node.compute(case);
        node.settle(case);
        node
    }

    /// Computes the ends of the operators before the first one whose transfer has not started.
    fn compute(&mut self, case: &Case<'_>) {
        while self.ends.len() < case.len() {
            let at = self.ends.len();
            let fetched = if case.load[at] == 0 { Some(0) } else { self.arrived[at] };
            let Some(fetched) = fetched else { return };
            let start = fetched.max(self.last());
            self.ends.push(start + case.compute[at]);
        }
    }

    /// Makes the node calm if all remaining buffers fit at once. A calm node remains calm.
    fn settle(&mut self, case: &Case<'_>) {
        if self.calm || self.careful {
            return;
        }
        let (now, _) = self.next();
        let rest: i64 = self.open(case).map(|at| case.size[at]).sum();
        if self.slack[self.running(now)..].iter().all(|&slack| rest <= slack) {
            self.calm = true;
            self.free.iter_mut().for_each(|free| *free = now.max(*free));
        }
    }

    /// Returns the operators whose transfers have not started, in ascending order.
    pub fn open<'b>(&'b self, case: &'b Case<'_>) -> impl Iterator<Item = usize> + 'b {
        let from = case.weighted.partition_point(|&at| at < self.ends.len());
        case.weighted[from..].iter().copied().filter(|&at| self.arrived[at].is_none())
    }

    pub fn last(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the number of timed operators that have ended by `now`.
    pub fn running(&self, now: u64) -> usize {
        self.ends.partition_point(|&end| end <= now)
    }

    /// Returns the earliest start of the next transfer, and its channel.
    pub fn next(&self) -> (u64, usize) {
        let (channel, &free) =
            self.free.iter().enumerate().min_by_key(|&(_, free)| free).expect("there is a channel");
        let last = self.starts.last().filter(|_| !self.calm).map_or(0, |start| start.1);
        (free.max(last), channel)
    }

    /// Returns the earliest start, at or after `start`, of the transfer for operator `at` such that its
    /// buffer fits until the operator has run. Returns `None` if another transfer must start first.
    pub fn earliest(&self, case: &Case<'_>, at: usize, mut start: u64) -> Option<u64> {
        loop {
            let running = self.running(start).min(at);
            let crowded = self.slack[running..at].iter().rposition(|&slack| slack < case.size[at]);
            let Some(crowded) = crowded else { return Some(start) };
            start = *self.ends.get(running + crowded)?;
        }
    }

    /// Returns the node with one more transfer on a channel. The transfer may start before the previous ones
    /// only if all operators before `at` are timed.
    pub fn started_on(&self, case: &Case<'_>, at: usize, start: u64, channel: usize) -> Self {
        let mut node = self.clone();
        let end = start + case.load[at];
        let running = node.running(start).min(at);
        for slack in &mut node.slack[running..at] {
            *slack -= case.size[at];
        }
        node.free[channel] = end;
        node.arrived[at] = Some(end);
        node.starts.push((at, start, channel));
        node.compute(case);
        node.settle(case);
        node
    }

    /// Returns the [`Levels`] of the channels from `now` on.
    fn levels(&self, now: u64) -> Levels {
        let mut free: Vec<u64> = self.free.iter().map(|&free| free.max(now)).collect();
        free.sort_unstable();
        let mut sum = 0;
        let sums = free.into_iter().map(|free| {
            sum += u128::from(free);
            sum
        });
        Levels(sums.collect())
    }

    /// Returns a lower bound on the makespan of any timeline that begins with the started transfers.
    ///
    /// Each untimed operator waits for the previous one, for its own transfer, and for the transfers of all
    /// operators before it. Its own transfer starts after the end of the last earlier operator during which
    /// its buffer does not fit. The operator also waits for transfers that could not start during an earlier
    /// operator because their buffers did not fit.
    pub fn bound(&self, case: &Case<'_>) -> u64 {
        let channels = case.channels as u64;
        let (now, _) = self.next();
        let running = self.running(now);
        let levels = self.levels(now);
        let mut ends = self.ends.clone();
        let mut work = 0u64;
        // Some transfers can start only after an earlier operator ends. For an operator that ends at e, let
        // p be e times the number of channels, minus the work up to the operator, minus the work that can be
        // prefetched during it. `pushed` is the maximum of p over the operators so far.
        let mut pushed = i128::MIN;
        let push = |at: usize, end: u64, work: u64| {
            let ahead = case.ahead.get(at)?;
            let saved = ahead.saved(self.slack[at]);
            Some(i128::from(end) * i128::from(channels) - i128::from(work) - i128::from(saved))
        };
        for at in running..self.ends.len() {
            pushed = pushed.max(push(at, self.ends[at], 0).unwrap_or(i128::MIN));
        }
        for at in self.ends.len()..case.len() {
            let mut start = ends.last().copied().unwrap_or(0);
            if let Some(arrived) = self.arrived[at] {
                start = start.max(arrived);
            } else if case.load[at] > 0 {
                let load = case.load[at];
                work += load;
                let from = running.min(at);
                let crowded = self.slack[from..at].iter().rposition(|&slack| slack < case.size[at]);
                let earliest = crowded.map_or(now, |crowded| now.max(ends[from + crowded]));
                start = start.max(earliest + load).max(levels.after(work));
                if pushed > i128::MIN {
                    let level = (pushed + i128::from(work)).max(0) as u128;
                    start = start.max(level.div_ceil(u128::from(channels)) as u64);
                }
            }
            let end = start + case.compute[at];
            ends.push(end);
            pushed = pushed.max(push(at, end, work).unwrap_or(i128::MIN));
        }
        ends.last().copied().unwrap_or(0)
    }
}
