//! Depth-first search for an order whose peak is within a limit, with a memo of failed downsets.

use super::ahead::Ahead;
use super::draft::Reach;
use super::log::{Log, MOST_OPERATORS, Wrong};
use super::memo::{Memo, Seen};
use super::net::{Net, State, bits};
use super::settle::{Settling, settle};
use plimsoll_model::{Budget, Stop};

/// Switches of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderRules {
    /// The safe runs to apply immediately.
    pub settling: Settling,
    /// Whether to store failed downsets.
    pub memo: bool,
    /// Whether to prune downsets at which the lookahead bound of a remaining node exceeds the limit.
    pub ahead: bool,
    /// Maximum number of downsets to examine in order to propagate the failure of a downset to its ancestors.
    /// A failure propagates to an ancestor if no downset in between has fewer live bytes than the failed
    /// downset. The value 0 disables this propagation.
    pub jump: usize,
    /// Memory limit of the memo, in bytes.
    pub memo_bytes: usize,
}

impl Default for OrderRules {
    fn default() -> Self {
        Self { settling: Settling::default(), memo: true, ahead: true, jump: 32, memo_bytes: 1 << 30 }
    }
}

/// Result of a search under a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Found(Vec<u32>),
    /// A lower bound on the peak of every order. It exceeds the limit.
    Refuted(u64),
    Stopped(Stop),
}

/// A downset on the current path, after all safe runs.
#[derive(Clone, Debug)]
struct Frame {
    /// Length of the trail at this frame.
    trail: usize,
    live: u64,
    /// Index of the first option in the shared list.
    options: usize,
    /// If this frame fails, all frames from this index on also fail.
    jump: usize,
    /// The number of the downset in the log.
    set: u32,
}

/// Depth-first search over downsets.
pub(super) struct Search<'a> {
    net: &'a Net,
    rules: OrderRules,
    ahead: Option<Ahead>,
    memo: Memo,
    state: State<'a>,
    /// The nodes that have run, each with the live bytes before it.
    trail: Vec<(u32, u64)>,
    frames: Vec<Frame>,
    options: Vec<u32>,
    limit: u64,
    over: u64,
    /// Whether the lookahead bounds at the current downset are within the limit.
    fits: bool,
    log: Option<Log>,
    /// The number of the current downset in the log.
    at: u32,
}

impl<'a> Search<'a> {
    pub fn new(net: &'a Net, reach: &Reach, rules: OrderRules) -> Self {
        let ahead = rules.ahead.then(|| Ahead::of(net, reach));
        let memo = Memo::new(net.words(), rules.memo_bytes);
        let state = State::new(net);
        let (trail, frames, options) = (Vec::new(), Vec::new(), Vec::new());
        let (limit, over, fits, log, at) = (0, 0, true, None, 0);
        Self { net, rules, ahead, memo, state, trail, frames, options, limit, over, fits, log, at }
    }

    /// Decides whether the peak of some order is at most `limit`. One node of the budget is one downset after
    /// its safe runs. If the budget runs out, [`Search::resume`] continues.
    pub fn decide(&mut self, limit: u64, log: Option<Log>, budget: &mut Budget) -> Decision {
        self.undo(0);
        self.memo.clear();
        self.frames.clear();
        self.options.clear();
        (self.limit, self.over, self.log) = (limit, u64::MAX, log);
        self.at = self.log.as_mut().map_or(0, |log| log.number(&self.state));
        let limit = self.most_needed();
        if let Some(ahead) = &self.ahead
            && ahead.most() > limit
        {
            let need = ahead.most();
            if let (Some(log), Some(node)) = (&mut self.log, ahead.above(limit, &self.state.done)) {
                log.needs(self.at, node);
            }
            return Decision::Refuted(need);
        }
        if self.state.live > self.limit {
            if let Some(log) = &mut self.log {
                log.every(self.at);
            }
            return Decision::Refuted(self.state.live);
        }
        self.fits = self.enter();
        self.resume(budget)
    }

