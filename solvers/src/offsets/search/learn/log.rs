//! The log of a search, from which a proof is written.
//!
//! The search records how it derives each clause. The format and the soundness of the steps are described in
//! the crate `plimsoll-proof`, which checks them.

use super::problem::{Lit, Problem};
use std::collections::HashMap;
use std::io::{self, Write};

/// The kinds of steps. A step is stored as its kind, the number of its words, and the words.
const UNIT: u32 = 0;
const PATH: u32 = 1;
const BELOW: u32 = 2;
const ABOVE: u32 = 3;
const OPPOSITE: u32 = 4;
const NO_SPACE: u32 = 5;
/// Orders that hold by symmetry.
pub(super) const TWIN: u32 = 6;
pub(super) const MIRROR: u32 = 7;
const RIGID: u32 = 8;
const STATEMENTS: [&str; 9] = ["u", "t", "b", "a", "o", "x", "twin", "mirror", "r"];

/// A derived clause, or permanent steps if `number` is 0.
#[derive(Clone, Copy, Debug)]
struct Record {
    number: u32,
    /// Positions in `words` of the first literal, the first step and the end.
    literals: usize,
    steps: usize,
    end: usize,
}

/// Everything that a search has derived, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    records: Vec<Record>,
    words: Vec<u32>,
    /// Steps of the current derivation. They are found from the last to the first.
    pending: Vec<Vec<u32>>,
    clauses: u32,
}

impl Log {
    fn step(&mut self, kind: u32, words: impl IntoIterator<Item = u32>) {
        let mut step = vec![kind, 0];
        step.extend(words);
        step[1] = step.len() as u32 - 2;
        self.pending.push(step);
    }

    /// Logs the use of a clause in which at most one literal is not false. The clause implies this literal,
    /// or a contradiction if all literals are false.
    pub fn unit(&mut self, clause: u32) {
        self.step(UNIT, [clause]);
    }

    /// Logs that the clause of a triangle implies a literal, because the two other literals are false.
    pub fn path(&mut self, problem: &Problem, triangle: &[Lit], lit: Lit) {
        let (low, high) = problem.pair(lit);
        let of_other = |&other: &Lit| {
            let (a, b) = problem.pair(other);
            [a, b].into_iter().find(|&b| b != low && b != high)
        };
        let middle = triangle.iter().filter(|&&other| other != lit).find_map(of_other);
        self.step(PATH, [low, middle.unwrap_or(high), high].map(|b| b as u32));
    }

    /// Logs that `low` lies below `high` by symmetry.
    pub fn symmetry(&mut self, kind: u32, low: usize, high: usize) {
        self.step(kind, [low, high].map(|b| b as u32));
        self.settle();
    }

    /// Logs that a stack raises the bound of a node.
    pub fn stack(&mut self, node: u32, stack: &[u32]) {
        let kind = if node.is_multiple_of(2) { BELOW } else { ABOVE };
        self.step(kind, [node / 2].into_iter().chain(stack.iter().copied()));
    }

    /// Logs that the heights of a buffer raise those of another member of its rigid group.
    pub fn tie(&mut self, from: u32, to: u32) {
        self.step(RIGID, [from, to]);
    }

    /// Logs that `low` cannot lie below `high`.
    pub fn opposite(&mut self, low: usize, high: usize) {
        self.step(OPPOSITE, [low as u32, high as u32]);
    }

    /// Logs that there is no space for pairwise conflicting buffers.
    pub fn no_space(&mut self, buffers: impl IntoIterator<Item = u32>) {
        self.step(NO_SPACE, buffers);
    }

    /// Stores the pending steps, the last one first, as permanent facts.
    pub fn settle(&mut self) {
        if !self.pending.is_empty() {
            self.store(0, &[]);
        }
    }

    /// Stores the pending steps, the last one first, as the derivation of a clause. Returns the number of
    /// the clause.
    pub fn derived(&mut self, clause: &[Lit]) -> u32 {
        self.clauses += 1;
        self.store(self.clauses, clause);
        self.clauses
    }

    fn store(&mut self, number: u32, clause: &[Lit]) {
        let literals = self.words.len();
        self.words.extend_from_slice(clause);
        let steps = self.words.len();
        for step in self.pending.drain(..).rev() {
            self.words.extend(step);
        }
        self.records.push(Record { number, literals, steps, end: self.words.len() });
    }

    /// Returns the kind and the words of each step of a record.
    fn steps(&self, record: Record) -> impl Iterator<Item = (u32, &[u32])> {
        let mut at = record.steps;
        std::iter::from_fn(move || {
            let &[kind, count, ..] = &self.words[at..record.end] else { return None };
            let from = at + 2;
            at = from + count as usize;
            Some((kind, &self.words[from..at]))
        })
    }

    /// Returns the clauses that the proof needs, each with the position of the last record that uses it. The
    /// proof needs all permanent facts and, transitively, the clauses of their derivations.
    fn needed(&self) -> HashMap<u32, usize> {
        let mut last = HashMap::new();
        for (at, &record) in self.records.iter().enumerate().rev() {
            if record.number == 0 || last.contains_key(&record.number) {
                for (_, words) in self.steps(record).filter(|&(kind, _)| kind == UNIT) {
                    last.entry(words[0]).or_insert(at);
                }
            }
        }
        last
    }

    /// Writes the needed records as statements. Every clause is deleted after its last use.
    pub fn write(&self, problem: &Problem, file: &mut dyn Write) -> io::Result<()> {
        let needed = self.needed();
        let mut expiring: Vec<(usize, u32)> = needed.iter().map(|(&clause, &at)| (at, clause)).collect();
        expiring.sort_unstable();
        let mut expiring = expiring.into_iter().peekable();
        for (at, &record) in self.records.iter().enumerate() {
            if record.number != 0 && !needed.contains_key(&record.number) {
                continue;
            }
            if record.number != 0 {
                write!(file, "clause {}", record.number)?;
                for &lit in &self.words[record.literals..record.steps] {
                    let (low, high) = problem.pair(lit);
                    write!(file, " {low}<{high}")?;
                }
                writeln!(file)?;
            }
            for (kind, words) in self.steps(record) {
                write!(file, "{}", STATEMENTS[kind as usize])?;
                words.iter().try_for_each(|word| write!(file, " {word}"))?;
                writeln!(file)?;
            }
            if at + 1 < self.records.len() && expiring.peek().is_some_and(|&(last, _)| last == at) {
                write!(file, "delete")?;
                while let Some((_, clause)) = expiring.next_if(|&(last, _)| last == at) {
                    write!(file, " {clause}")?;
                }
                writeln!(file)?;
            }
        }
        Ok(())
    }
}
