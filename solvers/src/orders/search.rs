//! Depth-first search for an order whose peak is within a limit, with a memo of failed downsets.

use super::ahead::Ahead;
use super::draft::Reach;
use super::memo::{Memo, Seen};
use super::net::{Net, State, bits};
use super::settle::{Settling, settle};
use plimsoll_model::{Budget, Stop};

/// Switches of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderRules {
    /// Apply safe runs immediately.
    pub settling: Settling,
    /// Store failed downsets.
    pub memo: bool,
    /// Prune downsets at which the lookahead bound of a remaining node exceeds the limit.
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
pub(super) enum Verdict {
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
}

impl<'a> Search<'a> {
    pub fn new(net: &'a Net, reach: &Reach, rules: OrderRules) -> Self {
        let ahead = rules.ahead.then(|| Ahead::of(net, reach));
        let memo = Memo::new(net.words(), rules.memo_bytes);
        let state = State::new(net);
        let (trail, frames, options) = (Vec::new(), Vec::new(), Vec::new());
        Self { net, rules, ahead, memo, state, trail, frames, options, limit: 0, over: 0 }
    }

    /// Decides whether the peak of some order is at most `limit`. One node of the budget is one downset after
    /// its safe runs.
    pub fn decide(&mut self, limit: u64, budget: &mut Budget) -> Verdict {
        self.undo(0);
        self.memo.clear();
        self.frames.clear();
        self.options.clear();
        (self.limit, self.over) = (limit, u64::MAX);
        if let Some(ahead) = &self.ahead
            && ahead.most() > limit
        {
            return Verdict::Refuted(ahead.most());
        }
        if self.state.live > limit {
            return Verdict::Refuted(self.state.live);
        }
        let mut live = self.enter();
        loop {
            if live && self.state.left == 0 {
                return Verdict::Found(self.trail.iter().map(|&(node, _)| node).collect());
            }
            if let Some(stop) = tick(self.net, budget) {
                return Verdict::Stopped(stop);
            }
            if live {
                self.open();
            } else {
                let jump = self.reached_from();
                self.fail_to(jump);
            }
            let Some(node) = self.next() else {
                return Verdict::Refuted(self.over);
            };
            live = self.step(node) && self.enter();
        }
    }

    /// Runs a node. Returns false if the lookahead bound of a remaining node then exceeds the limit.
    fn step(&mut self, node: u32) -> bool {
        let live = self.state.live;
        self.state.run(node);
        self.trail.push((node, live));
        let Some(ahead) = &mut self.ahead else { return true };
        let need = ahead.run(self.net, node, &self.state.done);
        if need > self.limit {
            self.over = self.over.min(need);
        }
        need <= self.limit
    }

    /// Applies safe runs. Returns false if the lookahead bound of a remaining node then exceeds the limit.
    fn enter(&mut self) -> bool {
        let (from, limit) = (self.trail.len(), self.limit);
        settle(&mut self.state, limit, self.rules.settling, &mut self.trail);
        let Some(ahead) = &mut self.ahead else { return true };
        let ran = self.trail[from..].iter();
        let need = ran.map(|&(node, _)| ahead.run(self.net, node, &self.state.done)).max().unwrap_or(0);
        if need > limit {
            self.over = self.over.min(need);
        }
        need <= limit
    }

    /// Looks up the current downset in the memo. If it is new, opens a frame with the nodes that can run
    /// next.
    fn open(&mut self) {
        let jump = self.reached_from();
        if self.rules.memo {
            if self.memo.crowded() {
                let net = self.net;
                self.memo.grow(|row| hash(net, row));
            }
            if let Seen::Known(_) = self.memo.show(&self.state.done, self.state.hash, true) {
                self.fail_to(jump);
                return;
            }
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
        self.frames.push(Frame { trail: self.trail.len(), live: self.state.live, options, jump });
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
            let jump = frame.jump;
            self.fail_to(jump);
        }
    }

    /// Removes the frames from `jump` on.
    fn fail_to(&mut self, jump: usize) {
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
            if frame.live < self.state.live || looks == 0 {
                break;
            }
            let run = &self.trail[frame.trail..];
            if !least(self.net, &self.state, run, &mut looks) {
                break;
            }
            jump -= 1;
        }
        jump
    }
}

/// Counts one downset as a node of the budget. In large nets, every downset takes long to process, so the
/// clock is read every time.
pub(super) fn tick(net: &Net, budget: &mut Budget) -> Option<Stop> {
    if net.len() < LARGE_NODES {
        return budget.tick();
    }
    budget.check().or_else(|| {
        budget.spend(1);
        None
    })
}

/// A net of at least this number of nodes is large.
const LARGE_NODES: usize = 300;

/// Returns the hash of a row, equal to the hash that a [`State`] maintains.
pub(super) fn hash(net: &Net, row: &[u64]) -> u64 {
    bits(row).fold(0, |hash, node| hash ^ net.key(node))
}

/// Returns true if no downset between the state without `run` and `state` has fewer live bytes than `state`.
/// Returns false if there is such a downset, or if more than `looks` downsets must be examined.
fn least(net: &Net, state: &State<'_>, run: &[(u32, u64)], looks: &mut usize) -> bool {
    let mut own = state.clone();
    let mut between = Between { net, run, ground: state.live, looks };
    between.take(&mut own, run.len())
}

/// Enumerates all downsets between two downsets.
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
