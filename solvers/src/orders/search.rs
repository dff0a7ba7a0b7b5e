//! Depth first under a limit, failed downsets remembered.

use super::ahead::Ahead;
use super::draft::Reach;
use super::memo::{Memo, Seen};
use super::net::{Net, State, bits};
use super::settle::{Settling, settle};
use plimsoll_model::{Budget, Stop};

/// Switches of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderRules {
    /// Runs that lose nothing are made at once.
    pub settling: Settling,
    /// Failed downsets are remembered.
    pub memo: bool,
    /// Downsets are given up where a node that is left will need too much.
    pub ahead: bool,
    /// A failure is carried over to what it was reached from, where it began no lower; looks at so many downsets in
    /// between, 0 for never.
    pub jump: usize,
    /// The memo takes at most so many bytes.
    pub memo_bytes: usize,
}

impl Default for OrderRules {
    fn default() -> Self {
        Self { settling: Settling::default(), memo: true, ahead: true, jump: 32, memo_bytes: 1 << 30 }
    }
}

/// What is known after a search under a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Found(Vec<u32>),
    /// No order has a lower peak than this, which is above the limit.
    Refuted(u64),
    Stopped(Stop),
}

/// A settled downset on the way.
#[derive(Clone, Debug)]
struct Frame {
    /// Nodes run so far.
    trail: usize,
    alive: u64,
    /// First of its options among all.
    options: usize,
    /// Where it fails, so do all frames from this one on.
    jump: usize,
}

/// Depth-first search over downsets.
pub(super) struct Search<'a> {
    net: &'a Net,
    rules: OrderRules,
    ahead: Option<Ahead>,
    memo: Memo,
    state: State<'a>,
    /// Nodes run, with what was alive before each.
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

    /// Is there an order in which no step exceeds the limit? One node of the budget is one settled downset.
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
        if self.state.alive > limit {
            return Verdict::Refuted(self.state.alive);
        }
        let mut alive = self.enter();
        loop {
            if alive && self.state.left == 0 {
                return Verdict::Found(self.trail.iter().map(|&(node, _)| node).collect());
            }
            if let Some(stop) = tick(self.net, budget) {
                return Verdict::Stopped(stop);
            }
            if alive {
                self.open();
            } else {
                let jump = self.reached_from();
                self.fail_to(jump);
            }
            let Some(node) = self.next() else {
                return Verdict::Refuted(self.over);
            };
            alive = self.step(node) && self.enter();
        }
    }

    /// Runs a node; false where a node that is left then needs too much.
    fn step(&mut self, node: u32) -> bool {
        let alive = self.state.alive;
        self.state.run(node);
        self.trail.push((node, alive));
        let Some(ahead) = &mut self.ahead else { return true };
        let need = ahead.run(self.net, node, &self.state.done);
        if need > self.limit {
            self.over = self.over.min(need);
        }
        need <= self.limit
    }

    /// Settles; false where the downset is no use.
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

    /// Looks the settled downset up and lists what can run next.
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
                list.push((effect.alive, effect.peak, node));
            } else {
                self.over = self.over.min(effect.peak);
            }
        }
        // The last is tried first.
        list.sort_unstable_by(|a, b| b.cmp(a));
        self.options.extend(list.into_iter().map(|(_, _, node)| node));
        self.frames.push(Frame { trail: self.trail.len(), alive: self.state.alive, options, jump });
    }

    /// The next node to run; none where everything has failed.
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

    /// Drops frames from one on.
    fn fail_to(&mut self, jump: usize) {
        if let Some(frame) = self.frames.get(jump) {
            self.options.truncate(frame.options);
            self.frames.truncate(jump);
        }
    }

    fn undo(&mut self, to: usize) {
        while self.trail.len() > to {
            let Some((node, alive)) = self.trail.pop() else { return };
            self.state.unrun(node, alive);
            if let Some(ahead) = &mut self.ahead {
                ahead.unrun(self.net, node);
            }
        }
    }

    /// The lowest frame that is no better than the downset at hand: whose failure follows from its failure. The number
    /// of frames where there is none. See the module [`settle`](super::settle): what must be shown is that no downset in
    /// between has less alive.
    fn reached_from(&self) -> usize {
        let mut jump = self.frames.len();
        let mut looks = self.rules.jump;
        while jump > 0 {
            let frame = &self.frames[jump - 1];
            if frame.alive < self.state.alive || looks == 0 {
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

/// Counts one downset. Those of large nets take long, so the clock is read each time.
pub(super) fn tick(net: &Net, budget: &mut Budget) -> Option<Stop> {
    if net.len() < LARGE_NODES {
        return budget.tick();
    }
    budget.check().or_else(|| {
        budget.spend(1);
        None
    })
}

/// From so many nodes on a net is large.
const LARGE_NODES: usize = 300;

/// The hash of a row, as a state keeps it.
pub(super) fn hash(net: &Net, row: &[u64]) -> u64 {
    bits(row).fold(0, |hash, node| hash ^ net.key(node))
}

/// True where no downset between the state less `run` and the state has less alive. False too where `looks` run out.
fn least(net: &Net, state: &State<'_>, run: &[(u32, u64)], looks: &mut usize) -> bool {
    let mut own = state.clone();
    let mut between = Between { net, run, ground: state.alive, looks };
    between.take(&mut own, run.len())
}

/// All downsets between two.
struct Between<'a> {
    net: &'a Net,
    run: &'a [(u32, u64)],
    ground: u64,
    looks: &'a mut usize,
}

impl Between<'_> {
    /// Takes nodes off the end in every way, the last to have run first, so that every downset is met once; false where
    /// one has less alive than the ground.
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
