//! Flow networks and their maximum flow (Dinic 1970).

use plimsoll_model::Budget;

/// A capacity that no flow exceeds. The arcs out of the source must have a total capacity below 2^62, and so
/// must the arcs into the sink.
pub(crate) const INFINITE: u64 = u64::MAX / 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    arcs: Vec<Vec<u32>>,
    /// The head of each arc. `left` contains the residual capacity of each arc. An arc and its reverse have
    /// adjacent numbers.
    to: Vec<u32>,
    left: Vec<u64>,
}

impl Network {
    /// Adds a vertex and returns its number.
    pub fn place(&mut self) -> u32 {
        self.arcs.push(Vec::new());
        self.arcs.len() as u32 - 1
    }

    /// Adds an arc and returns its number.
    pub fn arc(&mut self, from: u32, to: u32, capacity: u64) -> u32 {
        for (from, to, capacity) in [(from, to, capacity), (to, from, 0)] {
            self.arcs[from as usize].push(self.to.len() as u32);
            self.to.push(to);
            self.left.push(capacity);
        }
        self.to.len() as u32 - 2
    }

    pub fn flow(&self, arc: u32) -> u64 {
        self.left[arc as usize ^ 1]
    }

    /// Returns, for each vertex, its distance from the source along arcs with residual capacity, or
    /// `u32::MAX` if it is unreachable.
    pub fn levels(&self, source: u32) -> Vec<u32> {
        let mut level = vec![u32::MAX; self.arcs.len()];
        level[source as usize] = 0;
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(at) = queue.pop_front() {
            for &arc in &self.arcs[at as usize] {
                let to = self.to[arc as usize];
                if self.left[arc as usize] > 0 && level[to as usize] == u32::MAX {
                    level[to as usize] = level[at as usize] + 1;
                    queue.push_back(to);
                }
            }
        }
        level
    }

    /// Augments the flow along one shortest path. Returns the added amount, or zero if no such path remains.
    fn push(&mut self, source: u32, sink: u32, level: &[u32], next: &mut [usize], way: &mut Vec<u32>) -> u64 {
        way.clear();
        let mut at = source;
        while at != sink {
            let arcs = &self.arcs[at as usize];
            let open = |&&arc: &&u32| {
                let to = self.to[arc as usize];
                self.left[arc as usize] > 0 && level[to as usize] == level[at as usize] + 1
            };
            if let Some(skipped) = arcs[next[at as usize]..].iter().position(|arc| open(&arc)) {
                next[at as usize] += skipped;
                let arc = arcs[next[at as usize]];
                way.push(arc);
                at = self.to[arc as usize];
            } else {
                next[at as usize] = arcs.len();
                let Some(arc) = way.pop() else { return 0 };
                at = self.to[arc as usize ^ 1];
                next[at as usize] += 1;
            }
        }
        let most = way.iter().map(|&arc| self.left[arc as usize]).min().unwrap_or(0);
        for &arc in way.iter() {
            self.left[arc as usize] -= most;
            self.left[arc as usize ^ 1] += most;
        }
        most
    }

    /// Returns the value of a maximum flow, which equals the capacity of a minimum cut. The time is O(v^2 e)
    /// for v vertices and e arcs.
    pub fn most(&mut self, source: u32, sink: u32) -> u64 {
        self.most_within(source, sink, &mut Budget::unlimited())
            .expect("an unlimited budget does not run out")
    }

    /// Returns the value of a maximum flow, or `None` if the budget `watch` runs out first.
    pub fn most_within(&mut self, source: u32, sink: u32, watch: &mut Budget) -> Option<u64> {
        let (mut sum, mut way) = (0, Vec::new());
        loop {
            let level = self.levels(source);
            if level[sink as usize] == u32::MAX {
                return Some(sum);
            }
            let mut next = vec![0; self.arcs.len()];
            loop {
                if watch.tick().is_some() {
                    return None;
                }
                let pushed = self.push(source, sink, &level, &mut next, &mut way);
                if pushed == 0 {
                    break;
                }
                sum += pushed;
            }
        }
    }
}