    /// Continues a search whose budget ran out.
    pub fn resume(&mut self, budget: &mut Budget) -> Decision {
        loop {
            if self.fits && self.state.left == 0 {
                return Decision::Found(self.trail.iter().map(|&(node, _)| node).collect());
            }
            if let Some(stop) = tick(self.net, budget) {
                return Decision::Stopped(stop);
            }
            if self.log.as_ref().is_some_and(Log::is_full) {
                return Decision::Stopped(Stop::NodeLimit);
            }
            if self.fits {
                self.open();
            } else {
                let jump = self.reached_from();
                self.fail_to(jump, self.at, self.trail.len());
            }
            let Some(node) = self.next() else {
                return Decision::Refuted(self.over);
            };
            self.fits = self.step(node) && self.enter();
        }
    }

    /// Returns the log of the search, if it keeps one.
    pub fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    fn is_wrong(&self, rule: Wrong) -> bool {
        self.log.as_ref().is_some_and(|log| log.is_wrong(rule))
    }

    /// Returns the largest number of bytes that a remaining node may need.
    fn most_needed(&self) -> u64 {
        self.limit.saturating_sub(self.is_wrong(Wrong::Needs).into())
    }

    /// Runs a node. Returns false if the lookahead bound of a remaining node then exceeds the limit.
    fn step(&mut self, node: u32) -> bool {
        let live = self.state.live;
        self.state.run(node);
        self.trail.push((node, live));
        if let Some(log) = &mut self.log {
            self.at = log.number(&self.state);
            if let Some(frame) = self.frames.last() {
                log.child(frame.set, self.at);
            }
        }
        self.look(self.trail.len() - 1)
    }

    /// Applies safe runs. Returns false if the lookahead bound of a remaining node then exceeds the limit.
    fn enter(&mut self) -> bool {
        let from = self.trail.len();
        settle(&mut self.state, self.limit, self.rules.settling, &mut self.trail);
        if self.is_wrong(Wrong::Run) && self.trail.len() == from {
            let node = bits(&self.state.ready).find(|&node| self.state.probe(node).peak <= self.limit);
            if let Some(node) = node {
                self.trail.push((node, self.state.live));
                self.state.run(node);
            }
        }
        if let Some(log) = &mut self.log
            && self.trail.len() > from
        {
            let to = log.number(&self.state);
            log.run(self.at, &self.trail[from..], self.state.live, to);
            self.at = to;
        }
        self.look(from)
    }

    /// Updates the lookahead bounds for the nodes that ran last: those of the trail from index `from` on.
    /// Returns false if the bound of a remaining node then exceeds the limit.
    fn look(&mut self, from: usize) -> bool {
        let limit = self.most_needed();
        let Some(ahead) = &mut self.ahead else { return true };
        let ran = self.trail[from..].iter();
        let (need, node) =
            ran.map(|&(node, _)| ahead.run(self.net, node, &self.state.done)).max().unwrap_or_default();
        if need <= limit {
            return true;
        }
        self.over = self.over.min(need);
        if let Some(log) = &mut self.log {
            log.needs(self.at, node);
        }
        false
    }

    /// Looks up the current downset in the memo. If it is new, opens a frame with the nodes that can run
    /// next.
    fn open(&mut self) {
        let jump = self.reached_from();
        let is_known = match &self.log {
            Some(log) => log.is_refuted(self.at),
            None => self.rules.memo && self.is_in_memo(),
        };
        if is_known {
            self.fail_to(jump, self.at, self.trail.len());
            return;
        }
        let options = self.options.len();
        let mut list: Vec<(u64, u64, u32)> = Vec::new();
        for node in bits(&self.state.ready) {
            let effect = self.state.probe(node);
            if effect.peak <= self.limit {
                list.push((effect.live, effect.peak, node));
            } else {
                self.over = self.over.min(effect.peak);
            }
        }
        // Options are tried from the end of the list.
        list.sort_unstable_by(|a, b| b.cmp(a));
        self.options.extend(list.into_iter().map(|(_, _, node)| node));
        if self.is_wrong(Wrong::Every) && self.options.len() > options + 1 {
            self.options.pop();
        }
        let (trail, live, set) = (self.trail.len(), self.state.live, self.at);
        self.frames.push(Frame { trail, live, options, jump, set });
    }

    /// Looks up the current downset in the memo, and stores it if it is new.
    fn is_in_memo(&mut self) -> bool {
        matches!(self.memo.show(&self.state), Seen::Known(_))
    }

