//! Lookahead: computes, for each node that has not run, a lower bound on the bytes live while it runs.
//!
//! A storage is live while a node `u` runs if some user runs at or before `u` and some user runs at or after
//! `u`. For some storages, the precedences imply that both conditions hold in every order. In addition, a
//! storage that has already begun is live at `u` if a user must follow `u` or if it is kept.

use super::draft::Reach;
use super::net::{Net, bits};

/// The bounds of all nodes, updated as nodes run.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// Per storage: the nodes during which it is certainly live if it has begun before them, but not
    /// necessarily otherwise.
    rows: Vec<Vec<u32>>,
    /// Per node: a lower bound on the bytes live while it runs.
    need: Vec<u64>,
    /// The value of `need` before any node has run.
    always: Vec<u64>,
    /// Per storage: number of users that have run.
    seen: Vec<u32>,
}

impl Ahead {
    /// Computes the bounds before any node has run. The time is O(u n / 64) for u uses of storages and n
    /// nodes, plus the size of the rows.
    pub fn of(net: &Net, reach: &Reach) -> Self {
        let words = net.words();
        let mut need: Vec<u64> = (0..net.len() as u32).map(|node| net.base + floor(net, node)).collect();
        let mut rows = Vec::with_capacity(net.held.len());
        for (at, held) in net.held.iter().enumerate() {
            let (mut later, mut earlier) = (vec![0u64; words], vec![0u64; words]);
            let mut touched = vec![0u64; words];
            for &user in &held.users {
                let or = |row: &mut Vec<u64>, with: &[u64]| {
                    row.iter_mut().zip(with).for_each(|(own, with)| *own |= with);
                };
                or(&mut later, reach.after(user as usize));
                or(&mut earlier, reach.before(user as usize));
                touched[user as usize / 64] |= 1 << (user % 64);
            }
            let all = |row: &mut Vec<u64>| row.fill(u64::MAX);
            if held.begun {
                all(&mut later);
            }
            if held.kept {
                all(&mut earlier);
            }
            let strip = |word: usize, value: u64| {
                let left = net.len() - word * 64;
                value & !touched[word] & if left < 64 { (1 << left) - 1 } else { u64::MAX }
            };
            let always: Vec<u64> = (0..words).map(|w| strip(w, later[w] & earlier[w])).collect();
            bits(&always).for_each(|node| need[node as usize] += held.size);
            let if_begun: Vec<u64> = (0..words).map(|w| strip(w, !later[w] & earlier[w])).collect();
            rows.push(bits(&if_begun).collect());
            debug_assert_eq!(rows.len(), at + 1);
        }
        let always = need.clone();
        Self { rows, need, always, seen: vec![0; net.held.len()] }
    }

    /// Returns a lower bound on the peak of every order: the largest bound of a node before any node has
    /// run.
    pub fn most(&self) -> u64 {
        self.always.iter().copied().max().unwrap_or(0)
    }

    /// Returns the node outside `done` with the largest bound if it exceeds `limit`.
    pub fn above(&self, limit: u64, done: &[u64]) -> Option<u32> {
        let left =
            (0..self.need.len() as u32).filter(|&node| done[node as usize / 64] >> (node % 64) & 1 == 0);
        left.filter(|&node| self.need[node as usize] > limit).max_by_key(|&node| self.need[node as usize])
    }

    /// Updates the bounds after a node has run. Returns the largest of the increased bounds of nodes that are
    /// not in `done`, with its node, or zeros if there is none.
    pub fn run(&mut self, net: &Net, node: u32, done: &[u64]) -> (u64, u32) {
        let mut most = (0, 0);
        for &s in net.touch(node) {
            self.seen[s as usize] += 1;
            if self.seen[s as usize] == 1 {
                for &other in &self.rows[s as usize] {
                    let need = &mut self.need[other as usize];
                    *need += net.held[s as usize].size;
                    if done[other as usize / 64] >> (other % 64) & 1 == 0 {
                        most = most.max((*need, other));
                    }
                }
            }
        }
        most
    }

    /// Resets the bounds to the state in which exactly the nodes in `done` have run.
    pub fn load(&mut self, net: &Net, done: &[u64]) {
        self.need.copy_from_slice(&self.always);
        self.seen.fill(0);
        bits(done).for_each(|node| {
            self.run(net, node, done);
        });
    }

    /// Undoes [`Ahead::run`].
    pub fn unrun(&mut self, net: &Net, node: u32) {
        for &s in net.touch(node) {
            self.seen[s as usize] -= 1;
            if self.seen[s as usize] == 0 {
                for &other in &self.rows[s as usize] {
                    self.need[other as usize] -= net.held[s as usize].size;
                }
            }
        }
    }
}

/// Returns the largest number of bytes that a node needs by itself at any of its steps: its own bytes, plus
/// the storages that it keeps live between its first and its last use of them.
fn floor(net: &Net, node: u32) -> u64 {
    let size = |s: &u32| net.held[*s as usize].size;
    let step = |step: usize| {
        let (own, now, _) = net.at_step(node, step);
        own + now.iter().map(size).sum::<u64>()
    };
    (0..net.steps(node)).map(step).max().unwrap_or(0)
}
