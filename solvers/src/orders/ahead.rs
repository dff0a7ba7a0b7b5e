//! What must be alive while each node that is left will run, given what has run.
//!
//! A storage is alive while `u` runs in any order where it is touched before or at `u` and at or after `u`. Beyond what
//! holds in every order, a storage that has begun although none of its users must precede `u` is alive at `u` too where
//! a user must follow `u` or it is kept.

use super::draft::Reach;
use super::net::{Net, bits};

/// Bounds per node, kept up to date as nodes run.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// Per storage: nodes that see it only if it begins before them.
    rows: Vec<Vec<u32>>,
    /// Per node: bytes alive while it runs.
    need: Vec<u64>,
    /// The same where nothing has run.
    always: Vec<u64>,
    /// Per storage: users that ran.
    seen: Vec<u32>,
}

impl Ahead {
    /// O(storages nodes / 64) and the rows.
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

    /// The most any node needs in any order.
    pub fn most(&self) -> u64 {
        self.always.iter().copied().max().unwrap_or(0)
    }

    /// A node has run; returns the most that a node not `done` needs because of what began.
    pub fn run(&mut self, net: &Net, node: u32, done: &[u64]) -> u64 {
        let mut most = 0;
        for &s in net.touch(node) {
            self.seen[s as usize] += 1;
            if self.seen[s as usize] == 1 {
                for &other in &self.rows[s as usize] {
                    let need = &mut self.need[other as usize];
                    *need += net.held[s as usize].size;
                    if done[other as usize / 64] >> (other % 64) & 1 == 0 {
                        most = most.max(*need);
                    }
                }
            }
        }
        most
    }

    /// These nodes have run, and no others.
    pub fn load(&mut self, net: &Net, done: &[u64]) {
        self.need.copy_from_slice(&self.always);
        self.seen.fill(0);
        bits(done).for_each(|node| {
            self.run(net, node, done);
        });
    }

    /// The same backwards.
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

/// What a node takes whenever it runs, by what it touches alone: at each step, what it has begun to touch and not yet
/// touched last.
fn floor(net: &Net, node: u32) -> u64 {
    let size = |s: &u32| net.held[*s as usize].size;
    let step = |step: usize| {
        let (own, now, _) = net.at_step(node, step);
        own + now.iter().map(size).sum::<u64>()
    };
    (0..net.steps(node)).map(step).max().unwrap_or(0)
}
