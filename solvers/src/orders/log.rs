//! Records how a search refutes each downset, and writes the records as the statements of a proof.

use super::memo::{Memo, Seen};
use super::net::{Net, State};
use plimsoll_model::OperatorId;
use std::fmt::Write as _;

/// Maximum number of operators between two downsets that the checker compares.
pub(super) const MOST_OPERATORS: usize = 64;
/// Maximum size in bytes of all logged downsets. The checker has the same limit.
const MOST_BYTES: usize = 1 << 30;
/// A marker at the end of a list of children or of a group of nodes.
const END: u32 = u32::MAX;

/// Rules that tests make unsound, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests use unsound rules"))]
pub(super) enum Wrong {
    /// One of several next operators is not tried.
    Every,
    /// Operators run without alternatives although they raise the live bytes.
    Run,
    /// Groups of operators run without alternatives, regardless of the bytes that are live in between.
    Group,
    /// An operator that needs one byte less than the bound refutes a downset.
    Needs,
    /// Operators run first without justification.
    Skip,
    /// Operators run last without justification.
    Keep,
    /// Reversed orders start and end with the same storages as forward orders.
    Reverse,
    /// Simple bounds are one byte too high.
    Simple,
}

/// The reason why a downset is refuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The downset is not refuted yet. `last` is the link to its last child.
    Open { last: u32 },
    /// Every ready node exceeds the limit or leads to a child.
    Every { last: u32 },
    /// The nodes in this range of `moves` run without alternatives, and lead to another downset.
    Run { first: u32, end: u32, to: u32 },
    /// This node exceeds the limit whenever it runs.
    Needs(u32),
}

/// The downsets that a search has reached. The first downset is empty.
#[derive(Clone, Debug)]
pub(super) struct Log {
    sets: Memo,
    reasons: Vec<Reason>,
    /// The nodes of all runs. Each group is followed by [`END`].
    moves: Vec<u32>,
    /// Per link: the previous link and a child.
    links: Vec<(u32, u32)>,
    wrong: Option<Wrong>,
}

impl Log {
    pub fn new(net: &Net, wrong: Option<Wrong>) -> Self {
        let sets = Memo::new(net.words(), usize::MAX);
        Self { sets, reasons: Vec::new(), moves: Vec::new(), links: Vec::new(), wrong }
    }

    /// Returns true if a test makes this rule unsound.
    pub fn is_wrong(&self, rule: Wrong) -> bool {
        self.wrong == Some(rule)
    }

    /// Returns true if no more downsets should be added.
    pub fn is_full(&self) -> bool {
        self.sets.len() * (8 * self.sets.words() + 64) > MOST_BYTES
    }

    /// Returns the number of a downset, and adds it if it is new.
    pub fn number(&mut self, state: &State<'_>) -> u32 {
        match self.sets.show(state) {
            Seen::Known(at) => at,
            Seen::New(at) => {
                self.reasons.push(Reason::Open { last: END });
                at
            }
            Seen::Full => END,
        }
    }

    pub fn is_refuted(&self, at: u32) -> bool {
        !matches!(self.reasons[at as usize], Reason::Open { .. })
    }

    fn refute(&mut self, at: u32, reason: Reason) {
        if !self.is_refuted(at) {
            self.reasons[at as usize] = reason;
        }
    }

    /// Refutes a downset by a node that exceeds the limit.
    pub fn needs(&mut self, at: u32, node: u32) {
        self.refute(at, Reason::Needs(node));
    }

    /// Records that one step from a downset leads to another one.
    pub fn child(&mut self, at: u32, child: u32) {
        if let Reason::Open { last } = &mut self.reasons[at as usize] {
            self.links.push((*last, child));
            *last = self.links.len() as u32 - 1;
        }
    }

    /// Refutes a downset all of whose children are refuted.
    pub fn every(&mut self, at: u32) {
        if let Reason::Open { last } = self.reasons[at as usize] {
            self.reasons[at as usize] = Reason::Every { last };
        }
    }

    /// Refutes a downset after which these nodes run without alternatives. After each group, no more bytes
    /// are live than before it. Each node comes with the live bytes before it; `live` is the number of live
    /// bytes after the last node.
    pub fn run(&mut self, at: u32, nodes: &[(u32, u64)], live: u64, to: u32) {
        if nodes.is_empty() || self.is_refuted(at) {
            return;
        }
        let first = self.moves.len() as u32;
        let mut ground = None;
        for (place, &(node, before)) in nodes.iter().enumerate() {
            let least = *ground.get_or_insert(before);
            self.moves.push(node);
            if nodes.get(place + 1).map_or(live, |next| next.1) <= least || place + 1 == nodes.len() {
                self.moves.push(END);
                ground = None;
            }
        }
        self.reasons[at as usize] = Reason::Run { first, end: self.moves.len() as u32, to };
    }

    /// Refutes a downset like [`Log::run`], with a single group.
    pub fn group(&mut self, at: u32, nodes: &[(u32, u64)], to: u32) {
        if at == to || self.is_refuted(at) {
            return;
        }
        let first = self.moves.len() as u32;
        self.moves.extend(nodes.iter().map(|&(node, _)| node));
        self.moves.push(END);
        self.reasons[at as usize] = Reason::Run { first, end: self.moves.len() as u32, to };
    }

    /// Appends one statement for each downset on which the refutation of the empty one depends, in the order
    /// that the checker expects. Downsets are sorted by size, and those of equal size by their bitsets, read
    /// as numbers. All these downsets must be refuted. `operators` contains the operator of each node. The
    /// time is O(d log d) for d downsets.
    pub fn write(&self, operators: &[OperatorId], text: &mut String) {
        let mut is_known = vec![false; self.sets.len()];
        let (mut todo, mut all) = (vec![0u32], Vec::new());
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut is_known[at as usize], true) {
                continue;
            }
            all.push((super::draft::count(self.sets.row(at)), at));
            match self.reasons[at as usize] {
                Reason::Run { to, .. } => todo.push(to),
                Reason::Every { mut last } => {
                    while let Some(&(previous, child)) = self.links.get(last as usize) {
                        todo.push(child);
                        last = previous;
                    }
                }
                Reason::Needs(_) | Reason::Open { .. } => {}
            }
        }
        let number = |at: u32| self.sets.row(at).iter().rev();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| number(a.1).cmp(number(b.1))));
        for (_, at) in all {
            match self.reasons[at as usize] {
                Reason::Every { .. } | Reason::Open { .. } => text.push('e'),
                Reason::Needs(node) => {
                    let _ = write!(text, "x {}", operators[node as usize]);
                }
                Reason::Run { first, end, .. } => {
                    text.push('r');
                    let mut before = ' ';
                    for &node in &self.moves[first as usize..end as usize] {
                        if let Some(operator) = operators.get(node as usize) {
                            let _ = write!(text, "{before}{operator}");
                        }
                        before = if node == END { ' ' } else { '+' };
                    }
                }
            }
            text.push('\n');
        }
    }
}
