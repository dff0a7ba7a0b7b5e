//! What is known when some transfers have started: times, room, and how early everything else can be.

use plimsoll_model::overlap::{Time, TimelineProblem};

/// A problem in plain numbers, once for all nodes.
#[cfg_attr(not(feature = "ilp"), allow(dead_code))]
pub(super) struct Case<'a> {
    pub problem: &'a TimelineProblem,
    /// Per operator: picoseconds to compute.
    pub compute: Vec<u64>,
    /// Per operator: picoseconds to fetch its weights; zero without.
    pub load: Vec<u64>,
    /// Per operator: bytes of its buffer, rounded up.
    pub size: Vec<i64>,
    /// Positions of operators with weights, ascending.
    pub weighted: Vec<usize>,
    /// Bytes on chip, and per operator those below all buffers while it computes, rounded up.
    pub capacity: i64,
    pub floor: Vec<i64>,
    /// Per operator: bytes on chip beside activations and its own buffer.
    room: Vec<i64>,
    /// Per operator: what can be held beside it of what comes later.
    ahead: Vec<Ahead>,
    pub channels: usize,
}

/// Buffers of the operators behind one, ascending, with sums: how much fetching a number of bytes can take off.
#[derive(Clone, Debug, Default)]
struct Ahead {
    /// Ends with a sentinel: sizes, sums of sizes and of transfer times before each.
    sums: Vec<(i64, i64, u64)>,
}

/// Above this many operators with weights, what is held ahead is not looked at in nodes: tables take their square.
const MOST_AHEAD: usize = 1500;

impl Ahead {
    /// Of these sizes and the times to fetch as much, ascending.
    fn of(items: &[(i64, u64)]) -> Self {
        let (mut bytes, mut time) = (0i64, 0u64);
        let mut sums = Vec::with_capacity(items.len() + 1);
        for &(size, load) in items {
            sums.push((size, bytes, time));
            (bytes, time) = (bytes + size, time.saturating_add(load));
        }
        sums.push((i64::MAX, bytes, time));
        Self { sums }
    }

    /// At most this much transfer time is that of buffers which take no more than `room` bytes together.
    ///
    /// The start-up weighs most on the smallest, so the smallest first, the last in part, is no less than any choice; and no
    /// choice has more buffers than the smallest that fit, so that many of the largest are no less either.
    fn saved(&self, room: i64) -> u64 {
        let Some(&(_, _, all)) = self.sums.last() else { return 0 };
        if room <= 0 || all == u64::MAX {
            return if room <= 0 { 0 } else { all };
        }
        // So many fit whole.
        let fit = self.sums.partition_point(|&(_, before, _)| before <= room) - 1;
        let (size, bytes, time) = self.sums[fit];
        if fit + 1 == self.sums.len() {
            return all;
        }
        let alone = self.sums.partition_point(|&(size, _, _)| size <= room);
        let largest = self.sums[alone].2 - self.sums[alone - fit.min(alone)].2;
        if size > room {
            return time.min(largest);
        }
        let next = self.sums[fit + 1].2 - time;
        let part = (u128::from(next) * (room - bytes) as u128).div_ceil(size as u128) as u64;
        (time + part).min(largest)
    }
}

impl<'a> Case<'a> {
    pub fn new(problem: &'a TimelineProblem) -> Self {
        let count = problem.len();
        let alignment = problem.alignment().get();
        // Offsets are multiples of the alignment, so that what lies below a buffer counts as rounded up. All sizes of a problem
        // add up to less than 2^63: a larger capacity is none.
        let up = |bytes: u64| i64::try_from(bytes.checked_next_multiple_of(alignment).unwrap_or(u64::MAX));
        let up = |bytes: u64| up(bytes).unwrap_or(i64::MAX);
        let capacity = up(problem.capacity().get());
        let size: Vec<i64> = (0..count).map(|at| problem.buffer(at).get() as i64).collect();
        let load: Vec<u64> = (0..count).map(|at| problem.load(at).unwrap_or_default().get()).collect();
        let operators = problem.operators();
        let floor: Vec<i64> = operators.iter().map(|one| up(one.activations.get())).collect();
        let room = (0..count).map(|at| capacity.saturating_sub(floor[at]).saturating_sub(size[at]));
        let room = room.collect();
        let weighted = problem.weighted();
        let mut case = Self {
            problem,
            compute: operators.iter().map(|one| one.compute.get()).collect(),
            capacity,
            floor,
            room,
            ahead: Vec::new(),
            channels: problem.dma().channels as usize,
            load,
            size,
            weighted,
        };
        if case.weighted.len() <= MOST_AHEAD {
            let wholes = case.wholes();
            let mut items: Vec<(i64, u64)> = Vec::new();
            for at in (0..count).rev() {
                case.ahead.push(Ahead::of(&items));
                if case.load[at] > 0 {
                    let item = (case.size[at], wholes[at]);
                    let place = items.partition_point(|other| *other < item);
                    items.insert(place, item);
                }
            }
            case.ahead.reverse();
        }
        case
    }

