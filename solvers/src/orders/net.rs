//! A draft prepared for search: the storages that each step of a node begins and ends, and a state that runs
//! nodes and undoes runs.

use super::draft::Draft;
use plimsoll_model::OperatorId;

#[derive(Clone, Debug, Default)]
struct Step {
    /// Bytes of the scratch memory and of the live storages that only this node touches.
    own: u64,
    /// Storages that this node first touches at this step.
    opens: Vec<u32>,
    /// Storages that this node last touches at this step.
    closes: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    steps: Vec<Step>,
    /// Storages that other nodes also touch, or that are live before or after the part. Each occurs once.
    touch: Vec<u32>,
    operators: Vec<OperatorId>,
}

/// A storage with its users.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub size: u64,
    pub begun: bool,
    pub kept: bool,
    pub users: Vec<u32>,
}

/// A draft in the form that the searches use.
#[derive(Clone, Debug)]
pub(super) struct Net {
    nodes: Vec<Node>,
    pub before: Vec<Vec<u32>>,
    pub after: Vec<Vec<u32>>,
    pub held: Vec<Held>,
    pub base: u64,
    /// Per node: a pseudorandom word, for hashing sets of nodes.
    keys: Vec<u64>,
}

/// The peak while a node runs, and the live bytes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub peak: u64,
    pub live: u64,
}

impl Net {
    /// Prepares a draft for search. The time is linear in the size of the draft.
    pub fn of(draft: &Draft) -> Self {
        let users = draft.users();
        let inner = |s: u32| {
            let store = draft.stores[s as usize];
            users[s as usize].len() == 1 && !store.begun && !store.kept
        };
        let nodes = draft.nodes.iter().map(|works| {
            let mut steps: Vec<Step> =
                works.iter().map(|work| Step { own: work.scratch, ..Step::default() }).collect();
            let mut all: Vec<u32> = works.iter().flat_map(|work| work.touch.clone()).collect();
            all.sort_unstable();
            all.dedup();
            for &s in &all {
                let touches = |work: &super::draft::Work| work.touch.contains(&s);
                let first = works.iter().position(touches).unwrap_or(0);
                let last = works.iter().rposition(touches).unwrap_or(0);
                if inner(s) {
                    let size = draft.stores[s as usize].size;
                    steps[first..=last].iter_mut().for_each(|step| step.own += size);
                } else {
                    steps[first].opens.push(s);
                    steps[last].closes.push(s);
                }
            }
            all.retain(|&s| !inner(s));
            Node { steps, touch: all, operators: works.iter().map(|work| work.operator).collect() }
        });
        let nodes = nodes.collect();
        let held = draft.stores.iter().zip(&users).map(|(store, users)| Held {
            size: store.size,
            begun: store.begun,
            kept: store.kept,
            users: users.clone(),
        });
        let held = held.collect();
        let keys = (0..draft.len() as u64).map(scramble).collect();
        let (before, after) = (draft.before.clone(), draft.after.clone());
        Self { nodes, before, after, held, base: draft.base, keys }
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn words(&self) -> usize {
        self.nodes.len().div_ceil(64).max(1)
    }

    /// Returns the hash of a set of nodes: the exclusive or of the words of its nodes.
    pub fn hash(&self, row: &[u64]) -> u64 {
        bits(row).fold(0, |hash, node| hash ^ self.keys[node as usize])
    }

    pub fn touch(&self, node: u32) -> &[u32] {
        &self.nodes[node as usize].touch
    }

    pub fn steps(&self, node: u32) -> usize {
        self.nodes[node as usize].steps.len()
    }

    /// Returns three values for one step of a node: the bytes that only this node uses during the step, the
    /// storages that the node keeps live at the step, and the storages that it last used at an earlier step.
    pub fn at_step(&self, node: u32, step: usize) -> (u64, Vec<u32>, Vec<u32>) {
        let steps = &self.nodes[node as usize].steps;
        let mut now: Vec<u32> = steps[..=step].iter().flat_map(|s| s.opens.clone()).collect();
        let past: Vec<u32> = steps[..step].iter().flat_map(|s| s.closes.clone()).collect();
        now.retain(|s| !past.contains(s));
        (steps[step].own, now, past)
    }

    /// Returns the operators of the nodes in the given order.
    pub fn operators(&self, order: &[u32]) -> Vec<OperatorId> {
        order.iter().flat_map(|&node| self.nodes[node as usize].operators.iter().copied()).collect()
    }

    /// Returns the peak of an order of all nodes. It is at least the number of bytes live at the start.
    pub fn peak(&self, order: &[u32]) -> u64 {
        let mut state = State::new(self);
        order.iter().fold(state.live, |peak, &node| peak.max(state.run(node).peak))
    }
}

/// Returns a pseudorandom word for a number (`SplitMix64`).
fn scramble(at: u64) -> u64 {
    let mut z = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The state after the nodes of a downset have run.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    pub net: &'a Net,
    pub done: Vec<u64>,
    pub ready: Vec<u64>,
    waiting: Vec<u32>,
    /// Per storage: number of users that have run.
    seen: Vec<u32>,
    pub live: u64,
    pub left: usize,
    pub hash: u64,
}

impl<'a> State<'a> {
    pub fn new(net: &'a Net) -> Self {
        let waiting: Vec<u32> = net.before.iter().map(|list| list.len() as u32).collect();
        let mut ready = vec![0u64; net.words()];
        for (at, _) in waiting.iter().enumerate().filter(|&(_, &waiting)| waiting == 0) {
            ready[at / 64] |= 1 << (at % 64);
        }
        let begun: u64 = net.held.iter().filter(|held| held.begun).map(|held| held.size).sum();
        Self {
            net,
            done: vec![0; net.words()],
            ready,
            waiting,
            seen: vec![0; net.held.len()],
            live: net.base + begun,
            left: net.len(),
            hash: 0,
        }
    }

