//! Reads a proof line by line and checks its steps.

use crate::error::{CheckError, Reason};
use crate::facts::{Added, Facts};
use crate::instance::{Instance, decode};
use crate::sweep::Sweep;
use crate::words::{Lines, Words, buffer, number};
use crate::work::Work;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

/// The content of an accepted proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proved {
    /// The proved bound in bytes: no layout of the instance has a lower peak.
    pub bound: u64,
    /// Number of declared buffers and slabs.
    pub buffers: usize,
    /// Number of derived clauses.
    pub clauses: u64,
    /// Number of steps.
    pub steps: u64,
}

/// Checks a proof for an instance.
///
/// # Errors
/// If a line is invalid or does not follow from the lines before it, returns its number and the reason. If
/// the proof is incomplete, returns the number of the line after the last one. Returns
/// [`Reason::TooMuchWork`] if the check needs more work than an input of this length may cause, and
/// [`Reason::Stopped`] soon after `stop` has returned true.
pub fn check(
    instance: &Instance,
    proof: impl BufRead,
    stop: &dyn Fn() -> bool,
) -> Result<Proved, CheckError> {
    let work = Work::new(stop);
    work.permit(instance.length);
    let mut lines = Lines::new(proof, &work);
    let result = follow(instance, &mut lines);
    result.map_err(|reason| CheckError { line: lines.line, reason })
}

fn order(word: &str) -> Result<(u32, u32), Reason> {
    let parts = word.split_once('<');
    let (a, b) = parts.ok_or_else(|| Reason::Word { expected: "an order I<J", found: word.to_owned() })?;
    Ok((buffer(a)?, buffer(b)?))
}

/// Orders of which at least one holds.
type Clause = Vec<(u32, u32)>;

/// A clause that is being derived.
struct Open {
    number: u64,
    clause: Clause,
    mark: usize,
    /// True once a contradiction has been found.
    proved: bool,
}

struct Checker<'a> {
    instance: &'a Instance,
    work: &'a Work<'a>,
    facts: Facts<'a>,
    declared: HashSet<usize>,
    clauses: HashMap<u64, Clause>,
    open: Option<Open>,
    /// Buffers that occur in `twin` statements.
    twins: HashSet<u32>,
    mirrored: bool,
    sweep: Option<Sweep>,
    proved: Proved,
}

fn follow<R: BufRead>(instance: &Instance, lines: &mut Lines<'_, R>) -> Result<Proved, Reason> {
    let (bound, work) = (header(lines)?, lines.work);
    let mut checker = Checker {
        instance,
        work,
        facts: Facts::new(instance, i128::from(bound) - 1, work),
        declared: HashSet::new(),
        clauses: HashMap::new(),
        open: None,
        twins: HashSet::new(),
        mirrored: false,
        sweep: None,
        proved: Proved { bound, buffers: 0, clauses: 0, steps: 0 },
    };
    while lines.next()? {
        if checker.statement(lines.words())? == Added::Contradiction {
            return if lines.next()? { Err(Reason::TextAfterProof) } else { Ok(checker.proved) };
        }
    }
    checker.close()?;
    let swept = checker.sweep.as_mut().map_or(Ok(false), |sweep| sweep.finish(work))?;
    if swept { Ok(checker.proved) } else { Err(Reason::Incomplete) }
}

/// The first line of a proof.
const HEADER: &str = "plimsoll-proof 1";

/// Reads the first two lines and returns the bound in bytes.
fn header<R: BufRead>(lines: &mut Lines<'_, R>) -> Result<u64, Reason> {
    if !lines.next()? || !lines.words().rest().eq(HEADER.split(' ')) {
        return Err(Reason::Header(HEADER));
    }
    if !lines.next()? {
        return Err(Reason::Bound);
    }
    let mut words = lines.words();
    let bound = words.word("bound").ok().filter(|&word| word == "bound").and_then(|_| words.number("").ok());
    let bound = bound.filter(|&bound| bound > 0).ok_or(Reason::Bound)?;
    words.end().map_err(|_| Reason::Bound)?;
    Ok(bound)
}