    /// Per operator: the time to fetch as many bytes as its buffer has, where any of these is rounded with a picosecond more. It is
    /// no less than its load, grows with the buffer, and grows slower than that.
    fn wholes(&self) -> Vec<u64> {
        let dma = self.problem.dma();
        let picoseconds = |size: i64| size as u128 * 1_000_000_000_000;
        let rounded = self.size.iter().any(|&size| picoseconds(size) % u128::from(dma.bandwidth) != 0);
        let whole = |&size: &i64| {
            let bare = Time::at_rate(size as u64, dma.bandwidth).unwrap_or(Time::MAX);
            bare.get().saturating_add(dma.startup.get()).saturating_add(u64::from(rounded))
        };
        self.size.iter().map(whole).collect()
    }

    pub fn len(&self) -> usize {
        self.compute.len()
    }
}

/// Sums of the times when channels are free, ascending.
struct Levels(Vec<u128>);

impl Levels {
    /// The earliest time by which channels can have fetched for so long together: the level to which that fills them up, which is
    /// the least over the first one, two, and so on.
    fn after(&self, work: u64) -> u64 {
        let levels = self.0.iter().zip(1u128..).map(|(&sum, count)| (sum + u128::from(work)).div_ceil(count));
        levels.min().map_or(0, |level| level as u64)
    }
}

/// One transfer: whose, when, on which channel.
pub(super) type Start = (usize, u64, usize);

/// Transfers started so far, and what follows from them.
#[derive(Clone)]
pub(super) struct Node {
    pub starts: Vec<Start>,
    /// Per channel: when it is free.
    pub free: Vec<u64>,
    /// Per operator: when its weights are there.
    pub arrived: Vec<Option<u64>>,
    /// Per operator from the first on, as far as all weights are under way: when it ends.
    pub ends: Vec<u64>,
    /// Per operator: bytes that may still be held beside it.
    pub slack: Vec<i64>,
    /// True where everything left fits on chip at once: transfers follow each other on channels, whatever starts first.
    pub calm: bool,
    /// Addresses count: never calm.
    careful: bool,
}

impl Node {
    /// Where nothing has started.
    pub fn root(case: &Case<'_>) -> Self {
        Self::new(case, false)
    }

    /// The same where nothing becomes calm.
    pub fn careful(case: &Case<'_>) -> Self {
        Self::new(case, true)
    }

    fn new(case: &Case<'_>, careful: bool) -> Self {
        let mut node = Self {
            starts: Vec::new(),
            free: vec![0; case.channels],
            arrived: vec![None; case.len()],
            ends: Vec::with_capacity(case.len()),
            slack: case.room.clone(),
            calm: false,
            careful,
        };
        node.compute(case);
        node.settle(case);
        node
    }

    /// Times operators as far as their weights are under way.
    fn compute(&mut self, case: &Case<'_>) {
        while self.ends.len() < case.len() {
            let at = self.ends.len();
            let fetched = if case.load[at] == 0 { Some(0) } else { self.arrived[at] };
            let Some(fetched) = fetched else { return };
            let start = fetched.max(self.last());
            self.ends.push(start + case.compute[at]);
        }
    }

    /// Notes where everything left fits at once, from then on for good.
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

    /// Operators whose transfers have not started, ascending.
    pub fn open<'b>(&'b self, case: &'b Case<'_>) -> impl Iterator<Item = usize> + 'b {
        let from = case.weighted.partition_point(|&at| at < self.ends.len());
        case.weighted[from..].iter().copied().filter(|&at| self.arrived[at].is_none())
    }

    /// When the last operator timed ends.
    pub fn last(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The first operator that has not ended by then, of those timed.
    pub fn running(&self, now: u64) -> usize {
        self.ends.partition_point(|&end| end <= now)
    }

    /// When the next transfer can start at the earliest, and on which channel.
    pub fn next(&self) -> (u64, usize) {
        let (channel, &free) =
            self.free.iter().enumerate().min_by_key(|&(_, free)| free).expect("there is a channel");
        let last = self.starts.last().filter(|_| !self.calm).map_or(0, |start| start.1);
        (free.max(last), channel)
    }

    /// The earliest start of a transfer, from `start` on, with room for its buffer until it has run; none where another one must start before.
    pub fn earliest(&self, case: &Case<'_>, at: usize, mut start: u64) -> Option<u64> {
        loop {
            let running = self.running(start).min(at);
            let crowded = self.slack[running..at].iter().rposition(|&slack| slack < case.size[at]);
            let Some(crowded) = crowded else { return Some(start) };
            start = *self.ends.get(running + crowded)?;
        }
    }

    /// With one more transfer on some channel. It may start before others do if all operators before its own are timed.
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

    /// Channels as [`Levels`] from `now` on.
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

    /// No timeline with these transfers first ends before this.
    ///
    /// Each operator that is not timed yet waits for the one before; for all transfers up to it; for its own, which starts after
    /// the last operator beside which it does not fit; and for what could not be held beside an operator before it.
    pub fn bound(&self, case: &Case<'_>) -> u64 {
        let channels = case.channels as u64;
        let (now, _) = self.next();
        let running = self.running(now);
        let levels = self.levels(now);
        let mut ends = self.ends.clone();
        let mut work = 0u64;
        // Work that nothing but the end of some operator before can have let in: the largest of end times channels, less the
        // work up to it and what could be held beside it.
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