    /// Sets the downset to the nodes in the bitset `done`. The time is linear in the size of the net.
    pub fn load(&mut self, done: &[u64]) {
        let mut fresh = Self::new(self.net);
        for node in bits(done) {
            fresh.account(node);
            fresh.hash ^= self.net.keys[node as usize];
            fresh.left -= 1;
            for &next in &self.net.after[node as usize] {
                fresh.waiting[next as usize] -= 1;
            }
        }
        fresh.done.copy_from_slice(done);
        for (at, &waiting) in fresh.waiting.iter().enumerate() {
            let mask = 1 << (at % 64);
            let ready = waiting == 0 && done[at / 64] & mask == 0;
            if ready { fresh.ready[at / 64] |= mask } else { fresh.ready[at / 64] &= !mask }
        }
        *self = fresh;
    }

    fn account(&mut self, node: u32) {
        for &s in self.net.touch(node) {
            let held = &self.net.held[s as usize];
            let seen = &mut self.seen[s as usize];
            if *seen == 0 && !held.begun {
                self.live += held.size;
            }
            *seen += 1;
            if *seen as usize == held.users.len() && !held.kept {
                self.live -= held.size;
            }
        }
    }

    /// Returns the effect of running a node. The time is linear in the numbers of steps and storages of the
    /// node.
    pub fn probe(&self, node: u32) -> Effect {
        let (mut live, mut peak) = (self.live, 0);
        for step in &self.net.nodes[node as usize].steps {
            for &s in &step.opens {
                let held = &self.net.held[s as usize];
                if self.seen[s as usize] == 0 && !held.begun {
                    live += held.size;
                }
            }
            peak = peak.max(live + step.own);
            for &s in &step.closes {
                let held = &self.net.held[s as usize];
                if self.seen[s as usize] as usize + 1 == held.users.len() && !held.kept {
                    live -= held.size;
                }
            }
        }
        Effect { peak, live }
    }

    pub fn run(&mut self, node: u32) -> Effect {
        let effect = self.probe(node);
        for &s in self.net.touch(node) {
            self.seen[s as usize] += 1;
        }
        self.live = effect.live;
        self.flip(node);
        self.left -= 1;
        for &next in &self.net.after[node as usize] {
            self.waiting[next as usize] -= 1;
            if self.waiting[next as usize] == 0 {
                self.ready[next as usize / 64] |= 1 << (next % 64);
            }
        }
        effect
    }

    /// Undoes the run of a node none of whose successors have run. `live` is the number of live bytes before
    /// the run.
    pub fn unrun(&mut self, node: u32, live: u64) {
        for &next in &self.net.after[node as usize] {
            self.waiting[next as usize] += 1;
            self.ready[next as usize / 64] &= !(1 << (next % 64));
        }
        for &s in self.net.touch(node) {
            self.seen[s as usize] -= 1;
        }
        self.live = live;
        self.flip(node);
        self.left += 1;
    }

    /// Returns the live bytes before the run of a node none of whose successors have run.
    pub fn before(&self, node: u32) -> u64 {
        self.net.touch(node).iter().fold(self.live, |live, &s| {
            let held = &self.net.held[s as usize];
            let seen = self.seen[s as usize];
            let ended = if seen as usize == held.users.len() && !held.kept { held.size } else { 0 };
            let began = if seen == 1 && !held.begun { held.size } else { 0 };
            live + ended - began
        })
    }

    fn flip(&mut self, node: u32) {
        let (word, mask) = (node as usize / 64, 1 << (node % 64));
        self.done[word] ^= mask;
        self.ready[word] ^= mask;
        self.hash ^= self.net.keys[node as usize];
    }

    /// Returns true if exactly one user of a storage has run, or if all its users except one have run.
    pub fn has_turned(&self, s: u32) -> bool {
        let (seen, users) = (self.seen[s as usize] as usize, self.net.held[s as usize].users.len());
        seen == 1 || seen + 1 == users
    }

    pub fn is_ready(&self, node: u32) -> bool {
        self.ready[node as usize / 64] >> (node % 64) & 1 == 1
    }
}

/// Returns the positions of the bits that are set, in ascending order.
pub(super) fn bits(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut word = word;
        std::iter::from_fn(move || {
            (word != 0).then(|| {
                let bit = word.trailing_zeros();
                word &= word - 1;
                at as u32 * 64 + bit
            })
        })
    })
}
