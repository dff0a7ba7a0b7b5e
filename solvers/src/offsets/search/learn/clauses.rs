//! The clause database: unit propagation with two watched literals.

use super::problem::Lit;

/// The position of a clause in the arena, where its length, its number of levels, its number in the proof and
/// its literals are stored.
pub(super) type Place = u32;

/// Number of words before the literals of a clause.
const HEAD: usize = 3;

/// The number of levels that is stored for an original clause. It distinguishes original from learnt clauses.
const FIXED: u32 = 0;

/// A clause to visit when a literal becomes false. `other` is another literal of the clause. If `other` is
/// true, the clause need not be visited.
#[derive(Clone, Copy, Debug)]
struct Watch {
    clause: Place,
    other: Lit,
}

/// All clauses, each watched by two literals.
#[derive(Clone, Debug)]
pub(super) struct Clauses {
    arena: Vec<u32>,
    watches: Vec<Vec<Watch>>,
    /// Number of learnt clauses in the database.
    pub learnt: usize,
}

impl Clauses {
    pub fn new(vars: usize) -> Self {
        Self { arena: Vec::new(), watches: vec![Vec::new(); 2 * vars], learnt: 0 }
    }

    /// Adds a clause of at least two literals and watches the first two. `levels` is the number of distinct
    /// decision levels of its literals (LBD), or 0 for an original clause. `number` is the number of the
    /// clause in the proof, or 0 if it has none.
    pub fn add(&mut self, literals: &[Lit], levels: u32, number: u32) -> Place {
        assert!(literals.len() >= 2);
        let clause = self.arena.len() as Place;
        self.arena.extend([literals.len() as u32, levels, number]);
        self.arena.extend_from_slice(literals);
        self.watches[literals[0] as usize].push(Watch { clause, other: literals[1] });
        self.watches[literals[1] as usize].push(Watch { clause, other: literals[0] });
        self.learnt += usize::from(levels != FIXED);
        clause
    }

    /// Returns the number of a clause in the proof, or 0 if it has none. Original clauses have none.
    pub fn number(&self, clause: Place) -> u32 {
        self.arena[clause as usize + 2]
    }

    pub fn literals(&self, clause: Place) -> &[Lit] {
        let at = clause as usize;
        &self.arena[at + HEAD..at + HEAD + self.arena[at] as usize]
    }

    /// Propagates a literal that became true. Passes each implied literal and its clause to `imply`. Returns
    /// a falsified clause, if any.
    pub fn follow(
        &mut self,
        lit: Lit,
        truth: &mut Vec<i8>,
        mut imply: impl FnMut(&mut Vec<i8>, Lit, Place),
    ) -> Option<Place> {
        let falsified = lit ^ 1;
        let mut watches = std::mem::take(&mut self.watches[falsified as usize]);
        let (mut kept, mut broken) = (0, None);
        let mut at = 0;
        while at < watches.len() {
            let watch = watches[at];
            at += 1;
            if truth[watch.other as usize] > 0 {
                watches[kept] = watch;
                kept += 1;
                continue;
            }
            let from = watch.clause as usize + HEAD;
            let length = self.arena[watch.clause as usize] as usize;
            if self.arena[from] == falsified {
                self.arena.swap(from, from + 1);
            }
            let first = self.arena[from];
            let watch = Watch { clause: watch.clause, other: first };
            if truth[first as usize] > 0 {
                watches[kept] = watch;
                kept += 1;
                continue;
            }
            let free = (from + 2..from + length).find(|&i| truth[self.arena[i] as usize] >= 0);
            if let Some(free) = free {
                self.arena.swap(from + 1, free);
                self.watches[self.arena[from + 1] as usize].push(watch);
                continue;
            }
            watches[kept] = watch;
            kept += 1;
            if truth[first as usize] < 0 {
                broken = Some(watch.clause);
                break;
            }
            imply(truth, first, watch.clause);
        }
        watches.copy_within(at.., kept);
        let left = watches.len() - at + kept;
        watches.truncate(left);
        self.watches[falsified as usize] = watches;
        broken
    }

    /// Removes all satisfied clauses, and all learnt clauses except the best `keep`. Requires that all true
    /// literals are permanent and propagated.
    pub fn reduce(&mut self, truth: &[i8], keep: usize) {
        let arena = std::mem::take(&mut self.arena);
        let mut clauses: Vec<(u32, u32, usize)> = Vec::new();
        let mut at = 0;
        while at < arena.len() {
            clauses.push((arena[at + 1], arena[at], at));
            at += HEAD + arena[at] as usize;
        }
        // Original clauses come first. Of two equally good learnt clauses, the later one ranks higher.
        let mut ranked = clauses.clone();
        ranked.sort_by_key(|&(levels, length, at)| (levels, length, std::cmp::Reverse(at)));
        let fixed = ranked.partition_point(|&(levels, ..)| levels == FIXED);
        ranked.truncate(fixed + keep);
        ranked.sort_by_key(|&(.., at)| at);
        self.watches.iter_mut().for_each(Vec::clear);
        self.learnt = 0;
        for (levels, length, at) in ranked {
            let literals = &arena[at + HEAD..at + HEAD + length as usize];
            if literals.iter().any(|&lit| truth[lit as usize] > 0) {
                continue;
            }
            let open: Vec<Lit> = literals.iter().copied().filter(|&lit| truth[lit as usize] == 0).collect();
            self.add(&open, levels, arena[at + 2]);
        }
    }
}