impl Checker<'_> {
    /// Processes one statement. Returns [`Added::Contradiction`] if the claim is proved.
    fn statement(&mut self, mut words: Words<'_>) -> Result<Added, Reason> {
        let statement = words.word("a statement")?;
        match statement {
            "at" => return self.swept("at", words),
            "tree" => return self.swept("tree", words),
            "bond" => return self.swept("bond", words),
            "sweep" => {
                self.close()?;
                return self.sweep(words);
            }
            other if self.sweep.is_some() => return Err(Reason::UnknownStatement(other.to_owned())),
            "u" | "t" | "b" | "a" | "o" | "r" | "x" => return self.step(statement, words),
            _ => self.close()?,
        }
        match statement {
            "buffer" | "slab" => {
                let id = decode(words.word("an id")?);
                words.end()?;
                self.declare(statement == "slab", id)
            }
            "twin" | "mirror" => {
                let (a, b) = (words.buffer()?, words.buffer()?);
                words.end()?;
                let added = self.symmetry(statement == "twin", a, b)?;
                self.facts.settle();
                Ok(added)
            }
            "clause" => {
                let number = words.number("the number of a clause")?;
                let clause = words.rest().map(order).collect::<Result<Clause, Reason>>()?;
                self.derive(number, clause)
            }
            "delete" => {
                for word in words.rest() {
                    let clause = number(word, "the number of a clause")?;
                    self.clauses.remove(&clause).ok_or(Reason::NoClause(clause))?;
                }
                Ok(Added::Fact)
            }
            _ => Err(Reason::UnknownStatement(statement.to_owned())),
        }
    }

    /// Processes a `buffer` or `slab` statement. All buffers must come before the slabs, because a slab must
    /// conflict with all of them.
    fn declare(&mut self, is_slab: bool, id: String) -> Result<Added, Reason> {
        let begun = self.mirrored || !self.twins.is_empty() || self.proved.clauses + self.proved.steps > 0;
        if begun || !is_slab && self.facts.has_slabs() {
            return Err(Reason::Misplaced(if is_slab { "slab" } else { "buffer" }));
        }
        let Some(&position) = self.instance.by_id.get(&id) else { return Err(Reason::UnknownBuffer(id)) };
        if self.instance.buffers[position].size == 0 {
            return Err(Reason::EmptyBuffer(id));
        }
        if !self.declared.insert(position) {
            return Err(Reason::DeclaredTwice(id));
        }
        if is_slab {
            if !self.facts.slab(position)? {
                return Err(Reason::NotASlab(id));
            }
        } else {
            self.facts.declare(position);
        }
        self.proved.buffers = self.declared.len();
        Ok(Added::Fact)
    }

    fn sweep(&mut self, mut words: Words<'_>) -> Result<Added, Reason> {
        let unit = words.number("a number of bytes")?;
        words.end()?;
        match &mut self.sweep {
            Some(sweep) => sweep.restart(unit, self.work)?,
            None => {
                self.sweep = Some(Sweep::new(unit, self.facts.units(unit).ok_or(Reason::NotAUnit(unit))?));
            }
        }
        Ok(Added::Fact)
    }

    /// Processes an `at`, `tree` or `bond` statement, which list the arrangements that are possible at a
    /// step.
    fn swept(&mut self, statement: &'static str, mut words: Words<'_>) -> Result<Added, Reason> {
        let sweep = self.sweep.as_mut().ok_or(Reason::Misplaced(statement))?;
        self.proved.steps += 1;
        match statement {
            "tree" => sweep.tree(words.rest())?,
            "bond" => sweep.bond(words.rest(), self.work)?,
            _ => {
                let step = words.number("a step")?;
                words.end()?;
                sweep.at(step, &self.facts.live(step, sweep.unit)?, self.work)?;
            }
        }
        Ok(Added::Fact)
    }

    /// Processes a `twin` or `mirror` statement. All twins must come before the mirrored pair, and that pair
    /// must not contain a twin, so that both rules hold for the same layout.
    fn symmetry(&mut self, is_twin: bool, a: u32, b: u32) -> Result<Added, Reason> {
        if self.mirrored {
            return Err(Reason::Misplaced(if is_twin { "twin" } else { "mirror" }));
        }
        if is_twin {
            self.twins.extend([a, b]);
            return self.facts.twin(a, b);
        }
        self.mirrored = true;
        if self.twins.contains(&a) || self.twins.contains(&b) {
            return Err(Reason::NotMirrored(a, b));
        }
        self.facts.mirror(a, b)
    }

    /// Starts a derivation: assumes the opposites of all orders of the clause.
    fn derive(&mut self, number: u64, clause: Clause) -> Result<Added, Reason> {
        if self.clauses.contains_key(&number) {
            return Err(Reason::ClauseExists(number));
        }
        let mark = self.facts.mark();
        let mut proved = false;
        for &(a, b) in &clause {
            proved |= self.facts.order(b, a)? == Added::Contradiction;
        }
        self.open = Some(Open { number, clause, mark, proved });
        Ok(Added::Fact)
    }

    /// Ends the current derivation, if any.
    fn close(&mut self) -> Result<(), Reason> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if !open.proved {
            return Err(Reason::Underived(open.number));
        }
        self.facts.undo(open.mark);
        self.clauses.insert(open.number, open.clause);
        self.proved.clauses += 1;
        Ok(())
    }

    /// Processes one step, which belongs to a derivation or adds a permanent fact.
    fn step(&mut self, step: &str, mut words: Words<'_>) -> Result<Added, Reason> {
        // After the contradiction of a derivation, steps add permanent facts again.
        if self.open.as_ref().is_some_and(|open| open.proved) {
            self.close()?;
        }
        self.proved.steps += 1;
        let added = match step {
            "u" => {
                let clause = words.number("the number of a clause")?;
                words.end()?;
                self.unit(clause)?
            }
            "o" | "r" => {
                let (a, b) = (words.buffer()?, words.buffer()?);
                words.end()?;
                if step == "o" { self.facts.opposite(a, b)? } else { self.facts.rigid(a, b)? }
            }
            "t" => self.facts.path(&words.buffers()?)?,
            "x" => self.facts.no_space(&words.buffers()?)?,
            _ => {
                let buffer = words.buffer()?;
                self.facts.stack(usize::from(step == "a"), buffer, &words.buffers()?)?
            }
        };
        match &mut self.open {
            None => {
                self.facts.settle();
                Ok(added)
            }
            Some(open) => {
                open.proved = added == Added::Contradiction;
                // The empty clause proves the claim.
                if open.proved && open.clause.is_empty() { Ok(added) } else { Ok(Added::Fact) }
            }
        }
    }

    /// `u`: adds the only order of a clause that is not refuted. If all orders are refuted, this is a
    /// contradiction.
    fn unit(&mut self, number: u64) -> Result<Added, Reason> {
        let clause = self.clauses.get(&number).ok_or(Reason::NoClause(number))?;
        self.work.spend(4 * clause.len())?;
        let mut possible = clause.iter().filter(|&&(a, b)| !self.facts.knows(b, a));
        match (possible.next().copied(), possible.next()) {
            (None, _) => Ok(Added::Contradiction),
            (Some((a, b)), None) => self.facts.order(a, b),
            _ => Err(Reason::NotUnit(number)),
        }
    }
}