    /// Returns the next node to run, or `None` if every option has failed.
    fn next(&mut self) -> Option<u32> {
        loop {
            let frame = self.frames.last()?;
            if self.options.len() > frame.options {
                let trail = frame.trail;
                self.undo(trail);
                return self.options.pop();
            }
            let (jump, set, trail) = (frame.jump, frame.set, frame.trail);
            if let Some(log) = &mut self.log {
                log.every(set);
            }
            self.fail_to(jump, set, trail);
        }
    }

    /// Removes the frames from index `jump` on. They fail because the downset with number `set`, which
    /// consists of the first `upto` nodes of the trail, fails.
    fn fail_to(&mut self, jump: usize, set: u32, upto: usize) {
        if let Some(log) = &mut self.log {
            for frame in self.frames.iter().skip(jump) {
                log.group(frame.set, &self.trail[frame.trail..upto], set);
            }
        }
        if let Some(frame) = self.frames.get(jump) {
            self.options.truncate(frame.options);
            self.frames.truncate(jump);
        }
    }

    fn undo(&mut self, to: usize) {
        while self.trail.len() > to {
            let Some((node, live)) = self.trail.pop() else { return };
            self.state.unrun(node, live);
            if let Some(ahead) = &mut self.ahead {
                ahead.unrun(self.net, node);
            }
        }
    }

    /// Returns the index of the lowest frame whose failure follows from that of the current downset, or the
    /// number of frames if there is none. The argument in [`settle`](super::settle) requires that no downset
    /// in between has fewer live bytes than the current one.
    fn reached_from(&self) -> usize {
        let mut jump = self.frames.len();
        let mut looks = self.rules.jump;
        while jump > 0 {
            let frame = &self.frames[jump - 1];
            if frame.live < self.state.live && !self.is_wrong(Wrong::Group) || looks == 0 {
                break;
            }
            let run = &self.trail[frame.trail..];
            if self.is_wrong(Wrong::Group) && run.len() <= MOST_OPERATORS {
                jump -= 1;
                continue;
            }
            let is_short = self.log.is_none() || run.len() <= MOST_OPERATORS;
            if !is_short || !least(self.net, &self.state, run, &mut looks) {
                break;
            }
            jump -= 1;
        }
        jump
    }
}

/// Counts one downset as a node of the budget. In large nets, processing a downset takes much longer than
/// reading the clock, so the clock is read every time.
pub(super) fn tick(net: &Net, budget: &mut Budget) -> Option<Stop> {
    if net.len() < LARGE_NODES {
        return budget.tick();
    }
    budget.check().or_else(|| {
        budget.spend(1);
        None
    })
}

/// Minimum number of nodes of a large net.
const LARGE_NODES: usize = 300;

/// Returns true if no downset between the state without `run` and `state` has fewer live bytes than `state`.
/// Returns false if there is such a downset, or if more than `looks` downsets must be examined.
pub(super) fn least(net: &Net, state: &State<'_>, run: &[(u32, u64)], looks: &mut usize) -> bool {
    let mut own = state.clone();
    let mut between = Between { net, run, ground: state.live, looks };
    between.take(&mut own, run.len())
}

/// An enumeration of all downsets between two downsets.
struct Between<'a> {
    net: &'a Net,
    run: &'a [(u32, u64)],
    ground: u64,
    looks: &'a mut usize,
}

impl Between<'_> {
    /// Removes nodes in every possible way, in descending order of their position in `run`, so that every
    /// downset is visited once. Returns false if a downset has fewer than `ground` live bytes, or if too
    /// many downsets must be examined.
    fn take(&mut self, own: &mut State<'_>, upto: usize) -> bool {
        for at in (0..upto).rev() {
            let node = self.run[at].0;
            let ran = |next: &u32| own.done[*next as usize / 64] >> (next % 64) & 1 == 1;
            if self.net.after[node as usize].iter().any(ran) {
                continue;
            }
            let before = own.before(node);
            if *self.looks == 0 || before < self.ground {
                return false;
            }
            *self.looks -= 1;
            own.unrun(node, before);
            let fits = self.take(own, at);
            own.run(node);
            if !fits {
                return false;
            }
        }
        true
    }
}
